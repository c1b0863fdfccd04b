"""All that comes and goes in a motion: rigid and stiff barriers, and joints with dry friction.

Dry friction with sticking.

A joint with Coulomb friction f slides one way with f against it, or the other way, or it sticks:
then friction is what keeps it at rest, at most the static bound in size. Written as f sign(qd) the
force would jump to and fro at rest, so it is taken out of the equations of the mechanism and comes
back as -direction f, where the direction (1, -1, or 0) changes at events only.

friction={"slide": 12.0}                  the bound of sticking (N, N m), above what the file says
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from chainform.given import argument
from chainform.mechanism import Mechanism, Number, Segment
from chainform.mechanism.additions import reader_of
from chainform.mechanism.types import ZERO
from chainform.simulation.equations.contact.laws import Barrier
from chainform.simulation.equations.contact.tables import contacts_of, loops_by_contact, stops_of


@dataclass(frozen=True)
class DryJoint:
    """A rate with dry friction: its place in qd, the effort while it slides, and the static bound.

    Joints that share the rate add up, each with the size of its ratio. Where parameters are among
    them, `laws` has the sizes of ratios with what they multiply, so that the equations know it.
    """

    name: str
    rate: int
    sliding: float
    static: float
    laws: tuple[tuple[Fraction, Number], ...] = ()


def dry_joints(
    mechanism: Mechanism, friction: Mapping[str, Any] | None = None, without: Sequence[str] = ()
) -> list[DryJoint]:
    """Return the rates with dry friction; `friction` gives static bounds by rate."""
    sizes: dict[int, float] = {}
    laws: dict[int, list[tuple[Fraction, Number]]] = {}
    if "friction" not in without:
        for segment in mechanism.segments:
            size, own = _size(mechanism, segment), segment.joint.friction
            if segment.rate is not None and own is not None and size:
                sizes[segment.rate] = sizes.get(segment.rate, 0.0) + size
                laws.setdefault(segment.rate, []).append((abs(segment.ratio), own.coulomb))
    bounds = _bounds(mechanism, friction, sizes)
    return [
        DryJoint(mechanism.rates[rate], rate, size, bounds.get(rate, size), _free(laws[rate]))
        for rate, size in sorted(sizes.items())
    ]


def _free(laws: list[tuple[Fraction, Number]]) -> tuple[tuple[Fraction, Number], ...]:
    """Return laws with parameters among them; nothing where all are numbers."""
    return () if all(isinstance(law, Fraction) for _, law in laws) else tuple(laws)


def without_dry_friction(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism without Coulomb friction in its joints; viscous friction stays."""
    return replace(mechanism, segments=tuple(map(_smooth, mechanism.segments)))


def _smooth(segment: Segment) -> Segment:
    friction = segment.joint.friction
    if friction is None or friction.coulomb == 0:
        return segment
    joint = replace(segment.joint, friction=replace(friction, coulomb=ZERO))
    return replace(segment, joint=joint)


def _size(mechanism: Mechanism, segment: Segment) -> float:
    friction = segment.joint.friction
    if friction is None:
        return 0.0
    given = argument(f"joint {segment.joint.name!r}, friction", None)
    known = reader_of(mechanism).known(friction.coulomb, given)
    if known is None:
        raise given.error("the friction is not known", "give its parameters values")
    return float(abs(segment.ratio) * known)


def _bounds(
    mechanism: Mechanism, friction: Mapping[str, Any] | None, sizes: Mapping[int, float]
) -> dict[int, float]:
    bounds: dict[int, float] = {}
    table = argument("friction", {} if friction is None else friction)
    for name, entry in table.table(remedy='friction={"slide": 12}').items():
        given, rate = entry.at(f"friction {name!r}"), mechanism.rate_index(name)
        if rate not in sizes:
            remedy = "write friction = { coulomb = ... } in the file"
            raise given.error("the joint has no Coulomb friction", remedy)
        bound = given.number(least=0)
        if bound < sizes[rate]:
            remedy = f"give at least {sizes[rate]:g}"
            raise given.error("sticking holds at least as much as sliding", remedy)
        if rate in bounds:
            raise given.error(f"{mechanism.rates[rate]} is given twice", "give each joint once")
        bounds[rate] = bound
    return bounds


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


def switches_of(
    mechanism: Mechanism,
    stops: Any = None,
    contacts: Any = None,
    friction: Mapping[str, Any] | None = None,
    without: Sequence[str] = (),
) -> Switches:
    """Return the stops, contacts and bounds of friction that are given, and those of the file."""
    barriers = [*stops_of(mechanism, stops, without), *contacts_of(mechanism, contacts)]
    dry = dry_joints(mechanism, friction, without)
    # Those with friction come first, as their rows do.
    rigid = tuple(sorted((b for b in barriers if not b.manner.is_stiff), key=_is_smooth))
    stiff = tuple(b for b in barriers if b.manner.is_stiff)
    return Switches(rigid, stiff, tuple(dry), loops_by_contact(mechanism, contacts))


def _is_smooth(barrier: Barrier) -> bool:
    return not barrier.friction
