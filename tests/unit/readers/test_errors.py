"""What is said about files that are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chainform.errors import ReadError
from chainform.readers import read, read_text
from chainform.readers.source import Source, table_from_text


def arm(**changes: Any) -> dict[str, Any]:
    """Return a valid table of two segments, changed."""
    first = {"name": "a", "parent": 0, "joint": {"type": "revolute", "axis": [0, 0, 1]}, "mass": 1}
    second = {
        "name": "b",
        "parent": "a",
        "joint": {"type": "revolute", "axis": [1, 0, 0]},
        "mass": 2,
    }
    return {"units": "SI", "gravity": [0, 0, -9.81], "bodies": [first, second], **changes}


def with_segment(**changes: Any) -> dict[str, Any]:
    """Return the table with the second segment changed; None removes a field."""
    table = arm()
    table["bodies"][1] |= changes
    table["bodies"][1] = {k: v for k, v in table["bodies"][1].items() if v is not None}
    return table


def with_joint(**changes: Any) -> dict[str, Any]:
    return with_segment(joint={"type": "revolute", "axis": [1, 0, 0], **changes})


B = "segment 'b'"

WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({}, "mechanism", "no segments"),
    (arm(bodies=[]), "segments", "no segments"),
    (arm(bodies={}), "bodies", "expected a list, got a table"),
    (arm(bodies=[1]), "segment 1", "expected a table, got a number"),
    (arm(segments=[]), "mechanism", "both 'bodies' and 'segments'"),
    (arm(units="mm"), "units", "must begin with 'SI', got 'mm'"),
    (arm(units=1), "units", "must begin with 'SI', got 1"),
    (arm(gravty=1), "mechanism", "unknown field 'gravty'"),
    (arm(gravity=[0, 0]), "gravity", "expected 3 entries, got 2"),
    (arm(gravity=[0, 0, "g"]), "gravity[3]", "'g' is not a parameter"),
    (arm(gravity=9.81), "gravity", "expected a list, got a number"),
    (arm(name=""), "name", "cannot be a name"),
    (arm(name=["x"]), "name", "expected a text, got a list"),
    (arm(name="a\u0000b"), "name", "cannot be a name"),
    (arm(name="\ud800"), "name", "cannot be a name"),
    (arm(dof=3), "dof", "does not fit the joints"),
    (arm(dof="two"), "dof", "expected a whole number"),
    (arm(format="urdf"), "format", "there is no format 'urdf'"),
    (arm(format=[1]), "format", "expected a text, got a list"),
    (arm(mechanism=[]), "mechanism", "expected a table, got a list"),
    (arm(parameters=[1]), "parameters", "expected a table, got a list"),
    (arm(parameters={"2a": 1}), "parameter '2a'", "cannot stand in an expression"),
    (arm(parameters={"pi": 3}), "parameter 'pi'", "belongs to a constant"),
    (arm(parameters={"sin": 3}), "parameter 'sin'", "belongs to a constant or a function"),
    (arm(parameters={"a_": [1]}), "parameter 'a_'", "expected a number, got a list"),
    (arm(parameters={"x": {"val": 1}}), "parameter 'x'", "unknown field 'val'"),
    (arm(parameters={"x": {"unit": 1}}), "parameters, unit", "expected a text, got a number"),
    (arm(parameters={"x": "y"}), "parameter 'x'", "'y' is not a parameter"),
    (arm(parameters={"x": "y", "y": "x"}), "parameters", "in a circle"),
    (arm(parameters={"x": "x"}), "parameters", "in a circle"),
    (arm(parameters={"x": "2*y", "y": {}}), "parameter 'x'", "'y', which is free"),
    (arm(parameters={"x": "1/y", "y": 0}), "parameter 'x'", "divides by zero"),
    (arm(parameters={"x": "1e308*1e308"}), "parameter 'x'", "beyond the range"),
    (arm(parameters={"b": 1}), "coordinate 'b'", "a parameter has the same name"),
    (arm(base=1), "base", "expected a table, got a number"),
    (arm(base={"speed": 1}), "base", "unknown field 'speed'"),
    (arm(base={"rpy": [0, 0]}), "base, rpy", "expected 3 entries"),
    (arm(loops={}), "loops", "expected a list, got a table"),
    (arm(loops=[{"typ": 1}]), "loop 'loop1'", "unknown field 'typ'"),
    (arm(loops=[{"kind": "point"}]), "loop 'loop1', closing", "'closing' is missing"),
    (with_segment(parent="c"), f"{B}, parent", "no segment named 'c'"),
    (with_segment(parent=7), f"{B}, parent", "no segment with the id 7"),
    (with_segment(parent=1.5), f"{B}, parent", "expected a whole number"),
    (with_segment(parent=True), f"{B}, parent", "expected a segment, got true"),
    (with_segment(parent="b"), f"{B}, parent", "the parents form a circle: b -> b"),
    (with_segment(name="a"), "segment 'a'", "used twice"),
    (with_segment(name="ground"), "segment 'ground'", "cannot have this name"),
    (with_segment(name=5), "segment 2, name", "expected a text, got a number"),
    (with_segment(id=0), f"{B}, id", "the id 0"),
    (with_segment(masss=1), B, "unknown field 'masss'"),
    (with_segment(mass=-1), f"{B}, mass", "negative"),
    (with_segment(mass=[1]), f"{B}, mass", "expected a number, got a list"),
    (with_segment(mass={}), f"{B}, mass", "expected a number, got a table"),
    (with_segment(mass=True), f"{B}, mass", "expected a number, got true"),
    (with_segment(mass="heavy"), f"{B}, mass", "'heavy' is not a parameter"),
    (with_segment(mass="2 kg"), f"{B}, mass", "expected an operator or the end"),
    (with_segment(mass=""), f"{B}, mass", "found the end"),
    (with_segment(mass="1e309"), f"{B}, mass", "beyond the range"),
    (with_segment(com=[0, 0, 0, 0]), f"{B}, com", "expected 3 entries, got 4"),
    (with_segment(com="x"), f"{B}, com", "expected a list, got a text"),
    (with_segment(com=[0, [0], 0]), f"{B}, com[2]", "expected a number, got a list"),
    (with_segment(com=[0, None, 0]), f"{B}, com[2]", "expected a number, got nothing"),
    (with_segment(inertia=1), f"{B}, inertia", "expected a list, got a number"),
    (with_segment(inertia=[1, 2]), f"{B}, inertia", "expected 3 entries, got 2"),
    (with_segment(inertia={"ixx": 1}), f"{B}, inertia", "unknown field 'ixx'"),
    (with_segment(inertia=[[1, 0, 0], [0.1, 1, 0], [0, 0, 1]]), f"{B}, inertia", "not symmetric"),
    (with_segment(inertia=[[1, 0, 0], None, [0, 0, 1]]), f"{B}, inertia[2]", "got nothing"),
    (with_segment(inertia_com=[1, 1, 1], inertia=[1, 1, 1]), B, "'inertia' is given twice"),
    (with_segment(joint=None), f"{B}, joint type", "expected a text, got nothing"),
    (with_segment(joint="hinge"), f"{B}, joint type", "no joint type 'hinge'"),
    (with_segment(joint=["revolute"]), f"{B}, joint type", "expected a text, got a list"),
    (with_segment(axis=[1, 0, 0]), B, "both in the joint and in the segment"),
    (with_joint(typ=1), f"{B}, joint", "unknown field 'typ'"),
    (with_joint(axis=None), B, "needs 'axis'"),
    (with_joint(axis=[0, 0, 0]), f"{B}, axis", "no length"),
    (with_joint(axis="w"), f"{B}, axis", "'w' is not an axis"),
    (with_joint(axis=[1, 0]), f"{B}, axis", "expected 3 entries, got 2"),
    (with_joint(euler="zyx"), B, "has no 'euler'"),
    (with_joint(type="spherical"), B, "has no 'axis'"),
    (with_joint(type="universal"), B, "has no 'axis'"),
    (with_joint(type="universal", axis=None), B, "needs 'axes'"),
    (with_joint(type="revolute_prismatic", axis=None), B, "needs 'axes'"),
    (with_joint(type="universal", axis=None, axes=[[1, 0, 0]]), f"{B}, axes", "2 entries, got 1"),
    (with_joint(type="free", axis=None, euler="zzx"), f"{B}, euler", "no sequence of turns"),
    (with_joint(type="free", axis=None, euler=3), f"{B}, euler", "expected a text"),
    (with_joint(type="spherical", axis=None, limits={}), f"{B}, limits", "has no 'limits'"),
    (with_joint(type="free", axis=None, rates=["x"]), f"{B}, rates", "expected 6 entries, got 1"),
    (with_joint(type="free", axis=None, coordinates=3), f"{B}, coordinates", "expected a list"),
    (with_joint(rates="x"), f"{B}, rates", "expected a list, got a text"),
    (with_joint(mimic="a"), f"{B}, mimic", "expected a table, got a text"),
    (with_joint(mimic={"joint": "b"}), f"{B}, mimic", "in a circle: b -> b"),
    (with_joint(mimic={"joint": "c"}), f"{B}, mimic, joint", "no joint 'c' moves"),
    (with_joint(mimic={"joint": 1}), f"{B}, mimic, joint", "expected a text, got a number"),
    (with_joint(mimic={"joint": "a", "ratio": []}), f"{B}, mimic, ratio", "got a list"),
    (with_joint(mimic={"joint": "a", "gain": 1}), f"{B}, mimic", "unknown field 'gain'"),
    (with_joint(mimic={"joint": "a"}, dof=1), f"{B}, dof", "a coupled joint has no dof"),
    (arm(frames=[{"name": "b", "segment": "a"}]), "frame 'b'", "a segment has this name"),
    (with_joint(dof=1), "segment 'a'", "missing here but given elsewhere"),
    (with_joint(type="fixed", dof=1), f"{B}, dof", "a fixed joint has no dof"),
    (with_joint(type="cylindrical", dof=1), f"{B}, dof", "expected a list"),
    (with_joint(coordinates=["x", "y"]), f"{B}, coordinates", "expected 1 entries, got 2"),
    (with_joint(coordinates=["a"]), "coordinate 'a'", "used twice"),
    (with_joint(limits=1), f"{B}, limits", "expected a table, got a number"),
    (with_joint(limits={"low": 1}), f"{B}, limits", "unknown field 'low'"),
    (with_joint(limits={"lower": 1, "upper": 0}), f"{B}, limits", "lower exceeds upper"),
    (with_joint(limits={"effort": -1}), f"{B}, limits", "cannot be negative"),
    (with_joint(friction={"viscous": -1}), f"{B}, friction, viscous", "negative"),
    (with_joint(rotor_inertia=-1), f"{B}, rotor_inertia", "negative"),
    (with_joint(gear_ratio=0), f"{B}, gear_ratio", "zero"),
    (with_joint(rotation=[[1, 0, 0]]), f"{B}, rotation", "expected 3 entries, got 1"),
    (with_joint(rpy=[0, 0, 0], quaternion=[0, 0, 0, 1]), f"{B}, rotation", "more than once"),
    (with_joint(quaternion=[0, 0, 0, 0]), f"{B}, quaternion", "the quaternion is zero"),
    (with_joint(quaternion=[0, 0, 1]), f"{B}, quaternion", "expected 4 entries"),
    (
        with_joint(rotation=[[1, 0, 0], [0, 1, 0], [0, 0, 2]]),
        f"{B}, rotation",
        "not a rotation",
    ),
    (
        with_joint(rotation=[[1, 0, 0], [0, 1, 0], [0, 0, -1]]),
        f"{B}, rotation",
        "left-handed",
    ),
    (
        with_joint(axis=[1, 0, "k"]) | {"parameters": {"k": {}}},
        f"{B}, axis[3]",
        "names a free parameter",
    ),
]


@pytest.mark.parametrize(("table", "element", "message"), WRONG)
def test_wrong_tables(table: dict[str, Any], element: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_text(json.dumps(table), "json", file="arm.json")
    assert message in caught.value.message
    assert caught.value.element == element
    assert caught.value.file == "arm.json"
    assert caught.value.remedy


def test_the_valid_table_is_valid() -> None:
    assert read_text(json.dumps(arm()), "json").notes == ()


def test_several_roots() -> None:
    table = arm()
    for body in table["bodies"]:
        del body["parent"]
    with pytest.raises(ReadError, match="several roots") as caught:
        read_text(json.dumps(table), "json")
    assert "ground" in str(caught.value.remedy)
    table["bodies"][1]["parent"] = "ground"
    assert [s.parent for s in read_text(json.dumps(table), "json").segments] == [-1, -1]


def test_dof_must_be_a_permutation() -> None:
    for dofs in ([1, 1], [0, 1], [1, 3], [2, -1]):
        table = arm()
        for body, dof in zip(table["bodies"], dofs, strict=True):
            body["joint"]["dof"] = dof
        with pytest.raises(ReadError, match="out of range or used twice"):
            read_text(json.dumps(table), "json")


def test_close_names_are_suggested() -> None:
    cases = [(with_segment(masss=1), "mass"), (with_segment(parent="aa"), "'a'")]
    cases.append((arm(gravty=[0, 0, 1]), "gravity"))
    cases.append((with_segment(joint="revolut"), "revolute"))
    cases.append((with_segment(mass="lenght") | {"parameters": {"length": 1}}, "length"))
    for table, suggestion in cases:
        with pytest.raises(ReadError) as caught:
            read_text(json.dumps(table), "json")
        assert f"did you mean {suggestion}" in str(caught.value.remedy).replace(
            f"'{suggestion}'", suggestion
        )


def test_free_text_is_welcome_anywhere() -> None:
    table = with_joint(note="x", comment=["any", {"thing": 1}])
    table |= {"description": "an arm", "source": {"paper": "p"}, "frame_rule": "as usual"}
    table["parameters"] = {"k": {"value": 1, "note": "n", "comment": 3}}
    table["bodies"][0]["mass"] = "k"
    assert read_text(json.dumps(table), "json").parameters[0].note == "n"


@pytest.mark.parametrize(
    ("text", "syntax", "message"),
    [
        ("", "toml", "the file is empty"),
        (" \n\t", "json", "the file is empty"),
        ("[", "json", "this is not JSON"),
        ("a = ", "toml", "this is not TOML"),
        ("a = 1\na = 2", "toml", "this is not TOML"),
        ("[]", "json", "the file holds no table"),
        ("3", "json", "the file holds no table"),
        ('{"a": NaN}', "json", "not a finite number"),
        ('{"a": -Infinity}', "json", "not a finite number"),
        ("a = nan", "toml", "not a finite number"),
        ("a = -inf", "toml", "not a finite number"),
        ('{"a": 1, "a": 2}', "json", "the key 'a' occurs twice"),
        ('{"a": 1e401}', "json", "too large an exponent"),
        ("a = 1e401", "toml", "too large an exponent"),
        ('{"a": 1' + "0" * 5000 + "}", "json", "too many digits"),
        ("a = 1" + "0" * 5000, "toml", "too many digits"),
        ("[" * 100_000, "json", "nested too deep"),
        ("a = " + "[" * 100_000, "toml", "nested too deep"),
        ('{"a":' * 100_000, "json", "nested too deep"),
        ("a = 1", "yaml", "there is no syntax 'yaml'"),
    ],
)
def test_wrong_texts(text: str, syntax: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_text(text, syntax, file="f")
    assert message in caught.value.message
    assert caught.value.file == "f"
    assert caught.value.remedy


@pytest.mark.parametrize("number", ["nan", "-inf", "1e99999", "7" * 5000, "0." + "1" * 500])
def test_a_number_that_is_none_is_found(number: str) -> None:
    text = f'note = "{"9" * 5000}"\n[[segments]]\nmass = 1\n[[segments]]\ncom = [0, {number}]'
    with pytest.raises(ReadError) as caught:
        read_text(text, "toml", file="f")
    assert caught.value.element == "segments[2], com[2]"
    assert caught.value.remedy
    assert len(str(caught.value)) < 300


def test_exact_decimals_and_underscores() -> None:
    text = 'gravity = [0, 0, -9.81]\n[[segments]]\nname = "a"\njoint = "fixed"\nmass = 1_0.000_1'
    mechanism = read_text(text, "toml")
    assert str(mechanism.segments[0].body.mass) == "100001/10000"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"\xff\xfe{\x00", "byte order mark"),
        (b'{"a": "\xff"}', "not UTF-8 text: byte 8"),
        (b"", "the file is empty"),
    ],
)
def test_wrong_bytes(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "arm.json"
    path.write_bytes(data)
    with pytest.raises(ReadError) as caught:
        read(path)
    assert message in caught.value.message
    assert caught.value.file == str(path)


def test_wrong_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ReadError, match="no such file"):
        read(tmp_path / "missing.toml")
    with pytest.raises(ReadError, match="a folder"):
        read(tmp_path)
    with pytest.raises(ReadError):
        read("a\0b.toml")
    (tmp_path / "arm.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ReadError, match="tells no file type") as caught:
        read(tmp_path / "arm.txt")
    assert ".toml" in str(caught.value.remedy)
    assert ".expr" in str(caught.value.remedy)
    (tmp_path / "big.json").write_text(json.dumps(arm()), encoding="utf-8")
    monkeypatch.setattr("chainform.readers.source.MAX_BYTES", 10)
    with pytest.raises(ReadError, match="larger than 64 MB"):
        read(tmp_path / "big.json")


def test_windows_line_ends_and_capital_endings(tmp_path: Path) -> None:
    text = '[[segments]]\r\nname = "a"\r\njoint = "fixed"\r\n'
    (tmp_path / "arm.TOML").write_bytes(text.encode())
    mechanism = read(tmp_path / "arm.TOML")
    assert mechanism.name == "arm"
    assert any(note.element == "gravity" for note in mechanism.notes)


def test_the_argument_stands_before_the_key(tmp_path: Path) -> None:
    path = tmp_path / "arm.json"
    path.write_text(json.dumps(arm(format="tree")), encoding="utf-8")
    assert read(path, format="native").nq == 2
    with pytest.raises(ReadError, match="unknown field 'bodies'"):
        read(path)


@pytest.mark.parametrize(
    "text",
    [
        "{key} = 1",
        "[{key}]",
        "[[{key}]]",
        "a = {{ {key} = 1 }}",
        "name = '''\na.b\n'''\n{key} = 1",
        '# "\n{key} = 1',
    ],
)
@pytest.mark.parametrize("part", ["a", '"a"', "'a.b'", "a-1"])
@pytest.mark.parametrize("dot", [".", " . "])
def test_keys_of_very_many_parts_are_refused(text: str, part: str, dot: str) -> None:
    """The parser of Python takes ten seconds for a key of 40 kB."""
    with pytest.raises(ReadError, match="more than 100 parts") as caught:
        read_text(text.format(key=dot.join([part] * 8000)), "toml")
    assert caught.value.remedy


def test_dots_in_texts_are_no_keys() -> None:
    dotted = ".".join("a" * 8000)
    for mark in ('"', "'", '"' * 3, "'" * 3):
        table = table_from_text(f"note = {mark}{dotted}{mark} # {dotted}", "toml", Source())
        assert table == {"note": dotted}
    assert table_from_text(".".join("a" * 50) + " = 1", "toml", Source())
