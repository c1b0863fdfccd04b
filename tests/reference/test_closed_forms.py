"""Printed analytic forms of Racković 1996 against ours: equal as polynomials, exactly."""

from __future__ import annotations

import pytest

import chainform as cf
from chainform.expressions import evaluate_expression, parse, symbols_of
from chainform.formulations.shared.kinematics import BuilderArithmetic
from chainform.graph import Builder, Expansion, Scalar, expand
from zoo import reference, reference_data


def symbol_of(builder: Builder, name: str) -> Scalar:
    """Return what a letter of the paper stands for: s234 is sin(q2 + q3 + q4)."""
    angle = builder.number(0)
    for digit in name[1:]:
        angle = angle + builder.input(f"q{digit}", "q", int(digit) - 1)
    return builder.call({"s": "sin", "c": "cos"}[name[0]], angle)


def printed(text: str) -> Expansion:
    """Return a printed form, multiplied out."""
    builder = Builder()
    expression = parse(text)
    symbols = {name: symbol_of(builder, name) for name in sorted(symbols_of(expression))}
    value = evaluate_expression(expression, symbols, BuilderArithmetic(builder))
    variable = builder.variable_of(value, "form")
    return expand(builder.finish(), [variable])[0]


@pytest.mark.parametrize("form", ["H11_unsimplified", "H11_simplified"])
def test_corrected_forms_of_h_11(form: str) -> None:
    model = cf.derive(reference("rackovic_2_1"), ["mass_matrix"])
    text = reference_data("rackovic_2_1")["analytic_forms"][form]
    assert model["mass_matrix"][0, 0].expand(angles="split").expansion == printed(text)


def test_a_wrong_coefficient_is_found() -> None:
    model = cf.derive(reference("rackovic_2_1"), ["mass_matrix"])
    text = reference_data("rackovic_2_1")["analytic_forms"]["H11_simplified"]
    misprint = text.replace("0.181625*s234", "0.185625*s234")
    assert misprint != text
    assert model["mass_matrix"][0, 0].expand(angles="split").expansion != printed(misprint)
