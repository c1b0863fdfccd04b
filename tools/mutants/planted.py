"""Ten defects planted in copies of the package, and what catches each of them, in which time.

Three are asked: the checks of `chainform verify` on examples, a minute of the campaign, and the
tests, those of `--fast` first and then all of the rooms. Each stops at the first thing it finds.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from tools.mutants.command import end_on_signals
from tools.mutants.draw import PACKAGE, ROOT
from tools.mutants.reach import EVERYWHERE, TESTS
from tools.mutants.sandbox import Sandbox, pytest_options

TABLE = Path(__file__).parent / "defects.toml"
LIMIT = 1800.0
"""Seconds after which a process counts as one that hangs."""


@dataclass(frozen=True)
class Defect:
    """A text in a file of the package, and the wrong one."""

    name: str
    file: str
    old: str
    new: str

    def applied(self, source: str) -> str:
        """Return the wrong file; a defect that no longer has its one place is an error."""
        if source.count(self.old) != 1:
            count = source.count(self.old)
            raise SystemExit(f"{TABLE.name}: {self.name}: {self.file} has its text {count} times")
        return source.replace(self.old, self.new)


def defects() -> list[Defect]:
    """Return the defects of the table."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return [Defect(**entry) for entry in table["defect"]]


@dataclass(frozen=True)
class Answer:
    """Whether something caught a defect, after how many seconds, and what it says."""

    is_caught: bool
    seconds: float
    says: str = ""

    def text(self) -> str:
        return f"{self.seconds:.0f} s" if self.is_caught else "-"


