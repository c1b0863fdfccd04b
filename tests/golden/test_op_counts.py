"""Operation counts on record: a change for better or worse is a visible diff."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import chainform as cf
from chainform.emitters import count_python
from chainform.graph import Cost, verify
from zoo import reference

TABLE = Path(__file__).with_name("op_counts.tsv")
HEADER = ("mechanism", "parameters", "quantity", "formulation", "after", "mul", "add", "calls")
MECHANISMS = (
    "rackovic_2_1",
    "rackovic_4_1",
    "manipulator_5dof",
    "puma560",
    "seven_axis",
    "stanford_toolbox",
)
OUTPUTS = {
    "closed_form": (
        ("mass_matrix",),
        ("gravity",),
        ("mass_matrix", "coriolis", "gravity"),
        ("inverse_dynamics",),
    ),
    "newton_euler": (("inverse_dynamics",), ("bias",), ("gravity",)),
    "composite_body": (
        ("mass_matrix",),
        ("mass_matrix", "coriolis", "gravity"),
        ("coriolis_matrix",),
        ("forward_dynamics",),
    ),
    "articulated_body": (("forward_dynamics",),),
    "kinetostatic": (
        ("inverse_dynamics",),
        ("mass_matrix",),
        ("forward_dynamics",),
        ("reactions",),
    ),
    "lagrange": (
        ("mass_matrix", "coriolis", "gravity"),
        ("metric_derivative",),
        ("inverse_dynamics",),
        ("forward_dynamics",),
    ),
    "gibbs_appell": (
        ("inverse_dynamics",),
        ("mass_matrix",),
        ("mass_matrix", "bias"),
        ("forward_dynamics",),
    ),
}


MODEL = ("mass_matrix", "coriolis", "gravity")
REDUCED = (
    ("rackovic_2_1", "numeric", MODEL),
    ("rackovic_2_1", "numeric", ("inverse_dynamics",)),
    ("rackovic_2_1", "symbolic", MODEL),
    ("rackovic_4_1", "numeric", MODEL),
    ("puma560", "numeric", MODEL),
    ("puma560", "numeric", ("inverse_dynamics",)),
    ("seven_axis", "numeric", ("inverse_dynamics",)),
    ("stanford_toolbox", "numeric", MODEL),
    ("stanford_toolbox", "numeric", ("inverse_dynamics",)),
)
"""What is also counted after a fast reduction, from the program that is emitted."""

Row = tuple[str, ...]


def row(words: tuple[str, ...], outputs: tuple[str, ...], step: tuple[str, str], c: Cost) -> Row:
    figures = (c.multiplications, c.additions, c.sin + c.cos + c.calls)
    return (*words, "+".join(outputs), *step, *map(str, figures))


@cache
def formulation_rows(name: str) -> tuple[Row, ...]:
    found: list[Row] = []
    for parameters in ("numeric", "symbolic"):
        for formulation, choices in OUTPUTS.items():
            for outputs in choices:
                model = cf.derive(
                    reference(name), outputs, formulation=formulation, parameters=parameters
                )
                verify(model.graph)
                step = (formulation, "formulation")
                found.append(row((name, parameters), outputs, step, model.count()))
    return tuple(found)


@cache
def reduced_row(name: str, parameters: str, outputs: tuple[str, ...]) -> Row:
    model = cf.derive(reference(name), outputs, parameters=parameters, reduce="fast")
    verify(model.graph)
    count = count_python(model.emit("python")).each
    assert count == model.count()
    return row((name, parameters), outputs, ("auto", "fast"), count)


def table() -> list[Row]:
    return [tuple(line.split("\t")) for line in TABLE.read_text().splitlines()]


@pytest.fixture(autouse=True, scope="module")
def written(request: pytest.FixtureRequest) -> None:
    """Write the table anew first, where that is asked for."""
    if request.config.getoption("--update-golden"):
        derived = [line for name in MECHANISMS for line in formulation_rows(name)]
        rows = (HEADER, *derived, *(reduced_row(*case) for case in REDUCED))
        TABLE.write_text("".join("\t".join(row) + "\n" for row in rows))


@pytest.mark.parametrize("name", MECHANISMS)
def test_operation_counts(name: str) -> None:
    rows = [line for line in table() if line[0] == name and line[4] != "fast"]
    assert rows == list(formulation_rows(name))


def test_the_table_has_no_other_rows() -> None:
    header, *rows = table()
    assert header == HEADER
    assert list(dict.fromkeys(line[0] for line in rows if line[4] != "fast")) == list(MECHANISMS)


@pytest.mark.parametrize(("name", "parameters", "outputs"), REDUCED)
def test_counts_after_a_fast_reduction(
    name: str, parameters: str, outputs: tuple[str, ...]
) -> None:
    assert reduced_row(name, parameters, outputs) in table()


def test_every_reduced_row_is_still_made() -> None:
    assert sum(line[4] == "fast" for line in table()) == len(REDUCED)
