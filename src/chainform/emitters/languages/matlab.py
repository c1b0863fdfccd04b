"""MATLAB and Octave: a package folder with one file for each function.

+arm/...                the functions, with help texts
run_example.m           a call of each function
run_test.m              results at some states, compared with those that were computed at export
Makefile                `make test`, `make example`, by Octave or MATLAB
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from chainform.emitters.infix import (
    FunctionWriter,
    Syntax,
    decimal,
    function_names,
    result_names,
    safe_names,
    single_decimal,
)
from chainform.emitters.package import (
    ALL,
    Case,
    Function,
    Package,
    RowPattern,
    argument_name,
    by_columns,
    facts,
    label,
)

LAYOUT = "Vectors are columns, matrices have their own shape, H(i, j); indices count from 1."
WORDS = """
abs acos ans asin atan break case catch classdef continue cos double else elseif end exp for
function global if int32 log nan NaN otherwise parfor persistent real_acos real_asin real_log
real_sqrt reshape return sign sin single spmd sqrt switch tan true try unwind_protect until while
zeros do endif endwhile endfor endfunction endparfor endswitch end_try_catch end_unwind_protect
unwind_protect_cleanup run_test std memory
"""
EVERY = "all_outputs"
REAL = {"sqrt": "x < 0", "log": "x < 0", "asin": "abs(x) > 1", "acos": "abs(x) > 1"}
"""Functions with complex values, and where: there they are NaN."""
HELPER = """\

function y = real_{name}(x)
    if {where}
        y = x*NaN;
    else
        y = {name}(x);
    end
