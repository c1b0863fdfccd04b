"""Methods of integration by name. A new one is a file and a line in the table."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from chainform.errors import RunError
from chainform.given import argument, near
from chainform.simulation.machine.method import (
    CONTROLLED,
    FIXED,
    ActiveMotion,
    Method,
    Settings,
    Solver,
)
from chainform.simulation.machine.records import EPSILON
from chainform.simulation.solvers.bdf import CVODE, IDA
from chainform.simulation.solvers.explicit import EXPLICIT
from chainform.simulation.solvers.semi_implicit import SEMI_IMPLICIT
from chainform.simulation.solvers.symplectic import SYMPLECTIC

SOLVERS: dict[str, Method] = {
    **EXPLICIT,
    SEMI_IMPLICIT.name: SEMI_IMPLICIT,
    **SYMPLECTIC,
    CVODE.name: CVODE,
    IDA.name: IDA,
}

ELSEWHERE = {
    "dop853": "dopri853",
    "rk45": "verner65",
    "dopri5": "verner65",
    "ode45": "verner65",
    "bdf": "cvode",
    "lsoda": "cvode",
    "radau": "cvode",
}
"""Names that other programs have for methods, and what comes nearest to them here."""

MOST_STEPS = 10**8
"""The most steps or samples in a motion: already these take minutes."""

USUAL = {"rtol": 1e-9, "atol": 1e-12, "step": 0.001, "largest": 0.1, "hold": 0.01}
"""Settings that an error proposes (s, where they are times)."""


def settings_of(
    chosen: Solver, hold: float | None = None, *, span: tuple[float, float] | None = None
) -> Settings:
    """Return checked settings; without `atol` it is a thousandth of `rtol`.

    `hold` is the time (s) between samples of efforts that are held, `span` the start and the end
    (s) of the motion that they are for.
    """
    method, step = method_of(chosen.method), chosen.step
    if FIXED not in method.steps and step is not None:
        raise RunError(
            f"{method.name} chooses its steps itself",
            element="step",
            remedy="give rtol, or largest",
        )
    if CONTROLLED not in method.steps and step is None:
        raise RunError(
            f"{method.name} has no step control", element="step", remedy="give step=0.001"
        )
    relative = _positive("rtol", chosen.rtol)
    absolute = relative / 1000 if chosen.atol is None else _positive("atol", chosen.atol)
    given = {"step": step, "largest": chosen.largest, "hold": hold}
    times = {n: None if value is None else _positive(n, value) for n, value in given.items()}
    if span is not None:
        _check_resolution(times, span)
    length = inf if span is None else span[1] - span[0]
    return Settings(
        method, relative, absolute, times["step"], None, times["largest"], times["hold"], length
    )


def method_of(method: object) -> Method:
    """Return a method by its name; RunError, with the closest known one, if there is none."""
    given = argument("method", method)
    if isinstance(method, str) and method not in SOLVERS:
        name = ELSEWHERE.get(method.lower(), method.lower())
        remedy = f"{near(name, SOLVERS)}choose {', '.join(SOLVERS)}"
        raise given.error(f"{method[:40]} is not a method", remedy)
    return SOLVERS[given.choice(tuple(SOLVERS))]


def _positive(name: str, value: Any) -> float:
    remedy = f"give {name}={USUAL[name]:g}, or leave it out"
    return argument(name, value).number(above=0, remedy=remedy)


def _check_resolution(times: Mapping[str, float | None], span: tuple[float, float]) -> None:
    """Refuse steps by which the time would not go on, or would not come to the end."""
    latest, length = max(map(abs, span)), span[1] - span[0]
    least = 16 * EPSILON * latest
    for name, value in times.items():
        if value is None:
            continue
        if value < least:
            raise RunError(
                f"{name} is {value:g} s, which is lost in rounding at t = {latest:g} s",
                element=name,
                remedy=f"give at least {least:.1g}, and rather much more",
            )
        if length > MOST_STEPS * value:
            what = "samples" if name == "hold" else "steps"
            raise RunError(
                f"{name} is {value:g} s: that makes {length / value:.3g} {what} in {length:g} s",
                element=name,
                remedy=f"give at least {length / MOST_STEPS:.3g}, or a shorter motion",
            )


__all__ = ["SOLVERS", "ActiveMotion", "Method", "Settings", "Solver", "method_of", "settings_of"]
