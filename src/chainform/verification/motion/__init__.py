"""A motion against the same method with a tighter tolerance, another method, and its energy.

How far may a motion be off? A method with step control commits errors of the size of its tolerance
on its way, and the motion magnifies them: little where friction calms it, without bound where it
is chaotic. The magnification is measured. The motion is computed again under small forces, which
change its rates by the tolerance, and what they change at most until a time t is E(t), relative to
the largest coordinate and the largest rate. Then at each time

    the motion may differ by 10 (E + tolerance) from one with a tolerance 100 times tighter,
    and this one by a tenth of that from one by another method (by all of it, where closed loops
    are solved by backward differences).

Where a motion is sensitive, E grows; from where 10 E is more than a twentieth nothing is decided,
and the figure says since when. Events must be the same, each as often, at times that differ by no
more than 10 times what the small forces make of them, or the tolerance of the span; from the first
event on that comes or goes by these forces nothing is decided either. Near an event, nearer
than that, states are not compared, since rates jump there.

A method with steps of a fixed length has no tolerance. It is compared with an accurate solution;
with half the step its largest deviation must be at most three quarters of what it was, or else, as
where forces jump within steps, with a quarter or an eighth.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis import Progress
from chainform.errors import Error
from chainform.mechanism import Mechanism
from chainform.readers import native_text
from chainform.simulation import (
    BatchRun,
    Cases,
    Problem,
    Run,
    Scenario,
    cases_of,
    digests_of,
    motion_name,
    run_batch,
)
from chainform.verification.certificate import Check
from chainform.verification.motion.motion_comparison import LAWS, ROUNDED, MotionComparison
from chainform.verification.motion.motion_identities import (
    check_laws_of_motion,
    check_rates,
    stabilised,
)
from chainform.verification.motion.motion_variants import SAMPLES, Variants

Array = NDArray[np.float64]

MOTIONS = 8
"""How many motions are computed of each problem, or one less."""


def check_motion(subject: Problem | Run, progress: Progress | None = None) -> Iterator[Check]:
    """Yield checks of the motion of a problem, or of a run: of the numbers that it has.

    `progress` is called with the motions that are computed and how many there are to compute. A run
    is computed again where it says all that it takes; otherwise its laws alone are checked.
    """
    if isinstance(subject, Run):
        yield from _of_run(subject, progress)
        return
    options, names = subject.options, ("q0", "qd0", "x0", "values")
    cases = cases_of(subject.mechanism, *(options[name] for name in names))
    is_batch = subject.scenario is not None and subject.scenario.batch is not None
    if is_batch or cases.count > 1:
        yield from _of_batch(subject, cases, progress)
        return
    yield from _of_problem(subject, None, progress)


def _of_run(run: Run, progress: Progress | None) -> Iterator[Check]:
    damage = _damage(run)
    if damage:
        yield Check(LAWS["again"], "the numbers of the run", damage, False, len(run.t))
        return
    yield from _whole(run)
    problem = problem_of(run)
    if problem is None:
        yield from check_laws_of_motion(run, None)
        reason = "the run does not say what drove it: check its scenario or its problem"
        if not run.about.is_complete:
            reason = "the motion was broken off: look at its scenario or its problem"
        names = ("columns", "tight", "other")
        yield from (Check(LAWS[name], "nothing", reason, None) for name in names)
        return
    yield from _of_problem(problem, run, progress)


def _damage(run: Run) -> str:
    """Return what is wrong with the numbers of a run, whatever motion it is; else nothing."""
    (first, last), times = run.about.span, run.t
    if not np.isfinite(times).all() or (np.diff(times) < 0).any():
        return "its times are not finite, or do not rise"
    room = ROUNDED * max(abs(first), abs(last))
    if last > first and len(times) and not first - room <= times[0] <= times[-1] <= last + room:
        return f"its times are not between {first:g} and {last:g} s, where it begins and ends"
    if not all(np.isfinite(array).all() for array in (run.q, run.qd)):
        return "its coordinates or rates are not finite"
    about = run.about
    settings = {"method": run.method, **about.settings}
    settings |= {"without": list(about.without), "values": dict(about.values)}
    wrong = [
        name for name, text in digests_of(settings).items() if about.given.get(name, text) != text
    ]
    return f"it was not computed with the {', '.join(wrong)} that it says" if wrong else ""


def _whole(run: Run) -> Iterator[Check]:
    """Yield a check that tells of what is missing, where the times of a run are not all of it."""
    first, last = run.about.span
    # An event may have ended it.
    last = max((e.t for e in run.events if e.name == run.about.ending), default=last)
    room = ROUNDED * max(abs(first), abs(last))
    if len(run.t) and not (run.t[0] <= first + room and run.t[-1] >= last - room):
        words = f"its times go from {run.t[0]:g} to {run.t[-1]:g} s only"
        yield Check(f"the motion from {first:g} to {last:g} s", "nothing", words, None)


def _of_problem(problem: Problem, run: Run | None, progress: Progress | None) -> Iterator[Check]:
    """Yield all checks of a problem, and of numbers that a run has in place of its own."""
    counter = _Counter(progress)
    times = np.linspace(*problem.span, SAMPLES) if run is None else run.t
    if run is None:
        times = np.unique(np.concatenate([problem.times, times]))
    variants = Variants(problem, times, counter)
    own = variants.run()
    if own.cut:
        yield Check(LAWS["tight"], "nothing", f"the motion fails: {own.cut}", None)
        return
    subject = own.run if run is None else run
    is_fixed = problem.settings.step is not None
    if not is_fixed:
        yield from check_laws_of_motion(subject, problem)
    comparison = MotionComparison(variants, subject)
    if is_fixed:
        yield from check_laws_of_motion(subject, problem, comparison.tight.run)
    if run is not None:
        yield comparison.again(own)
        yield comparison.columns(own)
    yield from comparison.checks()
    yield from check_rates(variants, own.run)
    counter.finish()


def _of_batch(problem: Problem, cases: Cases, progress: Progress | None) -> Iterator[Check]:
    """Yield checks of the first, the middle and the last motion of many: each is run alone, too."""
    batch = run_batch(problem)
    chosen = sorted({0, cases.count // 2, cases.count - 1})
    counter = _Counter(progress, len(chosen))
    for k in chosen:
        words = f", motion {k + 1} of {cases.count}"
        for check in _of_lane(_alone(problem, cases, batch, k), batch, k, counter):
            yield replace(check, compared=check.compared + words)
    counter.finish()


def _of_lane(problem: Problem, batch: BatchRun, k: int, counter: _Counter) -> Iterator[Check]:
    variants = Variants(problem, batch.t, counter)
    own = variants.run()
    if own.cut or batch.failed[k]:
        agrees = None if own.cut and batch.failed[k] else False
        reason = own.cut or batch.problems.get(k, "")
        yield Check(LAWS["again"], "the end of a motion", f"the motion fails: {reason}", agrees)
        return
    count = len(own.run.t)
    lane = replace(own.run, q=batch.q[k, :count], qd=batch.qd[k, :count])
    comparison = MotionComparison(variants, own.run)
    yield comparison.again(own, lane)
    yield from comparison.checks()


def _alone(problem: Problem, cases: Cases, batch: BatchRun, k: int) -> Problem:
    """Return one motion of many as a problem of its own."""
    start = {name: state for name, state in cases.start(k).items() if state is not None}
    options = {**problem.options, **start, "values": cases.values_of(k)}
    return replace(problem, options=options, times=batch.t, scenario=None)


class _Counter:
    """Counts the motions that are computed, of so many problems."""

    def __init__(self, progress: Progress | None, problems: int = 1) -> None:
        self.progress, self.done, self.total = progress, 0, MOTIONS * problems

    def __call__(self) -> None:
        self._show(min(self.done, self.total - 1))
        self.done += 1

    def finish(self) -> None:
        """Say that all is done."""
        self._show(self.total)

    def _show(self, done: int) -> None:
        if self.progress is not None:
            self.progress(done, self.total)


# --- the problem of a run -----------------------------------------------------------------------


def problem_of(run: Run) -> Problem | None:
    """Return the problem that a run is a motion of; None where something of it is not known.

    A run has digests of all that decided how it went. A problem that is made of what else the run
    says is its problem if it has the same ones.
    """
    if not len(run.t) or not run.about.given or not run.about.is_complete:
        return None
    for problem, is_started in _candidates(run):
        # A motion that begins where the run does may have been given another start to close.
        free = {"q0", "qd0"} if is_started else set[str]()
        try:
            found = problem.compile().digests
        except Error:
            continue
        if all(found.get(n) == run.about.given.get(n) for n in {*found, *run.about.given} - free):
            return replace(problem, times=run.t)
    return None


def _candidates(run: Run) -> Iterator[tuple[Problem, bool]]:
    """Yield problems of the scenario of a run, and of its mechanism with nothing that drives it.

    With each stands whether it begins with the first state of the run.
    """
    common: dict[str, Any] = {"t": run.about.span, "t_eval": run.t}
    settings = run.about.settings
    numbers = {name: settings.get(name) for name in ("rtol", "atol", "step", "largest", "hold")}
    own = common | {name: number for name, number in numbers.items() if number is not None}
    own |= {"method": run.method, "without": run.about.without, "values": run.about.values or None}
    if (word := stabilised(run)) in ("baumgarte", "none"):
        own["stabilise"] = word
    started = own | {"q0": run.q[0], "qd0": run.qd[0]}
    scenario: Scenario | None = None
    with suppress(Error, ValueError, OSError):
        # It may name files that are not here, or functions of Python.
        scenario = _scenario(run) if run.about.scenario else None
    choices: list[tuple[Scenario | Mechanism, dict[str, Any]]] = []
    if scenario is not None:
        choices += [(scenario, common), (scenario, own), (scenario, started)]
    choices += [(run.mechanism, {**started, "energy_balance": has}) for has in (True, False)]
    for source, options in choices:
        is_started = "q0" in options
        if is_started and run.t[0] != run.about.span[0]:
            continue
        with suppress(Error, ValueError, OSError):
            yield Problem.of(source, **options), is_started


def _scenario(run: Run) -> Scenario:
    """Return the scenario in the text of a run, with the mechanism that the run has."""
    text = run.about.scenario
    table: Any = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    # Motions that are prescribed have become constraints of the mechanism.
    own = tuple(c for c in run.mechanism.constraints if not motion_name(c.name))
    table["mechanism"] = json.loads(native_text(replace(run.mechanism, constraints=own)))
    # Unknown forces have become laws of forces of it.
    table.pop("unknowns", None)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.json"
        file.write_text(json.dumps(table), encoding="utf-8")
        return Scenario.read(file)
