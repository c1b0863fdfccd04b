"""Damaged URDF files: nothing but an error of ours may come out, and soon."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chainform.mechanism import parametrise
from chainform.readers import export_urdf, read, read_text
from refusals import accepted_or_refused

ROBOT = """<?xml version="1.0"?>
<robot name="r">
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="a">
    <inertial>
      <origin xyz="0.1 0 1e-17" rpy="0 1.5708 0"/>
      <mass value="2"/>
      <inertia ixx="1" ixy="0" ixz="0.1" iyy="1" iyz="0" izz="1"/>
    </inertial>
  </link>
  <link name="b"/>
  <link name="tool"/>
  <joint name="j1" type="revolute">
    <parent link="base"/><child link="a"/>
    <origin xyz="0 0 1" rpy="0.3 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="3"/><dynamics damping="1" friction="0.5"/>
  </joint>
  <joint name="j2" type="prismatic">
    <parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
    <mimic joint="j1" multiplier="2" offset="0.1"/>
  </joint>
  <joint name="j3" type="fixed"><parent link="b"/><child link="tool"/></joint>
</robot>
"""

SIDE = """
gravity = [0, 0, -9.81]
[parameters]
k = 1
[joints.j1]
gear_ratio = 10
[[loops]]
kind = "point"
closing = { segment = "tool" }
target = { segment = "base", point = [0, 0, 1] }
[[springs]]
joint = "j1"
stiffness = "k"
"""

WORDS = [
    "revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical", "screw",
    "0", "-1", "1e400", "1e-400", "nan", "inf", "0 0 0", "0 0", "1 1e-30 0", "1e308 1e308 1e308",
    "${x}", "$(find r)", "base", "a", "b", "tool", "j1", "j2", "ground", "", " ", "\u0000", "&amp;",
    "<", ">", "/>", "</robot>", "<link name='x'/>", "<inertial/>", "<xacro:if/>", "<!DOCTYPE r>",
    "9" * 60, "é", "]]>", "<![CDATA[", "<!--", "-->", "<?x?>", "root_joint", "1.5708 1.5708 1.5708",
]  # fmt: skip

BASES = st.sampled_from(["fixed", "floating"])

relaxed = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def attempt(text: str, base: str) -> None:
    """Read the text, use what comes out a little, and accept errors of ours only."""
    with accepted_or_refused():
        mechanism = read_text(text, "urdf", base=base)
        mechanism.describe()
        parametrise(mechanism, "symbolic")
        export_urdf(mechanism)


def test_the_robot_is_valid() -> None:
    assert read_text(ROBOT, "urdf").coordinates == ("j1",)


def places(text: str) -> list[tuple[int, int]]:
    """Return where the values of attributes stand."""
    marks = [place for place, letter in enumerate(text) if letter == '"']
    return [(a + 1, b) for a, b in zip(marks[::2], marks[1::2], strict=True)]


PLACES = places(ROBOT)


@relaxed
@given(data=st.data(), base=BASES)
def test_damaged_values(data: st.DataObject, base: str) -> None:
    text = ROBOT
    chosen = data.draw(st.sets(st.sampled_from(PLACES), min_size=1, max_size=4))
    for start, end in sorted(chosen, reverse=True):
        text = text[:start] + data.draw(st.sampled_from(WORDS)) + text[end:]
    attempt(text, base)


@relaxed
@given(data=st.data(), base=BASES)
def test_damaged_lines(data: st.DataObject, base: str) -> None:
    lines: list[str] = [*ROBOT.splitlines()]
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        action = data.draw(st.sampled_from(["drop", "double", "swap", "insert"]))
        if action == "drop" and len(lines) > 1:
            del lines[place]
        elif action == "double":
            lines.insert(place, lines[place])
        elif action == "swap":
            other = data.draw(st.integers(0, len(lines) - 1))
            lines[place], lines[other] = lines[other], lines[place]
        else:
            lines.insert(place, data.draw(st.sampled_from(WORDS)))
    attempt("\n".join(lines), base)


@relaxed
@given(data=st.data())
def test_damaged_bytes(data: st.DataObject, tmp_path: Path) -> None:
    content = bytearray(ROBOT.encode())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        action = data.draw(st.sampled_from(["flip", "cut", "insert"]))
        if action == "flip":
            content[place] = data.draw(st.integers(0, 255))
        elif action == "cut":
            del content[place : place + data.draw(st.integers(1, 200))]
        else:
            content[place:place] = data.draw(st.sampled_from(WORDS)).encode()
        if not content:
            break
    path = tmp_path / "r.urdf"
    path.write_bytes(bytes(content))
    with accepted_or_refused():
        mechanism = read(path)
        assert len(mechanism.neutral()) == mechanism.nq


@relaxed
@given(data=st.data())
def test_damaged_side_files(data: st.DataObject, tmp_path: Path) -> None:
    words = SIDE.split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(words) - 1))
        words[place] = data.draw(
            st.sampled_from(["1", '"k"', "[]", "{}", "{ segment = 1 }", "", "\n", "true", "[[x]]"])
        )
    (tmp_path / "r.urdf").write_text(ROBOT, encoding="utf-8")
    (tmp_path / "r.chainform.toml").write_text(" ".join(words), encoding="utf-8")
    with accepted_or_refused():
        assert read(tmp_path / "r.urdf").coordinates == ("j1",)


@relaxed
@given(text=st.text(max_size=200), base=BASES)
def test_garbage(text: str, base: str) -> None:
    attempt(text, base)
    attempt(f"<robot name='r'>{text}</robot>", base)
