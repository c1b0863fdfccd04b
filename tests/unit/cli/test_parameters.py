"""`chainform parameters`: base parameters for people and for programs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import chainform as cf

ARM = Path(__file__).parents[3] / "examples" / "pick_arm.urdf"


def test_document_is_that_of_the_mechanism(call: Callable[..., Any]) -> None:
    document = call("parameters", ARM, "--json").document
    base = cf.read(ARM).base_parameters()
    assert [entry["name"] for entry in document["base"]] == list(base.names)
    assert document["base"][1]["formula"] == {"Ixx_2": 1, "Izz_2": -1, "m_3": 0.1225, "m_4": 0.1225}
    assert len(document["dynamic"]) == len(base.parameters) == 41
    assert document["without_effect"] == list(base.without_effect)


def test_lines_for_people(call: Callable[..., Any]) -> None:
    lines = call("parameters", ARM, "--parameters", "d_*", "--without", "friction").out.splitlines()
    assert lines[0] == "pick_arm: 40 dynamic parameters, 22 base parameters"
    assert "Ixx_2 - Izz_2 + d_3_z^2*m_3 + d_3_z^2*m_4" in lines[5]
    assert lines[-1].startswith("  m_1, mx_1, my_1, mz_1")


def test_errors(call: Callable[..., Any], refused: Callable[[Any], str]) -> None:
    elements = ARM.with_name("stanford_elements.toml")
    assert "the mechanism has elements" in refused(call("parameters", elements))
    assert "did you mean 'springs'" in refused(call("parameters", ARM, "--without", "sprigs"))


def test_values_of_base_parameters(call: Callable[..., Any]) -> None:
    state = '{"q": [0, 0, 0, 0], "qd": [0, 0, 0, 0], "qdd": [1, 0, 0, 0], "values": {"Izz_1R": 5}}'
    arguments = ("eval", ARM, "--at", state, "--outputs", "tau", "--parameters", "base")
    document = call(*arguments, "--json").document
    plain = cf.read(ARM).base_parameters().values["Izz_1R"]
    assert isinstance(plain, Fraction)
    expected = cf.derive(ARM, ["tau"]).evaluate([0] * 4, [0] * 4, [1, 0, 0, 0])["inverse_dynamics"]
    first = document["outputs"]["inverse_dynamics"]["values"][0]
    assert abs(first - (expected[0] + 5 - float(plain))) < 1e-12
