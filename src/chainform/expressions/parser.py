"""Read an expression from text.

    sum     = product { ("+" | "-") product }
    product = sign { ("*" | "/") sign }
    sign    = ("+" | "-") sign | power
    power   = atom [ ("^" | "**") sign ]
    atom    = number | "pi" | name | rate | place | function "(" sum { "," sum } ")" | "(" sum ")"
    rate    = "der" "(" ( name | place ) ")"
    place   = ("x" | "y" | "z") "(" name ")"

So `-x^2` is -(x^2), `2^-3` is allowed and `a^b^c` is a^(b^c). Nothing is ever executed. A sum or a
product may have any number of operands; only brackets, calls, signs and exponents nest.

With `references` a name may also be one of a quantity, with a frame or indices: `H[1,2]`,
`jacobian(tool)[1,:]`, `d(tau)/d(qd)[1,2]`. It is one symbol; the caller knows what it means.

The text is cut into tokens first; decimals are read exactly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, cast

from chainform.errors import ReadError
from chainform.expressions.types import (
    CONSTANTS,
    FUNCTIONS,
    MAX_DEPTH,
    POSITIONS,
    RATE,
    Apply,
    Binary,
    Constant,
    Expression,
    Identifier,
    Negate,
    Number,
    Operator,
)
from chainform.given import near

MAX_LENGTH = 100_000
"""The greatest length of an expression, in characters."""
MAX_DIGITS = 400
"""The greatest number of digits of a decimal, and the greatest size of its exponent."""
_DECIMAL = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<exponent>[+-]?[0-9]+))?"
)
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<mark>\*\*|[-+*/^(),])"
)

_FLAT = r"\([^()]*+\)"
_NESTED = rf"\((?:[^()]|{_FLAT})*+\)"
_BRACKET = rf"\((?:[^()]|{_NESTED})*+\)"
"""Round brackets with at most two pairs inside one another in them."""
_REFERENCE = re.compile(
    rf"d\s*{_BRACKET}\s*/\s*d\s*{_BRACKET}(?:\s*\[[^\[\]]*+\])?"
    rf"|(?P<head>[A-Za-z_][A-Za-z0-9_.]*+)(?P<bracket>\s*{_BRACKET})?(?P<indices>\s*\[[^\[\]]*+\])?"
)
"""A quantity as it is named: derivatives of one, or a name with a frame, indices or both."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text and the index at which it begins, counted from zero."""

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


def tokens_of(text: str, *, references: bool = False) -> list[Token]:
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
        token = (_reference_at(text, position) if references else None) or _token_at(text, position)
        tokens.append(token)
        position += len(token.text)
    tokens.append(Token("end", "", len(text)))
    return tokens


def _reference_at(text: str, position: int) -> Token | None:
    """Return the name of a quantity with what is in brackets behind it, if there is one."""
    match = _REFERENCE.match(text, position)
    if match is None or match["head"] is None:
        return match and Token("name", match[0], position)
    is_call = match["head"] in FUNCTIONS or match["head"] == RATE
    if is_call or not (match["bracket"] or match["indices"] or "." in match["head"]):
        return None
    return Token("name", match[0], position)


def _token_at(text: str, position: int) -> Token:
    match = _TOKEN.match(text, position)
    # A name begins with a letter of any script; a fraction such as one half is none.
    is_name = match is not None and match["name"] is not None
    if match is None or (is_name and not (match[0][0].isalpha() or match[0][0] == "_")):
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


_SUM, _PRODUCT, _SIGN = 1, 2, 3
_RANKS = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT}
LONGEST_CHAIN = 80
"""Operands of a sum or product that are grouped from the left one by one; more are halved."""
_Sized = tuple[Expression, int]
"""An expression with the depth of its tree."""


# --- parser ---------------------------------------------------------------------------------


