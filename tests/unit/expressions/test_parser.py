"""What the parser reads, and what it says about what it cannot read."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.errors import ReadError
from chainform.expressions import (
    Apply,
    Binary,
    Constant,
    Expression,
    Identifier,
    Negate,
    Number,
    format_expression,
    fraction_of_decimal,
    parse,
    substitute,
    symbols_of,
    value_of,
)
from refusals import accepted_or_refused

A, B, C = Identifier("a"), Identifier("b"), Identifier("c")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", A),
        (" 1.50 ", Number(Fraction(3, 2))),
        (".5", Number(Fraction(1, 2))),
        ("1e-3", Number(Fraction(1, 1000))),
        ("pi", Constant("pi")),
        ("a-b-c", Binary("-", Binary("-", A, B), C)),
        ("a/b*c", Binary("*", Binary("/", A, B), C)),
        ("a+b*c", Binary("+", A, Binary("*", B, C))),
        ("a^b^c", Binary("^", A, Binary("^", B, C))),
        ("a**b", Binary("^", A, B)),
        ("-a^b", Negate(Binary("^", A, B))),
        ("(-a)^b", Binary("^", Negate(A), B)),
        ("a^-b", Binary("^", A, Negate(B))),
        ("a*-b", Binary("*", A, Negate(B))),
        ("+a", A),
        ("--a", Negate(Negate(A))),
        ("atan2(a, b)", Apply("atan2", (A, B))),
        ("max(a,b,c)", Apply("max", (A, B, C))),
        ("sin((a))", Apply("sin", (A,))),
    ],
)
def test_reads(text: str, expected: Expression) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a number, a name or '(', found the end, at character 1"),
        ("2x", "expected an operator or the end, found 'x', at character 2"),
        ("a b", "found 'b', at character 3"),
        ("a+)", "found ')', at character 3"),
        ("(a", "expected an operator or ')', found the end, at character 3"),
        ("sin", "expected '(' after the function sin"),
        ("sin()", "expected a number"),
        ("sine(a)", "there is no function named 'sine'"),
        ("atan2(a)", "atan2 takes 2 argument(s), found 1"),
        ("min(a)", "min takes at least 2 argument(s), found 1"),
        ("sin(a,b)", "sin takes 1 argument(s), found 2"),
        ("a $ b", "the character '$' has no meaning here, at character 3"),
        ("a.b", "the character '.' has no meaning here"),
        ("__import__('os')", 'the character "\'" has no meaning here'),
        ("1e401", "too large an exponent"),
        ("1" * 401, "too many digits"),
        ("(" * 101 + "a" + ")" * 101, "nested more than 100 deep"),
        ("^".join("a" * 102), "nested more than 100 deep"),
        ("-" * 5000 + "a", "nested more than 100 deep"),
        ("sin(" * 101 + "a" + ")" * 101, "nested more than 100 deep"),
        ("a+b*sin(" * 1000, "nested more than 100 deep"),
        ("a-(" * 1000, "nested more than 100 deep"),
        ("2^-(" * 1000, "nested more than 100 deep"),
        ("a" * 100_001, "the expression has 100001 characters"),
        ("a ⊕ b", "the character '⊕' has no meaning here"),
        ("2½", "has no meaning here"),
    ],
)
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        parse(text)
    assert message in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize("start", ["(", "a-(", "sin(", "-(", "2^(", "a*("])
def test_a_hundred_levels_can_be_read_and_used(start: str) -> None:
    text = start * 49 + "a" + ")" * 49
    expression = parse(text)
    assert parse(format_expression(expression)) == expression
    assert hash(expression) == hash(parse(text))


@pytest.mark.parametrize("count", [79, 80, 81, 82, 101, 160, 161, 1000, 5000])
@pytest.mark.parametrize("operators", ["+", "-", "+-", "*", "/", "*/", "-+-"])
def test_sums_and_products_may_be_long(operators: str, count: int) -> None:
    signs = [operators[k % len(operators)] for k in range(count - 1)]
    numbers = [Fraction(k % 7 + 1) for k in range(count)]
    text = "1" + "".join(f"{sign}a{n}" for sign, n in zip(signs, numbers[1:], strict=True))
    expression = parse(text)
    assert parse(format_expression(expression)) == expression
    assert hash(expression) == hash(parse(text))
    expected = Fraction(1)
    for sign, number in zip(signs, numbers[1:], strict=True):
        expected = apply(sign, expected, number)
    values = {f"a{n}": n for n in numbers}
    if count <= 161 or operators[0] in "+-":
        assert value_of(expression, values) == expected
    assert substitute(expression, values) is not None


def apply(sign: str, left: Fraction, right: Fraction) -> Fraction:
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case _:
            return left / right


def test_suggests_the_function_that_was_meant() -> None:
    with pytest.raises(ReadError) as caught:
        parse("arctan(a)")
    assert "atan" in str(caught.value.remedy)


def test_symbols_are_names_without_constants_and_functions() -> None:
    assert symbols_of(parse("a*sin(b)+pi^c-2")) == {"a", "b", "c"}
    assert symbols_of(parse("2*pi")) == frozenset()


@pytest.mark.parametrize(
    "text", ["", ".", "e5", "1e", "1_000", "0x10", "nan", "1e4000000000", "1 2"]
)
def test_decimals_that_are_none(text: str) -> None:
    with pytest.raises(ReadError):
        fraction_of_decimal(text)


def test_decimals_are_exact() -> None:
    assert fraction_of_decimal("-12.50e-2") == Fraction(-1, 8)
    assert fraction_of_decimal("+1E+400") == Fraction(10) ** 400
    assert fraction_of_decimal("000.1") == Fraction(1, 10)


PIECES = [
    "x",
    "y(",
    "z(tip)",
    "der(",
    "der(x(a))",
    "der(z",
    "(",
    ")",
    "a",
    "2",
    "*",
    "-",
    ",",
    "sin(",
]


@given(
    st.text(alphabet="ab1.e+-*/^(), sincopqrt\n$", max_size=60)
    | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
)
def test_garbage_gives_an_expression_or_a_read_error(text: str) -> None:
    with accepted_or_refused():
        expression = parse(text)
        assert parse(format_expression(expression)) == expression


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x(tip)", {"x(tip)"}),
        ("x ( tip ) - x*y", {"x(tip)", "x", "y"}),
        ("-z(a)^2*sin(y(b))", {"z(a)", "y(b)"}),
        ("der(x(tip)) + der(x)", {"der(x(tip))", "der(x)"}),
        ("x(x) + y(der) + z(sin)", {"x(x)", "y(der)", "z(sin)"}),
    ],
)
def test_coordinates_of_frames(text: str, names: set[str]) -> None:
    """A frame coordinate is one symbol, in files and among references; x alone is a name."""
    expression = parse(text)
    assert symbols_of(expression) == names
    assert parse(format_expression(expression)) == expression
    if " (" not in text:
        assert symbols_of(parse(text, references=True)) == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x(2)", "no function named 'x'"),
        ("x(a + b)", "no function named 'x'"),
        ("x(y(tip))", "no function named 'x'"),
        ("w(tip)", "no function named 'w'"),
        ("x(tip", "no function named 'x'"),
        ("x(", "no function named 'x'"),
        ("der(x(tip)", "expected '\\)'"),
        ("der(x(tip) + 1)", "expected '\\)'"),
        ("der(der(x(tip)))", "expected '\\)'"),
    ],
)
def test_what_is_no_coordinate_of_a_frame(text: str, message: str) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        parse(text)
    if "'x'" in message:
        assert "the position of a frame is x(tip)" in (caught.value.remedy or "")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("H[1,2]*q1", {"H[1,2]", "q1"}),
        ("jacobian(tool 2,local)[1,:] + sin(q1)", {"jacobian(tool 2,local)[1,:]", "q1"}),
        ("d(tau)/d(qd)[1,2]/2", {"d(tau)/d(qd)[1,2]"}),
        ("d(H[1,1])/d(m_6)", {"d(H[1,1])/d(m_6)"}),
        ("derivative(f(a), b)[1] - c.d", {"derivative(f(a), b)[1]", "c.d"}),
        ("der(phi)*max(a, b[2])", {"der(phi)", "a", "b[2]"}),
        ("d/d1", {"d", "d1"}),
    ],
)
def test_references(text: str, names: set[str]) -> None:
    """A quantity with its brackets is one symbol, and its text reads back."""
    expression = parse(text, references=True)
    assert symbols_of(expression) == names
    assert parse(format_expression(expression), references=True) == expression


@pytest.mark.parametrize("text", ["H[1,2]", "a(b)", "c.d", "H[1"])
def test_references_are_no_expressions_of_files(text: str) -> None:
    with pytest.raises(ReadError):
        parse(text)


@pytest.mark.parametrize("text", ["H[1", "a(((((b", "a(", "d(x/d(y)", "H[[1]]", "]"])
def test_brackets_of_references_that_are_not_closed(text: str) -> None:
    with pytest.raises(ReadError):
        parse(text * 1000, references=True)
