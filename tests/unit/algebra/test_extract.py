"""Common parts are taken out, and the gain is what the cost falls by."""

from __future__ import annotations

import random

from hypothesis import given

import chainform as cf
from chainform.algebra import Prices, Sums, graph_of, system_of
from chainform.algebra.extract import extract, gain_of, take_out
from chainform.algebra.index import MULTIPLE, PAIR, PRODUCT, Key
from chainform.graph import Builder, Graph, graph_text
from reductions import check_kept, moving_graph, operations
from strategies import POLYNOMIAL, TRIGONOMETRIC, Point, Program, examples, points, programs
from zoo import reference


def divisors(sums: Sums) -> list[Key]:
    """Return every divisor of the index."""
    index = sums.index
    return [
        *((PAIR, key) for key in index.pairs),
        *((PRODUCT, key) for key in index.products),
        *((MULTIPLE, key) for key in index.multiples),
    ]


def check_gains(graph: Graph, prices: Prices) -> int:
    """Take each divisor out and back, and compare its gain with the fall of the cost."""
    system = system_of(graph, prices)
    sums = system.sums
    tried = 0
    for key in divisors(sums):
        gain = gain_of(sums, key)
        if gain <= 0:
            continue
        mark, before = sums.mark(), sums.cost
        take_out(sums, key)
        assert before - sums.cost >= gain - 1e-9, key
        # The same place twice, as x x in x^3, may save a little more than was foreseen.
        assert key[0] == PRODUCT or before - sums.cost == gain, key
        sums.undo(mark)
        assert sums.cost == before
        tried += 1
    return tried


def test_the_gain_is_the_fall_of_the_cost() -> None:
    for name, parameters in (("rackovic_2_1", "numeric"), ("manipulator_5dof", "symbolic")):
        outputs = ["mass_matrix", "gravity"]
        model = cf.derive(
            reference(name), outputs, formulation="closed_form", parameters=parameters
        )
        graph = model.graph
        assert check_gains(graph, Prices(3.0, 2.0, 5.0)) > 5


@examples(40)
@given(programs(POLYNOMIAL + TRIGONOMETRIC, most_steps=12))
def test_gains_of_random_programs(program: Program) -> None:
    check_gains(moving_graph(program), Prices(3.0, 2.0, 5.0))


def test_constants_of_a_sum_are_one_term() -> None:
    """x + c + d, with c and d constants, is one addition; so x + c is not worth a variable."""
    builder = Builder()
    x = builder.input("x", "qd", 0)
    c, d, e = (builder.input(name, "parameter", i) for i, name in enumerate("cde"))
    builder.output("out", (2,), [("out_1", x + c + d), ("out_2", x + c + e)])
    system = system_of(builder.finish())
    before = system.sums.cost
    extract(system.sums)
    assert system.sums.cost <= before


@examples(40)
@given(programs(POLYNOMIAL + TRIGONOMETRIC, most_steps=12), points)
def test_extraction_keeps_values_and_never_costs(program: Program, point: Point) -> None:
    for noise in (0.0, 0.6):
        graph = moving_graph(program)
        system = system_of(graph)
        before = system.sums.cost
        count = extract(system.sums, noise, random.Random(1))
        assert system.sums.cost <= before - count * 1e-6 if count else system.sums.cost == before
        assert not [key for key in divisors(system.sums) if gain_of(system.sums, key) > 1e-6]
        check_kept(graph, graph_of(system), point.values())


def built(*formulas: str) -> Graph:
    """Return the graph of formulas over the rates a to d."""
    builder = Builder()
    letters = {name: builder.input(name, "qd", i) for i, name in enumerate("abcd")}
    values = [eval(formula, {}, letters) for formula in formulas]  # noqa: S307
    entries = [(f"out_{i}", value) for i, value in enumerate(values, start=1)]
    builder.output("out", (len(values),), entries)
    return builder.finish()


def extracted(*formulas: str) -> int:
    system = system_of(built(*formulas))
    extract(system.sums)
    return operations(graph_of(system))


def test_products_of_sums() -> None:
    assert extracted("a*c + a*d + b*c + b*d") == 3


def test_the_same_sum_up_to_scale() -> None:
    assert extracted("a*a + 3*b", "2*c*a*a + 6*c*b", "-5*a*a - 15*b") == 3 + 2 + 1


def test_horner_form() -> None:
    assert extracted("3*a*a*a + 5*a*a + 7*a") == 3 + 2 + 0 + 0


def test_a_multiple_is_computed_once() -> None:
    assert extracted("3*a*b + c", "3*a*d + b", "-3*a*c + d") == 1 + 3 * 2


def test_ties_are_the_same_in_every_run() -> None:
    graph = cf.derive(reference("rackovic_2_1"), ["mass_matrix"]).graph
    texts: set[str] = set()
    for _ in range(2):
        system = system_of(graph)
        extract(system.sums)
        texts.add(graph_text(graph_of(system)))
    assert len(texts) == 1
