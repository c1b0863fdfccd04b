"""Tasks with a mechanism that is written as elements: frames by name, branches, forces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import chainform as cf

STANFORD = Path(__file__).parents[3] / "examples" / "stanford_elements.toml"
T = np.linspace(0, 2, 41)
MOTION = {
    "theta1": "0.5*sin(t)",
    "theta2": "-0.4 + 0.3*cos(2*t)",
    "d32": "0.35 + 0.15*sin(t + 0.4)",
}


def tip(q: np.ndarray) -> np.ndarray:
    """Return the place of the tip: turn about z, then about x, at the end of three shifts."""
    a, b, d = q.T
    x, y, z = 0.75, np.cos(b) * (d + 0.4), 0.75 + np.sin(b) * (d + 0.4)
    c, s = np.cos(a), np.sin(a)
    return np.stack([c * x - s * y, s * x + c * y, z], axis=1)


def test_kinematics_of_an_element() -> None:
    found = cf.kinematics(cf.read(STANFORD), MOTION, T, ["C"])
    np.testing.assert_allclose(found["position(C)"], tip(found["q"]), atol=1e-12)
    h = 1e-5
    before, after = (
        cf.kinematics(cf.read(STANFORD), MOTION, T + step, ["C"])["position(C)"] for step in (-h, h)
    )
    np.testing.assert_allclose(found["velocity(C)"], (after - before) / (2 * h), atol=1e-8)


def test_whole_turns_of_elements_are_no_other_branches() -> None:
    """An arm that turns, tilts and slides reaches a point in four ways."""
    found = cf.inverse_kinematics(cf.read(STANFORD), {"C": [0.3, 0.7, 0.5]}, branches="all")
    assert len(found) == 4
    np.testing.assert_allclose(tip(found["q"]), [[0.3, 0.7, 0.5]] * 4, atol=1e-9)
    angles = np.exp(1j * found["q"][:, :2])
    apart = np.abs(angles[:, None] - angles[None, :]).max(axis=2) + np.eye(4)
    assert apart.min() > 0.01


def test_a_law_that_counts_turns_has_branches_of_its_own() -> None:
    """A screw goes on with every turn."""
    builder = cf.Mechanism.builder("screw").coordinates({"name": "phi", "unit": "rad"})
    screw = builder.element("nut: Sz(phi/10), Rz(phi); 1").build()
    found = cf.inverse_kinematics(screw, {"nut": {"z": 0.7}}, q0=[6.0])
    assert abs(found["q"][0, 0] - 7) < 1e-9


def test_power_of_unknown_forces_is_the_rate_of_energy() -> None:
    t = np.linspace(0, 2, 201)
    found = cf.inverse_dynamics(cf.read(STANFORD), MOTION, t)
    drives = {"M1": 0, "M2": 1, "F32": 2}
    for name, k in drives.items():
        np.testing.assert_allclose(found[f"power({name})"], found[name] * found["qd"][:, k])
    gained = found["energy"] - found["energy"][0]
    np.testing.assert_allclose(found["work"], gained, atol=1e-6)
    assert "largest power" in found.report[1]


def test_no_power_where_time_moves_a_force() -> None:
    builder = cf.Mechanism.builder("lift").coordinates("x").unknowns("F")
    builder.element("table: Sz(t), Sx(x); 1")
    lift = builder.element(kind="force", force=["F", 0, "F"], at="table").build()
    found = cf.inverse_dynamics(lift, {"x": "t^2"}, T)
    assert "power(F)" not in found.arrays
    np.testing.assert_allclose(found["F"], 2)


def test_unknown_forces_at_few_times_give_the_motion_back() -> None:
    found = cf.inverse_dynamics(cf.read(STANFORD), MOTION, np.linspace(0, 1, 21))
    again = found.simulate()
    np.testing.assert_allclose(again.q, found["q"], atol=1e-5)


# --- laws that have values in a part of the range only --------------------------------------------


def crane() -> cf.Mechanism:
    """Return the portal crane: its rods close while s is from 1.2 to 5.9 m, about."""
    return cf.read(STANFORD.parent / "portal_crane.toml")


@pytest.mark.parametrize("method", ["newton", "dynamic"])
def test_a_path_beyond_the_range_of_laws_is_out_of_reach(method: str) -> None:
    t = np.linspace(0, 20, 11)
    found = cf.inverse_kinematics(crane(), {"load": {"x": "12 + t"}}, t, q0=[4.0], method=method)
    assert found["reached"].tolist() == [1] * 7 + [0] * 4
    (stretch,) = found.facts["stretches"]
    assert 12 < stretch["start"] < 14
    assert stretch["end"] == 20
    last = cf.derive(crane(), ["pose(load)"]).evaluate(q=found["q"][-1])["pose(load)"][0, 3]
    assert found["position_error"][-1] == pytest.approx(32 - last, rel=1e-6)


def test_a_search_begins_where_laws_have_values() -> None:
    for q0 in (None, [9.0]):
        with pytest.raises(cf.Error, match="no value in the pose to begin with") as refusal:
            cf.inverse_kinematics(crane(), {"load": {"x": 12}}, q0=q0)
        assert refusal.value.element == "q0"


def test_a_workspace_leaves_out_poses_without_values() -> None:
    found = cf.workspace(crane(), "load", count=40, ranges={"s": [0, 9]})
    assert 10 < len(found) < 40
    assert found.report[-1].startswith(f"{len(found)} of 40 poses are left")
    assert 1 < found["q"].min() < found["q"].max() < 6
    assert np.isfinite(found["position"]).all()
    with pytest.raises(cf.Error, match="no value in 40 poses"):
        cf.workspace(crane(), "load", count=40, ranges={"s": [90, 99]})


def test_a_pose_without_values_is_refused_by_its_number() -> None:
    with pytest.raises(cf.Error, match="no finite value in state 2"):
        cf.statics(crane(), [[4.0], [40.0]])
