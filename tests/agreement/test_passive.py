"""Friction, springs, rotors and forces given by laws: the same in every formulation, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.formulations import FORMULATIONS
from chainform.graph import EXACT, evaluate, verify
from chainform.mechanism import Friction
from pinocchio_oracle import Oracle, pin
from zoo import exact_state, loaded_tree, random_tree

TREES = range(8)
TIMES = (Fraction(0), Fraction(3, 10), Fraction(1, 2), Fraction(7, 4), Fraction(2))


OUTPUTS = ("inverse_dynamics", "mass_matrix", "gravity", "bias")


def all_of(
    mechanism: cf.Mechanism,
    state: dict[str, Any],
    outputs: Sequence[str],
    formulation: str = "auto",
    **options: Any,
) -> dict[str, Any]:
    model = cf.derive(mechanism, outputs, formulation=formulation, **options)
    verify(model.graph)
    return evaluate(model.graph, state, EXACT)


def methods(output: str) -> list[str]:
    return [method.name for method in FORMULATIONS.values() if output in method.outputs]


@pytest.mark.parametrize("seed", TREES)
def test_all_formulations_agree(seed: int) -> None:
    mechanism = loaded_tree(seed)
    parameters = "symbolic" if seed % 2 else "numeric"
    state = exact_state(mechanism, seed) | {"t": TIMES[seed % len(TIMES)]}
    expected = all_of(mechanism, state, [*OUTPUTS, "passive"], parameters=parameters)
    for method in FORMULATIONS.values():
        asked = [*(output for output in OUTPUTS if output in method.outputs), "passive"]
        got = all_of(mechanism, state, asked, method.name, parameters=parameters)
        for output in asked:
            assert (got[output] == expected[output]).all(), (method.name, output)


@pytest.mark.slow
@pytest.mark.parametrize("seed", TREES)
def test_forward_dynamics_undoes_inverse_dynamics(seed: int) -> None:
    mechanism = loaded_tree(seed)
    state = exact_state(mechanism, seed) | {"t": TIMES[seed % len(TIMES)]}
    known = all_of(mechanism, state, ["inverse_dynamics", "mass_matrix"])
    state |= {f"tau{i + 1}": value for i, value in enumerate(known["inverse_dynamics"])}
    if np.linalg.matrix_rank(known["mass_matrix"].astype(float), tol=1e-9) < mechanism.nv:
        return
    expected = [state[f"qdd{i + 1}"] for i in range(mechanism.nv)]
    for method in methods("forward_dynamics"):
        got = all_of(mechanism, state, ["forward_dynamics"], method)["forward_dynamics"]
        assert got.tolist() == expected, method


@pytest.mark.parametrize("seed", TREES)
def test_the_equation_of_motion(seed: int) -> None:
    """tau = H qdd + c + hG + P - Q, each part from elsewhere."""
    mechanism = loaded_tree(seed)
    state = exact_state(mechanism, seed) | {"t": TIMES[seed % len(TIMES)]}
    qdd = np.array([state[f"qdd{i + 1}"] for i in range(mechanism.nv)], dtype=object)
    parts = all_of(mechanism, state, ["inverse_dynamics", "mass_matrix", "bias", "passive"])
    whole = parts["mass_matrix"] @ qdd + parts["bias"] + parts["passive"]
    assert (parts["inverse_dynamics"] == whole - law_forces(mechanism, state)).all()


def law_forces(mechanism: cf.Mechanism, state: dict[str, Any]) -> Any:
    """Return the forces of `zoo.loaded_tree`, written once more."""
    t, rate = state["t"], state["qd1"]
    slides = [s for s in mechanism.segments if s.joint.kind == "prismatic"]
    first = 2 * t**2 - 3 * rate
    if slides and slides[0].coordinate is not None:
        first += state[f"q{slides[0].coordinate + 1}"] * t
    forces = np.array([Fraction(0)] * mechanism.nv, dtype=object)
    forces[0] += first if t < Fraction(1, 2) else t - int(rate >= 0) if t < 2 else 1
    forces[-1] += 4 - t if t >= Fraction(3, 10) else 0
    return forces


@pytest.mark.parametrize("part", ["friction", "springs", "rotors", "forces"])
def test_parts_can_be_left_out(part: str) -> None:
    """Left out is what a mechanism without that part does not have, and nothing else."""
    mechanism = loaded_tree(3)
    state = exact_state(mechanism, 3) | {"t": Fraction(1)}
    without = {"springs": replace(mechanism, springs=()), "forces": replace(mechanism, forces=())}
    joints = {
        "friction": {"friction": None},
        "rotors": {"rotor_inertia": Fraction(0)},
    }
    bare = without.get(part) or replace(
        mechanism,
        segments=tuple(
            replace(s, joint=replace(s.joint, **joints[part])) for s in mechanism.segments
        ),
    )
    outputs = ["inverse_dynamics", "mass_matrix", "passive", "potential_energy", "kinetic_energy"]
    left = all_of(mechanism, state, outputs, without=[part])
    expected, whole = all_of(bare, state, outputs), all_of(mechanism, state, outputs)
    assert all(np.all(left[output] == expected[output]) for output in outputs)
    assert any(np.any(left[output] != whole[output]) for output in outputs)


@pytest.mark.parametrize("seed", range(4000, 4004))
def test_rotors_against_pinocchio(seed: int) -> None:
    """Armature is what Pinocchio calls the inertia of rotors behind their gears."""
    rng = np.random.default_rng(seed)
    tree = random_tree(seed)
    rotors, gears = rng.integers(0, 9, tree.nv), rng.integers(1, 40, tree.nv)
    frictions = rng.integers(0, 9, (2, tree.nv))
    segments = [
        s
        if s.rate is None
        else replace(
            s,
            joint=replace(
                s.joint,
                rotor_inertia=Fraction(int(rotors[s.rate]), 1000),
                gear_ratio=Fraction(int(gears[s.rate])),
                friction=Friction(*(Fraction(int(f)) for f in frictions[:, s.rate])),
            ),
        )
        for s in tree.segments
    ]
    mechanism = replace(tree, segments=tuple(segments))
    oracle = Oracle(mechanism)
    armature = np.zeros(oracle.model.nv)
    armature[oracle.v_order] = rotors / 1000 * gears**2
    oracle.model.armature = armature
    oracle.data = oracle.model.createData()
    q = oracle.random_q(seed)
    qd, qdd = rng.uniform(-2, 2, (2, tree.nv))
    rubbing = frictions[0] * qd + frictions[1] * np.sign(qd)
    expected = oracle.inverse_dynamics(q, qd, qdd) + rubbing
    got = cf.derive(mechanism, ["inverse_dynamics", "mass_matrix", "passive"])
    values = got.evaluate(q=q, qd=qd, qdd=qdd)
    np.testing.assert_allclose(values["passive"], rubbing, atol=1e-12)
    np.testing.assert_allclose(values["inverse_dynamics"], expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(values["mass_matrix"], oracle.mass_matrix(q), rtol=1e-9, atol=1e-9)
    theirs = pin.aba(
        oracle.model, oracle.data, oracle.q(q), oracle.v(qd), oracle.v(expected - rubbing)
    )
    if np.linalg.cond(values["mass_matrix"]) < 1e9:
        for formulation in methods("forward_dynamics"):
            model = cf.derive(mechanism, ["forward_dynamics"], formulation=formulation)
            found = model.evaluate(q=q, qd=qd, tau=expected)["forward_dynamics"]
            np.testing.assert_allclose(
                found, np.array(theirs)[oracle.v_order], rtol=1e-7, atol=1e-7
            )
