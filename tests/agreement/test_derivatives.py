"""Derivatives: exactly against dual numbers and differences, then against Pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from bases import carried, on_moving_base
from chainform.analysis.comparison import exact_state
from chainform.graph import EXACT, evaluate
from chainform.model import output_of
from pinocchio_oracle import pin
from robots import UrdfOracle, example_robot, robot_files
from zoo import coupled, loaded_tree, random_tree

Array = NDArray[np.float64]

# --- dual numbers ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dual:
    """A value and its slope; either may be a dual number again."""

    value: Any
    slope: Any = 0

    def __bool__(self) -> bool:
        return bool(self.value) or bool(self.slope)

    def __add__(self, other: Any) -> Dual:
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __mul__(self, other: Any) -> Dual:
        other = other if isinstance(other, Dual) else Dual(other)
        # A slope of zero is no number that an angle could be multiplied by.
        left = self.slope * other.value if self.slope else 0
        right = self.value * other.slope if other.slope else 0
        return Dual(self.value * other.value, left + right)

    __rmul__ = __mul__


class DualArithmetic:
    """Dual numbers over another arithmetic."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def number(self, value: Fraction) -> Dual:
        return Dual(self.inner.number(value))

    def call(self, function: str, argument: Any) -> Dual:
        if not isinstance(argument, Dual):
            return Dual(self.inner.call(function, argument))
        value = self.inner.call(function, argument.value)
        if not argument.slope or function == "sign":
            return Dual(value)
        match function:
            case "sin":
                rise = self.inner.call("cos", argument.value)
            case "cos":
                rise = -self.inner.call("sin", argument.value)
            case "reciprocal":
                rise = -(value * value)
            case _:
                raise AssertionError(function)
        return Dual(value, rise * argument.slope)


