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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.linear_variables import displacement_names, rate_names
from chainform.analysis.variations.variation_graph import (
    CHANGING,
    SEAMS,
    VariationGraph,
    variation_graph,
)
from chainform.errors import RunError
from chainform.given import argument
from chainform.mechanism import JointKind, Mechanism, automatic_parameters
from chainform.simulation import System, rest_names

Array = NDArray[np.float64]


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

    @staticmethod
    def of(system: System, parameters: Sequence[str] = ()) -> VariationalEquations:
        """Return the equations of a system; parameters that are numbers there become free.

        RunError where a motion of the system has no derivatives.
        """
        _refuse_functions(system)
        system = _with_free(system, parameters)
        graph, equations = variation_graph(system), system.machine.equations
        mechanism = equations.mechanism
        more = rest_names(mechanism)
        more += tuple(f"integral {k + 1}" for k in range(graph.nx - len(more)))
        names = (*displacement_names(mechanism), *rate_names(mechanism), *more)
        # What no equation names changes nothing.
        known = graph.parameters
        columns = tuple(known.index(n) if n in known else -1 for n in parameters)
        return VariationalEquations(system, graph, names, tuple(parameters), columns)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism with the values of its parameters."""
        return self.system.conditions.given.mechanism

    def inputs(self, t: Array, y: Array) -> dict[str, Any]:
        """Return what the equations take at times (m,) and states (m, nq + nv + nx or more)."""
        equations, nv, nx = self.system.machine.equations, self.graph.nv, self.graph.nx
        nq = equations.nq
        layout, m = self.system.machine.layout, len(t)
        looked_up = np.zeros((m, nv + equations.nu))
        if self.system.conditions.efforts.has_tables:
            looked_up = self.system.conditions.efforts.looked_up(t, self.mechanism)
        defaults = {i.name: i.default for i in equations.graph.inputs.values()}
        values = {name: float(defaults[name] or 0) for name in self.graph.parameters}
        return {
            "t": t,
            "q": y[:, :nq],
            "qd": y[:, nq : nq + nv],
            "x": y[:, nq + nv : nq + nv + nx],
            "tau": looked_up[:, :nv],
            "u": looked_up[:, nv:],
            "force": np.zeros((m, layout.length("modes"))),
            "values": values,
        }

    def slopes(self, t: Array, y: Array) -> Array:
        """Return the derivatives of qd' and x' by xi, v, x and parameters, (m, nv + nx, n + p)."""
        inputs = self.inputs(t, y)
        found = self.graph.slopes(inputs, CHANGING)
        chosen = found["parameters"][..., list(self.columns)] if self.parameters else None
        for k, column in enumerate(self.columns):
            if column < 0 and chosen is not None:
                chosen[..., k] = 0.0
        parts = [found["q"], found["qd"], found["x"], *([] if chosen is None else [chosen])]
        whole = np.concatenate(parts, axis=-1)
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

    def seams(self, t: Array, y: Array) -> Array:
        """Return the arguments of signs in the equations, (m, their number)."""
        if SEAMS not in self.graph.program.graph.outputs:
            return np.zeros((len(t), 0))
        return self.graph.values(self.inputs(t, y), SEAMS)[0]


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


def _refuse_functions(system: System) -> None:
    """Refuse efforts that are functions of Python, and efforts that are sampled."""
    if system.conditions.efforts.has_functions:
        raise RunError(
            "a function of Python among forces or signals has no derivatives",
            element="forces",
            remedy='write it as a law, as in forces={"elbow": "-2*der(elbow)"}, or as a table',
        )
    if system.problem.is_held:
        raise RunError(
            "efforts that are sampled and held have no variational equations",
            element="hold",
            remedy="leave hold out: the efforts then follow the state all the time",
        )
