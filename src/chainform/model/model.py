"""A model: the graph of a mechanism's equations, with the mechanism it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.emitters import EMITTERS
from chainform.errors import RunError
from chainform.graph import Cost, Graph, cost, cost_once
from chainform.mechanism import Mechanism
from chainform.model.quantity import Quantity
from chainform.model.states import evaluate_states
from chainform.model.summary import summary


@dataclass(frozen=True, eq=False)
class Model:
    """Equations of motion as a computation graph.

    `model["mass_matrix"]` is a quantity, `model.evaluate(q=...)` gives numbers,
    `model.emit("python")` program text, `model.count()` the number of operations, and
    `print(model)` a summary.
    """

    mechanism: Mechanism
    graph: Graph
    formulation: str
    parameters: str | tuple[str, ...]
    reduce: str
    closure: str = "complete"
    wrenches: tuple[str, ...] = ()

    @property
    def outputs(self) -> tuple[str, ...]:
        """The quantities the model was derived for."""
        return tuple(self.graph.outputs)

    @property
    def quantities(self) -> tuple[str, ...]:
        """The intermediate quantities that can be asked for by name: Q_1, e_1, r_2_1, ..."""
        return tuple(self.graph.quantities)

    @cached_property
    def free_parameters(self) -> dict[str, Fraction | None]:
        """The parameters that the graph leaves symbolic, with their default values."""
        given = self.graph.inputs.values()
        return {item.name: item.default for item in given if item.group == "parameter"}

    def __repr__(self) -> str:
        return f"Model({self.mechanism.name}, {self.formulation}: {', '.join(self.outputs)})"

    def __str__(self) -> str:
        return summary(self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (
            name in self.graph.outputs
            or name in self.graph.quantities
            or (name in self.graph.numbers)
        )

    def __getitem__(self, name: str) -> Quantity:
        """Return an output or intermediate quantity, or one variable by its name (`H_1_2`)."""
        if name not in self:
            raise self._unknown(name)
        if name in self.graph.outputs or name in self.graph.quantities:
            block = self.graph.block(name)
            variables = np.asarray(block.variables, dtype=np.int64).reshape(block.shape)
            labels = np.asarray(block.labels, dtype=np.str_).reshape(block.shape)
            return Quantity(name, self.graph, variables, labels, self.input_name)
        variable = np.asarray(self.graph.numbers[name], dtype=np.int64)
        return Quantity(name, self.graph, variable, np.asarray(name), self.input_name)

    def _unknown(self, name: object) -> RunError:
        known = [*self.graph.outputs, *self.graph.quantities, *self.graph.numbers]
        close = get_close_matches(str(name), known, n=3)
        return RunError(
            f"the model has no quantity {name}",
            element=str(name),
            remedy=f"did you mean {', '.join(close)}?"
            if close
            else f"derive it: outputs=[{name!r}]",
        )

    def input_name(self, name: str) -> str:
        """Return the input a name stands for: that of a coordinate or rate, or the name itself."""
        mechanism = self.mechanism
        meanings = {name} if self.graph.numbers.get(name, -1) in self.graph.inputs else set[str]()
        if name in mechanism.coordinates:
            meanings.add(f"q{mechanism.coordinates.index(name) + 1}")
        elif name in mechanism.rates:
            meanings.add(f"qd{mechanism.rates.index(name) + 1}")
        if len(meanings) > 1:
            raise RunError(
                f"{name} may mean {' or '.join(sorted(meanings))}",
                element=name,
                remedy="rename the joint, or the parameter, in the mechanism",
            )
        return meanings.pop() if meanings else name

    def _chosen(self, outputs: Iterable[str] | None) -> list[str]:
        """Return the names of outputs or quantities as a list, each of them known."""
        names = [outputs] if isinstance(outputs, str) else list(outputs or self.outputs)
        for name in names:
            if name not in self.graph.outputs and name not in self.graph.quantities:
                raise self._unknown(name)
        return names

    def count(self, outputs: Iterable[str] | None = None, *, once: bool = False) -> Cost:
        """Count the operations of one evaluation of all outputs, or of some.

        With `once`, count instead what is computed from the parameters alone, when they are set.
        """
        counter = cost_once if once else cost
        return counter(self.graph, None if outputs is None else self._chosen(outputs))

    def emit(self, language: str, outputs: Sequence[str] | None = None) -> str:
        """Return program text of the graph, one statement per variable."""
        if language not in EMITTERS:
            raise RunError(
                f"there is no emitter for {language}",
                element="emit",
                remedy=f"choose one of {', '.join(EMITTERS)}",
            )
        return EMITTERS[language](self.graph, self._chosen(outputs))

    def evaluate(
        self,
        q: Any = None,
        qd: Any = None,
        qdd: Any = None,
        tau: Any = None,
        sigma: Any = None,
        wrench: Any = None,
        values: Mapping[str, Any] | None = None,
        outputs: Sequence[str] | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """Return outputs (all, or those named, or intermediate quantities) as numpy arrays.

        q has the shape (..., nq), qd, qdd and tau (..., nv), sigma (..., rows of the loops),
        wrench (..., 6 for each frame: force, then moment); the leading dimensions are a batch
        and broadcast. A mapping from coordinate names is accepted in place of an array.
        `values` gives parameters, each a number or an array of the batch.
        """
        states = {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "sigma": sigma, "wrench": wrench}
        given = {group: state for group, state in states.items() if state is not None}
        return evaluate_states(self.graph, self.mechanism, given, values or {}, outputs)
