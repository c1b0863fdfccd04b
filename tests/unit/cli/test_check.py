"""`chainform check`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chainform.formulations import FORMULATIONS
from chainform.pipeline import SOLVED
from chainform.readers import native_text, read
from element_models import everything

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_tells_what_was_read(call: Callable[..., Any], arm: Path) -> None:
    result = call("check", arm)
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[1] == "6 segments, 6 coordinates, 0 loops, total mass 14 kg"
    assert lines[2] == "gravity (0, 0, -9.81) m/s^2, world axes"
    assert "   2  upper_arm  turret     (0, 0, 0.8)      5  (0, 0.4, 0)" in lines
    assert "   3  elbow        revolute  (1, 0, 0)  q3" in lines
    assert "  q3  elbow        forearm    rad" in lines
    assert "notes" in lines
    assert "parameters" not in lines


def test_elements_of_every_kind(call: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "everything.json"
    file.write_text(native_text(everything()), encoding="utf-8")
    result = call("check", file)
    assert (result.code, result.err) == (0, "")
    for text in (
        "between bob and box (0, x, 0)",
        "deformation phi - psi",
        "rate x*der(phi) + der(psi)",
        "opposite on K",
        "along phi + psi",
        "damping 1, Coulomb 0.5",
        "axes of tool",
    ):
        assert text in result.out, text


def test_loops_and_parameters(call: Callable[..., Any], four_bar: Path) -> None:
    lines = call("check", four_bar).out.splitlines()
    assert "  linkage  point  coupler (b, 0, 0)  rocker (c, 0, 0)          3  crank" in lines
    assert "  a             0.2    m     length of the crank" in lines


def test_free_parameter_and_limits(call: Callable[..., Any], pendulum: Path) -> None:
    result = call("check", pendulum)
    assert "  length  free   m     free" in result.out
    assert "  q1  hinge  rod      rad      -1    1.5" in result.out
    document = call("check", pendulum, "--json").document
    assert "value" not in document["mechanism"]["parameters"]["length"]
    segment = document["mechanism"]["segments"][0]
    assert (segment["com"][0], segment["mass"]) == ("length", "weight")
    assert (document["values"]["length"], document["values"]["weight"]) == (None, 2)
    assert segment["joint"]["limits"]["upper"] == 1.5


def test_a_rotor_alone_resists_its_joint(call: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "drives.toml"
    rest = 'type = "revolute", axis = "z"'
    path.write_text(
        f'segments = [{{ name = "a", joint = {{ {rest} }}, mass = 1 }},'
        f'{{ name = "b", parent = "a", joint = {{ {rest}, rotor_inertia = 0.1 }} }},'
        f'{{ name = "c", parent = "a", joint = {{ {rest}, friction = {{ viscous = 1 }} }} }}]',
        encoding="utf-8",
    )
    warnings = [n for n in call("check", path, "--json").document["notes"] if n["level"] != "note"]
    (only,) = warnings
    assert only["element"] == "coordinate 'c'"
    assert "singular" in only["text"]


def test_unknown_mass(call: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "free.toml"
    path.write_text(
        'parameters = { m = {} }\nsegments = [{ joint = "revolute", axis = "z", mass = "m" }]',
        encoding="utf-8",
    )
    assert "total mass not known" in call("check", path).out
    assert call("check", path, "--json").document["total_mass"] is None


@pytest.mark.parametrize(
    "name",
    ["six_axis_arm", "four_bar", "driven_arm", "portal_crane", "knife_edge", "manipulator_forces"],
)
def test_the_document_reads_back_as_the_same_mechanism(
    call: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    """The native table is in the document, and no number of it is rounded."""
    path = tmp_path / "again.json"
    path.write_text(call("check", EXAMPLES / f"{name}.toml", "--json").out, encoding="utf-8")
    again, first = read(path), read(EXAMPLES / f"{name}.toml")
    assert native_text(again) == native_text(first)


def test_numbers_that_no_double_is_are_texts(call: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "thirds.toml"
    path.write_text(
        '[parameters]\na = 0.5\nlong = 1e-30\n[[segments]]\njoint = "revolute"\n'
        'axis = "z"\nmass = "1/3"\ncom = ["2*a", 0.12345678901234567890123, 0.1]',
        encoding="utf-8",
    )
    document = call("check", path, "--json").document
    (segment,) = document["mechanism"]["segments"]
    assert segment["mass"] == "1/3"
    assert segment["com"] == ["2*a", "0.12345678901234567890123", 0.1]
    expected = {"1/3": 1 / 3, "2*a": 1.0, "0.12345678901234567890123": 0.12345678901234568}
    assert document["values"] == expected
    assert document["mechanism"]["parameters"]["long"] == {"value": 1e-30}


def test_warnings(call: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "idle.toml"
    path.write_text('segments = [{ joint = "revolute", axis = "z" }]', encoding="utf-8")
    result = call("check", path)
    assert result.code == 0
    assert "\nwarnings\n  coordinate " in result.out
    levels = [note["level"] for note in call("check", path, "--json").document["notes"]]
    assert "warning" in levels


def test_outputs_by_formulation(call: Callable[..., Any], arm: Path, four_bar: Path) -> None:
    outputs = call("check", arm, "--json").document["outputs"]
    assert outputs["closed_form"] == ["mass_matrix", "coriolis", "gravity", "inverse_dynamics"]
    assert "closure" in call("check", four_bar, "--json").document["outputs"]["closed_form"]
    lines = call("check", arm).out.partition("outputs, by formulation\n")[2].splitlines()
    assert lines[1] == "  newton_euler: inverse_dynamics, bias, gravity"
    assert lines[3] == "  articulated_body: forward_dynamics"
    assert any(line.startswith("  each: kinetic_energy, ") for line in lines)
    assert "jacobian(F)" in lines[-1]
    assert len(lines) == len(FORMULATIONS) + 2


def test_outputs_that_a_formulation_refuses(call: Callable[..., Any], hand: Path) -> None:
    document = call("check", hand, "--json").document
    assert document["outputs"]["closed_form"] == document["outputs"]["articulated_body"] == []
    assert "coriolis" not in document["outputs"]["auto"]
    text = call("check", hand).out
    assert "  articulated_body: none, since joints share a coordinate\n" in text
    assert "  closed_form: none, since a joint has a quaternion\n" in text
    for formulation, outputs in document["outputs"].items():
        arguments = ("derive", hand, "--formulation", formulation)
        assert call(*arguments).code == (0 if outputs else 2)


def test_common_outputs_can_be_derived(call: Callable[..., Any], hand: Path) -> None:
    document = call("check", hand, "--json").document
    outputs = [*document["common_outputs"], *(f"{n}(grasp)" for n in document["frame_outputs"])]
    # Nothing resists the finger, so that there is no inverse of the mass matrix.
    outputs = [output for output in outputs if output.partition("(")[0] not in SOLVED]
    assert (
        list(call("derive", hand, "--outputs", *outputs, "--json").document["outputs"]) == outputs
    )


def test_moving_base(call: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "base.toml"
    path.write_text(
        "base = { velocity = [1, 0, 0] }\n"
        'segments = [{ joint = "revolute", axis = "z", mass = 1, com = [1, 0, 0] }]',
        encoding="utf-8",
    )
    text = call("check", path).out
    assert "the base moves" in text
    document = call("check", path, "--json").document
    assert "inverse_dynamics" in document["outputs"]["kinetostatic"]
    assert "inverse_dynamics" not in document["outputs"]["closed_form"]
    assert "mass_matrix" in document["outputs"]["closed_form"]
    assert "reactions" in document["common_outputs"]
    assert "velocity" in document["frame_outputs"]
    for formulation, outputs in document["outputs"].items():
        arguments = ("derive", path, "--formulation", formulation, "--outputs", *outputs)
        assert call(*arguments).code == 0, formulation


def test_quaternions_couplings_and_frames(call: Callable[..., Any], hand: Path) -> None:
    lines = call("check", hand).out.splitlines()
    assert lines[1] == "3 segments, 8 coordinates, 7 rates, 0 loops, total mass 1.4 kg"
    assert "   1  base    free                 q1 ... q7" in lines
    assert "   3  thumb   revolute  (0, 0, 1)  -q8 + k" in lines
    assert "coordinates, in the order of q" in lines
    assert "  q3  base_z   palm     m" in lines
    assert "  q7  base_qw  palm     1" in lines
    assert "  qd3  base_vz  palm     m/s" in lines
    assert "  qd7  finger   finger   rad/s" in lines
    assert "  grasp  palm     (0, 0, k)" in lines
    document = call("check", hand, "--json").document
    base, _, thumb = (segment["joint"] for segment in document["mechanism"]["segments"])
    assert (base["type"], "axis" in base) == ("free", False)
    motions = [(joint["coordinate"], joint["rate"]) for joint in document["joints"]]
    assert motions == [(1, 1), (8, 7), (8, 7)]
    assert thumb["mimic"] == {"joint": "finger", "ratio": -1, "offset": "k"}
    assert [row["name"] for row in document["rates"]][5:] == ["base_wz", "finger"]
    (grasp,) = document["mechanism"]["frames"]
    assert (grasp["segment"], grasp["point"][2], document["values"]["k"]) == ("palm", "k", 0.1)


def test_rates_named_like_coordinates_have_no_table(call: Callable[..., Any], arm: Path) -> None:
    result = call("check", arm)
    assert "coordinates and rates, in the order of q and qd" in result.out
    assert "qd6" not in result.out
    document = call("check", arm, "--json").document
    assert [row["name"] for row in document["rates"]] == [
        row["name"] for row in document["coordinates"]
    ]
    assert "frames" not in document["mechanism"]


def test_bad_mechanisms(
    call: Callable[..., Any], refused: Callable[[Any], str], tmp_path: Path
) -> None:
    for number, text in enumerate(
        ["", "x", "name = 1", "segments = []", "[[segments]]\njoint = 'x'"]
    ):
        path = tmp_path / f"bad{number}.toml"
        path.write_text(text, encoding="utf-8")
        assert str(path) in refused(call("check", path))
