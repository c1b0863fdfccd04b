"""What a URDF file means."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import ReadError
from chainform.mechanism import GROUND, JointKind, Limits, Mechanism, Segment, poses_of
from chainform.readers import read_text

BODY = """
    <inertial>
      <origin xyz="0 0 0.1" rpy="0 0 0"/>
      <mass value="2.5"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.03"/>
    </inertial>
"""


def link(name: str, inside: str = BODY) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, parent: str, child: str, inside: str = "", kind: str = "revolute") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}</joint>"
    )


def robot(*parts: str, name: str = "r") -> str:
    return f'<?xml version="1.0"?><robot name="{name}">{"".join(parts)}</robot>'


def two(inside: str = "", kind: str = "revolute", body: str = BODY, **options: Any) -> Mechanism:
    """Return a robot of one joint."""
    text = robot(link("base"), link("arm", body), joint("j", "base", "arm", inside, kind))
    return read_text(text, "urdf", **options)


def texts(mechanism: Mechanism) -> str:
    return "\n".join(f"{note.level}: {note.element}: {note.text}" for note in mechanism.notes)


def segment(mechanism: Mechanism, name: str) -> Segment:
    return mechanism.segments[mechanism.frame(name).segment]


# --- one joint ------------------------------------------------------------------------------


def test_a_revolute_joint() -> None:
    mechanism = two(
        '<origin xyz="0.1 -0.2 1e-1" rpy="0 0 1.5707963267948966"/><axis xyz="0 1 0"/>'
        '<limit lower="-1.5" upper="2" velocity="3" effort="40"/>'
        '<dynamics damping="0.5" friction="0.25"/>'
    )
    (only,) = mechanism.segments
    assert (mechanism.name, mechanism.coordinates) == ("r", ("j",))
    assert (only.name, only.parent, only.joint.name) == ("arm", GROUND, "j")
    assert only.joint.kind is JointKind.REVOLUTE
    assert only.joint.axis == (0, 1, 0)
    assert only.position == (Fraction(1, 10), Fraction(-1, 5), Fraction(1, 10))
    assert only.rotation == ((0, -1, 0), (1, 0, 0), (0, 0, 1))
    assert only.joint.limits == Limits(Fraction(-3, 2), Fraction(2), Fraction(3), Fraction(40))
    assert only.joint.friction is not None
    assert (only.joint.friction.viscous, only.joint.friction.coulomb) == (0.5, 0.25)
    assert only.body.mass == Fraction(5, 2)
    assert only.body.com == (0, 0, Fraction(1, 10))
    assert only.body.inertia[1][1] == Fraction(1, 50)
    assert mechanism.gravity == (0, 0, Fraction("-9.81"))


def test_the_root_is_the_ground_and_a_frame() -> None:
    mechanism = two()
    assert mechanism.frame("base").segment == GROUND
    assert "link 'base': it is the ground, so its mass of 2.5 kg does not matter" in texts(
        mechanism
    )


def test_axis_is_x_when_not_given() -> None:
    mechanism = two()
    assert mechanism.segments[0].joint.axis == (1, 0, 0)
    assert "no axis is given; URDF then means x" in texts(mechanism)


def test_axis_of_any_length() -> None:
    assert two('<axis xyz="0 0 -2.5"/>').segments[0].joint.axis == (0, 0, -1)


def test_a_continuous_joint_has_no_range() -> None:
    limit = '<limit lower="-1" upper="1" velocity="3" effort="4"/>'
    mechanism = two(limit, "continuous")
    assert mechanism.segments[0].joint.kind is JointKind.REVOLUTE
    assert mechanism.segments[0].joint.limits == Limits(None, None, Fraction(3), Fraction(4))


def test_a_prismatic_joint() -> None:
    mechanism = two('<axis xyz="0 0 1"/>', "prismatic")
    assert mechanism.segments[0].joint.kind is JointKind.PRISMATIC
    assert "no limits are given" in texts(mechanism)


def test_a_floating_joint_has_a_quaternion() -> None:
    mechanism = two(kind="floating")
    assert (mechanism.nq, mechanism.nv) == (7, 6)
    assert mechanism.coordinates[0] == "j_x"


def test_a_planar_joint_is_a_chain() -> None:
    mechanism = two('<axis xyz="0 0 1"/>', "planar")
    assert mechanism.coordinates == ("j_t1", "j_t2", "j_r")


def test_a_spherical_joint_of_bullet() -> None:
    mechanism = two('<limit lower="1" upper="2"/>', "spherical")
    assert (mechanism.nq, mechanism.nv) == (4, 3)
    assert "spherical joints are an extension of Bullet" in texts(mechanism)


def test_fixed_joints_are_reported() -> None:
    text = robot(
        link("base", ""),
        link("arm"),
        link("tool", ""),
        link("tip", ""),
        link("camera"),
        joint("j", "base", "arm", '<axis xyz="0 0 1"/>'),
        joint("k", "arm", "tool", '<origin xyz="0 0 1"/>', "fixed"),
        joint("l", "tool", "tip", '<origin xyz="1 0 0"/>', "fixed"),
        joint("m", "base", "camera", "", "fixed"),
    )
    mechanism = read_text(text, "urdf")
    assert mechanism.coordinates == ("j",)
    assert [s.name for s in mechanism.segments] == ["arm", "tool", "tip", "camera"]
    said = texts(mechanism)
    assert "link 'arm': carries by fixed joints: tool, tip; they move as one body" in said
    assert "link 'base': carries by fixed joints: camera" in said
    assert "massless, since they have no inertial: base, tool, tip" in said
    np.testing.assert_allclose(poses_of(mechanism, [0]).positions[2], [1, 0, 1])


# --- bodies ---------------------------------------------------------------------------------


def test_inertia_is_turned_into_link_axes() -> None:
    body = (
        '<inertial><origin xyz="1 2 3" rpy="0 0 1.5708"/><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0.1" iyy="2" iyz="0" izz="3"/></inertial>'
    )
    inertia = two(body=body).segments[0].body.inertia
    assert inertia == ((2, 0, 0), (0, 1, Fraction(1, 10)), (0, Fraction(1, 10), 3))


def test_an_inclined_inertia_is_exactly_similar() -> None:
    body = (
        '<inertial><origin rpy="0.3 -0.2 1.1"/><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/></inertial>'
    )
    inertia = two(body=body, snap=0).segments[0].body.inertia
    moments = [inertia[k][k] for k in range(3)]
    assert sum(m for m in moments if isinstance(m, Fraction)) == Fraction("5.5")
    assert inertia[0][1] == inertia[1][0]
    principal = np.linalg.eigvalsh(np.array(inertia, dtype=float))
    np.testing.assert_allclose(principal, [1, 2, 2.5], atol=1e-14)


@pytest.mark.parametrize("body", ["", "<visual/>"])
def test_links_without_mass(body: str) -> None:
    mechanism = two(body=body)
    assert mechanism.segments[0].body.is_massless
    assert "moves neither mass nor inertia" in texts(mechanism)


def test_zero_mass_with_inertia_is_kept() -> None:
    body = '<inertial><mass value="0"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    read = two(body=body).segments[0].body
    assert (read.mass, read.inertia[0][0], read.inertia[0][1]) == (0, 1, 0)


def test_a_point_mass() -> None:
    mechanism = two(body='<inertial><mass value="3"/></inertial>')
    assert mechanism.segments[0].body.mass == 3
    assert "the mass is taken as a point" in texts(mechanism)


def test_an_impossible_inertia_is_a_warning() -> None:
    body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="9"/></inertial>'
    assert "cannot belong to a body" in texts(two(body=body))


# --- trees ----------------------------------------------------------------------------------

CHAIN = (
    link("base"),
    link("a"),
    link("b"),
    link("c"),
    joint("jc", "b", "c", '<origin xyz="0 0 1"/><axis xyz="0 0 1"/>'),
    joint("ja", "base", "a", '<origin xyz="1 0 0" rpy="1.5708 0 0"/><axis xyz="0 0 1"/>'),
    joint("jb", "a", "b", '<origin xyz="0 0 1"/><axis xyz="0 0 1"/>'),
    link("side"),
    joint("js", "a", "side", '<axis xyz="0 0 1"/>'),
)


def test_parents_come_first_otherwise_the_order_of_joints() -> None:
    mechanism = read_text(robot(*CHAIN), "urdf")
    assert mechanism.coordinates == ("ja", "jb", "jc", "js")
    assert "renumbered" in texts(mechanism)


def test_a_floating_base() -> None:
    mechanism = read_text(robot(*CHAIN), "urdf", base="floating")
    assert mechanism.segments[0].name == "base"
    assert mechanism.segments[0].joint.name == "root_joint"
    assert mechanism.segments[0].body.mass == Fraction(5, 2)
    assert (mechanism.nq, mechanism.nv) == (11, 10)
    assert "it moves freely by the joint 'root_joint'" in texts(mechanism)


def test_the_name_of_the_free_joint_may_be_taken() -> None:
    text = robot(link("base"), link("a"), joint("root_joint", "base", "a"))
    mechanism = read_text(text, "urdf", base="floating")
    assert [s.joint.name for s in mechanism.segments] == ["root_joint_", "root_joint"]


def test_two_free_joints_in_a_row_are_a_warning() -> None:
    text = robot(link("world", ""), link("a"), joint("j", "world", "a", "", "floating"))
    assert "two free joints in a row" in texts(read_text(text, "urdf", base="floating"))


@pytest.mark.parametrize(("base", "nq"), [("fixed", 0), ("floating", 7)])
def test_a_single_link(base: str, nq: int) -> None:
    mechanism = read_text(robot(link("cube")), "urdf", base=base)
    assert (len(mechanism.segments), mechanism.nq) == (1, nq)
    assert mechanism.segments[0].body.mass == Fraction(5, 2)


def test_a_link_called_ground() -> None:
    text = robot(link("world"), link("ground"), joint("j", "world", "ground"))
    mechanism = read_text(text, "urdf")
    assert mechanism.segments[0].name == "ground_link"
    assert "called 'ground_link' here" in texts(mechanism)
    as_root = robot(link("ground"), link("a"), joint("j", "ground", "a"))
    assert read_text(as_root, "urdf").frame("ground").segment == GROUND


def test_a_part_of_the_tree() -> None:
    whole = read_text(robot(*CHAIN), "urdf")
    part = read_text(robot(*CHAIN), "urdf", root="a", tips="c")
    assert part.coordinates == ("jb", "jc")
    assert part.frame("a").segment == GROUND
    assert "it stands in the world where all joints above it are at zero" in texts(part)
    assert part.base.position == (1, 0, 0)
    assert part.base.rotation == ((1, 0, 0), (0, 0, -1), (0, 1, 0))
    assert part.segments == whole.subtree("a", ["c"]).segments
    assert part.base == whole.subtree("a", ["c"]).base


def test_several_tips() -> None:
    part = read_text(robot(*CHAIN), "urdf", tips=["b", "side"])
    assert part.coordinates == ("ja", "jb", "js")
    floating = read_text(robot(*CHAIN), "urdf", root="b", base="floating")
    assert [s.name for s in floating.segments] == ["b", "c"]
    assert floating.base.position == (0, 0, 0)


def test_a_root_among_several() -> None:
    text = robot(link("a"), link("b"), link("c"), joint("j", "b", "c"))
    with pytest.raises(ReadError, match="2 links are the child of no joint: 'a', 'b'"):
        read_text(text, "urdf")
    assert read_text(text, "urdf", root="b").coordinates == ("j",)


# --- mimic ----------------------------------------------------------------------------------

AXIS = '<axis xyz="0 0 1"/>'


def gripper(mimic: str, further: str = "", leader: str = "revolute") -> str:
    return robot(
        link("base"),
        link("a"),
        link("b"),
        link("c"),
        joint("lead", "base", "a", AXIS, leader),
        joint("follow", "base", "b", AXIS + mimic, "prismatic"),
        joint("more", "base", "c", AXIS + further),
    )


def test_a_mimicking_joint_shares_a_coordinate() -> None:
    mechanism = read_text(gripper('<mimic joint="lead" multiplier="-2" offset="0.5"/>'), "urdf")
    assert mechanism.coordinates == ("lead", "more")
    follower = segment(mechanism, "b")
    assert (follower.coordinate, follower.ratio, follower.offset) == (0, -2, Fraction(1, 2))
    np.testing.assert_allclose(poses_of(mechanism, [0.3, 0]).positions[1], [0, 0, -0.1])


def test_mimic_can_be_ignored() -> None:
    text = gripper('<mimic joint="lead" multiplier="-2"/>')
    mechanism = read_text(text, "urdf", mimic="free")
    assert mechanism.coordinates == ("lead", "follow", "more")
    assert "but moves freely, as the option says" in texts(mechanism)


def test_chains_of_mimicking_joints() -> None:
    text = gripper('<mimic joint="lead"/>', '<mimic joint="follow" multiplier="3" offset="1"/>')
    mechanism = read_text(text, "urdf")
    assert mechanism.coordinates == ("lead",)
    assert (segment(mechanism, "c").ratio, segment(mechanism, "c").offset) == (3, 1)


def test_the_first_follower_takes_the_place_of_a_missing_joint() -> None:
    text = gripper(
        '<mimic joint="lost" multiplier="2" offset="1"/>',
        '<mimic joint="lost" multiplier="3" offset="2"/>',
    )
    mechanism = read_text(text, "urdf")
    assert mechanism.coordinates == ("lead", "follow")
    last = segment(mechanism, "c")
    assert (last.coordinate, last.ratio, last.offset) == (1, Fraction(3, 2), Fraction(1, 2))
    assert "but no such joint moves; it has a coordinate itself" in texts(mechanism)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (gripper('<mimic joint="lead"/>', "", "fixed"), "no such joint moves"),
        (
            robot(link("a"), link("b"), joint("j", "a", "b", '<mimic joint="k"/>', "fixed")),
            "a fixed joint cannot follow 'k'; this was left out",
        ),
    ],
)
def test_mimic_that_cannot_be(text: str, said: str) -> None:
    assert said in texts(read_text(text, "urdf"))


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("offset", ["0", "0.7"])
def test_a_multiplier_of_zero_is_a_joint_that_stands(kind: str, offset: str) -> None:
    """The poses are those of a free joint that is held at the offset."""
    place = '<origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><axis xyz="1 2 2"/>'
    mimic = f'{place}<mimic joint="lead" multiplier="0" offset="{offset}"/>'
    follows = f'{place}<mimic joint="still" multiplier="-2" offset="0.1"/>'

    def read(**options: Any) -> Mechanism:
        parts = [link(name) for name in "abcd"]
        parts += [joint("lead", "a", "b", place), joint("still", "b", "c", mimic, kind)]
        return read_text(robot(*parts, joint("next", "c", "d", follows, kind)), "urdf", **options)

    fixed, free = read(), read(mimic="free", snap=0)
    assert fixed.coordinates == ("lead",)
    assert "stands fixed at" in texts(fixed)
    held = [0.3, float(offset), 0.1 - 2 * float(offset)]
    mine, theirs = poses_of(fixed, [0.3]), poses_of(free, held)
    np.testing.assert_allclose(mine.positions, theirs.positions, atol=1e-9)
    np.testing.assert_allclose(mine.rotations[-1], theirs.rotations[-1], atol=1e-9)


# --- what is odd but clear ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ('<limit lower="1" upper="-1" effort="1" velocity="1"/>', "lower exceeds upper; the range"),
        ('<limit lower="0" upper="0"/>', "lower equals upper: the joint has no room to move"),
        ('<limit effort="1" velocity="1"/>', "no range is given"),
        ('<limit lower="-1" upper="1" effort="-1"/>', "effort is negative; it was left out"),
        ('<limit lower="-1.57." upper="1"/>', "lower: '-1.57.' is not a decimal number; it was"),
        ('<limit lower="nan" upper="1"/>', "lower: 'nan' is not a finite number; it was left out"),
        ('<dynamics damping="-1"/>', "damping is negative; it was left out"),
        ('<origin xyz="0.07, 0, -0.69"/>', "the commas in '0.07, 0, -0.69' were read as blanks"),
        ('<origin rpy="0 90 0"/>', "URDF has rad, not degrees"),
        ('<axis xyz="1 0 0"/><axis xyz="0 1 0"/>', "2 <axis> elements; the first one counts"),
        ('<joint_properties damping="1"/>', "not read: joint/joint_properties (1)"),
    ],
)
def test_oddities_are_noted(inside: str, said: str) -> None:
    assert said in texts(two(inside))


def test_limits_beyond_all_bounds_are_none() -> None:
    inside = '<limit lower="-inf" upper="1e16" effort="1e999" velocity="2"/>'
    assert two(inside).segments[0].joint.limits == Limits(velocity=Fraction(2))


def test_what_others_need_is_left_out_silently() -> None:
    inside = '<safety_controller k_velocity="1"/><calibration rising="0"/><dynamics damping="0"/>'
    text = robot(
        '<material name="m"><color rgba="1 1 1 1"/></material>',
        link("a", '<visual><geometry><mesh filename="package://x.stl"/></geometry></visual>'),
        link("b", BODY + "<collision/><!-- note -->"),
        joint("j", "a", "b", AXIS + inside),
        "<transmission/><gazebo><plugin><inertial/></plugin></gazebo>",
        '<sensor:camera xmlns:sensor="x"/>',
    )
    mechanism = read_text(text, "urdf")
    assert mechanism.segments[0].joint.friction is None
    assert "not read" not in texts(mechanism)


def test_notes_that_say_the_same_are_one() -> None:
    mechanism = read_text(robot(*CHAIN), "urdf")
    elements = [n.element for n in mechanism.notes if n.text == "no limits are given"]
    assert elements == ["joint 'jc', joint 'ja', joint 'jb', joint 'js'"]


def test_names_with_spaces_around_them() -> None:
    text = robot(link(" base"), link("a"), joint("j ", "base ", "a"))
    assert read_text(text, "urdf").coordinates == ("j",)


def test_a_robot_without_a_name_is_called_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / "nameless.urdf"
    path.write_text(robot(link("a"), name=""), encoding="utf-8")
    assert cf.read(path).name == "nameless"


def test_namespaces_and_comments() -> None:
    text = (
        '<!-- a --><robot xmlns="http://x" xmlns:xacro="http://y" name="r"><link name="a"/></robot>'
    )
    assert read_text(text, "urdf").name == "r"


# --- how it is called -----------------------------------------------------------------------


def test_file_and_source_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.URDF"
    path.write_text(robot(*CHAIN), encoding="utf-8")
    mechanism = cf.read(path)
    assert (mechanism.file, mechanism.source) == (str(path), path.read_bytes())


def test_format_says_urdf_whatever_the_ending(tmp_path: Path) -> None:
    path = tmp_path / "robot.xml"
    path.write_text(robot(*CHAIN), encoding="utf-8")
    assert cf.read(path, format="urdf", base="floating").nv == 10
    with pytest.raises(ReadError, match="tells no file type"):
        cf.read(path)


@pytest.mark.parametrize(
    ("options", "element", "message"),
    [
        ({"bas": "fixed"}, "options", "there is no option 'bas'"),
        ({"base": "free"}, "base", "there is no base 'free'"),
        ({"base": None}, "base", "expected a text, got nothing"),
        ({"mimic": 1}, "mimic", "expected a text, got a number"),
        ({"snap": 1e-3}, "snap", "expected a table, got a number"),
        ({"snap": {"angel": 1}}, "snap", "unknown field 'angel'"),
        ({"snap": {"angle": 2}}, "snap", "above 0.1"),
        ({"snap": {"angle": "x"}}, "snap, angle", "'x' is not a parameter"),
        ({"root": 1}, "root", "expected a text, got a number"),
        ({"root": "bas"}, "root", "there is no link 'bas'"),
        ({"tips": ["x"]}, "tips", "there is no link 'x'"),
        ({"tips": []}, "tips", "the list is empty"),
        ({"tips": [1]}, "tips[1]", "expected a text"),
        ({"tips": 1}, "tips", "expected a list"),
        ({"root": "b", "tips": ["side"]}, "tips", "'side' is not below 'b'"),
        ({"side_file": 1}, "side_file", "expected a path, got a number"),
        ({"format": "native"}, "format", "a URDF file has no format 'native'"),
    ],
)
def test_wrong_options(options: dict[str, Any], element: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_text(robot(*CHAIN), "urdf", **options)
    assert caught.value.element == element
    assert message in caught.value.message
    assert caught.value.remedy


def test_toml_files_have_no_such_options() -> None:
    with pytest.raises(ReadError, match="TOML files have no option 'base'"):
        read_text("", "toml", base="fixed")


@pytest.mark.parametrize("snap", [0, False, 0.0])
def test_snapping_can_be_turned_off(snap: object) -> None:
    inside = '<origin xyz="1 1e-12 0" rpy="1.5708 0 0"/>'
    assert two(inside).segments[0].position[1] == 0
    literal = two(inside, snap=snap)
    assert literal.segments[0].position[1] == Fraction("1e-12")
    assert literal.segments[0].rotation[1][1] != 0
    assert "snapping" not in texts(literal)


def test_snapping_is_reported_with_its_effect() -> None:
    mechanism = two('<origin xyz="1 1e-12 0" rpy="1.5708 0 0"/><axis xyz="0 1e-17 1"/>')
    (note,) = [note for note in mechanism.notes if note.element == "snapping"]
    assert "1 angle set to multiples of pi/12, the greatest change 3.7e-06 rad" in note.text
    assert "2 entries set to zero" in note.text
    assert "largest effect: 3.7e-07 m, 3.7e-06 rad, 0 of an inertia" in note.text


def test_snapping_with_tolerances() -> None:
    mechanism = two('<origin rpy="1.57 0 0"/>', snap={"angle": 1e-2})
    assert mechanism.segments[0].rotation == ((1, 0, 0), (0, 0, -1), (0, 1, 0))
