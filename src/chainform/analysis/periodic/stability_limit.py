"""The value of a parameter at which an equilibrium or a periodic motion becomes unstable.

The largest growth of deviations is a function of the parameter: the largest real part of the poles,
or of the exponents of a periodic motion. Between a value at which it is positive and one at which
it is not lies a limit, which is closed in by bisection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.oscillations.vibration_modes import modes
from chainform.analysis.periodic.periodic_motion import periodic_motion
from chainform.analysis.results.interruption import Progress, Watch
from chainform.analysis.results.result import Result
from chainform.errors import Error, RunError
from chainform.given import Given, argument
from chainform.mechanism import Mechanism
from chainform.readers import read
from chainform.simulation import Scenario, scenario_of

Array = NDArray[np.float64]
TOLERANCE = 1e-6
SCATTER = 10.0
"""How many times its error a multiplier must be outside of the unit circle."""


@dataclass(frozen=True)
class GrowthAt:
    """The largest growth (1/s) at a value of the parameter, and what of it is rounding."""

    value: float
    growth: float
    rounding: float
    row: Mapping[str, Array]

    @property
    def is_unstable(self) -> bool:
        """Whether deviations grow."""
        return self.growth > self.rounding


Measure = Callable[[float, GrowthAt | None], GrowthAt]


def stability_limit(
    mechanism: Mechanism | Scenario | str | PathLike[str],
    parameter: str,
    span: tuple[float, float],
    *,
    of: Mapping[str, Any],
    tolerance: float = TOLERANCE,
    progress: Progress | None = None,
) -> Result:
    """Return the value of a parameter at which an equilibrium or a periodic motion turns unstable.

    `of` is a table: {"task": "modes"} with the state of an equilibrium or a steady motion and what
    else `modes` takes, or {"task": "periodic_motion"} with its arguments. At one end of `span`
    deviations must grow, and at the other not; the limit is closed in to `tolerance`, in the unit
    of the parameter. A periodic motion is looked for from where it was at the nearest value so far.

    Arrays have a row for each value that was tried, in their order: parameter, growth (1/s), stable
    (1 or 0), q and qd at the start. `facts` has limit, the values `low` and `high` on both sides of
    it with `growth_low` and `growth_high`, and `error`, half the distance between them.
    """
    name = argument("parameter", parameter).text()
    ends = [end.number() for end in argument("span", span).entries(2, "write [0, 1]")]
    error = argument("tolerance", tolerance).number(above=0.0)
    if ends[0] == ends[1]:
        raise argument("span", span).error("the span is empty", "give two values: span=[0, 1]")
    measure = _measure_of(mechanism, name, argument("of", of).table())
    length = abs(ends[1] - ends[0])
    if not _spacing(ends) < error or not np.isfinite(length):
        raise argument("tolerance", tolerance).error(
            "doubles are not as dense as that", f"give at least {_spacing(ends) * 4:.1g}"
        )
    halvings = int(np.ceil(np.log2(max(length / error, 1.0))))
    watch = Watch(progress, takes_parts=False).counting(halvings + 2)
    rows = _bisected(name, ends, measure, halvings, watch)
    return _result(mechanism, name, str(of["task"]), rows)


def _spacing(ends: list[float]) -> float:
    return float(np.spacing(max(abs(end) for end in ends)))


def _bisected(
    name: str, ends: list[float], measure: Measure, halvings: int, watch: Watch
) -> list[GrowthAt]:
    """Return all that was tried: the last two enclose the limit."""
    first = measure(ends[0], None)
    watch.tell(1)
    second = measure(ends[1], None)
    watch.tell(2)
    rows = [first, second]
    if first.is_unstable == second.is_unstable:
        word = "unstable" if first.is_unstable else "not unstable"
        raise RunError(
            f"at both ends the motion is {word}: the growth is {first.growth:.6g} 1/s at {name} = "
            f"{ends[0]:g} and {second.growth:.6g} 1/s at {ends[1]:g}",
            element="span",
            remedy="give a span over which the verdict changes; growth at several values shows one",
        )
    for k in range(halvings):
        near = second if abs(second.growth) < abs(first.growth) else first
        middle = measure((first.value + second.value) / 2, near)
        rows.append(middle)
        if middle.is_unstable == first.is_unstable:
            first = middle
        else:
            second = middle
        watch.tell(3 + k)
    return [*(row for row in rows if row not in (first, second)), first, second]


# --- what is measured -----------------------------------------------------------------------------


def _measure_of(mechanism: Any, name: str, of: Given) -> Measure:
    task = of.required("task", 'write {"task": "modes"}').choice(tuple(MEASURES), "task")
    own = {key: entry.value for key, entry in of.items() if key != "task"}
    values: Any = own.pop("values", None) or {}
    if name in values:
        raise of.error(f"{name} has a value in it", "leave it out of values")

    def measure(value: float, near: GrowthAt | None) -> GrowthAt:
        arguments = {**own, "values": {**values, name: value}}
        try:
            return MEASURES[task](mechanism, value, arguments, near)
        except TypeError as problem:
            raise of.error(str(problem), f"give arguments of {task}") from None
        except Error as problem:
            problem.message = f"{name} = {value:.9g}: {problem.message}"
            raise

    return measure


def _of_modes(
    mechanism: Any, value: float, arguments: dict[str, Any], near: GrowthAt | None
) -> GrowthAt:
    """Return the largest real part of the poles about an equilibrium or a steady motion."""
    del near
    found = modes(_mechanism(mechanism), **arguments)
    k = int(np.argmax(found["growth"]))
    row = {name: found[name][k] for name in ("q", "qd") if name in found.arrays}
    row.setdefault("qd", np.zeros(found.mechanism.nv))
    return GrowthAt(value, float(found["growth"][k]), float(found["pole_error"][k]), row)


STARTS = {"q0": "q", "qd0": "qd", "period": "period"}


def _of_periodic(
    mechanism: Any, value: float, arguments: dict[str, Any], near: GrowthAt | None
) -> GrowthAt:
    """Return the growth of a periodic motion, looked for near another one."""
    given = dict(arguments)
    if near is not None and given.get("section") is None and not given.get("settle"):
        given |= {name: near.row[key] for name, key in STARTS.items() if key in near.row}
    found = periodic_motion(mechanism, **given)
    period = found.facts["period"]
    rounding = SCATTER * found.facts["multiplier_error"] / period
    row: dict[str, Any] = {"q": found["q"][0], "qd": found["qd"][0]}
    if not found.facts["is_forced"]:
        row["period"] = period
    return GrowthAt(value, found.facts["growth"], rounding, row)


MEASURES: dict[str, Callable[[Any, float, dict[str, Any], GrowthAt | None], GrowthAt]] = {
    "modes": _of_modes,
    "periodic_motion": _of_periodic,
}
"""How the growth of each task is measured."""


def _result(mechanism: Any, name: str, task: str, rows: list[GrowthAt]) -> Result:
    first, second = rows[-2:]
    low, high = (first, second) if first.value < second.value else (second, first)
    limit, error = (low.value + high.value) / 2, (high.value - low.value) / 2
    values = np.array([row.value for row in rows])
    order = np.argsort(values)
    arrays = {
        "parameter": values[order],
        "growth": np.array([row.growth for row in rows])[order],
        "stable": np.array([float(not row.is_unstable) for row in rows])[order],
        "q": np.array([row.row["q"] for row in rows])[order],
        "qd": np.array([row.row["qd"] for row in rows])[order],
    }
    facts = {
        "parameter": name,
        "task": task,
        "limit": limit,
        "error": error,
        "low": low.value,
        "high": high.value,
        "growth_low": low.growth,
        "growth_high": high.growth,
        "unstable_above": high.is_unstable,
    }
    sides = [
        f"{name} = {row.value:.12g}: {'unstable' if row.is_unstable else 'not unstable'}, growth "
        f"{row.growth:.3g} 1/s"
        for row in (low, high)
    ]
    side = "above" if high.is_unstable else "below"
    report = (f"limit at {name} = {limit:.12g}, to {error:.1g}: unstable {side} it", *sides)
    source = _mechanism(mechanism)
    return Result("stability_limit", source, "parameter", arrays, report, facts, {"growth": "1/s"})


def _mechanism(given: Any) -> Mechanism:
    if isinstance(given, Mechanism):
        return given
    scenario = scenario_of(given)
    return scenario.mechanism if scenario is not None else read(cast("str", given))
