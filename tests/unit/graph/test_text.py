"""The text form: it reads back, it names the line of a mistake, and nothing makes it stumble."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.errors import Error, ReadError
from chainform.graph import Graph, graph_text, parse_graph, verify
from strategies import Program, examples, graph_of, graphs, programs

HEADER = "chainform graph 1\n"

SAMPLE = (
    HEADER
    + """\
input q 0 q1
input parameter 0 m_1 = 0.5
input parameter 1 l.x = -22/7
input sigma 3 f
sin_q1 = sin(q1)
zero = 0
five = -5
hG_1 = 9.81*m_1*sin_q1
x = 1 - 2*m_1^2*sin_q1 + l.x - 1/3*f
alias weight = hG_1
quantity e_1 [3]: e_1_x:zero e_1_y:zero e_1_z:five
quantity none [0]:
output gravity [1]: hG_1
output single []: x
output H [2 2]: H_1_1:x H_1_2:zero H_2_1:zero q1
output velocity(a tool [1]: x,local) [1]: x
"""
)


def test_the_sample_reads_back() -> None:
    graph = parse_graph(SAMPLE)
    verify(graph)
    assert graph_text(graph) == SAMPLE
    assert graph.block("H").labels == ("H_1_1", "H_1_2", "H_2_1", "q1")
    assert graph.block("H").shape == (2, 2)


def test_comments_and_empty_lines_are_passed_over() -> None:
    commented = SAMPLE.replace("zero = 0", "\n  # a comment\n   zero = 0  ")
    assert graph_text(parse_graph(commented)) == SAMPLE


def check_reads_back(graph: Graph) -> None:
    text = graph_text(graph)
    again = parse_graph(text)
    verify(again)
    assert graph_text(again) == text
    for field in ("kind", "level", "call", "argument", "term_start", "factor_start", "factor"):
        assert np.array_equal(getattr(again, field), getattr(graph, field))
    assert again.names == graph.names
    assert again.inputs == graph.inputs
    assert again.outputs == graph.outputs
    assert again.quantities == graph.quantities
    assert again.aliases == graph.aliases


@given(graphs())
@examples(120)
def test_a_drawn_graph_reads_back(graph: Graph) -> None:
    check_reads_back(graph)


@given(programs())
@examples(60)
def test_the_graph_of_a_program_reads_back(program: Program) -> None:
    check_reads_back(graph_of(program))


def test_outputs_can_be_chosen() -> None:
    text = graph_text(parse_graph(SAMPLE), ["single"])
    assert "output single []: x\n" in text
    assert "output H" not in text
    assert "quantity e_1" in text


MISTAKES = {
    # what is wrong: (the line in place of `five = -5`, what the message says)
    "no part of a graph": ("what is this", "not part of a graph"),
    "an unknown group": ("input speed 0 v", "speed is not a group"),
    "a group without an index": ("input q v", "not part of a graph"),
    "a default that is no number": ("input parameter 0 v = x", "not part of a graph"),
    "a name twice": ("q1 = 2*m_1", "q1 is defined twice"),
    "an input twice": ("input q 1 q1", "q1 is defined twice"),
    "an alias of nothing": ("alias a = nothing", "nothing is used before it is defined"),
    "an alias that is a name": ("alias zero = q1", "zero is defined twice"),
    "a later variable": ("five = 2*hG_1", "hG_1 is used before it is defined"),
    "itself": ("five = 2*five", "five is used before it is defined"),
    "an unknown function": ("five = sinh(q1)", "sinh is not a known function"),
    "a call of nothing": ("five = sin(nothing)", "nothing is used"),
    "a call of a sum": ("five = sin(q1 + q1)", "a term was expected"),
    "a zero coefficient": ("five = 0*q1", "a coefficient is zero"),
    "a zero term": ("five = q1 + 0", "a coefficient is zero"),
    "a zero denominator": ("five = 1/0*q1", "a denominator is zero"),
    "a long zero denominator": ("five = 1/00*q1", "a denominator is zero"),
    "a zero denominator of a default": ("input parameter 0 v = 1/0", "a denominator is zero"),
    "an index in use": ("input q 0 other", r"q1 and other are both q\[0\]"),
    "equal terms": ("five = q1*m_1 + m_1*q1", "two terms have the same factors"),
    "no sign": ("five = q1 m_1", "a term was expected"),
    "two signs": ("five = q1 + -m_1", "a term was expected"),
    "a number behind": ("five = q1*3", "a term was expected"),
    "a product without an end": ("five = q1*", "a term was expected"),
    "a sum without an end": ("five = q1 +", "a term was expected"),
    "the power zero": ("five = q1^0", "a power is not between 1 and 1000"),
    "a negative power": ("five = q1^-1", "a term was expected"),
    "a huge power": ("five = q1^999999999", "a power is not between 1 and 1000"),
    "a boundless power": ("five = q1^" + "9" * 9999, "too large"),
    "a power by repetition": ("five = " + "*".join(["q1^900"] * 2), r"q1\^1800 is above"),
    "powers without end": ("five = " + "*".join(["q1^900"] * 9999), "add up to more"),
    "terms of powers without end": (
        "five = " + " + ".join(f"{k}*q1^1000*m_1^{k}" for k in range(1, 1000)),
        "add up to more",
    ),
    "a boundless number": ("five = " + "9" * 9999, "too many digits"),
    "a boundless decimal": ("five = 0." + "9" * 9999 + "*q1", "too many digits"),
    "a boundless denominator": ("five = 1/" + "9" * 9999, "too many digits"),
    "a number at the limit of Python": ("five = " + "9" * 4299, "bits"),
    "a boundless default": ("input parameter 0 v = " + "9" * 9999, "too many digits"),
    "a boundless index": ("input q " + "9" * 9999 + " v", "too large"),
    "a huge index": ("input q 9999999999 v", "too large"),
    "digits of another script": ("five = ٣*q1", "a term was expected"),
    "an output twice": ("output a []: q1\noutput a []: q1", "a is listed twice"),
    "too few entries": ("output a [2]: q1", "a has 1 entries, its shape asks for 2"),
    "too many entries": ("output a []: q1 q1", "a has 2 entries, its shape asks for 1"),
    "an entry that is nothing": ("output a [1]: nothing", "nothing is used"),
    "an entry without a variable": ("output a [1]: b:", " is used before it is defined"),
    "a label that is no name": ("output a [1]: b:c:q1", "labels of a"),
    "a huge shape": ("output a [999999999 999999999]: q1", "its shape asks for"),
    "a boundless length": ("output a [" + "9" * 9999 + "]: q1", "too large"),
    "boundless dimensions": ("output a [" + "9 " * 99999 + "]: q1", "more than 32 dimensions"),
    "a shape that is none": ("output a [x]: q1", "not part of a graph"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_line(mistake: str) -> None:
    line, message = MISTAKES[mistake]
    broken = SAMPLE.replace("five = -5", line)
    number = 8 + line.count("\n")
    start = time.process_time()
    with pytest.raises(ReadError, match=message) as refusal:
        parse_graph(broken, "model.txt")
    assert time.process_time() - start < 2
    assert refusal.value.element == f"line {number}"
    assert refusal.value.file == "model.txt"


@pytest.mark.parametrize("text", ["", "\n", "chainform graph 2\n", "input q 0 q1\n"])
def test_the_header_is_needed(text: str) -> None:
    with pytest.raises(ReadError, match="chainform graph 1") as refusal:
        parse_graph(text)
    assert refusal.value.element == "line 1"


def test_the_highest_power_reads_back() -> None:
    text = HEADER + "input q 0 q1\nx = q1^1000\noutput o []: x\n"
    graph = parse_graph(text)
    verify(graph)
    assert graph_text(graph) == text


@pytest.mark.slow
def test_a_long_line_is_read_quickly() -> None:
    names = [f"v{i}" for i in range(20_000)]
    inputs = "".join(f"input q {i} {name}\n" for i, name in enumerate(names))
    text = HEADER + inputs + f"x = {' + '.join(names)}\ny = {'*'.join(names)}\n"
    assert graph_text(parse_graph(text)) == text


# --- damage ---------------------------------------------------------------------------------

PIECES = (
    *("0", "1", "9", "-", "+", "*", "/", "^", "(", ")", "[", "]", ":", "=", ".", " ", "\n", "\t"),
    *("\0", "é", "²", "#", "input ", "alias ", "output ", "quantity ", "sin(", "^999999999", "/0"),
    *("99999999999999999999", " = ", "zero", "q", "chainform graph 1", "\u2028", "e5", "_", "x^0"),
)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """Draw the text of a graph, and cut, repeat and insert pieces."""
    text = graph_text(draw(graphs(most_rows=5)))
    for _ in range(draw(st.integers(1, 4))):
        first = draw(st.integers(0, len(text)))
        last = min(len(text), first + draw(st.integers(0, 12)))
        action = draw(st.sampled_from(["cut", "repeat", "insert", "swap", "line"]))
        piece = draw(st.sampled_from(PIECES))
        middle = {
            "cut": "",
            "repeat": text[first:last] * 2,
            "insert": piece + text[first:last],
            "swap": text[first:last][::-1],
            "line": f"\n{piece}{text[first:last]}\n",
        }[action]
        text = text[:first] + middle + text[last:]
    return text


@given(damaged())
@examples(400)
def test_damaged_text_is_refused_or_is_a_graph(text: str) -> None:
    graph = read_or_refused(text)
    if isinstance(graph, Error):
        assert (graph.element or "").startswith("line ")
        return
    verify(graph)
    assert graph_text(parse_graph(graph_text(graph))) == graph_text(graph)


def read_or_refused(text: str) -> Graph | Error:
    try:
        return parse_graph(text)
    except Error as refusal:
        return refusal


@given(st.text(max_size=60))
@examples(100)
def test_any_text_is_refused_or_is_a_graph(text: str) -> None:
    graph = read_or_refused(HEADER + text)
    if isinstance(graph, Graph):
        verify(graph)
        assert graph_text(parse_graph(graph_text(graph))) == graph_text(graph)
