"""The equations that a system integrates, and their derivatives, as one compiled program.

    M qdd - r - J^T s = 0,    J qdd - gamma = 0,    x' = f

Without rows of constraints the accelerations are explicit, as they are integrated: qdd = f. All
derivatives are exact, those by q along the rates (small turns, where a joint has a quaternion).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.formulations import entry_of, with_derivatives
from chainform.graph import CALLS, Builder, Scalar, builder_of
from chainform.mechanism import Mechanism
from chainform.runtime import LruCache, Program
from chainform.simulation import System

Array = NDArray[np.float64]
MOTION = "motion"
SEAMS = "seams"
CHANGING = ("q", "qd", "x", "parameters")
"""What changes along a motion."""
SOLVED = ("qdd", "sigma")
"""What equations under constraints are solved for."""


@dataclass(frozen=True, eq=False)
class VariationGraph:
    """The equations of one system with their derivatives, for any values of its parameters.

    The output `motion` has a row for each rate, each row of constraints (`rows`), and each of the
    `nx` further states. `seams` are arguments of signs: what they multiply jumps where one is zero.
    """

    mechanism: Mechanism
    program: Program
    nv: int
    nx: int
    rows: int
    parameters: tuple[str, ...]
    pinned: object
    """What the graph was made of: its identity is the key in the cache."""

    @property
    def groups(self) -> set[str]:
        """The groups of inputs of the equations."""
        return {item.group for item in self.program.graph.inputs.values()}

    def values(self, inputs: Mapping[str, Any], *outputs: str) -> list[Array]:
        """Return outputs at many states, a row for each."""
        function: Any = self.program.function(*outputs)
        names = {a.group for a in self.program.signature(*outputs).arguments} - {"parameter"}
        given = {name: inputs[name] for name in names}
        found = function(**given, values=inputs["values"]) if self.parameters else function(**given)
        return [found] if len(outputs) == 1 else list(found)

    def slopes(self, inputs: Mapping[str, Any], words: Sequence[str]) -> dict[str, Array]:
        """Return the derivatives of `motion` by groups, (m, rows of it, entries of the group)."""
        graph = self.program.graph
        texts = {word: slope_of(word) for word in words if slope_of(word) in graph.outputs}
        sizes = {"q": self.nv, "qd": self.nv, "x": self.nx, "parameters": len(self.parameters)}
        sizes |= {"qdd": self.nv, "sigma": self.rows}
        count, height = len(inputs["t"]), self.nv + self.rows + self.nx
        arrays = self.values(inputs, *texts.values()) if texts else []
        found = dict(zip(texts, arrays, strict=True))
        whole: dict[str, Array] = {}
        for word in words:
            whole[word] = np.zeros((count, height, sizes[word]))
            if word in found:
                whole[word][..., self._places(word)] = found[word]
        return whole

    def _places(self, word: str) -> Any:
        """Return which entries of a group its columns belong to."""
        if word not in ("x", "sigma", "parameters"):
            return slice(None)
        group = "parameter" if word == "parameters" else word
        items = [i for i in self.program.graph.inputs.values() if i.group == group]
        items.sort(key=lambda item: item.index)
        if group == "parameter":
            return [self.parameters.index(item.name) for item in items]
        return [item.index for item in items]


def slope_of(word: str) -> str:
    """Return the name of the derivative by a group."""
    return f"derivative({MOTION},{word})"


GRAPHS: LruCache[VariationGraph] = LruCache(8)


def variation_graph(system: System) -> VariationGraph:
    """Return the equations of a system with their derivatives, from a cache where they are there.

    Systems that differ in values of parameters only share their machine code, and this.
    """
    pinned = system.machine.procedures
    return GRAPHS.get(id(pinned), lambda: _made(system, pinned))


def _made(system: System, pinned: object) -> VariationGraph:
    equations = system.machine.equations
    builder = builder_of(equations.graph)
    nv, rows = equations.nv, equations.rows
    nx = equations.nx - equations.balance_states - equations.impulses
    parts = _constrained(builder, nv, rows) if rows else _explicit(builder, equations.nq)
    values = [*parts[: nv + rows], *parts[nv + rows :][:nx]]
    builder.outputs.clear()
    builder.output(MOTION, (len(values),), [(f"motion_{k}", v) for k, v in enumerate(values, 1)])
    cone = builder.finish().cone([builder.variable_of(value) for value in values])
    seams = [v for v, call in enumerate(builder.call_of) if CALLS[call] == "sign" and cone[v]]
    if seams:
        arguments = [builder.scalar(builder.argument[v]) for v in seams]
        entries = [(f"seam_{k}", value) for k, value in enumerate(arguments, 1)]
        builder.output(SEAMS, (len(entries),), entries)
    graph = builder.finish()
    needed = graph.cone(graph.output_variables([MOTION]))
    groups = {item.group for v, item in graph.inputs.items() if needed[v]}
    words = [*CHANGING, *(SOLVED if rows else ())]
    present = [w for w in words if w.removesuffix("s") in groups or w in (*groups, "q", "qd")]
    graph = with_derivatives(graph, [slope_of(word) for word in present], equations.mechanism)
    lengths = {"q": equations.nq, "qd": nv, "x": nx, "tau": nv, "t": 1, "u": equations.nu}
    lengths |= {"qdd": nv, "sigma": rows, "force": system.machine.layout.length("modes")}
    program = Program(graph, lengths=lengths, threads=1)
    return VariationGraph(equations.mechanism, program, nv, nx, rows, equations.parameters, pinned)


def _explicit(builder: Builder, nq: int) -> list[Scalar]:
    """Return qdd and x' as they are integrated."""
    return [builder.scalar(v) for v in builder.outputs["rate"].variables][nq:]


def _constrained(builder: Builder, nv: int, m: int) -> list[Scalar]:
    """Return M qdd - r - J^T s, J qdd - gamma, and x'."""
    terms = [builder.scalar(v) for v in builder.outputs["terms"].variables]
    ends = np.cumsum([nv * nv, nv, m * nv, m]).tolist()
    M, r, J, gamma = (terms[i:k] for i, k in zip([0, *ends], ends, strict=False))
    qdd = [entry_of(builder, "qdd", k) for k in range(nv)]
    s = [entry_of(builder, "sigma", k) for k in range(m)]
    result: list[Scalar] = []
    for i in range(nv):
        total = -r[i]
        for k in range(nv):
            total = total + M[i * nv + k] * qdd[k]
        for k in range(m):
            total = total - J[k * nv + i] * s[k]
        result.append(builder.keep(total))
    for i in range(m):
        total = -gamma[i]
        for k in range(nv):
            total = total + J[i * nv + k] * qdd[k]
        result.append(builder.keep(total))
    extra = builder.outputs.get("extra")
    return result + ([builder.scalar(v) for v in extra.variables] if extra else [])
