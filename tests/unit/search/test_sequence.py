"""Sequences of passes as text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.errors import DeriveError
from chainform.passes import (
    DropNeutral,
    DropUnused,
    Expand,
    ExtractDivisors,
    ExtractMonomials,
    FactorProducts,
    MergeEqual,
    ReducePart,
    TrigIdentities,
)
from chainform.search import pass_entries
from chainform.search.sequence import STEPS, parse_sequence, sequence_text
from chainform.search.thesis import Thesis
from strategies import examples

words = st.text(st.characters(exclude_characters='"', exclude_categories=["Cs", "Cc"]), max_size=6)
numbers, positive = st.integers(0, 10**12), st.integers(1, 10**12)
simple: st.SearchStrategy[Any] = st.one_of(
    st.just(DropNeutral()),
    st.builds(DropUnused, st.booleans()),
    st.builds(
        Expand,
        st.booleans(),
        st.sampled_from(["kept", "split"]),
        numbers,
        st.sampled_from(["refuse", "stop"]),
        st.none() | numbers,
        st.lists(words).map(tuple),
    ),
    st.builds(
        TrigIdentities,
        st.sampled_from(["best", "first"]),
        st.sampled_from(["collected", "kept"]),
        numbers,
    ),
    st.builds(MergeEqual, st.booleans(), st.booleans()),
    st.builds(ExtractDivisors, st.booleans(), st.floats(0, 1e17)),
    st.builds(ExtractMonomials, st.integers(1, 6), st.none() | numbers),
    st.builds(FactorProducts, numbers),
    st.builds(Thesis, st.booleans(), st.booleans(), positive, positive, numbers, st.integers(1, 6)),
)
steps = st.recursive(
    simple,
    lambda inner: st.builds(
        ReducePart, st.lists(words).map(tuple), st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=5,
)


@examples(100)
@given(st.lists(steps, max_size=4).map(tuple))
def test_text_and_back(passes: tuple[Any, ...]) -> None:
    assert parse_sequence(sequence_text(passes)) == passes


def test_only_what_differs_is_written() -> None:
    text = "drop_neutral,extract_monomials(limit=20),reduce_part(names=[Q_*],passes=[merge_equal])"
    assert sequence_text(parse_sequence(f" {text.replace(',', ' , ')} ")) == text
    assert parse_sequence(" ") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extract_monomial", "did you mean 'extract_monomials'"),
        ("expand(trigs=true)", "did you mean 'trig'"),
        ("drop_neutral(x=1)", "it takes none"),
        ("expand(trig=3)", "3 is not a value for trig"),
        ("expand(trig=none)", "none is not a value for trig"),
        ("expand(limit=-1)", "the number is negative"),
        ("thesis(degree=7)", "the number is above 6"),
        ("thesis(limt=7)", "did you mean 'limit'"),
        ("thesis(limit=true)", "true is not a value"),
        ("expand(limit=true)", "true is not a value"),
        ("expand(beyond=3)", "3 is not a value for beyond"),
        ("expand(of=Q)", "Q is not a value for of"),
        ("reduce_part(passes=[1])", "is not a value for passes"),
        ("reduce_part(names=[merge_equal])", "is not a value for names"),
        ("expand(trig=true,trig=true)", "given twice"),
        ("expand(trig=true", "the end was not expected"),
        ("expand(trig=true))", "was not expected"),
        ("expand merge_equal", "was not expected"),
        ("expand,", "the end"),
        ("expand(trig==true)", "="),
        ("expand(limit=1e5)", "100000.0 is not a value for limit"),
        ("extract_divisors(sine_cost=1e999)", "not finite"),
        ("__import__('os')", "there is no pass"),
        ("expand(angles=trig)", "there is no angles 'trig'"),
        ("expand(beyond=never)", "there is no beyond 'never'"),
        (f"expand(limit={'9' * 30})", "was not expected as a value"),
        ("reduce_part(passes=[" * 20, "nested more than"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(DeriveError) as caught:
        parse_sequence(text)
    assert message in str(caught.value)


def test_every_option_is_told() -> None:
    entries = {entry.name: entry for entry in pass_entries()}
    assert [*entries] == [*STEPS]
    assert all(entry.summary and len(entry.summary) < 100 for entry in entries.values())
    for entry in entries.values():
        for option in entry.options:
            assert option.meaning
            assert option.type
            # A default is written as a sequence writes it.
            parse_sequence(f"{entry.name}({option.name}={option.default})")
    limit = next(option for option in entries["thesis"].options if option.name == "degree")
    assert (limit.type, limit.default) == ("whole number, at least 1, at most 6", "2")
