"""A model: the graph of a mechanism's equations, with the mechanism it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed, Records
from chainform.errors import Error
from chainform.graph import CALL_NUMBER, Cost, Graph, cost, cost_once, set_defaults, substitute
from chainform.mechanism import Mechanism, parametrise
from chainform.model.names import (
    entry_counts,
    find_block,
    input_named,
    missing_operators,
    resolve,
    select_outputs,
)
from chainform.model.quantity import Quantity, Sparsity
from chainform.model.states import evaluate_states, exact_values, group_length, with_values
from chainform.model.summary import Origin, model_line, model_summary
from chainform.runtime import CodeCache, CodeStorage, Program
from chainform.search import SINE_COST, Observer, Progress, Stage, effort_of, path_of

if TYPE_CHECKING:
    from chainform.model.export import ExportOptions

VECTORS = ("q", "qd", "qdd", "tau")
"""Groups of inputs that are quantities of a model as well."""


@dataclass(frozen=True, eq=False)
class Model(Displayed):
    """Equations of motion as a computation graph.

    `model["mass_matrix"]` is a quantity, and so are `model["H"]` and `model["H[1,2]"]`, as on
    the command line. `model.evaluate(q=...)` gives numbers, `model.bind({...})` a model with
    numbers, `model.emit("python")` text, `model.count()` operations, `print(model)` a summary.
    """

    mechanism: Mechanism
    graph: Graph
    formulation: str
    parameters: str | tuple[str, ...]
    reduction: str
    """The effort of the last reduction; "none" for the model as it was derived."""
    closure: str = "complete"
    wrenches: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    defined: Mapping[str, str] = field(default_factory=dict[str, str])
    """The outputs that `with_outputs` added, each with its text."""
    bound: Mapping[str, Fraction] = field(default_factory=dict[str, Fraction])
    """The numbers that `bind` gave to parameters since the model was derived or loaded."""
    origin: Origin | None = None
    """The revision that the model was loaded from."""
    stages: tuple[Stage, ...] = ()
    """The graph as it was derived, then after each step of reductions, also where it was left."""
    axis_choices: Mapping[tuple[str, ...], Sequence[Any]] | None = None
    """The choices of axes whose operations were counted; None where they have to be found again."""
    code_cache: CodeStorage | None = None
    """The cache of compiled code: in the store that the model was loaded from."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The quantities the model was derived for."""
        return tuple(self.graph.outputs)

    @property
    def title(self) -> str:
        """Its mechanism and method, and whether it is reduced: arm, auto, reduced (fast)."""
        state = f"reduced ({self.reduction})" if self.is_reduced else "not reduced"
        return f"{self.mechanism.name}, {self.formulation}, {state}"

    @property
    def has_bodies(self) -> bool:
        """Whether the mechanism has segments or elements; expressions alone have none."""
        return bool(self.mechanism.segments or self.mechanism.elements)

    @property
    def is_reduced(self) -> bool:
        """Whether the graph is another one than that which was derived."""
        return self.reduction != "none"

    @property
    def quantities(self) -> tuple[str, ...]:
        """The intermediate quantities that have names: Q_1, e_1, r_2_1, ..."""
        return tuple(self.derived.quantities)

    @cached_property
    def settled(self) -> Mechanism:
        """The mechanism in which what is free is a parameter, and everything else a number."""
        return parametrise(self.mechanism, self.parameters)

    @property
    def derived(self) -> Graph:
        """The graph as it was before any reduction, with all intermediate quantities."""
        return self.stages[0].graph if self.stages else self.graph

    def graph_with(self, names: Iterable[str]) -> Graph:
        """Return the graph, reduced or as derived, that has all these quantities or gets them."""
        operators, is_there = missing_operators(self.graph, names)
        graph = self.graph if is_there else self.derived
        return self._extended(graph, tuple(operators)) if operators else graph

    def completed(self, graph: Graph, names: Iterable[str]) -> Graph:
        """Return another stage or revision of the graph with the derivatives that names mean."""
        operators, is_there = missing_operators(graph, names)
        return self._extended(graph, tuple(operators)) if operators and is_there else graph

    @cached_property
    def _extended(self) -> Callable[[Graph, tuple[str, ...]], Graph]:
        # A model from the store needs no method of mechanics until then.
        from chainform.formulations import with_derivatives

        return cache(partial(with_derivatives, mechanism=self.mechanism))

    @cached_property
    def free_parameters(self) -> dict[str, Fraction | None]:
        """The parameters that the graph leaves symbolic, with their default values."""
        given = self.graph.inputs.values()
        return {item.name: item.default for item in given if item.group == "parameter"}

    def __repr__(self) -> str:
        return model_line(self)

    def __str__(self) -> str:
        """Return not the equations, which may fill a book, but what there is and where."""
        return model_summary(self, self.free_parameters, self.notes)

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and bool(resolve(self.graph_with([name]), name))
        except Error:
            return False

    def __getitem__(self, name: str) -> Quantity:
        """Return an output or intermediate quantity, or one entry or variable by its name.

        A letter stands for its output, and indices in the text count from 1, as on the command
        line: `H`, `H[1,2]`, `H_1_2`, `C[1,:,2]`. `q`, `qd`, `qdd` and `tau` are vectors of inputs
        unless they are the letter of an output that the model has.
        """
        if name in VECTORS and name not in self:
            from chainform.model.own_outputs import inputs_of

            return inputs_of(self, name)
        graph = self.graph_with([name])
        block = find_block(graph, name)
        variables = np.asarray(block.variables, dtype=np.int64).reshape(block.shape)
        labels = np.asarray(block.labels, dtype=np.str_).reshape(block.shape)
        return Quantity(block.name, graph, variables, labels, self)

    def sparsity(self, output: str) -> Sparsity:
        """Return which entries of an output, or of a derivative, are not identically zero."""
        return self[output].sparsity()

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """How derivatives were taken where they do not exist: at jumps and corners."""
        graph = self.derived
        if not np.isin(graph.call, [CALL_NUMBER["sign"], CALL_NUMBER["abs"]]).any():
            return ()
        from chainform.formulations import seams

        return tuple(seams(graph, self.mechanism, self.outputs))

    def bind(self, values: Mapping[str, Any], *, keep_free: bool = False) -> Model:
        """Return the model with free parameters made numbers, exactly: `{"a": "1/3"}`.

        With `keep_free` they get the numbers as default values and stay free. Deriving from the
        mechanism of the new model, with the names that are still free, gives the same equations.
        """
        free = self.free_parameters
        numbers = exact_values(values, free)
        defaults = {name: value for name, value in free.items() if value is not None}
        mechanism = with_values(self.mechanism, self.settled, {**defaults, **numbers})
        unbound = {*free} if keep_free else {*free} - {*numbers}
        left = tuple(p.name for p in mechanism.parameters if p.name in unbound)
        bind = set_defaults if keep_free else substitute
        return replace(
            self,
            mechanism=mechanism,
            graph=bind(self.graph, numbers),
            stages=Records(s.with_graph(bind(s.graph, numbers)) for s in self.stages),
            axis_choices=None,
            parameters=(left or "numeric") if self.has_bodies else self.parameters,
            bound={**self.bound, **numbers},
        )

    def with_outputs(self, outputs: Mapping[str, Any]) -> Model:
        """Return the model with further outputs: `model.with_outputs({"power": "tau1*qd1"})`.

        An expression names inputs (q1, qd1, coordinates and parameters by their names, t), outputs
        and other quantities with their entries (`H[1,2]`, `tau_1`, `kinetic_energy`), and the other
        outputs given here. A nested list makes a vector or a matrix; a quantity computed from those
        of the model will do as well. `tau1` is an input where outputs of the model take it, as
        forward dynamics does, and an entry of inverse dynamics where the model has that; where
        both are so, write `input(tau1)` or `inverse_dynamics[1]`.

        A reduced model stays reduced, unless a quantity is named that it has no more.
        """
        from chainform.model.own_outputs import definitions_for, fields_with, quantities_named

        definitions = definitions_for(self, outputs)
        graph = self.graph_with(quantities_named(self, definitions))
        # Derivatives that expressions name are no outputs by that.
        named = {name: b for name, b in graph.outputs.items() if name not in self.graph.outputs}
        own = {name: b for name, b in graph.outputs.items() if name not in named}
        graph = replace(graph, outputs=own, quantities={**graph.quantities, **named})
        return replace(self, **fields_with(self, graph, definitions))

    def with_graph(self, graph: Graph) -> Model:
        """Return the model with another graph of the same mechanism, without its history."""
        return replace(self, graph=graph, stages=(), axis_choices=None)

    def input_name(self, name: str) -> str:
        """Return the input a name stands for: that of a coordinate or rate, or the name itself."""
        return input_named(self.graph, self.mechanism, name)

    def _selected(self, outputs: Iterable[str] | None) -> Graph:
        """Return the graph with these outputs only: whatever `model[...]` takes; None means all."""
        if outputs is None:
            return self.graph
        texts = [outputs] if isinstance(outputs, str) else list(outputs)
        return select_outputs(self.graph_with(texts), texts)

    def count(self, outputs: Iterable[str] | None = None, *, once: bool = False) -> Cost:
        """Count the operations of one evaluation of all outputs, or of some: `["H[1,1]"]`.

        With `once`, count instead what is computed from the parameters alone, when they are set.
        """
        return (cost_once if once else cost)(self._selected(outputs))

    def count_by_entry(self, outputs: Iterable[str] | None = None) -> dict[str, dict[str, Cost]]:
        """Count each entry of the outputs by itself, in each stage: derived, then reduced.

        Racković 1996 counts so in Tables 3.1 and 3.2. Parts and what was left are not counted.
        """
        graphs = [(s.name, s.graph) for s in path_of(self.stages)] or [("model", self.graph)]
        texts = self.outputs if outputs is None else list(outputs)
        self._selected(texts)  # What no stage has is refused.
        return entry_counts([(name, self.completed(g, texts)) for name, g in graphs], texts)

    def emit(self, language: str, outputs: Iterable[str] | None = None) -> str:
        """Return program text of the outputs, or of whatever `model[...]` takes: `H[1,1]`."""
        from chainform.model.export import source_text

        return source_text(self, self._selected(outputs), language)

    def export(
        self,
        language: str,
        folder: str | PathLike[str],
        outputs: Iterable[str] | None = None,
        **options: Unpack[ExportOptions],
    ) -> Path:
        """Write a folder with functions in another language, an example and a test of them.

        There is one function for each output, and one for all; names begin with `name`, by default
        that of the mechanism. `precision` is "float64" or "float32", `sine` is "own" or "libm".
        """
        from chainform.model.export import write_sources

        return write_sources(self, self._selected(outputs), language, folder, options)

    def reduce(  # noqa: PLR0913, a front door
        self,
        effort: str = "fast",
        *,
        sine_cost: float = SINE_COST,
        budget: float | str | None = None,
        steps: int | None = None,
        seed: int = 0,
        cores: int | None = None,
        observe: Observer | None = None,
        progress: Progress | None = None,
    ) -> Model:
        """Return the model with fewer operations, by an effort.

        That is "thesis" (as in Racković 1996), "fast" (about a second for six axes) or "deep", a
        search for the time `budget` (60, "5m") or a number of `steps`, on so many `cores`; the same
        `seed` and steps give the same graph. Passes may be named instead, with their options:
        "thesis(by_parts=false), extract_monomials"; "none" changes nothing. `sine_cost` is what a
        sine or cosine is worth, in multiplications. `observe` is called with each stage, `progress`
        with the steps, the cost and the best graph of a deep search so far; Ctrl-C keeps that.

        A model as it was derived is also tried in other axes; a reduced one is reduced further.
        """
        from chainform.search import reduce_graph

        chosen = effort_of(effort, sine_cost, budget, steps, seed, cores)
        if effort == "none":
            return self
        others = self._graphs_in_other_axes
        found = reduce_graph(
            self.graph, chosen, start="before", others=others, observe=observe, progress=progress
        )
        stages = Records((*(self.stages or found[:1]), *found[1:]))
        return replace(self, graph=stages[-1].graph, reduction=effort, stages=stages)

    def _graphs_in_other_axes(self) -> Iterator[Graph]:
        """Yield the graph in other choices of axes, the cheapest first; none for a reduced one."""
        from chainform.algebra import is_same
        from chainform.formulations import FORMULATIONS, LARGEST, Options
        from chainform.model.own_outputs import extension

        method = FORMULATIONS.get(self.formulation)
        if method is None or self.is_reduced or len(self.graph.factor) > LARGEST:
            return
        with_own = extension(self)
        if with_own is None:
            return
        outputs = [name for name in self.outputs if name not in self.defined]
        options = Options(self.closure, self.wrenches, frozenset(self.without))
        choices = self.axis_choices
        if choices is None:
            again, choices = method.graph(self.settled, outputs, options)
            if not is_same(self.graph, with_own(again)):
                # Another version derived it, by other equations.
                return
        others = method.graphs_in_other_axes(self.settled, outputs, options, choices)
        yield from map(with_own, others)

    def evaluate(  # noqa: PLR0913, a front door
        self,
        q: Any = None,
        qd: Any = None,
        qdd: Any = None,
        tau: Any = None,
        sigma: Any = None,
        wrench: Any = None,
        values: Mapping[str, Any] | None = None,
        outputs: Sequence[str] | None = None,
        *,
        x: Any = None,
        u: Any = None,
        force: Any = None,
        t: Any = None,
        direction: Any = None,
        weights: Any = None,
    ) -> dict[str, NDArray[np.float64]]:
        """Return outputs (all, or those named, or other quantities) as numpy arrays.

        `outputs` takes whatever `model[...]` takes; the results go by the names given there.

        q has the shape (..., nq), qd, qdd and tau (..., nv), sigma (..., rows of the loops),
        wrench (..., 6 for each frame: force, then moment); the leading dimensions are a batch
        and broadcast. A mapping from names is accepted in place of an array, and a function of
        (t, q, qd) in place of tau. x is the state of the actuators, u their signals, force the
        forces that an element model leaves unknown; the time t has the shape of the batch.
        `direction` and `weights` are the vectors of products with derivatives. `values` gives
        parameters, each a number or an array of the batch.
        """
        states = {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "sigma": sigma, "wrench": wrench}
        states |= {"x": x, "u": u, "force": force, "t": t}
        states |= {"direction": direction, "weights": weights}
        given = {group: state for group, state in states.items() if state is not None}
        graph = self.graph_with([outputs] if isinstance(outputs, str) else outputs or ())
        return evaluate_states(graph, self.mechanism, given, values or {}, outputs)

    def compile(
        self,
        outputs: Iterable[str] | None = None,
        *,
        precision: str = "float64",
        threads: int | None = None,
        lanes: int | None = None,
        code_cache: CodeStorage | None = None,
        cpu: str | None = None,
    ) -> Program:
        """Return compiled functions: `model.compile().inverse_dynamics(q, qd, qdd)`.

        `outputs` takes whatever `model[...]` takes: `model.compile(["H[1,1]"])["H_1_1"](q)`.
        `precision` is "float64" or "float32". Large batches go to `threads` threads, by default
        all cores, in `lanes` lanes, by default those of the processor's vector registers.
        `code_cache` stores machine code (`store.database.objects`); a model from a store has its
        own. `cpu` names another processor, as LLVM does: "x86-64-v3"; CHAINFORM_CPU does for all.
        """
        place = self.code_cache if code_cache is None else code_cache
        graph = self._selected(outputs)
        groups = {given.group for given in graph.inputs.values()} - {"parameter"}
        return Program(
            graph,
            lengths={g: group_length(self.mechanism, graph, g) for g in groups},
            precision=precision,
            threads=threads,
            lanes=lanes,
            code_cache=None if place is None else CodeCache(place),
            cpu=cpu,
        )
