"""The examples of docs/urdf.md are true."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

from chainform.errors import ReadError
from chainform.readers import read, read_text
from chainform.readers.urdf.options import OPTIONS
from chainform.readers.urdf.robot import JOINT_TYPES
from chainform.readers.urdf.side_file import DRIVE_FIELDS, SIDE_FIELDS

PAGE = (Path(__file__).parents[3] / "docs" / "urdf.md").read_text(encoding="utf-8")

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def leg() -> str:
    """Return a leg with the links and joints that the example of a side file names."""
    links = "".join(f'<link name="{name}">{BODY}</link>' for name in ("thigh", "shank", "rod"))
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="thigh"/><child link="{child}"/>'
        f'<origin xyz="{x} 0 0"/><axis xyz="0 1 0"/></joint>'
        for name, child, x in (("knee", "shank", "0.25"), ("crank", "rod", "0"))
    )
    return f'<robot name="leg">{links}{joints}</robot>'


def test_the_side_file(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "leg.urdf").write_text(leg(), encoding="utf-8")
    (tmp_path / "leg.chainform.toml").write_text(block, encoding="utf-8")
    mechanism = read(tmp_path / "leg.urdf")
    assert [loop.name for loop in mechanism.loops] == ["linkage"]
    assert [spring.name for spring in mechanism.springs] == ["return", "tendon"]
    assert mechanism.frame("toe").segment == 0
    warnings = [note.element for note in mechanism.notes if note.level == "warning"]
    assert warnings == []


def test_the_error() -> None:
    names = ("base", "forearm")
    links = "".join(f'<link name="{name}"/>' for name in names)
    ends = '<parent link="base"/><child link="forarm"/>'
    blanks = "\n" * 40
    joint = f'<joint name="elbow" type="fixed">{ends}</joint>'
    text = f'<robot name="r">{links}{blanks}{joint}</robot>'
    with pytest.raises(ReadError) as caught:
        read_text(text, "urdf", file="robot.urdf")
    assert str(caught.value) in PAGE


@pytest.mark.parametrize("word", sorted({*OPTIONS, *JOINT_TYPES, *SIDE_FIELDS, *DRIVE_FIELDS}))
def test_every_word_is_explained(word: str) -> None:
    assert word in PAGE


def test_the_report_of_snapping() -> None:
    try:
        installed = files("example-robot-data") or []
    except PackageNotFoundError:
        pytest.fail("the package example-robot-data is not installed")
    path = next(file.locate() for file in installed if file.name == "ur5_robot.urdf")
    (note,) = [n for n in read(str(path)).notes if n.element == "snapping"]
    assert f"snapping: {note.text}" in " ".join(PAGE.split())


def test_the_table_was_made() -> None:
    assert re.search(r"\d+ files, \d+ read, 5 refused", PAGE)
