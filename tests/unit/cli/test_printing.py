"""Plain text when piped, rich on a terminal, JSON without surprises."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.cli import main
from chainform.cli.printing import aligned, json_text, printable, shape_text


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path, **environment: str) -> str:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", **environment}.items():
        monkeypatch.setenv(name, value)
    stream = Terminal()
    monkeypatch.setattr("sys.stdout", stream)
    assert main([str(argument) for argument in arguments]) == 0
    return stream.getvalue()


def test_terminal_has_colour(monkeypatch: pytest.MonkeyPatch, arm: Path) -> None:
    text = on_terminal(monkeypatch, "show", arm, "hG[2]")
    assert "\x1b[1;36mhG_2\x1b[0m = " in text


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch, arm: Path) -> None:
    text = on_terminal(monkeypatch, "show", arm, "hG[2]", NO_COLOR="1")
    assert "\x1b[1;36m" not in text
    assert "hG_2" in text


@pytest.mark.parametrize("command", ["check", "count", "derive", "show"])
def test_terminal_shows_every_table(
    monkeypatch: pytest.MonkeyPatch, four_bar: Path, command: str
) -> None:
    text = on_terminal(monkeypatch, command, four_bar, COLUMNS="60")
    assert "\x1b[1mfour_bar" in text


def test_narrow_terminal_folds_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, arm: Path
) -> None:
    text = on_terminal(monkeypatch, "check", arm, COLUMNS="20", NO_COLOR="1")
    assert "…" not in text


def test_json_has_no_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch, arm: Path) -> None:
    text = on_terminal(monkeypatch, "count", arm, "--json")
    assert json.loads(text)["command"] == "count"


def test_piped_text_is_plain_and_whole(
    call: Callable[..., Any], arm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = call("show", arm, "tau[1]", "--formulation", "closed_form").out
    assert "\x1b" not in text
    assert len(text.splitlines()) == 1
    assert len(text) > 200


def test_aligned() -> None:
    assert aligned([["a", "1"], ["bcd", "10"]], [False, True]) == ["  a     1", "  bcd  10"]


def test_shape_text() -> None:
    assert shape_text((6, 6)) == "6 × 6"
    assert shape_text(()) == "1"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain é", "plain é"), ("a\nb", "a\nb"), ("\x1b[2J", r"\x1b[2J"), ("\udcff", r"\udcff")],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_not_finite_becomes_null() -> None:
    text = json_text({"a": [1.5, float("nan"), float("inf")], "b": float("-inf")})
    assert json.loads(text) == {"a": [1.5, None, None], "b": None}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.slow
@given(values)
def test_json_reads_back(value: Any) -> None:
    def finite(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: finite(part) for key, part in item.items()}
        if isinstance(item, list):
            return [finite(part) for part in item]
        return None if item in (float("inf"), float("-inf")) else item

    text = json_text(value)
    assert json.loads(text) == finite(value)
    assert text.isascii()
