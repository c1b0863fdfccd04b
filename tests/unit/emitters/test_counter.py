"""The counter of program text: by hand, and against the count of the graph."""

from __future__ import annotations

from itertools import cycle
from time import process_time

import pytest
from hypothesis import given

import chainform as cf
from chainform.emitters import EMITTERS
from chainform.emitters.python_operation_count import Counts, count_python
from chainform.errors import RunError
from chainform.graph import Builder, Cost, Graph, cost, cost_once
from robots import example_robot
from strategies import Program, examples, graph_of, graphs, programs
from zoo import REFERENCE, random_tree, reference

KINDS = ("symbolic", "numeric")
QUANTITIES = ["mass_matrix", "gravity", "inverse_dynamics", "forward_dynamics"]


def counted(*lines: str, given: str = "q, m", result: str = "y") -> Counts:
    """Count a program of a few statements."""
    body = "\n".join(f"    {line}" for line in [*lines, f"return {{'y': [{result}]}}"])
    return count_python(f"from math import sin\n\n\ndef model({given}):\n    x = q[0]\n{body}\n")


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("x", Cost()),
        ("-x", Cost()),
        ("0.5", Cost()),
        ("-1.0*x", Cost()),
        ("3.0*x", Cost(multiplications=1)),
        ("-3.0*x*x", Cost(multiplications=2)),
        ("2.0*x", Cost(additions=1)),
        ("-2.0*x", Cost(additions=1)),
        ("2.0*x*m", Cost(multiplications=1, additions=1)),
        ("x*x*x", Cost(multiplications=2)),
        ("x**3", Cost(multiplications=2)),
        ("x - m + 2.5", Cost(additions=2)),
        ("(x + m) + (x*m - x)", Cost(multiplications=1, additions=3)),
        ("(x*m)*(x*m)", Cost(multiplications=3)),
    ],
)
def test_one_formula(formula: str, expected: Cost) -> None:
    assert counted(f"y = {formula}") == Counts(expected, Cost())


def test_calls_have_columns_of_their_own() -> None:
    program = ["s = sin(x)", "c = cos(x)", "r = reciprocal(x)", "y = s*c*r"]
    assert counted(*program).each == Cost(multiplications=2, sin=1, cos=1, calls=1)


def test_sums_for_sines_alone_are_angle_sums() -> None:
    angle = ["a = x + m", "b = a + x", "s = sin(b)"]
    assert counted(*angle, result="s").each == Cost(sin=1, angle_sums=2)
    assert counted(*angle, result="s, a").each == Cost(sin=1, angle_sums=1, additions=1)
    more = [*angle, "y = s*a"]
    assert counted(*more).each == Cost(multiplications=1, sin=1, angle_sums=1, additions=1)
    tangent = [*angle, "t = tan(b)"]
    assert counted(*tangent, result="s, t").each == Cost(sin=1, additions=2, calls=1)


def test_what_no_result_needs_does_not_count() -> None:
    assert counted("a = x + m", "dead = a*x", "y = sin(a)").each == Cost(sin=1, angle_sums=1)


def test_what_depends_on_parameters_alone_is_counted_apart() -> None:
    counts = counted("k = 3.0*m*m", "one = 1.0", "t = k + one", "y = t*x")
    assert counts == Counts(Cost(multiplications=1), Cost(multiplications=2, additions=1))


def test_angle_sums_of_parameters_look_at_every_use() -> None:
    angle = counted("a = m + n", "b = x + a", "y = sin(b)", given="q, m, n")
    assert angle == Counts(Cost(sin=1, angle_sums=1), Cost(angle_sums=1))
    more = counted("a = m + n", "s = sin(a)", "y = x*s*a", given="q, m, n")
    assert more == Counts(Cost(multiplications=2), Cost(additions=1, sin=1))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def other():\n    return {}\n",
        "def model(q):\n    y = q[0]\n",
        "def model(q):\n    y = 1.0 / q\n    return {'y': y}\n",
        "def model(q):\n    y = sin(q + 1.0)\n    return {'y': y}\n",
        "def model(q):\n    y += 1.0\n    return {'y': y}\n",
    ],
)
def test_other_programs_are_refused(text: str) -> None:
    with pytest.raises(RunError):
        count_python(text)


# --- against the count of the graph ---------------------------------------------------------


def check(graph: Graph) -> None:
    fixed = any(item.group != "parameter" for item in graph.inputs.values())
    for outputs in [list(graph.outputs), list(graph.outputs)[:1]]:
        counts = count_python(EMITTERS["python"](graph, outputs), fixed=fixed)
        assert counts.each == cost(graph, outputs)
        assert counts.once == cost_once(graph, outputs)


@given(graphs())
@examples(300)
def test_a_drawn_graph_has_the_same_count(graph: Graph) -> None:
    check(graph)


@given(programs())
@examples(150)
def test_a_program_has_the_same_count(program: Program) -> None:
    check(graph_of(program))


@pytest.mark.parametrize(("name", "parameters"), [*zip(REFERENCE, cycle(KINDS), strict=False)])
def test_a_reference_mechanism_has_the_same_count(name: str, parameters: str) -> None:
    check(cf.derive(reference(name), QUANTITIES, parameters=parameters).graph)


@pytest.mark.parametrize("seed", range(10))
def test_a_random_tree_has_the_same_count(seed: int) -> None:
    mechanism = random_tree(seed, quaternions=seed % 2 == 1)
    check(cf.derive(mechanism, QUANTITIES[:3], parameters="symbolic").graph)


def test_very_long_formulas_are_counted() -> None:
    builder = Builder()
    x = [builder.input(f"x{i}", "tau", i) for i in range(3000)]
    product = x[0] ** 900 * x[1] ** 900
    builder.output("o", (2,), [("sum", 3 * sum(x[1:], x[0])), ("product", product)])
    check(builder.finish())


def test_a_long_program_is_counted_quickly() -> None:
    robot = cf.read(example_robot("talos_reduced.urdf"), base="floating")
    source = cf.derive(robot, ["forward_dynamics"]).emit("python")
    assert source.count("\n") > 3000
    start = process_time()
    count_python(source)
    assert process_time() - start < 1
