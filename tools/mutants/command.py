"""The arguments of `tools/mutants.py`, and what it prints: a table by rooms, and what is alive."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from signal import SIGINT, SIGTERM, signal
from typing import Any

from tools.mutants.changes import Change
from tools.mutants.draw import ROOMS, ROOT, drawn
from tools.mutants.explained import explained
from tools.mutants.reach import Traces, test_files
from tools.mutants.trial import ALIVE, EXPLAINED, KILLED, TIMED_OUT, Court, Verdict

COLUMNS = (KILLED, TIMED_OUT, EXPLAINED, ALIVE)


def arguments(texts: list[str] | None = None) -> Namespace:
    """Return the arguments."""
    parser = ArgumentParser(prog="mutants.py", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="how many changes are drawn")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--rooms", default=",".join(ROOMS), help="where changes are drawn")
    parser.add_argument("--processes", type=int, default=1, help="so many changes side by side")
    parser.add_argument("--slow", action="store_true", help="with the tests marked slow")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="of tests for one change, as unchanged"
    )
    parser.add_argument("--resume", type=Path, help="verdicts so far; new ones are added")
    parser.add_argument("--retry", action="store_true", help="try again what was alive")
    parser.add_argument("--json", type=Path, help="write table and verdicts to this file")
    parser.add_argument("--list", action="store_true", help="print the sample, and try nothing")
    parser.add_argument(
        "--cache", type=Path, default=ROOT / ".mutants", help="what tests reach, machine code"
    )
    given = parser.parse_args(texts)
    given.rooms = tuple(given.rooms.split(","))
    if unknown := sorted(set(given.rooms) - set(ROOMS)):
        parser.error(f"no such room: {', '.join(unknown)}; there are {', '.join(ROOMS)}")
    return given


def main(texts: list[str] | None = None) -> int:
    """Try a sample; 1 if a change stayed alive. An interrupted one has its table as well."""
    given = arguments(texts)
    end_on_signals()
    reasons = explained()
    sample = drawn(given.rooms, given.count, given.seed)
    if given.list:
        print(*(change.name for change in sample), sep="\n")
        return 0
    verdicts = [Verdict(c, EXPLAINED, reasons[c.key], 0) for c in sample if c.key in reasons]
    verdicts += _earlier(given, [c for c in sample if c.key not in reasons])
    done = {verdict.change.key for verdict in verdicts}
    try:
        for verdict in _tried(given, [c for c in sample if c.key not in done]):
            verdicts.append(verdict)
            print(f"{len(verdicts):4} {line(verdict)}", flush=True)
            _add(given.resume, verdict)
    except KeyboardInterrupt:
        print("interrupted")
    print(f"\n{table(verdicts)}\n")
    alive = [verdict for verdict in verdicts if verdict.outcome == ALIVE]
    print(*(line(verdict) for verdict in sorted(alive, key=_place)), sep="\n")
    if given.json is not None:
        given.json.write_text(json.dumps(_record(verdicts), indent=1), encoding="utf-8")
    return 1 if alive else 0


def end_on_signals() -> None:
    """Let SIGINT and SIGTERM end the run, also where a shell ignores the former."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for number in (SIGINT, SIGTERM):
        signal(number, interrupt)


def _tried(given: Namespace, changes: list[Change]) -> Iterator[Verdict]:
    if not changes:
        return
    files = sorted({file for room in given.rooms for file in test_files(room)})
    traces = Traces(given.cache, given.slow, given.processes)
    reached = dict(traces.of(files))
    court = Court(reached, traces.machine_code, given.slow, given.seconds, given.processes)
    yield from court.verdicts(changes)


def line(verdict: Verdict) -> str:
    """Return a verdict as text."""
    tail = f"  ({verdict.by})" if verdict.by else ""
    return f"{verdict.outcome:9} {verdict.change.name}{tail}"


def table(verdicts: Iterable[Verdict]) -> str:
    """Return the outcomes by rooms."""
    counts: dict[str, Counter[str]] = {}
    for verdict in sorted(verdicts, key=_place):
        for room in (verdict.change.file.split("/")[0], "all"):
            counts.setdefault(room, Counter())[verdict.outcome] += 1
    counts["all"] = counts.pop("all", Counter())
    rows = [" ".join([f"{'room':14}", *(f"{name:>9}" for name in COLUMNS), "  noticed"])]
    for room, row in counts.items():
        total = sum(row.values())
        noticed = f"{100 * (total - row[ALIVE]) / total:7.1f}%" if total else f"{'-':>8}"
        rows.append(" ".join([f"{room:14}", *(f"{row[name]:9}" for name in COLUMNS), noticed]))
    return "\n".join(rows)


def _place(verdict: Verdict) -> tuple[int, str, int]:
    change = verdict.change
    return ROOMS.index(change.file.split("/")[0]), change.file, change.line


def _record(verdicts: Iterable[Verdict]) -> list[Mapping[str, Any]]:
    return [
        {
            "key": verdict.change.key,
            "outcome": verdict.outcome,
            "by": verdict.by,
            "tests": verdict.tests,
            "change": verdict.change.name,
        }
        for verdict in verdicts
    ]


def _add(file: Path | None, verdict: Verdict) -> None:
    if file is not None:
        with file.open("a", encoding="utf-8") as stream:
            print(json.dumps(*_record([verdict])), file=stream)


def _earlier(given: Namespace, changes: list[Change]) -> list[Verdict]:
    """Return the verdicts of an earlier run, the last one of each change."""
    if given.resume is None or not given.resume.exists():
        return []
    rows = map(json.loads, given.resume.read_text(encoding="utf-8").splitlines())
    known = {row["key"]: row for row in rows}
    found = [
        Verdict(c, known[c.key]["outcome"], known[c.key]["by"], known[c.key]["tests"])
        for c in changes
        if c.key in known
    ]
    return [v for v in found if not (given.retry and v.outcome == ALIVE)]
