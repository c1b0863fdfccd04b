"""Compiled functions of mechanisms against the evaluation with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.runtime import Program, Target, host
from unit.runtime.programs import (
    close,
    given,
    graph_of,
    model,
    plain_target,
    same_bits,
    small,
    state_of,
    without,
)

ONE_BY_ONE = ("loops", "floating", "wrenches")
AT_ONCE = ("puma560", "rackovic_2_1", "balls")
TREES = tuple(f"tree {seed}" for seed in range(40, 46))
STATES = 13
"""No multiple of any number of lanes, and more than the most lanes."""


def compare(some: cf.Model, program: Program, tolerance: float, *, at_once: bool = False) -> None:
    """Compare all outputs, for a batch and for its first and last state alone."""
    state = state_of(some, 5, STATES)
    expected = some.evaluate(**state)
    for outputs in [some.outputs] if at_once else [(name,) for name in some.outputs]:
        function = program.function(*outputs)
        arguments = given(program, outputs, state)
        results = _tuple(function(*arguments))
        for name, result in zip(outputs, results, strict=True):
            assert result.dtype == program.precision
            close(result, expected[name], tolerance)
        for i in (0, STATES - 1):
            one = _tuple(function(*[array[i] for array in arguments]))
            for name, result in zip(outputs, one, strict=True):
                close(result, expected[name][i], tolerance)


def _tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_every_output(name: str) -> None:
    some = model(name)
    compare(some, some.compile(), 1e-12)


@pytest.mark.parametrize("name", [*AT_ONCE, *TREES])
def test_several_outputs_at_once(name: str) -> None:
    some = model(name)
    compare(some, some.compile(), 1e-12, at_once=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ONE_BY_ONE, *AT_ONCE[:2], *TREES[:3]])
def test_single_precision(name: str) -> None:
    some = model(name)
    outputs = [o for o in some.outputs if o != "forward_dynamics"]
    state = state_of(some, 6, STATES)
    expected = some.evaluate(**state, outputs=outputs)
    program = some.compile(precision="float32")
    arguments = given(program, outputs, state)
    batch = _tuple(program.function(*outputs)(*arguments))
    single = _tuple(program.function(*outputs)(*[array[3] for array in arguments]))
    for output, result, one in zip(outputs, batch, single, strict=True):
        assert result.dtype == one.dtype == np.float32
        close(result, expected[output], 1e-4)
        close(one, expected[output][3], 1e-4)
        # They are no doubles in disguise: the last digits are missing.
        assert not np.any(expected[output]) or np.any(result != expected[output])


# --- lanes and processors -------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_any_number_of_lanes(lanes: int, precision: str) -> None:
    some = model("tree 47")
    program = some.compile(lanes=lanes, precision=precision)
    assert program.lanes == lanes
    state = state_of(some, 7, 2 * lanes + 1)
    result = program.inverse_dynamics(state["q"], state["qd"], state["qdd"])
    expected = some.evaluate(**state, outputs=["inverse_dynamics"])["inverse_dynamics"]
    close(result, expected, 1e-12 if precision == "float64" else 1e-4)


def test_numbers_of_lanes_do_not_matter() -> None:
    q = np.random.default_rng(0).uniform(-3, 3, (37, 3))
    first, *others = (Program(small(), lanes=lanes).o(q) for lanes in (2, 4, 8, 16))
    for other in others:
        same_bits(other, first)


TARGETS = {
    "plain": plain_target,
    "no fused products": lambda: without("fma", "avx512", "avx10"),
    "no long registers": lambda: without("avx512", "avx10"),
}


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("kind", TARGETS)
def test_lesser_processors(kind: str, precision: str) -> None:
    target: Target = TARGETS[kind]()
    some = model("tree 44")
    program = Program(some.graph, lengths=some.compile().lengths, precision=precision, cpu=target)
    if kind == "plain" and target.cpu == "x86-64":
        assert program.lanes == (2 if precision == "float64" else 4)
        assert not target.fused
    compare(some, program, 1e-12 if precision == "float64" else 1e-4, at_once=True)


@pytest.mark.parametrize("kind", TARGETS)
def test_angles_far_from_zero(kind: str) -> None:
    """Here the reduction calls integer arithmetic of 256 bits, which each processor must have."""
    program = Program(small(), cpu=TARGETS[kind]())
    size = 10.0 ** np.arange(4, 300, 20)
    q = np.stack([size, -size, np.ones_like(size)], axis=-1)
    s, c = np.sin(q[:, 0]), np.cos(q[:, 1])
    expected = np.stack([2 * s - c / 3, c**2 * size + 0.5], axis=-1)
    np.testing.assert_allclose(program.o(q), expected, rtol=1e-12)
    for i, row in enumerate(q):
        np.testing.assert_allclose(program.o(row), expected[i], rtol=1e-12)


def test_states_that_are_no_numbers() -> None:
    program = Program(small())
    q = np.ones((21, 3))
    q[4, 0], q[9, 1], q[13, 2] = np.inf, np.nan, -np.inf
    result = program.o(q)
    spoilt = [[4, 0], [4, 1], [9, 0], [9, 1], [13, 0]]
    assert np.argwhere(~np.isfinite(result)).tolist() == spoilt
    assert np.isnan(program.o(q[4])[0])
    same_bits(result[20], result[0])


def test_numbers_in_many_places() -> None:
    """They are stored in loops, where there are so many that code for each would be long."""
    entries = [*["zero"] * 30, "q1", *["half"] * 25, *["zero"] * 3, "s", *["one"] * 4]
    labels = " ".join(f"e{i}:{name}" for i, name in enumerate(entries))
    lines = ["input q 0 q1", "zero = 0", "half = 1/2", "one = 1", "s = q1*q1"]
    graph = graph_of(*lines, f"output o [64]: {labels}", f"output p [2 32]: {labels}")
    meaning = {"zero": 0.0, "half": 0.5, "one": 1.0, "q1": 3.0, "s": 9.0}
    expected = np.array([meaning[name] for name in entries])
    for lanes in (2, 8):
        program = Program(graph, lanes=lanes)
        for out in (None, np.full((64, 9), np.nan).T):
            same_bits(np.array(program.o(np.full((9, 1), 3.0), out=out)[8]), expected)
        one, other = program.function("o", "p")([3.0])
        same_bits(one, expected)
        same_bits(other, expected.reshape(2, 32))


def test_the_features_of_a_processor() -> None:
    assert not without("fma").has("fma")
    assert Target("x86_64", "x", "+avx2,+fma").lanes("float64") == 4
    assert Target("x86_64", "x", "+avx512f").lanes("float32") == 16
    assert Target("x86_64", "x", "-avx2,-avx512f,-fma").lanes("float64") == 2
    assert Target("aarch64-linux", "x", "").fused
    assert host() is host()
