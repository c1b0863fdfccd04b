"""What the passes of Racković 1996 promise: short forms, low powers, savings, products of sums."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform as cf
from chainform.algebra import is_same
from chainform.errors import DeriveError
from chainform.graph import Builder, Graph, cost
from chainform.passes import (
    DropUnused,
    Expand,
    ExtractMonomials,
    FactorProducts,
    MergeEqual,
    Pass,
    ReducePart,
    TrigIdentities,
)
from chainform.passes.extract_monomials import printed_saving
from chainform.passes.factor_products import is_product, normal
from strategies import examples
from zoo import reference


def after(graph: Graph, *passes: Pass) -> Graph:
    for step in passes:
        graph = step(graph)
    return graph


def powers(graph: Graph) -> set[int]:
    """Return the powers of sines and cosines in what the outputs need."""
    needed = graph.cone(graph.output_variables()).nonzero()[0].tolist()
    return {
        factor.power
        for v in needed
        for term in graph.terms(v)
        for factor in term.factors
        if graph.call[factor.variable]
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rackovic_2_1", "puma560", "stanford_toolbox", "seven_axis"])
def test_no_power_above_two_is_left(name: str) -> None:
    model = cf.derive(
        reference(name), ["mass_matrix", "coriolis", "gravity"], formulation="closed_form"
    )
    if name == "rackovic_2_1":
        # As the paper forms them, the expressions have higher powers; the identities remove them.
        raw = Expand()(model.graph)
        assert max(powers(raw)) > 2
        assert max(powers(TrigIdentities(angles="kept")(raw))) <= 2
    reduced = after(model.graph, Expand(trig=True), TrigIdentities())
    assert max(powers(reduced)) <= 2


def test_the_best_identity_is_at_least_as_good_as_the_first() -> None:
    model = cf.derive(reference("rackovic_2_1"), ["mass_matrix"], formulation="closed_form")
    expanded = Expand(trig=True)(model.graph)
    best = cost(TrigIdentities()(expanded))
    first = cost(TrigIdentities(choose="first")(expanded))
    assert best.multiplications + best.additions <= first.multiplications + first.additions


def test_a_dear_sine_is_not_made() -> None:
    model = cf.derive(reference("rackovic_2_1"), ["gravity"], formulation="closed_form")
    expanded = Expand(trig=True)(model.graph)
    assert cost(TrigIdentities(sine_cost=1000)(expanded)).angle_sums == 0
    assert cost(TrigIdentities(sine_cost=0)(expanded)).angle_sums > 0


def test_rotations_of_parallel_axes_become_sines_of_sums() -> None:
    graph = cf.derive(reference("rackovic_2_1"), ["mass_matrix"], formulation="closed_form").graph
    identities = (Expand(trig=True), TrigIdentities(), ExtractMonomials())
    reduced = ReducePart(("Q_*", "e_*"), identities)(graph)
    assert {"q2_q3", "q2_q3_q4"} <= set(reduced.names)


# --- monomials ------------------------------------------------------------------------------


def sum_of(*terms: str) -> Graph:
    """Return a graph whose outputs are sums, written as products of letters joined by +."""
    builder = Builder()
    letters = sorted({letter for term in terms for letter in term if letter.isalpha()})
    scalars = {name: builder.input(name, "q", i) for i, name in enumerate(letters)}
    for number, text in enumerate(terms, start=1):
        total = builder.number(0)
        for product in text.split("+"):
            value = builder.number(1)
            for letter in product:
                value = value * (scalars[letter] if letter.isalpha() else int(letter))
            total = total + value
        builder.output(f"y{number}", (), [(f"y{number}", total)])
    return builder.finish()


def test_the_saving_of_a_monomial() -> None:
    # mu = ab occurs in three terms of two sums: (3.5) gives 3 * 2 - 2 * 1.
    assert printed_saving(terms=3, degree=2, sums=2) == 4
    assert printed_saving(terms=5, degree=1, sums=3) == 5
    assert printed_saving(terms=1, degree=4, sums=2) == 0
    graph = sum_of("abc+abd", "abe+f")
    before, reduced = cost(graph), cost(ExtractMonomials(limit=1)(graph))
    # ab is formed once, y1 = ab (c + d), y2 = ab e + f: six products have become three.
    assert before.multiplications == 6
    assert reduced.multiplications == 3
    assert reduced.additions == before.additions


def test_the_monomial_of_greatest_saving_comes_first() -> None:
    reduced = ExtractMonomials(limit=1)(sum_of("abx+aby+abz", "cdx+cdy"))
    definitions = {reduced.variable(v).terms for v in range(len(reduced))}
    a, b = reduced.numbers["a"], reduced.numbers["b"]
    assert any(len(t) == 1 and {f.variable for f in t[0].factors} == {a, b} for t in definitions)


def test_a_sum_that_is_there_is_used_again() -> None:
    reduced = ExtractMonomials()(sum_of("ax+bx+cx", "ay+by+cy", "a+b+c"))
    assert cost(reduced).additions == 2
    assert cost(reduced).multiplications == 2


# --- products of sums -----------------------------------------------------------------------

coefficients = st.fractions(min_value=-3, max_value=3, max_denominator=4).filter(bool)


@examples(60)
@given(
    st.lists(coefficients, min_size=2, max_size=4), st.lists(coefficients, min_size=2, max_size=4)
)
def test_products_satisfy_the_conditions(rows: list[Fraction], columns: list[Fraction]) -> None:
    terms = [((i, 100 + j), k * l) for i, k in enumerate(rows) for j, l in enumerate(columns)]
    assert is_product(terms, len(columns))
    monomial, k = terms[-1]
    assert not is_product([*terms[:-1], (monomial, k + 1)], len(columns))
    assert not is_product([*terms[:-1], ((*monomial, 999), k)], len(columns))


@examples(60)
@given(
    st.lists(coefficients, min_size=2, max_size=4), st.lists(coefficients, min_size=2, max_size=4)
)
def test_products_are_found(rows: list[Fraction], columns: list[Fraction]) -> None:
    builder = Builder()
    x = [builder.input(f"x{i}", "q", i) for i in range(len(rows))]
    y = [builder.input(f"y{j}", "qd", j) for j in range(len(columns))]
    total = builder.number(0)
    for i, k in enumerate(rows):
        for j, l in enumerate(columns):
            total = total + k * l * x[i] * y[j]
    builder.output("total", (), [("total", total)])
    factored = FactorProducts()(builder.finish())
    (term,) = factored.terms(factored.outputs["total"].variables[0])
    assert len(term.factors) == 2


def test_the_products_of_the_papers_example() -> None:
    """H11 = X1 + X2 X3 with X2 = s234 (c5 + 7/9) and X3 = 1.08 (s2 + s23), section 3.5.5.2."""
    s2, s23, s234, c5 = range(4)
    terms = [
        ((s2, s234, c5), Fraction("1.08")),
        ((s23, s234, c5), Fraction("1.08")),
        ((s2, s234), Fraction("0.84")),
        ((s23, s234), Fraction("0.84")),
    ]
    assert is_product(terms, 2)
    rows, scale = normal({(c5,): Fraction("1.08"), (): Fraction("0.84")})
    assert scale == Fraction("1.08")
    assert rows == {(c5,): 1, (): Fraction(7, 9)}


# --- limits ---------------------------------------------------------------------------------


def test_an_expression_that_is_too_long_is_refused_by_name() -> None:
    graph = cf.derive(reference("puma560"), ["mass_matrix"], formulation="closed_form").graph
    with pytest.raises(DeriveError, match="more than 3 terms") as caught:
        Expand(limit=3)(graph)
    assert caught.value.element in graph.names


def test_long_sums_of_angles_are_not_split() -> None:
    """The sine of 40 angles has 2^39 terms by single angles."""
    angle = " + ".join(f"q{k}" for k in range(1, 41))
    graph = cf.read_expressions({"Y": f"x*sin({angle}) + x"}).graph
    with pytest.raises(DeriveError, match="more than 100 terms"):
        Expand(angles="split", limit=100)(graph)
    stop = partial(Expand, angles="split", beyond="stop")
    for expand in (stop(limit=100), stop(work=1000)):
        assert is_same(graph, expand(graph))


def test_unknown_names_and_choices_are_refused() -> None:
    graph = sum_of("ab")
    with pytest.raises(DeriveError, match="nothing in the graph is called R"):
        ReducePart(("R",), (MergeEqual(),))(graph)
    for bare in (ReducePart(), ReducePart(("a",)), ReducePart(passes=(MergeEqual(),))):
        with pytest.raises(DeriveError, match="reduce_part needs") as caught:
            bare(graph)
        assert caught.value.remedy
    with pytest.raises(DeriveError, match="nothing in the graph is called R"):
        Expand(of=("R",))(graph)
    with pytest.raises(DeriveError, match="there is no beyond 'sometimes'"):
        Expand(beyond="sometimes")
    with pytest.raises(DeriveError, match="there is no choose 'worst'"):
        TrigIdentities(choose="worst")


def test_expanding_takes_only_what_is_named() -> None:
    graph = cf.derive(reference("rackovic_2_1"), ["gravity"], formulation="closed_form").graph
    expanded = Expand(of=("Q_3",))(graph)
    entry = expanded.quantities["Q_3"].variables[0]
    kinds = {int(expanded.kind[f.variable]) for t in expanded.terms(entry) for f in t.factors}
    assert len(kinds) <= 1
    assert len(DropUnused()(expanded)) < len(expanded)


@pytest.mark.parametrize("power", ["(2*a)^1000000000", "(a + b)^100000"])
def test_powers_of_powers_are_not_multiplied_out(power: str) -> None:
    """As products of single factors they would fill the memory."""
    model = cf.read_expressions({"Y": power})
    with pytest.raises(DeriveError, match="more than 1000 factors"):
        model.reduce("expand")
    kept = model.reduce("expand(beyond=stop)")
    value = dict.fromkeys(model.free_parameters, 0.5 + 1e-9)
    assert kept.evaluate(values=value)["Y"] == pytest.approx(model.evaluate(values=value)["Y"])
