"""C++: a header with templates on the scalar, and functions of Eigen's vectors where it is there.

The folder has arm.hpp (namespace arm; for double, float, or any scalar with + - * / and sin), an
example, a test and a Makefile.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainform.emitters.infix import function_names
from chainform.emitters.languages.c.dialect import (
    Dialect,
    constant_lines,
    head_lines,
    name_lines,
    pattern_lines,
    value_lines,
)
from chainform.emitters.languages.c.function_text import single
from chainform.emitters.languages.c.programs import Programs
from chainform.emitters.package import Function, Package, argument_name
from chainform.emitters.signature import ResultArray
from chainform.errors import RunError
from chainform.graph import GROUPS

FUNCTIONS = ("abs", "acos", "asin", "atan", "cos", "exp", "log", "sin", "sqrt", "tan")
DIALECT = Dialect(
    "Scalar",
    number_form="Scalar({0})",
    function_start="template <typename Scalar>\n",
    part_start="template <typename Scalar>\n",
    calls=(("abs", "abs({0})"),),
)
SIGN = """\
template <typename Scalar>
Scalar sign(const Scalar &x)
{
    return x > Scalar(0) ? Scalar(1) : x < Scalar(0) ? Scalar(-1) : x;
}
"""


def emit(package: Package) -> dict[str, str]:
    """Return the files of a folder, the header first."""
    function_names(package, DIALECT.syntax(), "C++")
    if package.name in (*map(argument_name, GROUPS), "parameters", "Eigen"):
        message = f"{package.name!r} cannot be a namespace: it is a name of the text itself"
        raise RunError(
            message, element="name", remedy="give another one: name='arm', or --name arm"
        )
    programs = Programs(
        package, f"{package.name}.hpp", f"{package.name}::", False, lambda f: _checks(package, f)
    )
    return {
        f"{package.name}.hpp": _header(package),
        "example.cpp": programs.example(),
        "test.cpp": programs.test(),
        "Makefile": MAKEFILE.replace("NAME", package.name),
    }


def _header(package: Package) -> str:
    guard = f"{package.name.upper()}_HPP"
    texts = [text for function in package.functions for text in single(package, function, DIALECT)]
    body = "\n".join(texts)
    lines = [
        *head_lines(package),
        "",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <cmath>",
    ]
    lines += ["#if __has_include(<Eigen/Core>)", "#include <Eigen/Core>", "#endif", ""]
    lines += [f"namespace {package.name} {{", ""]
    lines += [f"using std::{name};" for name in FUNCTIONS if f" {name}(" in body]
    lines += ["", *constant_lines(package), *name_lines(package, "inline constexpr const char *")]
    lines += value_lines(package, "inline constexpr ")
    lines += pattern_lines(package, "inline constexpr int ")
    lines += [*([SIGN] if " sign(" in body else []), body, "#ifdef EIGEN_CORE_H", ""]
    lines += [_of_vectors(package, function) for function in package.functions]
    lines += ["#endif", "", "}", "", "#endif"]
    return "\n".join(lines) + "\n"


def _type(result: ResultArray) -> str:
    """Return the type of a result: a vector, or a matrix by rows; of more indices, one row each."""
    if len(result.shape) < 2:
        return f"Eigen::Matrix<Scalar, {max(1, result.length)}, 1>"
    columns = result.shape[-1]
    rows = result.length // columns if columns else 0
    order = "Eigen::RowMajor" if columns > 1 else "Eigen::ColMajor"
    return f"Eigen::Matrix<Scalar, {max(1, rows)}, {max(1, columns)}, {order}>"


def _of_vectors(package: Package, function: Function) -> str:
    """Return the same function of vectors: results are the last arguments."""
    arguments = [(argument_name(a.group), a.length) for a in function.signature.arguments]
    results = list(zip(DIALECT.results(function), function.signature.results, strict=True))
    given = [f"const Eigen::Matrix<Scalar, {max(1, n)}, 1> &{name}" for name, n in arguments]
    given += [f"{_type(result)} &{name}" for name, result in results]
    called = ", ".join(f"{name}.data()" for name, _ in (*arguments, *results))
    return "\n".join(
        [
            "template <typename Scalar>",
            f"void {function.name}(" + (",\n" + " " * 8).join(given) + ")",
            "{",
            f"    {package.name}::{function.name}({called});",
            "}",
            "",
        ]
    )


def _checks(package: Package, function: Function) -> Sequence[str]:
    """Return the test of the function of vectors, at the first state."""
    kind = "float" if package.is_single else "double"
    arguments = [(argument_name(a.group), a.length) for a in function.signature.arguments]
    if any(length == 0 for _, length in arguments):
        return ()
    lines = ["#ifdef EIGEN_CORE_H", "        {"]
    for name, length in arguments:
        vector = f"Eigen::Matrix<{kind}, {length}, 1>"
        lines.append(f"            const {vector} {name}_ = Eigen::Map<const {vector}>({name});")
    for name, result in zip(function.results, function.signature.results, strict=True):
        lines.append(f"            {_type(result).replace('Scalar', kind)} {name}_v;")
    called = ", ".join([*(f"{n}_" for n, _ in arguments), *(f"{n}_v" for n in function.results)])
    lines.append(f"            {package.name}::{function.name}<{kind}>({called});")
    for name, result in zip(function.results, function.signature.results, strict=True):
        index, length = package.outputs.index(result.name), result.length
        what = f'"{function.name} of vectors, {name}"'
        lines.append(f"            compare({what}, {name}_v.data(), expected{index}, {length});")
    return [*lines, "        }", "#endif"]


MAKEFILE = """\
CXX ?= c++
CXXFLAGS ?= -std=c++17 -O3 -ffp-contract=fast -fno-tree-slp-vectorize -Wall -Wextra -pedantic
# Eigen, where it is not among the headers of the system: make EIGEN=-I/path/to/eigen
EIGEN ?= $(shell pkg-config --cflags eigen3 2>/dev/null)

.PHONY: all test clean
all: example

test: test.out
\t./test.out

example: example.cpp NAME.hpp
\t$(CXX) $(CXXFLAGS) $(EIGEN) example.cpp -o $@

test.out: test.cpp NAME.hpp
\t$(CXX) $(CXXFLAGS) $(EIGEN) test.cpp -o $@

clean:
\trm -f example test.out
"""
