"""Formulas in LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.algebra import formulas
from chainform.emitters import (
    EMITTERS,
    Letters,
    definition_formula,
    expansion_formula,
    formula_latex,
    latex_name,
)
from chainform.graph import Builder, expand


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("x", "x"),
        ("H_1_2", "H_{1,2}"),
        ("q12", "q_{12}"),
        ("qd3", r"\dot{q}_{3}"),
        ("qdd3", r"\ddot{q}_{3}"),
        ("w_3_z", "w_{3,z}"),
        ("tau_2", r"\tau_{2}"),
        ("theta", r"\theta"),
        ("J2z", "J_{2z}"),
        ("Ixy", "I_{xy}"),
        ("Jab", r"\mathrm{Jab}"),
        ("hG_2", "h^{G}_{2}"),
        ("Cm_1_2", "C_{m,1,2}"),
        ("Jcom_1_2", r"J_{\mathrm{com},1,2}"),
        ("AG1", "A_{G,1}"),
        ("cos_q1", r"\mathrm{cos}_{\mathrm{q1}}"),
        ("mass", r"\mathrm{mass}"),
        ("a.b", r"\mathrm{a.b}"),
        ("_", r"\mathrm{\_}"),
        ("__", r"\mathrm{\_\_}"),
        ("x_", "x'"),
        ("H_1_2__", "H_{1,2}''"),
        ("hG_2_", r"h^{G\prime}_{2}"),
        ("θ₂", r"\theta_{2}"),
        ("ψ_knee", r"\psi_{\mathrm{knee}}"),
        ("П", r"\text{\texttt{U+041F}}"),
    ],
)
def test_names(name: str, latex: str) -> None:
    assert latex_name(name) == latex


class Inputs:
    """A builder with the inputs of the cases below."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.x = self.builder.input("x", "parameter", 0)
        self.m = self.builder.input("m_1", "parameter", 1)
        self.g = self.builder.input("hG_1", "parameter", 2)
        self.q1, self.q2 = self.builder.input("q1", "q", 0), self.builder.input("q2", "q", 1)

    def call(self, function: str, argument: Any) -> Any:
        return self.builder.call(function, argument)


DEFINITIONS: dict[str, Callable[[Inputs], Any]] = {
    "x": lambda i: i.x,
    "0": lambda i: i.x - i.x,
    r"-\tfrac{22}{7}": lambda i: i.builder.number(Fraction(-22, 7)),
    r"9.81 \, x \, m_{1}": lambda i: Fraction("9.81") * i.x * i.m,
    r"-1 + x^{2} \, m_{1}^{3} - \tfrac{1}{3} \, m_{1}": lambda i: i.x**2 * i.m**3 - i.m / 3 - 1,
    r"(h^{G}_{1})^{2}": lambda i: i.g**2,
    r"\sin q_{1}": lambda i: i.call("sin", i.q1),
    r"\arcsin x": lambda i: i.call("asin", i.x),
    r"\arctan x": lambda i: i.call("atan", i.x),
    r"\sqrt{m_{1}}": lambda i: i.call("sqrt", i.m),
    r"\frac{1}{m_{1}}": lambda i: i.call("reciprocal", i.m),
    r"\left|m_{1}\right|": lambda i: i.call("abs", i.m),
    r"\operatorname{sign} m_{1}": lambda i: i.call("sign", i.m),
    r"\exp \left(h^{G}_{1}\right)": lambda i: i.call("exp", i.g),
}


@pytest.mark.parametrize("latex", DEFINITIONS)
def test_definitions(latex: str) -> None:
    inputs = Inputs()
    variable = inputs.builder.variable_of(DEFINITIONS[latex](inputs))
    formula = definition_formula(inputs.builder.finish(), variable, Letters())
    assert formula_latex(formula) == latex


