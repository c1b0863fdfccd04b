"""What all languages in Python share: names, docstrings, bodies of functions, example and test."""

from __future__ import annotations

import builtins
import json
import keyword
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import Template
from textwrap import wrap

from chainform.emitters.definitions import Definitions, depth_first
from chainform.emitters.infix import (
    WIDTH,
    Formulas,
    Syntax,
    decimal,
    result_names,
    safe_names,
    single_decimal,
)
from chainform.emitters.package import Function, Package, argument_name, facts
from chainform.errors import RunError
from chainform.graph import CALLS, GROUPS

LIBRARIES = ("numpy", "scipy", "casadi", "sympy", "mpmath", "jax", "jaxlib", "torch")
FILES = ("example", "test")
WORDS = """
np ca jnp batch float int len tuple namedtuple Results NAMES PATTERNS VALUES LIMIT steps
Abs Array Integer Matrix Rational Symbol flatten lambdify preorder_traversal sympify
"""
BUILT_IN = [name for name in dir(builtins) if name != "all"]
KEYWORDS = frozenset({*keyword.kwlist, *BUILT_IN, *CALLS[1:], *LIBRARIES, *WORDS.split()})
"""Words of Python, names of libraries, and names that our own functions use."""


def check_module_name(package: Package) -> None:
    """Refuse the name of a module that cannot be imported, or hides another module."""
    name = package.name
    if name in (*keyword.kwlist, *LIBRARIES, *FILES, *sys.stdlib_module_names):
        what = "a word" if name in keyword.kwlist else "another module"
        message = f"{name!r} cannot be the name of a module of Python: it is that of {what}"
        raise RunError(message, element="name", remedy=f"give another name, such as {name}_model")


def check_double(package: Package, why: str) -> None:
    """Refuse single precision where a language has one kind of numbers."""
    if package.is_single:
        remedy = 'leave precision out, or write precision="float64"'
        raise RunError(f"there is no single precision: {why}", element="precision", remedy=remedy)


def function_names(package: Package) -> list[str]:
    """Return the names of the functions in Python."""
    names = [f.name for f in package.functions]
    taken = [*(f"{name}_steps" for name in names), *GROUPS, "parameters"]
    return list(safe_names(names, Syntax(KEYWORDS, decimal), taken).values())


# --- texts ----------------------------------------------------------------------------------------


def docstring(lines: Iterable[str], margin: str = "    ") -> list[str]:
    """Return lines as a docstring."""
    safe = [line.replace("\\", "\\\\").replace('"""', "'''") for line in lines]
    if len(safe) == 1 and not safe[0].endswith('"'):
        return [f'{margin}"""{safe[0]}"""']
    return [
        f'{margin}"""{safe[0]}',
        *((margin + line).rstrip() for line in safe[1:]),
        f'{margin}"""',
    ]


def head(package: Package, notes: Sequence[str], imports: str) -> str:
    """Return the beginning of a module: the model, its inputs, what holds for all functions."""
    about = docstring([*facts(package), "", *notes], "")
    lines = ["NAMES = {"]
    for group, names in package.names.items():
        listed = [f"        {json.dumps(name)}," for name in names]
        lines += [f'    "{argument_name(group)}": [', *listed, "    ],"]
    meaning = "What the entries of arguments are called; qdd and tau have the names of qd."
    lines += ["}", f'"""{meaning}"""']
    if package.values:
        lines += bracketed("VALUES = [", ", ".join(map(repr, package.values)), "]")
        lines.append('"""The parameters, as the mechanism has them."""')
    lines += _patterns(package) if package.patterns else []
    return "\n".join([*about, "", imports.strip(), "", "", *lines, ""])


