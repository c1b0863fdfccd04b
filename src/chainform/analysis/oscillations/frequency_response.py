"""Forced oscillations: how outputs answer to inputs that swing, G = C (i w - A)^-1 B + D.

Under an input Re(a exp(i w t)) an output swings by Re(G a exp(i w t)) about its value in the state.
What moves besides dies out where all modes decay, and only there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.linear_variables import SteadyOptions
from chainform.analysis.linear.linearisation import ActingValues
from chainform.analysis.oscillations.eigenmodes import (
    FREE,
    GROWTH,
    OSCILLATION,
    EigenMode,
    balanced_scales,
    eigenmodes,
)
from chainform.analysis.oscillations.steady_motion import (
    SteadyMotion,
    given_state,
    steady_motion,
)
from chainform.analysis.results.result import Result
from chainform.errors import RunError
from chainform.given import argument, counted, finite_array
from chainform.mechanism import Mechanism

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
TURN = 2 * np.pi
FASTEST = 1e100
"""The largest frequency, Hz."""
COUNT, MOST = 401, 1_000_000
"""Frequencies by default, and at most."""
MOST_NUMBERS = 4_000_000
"""The most entries of all matrices that are there at once, and of a response."""
HIT = 1e-9
"""A frequency nearer to that of a mode without damping, relative to it, hits it."""
AROUND = (-3.0, -1.0, -0.3, 0.0, 0.3, 1.0, 3.0)
"""Where peaks are looked for about a pole, in parts of its damping."""
SECTIONS = 80
MOST_PEAKS = 40
GOLDEN = (np.sqrt(5.0) - 1) / 2


def frequency_response(
    mechanism: Mechanism | str | PathLike[str],
    inputs: Sequence[str] | Mapping[str, Any],
    outputs: Sequence[str],
    frequencies: Any = None,
    *,
    state: Mapping[str, Any] | Result | str | PathLike[str] | None = None,
    wrenches: Sequence[str] = (),
    **options: Unpack[SteadyOptions],
) -> Result:
    """Return how outputs answer to inputs that swing, about an equilibrium or a steady motion.

    `inputs` and `outputs` are those of `linearise`; inputs may be a table of amplitudes,
    {"crank": 2.5}, or of amplitude and phase (rad), {"crank": [2.5, 1.57]}: then the forced
    oscillation under all of them is found. `frequencies` (Hz) are a list, or {"from": 0.1, "to":
    100, "count": 401}, evenly by their logarithms; by default they go from a tenth of the slowest
    mode to ten times the fastest. All else is as for `modes`; of a result with several equilibria
    `row` chooses one, from 1.

    Arrays have a row for each frequency: frequency (Hz), angular_frequency (rad/s), amplitude,
    phase (rad), real and imag, of (m, outputs, inputs), or (m, outputs) with amplitudes. `facts`
    has the names of inputs and outputs, and resonances: output, input, frequency and amplitude of
    each peak. A frequency at which a mode without damping swings by itself is refused. The report
    says where modes grow, so that no motion approaches the forced one.
    """
    names, weights = given_inputs(inputs)
    given = argument("outputs", outputs)
    wanted = given.texts('write outputs=["crank"]')
    if not wanted:
        raise given.error("no output is named", 'write outputs=["crank"]')
    near = argument("search", options.pop("search", False)).flag()
    equations = ActingValues.of(options, wrenches).equations(mechanism)
    begin = given_state(equations.mechanism, state, options)
    motion = steady_motion(equations, begin, names, None, wanted, search=near)
    return response_about(motion, wanted, weights, frequencies)


def response_about(
    motion: SteadyMotion,
    outputs: Sequence[str],
    weights: Sequence[complex] | None,
    frequencies: Any = None,
) -> Result:
    """Return how outputs answer to the inputs of a small motion, or to all with their weights."""
    modes = list(eigenmodes(motion).modes)
    w = TURN * _frequencies(frequencies, modes)
    found = _Response(motion, outputs, weights)
    if len(w) * len(found.C) * found.B.shape[1] > MOST_NUMBERS:
        message = f"the response has {len(w)} times {len(found.C)} times {found.B.shape[1]} numbers"
        raise argument("frequencies", 0).error(message, "take fewer frequencies or outputs")
    _refuse_hits(motion.small.mechanism, w, modes)
    return _result(found, w, modes)


# --- what is given ----------------------------------------------------------------------------


def given_inputs(given: Any) -> tuple[list[str], list[complex] | None]:
    """Return names of inputs, and their complex amplitudes where these are given."""
    table = argument("inputs", given)
    remedy = 'write ["crank"], or {"crank": 2.5}'
    if not table.is_table:
        names = [given] if isinstance(given, str) else list(table.texts(remedy))
        if not names:
            raise table.error("no input is named", remedy)
        return names, None
    names, weights = list[str](), list[complex]()
    for name, entry in table.table(remedy=remedy).items():
        names.append(name)
        if entry.is_list:
            size, phase = (part.number() for part in entry.entries(2, "write [amplitude, phase]"))
            weights.append(size * complex(np.cos(phase), np.sin(phase)))
        else:
            weights.append(complex(entry.number()))
    if not weights:
        raise table.error("no input is named", remedy)
    return names, weights


def _frequencies(given: Any, modes: Sequence[EigenMode]) -> Array:
    """Return frequencies, Hz."""
    if given is None:
        sizes = [abs(mode.pole) / TURN for mode in modes if mode.pole != 0] or [1.0]
        return np.geomspace(min(sizes) / 10, 10 * max(sizes), COUNT)
    table = argument("frequencies", given)
    remedy = 'write [1, 2, 5], or {"from": 0.1, "to": 100}'
    if table.is_table:
        table = table.table(("from", "to", "count"), remedy)
        first = table.required("from", remedy).number(above=0)
        last = table.required("to", remedy).number(above=0, most=FASTEST)
        count = table["count"].whole(2, MOST) if table.has("count") else COUNT
        return np.geomspace(first, last, count)
    found = np.atleast_1d(finite_array("frequencies", given))
    if found.ndim > 1 or not 0 < len(found) <= MOST:
        raise table.error(f"there are {found.size} frequencies", f"give a list of 1 to {MOST}")
    if np.any(found < 0):
        raise table.error("a frequency is below zero", "give frequencies in Hz, from 0 on")
    if np.any(found > FASTEST):
        raise table.error(f"a frequency is above {FASTEST:g} Hz", "give smaller ones")
    return found


def _refuse_hits(mechanism: Mechanism, w: Array, modes: Sequence[EigenMode]) -> None:
    """Refuse a frequency with which a mode swings by itself."""
    for number, mode in enumerate(modes, 1):
        if mode.kind not in (FREE, OSCILLATION):
            continue
        near = np.abs(w - mode.pole.imag) <= HIT * abs(mode.pole)
        if near.any():
            raise RunError(
                f"mode {number} swings with {mode.pole.imag / TURN:.6g} Hz by itself, and nothing "
                "damps it: a forced oscillation would be without bounds",
                file=mechanism.file,
                element="frequencies",
                remedy="give damping, or take frequencies aside of it",
            )


# --- the response -----------------------------------------------------------------------------


class _Response:
    """G of one small motion; with amplitudes all inputs are one."""

    def __init__(
        self, motion: SteadyMotion, outputs: Sequence[str], weights: Sequence[complex] | None
    ) -> None:
        small, places = motion.small, motion.constant
        rows, n = small.outputs(outputs), len(small.states)
        self.motion, self.outputs = motion, rows.names
        self.inputs = tuple(name for _, _, name in small.inputs)
        self.is_sum = weights is not None
        own = np.eye(len(self.inputs), dtype=np.complex128)
        if weights is not None:
            if len(weights) != len(self.inputs):
                remedy = "name single inputs: " + ", ".join(self.inputs[:8])
                raise argument("inputs", 0).error("an amplitude belongs to one input", remedy)
            own, self.inputs = np.array(weights)[:, None], ("all",)
        A, C = small.rates[np.ix_(places, places)], rows.rows[:, places]
        scales = balanced_scales(A)
        self.A, self.C = A * scales / scales[:, None], C * scales
        # Amplitudes beyond the range of numbers are refused with what they bring about.
        with np.errstate(all="ignore"):
            self.B = small.rates[places, n:] @ own / scales[:, None]
            self.D = rows.rows[:, n:] @ own

    def at(self, w: Array) -> Complex:
        """Return G at angular frequencies (rad/s), (m, outputs, inputs)."""
        n = len(self.A)
        G = np.empty((len(w), len(self.C), self.B.shape[1]), np.complex128)
        step = max(1, MOST_NUMBERS // (n * (n + self.B.shape[1])))
        for first in range(0, len(w), step):
            part = w[first : first + step, None, None]
            with np.errstate(all="ignore"):
                states = np.linalg.solve(1j * part * np.eye(n) - self.A, self.B)
                G[first : first + step] = self.C @ states + self.D
        if not np.isfinite(G).all():
            raise RunError(
                "the answer is beyond the range of numbers",
                file=self.motion.small.mechanism.file,
                element="inputs",
                remedy="give smaller amplitudes",
            )
        return G


@dataclass(frozen=True)
class _Peak:
    """A peak of the answer of an output to an input."""

    output: int
    input: int
    w: float
    size: float


def _peaks(
    found: _Response, w: Array, modes: Sequence[EigenMode]
) -> tuple[list[_Peak], tuple[str, ...]]:
    """Return peaks between the first and the last frequency, and a remark where some are left out.

    Those of each pair of output and input stand in order.
    """
    first, last = float(np.min(w)), float(np.max(w))
    more = [m.pole.imag + k * abs(m.pole.real) for m in modes if m.pole.imag for k in AROUND]
    points = np.unique([*w, *(x for x in more if first <= x <= last)])
    if len(points) < 3:
        return [], ()
    if len(points) * found.D.size > MOST_NUMBERS:
        return [], ("resonances were not looked for: these are too many numbers",)
    still = [m.pole.imag for m in modes if m.kind == OSCILLATION]
    points = np.array([x for x in points if all(abs(x - y) > HIT * y for y in still)])
    sizes = np.abs(found.at(points))
    inner = (sizes[1:-1] > sizes[:-2]) & (sizes[1:-1] >= sizes[2:])
    peaks, remark = list[_Peak](), tuple[str, ...]()
    for k, i, j in np.argwhere(inner):
        if len(peaks) == MOST_PEAKS:
            remark = (f"more resonances than these {MOST_PEAKS} were not looked for",)
            break
        left, right = points[k], points[k + 2]
        if not any(left <= y <= right for y in still):
            peaks.append(_refined(found, (float(left), float(right)), int(i), int(j)))
    return sorted(peaks, key=lambda peak: (peak.output, peak.input, peak.w)), remark


def _refined(found: _Response, bounds: tuple[float, float], i: int, j: int) -> _Peak:
    """Return the peak between two frequencies, by golden sections."""
    left, right = bounds

    def size(w: float) -> float:
        return float(np.abs(found.at(np.array([w]))[0, i, j]))

    a, b = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
    at_a, at_b = size(a), size(b)
    for _ in range(SECTIONS):
        if right - left <= 1e-9 * right:
            break
        if at_a > at_b:
            right, b, at_b = b, a, at_a
            a = right - GOLDEN * (right - left)
            at_a = size(a)
        else:
            left, a, at_a = a, b, at_b
            b = left + GOLDEN * (right - left)
            at_b = size(b)
    middle = (left + right) / 2
    return _Peak(i, j, middle, size(middle))


# --- the result -------------------------------------------------------------------------------


def _result(found: _Response, w: Array, modes: Sequence[EigenMode]) -> Result:
    every, (peaks, remark) = found.at(w), _peaks(found, w, modes)
    G = every[:, :, 0] if found.is_sum else every
    arrays = {
        "frequency": w / TURN,
        "angular_frequency": w,
        "amplitude": np.abs(G),
        "phase": np.angle(G),
        "real": np.ascontiguousarray(G.real),
        "imag": np.ascontiguousarray(G.imag),
        "q": np.tile(found.motion.small.point["q"], (len(w), 1)),
    }
    facts = {
        "inputs": list(found.inputs),
        "outputs": list(found.outputs),
        "resonances": [
            [found.outputs[p.output], found.inputs[p.input], p.w / TURN, p.size] for p in peaks
        ],
    }
    units = {"frequency": "Hz", "angular_frequency": "rad/s", "phase": "rad"}
    report = (*_report(found, w, modes, peaks), *remark, *found.motion.notes())
    return Result(
        "frequency_response",
        found.motion.small.mechanism,
        "frequency",
        arrays,
        report,
        facts,
        units,
    )


def _report(
    found: _Response, w: Array, modes: Sequence[EigenMode], peaks: Sequence[_Peak]
) -> tuple[str, ...]:
    name, count = found.motion.small.mechanism.name, len(w)
    frequencies = "1 frequency" if count == 1 else f"{count} frequencies"
    outputs, first, last = counted(len(found.outputs), "output"), np.min(w), np.max(w)
    span = f"{first / TURN:.6g} to {last / TURN:.6g} Hz"
    lines = [f"{outputs} of {name} at {frequencies}, {span}"]
    for peak in peaks:
        by = "" if found.is_sum else f" by {found.inputs[peak.input]}"
        lines.append(
            f"resonance of {found.outputs[peak.output]}{by} at {peak.w / TURN:.6g} Hz: "
            f"{peak.size:.6g}"
        )
    for number, mode in enumerate(modes, 1):
        if mode.kind == OSCILLATION:
            at = f"{mode.pole.imag / TURN:.6g} Hz"
            lines.append(f"mode {number} is not damped: without bounds at {at}")
    growing = [f"{k}" for k, mode in enumerate(modes, 1) if mode.kind == GROWTH]
    still = [f"{k}" for k, mode in enumerate(modes, 1) if mode.kind in (FREE, OSCILLATION)]
    if growing:
        which = _which(growing, "grows", "grow")
        lines.append(f"unstable: no motion approaches the forced one, {which}")
    elif still:
        which = _which(still, "does not decay", "do not decay")
        lines.append(f"{which}: other motions do not die out")
    return tuple(lines)


def _which(modes: Sequence[str], one: str, several: str) -> str:
    """Return what modes do, in words."""
    return f"modes {', '.join(modes)} {several}" if len(modes) > 1 else f"mode {modes[0]} {one}"
