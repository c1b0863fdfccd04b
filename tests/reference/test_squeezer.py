"""Andrews' squeezer: mass matrix and closure equations of the test set against ours."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from chainform.expressions import evaluate_expression, parse, symbols_of
from chainform.formulations.shared.kinematics import BuilderArithmetic
from chainform.graph import FLOAT, Builder, Graph, differentiate, evaluate_variables
from docs import DOCS
from zoo import reference_data

FILE = DOCS.parent / "examples" / "squeezer.toml"


def values_of_letters() -> dict[str, float]:
    """Return the letters of the data: lengths, m1 ... I7, xA, yA, ..."""
    given = reference_data("andrews_squeezer")["parameters"]
    letters = {name: value for name, value in given.items() if not isinstance(value, list)}
    for name in ("m", "I"):
        letters |= {f"{name}{i + 1}": value for i, value in enumerate(given[name])}
    for name in ("A", "B", "C"):
        letters |= {f"x{name}": given[name][0], f"y{name}": given[name][1]}
    return letters


def printed_graph(text: str) -> Graph:
    """Return a printed formula as a graph of one output."""
    builder = Builder()
    expression = parse(text)
    coordinates = reference_data("andrews_squeezer")["coordinates"]
    symbols = {
        name: builder.input(name, "q" if name in coordinates else "parameter", place)
        for place, name in enumerate(sorted(symbols_of(expression)))
    }
    value = evaluate_expression(expression, symbols, BuilderArithmetic(builder))
    builder.output("value", (), [("value", value)])
    return builder.finish()


def number(text: str, q: np.ndarray, by: str | None = None) -> float:
    """Return a printed formula, or its derivative by a coordinate, at q."""
    data = reference_data("andrews_squeezer")
    graph = printed_graph(text)
    variable = graph.outputs["value"].variables[0]
    if by is not None:
        if by not in graph.numbers:
            return 0.0
        graph, (variable,) = differentiate(graph, [variable], by)
    values = values_of_letters() | dict(zip(data["coordinates"], q.tolist(), strict=True))
    return evaluate_variables(graph, values, FLOAT, [variable])[variable]


@pytest.mark.parametrize("formulation", ["closed_form", "composite_body"])
def test_mass_matrix(formulation: str) -> None:
    data = reference_data("andrews_squeezer")
    mechanism = cf.read(FILE)
    assert list(mechanism.coordinates) == data["coordinates"]
    model = cf.derive(mechanism, ["mass_matrix"], formulation=formulation, parameters="symbolic")
    q = np.random.default_rng(2).uniform(-2, 2, 7)
    expected = np.zeros((7, 7))
    for place, text in data["mass_matrix_nonzero"].items():
        i, k = int(place[0]) - 1, int(place[1]) - 1
        expected[i, k] = expected[k, i] = number(text, q)
    got = model.evaluate(q=q)["mass_matrix"]
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-18)


@pytest.mark.parametrize("formulation", ["closed_form", "auto"])
def test_closure_jacobian(formulation: str) -> None:
    data = reference_data("andrews_squeezer")
    model = cf.derive(cf.read(FILE), ["closure_jacobian"], formulation=formulation)
    q = np.random.default_rng(3).uniform(-2, 2, 7)
    got = model.evaluate(q=q)["closure_jacobian"]
    assert got.shape == (9, 7)
    names = data["coordinates"]
    expected = [[number(text, q, by) for by in names] for text in data["closure_equations"]]
    rows = [0, 1, 3, 4, 6, 7]
    np.testing.assert_allclose(got[rows], expected, atol=1e-14)
    np.testing.assert_allclose(got[[2, 5, 8]], 0, atol=1e-15)


def test_the_initial_position_closes_the_loops() -> None:
    data = reference_data("andrews_squeezer")
    q = np.array(data["initial"]["q"])
    for text in data["closure_equations"]:
        assert abs(number(text, q)) < 1e-12