def shown_shapes(function: Function, syntax: Syntax, dots: str = "..., ") -> str:
    """Return arguments and results with their shapes: q (..., 6) -> H (..., 6, 6)."""
    pairs = zip(result_names(function, syntax), function.signature.results, strict=True)
    given = [f"{argument_name(a.group)} ({dots}{a.length})" for a in function.signature.arguments]
    found = [
        f"{name} ({dots}{', '.join(map(str, r.shape))}".removesuffix(", ") + ")"
        for name, r in pairs
    ]
    return f"{', '.join(given)} -> {', '.join(found)}"


def statement_lines(statement: str, margin: str = "    ") -> list[str]:
    """Return a statement in lines that are not too long; what goes on stands in brackets."""
    if len(margin) + len(statement) <= WIDTH:
        return [margin + statement]
    name, value = statement.split(" = ", 1)
    return bracketed(f"{name} = (", value, ")", margin)


def statements(texts: Iterable[str]) -> list[str]:
    """Return statements of a function as lines."""
    return [line for text in texts for line in statement_lines(text)]


def bracketed(start: str, inside: str, end: str, margin: str = "") -> list[str]:
    """Return a text in one line, or with its inside in lines of their own, broken at blanks."""
    whole = f"{margin}{start}{inside}{end}"
    if len(whole) <= WIDTH:
        return [whole]
    return [margin + start, *wrapped(inside, margin + "    "), margin + end]


def wrapped(text: str, margin: str) -> list[str]:
    """Return a long text in lines, broken at blanks."""
    width = WIDTH - len(margin)
    lines = wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return [margin + line for line in lines]


# --- bodies ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FunctionBody:
    """What a function does: reads its inputs, computes variables, and returns entries."""

    loads: Sequence[str]
    statements: Sequence[str]
    entries: Sequence[Sequence[str]]
    """The entries of each result, by rows."""

    def lines(self) -> list[str]:
        """Return everything up to the results as lines of text."""
        return statements([*self.loads, *self.statements])


def body_of(package: Package, function: Function, syntax: Syntax) -> FunctionBody:
    """Return the formulas of a function, each variable right before it is needed."""
    graph, definitions = package.graph, Definitions(package.graph)
    formulas = Formulas(graph, syntax, [*result_names(function, syntax), "parameters"])
    blocks = [graph.block(r.name).variables for r in function.signature.results]
    order = depth_first(definitions, [v for b in blocks for v in b], set(definitions.constants))
    groups = [a.group for a in function.signature.arguments]
    given = [v for v in order if v in definitions.inputs]
    loads: list[str] = []
    for v in sorted(
        given, key=lambda v: (groups.index(definitions.inputs[v].group), definitions.place[v])
    ):
        array = argument_name(definitions.inputs[v].group)
        loads.append(f"{formulas.name(v)} = {syntax.entry(array, definitions.place[v])}")
    return FunctionBody(
        loads,
        [line for v in order if v not in definitions.inputs for line in formulas.statements(v)],
        [[formulas.name(v) for v in block] for block in blocks],
    )


# --- functions of arrays --------------------------------------------------------------------------


@dataclass(frozen=True)
class ArrayLibrary:
    """A library whose arrays have any number of dimensions, with functions on all entries."""

    alias: str
    """What stands before its functions: np."""
    notes: tuple[str, ...]
    helpers: str
    """Imports, `_arguments` and `_result`; $real is the kind of numbers."""
    prepare: str
    """The beginning of an example or a test."""
    array: str
    """An array of $real in an example or a test."""
    ways: str
    """Functions of the test that call a function: `computed`, and `WAYS`."""
    calls: tuple[tuple[str, str], ...] = ()
    """Functions that are called otherwise than in NumPy."""
    start: str = ""
    """The first statement of an example or a test."""

    def syntax(self, package: Package) -> Syntax:
        """Return how formulas are written."""
        calls = {name: f"{self.alias}.{name}({{0}})" for name in CALLS[1:]}
        calls |= {f"a{n}": f"{self.alias}.arc{n}({{0}})" for n in ("sin", "cos", "tan")}
        calls |= {"reciprocal": "1.0/{0}", **dict(self.calls)}
        number = single_decimal if package.is_single else decimal
        return Syntax(KEYWORDS, number, calls, element="{array}[..., {index}]")


