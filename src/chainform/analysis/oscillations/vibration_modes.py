"""Modes of oscillation about equilibria and steady motions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.linear_variables import SteadyOptions
from chainform.analysis.linear.linearisation import ActingValues
from chainform.analysis.linear.small_motion import SmallMotion
from chainform.analysis.oscillations.eigenmodes import (
    DECAY,
    FREE,
    GROWTH,
    KINDS,
    OSCILLATION,
    EigenModes,
    eigenmodes,
    unit_shapes,
)
from chainform.analysis.oscillations.steady_motion import (
    SteadyMotion,
    given_states,
    steady_motion,
)
from chainform.analysis.results.result import Result
from chainform.given import argument, counted
from chainform.mechanism import Mechanism
from chainform.simulation import rest_names

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
TURN = 2 * np.pi
UNITS = {
    "angular_frequency": "rad/s",
    "frequency": "Hz",
    "growth": "1/s",
    "pole_real": "1/s",
    "pole_imag": "1/s",
    "pole_error": "1/s",
}
MOST_NAMES = 4
ROUGH = 1e-6
"""The report gives errors of poles above this share of them."""
SLOW = 1e-3
"""The report tells from which rate on motions are not free, if that is faster than this."""


def modes(
    mechanism: Mechanism | str | PathLike[str],
    state: Mapping[str, Any] | Result | str | PathLike[str] | None = None,
    *,
    independent: Sequence[str] | None = None,
    **options: Unpack[SteadyOptions],
) -> Result:
    """Return the modes of small oscillations about an equilibrium or a steady motion.

    `state` has q, qd, x, u, tau, force and t, as for `linearise`; they may be arguments of their
    own. It may also be the result of `equilibria` or `statics` (or its file): then there are the
    modes of each row, or of the one that `row` chooses, from 1.
    With `search` they are those about the equilibrium or steady motion near the state, found by
    Newton's method; else what is neither is refused, with what is left over. `values`
    are those of parameters; `forces`, `signals` and `controllers` act as in `simulate`.

    Arrays have a row for each mode, free motions first, then from slow to fast: mode,
    angular_frequency (rad/s), frequency (Hz), growth (1/s, the real part of its pole),
    damping_ratio, pole_real and pole_imag (1/s; of a pair that above zero), pole_error (by how
    much rounding may move it), kind (0 free motion, 1 oscillation, 2 decay, 3 growth), shape_real
    and shape_imag (displacements along all rates, the largest of which is 1 rad or 1 m), x_real and
    x_imag (states of actuators and controllers), and the state: equilibrium (its row), q, qd.
    `animate(mode=2)` shows a mode, and so does `picture`.
    """
    near = argument("search", options.pop("search", False)).flag()
    equations = ActingValues.of(options).equations(mechanism)
    states = given_states(equations.mechanism, state, options)
    return modes_about(
        [steady_motion(equations, s, independent=independent, search=near) for s in states]
    )


def modes_about(motions: Sequence[SteadyMotion]) -> Result:
    """Return the modes about equilibria or steady motions of one mechanism."""
    return _result([_Found(k, motion, eigenmodes(motion)) for k, motion in enumerate(motions, 1)])


@dataclass(frozen=True)
class _Found:
    """The modes about one state."""

    number: int
    steady: SteadyMotion
    modes: EigenModes

    @property
    def motion(self) -> SmallMotion:
        """The small motion."""
        return self.steady.small


# --- the result -------------------------------------------------------------------------------


def _result(found: Sequence[_Found]) -> Result:
    mechanism = found[0].motion.mechanism
    blocks = [_arrays(each) for each in found]
    arrays = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    if len(found) == 1:
        del arrays["equilibrium"]
    first = {"mode": np.arange(1.0, len(arrays["kind"]) + 1)}
    shapes = arrays["shape_real"] + 1j * arrays["shape_imag"]
    report: list[str] = []
    start = 0
    for each, block in zip(found, blocks, strict=True):
        report += _report(each, block, shapes[start:], start, len(found))
        start += len(block["kind"])
    facts = {"kinds": [KINDS[int(kind)] for kind in arrays["kind"]]}
    return Result("modes", mechanism, "mode", {**first, **arrays}, tuple(report), facts, UNITS)


def _arrays(found: _Found) -> dict[str, Array]:
    """Return the arrays of the modes about one state."""
    motion, own = found.motion, found.modes.modes
    n, m = len(motion.states), len(own)
    poles = np.array([mode.pole for mode in own], np.complex128)
    vectors = np.array([mode.vector for mode in own], np.complex128).reshape(m, n).T
    shapes, factors = unit_shapes([*(motion.changes["q"][:, :n] @ vectors).T])
    shape = np.array(shapes).reshape(m, motion.mechanism.nv)
    sizes = np.abs(poles)
    arrays = {
        "angular_frequency": poles.imag,
        "frequency": poles.imag / TURN,
        "growth": poles.real,
        "damping_ratio": -poles.real / np.where(sizes > 0, sizes, 1.0),
        "pole_real": poles.real,
        "pole_imag": poles.imag,
        "pole_error": np.array([mode.error for mode in own]),
        "kind": np.array([float(mode.kind) for mode in own]),
        "shape_real": shape.real,
        "shape_imag": shape.imag,
    }
    states = len(motion.point["x"])
    if states:
        x = (vectors[n - states :] / np.array(factors)).T
        arrays |= {"x_real": x.real, "x_imag": x.imag}
    arrays["equilibrium"] = np.full(m, float(found.number))
    arrays["q"] = np.tile(motion.point["q"], (m, 1))
    if np.any(motion.point["qd"]):
        arrays["qd"] = np.tile(motion.point["qd"], (m, 1))
    # Minus zero is zero for people.
    return {name: array + 0.0 for name, array in arrays.items()}


def _report(
    found: _Found, arrays: Mapping[str, Array], shapes: Complex, start: int, states: int
) -> list[str]:
    motion, kinds = found.motion, arrays["kind"].astype(int)
    counts = ", ".join(
        counted(int(np.sum(kinds == kind)), KINDS[kind])
        for kind in (FREE, OSCILLATION, DECAY, GROWTH)
        if np.any(kinds == kind)
    )
    where = f"equilibrium {found.number}: " if states > 1 else ""
    what = "a steady motion" if np.any(motion.point["qd"]) else "an equilibrium"
    name = motion.mechanism.name
    lines = [f"{where}{counted(len(kinds), 'mode')} of {name} about {what}: {counts}"]
    zeros = int(np.sum(found.modes.poles == 0))
    free = int(np.sum(kinds == FREE))
    if zeros > free:
        lines.append(f"{where}{zeros} poles are zero: motions without stiffness may drift on")
    slow = float(np.max(arrays["pole_error"][kinds == FREE], initial=0.0))
    if slow > SLOW:
        lines.append(f"{where}what is slower than {slow:.2g} 1/s counts as a free motion")
    lines += [
        f"mode {start + k + 1}: {_words(motion, arrays, shapes[k], k)}" for k in range(len(kinds))
    ]
    return [*lines, *(f"{where}{note}" for note in found.steady.notes())]


def _words(motion: SmallMotion, arrays: Mapping[str, Array], shape: Complex, k: int) -> str:
    """Return a mode in words."""
    kind, speed, growth = (
        int(arrays["kind"][k]),
        arrays["angular_frequency"][k],
        arrays["growth"][k],
    )
    moving = _moving(np.abs(shape), motion.mechanism.rates)
    if not moving and "x_real" in arrays:
        states = (*rest_names(motion.mechanism), *motion.equations.control_states)
        moving = _moving(np.hypot(arrays["x_real"][k], arrays["x_imag"][k]), states)
    more = f" and {len(moving) - MOST_NAMES} more" if len(moving) > MOST_NAMES else ""
    of = f" of {', '.join(moving[:MOST_NAMES])}{more}"
    if kind == FREE:
        return f"{KINDS[kind]}{of}"
    fast = f"{speed:.6g} rad/s ({arrays['frequency'][k]:.6g} Hz), " if speed else ""
    rate = f" by {abs(growth):.6g} 1/s" if kind != OSCILLATION else ""
    error, size = arrays["pole_error"][k], np.hypot(speed, growth)
    rough = f"; rounding may change it by {error:.1g} 1/s" if error > ROUGH * size else ""
    return f"{fast}{KINDS[kind]}{rate}{of}{rough}"


def _moving(sizes: Array, names: Sequence[str]) -> list[str]:
    """Return the names of what moves, those that move most first."""
    order = sorted(range(len(sizes)), key=lambda i: -round(float(sizes[i]), 6))
    largest = float(np.max(sizes, initial=0.0))
    return [names[i] for i in order if sizes[i] > 0.1 * largest]
