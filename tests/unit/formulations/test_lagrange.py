"""Lagrange's equations: the tables of Obradović and Marković 1991, and derivatives."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product as pairs
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.graph import EXACT, Angle, Builder, differentiate, evaluate, verify
from chainform.mechanism import JointKind
from zoo import exact_state, loaded_tree, random_tree, reference, reference_data

TREES = range(12)


def lagrange(mechanism: cf.Mechanism, *outputs: str, **options: Any) -> cf.Model:
    model = cf.derive(mechanism, list(outputs), formulation="lagrange", **options)
    verify(model.graph)
    return model


def is_alike(mechanism: cf.Mechanism) -> bool:
    kinds = [mechanism.segments[r.segment].joint.kind for r in mechanism.coordinate_records]
    return len(kinds) >= 4 and kinds[0] == kinds[-1]


def coupled(seed: int) -> cf.Mechanism:
    """Return a tree whose last joint follows its first, both turning or both sliding."""
    free = next(m for s in range(99) if is_alike(m := random_tree(seed + s)))
    last = free.coordinate_records[-1].segment
    segments = list(free.segments)
    segments[last] = replace(segments[last], coordinate=0, rate=0, ratio=Fraction(-2))
    records = free.coordinate_records[:-1]
    return replace(free, segments=tuple(segments), coordinate_records=records, rate_records=records)


def cases() -> list[Any]:
    trees = [pytest.param(partial(random_tree, seed), id=f"tree{seed}") for seed in TREES]
    others = [pytest.param(partial(coupled, seed), id=f"coupled{seed}") for seed in (100, 200, 300)]
    named = ("manipulator_5dof", "stanford_arm", "sliding_links_3")
    return [*trees, *others, *(pytest.param(partial(reference, name), id=name) for name in named)]


# --- derivatives ----------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", cases(), indirect=True)
def test_the_derivatives_are_those_of_the_mass_matrix(mechanism: cf.Mechanism) -> None:
    """Table 2 against the chain rule, applied to H of another formulation."""
    state = exact_state(mechanism, 4)
    n = mechanism.nv
    got = evaluate(lagrange(mechanism, "metric_derivative").graph, state, EXACT)
    graph = cf.derive(mechanism, ["mass_matrix"], formulation="closed_form").graph
    variables = graph.outputs["mass_matrix"].variables
    for k in range(n):
        extended, found = differentiate(graph, variables, f"q{k + 1}")
        builder = Builder()
        builder.resume(extended)
        entries = [(f"d_{i}", builder.scalar(v)) for i, v in enumerate(found)]
        builder.output("slope", (n, n), entries)
        expected = evaluate(builder.finish(), state, EXACT)["slope"]
        assert (got["metric_derivative"][:, :, k] == expected).all(), k


@pytest.mark.parametrize("mechanism", cases(), indirect=True)
def test_the_symbols_follow_from_the_derivatives(mechanism: cf.Mechanism) -> None:
    state = exact_state(mechanism, 5)
    outputs = ("metric_derivative", "coriolis", "coriolis_matrix", "bias", "gravity")
    got = evaluate(lagrange(mechanism, *outputs).graph, state, EXACT)
    d = got["metric_derivative"]
    # [j,k;i] = (da_ij/dq_k + da_ik/dq_j - da_jk/dq_i) / 2
    symbols = (d + d.transpose(0, 2, 1) - d.transpose(2, 0, 1)) / Fraction(2)
    assert (got["coriolis"] == symbols).all()
    qd = np.array([state[f"qd{i + 1}"] for i in range(mechanism.nv)], dtype=object)
    assert (got["coriolis_matrix"] == symbols @ qd).all()
    assert (got["bias"] == symbols @ qd @ qd + got["gravity"]).all()


# --- the tables as they are printed ---------------------------------------------------------


Vector = np.ndarray[Any, Any]


def vectors(mechanism: cf.Mechanism, state: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return rotation and origin of every segment in world axes, exactly."""
    rotations, origins = [], []
    for segment in mechanism.segments:
        first = segment.parent < 0
        rotation = np.array(mechanism.base.rotation if first else rotations[segment.parent])
        origin = np.array(mechanism.base.position if first else origins[segment.parent])
        turn, axis = rotation @ np.array(segment.rotation), np.array(segment.joint.axis)
        origin = origin + rotation @ np.array(segment.position)
        q = None if segment.coordinate is None else state[f"q{segment.coordinate + 1}"]
        if segment.joint.kind == JointKind.PRISMATIC:
            origin = origin + turn @ axis * q
        elif q is not None:
            turn = turn @ rodrigues(axis, q)
        rotations.append(turn)
        origins.append(origin)
    return rotations, origins


