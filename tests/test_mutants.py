"""Mutants and planted defects: what is changed, what is left alone, and who notices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tools.mutants import draw, explained, planted, trial
from tools.mutants.changes import Change, changes_of, is_python
from tools.mutants.command import line, main, table
from tools.mutants.reach import Reach
from tools.mutants.trial import ALIVE, KILLED, TIMED_OUT, Court, Verdict, chosen, stages


def pairs(text: str) -> set[tuple[str, str]]:
    """What stands in a text, and what would stand there instead."""
    return {(c.old, c.new) for c in changes_of("graph/some.py", dedent(text))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = (a) + b", {("+", "-")}),
        ("x = a // b", {("//", "*")}),
        ("x = a @ b", {("a @ b", "b @ a")}),
        ("x = a <= b", {("<=", "<")}),
        ("x = a not in b", {("not in", "in")}),
        ("x = a and b", {("and", "or")}),
        ("x = not a", {("not a", "a")}),
        ("x = -a", {("-a", "a")}),
        ("x = 2", {("2", "(3)"), ("2", "(1)")}),
        ("x = True", {("True", "False")}),
        ("x = f(a, b)", {("a, b", "b, a")}),
        ("x = 1 if a else b", {("a", "True"), ("a", "False"), ("1", "(2)"), ("1", "(0)")}),
        ("x = [a for a in b if a]", {("a", "True"), ("a", "False")}),
        ("a.b = c", {("a.b = c", "pass")}),
        ("a += b", {("a += b", "pass"), ("+=", "-=")}),
        ("f(a)", {("f(a)", "pass")}),
        ("while a:\n    break", {("a", "False"), ("break", "pass")}),
        ("def f() -> bool:\n    return a", {("a", "None"), ("a", "not (a)")}),
        ("def f() -> int:\n    return a", {("a", "None"), ("a", "-(a)")}),
        ("def f() -> str:\n    return a", {("a", "None")}),
        ("if a:\n    raise E", {("a", "True"), ("a", "False"), ("raise E", "pass")}),
    ],
)
def test_what_is_changed(text: str, expected: set[tuple[str, str]]) -> None:
    assert pairs(text) == expected


def test_what_people_read_is_left_alone() -> None:
    assert not pairs('''
        """A text of 2 lines."""
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            x = 1 + 2
        Kind: TypeAlias = int | None
        y: "a + b" = f"{a + b}"
        def __repr__(self):
            return 1 + 2
        ''')
    assert pairs("raise RunError(a + 1, b)") == {("raise RunError(a + 1, b)", "pass")}
    assert pairs("x = element_error(a + 1, b)") == set()
    assert pairs("x = f(element=1 + a)") == set()


def test_a_change_is_applied_where_it_stands() -> None:
    text = 'a = "é"; b = 1 - 1\nb -= 1\n'
    found = [c for c in changes_of("graph/some.py", text) if c.kind == "operator"]
    assert [c.applied(text) for c in found] == [
        'a = "é"; b = 1 + 1\nb -= 1\n',
        'a = "é"; b = 1 - 1\nb += 1\n',
    ]
    assert found[1].name == "graph/some.py:2: operator: b -= 1 [-= -> +=]"
    with pytest.raises(ValueError, match="the file has changed"):
        found[0].applied(" " + text)
    inside = changes_of("graph/some.py", "x = 1\ndef f(a=1):\n    return 1\nclass A:\n    y = 1\n")
    assert [c.line for c in inside if c.in_function] == [3, 3, 3]
    assert is_python("x = 1")
    assert not is_python("x = = 1")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one room of a hundred lines."""
    folder = tmp_path / "graph"
    folder.mkdir()
    lines = [f"x{i} = {i} + y * {i}" for i in range(100)]
    (folder / "some.py").write_text("\n".join(lines))
    monkeypatch.setattr(draw, "PACKAGE", tmp_path)
    return tmp_path


