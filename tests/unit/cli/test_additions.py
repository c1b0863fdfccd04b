"""Payloads and frames that are added on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf


def test_payload_and_frame(call: Callable[..., Any], arm: Path) -> None:
    options = ("--payload", "gripper:2.5:0,0.3,0", "--frame", "tool=gripper:0,0.2,0.1")
    state = '{"q": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}'
    asked = ("--outputs", "hG", "J(tool)", "--json", "--at", state)
    document = call("eval", arm, *options, *asked).document["outputs"]
    mechanism = cf.read(arm).with_payload("gripper", "2.5", ["0", "0.3", "0"])
    mechanism = mechanism.with_frame("tool", "gripper", ["0", "0.2", "0.1"])
    model = cf.derive(mechanism, ["gravity", "jacobian(tool)"])
    expected = model.evaluate(q=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    for name, values in expected.items():
        np.testing.assert_allclose(document[name]["values"], values, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "options",
    [
        ("--payload", "gripper"),
        ("--payload", "gripper:1:2:3"),
        ("--payload", "nobody:1"),
        ("--payload", "gripper:x y"),
        ("--payload", "gripper:1:0,0"),
        ("--frame", "tool"),
        ("--frame", "tool=nobody"),
        ("--frame", "tool=gripper:1,2"),
        ("--frame", "=gripper"),
    ],
)
def test_bad_additions(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path, options: tuple[str, str]
) -> None:
    assert refused(call("check", arm, *options))


def test_a_part_of_any_file(call: Callable[..., Any], arm: Path) -> None:
    document = call("check", arm, "--root", "turret", "--tip", "forearm", "--json").document
    mechanism = cf.read(arm).subtree("turret", ["forearm"])
    names = [segment["name"] for segment in document["mechanism"]["segments"]]
    assert names == [segment.name for segment in mechanism.segments] == ["upper_arm", "forearm"]
