"""Which test reaches which line: each file of tests runs once under coverage, a context per test.

A file of tests has a process of its own, so that nothing is there from others: what one of its
tests computes for a later one is reached by the first only, so the others of the file count as
well, after those that reach a line themselves. Procedures are seldom run by Python: all tests of a
file reach those that one of them lets be translated to machine code.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tools.mutants.draw import PACKAGE, ROOT
from tools.mutants.sandbox import Ended, Sandbox, in_sandboxes, pytest_options

EVERYWHERE = ("tests/laws", "tests/agreement", "tests/test_tiny.py")
TESTS: dict[str, tuple[str, ...]] = {
    "graph": ("tests/unit/graph", "tests/unit/algebra", "tests/passes", "tests/unit/model"),
    "algebra": ("tests/unit/algebra", "tests/passes", "tests/unit/model", "tests/unit/search"),
    "passes": ("tests/unit/passes", "tests/passes", "tests/unit/algebra", "tests/unit/search"),
    "formulations": (
        *("tests/unit/formulations", "tests/unit/model"),
        "tests/unit/simulation/test_actuated.py",
    ),
    "mechanism": ("tests/unit/mechanism", "tests/unit/formulations", "tests/unit/readers"),
    "simulation": ("tests/unit/simulation",),
    "store": ("tests/unit/store", "tests/unit/model"),
}
"""The tests of each room, besides those of EVERYWHERE: its own, and those of rooms that show it."""
SERVERS = {"browser", "postgres", "postgres_server", "postgres_url"}
LIMIT = 600.0
"""Seconds of the processor for one file of tests."""


def test_files(room: str) -> list[str]:
    """Return the files of tests of a room."""
    found: list[Path] = []
    for name in (*TESTS[room], *EVERYWHERE):
        path = ROOT / name
        found += sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    return [path.relative_to(ROOT).as_posix() for path in found]


@dataclass
class Reach:
    """What one file of tests reaches."""

    data: Path
    seconds: dict[str, float]
    """The tests that passed, in their order, and how long each took."""
    translated: dict[str, list[tuple[str, int, int]]]
    """By tests: files, first and last lines of the procedures that were translated."""

    @cached_property
    def coverage(self) -> Any:
        from coverage import CoverageData

        data = CoverageData(basename=str(self.data))
        data.read()
        return data

    def tests(self, file: str, lines: Sequence[int]) -> tuple[set[str], bool]:
        """Return the tests that reach one of the lines, and whether it runs at the import."""
        contexts: dict[int, list[str]] = self.coverage.contexts_by_lineno(file)
        found = {test for line in lines for test in contexts.get(line, ())}
        procedures = [procedure for given in self.translated.values() for procedure in given]
        if any(name == file and a <= lines[0] <= b for name, a, b in procedures):
            # The machine code of the first test serves the others.
            found |= self.seconds.keys()
        return found & self.seconds.keys(), "" in found


@dataclass(eq=False)
class _Watch:
    """The plugin of pytest that tells coverage which test runs."""

    coverage: Any
    slow: bool
    sources: str
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    failed: set[str] = field(default_factory=set[str])
    translated: dict[str, list[tuple[str, int, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    test: str = ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        chosen = [item for item in items if is_wanted(item, self.slow)]
        items[:] = chosen
        self._watch_translation()

    def _watch_translation(self) -> None:
        from chainform.runtime.procedures.expressions import Expressions

        begin = Expressions.__init__

        def watched(this: Any, whole: Any, procedure: Any) -> None:
            begin(this, whole, procedure)
            code = procedure.__code__
            first = code.co_firstlineno
            last = first + len(this.node.body) and first + (this.node.end_lineno or 1) - 1
            name = code.co_filename.removeprefix(self.sources)
            self.translated[self.test].append((name, first, last))

        Expressions.__init__ = watched  # pyright: ignore[reportAttributeAccessIssue]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.test = nodeid
        self.coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if not report.passed:
            self.failed.add(report.nodeid)


def is_wanted(item: Any, slow: bool) -> bool:
    """Tell whether a test may run: none that needs a GPU or a server; slow ones if told so."""
    if SERVERS.intersection(getattr(item, "fixturenames", ())) or item.get_closest_marker("gpu"):
        return False
    return slow or item.get_closest_marker("slow") is None


@dataclass(frozen=True)
class Traces:
    """The files with what tests reach, by the sources of the package and of the tests."""

    folder: Path
    slow: bool
    processes: int

    @property
    def machine_code(self) -> Path:
        """The cache of pytest, for all runs."""
        return self.folder / "cache"

    def of(self, files: Sequence[str]) -> Iterator[tuple[str, Reach]]:
        """Yield what files of tests reach; made now where it is not there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        common = self._common()
        places = {file: self.folder / self._key(common, file) for file in files}
        missing = [
            (file, LIMIT) for file in files if not places[file].with_suffix(".json").exists()
        ]

        def work(file: str, sandbox: Sandbox) -> Any:
            return self._traced(file, sandbox, places[file])

        for file, answer in in_sandboxes(work, missing, self.processes):
            if isinstance(answer, Ended):
                print(f"{file}: no map: {answer.log}", flush=True)
                continue
            place = places[file].with_suffix(".json")
            place.write_text(json.dumps(answer), encoding="utf-8")
            failed = answer["failed"]
            print(f"{file}: {len(answer['seconds'])} tests", *failed, flush=True)
        for file in files:
            place = places[file]
            if place.with_suffix(".json").exists():
                stored = json.loads(place.with_suffix(".json").read_text(encoding="utf-8"))
                seconds, translated = stored["seconds"], stored["translated"]
                yield file, Reach(place.with_suffix(".coverage"), seconds, translated)

    def _common(self) -> bytes:
        """Return a hash of the package and of what tests share."""
        helpers = [p for p in (ROOT / "tests").rglob("*.py") if not p.name.startswith("test_")]
        return _digest([*PACKAGE.rglob("*.py"), *helpers])

    def _key(self, common: bytes, file: str) -> str:
        digest = hashlib.sha256(common + _digest([ROOT / file]) + bytes([self.slow]))
        return f"{Path(file).stem}-{digest.hexdigest()[:20]}"

    def _traced(self, file: str, sandbox: Sandbox, place: Path) -> dict[str, Any]:
        import pytest
        from coverage import Coverage

        sources = f"{sandbox.source}/chainform/"
        data = place.with_suffix(".coverage")
        data.unlink(missing_ok=True)
        rooms = [f"{sources}{room}/*" for room in TESTS]
        coverage = Coverage(data_file=str(data), config_file=False, include=rooms)
        watch = _Watch(coverage, self.slow, sources)
        coverage.start()
        pytest.main([*pytest_options(self.machine_code, sandbox), file], plugins=[watch])
        coverage.stop()
        coverage.save()
        _rename(data, sources)
        passed = {name: s for name, s in watch.seconds.items() if name not in watch.failed}
        translated = {k: v for k, v in watch.translated.items() if k in passed}
        return {"seconds": passed, "translated": translated, "failed": sorted(watch.failed)}


def _digest(paths: Sequence[Path]) -> bytes:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.relative_to(ROOT)}".encode())
        digest.update(path.read_bytes())
    return digest.digest()


def _rename(data: Path, sources: str) -> None:
    """Let the files in the data have their paths in the package."""
    import sqlite3

    with sqlite3.connect(data) as connection:
        connection.execute("update file set path = replace(path, ?, '')", (sources,))
    connection.close()
