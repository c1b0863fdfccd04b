"""Fortran 2008: a module of pure subroutines, matrices in their own shape.

arm.f90         the module
example.f90     a call of each subroutine
test.f90        results at some states, compared with those that were computed at export
Makefile        `make test`, `make example`
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from string import Template

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
    Function,
    Package,
    argument_name,
    by_columns,
    facts,
    label,
)
from chainform.emitters.signature import ResultArray

LAYOUT = "Matrices have their own shape, H(i, j); indices count from 1."
OVERLAP = "Results must not overlap arguments."
WORDS = """
abs acos allocate associate asin assign atan block call case character class close common complex
contains continue cos critical cycle data deallocate default do double elemental else elsewhere end
entry enum equivalence error exit exp external false final flush forall format function generic
go goto if implicit import impure in inout inquire integer intent interface intrinsic is log logical
module namelist none nullify only open operator optional out parameter pause pointer precision print
private procedure program protected public pure read real real32 real64 recursive reshape result
return rewind save select sequence shape show sign sign_of sin sqrt stop submodule subroutine tan
target then to true type unused use value wait where while write wp
"""
CALLS = {"reciprocal": "1.0_wp/{0}", "sign": "sign_of({0})"}
OF_PROGRAMS = "cases compare example failed k passed set_values"
CHUNK = 120
"""Numbers of a test in one statement."""
LONGEST = 255
"""Lines of one statement."""
SIGN = """\
    ! 1, -1, or x itself where it is zero or no number.
    elemental function sign_of(x) result(value)
        real(wp), intent(in) :: x
        real(wp) :: value
        value = x
        if (x > 0.0_wp) value = 1.0_wp
        if (x < 0.0_wp) value = -1.0_wp
    end function sign_of
