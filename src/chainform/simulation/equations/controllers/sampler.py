"""Controllers that are sampled: what a digital controller does, one of them or several.

    sample, delay        seconds; the delay is a multiple of the sample time
    resolution           of measured coordinates (rad, m), output_resolution of the results

symbol   meaning
T, d     sample time; delay in samples
q_m      coordinates as they are measured, r round(q / r) at the resolution r, else q
v_m      rates as they are measured: (q_m - q_m of the sample before) / T at a resolution, zero at
         the first sample; else qd
I        integrals of a controller, zero at first

At t_k = t_0 + k T, from the start of the motion on, a controller

    1. measures q_m, v_m and the states of actuators,
    2. computes its result y_k from these, t_k and I, within its limit, and rounds it to a multiple
       of output_resolution,
    3. lets I grow by T times what its law integrates, the error of a `pid`,
    4. puts out y_(k - d), zero as long as there is none, until the next sample.

All controllers that are due at one time measure the same state. A half is rounded to the even
neighbour.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.formulations import Actuated, coordinate_of, rest_places
from chainform.given import Given
from chainform.graph import BatchPlan, Scalar
from chainform.mechanism import GROUND, Mechanism, number_of
from chainform.model import Model
from chainform.simulation.equations.builder import EquationBuilder
from chainform.simulation.equations.controllers.context import ControlContext, Controller
from chainform.simulation.equations.parameters import check_known
from chainform.simulation.equations.times import later

Array = NDArray[np.float64]
FIELDS = ("sample", "delay", "resolution", "output_resolution")
MOST_SAMPLES = 10**7
"""The most samples of a controller in a motion, and of a delay: they take minutes."""
WHOLE = 2.0**53
"""From here on all doubles are whole."""


@dataclass(frozen=True)
class SampledController:
    """A controller that acts at its sample times only; its results come from outside."""

    own: Controller
    sample: Fraction
    delay: int = 0
    resolution: Fraction = Fraction(0)
    output_resolution: Fraction = Fraction(0)

    @property
    def targets(self) -> Sequence[int]:
        """The numbers of what it gives, as those of the controller."""
        return self.own.targets

    def outputs(self, context: ControlContext) -> dict[int, Scalar]:
        """Return its results as inputs."""
        return {target: context.equations.control_input() for target in self.targets}


def sampled(controller: Controller, table: Given) -> Controller:
    """Return a controller with the sampling that its table gives, if any."""
    if not table.has("sample"):
        for field in FIELDS[1:]:
            if table.has(field):
                message = f"{field} is that of a controller that is sampled"
                raise table[field].error(message, "give its sample time: sample = 0.01")
        return controller
    sample = _positive(table["sample"])
    delay = _positive(table["delay"], least=0) if table.has("delay") else Fraction(0)
    if (delay / sample).denominator != 1:
        near = float(sample * max(1, round(delay / sample)))
        message = f"the delay is no multiple of the sample time, {float(sample):g} s"
        raise table["delay"].error(message, f"give {near:g}, or another sample time")
    if delay / sample > MOST_SAMPLES:
        raise table["delay"].error("the delay has too many samples", "give a shorter one")
    steps = [_positive(table[f]) if table.has(f) else Fraction(0) for f in FIELDS[2:]]
    return SampledController(controller, sample, int(delay / sample), *steps)


def _positive(given: Given, least: float | None = None) -> Fraction:
    with given.translate_errors():
        number = number_of(given.value)
    if not isinstance(number, Fraction):
        raise given.error("this is no number", "give a number")
    given.within(number, -np.inf if least is None else least, above=0 if least is None else -np.inf)
    return number


def own_actuators(mechanism: Mechanism) -> dict[int, int]:
    """Return the place behind all rates of the actuator that a joint has for itself, by rate."""
    actuators = enumerate(mechanism.actuators, mechanism.nv)
    return {actuator.rate: place for place, actuator in actuators if not actuator.weights}


def check_resumption(controllers: Sequence[Controller]) -> None:
    """Refuse to let a motion go on whose controllers would have to remember."""
    if any(isinstance(controller, SampledController) for controller in controllers):
        raise RunError(
            "what sampled controllers remember is no part of a run, so that it cannot go on",
            element="resume",
            remedy="compute the whole motion, or leave sample out",
        )


def check_samples(controllers: Sequence[Controller], span: tuple[float, float] | None) -> None:
    """Refuse more samples than a motion can have."""
    for controller in controllers:
        if not isinstance(controller, SampledController) or span is None:
            continue
        period, length = float(controller.sample), span[1] - span[0]
        least = max(length / MOST_SAMPLES, 64 * float(np.spacing(max(map(abs, span)))))
        if period < least:
            raise RunError(
                f"a controller with a sample time of {period:g} s has too many samples in a "
                f"motion of {length:g} s",
                element="controllers",
                remedy=f"give at least {least:.2g} s, or leave sample out",
            )


# --- along a motion ---------------------------------------------------------------------------


class _Memory:
    """One sampled controller in a motion: its law, and what it remembers."""

    def __init__(
        self, controller: SampledController, mechanism: Mechanism, model: Model, first: float
    ) -> None:
        self.controller = controller
        equations = EquationBuilder(mechanism, model)
        self.rest = len(rest_places(mechanism))
        equations.extra += [equations.builder.number(0)] * self.rest
        actuated = None
        if mechanism.actuators:
            actuated = Actuated(mechanism, equations.kinematics, range(self.rest))
        found = controller.own.outputs(ControlContext(equations, actuated))
        equations.declare("results", [found[target] for target in controller.targets])
        equations.declare("rates", equations.extra[self.rest :])
        self.graph = equations.builder.finish()
        check_known(self.graph)
        variables = [v for n in ("results", "rates") for v in self.graph.block(n).variables]
        wanted, self.places = np.unique(np.array(variables, dtype=np.int32), return_inverse=True)
        self.plan = BatchPlan(self.graph, wanted)
        self.integrals = np.zeros(len(equations.extra) - self.rest)
        count = len(controller.targets)
        self.waiting = deque([np.zeros(count)] * controller.delay)
        self.first, self.number = first, 0
        self.before: Array | None = None
        self.measured = _measured(mechanism)

    @property
    def next(self) -> float:
        """The time of the next sample."""
        return self.first + float(self.number * self.controller.sample)

    def sample(self, t: float, parts: Mapping[str, Array]) -> Array:
        """Return what is put out from a time on; `parts` are q, qd and x of the state."""
        period, q, qd = float(self.controller.sample), parts["q"].copy(), parts["qd"].copy()
        if step := float(self.controller.resolution):
            places, rates = self.measured
            q[places] = _rounded(q[places], step)
            before = q if self.before is None else self.before
            qd[rates] = (q[places] - before[places]) / period
            self.before = q
        x = np.concatenate([parts["x"][: self.rest], self.integrals])
        given = {"t": np.array([t]), "q": q, "qd": qd, "x": x}
        numbers: dict[int, Array | float] = {}
        for v in self.plan.inputs:
            item = self.graph.inputs[v]
            if item.group == "parameter":
                numbers[v] = float(item.default or 0)
            else:
                numbers[v] = float(given[item.group][item.index])
        # What has no value ends the motion in its next step, which names the cause.
        with np.errstate(all="ignore"):
            values = self.plan.run(numbers, 1)[self.places][:, 0]
        count = len(self.controller.targets)
        self.integrals = self.integrals + period * values[count:]
        result = values[:count]
        if step := float(self.controller.output_resolution):
            result = _rounded(result, step)
        self.waiting.append(result)
        self.number += 1
        return self.waiting.popleft()


def _rounded(values: Array, step: float) -> Array:
    """Return multiples of a step; numbers whose own places are wider stay what they are."""
    with np.errstate(over="ignore"):
        counts = values / step
    return np.where(np.abs(counts) < WHOLE, step * np.rint(counts), values)


def _measured(mechanism: Mechanism) -> tuple[list[int], list[int]]:
    """Return the places in q and in qd of what is measured: all but quaternions."""
    records = enumerate(mechanism.rate_records)
    rates = [k for k, record in records if not _has_quaternion(mechanism, record.segment)]
    return [coordinate_of(mechanism, rate) for rate in rates], rates


def _has_quaternion(mechanism: Mechanism, segment: int) -> bool:
    return segment != GROUND and mechanism.segments[segment].joint.kind.has_quaternion


class ControlClock:
    """The sampled controllers of one motion: when the next is due, and what they put out."""

    def __init__(
        self,
        controllers: Sequence[Controller],
        mechanism: Mechanism,
        model: Model,
        first: float,
    ) -> None:
        own = [c for c in controllers if isinstance(c, SampledController)]
        self.memories = [_Memory(controller, mechanism, model, first) for controller in own]
        places = own_actuators(mechanism)
        self.targets = tuple(places.get(k, k) for controller in own for k in controller.targets)
        """Where the results act, among all efforts and then all signals."""

    @property
    def next(self) -> float:
        """The time of the next sample; infinite without any."""
        return min((memory.next for memory in self.memories), default=np.inf)

    def sample(self, t: float, parts: Mapping[str, Array], into: Array) -> None:
        """Let the controllers that are due at a time act, and write what they put out."""
        place = 0
        for memory in self.memories:
            count = len(memory.controller.targets)
            if memory.next <= later(t):
                into[place : place + count] = memory.sample(t, parts)
            place += count
