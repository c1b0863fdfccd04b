"""Exact derivatives of the arrays of tasks by parameters.

kinematics, inverse_dynamics   states follow from the motion, forces from their balance
statics                        the same at rest
equilibria                     states and forces together, where the balance vanishes
inverse_kinematics             poses, from frames that stay at their targets
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.known_states import is_run_file
from chainform.analysis.motions.motion_kinematics import with_points
from chainform.analysis.motions.motion_loads import integral
from chainform.analysis.motions.motion_sources import law_graph, motions_in
from chainform.analysis.optimisation.graph_slopes import Changes, GraphSlopes, with_parameters
from chainform.analysis.optimisation.state_slopes import (
    StateChanges,
    StateSlopes,
    coordinate_changes,
    no_derivative,
    pose_changes,
)
from chainform.analysis.poses.pose_targets import pose_targets
from chainform.analysis.results.result import Result
from chainform.formulations import coordinate_of, is_bound
from chainform.given import argument
from chainform.mechanism import Mechanism
from chainform.pipeline import derive

Array = NDArray[np.float64]
OPEN = 1e-8
"""A force is determined if a change of it that is felt by nothing is below this share."""
FRAME = {
    "position": ("pose", (slice(0, 3), 3)),
    "rotation": ("pose", (slice(0, 3), slice(0, 3))),
    "velocity": ("velocity", (slice(0, 3),)),
    "angular_velocity": ("velocity", (slice(3, 6),)),
    "acceleration": ("acceleration", (slice(0, 3),)),
    "angular_acceleration": ("acceleration", (slice(3, 6),)),
}
"""The output that an array of a frame is part of, and where it stands there."""
KNOWN = ("q", "qd", "qdd", "t", "sigma", "force")
"""Inputs of quantities along a motion."""


class TaskSlopes:
    """Derivatives of the arrays of one task, for one mechanism and its parameters by name."""

    def __init__(
        self, mechanism: Mechanism, names: Sequence[str], task: str, arguments: Mapping[str, Any]
    ) -> None:
        self.task, self.arguments, self.names = task, arguments, tuple(names)
        self.given, self.mechanism = mechanism, _acted_on(mechanism, arguments)
        refused = [word for word in REFUSED[task] if arguments.get(word)]
        if refused:
            raise no_derivative(f"{task} with {refused[0]!r} is not differentiated", mechanism.file)
        # A drive is what is left to the joint, whatever actuator is there.
        bare = self.mechanism
        if task == "equilibria" and bare.actuators:
            raise no_derivative("actuators move with their own states", mechanism.file)
        bare = replace(bare, actuators=()) if bare.actuators else bare
        wrenches = arguments.get("wrenches", ())
        wrenches = [wrenches] if isinstance(wrenches, str) else list(wrenches)
        self.bare = bare
        self.equations = StateSlopes(bare, names, wrenches)
        self._model = cache(self._derived)

    def arrays(self, result: Result, values: Array, wanted: Collection[str]) -> dict[str, Array]:
        """Return the derivatives of some arrays of a result, (m, ..., n)."""
        point = _Point(self, result, values)
        return {name: point.array(name) for name in wanted}

    def _derived(self, output: str) -> GraphSlopes:
        model = derive(self.mechanism, [output])
        return GraphSlopes(model.graph, model.outputs[0], self.mechanism, self.names)

    def quantity(self, output: str) -> GraphSlopes:
        """Return the derivatives of a quantity that follows from states and forces of loops."""
        slopes = self._model(output)
        unknown = slopes.groups - {*KNOWN, "parameter"}
        if unknown:
            raise no_derivative(f"{output} depends on {', '.join(sorted(unknown))}")
        return slopes


REFUSED = {
    "kinematics": ("relative_to",),
    "inverse_dynamics": ("without",),
    "statics": ("without",),
    "equilibria": ("stops", "contacts", "signals"),
    "inverse_kinematics": (),
}
"""Arguments with which a task has no exact derivatives, by task."""


def _acted_on(mechanism: Mechanism, arguments: Mapping[str, Any]) -> Mechanism:
    """Return the mechanism with the frames and known forces of a task."""
    if isinstance(arguments.get("frames"), Mapping):
        mechanism, _ = with_points(mechanism, arguments["frames"])
    forces = arguments.get("forces")
    return mechanism.with_forces(forces) if forces else mechanism


class _Point:
    """One result: states of its rows, and how they change."""

    def __init__(self, slopes: TaskSlopes, result: Result, values: Array) -> None:
        self.slopes, self.result, self.values = slopes, result, values
        self.m, self.nv, self.n = len(result), slopes.mechanism.nv, len(slopes.names)
        self.driven = _driven(slopes, result)
        self.columns = self._columns()
        self._cached: Any = None

    def _columns(self) -> dict[str, Array]:
        """Return the inputs of all equations."""
        result, sizes = self.result, self.slopes.equations.equations.sizes
        point = {"q": result["q"]}
        for group in ("qd", "qdd", "tau"):
            if group in result.arrays:
                point[group] = result[group]
        if "multipliers" in result.arrays:
            point["sigma"] = result["multipliers"]
        if "wrench" in result.arrays:
            point["wrench"] = result["wrench"]
        unknown = self.slopes.mechanism.unknowns
        if "forces" in result.arrays:
            point["force"] = result["forces"]
        elif unknown and all(name in result.arrays for name in unknown):
            point["force"] = np.stack([result[name] for name in unknown], axis=1)
        time = float(self.slopes.arguments.get("time", 0.0))
        is_timed = "t" in result.arrays
        point["t"] = result["t"][:, None] if is_timed else np.full((self.m, 1), time)
        point = {name: array for name, array in point.items() if sizes[name]}
        return self.slopes.equations.columns(point, self.values)

    # --- changes --------------------------------------------------------------------------

    @property
    def changes(self) -> tuple[StateChanges, dict[str, tuple[Array, Array]]]:
        """Derivatives of states, and of forces with how far they are open."""
        if self._cached is None:
            ways = {"equilibria": self._at_equilibria, "inverse_kinematics": self._at_targets}
            self._cached = ways.get(self.slopes.task, self._along)()
        return self._cached

    def _along(self) -> tuple[StateChanges, dict[str, tuple[Array, Array]]]:
        equations = self.slopes.equations
        given, held = self._given()
        states = equations.states(self.columns, given, held)
        return states, equations.forces(self.columns, states, self.driven)

    def _given(self) -> tuple[StateChanges, list[int]]:
        """Return how coordinates change that are given, and which these are."""
        slopes, mechanism = self.slopes, self.slopes.mechanism
        zero = [np.zeros((self.m, self.nv, self.n)) for _ in range(3)]
        every = list(range(self.nv))
        word = "q" if slopes.task == "statics" else "motion"
        given = slopes.arguments.get(word)
        if slopes.task == "statics":
            if given is not None and not isinstance(given, Mapping):
                return StateChanges(*zero), every
            names = list(cast("Mapping[str, Any]", given or {}))
            return StateChanges(*zero), _rates(mechanism, names)
        if not isinstance(given, Mapping) and not _is_table(given):
            return StateChanges(*zero), every
        sources = motions_in(cast("Any", given))
        for name, source in sources.items():
            rate = mechanism.rate_index(name)
            for array, change in zip(zero, self._law(name, source), strict=True):
                array[:, rate] = change
        held = _rates(mechanism, list(sources)) if is_bound(mechanism) else every
        return StateChanges(*zero), held

    def _law(self, name: str, source: object) -> Sequence[Any]:
        """Return how a law and its rates change with parameters that it names, (m, n) each."""
        if not isinstance(source, str):
            used = [n for n in self.slopes.names if re.search(rf"\b{re.escape(n)}\b", str(source))]
            if used and not isinstance(source, np.ndarray):
                raise no_derivative(f"pieces of the motion of {name} name {used[0]}")
            return 0.0, 0.0, 0.0
        graph = law_graph(self.slopes.mechanism, {name: source})
        columns = with_parameters({"t": self.columns["t"]}, self.slopes.names, self.values)
        parts = ("q", "qd", "qdd")
        own = [GraphSlopes(graph, p, self.slopes.mechanism, self.slopes.names) for p in parts]
        return [each.total(columns, {}, self.m)[:, 0] for each in own]

    def _at_equilibria(self) -> tuple[StateChanges, dict[str, tuple[Array, Array]]]:
        """Return the changes of states at rest and of multipliers, both from one system."""
        equations, mechanism = self.slopes.equations, self.slopes.mechanism
        parts, bound = equations.equations.parts["balance"], equations.equations.held
        held, nv = self.driven, self.nv
        unit = np.broadcast_to(np.eye(nv), (self.m, nv, nv))
        J = equations.jacobian(self.columns)
        K = equations.slopes.along(self.columns, "q", unit, self.m)[:, parts]
        rows = np.zeros((len(held), nv))
        rows[range(len(held)), held] = 1.0
        rows = np.concatenate([J, np.broadcast_to(rows, (self.m, *rows.shape))], axis=1)
        count = rows.shape[1]
        corner = np.zeros((self.m, count, count))
        matrix = np.block([[K, -np.swapaxes(rows, 1, 2)], [rows, corner]])
        right = np.zeros((self.m, nv + count, self.n))
        right[:, :nv] = equations.slopes.total(self.columns, {}, self.m)[:, parts]
        right[:, nv : nv + bound] = equations.positions.total(self.columns, {}, self.m)
        inverse = np.linalg.pinv(matrix, rcond=1e-10)
        found = -inverse @ right
        loose = np.abs(np.eye(nv + count) - inverse @ matrix).max(axis=2, initial=0.0)
        if np.any(loose[:, :nv] > OPEN):
            which = int(np.argmax(loose[:, :nv].max(axis=1))) + 1
            raise no_derivative(
                f"equilibrium {which} is singular, or one of a family", mechanism.file
            )
        still = np.zeros((self.m, nv, self.n))
        tau, tau_open = still.copy(), np.zeros((self.m, nv))
        tau[:, held], tau_open[:, held] = found[:, nv + bound :], loose[:, nv + bound :]
        forces = {
            "tau": (tau, tau_open),
            "sigma": (found[:, nv : nv + bound], loose[:, nv : nv + bound]),
        }
        return StateChanges(found[:, :nv], still, still), forces

    def _at_targets(self) -> tuple[StateChanges, dict[str, tuple[Array, Array]]]:
        """Return how poses change whose frames stay at targets; these have no forces."""
        slopes, mechanism = self.slopes, self.slopes.mechanism
        given, times = slopes.arguments["targets"], slopes.arguments.get("t")
        named = [n for n in slopes.names if re.search(rf"\b{re.escape(n)}\b", str(given))]
        if named:
            raise no_derivative(f"a target names {named[0]}", mechanism.file)
        if not self.result["reached"].all():
            raise no_derivative("not all targets are reached", mechanism.file)
        choice = argument("redundancy", slopes.arguments.get("redundancy"))
        held = choice if choice.is_table else choice.holding(None)
        wanted = pose_targets(self.result.mechanism, argument("targets", given), times, held)
        places = [coordinate_of(mechanism, rate) for rate in range(self.nv)]
        rates = [places.index(place) for place, _ in wanted.held]
        change = pose_changes(slopes.equations, self.columns, wanted.rows, rates, slopes.quantity)
        open_rates = np.full_like(change, np.nan)
        return StateChanges(change, open_rates, open_rates), {}

    # --- arrays ---------------------------------------------------------------------------

    def array(self, name: str) -> Array:
        """Return the derivative of one array, (m, ..., n)."""
        shape = self.result[name].shape
        if name in (self.result.rows, "t"):
            return np.zeros((*shape, self.n))
        head, _, frame = name.removesuffix(")").partition("(")
        if name == "q" or (name in ("qd", "qdd") and self.slopes.task != "inverse_kinematics"):
            found = getattr(self.changes[0], name)
            return coordinate_changes(self.slopes.mechanism, found) if name == "q" else found
        if head in FRAME and frame and self.slopes.task == "kinematics":
            output, where = FRAME[head]
            return self._quantity(f"{output}({frame})")[(slice(None), *where)]
        own: dict[str, Callable[[], Array]] = {
            "energy": lambda: self._quantity("kinetic_energy") + self._quantity("potential_energy"),
            "potential_energy": lambda: self._quantity("potential_energy"),
            "power": self._power,
            "work": self._work,
        }
        if name in own:
            return own[name]().reshape(*shape, self.n)
        force = self._force(name)
        if force is not None:
            return force.reshape(*shape, self.n)
        wanted = self.slopes.arguments.get("outputs", ())
        if name in ([wanted] if isinstance(wanted, str) else list(wanted)):
            return self._quantity(name)
        raise no_derivative(f"{name} of {self.slopes.task} is not differentiated")

    def _force(self, name: str) -> Array | None:
        """Return the derivative of forces that are found; None for what is none.

        Those that the balance does not determine have none, NaN.
        """
        unknowns = self.slopes.mechanism.unknowns
        loops = sum(loop.equations for loop in self.slopes.mechanism.loops)
        groups: dict[str, tuple[str, Any]] = {
            "tau": ("tau", slice(None)),
            "forces": ("force", slice(None)),
            "wrench": ("wrench", slice(None)),
            "multipliers": ("sigma", slice(None)),
            "sigma": ("sigma", slice(0, loops)),
            **{own: ("force", k) for k, own in enumerate(unknowns)},
        }
        if name not in groups or groups[name][0] not in self.changes[1]:
            return None
        group, where = groups[name]
        change, loose = self.changes[1][group]
        if self.result.facts.get("kind") == "least squares":
            raise no_derivative(
                f"{name} does not hold the balance of forces",
                self.slopes.mechanism.file,
                "name as many drives as there are freedoms",
            )
        return np.where(loose[..., None] > OPEN, np.nan, change)[:, where]

    def _power(self) -> Array:
        tau = self._force("tau")
        assert tau is not None
        by_rate = self.result["tau"][..., None] * self.changes[0].qd
        return tau * self.result["qd"][..., None] + by_rate

    def _work(self) -> Array:
        total = self._power().sum(axis=1)
        columns = [integral(self.result["t"], column) for column in total.T]
        return np.array(columns).reshape(self.n, self.m).T

    def _quantity(self, output: str) -> Array:
        """Return the derivative of a quantity that follows from states and forces of loops."""
        slopes = self.slopes.quantity(output)
        states, found = self.changes
        changes: dict[str, Array] = dict(states.groups)
        columns = dict(self.columns)
        for group in {"sigma", "force"} & slopes.groups:
            whole = self._force("sigma" if group == "sigma" else "forces")
            assert whole is not None
            changes[group] = whole
            columns[group] = columns[group][:, : whole.shape[1]]
        del found
        total = slopes.total(columns, cast("Changes", changes), self.m)
        block = slopes.graph.block(slopes.output)
        return total.reshape(self.m, *block.shape, self.n)


def _rates(mechanism: Mechanism, names: Sequence[str]) -> list[int]:
    return [mechanism.rate_index(name) for name in names]


def _is_table(given: object) -> bool:
    """Tell whether a motion is a file with columns by coordinates, and no run."""
    is_csv = isinstance(given, str | Path) and str(given).lower().endswith(".csv")
    return is_csv and not is_run_file(Path(str(given)))


def _driven(slopes: TaskSlopes, result: Result) -> list[int]:
    """Return the rates whose drives a task finds."""
    mechanism = slopes.mechanism
    names: Sequence[str] = ()
    if slopes.task == "inverse_dynamics":
        names = list(result.facts.get("loads", ()))
    elif slopes.task == "statics":
        names = result.facts["names"]
    elif slopes.task == "equilibria":
        held = slopes.arguments.get("held") or ()
        names = [held] if isinstance(held, str) else list(held)
    return [mechanism.rates.index(name) for name in names if name in mechanism.rates]


def has_exact(task: str) -> bool:
    """Tell whether a task has exact derivatives."""
    return task in REFUSED
