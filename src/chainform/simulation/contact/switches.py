"""All that comes and goes in a motion: rigid and stiff barriers, and joints with dry friction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.simulation.contact.barriers import Barrier
from chainform.simulation.contact.contacts import contacts_of, loops_by_contact
from chainform.simulation.contact.friction import DryJoint, dry_joints, without_dry_friction
from chainform.simulation.contact.stops import stops_of
from chainform.simulation.solver import CONTROLLED, Solver


@dataclass(frozen=True)
class Switches:
    """What has rows of constraints that may hold or not, and what is watched without."""

    rigid: tuple[Barrier, ...] = ()
    stiff: tuple[Barrier, ...] = ()
    dry: tuple[DryJoint, ...] = ()
    opened: tuple[str, ...] = ()
    """The loops of the file that close by contact only."""

    def __bool__(self) -> bool:
        return bool(self.rigid or self.stiff or self.dry)

    @property
    def has_rows(self) -> bool:
        """Whether rows of constraints are needed for them."""
        return bool(self.rigid or self.dry)

    @property
    def directions(self) -> list[float]:
        """How the functions that are watched pass zero: falling, those of stiff contacts both."""
        planes = sum(2 for barrier in self.rigid if barrier.friction)
        falling = len(self.rigid) + planes + len(self.dry)
        return [-1.0] * falling + [0.0] * len(self.stiff)

    def bare(self, mechanism: Mechanism) -> Mechanism:
        """Return the mechanism without what is treated here: dry friction, loops by contact."""
        left = without_loops(mechanism, self.opened)
        return without_dry_friction(left) if self.dry else left


def without_loops(mechanism: Mechanism, names: Sequence[str]) -> Mechanism:
    """Return a mechanism without loops of these names."""
    left = tuple(loop for loop in mechanism.loops if loop.name not in names)
    return replace(mechanism, loops=left) if names else mechanism


NO_SWITCHES = Switches()


def switches_for(
    mechanism: Mechanism,
    solver: Solver,
    stops: Any = None,
    contacts: Any = None,
    friction: Mapping[str, Any] | None = None,
    without: Sequence[str] = (),
) -> Switches:
    """Return what was asked for and what the file has, as far as the method can take it.

    Methods that cannot refuse it. With a fixed step they take dry friction as the sign of a rate;
    controlled steps would become ever shorter where a rate comes to rest.
    """
    barriers = [*stops_of(mechanism, stops, without), *contacts_of(mechanism, contacts)]
    dry = dry_joints(mechanism, friction, without)
    if not solver.switches:
        if barriers or friction:
            raise RunError(
                f"{solver.name} does not take stops, contacts and sticking",
                element="method",
                remedy="choose verner65 or dopri853",
            )
        if dry and CONTROLLED in solver.steps:
            raise RunError(
                f"{solver.name} does not know sticking, and {dry[0].name} has Coulomb friction",
                element="method",
                remedy="choose verner65 or dopri853, or leave it out with without=['friction']",
            )
        return NO_SWITCHES
    # Those with friction come first, as their rows do.
    rigid = tuple(sorted((b for b in barriers if not b.manner.is_stiff), key=_is_smooth))
    stiff = tuple(b for b in barriers if b.manner.is_stiff)
    return Switches(rigid, stiff, tuple(dry), loops_by_contact(mechanism, contacts))


def _is_smooth(barrier: Barrier) -> bool:
    return not barrier.friction
