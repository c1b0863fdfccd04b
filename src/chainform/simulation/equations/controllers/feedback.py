"""Linear feedback: of the state, and PD and PID for one joint.

    u = u_ref - K (x - x_ref)

x is (q, qd) or, where K has as many columns, (q, qd) and then the states of the actuators that are
neither. Each row of K gives the effort of one of `joints`, or the signal of its actuator.

    e = target - q,    result = kp e + kd (target' - qd) + ki integral(e) + feedforward

The integral is a state of the simulation, zero at the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chainform.graph import Scalar, is_zero
from chainform.mechanism import ZERO, Number
from chainform.simulation.equations.controllers.context import ControlContext, ControllerFields
from chainform.simulation.equations.initial import rest_names

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

    @property
    def targets(self) -> tuple[int, ...]:
        """The numbers of what it gives."""
        return self.rates

    def outputs(self, context: ControlContext) -> dict[int, Scalar]:
        """Return the efforts or signals."""
        errors = self._errors(context)
        found: dict[int, Scalar] = {}
        for rate, row, reference in zip(self.rates, self.K, self.u_ref, strict=True):
            total = context.law(reference)
            for gain, error in zip(row, errors, strict=True):
                factor = context.law(gain)
                total = total if is_zero(factor) else total - factor * error
            found[rate] = context.limited(total, self.limits.get(rate))
        return found

    def _errors(self, context: ControlContext) -> list[Scalar]:
        """Return x - x_ref."""
        n = context.mechanism.nv
        state = [context.q(i) for i in range(n)] + [context.qd(i) for i in range(n)]
        state += [] if context.actuated is None else context.actuated.rest
        errors: list[Scalar] = []
        for column in range(len(self.K[0])):
            if column not in self.reference and n <= column < 2 * n:
                wanted = context.derivative(context.law(self.reference.get(column - n, ZERO)))
            else:
                wanted = context.law(self.reference.get(column, ZERO))
            errors.append(context.builder.keep(state[column] - wanted))
        return errors


def state_feedback_of(fields: ControllerFields, without: Sequence[str] = ()) -> StateFeedback:
    """Return a checked controller."""
    del without
    fields.check(FIELDS, ("K",))
    fields.refuse_quaternions()
    mechanism, K = fields.mechanism, fields.matrix(fields.table["K"])
    n, more = mechanism.nv, rest_names(mechanism)
    if len(K[0]) not in (2 * n, 2 * n + len(more)):
        names = ", ".join([*mechanism.rates, *(f"der({name})" for name in mechanism.rates), *more])
        message = f"K has {len(K[0])} columns and needs {2 * n}"
        raise fields.table["K"].error(message, f"the columns belong to {names}")
    rates = _rates(fields, len(K))
    u_ref = _u_ref(fields, rates)
    reference = _reference(fields, len(K[0]))
    limits = fields.limit(rates)
    return StateFeedback(rates, tuple(map(tuple, K)), reference, u_ref, limits)


def _rates(fields: ControllerFields, count: int) -> tuple[int, ...]:
    given = fields.table["joints"]
    if not given.is_given:
        given = given.holding(list(fields.mechanism.rates))
    entries = [given] if isinstance(given.value, str) else given.entries()
    rates = tuple(map(fields.drive, entries))
    if len(rates) != count or len(set(rates)) != count:
        message = f"K has {count} rows, and there are {len(rates)} joints"
        raise given.error(message, "name one joint for each row of K")
    return rates


def _reference(fields: ControllerFields, columns: int) -> dict[int, Number]:
    by_state, by_joint = fields.table["x_ref"], fields.table["q_ref"]
    if by_state.is_given and by_joint.is_given:
        raise by_state.error("x_ref and q_ref say the same", "give one of them")
    if by_joint.is_table:
        return fields.by_joint(by_joint)
    if by_joint.is_given:
        return dict(enumerate(fields.listed(by_joint, fields.mechanism.nv)))
    return dict(enumerate(fields.listed(by_state, columns))) if by_state.is_given else {}


def _u_ref(fields: ControllerFields, rates: Sequence[int]) -> tuple[Number, ...]:
    given = fields.table["u_ref"]
    if given.is_given and not given.is_table:
        return tuple(fields.listed(given, len(rates)))
    laws = fields.by_joint(given) if given.is_given else {}
    return tuple(laws.get(rate, ZERO) for rate in rates)


# --- one joint --------------------------------------------------------------------------------


JOINT_FIELDS = ("joint", "kp", "kd", "target", "feedforward", "limit")


@dataclass(frozen=True)
class JointController:
    """PD, or PID with `ki`, of the joint with a rate."""

    rate: int
    target: Number
    kp: Number
    kd: Number
    ki: Number = ZERO
    feedforward: Number = ZERO
    limit: Number | None = None

    @property
    def targets(self) -> tuple[int, ...]:
        """The number of what it gives."""
        return (self.rate,)

    def outputs(self, context: ControlContext) -> dict[int, Scalar]:
        """Return the effort or the signal."""
        target, rate, _ = context.target(self.target)
        error = context.builder.keep(target - context.q(self.rate))
        total = context.law(self.kp) * error + context.law(self.kd) * (rate - context.qd(self.rate))
        if self.ki != ZERO:
            total = total + context.law(self.ki) * context.integral(error)
        total = total + context.law(self.feedforward)
        return {self.rate: context.limited(total, self.limit)}


def joint_controller_of(fields: ControllerFields, without: Sequence[str] = ()) -> JointController:
    """Return a checked controller of one joint."""
    del without
    table = fields.table
    gains = ("kp", "kd", "ki") if table["type"].value == "pid" else ("kp", "kd")
    fields.check((*JOINT_FIELDS, *gains[2:]), ("kp", *gains[2:]))
    joint = table["joint"]
    rate = fields.drive(joint if joint.is_given else joint.holding(fields.name))
    kp, kd, ki = (fields.gain(table[name]) for name in ("kp", "kd", "ki"))
    feedforward = fields.law(table["feedforward"], ("q", "qd", "t"))
    target, limit = fields.law(table["target"]), fields.limit([rate]).get(rate)
    return JointController(rate, target, kp, kd, ki, feedforward, limit)
