"""Keep the tests away from the user's own key, and from compiling the same text twice."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from chainform.runtime import engine, kernel

compiled_once = cache(engine.compiled)


@pytest.fixture(autouse=True)
def user_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's data folder of this test; it does not exist yet."""
    folder = tmp_path / "user data"
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOCALAPPDATA", str(folder))
    return folder


@pytest.fixture(autouse=True)
def compile_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile a text once in all tests: it takes most of their time."""
    monkeypatch.setattr(kernel, "compiled", compiled_once)
