"""`chainform derive` and `chainform count`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chainform.pipeline import available_outputs, derive
from chainform.readers import read


def test_size(call: Callable[..., Any], arm: Path) -> None:
    document = call("derive", arm, "--json").document
    model = derive(arm)
    assert document["operations"] == model.count().as_dict()
    assert {name: tuple(output["shape"]) for name, output in document["outputs"].items()} == {
        name: model[name].shape for name in model.outputs
    }
    assert document["variables"]["inputs"] == 16
    assert document["parameters"] == "numeric"
    assert 0 < document["seconds"] < 60


def test_text(call: Callable[..., Any], arm: Path) -> None:
    lines = call("derive", arm, "--outputs", "H", "--parameters", "m_2,m_3").out.splitlines()
    assert lines[0] == "six_axis_arm, auto, not reduced"
    assert lines[2] == "  mass_matrix  6 × 6"
    assert lines[3] == "free parameters: m_2, m_3"
    assert lines[4].startswith("variables: ")
    assert lines[5].startswith("operations: ")
    assert lines[6].startswith("once, from the parameters alone: ")
    assert lines[7].startswith("derived in ")
    assert "once" not in call("derive", arm).out


def test_closed_form_by_its_name(call: Callable[..., Any], arm: Path) -> None:
    arguments = ("derive", arm, "--formulation", "closed_form")
    assert call(*arguments).out.startswith("six_axis_arm, closed_form, not reduced\n")
    document = call(*arguments, "--json").document
    assert document["formulation"] == "closed_form"
    assert document["operations"] == derive(arm, formulation="closed_form").count().as_dict()


def test_quaternions_have_no_three_index_coriolis(call: Callable[..., Any], hand: Path) -> None:
    for command in (["derive"], ["export", "--to", "python"]):
        document = call(command[0], hand, *command[1:], "--json").document
        assert set(document["outputs"]) == {"mass_matrix", "gravity", "inverse_dynamics"}


def test_wrenches_are_inputs(call: Callable[..., Any], arm: Path) -> None:
    arguments = ("derive", arm, "--outputs", "tau,qdd", "--json")
    without = call(*arguments).document
    document = call(*arguments, "--wrenches", "hand", "gripper").document
    assert document["wrenches"] == ["hand", "gripper"]
    assert document["variables"]["inputs"] > without["variables"]["inputs"]
    assert without["wrenches"] == []


def test_closure_enters_inverse_dynamics(call: Callable[..., Any], four_bar: Path) -> None:
    def operations(kind: str) -> dict[str, int]:
        arguments = ("--outputs", "tau", "--closure", kind, "--json")
        return call("derive", four_bar, *arguments).document["operations"]

    assert operations("basic")["multiplications"] < operations("complete")["multiplications"]


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [[], ["mass_matrix"], ["gravity", "coriolis"]])
def test_counts_are_those_of_the_model(
    call: Callable[..., Any], arm: Path, outputs: list[str]
) -> None:
    options = ["--outputs", *outputs] if outputs else []
    document = call("count", arm, *options, "--json").document
    every = [name for name in available_outputs(read(arm)) if not name.endswith("regressor")]
    model = derive(arm, outputs or every)
    assert document["total"] == model.count().as_dict()
    for name in model.outputs:
        assert document["outputs"][name] == model.count([name]).as_dict()


@pytest.mark.parametrize("text", ["H[1,1]", "H_1_2 hG[2]", "H[1, :]", "J(coupler)[1,2]"])
def test_entries_are_answered_for_themselves(
    call: Callable[..., Any], four_bar: Path, text: str
) -> None:
    outputs = ["mass_matrix", "gravity", "jacobian(coupler)"]
    names = re.findall(r"[^ \[]+(?:\[[^\]]*\])?", text)
    model = derive(four_bar, outputs)
    counted = call("count", four_bar, "--outputs", text, "--json").document["outputs"]
    assert len(counted) == len(names)
    state = '{"q": [0.1, 0.2, 0.3]}'
    values = call("eval", four_bar, "--at", state, "--outputs", text, "--json").document["outputs"]
    numbers = model.evaluate(q=[0.1, 0.2, 0.3], outputs=names)
    for name, key in zip(names, values, strict=True):
        np.testing.assert_allclose(values[key]["values"], numbers[name], rtol=1e-12, atol=1e-15)
    written = call("export", four_bar, "--to", "text", "--outputs", text, "--json").document
    assert written["outputs"] == list(counted)
    derived = call("derive", four_bar, "--outputs", text, "--json")
    # The name of an entry says nothing before there is a model.
    assert derived.code == (2 if "H_1_2" in text else 0)


def test_count_of_one_output_has_no_sum(call: Callable[..., Any], arm: Path) -> None:
    lines = call("count", arm, "--outputs", "H").out.splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("  mass_matrix")
    assert "together" in call("count", arm).out


def test_count_takes_all_outputs(call: Callable[..., Any], four_bar: Path) -> None:
    names = {
        *("mass_matrix", "coriolis", "coriolis_matrix", "gravity", "bias"),
        *("inverse_dynamics", "forward_dynamics", "closure", "closure_jacobian"),
        *("kinetic_energy", "potential_energy", "com", "momentum", "centroidal_momentum"),
        *("reactions", "inverse_mass_matrix", "com_velocity", "com_acceleration", "com_jacobian"),
        *("centroidal_momentum_rate", "centroidal_momentum_matrix"),
        "centroidal_momentum_matrix_rate",
    }
    assert set(call("count", four_bar, "--json").document["outputs"]) == names
    document = call("count", four_bar, "--formulation", "closed_form", "--json").document
    assert list(document["outputs"])[:6] == [
        "mass_matrix",
        "coriolis",
        "gravity",
        "closure",
        "closure_jacobian",
        "inverse_dynamics",
    ]


def test_what_parameters_alone_give_is_counted_apart(
    call: Callable[..., Any], four_bar: Path
) -> None:
    arguments = ("count", four_bar, "--outputs", "H", "--parameters", "symbolic")
    document = call(*arguments, "--json").document
    model = derive(four_bar, ["mass_matrix"], parameters="symbolic")
    assert document["once"] == model.count(once=True).as_dict()
    assert document["total"] == model.count().as_dict()
    row = call(*arguments).out.splitlines()[-1].split()
    assert row == ["once", *map(str, document["once"].values())]
    assert "once" not in call("count", four_bar, "--outputs", "H", "--json").document


def test_moving_base_is_refused(
    call: Callable[..., Any], refused: Callable[[Any], str], tmp_path: Path
) -> None:
    path = tmp_path / "base.toml"
    path.write_text(
        "base = { velocity = [1, 0, 0] }\n"
        'segments = [{ joint = "revolute", axis = "z", mass = 1 }]',
        encoding="utf-8",
    )
    assert "base" in refused(
        call("derive", path, "--outputs", "tau", "--formulation", "closed_form")
    )
    assert call("derive", path, "--outputs", "tau").code == 0
