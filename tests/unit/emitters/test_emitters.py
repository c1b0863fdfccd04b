"""One graph with everything in it, through every emitter."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.emitters import EMITTERS
from chainform.errors import RunError
from chainform.graph import (
    CALLS,
    FLOAT,
    GROUPS,
    Builder,
    Graph,
    evaluate,
    graph_text,
    parse_graph,
    verify,
)
from strategies import AWKWARD_NAMES, Size, Sizes, doubles, examples, graphs

GROUP_VALUES = {group: [0.3, -0.7, 0.45] for group in GROUPS if group != "parameter"}
PARAMETERS = {"lambda": 0.4, "m.1": 1.25}
"""Those without a default."""


@pytest.fixture
def coverage_graph() -> Graph:
    """Return a graph with every call, kind, sign and power, and with awkward names."""
    builder = Builder()
    free = builder.input("lambda", "parameter", 0)
    dotted = builder.input("m.1", "parameter", 1)
    bound = builder.input("in", "parameter", 2, Fraction(-7, 3))
    groups = [g for g in GROUPS if g != "parameter"]
    given = [builder.input(f"{g}{i + 1}", g, i) for g in groups for i in (0, 2)]
    half = builder.name("float", builder.call("sin", given[0]) / 2)
    calls = [(f"f_{name}", builder.call(name, half + Fraction(1, 2))) for name in CALLS[1:]]
    builder.output("calls", (len(calls),), calls)
    builder.name("m_1", dotted * free)
    builder.name("m.1_", dotted + free)
    powers = builder.name("None", 2 * free**2 * dotted - bound**5 + half**3 / 7 - 1)
    signs = [
        *[("model", powers), ("opposite", -powers), ("zero_", 0), ("five", -5)],
        *[
            ("third", Fraction(1, 3)),
            ("theta_2", -3 * powers + half),
            ("hG_1", half),
            ("same", half),
        ],
    ]
    builder.output("sin", (2, 2, 2), signs)
    builder.output("def", (), [("sum.of.all", sum(given, builder.number(0)))])
    builder.quantity("empty", (0,), [])
    builder.name("dead", free * dotted * bound)
    graph = builder.finish()
    verify(graph)
    return graph


def compiled(graph: Graph, outputs: list[str]) -> tuple[Any, tuple[str, ...]]:
    """Return the emitted function and the names of its arguments."""
    source = EMITTERS["python"](graph, outputs)
    namespace: dict[str, Any] = {}
    exec(compile(source, "model.py", "exec"), namespace)  # noqa: S102 - the text is the test
    model = namespace["model"]
    return model, model.__code__.co_varnames[: model.__code__.co_argcount]


def run_python(graph: Graph, outputs: list[str], parameters: dict[str, float]) -> dict[str, Any]:
    """Return what the emitted function returns."""
    model, arguments = compiled(graph, outputs)
    groups = {name: GROUP_VALUES[name] for name in arguments if name in GROUP_VALUES}
    return model(**groups, **{n: v for n, v in parameters.items() if n in arguments})


def input_values(graph: Graph, parameters: dict[str, float]) -> dict[str, float]:
    """Return the same values as `evaluate` takes them."""
    given = {
        item.name: GROUP_VALUES[item.group][item.index]
        for item in graph.inputs.values()
        if item.group != "parameter"
    }
    return given | parameters


# --- python ---------------------------------------------------------------------------------


def test_python_computes_what_the_graph_means(coverage_graph: Graph) -> None:
    results = run_python(
        coverage_graph, list(coverage_graph.outputs), {"lambda_": 0.4, "m_1": 1.25}
    )
    expected = evaluate(coverage_graph, input_values(coverage_graph, PARAMETERS), FLOAT)
    assert list(results) == list(coverage_graph.outputs)
    for name, array in expected.items():
        assert np.shape(results[name]) == array.shape
        assert np.allclose(results[name], array.astype(float), rtol=1e-14, atol=0)


def test_signs_of_entries_of_arrays() -> None:
    builder = Builder()
    values = [builder.call("sign", builder.input(f"q{k + 1}", "q", k)) for k in range(3)]
    builder.output("o", (3,), [(f"o_{k}", value) for k, value in enumerate(values)])
    graph, q = builder.finish(), np.array([-0.2, 0.0, 3.0])
    space: dict[str, Any] = {}
    exec(EMITTERS["python"](graph, ["o"]), space)  # noqa: S102
    assert space["model"](q) == {"o": [-1.0, 0.0, 1.0]}
    given = {f"q{k + 1}": value for k, value in enumerate(q)}
    assert evaluate(graph, given, FLOAT)["o"].tolist() == [-1.0, 0.0, 1.0]


def test_python_computes_only_what_is_asked_for(coverage_graph: Graph) -> None:
    source = EMITTERS["python"](coverage_graph, ["def", "empty"])
    assert "sin" not in source
    assert source.startswith(f"def model({', '.join(GROUP_VALUES)}):\n")
    results = run_python(coverage_graph, ["def", "empty"], {})
    assert results["def"] == pytest.approx(len(GROUP_VALUES) * (0.3 + 0.45))
    assert results["empty"] == []


def test_python_parameters_have_their_defaults(coverage_graph: Graph) -> None:
    source = EMITTERS["python"](coverage_graph, ["sin"])
    assert f"def model(q, lambda_, m_1, in_={-7 / 3!r}):" in source


def test_python_refuses_numbers_beyond_doubles() -> None:
    builder = Builder()
    x = builder.input("x", "parameter", 0)
    builder.output("o", (), [("o_1", 10**400 * x)])
    with pytest.raises(RunError, match="too large"):
        EMITTERS["python"](builder.finish(), ["o"])


def test_python_compiles_very_long_formulas() -> None:
    builder = Builder()
    x = [builder.input(f"x{i}", "parameter", i, Fraction(1)) for i in range(5000)]
    total, product = x[0], x[0]
    for i, value in enumerate(x[1:]):
        total = total + (-1) ** i * 3 * value
        product = product * value
    builder.output("o", (2,), [("sum", total), ("product", product * x[0] ** 999)])
    assert run_python(builder.finish(), ["o"], {})["o"] == [4.0, 1.0]


@given(graphs(), st.data())
@examples(60)
def test_python_agrees_on_drawn_graphs(graph: Graph, data: st.DataObject) -> None:
    values = {item.name: data.draw(doubles) for item in graph.inputs.values()}
    model, arguments = compiled(graph, list(graph.outputs))
    needed = graph.cone(graph.output_variables())
    used = [item for v, item in graph.inputs.items() if needed[v]]
    groups: dict[str, dict[int, float]] = {}
    for item in used:
        if item.group != "parameter":
            groups.setdefault(item.group, {})[item.index] = values[item.name]
    # Parameters without a default come first, each kind in the order of the graph.
    parameters = [item for item in used if item.group == "parameter"]
    parameters.sort(key=lambda item: item.default is not None)
    names = arguments[len(groups) :]
    by_name = {n: values[p.name] for n, p in zip(names, parameters, strict=True)}
    results = model(**groups, **by_name)
    expected = evaluate(graph, values, FLOAT)
    sizes = evaluate(graph, {n: Size(abs(v)) for n, v in values.items()}, Sizes())
    for name, array in expected.items():
        found = np.asarray(results[name]).reshape(array.shape)
        scale = np.asarray([size.value for size in sizes[name].flat]).reshape(array.shape)
        assert np.all(np.abs(found - array.astype(float)) <= 1e-12 * scale)


# --- text -----------------------------------------------------------------------------------


def test_text_reads_back(coverage_graph: Graph) -> None:
    text = EMITTERS["text"](coverage_graph, list(coverage_graph.outputs))
    assert text == graph_text(coverage_graph)
    assert graph_text(parse_graph(text)) == text
    one = parse_graph(EMITTERS["text"](coverage_graph, ["def"]))
    assert list(one.outputs) == ["def"]
    assert one.names == coverage_graph.names


# --- latex ----------------------------------------------------------------------------------


def check_latex(text: str) -> None:
    """Check that braces and brackets close, and that no bare underscore or caret is doubled."""
    depth = 0
    for character in re.sub(r"\\[{}_#$%&]", "", text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert text.count(r"\left") == text.count(r"\right")
    assert not re.search(r"[_^](?!\{)", re.sub(r"\\_", "", text))
    assert not re.search(r"\^\{[^{}]*\}\^", text)
    assert not re.search(r"_\{[^{}]*\}_", text)


def test_latex_is_balanced(coverage_graph: Graph) -> None:
    text = EMITTERS["latex"](coverage_graph, list(coverage_graph.outputs))
    check_latex(text)
    assert text.startswith("{\\allowdisplaybreaks[1]\n\\begin{align*}\n")
    assert text.endswith("\n\\end{align*}}\n")
    lines = text.splitlines()[2:-1]
    broken = [line for line in lines if line.startswith(r"&\quad ")]
    lines = [line for line in lines if line not in broken]
    assert all(line.count("&=") == 1 for line in lines)
    assert all(line.endswith(r" \\") for line in lines[:-1])
    computed = coverage_graph.cone(coverage_graph.output_variables())
    inputs = sum(computed[v] for v in coverage_graph.inputs)
    blocks = coverage_graph.outputs.values()
    entries = [e for b in blocks for e in zip(b.labels, b.variables, strict=True)]
    others = [label for label, v in entries if coverage_graph.names[v] != label]
    # Numbers stand in the entries that they are, and not as definitions of their own.
    bare = coverage_graph.number_value.keys() - {v for label, v in entries if label not in others}
    bare = [v for v in bare if computed[v]]
    assert len(bare) > 0
    assert len(lines) == np.count_nonzero(computed) - inputs - len(bare) + len(others)
    assert r"\sqrt{" in text
    assert r"\lambda^{2}" in text


@given(graphs())
@examples(60)
def test_latex_of_drawn_graphs_is_balanced(graph: Graph) -> None:
    check_latex(EMITTERS["latex"](graph, list(graph.outputs)))


def test_latex_of_awkward_names_is_balanced() -> None:
    builder = Builder(share=False)
    for i, name in enumerate(AWKWARD_NAMES):
        builder.name(f"v{i}", builder.input(name, "parameter", i) ** 2 * 3)
    entries = [(f"o{i}", builder.scalar(v)) for i, v in enumerate(range(len(builder.names)))]
    builder.output("o", (len(entries),), entries)
    check_latex(EMITTERS["latex"](builder.finish(), ["o"]))


def test_every_emitter_takes_an_empty_graph() -> None:
    for emit in EMITTERS.values():
        assert emit(Builder().finish(), [])
