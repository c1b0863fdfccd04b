"""The steps of `derive`: what it refuses before and after the equations are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import DeriveError
from chainform.pipeline import OUTPUTS, available_outputs


def rods(*masses: int, axis: str = "z", **more: Any) -> cf.Mechanism:
    """Return rods one on the other, on joints with one axis."""
    builder, parent = cf.Mechanism.builder("rods", gravity=(0, "-9.81", 0)), "ground"
    for number, mass in enumerate(masses, start=1):
        com = [1, 0, 0] if mass else [0, 0, 0]
        builder.segment(f"s{number}", parent=parent, axis=axis, mass=mass, com=com, **more)
        parent = f"s{number}"
    return builder.build()


@pytest.mark.parametrize(
    ("outputs", "message", "remedy"),
    [
        (
            ["mass_matrix(s1)"],
            "mass_matrix is not a quantity of a frame",
            "write mass_matrix alone",
        ),
        (["derivative(mass_matrix(s1),q)"], "is not a quantity of a frame", "alone"),
        ([], "no outputs are named", "choose from inverse_dynamics, "),
        (["mass_matirx"], "there is no output 'mass_matirx'", "mass_matrix"),
        ([""], "'' is not a quantity", "write a name"),
        ([5], "outputs", 'write outputs=["..."]'),
    ],
)
def test_outputs_that_are_none(outputs: Any, message: str, remedy: str) -> None:
    with pytest.raises(DeriveError, match=message) as caught:
        cf.derive(rods(1), outputs)
    assert remedy in (caught.value.remedy or "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formulation": "newton"}, "no formulation 'newton'"),
        ({"closure": "half"}, "no kind of closure 'half'"),
        ({"without": ["gravity"]}, "no part 'gravity'"),
        ({"wrenches": ["s9"]}, "no frame or segment named 's9'"),
        ({"reduce": "much"}, "no effort 'much'"),
    ],
)
def test_choices_that_are_none(options: dict[str, Any], message: str) -> None:
    with pytest.raises(cf.Error, match=message):
        cf.derive(rods(1), ["mass_matrix"], **options)


def test_what_does_not_move_has_no_equations(tmp_path: Path) -> None:
    file = tmp_path / "sums.txt"
    file.write_text("A = a + b", encoding="utf-8")
    with pytest.raises(DeriveError, match="nothing that moves") as caught:
        cf.derive(cf.read_expressions(file).mechanism)
    assert "describe segments" in (caught.value.remedy or "")


def test_default_outputs_are_those_that_there_are() -> None:
    assert tuple(cf.derive(rods(1)).outputs) == OUTPUTS
    assert tuple(cf.derive(rods(1), formulation="newton_euler").outputs) == OUTPUTS[2:]
    by_bodies = cf.derive(rods(1), formulation="articulated_body")
    assert tuple(by_bodies.outputs) == ("forward_dynamics",)
    assert "closure" not in available_outputs(rods(1))


# --- masses ---------------------------------------------------------------------------------------


def test_two_joints_with_one_axis_and_one_body_are_singular_in_every_pose() -> None:
    """H = I ((1, 1), (1, 1)): its pivots cancel only as numbers."""
    twins = rods(0, 1)
    H = cf.derive(twins, ["mass_matrix"]).evaluate(q=[0.3, 0.4])["mass_matrix"]
    assert np.linalg.matrix_rank(H) == 1
    for formulation in ("auto", "composite_body"):
        with pytest.raises(DeriveError, match="the mass matrix is singular"):
            cf.derive(twins, ["forward_dynamics"], formulation=formulation)


def test_a_joint_without_mass_that_others_load_is_not_singular() -> None:
    """Where the joints have other axes or places, the outer body resists both."""
    builder = cf.Mechanism.builder("arm", gravity=(0, 0, 0)).segment("s1", axis="z")
    builder.segment("s2", parent="s1", axis="x", mass=1, com=[0, 1, 1], inertia=[1, 1, 1])
    found = cf.derive(builder.build(), ["forward_dynamics", "mass_matrix"])
    state: dict[str, Any] = {"q": [0.2, 0.3], "qd": [0.0, 0.0], "tau": [1.0, 2.0]}
    values = found.evaluate(**state)
    np.testing.assert_allclose(values["mass_matrix"] @ values["forward_dynamics"], [1, 2])


def test_free_masses_may_be_negative_by_chance_and_are_not_singular() -> None:
    free = cf.derive(rods(1, 2), ["forward_dynamics"], parameters=["m_*"])
    fixed = cf.derive(rods(1, 2), ["forward_dynamics"])
    state: dict[str, Any] = {"q": [0.2, 0.3], "qd": [0.5, 0.1], "tau": [1.0, 2.0]}
    found, expected = (model.evaluate(**state)["forward_dynamics"] for model in (free, fixed))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("output", ["forward_dynamics", "inverse_mass_matrix"])
def test_nothing_resists_a_joint_without_mass(output: str) -> None:
    with pytest.raises(DeriveError, match="nothing resists qd1: the mass matrix is singular"):
        cf.derive(rods(0), [output])
