"""Momentum matrices and the operational space: exactly, against Pinocchio, and by laws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import chainform as cf
from bases import on_moving_base
from bases import state_of as state_on_base
from chainform.graph import EXACT, evaluate, verify
from element_models import exact_inputs
from pinocchio_oracle import Oracle, pin
from robots import example_robot, tip_of
from zoo import exact_state, loaded_tree, random_tree, reference

TREES = range(12)
CENTROIDAL = [f"centroidal_momentum{part}" for part in ("", "_rate", "_matrix", "_matrix_rate")]
CENTRE = ["com_velocity", "com_acceleration", "com_jacobian"]


def unit_state(mechanism: cf.Mechanism, seed: int) -> dict[str, Any]:
    """Return an exact state whose quaternions have unit length."""
    state = exact_state(mechanism, seed)
    quaternion = [Fraction(part, 10) for part in (1, -1, 7, 7)]
    for segment in mechanism.segments:
        if segment.joint.kind.has_quaternion:
            last = (segment.coordinate or 0) + segment.joint.kind.coordinates
            state |= {f"q{last - 3 + k}": quaternion[k] for k in range(4)}
    return state


def exact(mechanism: cf.Mechanism, state: dict[str, Any], outputs: list[str], **how: Any) -> Any:
    model = cf.derive(mechanism, outputs, **how)
    verify(model.graph)
    return evaluate(model.graph, state, EXACT)


def rates(mechanism: cf.Mechanism, state: dict[str, Any], group: str) -> Any:
    return np.array([state[f"{group}{k + 1}"] for k in range(mechanism.nv)], dtype=object)


def regular(seed: int, *, quaternions: bool = False) -> cf.Mechanism:
    """Return a random tree whose mass matrix can be inverted."""
    for other in range(50):
        tree = random_tree(seed + 100 * other, quaternions=quaternions)
        if all(segment.body.mass for segment in tree.segments):
            return tree
    raise AssertionError(seed)


@pytest.mark.parametrize("quaternions", [False, True])
@pytest.mark.parametrize("seed", TREES)
def test_momentum_is_the_matrix_times_the_rates(seed: int, quaternions: bool) -> None:
    tree = regular(seed, quaternions=quaternions)
    state = unit_state(tree, seed)
    got = exact(
        tree, state, [*CENTROIDAL, *CENTRE], parameters="symbolic" if seed % 2 else "numeric"
    )
    qd, qdd = rates(tree, state, "qd"), rates(tree, state, "qdd")
    p, rate, A, Ad = (got[name] for name in CENTROIDAL)
    assert (A @ qd == p).all()
    assert (A @ qdd + Ad @ qd == rate).all()
    velocity, acceleration, J = (got[name] for name in CENTRE)
    assert (J @ qd == velocity).all()
    masses: list[Any] = [s.body.mass for s in tree.segments if tree_moves(tree, s)]
    mass = sum(masses)
    assert (mass * velocity == p[:3]).all()
    assert (mass * acceleration == rate[:3]).all()


def tree_moves(tree: cf.Mechanism, segment: Any) -> bool:
    path = tree.path_to(tree.segments.index(segment))
    return any(tree.segments[i].coordinate is not None for i in path)


@pytest.mark.parametrize("seed", range(500, 506))
def test_a_moving_base_is_in_the_rates_and_not_in_the_matrix(seed: int) -> None:
    """A matrix has what the rates do; what is left at qd = 0 is what the base does."""
    tree = on_moving_base(random_tree(seed), seed)
    state = state_on_base(tree, seed)
    still = state | {f"qd{k + 1}": Fraction(0) for k in range(tree.nv)}
    got, at_rest = exact(tree, state, CENTROIDAL), exact(tree, still, CENTROIDAL[:1])
    qd = rates(tree, state, "qd")
    p, _, A, _ = (got[name] for name in CENTROIDAL)
    assert (A @ qd + at_rest[CENTROIDAL[0]] == p).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_floating_mechanism_falls(seed: int) -> None:
    """No force from outside but weight: the momentum about the mass centre stays."""
    body: dict[str, Any] = {"mass": 2, "com": [0.1, 0, 0.2], "inertia": [1, 2, 2.5]}
    builder = cf.Mechanism.builder("free", gravity=[1, 2, -9])
    builder.segment("body", joint="free", **body)
    builder.segment("arm", parent="body", axis="z", position=[0.3, 0, 0], mass=1, com=[0, 0.5, 0])
    builder.segment("slide", parent="arm", joint="prismatic", axis="x", mass=1, inertia=[1, 1, 1])
    floating = builder.build()
    rng = np.random.default_rng(seed)
    q = floating.neutral() + rng.uniform(-1, 1, floating.nq)
    q[3:7] /= np.linalg.norm(q[3:7])
    qd, tau = rng.uniform(-1, 1, (2, floating.nv))
    tau[:6] = 0.0
    qdd = cf.derive(floating, ["forward_dynamics"]).evaluate(q=q, qd=qd, tau=tau)[
        "forward_dynamics"
    ]
    outputs = ["centroidal_momentum_rate", "com_acceleration"]
    rate, fall = cf.derive(floating, outputs).evaluate(q=q, qd=qd, qdd=qdd).values()
    assert np.allclose(rate, [4, 8, -36, 0, 0, 0], rtol=0, atol=1e-11)
    assert np.allclose(fall, [1, 2, -9], rtol=0, atol=1e-12)


# --- the inverse of the mass matrix ---------------------------------------------------------------


@pytest.mark.parametrize("quaternions", [False, True])
@pytest.mark.parametrize("seed", TREES)
def test_the_inverse_of_the_mass_matrix(seed: int, quaternions: bool) -> None:
    tree = regular(seed, quaternions=quaternions)
    state = unit_state(tree, seed)
    H, inverse = exact(tree, state, ["mass_matrix", "inverse_mass_matrix"]).values()
    assert (H @ inverse == np.eye(tree.nv, dtype=int)).all()
    model = cf.derive(tree, ["Hi"])
    block = model.graph.outputs["inverse_mass_matrix"]
    variables = np.reshape(block.variables, block.shape)
    assert (variables == variables.T).all()


def test_the_inverse_includes_rotors_and_is_of_what_is_derived() -> None:
    tree = loaded_tree(4)
    state = exact_inputs(tree, exact_state(tree, 4))
    for without in ((), ("rotors",)):
        outputs = ["mass_matrix", "inverse_mass_matrix"]
        H, inverse = exact(tree, state, outputs, without=without).values()
        assert (H @ inverse == np.eye(tree.nv, dtype=int)).all()


def test_a_mass_matrix_that_is_singular_has_no_inverse() -> None:
    builder = cf.Mechanism.builder("loose").segment("arm", axis="z", mass=1, com=[1, 0, 0])
    loose = builder.segment("tip", parent="arm", axis="z", position=[1, 0, 0]).build()
    for output in ("inverse_mass_matrix", "inverse_operational_inertia(tip)"):
        with pytest.raises(cf.Error, match="nothing resists qd2"):
            cf.derive(loose, [output])


# --- the operational space ------------------------------------------------------------------------


@pytest.mark.parametrize("axes", ["", ",local", ",mixed"])
@pytest.mark.parametrize("seed", [0, 3, 5, 8])
def test_inertia_and_bias_of_a_frame(seed: int, axes: str) -> None:
    """A force on the frame alone is what inertia and bias say that its acceleration takes."""
    tree = next(t for s in range(40) if (t := regular(seed + s, quaternions=True)).nv >= 7)
    parts = ("", ",linear", ",angular")
    frame = tip_of(tree)
    for part in parts:
        word = f"({frame}{axes}{part})"
        outputs = [f"jacobian({frame}{axes})", f"inverse_operational_inertia{word}"]
        outputs += ["inverse_mass_matrix", "bias"]
        state = unit_state(tree, seed)
        J, inverse, Hi, h = exact(tree, state, outputs).values()
        rows = {"": slice(0, 6), ",linear": slice(0, 3), ",angular": slice(3, 6)}[part]
        assert (J[rows] @ Hi @ J[rows].T == inverse).all()
        try:
            Lambda, bias = exact(
                tree, state, [f"operational_inertia{word}", f"operational_bias{word}"]
            ).values()
        except cf.Error:
            assert np.linalg.matrix_rank(J[rows].astype(float)) < len(J[rows])
            continue
        assert (Lambda @ inverse == np.eye(len(Lambda), dtype=int)).all()
        force = np.array([Fraction(k + 2, 3) for k in range(len(Lambda))], dtype=object)
        qdd = Hi @ (J[rows].T @ force - h)
        moved = state | {f"qdd{k + 1}": value for k, value in enumerate(qdd)}
        acceleration = exact(tree, moved, [f"acceleration({frame}{axes})"]).popitem()[1][rows]
        assert (Lambda @ acceleration + bias == force).all()


def test_a_moving_base_enters_the_bias_of_a_frame() -> None:
    tree = on_moving_base(regular(507), 507)
    state, frame = state_on_base(tree, 507), tip_of(tree)
    word = f"({frame},angular)" if tree.nv < 6 else f"({frame})"
    outputs = [
        f"operational_inertia{word}",
        f"operational_bias{word}",
        "inverse_mass_matrix",
        "bias",
    ]
    try:
        Lambda, bias, Hi, h = exact(tree, state, outputs).values()
    except cf.Error:
        word = f"({frame},linear)"
        outputs = [o if "(" not in o else o.partition("(")[0] + word for o in outputs]
        Lambda, bias, Hi, h = exact(tree, state, outputs).values()
    rows = {6: slice(0, 6), 3: slice(0, 3) if "linear" in word else slice(3, 6)}[len(Lambda)]
    J = exact(tree, state, [f"jacobian({frame})"]).popitem()[1][rows]
    force = np.arange(1, len(Lambda) + 1).astype(object)
    qdd = Hi @ (J.T @ force - h)
    moved = state | {f"qdd{k + 1}": value for k, value in enumerate(qdd)}
    acceleration = exact(tree, moved, [f"acceleration({frame})"]).popitem()[1][rows]
    assert (Lambda @ acceleration + bias == force).all()


def test_what_cannot_move_in_all_directions_has_no_inertia_there() -> None:
    arm = reference("sliding_links_3")
    frame = arm.segments[-1].name
    with pytest.raises(cf.Error, match="cannot move in 6 directions") as caught:
        cf.derive(arm, [f"Lambda({frame})"])
    remedy = caught.value.remedy or ""
    assert "linear" not in remedy
    assert f"inverse_operational_inertia({frame})" in remedy
    spatial = cf.derive(reference("puma560"), ["Lambda(body4,linear)"])
    assert spatial["Lambda(body4,linear)"].shape == (3, 3)
    with pytest.raises(cf.Error, match="rank 4") as caught:
        cf.derive(reference("puma560"), ["operational_bias(body4)"])
    assert "operational_bias(body4,linear)" in (caught.value.remedy or "")


@pytest.mark.parametrize("seed", [0, 2, 4, 6])
def test_elements_have_the_same_operational_space(seed: int) -> None:
    tree = replace(regular(seed), springs=())
    elements, frame = tree.as_elements(), tree.segments[-1].name
    state = exact_inputs(tree, unit_state(tree, seed))
    outputs = ["inverse_mass_matrix", f"inverse_operational_inertia({frame},local)"]
    for part in ("", ",linear", ",angular"):
        outputs += [f"operational_inertia({frame}{part})", f"operational_bias({frame}{part})"]
    for output in outputs:
        try:
            usual = exact(tree, state, [output])[output]
        except cf.Error:
            with pytest.raises(cf.Error, match="infinite"):
                cf.derive(elements, [output])
            continue
        assert (exact(elements, state, [output])[output] == usual).all(), output
    names = [f"manipulability({frame}{part})" for part in ("", ",linear", ",angular")]
    q = np.linspace(0.1, 0.9, tree.nq)
    usual, own = (cf.derive(m, names).evaluate(q=q) for m in (tree, elements))
    for name in names:
        assert np.isclose(own[name], usual[name], rtol=1e-11, atol=1e-14)


# --- manipulability -------------------------------------------------------------------------------


@pytest.mark.parametrize("quaternions", [False, True])
@pytest.mark.parametrize("seed", range(20, 32))
def test_manipulability_is_the_product_of_the_singular_values(seed: int, quaternions: bool) -> None:
    tree = random_tree(seed, quaternions=quaternions)
    frame, oracle = tip_of(tree), Oracle(tree)
    q = oracle.random_q(seed)
    J = oracle.frame([s.name for s in tree.segments].index(frame)).jacobian(q, "world")
    for part, rows in (("", J), (",linear", J[:3]), (",angular", J[3:])):
        name = f"manipulability({frame}{part})"
        found = cf.derive(tree, [name]).evaluate(q=q)[name]
        values = np.linalg.svd(rows, compute_uv=False)
        rank = int((values > 1e-9 * max(values[0], 1e-300)).sum())
        expected = float(np.prod(values[:rank])) if values[0] > 1e-12 else 0.0
        assert np.isclose(found, expected, rtol=1e-8, atol=1e-12), part


def two_links(turn: Any = None) -> cf.Mechanism:
    options = {} if turn is None else {"rotation": turn}
    builder = cf.Mechanism.builder("planar").segment(
        "one", axis="z", mass=1, com=[1, 0, 0], **options
    )
    builder.segment("two", parent="one", axis="z", position=[2, 0, 0], mass=1, com=[1, 0, 0])
    return builder.frame("tip", "two", [3, 0, 0]).build()


def test_manipulability_of_two_links_is_that_of_yoshikawa() -> None:
    """w = l1 l2 |sin q2|, in any plane; 0 where the arm is stretched."""
    tilted = [["3/5", 0, "4/5"], [0, 1, 0], ["-4/5", 0, "3/5"]]
    for arm in (two_links(), two_links(tilted)):
        model = cf.derive(arm, ["manipulability(tip,linear)", "w(tip)"])
        q = np.array([[0.3, 0.7], [0.2, -2.5], [1.1, 0.0]])
        found = model.evaluate(q=q)["manipulability(tip,linear)"]
        assert np.allclose(found, 6 * np.abs(np.sin(q[:, 1])), rtol=1e-12, atol=1e-14)


def test_manipulability_is_zero_at_a_singularity_and_nowhere_an_error() -> None:
    arm = cf.read("examples/six_axis_arm.toml")
    model = cf.derive(arm, ["manipulability(gripper)"])
    q = np.zeros((2, 6))
    q[1] = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    found = model.evaluate(q=q)["manipulability(gripper)"]
    assert found[0] == 0.0
    assert found[1] > 1e-3
    assert np.isfinite(model.compile().function("manipulability(gripper)")(q)).all()


# --- robots ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5_robot.urdf", "panda.urdf", "anymal.urdf"])
def test_robots_have_pinocchios_inverse_and_operational_inertia(name: str) -> None:
    path = example_robot(name)
    robot = cf.read(
        path, base="fixed" if name != "anymal.urdf" else "floating", snap=0, mimic="free"
    )
    oracle, frame = Oracle(robot), tip_of(robot)
    q = oracle.random_q(3)
    outputs = ["inverse_mass_matrix", f"operational_inertia({frame})"]
    inverse, Lambda = cf.derive(robot, outputs).evaluate(q=q).values()
    upper = np.array(pin.computeMinverse(oracle.model, oracle.data, oracle.q(q)))
    theirs = np.triu(upper) + np.triu(upper, 1).T
    theirs = theirs[np.ix_(oracle.v_order, oracle.v_order)]
    assert np.abs(inverse - theirs).max() <= 1e-9 * np.abs(theirs).max()
    J = oracle.frame([s.name for s in robot.segments].index(frame)).jacobian(q, "world")
    expected = np.linalg.inv(J @ theirs @ J.T)
    assert np.abs(Lambda - expected).max() <= 1e-8 * np.abs(expected).max()
