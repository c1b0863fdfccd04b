"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chainform.cli.options import parameter_choice, split_list


@pytest.mark.parametrize(
    "options",
    [
        ["--outputs", "H,hG"],
        ["--outputs", "H", "hG"],
        ["--outputs", "mass_matrix gravity"],
        ["--outputs", "H", "--outputs", "hG"],
        ["--outputs=H, hG"],
        ["--outputs", "H,H", "hG"],
    ],
)
def test_ways_to_write_outputs(call: Callable[..., Any], arm: Path, options: list[str]) -> None:
    document = call("derive", arm, "--json", *options).document
    assert list(document["outputs"]) == ["mass_matrix", "gravity"]


@pytest.mark.parametrize(
    "options",
    [
        ["--outputs", "mass_matirx"],
        ["--outputs", ""],
        ["--outputs", ","],
        ["--outputs", "closure"],
        ["--formulation", "closedform"],
        ["--formulation", ""],
        ["--formulation", "newton_euler", "--outputs", "coriolis"],
        ["--parameters", "x_*"],
        ["--reduce", "everything"],
        ["--closure", "half"],
        ["--parameters"],
        ["--outputs"],
    ],
)
@pytest.mark.parametrize("command", ["derive", "count"])
def test_bad_options(
    call: Callable[..., Any],
    refused: Callable[[Any], str],
    arm: Path,
    command: str,
    options: list[str],
) -> None:
    message = refused(call(command, arm, *options))
    assert "remedy: " in message


def test_split_list() -> None:
    assert split_list(["a,b", " c  d,"]) == ["a", "b", "c", "d"]


def test_parameter_choice() -> None:
    assert parameter_choice(None) is None
    assert parameter_choice("symbolic") == "symbolic"
    assert parameter_choice("m_*,g") == ["m_*", "g"]
    assert parameter_choice("") == []


@pytest.mark.parametrize(
    ("choice", "free"),
    [
        ("numeric", set()),
        ("m_2,g", {"m_2", "g"}),
        ("m_*", {f"m_{i}" for i in range(2, 7)}),
    ],
)
def test_parameters(call: Callable[..., Any], arm: Path, choice: str, free: set[str]) -> None:
    document = call("derive", arm, "--parameters", choice, "--json", "--outputs", "hG").document
    assert set(document["free_parameters"]) == free


def test_usual_outputs_are_those_of_the_formulation(call: Callable[..., Any], arm: Path) -> None:
    document = call("derive", arm, "--formulation", "newton_euler", "--json").document
    assert set(document["outputs"]) == {"inverse_dynamics", "gravity"}
    document = call("derive", arm, "--formulation", "articulated_body", "--json").document
    assert set(document["outputs"]) == {"forward_dynamics"}
