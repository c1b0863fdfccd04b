"""All formulations side by side: equal where they are, different where one is spoilt."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import chainform as cf
from chainform.analysis.comparison import unit_quaternion
from chainform.formulations import FORMULATIONS, AxisChoices, Formulation, Options
from chainform.graph import Builder
from derivation import Derivation
from zoo import random_tree, reference


def spoilt(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a formulation add one to the first entry of all it gives."""
    method = FORMULATIONS[name]

    def build(
        builder: Builder, mechanism: cf.Mechanism, outputs: Sequence[str], options: Options
    ) -> AxisChoices:
        choices = method.build(builder, mechanism, outputs, options)
        for output in outputs:
            block = builder.outputs[output]
            wrong = builder.variable_of(builder.scalar(block.variables[0]) + 1)
            variables = (wrong, *block.variables[1:])
            builder.outputs[output] = replace(block, variables=variables)
        return choices

    monkeypatch.setitem(FORMULATIONS, name, Formulation(name, method.outputs, build))


def test_all_formulations_of_an_arm_agree() -> None:
    found = cf.compare("examples/six_axis_arm.toml", ["mass_matrix", "gravity"])
    assert found.agree
    rows = [row for row in found.rows if row.output == "mass_matrix"]
    assert {"composite_body", "closed_form"} <= {row.formulation for row in rows}
    assert rows[0].agrees is None
    assert all(row.agrees and row.how == "fractions" for row in rows[1:])
    assert all(row.cost is not None and row.cost.multiplications > 0 for row in rows)


def test_a_spoilt_formulation_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    spoilt("closed_form", monkeypatch)
    found = cf.compare(
        random_tree(3), ["mass_matrix"], formulations=["composite_body", "closed_form"]
    )
    assert not found.agree
    assert [row.agrees for row in found.rows] == [None, False]


@pytest.mark.slow
@pytest.mark.usefixtures("short_walks")
def test_free_parameters_and_reduced_graphs_agree() -> None:
    found = cf.compare(
        reference("sliding_links_3"),
        "gravity",
        formulations=["newton_euler", "closed_form"],
        parameters="symbolic",
        reduce="fast",
    )
    assert [row.how for row in found.rows] == ["", "fractions"]
    assert found.agree


def test_quaternions_are_compared_in_fractions() -> None:
    builder = cf.Mechanism.builder("satellite")
    builder.segment("hull", joint="free", mass=10, inertia=[1, 2, 3], com=["0.1", 0, "0.2"])
    builder.segment("wheel", parent="hull", joint="revolute", axis="z", mass=1, com=["0.1", 0, 0])
    found = cf.compare(builder.build(), ["forward_dynamics", "mass_matrix"])
    assert found.agree
    rows = {row.formulation: row for row in found.rows if row.output == "forward_dynamics"}
    assert rows["articulated_body"].how == "fractions"
    refused = [row for row in found.rows if row.formulation == "closed_form"]
    assert all("quaternion" in row.refusal and row.cost is None for row in refused)


def test_what_has_no_rational_value_is_compared_in_a_finite_field() -> None:
    builder = cf.Mechanism.builder("geared")
    builder.segment("a", joint="revolute", axis="z", mass=1, com=["0.3", 0, 0])
    mimic = {"joint": "a", "ratio": "0.5", "offset": "0.2"}
    builder.segment(
        "b", parent="a", joint="revolute", axis="x", mass=2, com=[0, "0.2", "0.1"], mimic=mimic
    )
    found = cf.compare(builder.build(), ["mass_matrix"])
    assert found.agree
    assert {row.how for row in found.rows if row.agrees is not None} == {"residues"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"outputs": ["mass"]}, "no formulation gives mass"),
        ({"formulations": ["newton"]}, "there is no formulation 'newton'"),
        ({"without": ["weight"]}, "there is no part 'weight'"),
        ({"reduce": "deepest"}, "deepest"),
        ({"parameters": ["xyz"]}, "no parameter matches"),
    ],
)
def test_wrong_names_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(cf.Error, match=words):
        cf.compare(random_tree(3), **arguments)


def test_the_command_prints_a_document_and_fails_where_two_differ(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    derived_graphs: Derivation,
) -> None:
    from chainform.cli import main

    monkeypatch.setattr(Formulation, "graph", derived_graphs)
    arguments = ["compare", "examples/manipulator_tree.toml", "--outputs", "gravity"]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["agree"]
    assert {row["output"] for row in document["rows"]} == {"gravity"}
    spoilt("composite_body", monkeypatch)
    assert main(arguments) == 1
    assert "DIFFER" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(20))
def test_quaternions_of_fractions_have_the_length_one(seed: int) -> None:
    entries = unit_quaternion(random.Random(seed))
    assert sum(entry * entry for entry in entries) == 1


def test_progress_names_what_is_derived() -> None:
    seen: list[tuple[str, str]] = []

    def observe(output: str, name: str) -> None:
        seen.append((output, name))

    cf.compare(random_tree(3), ["gravity"], formulations=["newton_euler"], observe=observe)
    assert seen == [("gravity", "newton_euler")]


def test_what_one_formulation_alone_gives_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    from chainform.cli import main

    found = cf.compare("examples/portal_crane.toml", ["mass_matrix", "gravity"])
    assert found.alone == ("mass_matrix", "gravity")
    assert main(["compare", "examples/portal_crane.toml", "--outputs", "gravity"]) == 0
    printed = capsys.readouterr().out
    assert "no other gives it" in printed
    assert "nothing was compared" in printed
    assert "all formulations agree" not in printed
    assert main(["compare", "examples/manipulator_tree.toml", "--outputs", "gravity", "S"]) == 0
    assert "agree; one alone gives acceleration_energy" in capsys.readouterr().out


def test_auto_is_compared_where_another_alone_has_the_output() -> None:
    found = cf.compare("examples/driven_arm.toml", ["drives", "gravity"])
    methods = [row.formulation for row in found.rows if row.output == "drives"]
    assert methods == ["kinetostatic", "auto"]
    assert "auto" not in [row.formulation for row in found.rows if row.output == "gravity"]
    assert found.agree
    assert not found.alone


def test_quantities_of_frames_are_compared() -> None:
    tree = random_tree(3)
    found = cf.compare(tree, [f"jacobian({tree.segments[-1].name})"])
    assert len(found.rows) == len(FORMULATIONS) - 1
    assert found.agree
    with pytest.raises(cf.Error, match="there is no frame"):
        cf.compare(tree, ["jacobian(nowhere)"])