EXPANSIONS: dict[str, Callable[[Inputs], Any]] = {
    # Inputs stand before calls: nobody must read sin(q_1 x).
    r"x \, \sin q_{1}": lambda i: i.call("sin", i.q1) * i.x,
    r"x^{2} \, \cos^{3} q_{1}": lambda i: i.call("cos", i.q1) ** 3 * i.x**2,
    r"\sin q_{1} \, \cos q_{2} + \cos q_{1} \, \sin q_{2}": lambda i: i.call("sin", i.q1 + i.q2),
    r"\sin \left(0.5 \, q_{1}\right)": lambda i: i.call("sin", i.q1 / 2),
    r"\cos^{2} \left(0.5 \, q_{1}\right)": lambda i: i.call("cos", i.q1 / 2) ** 2,
    r"\frac{1}{\left(m_{1} + x\right)^{2}}": lambda i: i.call("reciprocal", i.x + i.m) ** 2,
    r"\frac{1}{m_{1} + x}": lambda i: 1 / (i.x + i.m),
    r"\sqrt{x^{2} + 1}^{3}": lambda i: i.call("sqrt", i.x * i.x + 1) ** 3,
    r"\left|m_{1} - x\right|^{3}": lambda i: i.call("abs", i.x - i.m) ** 3,
    r"\operatorname{sign}^{2} \left(m_{1} + x\right)": lambda i: i.call("sign", i.x + i.m) ** 2,
    r"\tan \left(m_{1} \, x\right)": lambda i: i.call("tan", i.x * i.m),
    r"\exp \left(x^{2}\right)": lambda i: i.call("exp", i.x * i.x),
    r"\log \left(x \, \sin q_{1}\right)": lambda i: i.call("log", i.call("sin", i.q1) * i.x),
}


@pytest.mark.parametrize("latex", EXPANSIONS)
def test_expansions(latex: str) -> None:
    inputs = Inputs()
    variable = inputs.builder.variable_of(EXPANSIONS[latex](inputs))
    (expansion,) = expand(inputs.builder.finish(), [variable])
    assert formula_latex(expansion_formula(expansion, Letters())) == latex


def test_sums_in_brackets() -> None:
    i = Inputs()
    value = (i.x + i.m) ** 2 * i.call("cos", i.q1 + i.q2) * i.x
    variable = i.builder.variable_of(value)
    (formula,) = formulas(i.builder.finish(), [variable])
    written = r"\left(x + m_{1}\right)^{2} \, x \, \cos \left(q_{1} + q_{2}\right)"
    assert formula_latex(expansion_formula(formula, Letters())) in (
        written,
        written.replace("x + m_{1}", "m_{1} + x"),
    )


def test_every_entry_has_a_left_side() -> None:
    """Entries that share a variable, are inputs or are numbers appear like all others."""
    inputs = Inputs()
    shared = inputs.builder.name("shared", inputs.x * inputs.m + 1)
    values = [shared, shared, inputs.q1, 0, Fraction(1, 3), inputs.x * inputs.q2]
    labels = [f"H_{i}" for i in range(1, 7)]
    inputs.builder.output("H", (6,), list(zip(labels, values, strict=True)))
    lines = EMITTERS["latex"](inputs.builder.finish(), ["H"]).splitlines()
    right = dict(line.removesuffix(r" \\").split(" &= ") for line in lines[1:-1])
    assert [label for label in map(latex_name, labels) if label not in right] == []
    assert right["H_{1}"] == right["H_{2}"] == r"\mathrm{shared}"
    assert (right["H_{3}"], right["H_{4}"], right["H_{5}"]) == ("q_{1}", "0", r"\tfrac{1}{3}")


@pytest.mark.slow
@given(st.lists(st.from_regex(r"[xH_]{1,2}[12_]{0,3}", fullmatch=True), unique=True, max_size=9))
def test_different_names_look_different(names: list[str]) -> None:
    """x1 and x_1 are both x with the index 1; within one text each has a form of its own."""
    builder = Builder()
    values = [builder.input(name, "parameter", i) for i, name in enumerate(names)]
    entries = [(f"y_{i}", 2 * value) for i, value in enumerate(values)]
    builder.output("y", (len(entries),), entries)
    lines = EMITTERS["latex"](builder.finish(), ["y"]).splitlines()[1:-1]
    right = {line.removesuffix(r" \\").split(" &= ")[1] for line in lines if names}
    assert len(right) == len(names)