def array_files(package: Package, library: ArrayLibrary) -> dict[str, str]:
    """Return the files of a folder with functions of arrays."""
    check_module_name(package)
    texts = (library.array, library.ways, library.start)
    array, ways, start = (Template(text).substitute(real=package.precision) for text in texts)
    return {
        f"{package.name}.py": _array_module(package, library),
        "example.py": example_text(package, library.prepare, array, definitions=start),
        "test.py": check_text(package, library.prepare, ways, start),
        "Makefile": MAKEFILE,
    }


def _array_module(package: Package, library: ArrayLibrary) -> str:
    syntax = library.syntax(package)
    helpers = Template(library.helpers).substitute(real=package.precision)
    names = function_names(package)
    texts = [head(package, library.notes, helpers)]
    texts += results_tuple(package, syntax)
    for name, function in zip(names, package.functions, strict=True):
        texts.append("\n".join(_array_function(package, function, name, syntax)))
    return "\n\n\n".join(text.rstrip("\n") for text in texts) + "\n"


def results_tuple(package: Package, syntax: Syntax) -> list[str]:
    """Return the text of the named tuple of all results, if there are several."""
    every = [f for f in package.functions if len(f.results) > 1]
    if not every:
        return []
    listed = ", ".join(f'"{name}"' for name in result_names(every[0], syntax))
    lines = bracketed('Results = namedtuple("Results", [', listed, "])")
    return ["\n".join([*lines, '"""What the function of all outputs returns."""'])]


def _patterns(package: Package) -> list[str]:
    lines = ["PATTERNS = {"]
    for output, pattern in package.patterns.items():
        inside = f"{list(pattern.row_starts)}, {list(pattern.columns)}"
        lines += bracketed(f'"{output}": (', inside, "),", "    ")
    meaning = "Entries that are not always zero, by rows: offsets of rows, and columns, from 0."
    return [*lines, "}", f'"""{meaning}"""']


def _array_function(package: Package, function: Function, name: str, syntax: Syntax) -> list[str]:
    given = [(argument_name(a.group), a.length) for a in function.signature.arguments]
    listed = ", ".join(array for array, _ in given)
    sizes = ", ".join(f"{array}=({array}, {length})" for array, length in given)
    read = f"batch, {listed}" if given else "(batch,)"
    body = body_of(package, function, syntax)
    lines = [f"def {name}({listed}):"]
    lines += docstring([*function.about, "", shown_shapes(function, syntax)])
    lines += bracketed(f"{read} = _arguments(", sizes, ")", "    ")
    lines += body.lines()
    results = result_names(function, syntax)
    shapes = [r.shape for r in function.signature.results]
    for result, shape, entries in zip(results, shapes, body.entries, strict=True):
        start = f"{result} = _result({shape}, batch, ["
        lines += bracketed(start, ", ".join(entries), "])", "    ")
    whole = results[0] if len(results) == 1 else f"Results({', '.join(results)})"
    return [*lines, f"    return {whole}"]


# --- example and test -----------------------------------------------------------------------------

