"""Parts of sums written by what is computed already: the values stay."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given

import chainform as cf
from chainform.algebra import Settler, graph_of, is_same, system_of
from chainform.algebra.dependencies import Needs
from chainform.algebra.finite_field import SHORT
from chainform.algebra.resubstitution import Resubstitution, Values
from chainform.graph import Builder, Graph
from chainform.search.neighbourhood import Remainders
from reductions import check_kept, moving_graph, operations
from strategies import POLYNOMIAL, TRIGONOMETRIC, Point, Program, examples, points, programs
from zoo import exact_state, random_tree, reference


def sums_of(graph: Graph, *, resubstitute: bool) -> Graph:
    system = system_of(graph)
    Settler(system).settle(resubstitute=resubstitute)
    return graph_of(system)


def test_an_identity_between_sums_is_found() -> None:
    """a^2 - b^2 is (a + b)(a - b), and both factors are there."""
    builder = Builder()
    a, b = builder.input("a", "qd", 0), builder.input("b", "qd", 1)
    values = [a + b, a - b, a * a - b * b]
    builder.output("out", (3,), [(f"out_{i}", value) for i, value in enumerate(values)])
    graph = builder.finish()
    assert operations(sums_of(graph, resubstitute=False)) == 5
    reduced = sums_of(graph, resubstitute=True)
    assert operations(reduced) == 3
    assert is_same(graph, reduced)


def test_an_identity_of_sines_is_found() -> None:
    """1 - 2 sin(a)^2 is 2 cos(a)^2 - 1, up to what the sum is used for."""
    builder = Builder()
    a, x = builder.input("a", "q", 0), builder.input("x", "qd", 0)
    s, c = builder.call("sin", a), builder.call("cos", a)
    values = [5 * c * c * x, 5 * x - 5 * s * s * x]
    builder.output("out", (2,), [(f"out_{i}", value) for i, value in enumerate(values)])
    reduced = sums_of(builder.finish(), resubstitute=True)
    assert operations(reduced) == 3


@examples(40)
@given(programs(POLYNOMIAL + TRIGONOMETRIC, most_steps=12), points)
def test_a_sweep_keeps_values_and_never_costs(program: Program, point: Point) -> None:
    for constants in (0, 1):
        graph = moving_graph(program, constants)
        system = system_of(graph)
        before = system.sums.cost
        count = Resubstitution(system).sweep()
        assert system.sums.cost < before if count else system.sums.cost == before
        after = graph_of(system)
        assert is_same(graph, after, seed=7)
        check_kept(graph, after, point.values())


@examples(30)
@given(programs(POLYNOMIAL + TRIGONOMETRIC, most_steps=12), points)
def test_disturbances_keep_values(program: Program, point: Point) -> None:
    graph = moving_graph(program, 1)
    system = system_of(graph)
    sums, rng = system.sums, random.Random(4)
    resubstitution, remainders = Resubstitution(system), Remainders(sums, 48, Needs(system))
    for v in [v for v in sums.defined() if not sums.is_constant[v]]:
        resubstitution.disturb(v, rng)
        remainders.disturb(v, rng)
    after = graph_of(system)
    assert is_same(graph, after, seed=7)
    check_kept(graph, after, point.values())


ZOO = (
    (reference("rackovic_2_1"), ["mass_matrix", "coriolis", "gravity"], "numeric"),
    (reference("manipulator_5dof"), ["inverse_dynamics"], "symbolic"),
    (random_tree(5), ["inverse_dynamics"], "numeric"),
)


@pytest.mark.parametrize(("mechanism", "outputs", "parameters"), ZOO)
def test_mechanisms(mechanism: Any, outputs: list[str], parameters: str) -> None:
    graph = cf.derive(mechanism, outputs, parameters=parameters).graph
    system = system_of(graph)
    sums, rng = system.sums, random.Random(4)
    resubstitution, remainders = Resubstitution(system), Remainders(sums, 48, Needs(system))
    choices = [v for v in sums.defined() if not sums.is_constant[v]]
    found = [
        disturbance.disturb(rng.choice(choices), rng)
        for _ in range(25)
        for disturbance in (resubstitution, remainders)
    ]
    assert any(found)
    after = graph_of(system)
    assert is_same(graph, after, seed=7)
    check_kept(graph, after, exact_state(mechanism, 3))


@pytest.mark.parametrize(("mechanism", "outputs", "parameters"), ZOO)
def test_values_do_not_depend_on_the_form(
    mechanism: Any, outputs: list[str], parameters: str
) -> None:
    system = system_of(cf.derive(mechanism, outputs, parameters=parameters).graph)
    roots = sorted(system.sums.roots)
    before = [Values(system, SHORT, 1).of(v) for v in roots]
    Settler(system).settle()
    assert [Values(system, SHORT, 1).of(v) for v in roots] == before
