"""Random scenes that came to no end once, by the tool that finds them."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "contact_scenes.py"


def load_tool() -> Any:
    spec = spec_from_file_location("contact_scenes", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["contact_scenes"] = module
    spec.loader.exec_module(module)
    return module


scenes = load_tool()


@pytest.mark.parametrize(
    ("kind", "seed", "number"),
    [
        ("sliders", 1, 61),  # a gap opens so slowly that it never opens
        ("sliders", 1, 174),
        ("tumbling", 1, 8),  # a contact jams while it slides
        ("stacks", 1, 42),
        ("loops", 1, 64),
        ("several", 3, 7),  # bodies at rest beside one that is struck
    ],
)
def test_scenes(kind: str, seed: int, number: int) -> None:
    one = scenes.outcome(seed, number, kind)
    assert one.trouble == ""
    assert one.events > 0
    sinks, pulls, cone, energy = one.figures
    assert sinks < 1e-8
    assert pulls < 1e-6
    assert cone < 1e-5
    assert energy < 1e-6


def test_a_scene_is_always_the_same() -> None:
    one, other = (scenes.scene(5, 3, "sliders") for _ in range(2))
    assert one.mechanism == other.mechanism
    assert str(one.settings) == str(other.settings)


def test_failures_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scenes, "simulate", lambda *_, **__: 1 / 0)
    assert scenes.main(["--seed", "5", "--scene", "3", "--kind", "stacks"]) == 1
    text = capsys.readouterr().out
    assert "ZeroDivisionError" in text
    assert "--seed 5 --scene 3 --kind stacks" in text
    assert "1 failed, 1 of them with a foreign exception" in text
