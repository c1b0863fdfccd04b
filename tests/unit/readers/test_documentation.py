"""The examples of docs/mechanism-files.md are files that read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chainform.mechanism import Mechanism
from chainform.mechanism.joints import JOINTS
from chainform.mechanism.tables import (
    FRAME_FIELDS,
    JOINT_FIELDS,
    LOOP_FIELDS,
    MIMIC_FIELDS,
    SEGMENT_FIELDS,
)
from chainform.readers import READERS, read_text
from chainform.readers.forms import HEADER_FIELDS

PAGE = (Path(__file__).parents[3] / "docs" / "mechanism-files.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize("text", BLOCKS)
def test_examples_read(text: str) -> None:
    mechanism = read_text(text, "toml")
    assert mechanism.nq > 0
    assert not [note for note in mechanism.notes if note.level == "warning"]


def test_the_page_has_its_examples() -> None:
    assert len(BLOCKS) >= 7


FIELDS = SEGMENT_FIELDS | JOINT_FIELDS | LOOP_FIELDS | FRAME_FIELDS | MIMIC_FIELDS | HEADER_FIELDS


@pytest.mark.parametrize("word", sorted({*FIELDS, *JOINTS, *READERS}))
def test_every_word_is_explained(word: str) -> None:
    assert f"`{word}`" in PAGE


def test_the_first_example_can_be_built() -> None:
    built = (
        Mechanism.builder("pendulum", gravity=(0, 0, "-9.81"))
        .parameter("l", 0.5, unit="m", note="length of the rod")
        .parameter("m", 2.0)
        .segment(
            "rod",
            joint={"name": "swing", "type": "revolute"},
            axis=[0, 1, 0],
            mass="m",
            com=[0, 0, "-l/2"],
            inertia=["m*l^2/12", "m*l^2/12", 0],
        )
        .build()
    )
    read = read_text(BLOCKS[0], "toml")
    assert built.segments == read.segments
    assert built.parameters == read.parameters
