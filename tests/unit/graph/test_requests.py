"""The text of an output: parts, one way to write it, and texts that mean nothing."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform as cf
from chainform.graph import base_outputs, canonical, divided, parts_of
from chainform.graph.requests import DEEPEST


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("H", "o_H"),
        ("derivative(H,q)", "derivative(o_H,q)"),
        (" derivative( H , q ) ", "derivative(o_H,q)"),
        ("d(tau)/d(qd)", "derivative(o_tau,qd)"),
        ("d( tau ) / d( qd )", "derivative(o_tau,qd)"),
        ("d(H[1,1])/d(m_6)", "derivative(o_H[1,1],m_6)"),
        ("d(tau)/d(q)[1,:]", "derivative(o_tau,q)[1,:]"),
        ("d(d(tau)/d(q))/d(qd)", "derivative(o_tau,q,qd)"),
        ("d(tau)/d(q,qd)", "derivative(o_tau,q,qd)"),
        ("derivative(derivative(tau,q)[1,:],q)", "derivative(derivative(o_tau,q)[1,:],q)"),
        ("d(J(tool,local))/d(q)", "derivative(o_J(tool,local),q)"),
        ("d(tau)/d(q)*direction", "product(derivative(o_tau,q),direction)"),
        ("weights*d(tau)/d(q)", "product(weights,derivative(o_tau,q))"),
        ("weights * d(tau)/d(q) * direction", "product(weights,derivative(o_tau,q),direction)"),
        ("nonzeros(d(H)/d(q))", "nonzeros(derivative(o_H,q))"),
    ],
)
def test_one_way_to_write_an_output(text: str, full: str) -> None:
    found = canonical(text, lambda name: f"o_{name}")
    assert found == full
    assert canonical(full, str) == full


def test_the_outputs_within_a_text() -> None:
    text = "product(weights,derivative(jacobian(a,b,local)[1,:],q),direction)"
    assert base_outputs(text) == ("jacobian(a,b,local)",)
    assert base_outputs("nonzeros(derivative(bias,q,qd))") == ("bias",)
    assert base_outputs("gravity[2]") == ("gravity",)


def test_parts() -> None:
    parts = parts_of("derivative(jacobian(tool,local),q)[1,:,3]")
    assert (parts.name, parts.arguments) == ("derivative", ("jacobian(tool,local)", "q"))
    assert parts.indices == (1, None, 3)
    assert not parts_of("jacobian(tool)").is_operator
    assert not parts_of("derivative").is_operator


def test_signs_in_brackets_do_not_divide() -> None:
    assert list(divided("a, b(c, d), e[1, 2]", ",")) == ["a", "b(c, d)", "e[1, 2]"]


@pytest.mark.parametrize(
    "text", ["", "(", "d(", "d(a", "a)", "f(a))", "f(a)(b)", "a b", "a[x]", "a[1"]
)
def test_texts_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(cf.Error):
        canonical(text, lambda name: parts_of(name).whole)


def test_a_matrix_of_outputs_has_one_output() -> None:
    assert canonical("Cz( H )", str) == canonical("output_matrix(H)", str) == "output_matrix(H)"
    with pytest.raises(cf.Error, match=r"Cz\(H,q\) names 2 outputs") as refused:
        canonical("Cz(H,q)", str)
    assert refused.value.remedy == "write output_matrix(OUTPUT)"


def test_operators_within_each_other_are_bounded() -> None:
    text = "H"
    for _ in range(DEEPEST + 2):
        text = f"nonzeros({text})"
    with pytest.raises(cf.Error, match="within each other"):
        canonical(text, str)


@given(st.text(alphabet="dH(),[]*/:1 qnonzeros", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(cf.Error):
        full = canonical(text, lambda name: parts_of(name).whole)
        assert canonical(full, lambda name: parts_of(name).whole) == full
