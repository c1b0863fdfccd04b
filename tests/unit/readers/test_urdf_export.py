"""Mechanisms as URDF, and back."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform as cf
from chainform.errors import RunError
from chainform.mechanism import GROUND, Mechanism, Number, Rotation, poses_of
from chainform.mechanism.exact import rotation_of_angles
from chainform.readers import export_urdf, read, read_text, side_path, urdf_text, write_urdf
from chainform.readers.urdf.snap import rotation_of_turns
from chainform.readers.urdf.write import angles_of
from loop_kinds import closed_chain
from strategies import examples
from zoo import random_tree

EXAMPLES = Path(__file__).parents[3] / "examples"


def numbers(mechanism: Mechanism) -> np.ndarray:
    """Return masses, mass centres, inertias, positions, rotations and axes, all in one row."""
    values: list[Number] = []
    for segment in mechanism.segments:
        body = segment.body
        values += [body.mass, *(body.com if body.mass else (Fraction(0),) * 3)]
        values += [entry for row in body.inertia for entry in row]
        values += [*segment.position, *(entry for row in segment.rotation for entry in row)]
        values += segment.joint.axis if segment.joint.kind.rates == 1 else ()
        values += [segment.ratio, segment.offset]
    return np.array([float(value) for value in values if isinstance(value, Fraction)])


def check_alike(written: Mechanism, read_back: Mechanism) -> None:
    for one, other in zip(written.segments, read_back.segments, strict=True):
        assert (one.name, one.parent, one.coordinate) == (
            other.name,
            other.parent,
            other.coordinate,
        )
        assert (one.joint.name, one.joint.kind) == (other.joint.name, other.joint.kind)
        assert (one.joint.limits, one.joint.friction) == (other.joint.limits, other.joint.friction)
    assert written.coordinates == read_back.coordinates
    np.testing.assert_allclose(numbers(read_back), numbers(written), atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_round_trip_of_random_trees(tmp_path: Path, seed: int) -> None:
    mechanism = random_tree(seed)
    path = tmp_path / "tree.urdf"
    left_out = write_urdf(mechanism, path)
    assert left_out == ("gravity: in the side file only",)
    again = read(path, snap=0)
    check_alike(mechanism, again)
    assert again.gravity == mechanism.gravity
    q = np.linspace(-1, 1, mechanism.nq)
    np.testing.assert_allclose(
        poses_of(again, q).positions, poses_of(mechanism, q).positions, atol=1e-12
    )


def rich() -> Mechanism:
    """Return a mechanism with everything that URDF has words for."""
    return (
        Mechanism.builder('rich & <"strange">')
        .parameter("m", "0.5")
        .frame("base", "ground")
        .segment("body", parent="ground", joint={"type": "free", "name": "root_joint"}, mass="3*m")
        .segment(
            "arm",
            parent="body",
            joint={"type": "revolute", "name": "swing"},
            axis=[0, "0.6", "0.8"],
            limits={"lower": -1, "upper": "1.5", "velocity": 3, "effort": 4},
            friction={"viscous": "0.1", "coulomb": "0.01"},
            rpy=["0.1", "-0.2", "0.3"],
            mass="m",
            com=["1/3", 0, 0],
            inertia=["0.1", "0.1", "0.1"],
        )
        .segment("wheel", parent="arm", joint="revolute", axis="z", mass=1)
        .segment(
            "finger",
            parent="arm",
            joint="prismatic",
            axis="x",
            mimic={"joint": "wheel", "ratio": "1/3", "offset": "0.25"},
            mass=1,
        )
        .segment("slide", parent="arm", joint="prismatic", axis="-y", mass=1)
        .segment("tip", parent="slide", joint="fixed", position=[0, 0, 1])
        .frame("tool", "tip", [0, 0, "0.1"], rpy=[0, "0.5", 0])
        .build()
    )


def test_round_trip_of_everything() -> None:
    export = export_urdf(rich())
    assert export.side is None
    assert export.left_out == ("parameters: written as numbers",)
    again = read_text(export.text, "urdf")
    assert again.name == 'rich & <"strange">'
    assert again.frame("base").segment == GROUND
    tool = again.segments[-1]
    assert (tool.name, tool.position) == ("tool", (0, 0, Fraction(1, 10)))
    whole = rich()
    assert again.coordinates == whole.coordinates
    for one, other in zip(whole.segments, again.segments[:-1], strict=True):
        assert (one.joint.limits, one.joint.friction) == (other.joint.limits, other.joint.friction)
    text = export.text
    assert 'type="floating"' in text
    assert 'type="continuous"' in text
    assert '<mimic joint="wheel" multiplier="0.33333333333333331" offset="0.25"/>' in text
    assert 'xyz="0.33333333333333331 0 0"' in text
    assert '<mass value="1.5"/>' in text


@pytest.mark.parametrize("kind", ["universal", "distance"])
def test_loops_closed_by_joints_go_to_the_side_file(kind: str, tmp_path: Path) -> None:
    mechanism = closed_chain(kind)
    write_urdf(mechanism, tmp_path / "chain.urdf")
    assert read(tmp_path / "chain.urdf").loops == mechanism.loops


def test_what_urdf_lacks_goes_to_the_side_file(tmp_path: Path) -> None:
    path = tmp_path / "bar.urdf"
    mechanism = cf.read(EXAMPLES / "four_bar.toml")
    left_out = write_urdf(mechanism, path)
    assert left_out == (
        "gravity: in the side file only",
        "loops: in the side file only",
        "parameters: written as numbers",
    )
    again = read(path)
    assert again.loops[0].basic == mechanism.loops[0].basic
    assert again.gravity == mechanism.gravity
    expected = cf.derive(mechanism, ["inverse_dynamics"])
    state: dict[str, Any] = {
        "q": [1.0, -0.8, 1.9],
        "qd": [0.1, 0.2, 0.3],
        "qdd": [1, 2, 3],
        "sigma": [1, 2, 3],
    }
    np.testing.assert_allclose(
        cf.derive(again, ["inverse_dynamics"]).evaluate(**state)["inverse_dynamics"],
        expected.evaluate(**state)["inverse_dynamics"],
        rtol=1e-12,
    )


def test_drives_springs_and_the_base(tmp_path: Path) -> None:
    mechanism = (
        Mechanism.builder("r", gravity=(0, "1/3", 0))
        .base(position=[1, 2, 3], rpy=["0.1", 0, 0], velocity=[1, 0, 0])
        .segment("a", joint={"type": "revolute", "name": 'odd "name"'}, axis="z", mass=1,
                 rotor_inertia="0.001", gear_ratio="1/7")
        .spring_table({"joint": 'odd "name"', "stiffness": "1/3"})
        .spring_table({"ends": [{"segment": "a"}, {"segment": "ground", "rpy": [0, 1, 0]}],
                       "stiffness": 2})
        .build()
    )  # fmt: skip
    write_urdf(mechanism, tmp_path / "r.urdf")
    again = read(tmp_path / "r.urdf")
    assert again.gravity == mechanism.gravity
    assert again.base == mechanism.base
    assert again.springs == mechanism.springs
    assert again.segments[0].joint == mechanism.segments[0].joint


@pytest.mark.parametrize("force", [False, True])
def test_files_are_not_overwritten(tmp_path: Path, force: bool) -> None:
    path = tmp_path / "r.urdf"
    path.write_text("precious", encoding="utf-8")
    if force:
        write_urdf(random_tree(1), path, force=True)
        assert read(path).name == "tree1"
    else:
        with pytest.raises(RunError, match="the file exists"):
            write_urdf(random_tree(1), path)
        assert path.read_text("utf-8") == "precious"


def test_a_stale_side_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    side_path(path).write_text("", encoding="utf-8")
    with pytest.raises(RunError, match="the file exists") as caught:
        write_urdf(rich(), path, force=True)
    assert caught.value.file == str(side_path(path))
    assert not path.exists()


def test_folders_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="it cannot be written"):
        write_urdf(rich(), tmp_path / "no" / "r.urdf")


def test_free_parameters_are_refused() -> None:
    mechanism = Mechanism.builder("r").parameter("m").segment("a", axis="z", mass="m").build()
    with pytest.raises(RunError, match="the parameter 'm' has no value") as caught:
        urdf_text(mechanism)
    assert caught.value.remedy


def test_joints_that_urdf_lacks_are_refused() -> None:
    mechanism = Mechanism.builder("r").segment("a", joint="spherical", mass=1).build()
    with pytest.raises(RunError, match="URDF has no spherical joint") as caught:
        urdf_text(mechanism)
    assert caught.value.element == "segment 'a'"


def test_the_ground_gets_a_name_that_is_free() -> None:
    mechanism = Mechanism.builder("r").segment("world", axis="z", mass=1).build()
    assert '<link name="world_"/>' in urdf_text(mechanism)


def exact(rotation: Rotation) -> np.ndarray:
    return np.array([[float(entry) for entry in row] for row in rotation])


angles = st.one_of(
    st.sampled_from(["0", "1.5707963267948966", "-1.5707963267948966", "3.1415926535897931"]),
    st.decimals(-4, 4, places=6, allow_nan=False).map(str),
    st.sampled_from(["1.5707963", "1.570796326", "-1.57079632679", "1e-9"]),
)


@examples(200)
@given(angles, angles, angles)
def test_angles_of_rotations(roll: str, pitch: str, yaw: str) -> None:
    rotation = rotation_of_turns(Fraction(roll), Fraction(pitch), Fraction(yaw))
    found = angles_of(rotation)
    np.testing.assert_allclose(exact(rotation_of_angles(*found)), exact(rotation), atol=1e-15 * 4)
    assert all(abs(angle) <= Fraction(math.pi) for angle in found)


def test_laws_in_the_side_file(tmp_path: Path) -> None:
    """A number stays one; a coordinate is named, and must have a name that a law can have."""
    builder = Mechanism.builder("arm")
    builder.segment("a", joint={"name": "shoulder", "type": "revolute", "axis": "z"}, mass=1)
    builder.segment(
        "b", parent="a", joint={"name": "wrist joint", "type": "revolute", "axis": "x"}, mass=1
    )
    first = builder.build().with_forces({"shoulder": "5/2"})
    write_urdf(first, tmp_path / "a.urdf")
    assert [f.laws for f in read(tmp_path / "a.urdf").forces] == [(Fraction(5, 2),)]
    with pytest.raises(RunError, match="cannot name the coordinate 'wrist joint'"):
        write_urdf(builder.build().with_forces({"shoulder": "2*q2"}), tmp_path / "b.urdf")
    assert not (tmp_path / "b.urdf").exists()
