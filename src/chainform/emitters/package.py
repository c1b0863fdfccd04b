"""What goes into another language: functions with their arguments, facts about them, test cases."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from chainform.emitters.signature import Signature, signature_of
from chainform.graph import Graph

ALL = "all"
"""The name of the function that computes every output."""
LABEL = 70
"""The longest label of a result."""
ROWS = "Vectors and matrices are arrays without gaps, matrices by rows; indices count from 0."
"""How results lie in arrays, unless a language has a way of its own."""


@dataclass(frozen=True)
class Function:
    """A function: arguments and results, the names of its results, and lines about it."""

    name: str
    signature: Signature
    results: tuple[str, ...]
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A state, by groups of inputs, and the results there, by outputs."""

    inputs: Mapping[str, Sequence[float]]
    results: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class RowPattern:
    """Which entries of a matrix are not always zero, in rows: offsets and columns, from 0."""

    row_starts: tuple[int, ...]
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Package:
    """What is written in a language: the outputs of a graph as functions, under one name."""

    name: str
    graph: Graph
    functions: tuple[Function, ...]
    about: tuple[str, ...] = ()
    """Lines for the head of a file: model, revision, operations."""
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Lines about the entries of each group of inputs: names, units, frames."""
    cases: tuple[Case, ...] = ()
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """What the entries of groups of inputs are called; qdd and tau have the names of qd."""
    patterns: Mapping[str, RowPattern] = field(default_factory=dict[str, RowPattern])
    """The entries of sparse results."""
    values: tuple[float, ...] = ()
    """The parameters as the mechanism has them; none where one of them has no value."""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many coordinates (nq), rates (nv) and entries of other groups there are."""
    precision: str = "float64"
    sine: str = "own"
    """Where the language has a sine of ours: "own", or "libm" for that of its library."""

    @property
    def outputs(self) -> list[str]:
        """The outputs, each once."""
        return list(dict.fromkeys(r.name for f in self.functions for r in f.signature.results))

    @property
    def groups(self) -> dict[str, int]:
        """The groups of inputs that the functions take, with their lengths."""
        return {a.group: a.length for f in self.functions for a in f.signature.arguments}

    @property
    def is_single(self) -> bool:
        """Whether numbers have single precision."""
        return self.precision == "float32"

    @property
    def tolerance(self) -> float:
        """What rounding may change of a result, as a share of the largest one."""
        return 2e-4 if self.is_single else 1e-11


def name_tables(package: Package) -> dict[str, tuple[str, ...]]:
    """Return the names of the entries of arguments as tables q_names, qd_names, ..."""
    functions = {function.name for function in package.functions}
    tables = {f"{group}_names": names for group, names in package.names.items()}
    return {table: names for table, names in tables.items() if table not in functions}


def label(function: Function, result: int) -> str:
    """Return what tests print about a result of a function, short and without blanks."""
    return f"{function.name}.{function.results[result]}"[:LABEL]


def package_of(graph: Graph, outputs: Sequence[str], name: str = "model") -> Package:
    """Return outputs of a graph as functions, by their own names, without anything about them."""
    one = [
        Function(identifier(output), signature_of(graph, [output]), ("result",))
        for output in outputs
    ]
    every = signature_of(graph, outputs)
    results = tuple(f"result{k + 1}" for k in range(len(outputs)))
    return Package(name, graph, (*one, Function(ALL, every, results)))


def facts(
    package: Package, layout: str = ROWS, first_index: int = 0, function: Function | None = None
) -> list[str]:
    """Return lines for the head of a file: the model, how arrays lie, and what inputs are.

    The inputs are those of a function, or of all.
    """
    wanted = {a.group for a in function.signature.arguments} if function else set(package.inputs)

    def counted(line: str) -> str:
        place, *rest = line.partition("] ")
        moved = re.sub(r"\d+", lambda m: str(int(m[0]) + first_index), place)
        return "".join([moved, *rest]) if line.startswith("[") else line

    about = [layout if line == ROWS else line for line in package.about]
    for group, lines in package.inputs.items():
        if group not in wanted:
            continue
        about += ["", f"{argument_name(group)}:", *(f"    {counted(line)}" for line in lines)]
    return about


def by_columns(values: Sequence[float], shape: Sequence[int]) -> list[float]:
    """Return the entries of a matrix, given by rows, in the order of its columns."""
    if len(shape) < 2:
        return list(values)
    size = prod(shape[1:])
    rows = [by_columns(values[k * size :][:size], shape[1:]) for k in range(shape[0])]
    return [row[k] for k in range(size) for row in rows]


def identifier(text: str) -> str:
    """Return a text as a name of letters, digits and underscores."""
    name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else " " for c in text)
    name = "_".join(name.split())
    return f"_{name}" if not name or name[0].isdigit() else name


def argument_name(group: str) -> str:
    """Return the name of the argument for a group of inputs."""
    return "parameters" if group == "parameter" else group
