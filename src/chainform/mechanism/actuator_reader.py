"""Read actuators: in the general form, by laws, or by a type of the library."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from chainform.errors import ReadError
from chainform.expressions import symbols_of, value_of
from chainform.given import Given
from chainform.mechanism.actuator_fields import default_states
from chainform.mechanism.actuator_laws import LawActuatorReader, is_given_by_laws
from chainform.mechanism.actuator_library import LIBRARY, ActuatorFields, assembled
from chainform.mechanism.components import Actuator, Row
from chainform.mechanism.data import MechanismData
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import GROUND, ONE, ZERO, Joint, JointKind, Number
from chainform.mechanism.tables import (
    ACTUATOR_FIELDS,
    GENERAL_ACTUATOR_FIELDS,
    LAW_ACTUATOR_FIELDS,
)

EFFORT_FIELDS = ("effort", "direct", "viscous", "e")
"""What belongs to an actuator that gives an effort, and not to one whose state has the motion."""

TOLERANCE = Fraction(1, 10**9)
"""Relative size of what rounding in functions such as sqrt may leave."""


def actuators_from(
    tables: Sequence[Mapping[str, object]], mechanism: MechanismData, reader: Reader
) -> tuple[Actuator, ...]:
    """Return the checked actuators, in the order given: that of x and u."""
    actuators = tuple(
        _ActuatorReader(mechanism, reader).actuator(table, number)
        for number, table in enumerate(tables, 1)
    )
    reader.check_distinct([actuator.name for actuator in actuators], "actuator")
    _check_joints(actuators, reader)
    _check_parameter_names(actuators, reader)
    return actuators


def _check_joints(actuators: Sequence[Actuator], reader: Reader) -> None:
    """Refuse two actuators of a joint, unless both name their joints with weights."""
    taken: dict[int, Actuator] = {}
    for actuator in actuators:
        for rate, _ in actuator.shares:
            other = taken.setdefault(rate, actuator)
            if other is not actuator and not (other.weights and actuator.weights):
                message = f"the joint is driven by {other.name!r} already"
                remedy = "one actuator drives a joint; put both into one, with the states of both, "
                remedy += "or give each its joints = { name = weight }"
                raise reader.error(message, f"actuator {actuator.name!r}, joint", remedy)


def _check_parameter_names(actuators: Sequence[Actuator], reader: Reader) -> None:
    """Refuse parameters that are called like states and signals: x1, u1."""
    for letter, count in (("x", sum(a.order for a in actuators)), ("u", len(actuators))):
        for name in reader.values:
            number = re.fullmatch(rf"{letter}([1-9][0-9]{{0,6}})", name)
            if number is not None and int(number[1]) <= count:
                message = f"{name} is the name of a state or a signal of the actuators"
                raise reader.error(message, f"parameter {name!r}", "rename the parameter")


@dataclass(frozen=True, slots=True)
class _ActuatorReader:
    mechanism: MechanismData
    reader: Reader

    def actuator(self, value: object, number: int) -> Actuator:
        """Return one actuator; without a name it is called `actuator` and its number."""
        name, given = self.reader.named(value, "actuator", number)
        kind = None
        if given.has("type"):
            remedy = f"types are {', '.join(LIBRARY)}; without a type, give A, b, f and so on"
            kind = given["type"].choice(tuple(LIBRARY), "type", remedy)
        by_laws = kind is None and is_given_by_laws(given)
        allowed = GENERAL_ACTUATOR_FIELDS if kind is None else LIBRARY[kind][0]
        table = given.table(ACTUATOR_FIELDS | (LAW_ACTUATOR_FIELDS if by_laws else allowed))
        rate, joint, weights = self.joints(table)
        if by_laws:
            actuator = LawActuatorReader(self.mechanism, self.reader, table).actuator(name, rate)
        elif kind is None:
            actuator = self.general(table, name, rate)
        else:
            actuator = assembled(
                name, rate, LIBRARY[kind][1](ActuatorFields(table, joint, self.reader))
            )
        if weights and actuator.holds_motion:
            message = "the motion of several joints is no state of an actuator"
            remedy = (
                "leave out the inertia of the rotor, which a segment may have that follows; or "
            )
            remedy += "give the actuator by laws with an elastic gear, whose rotor has states"
            raise table["joints"].error(message, remedy)
        check_motion(actuator, joint, table, self.reader)
        return replace(actuator, weights=weights)

    def joints(self, table: Given) -> tuple[int, Joint, tuple[tuple[int, Number], ...]]:
        """Return the rate and the joint that are driven; of several the first one, and all weights.

        Several joints may have other gears and limits each, so that those of none are taken.
        """
        if not table.has("joints"):
            rate, joint = self.driven(table.required("joint", "name the joint that it drives"))
            return rate, joint, ()
        remedy = "write joints = { elbow = 1, wrist = 0.5 }"
        if table.has("joint"):
            raise table["joints"].error("there is a joint as well", "give joint or joints")
        weights: dict[int, Number] = {}
        for name, given in table["joints"].table(remedy=remedy).items():
            rate, _ = self.driven(given.holding(name))
            weight = self.reader.number(given)
            if self.reader.known(weight, given) == 0:
                raise given.error("a weight of zero drives nothing", "leave the joint out")
            if rate in weights:
                raise given.error("the joint is there already", "name each joint once")
            weights[rate] = weight
        if not weights:
            raise table["joints"].error("no joint is named", remedy)
        return min(weights), Joint("", JointKind.REVOLUTE), tuple(sorted(weights.items()))

    def driven(self, given: Given) -> tuple[int, Joint]:
        """Return the rate that is driven, and its joint: one of one coordinate, its own.

        A coordinate of an element model counts as a joint without limits, gear and rotor.
        """
        mechanism, name = self.mechanism, given.name()
        leaders = {record.segment for record in mechanism.rate_records}
        for index, segment in enumerate(mechanism.segments):
            if segment.joint.name == name and segment.rate is not None and index not in leaders:
                leader = mechanism.segments[mechanism.rate_records[segment.rate].segment]
                message = f"the joint {name!r} follows {leader.joint.name!r}"
                remedy = f"drive {leader.joint.name!r}; a ratio can go into the actuator"
                raise given.error(message, remedy)
            if segment.joint.name == name and segment.joint.kind.has_quaternion:
                message = f"the joint {name!r} has a quaternion, and an actuator drives one freedom"
                raise given.error(message, 'describe the joint by angles: euler = "zyx"')
        with given.translate_errors():
            rate = mechanism.rate_index(name)
        record = mechanism.rate_records[rate]
        if record.segment == GROUND:
            kind = JointKind.PRISMATIC if record.unit == "m" else JointKind.REVOLUTE
            return rate, Joint(record.name, kind)
        segment = mechanism.segments[record.segment]
        if segment.joint.kind.has_quaternion:
            message = f"{name!r} belongs to a quaternion, and an actuator drives one freedom"
            raise given.error(message, 'describe the joint by angles: euler = "zyx"')
        return rate, segment.joint

    def general(self, table: Given, name: str, rate: int) -> Actuator:
        """Return an actuator given by its matrices."""
        _refuse_mixture(table)
        rows = table["A"].entries() if table.has("A") else []
        n = len(rows)
        direct, viscous = (self.reader.number(table[f], ZERO) for f in ("direct", "viscous"))
        position, velocity, effort = (
            self.selected(table[field], n) if table.has(field) else None
            for field in ("position", "velocity", "effort")
        )
        b, f, e = (self.row(table[field], n) for field in ("b", "f", "e"))
        limit = self.reader.number(table["limit"], above=0) if table.has("limit") else None
        return Actuator(
            name,
            rate,
            A=tuple(self.row(row, n) for row in rows),
            b=b,
            f=f,
            e=e,
            limit=limit,
            position=position,
            velocity=velocity,
            effort=(ZERO,) * n if effort is None and velocity is None else effort,
            direct=direct,
            viscous=viscous,
            states=_states(table["states"], n),
            signal=table["signal"].name() if table.has("signal") else "signal",
        )

    def row(self, given: Given, n: int) -> Row:
        """Return n numbers; nothing given means zeros."""
        if not given.is_given:
            return (ZERO,) * n
        return tuple(self.reader.number(entry) for entry in given.entries(n))

    def selected(self, given: Given, n: int) -> Row:
        """Return a row, or the one that selects the state with the number given, from 1."""
        if given.is_list:
            return self.row(given, n)
        number = self.reader.whole(given)
        if not 1 <= number <= n:
            remedy = f"give a number from 1 to {n}, or a list of {n} numbers"
            raise given.error(f"there is no state {number}", remedy)
        return tuple(ONE if k == number else ZERO for k in range(1, n + 1))


def _refuse_mixture(table: Given) -> None:
    """Refuse an actuator that both gives an effort and moves by itself, or neither."""
    given = [field for field in EFFORT_FIELDS if table.has(field)]
    moves = table.has("velocity")
    remedy = "give velocity (and position) where qd is part of x, else effort or direct"
    if moves and given:
        message = f"{given[0]!r} is for an actuator whose state does not contain the motion"
        raise table.error(message, remedy)
    if not moves and table.has("position"):
        message = "the position is part of the state, but the velocity is not"
        raise table.error(message, remedy)
    if not moves and not {"effort", "direct"} & set(given):
        raise table.error("nothing says how the actuator drives its joint", remedy)


def _states(given: Given, n: int) -> tuple[str, ...]:
    """Return the names of the states, x1, x2 and so on unless they are given."""
    if not given.is_given:
        return default_states(n)
    names = tuple(entry.name() for entry in given.entries(n))
    if len(set(names)) < n:
        raise given.error("a state is named twice", "give each its own name")
    return names


def check_motion(actuator: Actuator, joint: Joint, table: Given, reader: Reader) -> None:
    """Refuse rows that contradict each other; note what may surprise.

    q' = qd must hold whatever x, u and P are, so position A = velocity, position b = 0 and
    position f = 0; free parameters are tried with values of no special meaning. The load must hold
    the actuator back: velocity f < 0, or = 0 for one that it does not reach.
    """
    if actuator.velocity is None:
        return
    values = _Values(reader, sampled=True)
    if all(values.of(entry) == 0 for entry in actuator.velocity):
        remedy = "give the row with qd = velocity x"
        raise table["velocity"].error("the row has no entry but zero", remedy)
    _check_position(actuator, values, table["position"])
    known = _Values(reader, sampled=False).product(actuator.velocity, actuator.f)
    if known is not None and known > 0:
        message = "a drive P of the sense of qd would speed the actuator up: velocity f > 0"
        remedy = "change the sign of f: P acts on the joint, and -P on the actuator"
        raise table["f"].error(message, remedy)
    if values.product(actuator.velocity, actuator.f) == 0:
        text = "the load does not act on it: the signal alone prescribes the motion"
        reader.note(table.element, text)
    elif joint.rotor_inertia != ZERO:
        text = (
            f"the joint {joint.name!r} has rotor_inertia and the actuator has inertia of its own; "
            "both count, so give the inertia of one rotor in one place only"
        )
        reader.note(table.element, text, "warning")


def _check_position(actuator: Actuator, values: _Values, given: Given) -> None:
    position, velocity = actuator.position, actuator.velocity
    if position is None or velocity is None:
        return
    columns = [tuple(row[k] for row in actuator.A) for k in range(actuator.order)]
    wanted = [*velocity, ZERO, ZERO]
    for column, value in zip([*columns, actuator.b, actuator.f], wanted, strict=True):
        got, expected = values.product(position, column), values.of(value)
        if got is None or expected is None:
            continue
        if abs(got - expected) > TOLERANCE * max(abs(got), abs(expected)):
            message = "the derivative of the position is not the velocity"
            remedy = "let position A = velocity, position b = 0 and position f = 0"
            raise given.error(message, remedy)


class _Values:
    """Numbers for the entries of an actuator, with samples for free parameters or without."""

    def __init__(self, reader: Reader, *, sampled: bool) -> None:
        free = [name for name, value in reader.values.items() if value is None and sampled]
        samples = {name: Fraction(7 * k + 11, 10) for k, name in enumerate(free)}
        self.values = {**reader.bound, **samples}

    def of(self, number: Number) -> Fraction | None:
        """Return a value, None where there is none for these parameters."""
        if isinstance(number, Fraction):
            return number
        if not symbols_of(number) <= self.values.keys():
            return None
        try:
            return value_of(number, self.values)
        except ReadError:
            return None

    def product(self, row: Row, column: Row) -> Fraction | None:
        """Return the scalar product, None where an entry has no value."""
        total = ZERO
        for a, b in zip(row, column, strict=True):
            left, right = self.of(a), self.of(b)
            if left is None or right is None:
                return None
            total += left * right
        return total
