"""What can be said to every formulation."""

from __future__ import annotations

from dataclasses import dataclass, field

from chainform.formulations.choices import Choices

PARTS = ("friction", "springs", "rotors", "forces")
"""What can be left out: joint friction, springs, the inertia of rotors, forces given by laws."""


@dataclass(frozen=True, slots=True)
class Options:
    """How forces from outside enter the equations, and which axes they are written in.

    `closure`: reactions of closed loops act by virtual work on every joint of the loop
    ("complete"), or on the basic joints only, as in paper 000 ("basic"). `wrenches`: the frames on
    which an external force and moment act, given as inputs. `leave_out`: what a mechanism has and
    the equations shall not have, of PARTS. `choices`: the choices of axes, the cheapest unless it
    says otherwise.
    """

    closure: str = "complete"
    wrenches: tuple[str, ...] = ()
    leave_out: frozenset[str] = frozenset()
    choices: Choices = field(default_factory=Choices)


PLAIN = Options()
"""All that the mechanism has, and no wrenches."""

BODIES = Options(leave_out=frozenset({"friction", "springs", "forces"}))
"""The bodies and their drives alone: what the choice of axes is priced with."""
