"""Tasks with a mechanism that is written as elements: frames by name, branches, forces."""

from __future__ import annotations

from pathlib import Path

import numpy as np

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
