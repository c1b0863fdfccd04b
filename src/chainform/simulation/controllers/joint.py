"""PD and PID for one joint.

    e = target - q,    result = kp e + kd (target' - qd) + ki integral(e) + feedforward

The integral is a state of the simulation, zero at the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainform.graph import Scalar
from chainform.mechanism import ZERO, Number
from chainform.simulation.controllers.context import ControlContext
from chainform.simulation.controllers.fields import Fields

FIELDS = ("joint", "kp", "kd", "target", "feedforward", "limit")


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

    def outputs(self, context: ControlContext) -> dict[int, Scalar]:
        """Return the effort or the signal."""
        target, rate, _ = context.target(self.target)
        error = context.builder.keep(target - context.q(self.rate))
        total = context.law(self.kp) * error + context.law(self.kd) * (rate - context.qd(self.rate))
        if self.ki != ZERO:
            total = total + context.law(self.ki) * context.integral(error)
        total = total + context.law(self.feedforward)
        return {self.rate: context.limited(total, self.limit)}


def joint_controller_of(fields: Fields, without: Sequence[str] = ()) -> JointController:
    """Return a checked controller of one joint."""
    del without
    table = fields.table
    gains = ("kp", "kd", "ki") if table["type"].value == "pid" else ("kp", "kd")
    fields.check((*FIELDS, *gains[2:]), ("kp", *gains[2:]))
    joint = table["joint"]
    rate = fields.rate(joint if joint.is_given else joint.holding(fields.name))
    kp, kd, ki = (fields.gain(table[name]) for name in ("kp", "kd", "ki"))
    feedforward = fields.law(table["feedforward"], ("q", "qd", "t"))
    target, limit = fields.law(table["target"]), fields.limit([rate]).get(rate)
    return JointController(rate, target, kp, kd, ki, feedforward, limit)
