"""Variational equations of a system: how small deviations from its motions go on.

symbol   meaning
z        displacements xi along the rates, changes v of the rates, changes of further states x
p        parameters; the derivative by each is a column of B
C        the matrix that turns displacements where a joint has a quaternion (xi' = v - C xi)

    z' = A(t) z + B(t) dp

A joint with a quaternion turns while it is displaced: with its velocities v and w in its own axes,
xi_v' = dv - w x xi_v - v x xi_w and xi_w' = dw - w x xi_w.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.linear_variables import displacement_names, rate_names
from chainform.analysis.variations.constrained_slopes import RowSolver
from chainform.analysis.variations.variation_graph import (
    CHANGING,
    MOTION,
    NO_OBJECTIVE,
    SEAMS,
    SOLVED,
    Objective,
    VariationGraph,
    objective_of,
    variation_graph,
)
from chainform.errors import RunError
from chainform.expressions import symbols_of
from chainform.given import argument
from chainform.mechanism import JointKind, Mechanism, automatic_parameters
from chainform.simulation import System, check_known, rest_names

Array = NDArray[np.float64]
UNDETERMINED = 1e-9
"""What rests on a choice among forces by less does not rest on it."""


@dataclass(frozen=True, eq=False)
class VariationalEquations:
    """The variational equations of a compiled system, by its state and by some parameters.

    `names` are the entries of z, `parameters` the columns of B.
    """

    system: System
    graph: VariationGraph
    names: tuple[str, ...]
    parameters: tuple[str, ...]
    columns: tuple[int, ...]
    """Which of the free parameters those are."""
    objective: Objective = NO_OBJECTIVE

    @staticmethod
    def of(
        system: System, parameters: Sequence[str] = (), objective: Any = None
    ) -> VariationalEquations:
        """Return the equations of a system; parameters that are numbers there become free.

        The integral of an `objective` is one more entry of z, the last one. RunError where
        a motion of the system has no derivatives.
        """
        _refuse_functions(system)
        system = _with_free(system, parameters)
        _refuse_breaks(system, parameters)
        equations = system.machine.equations
        wanted = objective_of(equations.mechanism, objective)
        graph = variation_graph(system, wanted)
        given = system.conditions.given.mechanism.parameters
        valued = [p.name for p in given if p.value is not None]
        check_known(graph.program.graph, (*equations.parameters, *valued))
        mechanism = equations.mechanism
        more = rest_names(mechanism)
        own = equations.nx - equations.balance_states - equations.impulses
        more += tuple(f"integral {k + 1}" for k in range(own - len(more)))
        more += ("integral of the objective",) if wanted.integral is not None else ()
        names = (*displacement_names(mechanism), *rate_names(mechanism), *more)
        # What no equation names changes nothing.
        known = graph.parameters
        columns = tuple(known.index(n) if n in known else -1 for n in parameters)
        return VariationalEquations(system, graph, names, tuple(parameters), columns, wanted)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism with the values of its parameters."""
        return self.system.conditions.given.mechanism

    def inputs(self, t: Array, y: Array, given: Array) -> dict[str, Any]:
        """Return what the equations take at times (m,) and states (m, size).

        `given` (m, k) is what enters with each: efforts from outside, then the rows that hold, and
        what stops, contacts and friction put in (`StateChange`).
        """
        equations, nv = self.system.machine.equations, self.graph.nv
        nq, layout = equations.nq, self.system.machine.layout
        efforts, m = self.system.conditions.efforts, len(t)
        looked_up = np.zeros((m, nv + equations.nu))
        if efforts.has_tables:
            looked_up = efforts.looked_up(t, self.mechanism)
        x = y[:, nq + nv : equations.size]
        first = layout.place("modes") - layout.place("tau")
        known = {p.name: p.value for p in self.mechanism.parameters}
        known |= {i.name: i.default for i in equations.graph.inputs.values()}
        return {
            "t": t,
            "q": y[:, :nq],
            "qd": y[:, nq : nq + nv],
            "x": x,
            "tau": looked_up[:, :nv],
            "u": looked_up[:, nv:],
            "force": given[:, first : first + layout.length("modes")],
            "values": {name: float(known[name] or 0) for name in self.graph.parameters},
        }

    def mask(self, given: Array) -> Array:
        """Return which rows of constraints hold, 1 or 0, (m, rows)."""
        layout = self.system.machine.layout
        first = layout.place("mask") - layout.place("tau")
        return given[:, first : first + layout.length("mask")]

    def slopes(self, t: Array, y: Array, given: Array, *, has_parameters: bool = True) -> Array:
        """Return the derivatives of qd' and x' by xi, v, x, (m, nv + nx, n).

        Those by parameters stand behind them, (m, nv + nx, n + p), unless they are not wanted.
        """
        inputs, words = self.inputs(t, y, given), CHANGING[: None if has_parameters else 3]
        with np.errstate(all="ignore"):
            if self.graph.rows:
                whole = self._under_rows(inputs, self.mask(given), words)
            else:
                whole = self.chosen(self.graph.slopes(inputs, words))
        if not np.isfinite(whole).all():
            bad = int(np.argmax(~np.isfinite(whole).all(axis=(1, 2))))
            raise RunError(
                f"the equations have no finite derivatives at t = {t[bad]:.9g} s",
                file=self.mechanism.file,
                element="sensitivities",
                remedy="a law has an infinite slope there, as the square root of zero has: write "
                "it in another way",
            )
        return whole

    def chosen(self, found: Mapping[str, Array]) -> Array:
        """Return derivatives by z and by the parameters of these equations next to each other."""
        parts = [found["q"], found["qd"], found["x"]]
        if self.parameters and "parameters" in found:
            # What no equation names changes nothing.
            known = np.array(self.columns) >= 0
            own = np.zeros((*found["q"].shape[:-1], len(self.columns)))
            own[..., known] = found["parameters"][..., [c for c in self.columns if c >= 0]]
            parts.append(own)
        return np.concatenate(parts, axis=-1)

    def accelerations(self, inputs: Mapping[str, Any], mask: Array) -> tuple[RowSolver, Array]:
        """Return what solves for accelerations under the rows that hold; qdd and s, (m, n + m)."""
        graph, n, m = self.graph, self.graph.nv, self.graph.rows
        none = {"qdd": np.zeros((len(mask), n)), "sigma": np.zeros((len(mask), m))}
        rest = graph.values({**inputs, **none}, MOTION)[0]
        solved = graph.slopes({**inputs, **none}, ["qdd"])["qdd"]
        J = solved[:, n : n + m] * mask[..., None]
        solver = RowSolver(solved[:, :n], J)
        right = -rest[:, n : n + m] * mask
        qdd, s = solver.solve(-rest[:, :n, None], right[..., None])
        return solver, np.concatenate([qdd, s], axis=1)[..., 0]

    def _under_rows(self, inputs: dict[str, Any], mask: Array, words: Sequence[str]) -> Array:
        n, m = self.graph.nv, self.graph.rows
        solver, found = self.accelerations(inputs, mask)
        inputs = {**inputs, "qdd": found[:, :n], "sigma": found[:, n:]}
        slopes = self.graph.slopes(inputs, (*words, *SOLVED))
        own = self.chosen(slopes)
        qdd, s = solver.solve(-own[:, :n], -own[:, n : n + m] * mask[..., None])
        by_s = slopes["sigma"][:, n + m :]
        if by_s.size and solver.undetermined(by_s * mask[:, None, :]) > UNDETERMINED:
            raise RunError(
                "states of actuators depend on how forces of redundant rows are shared",
                file=self.mechanism.file,
                element="loops",
                remedy="close loops by as many equations as they need",
            )
        extra = own[:, n + m :] + slopes["qdd"][:, n + m :] @ qdd + by_s @ s
        return np.concatenate([qdd, extra], axis=1)

    def by_parameters(self, t: Array, y: Array, given: Array, weights: Array) -> Array:
        """Return weights (m, nv + nx) times the derivatives of qd' and x' by parameters, (m, p).

        However many parameters there are, that takes a few times the equations themselves.
        """
        inputs, n, m = self.inputs(t, y, given), self.graph.nv, self.graph.rows
        if m:
            mask = self.mask(given)
            solver, found = self.accelerations(inputs, mask)
            inputs = {**inputs, "qdd": found[:, :n], "sigma": found[:, n:]}
            solved = self.graph.slopes(inputs, SOLVED)
            qdd, s = (
                np.einsum("me,mek->mk", weights[:, n:], solved[word][:, n + m :]) for word in SOLVED
            )
            # The equations for qdd and s, transposed.
            a, e = solver.solve((weights[:, :n] + qdd)[..., None], -(s * mask)[..., None])
            weights = np.concatenate([-a[..., 0], e[..., 0] * mask, weights[:, n:]], axis=1)
        found = self.graph.weighted(inputs, weights)
        known = [column for column in self.columns if column >= 0]
        result = np.zeros((len(t), len(self.columns)))
        result[:, [k for k, column in enumerate(self.columns) if column >= 0]] = found[:, known]
        return result

    def rates(self, t: Array, y: Array, given: Array) -> Array:
        """Return the rates of z along the motion, (m, n); arguments as those of `inputs`."""
        inputs, n = self.inputs(t, y, given), self.graph.nv
        if not self.graph.rows:
            return np.concatenate([inputs["qd"], self.graph.values(inputs, MOTION)[0]], axis=1)
        _, found = self.accelerations(inputs, self.mask(given))
        inputs = {**inputs, "qdd": found[:, :n], "sigma": found[:, n:]}
        extra = self.graph.values(inputs, MOTION)[0][:, n + self.graph.rows :]
        return np.concatenate([inputs["qd"], found[:, :n], extra], axis=1)

    def turning(self, y: Array) -> Array | None:
        """Return C, (m, nv, nv); None where no joint has a quaternion."""
        mechanism, nv = self.mechanism, self.graph.nv
        quaternions = [
            s for s in mechanism.segments if s.rate is not None and s.joint.kind.has_quaternion
        ]
        if not quaternions:
            return None
        nq = self.system.machine.equations.nq
        qd, C = y[:, nq : nq + nv], np.zeros((len(y), nv, nv))
        for segment in quaternions:
            is_free, first = segment.joint.kind is JointKind.FREE, segment.rate or 0
            turn = slice(first + 3 * is_free, first + 3 * is_free + 3)
            C[:, turn, turn] = crosses(qd[:, turn])
            if is_free:
                move = slice(first, first + 3)
                C[:, move, move] = crosses(qd[:, turn])
                C[:, move, turn] = crosses(qd[:, move])
        return C

    def seams(self, t: Array, y: Array, given: Array) -> Array:
        """Return the arguments of signs and of absolute values in the equations, (m, count)."""
        if not self.graph.has(SEAMS):
            return np.zeros((len(t), 0))
        return self.graph.values(self.inputs(t, y, given), SEAMS)[0]

    def seam_slopes(self, t: Array, y: Array, given: Array) -> Array:
        """Return the derivatives of the same by z, parameters and t, (m, count, n + p + 1)."""
        return self.with_time(self.graph.slopes(self.inputs(t, y, given), (*CHANGING, "t"), SEAMS))

    def with_time(self, found: Mapping[str, Array]) -> Array:
        """Return derivatives by z, by the parameters of these equations and by t in one array."""
        return np.concatenate([self.chosen(found), found["t"]], axis=-1)