def rodrigues(e: Vector, q: Angle) -> Vector:
    """Return (4): 1 + (1 - cos q) [e]^2 + [e] sin q."""
    skew = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]], dtype=object)
    return np.eye(3, dtype=int) + (1 - q.cos) * (skew @ skew) + skew * q.sin


class Tables:
    """Tables 1 and 2 of the paper for one body, in world axes."""

    def __init__(self, mechanism: cf.Mechanism, state: dict[str, Any], alpha: int) -> None:
        rotations, origins = vectors(mechanism, state)
        body = mechanism.segments[alpha].body
        self.m: Any = body.mass
        self.theta = rotations[alpha] @ np.array(body.inertia) @ rotations[alpha].T
        centre = origins[alpha] + rotations[alpha] @ np.array(body.com)
        self.path = [
            i for i in mechanism.path_to(alpha) if mechanism.segments[i].coordinate is not None
        ]
        self.turns = {i: mechanism.segments[i].joint.kind == "revolute" for i in self.path}
        self.e = {i: rotations[i] @ np.array(mechanism.segments[i].joint.axis) for i in self.path}
        self.l = {i: np.cross(self.e[i], centre - origins[i]) for i in self.path}

    def a(self, i: int, j: int) -> Any:
        """Return the entry of Table 1, i at or before j."""
        m, e, l, theta = self.m, self.e, self.l, self.theta
        match self.turns[i], self.turns[j]:
            case True, True:
                return m * (l[i] @ l[j]) + e[i] @ theta @ e[j]
            case True, False:
                return m * (l[i] @ e[j])
            case False, True:
                return m * (e[i] @ l[j])
            case _:
                return m * (e[i] @ e[j])

    def slope(self, i: int, j: int, k: int) -> Any:
        """Return the entry of Table 2; in its second column e_j stands where e_i is printed."""
        place = self.path.index
        if place(i) < place(k) <= place(j):
            return self.between(i, j, k)
        return self.beyond(i, j, k) if place(j) < place(k) else 0

    def between(self, i: int, j: int, k: int) -> Any:
        m, e, l, x = self.m, self.e, self.l, np.cross
        match self.turns[i], self.turns[j], self.turns[k]:
            case True, True, True:
                moved = x(e[i], l[k]) @ l[j] + l[i] @ x(e[k], l[j])
                return moved * m - x(e[k], e[i]) @ self.theta @ e[j]
            case True, False, True:
                return (x(e[i], l[k]) @ e[j] + l[i] @ x(e[k], e[j])) * m
            case False, True, True:
                return e[i] @ x(e[k], l[j]) * m
            case False, False, True:
                return e[i] @ x(e[k], e[j]) * m
            case True, True, False:
                return x(e[i], e[k]) @ l[j] * m
            case True, False, False:
                return x(e[i], e[k]) @ e[j] * m
            case _:
                return 0

    def beyond(self, i: int, j: int, k: int) -> Any:
        m, e, l, x, theta = self.m, self.e, self.l, np.cross, self.theta
        match self.turns[i], self.turns[j], self.turns[k]:
            case True, True, True:
                moved = x(e[i], l[k]) @ l[j] + l[i] @ x(e[j], l[k])
                turned = x(e[k], e[i]) @ theta @ e[j] + e[i] @ theta @ x(e[k], e[j])
                return moved * m - turned
            case True, False, True:
                return x(e[i], l[k]) @ e[j] * m
            case False, True, True:
                return e[i] @ x(e[j], l[k]) * m
            case True, True, False:
                return (x(e[i], e[k]) @ l[j] + l[i] @ x(e[j], e[k])) * m
            case True, False, False:
                return x(e[i], e[k]) @ e[j] * m
            case False, True, False:
                return e[i] @ x(e[j], e[k]) * m
            case _:
                return 0


def chain(kinds: str, seed: int) -> cf.Mechanism:
    """Return a chain of turning (0) and sliding (1) joints of random directions."""
    for s in range(seed, seed + 4000):
        tree = random_tree(s)
        found = [x for x in tree.segments if x.coordinate is not None]
        if len(found) >= 3:
            break
    else:
        raise AssertionError
    builder = cf.Mechanism.builder(f"chain{kinds}", gravity=(1, 2, -9))
    for k, kind in enumerate(kinds):
        donor = found[k]
        builder.segment(
            f"s{k}",
            parent=f"s{k - 1}" if k else "ground",
            joint="prismatic" if kind == "1" else "revolute",
            axis=donor.joint.axis,
            position=donor.position,
            rotation=donor.rotation,
            mass=k + 1,
            com=["0.1", "-0.2", "0.3"],
            inertia=[[3, 0, 1], [0, 2, 0], [1, 0, 4]],
        )
    return builder.build()


