"""State and input matrices as formulas: exactly those of differences, and those of linearise."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis import linearise
from chainform.errors import DeriveError
from chainform.graph import EXACT, Angle, evaluate
from chainform.mechanism import with_unit_quaternions
from chainform.simulation import whole_states
from driven import driven_tree
from zoo import random_tree

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_a_free_body_and_its_arm_agree_with_linearise() -> None:
    mechanism, rng = random_tree(2, quaternions=True), np.random.default_rng(1)
    q = with_unit_quaternions(mechanism, rng.uniform(-1, 1, mechanism.nq))
    qd, tau = (rng.uniform(-1, 1, mechanism.nv) for _ in range(2))
    wanted = linearise(mechanism, q=q, qd=qd, tau=tau)
    found = cf.derive(mechanism, ["Az", "Bz"]).evaluate(q=q, qd=qd, tau=tau)
    assert found["state_matrix"] == pytest.approx(wanted.A, rel=1e-10, abs=1e-10)
    assert found["input_matrix"] == pytest.approx(wanted.B, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("seed", [0, 3, 7])
def test_actuators_agree_with_linearise(seed: int) -> None:
    """The states of the formulas are a linear change of those of linearise: A X = X A_z."""
    m, rng = driven_tree(seed).mechanism, np.random.default_rng(seed)
    q, qd, u = (rng.uniform(-1, 1, size) for size in (m.nq, m.nv, len(m.signals)))
    at = linearise(m, ["q", "qd", "x"], q=q, qd=qd, u=u)
    held = {a.rate: a for a in m.actuators}
    free_q = [k for k in range(m.nv) if k not in held or held[k].position is None]
    free_qd = [k for k in range(m.nv) if k not in held or held[k].velocity is None]
    rows = [*free_q, *(m.nv + k for k in free_qd), *range(2 * m.nv, 2 * m.nv + len(m.states))]
    X = at.C[rows]
    model = cf.derive(m, ["state_matrix", "input_matrix"])
    groups = {item.group for item in model.graph.inputs.values()}
    given: dict[str, Any] = {"q": q, "qd": qd, "u": u, "x": at.point["x"], "tau": np.zeros(m.nv)}
    found = model.evaluate(**{g: array for g, array in given.items() if g in groups})
    A, B = found["state_matrix"], found["input_matrix"]
    scale = max(1.0, np.abs(at.A).max()) * max(1.0, np.abs(X).max())
    assert np.abs(A @ X - X @ at.A).max() < 1e-9 * scale
    assert np.abs(B - X @ at.B).max() < 1e-9 * scale
    assert np.array_equal(
        at.point["x"], whole_states(m, q, qd, np.zeros(len(at.states) - 2 * m.nv))
    )


def test_a_pendulum_in_fractions() -> None:
    """phi'' = (tau - c phi' - m g l sin(phi)) / (m l^2), exactly, at a rational angle."""
    builder = cf.Mechanism.builder("pendulum", gravity=(0, 0, -10))
    builder.segment("bob", axis="y", mass=3, com=[0, 0, "-1/2"], inertia=[0, 0, 0])
    pendulum = builder.build().with_forces({"bob": "-2*der(bob)"})
    graph = cf.derive(pendulum, ["state_matrix", "input_matrix"]).graph
    # cos = 3/5 where the tangent of half the angle is 1/2
    values = {"q1": Angle.from_tangent(Fraction(1, 2)), "qd1": Fraction(5, 7), "tau1": Fraction(2)}
    found = evaluate(graph, values, EXACT)
    wanted = [[0, 1], [-Fraction(15 * 4, 3) * Fraction(3, 5), Fraction(-8, 3)]]
    assert found["state_matrix"].tolist() == wanted
    assert found["input_matrix"].ravel().tolist() == [0, Fraction(4, 3)]


def test_loops_constraints_and_other_methods_are_refused() -> None:
    for name in ("four_bar", "knife_edge"):
        with pytest.raises(DeriveError, match="open mechanisms") as caught:
            cf.derive(EXAMPLES / f"{name}.toml", ["state_matrix"])
        assert "linearise" in str(caught.value.remedy)
    with pytest.raises(DeriveError, match="no output of newton_euler"):
        cf.derive(EXAMPLES / "six_axis_arm.toml", ["Az"], formulation="newton_euler")


def test_they_are_outputs_like_any_other() -> None:
    arm = cf.read(EXAMPLES / "driven_arm.toml")
    model = cf.derive(arm, ["state_matrix", "input_matrix[3,1]"], parameters=["R"])
    x, u = np.linspace(-1, 1, 9), [1.0, 2.0, 3.0]
    whole = model.evaluate(x=x, u=u)
    reduced = model.reduce("fast").evaluate(x=x, u=u)
    for name, value in whole.items():
        assert reduced[name] == pytest.approx(value, rel=1e-9, abs=1e-9)
    slope = model.evaluate(x=x, u=u, outputs=["d(Az[3,3])/d(R)"])["d(Az[3,3])/d(R)"]
    # x' of the current has - R/L times it.
    assert slope == pytest.approx(whole["state_matrix"][2, 2] / 0.299)
