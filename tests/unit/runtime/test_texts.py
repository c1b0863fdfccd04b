"""Machine code by its text: compiled once, and kept by whoever offers to."""

from __future__ import annotations

import pytest

from chainform.runtime import texts
from chainform.runtime.target import host
from chainform.runtime.texts import code_of

pytestmark = pytest.mark.any_processor

TEXT = "define double @one() {{\n  ret double {number}.0\n}}\n"


class Memory:
    """A keeper that counts."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.asked = 0

    def get(self, key: str) -> bytes | None:
        self.asked += 1
        return self.kept.get(key)

    def put(self, key: str, data: bytes) -> None:
        self.kept[key] = data


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was compiled, in order; nothing is known at first."""
    seen: list[str] = []
    original = texts.compiled

    def counted(text: str, target: object) -> bytes:
        seen.append(text)
        return original(text, host())

    monkeypatch.setattr(texts, "compiled", counted)
    monkeypatch.setattr(texts, "_recent", type(texts._recent)())
    return seen


def test_a_text_is_compiled_once(compilations: list[str]) -> None:
    text = TEXT.format(number=1)
    assert code_of(text, host()) == code_of(text, host())
    code_of(TEXT.format(number=2), host())
    assert len(compilations) == 2


def test_only_the_last_ones_stay_in_memory(
    compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "RECENT", 2)
    for number in (1, 2, 3, 1):
        code_of(TEXT.format(number=number), host())
    assert len(compilations) == 4


def test_a_keeper_keeps_it(compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    keeper, text = Memory(), TEXT.format(number=1)
    first = code_of(text, host(), keeper)
    monkeypatch.setattr(texts, "_recent", type(texts._recent)())
    assert code_of(text, host(), keeper) == first
    assert len(compilations) == 1
    assert len(keeper.kept) == 1


def test_a_keeper_that_comes_later_keeps_it_too(compilations: list[str]) -> None:
    keeper, text = Memory(), TEXT.format(number=1)
    code_of(text, host())
    code_of(text, host(), keeper)
    assert len(compilations) == 1
    assert len(keeper.kept) == 1


def test_what_others_kept_is_not_run(compilations: list[str]) -> None:
    keeper, text = Memory(), TEXT.format(number=1)
    code_of(text, host(), keeper)
    for key in keeper.kept:
        keeper.kept[key] = b"x" * 100
    assert code_of(text, host(), keeper)[:4] != b"xxxx"