@pytest.mark.parametrize("kinds", ["".join(word) for word in pairs("01", repeat=3)])
def test_the_tables_as_printed(kinds: str) -> None:
    """Every column of Tables 1 and 2, summed over the bodies, for all kinds of three joints."""
    mechanism = chain(kinds, 10 * int(kinds, 2))
    state = exact_state(mechanism, 6)
    n = mechanism.nv
    metric = np.zeros((n, n), dtype=object)
    slopes = np.zeros((n, n, n), dtype=object)
    for alpha in range(len(mechanism.segments)):
        tables = Tables(mechanism, state, alpha)
        for place, i in enumerate(tables.path):
            for j in tables.path[place:]:
                metric[i, j] += tables.a(i, j)
                for k in tables.path:
                    slopes[i, j, k] += tables.slope(i, j, k)
    got = evaluate(lagrange(mechanism, "mass_matrix", "metric_derivative").graph, state, EXACT)
    for i, j in pairs(range(n), repeat=2):
        low, high = min(i, j), max(i, j)
        assert got["mass_matrix"][i, j] == metric[low, high]
        assert (got["metric_derivative"][i, j] == slopes[low, high]).all()


# --- Obradović and Marković 1991 ------------------------------------------------------------


def test_the_manipulator_of_the_paper() -> None:
    names = {"H": "mass_matrix", "C": "coriolis", "hG": "gravity", "tau": "inverse_dynamics"}
    data = reference_data("manipulator_5dof")
    model = lagrange(reference("manipulator_5dof"), *names.values(), "bias")
    for state in data["evaluations"]:
        got = model.evaluate(q=state["q"], qd=state["qd"], qdd=state["qdd"])
        for key, name in names.items():
            size = max(1.0, np.abs(state[key]).max())
            np.testing.assert_allclose(got[name], state[key], rtol=1e-11, atol=1e-11 * size)
        bias = np.array(state["c"]) + np.array(state["hG"])
        np.testing.assert_allclose(got["bias"], bias, rtol=1e-11, atol=1e-8)


# --- what it takes --------------------------------------------------------------------------


def test_loops_and_wrenches_enter() -> None:
    mechanism = cf.read("examples/four_bar.toml")
    state = exact_state(mechanism, 8)
    state |= {f"sigma{i}": Fraction(i, 3) for i in range(1, 4)}
    state |= {f"wrench{i}": Fraction(i, 5) for i in range(1, 7)}
    options: dict[str, Any] = {"wrenches": [mechanism.segments[-1].name]}
    other = cf.derive(mechanism, ["inverse_dynamics"], **options)
    expected = evaluate(other.graph, state, EXACT)["inverse_dynamics"]
    got = evaluate(lagrange(mechanism, "inverse_dynamics", **options).graph, state, EXACT)
    assert (got["inverse_dynamics"] == expected).all()
    state |= {f"tau{i + 1}": value for i, value in enumerate(expected)}
    forward = evaluate(lagrange(mechanism, "forward_dynamics", **options).graph, state, EXACT)
    assert forward["forward_dynamics"].tolist() == [state[f"qdd{i}"] for i in range(1, 4)]


def test_rotors_are_in_the_metric_and_in_no_derivative() -> None:
    mechanism = loaded_tree(3)
    state = exact_state(mechanism, 3)
    outputs = ("mass_matrix", "metric_derivative")
    got, bare = (
        evaluate(lagrange(mechanism, *outputs, without=left).graph, state, EXACT)
        for left in ((), ("rotors",))
    )
    difference = got["mass_matrix"] - bare["mass_matrix"]
    assert (difference == np.diag(np.diag(difference))).all()
    assert difference.any()
    assert (got["metric_derivative"] == bare["metric_derivative"]).all()


def test_quaternions_are_refused() -> None:
    builder = cf.Mechanism.builder("ball")
    builder.segment("ball", joint="spherical", mass=1, inertia=[1, 1, 1])
    with pytest.raises(cf.Error, match="needs qd to be the rate of q") as caught:
        lagrange(builder.build(), "mass_matrix")
    assert "euler" in str(caught.value.remedy)


def test_it_takes_fewer_operations_than_sums_over_bodies() -> None:
    mechanism = reference("puma560")
    ours, theirs = (
        cf.derive(mechanism, ["mass_matrix", "coriolis", "gravity"], formulation=name).count()
        for name in ("lagrange", "closed_form")
    )
    assert 4 * ours.multiplications < theirs.multiplications
