"""The side file of a URDF file."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from chainform.errors import ReadError
from chainform.mechanism import GROUND, Limits, Mechanism
from chainform.readers import read, read_text

ROBOT = """
<robot name="four_bar">
  <link name="base"/>
  <link name="crank">{body}</link>
  <link name="coupler">{body}</link>
  <link name="rocker">{body}</link>
  <joint name="jc" type="continuous">
    <parent link="base"/><child link="crank"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="jk" type="revolute">
    <parent link="crank"/><child link="coupler"/><origin xyz="0.2 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="1" velocity="1"/><dynamics damping="1"/>
  </joint>
  <joint name="jr" type="continuous">
    <parent link="base"/><child link="rocker"/><origin xyz="0.6 0 0"/><axis xyz="0 0 1"/>
  </joint>
</robot>
""".format(body='<inertial><mass value="1"/><inertia ixx="0" iyy="0.1" izz="0.1"/></inertial>')

SIDE = """
gravity = [0, "-g0", 0]

[parameters]
g0 = 9.81
rotor = { value = 1e-5, unit = "kg m^2" }
k = 100

[joints.jc]
rotor_inertia = "rotor"
gear_ratio = 50

[joints.jk]
friction = { viscous = 0.1, coulomb = 0.2 }
limits = { lower = -1, upper = 1 }

[[loops]]
name = "linkage"
kind = "point"
closing = { segment = "coupler", point = [0.5, 0, 0] }
target = { segment = "rocker", point = [0.4, 0, 0] }
basic = ["jc"]

[[frames]]
name = "pivot"
segment = "base"
point = [0.6, 0, 0]

[[springs]]
joint = "jr"
stiffness = "k"
rest = -0.5

