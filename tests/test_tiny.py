"""The whole house on a pendulum, in a moment; runs before each commit."""

from __future__ import annotations

from fractions import Fraction
from math import sin
from pathlib import Path

import numpy as np
import pytest

import chainform as cf
from chainform.graph import Angle, evaluate, graph_text, parse_graph, verify

PENDULUM = """
name = "pendulum"
gravity = [0, 0, "-g"]
[parameters]
g = 9.81
l = { value = 0.5, unit = "m" }
[[segments]]
name = "rod"
joint = { type = "revolute", axis = [0, 1, 0], name = "hinge" }
mass = 2
com = [0, 0, "-l"]
inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0]]
"""


@pytest.fixture
def model(tmp_path: Path) -> cf.Model:
    path = tmp_path / "pendulum.toml"
    path.write_text(PENDULUM)
    return cf.derive(cf.read(path), parameters=["g", "l"])


def test_formulas(model: cf.Model) -> None:
    assert model.mechanism.coordinates == ("hinge",)
    assert str(model["mass_matrix"][0, 0].expand()) == "2*l^2 + 0.1"
    assert str(model["gravity"][0].expand()) == "2*g*l*sin(q1)"
    assert str(model["gravity"][0].diff("hinge").expand()) == "2*g*l*cos(q1)"
    assert str(model["coriolis"][0, 0, 0]) == "0"


def test_values(model: cf.Model) -> None:
    values = model.evaluate(q=[[0.3], [1.0]], qd=[0.5], qdd=[2.0], values={"l": 0.25})
    expected = [[2 * 0.225 + 2 * 9.81 * 0.25 * sin(q)] for q in (0.3, 1.0)]
    np.testing.assert_allclose(values["inverse_dynamics"], expected, rtol=1e-14)
    given = {"q1": Angle.from_tangent(Fraction(1, 2)), "g": Fraction(10), "l": Fraction(1)}
    assert evaluate(model.graph, given, names=["gravity"])["gravity"].tolist() == [16]


def test_text_and_program(model: cf.Model) -> None:
    verify(model.graph)
    text = graph_text(model.graph)
    assert graph_text(parse_graph(text)) == text
    assert model.count().sin == 1
    assert "sin(q1)" in model.emit("python")
