"""What C and the languages made from it write in the same way: names, numbers, heads, comments."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from chainform.emitters.infix import Syntax, decimal, result_names, single_decimal
from chainform.emitters.package import Function, Package, argument_name, facts, name_tables
from chainform.graph import CALLS

WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while _Bool _Complex _Imaginary asm bool catch class constexpr delete explicit export false
friend mutable namespace new nullptr operator private protected public template this throw true try
typename using virtual wchar_t main NULL NAN INFINITY lane row start filled Scalar
abs acos asin atan cos exp fabs fma fmaf log pow sin sqrt tan div gamma index y0 y1 yn j0 j1 jn time
signal size_t int32_t uint32_t int64_t uint64_t std i k far near
and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq alignas alignof char16_t char32_t
concept const_cast decltype dynamic_cast noexcept reinterpret_cast requires static_assert
static_cast thread_local typeid typeof linux unix M_E M_PI M_PI_2 M_PI_4
"""
VALUES = "parameter_values"
"""The table of the parameters as the mechanism has them."""
KEYWORDS = frozenset(WORDS.split())
"""Words of C and C++, names of their libraries, and names that our own functions use."""


@dataclass(frozen=True)
class Dialect:
    """How functions look: the type of numbers, and what stands before the name of a function."""

    real: str
    number_end: str = ""
    """What a number ends with: f for float."""
    number_form: str = "{0}"
    prefix: str = ""
    function_start: str = ""
    """Before `void`: template <typename Scalar>, __device__."""
    part_start: str = "static "
    """The same for a part of a long function."""
    calls: tuple[tuple[str, str], ...] = ()
    """Functions of libraries that are called otherwise than in C."""
    has_own_sine: bool = False

    def syntax(self, element: str = "{array}[{index}]") -> Syntax:
        """Return how formulas are written."""
        end, form = self.number_end, self.number_form

        def number(value: Fraction) -> str:
            text = single_decimal(value) if end else decimal(value)
            return form.format(f"{text}{end}")

        calls = {name: f"{name}{end}({{0}})" for name in CALLS[1:]}
        calls |= {"reciprocal": f"{number(Fraction(1))}/{{0}}", "abs": f"fabs{end}({{0}})"}
        calls["sign"] = f"{self.prefix}sign({{0}})"
        if self.has_own_sine:
            calls |= {
                "sin": f"{self.prefix}sine_of({{0}})",
                "cos": f"{self.prefix}cosine_of({{0}})",
            }
        return Syntax(
            KEYWORDS,
            number,
            {**calls, **dict(self.calls)},
            define=f"const {self.real} {{name}} = {{value}};",
            change="{name} {sign}= {value};",
            change_from=f"{self.real} {{name}} = {{value}};",
            element=element,
            store="{place} = {value};",
        )

    def results(self, function: Function) -> list[str]:
        """Return the names of the results of a function."""
        return result_names(function, self.syntax())

    def parameters(self, function: Function) -> list[str]:
        """Return the arguments and results of a function of one state, as declared."""
        groups = [a.group for a in function.signature.arguments]
        given = [f"const {self.real} *{argument_name(group)}" for group in groups]
        return [*given, *(f"{self.real} *{n}" for n in self.results(function))]

    def head(self, function: Function, ending: str = "") -> str:
        """Return the head of a function of one state; with an ending, of a batch."""
        given = self.parameters(function)
        if ending:
            given.insert(0, "size_t count")
        head = f"{self.function_start}void {self.prefix}{function.name}{ending}("
        indent = ",\n" + " " * (len(head) - head.rfind("\n") - 1)
        text = head + ", ".join(given or ["void"]) + ")"
        return text if len(text) - text.rfind("\n") <= 100 else head + indent.join(given) + ")"


def c_dialect(package: Package) -> Dialect:
    """Return C99 itself."""
    kind, end = ("float", "f") if package.is_single else ("double", "")
    part = f"static {package.name.upper()}_APART "
    own = package.sine == "own"
    return Dialect(kind, end, prefix=f"{package.name}_", part_start=part, has_own_sine=own)


def comment(lines: Iterable[str]) -> list[str]:
    """Return lines as a comment."""
    safe = [line.replace("*/", "* /").replace("/*", "/ *") for line in lines]
    if not safe:
        return []
    body = [f"/* {safe[0]}", *(f"   {line}".rstrip() for line in safe[1:])]
    return [*body[:-1], f"{body[-1]} */"]


def name_lines(package: Package, start: str) -> list[str]:
    """Return the names of the entries of arguments as arrays of texts."""
    lines: list[str] = []
    for table, names in name_tables(package).items():
        # Two question marks begin a trigraph of C.
        texts = [json.dumps(name, ensure_ascii=False).replace("??", "?\\?") for name in names]
        lines += [f"{start}{table}[{len(names)}] = {{"]
        lines += [*(f"    {text}," for text in texts), "};", ""]
    return lines


def size_lines(package: Package) -> list[str]:
    """Return the lengths of arguments as macros: ARM_NQ."""
    upper = package.name.upper()
    lines = [f"#define {upper}_{word.upper()} {size}" for word, size in package.sizes.items()]
    return [*lines, ""] if lines else []


def constant_lines(package: Package) -> list[str]:
    """Return the lengths of arguments as constants of C++, but for names of functions."""
    functions = {function.name for function in package.functions}
    sizes = {word: size for word, size in package.sizes.items() if word not in functions}
    lines = [f"inline constexpr int {word} = {size};" for word, size in sizes.items()]
    return [*lines, ""] if lines else []


def value_lines(package: Package, start: str, prefix: str = "") -> list[str]:
    """Return the parameters as the mechanism has them as an array of numbers."""
    if not has_values(package):
        return []
    kind, end = ("float", "f") if package.is_single else ("double", "")
    listed = ", ".join(f"{value!r}{end}" for value in package.values)
    statement = f"{start}{kind} {prefix}{VALUES}[{len(package.values)}] = {{{listed}}};"
    return [*Dialect(kind).syntax().lines(statement, ""), ""]


def has_values(package: Package) -> bool:
    """Whether there is a table of the parameters as the mechanism has them."""
    return bool(package.values) and VALUES not in {f.name for f in package.functions}


def pattern_lines(package: Package, start: str) -> list[str]:
    """Return the entries of sparse results as arrays of whole numbers."""
    lines: list[str] = []
    for name, pattern in package.patterns.items():
        lines += comment([f"{name}: entries that are not always zero, by rows, from 0."])
        for word, numbers in (("row_starts", pattern.row_starts), ("columns", pattern.columns)):
            listed = ", ".join(map(str, numbers)) or "0"
            head = f"{start}{name}_{word}[{max(1, len(numbers))}]"
            lines += Dialect("int").syntax().lines(f"{head} = {{{listed}}};", "")
        lines.append("")
    return lines


def head_lines(package: Package) -> list[str]:
    """Return what stands at the beginning of a file: the model, and what its inputs are."""
    return comment(facts(package))
