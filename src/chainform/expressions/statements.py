"""Read a file of expressions: one statement for each name, in any order.

    # what stands behind a hash is a comment
    parameters a, b = 0.25       names that are given, with default values; may be left out
    outputs Y                    what is computed; may be left out
    s = sin(q1)
    Y = a*b + s^2
    p = [s, Y + 1]               a vector; lists of lists are matrices
    M = [[a, b],                 a statement goes on while a bracket is open
         [b, p[2]]]

Nothing is ever executed, and an error names the line of a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from chainform.errors import ReadError
from chainform.expressions.evaluate import value_of
from chainform.expressions.parser import parse
from chainform.expressions.types import Expression

Value: TypeAlias = "Expression | tuple[Value, ...]"

MOST_STATEMENTS = 100_000
"""The most statements of a file."""
MOST_CHARACTERS = 16_000_000
DEEPEST = 8
"""The most lists in one another: an array has no more indices."""
_STATEMENT = re.compile(r"\s*([^\s=\[\](),]+)\s*=(.*)", re.DOTALL)
_DIRECTIVE = re.compile(r"\s*(parameters|outputs)\s+(?!=)(.*)", re.DOTALL)
_OPEN, _CLOSED = "([", ")]"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What a parameter or a definition may be called."""


@dataclass(frozen=True, slots=True)
class ExpressionLine:
    """A name, what it stands for, and the line on which that begins."""

    name: str
    value: Value
    line: int


@dataclass(slots=True)
class ExpressionFile:
    """What a file of expressions says; None where it does not say which parameters or outputs."""

    definitions: list[ExpressionLine] = field(default_factory=list[ExpressionLine])
    parameters: dict[str, Fraction | None] | None = None
    outputs: list[str] | None = None


def read_statements(text: str) -> ExpressionFile:
    """Return the statements of a text; ReadError with the line where one cannot be read."""
    if len(text) > MOST_CHARACTERS:
        message = f"the text has {len(text)} characters"
        raise ReadError(message, remedy=f"split it; {MOST_CHARACTERS} are possible")
    found = ExpressionFile()
    lines: dict[str, int] = {}
    for line, statement in _statements(text):
        try:
            _read(statement, line, found, lines)
        except ReadError as problem:
            where = f"line {line}" if not problem.element else f"line {line}, {problem.element}"
            raise ReadError(problem.message, element=where, remedy=problem.remedy) from None
        if len(lines) > MOST_STATEMENTS:
            remedy = f"split the file; {MOST_STATEMENTS} are possible"
            raise ReadError("there are too many statements", element=f"line {line}", remedy=remedy)
    if not found.definitions:
        raise ReadError("there is no statement", remedy="write one, as in Y = a*b + sin(q1)^2")
    return found


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the text of each statement with its first line; one goes on while a bracket is open."""
    parts: list[str] = []
    first = depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        part = line.partition("#")[0]
        if not part.strip():
            continue
        first = first if parts else number
        parts.append(part)
        depth += sum(part.count(mark) for mark in _OPEN) - sum(part.count(m) for m in _CLOSED)
        if depth <= 0:
            yield first, "\n".join(parts)
            parts, depth = [], 0
    if parts:
        remedy = "close it, or look for one too many before"
        raise ReadError("a bracket is not closed", element=f"line {first}", remedy=remedy)


def _read(text: str, line: int, found: ExpressionFile, lines: dict[str, int]) -> None:
    directive = _DIRECTIVE.fullmatch(text)
    if directive is not None:
        _read_directive(directive[1], directive[2], found)
        return
    match = _STATEMENT.fullmatch(text)
    if match is None:
        shown = " ".join(text.split())[:40]
        message = f"{shown!r} is not a statement"
        raise ReadError(message, remedy="write name = expression, as in Y = a*b")
    name = checked_name(match[1])
    if name in lines:
        message = f"{name} is defined twice, on line {lines[name]} too"
        raise ReadError(message, remedy="give one of them another name")
    lines[name] = line
    found.definitions.append(ExpressionLine(name, parse_value(match[2]), line))


def _read_directive(word: str, text: str, found: ExpressionFile) -> None:
    if getattr(found, word) is not None:
        raise ReadError(f"{word} are listed twice", remedy="list them once")
    items = [item.strip() for item in text.split(",")]
    if word == "outputs":
        found.outputs = [checked_name(item) for item in items]
        return
    parameters: dict[str, Fraction | None] = {}
    for item in items:
        name, equals, number = (part.strip() for part in item.partition("="))
        if checked_name(name) in parameters:
            raise ReadError(f"{name} is listed twice", remedy="list it once")
        parameters[name] = value_of(parse(number)) if equals else None
    found.parameters = parameters


def checked_name(name: str) -> str:
    """Return a name; ReadError if it is none."""
    if NAME.fullmatch(name) is None or len(name) > 200:
        message = f"{name[:40]!r} is not a name"
        remedy = "use letters, digits and underscores, beginning with a letter"
        raise ReadError(message, remedy=remedy)
    return name


def parse_value(text: str, depth: int = 0) -> Value:
    """Return the expression in a text, or nested lists of them: [a, b], [[a, b], [c, d]]."""
    inner = text.strip()
    if not inner.startswith("["):
        return parse(inner, references=True)
    if depth >= DEEPEST:
        raise ReadError(f"lists are nested more than {DEEPEST} deep", remedy="flatten them")
    parts = _entries(inner)
    return tuple(parse_value(part, depth + 1) for part in parts)


def _entries(text: str) -> list[str]:
    """Return the entries of a list in square brackets, which may be lists themselves."""
    parts: list[str] = []
    depth, start = 0, 1
    for position, character in enumerate(text):
        depth += (character in _OPEN) - (character in _CLOSED)
        if (character == "," and depth == 1) or (depth == 0 and character in _CLOSED):
            parts.append(text[start:position])
            start = position + 1
        if depth == 0 and position < len(text) - 1:
            message = f"{text[position + 1 :].strip()[:20]!r} stands behind a list"
            raise ReadError(message, remedy="name entries of the list instead: a list is no number")
    if depth != 0 or not all(part.strip() for part in parts):
        message = "an entry of a list is missing" if depth == 0 else "a bracket is not closed"
        raise ReadError(message, remedy="write [a, b] or [[a, b], [c, d]]")
    return parts
