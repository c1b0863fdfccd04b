"""What can be said to every formulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chainform.formulations.choices import Axes, Choices
from chainform.mechanism import Mechanism

PARTS = ("friction", "springs", "rotors", "forces")
"""What can be left out: joint friction, springs, the inertia of rotors, forces given by laws."""


@dataclass(frozen=True, slots=True)
class Options:
    """How forces from outside enter the equations, and which axes they are written in.

    `closure`: reactions of closed loops act by virtual work on every joint of the loop
    ("complete"), or on the basic joints only, as in Racković 1996 ("basic"). `wrenches`: the frames
    on which an external force and moment act, given as inputs. `leave_out`: what a mechanism has
    and the equations shall not have, of PARTS. `rank`: which choice of axes, 0 for the cheapest;
    `choices` remembers those of mechanisms and changes no result.
    """

    closure: str = "complete"
    wrenches: tuple[str, ...] = ()
    leave_out: frozenset[str] = frozenset()
    rank: int = 0
    choices: Choices = field(default_factory=Choices, compare=False)

    def axes(
        self, mechanism: Mechanism, part: tuple[str, ...], rank: Callable[[], Sequence[Axes]]
    ) -> Axes:
        """Return the axes for a method and its outputs, `part`; `rank` puts all choices in order.

        Where there are fewer choices than the rank, the last one is taken.
        """
        known = self.choices.ranked(mechanism, part, rank)
        return known[min(self.rank, len(known) - 1)]


PLAIN = Options()
"""All that the mechanism has, and no wrenches."""

BODIES = Options(leave_out=frozenset({"friction", "springs", "forces"}))
"""The bodies and their drives alone: what the choice of axes is priced with."""
