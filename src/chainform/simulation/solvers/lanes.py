"""A system of equations and the loop around it, for several motions side by side in lanes.

Every number of a state, and of p, stands once for each lane, one next to the other:

    y (size, lanes)     p = as in `layout`, and what depends on parameters only (entries, lanes)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainform.emitters import NumberType, Signature, side_by_side, signature_of
from chainform.graph import Graph
from chainform.runtime import CodeStorage, Library, Translation, code_of, target_for
from chainform.simulation.equations.builder import Equations
from chainform.simulation.machine.adapters import HIDDEN, end, head, lengths_of, places_of
from chainform.simulation.machine.layout import Layout
from chainform.simulation.machine.machine import KERNELS, CompiledLoop, function_of, given_functions
from chainform.simulation.solvers.adaptive import WITHOUT_DECISIONS, integrate_each

BYTES = 8


class LanesMachine:
    """Machine code of one system in the lanes of vector registers."""

    def __init__(
        self,
        equations: Equations,
        loop: CompiledLoop,
        code_cache: CodeStorage | None = None,
        lanes: int | None = None,
    ) -> None:
        self.equations = equations
        self.target = target_for()
        self.layout = Layout(equations)
        self.loop = loop
        self.lanes = lanes or self.target.lanes("float64")
        self.fixed: dict[str, int] = {}
        """How many entries each kernel has that depend on parameters only."""
        code = code_of(self._text(), self.target, code_cache)
        self._library = Library(code, ["integrate_each"])
        self.integrate_each: Callable[..., Any] = function_of(
            self._library.address("integrate_each"), *self._kinds
        )

    @property
    def width(self) -> int:
        """How many entries p has."""
        return len(self.layout.fresh()) + sum(self.fixed.values())

    def _text(self) -> str:
        graph, form = self.equations.graph, NumberType("float64", self.lanes, self.target.fused)
        names = {**KERNELS, **{name: name for name in self.loop.kernels}}
        kernels: dict[str, tuple[Graph, Signature, str]] = {}
        for name, output in names.items():
            if output in graph.outputs:
                signature = signature_of(graph, [output], lengths_of(self.layout))
                kernels[name] = (graph, signature, f"{name}.kernel")
        text, fixed = side_by_side(list(kernels.values()), form)
        self.fixed = {name: fixed[f"{name}.kernel"] for name in kernels}
        adapters = [
            self._adapter(name, kernels[name][1] if name in kernels else None) for name in names
        ]
        step = {} if self.loop.step is None else {"trial": self.loop.step}
        instead = {**step, **WITHOUT_DECISIONS}
        given = given_functions([*names, "prepare"])
        loop = Translation(given, self.lanes, instead)
        loop.add(integrate_each)
        self._kinds = loop.arguments["integrate_each"], loop.results["integrate_each"]
        return loop.text("\n".join([text, *adapters, self._prepare()]))

    def _adapter(self, name: str, signature: Signature | None) -> str:
        """Return a function that hands the parts of y and p to a kernel; without one, nothing."""
        lines = [head(name, HIDDEN)]
        if signature is not None:
            places = places_of(self.layout)
            passed: list[str] = []
            for argument in signature.arguments:
                if argument.group != "parameter":
                    lines.append(self._pointer(argument.group, *places[argument.group]))
                    passed.append(f"ptr %{argument.group}.at, i64 {self.lanes * BYTES}")
            if self.fixed[name]:
                lines.append(self._pointer("fixed", "p", self._fixed_at(name)))
                passed.append("ptr %fixed.at")
            lines.append(self._pointer("held", *places["tau"]))
            target = "%held.at" if name == "sample" else "%out"
            passed.append(f"ptr {target}, i64 {self.lanes * BYTES}")
            lines.append(f"  call void @{name}.kernel({', '.join(passed)})")
        return "\n".join([*lines, end(name), "}\n"])

    def _prepare(self) -> str:
        """Return the function that computes what depends on parameters only."""
        lines = [head("prepare", HIDDEN)]
        for name, count in self.fixed.items():
            if count:
                lines.append(self._pointer(name, "p", self._fixed_at(name)))
                passed = f"ptr %p, i64 {self.lanes * BYTES}, ptr %{name}.at"
                lines.append(f"  call void @{name}.kernel.fixed({passed})")
        return "\n".join([*lines, "  ret void", "}\n"])

    def _fixed_at(self, name: str) -> int:
        """Return where the area of a kernel begins in p."""
        before = list(self.fixed)[: list(self.fixed).index(name)]
        return len(self.layout.fresh()) + sum(self.fixed[other] for other in before)

    def _pointer(self, name: str, array: str, offset: int) -> str:
        entry = f"<{self.lanes} x double>"
        return f"  %{name}.at = getelementptr {entry}, ptr %{array}, i64 {offset}"
