"""URDF files that are wrong, or made to do harm."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest

from chainform.errors import ReadError
from chainform.readers import read, read_text
from chainform.readers.urdf.robot import MAX_LINKS
from chainform.readers.urdf.xml import MAX_DEPTH

MASS = '<inertial><mass value="{}"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
ARM = '<link name="a"/><link name="b">{}</link><joint name="j" type="revolute">{}</joint>'
ENDS = '<parent link="a"/><child link="b"/>'


def robot(inside: str) -> str:
    return f'<robot name="r">\n{inside}\n</robot>'


def with_body(body: str) -> str:
    return robot(ARM.format(body, ENDS))


def with_joint(inside: str) -> str:
    return robot(ARM.format("", inside))


def edge(name: str, parent: str, child: str) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="revolute">{ends}</joint>'


WRONG = [
    ("", None, "the file is empty"),
    ("  \n ", None, "the file is empty"),
    ("hello", "line 1, column 1", "this is not XML: syntax error"),
    ("<robot>\n<link>\n</robot>", "line 3, column 3", "this is not XML: mismatched tag"),
    ("<robot name='r'>", "line 1, column 17", "this is not XML: no element found"),
    ("<robot a='1' a='2'/>", "line 1, column 14", "duplicate attribute"),
    ("<robot/><robot/>", "line 1, column 9", "junk after document element"),
    ("<robot>&nbsp;</robot>", "line 1, column 8", "undefined entity"),
    ("<mujoco/>", "file (line 1)", "the root element is <mujoco>, not <robot>"),
    ("<sdf version='1.6'><model/></sdf>", "file (line 1)", "not <robot>"),
    ("<robot name='r'/>", "robot (line 1)", "the robot has no links"),
    (robot(edge("j", "a", "b")), "robot (line 1)", "the robot has joints but no links"),
    (robot("<deformable/>"), "robot (line 1)", "only a deformable body"),
    (robot("<link/>"), "link (line 2)", "<link> has no 'name'"),
    (robot('<link name=" "/>'), "link (line 2)", "'' cannot be a name"),
    (robot('<link name="a"/>\n<link name="a"/>'), "link 'a' (line 3)", "twice, first in line 2"),
    (robot('<link name="a"/><link name="b"/>'), "link 'b' (line 2)", "child of no joint: 'a', 'b'"),
    (with_body("<inertial/>"), "link 'b' (line 2)", "<inertial> has no <mass>"),
    (with_body("<inertial><mass/></inertial>"), "link 'b', mass (line 2)", "has no 'value'"),
    (with_body(MASS.format("-1")), "link 'b', mass (line 2)", "the mass is negative"),
    (with_body(MASS.format("x")), "link 'b', mass (line 2)", "'x' is not a decimal number"),
    (with_body(MASS.format("")), "link 'b', mass (line 2)", "'' is not a decimal number"),
    (with_body(MASS.format("NaN")), "link 'b', mass (line 2)", "'NaN' is not a finite number"),
    (with_body(MASS.format("inf")), "link 'b', mass (line 2)", "'inf' is not a finite number"),
    (with_body(MASS.format("1e309")), "link 'b', mass (line 2)", "beyond the range of double"),
    (with_body(MASS.format("1e99999999")), "link 'b', mass (line 2)", "too large an exponent"),
    (with_body(MASS.format("9" * 500)), "link 'b', mass (line 2)", "too many digits"),
    (with_body(MASS.format("${m}")), "link 'b', mass (line 2)", "'${m}' belongs to xacro"),
    (
        with_body('<inertial><mass value="1"/><inertia ixx="1"/></inertial>'),
        "link 'b', inertia (line 2)",
        "<inertia> has no 'iyy'",
    ),
    (
        with_body('<inertial><mass value="1"/><origin xyz="1 2"/></inertial>'),
        "link 'b', inertial origin (line 2)",
        "expected three numbers in 'xyz', got 2",
    ),
    (robot("<joint/>"), "joint (line 2)", "<joint> has no 'name'"),
    (robot('<joint name="j"/>'), "joint 'j' (line 2)", "<joint> has no 'type'"),
    (
        robot('<joint name="j" type="screw"/>'),
        "joint 'j' (line 2)",
        "there is no joint type 'screw'",
    ),
    (with_joint(""), "joint 'j' (line 2)", "the joint has no <parent>"),
    (with_joint('<parent link="a"/>'), "joint 'j' (line 2)", "the joint has no <child>"),
    (
        with_joint("<parent/>" + ENDS),
        "joint 'j', parent (line 2)",
        "<parent> has no 'link'",
    ),
    (with_joint(ENDS + '<axis xyz="0 0 0"/>'), "joint 'j', axis (line 2)", "no length"),
    (with_joint(ENDS + '<axis xyz="0 0"/>'), "joint 'j', axis (line 2)", "expected three numbers"),
    *(
        (with_joint(f'{ENDS}<origin xyz="{text}"/>'), "joint 'j', origin (line 2)", said)
        for text, said in {
            "0,5 0 0": "may be decimal points or separators",
            "0,0,1": "may be decimal points or separators",
            "0, 5 0 0": "may be decimal points or separators",
            "0,5, 0, 0": "may be decimal points or separators",
            "0 5 0 0": "expected three numbers in 'xyz', got 4",
            "0;5;0": "expected three numbers in 'xyz', got 1",
        }.items()
    ),
    (
        with_joint(ENDS + '<origin rpy="1e10 0 0"/>'),
        "joint 'j', origin (line 2)",
        "out of all bounds",
    ),
    (
        with_joint(ENDS + '<origin rpy="0 0 0 1"/>'),
        "joint 'j', origin (line 2)",
        "expected three numbers in 'rpy', got 4",
    ),
    (
        with_joint(ENDS + '<origin xyz="$(arg x) 0 0"/>'),
        "joint 'j', origin (line 2)",
        "belongs to xacro",
    ),
    (with_joint(ENDS + "<mimic/>"), "joint 'j', mimic (line 2)", "<mimic> has no 'joint'"),
    (
        with_joint(ENDS + '<mimic joint="j"/>'),
        "link 'b', mimic",
        "joints follow one another in a circle: j -> j",
    ),
    (
        with_joint(ENDS + '<dynamics damping="much"/>'),
        "joint 'j', dynamics (line 2)",
        "'much' is not a decimal number",
    ),
    (
        robot('<link name="arm"/>' + edge("j", "arm", "arn")),
        "joint 'j' (line 2)",
        "its child, the link 'arn', does not exist",
    ),
    (
        robot('<link name="a"/>' + edge("j", "b", "a")),
        "joint 'j' (line 2)",
        "its parent, the link 'b', does not exist",
    ),
    (
        robot('<link name="a"/><link name="b"/>' + edge("j", "a", "b") + edge("j", "b", "a")),
        "joint 'j' (line 2)",
        "the name is used twice",
    ),
    (
        robot('<link name="a"/><link name="b"/>' + edge("j", "a", "b") + edge("k", "a", "b")),
        "joint 'k' (line 2)",
        "the link 'b' is already the child of joint 'j'",
    ),
    (
        robot('<link name="a"/><link name="b"/>' + edge("j", "a", "b") + edge("k", "b", "a")),
        "joint 'k' (line 2)",
        "the joints form a circle: a -> b -> a",
    ),
    (
        robot('<link name="w"/><link name="a"/>' + edge("j", "a", "a")),
        "joint 'j' (line 2)",
        "the joints form a circle: a -> a",
    ),
    (
        robot('<xacro:property name="l" value="1"/><link name="a"/>'),
        "line 2",
        "<xacro:property> belongs to xacro, which must be expanded",
    ),
    (
        '<!DOCTYPE robot SYSTEM "robot.dtd"><robot name="r"/>',
        "line 1",
        "document type definitions are not read",
    ),
]


@pytest.mark.parametrize(("text", "element", "message"), WRONG)
def test_wrong_files(text: str, element: str | None, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_text(text, "urdf", file="r.urdf")
    error = caught.value
    assert message in error.message
    assert (error.file, error.element) == ("r.urdf", element)
    assert error.remedy


def test_a_plain_document_type_is_harmless() -> None:
    text = '<?xml version="1.0"?><!DOCTYPE robot><robot name="r"><link name="a"/></robot>'
    assert read_text(text, "urdf").name == "r"


def test_xacro_that_is_plain_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf.xacro"
    path.write_text(robot('<link name="a"/>'), encoding="utf-8")
    assert read(path).name == "r"
    path.write_text(robot('<xacro:include filename="b"/>'), encoding="utf-8")
    with pytest.raises(ReadError, match="must be expanded") as caught:
        read(path)
    assert caught.value.remedy is not None
    assert "xacro FILE" in caught.value.remedy


# --- bytes ----------------------------------------------------------------------------------

PLAIN = '<robot name="r">\n<link name="Gelenkstück"/>\n</robot>'


@pytest.mark.parametrize(
    "data",
    [
        PLAIN.encode(),
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.encode("utf-16"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>' + PLAIN).encode("latin-1"),
        ('<?xml version="1.0" encoding="windows-1252"?>' + PLAIN).encode("cp1252"),
        PLAIN.replace("\n", "\r\n").encode(),
    ],
)
def test_encodings(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "r.urdf"
    path.write_bytes(data)
    assert read(path).segments[0].name == "Gelenkstück"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b'<?xml version="1.0" encoding="no-such"?><robot/>',
            "encoding of the file cannot be read",
        ),
        (b'<?xml version="1.0" encoding="gb2312"?><robot/>', "encoding of the file cannot be read"),
        (PLAIN.encode("latin-1"), "not well-formed"),
        (b"\x00\x01\x02", "this is not XML"),
        (PLAIN.encode("utf-16")[:-1], "this is not XML"),
    ],
)
def test_wrong_bytes(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "r.urdf"
    path.write_bytes(data)
    with pytest.raises(ReadError, match=message):
        read(path)


def test_blanks_and_zeros_around_the_document() -> None:
    text = '\n\n <?xml version="1.0"?>\n' + robot('<link name="a"/>') + "\n \x00\x00"
    said = [note.text for note in read_text(text, "urdf").notes]
    assert "blanks before the XML declaration were skipped" in said
    assert "zero bytes after the end were skipped" in said


def test_lines_keep_their_numbers_after_blanks() -> None:
    with pytest.raises(ReadError) as caught:
        read_text('\n\n<?xml version="1.0"?>\n<robot>\n<link/></robot>', "urdf")
    assert caught.value.element == "link (line 5)"


# --- harm -----------------------------------------------------------------------------------


def quickly(text: str, message: str) -> None:
    start = time.process_time()
    with pytest.raises(ReadError, match=message):
        read_text(text, "urdf")
    assert time.process_time() - start < 30


def test_entities_are_refused() -> None:
    names = "abcdefghi"
    lines = ['<!ENTITY a "ha">']
    lines += [f'<!ENTITY {outer} "{f"&{inner};" * 10}">' for inner, outer in pairwise(names)]
    text = f"<!DOCTYPE robot [{''.join(lines)}]><robot name='&i;'/>"
    quickly(text, "document type definitions are not read")


def test_files_elsewhere_are_not_opened() -> None:
    text = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>'
    quickly(text, "document type definitions are not read")


@pytest.mark.parametrize("tag", ["a", "link", "visual", "robot"])
def test_deep_nesting(tag: str) -> None:
    depth = 200_000
    text = f"<robot>{f'<{tag}>' * depth}{f'</{tag}>' * depth}</robot>"
    quickly(text, f"nested more than {MAX_DEPTH} deep")


def test_very_many_elements() -> None:
    quickly(f"<robot>{'<gazebo/>' * 500_001}</robot>", "more than 500000 elements")


def test_very_many_links() -> None:
    links = "".join(f'<link name="l{k}"/>' for k in range(MAX_LINKS + 1))
    quickly(robot(links), f"more than {MAX_LINKS} links")


def test_a_long_circle() -> None:
    count = 3000
    links = "".join(f'<link name="l{k}"/>' for k in range(count))
    joints = "".join(edge(f"j{k}", f"l{k}", f"l{(k + 1) % count}") for k in range(count))
    quickly(robot(links + joints), "form a circle")


def test_a_long_attribute() -> None:
    quickly(with_body(MASS.format("1" * 10_000_000)), "too many digits")


def test_a_long_chain_is_read() -> None:
    count = 1500
    links = "".join(f'<link name="l{k}"/>' for k in range(count))
    joints = "".join(edge(f"j{k}", f"l{k}", f"l{k + 1}") for k in reversed(range(count - 1)))
    mechanism = read_text(robot(links + joints), "urdf")
    assert mechanism.coordinates[:2] == ("j0", "j1")


def test_a_quaternion_is_not_passed_over() -> None:
    with pytest.raises(ReadError, match="quaternions are not read"):
        read_text(with_joint(f'{ENDS}<origin quat_xyzw="0 0 0.6 0.8"/>'), "urdf")
    with pytest.raises(ReadError, match="quaternions are not read"):
        read_text(
            with_body(f'<inertial><origin quat_xyzw="0 0 0 1"/>{MASS.format(1)[10:]}'), "urdf"
        )


@pytest.mark.parametrize(
    ("inside", "listed"),
    [
        ('<mimic joint="j" multipler="2"/>', "mimic/multipler (1)"),
        ('<origin RPY="0 0 1" unit="deg"/>', "origin/RPY (1), origin/unit (1)"),
        ('<dynamics mu_coulomb="1"/>', "dynamics/mu_coulomb (1)"),
        ('<axis xyz="0 0 1" ros:x="1"/><limit jerk="3" lower="0"/>', ""),
    ],
)
def test_unknown_attributes_are_a_warning(inside: str, listed: str) -> None:
    ends = '<parent link="b"/><child link="c"/>'
    joint = f'<link name="c"/><joint name="k" type="revolute">{ends}{inside}</joint>'
    text = robot(ARM.format("", ENDS) + joint)
    notes = [note for note in read_text(text, "urdf").notes if "attributes" in note.text]
    assert [(note.level, note.text.partition(": ")[2]) for note in notes] == (
        [("warning", listed)] if listed else []
    )
