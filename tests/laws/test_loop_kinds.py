"""Loops of every kind: against a massless end body, against derivatives, and laws of motion."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from chainform.analysis.comparison import exact_state
from chainform.formulations import rows_of, turn_cosines
from chainform.formulations.shared.forces import world_closure
from chainform.graph import EXACT, Builder, evaluate
from chainform.mechanism import GROUND, IDENTITY, plane_of
from chainform.mechanism.pose import poses_of
from chainform.simulation import assemble, consistent_rates, mobility
from chainform.simulation.equations.loop_constraints import ConstraintResiduals
from chainform.spatial import matrix, product
from loop_kinds import (
    AT_GROUND,
    KINDS,
    chain,
    closed_chain,
    closed_loop,
    exact_pose,
    with_end_body,
)
from zoo import random_tree

Array = NDArray[np.float64]
ROUGH = {f"c{k}": value for k, value in enumerate((0.3, -0.4, 0.5, 0.6, -0.3, 0.4, 0.2), 1)}
RATES = {f"c{k}": value for k, value in enumerate((0.5, -0.3, 0.8, -0.6, 0.4, 1.0, -0.7), 1)}


@cache
def swinging(kind: str) -> cf.Run:
    """Return a motion of the chain under its weight."""
    mechanism = closed_chain(kind)
    q = assemble(mechanism, ROUGH)
    times = np.linspace(0, 0.5, 6)
    return cf.simulate(mechanism, q0=q, qd0=RATES, t=0.5, t_eval=times, rtol=1e-10, atol=1e-12)


# --- the same mechanism in other words ----------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_massless_end_body_moves_and_transmits_the_same(kind: str) -> None:
    run, other = swinging(kind), with_end_body(kind)
    names = run.mechanism.coordinates
    q0, qd0 = (dict(zip(names, values[0], strict=True)) for values in (run.q, run.qd))
    same = cf.simulate(other, q0=q0, qd0=qd0, t=0.5, t_eval=run.t, rtol=1e-10, atol=1e-12)
    places = [other.coordinate_index(name) for name in names]
    rates = [other.rate_index(name) for name in names]
    np.testing.assert_allclose(same.q[:, places], run.q, atol=1e-7)
    np.testing.assert_allclose(same.qdd[:, rates], run.qdd, rtol=1e-5, atol=1e-5)
    force, moment = transmitted(run)
    np.testing.assert_allclose(same.sigma[:, :3], force, rtol=1e-5, atol=1e-5)
    if kind != "distance":
        np.testing.assert_allclose(same.sigma[:, 3:], moment, rtol=1e-5, atol=1e-5)
    joints = [f"reaction({name})" for name in ("c1", "c4", "c7", "swing")]
    here, there = (
        cf.derive(r.mechanism, joints).evaluate(q=r.q, qd=r.qd, qdd=r.qdd, sigma=r.sigma)
        for r in (run, same)
    )
    for name in joints:
        np.testing.assert_allclose(there[name], here[name], rtol=1e-5, atol=1e-5, err_msg=name)


def transmitted(run: cf.Run) -> tuple[Array, Array]:
    """Return force and moment on the closing body at its point, world axes, from sigma."""
    (loop,) = run.mechanism.loops
    force, moment = np.zeros((2, len(run.t), 3))
    for m, (q, sigma) in enumerate(zip(run.q, run.sigma, strict=True)):
        poses = poses_of(run.mechanism, q)
        ends = (loop.closing, loop.target)
        A, B = (poses.rotation(e.segment) @ np.array(e.rotation, float) for e in ends)
        a, b = (poses.point(e.segment, np.array(e.point, float)) for e in ends)
        named = {"x": np.eye(3)[0], "y": np.eye(3)[1], "z": np.eye(3)[2]}
        if loop.length is not None:
            named["line"] = (a - b) / np.linalg.norm(a - b)
        if loop.target.axis is not None:
            assert loop.closing.axis is not None
            pair = plane_of(loop.target.axis)
            for name, vector in zip("uvn", (*pair, loop.target.axis), strict=True):
                named[name] = B @ np.array(vector, float)
            named["cross"] = np.cross(A @ np.array(loop.closing.axis, float), named["n"])
        count = len(loop.rows.linear)
        for name, value in zip(loop.rows.linear, sigma[:count], strict=True):
            force[m] += value * named[name]
        for name, value in zip(loop.rows.angular, sigma[count:], strict=True):
            moment[m] += value * named[name]
    return force, moment


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_energy_stays_and_gaps_do_not_open(kind: str) -> None:
    run = swinging(kind)
    gaps = ConstraintResiduals(run.mechanism)
    assert max(np.abs(gaps.at(q)).max() for q in run.q) < 1e-10
    assert np.abs(run.q[-1] - run.q[0]).max() > 0.1
    assert np.ptp(run.energy) < 1e-7 * max(1.0, float(np.abs(run.energy).max()))
    model = cf.derive(run.mechanism, ["inverse_dynamics"])
    tau = model.evaluate(q=run.q, qd=run.qd, qdd=run.qdd, sigma=run.sigma)["inverse_dynamics"]
    assert np.abs(tau).max() < 1e-8 * max(1.0, float(np.abs(run.sigma).max()))


@pytest.mark.any_processor
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_leaves_the_same_freedoms_as_in_a_tree(kind: str) -> None:
    tree, free = chain("tree").build(), {"distance": 5, "point": 3, "planar": 3, "frame": 0}
    found = mobility(closed_chain(kind), assemble(closed_chain(kind), ROUGH))
    usual = 2 if kind in ("cylindrical", "universal") else 1
    assert found.freedoms == tree.nv - 6 + free.get(kind, usual)
    assert not found.redundant


# --- exactly --------------------------------------------------------------------------------------


@cache
def exactly_closed(kind: str, on: str) -> cf.Mechanism:
    """Return the chain with a loop that is closed exactly at the state of seed 5."""
    tree = chain(kind).build()
    model = cf.derive(tree, ["pose(c7)", "pose(swing)"])
    state = exact_state(tree, model.graph.inputs.values(), 5)
    found = evaluate(model.graph, state, EXACT)
    poses = [
        exact_pose(found[f"pose({name})"][:3, :3], found[f"pose({name})"][:3, 3])
        for name in ("c7", "swing")
    ]
    target = (7, poses[1]) if on == "swing" else (GROUND, AT_GROUND)
    return replace(tree, loops=(closed_loop(kind, (6, target[0]), poses[0], target[1]),))


@pytest.mark.any_processor
@pytest.mark.parametrize("on", ["swing", "ground"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_closure_jacobian_is_the_derivative_of_what_must_vanish(kind: str, on: str) -> None:
    mechanism = exactly_closed(kind, on)
    builder = Builder()
    rows, zero = rows_of(builder, mechanism), builder.number(0)
    columns = [row.J.get(k, zero) for row in rows for k in range(mechanism.nv)]
    outputs = {
        "values": [row.value for row in rows],
        "slopes": columns,
        "cosines": turn_cosines(builder, mechanism),
    }
    for name, values in outputs.items():
        entries = [(f"{name}_{i + 1}", value) for i, value in enumerate(values)]
        builder.output(name, (len(entries),), entries)
    world_closure(builder, mechanism).declare("closure_jacobian")
    graph = builder.finish()
    found = evaluate(graph, exact_state(mechanism, graph.inputs.values(), 5), EXACT)
    assert not found["values"].any()
    assert (found["slopes"].reshape(-1, mechanism.nv) == found["closure_jacobian"]).all()
    assert (found["cosines"] == 1).all()
    assert len(found["cosines"]) == mechanism.loops[0].rows.has_sense


@pytest.mark.any_processor
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "planar", "frame"])
def test_the_other_way_round_is_not_closed(kind: str) -> None:
    """Rows of directions vanish half a turn away, too; the cosine and the gap tell it."""
    mechanism = exactly_closed(kind, "swing")
    (loop,) = mechanism.loops
    first, _ = plane_of(loop.closing.axis or loop.closing.rotation[0])
    half = matrix(lambda i, k: 2 * first[i] * first[k] - IDENTITY[i][k])
    closing = replace(loop.closing, rotation=product(loop.closing.rotation, half))
    other = replace(mechanism, loops=(replace(loop, closing=closing),))
    builder = Builder()
    values, (cosine,) = [row.value for row in rows_of(builder, other)], turn_cosines(builder, other)
    count = len(loop.rows.linear)
    entries = [(f"v_{i}", value) for i, value in enumerate(values[count:])]
    builder.output("directions", (len(entries),), entries)
    builder.output("cosine", (), [("cosine", cosine)])
    graph = builder.finish()
    found = evaluate(graph, exact_state(other, graph.inputs.values(), 5), EXACT)
    assert not found["directions"].any()
    assert found["cosine"] == -1


@pytest.mark.slow
@pytest.mark.any_processor
@pytest.mark.parametrize("kind", ["prismatic", "universal"])
def test_small_motions_by_formulas_are_those_at_a_state(kind: str) -> None:
    mechanism = closed_chain(kind)
    (loop,) = mechanism.loops
    free = range(mechanism.nv - loop.equations)
    mechanism = replace(mechanism, loops=(replace(loop, basic=tuple(free)),))
    q, still = assemble(mechanism, ROUGH), np.zeros(mechanism.nv)
    names = [mechanism.coordinates[k] for k in free]
    A = cf.linearise(mechanism, q=q, independent=names).A
    model = cf.derive(mechanism, ["state_matrix"])
    found = model.evaluate(q=q, qd=still, tau=still)["state_matrix"]
    np.testing.assert_allclose(found, A, rtol=0, atol=1e-9 * np.abs(A).max())


# --- random trees ---------------------------------------------------------------------------------


@pytest.mark.any_processor
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", KINDS)
def test_random_trees_close_by_each_kind(kind: str, seed: int) -> None:
    tree, rng = random_tree(seed + 40, quaternions=seed % 2 == 1), np.random.default_rng(seed)
    q = _unit(tree, rng.uniform(-1, 1, tree.nq))
    poses, last = poses_of(tree, q), len(tree.segments) - 1
    target = GROUND if seed % 4 < 2 else 0
    ends = [
        AT_GROUND if k == GROUND else exact_pose(poses.rotation(k), poses.positions[k])
        for k in (last, target)
    ]
    mechanism = replace(tree, loops=(closed_loop(kind, (last, target), ends[0], ends[1]),))
    gaps = ConstraintResiduals(mechanism)
    assert np.abs(gaps.at(q)).max() < 1e-12
    steps = np.eye(tree.nv) * 1e-6
    slopes = [(gaps.at(gaps.moved(q, s)) - gaps.at(gaps.moved(q, -s))) / 2e-6 for s in steps]
    np.testing.assert_allclose(gaps.slopes(q), np.array(slopes).T, atol=1e-8)
    near = gaps.moved(q, 0.05 * gaps.scales() * rng.uniform(-1, 1, tree.nv))
    assert np.abs(gaps.at(assemble(mechanism, near))).max() < 1e-11
    qd = consistent_rates(mechanism, q, rng.uniform(-1, 1, tree.nv))
    assert np.abs(gaps.slopes(q) @ qd).max() < 1e-10


def _unit(tree: cf.Mechanism, q: Array) -> Array:
    return ConstraintResiduals(tree).moved(q, np.zeros(tree.nv))
