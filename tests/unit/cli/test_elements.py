"""Commands on models of elements, which have no segments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chainform as cf

EXAMPLES = Path(__file__).parents[3] / "examples"
MODELS = ("stanford_elements", "portal_crane", "knife_edge", "rolling_disc")


@pytest.mark.parametrize("name", MODELS)
def test_check_lists_elements_and_constraints(call: Callable[..., Any], name: str) -> None:
    result = call("check", EXAMPLES / f"{name}.toml")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert "elements (m, kg, N, rad)" in lines
    assert "  newton_euler: none, since the mechanism has elements" in lines
    assert ("constraints and quasi-velocities" in lines) == (name in MODELS[2:])
    document = call("check", EXAMPLES / f"{name}.toml", "--json").document
    assert "segments" not in document["mechanism"]
    assert document["joints"] == []


def test_check_of_the_stanford_arm(call: Callable[..., Any]) -> None:
    text = call("check", EXAMPLES / "stanford_elements.toml").out
    assert "on K: Sz(d12), Sx(d21), Rx(theta2)  mass m2, J (J2x, J2y, J2z)" in text
    assert "on P, opposite on K                 (M2, 0, 0), axes of P" in text
    assert "  M1, M2, F32" in text


@pytest.mark.parametrize("name", MODELS)
def test_other_commands_take_them(call: Callable[..., Any], name: str) -> None:
    file = EXAMPLES / f"{name}.toml"
    notes = cf.read(file).notes
    warnings = [f"{note.element}: {note.text}" for note in notes if note.level == "warning"]
    for command in (("derive",), ("count",), ("export", "--to", "python")):
        result = call(command[0], file, *command[1:], "--reduce", "none")
        told = warnings if command[0] == "export" else []
        lines = [line.removeprefix("chainform: note: ") for line in result.err.splitlines()]
        assert (result.code, lines) == (0, told), command
    again = call("export", file, "--to", "native")
    assert again.code == 0
    assert '"elements"' in again.out


def test_forces_are_evaluated(call: Callable[..., Any], tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text('{"q": [4.0], "qd": [0.1], "qdd": [0], "force": [100]}')
    outputs = ("--outputs", "tau", "force_right", "--reduce", "none")
    file = EXAMPLES / "portal_crane.toml"
    found = call("eval", file, "--at", state, *outputs, "--json").document["outputs"]
    right, tau = (found[name]["values"][0] for name in ("force_right", "inverse_dynamics"))
    assert right - tau == pytest.approx(100)


def test_reactions_from_the_command_line(call: Callable[..., Any]) -> None:
    arm = EXAMPLES / "stanford_elements.toml"
    assert "M2" in call("show", arm, "R(P)[4]", "--expand").out
    motion = ("--motion", '{"theta1": "t", "theta2": "-0.4", "d32": "0.35"}', "--times", "0:1:3")
    asked = ("--outputs", "reactions,reaction(P,world)", "--table", "reaction(P,world)[3]")
    lines = call("inverse-dynamics", arm, *motion, *asked).out.splitlines()
    assert lines[-4].split() == ["reaction(P,world)[3]"]
    assert lines[-1].split() == ["132.435"]
    refused = call("derive", EXAMPLES / "portal_crane.toml", "--outputs", "reactions")
    assert (refused.code, "no body is named there" in refused.err) == (2, True)
    assert "reactions" not in call("count", EXAMPLES / "portal_crane.toml").out
