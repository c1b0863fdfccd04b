"""Sums that change in place: whatever was done, and taken back, what is kept beside them is right.

Costs, users and the index are compared with those of sums that are made anew from the terms.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform as cf
from chainform.algebra import Prices, Settler, Sums, graph_of, system_of
from chainform.algebra import index as algebra_index
from chainform.algebra.index import Index
from chainform.algebra.monomials import Coefficients
from chainform.graph import cost
from chainform.search.neighbourhood import Walk
from reductions import moving_graph, operations
from strategies import POLYNOMIAL, TRIGONOMETRIC, Program, examples, programs
from zoo import random_tree, reference

PRICES = Prices(multiplication=3.0, addition=2.0, call=5.0)
COEFFICIENTS = (1, -1, 2, -2, 3, -3, 7)


def kept(sums: Sums) -> dict[str, Any]:
    """Return all that is kept beside the terms, and the terms, without empty places."""
    index = sums.index
    return {
        "terms": {v: dict(terms) for v, terms in enumerate(sums.terms) if terms is not None},
        "users": {v: dict(users) for v, users in enumerate(sums.users) if users},
        "cost": sums.cost,
        "pairs": {key: set(places) for key, places in index.pairs.items()},
        "products": {key: set(places) for key, places in index.products.items()},
        "multiples": {key: set(places) for key, places in index.multiples.items()},
    }


def rebuilt(sums: Sums) -> Sums:
    """Return sums with the same terms, put in one after another."""
    new = Sums(sums.prices)
    for v, terms in enumerate(sums.terms):
        is_constant = sums.is_constant[v]
        if terms is None:
            new.given(is_constant=is_constant, price=sums.price.get(v, 0.0))
        else:
            new.define((), is_constant=is_constant)
    new.numbers, new.monomials = sums.numbers, sums.monomials
    new.index = Index(new.monomials, new.numbers, new.identities)
    for v in reversed(sums.defined()):
        for monomial, coefficient in reversed(sums.sum_of(v).items()):
            new.insert(v, monomial, coefficient)
    return new


class Player:
    """Does things at random to sums, as a search would."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.sums = Sums(PRICES)
        for _ in range(3):
            self.sums.given()
        self.sums.given(price=PRICES.call)
        for _ in range(2):
            self.sums.given(is_constant=True)
        for is_constant in (False, False, False, True):
            self.define(is_constant)

    def define(self, is_constant: bool) -> None:
        terms = [
            self.term(is_constant, len(self.sums.terms)) for _ in range(self.rng.randint(0, 4))
        ]
        self.sums.define(terms, is_constant=is_constant)

    def term(self, is_constant: bool, below: int) -> tuple[int, int]:
        sums, rng = self.sums, self.rng
        given_ones = [v for v in range(6) if not is_constant or sums.is_constant[v]]
        usable = given_ones + [
            v for v in sums.defined() if v < below and (not is_constant or sums.is_constant[v])
        ]
        factors = tuple(sorted(rng.choice(usable) for _ in range(rng.randint(0, 3))))
        return sums.monomials.of(factors), sums.numbers.of(rng.choice(COEFFICIENTS))

    def play(self) -> None:
        sums, rng = self.sums, self.rng
        v = rng.choice(sums.defined())
        match rng.choice(("define", "insert", "insert", "insert", "remove", "remove", "drop")):
            case "define":
                self.define(rng.random() < 0.2)
            case "insert":
                sums.insert(v, *self.term(sums.is_constant[v], v))
            case "remove" if sums.sum_of(v):
                sums.remove(v, rng.choice(list(sums.sum_of(v))))
            case "drop":
                unused = sums.unused()
                if len(unused) > 2:
                    sums.drop(rng.choice(unused))
            case _:
                pass


@examples(40)
@given(st.integers(0, 10_000))
def test_what_is_kept_is_what_is_there(seed: int) -> None:
    player = Player(seed)
    for _ in range(25):
        player.play()
        if player.rng.random() < 0.1:
            player.sums.forget()
    assert kept(player.sums) == kept(rebuilt(player.sums))


@examples(40)
@given(st.integers(0, 10_000))
def test_everything_can_be_taken_back(seed: int) -> None:
    player = Player(seed)
    sums = player.sums
    sums.forget()
    marks = [(sums.mark(), kept(sums))]
    for _ in range(30):
        player.play()
        if player.rng.random() < 0.2:
            marks.append((sums.mark(), kept(sums)))
        if player.rng.random() < 0.1:
            mark, before = marks.pop() if len(marks) > 1 else marks[0]
            sums.undo(mark)
            assert kept(sums) == before
            assert not sums.touched
            assert not sums.index.fresh
    while marks:
        mark, before = marks.pop()
        sums.undo(mark)
        assert kept(sums) == before
    assert kept(sums) == kept(rebuilt(sums))