end
"""


def emit(package: Package) -> dict[str, str]:
    """Return the files of a folder; the first is that of the function that computes everything."""
    syntax = _syntax(package)
    names = _names(package)
    texts = {
        f"+{package.name}/{names[f.name]}.m": _function(package, f, names[f.name])
        for f in reversed(package.functions)
    }
    for name, pattern in package.patterns.items():
        (own,) = safe_names([f"{names[name]}_entries"], syntax, names.values()).values()
        texts[f"+{package.name}/{own}.m"] = _entries(own, name, pattern)
    return {
        **texts,
        "run_example.m": _example(package, names),
        "run_test.m": _test(package, names),
        "Makefile": MAKEFILE,
    }


def _names(package: Package) -> dict[str, str]:
    """Return the names of the functions: as files they must not differ by case alone.

    `all` has another name there, since Octave warns of files that are called as its own functions.
    """
    new = EVERY
    while new in {f.name for f in package.functions}:
        new += "_"
    functions = tuple(replace(f, name=new) if f.name == ALL else f for f in package.functions)
    syntax = replace(_syntax(package), is_case_sensitive=False)
    found = function_names(replace(package, functions=functions), syntax, "MATLAB")
    return {f.name: found[new if f.name == ALL else f.name] for f in package.functions}


def _syntax(package: Package) -> Syntax:
    return Syntax(
        frozenset(WORDS.split()),
        single_decimal if package.is_single else decimal,
        {"reciprocal": "1.0/{0}", **{name: f"real_{name}({{0}})" for name in REAL}},
        define="{name} = {value};",
        change="{name} = {name} {sign} {value};",
        change_from="{name} = {value};",
        element="{array}({index})",
        store="{place} = {value};",
        first_index=1,
        between_indices=", ",
        scalar="{array}(1)",
        break_line=" ...\n",
        longest_name=63,
    )


class _Writer(FunctionWriter):
    """The statements of a function; in single precision inputs are brought to it."""

    def entry(self, array: str, index: int) -> str:
        place = super().entry(array, index)
        return f"single({place})" if self.package.is_single and array != "work" else place


def _function(package: Package, function: Function, name: str) -> str:
    """Return the file of a function: itself, its parts, and what they call."""
    writer = _Writer(package, function, _syntax(package), [name])
    given = [argument_name(a.group) for a in function.signature.arguments]
    head = f"function {_listed(writer.results)} = {name}({', '.join(given)})"
    idle = [n for n in writer.idle() if n in given]
    lines = [head + (" %#ok<INUSD>" if idle else "")]
    lines += [f"%{name.upper()}  {function.about[0] if function.about else ''}".rstrip()]
    about = [*function.about[1:], "", *facts(package, LAYOUT, 1, function)]
    lines += [f"%   {line}".rstrip() for line in about]
    body = [
        f"{n} = {_zeros(package, r.shape)};"
        for n, r in zip(writer.results, function.signature.results, strict=True)
    ]
    parts: list[str] = []
    if writer.count == 1:
        lines += [*writer.lines(body), *writer.body(0), "end"]
    else:
        body.append(f"work = {_zeros(package, [writer.schedule.work])};")
        names = [f"{name}_part{k + 1}" for k in range(writer.count)]
        for number, part in enumerate(safe_names(names, writer.syntax, [name]).values()):
            groups, stored = writer.touched(number)
            changed = [*(writer.results[r] for r in stored), "work"]
            called = f"{part}({', '.join([*map(argument_name, groups), *changed])})"
            body.append(f"{_listed(changed)} = {called};")
            text = [f"function {_listed(changed)} = {called}", *writer.body(number), "end"]
            parts.append("\n".join(["", *text, ""]))
        lines += [*writer.lines(body), "end"]
    text = "\n".join([*lines, ""]) + "".join(parts)
    helpers = [HELPER.format(name=n, where=w) for n, w in REAL.items() if f"real_{n}(" in text]
    return text + "".join(helpers)


def _entries(name: str, output: str, pattern: RowPattern) -> str:
    """Return the file of a function that gives the entries of a matrix with zeros."""
    starts = pattern.row_starts
    rows = [k for k in range(len(starts) - 1) for _ in range(starts[k + 1] - starts[k])]
    return "\n".join(
        [
            f"function [rows, columns] = {name}()",
            f"%{name.upper()}  Entries of {output} that are not always zero.",
            *_values("rows", [k + 1 for k in rows], [len(rows)]),
            *_values("columns", [k + 1 for k in pattern.columns], [len(rows)]),
            "end",
            "",
        ]
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _size(shape: Sequence[int]) -> list[int]:
    return list(shape) if len(shape) > 1 else [*shape, 1, 1][:2]


def _zeros(package: Package, shape: Sequence[int]) -> str:
    kind = ", 'single'" if package.is_single else ""
    return f"zeros({', '.join(map(str, _size(shape)))}{kind})"


def _values(name: str, values: Iterable[float], shape: Sequence[int]) -> list[str]:
    """Return a statement that makes an array of numbers given by columns."""
    listed = ", ".join(map(repr, values))
    size = " ".join(map(str, _size(shape)))
    return _LINES.lines(f"{name} = reshape([{listed}], [{size}]);")


_LINES = Syntax(frozenset(), decimal, break_line=" ...\n")

# --- programs -------------------------------------------------------------------------------------


def _call(package: Package, name: str, function: Function, start: str) -> str:
    given = [f"{start}{argument_name(a.group)}" for a in function.signature.arguments]
    return f"{package.name}.{name}({', '.join(given)});"


def _example(package: Package, names: dict[str, str]) -> str:
    """Return a script that calls each function at one state."""
    lines = [f"% Calls each function of {package.name} once and prints its results."]
    syntax = _syntax(package)
    for group, length in package.groups.items():
        values = package.cases[0].inputs[group] if package.cases else [0.0] * length
        lines += [line[4:] for line in _values(argument_name(group), values, [length])]
    for function in package.functions:
        name = names[function.name]
        taken = [name, *map(argument_name, package.groups)]
        results = result_names(function, syntax, taken)
        call = f"{_listed(results)} = {_call(package, name, function, '')}"
        lines += [
            "",
            *syntax.lines(call, ""),
            *(f"disp('{label(function, k)}:'), disp({n})" for k, n in enumerate(results)),
        ]
    return "\n".join([*lines, ""])


def _test(package: Package, names: dict[str, str]) -> str:
    """Return a function that compares each function at all cases."""
    shapes = {r.name: r.shape for f in package.functions for r in f.signature.results}
    texts = [
        "\n".join([f"function given = case{k + 1}()", *_case(package, case, shapes), "end", ""])
        for k, case in enumerate(package.cases)
    ]
    cases = ", ".join(f"@case{k + 1}" for k in range(len(package.cases)))
    lines = [
        f"    cases = {{{cases}}};",
        "    for k = 1:numel(cases)",
        "        given = cases{k}();",
    ]
    for function in package.functions:
        name, results = names[function.name], function.signature.results
        found = [f"found{k + 1}" for k in range(len(results))]
        call = f"{_listed(found)} = {_call(package, name, function, 'given.')}"
        lines += _LINES.lines(call, " " * 8)
        for k, (f, r) in enumerate(zip(found, results, strict=True)):
            expected = f"given.expected{package.outputs.index(r.name) + 1}"
            text = f"count = count + compare('{label(function, k)}', {f}, {expected});"
            lines += _LINES.lines(text, " " * 8)
    text = TEST.replace("NAME", package.name).replace("TOLERANCE", repr(package.tolerance))
    return text.replace("CALLS", "\n".join([*lines, "    end"])) + "\n" + "\n".join(texts)


def _case(package: Package, case: Case, shapes: dict[str, tuple[int, ...]]) -> list[str]:
    lines: list[str] = []
    for group, length in package.groups.items():
        lines += _values(f"given.{argument_name(group)}", case.inputs[group], [length])
    for k, output in enumerate(package.outputs):
        values = by_columns(case.results[output], shapes[output])
        lines += _values(f"given.expected{k + 1}", values, shapes[output])
    return lines


TEST = """\
function failed = run_test()
%RUN_TEST  Compares the functions of NAME with results that were computed at export.
%   Returns how many were wrong.
    count = [0, 0];
CALLS
    failed = count(2);
    fprintf('%d passed, %d failed\\n', count(1), failed);
end

function count = compare(what, found, expected)
    % A result may differ by rounding: by a small share of the largest of its entries.
    largest = max([1.0; abs(expected(:))]);
    difference = abs(double(found(:)) - expected(:));
    if isequal(size(found), size(expected)) && all(difference <= TOLERANCE*largest)
        count = [1, 0];
    else
        count = [0, 1];
        fprintf('%s: wrong\\n', what);
    end
end
"""
MAKEFILE = """\
# In MATLAB: make test RUN="matlab -batch"
RUN ?= octave-cli --no-init-file --quiet --eval

.PHONY: all test example
all: example

test:
\t$(RUN) "exit(run_test() > 0)"

example:
\t$(RUN) "run_example"
"""
