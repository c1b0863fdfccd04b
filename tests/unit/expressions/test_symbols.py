"""Symbols: what is read of LaTeX, what is refused, and names as symbols."""

from __future__ import annotations

import pytest

from chainform.errors import ReadError
from chainform.expressions import Mark, Symbol, latin_name, parse_symbol, symbol_of_name


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("m", Symbol(Mark("m"))),
        ("m_2", Symbol(Mark("m"), below=(Mark("2"),))),
        ("m_{ab}", Symbol(Mark("m"), below=(Mark("a"), Mark("b")))),
        (r"J_{\mathrm{ab}}", Symbol(Mark("J"), below=(Mark("ab", upright=True),))),
        (r"\dot{\theta}_{1,2}", Symbol(Mark("θ"), "dot", (Mark("1"), Mark(","), Mark("2")))),
        (r"\ddot x", Symbol(Mark("x"), "ddot")),
        (r" \varphi ^ { * } ", None),
        (r"l^{\mathrm{G}}_0", Symbol(Mark("l"), "", (Mark("0"),), (Mark("G", upright=True),))),
        ("l''", Symbol(Mark("l"), primes=2)),
        (r"\mathrm{Re}", Symbol(Mark("Re", upright=True))),
    ],
)
def test_symbols(text: str, symbol: Symbol | None) -> None:
    if symbol is not None:
        assert parse_symbol(text) == symbol
    else:
        with pytest.raises(ReadError, match="is not a symbol"):
            parse_symbol(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "_", "2", "m_", "m_{", "m_{}", "m_{,}", "m__1", "ab", "m}", "{m}", "m n", "x^2"),
        *("x^{12}", "m_{a_b}", r"\input{/etc/passwd}", r"\write18{ls}", r"\def\x{}", "$m$", "m%"),
        *("m&", "m~n", r"m\\n", "m#1", r"\mathrm{a b}", r"\dot", r"\dot{\dot{x}}", "x'^a", "x^a'"),
        *(r"\unknown", "ж", "m" * 101, r"\catcode", "m^^41", "\\", r"\left(m\right)"),
    ],
)
def test_what_is_no_symbol(text: str) -> None:
    with pytest.raises(ReadError) as caught:
        parse_symbol(text)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("name", "latin"),
    [("x_1", "x_1"), ("θ₁", "theta1"), ("φ", "phi"), ("ж1", "u04361"), ("⑴", "u00281u0029")],
)
def test_latin_names(name: str, latin: str) -> None:
    assert latin_name(name) == latin
    assert latin_name(name).isidentifier()


def test_one_look() -> None:
    """What differs by the font, or by a form of the letter, looks the same."""
    assert symbol_of_name("x1").look == symbol_of_name("x_1").look
    assert parse_symbol(r"m_{ab}").look == parse_symbol(r"m_{\mathrm{ab}}").look
    assert parse_symbol(r"\phi").look == parse_symbol(r"\varphi").look
    assert parse_symbol("m_{1,2}").look != parse_symbol("m_{12}").look
