"""Tools for those who change the house: the walk, motions, coverage, code that is compiled once."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import machine_code
from chainform.runtime import Target, engine, host
from machine_code import CompiledOnce
from tools import rooms, trajectories, typed_examples
from tools.room_coverage import COUNTS, table, totals_of
from tools.walk import walked

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.slow
@pytest.mark.usefixtures("short_walks")
def test_the_walk_counts_what_each_stage_enters(tmp_path: Path) -> None:
    walk = walked(EXAMPLES / "four_bar.toml", tmp_path)
    assert list(walk.stages) == ["read", "derive", "reduce", "compile", "simulate", "save", "load"]
    assert all(walk.stages.values())
    entered = {name for _, _, name in walk.stages["derive"]}
    assert "derive" in entered
    assert not any("Error" in name for name in entered)
    assert walk.text().splitlines()[-1].startswith("all")
    assert "pipeline.py\n" in walk.places()


def test_motions_are_compared_bit_by_bit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "motions.npz"
    assert trajectories.main(["--write", str(file), "four_bar", "crane_loads"]) == 0
    assert np.load(file)["crane_loads"].shape[0] == 36
    assert trajectories.main(["--compare", str(file), "four_bar"]) == 0
    states = dict(np.load(file))["four_bar"]
    states[3, 1] = np.nextafter(states[3, 1], 2.0)
    np.savez(file, four_bar=states)
    assert trajectories.main(["--compare", str(file), "four_bar"]) == 1
    assert "four_bar: differs by" in capsys.readouterr().out


def test_coverage_is_added_up_by_rooms() -> None:
    def entry(*counts: int) -> dict[str, dict[str, int]]:
        return {"summary": dict(zip(COUNTS, counts, strict=True))}

    files = {
        "src/chainform/graph/operation_count.py": entry(10, 9, 4, 1),
        "src/chainform/graph/text/lines.py": entry(30, 27, 0, 0),
        "src/chainform/errors.py": entry(5, 5, 0, 0),
    }
    totals = totals_of({"files": files})
    assert list(totals) == ["errors", "graph", "all"]
    assert [totals["all"][name] for name in COUNTS] == [45, 41, 4, 1]
    rows = [line.split() for line in table(totals).splitlines()[1:]]
    assert rows[0] == ["errors", "5", "100.00%", "0", "-"]
    assert rows[1] == ["graph", "40", "90.00%", "4", "25.00%"]


def test_each_text_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another text, processor or compiler has other code; what no test used for days goes."""
    made: list[tuple[str, Target]] = []

    def compiled(text: str, target: Target) -> bytes:
        made.append((text, target))
        return text.encode()

    monkeypatch.setattr(engine, "compiled", compiled)
    other = replace(host(), cpu="generic")
    for text, target in 2 * [("a", host()), ("b", host()), ("a", other)]:
        assert CompiledOnce(tmp_path)(text, target) == text.encode()
    assert made == [("a", host()), ("b", host()), ("a", other)]
    monkeypatch.setattr(machine_code, "compiler", lambda: "newer")
    once = CompiledOnce(tmp_path)
    once("a", host())
    assert len(made) == len(list(tmp_path.iterdir())) == 4
    file = next(tmp_path.iterdir())
    os.utime(file, (0, 0))
    once.remove_old()
    assert not file.exists()
    assert len(list(tmp_path.iterdir())) == 3


def test_examples_stand_in_their_lines() -> None:
    page = "# Page\n\n```python\nx = 1\n```\n\n  ```python\n  y = x\n  ```\n\n```text\nz\n```\n"
    lines = typed_examples.module_of(page).splitlines()
    assert [(k, line) for k, line in enumerate(lines, 1) if line] == [(4, "x = 1"), (8, "y = x")]


# --- rooms ----------------------------------------------------------------------------------


def test_the_picture_of_the_rooms_is_drawn_from_the_code() -> None:
    """After a change of imports: python tools/rooms.py --draw."""
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.drawing(rooms.modules())


def test_imports_that_follow_from_others_are_not_drawn() -> None:
    uses = {"a": {"b", "c"}, "b": {"c", "d"}, "c": {"d"}, "d": set[str]()}
    assert rooms.direct(uses) == {"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": set()}


BROKEN = {
    "one/__init__.py": '__all__ = ["inner", "other"]\n',
    "one/inner.py": "class Thing: ...\nclass _Own: ...\n",
    "one/making.py": "",
    "two.py": "def f():\n    from chainform.one.inner import Thing\nclass Thing: ...\n",
    "three.py": "import chainform.one.inner\nfrom chainform import one\n",
    "long.py": "x = 1\n" * 401,
}


def test_rules_that_are_broken_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in BROKEN.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(rooms, "PACKAGE", tmp_path)
    monkeypatch.setattr(rooms, "LINES", 400)
    assert list(rooms.broken_rules(rooms.modules())) == [
        "three.py:1: one.inner is imported past the door of one",
        "two.py:2: one.inner is imported past the door of one",
        "the class name Thing has several meanings: one/inner.py, two.py",
        "one/__init__.py: inner is the name of a module, too",
        "the package has 409 lines, more than 400: remove some, or decide on more",
        "long.py has 401 lines, more than 400",
        "one/making.py: a file is named by a noun",
    ]
