"""Expansions of sums: canonical, and those that the graph itself has."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given

import chainform as cf
from chainform.algebra import Settler, SumSystem, graph_of, multiply_out, system_of
from chainform.algebra.expansion import Expansions
from chainform.graph import Graph, expand
from reductions import check_kept, moving_graph
from strategies import POLYNOMIAL, TRIGONOMETRIC, Point, Program, examples, points, programs
from zoo import exact_state, reference

Plain = dict[tuple[tuple[str, int], ...], Fraction]


def named(system: SumSystem, variable: int) -> str:
    """Return a given variable as the graph's expansions name it."""
    graph = system.graph
    v = system.origin[variable]
    if not graph.call[v]:
        return graph.names[v]
    (monomial,) = expand(graph, [v], angles="kept")[0].as_dict()
    return monomial[0][0]


def plain(system: SumSystem, terms: dict[int, int]) -> Plain:
    """Return an expansion with names and fractions."""
    sums = system.sums
    found: Plain = {}
    for monomial, number in terms.items():
        factors = sums.monomials.factors[monomial]
        key = tuple(sorted((named(system, v), factors.count(v)) for v in set(factors)))
        found[key] = sums.numbers.fraction(number)
    return found


def check_expansions(graph: Graph) -> None:
    system = system_of(graph)
    expansions = Expansions(system.sums, 10_000)
    wanted = [v for v in system.origin.values() if system.sums.terms[system.to_sums[v]] is not None]
    for v, expected in zip(wanted, expand(graph, wanted, angles="kept"), strict=True):
        terms = expansions.of(system.to_sums[v])
        assert terms is not None
        assert plain(system, terms) == expected.as_dict()


@examples(40)
@given(programs((*POLYNOMIAL[:-2], "name", "sin", "cos"), most_steps=9))
def test_as_the_graph_expands(program: Program) -> None:
    check_expansions(moving_graph(program))


def test_a_mechanism_expands_as_the_graph_does() -> None:
    mechanism = reference("manipulator_5dof")
    check_expansions(cf.derive(mechanism, ["mass_matrix", "gravity"]).graph)


@examples(25)
@given(programs(POLYNOMIAL[:-2] + TRIGONOMETRIC, most_steps=8))
def test_expansions_do_not_depend_on_the_form(program: Program) -> None:
    system = system_of(moving_graph(program))
    sums = system.sums
    before = Expansions(sums, 500)
    old = {v: before.of(v) for v in sums.roots}
    Settler(system).settle()
    after = Expansions(sums, 500)
    for v, terms in old.items():
        if terms is not None:
            assert after.of(v) == terms
            turned = frozenset(set(sums.partner) - sums.sines)
            other = after.reduced(terms, turned)
            assert after.reduced(other) == terms


@examples(30)
@given(programs(POLYNOMIAL + TRIGONOMETRIC, most_steps=9), points)
def test_multiplied_out(program: Program, point: Point) -> None:
    graph = moving_graph(program, constants=1)
    system = system_of(graph)
    assert multiply_out(system.sums, 60)
    check_kept(graph, graph_of(system), point.values())


def test_limits() -> None:
    mechanism = reference("rackovic_2_1")
    graph = cf.derive(mechanism, ["mass_matrix"]).graph
    system = system_of(graph)
    cost = system.sums.cost
    assert not multiply_out(system.sums, 1000, 20)
    assert system.sums.cost == cost
    assert multiply_out(system.sums, 1000, 20_000)
    check_kept(graph, graph_of(system), exact_state(mechanism, 1))
    sums = system_of(graph).sums
    whole, short = Expansions(sums, 1000), Expansions(sums, 3)
    found = [short.of(v) for v in sums.roots]
    assert None in found
    assert all(terms in (None, whole.of(v)) for v, terms in zip(sums.roots, found, strict=True))


def test_a_power_of_powers_is_too_long() -> None:
    """One term, but of a thousand million factors."""
    graph = cf.read_expressions({"Y": "a^1000000000"}).graph
    system = system_of(graph)
    (output,) = graph.output_variables()
    assert Expansions(system.sums, 10).of(system.to_sums[output]) is None
