"""The motion of the base as a user wrote it: numbers, expressions of parameters, laws of time.

Where a pose or a velocity is a law of time t, what follows from it by differentiation is not
given with it:

    position(t) -> velocity, acceleration        rpy(t), quaternion(t) -> angular velocity, ...
    velocity(t) -> acceleration                  angular_velocity(t)   -> angular acceleration

An orientation of known numbers is stored as an exact rotation, any other as it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from chainform.errors import ReadError
from chainform.given import Given
from chainform.mechanism.exact import exact_quaternion, exact_rotation, rotation_of_angles
from chainform.mechanism.laws import LawReader
from chainform.mechanism.numbers import number_of
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import (
    ZERO,
    ZERO_VECTOR,
    BaseMotion,
    Number,
    Vector3,
    is_law_of_time,
)
from chainform.mechanism.tables import BASE_FIELDS

VECTORS = (*("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration"),)
FOLLOWING = {
    "position": ("velocity", "acceleration"),
    "velocity": ("acceleration",),
    "orientation": ("angular_velocity", "angular_acceleration"),
    "angular_velocity": ("angular_acceleration",),
}
"""What follows by time from each part of the motion."""


def base_from(value: object, reader: Reader) -> BaseMotion:
    """Return the motion of the base; nothing given means at rest in the world frame."""
    if value is None:
        return BaseMotion()
    table = reader.given(value, "base").table(BASE_FIELDS)
    laws = LawReader(reader, (), ())
    vectors: dict[str, Any] = {name: _vector(table[name], laws) for name in VECTORS}
    base = _with_orientation(BaseMotion(**vectors), table, laws)
    _check_laws(base, table)
    return base


def mapped_base(base: BaseMotion, change: Callable[[Number], Number]) -> BaseMotion:
    """Return the base with every number changed; an orientation known then becomes exact."""

    def mapped(vector: Vector3) -> Vector3:
        return (change(vector[0]), change(vector[1]), change(vector[2]))

    quaternion = base.quaternion
    if quaternion is not None:
        x, y, z, w = quaternion
        quaternion = (change(x), change(y), change(z), change(w))
    return _settled(
        BaseMotion(
            position=mapped(base.position),
            rotation=base.rotation,
            velocity=mapped(base.velocity),
            angular_velocity=mapped(base.angular_velocity),
            acceleration=mapped(base.acceleration),
            angular_acceleration=mapped(base.angular_acceleration),
            rpy=None if base.rpy is None else mapped(base.rpy),
            quaternion=quaternion,
        )
    )


def _settled(base: BaseMotion) -> BaseMotion:
    """Return the base with an exact rotation where its angles or quaternion are known numbers."""
    turn = base.rpy or base.quaternion or ()
    known = [entry for entry in turn if isinstance(entry, Fraction)]
    if not known or len(known) < len(turn):
        return base
    if base.quaternion is not None:
        return replace(base, rotation=exact_quaternion(*known), quaternion=None)
    rotation, _ = exact_rotation(rotation_of_angles(*known))
    return replace(base, rotation=rotation, rpy=None)


def _vector(given: Given, laws: LawReader) -> Vector3:
    """Return three components; nothing given means zero."""
    if not given.is_given:
        return ZERO_VECTOR
    x, y, z = _components(given, 3, laws)
    return (x, y, z)


def _with_orientation(base: BaseMotion, table: Given, laws: LawReader) -> BaseMotion:
    """Return the base with its orientation."""
    forms = [form for form in ("rotation", "rpy", "quaternion") if table.has(form)]
    for name, count in (("rpy", 3), ("quaternion", 4)):
        if forms == [name] and _names_something(table[name]):
            return replace(base, **{name: tuple(_components(table[name], count, laws))})
    return replace(base, rotation=laws.reader.rotation(table))


def _components(given: Given, count: int, laws: LawReader) -> list[Number]:
    return [_component(entry, laws) for entry in given.entries(count)]


def _component(given: Given, laws: LawReader) -> Number:
    with given.translate_errors():
        number = number_of(given.value)
    if is_law_of_time((number,)):
        return laws.law(given.holding(number), ("t",))
    return laws.reader.number(given.holding(number))


def _names_something(given: Given) -> bool:
    """Tell whether one of the entries is an expression of parameters or time."""
    if not given.is_list:
        return False
    try:
        numbers = [number_of(entry.value) for entry in given.entries()]
    except ReadError:
        return False  # the rotation is refused where it is read
    return any(not isinstance(number, Fraction) for number in numbers)


def _check_laws(base: BaseMotion, table: Given) -> None:
    """Refuse what is given although it follows from a law of time."""
    parts: dict[str, tuple[Number, ...]] = {
        "position": base.position,
        "velocity": base.velocity,
        "orientation": base.rpy or base.quaternion or (),
        "angular_velocity": base.angular_velocity,
    }
    for name, components in parts.items():
        if not is_law_of_time(components):
            continue
        for other in FOLLOWING[name]:
            if any(component != ZERO for component in getattr(base, other)):
                message = f"it follows from the {name.replace('_', ' ')}, a law of time"
                raise table[other].error(message, "leave it out")
