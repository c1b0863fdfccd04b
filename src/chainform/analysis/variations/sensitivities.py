"""Sensitivities of a motion: its exact derivatives by parameters and by its start.

Forward, deviations go on along the motion; adjoint, the gradient of one number comes back from its
end. Both rest on the variational equations (variational_equations.py). Quantities O change by

    dO = O_q xi + O_qd v + O_qdd dqdd + O_p dp,    dqdd = (qdd by xi, v, x, p) (xi, v, x, dp)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from os import PathLike
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.results.result import Result
from chainform.analysis.variations.adjoint import (
    adjoint_gradient,
    end_slopes,
    forward_gradient,
    integral_along,
)
from chainform.analysis.variations.motion_variations import MotionVariations
from chainform.analysis.variations.refinement import Refinement
from chainform.analysis.variations.start import StartDeviations
from chainform.analysis.variations.transitions import Transitions
from chainform.analysis.variations.variational_equations import VariationalEquations
from chainform.errors import RunError
from chainform.formulations import with_derivatives
from chainform.given import argument, counted
from chainform.mechanism import Mechanism, automatic_parameters
from chainform.model import output_of
from chainform.pipeline import derive, names_in
from chainform.simulation import Problem, ProblemOptions, Scenario, check_output, values_along

Array = NDArray[np.float64]
MODES = ("forward", "adjoint")
LEAST = 1e-13
OTHERS = (
    *("work", "losses", "balance", "tau", "drives", "u", "multipliers", "sigma"),
    *("t", "q", "qd", "x"),
)
"""What a run has of its own, with other derivatives or none."""
KNOWN = ("q", "qd", "qdd")
PARTS: Mapping[str, tuple[str, ...]] = {"energy": ("kinetic_energy", "potential_energy"), "qdd": ()}
"""Quantities that are sums of others; accelerations are known anyway."""


def sensitivities(
    mechanism: Mechanism | Scenario | str | PathLike[str],
    parameters: Sequence[str] = (),
    initial: Sequence[str] | None = None,
    *,
    outputs: Sequence[str] = (),
    objective: str | Mapping[str, Any] | None = None,
    mode: str | None = None,
    tolerance: float | None = None,
    **options: Unpack[ProblemOptions],
) -> Result:
    """Return the exact derivatives of a motion by parameters and by the state at its start.

    `mechanism` and `options` are those of `simulate`, a scenario too. `parameters` are names or
    patterns such as "m_*"; `initial` are "q0.elbow", "qd0.elbow", "x0.current", or "q0" and "qd0"
    for all, by default all, or as many independent ones as loops, constraints and contacts leave.
    Arrays: t (m,), q, qd, x, and d(q) (m, nv, columns), d(qd), d(x), with a column for each name in
    facts["by"]; with quaternions d(q) are displacements along the rates. `outputs` are quantities
    such as "pose(tip)", each with d(...). facts["events"] has times of events and their
    derivatives. `objective` is a law at the end of the motion, or a table of `end` and `integral`:
    its value and gradient stand in facts. `mode` "adjoint" finds the gradient alone, at about the
    same cost for any number of parameters; it is the default where there is an objective and no
    outputs. `tolerance` is the error of the integration of the derivatives, against the largest of
    their kind, by default ten times rtol.
    """
    given = cast("dict[str, Any]", {"energy_balance": False, **options})
    problem = Problem.of(mechanism, **given)
    names = _parameters(problem, parameters)
    if tolerance is not None:
        tolerance = argument("tolerance", tolerance).number(least=LEAST)
    equations = VariationalEquations.of(problem.compile(), names, objective)
    has_objective, outputs = objective is not None, names_in("outputs", outputs)
    if mode is None:
        mode = "adjoint" if has_objective and not outputs else "forward"
    argument("mode", mode).choice(MODES)
    if mode == "adjoint" and (outputs or not has_objective):
        raise RunError(
            "the adjoint is that of one number",
            element="mode",
            remedy='give an objective and no outputs, or take mode="forward"',
        )
    motion = MotionVariations(equations)
    start = StartDeviations(motion, initial)
    by = (*start.names, *names)
    if not by:
        remedy = "name parameters, or values of the start in initial"
        raise RunError("there is nothing to differentiate by", element="parameters", remedy=remedy)
    work = _Sensitivities(motion, start.deviations, by, tolerance)
    return work.adjoint() if mode == "adjoint" else work.forward(outputs, has_objective)


def _parameters(problem: Problem, parameters: Sequence[str]) -> list[str]:
    """Return the parameters that names and patterns mean; others are refused later, by name."""
    mechanism = problem.mechanism
    known = [p.name for p in mechanism.parameters if not (p.fixed_in or p.limit_in)]
    known += [name for name in automatic_parameters(mechanism) if name not in known]
    found: list[str] = []
    for text in argument("parameters", parameters).texts('write parameters=["m_2", "k"]'):
        matching = [
            name for name in known if any(c in text for c in "*?[") and fnmatchcase(name, text)
        ]
        found += matching or [text]
    return list(dict.fromkeys(found))


class _Sensitivities:
    """The derivatives of one motion, as a result."""

    def __init__(
        self, motion: MotionVariations, start: Array, by: tuple[str, ...], tolerance: float | None
    ) -> None:
        self.motion, self.equations, self.start = motion, motion.equations, start
        self.by, self.tolerance = by, tolerance
        times = self.equations.system.problem.times
        self.t = times[(times >= motion.first) & (times <= motion.last)]
        self.y, self.given = motion.states(self.t)

    def forward(self, outputs: Sequence[str], has_objective: bool) -> Result:
        """Return arrays along the motion, and the gradient of an objective."""
        slopes = OutputSlopes(self.equations, outputs) if outputs else None
        work = Refinement(self.motion, self.tolerance, self.start)
        path, nv = work.refined(), self.equations.graph.nv
        Z = work.deviations_at(path, self.t)
        last = Z.shape[1] - (self.equations.objective.integral is not None)
        arrays = self._states()
        arrays |= {"d(q)": Z[:, :nv], "d(qd)": Z[:, nv : 2 * nv], "d(x)": Z[:, 2 * nv : last]}
        if slopes is not None:
            found = slopes.along(self.t, self.y, self.given, Z)
            for name, (value, derivative) in found.items():
                arrays |= {name: value, f"d({name})": derivative}
        facts: dict[str, Any] = {"events": self._events(path)}
        if has_objective:
            value = end_slopes(self.motion).value + integral_along(self.motion, path.times)
            gradient = forward_gradient(self.motion, path, self.start)
            facts |= {"objective": value, "gradient": self._named(gradient)}
        return self._result("forward", arrays, facts, path, path.tolerance)

    def adjoint(self) -> Result:
        """Return the motion, and the gradient of an objective."""
        found = adjoint_gradient(self.motion, self.start, self.tolerance)
        facts = {"objective": found.value, "gradient": self._named(found.slopes)}
        return self._result("adjoint", self._states(), facts, found.path, found.tolerance)

    def _states(self) -> dict[str, Array]:
        sizes = self.equations.system.machine.equations
        own = sizes.nx - sizes.balance_states - sizes.impulses
        q, qd, x, _ = np.split(self.y, np.cumsum([sizes.nq, sizes.nv, own]), axis=1)
        return {"t": self.t, "q": q, "qd": qd, "x": x}

    def _named(self, values: Array) -> dict[str, float]:
        return dict(zip(self.by, values.tolist(), strict=True))

    def _events(self, path: Transitions) -> list[dict[str, Any]]:
        """Return times of events, and their derivatives."""
        Z, p = path.forward(self.start), len(path.parameters)
        found: list[dict[str, Any]] = []
        for event in path.events:
            slopes = event.by_state @ Z[event.place - 1]
            slopes[len(slopes) - p :] += event.by_parameters
            found.append({"name": event.name, "t": event.t, "by": self._named(slopes)})
        return found

    def _result(
        self,
        mode: str,
        arrays: Mapping[str, Array],
        facts: Mapping[str, Any],
        path: Transitions,
        reached: float,
    ) -> Result:
        by, motion = self.by, self.motion
        more = f" and {len(by) - MOST_NAMES} more" if len(by) > MOST_NAMES else ""
        count = counted(len(by), "derivative")
        steps = counted(len(path.forced), "step")
        report = [f"{mode}: {count} by {', '.join(by[:MOST_NAMES])}{more}"]
        report.append(
            f"{steps} by the collocation of Gauss, order 10, for {motion.steps} of the motion; "
            f"error {reached:.1e} of the largest of each kind"
        )
        if path.growth * motion.rtol > GROWN:
            report.append(
                f"deviations grow up to {path.growth:.1e} times, and the error of the motion with "
                f"them: these are derivatives of what was computed with rtol = {motion.rtol:g}"
            )
        if motion.ending:
            report.append(f"the motion was ended by {motion.ending} at t = {motion.last:.9g} s")
        report += [f"{event['name']}: t = {event['t']:.9g} s" for event in facts.get("events", ())][
            :MOST_LINES
        ]
        if "gradient" in facts:
            report.append(f"objective: {facts['objective']:.9g}")
            report += [f"by {n}: {v:.9g}" for n, v in facts["gradient"].items()][:MOST_LINES]
        shown = {name: array for name, array in arrays.items() if np.prod(array.shape[1:])}
        whole = {"mode": mode, "by": list(by), "tolerance": reached, "growth": path.growth, **facts}
        return Result(
            "sensitivities", self.equations.mechanism, "t", shown, tuple(report), whole, {"t": "s"}
        )


GROWN = 1e-4
"""An error of the motion, grown with deviations, that is worth a line."""
MOST_NAMES, MOST_LINES = 6, 20
"""What a report names at most."""


class OutputSlopes:
    """Quantities of one motion by name, and their derivatives."""

    def __init__(self, equations: VariationalEquations, names: Sequence[str]) -> None:
        self.equations, self.names = equations, tuple(names)
        conditions, mechanism = equations.system.conditions, equations.mechanism
        for name in names:
            check_output(mechanism, name)
            if name in OTHERS:
                raise _unknown(name, "it is no quantity of position, velocity and acceleration")
        if "energy" in names and conditions.barriers.stiff:
            raise _unknown("energy", "stiff contacts store energy, too")
        self.parts = {name: PARTS.get(name, (name,)) for name in names}
        outputs = list(dict.fromkeys(p for parts in self.parts.values() for p in parts))
        free = conditions.given.names(mechanism)
        without = equations.system.problem.without
        self.outputs = {name: output_of(name) for name in outputs}
        wanted = list(self.outputs.values()) or ["com"]
        model = derive(mechanism, wanted, without=without, parameters=free or "numeric")
        self.outputs = dict(zip(outputs, model.outputs, strict=False))
        needed = model.graph.cone(model.graph.output_variables(list(model.outputs)))
        self.groups = {item.group for v, item in model.graph.inputs.items() if needed[v]}
        for group in sorted(self.groups - {*KNOWN, "t", "parameter"}):
            raise _unknown(", ".join(names), f"it depends on {group}")
        if "qdd" in self.groups and conditions.barriers:
            raise _unknown(", ".join(names), "it depends on forces of stops and contacts")
        self.words = [group for group in KNOWN if group in self.groups]
        self.words += ["parameters"] if "parameter" in self.groups else []
        texts = [f"derivative({o},{w})" for o in self.outputs.values() for w in self.words]
        self.graph = with_derivatives(model.graph, texts, mechanism)
        inputs = [i for i in self.graph.inputs.values() if i.group == "parameter"]
        self.free = [i.name for i in sorted(inputs, key=lambda item: item.index)]

    def along(self, t: Array, y: Array, given: Array, Z: Array) -> dict[str, tuple[Array, Array]]:
        """Return each quantity (m, ...), and its derivatives (m, ..., columns).

        `Z` (m, n, columns) are deviations, the last columns those by parameters.
        """
        equations, nv = self.equations, self.equations.graph.nv
        inputs = equations.inputs(t, y, given)
        columns = {"t": t, "q": inputs["q"], "qd": inputs["qd"]}
        changes = {"q": Z[:, :nv], "qd": Z[:, nv : 2 * nv]}
        n, p = Z.shape[1], len(equations.parameters)
        if "qdd" in (*self.groups, *self.names):
            columns["qdd"] = equations.rates(t, y, given)[:, nv : 2 * nv]
            slopes = equations.slopes(t, y, given)[:, :nv]
            changes["qdd"] = slopes[..., :n] @ Z
            changes["qdd"][..., Z.shape[2] - p :] += slopes[..., n:]
        by_p = np.zeros((len(self.free), Z.shape[2]))
        for k, name in enumerate(equations.parameters):
            if name in self.free:
                by_p[self.free.index(name), Z.shape[2] - p + k] = 1.0
        changes["parameters"] = np.broadcast_to(by_p, (len(t), *by_p.shape))
        found = {name: self._one(name, columns, changes) for name in self.outputs}
        result: dict[str, tuple[Array, Array]] = {}
        for name, parts in self.parts.items():
            if name == "qdd":
                result[name] = columns["qdd"], changes["qdd"]
                continue
            value, slopes = found[parts[0]]
            for part in parts[1:]:
                value, slopes = value + found[part][0], slopes + found[part][1]
            result[name] = value, slopes
        return result

    def _one(
        self, name: str, columns: Mapping[str, Array], changes: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        output = self.outputs[name]
        shape, m = self.graph.block(output).shape, len(columns["t"])
        value = values_along(self.graph, output, columns)
        count = value.shape[1]
        total = np.zeros((m, count, changes["q"].shape[2]))
        for word in self.words:
            slopes = values_along(self.graph, f"derivative({output},{word})", columns)
            total += slopes.reshape(m, count, -1) @ changes[word]
        return value.reshape(m, *shape), total.reshape(m, *shape, -1)


def _unknown(name: str, reason: str) -> RunError:
    return RunError(
        f"its derivatives along a motion are not known: {reason}",
        element=f"outputs, {name}",
        remedy="take positions, velocities, accelerations, momenta, energies",
    )
