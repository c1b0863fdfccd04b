"""The forces of Obradović and Marković 1991 in a file, and the accelerations they give."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.formulations import FORMULATIONS
from chainform.mechanism import Mechanism
from zoo import reference, reference_data

EXAMPLE = Path(__file__).parents[2] / "examples" / "manipulator_forces.toml"
TIMES = (0.0, 0.3, 0.5, 1.0, 1.5, 1.7)


def from_reference() -> Mechanism:
    """Return the manipulator with the forces of the reference case."""
    segments = reference_data("manipulator_5dof")["generalised_forces"]["segments"]
    forces: dict[str, Any] = {}
    for place in range(5):
        pieces = [{"until": s["t"][1], "law": s["Q"][place]} for s in segments]
        forces[f"q{place + 1}"] = [*pieces[:-1], {"law": pieces[-1]["law"]}]
    return reference("manipulator_5dof").with_forces(forces)


def printed(t: float) -> Any:
    """Return the forces of Table 4 at a time, the later law at a jump."""
    if t < 0.5:
        return np.array([6348, 673 * t - 508, 36 * t + 986, 0, 63.5])
    if t < 1.5:
        return np.array([4905, 8 + 148 * exp(-5.5 * (t - 0.5)), -2, 0, 49.05])
    return np.array([3462, 240, -1019, 0, 34.6])


def methods() -> list[str]:
    return [m.name for m in FORMULATIONS.values() if "forward_dynamics" in m.outputs]


@pytest.mark.parametrize("formulation", methods())
def test_accelerations_under_the_forces(formulation: str) -> None:
    """H^-1 (Q - c - hG) with H, c and hG of the reference case."""
    model = cf.derive(from_reference(), ["forward_dynamics"], formulation=formulation)
    for state in reference_data("manipulator_5dof")["evaluations"]:
        for t in TIMES:
            got = model.evaluate(q=state["q"], qd=state["qd"], tau=np.zeros(5), t=t)
            right = printed(t) - np.array(state["c"]) - np.array(state["hG"])
            expected = np.linalg.solve(np.array(state["H"]), right)
            np.testing.assert_allclose(got["forward_dynamics"], expected, rtol=1e-9, atol=1e-9)


def test_inverse_dynamics_needs_less_by_the_forces() -> None:
    mechanism = from_reference()
    model = cf.derive(mechanism, ["inverse_dynamics"], formulation="lagrange")
    bare = cf.derive(mechanism, ["inverse_dynamics"], formulation="lagrange", without=["forces"])
    for state in reference_data("manipulator_5dof")["evaluations"]:
        given = {name: state[name] for name in ("q", "qd", "qdd")}
        without = bare.evaluate(**given)["inverse_dynamics"]
        np.testing.assert_allclose(without, state["tau"], rtol=1e-9, atol=1e-8)
        for t in TIMES:
            got = model.evaluate(**given, t=t)["inverse_dynamics"]
            np.testing.assert_allclose(got, without - printed(t), rtol=1e-12, atol=1e-9)


def test_the_example_has_these_forces() -> None:
    example, expected = cf.read(EXAMPLE), from_reference()
    moved = [(force.rate, force.pieces) for force in expected.forces if any(force.laws)]
    assert [(force.rate, force.pieces) for force in example.forces] == moved


Rate = Callable[[float, Any], Any]


def step(rate: Rate, state: Any, t: float, h: float) -> Any:
    """Return the state after one step of the classic method of fourth order."""
    a = rate(t, state)
    b = rate(t + h / 2, state + h / 2 * a)
    c = rate(t + h / 2, state + h / 2 * b)
    d = rate(t + h, state + h * c)
    return state + h / 6 * (a + 2 * b + 2 * c + d)


def start() -> Any:
    given = reference_data("manipulator_5dof")["initial_conditions"]
    return np.array([given["q"], given["qd"]], float)


def assert_on(motion: Any, k: int, state: Any, within: float) -> None:
    np.testing.assert_allclose(state[0], motion["q"][k], rtol=0, atol=within)
    np.testing.assert_allclose(state[1], motion["qd"][k], rtol=0, atol=within)


@pytest.mark.slow
def test_the_motion_under_the_forces() -> None:
    """The computed trajectory with continuous forces."""
    motion = reference_data("manipulator_5dof")["trajectories"][1]
    assert "continuous" in motion["label"]
    model = cf.derive(cf.read(EXAMPLE), ["forward_dynamics"], formulation="lagrange")
    state, steps = start(), 25
    for k, (begin, end) in enumerate(pairwise(motion["t"]), 1):
        # The law before a jump counts up to its very end.
        last = np.nextafter(end, 0)

        def rate(t: float, at: Any, last: float = last) -> Any:
            found = model.evaluate(q=at[0], qd=at[1], tau=np.zeros(5), t=min(t, last))
            return np.array([at[1], found["forward_dynamics"]])

        h = (end - begin) / steps
        for n in range(steps):
            state = step(rate, state, begin + n * h, h)
        assert_on(motion, k, state, 1e-7)


@pytest.mark.slow
def test_the_motion_of_the_printed_tables() -> None:
    """Tables 5 and 6, made with forces held over steps of 0.01 s; here they are drives."""
    data = reference_data("manipulator_5dof")
    exact, tables = data["trajectories"][0], data["printed_trajectory"]
    mechanism = reference("manipulator_5dof")
    model = cf.derive(mechanism, ["forward_dynamics"], formulation="lagrange")
    state = start()
    for k in range(200):
        held = printed(k / 100)

        def rate(_: float, at: Any, held: Any = held) -> Any:
            found = model.evaluate(q=at[0], qd=at[1], tau=held)
            return np.array([at[1], found["forward_dynamics"]])

        state = step(rate, state, k / 100, 0.01)
        if (k + 1) % 25 == 0:
            assert_on(exact, (k + 1) // 25, state, 1e-8)
            assert_on(tables, (k + 1) // 25, state, 1e-5)
