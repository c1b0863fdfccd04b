"""`chainform export`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.graph import parse_graph
from chainform.pipeline import derive

Q = [-1.5708, -0.5236, -2.09439, -0.5236, 0, 0]


def test_python_text_computes(call: Callable[..., Any], arm: Path, tmp_path: Path) -> None:
    target = tmp_path / "arm.py"
    result = call("export", arm, "--to", "python", "--outputs", "H,hG", "-o", target)
    assert result.out == f"wrote {target}\n"
    namespace = {}
    exec(compile(target.read_text("utf-8"), str(target), "exec"), namespace)  # noqa: S102
    values = namespace["model"](Q)
    expected = derive(arm, ["mass_matrix", "gravity"]).evaluate(q=Q)
    for name, array in expected.items():
        np.testing.assert_allclose(values[name], array, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "latex", "text"])
def test_stdout_is_the_source_alone(call: Callable[..., Any], arm: Path, language: str) -> None:
    text = derive(arm).emit(language)
    assert call("export", arm, "--to", language).out == text
    assert call("export", arm, "--to", language, "-o", "-").out == text
    document = call("export", arm, "--to", language, "--json").document
    assert (document["text"], document["written"]) == (text, None)


def test_text_reads_back(call: Callable[..., Any], arm: Path) -> None:
    graph = parse_graph(call("export", arm, "--to", "text", "--outputs", "hG").out)
    assert list(graph.outputs) == ["gravity"]


def test_existing_file_is_kept(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path, tmp_path: Path
) -> None:
    target = tmp_path / "arm.py"
    target.write_text("precious", encoding="utf-8")
    arguments = ("export", arm, "--to", "python", "-o", target)
    assert "--force" in refused(call(*arguments))
    assert target.read_text("utf-8") == "precious"
    result = call(*arguments, "--force", "--json")
    assert result.document["written"] == str(target)
    assert result.document["text"] is None
    assert target.read_text("utf-8").startswith("from math import")


def test_mechanism_is_never_overwritten(
    call: Callable[..., Any], refused: Callable[[Any], str], pendulum: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.toml"
    copy.write_bytes(pendulum.read_bytes())
    linked = tmp_path / "same.toml"
    linked.symlink_to(copy)
    for target in (copy, linked):
        refused(call("export", copy, "--to", "text", "-o", target, "--force"))
    assert copy.read_bytes() == pendulum.read_bytes()


def test_targets_that_cannot_be(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path, tmp_path: Path
) -> None:
    refused(call("export", arm, "--to", "text", "-o", tmp_path))
    refused(call("export", arm, "--to", "text", "-o", "\0"))
    target = tmp_path / "no" / "folder.txt"
    message = refused(call("export", arm, "--to", "text", "-o", target))
    assert "there is no such folder" in message


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")  # noqa: PTH110
def test_full_disk(call: Callable[..., Any], arm: Path) -> None:
    result = call("export", arm, "--to", "text", "-o", "/dev/full", "--force")
    assert (result.code, result.out) == (1, "")
    assert "No space" in result.err


def test_nothing_is_written_after_an_error(
    call: Callable[..., Any], refused: Callable[[Any], str], tmp_path: Path
) -> None:
    target = tmp_path / "arm.py"
    refused(call("export", tmp_path / "missing.toml", "--to", "python", "-o", target))
    assert not target.exists()


def test_a_mechanism_is_written_as_elements(
    call: Callable[..., Any], arm: Path, four_bar: Path, tmp_path: Path
) -> None:
    target = tmp_path / "elements.json"
    result = call("export", arm, "--to", "elements", "-o", target)
    assert (result.code, result.out) == (0, f"wrote {target}\n")
    written, before = cf.read(target), cf.read(arm)
    assert not written.segments
    assert written.elements == before.as_elements().elements
    assert written.coordinates == before.coordinates
    result = call("export", four_bar, "--to", "elements", "-o", target, "--force")
    assert "not in elements: loop linkage" in result.out
    assert call("export", four_bar, "--to", "elements", "--json").document["outputs"] == []


@pytest.mark.parametrize("language", ["native", "urdf", "elements"])
@pytest.mark.parametrize(
    "given",
    [("--outputs", "H"), ("--define", "p = q1"), ("--reduce", "fast"), ("--without", "forces")],
)
def test_a_mechanism_has_no_equations(
    call: Callable[..., Any], pendulum: Path, language: str, given: tuple[str, str]
) -> None:
    result = call("export", pendulum, "--to", language, *given)
    assert result.code == 2
    assert f"{given[0]}: {language} describes the mechanism, and has no equations" in result.err
    assert "python" in result.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--to", "latex", "--precision", "float32"), "this is an option of folders"),
        (("--to", "c", "--sine", "libm"), "this is an option of folders"),
        (("--to", "object"), "object is no text"),
        (("--to", "c", "-o", "new", "--force"), "folders are never overwritten"),
    ],
)
def test_options_that_do_nothing_are_refused(
    call: Callable[..., Any],
    refused: Callable[[Any], str],
    arm: Path,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    assert words in refused(call("export", arm, "--outputs", "hG", *arguments))


def test_a_folder_as_text_on_standard_output(call: Callable[..., Any], arm: Path) -> None:
    text = call("export", arm, "--to", "c", "--outputs", "hG", "-o", "-").out
    assert "six_axis_arm_gravity(const double *q" in text


# --- folders --------------------------------------------------------------------------------------


def test_the_head_of_a_stored_model_names_its_revision(
    call: Callable[..., Any], pendulum: Path, tmp_path: Path
) -> None:
    """It has model, revision, counts, arguments, units and frames, for an older revision too."""
    store = ("--db", tmp_path / "models.db")
    for outputs in (["tau"], ["tau", "H", "d(tau)/d(q)"]):
        assert call("derive", pendulum, "--outputs", *outputs, "--save", "swing", *store).code == 0
    newest, older = tmp_path / "newest", tmp_path / "older"
    assert call("export", "swing", "--to", "c", "-o", newest, *store).code == 0
    head = (newest / "pendulum.h").read_text("utf-8")
    assert head.startswith("/* pendulum, auto, not reduced, revision swing@2; written by chainform")
    for line in (
        "Operations of all outputs: ",
        "Units are m, kg, s, N and rad; u_i is m where rate i slides, else rad.",
        "Axes are those of the world unless an output says otherwise.",
        "[0] hinge (rad/s^2)",
        "parameters:",
        "[0] length (m)",
        "dtau_dq (1 x 1, J/u_i per unit of q): derivative(inverse_dynamics,q)",
        "const double *q,",
    ):
        assert line in head
    assert call("export", "swing@1", "--to", "rust", "-o", older, *store).code == 0
    text = (older / "pendulum.rs").read_text("utf-8")
    assert "revision swing@1; written by" in text
    assert "mass_matrix" not in text


def test_axes_of_a_floating_base_are_named(call: Callable[..., Any], hand: Path) -> None:
    found = call("export", hand, "--to", "c", "--outputs", "tau").out
    assert (
        "joints with quaternions (x y z w), their accelerations and efforts: axes of the" in found
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--to", "object", "--target", "z80"], "--target: there is no 'z80'"),
        (["--to", "c", "--target", "arm"], "--target: c has no target"),
        (["--to", "javascript", "--precision", "float32"], "--precision: JavaScript computes in"),
        (["--to", "c", "--name", "test"], "--name: 'test' is the name of another file"),
        (["--to", "cpp", "--name", "class"], "'class' cannot be a name in C++"),
        (["--to", "rust", "--name", ""], "'' cannot be a name"),
        (["--to", "fortran", "--name", "a b"], "write 'a_b'"),
    ],
)
def test_folders_that_cannot_be(
    call: Callable[..., Any],
    pendulum: Path,
    given: list[str],
    message: str,
    tmp_path: Path,
) -> None:
    result = call("export", pendulum, *given, "-o", tmp_path / "new")
    assert result.code == 2
    assert message in result.err
    assert "remedy: " in result.err
    assert not list(tmp_path.iterdir())


def test_places_where_no_folder_can_be_are_wrong_input(
    call: Callable[..., Any], refused: Callable[[Any], str], pendulum: Path, tmp_path: Path
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine", encoding="utf-8")
    message = refused(call("export", pendulum, "--to", "c", "-o", tmp_path / "full"))
    assert "the folder is not empty" in message
    message = refused(call("export", pendulum, "--to", "c", "-o", tmp_path / "none" / "new"))
    assert f"the folder {tmp_path / 'none'} does not exist" in message


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["--to", "c++"], "cpp"),
        (["--to", "PyTorch"], "torch"),
        (["--to", "octave"], "matlab"),
        (["--to", "js"], "javascript"),
        (["--to", "fortan"], "fortran"),
        (["--to", "object", "--target", "cortex-m4"], "thumbv7em"),
    ],
)
def test_other_names_of_languages_and_processors(
    call: Callable[..., Any],
    refused: Callable[[Any], str],
    pendulum: Path,
    given: list[str],
    meant: str,
    tmp_path: Path,
) -> None:
    message = refused(call("export", pendulum, *given, "-o", tmp_path / "new"))
    assert f"remedy: did you mean '{meant}'? choices are " in message


URDF = """<robot name="arm"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/>
<origin rpy="1.5707963 0 0"/><axis xyz="0 0 1"/><dynamics D="7"/></joint></robot>"""


def test_notes_on_reading_are_told_and_in_the_head(
    call: Callable[..., Any], tmp_path: Path
) -> None:
    """Why results may differ from those of a tool that takes the file as it stands."""
    (tmp_path / "arm.urdf").write_text(URDF, encoding="utf-8")
    result = call("export", tmp_path / "arm.urdf", "--to", "c", "-o", tmp_path / "c")
    head = (tmp_path / "c" / "arm.h").read_text("utf-8").partition("*/")[0]
    for words in ("snapping: 1 angle", "file: attributes that are not read: dynamics/D"):
        assert f"chainform: note: {words}" in result.err
        assert f"\n   {words}" in head
    exact = call("export", tmp_path / "arm.urdf", "--no-snap", "--to", "c")
    assert "snapping" not in exact.out + exact.err
