"""C99: functions of one state and of batches, without allocation or dependencies but libm.

arm.h, arm.c    the functions; `static` ones of arm.c begin with the name, too
example.c       a call of each function
test.c          results at some states, compared with those that were computed at export
Makefile        `make test`, `make example`
"""

from __future__ import annotations

import re
from string import Template

from chainform.emitters.languages.c.batch_text import batch
from chainform.emitters.languages.c.dialect import (
    VALUES,
    c_dialect,
    comment,
    has_values,
    head_lines,
    name_lines,
    pattern_lines,
    size_lines,
    value_lines,
)
from chainform.emitters.languages.c.function_text import single
from chainform.emitters.languages.c.programs import Programs
from chainform.emitters.languages.c.sine_text import sine_text
from chainform.emitters.package import Package, name_tables
from chainform.errors import RunError


def emit(package: Package) -> dict[str, str]:
    """Return the files of a folder, the source first."""
    _refuse_own_names(package)
    programs = Programs(package, f"{package.name}.h", f"{package.name}_")
    return {
        f"{package.name}.c": _source(package),
        f"{package.name}.h": header_text(package),
        "example.c": programs.example(),
        "test.c": programs.test(),
        "Makefile": MAKEFILE.replace("NAME", package.name),
    }


def _refuse_own_names(package: Package) -> None:
    """Refuse outputs that are called like something in the text itself."""
    support = sine_text(package.name, package.precision)
    own = {*re.findall(rf"\b{package.name}_(\w+)", support), *VARIABLES.split()}
    names = [function.name for function in package.functions]
    own |= {f"{name}{ending}" for name in names for ending in ENDINGS.split()}
    for name in names:
        if name in own or name.endswith("_lanes") or re.search(r"_lanes\d+$", name):
            message = f"{name} is a name that the text of C has itself"
            raise RunError(message, element=name, remedy="rename the output")


VARIABLES = "sign sine cosine sine_of cosine_of count angle work parameter_values"
ENDINGS = "_batch _row_starts _columns"


def header_text(package: Package, *, has_batches: bool = True) -> str:
    """Return the header; of machine code, without functions of batches."""
    guard, dialect = f"{package.name.upper()}_H", c_dialect(package)
    lines = [*head_lines(package), "", f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ["#include <stddef.h>", "", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    lines += size_lines(package)
    for function in package.functions:
        lines += [*comment(function.about), f"{dialect.head(function)};", ""]
    if has_batches:
        lines += comment(["`count` states: arrays have a row for each, but for parameters."])
        lines += [f"{dialect.head(function, '_batch')};" for function in package.functions]
        lines.append("")
    tables = name_tables(package) if has_batches else {}
    for table, names in tables.items():
        lines.append(f"extern const char *const {package.name}_{table}[{len(names)}];")
    lines += [""] * bool(tables)
    if has_batches and has_values(package):
        size = len(package.values)
        lines += [f"extern const {dialect.real} {package.name}_{VALUES}[{size}];", ""]
    if not has_batches:
        lines += value_lines(package, "static const ", f"{package.name}_")
        lines += pattern_lines(package, f"static const int {package.name}_")
    for name, pattern in package.patterns.items() if has_batches else ():
        lines += comment([f"{name}: entries that are not always zero, by rows, from 0."])
        whole = f"{package.name}_{name}"
        lines.append(f"extern const int {whole}_row_starts[{len(pattern.row_starts)}];")
        lines += [f"extern const int {whole}_columns[{max(1, len(pattern.columns))}];", ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join(lines) + "\n"


HEAD = """\
#include "$name.h"

$math#include <stdint.h>

#if defined(__FAST_MATH__)
#error "the sine needs sums in their order: compile this file without -ffast-math"
#endif
#if defined(__GNUC__)
#define ${NAME}_APART __attribute__((noinline))
#define ${NAME}_INSIDE inline __attribute__((always_inline))
#else
#define ${NAME}_APART
#define ${NAME}_INSIDE inline
#endif
#if defined(__clang__)
#define ${NAME}_SIDE_BY_SIDE _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__)
#define ${NAME}_SIDE_BY_SIDE _Pragma("GCC ivdep")
#else
#define ${NAME}_SIDE_BY_SIDE
#endif
/* Numbers in a vector register; angles are taken in groups of so many. */
#if defined(__GNUC__) && defined(__AVX__)
#define ${NAME}_LANES 4
#elif defined(__GNUC__) && (defined(__SSE2__) || defined(__aarch64__))
#define ${NAME}_LANES 2
#else
#define ${NAME}_LANES 1
#endif
#define ${NAME}_PADDED(n) (((n) + ${NAME}_LANES - 1)/${NAME}_LANES*${NAME}_LANES)
"""
LIBM = re.compile(r"\b(sin|cos|tan|asin|acos|atan|sqrt|exp|log|fabs)f?\(")
"""Functions of the C library, which bare machines may lack."""
SIGN = """\
static inline $real ${name}_sign($real x)
{
    return x > 0 ? ($real)1 : x < 0 ? ($real)-1 : x;
}
"""
ONE_SINE = """\
static inline $real ${name}_${part}_of($real x)
{
    const $real angle[${NAME}_LANES] = {x};
    $real sine[${NAME}_LANES], cosine[${NAME}_LANES];
    ${name}_sine(${NAME}_LANES, angle, sine, cosine);
    return $part[0];
}
"""


def _source(package: Package) -> str:
    """Return the source: what all functions share, then each for one state and for batches."""
    dialect = c_dialect(package)
    functions: list[str] = []
    for function in package.functions:
        functions += single(package, function, dialect)
        functions += batch(package, function)
    body = "\n".join(functions)
    words = {"name": package.name, "NAME": package.name.upper(), "real": dialect.real}
    parts: list[str] = []
    if any(f"{package.name}_{word}(" in body for word in ("sine", "sine_of", "cosine_of")):
        parts.append(sine_text(package.name, package.precision))
    parts += [
        Template(ONE_SINE).substitute(words, part=part)
        for part in ("sine", "cosine")
        if f"{package.name}_{part}_of(" in body
    ]
    if f"{package.name}_sign(" in body:
        parts.append(Template(SIGN).substitute(words))
    tables = name_lines(package, f"const char *const {package.name}_")
    tables += value_lines(package, "const ", f"{package.name}_")
    patterns = pattern_lines(package, f"const int {package.name}_")
    text = "\n".join([*parts, *tables, *patterns, body])
    math = "#include <math.h>\n" if LIBM.search(text) else ""
    head = Template(HEAD).substitute(words, math=math)
    return "\n".join([*head_lines(package), head, text])


MAKEFILE = """\
CC ?= cc
CFLAGS ?= -std=c99 -O3 -ffp-contract=fast -fno-tree-slp-vectorize -Wall -Wextra -pedantic
LDLIBS = -lm

.PHONY: all test clean
all: example

test: test.out
\t./test.out

example: example.c NAME.o NAME.h
\t$(CC) $(CFLAGS) example.c NAME.o -o $@ $(LDLIBS)

test.out: test.c NAME.o NAME.h
\t$(CC) $(CFLAGS) test.c NAME.o -o $@ $(LDLIBS)

NAME.o: NAME.c NAME.h
\t$(CC) $(CFLAGS) -c NAME.c -o $@

clean:
\trm -f example test.out NAME.o
"""
