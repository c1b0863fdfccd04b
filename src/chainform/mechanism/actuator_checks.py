"""What the numbers of an actuator must obey so that its state can contain the motion."""

from __future__ import annotations

from fractions import Fraction

from chainform.errors import ReadError
from chainform.expressions import symbols_of, value_of
from chainform.mechanism.actuators import Actuator, Row
from chainform.mechanism.intake import Intake
from chainform.mechanism.types import ZERO, Joint, Number

TOLERANCE = Fraction(1, 10**9)
"""Relative size of what rounding in functions such as sqrt may leave."""


def check_motion(actuator: Actuator, joint: Joint, intake: Intake, where: str) -> None:
    """Refuse rows that contradict each other; say what may surprise.

    q' = qd must hold whatever x, u and P are, so position A = velocity, position b = 0 and
    position f = 0; free parameters are tried with values of no special meaning. The load must hold
    the actuator back: velocity f < 0, or = 0 for one that it does not reach.
    """
    if actuator.velocity is None:
        return
    values = _Values(intake, sampled=True)
    if all(values.of(entry) == 0 for entry in actuator.velocity):
        remedy = "give the row with qd = velocity x"
        raise intake.error("the row has no entry but zero", f"{where}, velocity", remedy)
    _check_position(actuator, values, intake, where)
    known = _Values(intake, sampled=False).product(actuator.velocity, actuator.f)
    if known is not None and known > 0:
        message = "a drive P of the sense of qd would speed the actuator up: velocity f > 0"
        remedy = "change the sign of f: P acts on the joint, and -P on the actuator"
        raise intake.error(message, f"{where}, f", remedy)
    if values.product(actuator.velocity, actuator.f) == 0:
        intake.note(where, "the load does not act on it: the signal alone prescribes the motion")
    elif joint.rotor_inertia != ZERO:
        text = (
            f"the joint {joint.name!r} has rotor_inertia and the actuator has inertia of its own; "
            "both count, so give the inertia of one rotor in one place only"
        )
        intake.note(where, text, "warning")


def _check_position(actuator: Actuator, values: _Values, intake: Intake, where: str) -> None:
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
            raise intake.error(message, f"{where}, position", remedy)


class _Values:
    """Numbers for the entries of an actuator, with samples for free parameters or without."""

    def __init__(self, intake: Intake, *, sampled: bool) -> None:
        free = [name for name, value in intake.values.items() if value is None and sampled]
        samples = {name: Fraction(7 * k + 11, 10) for k, name in enumerate(free)}
        self.values = {**intake.bound, **samples}

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