def test_the_same_seed_draws_the_same_changes(package: Path) -> None:
    first = draw.drawn(["graph"], 20, 1)
    assert first == draw.drawn(["graph"], 20, 1)
    assert len({c.line for c in first}) == 20
    assert len(draw.drawn(["graph"], 200, 1)) == 100
    other = {c.key for c in draw.drawn(["graph"], 20, 2)}
    assert {c.key for c in first} != other
    # A new line does not give another sample.
    file = package / "graph" / "some.py"
    file.write_text("import sys\n" + file.read_text())
    assert [c.key for c in draw.drawn(["graph"], 20, 1)] == [c.key for c in first]


ENTRY = """
[[change]]
file = "graph/some.py"
line = "x7 = 7 + y * 7"
old = "{old}"
new = "{new}"
why = "it is never read"
{nth}
"""


def test_explained_changes_are_found_by_their_text(package: Path) -> None:
    file = package / "equivalent.toml"
    file.write_text(ENTRY.format(old="+", new="-", nth=""))
    assert list(explained.explained(file, package).values()) == ["it is never read"]
    file.write_text(ENTRY.format(old="7", new="(8)", nth=""))
    with pytest.raises(SystemExit, match="2 changes are called"):
        explained.explained(file, package)
    file.write_text(ENTRY.format(old="7", new="(8)", nth="nth = 2"))
    (key,) = explained.explained(file, package)
    text = (package / "graph" / "some.py").read_text()
    (change,) = [c for c in changes_of("graph/some.py", text) if c.key == key]
    assert change.start > text.index("y * 7")
    for old, nth in (("<", ""), ("7", "nth = 3"), ("+", 'reason = "none"')):
        file.write_text(ENTRY.format(old=old, new="(8)", nth=nth))
        with pytest.raises(SystemExit, match=r"equivalent\.toml"):
            explained.explained(file, package)


def test_every_explained_change_is_there() -> None:
    """A reason whose line has changed is read again, and then corrected or removed."""
    assert all(len(why) > 20 for why in explained.explained().values())


def test_every_defect_can_be_planted() -> None:
    found = planted.defects()
    assert len(found) == 10
    for defect in found:
        source = (draw.PACKAGE / defect.file).read_text(encoding="utf-8")
        assert is_python(defect.applied(source))
        with pytest.raises(SystemExit, match="has its text 2 times"):
            defect.applied(2 * source)


# --- which tests run ------------------------------------------------------------------------


class Lines:
    """What coverage knows of a file: which contexts reach a line."""

    def __init__(self, contexts: dict[int, list[str]]) -> None:
        self.contexts = contexts

    def contexts_by_lineno(self, file: str) -> dict[int, list[str]]:
        return self.contexts if file == "graph/some.py" else {}


def reach(seconds: dict[str, float], contexts: dict[int, list[str]], **translated: Any) -> Reach:
    """What a file of tests reaches, as the caller says it."""
    found = Reach(Path(), seconds, translated)
    found.coverage = Lines(contexts)
    return found


CHANGE = Change("graph/some.py", 3, 3, 3, 0, 1, "x", "y", "operator", "x", in_function=True)
ONE, TWO = "tests/unit/graph/test_arithmetic.py", "tests/unit/graph/test_batch.py"


def test_the_quickest_test_that_reaches_a_line_is_the_first() -> None:
    reached = {
        ONE: reach({"a": 2.0, "b": 1.0, "c": 0.1}, {3: ["a", "b", "failed"], 4: ["c"]}),
        TWO: reach({"d": 0.5}, {3: [""]}),
    }
    # Others of a file come after all that reach the line; one that reaches nothing has none.
    assert list(chosen(CHANGE, reached, 60.0)) == ["b", "a", "c"]
    assert list(chosen(CHANGE, reached, 2.5)) == ["b", "c"]
    assert list(chosen(replace(CHANGE, in_function=False), reached, 60.0)) == ["c", "d", "b", "a"]
    # What runs at the import is tested by whatever imports it.
    reached[ONE] = reach({"a": 2.0}, {5: ["a"]})
    assert list(chosen(CHANGE, reached, 60.0)) == ["d"]
    # Where the line itself is not counted, its statement is.
    reached[TWO] = reach({"d": 0.5}, {})
    assert chosen(CHANGE, reached, 60.0) == {}
    assert list(chosen(replace(CHANGE, last=5), reached, 60.0)) == ["a"]
    # Machine code that one test needs serves the others of the file.
    reached[TWO] = reach({"d": 0.5, "e": 0.6}, {}, e=[("graph/some.py", 2, 9)])
    assert list(chosen(CHANGE, reached, 60.0)) == ["d", "e"]


