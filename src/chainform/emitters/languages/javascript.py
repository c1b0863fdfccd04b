"""JavaScript: an ES module for Node and browsers, on arrays of numbers.

arm.js          the functions
example.js      a call of each function
test.js         results at some states, compared with those that were computed at export
package.json    `npm test`; says that the files are modules
Makefile        `make test`, `make example`, by node alone
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import Template

from chainform.emitters.infix import (
    WIDTH,
    FunctionWriter,
    Syntax,
    decimal,
    function_names,
    result_names,
    safe_names,
)
from chainform.emitters.package import Function, Package, argument_name, facts, label
from chainform.errors import RunError
from chainform.graph import CALLS

WORDS = """
arguments async await break case catch class const continue debugger default delete do else enum
eval export extends false finally for function if implements import in instanceof interface let
new null package private protected public return static super switch this throw true try typeof
undefined var void while with yield checkLength Float64Array Infinity Math NaN
"""
OUTSIDE = (
    "Results are new arrays, or those that are given behind the inputs; these may be inputs, too."
)


def emit(package: Package) -> dict[str, str]:
    """Return the files of a folder, the source first."""
    if package.is_single:
        raise RunError(
            "JavaScript computes in double precision only",
            element="precision",
            remedy='take "float64", or another language',
        )
    module = _Module(package)
    return {
        f"{package.name}.js": module.text(),
        "example.js": module.example(),
        "test.js": module.test(),
        "package.json": PACKAGE.replace("NAME", package.name),
        "Makefile": MAKEFILE,
    }


def _syntax() -> Syntax:
    return Syntax(
        frozenset(WORDS.split()),
        decimal,
        {"reciprocal": "1.0/{0}", **{n: f"Math.{n}({{0}})" for n in CALLS if n != "reciprocal"}},
        define="const {name} = {value};",
        change="{name} {sign}= {value};",
        change_from="let {name} = {value};",
        store="{place} = {value};",
    )


def _camel(name: str) -> str:
    """Return a name with capitals in place of underscores: massMatrix."""
    first, *rest = [part for part in name.split("_") if part] or [name]
    return first + "".join(part[0].upper() + part[1:] for part in rest)


class _Module:
    """The module of a package, and the programs that go with it."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.syntax = _syntax()
        function_names(package, self.syntax, "JavaScript")
        self.taken: list[str] = []
        self.names = {f.name: self._new_name(_camel(f.name)) for f in package.functions}

    def _new_name(self, name: str) -> str:
        """Return a name that the module does not have yet."""
        (found,) = safe_names([name], self.syntax, self.taken).values()
        self.taken.append(found)
        return found

    def text(self) -> str:
        """Return the module."""
        package = self.package
        texts = [_comment([*facts(package), "", OUTSIDE])]
        texts.append("/** @typedef {Float64Array | number[]} Numbers */\n")
        texts.append(CHECK)
        for name, pattern in package.patterns.items():
            about = f"/** {name}: the entries that are not always zero, by rows. */"
            for word, numbers in (("RowStarts", pattern.row_starts), ("Columns", pattern.columns)):
                own = self._new_name(f"{self.names[name]}{word}")
                value = f"export const {own} = [{', '.join(map(str, numbers))}];"
                texts.append("\n".join([about, *self.syntax.lines(value, ""), ""]))
        return "\n".join([*texts, *(t for f in package.functions for t in self._function(f))])

    def _function(self, function: Function) -> list[str]:
        """Return the texts of a function: itself, then its parts."""
        writer = FunctionWriter(self.package, function, self.syntax)
        name, results = self.names[function.name], function.signature.results
        pairs = list(zip(writer.results, results, strict=True))
        given = {argument_name(a.group): a.length for a in function.signature.arguments}
        about = [
            *function.about,
            *(f"@param {{Numbers}} {n} {k} numbers" for n, k in given.items()),
        ]
        about += [f"@param {{Numbers}} [{n}] for {r.length} results" for n, r in pairs]
        kinds = ", ".join(f"{n}: Numbers" for n in writer.results)
        about.append(f"@returns {{{'Numbers' if len(pairs) == 1 else f'{{{kinds}}}'}}}")
        default = [f"{n} = new Float64Array({r.length})" for n, r in pairs]
        lines = _head(f"export function {name}", [*given, *default])
        lines += [f"    checkLength({n}, {k}, '{n}');" for n, k in given.items()]
        lines += [f"    checkLength({n}, {r.length}, '{n}');" for n, r in pairs]
        last = [*self._return(writer.results), "}", ""]
        if writer.count == 1:
            return [_comment(about) + "\n".join([*lines, *writer.body(0), *last])]
        lines += [f"    {n} = Float64Array.from({n});" for n in given if n not in writer.idle()]
        lines.append(f"    const work = new Float64Array({writer.schedule.work});")
        parts: list[str] = []
        for number in range(writer.count):
            part = self._new_name(f"{name}Part{number + 1}")
            groups, stored = writer.touched(number)
            called = [*map(argument_name, groups), *(writer.results[r] for r in stored), "work"]
            lines += self.syntax.lines(f"{part}({', '.join(called)});")
            text = [*_head(f"function {part}", called), *writer.body(number), "}", ""]
            parts.append("\n".join(text))
        return [_comment(about) + "\n".join([*lines, *last]), *parts]

    def _return(self, names: Sequence[str]) -> list[str]:
        """Return the last statement; a line must not end after its first word."""
        listed = ", ".join(names)
        text = f"    return {listed};" if len(names) == 1 else f"    return {{ {listed} }};"
        if len(names) == 1 or len(text) <= WIDTH:
            return [text]
        return ["    return {", *self.syntax.lines(listed, " " * 8), "    };"]

    # --- programs ---------------------------------------------------------------------------------

    def example(self) -> str:
        """Return a program that calls each function at one state."""
        package = self.package
        lines: list[str] = []
        for group, length in package.groups.items():
            values = package.cases[0].inputs[group] if package.cases else [0.0] * length
            lines += self._numbers(f"const {argument_name(group)} = ", values, ";", "")
        for function in package.functions:
            name = self.names[function.name]
            given = ", ".join(argument_name(a.group) for a in function.signature.arguments)
            lines.append(f"console.log('{name}:', model.{name}({given}));")
        return Template(EXAMPLE).substitute(name=package.name, calls="\n".join(lines))

    def test(self) -> str:
        """Return a program that compares each function at all cases."""
        package = self.package
        cases: list[str] = []
        for case in package.cases:
            cases.append("    {")
            for group in package.groups:
                name = argument_name(group)
                cases += self._numbers(f"{name}: ", case.inputs[group], ",", " " * 8)
            for k, output in enumerate(package.outputs):
                cases += self._numbers(f"expected{k + 1}: ", case.results[output], ",", " " * 8)
            cases.append("    },")
        calls: list[str] = []
        for k, function in enumerate(package.functions):
            given = ", ".join(f"c.{argument_name(a.group)}" for a in function.signature.arguments)
            call = f"const found{k + 1} = model.{self.names[function.name]}({given});"
            calls += self.syntax.lines(call)
            names = result_names(function, self.syntax)
            for place, r in enumerate(function.signature.results):
                found = f"found{k + 1}" + (f".{names[place]}" if len(names) > 1 else "")
                expected = f"c.expected{package.outputs.index(r.name) + 1}"
                text = f"compare('{label(function, place)}', {found}, {expected});"
                calls += self.syntax.lines(text)
        words = {"name": package.name, "tolerance": repr(package.tolerance)}
        words |= {"cases": "\n".join(cases), "calls": "\n".join(calls)}
        return Template(TEST).substitute(words)

    def _numbers(self, start: str, values: Iterable[float], end: str, indent: str) -> list[str]:
        return self.syntax.lines(f"{start}[{', '.join(map(repr, values))}]{end}", indent)


