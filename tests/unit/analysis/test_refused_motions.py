"""Motions that no finite force brings about, that contradict themselves, or that are too large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis import PrescribedMotion, complete, motion_of

T = np.linspace(0, 1, 11)


def pair() -> cf.Mechanism:
    builder = cf.Mechanism.builder("pair").parameter("w", "0.5")
    builder.segment("a", axis="z", mass=1, com=[1, 0, 0], inertia=[0, 0, "0.1"])
    builder.segment("b", parent="a", axis="z", position=[1, 0, 0], mass=1, com=["0.5", 0, 0])
    return builder.frame("tip", "b", [1, 0, 0]).build()


def linkage() -> cf.Mechanism:
    return cf.read("examples/four_bar.toml")


START = [0, 0.5, 1.2]
JUMPS = ["step(t - 0.55)", "0.3*sign(t - 0.55)", "abs(t - 0.55)", "max(t, 0.55)", "min(2*t, w + t)"]


@pytest.mark.parametrize("law", JUMPS)
def test_laws_that_jump_are_refused_in_tasks(law: str) -> None:
    both = {"a": law, "b": "0"}
    target = {"tip": {"x": f"1 + 0.1*({law})", "y": "0.2"}}
    tasks: list[Callable[[], Any]] = [
        lambda: cf.kinematics(pair(), both, T),
        lambda: cf.inverse_dynamics(pair(), both, T),
        lambda: cf.inverse_dynamics(pair(), {"a": [{"law": law}], "b": "0"}, T),
        lambda: complete(pair(), both, t=T),
        lambda: cf.inverse_kinematics(pair(), target, T, q0=[-0.8, 1.5]),
    ]
    for task in tasks:
        with pytest.raises(cf.Error, match=r"jumps at t = 0\.5"):
            task()


def test_laws_that_jump_are_refused_in_closed_mechanisms() -> None:
    with pytest.raises(cf.Error, match=r"jumps at t = 0\.55 s"):
        cf.inverse_dynamics(linkage(), {"crank": "abs(t - 0.55)"}, T, start=START)


def test_a_corner_counts_where_the_motion_passes_it() -> None:
    cf.kinematics(pair(), {"a": "abs(t - 1.5)", "b": "0"}, T)
    # Between the times of samples, and where a value of a parameter puts it.
    few = [0, 0.1, 0.9, 1]
    pieces = [{"until": 0.5, "law": "abs(t - 0.3) - t"}, {"law": "-0.3"}]
    with pytest.raises(cf.Error, match=r"jumps at t = 0\.3 s"):
        motion_of(pair(), {"a": pieces, "b": "0"}, few)
    law = {"a": "abs(t - w)", "b": "0"}
    motion_of(pair(), law, T, values={"w": np.array(7.0)})
    motion_of(pair(), law, T, values={"w": 7})
    with pytest.raises(cf.Error, match=r"jumps at t = 0\.25 s"):
        motion_of(pair(), law, T, values={"w": 0.25})


@pytest.mark.slow
def test_rates_of_other_units_are_reported() -> None:
    t = np.linspace(0, 1, 41)
    values, rates, accelerations = np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)
    for factor in (1, 180 / np.pi, -1):
        table = {"t": t, "values": values, "rates": factor * rates}
        table["accelerations"] = factor * accelerations
        report = " ".join(cf.kinematics(pair(), {"a": table, "b": "0"}, t).report)
        assert ("do not fit the values" in report) == (factor != 1)
        follow = cf.simulate(pair(), t=0.1, motion={"a": table})
        assert ("do not fit the values" in " ".join(follow.report)) == (factor != 1)


def test_known_states_are_checked() -> None:
    m, zeros = len(T), np.zeros((11, 2))
    found = cf.inverse_dynamics(pair(), PrescribedMotion(T, *(zeros.tolist(),) * 3))  # type: ignore[arg-type]
    assert found["tau"].shape == (m, 2)
    wrong = [
        (PrescribedMotion(T, zeros * np.nan, zeros, zeros), "not finite"),
        (PrescribedMotion(T * np.nan, zeros, zeros, zeros), "not finite"),
        (PrescribedMotion(T, zeros[0], zeros[0], zeros[0]), "not as many q as times"),
        (PrescribedMotion(T, zeros, zeros[:5], zeros), "not as many qd as times"),
        (PrescribedMotion(T, None, zeros, zeros), "not an array"),  # type: ignore[arg-type]
        (PrescribedMotion(T, zeros[:, :1], zeros, zeros), "has 1 entries of q"),
    ]
    for states, words in wrong:
        for task in (cf.kinematics, cf.inverse_dynamics):
            with pytest.raises(cf.Error, match=words):
                task(pair(), states)


def test_results_beyond_the_range_of_numbers_are_refused() -> None:
    with pytest.raises(cf.Error, match=r"acceleration\(tip\) has no finite value"):
        cf.kinematics(pair(), {"a": "1e200*t", "b": "0"}, T, ["tip"])
    huge = {"t": T, "values": T, "rates": T + 1e200, "accelerations": T + 1e300}
    with pytest.raises(cf.Error, match="qdd has no finite value"):
        cf.kinematics(linkage(), {"crank": huge}, T, start=START)


def test_mean_loads_scale_with_the_force() -> None:
    motion = {"crank": "3*t"}
    names = ("crank_mass", "coupler_mass", "rocker_mass")
    loads = [
        cf.inverse_dynamics(
            linkage(), motion, T, start=START, values=dict.fromkeys(names, mass)
        ).facts["loads"]["crank"]
        for mass in (1, 1e160)
    ]
    assert loads[1]["rms"] == pytest.approx(1e160 * loads[0]["rms"], rel=1e-6)


@pytest.mark.parametrize("task", [cf.inverse_dynamics, cf.kinematics])
def test_one_time_is_a_motion(task: Callable[..., Any]) -> None:
    assert len(task(pair(), {"a": "t", "b": "0"}, 0.3)) == 1


def test_values_beyond_the_range_of_numbers_are_refused() -> None:
    with pytest.raises(cf.Error, match="moment of inertia of segment 'crank' is beyond"):
        cf.statics(linkage(), {"crank": 0.3}, values={"a": 1e200})


def test_more_times_than_there_is_room_for_are_refused() -> None:
    with pytest.raises(cf.Error, match="there are 3000000 times"):
        cf.inverse_dynamics(pair(), {"a": "t", "b": "0"}, np.linspace(0, 1, 3_000_000))
