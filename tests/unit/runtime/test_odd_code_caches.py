"""Code caches that fail, lie or are empty, and users who share one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chainform.errors import StoreError
from chainform.runtime import Program, kernel
from unit.runtime.programs import Counted, Memory, refuse, same_bits, small

pytestmark = pytest.mark.any_processor

Q = np.linspace(-1, 1, 33).reshape(11, 3)


class Raising:
    """A code_cache that can do nothing."""

    def __init__(self, trouble: BaseException) -> None:
        self.trouble = trouble
        self.asked: list[str] = []

    def get(self, key: str) -> bytes | None:
        """Fail."""
        self.asked.append(key)
        raise self.trouble

    def put(self, key: str, data: bytes) -> None:
        """Fail."""
        self.asked.append(f"{key} {len(data)}")
        raise self.trouble


class Giving(Memory):
    """A code_cache that gives the same, whatever it is asked for."""

    def __init__(self, given: Any) -> None:
        super().__init__()
        self.given = given

    def get(self, key: str) -> Any:
        """Return it."""
        super().get(key)
        return self.given


TROUBLES = (OSError("gone"), KeyError("key"), RuntimeError("?"), TypeError("x"), RecursionError())


@pytest.mark.parametrize("trouble", TROUBLES, ids=repr)
def test_a_code_cache_that_fails(trouble: Exception) -> None:
    expected = Program(small()).o(Q)
    program = Program(small(), code_cache=Raising(trouble))
    with pytest.warns(RuntimeWarning, match="the storage of machine code, Raising") as told:
        same_bits(program.o(Q), expected)
    said = [str(warning.message) for warning in told]
    assert len(said) == 4
    assert sum("get failed" in text for text in said) == 2
    assert sum("put failed" in text for text in said) == 2
    assert all(repr(trouble) in text for text in said)


def test_a_store_that_cannot_be_used_is_no_news() -> None:
    """Closed or read-only stores are part of life."""
    same_bits(
        Program(small(), code_cache=Raising(StoreError("closed"))).o(Q), Program(small()).o(Q)
    )


def test_interruptions_go_through() -> None:
    program = Program(small(), code_cache=Raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        program.o(Q)
    program.kernel("o").code_cache = None
    same_bits(program.o(Q), Program(small()).o(Q))


@pytest.mark.parametrize("rubbish", ["text", 5, [], np.zeros(40, np.uint8), object(), False])
def test_a_code_cache_that_gives_something_else(rubbish: Any) -> None:
    with pytest.warns(RuntimeWarning, match=f"get gave {type(rubbish).__name__}, not bytes"):
        same_bits(Program(small(), code_cache=Giving(rubbish)).o(Q), Program(small()).o(Q))


@pytest.mark.parametrize("data", [b"", b"\x7fELF", bytes(31), bytes(32), bytes(5000)])
def test_a_code_cache_that_gives_other_bytes(data: bytes) -> None:
    """There is no seal on them: nobody needs to be told."""
    same_bits(Program(small(), code_cache=Giving(data)).o(Q), Program(small()).o(Q))


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_bytes_of_other_kinds(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(Memory):
        def get(self, key: str) -> Any:
            found = super().get(key)
            return None if found is None else kind(found)

    code_cache = Other()
    expected = Program(small(), code_cache=code_cache).o(Q)
    monkeypatch.setattr(kernel, "compiled", refuse)
    same_bits(Program(small(), code_cache=code_cache).o(Q), expected)


def test_a_code_cache_that_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a length of zero, and counts as false; it is there all the same."""

    class Sized(Memory):
        def __len__(self) -> int:
            return len(self.kept)

    code_cache = Sized()
    expected = Program(small(), code_cache=code_cache).o(Q)
    assert len(code_cache) == 2
    monkeypatch.setattr(kernel, "compiled", refuse)
    same_bits(Program(small(), code_cache=code_cache).o(Q), expected)


def test_a_code_cache_that_computes_itself() -> None:
    """It comes back to the function that it is asked for; not even that may hang."""

    class Restless(Memory):
        program: Program | None = None

        def get(self, key: str) -> bytes | None:
            program, self.program = self.program, None
            if program is not None:
                program.o(Q)
            return super().get(key)

    code_cache = Restless()
    program = Program(small(), code_cache=code_cache)
    code_cache.program = program
    same_bits(program.o(Q), Program(small()).o(Q))


# --- users who share a code_cache ---------------------------------------------------------------


def test_users_do_not_overwrite_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code_cache, compiler = Memory(), Counted()
    monkeypatch.setattr(kernel, "compiled", compiler)
    for calls in (2, 4, 4, 4):
        user = "first" if calls == 2 or compiler.calls == 4 else "second"
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / user))
        Program(small(), code_cache=code_cache).o(Q)
        assert compiler.calls == calls
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "second"))
    Program(small(), code_cache=code_cache).o(Q)
    assert (compiler.calls, len(code_cache.kept)) == (4, 4)


def test_machine_code_is_sealed_wherever_it_is_kept() -> None:
    code_cache = Memory()
    program = Program(small(), code_cache=code_cache)
    program.o(Q)
    for name, code in program.codes().items():
        assert name not in code_cache.kept
        assert code not in code_cache.kept.values()
        assert any(data.endswith(code) for data in code_cache.kept.values())