def _comment(lines: Sequence[str]) -> str:
    safe = [line.replace("*/", "* /") for line in lines]
    return "\n".join(["/**", *(f" * {line}".rstrip() for line in safe), " */", ""])


def _head(start: str, arguments: Sequence[str]) -> list[str]:
    text = f"{start}({', '.join(arguments)}) {{"
    if len(text) <= WIDTH:
        return [text]
    return [f"{start}(", *(f"    {each}," for each in arguments), ") {"]


CHECK = """\
function checkLength(values, length, name) {
    if (values?.length !== length) {
        throw new RangeError(`${name} has ${values?.length ?? 'no'} numbers, not ${length}`);
    }
}
"""
EXAMPLE = """\
// Calls each function of $name once and prints its results.
import * as model from './$name.js';

$calls
"""
TEST = """\
// Compares the functions of $name with results that were computed when they were exported.
import * as model from './$name.js';

const cases = [
$cases
];
let passed = 0;
let failed = 0;

// A result may differ by rounding: by a small share of the largest of its entries.
function compare(what, found, expected) {
    const largest = expected.reduce((a, b) => Math.max(a, Math.abs(b)), 1.0);
    const isNear = (value, k) => Math.abs(found[k] - value) <= $tolerance*largest;
    if (found.length === expected.length && expected.every(isNear)) {
        passed += 1;
    } else {
        failed += 1;
        console.log(`$${what}: wrong`);
    }
}

for (const c of cases) {
$calls
}
console.log(`$${passed} passed, $${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
"""
PACKAGE = """\
{
    "private": true,
    "type": "module",
    "exports": "./NAME.js",
    "scripts": {
        "test": "node test.js"
    }
}
"""
MAKEFILE = """\
NODE ?= node

.PHONY: all test example
all: example

test:
\t$(NODE) test.js

example:
\t$(NODE) example.js
"""
