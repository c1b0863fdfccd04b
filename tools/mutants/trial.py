"""One change in a copy of the package, and the tests that reach it: does one of them fail?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutants.changes import Change
from tools.mutants.draw import text_of
from tools.mutants.reach import Reach, is_wanted, test_files
from tools.mutants.sandbox import Ended, Sandbox, in_sandboxes, pytest_options

KILLED, TIMED_OUT, ALIVE, EXPLAINED = "killed", "timed out", "alive", "explained"
FIRST_TESTS, FIRST_SECONDS, FIRST_FILES = 40, 3.0, 6
"""The first process has the quickest tests only: most changes need no more."""
SLOWER, SECONDS = 2.0, 10.0
"""A changed package may take so many times what the tests took, and so much more."""


@dataclass(frozen=True)
class Verdict:
    """What became of a change."""

    change: Change
    outcome: str
    by: str
    """The test that failed."""
    tests: int
    """How many tests were chosen."""


@dataclass(frozen=True)
class Trial:
    """A change, and the tests of one process."""

    change: Change
    tests: tuple[str, ...]
    slow: bool
    cache: Path
    is_last: bool
    """Whether this process has all tests that reach the change."""


def chosen(change: Change, reached: Mapping[str, Reach], budget: float) -> dict[str, float]:
    """Return tests and their seconds: first those that reach the line, the quickest first.

    The other tests of the same files follow: what they read may have been computed earlier. What
    runs at the import is tested by all of them alike.
    """
    files = [name for name in test_files(change.file.split("/")[0]) if name in reached]
    for lines in ([change.line], range(change.first, change.last + 1)):
        found = {name: reached[name].tests(change.file, lines) for name in files}
        direct = {t: reached[f].seconds[t] for f, (tests, _) in found.items() for t in tests}
        if direct or any(at_import for _, at_import in found.values()):
            break
    else:
        return {}
    if not change.in_function:
        direct = {}
    others = [f for f, (tests, at_import) in found.items() if tests or (at_import and not direct)]
    rest = {t: s for f in others for t, s in reached[f].seconds.items() if t not in direct}
    result: dict[str, float] = {}
    for group, most in ((direct, budget), (rest, budget if not direct else budget / 2)):
        total = 0.0
        for test, seconds in sorted(group.items(), key=lambda pair: (pair[1], pair[0])):
            total += seconds
            if total <= most or not result:
                result[test] = seconds
    return result


def stages(tests: Mapping[str, float]) -> list[dict[str, float]]:
    """Return the tests of the first process and those of the second."""
    first: dict[str, float] = {}
    files: set[str] = set()
    for test, seconds in tests.items():
        file = test.partition("::")[0]
        fits = len(first) < FIRST_TESTS and sum(first.values()) + seconds <= FIRST_SECONDS
        if fits and (file in files or len(files) < FIRST_FILES):
            first[test] = seconds
            files.add(file)
    rest = {test: seconds for test, seconds in tests.items() if test not in first}
    return [stage for stage in (first, rest) if stage]


@dataclass(eq=False)
class _Chosen:
    """The plugin of pytest that runs the chosen tests only, file by file."""

    tests: Sequence[str]
    slow: bool
    failed: str = ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        ranks = {name: k for k, name in enumerate(self.tests)}
        mine = [item for item in items if item.nodeid in ranks and is_wanted(item, self.slow)]
        firsts: dict[str, int] = {}
        for item in mine:
            file = item.nodeid.partition("::")[0]
            firsts[file] = min(firsts.get(file, len(ranks)), ranks[item.nodeid])
        items[:] = sorted(
            mine, key=lambda i: (firsts[i.nodeid.partition("::")[0]], ranks[i.nodeid])
        )

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid} (collection)"


def _work(trial: Trial, sandbox: Sandbox) -> dict[str, Any]:
    import pytest

    plugin = _Chosen(trial.tests, trial.slow)
    files = list(dict.fromkeys(test.partition("::")[0] for test in trial.tests))
    options = [*pytest_options(trial.cache, sandbox), "--exitfirst", *files]
    code = int(pytest.main(options, plugins=[plugin]))
    return {"code": code, "failed": plugin.failed}


def _apply(trial: Trial, sandbox: Sandbox) -> None:
    sandbox.write(trial.change.file, trial.change.applied(text_of(trial.change.file)))


def _undo(trial: Trial, sandbox: Sandbox) -> None:
    sandbox.restore(trial.change.file)


@dataclass(frozen=True)
class Court:
    """How changes are tried."""

    reached: Mapping[str, Reach]
    cache: Path
    slow: bool
    budget: float
    processes: int

    def verdicts(self, changes: Iterable[Change]) -> Iterator[Verdict]:
        """Yield a verdict on each change, in the order in which they are ready."""
        plans = {change: stages(chosen(change, self.reached, self.budget)) for change in changes}
        for change, plan in plans.items():
            if not plan:
                yield Verdict(change, ALIVE, "no test reaches it", 0)
        waiting: list[tuple[Trial, float]] = []
        for change, plan in reversed(plans.items()):
            if plan:
                waiting.append(self._trial(change, plan, 0))
        # What the first process leaves alive is put on top, and so tried next.
        for trial, answer in in_sandboxes(_work, _Stack(waiting), self.processes, _apply, _undo):
            outcome, by = _judged(answer)
            plan = plans[trial.change]
            if outcome == ALIVE and not trial.is_last:
                waiting.append(self._trial(trial.change, plan, 1))
            else:
                yield Verdict(trial.change, outcome, by, sum(map(len, plan)))

    def _trial(
        self, change: Change, plan: list[dict[str, float]], stage: int
    ) -> tuple[Trial, float]:
        tests, is_last = plan[stage], stage == len(plan) - 1
        limit = SECONDS + SLOWER * sum(tests.values())
        return Trial(change, tuple(tests), self.slow, self.cache, is_last), limit


class _Stack(Iterator[tuple[Trial, float]]):
    """Takes trials from the end of a list, to which others may be added meanwhile."""

    def __init__(self, waiting: list[tuple[Trial, float]]) -> None:
        self.waiting = waiting

    def __next__(self) -> tuple[Trial, float]:
        if not self.waiting:
            raise StopIteration
        return self.waiting.pop()


def _judged(answer: Any) -> tuple[str, str]:
    """Return the outcome, and the test that failed."""
    match answer:
        case Ended(is_late=True):
            return TIMED_OUT, ""
        case Ended(log=log):
            return KILLED, f"the process died: {' '.join(log[-200:].split())}"
        case {"code": 0 | 5}:
            return ALIVE, ""
        case {"code": code, "failed": failed}:
            return KILLED, failed or f"exit code {code} of pytest"
        case _:
            raise RuntimeError(f"a process answered {answer}")
