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
    assert "cannot be written: No such file or directory" in message


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
