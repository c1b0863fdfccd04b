"""Actuators as tables of the native file: in the general form, or by laws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from chainform.expressions import symbols_of
from chainform.mechanism.components import Actuator, DriveLaws
from chainform.mechanism.records import ZERO


def default_states(n: int) -> tuple[str, ...]:
    """Return the names of states that have none."""
    return tuple(f"x{k}" for k in range(1, n + 1))


def actuator_fields(actuator: Actuator, names: Sequence[str]) -> Iterator[tuple[str, object]]:
    """Yield the fields of an actuator in the general form; `names` are those of the rates."""
    yield "name", actuator.name
    if actuator.weights:
        yield "joints", {names[rate]: weight for rate, weight in actuator.weights}
    else:
        yield "joint", names[actuator.rate]
    if actuator.laws is not None:
        yield from _law_fields(actuator, actuator.laws)
        return
    if actuator.A:
        yield "A", [list(row) for row in actuator.A]
    for name, row in (("b", actuator.b), ("f", actuator.f), ("e", actuator.e)):
        if any(entry != ZERO for entry in row):
            yield name, list(row)
    if actuator.limit is not None:
        yield "limit", actuator.limit
    rows = {"position": actuator.position, "velocity": actuator.velocity, "effort": actuator.effort}
    for name, row in rows.items():
        if row:
            yield name, list(row)
    # An actuator of order zero has an empty row of efforts, and is known by what is direct.
    if actuator.direct != ZERO or actuator.effort == ():
        yield "direct", actuator.direct
    if actuator.viscous != ZERO:
        yield "viscous", actuator.viscous
    if actuator.states != default_states(actuator.order):
        yield "states", list(actuator.states)
    if actuator.signal != "signal":
        yield "signal", actuator.signal


def _law_fields(actuator: Actuator, laws: DriveLaws) -> Iterator[tuple[str, object]]:
    """Yield the fields of an actuator that is given by laws."""
    effort = laws.effort
    is_text = not isinstance(effort, Fraction) and set(actuator.own_names) & symbols_of(effort)
    if laws.rates or not is_text:
        # A table of states, even an empty one, tells laws from the number of a state.
        yield "states", dict(zip(actuator.states, laws.rates, strict=True))
    yield "effort", effort
    if actuator.limit is not None:
        yield "limit", actuator.limit
    if actuator.signal != "signal":
        yield "signal", actuator.signal
