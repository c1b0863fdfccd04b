"""Poles from value to value of a parameter: which belong together, where they cross the axis.

symbol   meaning
a, b     two poles that meet on the imaginary axis, and leave it to both sides
f        what changes its sign at a crossing

A pole that goes through the axis alone crosses where its real part is zero: f = Re(a). Without
damping two poles meet on the axis and leave it as a pair; their distance has a square root there,
but its square has none:

    f = Re((a - b)^2)

is smooth, below zero on the axis and above zero aside of it, so that f gives the value to rounding,
where the poles themselves are known to its root only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Evaluate = Callable[[float], "PolePoint"]

SMALL, NONE = 0.06, 1e-9
"""What counts as a zero of f, against f at both sides: where it goes through zero, and at once."""
DIVERGENCE, OSCILLATION = 1, 2
SECTIONS, STEPS = 5, 80
FINE = 1000.0
"""By which share of the tolerance the last step of a search is shorter."""
MOST = 20


@dataclass(frozen=True, eq=False)
class PolePoint:
    """The poles (1/s) with a value of the parameter, and by how much rounding may move each."""

    value: float
    poles: Complex
    errors: Array

    @property
    def grows(self) -> NDArray[np.bool_]:
        """Which poles grow."""
        return np.asarray(self.poles.real > self.errors, np.bool_)

    @property
    def unstable(self) -> int:
        """How many poles grow."""
        return int(np.sum(self.grows))


@dataclass(frozen=True, eq=False)
class Crossing:
    """Where poles cross the imaginary axis: how many, which way, and with which frequency.

    Where no function that is smooth changes its sign there, `is_located` is False: the value is
    then that at which real parts can first be distinguished from zero.
    """

    point: PolePoint
    kind: int
    frequency: float
    direction: int
    count: int
    is_located: bool = True


def matched(before: Sequence[PolePoint], point: PolePoint) -> PolePoint:
    """Return a point whose poles stand in the columns of those before that they go on from."""
    last = before[-1]
    expected = last.poles
    if len(before) > 1 and last.value != before[0].value:
        rate = (point.value - last.value) / (last.value - before[0].value)
        expected = last.poles + min(rate, 2.0) * (last.poles - before[0].poles)
    # Where poles have just met the way before tells nothing.
    plain, ahead = (_order(start, point.poles) for start in (last.poles, expected))
    far = [float(np.sum(np.abs(point.poles[o] - expected))) for o in (plain, ahead)]
    order = ahead if far[1] < far[0] else plain
    return replace(point, poles=point.poles[order], errors=point.errors[order])


def _order(start: Complex, poles: Complex) -> list[int]:
    """Return for each pole the place of the one that it goes on to, the nearest pairs first."""
    apart = np.abs(start[:, None] - poles[None, :])
    order = [-1] * len(start)
    for flat in np.argsort(apart, axis=None, kind="stable"):
        i, j = divmod(int(flat), len(poles))
        if order[i] < 0 and j not in order:
            order[i] = j
    return order


# --- crossings --------------------------------------------------------------------------------


def crossings(
    first: PolePoint, last: PolePoint, evaluate: Evaluate, tolerance: float
) -> list[Crossing]:
    """Return the crossings between two points, in their order."""
    found: list[Crossing] = []
    here = first
    while here.unstable != last.unstable and len(found) < MOST:
        if abs(last.value - here.value) <= tolerance:
            break
        crossing, here = _next(here, last, evaluate, tolerance)
        found.append(crossing)
    return found


def _next(
    left: PolePoint, right: PolePoint, evaluate: Evaluate, tolerance: float
) -> tuple[Crossing, PolePoint]:
    """Return the first crossing, and a point behind it with other poles that grow."""
    begin = left.unstable

    def section() -> None:
        nonlocal left, right
        middle = evaluate((left.value + right.value) / 2)
        if middle.unstable == begin:
            left = middle
        else:
            right = middle

    for _ in range(SECTIONS):
        section()
    refined = _refined(left, right, evaluate, tolerance)
    while refined is None and abs(right.value - left.value) > tolerance:
        section()
    end = right.unstable
    leaving = _leaving(left, right)[0]
    point, pole = (right, leaving) if refined is None else refined
    frequency = float(abs(pole.imag))
    error = float(point.errors[int(np.argmin(np.abs(point.poles - pole)))])
    kind = DIVERGENCE if frequency <= error or leaving.imag == 0 else OSCILLATION
    frequency = 0.0 if kind == DIVERGENCE else frequency
    direction, is_located = 1 if end > begin else -1, refined is not None
    return Crossing(point, kind, frequency, direction, abs(end - begin), is_located), right


def _leaving(left: PolePoint, right: PolePoint) -> tuple[complex, complex]:
    """Return the pole that grows on one side only, and the one it belongs to on the other."""
    order = _order(left.poles, right.poles)
    pairs = list(zip(left.poles, right.poles[order], strict=True))
    states = zip(left.grows, right.grows[order], strict=True)
    changed = [
        (b, a) if grows_b else (a, b)
        for (a, b), (grows_a, grows_b) in zip(pairs, states, strict=True)
        if grows_a != grows_b and max(a.imag, b.imag) >= 0
    ]
    return max(changed or pairs, key=lambda pair: pair[0].real)


def _refined(
    left: PolePoint, right: PolePoint, evaluate: Evaluate, tolerance: float
) -> tuple[PolePoint, complex] | None:
    """Return the point of a crossing by a zero of f, and the pole; None where no f has one.

    The mean of two poles that meet is known better than each.
    """
    grows, still = _leaving(left, right)
    side = left if left.unstable < right.unstable else right
    is_alone = still.real < -float(side.errors[int(np.argmin(np.abs(side.poles - still)))])
    middle = 1j * grows.imag

    zeros = min(int(np.sum(point.poles == 0)) for point in (left, right))

    def nearest(point: PolePoint) -> Complex:
        # Those of free motions stay zero.
        poles = point.poles[np.argsort(np.abs(point.poles), kind="stable")][zeros:]
        return poles[np.argsort(np.abs(poles - middle), kind="stable")]

    def meeting(point: PolePoint) -> complex:
        a, *others = nearest(point)[:2]
        return complex(a - others[0]) ** 2 if others else 1.0

    def leaning(point: PolePoint) -> complex:
        return complex(nearest(point)[0].real)

    for f in (leaning,) if is_alone else (meeting, leaning):
        size = max(abs(f(left)), abs(f(right)))
        found = _zero(left, right, lambda point, f=f: f(point).real, evaluate, tolerance)
        if found is not None and abs(f(found)) <= SMALL * size:
            near = nearest(found)[: 2 if f is meeting else 1]
            return found, complex(near.mean())
    return None


def _zero(
    a: PolePoint,
    b: PolePoint,
    f: Callable[[PolePoint], float],
    evaluate: Evaluate,
    tolerance: float,
) -> PolePoint | None:
    """Return the point at which f is zero, by the method of Illinois."""
    fa, fb = f(a), f(b)
    for point, value in ((a, fa), (b, fb)):
        if abs(value) <= NONE * max(abs(fa), abs(fb)):
            return point
    if fa * fb > 0:
        return None
    side = 0
    for _ in range(STEPS):
        point = evaluate((a.value * fb - b.value * fa) / (fb - fa))
        found = f(point)
        if found * fb > 0:
            step, b, fb = abs(point.value - b.value), point, found
            fa = fa / 2 if side < 0 else fa
            side = -1
        else:
            step, a, fa = abs(point.value - a.value), point, found
            fb = fb / 2 if side > 0 else fb
            side = 1
        if found == 0.0 or min(step, 100 * abs(b.value - a.value)) <= tolerance / FINE:
            return point
    return None
