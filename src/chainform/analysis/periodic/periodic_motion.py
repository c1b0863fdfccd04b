"""Periodic motions: forced, free, along coordinates that advance, through sections.

A motion is found by shooting (shooting_method.py), and its multipliers tell what becomes of small
deviations (floquet.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.periodic.floquet import PHASE, Multipliers, multipliers_of
from chainform.analysis.periodic.motion_flow import MotionFlow, from_state, names_of, problem_of
from chainform.analysis.periodic.section import Section, first_return, first_round
from chainform.analysis.periodic.shooting_method import (
    MOST_STEPS,
    RESTING,
    Orbit,
    Periodicity,
    Shooting,
    over_longer,
)
from chainform.analysis.results.interruption import Progress, Watch
from chainform.analysis.results.result import Result
from chainform.errors import RunError
from chainform.given import Given, argument, counted
from chainform.mechanism import Mechanism, Reader, reader_of
from chainform.simulation import Problem, ProblemOptions, Run, Scenario, parameters_of

Array = NDArray[np.float64]
MOST_POINTS = 1_000_000
SAME = 1e-6
"""How well the next period must repeat the first one, in units of the motion."""
FRACTIONS = (2, 3, 4, 5, 6, 7)
PERIOD = "period"
CONSERVED = 1e-8
"""By how much energy that is conserved may vary, as a share of what it varies in kind."""


class PeriodicOptions(ProblemOptions, total=False):
    """Options of `simulate`, and what else a periodic motion takes; `periodic_motion` tells."""

    settle: float
    returns: int
    shift: Mapping[str, Any] | None
    relative: Sequence[str]
    held: Sequence[str]
    points: int
    tolerance: float


DEFAULTS: PeriodicOptions = {
    "settle": 0.0,
    "returns": 1,
    "shift": None,
    "relative": (),
    "held": (),
    "points": 201,
    "tolerance": 1e-9,
}


def periodic_motion(
    mechanism: Mechanism | Scenario | str | PathLike[str],
    *,
    period: float | str | None = None,
    section: Any = None,
    change: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **options: Unpack[PeriodicOptions],
) -> Result:
    """Return a periodic motion near a start, and the multipliers that tell whether it is stable.

    `period` (s) is that of the laws where the equations name the time, and is a first guess where
    they do not; it may be an expression of parameters, "2*pi/w". Without it `section` is a law such
    as "crank - pi/2", one with a direction, or the name of an event: the motion from the start is
    followed within `t` to its first crossing, and from there to the next one in the same direction,
    or to the one after so many `returns`. `change` gives coordinates and rates after the section by
    laws of those before: {"der(x)": "-0.8*der(x)"}. It may also be what a run calls an event, such
    as "foot: impact". The motion first goes on for a time of `settle` (s), so that a period does
    not begin in the middle of an impact, or that the start comes near to a stable motion.

    Coordinates in `shift` advance in a period by a number ({"crank": "2*pi"}), those in `relative`
    by any: nothing may depend on where they are. `held` are entries of the start that stay as they
    are, such as "rod", "der(rod)" or "period"; in a family of motions they choose one. The motion
    closes to `tolerance`, in parts of its size, and is put out at so many `points` (201). The
    other options are those of `simulate`.

    The arrays are t, q, qd, qdd, and x where there are further states. `facts` has period,
    `is_forced` (whether laws of time give it), multipliers and their exponents (1/s) as lists of
    real and imaginary parts, `names` (why a multiplier is 1: "phase", a coordinate, "energy"),
    `stable` (1, 0, or -1 where it is open), `growth` (1/s), `multiplier_error`, `advance` by
    coordinates, and `residual`. `progress` is called with the steps and the most there may be.
    """
    watch = Watch(progress, takes_parts=False)
    watch.counting(MOST_STEPS)
    own: dict[str, Any] = {**DEFAULTS, **options}
    shift, relative, held = (own.pop(name) for name in ("shift", "relative", "held"))
    rest = argument("settle", own.pop("settle")).number(least=0.0)
    returns = argument("returns", own.pop("returns")).whole(1, 1000)
    count = argument("points", own.pop("points")).whole(3, MOST_POINTS)
    goal = argument("tolerance", own.pop("tolerance")).number(above=0.0, most=0.1)
    request = _Request.of(mechanism, period, section, change, own)
    begin = request.begin(returns, rest)
    closure = request.closure(begin, shift, relative, held)
    orbit = Shooting(request.flow, closure, count).solve(begin.y, begin.period, goal, watch.tell)
    found = _checked(request.flow, closure, orbit)
    return _result(request, closure, orbit, *found)


@dataclass(frozen=True, eq=False)
class _Begin:
    """Where shooting begins: a state, a period, and the section that it is on."""

    t: float
    y: Array
    period: float
    section: Section | None


@dataclass(frozen=True, eq=False)
class _Request:
    """What is to be found: the problem, its flow, the period or a section."""

    problem: Problem
    flow: MotionFlow
    period: float | None
    section: Any
    change: Any

    @staticmethod
    def of(
        mechanism: Mechanism | Scenario | str | PathLike[str],
        period: Any,
        section: Any,
        change: Any,
        options: dict[str, Any],
    ) -> _Request:
        """Return a checked request."""
        length = None
        if period is not None:
            length = _length(mechanism, argument(PERIOD, period), options)
            if options.pop("t", None) is not None:
                raise RunError(
                    "t stands next to period",
                    element="t",
                    remedy="leave t out: the motion begins at t = 0 and lasts a period",
                )
        elif section is None:
            raise RunError(
                "neither period nor section tells where a period ends",
                element=PERIOD,
                remedy="give the period of laws of time, a first guess of it, or a section",
            )
        span = (0.0, 2.0 * length) if length is not None else options.pop("t", (0.0, 1.0))
        problem = problem_of(mechanism, options, span)
        if section is None and change is not None:
            raise RunError(
                "a change needs a section", element="change", remedy='give section, as in "x"'
            )
        _refuse_changes(problem)
        return _Request(problem, MotionFlow.of(problem), length, section, change)

    def begin(self, returns: int, settle: float) -> _Begin:
        """Return where shooting begins."""
        flow = self.flow
        if flow.names_time and self.period is None:
            raise RunError(
                "the equations name the time, so that the period is that of their laws",
                element=PERIOD,
                remedy="give the period in place of a section",
            )
        if flow.names_time and self.section is not None:
            raise RunError(
                "the equations name the time: the motion may not begin on a section as well",
                element="section",
                remedy="leave the section out",
            )
        first = self.problem.span[0]
        y = flow.after(settle) if settle else flow.start()
        if self.section is None:
            assert self.period is not None
            return _Begin(first + settle, y, self.period, None)
        problem = self.problem
        if settle:
            problem = from_state(problem, flow.states.start(y))
        if isinstance(self.section, str) and problem.options["events"] is None:
            met = first_round(flow, problem, self.section, returns)
            if met is not None:
                return _Begin(*met, None)
        section = Section.of(flow, problem, self.section, self.change)
        if self.period is not None:
            return _Begin(first, y, self.period, section)
        return _Begin(first, *first_return(section, problem, returns), section)

    def closure(self, begin: _Begin, shift: Any, relative: Any, held: Any) -> Periodicity:
        """Return what closes."""
        flow, names = self.flow, self.flow.equations.names
        nv = flow.states.nv
        plain = [names[k] for k in range(nv) if flow.states.is_plain(k)]
        free = [names.index(name) for name in names_of(relative, "relative", plain or [""])]
        advance = np.zeros(len(names))
        for name, given in argument("shift", {} if shift is None else shift).table().items():
            if name not in plain:
                raise given.holding(name).unknown("coordinate", plain)
            if names.index(name) in free:
                raise given.error(f"{name} is in relative, too", "name it in one of them")
            value = given.value
            advance[names.index(name)] = (
                float(Reader().fraction(given)) if isinstance(value, str) else given.number()
            )
        stay = names_of(held, "held", [*names, PERIOD])
        return Periodicity(
            begin.t,
            advance,
            tuple(free),
            tuple(names.index(name) for name in stay if name != PERIOD),
            not flow.names_time and PERIOD not in stay,
            begin.section,
        )


def _length(mechanism: Any, given: Given, options: Mapping[str, Any]) -> float:
    """Return a period, which may be an expression of parameters."""
    remedy = "give a positive time, s"
    if not isinstance(given.value, str):
        return given.number(above=0.0, remedy=remedy)
    names = {name: options[name] for name in ("values",) if name in options}
    problem = Problem.of(mechanism, **names)
    moving = parameters_of(problem.mechanism, problem.options["values"]).mechanism
    return given.within(float(reader_of(moving).fraction(given)), above=0.0, remedy=remedy)


def _refuse_changes(problem: Problem) -> None:
    """Refuse events that change the motion by a function of Python."""
    events: Any = problem.options["events"]
    named = cast("Mapping[str, Any]", events if isinstance(events, Mapping) else {})
    for name, event in named.items():
        if isinstance(event, Mapping) and cast("Any", event).get("change") is not None:
            raise RunError(
                "a function of Python has no derivatives",
                element=f"event {name!r}, change",
                remedy=f'give section="{name}" and change={{"der(x)": "-0.8*der(x)"}}, laws of '
                "coordinates and rates",
            )


# --- what was found -----------------------------------------------------------------------------


def _checked(flow: MotionFlow, closure: Periodicity, orbit: Orbit) -> tuple[Array, list[str]]:
    """Return what coordinates advance, and remarks; RunError where the motion does not go on so."""
    states, n = flow.states, len(orbit.scales)
    if flow.over((closure.first, closure.first + orbit.period)).begins_on_jump(orbit.y):
        remedy = "let the motion settle for a part of a period, as settle=0.1"
        raise RunError(
            "the period begins where a law jumps, so that deviations have two sides there",
            file=flow.mechanism.file,
            element=PERIOD if closure.section is None else "section",
            remedy=remedy if closure.section is None else "choose another section",
        )
    end = states.along(orbit.run)[-1]
    advance = closure.shift.copy()
    places = list(closure.relative)
    advance[places] = states.deviations(end[None], orbit.y)[0][places]
    if closure.section is None or not closure.section.changed:
        first, later = over_longer(flow, orbit, advance)
        apart = np.abs(states.deviations(later, first)) / orbit.scales
        growth = np.abs(orbit.path.forward()[..., :n] * orbit.scales / orbit.scales[:, None])
        allowed = SAME * max(1.0, float(growth.sum(axis=2).max()))
        if apart.max() > allowed:
            where, name = np.unravel_index(int(np.argmax(apart)), apart.shape)
            raise RunError(
                "the motion closes once, but the next period is another: "
                f"{flow.equations.names[int(name)]} differs after {orbit.run.t[int(where)]:.6g} s",
                element=PERIOD if flow.names_time else "shift",
                remedy="give a period after which all laws of time repeat, and coordinates that "
                "advance only where nothing depends on where they are",
            )
    rests = _rests(orbit)
    if rests and closure.has_free_period:
        raise RunError(
            "the motion that was found rests, and every time is its period",
            element="periodic_motion",
            remedy="begin farther from rest, or hold an entry of the start, as "
            f'held=["{flow.equations.names[0]}"]; linearise has the poles of an equilibrium',
        )
    return advance, _fractions(flow, closure, orbit, advance)


def _rests(orbit: Orbit) -> bool:
    """Tell whether a motion is none."""
    return float(np.max(np.abs(orbit.start_rates) / orbit.scales)) * orbit.period < RESTING


def _fractions(flow: MotionFlow, closure: Periodicity, orbit: Orbit, advance: Array) -> list[str]:
    """Return a remark where the motion closes after a part of the period already."""
    if flow.names_time or not closure.has_free_period:
        return []
    T = orbit.period
    parts = np.array([T / k for k in FRACTIONS][::-1])
    run = flow.over((closure.first, closure.first + T), closure.first + parts).run(orbit.y)
    gaps = flow.states.deviations(flow.states.along(run), orbit.y)
    for k, gap in zip(FRACTIONS[::-1], gaps, strict=True):
        if np.max(np.abs(gap - advance / k) / orbit.scales) < SAME:
            return [f"the motion closes after a part of the period already: 1/{k} of it"]
    return []


def _multipliers(flow: MotionFlow, closure: Periodicity, orbit: Orbit) -> Multipliers:
    """Return the multipliers, those that are 1 for a reason first."""
    scales, n = orbit.scales, len(orbit.scales)
    M = orbit.monodromy * scales / scales[:, None]
    known: list[tuple[str, Array]] = []
    if not flow.names_time and not _rests(orbit):
        known.append((PHASE, orbit.start_rates / scales))
    for place in closure.relative:
        unit = np.eye(n)[place]
        if np.max(np.abs(M @ unit - unit)) > SAME:
            name = flow.equations.names[place]
            raise RunError(
                f"the motion depends on where {name} is, so that it may not advance freely",
                element="relative",
                remedy=f"name it in shift, or leave it out: {name} then comes back",
            )
        known.append((flow.equations.names[place], unit))
    accuracy = max(orbit.path.tolerance, orbit.size)
    gradient = _energy_gradient(flow, orbit)
    free = orbit.tangent
    if gradient is not None:
        gradient = free.T @ (gradient * scales)
    inner = [(name, free.T @ vector) for name, vector in known]
    return multipliers_of(free.T @ M @ free, orbit.period, inner, gradient, accuracy)


def _energy_gradient(flow: MotionFlow, orbit: Orbit) -> Array | None:
    """Return the derivative of the energy by deviations of the start, if energy is conserved."""
    if flow.names_time or flow.states.nx:
        return None
    energy, kinetic = orbit.run.energy, orbit.run.kinetic_energy
    if np.ptp(energy) > CONSERVED * max(float(np.ptp(kinetic)), float(kinetic.max()), 1e-300):
        return None
    n, nq = len(orbit.scales), flow.states.nq
    step = 1e-4 * orbit.scales
    each = np.concatenate([np.diag(step), -np.diag(step)])
    y = np.array([flow.states.moved(orbit.y, z) for z in each])
    t, zero = np.full(2 * n, orbit.run.t[0]), np.zeros((2 * n, flow.states.nv))
    values = Run(flow.mechanism, t, y[:, :nq], y[:, nq:], zero).energy
    return (values[:n] - values[n:]) / (2 * step)


def _result(
    request: _Request, closure: Periodicity, orbit: Orbit, advance: Array, remarks: list[str]
) -> Result:
    flow, run, names = request.flow, orbit.run, request.flow.equations.names
    found = _multipliers(flow, closure, orbit)
    arrays = {"t": run.t, "q": run.q, "qd": run.qd, "qdd": run.qdd}
    if flow.states.nx:
        arrays["x"] = flow.states.along(run)[:, flow.states.nq + flow.states.nv :]
    moving = [k for k in range(flow.states.nv) if closure.shift[k] or k in closure.relative]
    ahead = {names[k]: float(advance[k]) for k in moving}
    facts = {
        "period": orbit.period,
        "is_forced": flow.names_time,
        "multipliers_real": found.values.real.tolist(),
        "multipliers_imag": found.values.imag.tolist(),
        "exponents_real": found.exponents.real.tolist(),
        "exponents_imag": found.exponents.imag.tolist(),
        "names": list(found.names),
        "stable": found.stable,
        "growth": found.growth,
        "margin": found.margin,
        "multiplier_error": found.error,
        "advance": ahead,
        "residual": orbit.size,
        "steps": orbit.steps,
    }
    kind = "laws of time give" if flow.names_time else "found"
    closed = f"closed to {orbit.size:.1e} of its size after {counted(orbit.steps, 'step')}"
    lines = [f"period {orbit.period:.9g} s ({kind}), {closed}"]
    lines += [f"{name} advances by {value:.9g} in a period" for name, value in ahead.items()]
    lines += found.report() + remarks
    return Result("periodic_motion", flow.mechanism, "t", arrays, tuple(lines), facts)