def coordinate_changes(mechanism: cf.Mechanism, state: dict[str, Any], k: int) -> dict[str, Any]:
    """Return how the coordinates change with a rate: quaternions by the product with (w, 0) / 2."""
    for segment in mechanism.segments:
        if segment.rate is None or segment.coordinate is None:
            continue
        place, kind = k - segment.rate, segment.joint.kind
        if not 0 <= place < kind.rates:
            continue
        if not kind.has_quaternion:
            return {f"q{segment.coordinate + 1}": Fraction(1)}
        first = segment.coordinate + kind.coordinates - 4
        x, y, z, w = (state[f"q{first + i + 1}"] for i in range(4))
        half = Fraction(1, 2)
        turned = [(w, z, -y, -x), (-z, w, x, -y), (y, -x, w, -z)]
        if kind.rates == 6 and place < 3:
            rotation = [
                (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
                (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
                (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
            ]
            return {f"q{segment.coordinate + i + 1}": rotation[i][place] for i in range(3)}
        row = turned[place - (kind.rates - 3)]
        return {f"q{first + i + 1}": half * row[i] for i in range(4)}
    raise AssertionError(k)


def changes(mechanism: cf.Mechanism, state: dict[str, Any], by: str) -> list[dict[str, Any]]:
    """Return the changes of inputs in each direction of a group."""
    if by == "q":
        return [coordinate_changes(mechanism, state, k) for k in range(mechanism.nv)]
    return [{f"{by}{k + 1}": Fraction(1)} for k in range(mechanism.nv)]


def slopes(graph: Any, output: str, state: dict[str, Any], moved: list[dict[str, Any]]) -> Any:
    """Return the derivatives of an output, the last index for the direction."""
    columns: list[Any] = []
    for change in moved:
        given = {name: Dual(value, change.get(name, 0)) for name, value in state.items()}
        found = evaluate(graph, given, DualArithmetic(EXACT), [output])[output]
        columns.append(np.array([x.slope if isinstance(x, Dual) else 0 for x in found.flat]))
    return np.stack(columns, axis=-1).reshape(*graph.outputs[output].shape, len(moved))


# --- exactly --------------------------------------------------------------------------------------

TREES = (7001, 7002, 7004, 7006, 7009)
INVERSE = [f"derivative(inverse_dynamics,{by})" for by in ("q", "qd", "qdd")]


@cache
def tree(seed: int) -> cf.Mechanism:
    return random_tree(seed, quaternions=True)


@pytest.mark.parametrize("seed", TREES)
def test_first_derivatives_are_those_of_dual_numbers(seed: int) -> None:
    mechanism = tree(seed)
    model = cf.derive(mechanism, INVERSE)
    plain = cf.derive(mechanism, ["inverse_dynamics"], formulation="gibbs_appell").graph
    state = exact_state(mechanism, plain.inputs.values(), 3)
    found = evaluate(model.graph, state, EXACT)
    for by in ("q", "qd", "qdd"):
        expected = slopes(plain, "inverse_dynamics", state, changes(mechanism, state, by))
        assert (found[f"derivative(inverse_dynamics,{by})"] == expected).all(), by


KINDS: dict[str, Callable[[int], cf.Mechanism]] = {
    "loaded": lambda seed: loaded_tree(700 + seed),
    "coupled": lambda seed: coupled(100 + 120 * seed, Fraction(0))[1],
    "moving base": lambda seed: on_moving_base(tree(TREES[seed]), seed),
    "loaded moving base": lambda seed: on_moving_base(loaded_tree(740 + seed), seed),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", KINDS)
def test_composite_bodies_give_the_derivatives_of_accumulation(kind: str, seed: int) -> None:
    mechanism = KINDS[kind](seed)
    accumulated = cf.derive(mechanism, INVERSE, formulation="newton_euler").graph
    state = exact_state(mechanism, accumulated.inputs.values(), seed)
    expected = evaluate(accumulated, state, EXACT)
    found = evaluate(cf.derive(mechanism, INVERSE).graph, state, EXACT)
    for text in INVERSE:
        assert (found[text] == expected[text]).all(), text


FLYING: dict[str, Callable[[], cf.Mechanism]] = {
    "moving base": lambda: on_moving_base(carried(loaded_tree(702)), 1),
    "loaded": lambda: carried(loaded_tree(701)),
    "loaded tree": lambda: carried(loaded_tree(704)),
}


@pytest.mark.parametrize("seed", [*TREES, *FLYING])
def test_accelerations_have_the_derivatives_of_the_articulated_bodies(seed: int | str) -> None:
    mechanism = tree(seed) if isinstance(seed, int) else FLYING[seed]()
    by = ("q", "qd", "tau")
    texts = [f"derivative(forward_dynamics,{word})" for word in by]
    try:
        plain = cf.derive(mechanism, ["forward_dynamics"], formulation="articulated_body").graph
    except cf.Error:
        with pytest.raises(cf.Error, match="singular"):
            cf.derive(mechanism, texts)
        return
    model = cf.derive(mechanism, texts)
    state = exact_state(mechanism, plain.inputs.values(), 4)
    found = evaluate(model.graph, state, EXACT)
    for word, text in zip(by, texts, strict=True):
        expected = slopes(plain, "forward_dynamics", state, changes(mechanism, state, word))
        assert (found[text] == expected).all(), word


@pytest.mark.parametrize("seed", TREES[:3])
def test_second_derivatives_are_those_of_dual_numbers(seed: int) -> None:
    mechanism = tree(seed)
    pairs = [("q", "q"), ("q", "qd"), ("qdd", "q")]
    model = cf.derive(mechanism, [f"derivative(inverse_dynamics,{a},{b})" for a, b in pairs])
    first = cf.derive(mechanism, INVERSE, formulation="gibbs_appell").graph
    state = exact_state(mechanism, first.inputs.values(), 5)
    found = evaluate(model.graph, state, EXACT)
    for a, b in pairs:
        moved = changes(mechanism, state, b)
        expected = slopes(first, f"derivative(inverse_dynamics,{a})", state, moved)
        assert (found[f"derivative(inverse_dynamics,{a},{b})"] == expected).all(), (a, b)


def test_polynomials_have_the_slopes_of_their_differences() -> None:
    """Bias is of degree 2 in the rates; mass matrix and gravity are of degree 1 in a mass."""
    mechanism = tree(7004)
    outputs = ["bias", "mass_matrix", "gravity"]
    mass = next(s for s in mechanism.segments if s.body.mass != 0)
    name = f"m_{mechanism.segments.index(mass) + 1}"
    texts = ["derivative(bias,qd1)", f"d(H)/d({name})", f"d(hG)/d({name})"]
    model = cf.derive(mechanism, [*outputs, *texts], parameters=[name])
    state = exact_state(mechanism, model.graph.inputs.values(), 6)
    for output, text, by in zip(outputs, texts, ("qd1", name, name), strict=True):
        above, below = ({**state, by: state[by] + step} for step in (1, -1))
        rise = [evaluate(model.graph, s, EXACT, [output])[output] for s in (above, below)]
        found = model[text]
        block = evaluate(model.graph, state, EXACT)[output_of(text)]
        assert found.shape == block.shape
        assert (block == (rise[0] - rise[1]) / 2).all(), text


def test_products_are_those_of_the_whole_derivatives() -> None:
    mechanism = tree(7009)
    first, second = "derivative(inverse_dynamics,q)", "derivative(inverse_dynamics,q,q)"
    forward = "derivative(forward_dynamics,q)"
    wholes = [first, second, forward]
    texts = [f"product({w},direction)" for w in wholes]
    texts += [f"product(weights,{w})" for w in wholes]
    texts += [f"product(weights,{w},direction)" for w in wholes]
    graph = cf.derive(mechanism, [*wholes, *texts]).graph
    state = exact_state(mechanism, graph.inputs.values(), 7)
    found = evaluate(graph, state, EXACT)
    n = mechanism.nv
    direction = np.array([state[f"direction{k + 1}"] for k in range(n)])
    weights = np.array([state[f"weights{k + 1}"] for k in range(n)])
    for whole in wholes:
        D = found[whole]
        left = np.tensordot(weights, D, axes=(0, 0))
        assert (found[f"product({whole},direction)"] == D @ direction).all(), whole
        assert (found[f"product(weights,{whole})"] == left).all(), whole
        assert (found[f"product(weights,{whole},direction)"] == left @ direction).all(), whole


# --- Pinocchio ------------------------------------------------------------------------------------

ROBOTS = (
    ("ur5_robot.urdf", "fixed"),
    ("xarm7.urdf", "fixed"),
    ("kinova.urdf", "fixed"),
    ("double_pendulum.urdf", "fixed"),
    ("z1.urdf", "fixed"),
    ("allegro_right_hand.urdf", "fixed"),
    ("solo12.urdf", "floating"),
    ("bolt.urdf", "floating"),
    ("hyq_no_sensors.urdf", "floating"),
    ("anymal.urdf", "floating"),
)
FIRST = ("derivative(inverse_dynamics,q)", "derivative(inverse_dynamics,qd)")
ACCELERATIONS = tuple(f"derivative(forward_dynamics,{by})" for by in ("q", "qd", "tau"))
SECOND = tuple(f"derivative(inverse_dynamics,{by})" for by in ("q,q", "qd,qd", "q,qd", "qdd,q"))
STENCIL = (45 / 60, -9 / 60, 1 / 60)
STEP = 5e-3


def oracle_of(name: str, base: str) -> tuple[cf.Mechanism, UrdfOracle]:
    path = example_robot(name)
    mechanism = cf.read(path, base=base, snap=False)
    oracle = UrdfOracle(path, base)
    oracle.match(mechanism)
    return mechanism, oracle


@pytest.mark.parametrize(("name", "base"), ROBOTS)
def test_derivatives_are_those_of_pinocchio(name: str, base: str) -> None:
    mechanism, oracle = oracle_of(name, base)
    model = cf.derive(mechanism, [*FIRST, *ACCELERATIONS, *SECOND], without=["friction"])
    rng = np.random.default_rng(1)
    q, theirs = oracle.state(rng)
    qd, qdd, tau = rng.uniform(-1, 1, (3, mechanism.nv))
    got = model.evaluate(q=q, qd=qd, qdd=qdd, tau=tau)
    for text, expected in (
        first_order(oracle, theirs, qd, qdd)
        | accelerations(oracle, theirs, qd, tau)
        | second_order(oracle, theirs, qd, qdd)
    ).items():
        scale = max(1.0, np.abs(expected).max())
        assert np.abs(got[text] - expected).max() <= 1e-9 * scale, text


def arranged(oracle: UrdfOracle, array: Array) -> Array:
    """Return a matrix, or an array of three indices, in our order."""
    return array[np.ix_(*[oracle.v_order] * array.ndim)]


def first_order(oracle: UrdfOracle, q: Array, qd: Array, qdd: Array) -> dict[str, Array]:
    pin.computeRNEADerivatives(oracle.model, oracle.data, q, oracle.v(qd), oracle.v(qdd))
    found = (np.array(oracle.data.dtau_dq), np.array(oracle.data.dtau_dv))
    return {text: arranged(oracle, x) for text, x in zip(FIRST, found, strict=True)}


def accelerations(oracle: UrdfOracle, q: Array, qd: Array, tau: Array) -> dict[str, Array]:
    pin.computeABADerivatives(oracle.model, oracle.data, q, oracle.v(qd), oracle.v(tau))
    upper = np.triu(np.array(oracle.data.Minv))
    inverse = upper + np.triu(upper, 1).T
    found = (np.array(oracle.data.ddq_dq), np.array(oracle.data.ddq_dv), inverse)
    return {text: arranged(oracle, x) for text, x in zip(ACCELERATIONS, found, strict=True)}


def second_order(oracle: UrdfOracle, q: Array, qd: Array, qdd: Array) -> dict[str, Array]:
    """Return differences of sixth order of Pinocchio's first derivatives."""
    n = oracle.model.nv
    rate, acceleration = oracle.v(qd), oracle.v(qdd)

    def first(q: Array, qd: Array) -> list[Array]:
        pin.computeRNEADerivatives(oracle.model, oracle.data, q, qd, acceleration)
        upper = np.triu(np.array(oracle.data.M))
        H = upper + np.triu(upper, 1).T
        return [np.array(oracle.data.dtau_dq), np.array(oracle.data.dtau_dv), H]

    def slopes_of(moved: Any) -> list[Array]:
        found = [np.zeros((n, n, n)) for _ in range(3)]
        for k, unit in enumerate(np.eye(n)):
            for count, weight in enumerate(STENCIL, start=1):
                for sign in (1, -1):
                    values = first(*moved(sign * count * STEP * unit))
                    for total, value in zip(found, values, strict=True):
                        total[:, :, k] += sign * weight / STEP * value
        return found

    by_q = slopes_of(lambda step: (pin.integrate(oracle.model, q, step), rate))
    by_qd = slopes_of(lambda step: (q, rate + step))
    found = (by_q[0], by_qd[1], by_qd[0], by_q[2])
    return {text: arranged(oracle, x) for text, x in zip(SECOND, found, strict=True)}


def test_all_robots_are_installed() -> None:
    assert len({name for name, _ in ROBOTS}) == 10
    assert robot_files("example-robot-data")
