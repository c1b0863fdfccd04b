"""Poles along a parameter, and where motions gain or lose their stability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.linear_variables import RowOptions
from chainform.analysis.linear.linearisation import ActingValues
from chainform.analysis.linear.small_motion import SmallMotion
from chainform.analysis.oscillations.eigenmodes import eigenmodes
from chainform.analysis.oscillations.parameter_motions import ParameterMotions
from chainform.analysis.oscillations.pole_paths import (
    Crossing,
    PolePoint,
    crossings,
    matched,
)
from chainform.analysis.oscillations.steady_motion import SteadyMotion, checked, given_state
from chainform.analysis.results.interruption import Progress, Watch
from chainform.analysis.results.result import Result
from chainform.errors import RunError
from chainform.given import argument, counted
from chainform.mechanism import Mechanism
from chainform.readers import read

Array = NDArray[np.float64]
TURN = 2 * np.pi
MOST = 100_000
KINDS = ("point", "divergence", "oscillation")
UNITS = {"pole_real": "1/s", "pole_imag": "1/s", "growth": "1/s"}


def root_locus(
    mechanism: Mechanism | str | PathLike[str],
    parameter: str,
    span: tuple[float, float],
    *,
    count: int = 101,
    tolerance: float = 1e-10,
    state: Mapping[str, Any] | Result | str | PathLike[str] | None = None,
    progress: Progress | None = None,
    **options: Unpack[RowOptions],
) -> Result:
    """Return the poles of small motions along a parameter, and where stability changes.

    `parameter` is one of the mechanism, or a name in laws, gains of controllers or entries of the
    state: qd={"spin": "n"}. At each of `count` values, evenly from the first of `span` to the
    second, the equilibrium or the steady motion near the one before is found; `state`, or its
    parts, is where the first is looked for, of a result with several equilibria in `row`, from 1.
    All else is as for `modes`.

    Arrays have a row for each value, and for each crossing of the imaginary axis, which is located
    to `tolerance`, a share of the span: parameter, pole_real and pole_imag (1/s), each pole in one
    column, unstable (how many grow), growth (1/s, the largest real part), kind (0, or at a crossing
    1 divergence, 2 oscillation), q, and qd where something moves. `facts` has the crossings:
    parameter, kind, angular frequency (rad/s), direction (1 where stability is lost as the
    parameter goes on, -1 where it is gained).
    """
    name = argument("parameter", parameter).text()
    first, last = (end.number() for end in argument("span", span).entries(2, "write [0, 1]"))
    if first == last:
        raise argument("span", 0).error("the span is empty", "give two values: span=[0, 1]")
    number = argument("count", count).whole(2, MOST)
    share = argument("tolerance", tolerance).number(least=1e-14, most=1e-2)
    source = mechanism if isinstance(mechanism, Mechanism) else read(mechanism)
    begin = given_state(source, state, options)
    motions = ParameterMotions(source, name, (first, last), ActingValues.of(options), begin)
    locus = _Locus(motions, share * abs(last - first))
    watch = Watch(progress)
    with watch.counting(number):
        for k, value in enumerate(np.linspace(first, last, number)):
            locus.go_on(float(value))
            watch.tell(k + 1)
    del locus.points[locus.ends[watch.done - 1] :]
    return watch.finished(locus.result(watch.lines))


def _poles(value: float, motion: SteadyMotion) -> PolePoint:
    """Return the poles about a steady motion."""
    found = eigenmodes(motion)
    return PolePoint(value, found.poles, found.errors)


class _Locus:
    """Poles from value to value."""

    def __init__(self, motions: ParameterMotions, tolerance: float) -> None:
        self.motions, self.tolerance = motions, tolerance
        self.points: list[PolePoint] = []
        self.ends: list[int] = []
        """How many points there are up to each value."""
        self.notes: tuple[str, ...] = ()
        self.found: list[Crossing] = []
        self.states: dict[float, tuple[Array, Array]] = {}
        self.motions_at: dict[float, SmallMotion] = {}
        """Motions since the last value; those before it are dropped."""

    def motion(self, value: float, near: float | None = None) -> SmallMotion:
        """Return the steady motion with a value of the parameter."""
        before = None if near is None else self.motions_at[near]
        motion = self.motions.at(value, before)
        self.motions_at[value] = motion
        self.states[value] = motion.point["q"], motion.point["qd"]
        return motion

    def go_on(self, value: float) -> None:
        """Add the poles with the next value, and the crossings before it."""
        last = self.points[-1] if self.points else None
        if last is not None:
            self.motions_at = {last.value: self.motions_at[last.value]}
        steady = checked(self.motion(value, None if last is None else last.value))
        self.motions_at[value] = steady.small
        point = _poles(value, steady)
        if last is not None:
            self._add_crossings(last, point, steady.varying)
        self._add(point)
        self.notes = steady.notes()
        self.ends.append(len(self.points))

    def _add(self, point: PolePoint) -> None:
        self.points.append(matched(self.points[-2:], point) if self.points else point)

    def _add_crossings(self, last: PolePoint, point: PolePoint, varying: tuple[int, ...]) -> None:
        """Add the crossings between two points."""
        if len(point.poles) != len(last.poles):
            raise RunError(
                f"at {self.motions.name} = {point.value:.6g} there are {len(point.poles)} poles, "
                f"and {len(last.poles)} before",
                file=self.motions.mechanism.file,
                element="span",
                remedy="take a span without singular positions",
            )

        def evaluate(value: float) -> PolePoint:
            return _poles(value, SteadyMotion(self.motion(value, last.value), varying))

        for crossing in crossings(last, point, evaluate, self.tolerance):
            self.found.append(crossing)
            self._add(crossing.point)

    # --- the result ---------------------------------------------------------------------

    def result(self, lines: Sequence[str]) -> Result:
        """Return what was found."""
        values = {point.value for point in self.points}
        poles = np.array([point.poles for point in self.points])
        self.found = [c for c in self.found if c.point.value in values]
        places = {crossing.point.value: crossing.kind for crossing in self.found}
        arrays = {
            "parameter": np.array([point.value for point in self.points]),
            "pole_real": np.ascontiguousarray(poles.real),
            "pole_imag": np.ascontiguousarray(poles.imag),
            "unstable": np.array([float(point.unstable) for point in self.points]),
            "growth": np.max(poles.real, axis=1),
            "kind": np.array([float(places.get(p.value, 0)) for p in self.points]),
            "q": np.array([self.states[point.value][0] for point in self.points]),
        }
        qd = np.array([self.states[point.value][1] for point in self.points])
        if np.any(qd):
            arrays["qd"] = qd
        name = self.motions.name
        facts = {
            "parameter": name,
            "crossings": [
                [c.point.value, KINDS[c.kind], c.frequency, c.direction] for c in self.found
            ],
        }
        report = (*self._report(arrays), *lines, *self.notes)
        # Minus zero is zero for people.
        arrays = {key: array + 0.0 for key, array in arrays.items()}
        mechanism = self.motions.mechanism
        return Result("root_locus", mechanism, "parameter", arrays, report, facts, UNITS)

    def _report(self, arrays: Mapping[str, Array]) -> list[str]:
        name, values = self.motions.name, arrays["parameter"]
        poles = counted(arrays["pole_real"].shape[1], "pole")
        lines = [f"{poles} from {name} = {values[0]:.6g} to {values[-1]:.6g}"]
        for crossing in self.found:
            change = "lost" if crossing.direction > 0 else "gained"
            hertz = f", {crossing.frequency:.6g} rad/s ({crossing.frequency / TURN:.6g} Hz)"
            how = hertz if crossing.kind == KINDS.index("oscillation") else ""
            about = "" if crossing.is_located else "about "
            lines.append(
                f"stability of {counted(crossing.count, 'pole')} is {change} at {about}{name} = "
                f"{crossing.point.value:.10g}: {KINDS[crossing.kind]}{how}"
            )
        number = arrays["unstable"]
        if not self.found:
            lines.append("all poles stay on their side of the imaginary axis")
        for end, where in ((number[0], "first"), (number[-1], "last")):
            what = "none grows" if not end else f"{int(end)} grow" if end > 1 else "1 grows"
            lines.append(f"at the {where} value {what}")
        return lines
