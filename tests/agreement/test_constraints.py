"""Motion under constraints: against joints that do the same, closures, and quasi-coordinates."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from bases import on_moving_base
from bases import state_of as state_on_base
from chainform.errors import DeriveError
from chainform.expressions import parse
from chainform.formulations import FORMULATIONS
from chainform.graph import EXACT, Angle, evaluate, verify
from chainform.mechanism import Constraint
from chainform.pipeline import available_outputs
from chainform.readers import native_text, read_text
from element_models import exact_inputs
from zoo import exact_state, loaded_tree, random_tree, reference

QUASI = ("quasi_dynamics", "quasi_mass_matrix", "quasi_bias")
MOTION = ("constrained_dynamics", "multipliers", "constraint_jacobian", "constraint_right")


def exact(model: cf.Model, state: dict[str, Any]) -> dict[str, Any]:
    verify(model.graph)
    return evaluate(model.graph, state, EXACT)


def bound_tree(seed: int) -> cf.Mechanism:
    """Return a random tree with a holonomic and a nonholonomic constraint."""
    tree = random_tree(seed)
    kinds = [tree.segments[record.segment].joint.kind for record in tree.coordinate_records]
    slides = [f"q{k}" for k, kind in enumerate(kinds, 1) if kind == "prismatic"]
    turns = [f"q{k}" for k, kind in enumerate(kinds, 1) if kind == "revolute"]
    laws = [f"{q}^2*t + {q}" for q in slides] + [f"cos({q})" for q in turns]
    constraints = [{"kind": "holonomic", "law": " + ".join(laws)}]
    if tree.nv > 1:
        law = f"(1 + t)*qd{tree.nv} - qd1/3 + t^2"
        constraints.append({"kind": "nonholonomic", "law": law})
    table = json.loads(native_text(tree)) | {"constraints": constraints}
    return read_text(json.dumps(table), "json")


@pytest.mark.parametrize("seed", [0, 2, 5, 6, 7, 9, 10])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_equations_under_constraints_hold(seed: int, formulation: str) -> None:
    """H qdd + h = tau + J^T lambda and J qdd = gamma, to the last digit, by every method."""
    tree = bound_tree(seed)
    state = exact_inputs(tree, exact_state(tree, seed))
    if seed == 9 and "inverse_dynamics" not in FORMULATIONS[formulation].outputs:
        # A coordinate moves no mass: only constraints hold it, and forward dynamics comes first.
        with pytest.raises(cf.Error, match="nothing resists qd3"):
            cf.derive(tree, MOTION, formulation=formulation)
        return
    value = exact(cf.derive(tree, MOTION, formulation=formulation), state)
    value |= exact(cf.derive(tree, ["mass_matrix"]), state)
    n = tree.nv
    still = state | {f"qdd{k + 1}": Fraction(0) for k in range(n)}
    h = exact(cf.derive(tree, ["inverse_dynamics"]), still)["inverse_dynamics"]
    tau = np.array([state[f"tau{k + 1}"] for k in range(n)], dtype=object)
    J, qdd = value["constraint_jacobian"], value["constrained_dynamics"]
    assert (J @ qdd == value["constraint_right"]).all()
    assert (value["mass_matrix"] @ qdd + h == tau + J.T @ value["multipliers"]).all()


def test_a_point_of_a_free_body_that_is_held_is_a_spherical_joint() -> None:
    """Laws of position and quaternion of a free joint: the same turning as with a ball joint."""
    body: dict[str, Any] = {"mass": 2, "com": ["1/2", 0, "1/3"], "inertia": [1, 2, "3/2"]}
    ball = cf.Mechanism.builder("ball").segment("body", joint="spherical", **body).build()
    builder = cf.Mechanism.builder("held").segment("body", joint="free", **body)
    for axis in "xyz":
        builder.constraint("holonomic", f"body_{axis}")
    held = builder.build()
    rng = np.random.default_rng(3)
    quaternion = rng.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    w, moment = rng.normal(size=(2, 3))
    still = np.zeros(3)
    turning = cf.derive(ball, ["forward_dynamics"]).evaluate(q=quaternion, qd=w, tau=moment)
    state: dict[str, Any] = {
        "q": [*still, *quaternion],
        "qd": [*still, *w],
        "tau": [*still, *moment],
    }
    value = cf.derive(held, [*MOTION, "constraint"]).evaluate(**state)
    assert value["constraint"] == pytest.approx(0)
    assert value["constrained_dynamics"][:3] == pytest.approx(0, abs=1e-12)
    assert value["constrained_dynamics"][3:] == pytest.approx(turning["forward_dynamics"])


def test_quaternions_in_a_law() -> None:
    """A point away from the origin of a free body, held on a plane: its acceleration is zero."""
    builder = cf.Mechanism.builder("held").segment("b", joint="free", mass=2, inertia=[1, 2, 2])
    # Third row of the rotation times the point (1, 2, 3), and the height of the origin.
    law = (
        "b_z + 2*(b_qx*b_qz - b_qw*b_qy) + 4*(b_qy*b_qz + b_qw*b_qx) + 3*(1 - 2*b_qx^2 - 2*b_qy^2)"
    )
    held = builder.constraint("holonomic", law).frame("p", "b", [1, 2, 3]).build()
    rng = np.random.default_rng(5)
    q = rng.normal(size=7)
    q[3:] /= np.linalg.norm(q[3:])
    qd, tau = rng.normal(size=(2, 6))
    model = cf.derive(held, [*MOTION, "constraint_rate", "jacobian(p)", "velocity(p)"])
    value = model.evaluate(q=q, qd=qd, tau=tau)
    assert value["constraint_jacobian"][0] == pytest.approx(value["jacobian(p)"][2])
    assert value["constraint_rate"][0] == pytest.approx(value["velocity(p)"][2])
    check = cf.derive(held, ["acceleration(p)"])
    moved = check.evaluate(q=q, qd=qd, qdd=value["constrained_dynamics"])["acceleration(p)"]
    assert moved[2] == pytest.approx(0, abs=1e-10)


FOUR_BAR = """
[[constraints]]
kind = "holonomic"
law = "a*cos(crank) + b*cos(crank + coupler) - d - c*cos(rocker)"

