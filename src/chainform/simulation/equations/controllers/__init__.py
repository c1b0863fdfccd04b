"""Controllers: what closes the loop between a motion and its drives. A new one is a file, a line.

| type              | what it gives                                                           |
|-------------------|-------------------------------------------------------------------------|
| `pd`, `pid`       | kp e + kd e' (+ ki, integral of e) for one joint                        |
| `computed_torque` | inverse dynamics at qdd = targets'' + kd e' + kp e, for all joints       |
| `state_feedback`  | u_ref - K (x - x_ref)                                                   |

Where a joint has an actuator the result is its signal, otherwise it is the effort of the joint. An
actuator of several joints stands for a joint by its name. All of them become part of the compiled
equations, but for those with a `sample` time (sampler.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chainform.given import Given, argument
from chainform.mechanism import Mechanism
from chainform.simulation.equations.controllers.computed_torque import computed_torque_of
from chainform.simulation.equations.controllers.context import (
    ControlContext,
    Controller,
    ControllerFields,
)
from chainform.simulation.equations.controllers.feedback import (
    joint_controller_of,
    state_feedback_of,
)
from chainform.simulation.equations.controllers.sampler import (
    FIELDS,
    ControlClock,
    SampledController,
    check_resumption,
    check_samples,
    own_actuators,
    sampled,
)

TYPES = {
    "pd": joint_controller_of,
    "pid": joint_controller_of,
    "computed_torque": computed_torque_of,
    "state_feedback": state_feedback_of,
}


def controllers_of(
    mechanism: Mechanism,
    controllers: Mapping[str, Any] | None,
    without: Sequence[str] = (),
    span: tuple[float, float] | None = None,
) -> list[Controller]:
    """Return checked controllers: `{"joint1": {"type": "pd", "kp": 100, "kd": 10}}`.

    The name of a `pd` or `pid` is that of its joint unless it says otherwise. `without` is what
    the equations of the mechanism do not have, `span` the start and end of the motion (s).
    """
    given = argument("controllers", controllers)
    if not given.is_given:
        return []
    remedy = '{"joint1": {"type": "pd", "kp": 100, "kd": 10, "target": "sin(t)"}}'
    found = [
        _controller(mechanism, name, entry.at(f"controller {name!r}"), without)
        for name, entry in given.table(remedy=remedy).items()
    ]
    check_samples(found, span)
    return found


def _controller(
    mechanism: Mechanism, name: str, given: Given, without: Sequence[str]
) -> Controller:
    table = given.table(remedy=f"its type is {', '.join(TYPES)}")
    kind = table["type"].choice(tuple(TYPES), "controller")
    own = table.holding({n: value for n, value in table.value.items() if n not in FIELDS})
    return sampled(TYPES[kind](ControllerFields(mechanism, name, own), without), table)


__all__ = [
    "TYPES",
    "ControlClock",
    "ControlContext",
    "Controller",
    "SampledController",
    "check_resumption",
    "controllers_of",
    "own_actuators",
]
