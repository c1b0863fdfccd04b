"""A model against the reference: mechanics in maximal coordinates, which shares no code with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.graph import parts_of
from chainform.mechanism import Segment
from chainform.model import Model
from chainform.readers import native_text
from chainform.verification.certificate import Check
from chainform.verification.deviation import Deviation, check_of, deviation_of
from chainform.verification.reference.drives import has_laws, own_states
from chainform.verification.reference.dynamics import UnsureError
from chainform.verification.reference.kinematics import BodySystem
from chainform.verification.reference.quantities import QUANTITIES, StateAnswer
from chainform.verification.state_samples import Sample, sample_of

Array = NDArray[np.float64]
LAW = "the independent reference gives the same"
SLOPE_LAW = "the independent reference gives the same, by central differences"
COMPARED = "mechanics in maximal coordinates and model.evaluate"
CLOSE = 1e-9
"""What the reference may be off, against the largest entry or 1."""
BY_DIFFERENCES = 1e-6
"""The same where it differentiates by central differences."""
ROUNDING = 100.0
"""So many times what rounding may do is allowed, too: the reference rounds in other places."""
OF_INERTIA = (
    *("mass_matrix", "gravity", "bias", "passive", "inverse_dynamics", "coriolis", "Cm qd"),
    *("Cm + Cm^T", "kinetic_energy", "potential_energy", "momentum", "centroidal_momentum"),
)
"""Outputs that may all be small: they are held against H where that is larger, not against 1."""
OF_ACTUATORS = ("complete_model", "complete_drift", "drives")
DIFFERENCES = ("coriolis", "derivative", "Cm + Cm^T", "centroidal_momentum_matrix_rate")
SIZE = 150
"""Rates of the largest mechanism that are given to the reference."""


@dataclass(frozen=True, eq=False)
class _Reference:
    """The reference for the states of a sample."""

    sample: Sample

    @property
    def model(self) -> Model:
        return self.sample.model

    @cached_property
    def table(self) -> Mapping[str, Any]:
        """The native table of the mechanism, without the parts that the equations leave out."""
        table = json.loads(native_text(self.model.settled))
        return _stripped(table, self.model.without)

    @cached_property
    def inertia(self) -> Array:
        """The largest entry of H at each state, (n,); 1 where the reference has none."""
        found = [
            _certain(lambda k=k: self.expected("mass_matrix", k)) for k in range(len(self.sample))
        ]
        sizes = np.array([np.abs(H).max(initial=0.0) if H.size else 1.0 for H in found])
        return np.where(np.isfinite(sizes), sizes, 1.0)

    def expected(self, name: str, k: int) -> Any:
        """Return an output at a state; None where the reference has none of this name."""
        answer = StateAnswer(self.table, self.given(k, name))
        wrench = self.sample.states.get("wrench")
        if wrench is not None and name in ("inverse_dynamics", "forward_dynamics"):
            effort = self.effort(answer, wrench[k])
            if name == "inverse_dynamics":
                return answer.value(name) - effort
            return StateAnswer(self.table, {**answer.given, "tau": answer.tau + effort}).value(name)
        parts = None if name in QUANTITIES else parts_of(name)
        if parts is not None and parts.name == "derivative" and len(parts.arguments) == 2:
            of, group = parts.arguments
            return answer.by(of, group) if group in ("q", "qd", "qdd", "tau") else None
        return answer.value(name)

    def given(self, k: int, name: str) -> dict[str, Any]:
        """Return a state as the reference takes it; groups that no output needs are zero."""
        mechanism = self.model.mechanism
        states = {group: array[k] for group, array in self.sample.states.items()}
        if name in OF_ACTUATORS and "x" in states:
            states |= self.moved_by(states["x"], states["q"], states["qd"])
        values = {name: float(array[k]) for name, array in self.sample.values.items()}
        rest = {"x": np.zeros(len(mechanism.states)), "u": np.zeros(len(mechanism.signals))}
        rest |= {"tau": np.zeros(mechanism.nv), "q": mechanism.neutral()}
        return {**rest, **states, "values": values}

    def moved_by(self, x: Array, q: Array, qd: Array) -> dict[str, Array]:
        """Return q and qd with those of actuators whose states have the motion of their joint."""
        system, first = BodySystem.of(self.table), 0
        q, qd = q.copy(), qd.copy()
        for actuator in self.table["actuators"]:
            size = own_states(actuator) if has_laws(actuator) else len(actuator.get("A", ()))
            own = x[first : first + size]
            first += size
            if has_laws(actuator) or "joints" in actuator:
                continue
            place, rate, _, _ = system.motions[actuator["joint"]]
            for row, array, at in (("position", q, place), ("velocity", qd, rate)):
                if row in actuator:
                    array[at] = np.array([system.read.number(x) for x in actuator[row]]) @ own
        return {"q": q, "qd": qd}

    def effort(self, answer: StateAnswer, wrench: Array) -> Array:
        """Return what wrenches do on the coordinates."""
        frames = zip(self.model.wrenches, wrench.reshape(-1, 6), strict=True)
        return sum(
            (answer.of_frame("jacobian", f, "world").T @ w for f, w in frames),
            np.zeros(self.model.mechanism.nv),
        )


def _stripped(table: dict[str, Any], without: tuple[str, ...]) -> dict[str, Any]:
    table = {k: v for k, v in deepcopy(table).items() if k not in without}
    of_joint = {"friction": "friction", "rotors": "rotor_inertia"}
    for segment in table.get("segments", ()):
        for part in without:
            segment["joint"].pop(of_joint.get(part, ""), None)
    return table


def check_reference(model: Model, seed: int = 0, states: int = 5) -> Iterator[Check]:
    """Compare all outputs that the reference knows at random states."""
    reason = _refusal(model)
    if reason:
        yield Check(LAW, "nothing", reason, None, 0)
        return
    try:
        yield from _checked(model, seed, states)
    except (KeyError, ValueError, StopIteration) as problem:
        yield Check(LAW, "nothing", f"it cannot read the mechanism: {problem}", None, 0)


def _checked(model: Model, seed: int, states: int) -> Iterator[Check]:
    outputs, left = _comparable(model)
    if not outputs:
        yield Check(LAW, "nothing", f"it does not know {', '.join(left)}", None, 0)
        return
    sample = sample_of(model, states, seed)
    reference = _Reference(sample)
    deviations: list[Deviation] = []
    for name in outputs:
        one = _deviation(reference, name)
        if one is None:
            left.append(name)
        else:
            deviations.append(one)
    empty = [name for name in outputs if not sample.evaluated[name][0].size]
    unsure = [o.output for o in deviations if not o.states and o.output not in empty]
    rest = f"it does not know {', '.join(left)}" if left else ""
    if unsure:
        rest += f"{'; ' if rest else ''}it is not sure of {', '.join(unsure)}"
    if empty:
        rest += f"{'; ' if rest else ''}{', '.join(empty)} has no entries"
    slopes = [one for one in deviations if one.output.startswith(DIFFERENCES)]
    yield check_of(LAW, COMPARED, [one for one in deviations if one not in slopes], rest)
    if slopes:
        yield check_of(SLOPE_LAW, COMPARED, slopes)


def _refusal(model: Model) -> str:
    """Return why the reference cannot answer at all."""
    mechanism = model.mechanism
    if not mechanism.segments:
        return "it knows segments only, no elements and no expressions alone"
    if mechanism.elements:
        return "it knows segments only, and there are elements too"
    if mechanism.quasi or any(c.segment < 0 for c in mechanism.coordinate_records):
        return "it knows rates of joints only, no coordinates of other kinds"
    if any(body_moment(segment) for segment in mechanism.segments):
        return "base parameters are no bodies that it could build"
    if mechanism.nv > SIZE:
        return f"{mechanism.nv} rates, and it gets up to {SIZE}"
    return ""


def body_moment(segment: Segment) -> bool:
    """Whether a body has a first moment that is no mass times a place."""
    return any(entry != 0 for entry in segment.body.moment)


def _comparable(model: Model) -> tuple[list[str], list[str]]:
    """Return the outputs to compare, and those that mean something else here."""
    graph, found, left = model.graph, list[str](), list[str]()
    for name in model.outputs:
        cone = graph.cone(graph.output_variables([name]))
        groups = {given.group for v, given in graph.inputs.items() if cone[v]}
        is_known = name not in model.defined and not groups & {"force", "direction", "weights"}
        if "sigma" in groups and model.closure != "complete":
            is_known = False
        if "wrench" in groups and name not in ("inverse_dynamics", "forward_dynamics"):
            is_known = False
        (found if is_known else left).append(name)
    return found, left


def _deviation(reference: _Reference, name: str) -> Deviation | None:
    """Return how far an output is off; None where the reference has none of this name."""
    sample = reference.sample
    if name == "coriolis_matrix":
        return _of_laws(reference)
    expected: list[Array | None] = []
    for k in range(len(sample)):
        value = _certain(lambda k=k: reference.expected(name, k))
        if value is None:
            return None
        expected.append(value)
    return _compared(reference, name, sample.evaluated[name], expected, sample.bounds[name])


def _certain(value: Callable[[], Any]) -> Any:
    """Return a value of the reference; an empty array where it is unsure, None where it is none."""
    try:
        with np.errstate(all="ignore"):
            found = value()
    except (UnsureError, ZeroDivisionError, np.linalg.LinAlgError):
        return np.zeros(0)
    return None if found is None else np.asarray(found, dtype=np.float64)


def _compared(
    reference: _Reference, name: str, found: Array, expected: list[Any], bounds: Array
) -> Deviation:
    sample, inertia = reference.sample, reference.inertia
    sure = np.array([value.size > 0 or not found[0].size for value in expected])
    shape = next((value.shape for value in expected if value.size), found.shape[1:])
    filled = np.array([value if value.size else np.zeros(shape) for value in expected])
    # Where the reference has no value it tells nothing.
    sure &= np.isfinite(filled).reshape(len(filled), -1).all(axis=1)
    output = "coriolis_matrix" if name in ("Cm qd", "Cm + Cm^T") else name
    if sure.any() and not np.isfinite(found).reshape(len(found), -1).all(axis=1).any():
        return Deviation(name, np.inf, 0.0, len(found), True, f"{name} has no finite value")
    close = BY_DIFFERENCES if name.startswith(DIFFERENCES) else CLOSE
    size = np.abs(filled.reshape(len(filled), -1)).max(axis=1, initial=0.0)
    size = np.maximum(size, inertia if name in OF_INERTIA else 1.0)
    scale = size.reshape(-1, *(1,) * (filled.ndim - 1))
    same = bounds.shape == filled.shape
    bound = close * scale + ROUNDING * (bounds if same else bounds.max(initial=0.0))
    made = deviation_of(name, found, filled, bound, sure & sample.certain[output])
    return made


def _of_laws(reference: _Reference) -> Deviation:
    """Compare Cm, which is not unique, by its laws: Cm qd = c and Cm + Cm^T = dH/dt."""
    sample = reference.sample
    Cm, bounds = sample.evaluated["coriolis_matrix"], sample.bounds["coriolis_matrix"]
    qd = sample.states.get("qd", np.zeros((len(sample), reference.model.mechanism.nv)))
    laws = {
        "Cm qd": (np.einsum("kij,kj->ki", Cm, qd), np.einsum("kij,kj->ki", bounds, np.abs(qd))),
        "Cm + Cm^T": (Cm + Cm.transpose(0, 2, 1), bounds + bounds.transpose(0, 2, 1)),
    }
    found: list[Deviation] = []
    for name, (value, bound) in laws.items():
        expected = [
            _certain(lambda k=k, n=name: reference.expected(n, k)) for k in range(len(sample))
        ]
        found.append(_compared(reference, name, value, expected, bound))
    worst = max(found, key=lambda one: (one.fails, one.largest))
    return replace(worst, output=f"coriolis_matrix ({worst.output})")
