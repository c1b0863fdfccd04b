"""Transitions along motions against differences of tight runs, and against closed forms."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis import VariationalEquations, transitions_along
from chainform.readers import read_text
from chainform.simulation import Problem
from unit.analysis.motion_differences import parameter_slopes, start_slopes

PENDULUM = {
    "name": "pendulum",
    "gravity": [0, -9.81, 0],
    "parameters": {"m": 1.5, "l": 0.7, "k": 0.4},
    "segments": [
        {
            "name": "rod",
            "parent": "ground",
            "joint": "revolute",
            "axis": "z",
            "mass": "m",
            "com": ["l", 0, 0],
            "inertia": [0, "m*l^2/12", "m*l^2/12"],
        }
    ],
}
BODY = {
    "name": "body",
    "gravity": [0, 0, -9.81],
    "parameters": {"m": 2.0, "s": 0.05},
    "segments": [
        {
            "name": "top",
            "parent": "ground",
            "joint": "free",
            "mass": "m",
            "com": ["s", 0.01, 0.02],
            "inertia": [0.02, 0.03, 0.04],
        },
        {
            "name": "arm",
            "parent": "top",
            "joint": "spherical",
            "position": [0.1, 0.2, 0],
            "mass": 0.5,
            "com": [0, 0.1, 0.05],
            "inertia": [0.002, 0.003, 0.004],
        },
    ],
}


def problem_of(table: dict[str, Any], **options: Any) -> Problem:
    mechanism = read_text(json.dumps(table), "json")
    return Problem.of(mechanism, energy_balance=False, rtol=1e-12, **options)


def compare(problem: Problem, values: dict[str, float], q0: Any, qd0: Any, share: float) -> None:
    """Compare the deviations at the end with differences, by all but further states."""
    q0, qd0 = np.array(q0), np.array(qd0)
    equations = VariationalEquations.of(problem.compile(), list(values))
    _, found = transitions_along(equations, q0, qd0)
    last = found.forward()[-1]
    nv, n = problem.mechanism.nv, len(found.names)
    for mine, other in (
        (last[:, : 2 * nv], start_slopes(problem, q0, qd0)),
        (last[:, n:], parameter_slopes(problem, values, (q0, qd0))),
    ):
        scale = np.abs(other).max(axis=0)
        assert np.all(np.abs(mine - other).max(axis=0) <= share * scale + 1e-9)


def test_harmonic_motion() -> None:
    """A mass on a spring: the transition is that of sine and cosine, by k and m too."""
    mass, stiffness, t = 2.0, 50.0, 1.3
    table = {
        "name": "mass",
        "gravity": [0, 0, 0],
        "parameters": {"m": mass, "k": stiffness},
        "segments": [
            {"name": "x", "parent": "ground", "joint": "prismatic", "axis": "x", "mass": "m"}
        ],
        "forces": [{"joint": "x", "law": "-k*x"}],
    }
    problem = problem_of(table, t=t)
    equations = VariationalEquations.of(problem.compile(), ["k", "m"])
    _, found = transitions_along(equations, [0.3], [0.0])
    w = np.sqrt(stiffness / mass)
    c, s = np.cos(w * t), np.sin(w * t)
    assert np.allclose(found.monodromy, [[c, s / w], [-w * s, c]], atol=1e-9)
    by_w = np.array([-0.3 * t * s, -0.3 * (s + w * t * c)])
    by = np.outer(by_w, [w / (2 * stiffness), -w / (2 * mass)])
    assert np.allclose(found.forward()[-1][:, 2:], by, atol=1e-9)
    start, parameters = found.adjoint(np.array([1.0, 0.5]))
    assert np.allclose(start, [1.0, 0.5] @ found.monodromy, rtol=1e-13)
    assert np.allclose(parameters, [1.0, 0.5] @ found.forward()[-1][:, 2:], rtol=1e-12)


def test_pendulum_with_a_law() -> None:
    problem = problem_of(PENDULUM, t=2.0, forces={"rod": "-k*der(rod)^3 + sin(3*t)*l"})
    compare(problem, {"m": 1.5, "l": 0.7, "k": 0.4}, [0.4], [1.0], 1e-8)


def test_controller_with_a_state() -> None:
    pid = {"rod": {"type": "pid", "kp": 40, "ki": 20, "kd": "k", "target": "0.5*sin(t)"}}
    problem = problem_of(PENDULUM, t=1.0, controllers=pid)
    compare(problem, {"m": 1.5, "k": 0.4}, [0.4], [1.0], 1e-8)


def test_quaternions() -> None:
    problem = problem_of(BODY, t=0.8)
    q0 = [0.1, 0.2, 0.3, 0.0, 0.6, 0.0, 0.8, 0.6, 0.0, 0.0, 0.8]
    qd0 = [0.3, -0.2, 0.1, 3.0, -2.0, 4.0, 1.0, 2.0, -3.0]
    compare(problem, {"m": 2.0, "s": 0.05}, q0, qd0, 1e-6)


@pytest.mark.slow
def test_actuators() -> None:
    arm = cf.read("examples/driven_arm.toml")
    signals = {name: f"{k + 4}*sin({k + 2}*t)" for k, name in enumerate(arm.signals)}
    problem = Problem.of(arm, energy_balance=False, rtol=1e-12, t=0.3, signals=signals)
    compare(problem, {"R": 0.299}, [0.1, 0.5, -0.4], [0.1, 0.2, -0.3], 1e-6)
