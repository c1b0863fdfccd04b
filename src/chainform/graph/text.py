"""Formulas and graphs as text; `parse_graph` reads a graph back.

    chainform graph 1
    input q 0 q1
    input parameter 0 m_1 = 0.5
    sin_q1 = sin(q1)
    hG_1 = 9.81*m_1*sin_q1
    alias weight = hG_1
    quantity e_1 [3]: e_1_x:zero e_1_y:zero e_1_z:one
    output gravity [1]: hG_1

One line for each input and variable, in definition order; then the other names, the named
intermediate quantities and the outputs. An entry is the variable, with its own label in
front where they differ. A line that begins with # is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from math import prod

from chainform.errors import ReadError, RunError
from chainform.graph.builder import Builder
from chainform.graph.scalar import Terms
from chainform.graph.types import (
    BLOCK_NAME,
    CALL_NUMBER,
    CALLS,
    GROUPS,
    LARGEST_POWER,
    NAME,
    Block,
    Graph,
    Term,
)
from chainform.graph.verification import GraphError

MOST_BITS = 14_000
"""Bits of the largest number that is written; Python refuses those of more than 4300 digits."""


def number_text(value: Fraction) -> str:
    """Return an exact number: a decimal where a short one is exact, else a fraction."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise RunError(
            f"a number of a formula takes more than {MOST_BITS} bits",
            remedy="look at the definitions instead (str, or show --steps), or write long numbers "
            "as parameters",
        )
    if value.denominator == 1:
        return str(value.numerator)
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > 18:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def rounded_number(value: Fraction, digits: int) -> Fraction:
    """Return a number rounded to so many significant digits."""
    with localcontext(prec=digits):
        return Fraction(Decimal(value.numerator) / Decimal(value.denominator))


def sum_text(parts: Iterable[tuple[Fraction, str]]) -> str:
    """Join (coefficient, product) pairs with signs; an empty product is a number.

    A product that begins with a slash is a quotient with nothing else above.
    """
    text = ""
    for coefficient, product in parts:
        size = abs(coefficient)
        if not product:
            body = number_text(size)
        elif product.startswith("/"):
            body = f"{number_text(size)}{product}"
        elif size == 1:
            body = product
        else:
            body = f"{number_text(size)}*{product}"
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} {body}" if text else f"{'-' if sign == '-' else ''}{body}"
    return text or "0"


def product_text(factors: Iterable[tuple[str, int]]) -> str:
    """Join names and powers: x^2*y."""
    return "*".join(name if power == 1 else f"{name}^{power}" for name, power in factors)


def term_text(graph: Graph, term: Term) -> tuple[Fraction, str]:
    """Return a term as its coefficient and the text of its product."""
    factors = ((graph.names[f.variable], f.power) for f in term.factors)
    return term.coefficient, product_text(factors)


def definition_text(graph: Graph, variable: int) -> str:
    """Return the right side of a variable's definition; an input is its own name."""
    if variable in graph.inputs:
        return graph.names[variable]
    if graph.call[variable]:
        return f"{CALLS[int(graph.call[variable])]}({graph.names[int(graph.argument[variable])]})"
    return sum_text(term_text(graph, term) for term in graph.terms(variable))


# --- whole graphs ---------------------------------------------------------------------------------

HEADER = "chainform graph 1"


def graph_text(graph: Graph, outputs: Collection[str] | None = None) -> str:
    """Return the whole graph as text, with all outputs or those named."""
    return "\n".join(_lines(graph, outputs)) + "\n"


def _lines(graph: Graph, outputs: Collection[str] | None) -> Iterator[str]:
    yield HEADER
    for v, name in enumerate(graph.names):
        given = graph.inputs.get(v)
        if given is None:
            yield f"{name} = {definition_text(graph, v)}"
        else:
            default = "" if given.default is None else f" = {number_text(given.default)}"
            yield f"input {given.group} {given.index} {name}{default}"
    for name, v in graph.aliases.items():
        yield f"alias {name} = {graph.names[v]}"
    for word, blocks in (("quantity", graph.quantities), ("output", graph.outputs)):
        for block in blocks.values():
            if word == "quantity" or outputs is None or block.name in outputs:
                yield f"{word} {block.name} {_block_text(graph, block)}"


def _block_text(graph: Graph, block: Block) -> str:
    entries = (
        graph.names[v] if label == graph.names[v] else f"{label}:{graph.names[v]}"
        for v, label in zip(block.variables, block.labels, strict=True)
    )
    return f"[{' '.join(map(str, block.shape))}]: {' '.join(entries)}".rstrip()


_NAME = NAME.pattern
_NUMBER = r"[0-9]+(?:\.[0-9]+|/[0-9]+)?"
_FACTOR = rf"{_NAME}(?:\^[0-9]+)?"
_INPUT = re.compile(rf"input ([a-z]+) ([0-9]+) ({_NAME})(?: = (-?{_NUMBER}))?")
_ALIAS = re.compile(rf"alias ({_NAME}) = ({_NAME})")
_BLOCK = re.compile(rf"(output|quantity) ({BLOCK_NAME.pattern}) \[([0-9 ]*)\]:(.*)")
_DEFINITION = re.compile(rf"({_NAME}) = (.+)")
_CALL = re.compile(rf"({_NAME})\(({_NAME})\)")
_TERM = re.compile(rf"([+-]?) ?((?:{_NUMBER}|{_FACTOR})(?:\*{_FACTOR})*)(?: |$)")
_LARGEST_INTEGER = 1_000_000_000
_LARGEST_DEGREE = 1_000_000
"""All powers of one definition together; a short line must not be able to fill the memory."""
_MOST_DIMENSIONS = 32