def test_the_first_process_has_few_tests() -> None:
    tests = {f"{k // 10}.py::{k}": 0.01 for k in range(100)} | {"0.py::long": 10.0}
    first, rest = stages(tests)
    assert list(first) == [f"{k // 10}.py::{k}" for k in range(40)]
    assert first | rest == tests
    assert stages({"a": 0.1}) == [{"a": 0.1}]
    assert stages({}) == []


def test_the_table_counts_by_rooms(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = [Verdict(CHANGE, outcome, "", 1) for outcome in (KILLED, KILLED, TIMED_OUT, ALIVE)]
    rows = [row.split() for row in table(verdicts).splitlines()]
    assert rows[1:] == [
        ["graph", "2", "1", "0", "1", "75.0%"],
        ["all", "2", "1", "0", "1", "75.0%"],
    ]
    assert line(verdicts[-1]) == "alive     graph/some.py:3: operator: x [x -> y]"
    assert main(["--list", "--count", "3", "--rooms", "passes"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [row.partition("/")[0] for row in printed] == 3 * ["passes"]
    with pytest.raises(SystemExit):
        main(["--rooms", "attic"])


def tried(folder: Path) -> None:
    """Write down the verdicts on changes that a test sees, that no test sees, that never end."""
    file, text = "graph/scalar.py", "def __mul__(self, other: Scalar | Number) -> Scalar:"
    start = draw.text_of(file).index(text)
    new = {
        KILLED: f"{text}\n        raise ValueError",
        ALIVE: f"{text}  # As it was.",
        TIMED_OUT: f"{text}\n        while True: pass",
    }
    changes = [
        Change(file, 3, 3, 3, start, start + len(text), text, wrong, "text", outcome)
        for outcome, wrong in new.items()
    ]
    tests = "tests/unit/graph/test_scalar.py"
    name = f"{tests}::test_a_product_joins_factors"
    found = reach({name: 0.01}, {})
    found.coverage.contexts_by_lineno = lambda path: {3: [name]} if path == file else {}
    trial.SECONDS = 3.0
    court = Court({tests: found}, folder / "cache", slow=False, budget=60.0, processes=1)
    verdicts = court.verdicts([*changes, CHANGE])
    rows = [(verdict.change.text, verdict.outcome, verdict.by) for verdict in verdicts]
    (folder / "rows.json").write_text(json.dumps(sorted(rows)))


@pytest.mark.slow
def test_changes_are_killed_or_not(tmp_path: Path) -> None:
    """In a process that has not imported the package, as the copies are imported instead."""
    root = Path(__file__).parents[1]
    script = "import sys, pathlib, test_mutants; test_mutants.tried(pathlib.Path(sys.argv[1]))"
    paths = os.pathsep.join([str(root), str(root / "tests")])
    environment = {**os.environ, "PYTHONPATH": paths}
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], env=environment, check=True)
    name = "tests/unit/graph/test_scalar.py::test_a_product_joins_factors"
    assert json.loads((tmp_path / "rows.json").read_text()) == [
        [ALIVE, ALIVE, ""],
        [KILLED, KILLED, name],
        [TIMED_OUT, TIMED_OUT, ""],
        ["x", ALIVE, "no test reaches it"],
    ]
