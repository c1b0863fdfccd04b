"""`chainform derive` and `chainform count`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chainform.pipeline import derive


def test_size(call: Callable[..., Any], arm: Path) -> None:
    document = call("derive", arm, "--json").document
    model = derive(arm)
    assert document["operations"] == model.count().as_dict()
    assert {name: tuple(output["shape"]) for name, output in document["outputs"].items()} == {
        name: model[name].shape for name in model.outputs
    }
    assert document["variables"]["inputs"] == 18
    assert document["parameters"] == "numeric"
    assert 0 < document["seconds"] < 60


def test_text(call: Callable[..., Any], arm: Path) -> None:
    lines = call("derive", arm, "--outputs", "H", "--parameters", "m_2,m_3").out.splitlines()
    assert lines[0] == "six_axis_arm, closed_form"
    assert lines[2] == "  mass_matrix  6 × 6"
    assert lines[3] == "free parameters: m_2, m_3"
    assert lines[4].startswith("variables: ")
    assert lines[5].startswith("operations: ")
    assert lines[6].startswith("derived in ")


def test_closure_enters_inverse_dynamics(call: Callable[..., Any], four_bar: Path) -> None:
    def operations(kind: str) -> dict[str, int]:
        arguments = ("--outputs", "tau", "--closure", kind, "--json")
        return call("derive", four_bar, *arguments).document["operations"]

    assert operations("basic")["multiplications"] < operations("complete")["multiplications"]


@pytest.mark.parametrize("outputs", [[], ["mass_matrix"], ["gravity", "coriolis"]])
def test_counts_are_those_of_the_model(
    call: Callable[..., Any], arm: Path, outputs: list[str]
) -> None:
    options = ["--outputs", *outputs] if outputs else []
    document = call("count", arm, *options, "--json").document
    model = derive(arm, outputs) if outputs else derive(arm)
    assert document["total"] == model.count().as_dict()
    for name in model.outputs:
        assert document["outputs"][name] == model.count([name]).as_dict()


def test_count_of_one_output_has_no_sum(call: Callable[..., Any], arm: Path) -> None:
    lines = call("count", arm, "--outputs", "H").out.splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("  mass_matrix")
    assert "together" in call("count", arm).out


def test_count_takes_all_outputs(call: Callable[..., Any], four_bar: Path) -> None:
    names = [
        "mass_matrix",
        "coriolis",
        "gravity",
        "closure",
        "closure_jacobian",
        "inverse_dynamics",
    ]
    assert list(call("count", four_bar, "--json").document["outputs"]) == names


def test_moving_base_is_refused(
    call: Callable[..., Any], refused: Callable[[Any], str], tmp_path: Path
) -> None:
    path = tmp_path / "base.toml"
    path.write_text(
        "base = { velocity = [1, 0, 0] }\n"
        'segments = [{ joint = "revolute", axis = "z", mass = 1 }]',
        encoding="utf-8",
    )
    assert "base" in refused(call("derive", path))
