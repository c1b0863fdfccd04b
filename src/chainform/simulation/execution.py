"""From a motion on its way to a run: to the end, or as far as it came."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.mechanism import Mechanism
from chainform.model import Model
from chainform.simulation.consistent_state import NO_REMARKS, Remarks
from chainform.simulation.equations.contact.laws import NO_BARRIERS, Barriers
from chainform.simulation.files.about import CONTINUED, END, FAILED, INTERRUPTED, About, ResumePoint
from chainform.simulation.machine.method import ActiveMotion
from chainform.simulation.machine.pauses import InterruptError, InterruptFlag, Pause, interrupt_flag
from chainform.simulation.motion import Runner
from chainform.simulation.quantities import Columns
from chainform.simulation.run import Run

Array = NDArray[np.float64]
Checkpoint: TypeAlias = Callable[[Run], None]

EVERY = 30.0
"""The least time (s) between two checkpoints."""
SHARE = 20.0
"""How much longer than writing a checkpoint the computing before the next one is."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C came; `run` is the motion up to then, and `simulate(..., resume=run)` goes on."""

    def __init__(self, run: Run) -> None:
        super().__init__("the motion was interrupted")
        self.run = run


class MotionError(RunError):
    """A motion that could not be computed to its end; `run` is what there is of it."""

    def __init__(self, problem: Error, run: Run) -> None:
        super().__init__(
            problem.message, file=problem.file, element=problem.element, remedy=problem.remedy
        )
        self.run = run


@dataclass(frozen=True)
class RunHeader:
    """All that is known of a run before its motion; `before` is what it goes on from."""

    mechanism: Mechanism
    model: Model
    method: str
    about: About
    columns: Columns
    barriers: Barriers = NO_BARRIERS
    before: Run | None = None
    remarks: Remarks = NO_REMARKS

    def run(self, runner: Runner, ending: str, seconds: float) -> Run:
        """Return the run as far as it came."""
        times, rows = runner.result()
        motion = runner.integrator
        lowest = motion.machine.layout.part(motion.p, "lowest")
        mark = resume_point_of(runner.integrator)
        left = runner.times[len(times) :] if ending in (INTERRUPTED, FAILED) else np.zeros(0)
        about = replace(
            self.about, ending=ending, seconds=seconds, bookmark=mark, left=tuple(left.tolist())
        )
        after = Run(
            mechanism=self.mechanism,
            t=times,
            events=tuple(runner.records),
            changes=tuple(runner.changes),
            statistics=replace(runner.integrator.statistics),
            method=self.method,
            barriers=self.barriers,
            equations=self.model,
            about=about,
            report=self.remarks.after(lowest),
            **self.columns.of(times, rows),
        )
        return after if self.before is None else joined(self.before, after)


def run_motion(
    header: RunHeader,
    runner: Runner,
    end: float,
    times: Array,
    progress: Pause | None = None,
    checkpoint: Checkpoint | None = None,
    interrupt: InterruptFlag | None = None,
) -> Run:
    """Return the run of a motion to its end.

    `progress` is called with the time now and then, `checkpoint` every half a minute with what
    there is. Ctrl-C raises Interrupted, and what goes wrong MotionError, both with what there is.
    Without an `interrupt` that somebody else has opened one is opened here.
    """
    began = perf_counter()
    watch = _Watch(header, runner, progress, checkpoint, began)
    with interrupt_flag() if interrupt is None else nullcontext(interrupt) as interrupt:
        try:
            runner.run(end, times, watch.pause(interrupt))
            ending = runner.ending if runner.is_over else END
        except InterruptError:
            ending = INTERRUPTED
        except RunError as problem:
            run = header.run(runner, FAILED, perf_counter() - began)
            raise MotionError(problem, run) from problem
    run = header.run(runner, ending, perf_counter() - began)
    if interrupt.came:
        raise Interrupted(run)
    return run


class _Watch:
    """What is done at the pauses of a loop."""

    def __init__(
        self,
        header: RunHeader,
        runner: Runner,
        progress: Pause | None,
        checkpoint: Checkpoint | None,
        began: float,
    ) -> None:
        self.header, self.runner = header, runner
        self.progress, self.checkpoint = progress, checkpoint
        self.began = began
        self.due = began + EVERY

    def pause(self, interrupt: InterruptFlag) -> Pause:
        """Return the function that a loop calls at its pauses."""

        def pause(t: float) -> None:
            interrupt.check()
            if self.progress is not None:
                self.progress(t)
            if self.checkpoint is not None and perf_counter() >= self.due:
                self._keep(self.checkpoint)

        return pause

    def _keep(self, checkpoint: Checkpoint) -> None:
        began = perf_counter()
        checkpoint(self.header.run(self.runner, INTERRUPTED, began - self.began))
        took = perf_counter() - began
        self.due = perf_counter() + max(EVERY, SHARE * took)


def resume_point_of(motion: ActiveMotion) -> ResumePoint:
    """Return where a motion stands."""
    layout = motion.machine.layout
    parts = {name: layout.part(motion.p, name).copy() for name in CONTINUED if layout.length(name)}
    return ResumePoint(motion.t, motion.y.copy(), parts, motion.memory())


def joined(before: Run, after: Run) -> Run:
    """Return a run that goes on from another one as one run."""
    whole: dict[str, Any] = {}
    for item in fields(Run):
        first: Any = getattr(before, item.name)
        last: Any = getattr(after, item.name)
        if isinstance(last, np.ndarray):
            parts: list[Array] = [first, last]
            whole[item.name] = None if first is None else np.concatenate(parts)
    if after.constrained is not None and before.constrained is not None:
        whole["constrained"] = before.constrained.followed_by(after.constrained)
    elif after.constrained is not None:
        # Of a run from a file only what was written there is known.
        known = {n: a for n, a in after.beyond_states().items() if n in before.computed}
        whole["computed"] = {n: np.concatenate([before.computed[n], a]) for n, a in known.items()}
        whole["constrained"] = None
    about = replace(
        after.about,
        span=(before.about.span[0], after.about.span[1]),
        seconds=before.about.seconds + after.about.seconds,
    )
    events = (*before.events, *after.events)
    changes = (*before.changes, *after.changes)
    return replace(after, **whole, events=events, changes=changes, about=about)
