"""What can be said to every formulation."""

from __future__ import annotations

from dataclasses import dataclass, field

from chainform.formulations.choices import Choices


@dataclass(frozen=True, slots=True)
class Options:
    """How forces from outside enter the equations, and which axes they are written in.

    `closure`: reactions of closed loops act by virtual work on every joint of the loop
    ("complete"), or on the basic joints only, as in paper 000 ("basic"). `wrenches`: the frames on
    which an external force and moment act, given as inputs. `choices`: the choices of axes, the
    cheapest unless it says otherwise.
    """

    closure: str = "complete"
    wrenches: tuple[str, ...] = ()
    choices: Choices = field(default_factory=Choices)


PLAIN = Options()
"""No forces from outside but the reactions of loops."""
