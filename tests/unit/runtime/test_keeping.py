"""Machine code that is kept: found again under its key, and never taken from somebody else."""

from __future__ import annotations

import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chainform.graph import Graph
from chainform.runtime import CodeCache, CodeStorage, Program, cache, kernel
from unit.runtime.programs import (
    Array,
    Counted,
    Memory,
    arm,
    graph_of,
    plain_target,
    refuse,
    same_bits,
    small,
)

pytestmark = pytest.mark.any_processor

Q = np.linspace(-1, 1, 33).reshape(11, 3)


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """The compiler, with a count of its calls."""
    counted = Counted()
    monkeypatch.setattr(kernel, "compiled", counted)
    return counted


def both(program: Program) -> tuple[Array, Array]:
    """Return results for one state and for a batch, so that all machine code is needed."""
    return program.o(Q[3]), program.o(Q)


def test_the_second_program_compiles_nothing(
    compiler: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    code_cache = Memory()
    first = Program(small(), code_cache=code_cache)
    expected = both(first)
    assert (compiler.calls, len(code_cache.kept), code_cache.served) == (2, 2, 0)
    key = cache.user_key() or b""
    assert {cache.own_name(name, key) for name in first.codes()} == set(code_cache.kept)
    monkeypatch.setattr(kernel, "compiled", refuse)
    second = Program(small(), code_cache=code_cache)
    for found, wanted in zip(both(second), expected, strict=True):
        same_bits(found, wanted)
    assert code_cache.served == 2
    assert second.codes() == first.codes()


def test_code_is_made_when_it_is_needed(compiler: Counted) -> None:
    program = Program(small())
    assert compiler.calls == 0
    assert program.codes() == {}
    program.o(Q[0])
    program.o(Q[1].tolist())
    assert compiler.calls == 1
    program.o(Q)
    program.bind({}).o(Q)
    assert compiler.calls == 2


def renamed() -> Graph:
    """Return the small graph with other names; nothing that is computed has changed."""
    graph = small()
    return replace(graph, names=tuple(f"{name}_" if name == "a" else name for name in graph.names))


OTHERS: dict[str, Callable[[CodeStorage], Program]] = {
    "lanes": lambda code_cache: Program(small(), code_cache=code_cache, lanes=2),
    "precision": lambda code_cache: Program(
        small(), code_cache=code_cache, precision="float32", lanes=4
    ),
    "target": lambda code_cache: Program(
        small(), code_cache=code_cache, cpu=plain_target(), lanes=4
    ),
    "lengths": lambda code_cache: Program(
        small(), code_cache=code_cache, lengths={"q": 4}, lanes=4
    ),
    "graph": lambda code_cache: Program(
        graph_of("input q 0 q1", "input q 1 q2", "input q 2 q3", "output o [2]: q1 q2"),
        code_cache=code_cache,
        lanes=4,
    ),
}


@pytest.mark.parametrize("other", OTHERS)
def test_whatever_changes_the_code_changes_the_key(other: str) -> None:
    code_cache = Memory()
    Program(small(), code_cache=code_cache, lanes=4).kernel("o").code("single")
    OTHERS[other](code_cache).kernel("o").code("single")
    assert (len(code_cache.kept), code_cache.served) == (2, 0)


def test_graphs_that_differ_in_little_have_other_keys() -> None:
    lines = ["input q 0 q1", "input q 1 q2", "a = 2*q1 + q2", "b = sin(a)", "output o [2]: a b"]
    changes = {
        0: "input qd 0 q1",
        1: "input q 2 q2",
        2: "a = 3*q1 + q2",
        3: "b = cos(a)",
        4: "output o [2]: b a",
    }
    variants = [lines, *([*lines[:i], text, *lines[i + 1 :]] for i, text in changes.items())]
    variants += [
        [*lines[:4], "output o [2 1]: a b"],
        [*lines[:2], "a = 2*q1 - q2", *lines[3:]],
        [*lines[:2], "a = 2*q1^2 + q2", *lines[3:]],
        [*lines[:2], "a = 2*q1*q2", *lines[3:]],
        [*lines[:3], "b = sin(q1)", *lines[4:]],
    ]
    keys = {Program(graph_of(*v)).kernel("o")._key("single") for v in variants}
    assert len(keys) == len(variants)
    program = Program(graph_of(*lines))
    assert program.kernel("o")._key("single") != program.kernel("o")._key("batch")


def test_names_and_defaults_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    code_cache, some = Memory(), arm()
    expected = both(Program(small(), code_cache=code_cache))
    some.compile(code_cache=code_cache).gravity([0.1, 0.2])
    monkeypatch.setattr(kernel, "compiled", refuse)
    same_bits(both(Program(renamed(), code_cache=code_cache))[1], expected[1])
    same_bits(both(Program(small(), code_cache=code_cache, threads=2))[1], expected[1])
    some.bind({"m_1": 7}, keep_free=True).compile(code_cache=code_cache).gravity([0.1, 0.2])


# --- seals ----------------------------------------------------------------------------------

KEY = bytes(range(32))


def test_seals() -> None:
    data = cache.sealed(b"code", "name", KEY)
    assert cache.unsealed(data, "name", KEY) == b"code"
    assert cache.unsealed(data, "other", KEY) is None
    assert cache.unsealed(data, "name", KEY[::-1]) is None
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        assert cache.unsealed(bytes(changed), "name", KEY) is None
    for cut in (b"", data[:31], data[:-1], data + b"x", b"code"):
        assert cache.unsealed(cut, "name", KEY) is None


def spoil(code_cache: Memory, how: str) -> None:
    for name, data in list(code_cache.kept.items()):
        match how:
            case "flipped":
                code_cache.kept[name] = data[:-1] + bytes([data[-1] ^ 1])
            case "unsealed":
                code_cache.kept[name] = data[32:]
            case "empty":
                code_cache.kept[name] = b""
            case "exchanged":
                others = [other for other in code_cache.kept if other != name]
                code_cache.kept[name] = cache.sealed(b"\x7fELF", others[0], KEY)
            case _:
                code_cache.kept[name] = cache.sealed(data[32:], name, KEY[::-1])


@pytest.mark.parametrize("how", ["flipped", "unsealed", "empty", "exchanged", "another key"])
def test_code_with_a_bad_seal_is_made_again(how: str, compiler: Counted) -> None:
    code_cache = Memory()
    expected = both(Program(small(), code_cache=CodeCache(code_cache, KEY)))
    good = dict(code_cache.kept)
    spoil(code_cache, how)
    compiler.calls = 0
    for found, wanted in zip(
        both(Program(small(), code_cache=CodeCache(code_cache, KEY))), expected, strict=True
    ):
        same_bits(found, wanted)
    assert compiler.calls == 2
    assert code_cache.kept == good


# --- the user's key -------------------------------------------------------------------------


def test_the_key_is_made_once(user_data: Path) -> None:
    assert not user_data.exists()
    key = cache.user_key()
    file = user_data / "chainform" / cache.KEY_FILE
    assert key == file.read_bytes()
    assert file.stat().st_size == 32
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert cache.user_key() == key
    assert [f.name for f in file.parent.iterdir()] == [cache.KEY_FILE]


def test_every_user_has_another_key(tmp_path: Path) -> None:
    assert cache.key_in(tmp_path / "a") != cache.key_in(tmp_path / "b")


def test_the_key_is_made_once_by_many(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: cache.key_in(tmp_path / "data"), range(64)))
    assert len(keys) == 1
    assert None not in keys
    assert len(list((tmp_path / "data").iterdir())) == 1


def test_without_a_key_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: Counted
) -> None:
    file = tmp_path / "file"
    file.write_text("where a folder should be")
    monkeypatch.setenv("XDG_DATA_HOME", str(file))
    assert cache.user_key() is None
    code_cache = Memory()
    for calls in (2, 4):
        both(Program(small(), code_cache=CodeCache(code_cache)))
        assert compiler.calls == calls
    assert code_cache.kept == {}
    assert Program.from_bytes(Program(small()).to_bytes()).o(Q).shape == (11, 2)


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(Path, "home", home)
    assert cache.user_key() is None
    assert CodeCache(Memory()).get("a") is None


@pytest.mark.parametrize("content", [b"", b"short", bytes(33)])
def test_a_damaged_key_is_no_key(tmp_path: Path, content: bytes) -> None:
    (tmp_path / cache.KEY_FILE).write_bytes(content)
    assert cache.key_in(tmp_path) is None
    assert (tmp_path / cache.KEY_FILE).read_bytes() == content
