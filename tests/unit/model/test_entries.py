"""States by name: q, qd, x, u and force as tables, and what is said of wrong ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import Error, RunError


def driven() -> cf.Model:
    builder = cf.Mechanism.builder("arm").parameter("k")
    builder.segment("lower", axis="z", mass="k", com=[1, 0, 0], inertia=[1, 1, 1])
    builder.segment("upper", parent="lower", axis="y", mass=1, com=[1, 0, 0])
    builder.force("lower", "sin(t)*der(lower)")
    motor: dict[str, Any] = {"type": "dc_motor", "resistance": 1, "torque_constant": 1}
    builder.actuator("motor", "lower", rotor_inertia=1, inductance=1, **motor)
    outputs = ["inverse_dynamics", "complete_model"]
    return cf.derive(builder.build(), outputs, reduce="none")


def crane() -> cf.Model:
    builder = cf.Mechanism.builder("crane").coordinates("s").unknowns("F", "G")
    builder.element("cart: Sx(s); 3")
    builder.element(kind="force", force="2*F + G", along="s")
    return cf.derive(builder.build(), ["inverse_dynamics", "mass_matrix"], reduce="none")


STATE: dict[str, Any] = {
    "q": [0.1, 0.2],
    "qd": [0.3, 0.4],
    "qdd": [0.5, 0.6],
    "t": 0.7,
    "x": [0.1, 0.2, 0.3],
    "u": [4.0],
    "values": {"k": 2.0},
}


def test_entries_by_name() -> None:
    model = driven()
    expected = model.evaluate(**STATE)
    names: dict[str, Any] = {"x": {"motor.current": 0.3, "motor.q": 0.1, "motor.qd": 0.2}}
    names["qd"] = {"qd2": 0.4, "lower": 0.3}
    for signal in ("motor", "motor.voltage"):
        state: dict[str, Any] = {**STATE, **names, "u": {signal: 4.0}}
        found = model.evaluate(**state)
        for output, value in expected.items():
            np.testing.assert_array_equal(found[output], value)
    model = crane()
    value = model.evaluate(q=[0], qd=[0], qdd=[0], force={"G": [1, 2], "F": 10})
    assert value["inverse_dynamics"].tolist() == [[-21], [-22]]


def test_what_an_output_does_not_need_may_be_given() -> None:
    found = crane().evaluate(q=[0], force=[1, 2], outputs=["mass_matrix"])
    assert found["mass_matrix"].tolist() == [[3]]
    bare = cf.derive(crane().mechanism, ["mass_matrix"], reduce="none")
    assert bare.evaluate(q=[0], force=[1, 2])["mass_matrix"].tolist() == [[3]]


@pytest.mark.parametrize(
    ("change", "element", "words"),
    [
        ({"u": {"motor.current": 1}}, "u", "there is no entry 'motor.current'"),
        ({"x": {"motor.q": 1}}, "x", "x has no value for motor.qd, motor.current"),
        ({"u": {"motor": 1, "motor.voltage": 2}}, "u", "given twice"),
        ({"u": [1, 2]}, "u", "its last dimension must be 1"),
        ({"force": {"F": 1}}, "force", "there is no entry 'F'"),
        ({"wrench": {"tool": 1}}, "wrench", "there is no entry 'tool'"),
        ({"q": {"lower": [1, 2], "upper": [1, 2, 3]}}, "q", "do not fit together"),
        ({"x": np.zeros((4, 3)), "t": np.zeros(2)}, "x, t", "x (4,), t (2,)"),
        ({"values": [1]}, "values", "expected a table"),
        ({"values": {1: 2}}, "1", "there is no free parameter '1'"),
        ({"values": {"k": "x"}}, "k", "real numbers"),
        ({"t": [None]}, "t", "real numbers"),
        ({"t": 10**400}, "t", "real numbers"),
        ({"u": print}, "u", "cannot be a function"),
    ],
)
def test_mistakes_are_named(change: dict[str, Any], element: str, words: str) -> None:
    with pytest.raises(RunError) as caught:
        driven().evaluate(**{**STATE, **change})
    assert words in caught.value.message
    assert caught.value.element == element
    assert caught.value.remedy


def test_names_of_coordinates_that_are_no_texts() -> None:
    state: dict[str, Any] = {**STATE, "q": {1: 2}}
    with pytest.raises(Error, match="no coordinate named '1'"):
        driven().evaluate(**state)