MAKEFILE = """\
PYTHON ?= python3

.PHONY: test example
test:
\t$(PYTHON) test.py

example:
\t$(PYTHON) example.py
"""
EXAMPLE = """\
\"""Calls each function of $name once and prints its results.\"""

$prepare
import $name
$definitions
$arrays

$calls
"""
TEST = """\
\"""Compares the functions of $name with results that were computed when they were exported.\"""

$prepare
import $name
$start
CASES = $cases
INPUTS = {
$inputs
}
EXPECTED = {
$expected
}
FUNCTIONS = {
$functions
}
\"""The arguments and outputs of each function.\"""
TOLERANCE = $tolerance
\"""What rounding may change of a result, as a share of its largest entry.\"""


def one_by_one(function, *arguments):
    \"""Return the results of all states, computed one after the other.\"""
    states = [computed(function, *(rows[k] for rows in arguments)) for k in range(CASES)]
    return [[x for row in rows for x in row] for rows in zip(*states)]


$ways


def share_of_difference(found, expected):
    \"""Return how much two lists differ at most, as a share of the largest entry.\"""
    if len(found) != len(expected):
        return float("inf")
    scale = max([1.0, *map(abs, expected)])
    shares = [abs(a - b)/scale for a, b in zip(found, expected)]
    return max((x if x == x else float("inf") for x in shares), default=0.0)


passed = failed = 0
for name, (groups, outputs) in FUNCTIONS.items():
    function = getattr($name, name)
    for way in WAYS[: None if groups else 1] if CASES else ():
        results = way(function, *(INPUTS[group] for group in groups))
        for output, found in zip(outputs, results):
            worst = share_of_difference(found, EXPECTED[output])
            if worst <= TOLERANCE:
                passed += 1
            else:
                failed += 1
                print(f"{name}, {output}, {way.__name__}: wrong by {worst:g} of its largest entry")
print(f"{passed} passed, {failed} failed")
raise SystemExit(failed > 0)
"""


def example_text(
    package: Package, prepare: str, array: str, call: str = "{0}({1})", definitions: str = ""
) -> str:
    """Return a script that calls each function at one state.

    `call` is written with the function, its arguments, and these as symbols of the module.
    """
    arrays: list[str] = []
    for group, length in package.groups.items():
        values = package.cases[0].inputs[group] if package.cases else [0.0] * length
        start, end = array.split("{0}")
        listed = ", ".join(map(repr, values))
        arrays += bracketed(f"{argument_name(group)} = {start}[", listed, f"]{end}")
    calls: list[str] = []
    for name, function in zip(function_names(package), package.functions, strict=True):
        given = [argument_name(a.group) for a in function.signature.arguments]
        symbols = ", ".join(f"{package.name}.{array}" for array in given)
        called = call.format(f"{package.name}.{name}", ", ".join(given), symbols)
        calls += bracketed("print(", f'"{name}:", {called}, sep="\\n"', ")")
    words = {"name": package.name, "prepare": prepare.strip(), "definitions": definitions}
    return Template(EXAMPLE).substitute(words, arrays="\n".join(arrays), calls="\n".join(calls))


def check_text(package: Package, prepare: str, ways: str, start: str = "") -> str:
    """Return a script that compares each function, called in several ways, at all cases."""
    names = function_names(package)
    keys: dict[str, str] = {}
    expected: list[str] = []
    functions: list[str] = []
    for name, function in zip(names, package.functions, strict=True):
        outputs = [r.name for r in function.signature.results]
        for output in outputs:
            if output not in keys:
                keys[output] = name
                values = [x for case in package.cases for x in case.results[output]]
                expected += bracketed(f'"{name}": [', ", ".join(map(repr, values)), "],", "    ")
        given = [argument_name(a.group) for a in function.signature.arguments]
        inside = f"{given}, {[keys[output] for output in outputs]}"
        functions += bracketed(f'"{name}": (', inside, "),", "    ")
    rows = {group: [case.inputs[group] for case in package.cases] for group in package.groups}
    inputs = [line for group, each in rows.items() for line in _rows(group, each)]
    return Template(TEST).substitute(
        name=package.name,
        prepare=prepare.strip(),
        start=start,
        cases=len(package.cases),
        inputs="\n".join(inputs),
        expected="\n".join(expected),
        functions="\n".join(functions),
        tolerance=repr(package.tolerance),
        ways=ways.strip(),
    )


def _rows(group: str, rows: Sequence[Sequence[float]]) -> list[str]:
    lines = [line for r in rows for line in bracketed("[", ", ".join(map(repr, r)), "],", " " * 8)]
    return [f'    "{argument_name(group)}": [', *lines, "    ],"]
