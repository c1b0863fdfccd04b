"""The equations that a system integrates, and their derivatives, as one compiled program.

symbol   meaning
s        forces of rows of constraints
w, P     jump of the rates, and impulses of rows, where something is hit

    motion    M qdd - r - J^T s,  J qdd - gamma,  x' - ...     what is solved for qdd, s and x'
    instant   rows of constraints, their rates, laws of events: what is met at events
    blow      M w - J^T P: what is zero in an impact
    value     the objective at the end; its integral is one more state, the last of x'

Without rows `motion` has qdd and x' as they are integrated. All derivatives are exact, those by q
along the rates (small turns, where a joint has a quaternion).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.formulations import Kinematics, Laws, entry_of, with_derivatives
from chainform.given import argument
from chainform.graph import CALLS, Builder, Graph, Scalar, builder_of
from chainform.mechanism import Mechanism, Number, law_reader
from chainform.runtime import LruCache, Program
from chainform.simulation import System

Array = NDArray[np.float64]
MOTION, INSTANT, BLOW, SEAMS, VALUE = "motion", "instant", "blow", "seams", "value"
KINKS = ("abs", "sign")
CHANGING = ("q", "qd", "x", "parameters")
"""What changes along a motion."""
SOLVED = ("qdd", "sigma")
"""What equations under constraints are solved for."""
REMEDY = 'write objective="(x - 1)^2", a law at the end, or {"integral": "der(x)^2"}'


@dataclass(frozen=True)
class Objective(Displayed):
    """J = end(q, qd, t) at the end + the integral of a law from the start to the end.

    Laws name coordinates, their rates, the time, parameters and coordinates of frames.
    """

    end: Number | None = None
    integral: Number | None = None


NO_OBJECTIVE = Objective()


def objective_of(mechanism: Mechanism, given: Any) -> Objective:
    """Return a checked objective: a law at the end, or a table with `end` and `integral`."""
    if given is None:
        return NO_OBJECTIVE
    entry, laws = argument("objective", given), law_reader(mechanism)
    if not entry.is_table:
        return Objective(end=laws.law(entry))
    table = entry.table(("end", "integral"), REMEDY)
    if not any(one.is_given for one in (table["end"], table["integral"])):
        raise entry.error("it names no law", REMEDY)
    found = {n: laws.law(table[n]) for n in ("end", "integral") if table[n].is_given}
    return Objective(**found)


@dataclass(frozen=True, eq=False)
class VariationGraph:
    """The equations of one system with their derivatives, for any values of its parameters.

    `rows` are those of constraints, `nx` further states, with that of the objective. The
    output `seams` has arguments of signs and absolute values: where one is zero, the equations are
    not smooth. `source` is what it was made of: its identity is the key in the cache.
    """

    program: Program
    nv: int
    nx: int
    whole_x: int
    """How many there are with those that only add up."""
    rows: int
    parameters: tuple[str, ...]
    source: object

    def has(self, output: str) -> bool:
        """Tell whether there is an output."""
        return output in self.program.graph.outputs

    def values(self, inputs: Mapping[str, Any], *outputs: str) -> list[Array]:
        """Return outputs at many states, a row for each."""
        function: Any = self.program.function(*outputs)
        arguments = self.program.kernel(*outputs).signature.arguments
        names = {argument.group for argument in arguments} - {"parameter"}
        given = {name: inputs[name] for name in names}
        if not names:
            given = {"t": inputs["t"]}
        found = function(**given, values=inputs["values"]) if self.parameters else function(**given)
        return [found] if len(outputs) == 1 else list(found)

    def slopes(
        self, inputs: Mapping[str, Any], words: Sequence[str], output: str = MOTION
    ) -> dict[str, Array]:
        """Return the derivatives of an output by groups, (m, its rows, entries of the group)."""
        sizes = {"q": self.nv, "qd": self.nv, "parameters": len(self.parameters)}
        sizes |= {"qdd": self.nv, "sigma": self.rows, "t": 1, "x": max(self.whole_x, self.nx)}
        texts = {word: slope_of(output, word) for word in words}
        texts = {word: text for word, text in texts.items() if self.has(text)}
        arrays = self.values(inputs, *texts.values()) if texts else []
        found = dict(zip(texts, arrays, strict=True))
        height = self.program.graph.block(output).shape[0]
        whole: dict[str, Array] = {}
        for word in words:
            places = self._places(word)
            if word in found and places is None:
                whole[word] = found[word]
                continue
            whole[word] = np.zeros((len(inputs["t"]), height, sizes[word]))
            if word in found:
                array = found[word][..., None] if word == "t" else found[word]
                whole[word][..., places] = array
            whole[word] = whole[word][..., : self.nx] if word == "x" else whole[word]
        return whole

    def weighted(self, inputs: Mapping[str, Any], weights: Array) -> Array:
        """Return weights (m, rows of `motion`) times its derivatives by parameters, (m, count)."""
        result = np.zeros((len(weights), len(self.parameters)))
        if self.has(weighted_by(MOTION)):
            places: Any = self._places("parameters")
            found = self.values({**inputs, "weights": weights}, weighted_by(MOTION))[0]
            result[:, places] = found
        return result

    def _places(self, word: str) -> list[int] | None:
        """Return which entries of a group its columns belong to; None for all, in their order."""
        if word not in ("x", "sigma", "parameters", "t"):
            return None
        group = "parameter" if word == "parameters" else word
        items = [i for i in self.program.graph.inputs.values() if i.group == group]
        items.sort(key=lambda item: item.index)
        if group == "parameter":
            return [self.parameters.index(item.name) for item in items]
        return [item.index for item in items]


def slope_of(output: str, word: str) -> str:
    """Return the name of the derivative of an output by a group."""
    return f"derivative({output},{word})"


def weighted_by(output: str) -> str:
    """Return the name of weights times the derivative of an output by parameters."""
    return f"product(weights,derivative({output},parameters))"


GRAPHS: LruCache[VariationGraph] = LruCache(8)


def variation_graph(system: System, objective: Objective = NO_OBJECTIVE) -> VariationGraph:
    """Return the equations of a system with their derivatives, from a cache where they are there.

    Systems that differ in values of parameters only share their machine code, and this.
    """
    source = system.machine.procedures
    return GRAPHS.get((id(source), objective), lambda: _made(system, objective, source))


def _made(system: System, objective: Objective, source: object) -> VariationGraph:
    equations = system.machine.equations
    builder = builder_of(equations.graph)
    nv, rows = equations.nv, equations.rows
    nx = equations.nx - equations.balance_states - equations.impulses
    outputs, taken = dict(builder.outputs), _Taken(builder, nv, rows)
    builder.outputs.clear()
    if rows:
        extra = outputs["extra"].variables[:nx] if "extra" in outputs else ()
        motion = [*taken.motion(), *map(builder.scalar, extra)]
        taken.declare(BLOW, taken.blow())
    else:
        explicit = outputs["rate"].variables[equations.nq :][: nv + nx]
        motion = [builder.scalar(v) for v in explicit]
    laws = Laws(Kinematics(equations.mechanism, builder))
    if objective.integral is not None:
        motion, nx = [*motion, laws.scalar(objective.integral)], nx + 1
    if objective.end is not None:
        taken.declare(VALUE, [laws.scalar(objective.end)])
    taken.declare(MOTION, motion)
    events = [builder.scalar(v) for v in outputs["events"].variables] if "events" in outputs else []
    if rows or events:
        taken.declare(INSTANT, [*taken.residuals, *taken.speeds, *events])
    taken.declare_seams()
    graph = builder.finish()
    words = {MOTION: (*CHANGING, *(SOLVED if rows else ()))}
    words |= {INSTANT: (*CHANGING, "t"), BLOW: ("q", "parameters", "t", *SOLVED)}
    words |= {VALUE: (*CHANGING, "t"), SEAMS: (*CHANGING, "t")}
    texts = [text for output in words for text in _slopes(graph, output, words[output])]
    slope = slope_of(MOTION, "parameters")
    texts += [weighted_by(MOTION)] if slope in texts else []
    graph = with_derivatives(graph, texts, equations.mechanism)
    lengths = {"q": equations.nq, "qd": nv, "x": equations.nx, "tau": nv, "t": 1, "u": equations.nu}
    lengths |= {
        "weights": len(motion),
        "qdd": nv,
        "sigma": rows,
        "force": system.machine.layout.length("modes"),
    }
    program = Program(graph, lengths=lengths, threads=1)
    # An objective may name more of them.
    named = [i.name for i in graph.inputs.values() if i.group == "parameter"]
    parameters = tuple(dict.fromkeys((*equations.parameters, *named)))
    return VariationGraph(program, nv, nx, equations.nx, rows, parameters, source)


def _slopes(graph: Graph, output: str, words: Sequence[str]) -> list[str]:
    """Return the derivatives of an output by what it depends on; q and qd always do."""
    if output not in graph.outputs:
        return []
    needed = graph.cone(graph.output_variables([output]))
    groups = {item.group for v, item in graph.inputs.items() if needed[v]}
    groups |= {"parameters"} if "parameter" in groups else set()
    groups &= {item.group for item in graph.inputs.values()} | {"parameters"}
    return [slope_of(output, word) for word in words if word in groups]


class _Taken:
    """Parts of the equations of a system under constraints, in a copy of its graph."""

    def __init__(self, builder: Builder, n: int, m: int) -> None:
        self.builder, self.n, self.m = builder, n, m
        terms = builder.outputs["terms"].variables if m else ()
        flat = [builder.scalar(v) for v in terms]
        ends = np.cumsum([n * n, n, m * n, m, m, m]).tolist()
        parts = [flat[i:k] for i, k in zip([0, *ends], ends, strict=False)]
        self.M, self.r, self.J, self.gamma, self.residuals, self.speeds = parts
        self.qdd = [entry_of(builder, "qdd", k) for k in range(n if m else 0)]
        self.s = [entry_of(builder, "sigma", k) for k in range(m)]

    def declare(self, name: str, values: Sequence[Scalar]) -> None:
        """Declare an output."""
        entries = [(f"{name}_{k}", value) for k, value in enumerate(values, 1)]
        self.builder.output(name, (len(entries),), entries)

    def blow(self) -> list[Scalar]:
        """Return M qdd - J^T s."""
        return [self._forces(i, self.builder.number(0)) for i in range(self.n)]

    def motion(self) -> list[Scalar]:
        """Return M qdd - r - J^T s, then J qdd - gamma."""
        result = [self._forces(i, -self.r[i]) for i in range(self.n)]
        for i in range(self.m):
            total = -self.gamma[i]
            for k in range(self.n):
                total = total + self.J[i * self.n + k] * self.qdd[k]
            result.append(self.builder.keep(total))
        return result

    def _forces(self, i: int, total: Scalar) -> Scalar:
        for k in range(self.n):
            total = total + self.M[i * self.n + k] * self.qdd[k]
        for k in range(self.m):
            total = total - self.J[k * self.n + i] * self.s[k]
        return self.builder.keep(total)

    def declare_seams(self) -> None:
        """Declare the arguments of signs and absolute values in the equations of motion."""
        builder, graph = self.builder, self.builder.finish()
        cone = graph.cone(graph.output_variables([MOTION]))
        calls = [v for v, call in enumerate(builder.call_of) if CALLS[call] in KINKS and cone[v]]
        if calls:
            arguments = dict.fromkeys(builder.argument[v] for v in calls)
            self.declare(SEAMS, [builder.scalar(v) for v in arguments])
