"""Loops without basic joints: their reactions would enter no row of B."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import chainform as cf
from chainform.pipeline import available_outputs

SQUEEZER = Path(__file__).parents[3] / "examples" / "squeezer.toml"


def slider(basic: list[str] | None) -> cf.Mechanism:
    """Return a chain of three slides that is closed at a point."""
    builder = cf.Mechanism.builder("slides")
    for name, parent, axis in (("x", "ground", "x"), ("y", "x", "y"), ("z", "y", "z")):
        builder.segment(name, parent=parent, joint="prismatic", axis=axis, mass=1)
    builder.loop("hold", "point", {"segment": "z"}, {"segment": "ground"}, basic)
    return builder.build()


@pytest.mark.parametrize("basic", [None, []])
def test_a_loop_without_basic_joints_has_no_closure_matrix(basic: list[str] | None) -> None:
    mechanism = slider(basic)
    for output, kind in (("closure", "complete"), ("inverse_dynamics", "basic")):
        with pytest.raises(cf.Error, match="no basic joints") as caught:
            cf.derive(mechanism, [output], closure=kind)
        assert caught.value.element == "loop 'hold'"
        assert "closure_jacobian" in (caught.value.remedy or "")
    assert "closure" not in available_outputs(mechanism)
    found = cf.derive(mechanism, ["closure_jacobian", "inverse_dynamics"]).evaluate(
        q=[0, 0, 0], qd=[0, 0, 0], qdd=[0, 0, 0], sigma=[1, 2, 3]
    )
    np.testing.assert_array_equal(found["closure_jacobian"], np.eye(3))


def test_a_loop_has_no_outputs_of_constraints() -> None:
    with pytest.raises(cf.Error, match="with constraints") as caught:
        cf.derive(slider(None), ["constraint"])
    assert caught.value.remedy == "of loops there are closure_jacobian and closure"


def test_one_loop_of_several_without_basic_joints() -> None:
    with pytest.raises(cf.Error, match="no basic joints") as caught:
        cf.derive(SQUEEZER, ["closure"])
    assert caught.value.element == "loop 'rocker'"


def test_basic_joints_that_are_named_have_their_rows() -> None:
    mechanism = slider(["x"])
    assert "closure" in available_outputs(mechanism)
    found = cf.derive(mechanism, ["closure"]).evaluate(q=[0, 0, 0])["closure"]
    np.testing.assert_array_equal(found, np.diag([-1.0, 0.0, 0.0]))