def ran(
    command: list[str], sandbox: Sandbox, is_enough: Callable[[], bool] = lambda: False
) -> Answer:
    """Run a command on the copy: exit code 1 is a catch, and so is whatever does not end well.

    It is ended before, where `is_enough` tells that it has found something.
    """
    began = monotonic()
    environment = {
        **os.environ,
        "PYTHONPATH": str(sandbox.source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CHAINFORM_CACHE": "",
        "CHAINFORM_DB": str(sandbox.folder / "models.db"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(sandbox.folder / "hypothesis"),
    }
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    printed = "it took too long"
    try:
        while monotonic() - began < LIMIT and not is_enough():
            with suppress(subprocess.TimeoutExpired):
                printed, _ = process.communicate(timeout=1.0)
                break
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    lines = [line for line in printed.splitlines() if line.strip()]
    says = next((line for line in lines if "FAILED" in line or "ERROR" in line), "")
    seconds = monotonic() - began
    return Answer(process.returncode != 0, seconds, says or " | ".join(lines[-3:]))


# --- what is asked --------------------------------------------------------------------------


def by_tests(sandbox: Sandbox, cache: Path, defect: Defect) -> Answer:
    """Ask the tests of --fast, those of the room first, then all tests of the rooms."""
    common = [sys.executable, "-m", "pytest", "--exitfirst", *pytest_options(cache, sandbox)]
    # The tools and the campaign are about the checkout, or asked by themselves.
    others = ("test_campaign.py", "test_mutants.py", "test_tools.py")
    own = f"tests/unit/{defect.file.split('/')[0]}"
    rooms = sorted({path for paths in TESTS.values() for path in paths} | {*EVERYWHERE})
    seconds = 0.0
    for chosen in (
        ["--fast", own],
        ["--fast", *(f"--ignore=tests/{name}" for name in others)],
        ["-m", "not gpu", own, *rooms],
    ):
        answer = ran([*common, *chosen], sandbox)
        seconds += answer.seconds
        if answer.is_caught:
            return Answer(True, seconds, answer.says)
    return Answer(False, seconds)


def campaign(
    minutes: int, sandbox: Sandbox, known: set[str] | None = None
) -> tuple[Answer, set[str]]:
    """Return what the campaign says in so many minutes, and its disagreements.

    It ends at the first that is not among those that are `known`.
    """
    file = sandbox.folder / "counts.json"
    file.unlink(missing_ok=True)

    def found() -> set[str]:
        with suppress(OSError, ValueError):
            return set(json.loads(file.read_text(encoding="utf-8"))["disagreements"])
        return set()

    command = [sys.executable, "tools/campaign.py", "--minutes", str(minutes), "--seed", "1"]
    answer = ran(
        [*command, "--json", str(file)],
        sandbox,
        lambda: known is not None and bool(found() - known),
    )
    return answer, found()


def by_campaign(sandbox: Sandbox, _: Path, defect: Defect) -> Answer:
    """Ask the campaign for a minute; a disagreement that is there without a defect is no catch."""
    if "campaign" not in WITHOUT:
        sandbox.restore(defect.file)
        # A package with a defect may be faster, and come to more cases.
        WITHOUT["campaign"] = sorted(campaign(3, sandbox)[1])
        plant(defect, sandbox)
    answer, found = campaign(1, sandbox, set(WITHOUT["campaign"]))
    new = sorted(found.difference(WITHOUT["campaign"]))
    is_caught = bool(new) or (answer.is_caught and not found)
    return Answer(is_caught, answer.seconds, ", ".join(new) or answer.says)


def verify(example: str, sandbox: Sandbox) -> Answer:
    """Return what `chainform verify` says of an example."""
    command = [sys.executable, "-m", "chainform", "verify", *f"examples/{example}".split()]
    return ran(command, sandbox)


def by_verify(sandbox: Sandbox, _: Path, defect: Defect) -> Answer:
    """Ask `chainform verify` on the examples that hold without a defect, one after the other."""
    total = 0.0
    for example in sound_examples(sandbox, defect):
        answer = verify(example, sandbox)
        total += answer.seconds
        if answer.is_caught:
            return Answer(True, total, f"{example}: {answer.says}")
    return Answer(False, total)


def sound_examples(sandbox: Sandbox, defect: Defect) -> list[str]:
    """Return the examples that hold in the package as it is; found once."""
    if "verify" not in WITHOUT:
        sandbox.restore(defect.file)
        held = [example for example in EXAMPLES if not verify(example, sandbox).is_caught]
        WITHOUT["verify"] = held
        plant(defect, sandbox)
        print(f"verify holds for {', '.join(held)}", flush=True)
    return WITHOUT["verify"]


def plant(defect: Defect, sandbox: Sandbox) -> None:
    """Put a defect into the copy."""
    source = (PACKAGE / defect.file).read_text(encoding="utf-8")
    sandbox.write(defect.file, defect.applied(source))


EXAMPLES = (
    *("six_axis_arm.toml", "four_bar.toml", "slider_crank.toml", "portal_crane.toml"),
    "six_axis_arm.toml --outputs H,hG --formulation closed_form --reduce thesis",
    *("scenarios/four_bar.toml", "scenarios/gyroscope.toml", "scenarios/bouncing_ball.toml"),
    "scenarios/slider_crank.toml",
)
"""What `chainform verify` is asked of, with options."""
WITHOUT: dict[str, list[str]] = {}
"""What is there without a defect, found once: examples that hold, disagreements of the campaign."""
ASKED: dict[str, Callable[[Sandbox, Path, Defect], Answer]] = {
    "verify": by_verify,
    "campaign": by_campaign,
    "tests": by_tests,
}


def asked(names: list[str], chosen: list[Defect]) -> Iterator[tuple[Defect, str, Answer]]:
    """Yield what each says of each defect."""
    with tempfile.TemporaryDirectory(prefix="planted-") as name:
        sandbox = Sandbox.made(Path(name) / "copy")
        cache = Path(name) / "cache"
        (sandbox.folder / "tmp").mkdir()
        for defect in chosen:
            plant(defect, sandbox)
            try:
                for who in names:
                    yield defect, who, ASKED[who](sandbox, cache, defect)
            finally:
                sandbox.restore(defect.file)


def main(texts: list[str] | None = None) -> int:
    """Print who catches what; 1 if nobody catches one of the defects."""
    parser = ArgumentParser(prog="planted.py", description=__doc__)
    parser.add_argument("--ask", default=",".join(ASKED), help="some of these, with commas")
    parser.add_argument("--only", help="the defects whose names have this text")
    parser.add_argument("--json", type=Path, help="write the answers to this file")
    given = parser.parse_args(texts)
    end_on_signals()
    names: list[str] = given.ask.split(",")
    if not set(names) <= ASKED.keys():
        parser.error(f"there are {', '.join(ASKED)}")
    every = defects()
    for defect in every:
        defect.applied((PACKAGE / defect.file).read_text(encoding="utf-8"))
    chosen = [defect for defect in every if given.only is None or given.only in defect.name]
    answers: dict[str, dict[str, Answer]] = {}
    try:
        for defect, who, answer in asked(names, chosen):
            answers.setdefault(defect.name, {})[who] = answer
            print(f"{defect.name}: {who}: {answer.text()}  {answer.says[:160]}", flush=True)
            if given.json is not None:
                plain = {d: {w: vars(a) for w, a in row.items()} for d, row in answers.items()}
                given.json.write_text(json.dumps(plain, indent=1), encoding="utf-8")
    except KeyboardInterrupt:
        print("interrupted")
    print(f"\n{table(names, answers)}")
    return 0 if all(any(a.is_caught for a in row.values()) for row in answers.values()) else 1


def table(names: list[str], answers: dict[str, dict[str, Answer]]) -> str:
    """Return the answers, a row for each defect."""
    rows = [" ".join([f"{'defect':32}", *(f"{name:>9}" for name in names)])]
    for name, row in answers.items():
        cells = [f"{row[who].text() if who in row else '':>9}" for who in names]
        rows.append(" ".join([f"{name:32}", *cells]))
    caught = [sum(who in row and row[who].is_caught for row in answers.values()) for who in names]
    rows.append(" ".join([f"{f'caught, of {len(answers)}':32}", *(f"{k:9}" for k in caught)]))
    return "\n".join(rows)