def crosses(v: Array) -> Array:
    """Return the matrices of v x, (m, 3, 3), given v (m, 3)."""
    matrices = np.zeros((len(v), 3, 3))
    x, y, z = v.T
    matrices[:, 0, 1], matrices[:, 0, 2] = -z, y
    matrices[:, 1, 0], matrices[:, 1, 2] = z, -x
    matrices[:, 2, 0], matrices[:, 2, 1] = -y, x
    return matrices


def _with_free(system: System, parameters: Sequence[str]) -> System:
    """Return a system in whose equations parameters are free, each of them known and not fixed."""
    given = dict(system.conditions.given.values)
    mechanism = system.problem.mechanism
    own = {parameter.name: parameter for parameter in mechanism.parameters}
    numbers = {name: p.value for name, p in own.items()} | given
    numbers = {**automatic_parameters(mechanism), **numbers}
    for name in parameters:
        if name not in numbers:
            raise argument("parameters", name).unknown("parameter", list(numbers))
        where = own[name].fixed_in or own[name].limit_in if name in own else ""
        if where:
            raise RunError(
                f"{name} became a number when the file was read, in {where}",
                file=mechanism.file,
                element=name,
                remedy="axes, rotations, ratios and limits stay numbers: take other parameters",
            )
    twice = [name for name in parameters if list(parameters).count(name) > 1]
    if twice:
        raise RunError(
            "it is named twice", element=f"parameters, {twice[0]}", remedy="once is enough"
        )
    if set(parameters) <= set(given):
        return system
    more = {name: float(numbers[name] or 0) for name in parameters if name not in given}
    return system.problem.compile({**given, **more})


