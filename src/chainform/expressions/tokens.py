"""Cut the text of an expression into tokens, and read decimals exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from chainform.errors import ReadError

MAX_LENGTH = 100_000
"""The greatest length of an expression, in characters."""

MAX_DIGITS = 400
"""The greatest number of digits of a decimal, and the greatest size of its exponent."""

_DECIMAL = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<exponent>[+-]?[0-9]+))?"
)
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark>\*\*|[-+*/^(),])"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text and the place where it begins, counted from zero."""

    kind: Literal["number", "name", "mark", "end"]
    text: str
    position: int


def fraction_of_decimal(text: str) -> Fraction:
    """Return the exact value of a decimal such as `-12.5e-3`.

    Exponents beyond 400 and more than 400 digits are refused: a few characters must not be able
    to fill the memory.
    """
    match = _DECIMAL.fullmatch(text)
    if match is None or not (match["whole"] or match["part"]):
        raise ReadError(f"{text[:40]!r} is not a decimal number", remedy="write it as in -12.5e-3")
    part = match["part"] or ""
    digits = match["whole"] + part
    exponent_text = match["exponent"] or "0"
    is_short = len(digits) <= MAX_DIGITS and len(exponent_text.lstrip("+-0")) <= 3
    if not is_short or abs(int(exponent_text)) > MAX_DIGITS:
        raise ReadError(
            f"the number {text[:20]}... has too many digits or too large an exponent",
            remedy=f"use at most {MAX_DIGITS} digits and exponents within +-{MAX_DIGITS}",
        )
    mantissa = int(match["sign"] + digits)
    return mantissa * Fraction(10) ** (int(exponent_text) - len(part))


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of `text`, closed by one of kind `end`."""
    if len(text) > MAX_LENGTH:
        raise ReadError(
            f"the expression has {len(text)} characters",
            remedy=f"use at most {MAX_LENGTH}; give parts of it names as parameters",
        )
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        if text[position] in " \t\r\n":
            position += 1
            continue
        token = _token_at(text, position)
        tokens.append(token)
        position += len(token.text)
    tokens.append(Token("end", "", len(text)))
    return tokens


def _token_at(text: str, position: int) -> Token:
    match = _TOKEN.match(text, position)
    if match is None:
        raise syntax_error(
            text,
            position,
            f"the character {text[position]!r} has no meaning here",
            "use numbers, names, + - * / ^, commas and round brackets",
        )
    if match["number"] is not None:
        return Token("number", match[0], position)
    return Token("name" if match["name"] is not None else "mark", match[0], position)


def syntax_error(text: str, position: int, message: str, remedy: str) -> ReadError:
    """Return the error for a mistake at `position` (from zero), showing the text around it."""
    start = max(0, position - 20)
    excerpt = text[start : position + 20]
    shown = ("..." if start else "") + excerpt + ("..." if position + 20 < len(text) else "")
    return ReadError(f"{message}, at character {position + 1} of {shown!r}", remedy=remedy)
