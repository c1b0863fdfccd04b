"""Events between two times, for solvers that give the state at any time between them.

The same is done as in first_event.py, where it is explained: values at five times of a stretch,
which is halved where they do not tell what a function does in between; zeros by false position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import copysign, inf, isnan
from typing import TypeAlias

from chainform.simulation.machine.records import EPSILON
from chainform.simulation.solvers.events.first_event import AT_ONCE, BARELY, SHORTEST
from chainform.simulation.solvers.events.roots import NOTHING, POLE, ROUNDS, SLOW, crossing
from chainform.simulation.solvers.events.samples import (
    FINE_PLACES,
    LAST,
    PLACES,
    REACH,
    is_rough,
    next_dip,
)

Values: TypeAlias = list[float]
Look: TypeAlias = Callable[[float], Values]
"""Gives the values of all event functions at a time."""

NEARLY = 0.9
LATE = 1e-3
"""The part of a step before its end from which a function is followed beyond the end."""
GOLDEN = 0.381966
SAME = 4.0
"""A function that is not so many times farther from zero than at its event is still there."""


@dataclass(frozen=True)
class SimultaneousEvents:
    """Events that happen at once: when, and their numbers.

    Or the number of one, `missing`, whose function has no value after that time.
    """

    t: float
    numbers: tuple[int, ...] = ()
    missing: int | None = None


class EventWatcher:
    """Looks for events from one time to the next; `before` are the values at the first."""

    def __init__(self, directions: Sequence[float], longest: float = inf) -> None:
        self.directions, self.longest = directions, longest
        self.before: Values | None = None
        """None where the motion begins anew."""
        self._met: dict[int, float] = {}
        """The values of functions whose events the motion stands at."""
        self._sides: Mapping[int, float] = {}
        """The signs that they have from then on."""
        self._earlier: Values | None = None
        """The values a step earlier."""

    def begin(self, values: Values, rounding: Values) -> None:
        """Begin at a state that the motion did not come to by itself.

        What is no more than what rounding makes of it is at zero, and so is what has just happened
        and was not moved from its zero.
        """
        still = [i for i, value in self._met.items() if abs(values[i]) <= SAME * abs(value)]
        still += [i for i, value in enumerate(values) if abs(value) <= rounding[i]]
        self.before = [0.0 if i in still else value for i, value in enumerate(values)]
        self._met, self._earlier = {}, None

    def search(
        self, first: float, last: float, look: Look, *, is_end: bool = False
    ) -> SimultaneousEvents | None:
        """Return the first events between two times, or None; then `before` are the values there.

        At the end of a motion events happen as well that rounding puts just behind it.
        """
        met = self._search(first, last, look)
        late = self._late(first, last, look) if is_end and (met is None or met.t == last) else {}
        if not late:
            return met
        sides = dict(self._sides) if met is not None else {}
        return self._meeting(last, late | sides, look(last))

    def _late(self, first: float, last: float, look: Look) -> dict[int, float]:
        """Return events whose zeros are just behind a time, each with its sign from then on."""
        room = AT_ONCE * EPSILON * max(abs(first), abs(last))
        before, after = look(last - LATE * (last - first)), look(last)
        found: dict[int, float] = {}
        for i, (early, value) in enumerate(zip(before, after, strict=True)):
            rate = (value - early) / (LATE * (last - first))
            is_near = rate * value < 0 and abs(value) <= room * abs(rate)
            if is_near and crossing(value, -value, self.directions[i]):
                found[i] = -value
        return found

    def _search(self, first: float, last: float, look: Look) -> SimultaneousEvents | None:
        assert self.before is not None
        if self._is_quiet(last - first, look(last)):
            return None
        low, width, values = first, last - first, self.before
        finest = 4 * EPSILON * max(abs(first), abs(last))
        while low < last:
            high = min(last, low + width)
            times = [*(low + place * (high - low) for place in PLACES[:-1]), high]
            rows = [values, *map(look, times[1:])]
            missing = next((i for row in rows for i, v in enumerate(row) if isnan(v)), None)
            if missing is not None and (high - low <= finest or isnan(values[missing])):
                return SimultaneousEvents(low, missing=missing)
            is_long = missing is not None or high - low > SHORTEST * (last - first)
            if is_long and (missing is not None or self._is_rough(rows)):
                width = (high - low) / 2
                continue
            met = self._first(times, rows, look)
            if met is not None:
                return met
            width, low = 2 * (high - low), high
            self.before = values = rows[-1]
        return None

    def _is_quiet(self, step: float, after: Values) -> bool:
        """Tell whether nothing is near zero at the ends of this step and of the last one.

        Steps that nothing but `longest` bounds may be in time with what a function does.
        """
        assert self.before is not None
        ends = [row for row in (self._earlier, self.before, after) if row is not None]
        self._earlier = self.before
        if len(ends) < 3 or step > NEARLY * self.longest or not _are_away(ends):
            return False
        self.before = after
        return True

    def _is_rough(self, rows: Sequence[Values]) -> bool:
        flat = [value for row in rows for value in row]
        stride = len(self.directions)
        return any(is_rough(flat, i, stride) for i in range(stride))

    def _first(
        self, times: Sequence[float], rows: Sequence[Values], look: Look
    ) -> SimultaneousEvents | None:
        places: dict[int, tuple[float, float]] = {}
        for i in range(len(self.directions)):
            values = [row[i] for row in rows]
            place = _Course(i, self.directions[i], times, values, look).first()
            if place is not None:
                places[i] = place
        if not places:
            return None
        best = min(t for t, _ in places.values())
        room = AT_ONCE * EPSILON * max(abs(times[0]), abs(times[-1]))
        met = {i: place for i, place in places.items() if place[0] <= best + room}
        t = max(place for place, _ in met.values())
        return self._meeting(t, {i: side for i, (_, side) in met.items()}, look(t))

    def _meeting(self, t: float, sides: Mapping[int, float], values: Values) -> SimultaneousEvents:
        """Return events at a time, each with the sign that it has from then on."""
        # They have their zero just behind them, whatever rounding says.
        self.before = [
            copysign(BARELY, sides[i]) if i in sides and not value * sides[i] > 0 else value
            for i, value in enumerate(values)
        ]
        self._met, self._sides = {i: values[i] for i in sides}, sides
        return SimultaneousEvents(t, tuple(sorted(sides)))


def _are_away(rows: Sequence[Values]) -> bool:
    """Tell whether all functions are on one side of zero each, and far from it."""
    for values in zip(*rows, strict=True):
        low, high = min(values), max(values)
        if isnan(sum(values)) or not max(low, -high) > REACH * (high - low):
            return False
    return True


class _Course:
    """One function over a stretch: its values at five times."""

    def __init__(
        self, number: int, direction: float, times: Sequence[float], values: Values, look: Look
    ) -> None:
        self.number, self.direction = number, direction
        self.times, self.values, self.look = times, values, look

    def first(self) -> tuple[float, float] | None:
        """Return when its first event is, and the sign that it has from then on."""
        found = self._crossing()
        dip = next_dip(self.values, 0, 1, 0)
        while dip > 0:
            early, late = (self._time(FINE_PLACES[m]) for m in (dip - 1, dip + 1))
            if found is not None and early >= found[0]:
                break
            over = self._dip(early, late, self._time(FINE_PLACES[dip]))
            if over is not None and (found is None or over[0] < found[0]):
                found = over
            dip = next_dip(self.values, 0, 1, dip)
        return found

    def _time(self, place: float) -> float:
        return self.times[0] + place * (self.times[-1] - self.times[0])

    def _at(self, t: float) -> float:
        return self.look(t)[self.number]

    def _crossing(self) -> tuple[float, float] | None:
        for j in range(LAST):
            ends = (self.times[j], self.times[j + 1], self.values[j], self.values[j + 1])
            if crossing(ends[2], ends[3], self.direction):
                zero = self._zero(*ends)
                if zero is not None:
                    return zero, -ends[2]
        return None

    def _dip(self, early: float, late: float, t: float) -> tuple[float, float] | None:
        """Return the event of a function that comes near zero and turns back, if it goes over."""
        j = max(j for j in range(LAST) if j == 0 or self.times[j] <= t)
        left, right = self.values[j], self.values[j + 1]
        lowest = self._lowest(early, late, 1.0 if left > 0 else -1.0)
        if lowest is None or not self.times[j] < lowest < self.times[j + 1]:
            return None
        below = self._at(lowest)
        for ends in (
            (self.times[j], lowest, left, below),
            (lowest, self.times[j + 1], below, right),
        ):
            if crossing(ends[2], ends[3], self.direction):
                zero = self._zero(*ends)
                return None if zero is None else (zero, -ends[2])
        return None

    def _lowest(self, low: float, high: float, side: float) -> float | None:
        """Return a time at which a function is past zero between two, by golden section."""
        inner = [low + GOLDEN * (high - low), high - GOLDEN * (high - low)]
        found = [side * self._at(t) for t in inner]
        while min(found) > 0:
            if high - low <= 1e-7 * (self.times[-1] - self.times[0]):
                return None
            if found[0] < found[1]:
                high, inner, found = inner[1], [0.0, inner[0]], [0.0, found[0]]
                inner[0] = low + GOLDEN * (high - low)
                found[0] = side * self._at(inner[0])
            else:
                low, inner, found = inner[0], [inner[1], 0.0], [found[1], 0.0]
                inner[1] = high - GOLDEN * (high - low)
                found[1] = side * self._at(inner[1])
        return inner[0] if found[0] <= 0 else inner[1]

    def _zero(self, low: float, high: float, before: float, after: float) -> float | None:
        """Return when a function is at or just past its zero; None at a pole."""
        left, right, at_low, at_high = before, after, before, after
        side, slow, width = 0, 0, high - low
        least = 2 * EPSILON * max(abs(low), abs(high))
        for _ in range(ROUNDS):
            if high - low <= 2 * least:
                break
            t = high - right * (high - low) / (right - left) if right != left else inf
            if slow >= SLOW or abs(left) <= NOTHING or not low <= t <= high:
                t = (low + high) / 2
            # What is at an end already, but for rounding, is closed in from there.
            t = min(max(t, low + least), high - least)
            value = self._at(t)
            if crossing(before, value, 0.0):
                high, right, at_high = t, value, value
                left, side = (left / 2 if side == 1 else left), 1
            else:
                low, left, at_low = t, value, value
                right, side = (right / 2 if side == 2 else right), 2
            slow += 1
            if high - low <= width / 2:
                width, slow = high - low, 0
        largest = POLE * max(abs(before), abs(after))
        return None if min(abs(at_low), abs(at_high)) > largest else high
