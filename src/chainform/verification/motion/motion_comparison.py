"""A run against more accurate ones, at all times at which its sensitivity lets them be compared.

`motion.py` says by which rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.simulation import Run
from chainform.verification.certificate import Check
from chainform.verification.motion.motion_variants import (
    STIFF,
    Variant,
    Variants,
    event_pairs,
    event_parts,
    first_difference,
    paired,
)

Array = NDArray[np.float64]

FACTOR = 10.0
"""How many times what was measured a motion may be off."""
ADDED = 10.0
"""How many times the tolerance errors of backward differences come to, which add up more."""
UNDECIDED = 0.05
"""A motion that may be off by more, relative to its size, is not compared any more."""
FASTER = 0.75
"""The share of the deviation that is left with half the step, at most."""
ROUNDED = 1e-11
"""A deviation that rounding may cause, relative to the size of the motion."""
COLUMNS = ("tau", "u", "x", "further", "qdd", "drives", "energy", "work", "losses")
"""What a run has besides coordinates and rates; its forces and other outputs come after them."""
LAWS = {
    "again": "the run is the motion of its problem",
    "columns": "all other columns of the run are those of its problem",
    "tight": "a tighter tolerance gives the same motion",
    "other": "another method gives the same motion",
    "events": "events are the same with a tighter tolerance",
    "steps": "shorter steps come nearer to the motion",
}
"""What the comparisons are about."""


@dataclass(frozen=True)
class _Until:
    """From when on nothing is decided, and why; at the end of the motion nothing is missing."""

    t: float
    words: str = ""


class MotionComparison:
    """A run, an accurate one, and how far errors of the tolerance may have led it astray."""

    def __init__(self, variants: Variants, run: Run) -> None:
        self.variants, self.run = variants, run
        is_stiff = variants.problem.settings.method.name in STIFF
        self.tolerance = ADDED * variants.rtol if is_stiff else variants.rtol
        self.tight = variants.tight()
        self.sizes = (_size(run.q), _size(run.qd))
        self.names = (*run.mechanism.coordinates, *(f"rate {n}" for n in run.mechanism.rates))
        self.shaken: list[Variant] = []
        self.remark = ""
        try:
            self.shaken += variants.shaken(run)
        except Error as problem:
            self.remark = f"; sensitivity is not measured: {problem.message}"
        self.until = self._until()
        self.spans = self._event_spans()

    # --- what is allowed ------------------------------------------------------------------------

    def states(self, run: Run) -> Array:
        """Return coordinates and rates, relative to the largest ones of the motion."""
        return np.concatenate([run.q / self.sizes[0], run.qd / self.sizes[1]], axis=1)

    def gaps(self, a: Run, b: Run) -> Array:
        """Return the deviation of each coordinate and rate, at the times that both came to."""
        count = min(len(a.t), len(b.t))
        if not np.array_equal(a.t[:count], b.t[:count]):
            raise RunError("the runs have other times of output")
        return np.abs(self.states(a)[:count] - self.states(b)[:count])

    def magnified(self) -> Array:
        """Return E at all times: what small forces changed until then."""
        found = np.zeros(len(self.run.t))
        for variant in self.shaken:
            gap = self.gaps(variant.run, self.tight.run).max(axis=1, initial=0.0)
            gap[self._near_events(self.tight.run.t[: len(gap)], variant.run)] = 0.0
            found[: len(gap)] = np.maximum(found[: len(gap)], gap)
            found[len(gap) :] = np.inf
        return np.maximum.accumulate(found)

    def allowed(self) -> Array:
        """Return how far the motion may be off, at all times."""
        return FACTOR * (self.magnified() + self.tolerance)

    def _near_events(self, times: Array, other: Run) -> NDArray[np.bool_]:
        """Return which times lie between an event of the accurate motion and that of another."""
        near = np.zeros(len(times), dtype=bool)
        limit = first_difference(self.tight.run, other)
        for pair in event_pairs(self.tight.run, other):
            if pair is not None and max(pair) < limit:
                first, last = sorted(pair)
                near |= (times >= first) & (times <= last)
        return near

    def _until(self) -> _Until:
        """Return from when on the motion is not decided."""
        end = float(self.run.t[-1]) if len(self.run.t) else 0.0
        found = _Until(end)
        for variant in (self.tight, *self.shaken):
            if variant.cut and variant.run.t[-1:].sum() < found.t:
                found = _Until(float(variant.run.t[-1:].sum()), f": {variant.cut}")
        for variant in self.shaken:
            t = first_difference(self.tight.run, variant.run)
            if t < found.t:
                found = _Until(t, ", where an event comes or goes by the tolerance")
        late = np.flatnonzero(FACTOR * self.magnified() > UNDECIDED)
        if len(late) and self.run.t[late[0]] < found.t:
            found = _Until(float(self.run.t[late[0]]), ", where errors are magnified too much")
        return found

    def _event_spans(self) -> list[float]:
        """Return for each event of the accurate motion by how much its time may differ (s)."""
        floor = FACTOR * self.tolerance * float(np.ptp(self.run.t)) + 1e-12
        spans = np.full(len(self.tight.run.events), floor)
        for variant in self.shaken:
            limit = first_difference(self.tight.run, variant.run)
            for k, pair in enumerate(event_pairs(self.tight.run, variant.run)):
                if pair is not None and max(pair) < limit:
                    spans[k] = max(spans[k], FACTOR * abs(pair[1] - pair[0]))
        return spans.tolist()

    def _decided(self, times: Array) -> NDArray[np.bool_]:
        """Return at which times states are compared."""
        chosen = times <= self.until.t if not self.until.words else times < self.until.t
        for event, span in zip(self.tight.run.events, self.spans, strict=True):
            if event.t <= self.until.t:
                chosen &= np.abs(times - event.t) > span
        return chosen

    # --- checks -------------------------------------------------------------------------------

    def checks(self) -> Iterator[Check]:
        """Yield the checks."""
        if not len(self.run.t):
            yield Check(LAWS["tight"], "nothing", "there are no times of output", None)
            return
        if self.variants.problem.settings.step is None:
            yield self._states("tight", self.run, self.tight, self.allowed())
        else:
            yield self._steps()
        yield self._other()
        if self.run.events or self.tight.run.events:
            yield self._events()

    def again(self, own: Variant, run: Run | None = None) -> Check:
        """Return the check of a run by the same motion, computed here alone."""
        found = replace(own, words="the same method once more")
        return self._states("again", self.run if run is None else run, found, self.allowed())

    def columns(self, own: Variant) -> Check:
        """Return the check of what else the run has by the same motion, computed here alone."""
        law, words = LAWS["columns"], "the same method once more"
        found: dict[str, tuple[float, float]] = {}
        left: list[str] = []
        names = dict.fromkeys((*COLUMNS, *self.run.computed, *self.run.beyond_states()))
        for name in names:
            mine, other = _column(self.run, name), _column(own.run, name)
            if mine is None or (not mine.size and (other is None or not other.size)):
                continue
            pair = None if other is None else self._column_gap(name, mine, other)
            if pair is None:
                left.append(name)
            else:
                found[name] = pair
        if (pair := self._event_gap(own.run)) is not None:
            found["states at events"] = pair
        without = f"; not compared: {', '.join(left)}" * bool(left)
        if not found:
            return Check(law, "nothing", f"nothing of it is decided{self._since()}{without}", None)
        failed = [name for name, (gap, allowed) in found.items() if not gap <= allowed]
        worst = max(found.values(), key=_share)
        figure = f"off by {worst[0]:.1e} at most" if worst[0] else "no difference"
        figure = f"DIFFERENT: {', '.join(failed)}" if failed else figure
        compared = f"{', '.join(found)} at all times, {self.run.method} and {words}"
        return Check(law, compared, figure + without, not failed, len(self.run.t), *worst)

    def _column_gap(self, name: str, mine: Array, other: Array) -> tuple[float, float] | None:
        """Return how far a column is off where it is worst, and what is allowed there.

        None where nothing is decided.
        """
        count, size = min(len(mine), len(other)), _size(other[np.isfinite(other)])
        rows = np.flatnonzero(self._decided(self.run.t[:count]))
        if not len(rows):
            return None
        if mine.shape[1] != other.shape[1]:
            return np.inf, 0.0
        allowed = FACTOR * (self._moved(name) / size + self.tolerance)[rows]
        a, b = mine[rows], other[rows]
        with np.errstate(invalid="ignore"):
            gaps = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b) / size)
        gap = np.where(np.isnan(gaps), np.inf, gaps).max(axis=1)
        decided = np.flatnonzero(np.isfinite(allowed))
        if not len(decided):
            return None
        k = decided[int(np.argmax(gap[decided] / allowed[decided]))]
        return float(gap[k]), float(allowed[k])

    def _event_gap(self, own: Run) -> tuple[float, float] | None:
        """Return how far states and impulses at events are off where they are worst, as above."""
        moved, found = self.magnified(), list[tuple[float, float]]()
        blows = [event_parts(event)[2:] for event in own.events]
        scales = [*self.sizes, *(_size(np.concatenate(part)) for part in zip(*blows, strict=True))]
        for mine, other in paired(self.run, own):
            k = int(np.searchsorted(self.run.t, mine.t))
            if other is None or mine.t >= self.until.t or not np.isfinite(moved[k : k + 1]).any():
                continue
            parts = zip(event_parts(mine), event_parts(other), scales, strict=True)
            same = [
                (a - b) / size if a.shape == b.shape else np.full(1, np.inf) for a, b, size in parts
            ]
            gap = float(np.abs(np.concatenate(same)).max(initial=0.0))
            found.append((gap, FACTOR * float(moved[k] + self.tolerance)))
        return max(found, key=_share, default=None)

    def _moved(self, name: str) -> Array:
        """Return by how much small forces changed a column until each time; inf if not known."""
        found, right = np.zeros(len(self.run.t)), _column(self.tight.run, name)
        for variant in self.shaken:
            other = _column(variant.run, name)
            if right is None or other is None or right.shape[1] != other.shape[1]:
                return np.full(len(found), np.inf)
            count = min(len(right), len(other))
            with np.errstate(invalid="ignore"):
                gap = np.abs(other[:count] - right[:count]).max(axis=1, initial=0.0)
            gap[self._near_events(self.tight.run.t[:count], variant.run)] = 0.0
            found[:count] = np.fmax(found[:count], gap)
        return np.maximum.accumulate(found)

    def _states(self, law: str, run: Run, other: Variant, allowed: Array) -> Check:
        """Return the check of the states of two motions."""
        gaps = self.gaps(run, other.run)
        times = run.t[: len(gaps)]
        rows = np.flatnonzero(self._decided(times))
        compared = f"all coordinates and rates, {self.run.method} and {other.words}{self.remark}"
        if not len(rows):
            return Check(LAWS[law], compared, f"nothing is decided{self._since()}", None)
        largest = gaps[rows].max(axis=1)
        shares = largest / allowed[rows]
        shares[np.isnan(shares)] = np.inf
        worst = int(np.argmax(shares))
        k = int(rows[worst])
        name = self.names[int(np.argmax(gaps[k]))]
        figure = f"deviation {largest[worst]:.1e} of {name} at t = {times[k]:.6g} s"
        figure += f", where {allowed[k]:.1e} is allowed"
        figure = (figure if largest[worst] else "no difference") + self._since()
        holds = bool(shares[worst] <= 1.0)
        return Check(
            LAWS[law], compared, figure, holds, len(rows), float(largest[worst]), float(allowed[k])
        )

    def _since(self) -> str:
        """Return from when on nothing is decided, in words."""
        return f"; not decided after t = {self.until.t:.6g} s{self.until.words}" * bool(
            self.until.words
        )

    def _other(self) -> Check:
        """Return the check of the accurate motion by a method of another family."""
        cut: list[str] = []
        for other in self.variants.others():
            if other.cut:
                cut.append(f"{other.words}: {other.cut}")
                continue
            check = self._states("other", self.tight.run, other, self.allowed() * other.share)
            words = f"all coordinates and rates, {self.tight.words} and {other.words}"
            words += "".join(f"; without {text}" for text in cut) + self.remark
            return replace(check, compared=words)
        return Check(LAWS["other"], "nothing", "; ".join(cut) or "no other method takes it", None)

    def _steps(self) -> Check:
        """Return the check of a motion with steps of fixed length."""
        gaps = self.gaps(self.run, self.tight.run)
        rows = np.flatnonzero(self._decided(self.run.t[: len(gaps)]))
        rows = rows[np.maximum.accumulate(gaps.max(axis=1))[rows] <= UNDECIDED]
        compared = f"all coordinates and rates, {self.run.method} and {self.tight.words}"
        if not len(rows):
            return Check(LAWS["steps"], compared, f"nothing is decided{self._since()}", None)
        whole = float(gaps[rows].max())
        k, column = np.unravel_index(int(np.argmax(gaps[rows])), gaps[rows].shape)
        t, name = float(self.run.t[rows[int(k)]]), self.names[int(column)]
        allowed = max(FASTER * whole, ROUNDED + float(self.allowed()[rows].max()))
        figure, part = f"deviation {whole:.1e} of {name} at t = {t:.6g} s", np.inf
        for finer in self.variants.finer():
            left = self.gaps(finer.run, self.tight.run)
            if finer.cut or len(left) < len(gaps):
                return Check(LAWS["steps"], compared, finer.cut or "it ends earlier", None)
            part = float(left[rows].max())
            figure += f", {part:.1e} by {finer.words}"
            if part <= allowed:
                break
        figure, holds = figure + self._since(), bool(part <= allowed)
        if not holds and self.variants.has_jumps():
            # The error is as large as the part of a step after a jump, which no halving may change.
            return Check(LAWS["steps"], compared, f"{figure}; forces jump within steps", None)
        return Check(LAWS["steps"], compared, figure, holds, len(rows), part, allowed)

    def _events(self) -> Check:
        """Return the check of events: each as often, and when."""
        run, tight = self.run, self.tight
        compared = f"names and times of all events, {run.method} and {tight.words}"
        limit, early = self.until.t, first_difference(tight.run, run)
        pairs = [
            (span, event.name, *pair)
            for span, event, pair in zip(
                self.spans, tight.run.events, event_pairs(tight.run, run), strict=True
            )
            if pair is not None and max(pair) <= limit
        ]
        # An event just before the end of what is decided may lie just after it.
        margin = max(self.spans, default=0.0)
        if early < limit - margin:
            figure = f"they differ from t = {early:.6g} s on{self._since()}"
            return Check(LAWS["events"], compared, figure, False, len(pairs))
        if not pairs:
            return Check(LAWS["events"], compared, f"none is decided{self._since()}", None)
        shares = [abs(b - a) / span for span, _, a, b in pairs]
        worst = int(np.argmax(shares))
        span, name, a, b = pairs[worst]
        figure = f"{len(pairs)} events; {name} at t = {a:.6g} s differs by {abs(b - a):.1e} s"
        figure += f", where {span:.1e} s is allowed{self._since()}"
        holds = bool(shares[worst] <= 1.0)
        return Check(LAWS["events"], compared, figure, holds, len(pairs), abs(b - a), span)


def _size(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0)) or 1.0


def _share(pair: tuple[float, float]) -> float:
    gap, allowed = pair
    return gap / allowed if allowed else np.inf


def _column(run: Run, name: str) -> Array | None:
    """Return a column of a run, (m, k); None where it has none."""
    try:
        found = run.extra_states if name == "further" else run.output(name)
    except Error:
        return None
    if found is None or not len(run.t) or len(found) != len(run.t):
        return None
    return found.reshape(len(run.t), -1)
