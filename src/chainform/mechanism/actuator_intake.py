"""Read actuators: in the general form, or by a type of the library."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from chainform.errors import ReadError
from chainform.mechanism.actuator_checks import check_motion
from chainform.mechanism.actuator_equations import Fields, assembled
from chainform.mechanism.actuator_library import LIBRARY
from chainform.mechanism.actuators import Actuator, Row
from chainform.mechanism.intake import Intake
from chainform.mechanism.numbering import check_distinct
from chainform.mechanism.tables import (
    ACTUATOR_FIELDS,
    GENERAL_ACTUATOR_FIELDS,
    check_fields,
    is_list,
)
from chainform.mechanism.types import GROUND, ONE, ZERO, Joint, JointKind, Number

if TYPE_CHECKING:
    from chainform.mechanism.mechanism import Mechanism

EFFORT_FIELDS = ("effort", "direct", "viscous", "e")
"""What belongs to an actuator that gives an effort, and not to one whose state has the motion."""


def actuators_from(
    said: Sequence[Mapping[str, object]], mechanism: Mechanism, intake: Intake
) -> tuple[Actuator, ...]:
    """Return the checked actuators, in the order given: that of x and u."""
    reader = _Reader(mechanism, intake)
    actuators = tuple(reader.actuator(table, number) for number, table in enumerate(said, 1))
    check_distinct([actuator.name for actuator in actuators], "actuator", intake)
    taken: dict[int, Actuator] = {}
    for actuator in actuators:
        other = taken.setdefault(actuator.rate, actuator)
        if other is not actuator:
            message = f"the joint is driven by {other.name!r} already"
            remedy = "one actuator drives a joint; put both into one, with the states of both"
            raise intake.error(message, f"actuator {actuator.name!r}, joint", remedy)
    _check_parameter_names(actuators, intake)
    return actuators


def _check_parameter_names(actuators: Sequence[Actuator], intake: Intake) -> None:
    """Refuse parameters that are called like states and signals: x1, u1."""
    for letter, count in (("x", sum(a.order for a in actuators)), ("u", len(actuators))):
        for name in intake.values:
            place = re.fullmatch(rf"{letter}([1-9][0-9]{{0,6}})", name)
            if place is not None and int(place[1]) <= count:
                message = f"{name} is the name of a state or a signal of the actuators"
                raise intake.error(message, f"parameter {name!r}", "rename the parameter")


@dataclass(frozen=True, slots=True)
class _Reader:
    mechanism: Mechanism
    intake: Intake

    def actuator(self, table: Mapping[str, object], number: int) -> Actuator:
        """Return one actuator; without a name it is called `actuator` and its number."""
        intake = self.intake
        name = f"actuator{number}"
        if table.get("name") is not None:
            name = intake.text(table["name"], f"actuator {number}, name")
        where = f"actuator {name!r}"
        kind = self.kind(table, where)
        allowed = GENERAL_ACTUATOR_FIELDS if kind is None else LIBRARY[kind][0]
        check_fields(table, ACTUATOR_FIELDS | allowed, intake.file, where)
        rate, joint = self.driven(table.get("joint"), f"{where}, joint")
        if kind is None:
            actuator = self.general(table, name, rate, where)
        else:
            said = LIBRARY[kind][1](Fields(table, joint, intake, where))
            actuator = assembled(name, rate, said)
        check_motion(actuator, joint, intake, where)
        return actuator

    def kind(self, table: Mapping[str, object], where: str) -> str | None:
        """Return the type in the library, None for the general form."""
        if table.get("type") is None:
            return None
        kind = self.intake.text(table["type"], f"{where}, type")
        if kind in LIBRARY:
            return kind
        close = get_close_matches(kind, LIBRARY, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        remedy = f"{hint}types are {', '.join(LIBRARY)}; without a type, give A, b, f and so on"
        raise self.intake.error(f"there is no type {kind[:60]!r}", f"{where}, type", remedy)

    def driven(self, value: object, where: str) -> tuple[int, Joint]:
        """Return the rate that is driven, and its joint: one of one coordinate, its own.

        A coordinate of an element model counts as a joint without limits, gear and rotor.
        """
        mechanism, intake = self.mechanism, self.intake
        if value is None:
            raise intake.error("the joint is missing", where, "name the joint that it drives")
        name = intake.text(value, where)
        leaders = {record.segment for record in mechanism.rate_records}
        for index, segment in enumerate(mechanism.segments):
            if segment.joint.name == name and segment.rate is not None and index not in leaders:
                leader = mechanism.segments[mechanism.rate_records[segment.rate].segment]
                message = f"the joint {name!r} follows {leader.joint.name!r}"
                remedy = f"drive {leader.joint.name!r}; a ratio can go into the actuator"
                raise intake.error(message, where, remedy)
            if segment.joint.name == name and segment.joint.kind.has_quaternion:
                message = f"the joint {name!r} has a quaternion, and an actuator drives one freedom"
                raise intake.error(message, where, 'describe the joint by angles: euler = "zyx"')
        try:
            rate = mechanism.rate_index(name)
        except ReadError as error:
            error.element = where
            raise
        record = mechanism.rate_records[rate]
        if record.segment == GROUND:
            kind = JointKind.PRISMATIC if record.unit == "m" else JointKind.REVOLUTE
            return rate, Joint(record.name, kind)
        segment = mechanism.segments[record.segment]
        if segment.joint.kind.has_quaternion:
            message = f"{name!r} belongs to a quaternion, and an actuator drives one freedom"
            raise intake.error(message, where, 'describe the joint by angles: euler = "zyx"')
        return rate, segment.joint

    def general(self, table: Mapping[str, object], name: str, rate: int, where: str) -> Actuator:
        """Return an actuator given by its matrices."""
        intake = self.intake
        self.refuse_mixture(table, where)
        rows = [] if table.get("A") is None else intake.listed(table["A"], f"{where}, A")
        n = len(rows)
        direct, viscous = (
            intake.number(table.get(field, 0), f"{where}, {field}")
            for field in ("direct", "viscous")
        )
        position, velocity, effort = (
            None
            if table.get(field) is None
            else self.selected(table[field], n, f"{where}, {field}")
            for field in ("position", "velocity", "effort")
        )
        b, f, e = (self.row(table.get(field), n, f"{where}, {field}") for field in ("b", "f", "e"))
        return Actuator(
            name,
            rate,
            A=tuple(self.row(row, n, f"{where}, A[{k}]") for k, row in enumerate(rows, 1)),
            b=b,
            f=f,
            e=e,
            limit=self.limit(table.get("limit"), f"{where}, limit"),
            position=position,
            velocity=velocity,
            effort=(ZERO,) * n if effort is None and velocity is None else effort,
            direct=direct,
            viscous=viscous,
            states=self.states(table.get("states"), n, f"{where}, states"),
            signal=intake.text(table.get("signal", "signal"), f"{where}, signal"),
        )

    def refuse_mixture(self, table: Mapping[str, object], where: str) -> None:
        """Refuse an actuator that is of both sorts, or of none."""
        given = [field for field in EFFORT_FIELDS if table.get(field) is not None]
        moves = table.get("velocity") is not None
        remedy = "give velocity (and position) where qd is part of x, else effort or direct"
        if moves and given:
            message = f"{given[0]!r} is for an actuator whose state does not contain the motion"
            raise self.intake.error(message, where, remedy)
        if not moves and table.get("position") is not None:
            message = "the position is part of the state, but the velocity is not"
            raise self.intake.error(message, where, remedy)
        if not moves and not {"effort", "direct"} & set(given):
            message = "nothing says how the actuator drives its joint"
            raise self.intake.error(message, where, remedy)

    def row(self, value: object, n: int, where: str) -> Row:
        """Return n numbers; nothing given means zeros."""
        if value is None:
            return (ZERO,) * n
        entries = self.intake.entries(value, n, where)
        return tuple(self.intake.number(x, f"{where}[{k}]") for k, x in enumerate(entries, 1))

    def selected(self, value: object, n: int, where: str) -> Row:
        """Return a row, or the one that selects the state with the number given, from 1."""
        if is_list(value) or hasattr(value, "tolist"):
            return self.row(value, n, where)
        place = self.intake.integer(value, where)
        if not 1 <= place <= n:
            remedy = f"give a number from 1 to {n}, or a list of {n} numbers"
            raise self.intake.error(f"there is no state {place}", where, remedy)
        return tuple(ONE if k == place else ZERO for k in range(1, n + 1))

    def limit(self, value: object, where: str) -> Number | None:
        if value is None:
            return None
        number = self.intake.number(value, where)
        known = self.intake.known(number, where)
        if known is not None and known <= 0:
            remedy = "give the greatest size of the signal, or leave it out for none"
            raise self.intake.error("the limit is not positive", where, remedy)
        return number

    def states(self, value: object, n: int, where: str) -> tuple[str, ...]:
        """Return the names of the states, x1, x2 and so on unless they are given."""
        if value is None:
            return default_states(n)
        names = tuple(self.intake.text(x, where) for x in self.intake.entries(value, n, where))
        if len(set(names)) < n:
            raise self.intake.error("a state is named twice", where, "give each its own name")
        return names


def default_states(n: int) -> tuple[str, ...]:
    """Return the names of states that have none."""
    return tuple(f"x{k}" for k in range(1, n + 1))
