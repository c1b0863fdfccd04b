"""Positions of frames in laws of files: which names are known, what is refused, and what is cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
from chainform.expressions import parse
from chainform.readers import native_text, read_text, write_urdf

pytestmark = pytest.mark.any_processor


def arm(**entries: Any) -> dict[str, Any]:
    """Return the file of two links, the second with a tip, and whatever is added."""
    joint = {"joint": "revolute", "axis": "y", "mass": 1, "com": [0.5, 0, 0]}
    segments = [
        {"name": "upper", "inertia": [0.1, 0.1, 0.1], **joint},
        {"name": "fore", "parent": "upper", "position": ["l", 0, 0], **joint},
    ]
    frames = [{"name": "tip", "segment": "fore", "point": ["l", 0, 0]}]
    table = {"name": "arm", "segments": segments, "frames": frames, "parameters": {"l": 1}}
    return table | {"units": "SI"} | entries


def read(**entries: Any) -> cf.Mechanism:
    return read_text(json.dumps(arm(**entries)), "json")


@pytest.mark.parametrize("frame", ["tip", "fore", "upper", "ground"])
def test_frames_segments_and_the_ground_are_known(frame: str) -> None:
    forces = [{"joint": "upper", "law": f"x({frame}) - der(z({frame}))"}]
    made = read(forces=forces)
    assert made.forces[0].laws == (parse(f"x({frame}) - der(z({frame}))"),)
    assert not [note for note in made.notes if "not used" in note.text]


def test_files_read_back() -> None:
    made = read(
        forces=[{"joint": "fore", "law": "-l*x(tip)", "name": "pull"}],
        constraints=[{"kind": "unilateral", "law": "z(tip) + l"}],
        definitions={"height": "z(tip) - t"},
        elements=[{"kind": "elastic", "stiffness": 3, "deformation": "height"}],
    )
    again = read_text(native_text(made), "json")
    for part in ("forces", "constraints", "definitions", "elements", "parameters"):
        assert getattr(again, part) == getattr(made, part), part


def test_side_files_of_urdf_read_back(tmp_path: Path) -> None:
    made = read(forces=[{"joint": "fore", "law": "-l*x(tip) + q1*der(y(upper))", "name": "pull"}])
    model = cf.derive(made, ["inverse_dynamics"])
    write_urdf(made, tmp_path / "arm.urdf")
    again = cf.derive(cf.read(tmp_path / "arm.urdf"), ["inverse_dynamics"])
    state: dict[str, Any] = {"q": [0.3, -0.8], "qd": [1.0, 2.0], "qdd": [0.5, -1.0]}
    expected, found = model.evaluate(**state), again.evaluate(**state)
    assert found["inverse_dynamics"] == pytest.approx(expected["inverse_dynamics"], rel=1e-12)


def test_names_of_coordinates_and_frames_do_not_meet() -> None:
    """A slider called x has the coordinate x; x(x) is the position of its segment."""
    builder = cf.Mechanism.builder("slider").parameter("y", 2)
    builder.segment("x", joint="prismatic", axis="x", position=[3, 0, 0], mass=1)
    made = builder.force("x", "10*x + x(x) + y*der(x(x)) + der(x)").build()
    value = cf.derive(made, ["inverse_dynamics"]).evaluate(q=[0.5], qd=[0.25], qdd=[0])
    assert value["inverse_dynamics"] == pytest.approx([-(5 + 3.5 + 0.5 + 0.25)])


@pytest.mark.parametrize(
    ("entries", "message", "remedy"),
    [
        ({"forces": [{"joint": "fore", "law": "x(tpi)"}]}, "segment named 'tpi'", "mean 'tip'"),
        ({"forces": [{"joint": "fore", "law": "x(far)"}]}, "named 'far'", "there are tip, upper"),
        (
            {"constraints": [{"kind": "holonomic", "law": "x(tipp)"}]},
            "no frame or segment named 'tipp'",
            "mean 'tip'",
        ),
        (
            {"constraints": [{"kind": "holonomic", "law": "der(x(tip))"}]},
            "velocity of a frame and cannot stand here",
            "positions as x(tip)",
        ),
        (
            {"constraints": [{"kind": "nonholonomic", "law": "x(tip)"}]},
            "names no rate",
            "a nonholonomic constraint needs one",
        ),
        (
            {"constraints": [{"kind": "nonholonomic", "law": "der(x(tip))*der(upper)"}]},
            "not linear in the rates",
            "a sum of rates",
        ),
        (
            {"definitions": {"a": "der(z(tip))"}},
            "velocity of a frame and cannot stand here",
            "allowed are coordinates",
        ),
        (
            {
                "elements": [
                    {"kind": "elastic", "stiffness": 1, "deformation": "q1", "rest": "x(tip)"}
                ]
            },
            "position of a frame and cannot stand here",
            "allowed are t,",
        ),
        ({"base": {"position": ["x(tip)", 0, 0]}}, "'x\\(tip\\)' is not a parameter", "no law"),
        ({"base": {"position": ["t*x(tip)", 0, 0]}}, "cannot stand here", "allowed are t,"),
        ({"parameters": {"l": "x(tip)"}}, "x\\(tip\\)", ""),
    ],
)
def test_refusals(entries: dict[str, Any], message: str, remedy: str) -> None:
    with pytest.raises(cf.Error, match=message) as caught:
        read(**entries)
    assert remedy in (caught.value.remedy or "")
    assert caught.value.element


def test_motions_in_time_name_no_frames() -> None:
    made = read()
    with pytest.raises(cf.Error, match="position of a frame and cannot stand here"):
        cf.inverse_dynamics(made, {"upper": "x(tip)", "fore": "t"}, [0.0, 1.0])


def test_frames_that_depend_on_one_another() -> None:
    builder = cf.Mechanism.builder("ring").coordinates("s").define(d="x(b)")
    builder.element("a: Sx(s + d); 1").element("b: Sz(s), Sx(y(a)); 1")
    with pytest.raises(cf.Error, match="depend on one another in a circle") as caught:
        builder.build()
    assert "name coordinates only" in (caught.value.remedy or "")


@pytest.mark.parametrize("count", [40, 42])
def test_chains_that_name_frames_that_name_frames(count: int) -> None:
    """A tower of positions gives s + 1 + 1 ..., and is refused where it gets too deep."""
    builder = cf.Mechanism.builder("tower", gravity=(0, 0, 0)).coordinates("s").element("f0: Sx(s)")
    for k in range(1, count):
        builder.element(f"f{k}: Sx(2*x(f{k - 1}) - x(f0))")
    builder.element(kind="point", name="top", on=f"f{count - 1}", mass=2)
    if count > 41:
        with pytest.raises(cf.Error, match="40 times over"):
            builder.build()
        return
    model = cf.derive(builder.build(), ["inverse_dynamics"])
    assert model.evaluate(q=[0], qd=[1], qdd=[3])["inverse_dynamics"] == pytest.approx([6])


def test_a_coordinate_that_moves_mass_through_a_frame_is_not_idle() -> None:
    builder = cf.Mechanism.builder("follower").coordinates("s")
    builder.element("a: Sx(s^2)").element("b: Sz(x(a)); 1")
    assert not builder.build().notes


def test_a_part_keeps_laws_on_its_own_frames() -> None:
    """Laws that name a frame that is cut away go, as those that name its coordinates do."""
    made = read(
        forces=[
            {"joint": "upper", "law": "x(upper)", "name": "near"},
            {"joint": "upper", "law": "x(tip)", "name": "far"},
        ],
        constraints=[
            {"kind": "unilateral", "law": "z(tip)", "name": "floor"},
            {"kind": "unilateral", "law": "z(upper) + upper", "name": "own"},
        ],
        definitions={"d": "z(tip)"},
        elements=[{"kind": "moment", "moment": "d", "along": "upper", "name": "lift"}],
    )
    part = made.subtree(tips=["upper"])
    assert [force.name for force in part.forces] == ["near"]
    assert [constraint.name for constraint in part.constraints] == ["own"]
    assert not part.definitions
    assert not part.elements
    assert "force 'far'" in " ".join(note.text for note in part.notes)
    beyond = made.with_forces({"fore": "x(tip) - 2"}).with_forces({"fore": "x(ground)"})
    part = beyond.subtree(root="upper")
    assert [force.laws for force in part.forces] == [(parse("x(tip) - 2"),)]
    read_text(native_text(part), "json")


@pytest.mark.parametrize("parameters", ["numeric", "symbolic", ["l"]])
def test_parameters_in_positions(parameters: Any) -> None:
    """x(tip) = l (cos a + cos (a + b)), whether l is a number or a symbol."""
    made = read(forces=[{"joint": "upper", "law": "-x(tip)*l"}], gravity=[0, 0, 0])
    model = cf.derive(made, ["inverse_dynamics"], parameters=parameters)
    l = 1.0 if parameters == "numeric" else 2.0
    values = {} if parameters == "numeric" else {"l": l}
    state: dict[str, Any] = {"q": [0.0, 0.0], "qd": [0.0, 0.0], "qdd": [0.0, 0.0]}
    found = model.evaluate(**state, values=values)["inverse_dynamics"]
    assert found == pytest.approx([2 * l * l, 0])