"""


def emit(package: Package) -> dict[str, str]:
    """Return the files of a folder, the source first."""
    module = _Module(package)
    return {
        f"{package.name}.f90": module.text(),
        "example.f90": module.example(),
        "test.f90": module.test(),
        "Makefile": MAKEFILE.replace("NAME", package.name),
    }


def _syntax(package: Package) -> Syntax:
    plain = single_decimal if package.is_single else decimal

    def number(value: Fraction) -> str:
        return f"{plain(value)}_wp"

    return Syntax(
        frozenset(WORDS.split()),
        number,
        CALLS,
        element="{array}({index})",
        first_index=1,
        between_indices=", ",
        break_line=" &\n",
        longest_name=63,
        is_case_sensitive=False,
    )


def _of_programs(package: Package) -> list[str]:
    """Return names that example and test have, apart from those of the module."""
    groups = [argument_name(group) for group in package.groups]
    numbers = range(1, len(package.functions) + 1)
    numbered = [f"{word}{k}" for word in ("expected", "found", "test") for k in numbers]
    given = [f"given_{group}" for group in groups]
    return [*groups, *given, *numbered, *OF_PROGRAMS.split()]


def _comment(lines: Iterable[str], indent: str = "") -> list[str]:
    return [f"{indent}! {line}".rstrip() for line in lines]


def _declared(name: str, intent: str, shape: Sequence[int]) -> str:
    dimensions = f"({', '.join(map(str, shape))})" if shape else ""
    return f"real(wp), intent({intent}) :: {name}{dimensions}"


class _Module:
    """The module of a package, and the programs that go with it."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.syntax = _syntax(package)
        self.names = function_names(package, self.syntax, "Fortran", _of_programs(package))
        self.taken = [package.name, *self.names.values()]
        self.kind = "real32" if package.is_single else "real64"

    def lines(self, statement: str, depth: int) -> list[str]:
        """Return a statement in lines."""
        return self.syntax.lines(statement, "    " * depth)

    def text(self) -> str:
        """Return the module."""
        package = self.package
        texts = [text for f in package.functions for text in self._function(f)]
        texts += [SIGN] if any("sign_of(" in text for text in texts) else []
        about = [*facts(package, LAYOUT, 1), "", OVERLAP]
        lines = [*_comment(about), f"module {package.name}"]
        lines += self.lines(f"use, intrinsic :: iso_fortran_env, only: wp => {self.kind}", 1)
        lines += ["    implicit none", "    private"]
        lines += self.lines(f"public :: {', '.join(['wp', *self.names.values()])}", 1)
        lines += self._patterns()
        return "\n".join([*lines, "", "contains", "", *texts, f"end module {package.name}", ""])

    def _patterns(self) -> list[str]:
        lines: list[str] = []
        for name, pattern in self.package.patterns.items():
            lines += ["", f"    ! {name}: entries that are not always zero, by rows."]
            for word, numbers in (("row_starts", pattern.row_starts), ("columns", pattern.columns)):
                (array,) = self._new_names([f"{self.names[name]}_{word}"])
                head = f"integer, parameter, public :: {array}({len(numbers)})"
                listed = ", ".join(str(k + 1) for k in numbers)
                found = self.lines(f"{head} = [integer :: {listed}]", 1)
                too_long = [f"    ! {array} has too many entries for one statement."]
                lines += found if len(found) < LONGEST else too_long
        return lines

    def _new_names(self, names: Sequence[str]) -> list[str]:
        """Return names for more that the module has, different from all that it has already."""
        found = list(safe_names(names, self.syntax, self.taken).values())
        self.taken += found
        return found

    def _function(self, function: Function) -> list[str]:
        """Return the texts of a subroutine: itself, then its parts."""
        writer = FunctionWriter(self.package, function, self.syntax, list(self.names.values()))
        name = self.names[function.name]
        about = _comment(function.about, "    ")
        given = [argument_name(a.group) for a in function.signature.arguments]
        shapes = zip(writer.results, function.signature.results, strict=True)
        head = f"pure subroutine {name}({', '.join([*given, *writer.results])})"
        lines = [*about, *self.lines(head, 1)]
        lengths = [[a.length] for a in function.signature.arguments]
        for n, length in zip(given, lengths, strict=True):
            lines += self.lines(_declared(n, "in", length), 2)
        for n, result in shapes:
            lines += self.lines(_declared(n, "out", result.shape), 2)
        idle = [f"associate (unused => {n}); end associate" for n in writer.idle() if n in given]
        idle += [f"{n} = 0.0_wp" for n in writer.idle() if n not in given]
        if writer.count == 1:
            lines += self._variables(writer, 0)
            lines += [*writer.lines(idle, " " * 8), *writer.body(0, " " * 8)]
            return ["\n".join([*lines, f"    end subroutine {name}", ""])]
        lines.append(f"        real(wp) :: work({max(1, writer.schedule.work)})")
        lines += writer.lines(idle, " " * 8)
        parts: list[str] = []
        names = self._new_names([f"{name}_part{k + 1}" for k in range(writer.count)])
        for number, part in enumerate(names):
            groups, results = writer.touched(number)
            called = [argument_name(g) for g in groups] + [writer.results[r] for r in results]
            arguments = ", ".join([*called, "work"])
            lines += self.lines(f"call {part}({arguments})", 2)
            parts.append(self._part(writer, number, f"{part}({arguments})"))
        return ["\n".join([*lines, f"    end subroutine {name}", ""]), *parts]

    def _part(self, writer: FunctionWriter, number: int, head: str) -> str:
        groups, results = writer.touched(number)
        lengths = {a.group: a.length for a in writer.function.signature.arguments}
        lines = self.lines(f"pure subroutine {head}", 1)
        lines += [f"        {_declared(argument_name(g), 'in', [lengths[g]])}" for g in groups]
        for r in results:
            shape = writer.function.signature.results[r].shape
            lines += self.lines(_declared(writer.results[r], "inout", shape), 2)
        lines.append(f"        {_declared('work', 'inout', [max(1, writer.schedule.work)])}")
        lines += [*self._variables(writer, number), *writer.body(number, " " * 8)]
        return "\n".join([*lines, f"    end subroutine {head.split('(', maxsplit=1)[0]}", ""])

    def _variables(self, writer: FunctionWriter, number: int) -> list[str]:
        lines: list[str] = []
        names = writer.variables(number)
        while names:
            line = f"        real(wp) :: {names.pop(0)}"
            while names and len(line) + len(names[0]) < 98:
                line += f", {names.pop(0)}"
            lines.append(line)
        return lines

    # --- programs ---------------------------------------------------------------------------------

    def example(self) -> str:
        """Return a program that calls each subroutine at one state."""
        package = self.package
        declared = [f"    real(wp) :: {argument_name(g)}({n})" for g, n in package.groups.items()]
        lines: list[str] = []
        for group, length in package.groups.items():
            values = package.cases[0].inputs[group] if package.cases else [0.0] * length
            lines += self._values(argument_name(group), "", values, 1)
        for function in package.functions:
            results = self._results(function)
            lines.append("    block")
            for n, r in results:
                shape = f"({', '.join(map(str, r.shape))})" if r.shape else ""
                lines += self.lines(f"real(wp) :: {n}{shape}", 2)
            lines += self.lines(self._call(function, "", [n for n, _ in results]), 2)
            for k, (n, r) in enumerate(results):
                lines += self.lines(f"call show('{label(function, k)}:', {_flat(n, r)})", 2)
            lines.append("    end block")
        words = {"name": package.name, "declared": "\n".join(declared), "calls": "\n".join(lines)}
        return Template(EXAMPLE).substitute(words)

    def test(self) -> str:
        """Return a program that compares each subroutine at all cases."""
        package = self.package
        cases = len(package.cases)
        declared = [
            f"    real(wp) :: given_{argument_name(g)}({n}, cases)"
            for g, n in package.groups.items()
        ]
        shapes = {r.name: r for f in package.functions for r in f.signature.results}
        values: list[str] = []
        for k, case in enumerate(package.cases):
            for group in package.groups:
                name = f"given_{argument_name(group)}"
                values += self._values(name, f", {k + 1}", case.inputs[group], 2)
            for number, output in enumerate(package.outputs):
                entries = by_columns(case.results[output], shapes[output].shape)
                values += self._values(f"expected{number + 1}", f", {k + 1}", entries, 2)
        for number, output in enumerate(package.outputs):
            size = shapes[output].length
            declared.append(f"    real(wp) :: expected{number + 1}({size}, cases)")
        tests = [self._test_of(function) for function in package.functions]
        calls = [f"    call test{k + 1}()" for k in range(len(package.functions))]
        words = {"name": package.name, "cases": str(cases), "tolerance": repr(package.tolerance)}
        words |= {"declared": "\n".join(declared), "values": "\n".join(values)}
        return Template(TEST).substitute(words, tests="\n".join(tests), calls="\n".join(calls))

    def _test_of(self, function: Function) -> str:
        number = self.package.functions.index(function) + 1
        results = list(enumerate(function.signature.results, start=1))
        lines = [f"    subroutine test{number}()"]
        for k, r in results:
            shape = f"({', '.join(map(str, r.shape))})" if r.shape else ""
            lines.append(f"        real(wp) :: found{k}{shape}")
        lines += ["        integer :: k", "        do k = 1, cases"]
        lines += self.lines(self._call(function, "(:, k)", [f"found{k}" for k, _ in results]), 3)
        for k, r in results:
            place = self.package.outputs.index(r.name) + 1
            found = _flat(f"found{k}", r)
            text = f"call compare('{label(function, k - 1)}', {found}, "
            lines += self.lines(f"{text}expected{place}(:, k))", 3)
        return "\n".join([*lines, "        end do", f"    end subroutine test{number}", ""])

    def _call(self, function: Function, place: str, results: Sequence[str]) -> str:
        start = "given_" if place else ""
        groups = [a.group for a in function.signature.arguments]
        given = [f"{start}{argument_name(group)}{place}" for group in groups]
        return f"call {self.names[function.name]}({', '.join([*given, *results])})"

    def _results(self, function: Function) -> list[tuple[str, ResultArray]]:
        names = result_names(function, self.syntax, self.names.values())
        return list(zip(names, function.signature.results, strict=True))

    def _values(self, array: str, place: str, values: Sequence[float], depth: int) -> list[str]:
        """Return statements that fill an array."""
        lines: list[str] = []
        for start in range(0, len(values), CHUNK):
            part = values[start : start + CHUNK]
            listed = ", ".join(f"{value!r}_wp" for value in part)
            target = f"{array}({start + 1}:{start + len(part)}{place})"
            lines += self.lines(f"{target} = [real(wp) :: {listed}]", depth)
        return lines


