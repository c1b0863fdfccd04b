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
from typing import Any, cast

from chainform.errors import RunError
from chainform.mechanism import Mechanism, Number, Segment
from chainform.mechanism.additions import intake_of
from chainform.mechanism.types import ZERO
from chainform.simulation.contact.barriers import number_of


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
    mechanism: Mechanism, said: Mapping[str, Any] | None = None, leave_out: Sequence[str] = ()
) -> list[DryJoint]:
    """Return the rates with dry friction; `said` gives static bounds by rate."""
    sizes: dict[int, float] = {}
    laws: dict[int, list[tuple[Fraction, Number]]] = {}
    if "friction" not in leave_out:
        for segment in mechanism.segments:
            size, friction = _size(mechanism, segment), segment.joint.friction
            if segment.rate is not None and friction is not None and size:
                sizes[segment.rate] = sizes.get(segment.rate, 0.0) + size
                laws.setdefault(segment.rate, []).append((abs(segment.ratio), friction.coulomb))
    bounds = _bounds(mechanism, said, sizes)
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
    where = f"joint {segment.joint.name!r}, friction"
    known = intake_of(mechanism).known(friction.coulomb, where)
    if known is None:
        remedy = "give its parameters values"
        raise RunError("the friction is not known", element=where, remedy=remedy)
    return float(abs(segment.ratio) * known)


def _bounds(
    mechanism: Mechanism, said: Mapping[str, Any] | None, sizes: Mapping[int, float]
) -> dict[int, float]:
    if said is None:
        return {}
    if not isinstance(said, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        remedy = 'friction={"slide": 12}'
        raise RunError("friction is a table by joints", element="friction", remedy=remedy)
    bounds: dict[int, float] = {}
    for name, value in cast("Mapping[str, object]", said).items():
        where, rate = f"friction {name!r}", mechanism.rate_index(str(name))
        if rate not in sizes:
            remedy = "write friction = { coulomb = ... } in the file"
            raise RunError("the joint has no Coulomb friction", element=where, remedy=remedy)
        bound = number_of(value, where)
        if bound < sizes[rate]:
            remedy = f"give at least {sizes[rate]:g}"
            raise RunError(
                "sticking holds at least as much as sliding", element=where, remedy=remedy
            )
        if rate in bounds:
            message = f"{mechanism.rates[rate]} is given twice"
            raise RunError(message, element=where, remedy="give each joint once")
        bounds[rate] = bound
    return bounds
