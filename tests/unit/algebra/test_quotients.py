"""Expressions with reciprocals: one fraction in lowest terms, as a textbook has it."""

from __future__ import annotations

from fractions import Fraction

import pytest

import chainform as cf
from chainform.algebra import formulas
from chainform.errors import RunError
from chainform.graph import Builder, Scalar, formula_text


class Letters:
    """A builder with letters a to d, and the sine and cosine of an angle."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.a, self.b, self.c, self.d = (
            self.builder.input(name, "parameter", i) for i, name in enumerate("abcd")
        )
        angle = self.builder.input("q1", "q", 0)
        self.sin, self.cos = self.builder.call("sin", angle), self.builder.call("cos", angle)

    def over(self, value: Scalar) -> Scalar:
        return self.builder.call("reciprocal", value)

    def text(self, value: Scalar) -> str:
        variable = self.builder.variable_of(value)
        (found,) = formulas(self.builder.finish(), [variable])
        return formula_text(found)


@pytest.fixture
def x() -> Letters:
    return Letters()


def test_what_numerator_and_denominator_share_is_divided_out(x: Letters) -> None:
    assert x.text(x.a * x.b * x.over(x.a * x.c)) == "b/c"
    assert x.text((x.a * x.a - x.b * x.b) * x.over(x.a + x.b)) == "a - b"
    assert x.text(x.a * x.over(x.a)) == "1"
    assert x.text(x.a * x.over(x.b) + x.c * x.over(x.b)) == "(a + c)/b"
    assert x.text(x.a * x.over(x.a + x.b) + x.b * x.over(x.a + x.b) - 1) == "0"


def test_fractions_in_fractions_are_one(x: Letters) -> None:
    assert x.text(x.over(x.over(x.a) + x.over(x.b))) == "a*b/(a + b)"
    assert x.text(x.over(x.over(x.over(x.a) * x.b) * x.c)) == "b/(a*c)"


def test_squares_of_sines_in_denominators(x: Letters) -> None:
    assert x.text(x.over(x.a + x.b - x.b * x.cos * x.cos)) == "1/(b*sin(q1)^2 + a)"
    assert x.text((1 - x.cos * x.cos) * x.over(1 - x.cos * x.cos)) == "1"


def test_numbers_of_denominators_are_short_and_positive(x: Letters) -> None:
    small = Fraction(1, 1000)
    assert x.text(small * x.over(small * x.cos * x.cos - 3 * small)) == "-1/(-cos(q1)^2 + 3)"
    below = Fraction("123.456") * x.cos + x.a
    assert x.text(x.over(below)) == "1/(123.456*cos(q1) + a)"


def test_a_fraction_with_a_denominator_of_its_own_is_in_brackets(x: Letters) -> None:
    root = x.builder.call("sqrt", x.over(x.a))
    assert x.text(x.b * x.over(root)) == "b/sqrt(reciprocal(a))"
    variable = x.builder.variable_of(x.b * x.over(x.over(x.a)))
    (split,) = formulas(x.builder.finish(), [variable], angles="split")
    assert formula_text(split) == "b/(1/a)"


def test_powers_below(x: Letters) -> None:
    assert x.text(x.over(x.a) ** 3 * 5) == "5/a^3"
    assert x.text(x.over(x.a + x.b) ** 2 * x.over(x.b)) == "1/(b*(a + b)^2)"
    assert x.text(x.over(x.a) ** 2 * 1) == "1/a^2"


def test_long_powers_stay_as_they_are(x: Letters) -> None:
    assert x.text(x.a * x.over(x.a) ** 70) == "a/a^70"


def test_the_inverse_mass_matrix_of_a_double_pendulum() -> None:
    builder = cf.Mechanism.builder("double pendulum", gravity=(0, "-9.81", 0))
    for name in ("m_1", "m_2", "l_1", "l_2"):
        builder.parameter(name, 1)
    joint = {"name": "theta1", "type": "revolute"}
    builder.segment("1", joint=joint, axis="z", mass="m_1", com=["l_1", 0, 0])
    joint = {"name": "theta2", "type": "revolute"}
    place: list[str | int] = ["l_1", 0, 0]
    builder.segment(
        "2", parent="1", position=place, joint=joint, axis="z", mass="m_2", com=["l_2", 0, 0]
    )
    model = cf.derive(builder.build(), ["qdd", "Hi"], parameters="symbolic")
    below = "(l_1^2*l_2^2*m_2*(m_2*sin(q2)^2 + m_1))"
    assert str(model["Hi"].expand()).splitlines() == [
        "Hi_1_1 = 1/(l_1^2*(m_2*sin(q2)^2 + m_1))",
        "Hi_1_2 = Hi_2_1 = -(l_1*cos(q2) + l_2)/(l_1^2*l_2*(m_2*sin(q2)^2 + m_1))",
        f"Hi_2_2 = (2*m_2*l_1*l_2*cos(q2) + (m_1 + m_2)*l_1^2 + m_2*l_2^2)/{below}",
    ]
    acceleration = model["qdd"][0]
    text = str(acceleration.expand())
    assert text.endswith("/(l_1^2*l_2*(m_2*sin(q2)^2 + m_1))")
    # What is written is read back, and is the same.
    again = model.with_outputs({"again": text})
    difference = again["again"] - again["qdd"][0]
    assert str(difference.expand()) == "0"
    lines = acceleration.latex(expanded=True)
    assert r"\frac{1}{l_{1}^{2} \, l_{2} \, \left(" in lines
    assert "{-1}" not in lines
    with pytest.raises(RunError, match=r"has \d+ terms when it is multiplied out; the limit is 5"):
        acceleration.expand(limit=5)
