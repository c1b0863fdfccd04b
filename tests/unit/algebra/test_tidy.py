"""Tidying: nothing is left that is zero, a number, another name, a repetition or used but once."""

from __future__ import annotations

from hypothesis import given

from chainform.algebra import Sums, graph_of, substitute, system_of
from chainform.algebra.simplification import Tidier
from reductions import check_kept, moving_graph
from strategies import POLYNOMIAL, TRIGONOMETRIC, Point, Program, examples, points, programs


def tidied(sums: Sums) -> None:
    sums.touched.update(dict.fromkeys(sums.defined()))
    Tidier(sums).tidy()


@examples(60)
@given(programs(POLYNOMIAL + TRIGONOMETRIC, most_steps=14), points)
def test_values_stay_and_the_cost_does_not_rise(program: Program, point: Point) -> None:
    for constants in (0, 1):
        graph = moving_graph(program, constants)
        system = system_of(graph)
        sums = system.sums
        before = sums.cost
        tidied(sums)
        assert sums.cost <= before
        assert not sums.unused()
        check_kept(graph, graph_of(system), point.values())


def small() -> tuple[Sums, list[int]]:
    sums = Sums()
    return sums, [sums.given() for _ in range(4)]


def term(sums: Sums, k: int, *factors: int) -> tuple[int, int]:
    return sums.monomials.of(tuple(sorted(factors))), sums.numbers.of(k)


def test_other_names_numbers_and_zeros_go() -> None:
    sums, (a, b, _, _) = small()
    name = sums.define([term(sums, -1, a)])
    number = sums.define([term(sums, 7)])
    zero = sums.define([])
    parts = [term(sums, 1, name, b), term(sums, 2, number, b), term(sums, 3, zero, a)]
    out = sums.define([*parts, term(sums, 5, name, name)])
    sums.roots.add(out)
    tidied(sums)
    assert sums.defined() == [out]
    expected = dict([term(sums, -1, a, b), term(sums, 14, b), term(sums, 5, a, a)])
    assert sums.sum_of(out) == expected


def test_what_is_used_once_is_written_there_unless_that_costs() -> None:
    sums, (a, b, c, _) = small()
    once = sums.define([term(sums, 1, a), term(sums, 1, b)])
    scaled = sums.define([term(sums, 1, a), term(sums, 1, c)])
    out = sums.define([term(sums, 1, once), term(sums, 3, scaled), term(sums, 1, c)])
    sums.roots.add(out)
    cost = sums.cost
    tidied(sums)
    assert sums.terms[once] is None
    assert sums.terms[scaled] is not None
    assert sums.cost == cost


def test_repetitions_up_to_scale_are_one() -> None:
    sums, (a, b, c, d) = small()
    first = sums.define([term(sums, 2, a), term(sums, 6, b)])
    second = sums.define([term(sums, -1, a), term(sums, -3, b)])
    outs = [sums.define([term(sums, 1, v, x)]) for v in (first, second) for x in (c, d)]
    sums.roots.update(outs)
    tidied(sums)
    lengths = sorted(len(sums.sum_of(v)) for v in (first, second))
    assert lengths == [1, 2]
    assert sums.cost == 2 + 1 + 4


def test_roots_stay() -> None:
    sums, (a, b, _, _) = small()
    outs = [sums.define([term(sums, 1, a, b)]), sums.define([term(sums, 1, a, b)])]
    sums.roots.update(outs)
    tidied(sums)
    assert sums.defined() == outs
    assert sums.cost == 1


@examples(40)
@given(programs(POLYNOMIAL + TRIGONOMETRIC, most_steps=10), points)
def test_definitions_can_be_written_out(program: Program, point: Point) -> None:
    graph = moving_graph(program)
    system = system_of(graph)
    sums = system.sums
    for v in sums.defined():
        users = list(sums.users[v])
        if sum(len(sums.sum_of(v)) ** 4 + len(sums.sum_of(u)) for u in users) < 100:
            substitute(sums, v, users)
            assert not sums.users[v]
    check_kept(graph, graph_of(system), point.values())
