"""A run that goes on where it stands: what must be as it was, and what is left to compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.readers import native_text, read_text
from chainform.simulation.equations.builder import Equations
from chainform.simulation.files.about import CONTINUED, About
from chainform.simulation.machine.machine import Machine
from chainform.simulation.motion import Runner
from chainform.simulation.run import Run

Array = NDArray[np.float64]

MOST = 2.0**53
"""Numbers that a motion remembers are smaller: counts, and times in s."""
DEEP = 1e-6
"""No motion is farther beyond a barrier than so (m, rad)."""
CLOSE = 1e-9
"""How well times agree that were added up, as a share of their size."""
AT_START = ("q0", "qd0", "x0", "fixed")
"""What counts at the start of a motion only."""


@dataclass(frozen=True)
class ResumeRequest:
    """What a motion is to be that goes on: of which mechanism, from when to when, with what.

    `given` has a digest of everything that decides how it goes, by name. Without `has_times` the
    times of output are those that nobody chose.
    """

    mechanism: Mechanism
    span: tuple[float, float]
    times: Array
    given: Mapping[str, str]
    has_times: bool = True


@dataclass(frozen=True, repr=False)
class StartState(Displayed):
    """Time and state, the times of output from there on, and the run that goes on."""

    t: float
    y: Array
    times: Array
    before: Run | None = None

    def remind(self, runner: Runner, settings: Mapping[str, float | None]) -> None:
        """Let a motion that goes on remember what it knew.

        Its steps are then those that it would have made without a stop.
        """
        if self.before is None or self.before.about.bookmark is None:
            return
        about, mark = self.before.about, self.before.about.bookmark
        runner.is_resumed = True
        if runner.mode_changes is not None:
            runner.mode_changes.check(DEEP, "resume")
        own = runner.integrator.memory()
        _check_memory(mark.memory, own, mark.t, settings)
        runner.integrator.recall(mark.memory)
        for event in runner.requested:
            if event.stop and event.name == about.ending:
                runner.is_over, runner.ending = True, event.name


def resumed(run: Run, request: ResumeRequest, machine: Machine, p: Array) -> StartState:
    """Return where a run goes on, and write into p what stood there.

    RunError where it is not a run of this mechanism and time, or was started with anything else.
    """
    if not isinstance(run, Run):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _refusal(
            f"this is no run, but {type(run).__name__}",
            "give what simulate returned, or Run.load(path)",
        )
    mark, size, span = run.about.bookmark, machine.equations.size, request.span
    if mark is None:
        raise _refusal("the run does not say where it stands", "compute it anew")
    if not _is_same(run.mechanism, request.mechanism):
        raise _refusal(
            f"the run is one of another mechanism, or of other values ({run.mechanism.name})",
            "go on with mechanism, motion and values as they were, or begin anew",
        )
    _check_given(run.about, request)
    if not np.all(np.isfinite(mark.y)):
        raise _refusal("the state in which the run stands is not finite", "compute it anew")
    if len(mark.y) != size or not _fits(run, machine.equations):
        raise _refusal(
            f"the run has {len(mark.y)} states, and now there are {size}",
            "keep forces, actuators, controllers and the energy balance as they were",
        )
    if not span[0] <= mark.t <= span[1]:
        raise _refusal(
            f"the run stands at t = {mark.t:g} s, which is not between {span[0]:g} and {span[1]:g}",
            "give the end of the whole motion, after that time",
        )
    latest = run.t[-1] if len(run.t) else -np.inf
    if mark.t < latest - CLOSE * abs(latest):
        raise _refusal(
            f"the run stands at t = {mark.t:g} s, and its last output is at {latest:g} s",
            "take an undamaged copy of it, or begin anew",
        )
    for name, part in mark.parts.items():
        if name not in CONTINUED or len(part) != machine.layout.length(name):
            raise _refusal(
                f"the run has other {name[:40]} than there are now",
                "keep stops, contacts and friction as they were",
            )
        machine.layout.part(p, name)[:] = part
    return StartState(mark.t, mark.y.copy(), _times_left(run, request, mark.t), run)


def _check_given(about: About, request: ResumeRequest) -> None:
    """Refuse a run that was started with something else than is given now, and name that."""
    if not about.given:
        remedy = "it was written by an earlier version: compute it anew"
        raise _refusal("the run has no record of what it was started with", remedy)
    names = {**about.given, **request.given}
    # What was not given again is as it was: where a motion begins.
    compared = [name for name in names if name in request.given or name not in AT_START]
    differing = [n for n in compared if about.given.get(n) != request.given.get(n)]
    if differing:
        raise _refusal(
            f"the run was started with other {', '.join(differing)}",
            "give all as it was, or begin another motion in the state where this one stands",
        )
    if request.span[0] != about.span[0]:
        raise _refusal(
            f"the run begins at t = {about.span[0]:g} s, not at {request.span[0]:g} s",
            f"give t=({about.span[0]:g}, end)",
        )


def _times_left(run: Run, request: ResumeRequest, t: float) -> Array:
    """Return the times of output from t on: those that are left of the run, and those of now."""
    latest = run.t[-1] if len(run.t) else -np.inf
    before, times = np.array(run.about.left), request.times
    if not request.has_times:
        # The times that were requested then are enough, up to the end that the motion had.
        times = times[times > max(run.about.span[1], t)]
    passed = times[times < t]
    missing = passed[~_among(passed, run.t)]
    if len(missing):
        raise _refusal(
            f"output at t = {missing[0]:g} s is requested, and the run, which stands at {t:g} s, "
            "has none",
            "give times that the run has, or times after that; or compute it anew",
        )
    rest = before[(before <= request.span[1]) & ~_among(before, times)]
    whole = np.sort(np.concatenate([times, rest]))
    return whole[(whole > latest) & (whole >= t)]


def _among(times: Array, others: Array) -> NDArray[np.bool_]:
    """Tell which times are among others that grow, as well as added up times agree."""
    if not len(others):
        return np.zeros(len(times), dtype=np.bool_)
    place = np.clip(np.searchsorted(others, times), 1, len(others)) - 1
    near = [others[np.minimum(place + k, len(others) - 1)] for k in (0, 1)]
    apart = np.minimum(*(np.abs(times - one) for one in near))
    return apart <= CLOSE * np.maximum(1.0, np.abs(times))


def _fits(run: Run, sizes: Equations) -> bool:
    """Tell whether all of a run, perhaps from a file, has the columns that follow now."""
    loops = sizes.mechanism.loops
    widths = {
        "further": sizes.nx - sizes.balance_states - sizes.impulses,
        "energy_balance": sizes.balance_states,
        "multipliers": sizes.row_counts.always,
        "sigma": sum(loop.equations for loop in loops),
    }
    known = {"further": run.extra_states, "energy_balance": run.energy_balance, **run.computed}
    found = ((width, known.get(name)) for name, width in widths.items())
    return all(array is None or array.shape[1:] == (width,) for width, array in found)


def _check_memory(
    memory: Mapping[str, Array],
    own: Mapping[str, Array],
    t: float,
    settings: Mapping[str, float | None],
) -> None:
    """Refuse what no motion with such settings can remember that stands at t (s).

    `own` is what the motion remembers that is to go on. Of marks there are others where other
    events are watched for.
    """
    names = own.keys() - {"marks"}
    is_whole = memory.keys() == own.keys()
    is_whole = is_whole and all(memory[name].shape == own[name].shape for name in names)
    is_whole = is_whole and all(bool(np.all(np.abs(memory[name]) < MOST)) for name in names)
    if not is_whole or not _is_possible(memory, t, settings):
        raise _refusal("what the run remembers of its steps is damaged", "compute it anew")


def _is_possible(
    memory: Mapping[str, Array], t: float, settings: Mapping[str, float | None]
) -> bool:
    """Tell whether counts, the next step, lost time and the time of the next sample can be."""
    hold, fixed = settings["hold"], settings["step"]
    start, counts = memory.get("start", np.zeros(1))[0], memory["counts"]
    step, lost = fixed or 0.0, 0.0
    if "control" in memory:
        step, start, lost = memory["control"]
    due = start + counts[0] * (hold or 0.0)
    is_due = hold is None or abs(due - t) <= 1.01 * hold + CLOSE * abs(t)
    is_step = step >= 0 if fixed is None else step == fixed
    is_timely = is_step and abs(lost) <= CLOSE * max(1.0, abs(t)) and start <= t
    return is_due and is_timely and bool(np.all(counts >= 0))


def _is_same(a: Mechanism, b: Mechanism) -> bool:
    """Tell whether two mechanisms are the same, perhaps after one has been in a file."""
    first, second = native_text(a), native_text(b)
    return first == second or first == native_text(read_text(second, "json"))


def _refusal(message: str, remedy: str) -> RunError:
    return RunError(message, element="resume", remedy=remedy)
