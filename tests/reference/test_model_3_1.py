"""The reduced program that Racković 1996 prints, corrected, against the formulations."""

from __future__ import annotations

import re
from fractions import Fraction
from math import cos, sin
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.expressions import evaluate_expression, parse, symbols_of
from zoo import reference, reference_data


class Doubles:
    """The arithmetic of the printed program."""

    def number(self, value: Fraction) -> float:
        return float(value)

    def call(self, function: str, arguments: Any) -> float:
        return {"sin": sin, "cos": cos}[function](*arguments)


def run_program(q: Any) -> dict[str, float]:
    """Run the straight-line program; every variable by its printed name."""
    values = {f"q_{i + 1}": float(q[i]) for i in range(6)}
    for line in reference_data("rackovic_model_3_1")["program"]:
        expression = parse(line["rhs"])
        known = {name: values[name] for name in symbols_of(expression)}
        values[line["lhs"]] = evaluate_expression(expression, known, Doubles())
    return values


@pytest.mark.parametrize("formulation", ["closed_form", "composite_body"])
def test_the_printed_program_gives_the_same_numbers(formulation: str) -> None:
    outputs = ["mass_matrix", "coriolis", "gravity"]
    model = cf.derive(reference("rackovic_2_1"), outputs, formulation=formulation)
    q = np.random.default_rng(1).uniform(-3, 3, 6)
    ours, printed = model.evaluate(q=q), run_program(q)
    tolerance = reference_data("rackovic_model_3_1")["tolerance"]["absolute"]
    listed = 0
    for name, value in printed.items():
        indices = [int(digit) - 1 for digit in re.findall(r"\d", name)]
        if re.fullmatch(r"H_\d\d", name):
            expected = ours["mass_matrix"][tuple(indices)]
        elif re.fullmatch(r"C_\d\d_\d", name):
            expected = ours["coriolis"][indices[2], indices[0], indices[1]]
        elif re.fullmatch(r"h_\d_G", name):
            expected = ours["gravity"][indices[0]]
        else:
            continue
        listed += 1
        assert value == pytest.approx(expected, abs=tolerance), name
    assert listed > 60
