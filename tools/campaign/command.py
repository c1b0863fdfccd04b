"""The arguments of the campaign, and what it prints."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Generator
from contextlib import closing, contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from signal import SIG_IGN, SIGINT, SIGTERM, signal
from time import monotonic

from tools.campaign.crew import rounds
from tools.campaign.report import Counts
from tools.campaign.rounds import round_of

EVERY = 25
"""After so many mechanisms a line tells how far the campaign is."""


def arguments(texts: list[str] | None = None) -> Namespace:
    """Return the arguments."""
    parser = ArgumentParser(prog="campaign.py", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long new cases are begun")
    parser.add_argument("--seed", type=int, default=1, help="of the random mechanisms")
    parser.add_argument("--cases", type=int, help="so many cases in place of minutes")
    parser.add_argument("--case", type=int, help="repeat one case, in this process")
    parser.add_argument("--processes", type=int, default=1, help="seeds S, S + 1 ... side by side")
    parser.add_argument("--json", type=Path, help="write counts and scripts to this file")
    parser.add_argument(
        "--postgres", action="store_true", help="with stores on a PostgreSQL server of its own"
    )
    parser.add_argument("--scripts", type=Path, help="write scripts into this folder")
    return parser.parse_args(texts)


def main(texts: list[str] | None = None) -> int:
    """Run a campaign; 1 if there is a disagreement. An interrupted one has its counts as well."""
    given = arguments(texts)
    total = Counts()
    try:
        with _server(given.postgres), closing(_results(given)) as results:
            for counts in results:
                _add(total, counts, given.scripts)
                _save(total, given.json)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    print(f"\n{total.text()}", flush=True)
    _save(total, given.json)
    return 1 if total.disagreements else 0


@contextmanager
def _server(is_wanted: bool) -> Generator[None]:
    """Start the PostgreSQL server of the tests, and let paths know its address."""
    if not is_wanted:
        yield
        return
    sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
    with import_module("postgres_server").server() as address:
        os.environ["CAMPAIGN_POSTGRES"] = f"{address}/postgres"
        yield


def on_signals() -> None:
    """Let the first SIGINT or SIGTERM end the campaign, also where a shell ignores the former."""

    def interrupt(*_: object) -> None:
        for number in (SIGINT, SIGTERM):
            signal(number, SIG_IGN)
        raise KeyboardInterrupt

    for number in (SIGINT, SIGTERM):
        signal(number, interrupt)


def _save(total: Counts, file: Path | None) -> None:
    """Write the counts so far; the file is always a whole one."""
    if file is not None:
        part = file.with_name(f"{file.name}.part")
        part.write_text(json.dumps(total.as_table(), indent=1))
        part.replace(file)


def _add(total: Counts, counts: Counts, folder: Path | None) -> None:
    """Add the counts of cases, and print the scripts that are new."""
    for label, script in counts.scripts.items():
        if label not in total.scripts:
            print(f"\n# --- {label}\n{script}", flush=True)
            _written(folder, len(total.scripts) + 1, label, script)
            total.scripts[label] = script
    total.add(counts)
    if total.cases % EVERY == 0:
        print(f"{total.cases} mechanisms", file=sys.stderr, flush=True)


def _results(given: Namespace) -> Generator[Counts]:
    if given.case is not None:
        yield round_of(given.seed, given.case)
        return
    end = monotonic() + 60 * given.minutes
    numbers = count() if given.cases is None else iter(range(given.cases))
    seeds = [given.seed + i for i in range(given.processes)]
    yield from rounds(seeds, numbers, lambda: given.cases is None and monotonic() > end)


def _written(folder: Path | None, number: int, label: str, script: str) -> None:
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    name = "".join(c if c.isalnum() else "-" for c in label)[:60].strip("-")
    (folder / f"{number:02}-{name}.py").write_text(script)
