"""Read an expression from text.

    sum     = product { ("+" | "-") product }
    product = sign { ("*" | "/") sign }
    sign    = ("+" | "-") sign | power
    power   = atom [ ("^" | "**") sign ]
    atom    = number | "pi" | name | function "(" sum { "," sum } ")" | "(" sum ")"

So `-x^2` is -(x^2), `2^-3` is allowed and `a^b^c` is a^(b^c). Nothing is ever executed.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import cast

from chainform.errors import ReadError
from chainform.expressions.tokens import Token, fraction_of_decimal, syntax_error, tokens_of
from chainform.expressions.types import (
    CONSTANTS,
    FUNCTIONS,
    MAX_DEPTH,
    Apply,
    Binary,
    Constant,
    Expression,
    Negate,
    Number,
    Operator,
    Symbol,
)

_Sized = tuple[Expression, int]
"""An expression with the depth of its tree."""


def parse(text: str) -> Expression:
    """Return the expression written in `text`.

    A mistake raises ReadError that tells the place, what was expected there and what to do.
    """
    reader = _Parser(text)
    expression, _ = reader.sum()
    reader.expect_end()
    return expression


class _Parser:
    """A recursive descent over the tokens; each method reads one rule of the grammar above."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
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

    def found(self) -> str:
        return "the end" if self.token.kind == "end" else repr(self.token.text)

    def expect_end(self) -> None:
        if self.token.kind == "end":
            return
        remedy = "remove it or put an operator before it; a product is written 2*x"
        raise self.fail(f"expected an operator or the end, found {self.found()}", remedy)

    def expect_close(self, expected: str) -> None:
        if self.accept(")") is None:
            raise self.fail(f"expected {expected}, found {self.found()}", "close the bracket")

    def too_deep(self) -> ReadError:
        return self.fail(
            f"the expression is nested more than {MAX_DEPTH} deep",
            "give parts of it names as parameters, or group a long sum by brackets",
        )

    def above(self, depth: int) -> int:
        """Return the depth of a tree set upon one of the given depth."""
        if depth >= MAX_DEPTH:
            raise self.too_deep()
        return depth + 1

    def chain(self, operand: Callable[[], _Sized], *operators: str) -> _Sized:
        """Read operands joined by operators of one rank, grouped from the left."""
        left, depth = operand()
        while (mark := self.accept(*operators)) is not None:
            right, right_depth = operand()
            left = Binary(cast(Operator, mark), left, right)
            depth = self.above(max(depth, right_depth))
        return left, depth

    def sum(self) -> _Sized:
        return self.chain(self.product, "+", "-")

    def product(self) -> _Sized:
        return self.chain(self.sign, "*", "/")

    def sign(self) -> _Sized:
        minus = 0
        while (mark := self.accept("+", "-")) is not None:
            minus += mark == "-"
        operand, depth = self.power()
        for _ in range(minus):
            operand, depth = Negate(operand), self.above(depth)
        return operand, depth

    def power(self) -> _Sized:
        base, depth = self.atom()
        if self.accept("^", "**") is None:
            return base, depth
        exponent, exponent_depth = self.nested(self.sign)
        return Binary("^", base, exponent), self.above(max(depth, exponent_depth))

    def nested(self, rule: Callable[[], _Sized]) -> _Sized:
        """Read a rule inside brackets or an exponent, counting how many are open."""
        if self.open >= MAX_DEPTH:
            raise self.too_deep()
        self.open += 1
        result = rule()
        self.open -= 1
        return result

    def atom(self) -> _Sized:
        token = self.token
        if token.kind == "number":
            self.index += 1
            return Number(fraction_of_decimal(token.text)), 1
        if token.kind == "name":
            return self.name()
        if self.accept("(") is not None:
            inner = self.nested(self.sum)
            self.expect_close("an operator or ')'")
            return inner
        message = f"expected a number, a name or '(', found {self.found()}"
        raise self.fail(message, "complete the expression; a product is written a*b")

    def name(self) -> _Sized:
        name = self.token.text
        is_call = self.tokens[self.index + 1].text == "("
        if name in FUNCTIONS:
            if not is_call:
                self.index += 1
                raise self.fail(f"expected '(' after the function {name}", f"write {name}(...)")
            return self.call(name)
        if is_call:
            raise self.unknown_function(name)
        self.index += 1
        return (Constant(name) if name in CONSTANTS else Symbol(name)), 1

    def call(self, name: str) -> _Sized:
        start = self.token
        self.index += 2
        arguments = [self.nested(self.sum)]
        while self.accept(",") is not None:
            arguments.append(self.nested(self.sum))
        self.expect_close("an operator, ',' or ')'")
        least, greatest = FUNCTIONS[name]
        count = len(arguments)
        if count < least or (greatest is not None and count > greatest):
            wanted = f"{least}" if least == greatest else f"at least {least}"
            message = f"{name} takes {wanted} argument(s), found {count}"
            raise syntax_error(self.text, start.position, message, "correct the call")
        parts = tuple(argument for argument, _ in arguments)
        return Apply(name, parts), self.above(max(depth for _, depth in arguments))

    def unknown_function(self, name: str) -> ReadError:
        close = get_close_matches(name, FUNCTIONS, n=1)
        known = "the functions are " + ", ".join(FUNCTIONS)
        remedy = f"did you mean {close[0]}? " + known if close else known
        return self.fail(f"there is no function named {name!r}", remedy + "; a product is a*(b)")
