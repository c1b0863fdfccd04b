"""What `sympy.cse` makes of the same quantities, counted by the same counter.

In one form, `expanded`, the outputs are multiplied out, sums of angles kept and every sine squared
replaced; in the other, `statements`, it is given the definitions of the unreduced graph. It runs
in a process of its own, which can be stopped:

    python benchmarks/counting/sympy_baseline.py expanded|statements < graph.txt
"""

from __future__ import annotations

import importlib
import resource
import subprocess
import sys
from collections.abc import Iterable
from graphlib import TopologicalSorter
from typing import Any

import numpy as np

from chainform.emitters.python_operation_count import count_python
from chainform.graph import CALLS, Graph, expand, graph_text, parameter_only, parse_graph

# The library has types in part only.
sympy: Any = importlib.import_module("sympy")

MEMORY = 12 * 2**30
"""Bytes that the process may take."""

FORMS = ("expanded", "statements")

Definitions = list[tuple[str, Any]]


def sympy_count(graph: Graph, form: str, seconds: float) -> str:
    """Return the count as text; nothing where it takes too long or too much memory."""
    command = [sys.executable, __file__, form]
    try:
        run = subprocess.run(
            command,
            input=graph_text(graph),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return "-"
    return run.stdout.strip()


# --- in the process of its own --------------------------------------------------------------


def expanded(graph: Graph) -> Definitions:
    """Return the outputs multiplied out; inputs, sines and cosines are symbols."""
    variables = sorted({int(v) for v in graph.output_variables()})
    expansions = dict.fromkeys(expand(graph, variables, angles="kept", limit=None))
    return [
        (f"result {place}", _polynomial(expansion.terms, [str(s) for s in expansion.symbols]))
        for place, expansion in enumerate(expansions)
    ]


def statements(graph: Graph) -> Definitions:
    """Return the definitions of all variables that the outputs need."""
    needed = graph.cone(graph.output_variables())
    found: Definitions = []
    for v in np.flatnonzero(needed).tolist():
        if graph.call[v]:
            argument = sympy.Symbol(graph.names[int(graph.argument[v])])
            value = sympy.Function(CALLS[int(graph.call[v])])(argument)
            found.append((graph.names[v], value))
        elif v not in graph.inputs:
            terms = [
                (term.coefficient, [(factor.variable, factor.power) for factor in term.factors])
                for term in graph.terms(v)
            ]
            found.append((graph.names[v], _polynomial(terms, graph.names)))
    return found


def _polynomial(terms: Iterable[Any], names: Any) -> Any:
    products: list[Any] = []
    for coefficient, factors in terms:
        number = sympy.Rational(coefficient.numerator, coefficient.denominator)
        powers = [sympy.Symbol(names[symbol]) ** power for symbol, power in factors]
        products.append(sympy.Mul(number, *powers))
    return sympy.Add(*products)


class Program:
    """Python statements, one sum of products each, as the emitter would write them."""

    def __init__(self, constant: set[str]) -> None:
        self.constant = constant
        self.safe: dict[str, str] = {}
        self.parameters: list[str] = ["q"]
        self.inputs: list[str] = []
        self.lines: list[str] = []

    def _new(self, symbol: str) -> str:
        self.safe[symbol] = f"v{len(self.safe)}"
        return self.safe[symbol]

    def name(self, symbol: str) -> str:
        """Return the safe name of a symbol; one that nothing has defined is an input."""
        if symbol in self.safe:
            return self.safe[symbol]
        name = self._new(symbol)
        if symbol in self.constant:
            self.parameters.append(name)
        else:
            self.inputs.append(f"{name} = q[0]")
        return name

    def define(self, symbol: str, value: Any) -> str:
        """Add the statement that defines a symbol."""
        if value.is_Function:
            text = f"{value.func}({self.name(value.args[0].name)})"
        else:
            text = " + ".join(self.product(term) for term in sympy.Add.make_args(value))
        self.lines.append(f"{self._new(symbol)} = {text}")
        return self.safe[symbol]

    def product(self, value: Any) -> str:
        """Return the text of a product; sums and calls in it get statements of their own."""
        number, rest = value.as_coeff_Mul()
        factors = [] if number == 1 and rest != 1 else [repr(float(number))]
        for factor in sympy.Mul.make_args(rest) if rest != 1 else ():
            base, power = factor.as_base_exp()
            inner = f"nested {len(self.lines)}"
            name = self.name(base.name) if base.is_Symbol else self.define(inner, base)
            factors.append(f"{name}**{int(power)}" if power != 1 else name)
        return "*".join(factors)

    def text(self, results: Iterable[str]) -> str:
        """Return the whole program."""
        returned = f"return [{', '.join(map(self.name, results))}]"
        body = "\n".join(f"    {line}" for line in [*self.inputs, *self.lines, returned])
        return f"def model({', '.join(self.parameters)}):\n{body}\n"


def eliminated(
    definitions: Definitions, results: Iterable[str], constant: set[str], ways: Any
) -> str:
    """Return the program of some definitions after `sympy.cse`."""
    symbols = sympy.numbered_symbols("common ")
    names, values = zip(*definitions, strict=True)
    common, rest = sympy.cse(values, symbols=symbols, optimizations=ways, order="none")
    found = {symbol.name: value for symbol, value in common} | dict(zip(names, rest, strict=True))
    uses = {name: {s.name for s in value.free_symbols} for name, value in found.items()}
    program = Program(constant)
    for name in TopologicalSorter(uses).static_order():
        if name in found:
            program.define(name, found[name])
    return program.text(results)


def main() -> None:
    """Count the graph on standard input."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    graph = parse_graph(sys.stdin.read())
    if sys.argv[1] == "expanded":
        definitions = expanded(graph)
        results = [name for name, _ in definitions]
    else:
        definitions = statements(graph)
        results = sorted({graph.names[v] for v in map(int, graph.output_variables())})
    constant = {graph.names[v] for v in np.flatnonzero(parameter_only(graph))}
    counts = [
        count_python(eliminated(definitions, results, constant, ways)).each
        for ways in (None, "basic")
    ]
    best = min(counts, key=lambda count: count.multiplications + count.additions)
    print(f"{best.multiplications}/{best.additions}")


if __name__ == "__main__":
    main()