def parse(text: str, *, references: bool = False) -> Expression:
    """Return the expression written in `text`; with `references` it may name quantities.

    A mistake raises ReadError that tells the position, what was expected there and what to do.
    """
    reader = _Parser(text, references=references)
    expression, _ = reader.expression(_SUM, 1)
    if reader.token.kind != "end":
        remedy = "remove it or put an operator before it; a product is written 2*x"
        raise reader.fail(f"expected an operator or the end, found {reader.next_text()}", remedy)
    return expression


class _Parser:
    """Reads the rules sum, product and sign in one method, by the rank of their operators.

    `level` is the least depth at which the result will stand in the finished tree. With it an
    expression that is too deep is refused on the way down, before the stack of calls grows long.
    """

    def __init__(self, text: str, *, references: bool = False) -> None:
        self.text = text
        self.tokens = tokens_of(text, references=references)
        self.index = 0
        self.open = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def accept(self, *marks: str) -> str | None:
        """Step over the next token when it is one of `marks`, and return it."""
        token = self.token
        if token.kind != "mark" or token.text not in marks:
            return None
        self.index += 1
        return token.text

    def fail(self, message: str, remedy: str) -> ReadError:
        return syntax_error(self.text, self.token.position, message, remedy)

    def next_text(self) -> str:
        return "the end" if self.token.kind == "end" else repr(self.token.text)

    def check_depth(self, depth: int) -> int:
        """Return `depth` when a tree may be so deep."""
        if depth <= MAX_DEPTH:
            return depth
        raise self.fail(
            f"the expression is nested more than {MAX_DEPTH} deep",
            "give parts of it names as parameters",
        )

    def expression(self, least: int, level: int) -> _Sized:
        """Read operands joined by operators of at least the rank `least`, grouped from the left."""
        result = self.signed(level)
        while (rank := _RANKS.get(self.token.text, 0)) >= least:
            result = self.chain(result, rank, level)
        return result

    def chain(self, first: _Sized, rank: int, level: int) -> _Sized:
        """Read what follows the first operand of a sum, or of a product, up to its end."""
        operators: list[Operator] = []
        operands = [first]
        while _RANKS.get(self.token.text, 0) == rank:
            operators.append(cast(Operator, self.token.text))
            self.index += 1
            operands.append(self.expression(rank + 1, level + 1))
        if len(operands) <= LONGEST_CHAIN:
            return self.from_left(operators, operands)
        return self.halved(operators, operands)

    def from_left(self, operators: Sequence[Operator], operands: Sequence[_Sized]) -> _Sized:
        left, depth = operands[0]
        for operator, (right, right_depth) in zip(operators, operands[1:], strict=True):
            left = Binary(operator, left, right)
            depth = self.check_depth(max(depth, right_depth) + 1)
        return left, depth

    def halved(self, operators: Sequence[Operator], operands: Sequence[_Sized]) -> _Sized:
        """Group a long sum or product by halves, so that its tree is flat.

        The operator before the second half goes into its first operand: a sign, or a reciprocal.
        The printer's brackets around a second half read back as the same tree.
        """
        if len(operands) <= LONGEST_CHAIN // 2:
            return self.from_left(operators, operands)
        middle = len(operands) // 2
        operator, (operand, depth) = operators[middle - 1], operands[middle]
        match operator:
            case "-":
                operator, operand, depth = "+", Negate(operand), depth + 1
            case "/":
                one = Number(Fraction(1))
                operator, operand, depth = "*", Binary("/", one, operand), depth + 1
            case _:
                pass
        left = self.halved(operators[: middle - 1], operands[:middle])
        right = self.halved(operators[middle:], [(operand, depth), *operands[middle + 1 :]])
        return self.from_left([operator], [left, right])

    def signed(self, level: int) -> _Sized:
        """Read signs and a power; a sign reaches over the power behind it."""
        minus = 0
        while (mark := self.accept("+", "-")) is not None:
            minus += mark == "-"
        level = self.check_depth(level + minus)
        operand, depth = self.atom(level)
        if self.accept("^", "**") is not None:
            exponent, exponent_depth = self.nested(_SIGN, level + 1)
            operand = Binary("^", operand, exponent)
            depth = max(depth, exponent_depth) + 1
        for _ in range(minus):
            operand = Negate(operand)
        return operand, self.check_depth(depth + minus)

    def nested(self, least: int, level: int) -> _Sized:
        """Read an expression inside brackets or an exponent, counting how many are open."""
        self.open = self.check_depth(self.open + 1)
        result = self.expression(least, level)
        self.open -= 1
        return result

    def atom(self, level: int) -> _Sized:
        token = self.token
        if token.kind == "name":
            return self.name(level)
        if token.kind == "number":
            self.index += 1
            return Number(fraction_of_decimal(token.text)), 1
        if self.accept("(") is not None:
            inner = self.nested(_SUM, level)
            self.expect_close("an operator or ')'")
            return inner
        message = f"expected a number, a name or '(', found {self.next_text()}"
        raise self.fail(message, "complete the expression; a product is written a*b")

    def name(self, level: int) -> _Sized:
        name = "pi" if self.token.text == "π" else self.token.text
        is_call = self.tokens[self.index + 1].text == "("
        if name == RATE and is_call:
            return self.rate()
        if name in FUNCTIONS and is_call:
            return self.call(name, level)
        if self.is_place():
            return Identifier(self.place()), 1
        if is_call:
            raise self.unknown_function(name)
        self.index += 1
        if name in FUNCTIONS:
            raise self.fail(f"expected '(' after the function {name}", f"write {name}(...)")
        return (Constant(name) if name in CONSTANTS else Identifier(name)), 1

    def rate(self) -> _Sized:
        """Read `der(name)`; the word alone may still be the name of something."""
        self.index += 2
        if self.token.kind != "name":
            remedy = "write der(phi) with the name of a coordinate; its rate is meant"
            raise self.fail(f"expected the name of a coordinate, found {self.next_text()}", remedy)
        name = self.place() if self.is_place() else self.bare_name()
        self.expect_close("')'")
        return Identifier(f"{RATE}({name})"), 1

    def is_place(self) -> bool:
        """Tell whether `x(name)` comes next; x, y and z may still be names of something."""
        following = self.tokens[self.index + 1 : self.index + 4]
        if self.token.text not in POSITIONS or len(following) < 3:
            return False
        opening, inner, closing = following
        return opening.text == "(" and inner.kind == "name" and closing.text == ")"

    def place(self) -> str:
        """Read the coordinate of a frame."""
        axis, frame = self.token.text, self.tokens[self.index + 2].text
        self.index += 4
        return f"{axis}({frame})"

    def bare_name(self) -> str:
        name = self.token.text
        self.index += 1
        return name

    def call(self, name: str, level: int) -> _Sized:
        start = self.token
        self.index += 2
        arguments = [self.nested(_SUM, level + 1)]
        while self.accept(",") is not None:
            arguments.append(self.nested(_SUM, level + 1))
        self.expect_close("an operator, ',' or ')'")
        least, greatest = FUNCTIONS[name]
        count = len(arguments)
        if count < least or (greatest is not None and count > greatest):
            wanted = f"{least}" if least == greatest else f"at least {least}"
            message = f"{name} takes {wanted} argument(s), found {count}"
            raise syntax_error(self.text, start.position, message, "correct the call")
        parts = tuple(argument for argument, _ in arguments)
        return Apply(name, parts), self.check_depth(max(depth for _, depth in arguments) + 1)

    def expect_close(self, expected: str) -> None:
        if self.accept(")") is None:
            raise self.fail(f"expected {expected}, found {self.next_text()}", "close the bracket")

    def unknown_function(self, name: str) -> ReadError:
        known = f"the functions are {', '.join(FUNCTIONS)}; a product is a*(b)"
        if name in POSITIONS:
            known += f"; the position of a frame is {name}(tip), with its name alone"
        return self.fail(f"there is no function named {name!r}", near(name, FUNCTIONS) + known)