def parse_graph(text: str, file: str | None = None) -> Graph:
    """Return the graph that `graph_text` wrote, definition for definition."""
    reader = _Reader(file)
    lines = text.splitlines()
    if not lines or lines[0].strip() != HEADER:
        raise ReadError(f"a graph begins with the line '{HEADER}'", file=file, element="line 1")
    for number, line in enumerate(lines[1:], start=2):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            reader.read(stripped, number)
    return reader.builder.finish()


class _Reader:
    def __init__(self, file: str | None) -> None:
        self.file = file
        self.builder = Builder(verbatim=True)
        self.numbers: dict[str, int] = {}
        self.line = 0

    def fail(self, message: str) -> ReadError:
        return ReadError(message, file=self.file, element=f"line {self.line}")

    def read(self, line: str, number: int) -> None:
        self.line = number
        if match := _INPUT.fullmatch(line):
            self._input(*match.groups())
        elif match := _ALIAS.fullmatch(line):
            variable = self._variable(match[2])
            self.builder.aliases[self._free(match[1])] = variable
        elif match := _BLOCK.fullmatch(line):
            self._block(match[1], match[2], match[3], match[4])
        elif match := _DEFINITION.fullmatch(line):
            self._define(match[1], match[2])
        else:
            raise self.fail(f"this line is not part of a graph: {line[:60]}")

    def _variable(self, name: str) -> int:
        if name not in self.numbers:
            raise self.fail(f"{name} is used before it is defined")
        return self.numbers[name]

    def _free(self, name: str) -> str:
        if name in self.numbers or name in self.builder.aliases:
            raise self.fail(f"{name} is defined twice")
        return name

    def _new(self, name: str) -> str:
        self.numbers[self._free(name)] = len(self.builder.names)
        return name

    def _integer(self, text: str) -> int:
        if len(text) > 10 or int(text) > _LARGEST_INTEGER:
            raise self.fail(f"{text[:20]} is too large a number here")
        return int(text)

    def _number(self, text: str) -> Fraction:
        try:
            return Fraction(text)
        except ZeroDivisionError:
            raise self.fail("a denominator is zero") from None
        except ValueError:
            raise self.fail(f"the number {text[:20]}... has too many digits") from None

    def _input(self, group: str, index: str, name: str, default: str | None) -> None:
        if group not in GROUPS:
            raise self.fail(f"{group} is not a group of inputs ({', '.join(GROUPS)})")
        self._new(name)
        value = self._number(default) if default else None
        try:
            self.builder.input(name, group, self._integer(index), value)
        except GraphError as problem:
            raise self.fail(problem.message) from None

    def _define(self, name: str, text: str) -> None:
        if match := _CALL.fullmatch(text):
            argument = self._variable(match[2])
            if match[1] not in CALL_NUMBER:
                raise self.fail(f"{match[1]} is not a known function")
            self.builder.define_call(self._new(name), match[1], argument)
            return
        terms = self._terms(text)
        try:
            self.builder.define(self._new(name), terms)
        except GraphError as problem:
            raise self.fail(problem.message) from None

    def _terms(self, text: str) -> Terms:
        terms: Terms = {}
        place = degree = 0
        while place < len(text):
            match = _TERM.match(text, place)
            if match is None or (place > 0 and not match[1]):
                raise self.fail(f"a term was expected at: {text[place : place + 40]}")
            coefficient, monomial = self._term(match[2], _LARGEST_DEGREE - degree)
            degree += len(monomial)
            signed = -coefficient if match[1] == "-" else coefficient
            if not signed and text != "0":
                raise self.fail("a coefficient is zero")
            if monomial in terms:
                raise self.fail("two terms have the same factors")
            if signed:
                terms[monomial] = signed
            place = match.end()
        return terms

    def _term(self, text: str, most: int) -> tuple[Fraction, tuple[int, ...]]:
        coefficient = Fraction(1)
        monomial: list[int] = []
        for factor in text.split("*"):
            if factor[0].isdigit():
                coefficient = self._number(factor)
                continue
            name, _, power = factor.partition("^")
            count = self._integer(power) if power else 1
            if not 1 <= count <= LARGEST_POWER:
                raise self.fail(f"a power is not between 1 and {LARGEST_POWER}: {factor[:40]}")
            monomial.extend([self._variable(name)] * count)
            if len(monomial) > most:
                raise self.fail(f"the powers here add up to more than {_LARGEST_DEGREE}")
        return coefficient, tuple(sorted(monomial))

    def _block(self, word: str, name: str, shape: str, entries: str) -> None:
        pairs = [entry.rpartition(":") for entry in entries.split()]
        variables = tuple(self._variable(variable) for _, _, variable in pairs)
        labels = tuple(label or variable for label, _, variable in pairs)
        lengths = tuple(map(self._integer, shape.split()))
        blocks = self.builder.outputs if word == "output" else self.builder.quantities
        if name in blocks:
            raise self.fail(f"the {word} {name} is listed twice")
        if not all(map(NAME.fullmatch, labels)):
            raise self.fail(f"the labels of {name} are not names")
        if len(lengths) > _MOST_DIMENSIONS:
            raise self.fail(f"{name} has more than {_MOST_DIMENSIONS} dimensions")
        if prod(lengths) != len(variables):
            raise self.fail(
                f"{name} has {len(variables)} entries, its shape asks for {prod(lengths)}"
            )
        blocks[name] = Block(name, lengths, variables, labels)
