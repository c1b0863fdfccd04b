"""CasADi: functions that build a `casadi.Function` of SX, for optimisation and generated C."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from chainform.emitters.infix import Syntax, decimal, result_names
from chainform.emitters.languages.python_module import (
    KEYWORDS,
    MAKEFILE,
    body_of,
    bracketed,
    check_double,
    check_module_name,
    check_text,
    docstring,
    example_text,
    function_names,
    head,
    shown_shapes,
)
from chainform.emitters.package import Function, Package, argument_name
from chainform.graph import CALLS

NOTES = (
    "Each function builds a casadi.Function. Matrices have their natural shape, vectors are",
    "columns, a result with three indices (a, b, c) is a matrix (a*b, c). Entries that are always",
    "zero are not stored; casadi.densify adds them.",
)
HELPERS = '''
import casadi as ca


def _matrix(rows, columns, entries):
    """Return entries, by rows, as a matrix that does not store zeros."""
    if not entries:
        return ca.SX(rows, columns)
    return ca.sparsify(ca.reshape(ca.SX(ca.vertcat(*entries)), columns, rows).T)
'''
WAYS = """
@cache
def built(function):
    \"""Return a casadi.Function, built once.\"""
    return function()


def computed(function, *arguments):
    \"""Return the entries of each result for one state.\"""
    return [r.full().ravel().tolist() for r in built(function).call([ca.DM(a) for a in arguments])]


def mapped(function, *arguments):
    \"""Return the results of all states, computed by a function of all of them.\"""
    columns = [ca.DM(rows).T for rows in arguments]
    results = built(function).map(CASES).call(columns)
    parts = [ca.horzsplit(r, max(1, r.shape[1] // CASES)) for r in results]
    return [[x for part in each for x in part.full().ravel().tolist()] for each in parts]


WAYS = (one_by_one, mapped)
"""
CALLED = {name: f"ca.{name}({{0}})" for name in CALLS[1:]}
SYNTAX = Syntax(KEYWORDS, decimal, CALLED | {"abs": "ca.fabs({0})", "reciprocal": "1.0/{0}"})


def emit(package: Package) -> dict[str, str]:
    """Return the files of a folder, the source first."""
    check_module_name(package)
    check_double(package, "CasADi computes with double; its generated C may have casadi_real=float")
    names = function_names(package)
    texts = [head(package, NOTES, HELPERS)]
    for name, function in zip(names, package.functions, strict=True):
        texts.append("\n".join(_function(package, function, name)))
    prepare = "import casadi as ca\n"
    return {
        f"{package.name}.py": "\n\n\n".join(text.rstrip("\n") for text in texts) + "\n",
        "example.py": example_text(package, prepare, "ca.DM({0})", "{0}()({1})"),
        "test.py": check_text(package, f"from functools import cache\n\n{prepare}", WAYS),
        "Makefile": MAKEFILE,
    }


def _function(package: Package, function: Function, name: str) -> list[str]:
    body = body_of(package, function, SYNTAX)
    lines = [f"def {name}():"]
    lines += docstring([*function.about, "", shown_shapes(function, SYNTAX, dots="")])
    given = [argument_name(a.group) for a in function.signature.arguments]
    for array, argument in zip(given, function.signature.arguments, strict=True):
        lines.append(f'    {array} = ca.SX.sym("{array}", {argument.length})')
    lines += body.lines()
    results = result_names(function, SYNTAX)
    shapes = [r.shape for r in function.signature.results]
    for result, shape, entries in zip(results, shapes, body.entries, strict=True):
        columns = shape[-1] if len(shape) > 1 else 1
        rows = prod(shape[:-1]) if len(shape) > 1 else prod(shape)
        start = f"{result} = _matrix({rows}, {columns}, ["
        lines += bracketed(start, ", ".join(entries), "])", "    ")
    (title,) = _names([f"{package.name}_{name}"])
    words = [f"{list(map(str, n))}".replace("'", '"') for n in (given, _names(results))]
    inside = f'"{title}", [{", ".join(given)}], [{", ".join(results)}], {", ".join(words)}'
    return [*lines, *bracketed("return ca.Function(", inside, ")", "    ")]


def _names(names: Iterable[str]) -> list[str]:
    """Return names that CasADi takes: without underscores in a row, and all different."""
    found: list[str] = []
    for name in names:
        new = base = "_".join(part for part in name.split("_") if part)
        number = 1
        while new in (*found, "null", "jac", "hess"):
            number += 1
            new = f"{base}_v{number}"
        found.append(new)
    return found
