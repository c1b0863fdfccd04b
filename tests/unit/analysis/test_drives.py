"""Drives of closed mechanisms: determined, too many, too few."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import chainform as cf
from chainform.analysis import PrescribedMotion, complete, drives
from chainform.errors import RunError
from chainform.simulation import simulate
from unit.simulation.linkages import slider_crank

TIMES = np.linspace(0, 2, 101)


def four_bar() -> cf.Mechanism:
    return cf.read("examples/four_bar.toml")


def turning() -> PrescribedMotion:
    return complete(four_bar(), {"crank": "3*t + 0.2*sin(5*t)"}, t=TIMES, start=[0, 0.5, 1.2])


def test_the_basic_joint_drives_and_its_power_is_that_of_the_motion() -> None:
    motion = turning()
    found = drives(four_bar(), motion.q, motion.qd, motion.qdd)
    assert found.driven == ("crank",)
    assert found.kind == "exact"
    assert found.report == "1 drive for 1 freedom: the drives are determined"
    assert np.abs(found.tau[:, 1:]).max() == 0
    model = cf.derive(four_bar(), ["inverse_dynamics"])
    back = model.evaluate(q=motion.q, qd=motion.qd, qdd=motion.qdd, sigma=found.sigma)
    assert np.abs(back["inverse_dynamics"] - found.tau).max() < 1e-12
    energies = cf.derive(four_bar(), ["kinetic_energy", "potential_energy"])
    h = 1e-6
    ends = [
        complete(four_bar(), {"crank": "3*t + 0.2*sin(5*t)"}, t=1 + s * h, start=motion.q[50])
        for s in (1, -1)
    ]
    later, before = (
        sum(energies.evaluate(q=end.q, qd=end.qd).values(), np.zeros(())) for end in ends
    )
    power = found.tau[50, 0] * motion.qd[50, 0]
    assert (later - before) / (2 * h) == pytest.approx(power, abs=1e-6)


def test_of_more_drives_than_freedoms_the_least_norm_is_taken() -> None:
    motion = turning()
    one = drives(four_bar(), motion.q, motion.qd, motion.qdd)
    two = drives(four_bar(), motion.q, motion.qd, motion.qdd, ["crank", "rocker"])
    assert two.kind == "least norm"
    assert np.all(two.rank == 1)
    power = [(found.tau * motion.qd).sum(axis=1) for found in (one, two)]
    assert np.abs(power[0] - power[1]).max() < 1e-12
    norms = [np.linalg.norm(found.tau, axis=1) for found in (one, two)]
    assert np.all(norms[1] <= norms[0] + 1e-12)
    # Of least norm are those in proportion to the rates: tau = power qd / |qd|^2.
    rates = motion.qd[:, [0, 2]]
    least = power[0][:, None] * rates / (rates**2).sum(axis=1, keepdims=True)
    assert np.abs(two.tau[:, [0, 2]] - least).max() < 1e-10


def test_a_drive_that_cannot_is_told() -> None:
    """At its dead centre the slider cannot accelerate the crank."""
    motion = complete(
        slider_crank(), {"crank": 0.0}, {"crank": 1.0}, {"crank": 5.0}, start={"slider": 1.1}
    )
    found = drives(slider_crank(), motion.q, motion.qd, motion.qdd, ["slider"])
    assert found.kind == "least squares"
    assert "cannot bring this motion about" in found.report
    assert np.abs(found.residual).max() > 0.1


def test_an_open_mechanism_has_its_inverse_dynamics() -> None:
    arm = cf.read("examples/six_axis_arm.toml")
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 4, 6))
    found = drives(arm, q, qd, qdd)
    exact = cf.derive(arm, ["inverse_dynamics"]).evaluate(q=q, qd=qd, qdd=qdd)["inverse_dynamics"]
    assert np.abs(found.tau - exact).max() < 1e-9
    assert found.sigma.shape == (4, 0)


@pytest.mark.slow
def test_the_drives_bring_the_motion_about() -> None:
    motion = complete(slider_crank(), {"crank": "0.4 + sin(2*t)"}, t=TIMES, start={"slider": 1.0})
    tau = drives(slider_crank(), motion.q, motion.qd, motion.qdd, ["slider", "crank"]).tau
    assert np.abs(tau[:, 1]).max() == 0
    smooth = CubicSpline(TIMES, tau)
    run = simulate(
        slider_crank(),
        q0=motion.q[0],
        qd0=motion.qd[0],
        t=1.0,
        t_eval=TIMES[:51],
        forces=lambda t, _q, _qd: smooth(t),
        rtol=1e-8,
    )
    assert np.abs(run.q - motion.q[:51]).max() < 1e-5


def test_a_motion_that_opens_the_loop_is_refused() -> None:
    motion = turning()
    with pytest.raises(RunError, match="rates of the motion do not fit") as caught:
        drives(four_bar(), motion.q, motion.qd + np.array([0.1, 0, 0]), motion.qdd)
    assert "analysis.complete" in str(caught.value.remedy)
    with pytest.raises(RunError, match="accelerations of the motion do not fit"):
        drives(four_bar(), motion.q, motion.qd, motion.qdd + np.array([0.1, 0, 0]))


def test_rounding_errors_of_a_mechanism_at_rest_fit_the_loop() -> None:
    q, rounding = turning().q[0], np.array([1e-15, -2e-15, 3e-15])
    found = drives(four_bar(), q, rounding, rounding)
    still = drives(four_bar(), q, np.zeros(3), np.zeros(3))
    assert np.abs(found.tau - still.tau).max() < 1e-12
    with pytest.raises(RunError, match="rates of the motion do not fit"):
        drives(four_bar(), q, 1e6 * rounding, rounding)
    with pytest.raises(RunError, match="accelerations of the motion do not fit"):
        drives(four_bar(), q, rounding, 1e6 * rounding)


def test_frames_that_are_half_a_turn_apart_do_not_close_a_loop() -> None:
    """Residuals of directions vanish there as well."""
    builder = cf.Mechanism.builder("pair", gravity=(0, 0, 0))
    for name, parent in ("a", "ground"), ("b", "a"):
        builder.segment(name, parent=parent, joint="revolute", axis="z", mass=1, inertia=[1, 1, 1])
    pair = builder.loop("L", "frame", {"segment": "b"}, {"segment": "ground"}).build()
    rest = np.zeros(2)
    assert drives(pair, [0.3, -0.3], rest, rest, ["a"]).tau == pytest.approx(0)
    with pytest.raises(cf.Error, match="turned against each other"):
        drives(pair, [0.3, np.pi - 0.3], rest, rest, ["a"])
