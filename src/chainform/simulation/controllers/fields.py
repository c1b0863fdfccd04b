"""Read the table of a controller: laws, gains and limits, each checked where it stands."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from chainform.errors import Error, RunError
from chainform.mechanism import GROUND, Joint, Mechanism, Number, intake_of, law_reader
from chainform.mechanism.laws import LawIntake
from chainform.mechanism.types import ZERO


@dataclass(frozen=True)
class Fields:
    """What was said about one controller."""

    mechanism: Mechanism
    name: str
    table: Mapping[str, Any]

    def error(self, message: str, field: str = "", remedy: str | None = None) -> RunError:
        """Return the error for a field."""
        where = f"controller {self.name!r}" + (f", {field}" if field else "")
        return RunError(message, element=where, remedy=remedy)

    def check(self, allowed: Sequence[str], required: Sequence[str] = ()) -> None:
        """Refuse fields that are not known, or that are missing."""
        for key in self.table:
            if key not in ("type", *allowed):
                raise self.error(f"unknown field {key!r}", remedy="known are " + ", ".join(allowed))
        for key in required:
            if self.table.get(key) is None:
                raise self.error(f"{key} is missing", remedy=f"give {key}")

    @cached_property
    def _laws(self) -> LawIntake:
        return law_reader(self.mechanism)

    def law(self, value: object, field: str, groups: Collection[str] = ("t",)) -> Number:
        """Return a law; unless more is allowed, one of time and parameters."""
        try:
            return self._laws.law(_plain(value), self._where(field), groups)
        except Error as error:
            raise self.error(error.message, field, error.remedy) from None

    def gain(self, value: object, field: str) -> Number:
        """Return a number, or an expression of parameters."""
        return self.law(value, field, ())

    def _where(self, field: str) -> str:
        return f"controller {self.name!r}, {field}"

    # --- joints -------------------------------------------------------------------------

    def rate(self, name: object, field: str) -> int:
        """Return the rate of a joint of one freedom, by its name."""
        try:
            rate = self.mechanism.rate_index(str(name))
        except Error as error:
            raise self.error(error.message, field, error.remedy) from None
        if self.is_quaternion(rate):
            remedy = 'write euler = "zyx" in the file to have one coordinate for each turn'
            raise self.error("a joint with a quaternion has no single target", field, remedy)
        return rate

    def is_quaternion(self, rate: int) -> bool:
        """Whether a rate belongs to a joint with a quaternion."""
        joint = self.joint(rate)
        return joint is not None and joint.kind.has_quaternion

    def joint(self, rate: int) -> Joint | None:
        """Return the joint with a rate; an element model has none."""
        segment = self.mechanism.rate_records[rate].segment
        return None if segment == GROUND else self.mechanism.segments[segment].joint

    def refuse_quaternions(self) -> None:
        """Refuse mechanisms whose rates are not those of the coordinates."""
        if self.mechanism.nq != self.mechanism.nv:
            raise self.error(
                "this controller needs as many coordinates as rates, and there are quaternions",
                "type",
                'write euler = "zyx" in the file for free and spherical joints',
            )

    # --- several joints -----------------------------------------------------------------

    def per_rate(self, field: str, default: object = None) -> list[Number]:
        """Return a gain for every rate: one number for all, a list, or a table by joints."""
        value, count = self.table.get(field, default), self.mechanism.nv
        if isinstance(value, Mapping):
            gains: list[Number] = [ZERO] * count
            for joint, gain in cast("Mapping[str, Any]", value).items():
                gains[self.rate(joint, field)] = self.gain(gain, f"{field}, {joint}")
            return gains
        listed = _plain(value)
        if isinstance(listed, list | tuple):
            entries = cast("Sequence[object]", listed)
            if len(entries) != count:
                remedy = "give one for each: " + ", ".join(self.mechanism.rates)
                raise self.error(f"{len(entries)} numbers for {count} joints", field, remedy)
            return [self.gain(entry, field) for entry in entries]
        return [self.gain(value, field)] * count

    def limit(self, rates: Sequence[int]) -> dict[int, Number]:
        """Return the greatest sizes by rate: a number, or true for the effort limits of joints."""
        said = self.table.get("limit")
        if said is None or said is False:
            return {}
        if said is not True:
            bound = self.gain(said, "limit")
            known = intake_of(self.mechanism).known(bound, self._where("limit"))
            if known is not None and known <= 0:
                remedy = "give the greatest effort, or leave the limit out"
                raise self.error("a limit must be positive", "limit", remedy)
            return dict.fromkeys(rates, bound)
        driven = {actuator.rate for actuator in self.mechanism.actuators}
        limits: dict[int, Number] = {}
        for rate in rates:
            name, joint = self.mechanism.rates[rate], self.joint(rate)
            if rate in driven:
                remedy = "give limit as a number; what the signal itself allows is in the actuator"
                raise self.error(
                    f"{name} has an actuator, whose signal is no effort", "limit", remedy
                )
            effort = None if joint is None or joint.limits is None else joint.limits.effort
            if effort is None:
                remedy = "give limit as a number, or limits = { effort = ... } in the file"
                raise self.error(f"{name} has no limit of its effort", "limit", remedy)
            limits[rate] = effort
        return limits


def _plain(value: object) -> object:
    """Return arrays and numbers of numpy as lists and numbers of Python."""
    return value.tolist() if hasattr(value, "tolist") else value  # type: ignore[attr-defined]


def rows_of(fields: Fields, field: str) -> list[list[Number]]:
    """Return a matrix of numbers and expressions of parameters."""
    value = _plain(fields.table.get(field))
    if not isinstance(value, list | tuple) or not value:
        raise fields.error("a matrix is a list of rows", field, "write [[100, 10]]")
    rows: list[list[Number]] = []
    for row in cast("Sequence[object]", value):
        entries = _plain(row)
        if not isinstance(entries, list | tuple):
            raise fields.error("a matrix is a list of rows", field, "write [[100, 10]]")
        rows.append([fields.gain(entry, field) for entry in cast("Sequence[object]", entries)])
    if len({len(row) for row in rows}) != 1:
        lengths = ", ".join(str(len(row)) for row in rows)
        remedy = "write as many numbers in each row"
        raise fields.error(f"the rows of a matrix are equally long, not {lengths}", field, remedy)
    return rows