def test_pairs_of_a_long_sum_are_noted_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A term beyond the bound has no pairs; it may leave before or after the others."""
    monkeypatch.setattr(algebra_index, "LONG", 4)
    sums = Sums(PRICES)
    inputs = [sums.given() for _ in range(8)]
    one = sums.numbers.of(1)
    terms = [sums.monomials.of((v,)) for v in inputs]
    y = sums.define((), is_constant=False)
    for term in terms:
        sums.insert(y, term, one)
    full = sum(len(places) for places in sums.index.pairs.values())
    assert full == 4 * 3 / 2
    for term in (terms[7], terms[0], *terms[1:7]):
        sums.remove(y, term)
    assert not sums.index.pairs
    assert not sums.index.products
    assert sums.cost == 0.0


def test_equal_monomials_become_one_term() -> None:
    sums = Sums()
    x = sums.given()
    of = sums.numbers.of
    y = sums.define(((sums.monomials.of((x,)), of(3)),))
    sums.insert(y, sums.monomials.of((x,)), of(4))
    assert sums.sum_of(y) == {sums.monomials.of((x,)): of(7)}
    sums.insert(y, sums.monomials.of((x,)), of(-7))
    assert sums.sum_of(y) == {}
    assert (sums.cost, sums.users[x]) == (0.0, {})


def test_a_place_is_free_only_when_nothing_can_be_taken_back() -> None:
    sums = Sums()
    x = sums.given()
    y = sums.define(((sums.monomials.of((x,)), Coefficients().of(2)),))
    sums.forget()
    first = sums.birth[y]
    sums.drop(y)
    assert sums.define(()) != y
    sums.undo(0)
    assert list(sums.sum_of(y)) == [sums.monomials.of((x,))]
    sums.drop(y)
    sums.forget()
    again = [sums.define(()), sums.define(())]
    assert y in again
    assert sums.birth[y] > first


def test_a_price_is_paid_once() -> None:
    sums = Sums(PRICES)
    sine, x = sums.given(price=5.0), sums.given()
    y, z = sums.define(()), sums.define(())
    sums.insert(y, sums.monomials.of((sine,)), 0)
    sums.insert(z, sums.monomials.of((sine, x)), 0)
    assert sums.cost == 5.0 + PRICES.multiplication
    sums.remove(z, sums.monomials.of((sine, x)))
    sums.remove(y, sums.monomials.of((sine,)))
    assert sums.cost == 0.0


def test_order_and_above() -> None:
    graph = cf.derive(reference("rackovic_2_1"), ["forward_dynamics"]).graph
    sums = system_of(graph).sums
    order = sums.order()
    place = {v: i for i, v in enumerate(order)}
    assert set(sums.defined()) <= set(order)
    for v in order:
        assert all(place[u] < place[v] for u in sums.needs(v))
    v = order[len(order) // 2]
    above = sums.above(v)
    for u in order:
        if u != v and any(n in above for n in sums.needs(u)):
            assert u in above


# --- the cost -------------------------------------------------------------------------------


def plain(sums: Sums) -> float:
    """Return the kept cost without the prices of sines and cosines."""
    return sums.cost - sum(price for v, price in sums.price.items() if sums.users[v])


@pytest.mark.parametrize("constants", [0, 1, 2])
@examples(25)
@given(programs(POLYNOMIAL + TRIGONOMETRIC, most_steps=12))
def test_the_cost_is_that_of_the_graph(constants: int, program: Program) -> None:
    system = system_of(moving_graph(program, constants))
    Settler(system).settle()
    assert plain(system.sums) == operations(graph_of(system))


ZOO = (
    (reference("rackovic_2_1"), ["mass_matrix", "coriolis", "gravity"], "numeric"),
    (reference("manipulator_5dof"), ["inverse_dynamics"], "symbolic"),
    (reference("manipulator_5dof"), ["forward_dynamics"], "numeric"),
    (random_tree(5), ["mass_matrix"], "numeric"),
)


@pytest.mark.parametrize(("mechanism", "outputs", "parameters"), ZOO)
def test_the_cost_stays_right_on_a_walk(
    mechanism: Any, outputs: list[str], parameters: str
) -> None:
    system = system_of(cf.derive(mechanism, outputs, parameters=parameters).graph)
    walk = Walk(system, seed=1)
    for _ in range(3):
        for _ in range(6):
            walk.step()
        graph = graph_of(system)
        assert plain(system.sums) == operations(graph)
        used = [v for v in system.sums.price if system.sums.users[v]]
        assert len(used) == cost(graph).sin + cost(graph).cos
    before = kept(system.sums)
    assert before == kept(rebuilt(system.sums))
