"""Keep the tests away from the user's own key."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest

from chainform.runtime import engine


@pytest.fixture(autouse=True)
def user_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's data folder of this test; it does not exist yet."""
    folder = tmp_path / "user data"
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOCALAPPDATA", str(folder))
    return folder


@pytest.fixture
def no_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the C library have no memory for what is loaded in this test."""
    refuse = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(lambda _: None)
    address = ctypes.cast(refuse, ctypes.c_void_p).value or 0
    functions = engine._c_library()
    monkeypatch.setattr(engine, "_c_library", lambda: {**functions, "malloc": address})
    yield
    del refuse