def _refuse_breaks(system: System, parameters: Sequence[str]) -> None:
    """Refuse parameters that move the times at which laws change."""
    efforts, mechanism = system.conditions.efforts, system.problem.mechanism
    laws = (*mechanism.forces, *efforts.laws, *(efforts.signals.laws if efforts.signals else ()))
    for law in laws:
        for time in law.numbers:
            named = frozenset[str]() if isinstance(time, Fraction) else symbols_of(time)
            for name in parameters:
                if name in named:
                    raise RunError(
                        f"{name} moves the time at which a force changes its law, and the force "
                        "may jump there",
                        file=mechanism.file,
                        element=name,
                        remedy="write the law in one piece, as with max(0, t - T), or take other "
                        "parameters",
                    )


def _refuse_functions(system: System) -> None:
    """Refuse efforts that are functions of Python, and efforts that are sampled."""
    if system.conditions.efforts.has_functions:
        raise RunError(
            "a function of Python among forces or signals has no derivatives",
            element="forces",
            remedy='write it as a law, as in forces={"elbow": "-2*der(elbow)"}, or as a table',
        )
    if system.is_sampled:
        raise RunError(
            "efforts and controllers that are sampled and held have no variational equations",
            element="hold" if system.problem.is_held else "controllers",
            remedy="leave hold and sample out: the efforts then follow the state all the time",
        )
