"""Write an actuator in the general form, for native files and for side files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from chainform.mechanism import ZERO, Actuator, Number
from chainform.mechanism.actuator_reader import default_states


def actuator_fields(
    actuator: Actuator,
    joint: str,
    number: Callable[[Number], object],
    text: Callable[[str], object],
) -> Iterator[tuple[str, object]]:
    """Yield the fields of an actuator on a joint, numbers and texts written by the functions given.

    What has its default value is left out.
    """
    yield "name", text(actuator.name)
    yield "joint", text(joint)
    if actuator.A:
        yield "A", [[number(entry) for entry in row] for row in actuator.A]
    for name, row in (("b", actuator.b), ("f", actuator.f), ("e", actuator.e)):
        if any(entry != ZERO for entry in row):
            yield name, [number(entry) for entry in row]
    if actuator.limit is not None:
        yield "limit", number(actuator.limit)
    rows = {"position": actuator.position, "velocity": actuator.velocity, "effort": actuator.effort}
    for name, row in rows.items():
        if row:
            yield name, [number(entry) for entry in row]
    # An actuator of order zero has an empty row of efforts, and is told by what is direct.
    if actuator.direct != ZERO or actuator.effort == ():
        yield "direct", number(actuator.direct)
    if actuator.viscous != ZERO:
        yield "viscous", number(actuator.viscous)
    if actuator.states != default_states(actuator.order):
        yield "states", [text(state) for state in actuator.states]
    if actuator.signal != "signal":
        yield "signal", text(actuator.signal)
