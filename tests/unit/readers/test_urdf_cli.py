"""URDF files on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from chainform.cli import main
from chainform.cli.commands.schema import schema_text
from chainform.readers import read

ROBOT = """<robot name="gripper">
  <link name="base"/>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="left"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="right"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="swing" type="continuous">
    <parent link="base"/><child link="arm"/><origin rpy="1.5708 0 0"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="open" type="prismatic">
    <parent link="arm"/><child link="left"/><axis xyz="0 1 0"/>
  </joint>
  <joint name="close" type="prismatic">
    <parent link="arm"/><child link="right"/><axis xyz="0 1 0"/>
    <mimic joint="open" multiplier="-1"/>
  </joint>
</robot>
"""


@pytest.fixture
def robot(tmp_path: Path) -> str:
    path = tmp_path / "gripper.urdf"
    path.write_text(ROBOT, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("options", "coordinates"),
    [
        ([], ["swing", "open"]),
        (["--mimic", "free"], ["swing", "open", "close"]),
        (["--mimic", "couple", "--tip", "left"], ["swing", "open"]),
        (["--tip", "arm"], ["swing"]),
        (["--root", "arm"], ["open"]),
        (
            ["--root", "arm", "--mimic", "free", "--tip", "left", "--tip", "right"],
            ["open", "close"],
        ),
        (["--base", "fixed", "--no-snap"], ["swing", "open"]),
    ],
)
def test_options(
    robot: str, options: list[str], coordinates: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", robot, *options, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in document["coordinates"]] == coordinates
    has_snapped = any(note["element"] == "snapping" for note in document["notes"])
    assert has_snapped == ("--no-snap" not in options)


def test_a_floating_base(robot: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", robot, "--base", "floating", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["nq"], document["nv"]) == (9, 8)
    Draft202012Validator(json.loads(schema_text("check"))).validate(document)


@pytest.mark.parametrize("command", ["derive", "show", "count"])
def test_every_command_takes_the_options(
    robot: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, robot, "--mimic", "free", "--tip", "left", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mechanism"] == "gripper"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--base", "free"], "invalid choice: 'free'"),
        (["--root", "bse"], "there is no link 'bse'\n  remedy: did you mean 'base'?"),
    ],
)
def test_wrong_options(
    robot: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", robot, *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err


def test_export(robot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "copy.urdf"
    assert main(["export", robot, "--to", "urdf", "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"wrote {target}\n"
    assert read(target).coordinates == ("swing", "open")
    assert main(["export", robot, "--to", "urdf", "-o", str(target)]) == 2
    assert "--force overwrites it" in capsys.readouterr().err
    assert main(["export", robot, "--to", "urdf"]) == 0
    assert capsys.readouterr().out == target.read_text("utf-8")


def test_export_document(robot: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", robot, "--to", "urdf", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    Draft202012Validator(json.loads(schema_text("export"))).validate(document)
    assert document["outputs"] == []
    assert document["text"].startswith("<?xml")


def test_export_with_a_side_file(
    robot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    side = tmp_path / "gripper.chainform.toml"
    side.write_text("[joints.swing]\ngear_ratio = 100\n", encoding="utf-8")
    target = tmp_path / "copy.urdf"
    arguments = ["export", robot, "--to", "urdf", "-o", str(target)]
    assert main(arguments) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"wrote {target}",
        f"wrote {tmp_path / 'copy.chainform.toml'}",
        "not in URDF: rotor inertia and gears: in the side file only",
    ]
    assert read(target).segments[0].joint.gear_ratio == 100
    target.unlink()
    assert main(arguments) == 2
    assert "the file exists" in capsys.readouterr().err
    side.unlink()
    assert main([*arguments, "--force"]) == 2
    assert "this side file does not belong to the result" in capsys.readouterr().err
    assert not target.exists()


def test_export_refuses_what_urdf_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ball.toml"
    path.write_text('[[segments]]\njoint = "spherical"\nmass = 1\n', encoding="utf-8")
    assert main(["export", str(path), "--to", "urdf"]) == 1
    assert "URDF has no spherical joint" in capsys.readouterr().err
