"""Machine code in caches: it comes back, stays within bounds, and never stops a program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chainform.files import cache_folder
from chainform.runtime import CodeCache, LruCache, cache, code_of, host
from chainform.runtime.cache import CodeFolder
from unit.runtime.programs import Memory

TEXT = "define double @one() {{\n  ret double {number}.0\n}}\n"


def test_code_comes_back(tmp_path: Path) -> None:
    stored = CodeFolder(tmp_path / "new" / "folder")
    assert stored.get("a") is None
    stored.put("a", b"code")
    stored.put("a", b"other code")
    assert stored.get("a") == b"other code"
    assert [path.name for path in stored.folder.iterdir()] == ["a.code"]


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    stored = CodeFolder(tmp_path, most_bytes=100)
    for number, key in enumerate("abcd"):
        stored.put(key, bytes(25))
        os.utime(tmp_path / f"{key}.code", (number, number))
    assert stored.get("a") is not None
    stored.put("e", bytes(25))
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["a", "e"]


def test_a_folder_that_cannot_be_used_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for stored in (CodeFolder(tmp_path / "file"), CodeCache(tmp_path / "file")):
        stored.put("a", b"code")
        assert stored.get("a") is None


def test_code_of_somebody_else_is_not_taken(tmp_path: Path) -> None:
    stored = CodeCache(tmp_path, b"k" * 32)
    stored.put("name", b"code")
    assert stored.get("name") == CodeCache(stored).get("name") == b"code"
    assert CodeCache(tmp_path, b"l" * 32).get("name") is None
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"E")
    assert stored.get("name") is None


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHAINFORM_CACHE", str(tmp_path))
    found = CodeCache.of_user()
    assert found is not None
    assert found.storage == CodeFolder(tmp_path)
    monkeypatch.setenv("CHAINFORM_CACHE", "")
    assert CodeCache.of_user() is None
    home = Path.home()
    assert cache_folder("linux", {"XDG_CACHE_HOME": "/var/c"}) == Path("/var/c/chainform")
    assert cache_folder("linux", {"XDG_CACHE_HOME": "c"}) == home / ".cache" / "chainform"
    assert cache_folder("darwin", {}) == home / "Library" / "Caches" / "chainform"
    assert cache_folder("win32", {}) == home / "AppData" / "Local" / "chainform" / "Cache"


# --- by the text of a module ----------------------------------------------------------------------


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was compiled, in order; nothing is known at first."""
    seen: list[str] = []
    original = cache.compiled

    def counted(text: str, target: object) -> bytes:
        seen.append(text)
        return original(text, host())

    monkeypatch.setattr(cache, "compiled", counted)
    monkeypatch.setattr(cache, "_MODULES", LruCache[bytes](64))
    return seen


def test_a_text_is_compiled_once(compilations: list[str]) -> None:
    text = TEXT.format(number=1)
    assert code_of(text, host()) == code_of(text, host())
    code_of(TEXT.format(number=2), host())
    assert len(compilations) == 2


def test_only_the_last_ones_stay_in_memory(
    compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_MODULES", LruCache[bytes](2))
    for number in (1, 2, 3, 1):
        code_of(TEXT.format(number=number), host())
    assert len(compilations) == 4


def test_a_code_cache_keeps_it(compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code_cache, text = Memory(), TEXT.format(number=1)
    first = code_of(text, host(), code_cache)
    monkeypatch.setattr(cache, "_MODULES", LruCache[bytes](64))
    assert code_of(text, host(), code_cache) == first
    assert len(compilations) == 1
    assert len(code_cache.kept) == 1


def test_a_code_cache_that_comes_later_keeps_it_too(compilations: list[str]) -> None:
    code_cache, text = Memory(), TEXT.format(number=1)
    code_of(text, host())
    code_of(text, host(), code_cache)
    assert len(compilations) == 1
    assert len(code_cache.kept) == 1


def test_what_others_kept_is_not_run(compilations: list[str]) -> None:
    code_cache, text = Memory(), TEXT.format(number=1)
    code_of(text, host(), code_cache)
    for key in code_cache.kept:
        code_cache.kept[key] = b"x" * 100
    assert code_of(text, host(), code_cache)[:4] != b"xxxx"


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(*_: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("CHAINFORM_CACHE", raising=False)
    monkeypatch.setattr("chainform.runtime.cache.cache_folder", homeless)
    assert CodeCache.of_user() is None
