"""How much is done to reduce a graph, and for how long.

Times are seconds, or as people write them: 90, "90s", "5m", "1h30m".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chainform.display import Displayed
from chainform.errors import DeriveError
from chainform.given import Given, double_of, shown
from chainform.search.stages import LARGEST

if TYPE_CHECKING:
    from chainform.passes import Pass

LONGEST = 365 * 24 * 3600.0
"""The longest time that is taken for one: a year."""
_NUMBER = r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_PLAIN = re.compile(rf"\s*{_NUMBER}\s*")
_PARTS = re.compile(rf"\s*(?:{_NUMBER}\s*h)?\s*(?:{_NUMBER}\s*m)?\s*(?:{_NUMBER}\s*s)?\s*")
_SECONDS = (3600.0, 60.0, 1.0)


def _option(name: str, value: object) -> Given:
    return Given(value, name, raises=DeriveError)


def seconds_of(budget: float | str) -> float:
    """Return a time in seconds; DeriveError if it is none."""
    seconds, given = _seconds(budget), _option("budget", budget)
    if not seconds > 0:
        raise given.error(
            f"{shown(budget)} is no time to search for",
            "give seconds, or numbers with h, m or s, such as 5m or 1h30m",
        )
    if seconds > LONGEST:
        raise given.error(
            f"{shown(budget)} is too long a time to search for",
            "give a year (8760h) at most; Ctrl-C ends a search at any time",
        )
    return seconds


def _seconds(budget: object) -> float:
    """Return a time in seconds, nan if it is none."""
    if not isinstance(budget, str):
        seconds = double_of(budget)
        return float("nan") if seconds is None else seconds
    if plain := _PLAIN.fullmatch(budget):
        return float(plain[1])
    parts = _PARTS.fullmatch(budget)
    if parts is None:
        return float("nan")
    return sum(float(n) * unit for n, unit in zip(parts.groups("0"), _SECONDS, strict=True))


# --- efforts --------------------------------------------------------------------------------------

EFFORTS = ("none", "thesis", "fast", "deep")

SINE_COST = 12.0
"""What a sine or cosine costs, in multiplications: about what a vectorised one takes."""

MAX_SINE_COST = 1e6
"""The most a sine may cost: costs are sums of floats, in which one more addition has to count."""

DEFAULT_SECONDS = 60.0


@dataclass(frozen=True, repr=False)
class Effort(Displayed):
    """An effort with its options; `steps` and `seconds` bound the deep search."""

    name: str = "fast"
    sine_cost: float = SINE_COST
    seconds: float | None = None
    steps: int | None = None
    seed: int = 0
    cores: int | None = None
    passes: tuple[Pass, ...] = ()
    """The passes to run, where they were named one by one."""


def effort_of(
    name: str,
    sine_cost: float = SINE_COST,
    budget: float | str | None = None,
    steps: int | None = None,
    seed: int = 0,
    cores: int | None = None,
) -> Effort:
    """Return an effort, its options checked; DeriveError names the one that is wrong.

    In place of an effort, passes may be named: "expand, extract_monomials".
    """
    is_effort = type(name) is str and name in EFFORTS
    passes = () if is_effort and name != "thesis" else _passes(name)
    if not is_effort and not passes:
        remedy = f"choices are {', '.join(EFFORTS)}, or passes by name"
        _option("reduce", name).choice(EFFORTS, "effort", remedy)
    if name != "deep" and (budget is not None or steps is not None):
        option = "budget" if steps is None else "steps"
        raise _option(option, None).error(
            f"the effort {shown(name)} takes no {option}",
            "leave it out, or choose the effort deep",
        )
    return Effort(
        name,
        _option("sine_cost", sine_cost).number(0, MAX_SINE_COST, remedy=_SINES),
        None if budget is None else seconds_of(budget),
        None if steps is None else _option("steps", steps).whole(1, LARGEST),
        _option("seed", seed).whole(0, LARGEST),
        None if cores is None else _option("cores", cores).whole(1, LARGEST),
        passes,
    )


_SINES = (
    f"give it in multiplications, such as {SINE_COST:g}, up to {MAX_SINE_COST:.0f}; from about a "
    "thousand on, no sine or cosine is added"
)


def _passes(text: str) -> tuple[Pass, ...]:
    """Return the passes that a text names; none where its first word is no pass."""
    # Few name passes one by one, and nobody else shall wait until all of them are imported.
    from chainform.search.sequence import names_passes, parse_sequence

    return parse_sequence(text) if names_passes(text) else ()
