"""Machine code in a folder: it comes back, stays within bounds, and never stops a program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chainform.places import cache_folder
from chainform.runtime import CodeCache, Sealed

pytestmark = pytest.mark.any_processor


def test_code_comes_back(tmp_path: Path) -> None:
    cache = CodeCache(tmp_path / "new" / "folder")
    assert cache.get("a") is None
    cache.put("a", b"code")
    cache.put("a", b"other code")
    assert cache.get("a") == b"other code"
    assert [path.name for path in cache.folder.iterdir()] == ["a.code"]


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    cache = CodeCache(tmp_path, most_bytes=100)
    for number, key in enumerate("abcd"):
        cache.put(key, bytes(25))
        os.utime(tmp_path / f"{key}.code", (number, number))
    assert cache.get("a") is not None
    cache.put("e", bytes(25))
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["a", "e"]


def test_a_folder_that_cannot_be_used_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    cache = CodeCache(tmp_path / "file")
    cache.put("a", b"code")
    assert cache.get("a") is None


def test_code_of_somebody_else_is_not_taken(tmp_path: Path) -> None:
    cache = CodeCache(tmp_path)
    Sealed(cache, b"k" * 32).put("name", b"code")
    assert Sealed(cache, b"k" * 32).get("name") == b"code"
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"E")
    assert Sealed(cache, b"k" * 32).get("name") is None


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHAINFORM_CACHE", str(tmp_path))
    assert CodeCache.of_user() == CodeCache(tmp_path)
    monkeypatch.setenv("CHAINFORM_CACHE", "")
    assert CodeCache.of_user() is None
    home = Path.home()
    assert cache_folder("linux", {"XDG_CACHE_HOME": "/var/c"}) == Path("/var/c/chainform")
    assert cache_folder("linux", {"XDG_CACHE_HOME": "c"}) == home / ".cache" / "chainform"
    assert cache_folder("darwin", {}) == home / "Library" / "Caches" / "chainform"
    assert cache_folder("win32", {}) == home / "AppData" / "Local" / "chainform" / "Cache"
