"""C programs that go with exported functions: an example, and a test of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Template

from chainform.emitters.package import Function, Package, argument_name

EXAMPLE = """\
/* Calls each function of $name once and prints its results. */
#include "$include"

#include <stdio.h>

$arrays

static void show(const char *what, const $real *values, int count)
{
    int i;
    printf("%s:", what);
    for (i = 0; i < count; ++i)
        printf(" %.9g", (double)values[i]);
    printf("\\n");
}

int main(void)
{
$calls
    return 0;
}
"""

TEST = """\
/* Compares the functions of $name with results that were computed when they were exported. */
#include "$include"

#include <math.h>
#include <stdio.h>

#define CASES $cases

$arrays

static int failed = 0, passed = 0;

/* A result may differ by rounding: by a small share of the largest of its entries. Then it is
   erased, so that it is not taken for the result of the next function. */
static void compare(const char *what, $real *found, const $real *expected, int count)
{
    double scale = 1.0, worst = 0.0;
    int i;
    for (i = 0; i < count; ++i)
        if (fabs((double)expected[i]) > scale)
            scale = fabs((double)expected[i]);
    for (i = 0; i < count; ++i) {
        const double difference = fabs((double)found[i] - (double)expected[i])/scale;
        if (worst == worst && !(difference <= worst))
            worst = difference;
        found[i] = NAN;
    }
    if (worst <= $tolerance) {
        ++passed;
    } else {
        ++failed;
        printf("%s: wrong by %g of its largest entry\\n", what, worst);
    }
}

int main(void)
{
    int c;
$calls
    printf("%d passed, %d failed\\n", passed, failed);
    return failed > 0;
}
"""


@dataclass(frozen=True)
class Programs:
    """Example and test of a package: the file they include, and how functions are called."""

    package: Package
    include: str
    caller: str
    has_batches: bool = True
    checks: Callable[[Function], Sequence[str]] = lambda _: ()
    """Further statements of the test of a function."""

    def _words(self) -> dict[str, str]:
        package = self.package
        words = {"name": package.name, "real": _real(package), "include": self.include}
        cases, tolerance = str(max(1, len(package.cases))), repr(package.tolerance)
        return {**words, "cases": cases, "tolerance": tolerance}

    def example(self) -> str:
        """Return a program that calls each function at one state."""
        package, kind = self.package, _real(self.package)
        arrays: list[str] = []
        calls: list[str] = []
        for group, length in package.groups.items():
            values = package.cases[0].inputs[group] if package.cases else [0.0] * length
            arrays.append(_array(package, argument_name(group), values))
        for function in package.functions:
            results = _results(function)
            given = [argument_name(a.group) for a in function.signature.arguments]
            called = ", ".join([*given, *(n for n, _ in results)])
            calls += ["    {", *(f"        {kind} {n}[{max(1, size)}];" for n, size in results)]
            calls.append(f"        {self.caller}{function.name}({called});")
            calls += [f'        show("{function.name}, {n}", {n}, {size});' for n, size in results]
            calls.append("    }")
        texts = {"arrays": "\n".join(arrays), "calls": "\n".join(calls)}
        return Template(EXAMPLE).substitute(self._words(), **texts)

    def test(self) -> str:
        """Return a program that compares each function, of one state and of batches."""
        package = self.package
        arrays: list[str] = []
        for group in package.groups:
            rows = [case.inputs[group] for case in package.cases]
            rows = rows[:1] if group == "parameter" else rows
            arrays.append(_array(package, argument_name(group), [x for row in rows for x in row]))
        for number, output in enumerate(package.outputs):
            values = [x for case in package.cases for x in case.results[output]]
            arrays.append(_array(package, f"expected{number}", values))
        calls = [line for function in package.functions for line in self._calls(function)]
        texts = {"arrays": "\n".join(arrays), "calls": "\n".join(calls)}
        return Template(TEST).substitute(self._words(), **texts)

    def _calls(self, function: Function) -> list[str]:
        outputs, results = self.package.outputs, _results(function)
        lines = ["    {"]
        kind = _real(self.package)
        lines += [f"        static {kind} {n}[CASES*{max(1, size)}];" for n, size in results]
        names = [argument_name(a.group) for a in function.signature.arguments]
        lengths = [a.length for a in function.signature.arguments]
        given = [
            n if n == "parameters" else f"{n} + c*{k}" for n, k in zip(names, lengths, strict=True)
        ]
        called = ", ".join([*given, *(f"{n} + c*{size}" for n, size in results)])
        lines.append("        for (c = 0; c < CASES; ++c)")
        lines.append(f"            {self.caller}{function.name}({called});")
        checks = [
            f'        compare("{function.name}{{}}, {n}", {n}, expected{index}, CASES*{size});'
            for (n, size), r in zip(results, function.signature.results, strict=True)
            for index in [outputs.index(r.name)]
        ]
        lines += [check.replace("{}", "") for check in checks]
        if self.has_batches:
            called = ", ".join(["CASES", *names, *(n for n, _ in results)])
            lines.append(f"        {self.caller}{function.name}_batch({called});")
            lines += [check.replace("{}", "_batch") for check in checks]
        return [*lines, *self.checks(function), "    }"]


def _results(function: Function) -> list[tuple[str, int]]:
    lengths = [r.length for r in function.signature.results]
    return [(f"{n}_out", size) for n, size in zip(function.results, lengths, strict=True)]


def _real(package: Package) -> str:
    return "float" if package.is_single else "double"


def _array(package: Package, name: str, numbers: Sequence[float]) -> str:
    end = "f" if package.is_single else ""
    listed = [f"{number!r}{end}" for number in numbers] or ["0"]
    rows = [", ".join(listed[k : k + 6]) for k in range(0, len(listed), 6)]
    body = ",\n    ".join(rows)
    return f"static const {_real(package)} {name}[{len(listed)}] = {{\n    {body}}};"
