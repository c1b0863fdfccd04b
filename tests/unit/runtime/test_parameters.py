"""Free parameters of compiled functions: defaults, values, binding, and what is computed once."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform as cf
from chainform.errors import RunError
from chainform.graph import Graph
from chainform.runtime import Program
from strategies import examples
from unit.runtime.programs import arm, close, graph_of, same_bits, state_of
from zoo import random_tree

NAMES = ("m_1", "com_1_z", "I_1_xx", "I_1_yy", "I_1_zz", "d_2_z", "m_2", "com_2_x", "com_2_z", "g")


@cache
def compiled() -> Program:
    return arm().compile()


def mixed() -> Graph:
    """Return a graph where parameters come without defaults, out of order, and as results."""
    return graph_of(
        *("input q 0 q1", "input parameter 5 late", "input parameter 2 early = 0.5"),
        "input parameter 3 idle",
        *("square = early*early", "root = sqrt(square)", "turned = sin(late)"),
        *("a = root*q1 + turned", "b = turned*square", "c = q1*q1", "d = early*q1"),
        "output o [3]: a b late",
        "output plain []: c",
        "output some []: d",
        "output fixed [2]: b_1:b early",
    )


def test_the_order_and_the_defaults() -> None:
    assert tuple(compiled().parameters) == NAMES
    assert compiled().parameters == {n: float(v or 0) for n, v in arm().free_parameters.items()}
    assert Program(mixed()).parameters == {"early": 0.5, "idle": None, "late": None}


@pytest.mark.parametrize("seed", [61, 64])
def test_symbolic_models(seed: int) -> None:
    some = cf.derive(random_tree(seed), ["inverse_dynamics"], parameters="symbolic")
    program = some.compile()
    state = state_of(some, seed, 10)
    rng = np.random.default_rng(seed)
    names = list(some.free_parameters)
    one = {name: rng.uniform(0.5, 1.5) for name in names}
    each = {name: rng.uniform(0.5, 1.5, 10) for name in names}
    few = {names[0]: each[names[0]], names[-1]: one[names[-1]]}
    arguments = [state[g] for g in ("q", "qd", "qdd")]
    choices: list[dict[str, Any] | None] = [None, {}, one, each, few]
    for values in choices:
        expected = some.evaluate(**state, values=values)["inverse_dynamics"]
        close(program.inverse_dynamics(*arguments, values=values), expected)
        row = [x[3] for x in arguments]
        here = {n: v if np.ndim(v) == 0 else v[3] for n, v in (values or {}).items()}
        close(program.inverse_dynamics(*row, values=here), expected[3])


@given(
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from([(), (7,), (1,), (3, 1), (3, 7)])),
    st.sampled_from([(), (7,), (3, 7), (3, 1)]),
    st.integers(0, 99),
)
@examples(80)
def test_values_with_leading_dimensions(
    shapes: dict[str, tuple[int, ...]], batch: tuple[int, ...], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values = {name: rng.uniform(0.5, 2, shape) for name, shape in shapes.items()}
    q = rng.uniform(-2, 2, (*batch, 2))
    expected = arm().evaluate(q=q, values=values, outputs=["gravity"])["gravity"]
    found = compiled().gravity(q, values=values)
    close(found, expected)
    out = np.empty(expected.shape[::-1]).T
    assert compiled().gravity(q, values=values, out=out) is out
    close(out, expected)


def test_once_or_for_every_state() -> None:
    """What depends on parameters only is computed apart; it must be right in either case."""
    program = Program(mixed(), lanes=4)
    q = np.arange(11.0)[:, None]
    late, early = np.linspace(1, 2, 11), np.linspace(3, 4, 11)
    for values in (
        {"late": 1.5, "early": 3.5},
        {"late": late, "early": 3.5},
        {"late": late[::-1], "early": early},
        {"late": late[3:4], "early": early[5]},
    ):
        a, b = values["early"], np.sin(values["late"])
        columns = [np.sqrt(np.square(a)) * q[:, 0] + b, b * np.square(a), values["late"]]
        expected = np.stack(np.broadcast_arrays(*columns), axis=-1)
        full = {**values, "idle": 0}
        np.testing.assert_allclose(program.o(q, values=full), expected, rtol=1e-14)
        fixed = program.fixed(q, values=full)
        np.testing.assert_allclose(fixed[:, 0], np.broadcast_to(b * np.square(a), 11), rtol=1e-14)
        assert (fixed[:, 1] == a).all()


def test_the_sine_of_a_parameter_is_computed_once() -> None:
    text = Program(mixed()).kernel("o")._text("batch")
    main = text.partition("@batch.lanes.fixed(")[2].partition("define internal void @batch.lanes(")
    assert "call {<" in main[0]
    assert "@sincos" not in main[2]


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_per_state_and_once_agree_to_the_bit(precision: str) -> None:
    program = arm().compile(precision=precision)
    state = state_of(arm(), 2, 21)
    arguments = [state[g] for g in ("q", "qd", "qdd")]
    once = program.inverse_dynamics(*arguments, values={"m_1": 1.25})
    same_bits(program.inverse_dynamics(*arguments, values={"m_1": np.full(21, 1.25)}), once)
    same_bits(program.bind({"m_1": 1.25}).inverse_dynamics(*arguments), once)


# --- what is missing, or not needed ---------------------------------------------------------


def test_missing_values() -> None:
    program = Program(mixed())
    for q in ([1.0], [[1.0], [2.0]]):
        with pytest.raises(RunError, match="the parameter late has no value") as e:
            program.o(q)
        assert e.value.element == "late"
        assert 'values={"late": ...}' in (e.value.remedy or "")
    assert program.o([1.0], values={"late": 0}).tolist() == [0.5, 0.0, 0.0]


def test_what_a_result_does_not_need_may_be_missing() -> None:
    """As in `evaluate`, which asks for what the result depends on."""
    program = Program(mixed())
    assert program.plain([3.0]) == 9.0
    assert program.some([3.0]) == 1.5
    assert program.some(np.array([3.0]), values={"early": 2}) == 6.0
    assert program.plain([[3.0]], values={"late": 1}).tolist() == [9.0]
    assert program.plain([3.0], values={"early": np.ones(4)}).tolist() == [9.0] * 4
    assert type(program.some).__name__ == "builtin_function_or_method"


def test_a_parameter_may_be_called_like_a_group() -> None:
    lines = ["input q 0 q1", "input parameter 0 q = 2", "a = q*q1", "output o []: a"]
    program = Program(graph_of(*lines))
    assert program.o([[1.0], [2.0], [3.0]]).tolist() == [2.0, 4.0, 6.0]
    assert program.o([[1.0], [2.0]], values={"q": 5}).tolist() == [5.0, 10.0]
    assert program.o([2.0], values={"q": [5, 6]}).tolist() == [10.0, 12.0]


# --- binding --------------------------------------------------------------------------------


def test_a_bound_program() -> None:
    some = arm()
    q = [0.3, -0.4]
    bound = compiled().bind({"m_1": 4, "g": np.float32(2)}).bind({"g": 3.5})
    expected = some.evaluate(q=q, values={"m_1": 4, "g": 3.5}, outputs=["gravity"])["gravity"]
    close(bound.gravity(q), expected)
    close(bound.gravity([q, q])[1], expected)
    close(bound.gravity(q, values={"g": 9.81}), compiled().gravity(q, values={"m_1": 4}))
    assert (bound.parameters["m_1"], compiled().parameters["m_1"]) == (4.0, 2.0)
    assert bound.address("gravity") == compiled().address("gravity")
    assert bound.gravity is not compiled().gravity


def test_binding_what_has_no_default() -> None:
    program = Program(mixed())
    with pytest.raises(RunError, match="no value"):
        program.bind({"early": 1}).o([1.0])
    bound = program.bind({"late": 0, "early": 3})
    assert bound.o([2.0]).tolist() == [6.0, 0.0, 0.0]
    assert type(bound.o).__name__ == "builtin_function_or_method"


def test_exact_numbers() -> None:
    """Fractions, large integers and numbers of numpy, alone and for every state."""
    q = [0.3, -0.4]
    expected = compiled().gravity(q, values={"m_1": 1 / 3, "g": 4.0})
    for value in (Fraction(1, 3), np.float64(1 / 3), np.array(1 / 3), np.array(Fraction(1, 3))):
        same_bits(compiled().gravity(q, values={"m_1": value, "g": 4}), expected)
        same_bits(compiled().bind({"m_1": value, "g": np.int64(4)}).gravity(q), expected)
    several = [Fraction(1, 3), Fraction(7, 2)]
    found = compiled().gravity(q, values={"m_1": several, "g": [4, Fraction(4)]})
    close(found[0], expected, 1e-15)
    assert (
        compiled().gravity([Fraction(1, 3), 1]).tolist() == compiled().gravity([1 / 3, 1]).tolist()
    )
    assert compiled().bind({"g": 10**30}).parameters["g"] == 1e30


def test_bound_models() -> None:
    some = arm()
    bound = some.bind({"m_1": "1/3", "g": Fraction(5, 2)})
    program = bound.compile()
    assert set(program.parameters) == set(NAMES) - {"m_1", "g"}
    q = [0.3, -0.4]
    close(program.gravity(q), compiled().gravity(q, values={"m_1": 1 / 3, "g": 2.5}))
    with pytest.raises(cf.Error, match="no free parameter 'm_1'"):
        program.gravity(q, values={"m_1": 1})
    kept = some.bind({"m_1": 7}, keep_free=True).compile()
    close(kept.gravity(q), compiled().gravity(q, values={"m_1": 7}))