[[constraints]]
kind = "holonomic"
law = "a*sin(crank) + b*sin(crank + coupler) - c*sin(rocker)"
"""


def test_a_four_bar_by_laws_and_by_its_closure() -> None:
    """The multipliers are the reactions of the loop that is closed by them."""
    text = Path("examples/four_bar.toml").read_text()
    linkage = read_text(text + FOUR_BAR, "toml")
    state: dict[str, Any] = {"q": [1.0, -0.8, 1.9], "qd": [2, -1, 0.5], "tau": [3, 0, 0]}
    names = [*MOTION, "closure_jacobian", "forward_dynamics"]
    model = cf.derive(linkage, names)
    value = model.evaluate(**state, sigma=[0, 0, 0])
    assert value["constraint_jacobian"] == pytest.approx(value["closure_jacobian"][:2])
    closed = model.evaluate(**state, sigma=[*value["multipliers"], 0])
    assert closed["forward_dynamics"] == pytest.approx(value["constrained_dynamics"])
    assert value["constrained_dynamics"] != pytest.approx(value["forward_dynamics"])


@pytest.mark.parametrize("name", ["knife_edge", "rolling_disc"])
def test_quasi_coordinates_give_the_same_motion(name: str) -> None:
    """The reduced equations are those under constraints, seen along T, in fractions."""
    found = cf.read(f"examples/{name}.toml")
    parameters: Any = ["slope"] if name == "knife_edge" else "numeric"
    turn = Angle.from_tangent(Fraction(1, 5))
    state = exact_inputs(found, exact_state(found, 4)) | {"slope": turn}
    T = exact(cf.derive(found, ["quasi_matrix"], parameters=parameters), state)["quasi_matrix"]
    pi = np.array([Fraction(k + 2, 3) for k in range(T.shape[1])], dtype=object)
    state |= {f"qd{k + 1}": value for k, value in enumerate(T @ pi)}
    names = ["constrained_dynamics", "quasi_velocities", "constraint", *QUASI]
    value = exact(cf.derive(found, names, parameters=parameters), state)
    assert (value["quasi_velocities"] == pi).all()
    assert not value["constraint"].any()
    # Both know qdd: what the constraints leave of it is driven by pi'.
    moved = state | {f"qdd{k + 1}": a for k, a in enumerate(value["constrained_dynamics"])}
    tau = np.array([state[f"tau{k + 1}"] for k in range(found.nv)], dtype=object)
    driven = cf.derive(found, ["inverse_dynamics"], parameters=parameters)
    lost = tau - exact(driven, moved)["inverse_dynamics"]
    assert not (T.T @ lost).any(), "reactions do no work on motions that the constraints allow"
    right = T.T @ tau - value["quasi_bias"]
    assert (value["quasi_mass_matrix"] @ value["quasi_dynamics"] == right).all()


@pytest.mark.parametrize("seed", [3, 5, 8, 13])
def test_every_method_gives_the_same_under_constraints(seed: int) -> None:
    """Constraints and quasi-velocities of one tree, friction, springs and a wrench acting."""
    tree = loaded_tree(seed)
    n = tree.nv
    table = json.loads(native_text(tree)) | {
        "constraints": [{"kind": "nonholonomic", "law": f"(1 + t)*qd{n} - qd1/3 + t^2"}],
        "quasi": [{"name": f"p{k}", "law": f"qd{k} + t*qd1/5"} for k in range(1, n)],
    }
    found = read_text(json.dumps(table), "json")
    state = exact_inputs(found, exact_state(found, seed))
    state |= {f"wrench{k}": Fraction(k, 3) for k in range(1, 7)}
    on, first = [tree.segments[-1].name], dict[str, Any]()
    for name, method in FORMULATIONS.items():
        outputs = [output for output in (*MOTION, *QUASI) if output in method.outputs]
        assert "constrained_dynamics" in outputs
        value = exact(cf.derive(found, outputs, formulation=name, wrenches=on), state)
        for output in outputs:
            assert (first.setdefault(output, value[output]) == value[output]).all(), (name, output)
    assert set(first) == {*MOTION, *QUASI}


@pytest.mark.parametrize("seed", [501, 506])
def test_a_moving_base_under_constraints(seed: int) -> None:
    """By every method that has a place for it; with quaternions, too."""
    tree = on_moving_base(random_tree(seed, quaternions=True), seed)
    law = " + ".join(f"{k + 2}*qd{k + 1}" for k in range(tree.nv))
    tree = replace(tree, constraints=(Constraint("c", "nonholonomic", parse(law)),))
    state = state_on_base(tree, seed) | {f"tau{k + 1}": Fraction(k, 7) for k in range(tree.nv)}
    able = [name for name, method in FORMULATIONS.items() if method.moving_base]
    values = [exact(cf.derive(tree, MOTION[:2], formulation=name), state) for name in able]
    for name, value in zip(able, values, strict=True):
        for output in MOTION[:2]:
            assert (value[output] == values[0][output]).all(), name


def test_massless_coordinates_may_be_bound() -> None:
    """Two coordinates that move one mass by their sum, held together by a constraint."""
    builder = cf.Mechanism.builder("sum", gravity=(0, 0, 0)).coordinates("x", "y")
    builder.element(kind="point", mass=3, position=["x", 0, 0])
    builder.constraint("holonomic", "x - 2*y")
    model = cf.derive(builder.build(), list(MOTION[:2]))
    value = model.evaluate(q=[2, 1], qd=[0, 0], tau=[4, 1])
    # Virtual work: 3 x'' dx = 4 dx + 1 dy with dy = dx / 2.
    assert value["constrained_dynamics"] == pytest.approx([1.5, 0.75])
    assert value["multipliers"] == pytest.approx([0.5])


def test_what_cannot_be_solved_is_refused() -> None:
    builder = cf.Mechanism.builder("still").coordinates("x")
    builder.element(kind="point", mass=1, position=["x", 0, 0])
    builder.constraint("holonomic", "0*x")
    with pytest.raises(DeriveError, match="binds nothing"):
        cf.derive(builder.build(), ["multipliers"])


def plate(*laws: str, quasi: tuple[str, ...] = ()) -> cf.Mechanism:
    """Return a plate in a plane under holonomic constraints, with quasi-velocities."""
    builder = cf.Mechanism.builder("plate").coordinates("x", "y", {"name": "phi", "unit": "rad"})
    builder.element(
        kind="body", chain="Sx(x), Sy(y), Rz(phi)", mass=2, com=[1, 0, 0], inertia=[1, 1, 3]
    )
    for law in laws:
        builder.constraint("holonomic", law)
    for number, law in enumerate(quasi, 1):
        builder.quasi(f"v{number}", law)
    return builder.build()


@pytest.mark.parametrize(
    "laws",
    [
        ("x - y", "x - y"),
        ("phi", "x - y", "3*y - 3*x + t"),
        ("x^2 + y^2 - 4", "sin(x^2 + y^2 - 4)"),
        ("exp(x*y) - 2", "x*y - t"),
    ],
)
@pytest.mark.parametrize("reduce", ["none", "fast"])
def test_a_constraint_that_follows_from_others_is_named(laws: tuple[str, ...], reduce: str) -> None:
    with pytest.raises(DeriveError, match="follows from those before it") as caught:
        cf.derive(plate(*laws), ["constrained_dynamics"], reduce=reduce)
    assert caught.value.element == f"constraint 'constraint{len(laws)}'"
    rows = cf.derive(plate(*laws), ["constraint_jacobian", "constraint_right"], reduce=reduce)
    assert rows["constraint_jacobian"].shape == (len(laws), 3)


@pytest.mark.parametrize("law", ["max(0, x - 5)", "step(t - 60)*x", "sqrt(x - 1) - y"])
def test_a_constraint_that_binds_somewhere_is_taken(law: str) -> None:
    model = cf.derive(plate(law), ["constrained_dynamics", "constraint_jacobian"])
    assert model.outputs == ("constrained_dynamics", "constraint_jacobian")


def test_a_quasi_velocity_that_follows_from_others_is_named() -> None:
    found = plate("x - y", quasi=("der(phi)", "der(x) - der(y)"))
    with pytest.raises(DeriveError, match="do not determine the rates") as caught:
        cf.derive(found, ["quasi_matrix"])
    assert caught.value.element == "quasi-velocity 'v2'"


def test_constraints_hold_what_masses_leave_free() -> None:
    """One mass that two coordinates move along one line: H alone is singular."""
    builder = cf.Mechanism.builder("twice", gravity=(0, 0, 0)).coordinates("x", "y")
    builder.element(kind="point", mass=2, position=["x + y", 0, 0])
    builder.constraint("holonomic", "x - y")
    value = cf.derive(builder.build(), list(MOTION[:2])).evaluate(q=[1, 1], qd=[0, 0], tau=[1, 2])
    # Virtual work with x = y = u: 2 (2 u'') 2 du = (1 + 2) du.
    assert value["constrained_dynamics"] == pytest.approx([0.375, 0.375])
    assert value["multipliers"] == pytest.approx([0.5])


def test_more_constraints_than_rates_are_refused() -> None:
    builder = cf.Mechanism.builder("bound").coordinates("x", "y")
    builder.element(kind="point", mass=1, position=["x", "y", 0])
    for law in ("x - 1", "y", "x - y"):
        builder.constraint("holonomic", law)
    with pytest.raises(DeriveError, match="3 constraints on 2 rates"):
        cf.derive(builder.build(), ["constrained_dynamics"])


def test_unilateral_constraints_are_described() -> None:
    disc = cf.read("examples/rolling_disc.toml")
    model = cf.derive(disc, ["unilateral", "unilateral_jacobian", "constraint"])
    value = model.evaluate(q=[0, 0, 0, 0.5, 0], qd=np.ones(5))
    assert value["unilateral"] == pytest.approx([0.3 * np.cos(0.5)])
    assert value["unilateral_jacobian"] == pytest.approx(
        np.array([[0, 0, 0, -0.3 * np.sin(0.5), 0]])
    )
    assert value["constraint"].shape == (2,)


def test_constraints_leave_other_outputs_alone() -> None:
    tree = bound_tree(2)
    plain = reference("stanford_arm")
    assert "constrained_dynamics" in available_outputs(tree)
    assert "constrained_dynamics" not in available_outputs(plain)
