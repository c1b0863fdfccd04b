"""The motion of the base as a user wrote it: numbers, expressions of parameters, laws of time.

Where a place or a velocity is a law of time t, what follows from it by differentiation is not
given beside it:

    position(t) -> velocity, acceleration        rpy(t), quaternion(t) -> angular velocity, ...
    velocity(t) -> acceleration                  angular_velocity(t)   -> angular acceleration

An orientation of known numbers is stored as an exact rotation, any other as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from chainform.errors import ReadError
from chainform.mechanism.exact import exact_quaternion, exact_rotation, rotation_of_angles
from chainform.mechanism.intake import Intake, located
from chainform.mechanism.laws import LawIntake
from chainform.mechanism.numbers import number_of
from chainform.mechanism.tables import BASE_FIELDS, check_fields, is_list, list_of, table_of
from chainform.mechanism.types import (
    ZERO,
    ZERO_VECTOR,
    BaseMotion,
    Number,
    Vector3,
    is_law_of_time,
)

FOLLOWING = {
    "position": ("velocity", "acceleration"),
    "velocity": ("acceleration",),
    "orientation": ("angular_velocity", "angular_acceleration"),
    "angular_velocity": ("angular_acceleration",),
}
"""What follows by time from each part of the motion."""


def base_from(value: object, intake: Intake) -> BaseMotion:
    """Return the motion of the base; nothing given means at rest in the world frame."""
    if value is None:
        return BaseMotion()
    table = table_of(value, intake.file, "base")
    check_fields(table, BASE_FIELDS, intake.file, "base")
    reader = _Reader(table, intake)
    base = reader.orientation(
        BaseMotion(
            position=reader.vector("position"),
            velocity=reader.vector("velocity"),
            angular_velocity=reader.vector("angular_velocity"),
            acceleration=reader.vector("acceleration"),
            angular_acceleration=reader.vector("angular_acceleration"),
        )
    )
    _check_laws(base, intake)
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


class _Reader:
    """Reads the parts of the motion."""

    def __init__(self, table: Mapping[str, object], intake: Intake) -> None:
        self.table = table
        self.intake = intake
        self.laws = LawIntake(intake, (), ())

    def vector(self, name: str) -> Vector3:
        """Return three components; nothing given means zero."""
        value = self.table.get(name)
        if value is None:
            return ZERO_VECTOR
        x, y, z = self._components(value, 3, f"base, {name}")
        return (x, y, z)

    def orientation(self, base: BaseMotion) -> BaseMotion:
        """Return the base with its orientation."""
        forms = [self.table.get(form) for form in ("rotation", "rpy", "quaternion")]
        if sum(form is not None for form in forms) == 1:
            for name, count in (("rpy", 3), ("quaternion", 4)):
                given = self.table.get(name)
                if given is not None and _names_something(given):
                    where = f"base, {name}"
                    return replace(base, **{name: tuple(self._components(given, count, where))})
        return replace(base, rotation=self.intake.rotation(*forms, where="base, rotation"))

    def _components(self, value: object, count: int, where: str) -> list[Number]:
        entries = self.intake.entries(value, count, where)
        return [self._component(entry, f"{where}[{k}]") for k, entry in enumerate(entries, 1)]

    def _component(self, value: object, where: str) -> Number:
        with located(self.intake.file, where):
            number = number_of(value)
        if is_law_of_time((number,)):
            return self.laws.law(number, where, groups=("t",))
        return self.intake.number(number, where)


def _names_something(value: object) -> bool:
    """Tell whether one of the entries is an expression of parameters or time."""
    if not is_list(value):
        return False
    try:
        numbers = [number_of(entry) for entry in list_of(value, None, "base")]
    except ReadError:
        return False  # what is wrong is said where the rotation is read
    return any(not isinstance(number, Fraction) for number in numbers)


def _check_laws(base: BaseMotion, intake: Intake) -> None:
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
                raise intake.error(message, f"base, {other}", "leave it out")
