"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chainform.cli.options import parameter_choice
from chainform.cli.selection import split_list


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


@pytest.mark.parametrize(
    ("texts", "items"),
    [
        (["jacobian(tool,local)"], ["jacobian(tool,local)"]),
        (["H,jacobian(tool, local),hG"], ["H", "jacobian(tool, local)", "hG"]),
        (["J(tool,", "local)", "H"], ["J(tool, local)", "H"]),
        (["pose (a tool) H"], ["pose(a tool)", "H"]),
        (["pose(tool", "H"], ["pose(tool H"]),
        (["(", ")"], ["( )"]),
    ],
)
def test_brackets_hold_together(texts: list[str], items: list[str]) -> None:
    assert split_list(texts) == items


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("jacobian(hand, local)", "jacobian(hand,local)"),
        ("J(hand)", "jacobian(hand)"),
        ("T(hand,mixed)", "pose(hand,mixed)"),
        ("v(hand)", "velocity(hand)"),
        ("a(hand)", "acceleration(hand)"),
        ("Jd(hand)", "jacobian_rate(hand)"),
        ("Cm", "coriolis_matrix"),
        ("h", "bias"),
        ("qdd", "forward_dynamics"),
        ("T", "kinetic_energy"),
        ("V", "potential_energy"),
    ],
)
def test_names_of_outputs(call: Callable[..., Any], arm: Path, given: str, name: str) -> None:
    document = call("derive", arm, "--outputs", given, "--json").document
    assert list(document["outputs"]) == [name]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("jacobian", "the jacobian of a frame, which is not named"),
        ("J(nothing)", "no frame or segment named 'nothing'"),
        ("J(hand,upside)", "no frame or segment named 'hand,upside'"),
        ("H(hand)", "mass_matrix is not a quantity of a frame"),
        ("J(hand", "'J(hand' is not a quantity"),
        ("J()", "no frame is named in 'jacobian()'"),
        ("pose(hand)x", "'pose(hand)x' is not a quantity"),
        ("J(a(b))", "no frame or segment named 'a(b)'"),
    ],
)
def test_outputs_of_frames_that_are_not(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path, given: str, reason: str
) -> None:
    assert reason in refused(call("derive", arm, "--outputs", given))


def test_wrenches_must_be_frames(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path
) -> None:
    message = refused(call("derive", arm, "--outputs", "hG", "--wrenches", "hnd"))
    assert "hand" in message
    document = call("derive", arm, "--wrenches", "hand,", "hand", "--json").document
    assert document["wrenches"] == ["hand"]


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
    document = call("derive", arm, "--formulation", "composite_body", "--json").document
    assert set(document["outputs"]) == {"mass_matrix", "coriolis", "gravity"}
    document = call("derive", arm, "--formulation", "articulated_body", "--json").document
    assert set(document["outputs"]) == {"forward_dynamics"}
