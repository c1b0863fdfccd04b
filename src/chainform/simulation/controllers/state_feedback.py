"""Linear state feedback: u = u_ref - K (x - x_ref).

x is (q, qd) or, where K has as many columns, (q, qd) and then the states of the actuators that are
neither. Each row of K gives the effort of one of `joints`, or the signal of its actuator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from chainform.formulations.motion import is_zero
from chainform.graph import Scalar
from chainform.mechanism import Number
from chainform.mechanism.types import ZERO
from chainform.simulation.controllers.desk import ControlDesk
from chainform.simulation.controllers.fields import Fields, rows_of
from chainform.simulation.drives.actuator_states import rest_names

FIELDS = ("K", "joints", "x_ref", "q_ref", "u_ref", "limit")


@dataclass(frozen=True)
class StateFeedback:
    """K by rows, one for each of `rates`.

    `reference` has a law of t for each column of K; rates of coordinates that have none there are
    the derivatives of their coordinates.
    """

    rates: tuple[int, ...]
    K: tuple[tuple[Number, ...], ...]
    reference: Mapping[int, Number]
    u_ref: tuple[Number, ...]
    limits: Mapping[int, Number]

    def outputs(self, desk: ControlDesk) -> dict[int, Scalar]:
        """Return the efforts or signals."""
        errors = self._errors(desk)
        found: dict[int, Scalar] = {}
        for rate, row, reference in zip(self.rates, self.K, self.u_ref, strict=True):
            total = desk.law(reference)
            for gain, error in zip(row, errors, strict=True):
                factor = desk.law(gain)
                total = total if is_zero(factor) else total - factor * error
            found[rate] = desk.limited(total, self.limits.get(rate))
        return found

    def _errors(self, desk: ControlDesk) -> list[Scalar]:
        """Return x - x_ref."""
        n = desk.mechanism.nv
        state = [desk.q(i) for i in range(n)] + [desk.qd(i) for i in range(n)]
        state += [] if desk.actuated is None else desk.actuated.rest
        errors: list[Scalar] = []
        for column in range(len(self.K[0])):
            if column not in self.reference and n <= column < 2 * n:
                wanted = desk.derivative(desk.law(self.reference.get(column - n, ZERO)))
            else:
                wanted = desk.law(self.reference.get(column, ZERO))
            errors.append(desk.builder.keep(state[column] - wanted))
        return errors


def state_feedback_of(fields: Fields, leave_out: Sequence[str] = ()) -> StateFeedback:
    """Return a checked controller."""
    del leave_out
    fields.check(FIELDS, ("K",))
    fields.refuse_quaternions()
    mechanism, K = fields.mechanism, rows_of(fields, "K")
    n, more = mechanism.nv, rest_names(mechanism)
    if len(K[0]) not in (2 * n, 2 * n + len(more)):
        names = ", ".join([*mechanism.rates, *(f"der({name})" for name in mechanism.rates), *more])
        remedy = f"the columns belong to {names}"
        raise fields.error(f"K has {len(K[0])} columns and needs {2 * n}", "K", remedy)
    rates = _rates(fields, len(K))
    u_ref = _u_ref(fields, rates)
    reference = _reference(fields, len(K[0]))
    limits = fields.limit(rates)
    return StateFeedback(rates, tuple(map(tuple, K)), reference, u_ref, limits)


def _rates(fields: Fields, count: int) -> tuple[int, ...]:
    said = fields.table.get("joints", list(fields.mechanism.rates))
    names = [said] if isinstance(said, str) else list(cast("Sequence[object]", said))
    rates = tuple(fields.rate(name, "joints") for name in names)
    if len(rates) != count or len(set(rates)) != count:
        raise fields.error(
            f"K has {count} rows, and there are {len(rates)} joints",
            "joints",
            "name one joint for each row of K",
        )
    return rates


def _reference(fields: Fields, columns: int) -> dict[int, Number]:
    by_state, by_joint = fields.table.get("x_ref"), fields.table.get("q_ref")
    if by_state is not None and by_joint is not None:
        raise fields.error("x_ref and q_ref say the same", "x_ref", "give one of them")
    if by_state is not None:
        entries = _listed(fields, by_state, "x_ref")
        if len(entries) != columns:
            raise fields.error(f"x_ref has {len(entries)} entries and needs {columns}", "x_ref")
        return {k: fields.law(entry, "x_ref") for k, entry in enumerate(entries)}
    if isinstance(by_joint, Mapping):
        given = cast("Mapping[str, Any]", by_joint)
        return {fields.rate(j, "q_ref"): fields.law(law, f"q_ref, {j}") for j, law in given.items()}
    entries = _listed(fields, by_joint, "q_ref") if by_joint is not None else []
    if entries and len(entries) != fields.mechanism.nv:
        raise fields.error(
            f"q_ref has {len(entries)} entries for {fields.mechanism.nv} joints", "q_ref"
        )
    return {k: fields.law(entry, "q_ref") for k, entry in enumerate(entries)}


def _u_ref(fields: Fields, rates: Sequence[int]) -> tuple[Number, ...]:
    said = fields.table.get("u_ref")
    if said is None:
        return (ZERO,) * len(rates)
    if isinstance(said, Mapping):
        given = cast("Mapping[str, Any]", said)
        by_rate = {fields.rate(j, "u_ref"): fields.law(x, f"u_ref, {j}") for j, x in given.items()}
        return tuple(by_rate.get(rate, ZERO) for rate in rates)
    entries = _listed(fields, said, "u_ref")
    if len(entries) != len(rates):
        raise fields.error(f"u_ref has {len(entries)} entries for {len(rates)} rows", "u_ref")
    return tuple(fields.law(entry, "u_ref") for entry in entries)


def _listed(fields: Fields, value: Any, field: str) -> list[object]:
    plain = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(plain, list | tuple):
        return list(cast("Sequence[object]", plain))
    raise fields.error("a list of numbers and laws of t is needed", field, 'write [0, "sin(t)"]')