[[springs]]
name = "coil"
ends = [{ segment = "base" }, { segment = "coupler", point = [0.1, 0, 0] }]
stiffness = 20
rest = 0.3
damping = 1
"""


def read_with(tmp_path: Path, side: str, **options: Any) -> Mechanism:
    (tmp_path / "r.urdf").write_text(ROBOT, encoding="utf-8")
    (tmp_path / "r.chainform.toml").write_text(side, encoding="utf-8")
    return read(tmp_path / "r.urdf", **options)


def test_everything_in_it(tmp_path: Path) -> None:
    mechanism = read_with(tmp_path, SIDE)
    crank, coupler, _ = mechanism.segments
    assert mechanism.coordinates == ("jc", "jk", "jr")
    assert str(crank.joint.rotor_inertia) != "0"
    assert crank.joint.gear_ratio == 50
    assert coupler.joint.limits == Limits(Fraction(-1), Fraction(1))
    assert coupler.joint.friction is not None
    assert coupler.joint.friction.coulomb == Fraction(1, 5)
    (loop,) = mechanism.loops
    assert (loop.closing.segment, loop.target.segment, loop.basic) == (1, 2, (0,))
    assert mechanism.frame("pivot").segment == GROUND
    assert mechanism.frame("base").segment == GROUND
    first, second = mechanism.springs
    assert (first.name, first.segment, first.rest) == ("spring1", 2, Fraction(-1, 2))
    assert second.ends is not None
    assert [end.segment for end in second.ends] == [GROUND, 1]
    assert (second.stiffness, second.damping) == (20, 1)
    said = [note.text for note in mechanism.notes]
    assert any(text.endswith("r.chainform.toml was read as well") for text in said)
    assert not any("yet" in text for text in said)
    assert mechanism.file == str(tmp_path / "r.urdf")
    assert mechanism.name == "four_bar"


def test_springs_live_in_parts_too(tmp_path: Path) -> None:
    mechanism = read_with(tmp_path, SIDE)
    part = mechanism.subtree(None, ["rocker"])
    assert [(s.name, s.segment) for s in part.springs] == [("spring1", 0)]
    other = mechanism.subtree(None, ["coupler"])
    assert [s.name for s in other.springs] == ["coil"]


def test_it_can_be_left_aside(tmp_path: Path) -> None:
    assert read_with(tmp_path, SIDE, side_file=False).loops == ()
    assert read_with(tmp_path, "not TOML", side_file=False).nq == 3


def test_it_can_lie_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere.toml"
    path.write_text(SIDE, encoding="utf-8")
    assert len(read_text(ROBOT, "urdf", side_file=path).loops) == 1
    with pytest.raises(ReadError, match="there is no such file") as caught:
        read_text(ROBOT, "urdf", side_file=str(tmp_path / "nowhere.toml"))
    assert caught.value.file == str(tmp_path / "nowhere.toml")


def test_joints_that_are_not_read_may_have_drives(tmp_path: Path) -> None:
    side = "[joints.jr]\ngear_ratio = 2\n"
    assert read_with(tmp_path, side, tips=["coupler"]).coordinates == ("jc", "jk")


WRONG = [
    ("x = ", None, "this is not TOML"),
    ("mass = 1", "mechanism", "unknown field 'mass'"),
    ("joints = 1", "joints", "expected a table, got a number"),
    ("[joints.jx]\ngear_ratio = 1", "joints.jx", "there is no joint 'jx'"),
    ("[joints.jc]\ngear = 1", "joints.jc", "unknown field 'gear'"),
    ("[joints.jc]\ngear_ratio = 0", "joints.jc", "the gear ratio is zero"),
    ("[joints.jc]\nrotor_inertia = -1", "joints.jc", "the number is negative"),
    ("[joints.jk]\nlimits = { lower = 2, upper = 1 }", "joints.jk", "lower exceeds upper"),
    ("[joints.jk]\nfriction = { dry = 2 }", "joints.jk", "unknown field 'dry'"),
    ("[joints.jc]\nrotor_inertia = 'm'", "joints.jc", "'m' is not a parameter"),
    ("gravity = [0, 0]", "gravity", "expected 3 entries"),
    ("[[loops]]\nkind = 'point'", "loop 'loop1', closing", "'closing' is missing"),
    (
        "[[loops]]\nkind = 'point'\nclosing = { segment = 'x' }",
        "loop 'loop1', closing, segment",
        "there is no segment named 'x'",
    ),
    ("[[frames]]\nname = 'crank'\nsegment = 'base'", "frame 'crank'", "a segment has this name"),
    ("springs = {}", "springs", "expected a list"),
    ("[[springs]]\nstiffness = 1", "spring 'spring1'", "one of joint, ends is needed"),
    (
        "[[springs]]\njoint = 'x'\nstiffness = 1",
        "spring 'spring1', joint",
        "no joint of one coordinate named 'x'",
    ),
    ("[[springs]]\njoint = 'jc'\nstifness = 1", "spring 'spring1'", "unknown field 'stifness'"),
    (
        "[[springs]]\njoint = 'jc'\nstiffness = -1",
        "spring 'spring1', stiffness",
        "the number is negative",
    ),
    (
        "[[springs]]\nname='s'\njoint='jc'\n[[springs]]\nname='s'\njoint='jc'",
        "spring 's'",
        "the name is used twice",
    ),
    ("[[springs]]\nends = [{}]", "spring 'spring1', ends", "expected 2 entries"),
    ("[parameters]\njc = 1", "coordinate 'jc'", "a parameter has the same name"),
]


@pytest.mark.parametrize(("side", "element", "message"), WRONG)
def test_errors_name_the_side_file(
    tmp_path: Path, side: str, element: str | None, message: str
) -> None:
    with pytest.raises(ReadError) as caught:
        read_with(tmp_path, side)
    error = caught.value
    assert message in error.message
    assert error.element == element
    # A coordinate belongs to the URDF file, whoever else has its name.
    name = "r.urdf" if "coordinate" in (element or "") else "r.chainform.toml"
    assert error.file == str(tmp_path / name)
    assert error.remedy


def test_a_fixed_joint_has_no_drive(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed">'
        '<parent link="a"/><child link="b"/></joint></robot>',
        encoding="utf-8",
    )
    (tmp_path / "r.chainform.toml").write_text("[joints.j]\ngear_ratio = 2\n", encoding="utf-8")
    with pytest.raises(ReadError, match="a fixed joint has no drive"):
        read(tmp_path / "r.urdf")


def test_snapping_does_not_need_the_parameters(tmp_path: Path) -> None:
    """The twin that is read literally knows no parameters, and needs none."""
    text = ROBOT.replace('xyz="0.6 0 0"', 'xyz="0.6 0 0" rpy="1.5708 0 0"')
    (tmp_path / "s.urdf").write_text(text, encoding="utf-8")
    side = SIDE[: SIDE.index("[[loops]]")]
    (tmp_path / "s.chainform.toml").write_text(side, encoding="utf-8")
    mechanism = read(tmp_path / "s.urdf")
    assert any(note.element == "snapping" for note in mechanism.notes)
