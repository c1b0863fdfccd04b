"""States that are known along a motion: of runs, of results of tasks, of their files; and times."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.supplementary import PrescribedMotion
from chainform.analysis.results.result import Result, load_result
from chainform.errors import RunError
from chainform.given import finite_array
from chainform.mechanism import Mechanism
from chainform.model import StoredRun
from chainform.simulation import Run, motion_file

Array = NDArray[np.float64]


def known_states(motion: object, t: Any) -> PrescribedMotion | None:
    """Return the states of a run, a result or the file of one, at some of its times or at all.

    None stands for anything else.
    """
    if isinstance(motion, str | PathLike):
        path = motion_file(cast("str", motion))
        if path.suffix.lower() == ".csv" and not is_run_file(path):
            return None
        motion = load_result(path)
    if isinstance(motion, StoredRun):
        motion = load_result(motion)
    if isinstance(motion, Result):
        return _of_result(motion, t)
    if isinstance(motion, Run):
        motion = PrescribedMotion(motion.t, motion.q, motion.qd, motion.qdd)
    if not isinstance(motion, PrescribedMotion):
        return None
    rows, states = _rows(motion.t, t), (motion.t, motion.q, motion.qd, motion.qdd)
    if isinstance(rows, slice) or len(set(map(len, states))) > 1:
        return motion
    at, q, qd, qdd = (np.asarray(x)[rows] for x in states)
    return PrescribedMotion(at, q, qd, qdd, motion.notes)


SAME_TIME = 1e-12
"""Times are the same that differ by less, against the largest."""


def _rows(own: Array, t: Any) -> Any:
    """Return the rows of times t (s) among those at which states are known: all without t."""
    if t is None or np.array_equal(times := finite_array("t", t), own):
        return slice(None)
    refuse_no_times(times)
    own = finite_array("t", own)
    if own.ndim == times.ndim == 1 and len(own):
        order = np.argsort(own, kind="stable")
        after = np.clip(np.searchsorted(own, times, sorter=order), 0, len(own) - 1)
        both = order[np.stack([after, np.maximum(after - 1, 0)])]
        rows = both[np.argmin(np.abs(own[both] - times), axis=0), np.arange(len(times))]
        if (np.abs(own[rows] - times) <= SAME_TIME * np.abs(own).max()).all():
            return rows
    remedy = "leave out t, or give some of its own times: states are known there only"
    raise RunError("the motion has other times", element="t", remedy=remedy)


def checked_states(mechanism: Mechanism, motion: PrescribedMotion) -> PrescribedMotion:
    """Return known states as arrays of finite numbers; those of another mechanism are refused."""
    t = finite_array("t", motion.t)
    check_times(mechanism, t)
    states: dict[str, Array] = {}
    for name, count in (("q", mechanism.nq), ("qd", mechanism.nv), ("qdd", mechanism.nv)):
        states[name] = finite_array(name, getattr(motion, name))
        shape = states[name].shape
        if shape[-1:] != (count,):
            raise RunError(
                f"the motion has {shape[-1] if shape else 'no'} entries of {name}, and "
                f"{mechanism.name} has {count}",
                element="motion",
                remedy="take the motion of this mechanism, or name its coordinates in a table",
            )
        if shape[:-1] != t.shape:
            remedy = f"give t (m,), and {name} (m, {count})"
            message = f"there are not as many {name} as times: their shapes are {shape}, {t.shape}"
            raise RunError(message, element="motion", remedy=remedy)
    return replace(motion, t=t, **states)


def one_row(motion: PrescribedMotion) -> PrescribedMotion:
    """Return a motion with one row of times; RunError for a batch of more dimensions."""
    if motion.t.ndim > 1:
        raise RunError("the motion is no row of states in time", element="t", remedy="give (m,)")
    q, qd, qdd = (np.atleast_2d(x) for x in (motion.q, motion.qd, motion.qdd))
    return PrescribedMotion(np.atleast_1d(motion.t), q, qd, qdd, motion.notes)


def _of_result(result: Result, times: Any) -> PrescribedMotion:
    """Return the motion that a task found at times (s), or at all of its own.

    Other results are refused, and times at which there are no rates.
    """
    if result.rows != "t":
        many = result.rows == "branch" and "t" in result.arrays
        message = f"the result of {result.task} is {'several motions' if many else 'no motion'}"
        follow = 'follow one: q0=found["q"][found["branch"] == 2][0], without branches'
        remedy = follow if many else "take a result whose rows are times"
        raise RunError(message, element="motion", remedy=remedy)
    missing = [name for name in ("qd", "qdd") if name not in result.arrays]
    rows = _rows(result.arrays["t"], times)
    parts = [result.arrays[name][rows] for name in ("t", "q", "qd", "qdd") if name not in missing]
    wrong = ~np.all([np.isfinite(part.reshape(len(part), -1)).all(1) for part in parts], axis=0)
    if missing or wrong.any():
        when = "" if missing else f" at t = {parts[0][int(np.argmax(wrong))]:.6g} s"
        names = {"qd": "rates", "qdd": "accelerations"}
        what = names[missing[0]] if missing else "rates or accelerations"
        message = f"the result of {result.task} has no {what}{when}"
        remedy = "its report says where and why; " + (
            "choose a method that gives them" if missing else "give times t at which it has them"
        )
        raise RunError(message, element="motion", remedy=remedy)
    t, q, qd, qdd = parts
    return PrescribedMotion(t, q, qd, qdd, result.report)


def is_run_file(path: Path) -> bool:
    """Tell whether a CSV file is one that a run was written to."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(RUN_MARK)) == RUN_MARK
    except OSError:
        return False


RUN_MARK = b"# chainform"


# --- times ------------------------------------------------------------------------------------


def refuse_no_times(t: Array) -> None:
    if not t.size:
        raise RunError("there are no times", element="t", remedy="give at least one")


def check_times(mechanism: Mechanism, t: Array) -> None:
    """Refuse no times, and more than there is room for; matrices take nv^2 numbers for each."""
    refuse_no_times(t)
    most = MOST_NUMBERS // (mechanism.nv + 5) ** 2
    if t.size > most:
        remedy = f"give at most {most} for {mechanism.name}; take more in parts"
        raise RunError(f"there are {t.size} times", element="t", remedy=remedy)


MOST_NUMBERS = 2**27
"""Numbers in the largest array along a motion: a gigabyte."""