def _flat(name: str, result: ResultArray) -> str:
    """Return a result as an array of one index, by columns."""
    if not result.shape:
        return f"[{name}]"
    return name if len(result.shape) == 1 else f"reshape({name}, [{result.length}])"


EXAMPLE = """\
! Calls each subroutine of $name once and prints its results, matrices by columns.
program example
    use $name
    implicit none
$declared
$calls

contains

    subroutine show(what, values)
        character(*), intent(in) :: what
        real(wp), intent(in) :: values(:)
        print '(a, *(1x, g0))', what, values
    end subroutine show

end program example
"""
TEST = """\
! Compares the subroutines of $name with results that were computed when they were exported.
program test
    use $name
    implicit none
    integer, parameter :: cases = $cases
    integer :: passed = 0, failed = 0
$declared

    call set_values()
$calls
    print '(i0, a, i0, a)', passed, ' passed, ', failed, ' failed'
    if (failed > 0) stop 1

contains

    ! A result may differ by rounding: by a small share of the largest of its entries.
    subroutine compare(what, found, expected)
        character(*), intent(in) :: what
        real(wp), intent(in) :: found(:), expected(:)
        real(wp) :: largest
        logical :: is_right
        integer :: k
        largest = 1.0_wp
        do k = 1, size(expected)
            largest = max(largest, abs(expected(k)))
        end do
        is_right = .true.
        do k = 1, size(expected)
            if (.not. abs(found(k) - expected(k)) <= ${tolerance}_wp*largest) is_right = .false.
        end do
        if (is_right) then
            passed = passed + 1
        else
            failed = failed + 1
            print '(2a)', what, ': wrong'
        end if
    end subroutine compare

$tests
    subroutine set_values()
$values
    end subroutine set_values

end program test
"""
MAKEFILE = """\
ifeq ($(origin FC),default)
FC = gfortran
endif
FFLAGS ?= -std=f2008 -O2 -Wall -Wextra

.PHONY: all test clean
all: example

test: test.out
\t./test.out

example: example.f90 NAME.o
\t$(FC) $(FFLAGS) example.f90 NAME.o -o $@

test.out: test.f90 NAME.o
\t$(FC) $(FFLAGS) test.f90 NAME.o -o $@

NAME.o: NAME.f90
\t$(FC) $(FFLAGS) -c NAME.f90 -o $@

clean:
\trm -f example test.out NAME.o *.mod
"""
