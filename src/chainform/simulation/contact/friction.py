"""Dry friction with sticking.

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
from chainform.mechanism import ZERO, Mechanism, Number, Segment, reader_of


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
