"""Where a motion begins: at a state whose loops are closed, or where a run stands that goes on.

What q0 and qd0 name in a table stays as it is, if the loops can be closed so; the rest follows.
Of an array everything may change. Whatever was given and is another now is named in a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.readers import native_text, read_text
from chainform.simulation.equations.assembly import (
    CLOSED,
    assemble,
    consistent_rates,
    mobility,
    rates_fit,
)
from chainform.simulation.equations.builder import Equations
from chainform.simulation.equations.closures import Gaps
from chainform.simulation.equations.initial import initial_state
from chainform.simulation.files.about import CONTINUED, About
from chainform.simulation.machine.machine import Machine
from chainform.simulation.motion import Runner
from chainform.simulation.run import Run

Array = NDArray[np.float64]

NEAR_SINGULAR = 1e-3
"""Of the squares of singular values: a share of what it was at the start that is remarkable."""
SAME = 1e-6
"""A smaller change (rad, m, and per s) of what was given is no remark."""


@dataclass(frozen=True)
class ConsistentState:
    """A state at the start of a motion, and remarks on its loops and constraints."""

    q: Array
    qd: Array
    notes: tuple[str, ...] = ()


def consistent_state(
    mechanism: Mechanism,
    q0: Any,
    qd0: Any,
    t: float,
    fixed: Sequence[str] | None = None,
    *,
    remarks: bool = True,
) -> ConsistentState:
    """Return q and qd that loops and constraints allow, near those that were given.

    The coordinates in `fixed` are not moved; by default these are those that a table q0 names, as
    far as the loops can be closed so. Without `remarks` there is no note on redundant equations.
    """
    state = initial_state(mechanism, q0, qd0)
    q, qd = state[: mechanism.nq], state[mechanism.nq :]
    fixed = (fixed,) if isinstance(fixed, str) else fixed
    for name in fixed or ():
        mechanism.coordinate_index(str(name))
    if not mechanism.loops and not mechanism.constraints:
        return ConsistentState(q, qd)
    gaps = Gaps(mechanism, t)
    if not gaps.has_rows:
        return ConsistentState(q, qd)
    q, moved = _closed(gaps, q, q0, fixed)
    qd, changed = _fitting(gaps, q, qd, qd0)
    notes = [f"{moved}: moved at the start, to close the loops"] if moved else []
    notes += [f"{changed}: rates changed at the start, to keep loops closed"] if changed else []
    if remarks:
        notes += mobility(mechanism, q, t=t).notes
    return ConsistentState(q, qd, tuple(notes))


def _closed(gaps: Gaps, q: Array, q0: Any, fixed: Sequence[str] | None) -> tuple[Array, str]:
    """Return a closed pose near q, and the names of the given coordinates that moved."""
    if np.max(np.abs(gaps.at(q)[0]), initial=0.0) <= CLOSED:
        return q, ""
    mechanism, own = gaps.mechanism, _names(q0)
    named = own if fixed is None else [str(name) for name in fixed]
    try:
        found = assemble(mechanism, q, named, t=gaps.t)
    except RunError:
        if fixed is not None or not named:
            raise
        found = assemble(mechanism, q, t=gaps.t)
    places = [mechanism.coordinate_index(name) for name in own]
    return found, _changed(mechanism.coordinates, q0, places, found - q)


def _fitting(gaps: Gaps, q: Array, qd: Array, qd0: Any) -> tuple[Array, str]:
    """Return rates near qd that the rows allow, and the names of the given ones that changed."""
    mechanism, named = gaps.mechanism, _names(qd0)
    if not named and rates_fit(gaps, q, qd):
        return qd, ""
    try:
        found = consistent_rates(mechanism, q, qd, named, t=gaps.t)
    except RunError:
        if not named:
            raise
        found = consistent_rates(mechanism, q, qd, t=gaps.t)
    places = [mechanism.rate_index(name) for name in named]
    return found, _changed(mechanism.rates, qd0, places, found - qd)


def _changed(names: Sequence[str], given: Any, own: Sequence[int], change: Array) -> str:
    """Return which numbers changed of those that were given: in an array all, in a table `own`."""
    places = range(len(names)) if given is not None and not _is_table(given) else own
    return ", ".join(names[place] for place in places if abs(change[place]) > SAME)


def _names(given: Any) -> list[str]:
    return [str(name) for name in cast("Mapping[str, Any]", given)] if _is_table(given) else []


def _is_table(given: Any) -> bool:
    return isinstance(given, Mapping)


@dataclass(frozen=True)
class Remarks:
    """Remarks on loops and constraints from the start of a motion on.

    `start` is what was noted of the rank at the start (machine/constrained.py); without it the rank
    is not looked at later.
    """

    notes: tuple[str, ...] = ()
    start: Array | None = None

    def after(self, lowest: Array) -> tuple[str, ...]:
        """Return all remarks, given what was noted of the rank since."""
        if self.start is None or not len(lowest) or self.start[0] == 0 or lowest[0] == 0:
            return self.notes
        if lowest[2] < self.start[2]:
            return (*self.notes, f"singular position at t = {lowest[3]:.6g} s")
        if lowest[0] < NEAR_SINGULAR * self.start[0]:
            return (*self.notes, f"singular position near t = {lowest[1]:.6g} s")
        return self.notes


NO_REMARKS = Remarks()


# --- a run that goes on -----------------------------------------------------------------------


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


@dataclass(frozen=True)
class StartState:
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
            "go on with the mechanism and the values as they were, or begin anew",
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
        "sigma": sum(3 if loop.kind == "point" else 6 for loop in loops),
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
