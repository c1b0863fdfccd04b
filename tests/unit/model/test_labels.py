"""Labels of entries: each means one entry, and none is lost where outputs have the same ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError

EXAMPLES = Path(__file__).parents[3] / "examples"
STATE: dict[str, Any] = {name: np.linspace(0.1, 0.7, 4) for name in ("q", "qd", "qdd", "tau")}
WEIGHTED = [
    "weights*d(H[1,:])/d(q)",
    "weights*d(H[2,:])/d(q)",
    "weights*d(com)/d(q)",
    "weights*d(com_velocity)/d(q)",
    "weights*d(com)/d(q)*direction",
    "weights*d(com[1:2])/d(q)",
    "weights*d(com_velocity[1:2])/d(q)",
]


@cache
def arm() -> cf.Mechanism:
    return cf.read(EXAMPLES / "pick_arm.urdf")


@cache
def with_accelerations() -> cf.Model:
    """A model with variables on the way that would like to be called tau_1 ..., too."""
    return cf.derive(arm(), ["qdd", "d(qdd)/d(q)", "d(tau)/d(q)", "tau"])


def left_sides(model: cf.Model) -> list[str]:
    lines = model.emit("latex").splitlines()
    return [line.split("&=")[0].strip() for line in lines if "&=" in line]


def test_a_label_is_an_entry_before_it_is_a_variable() -> None:
    model = with_accelerations()
    found = model.evaluate(**STATE)["inverse_dynamics"]
    for k, label in enumerate(model["tau"].labels):
        assert model.evaluate(**STATE, outputs=[str(label)])[str(label)] == found[k]


def test_a_formula_has_each_left_side_once() -> None:
    for model in (with_accelerations(), cf.derive(arm(), WEIGHTED)):
        sides = left_sides(model)
        assert len(sides) == len(set(sides))
        assert len(sides) >= sum(model[output].labels.size for output in model.outputs)


def test_parts_of_a_vector_have_labels_of_their_own() -> None:
    model = cf.derive(arm(), WEIGHTED)
    labels = [str(label) for output in model.outputs for label in model[output].labels.flat]
    assert len(labels) == len(set(labels)) == 6 * 4 + 1
    (counts,) = model.count_by_entry().values()
    assert list(counts) == labels


def two_arms() -> cf.Model:
    builder = cf.Mechanism.builder("two arms")
    for name, axis in (("left-arm", "y"), ("left_arm", "z")):
        builder.segment(name, parent="ground", axis=axis, mass="1.5", com=["0.2", 0, 0])
    names = ("left-arm", "left_arm")
    return cf.derive(builder.build(), [f"jacobian({name})" for name in names])


def test_a_label_of_two_outputs_is_refused() -> None:
    model = two_arms()
    with pytest.raises(RunError, match="may mean") as caught:
        model["J_left_arm_5_1"]
    assert "jacobian(left-arm)[5,1]" in str(caught.value.remedy)
    (counts,) = model.count_by_entry().values()
    assert len(counts) == 24
    assert "jacobian(left_arm)[6,2]" in counts


def test_an_entry_that_stands_in_two_outputs_is_no_question() -> None:
    outputs = ["d(tau)/d(q)", "d(tau)/d(q2)", "nonzeros(H)", "H", "Cz(tau)", "Cz(tau[1:2])"]
    model = cf.derive(arm(), outputs)
    for label in ("tau_2_by_q2", "H_2_2", "Cz_tau_1_2"):
        assert model[label].shape == ()


def test_a_letter_within_a_derivative_that_is_also_a_variable() -> None:
    """T is the letter of the kinetic energy, and the variable that it is on the way."""
    model = cf.derive(arm(), ["d(T)/d(q)", "nonzeros(d(V)/d(q))"])
    for text, output in zip(("d(T)/d(q)", "nonzeros(d(V)/d(q))"), model.outputs, strict=True):
        assert model[text].name == output
        assert model.graph_with([text]) is model.graph


def test_entries_of_derivatives_that_no_stage_has_are_counted_in_all() -> None:
    model = cf.derive(arm(), ["hG"]).reduce("fast")
    counts = model.count_by_entry(["d(hG)/d(q)[4,:]"])
    assert list(counts) == [stage.name for stage in model.stages]
    assert all(list(c) == [f"hG_4_by_q{k}" for k in range(1, 5)] for c in counts.values())
    with pytest.raises(RunError, match="no quantity nothing"):
        model.count_by_entry(["nothing"])
