"""How much is done to reduce a graph: nothing, as in Racković 1996, a second, or for long."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from chainform.errors import DeriveError
from chainform.search.budget import seconds_of, shown

if TYPE_CHECKING:
    from chainform.passes import Pass

EFFORTS = ("none", "thesis", "fast", "deep")

SINE_COST = 12.0
"""What a sine or cosine costs, in multiplications: about what a vectorised one takes."""

DEAREST_SINE = 1e6
"""The most a sine may cost: costs are sums of floats, in which one more addition has to count."""

LARGEST = 10**18
"""The largest seed or number of steps."""

DEFAULT_SECONDS = 60.0


@dataclass(frozen=True)
class Effort:
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
    passes = () if is_effort else _passes(name)
    if not is_effort and not passes:
        close = get_close_matches(str(name), EFFORTS, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise DeriveError(
            f"{shown(name)} is not a choice for reduce",
            element="reduce",
            remedy=f"{hint}choices are {', '.join(EFFORTS)}, or passes by name",
        )
    if name != "deep" and (budget is not None or steps is not None):
        given = "budget" if steps is None else "steps"
        raise DeriveError(
            f"the effort {shown(name)} takes no {given}",
            element=given,
            remedy="leave it out, or choose the effort deep",
        )
    _check_sine_cost(sine_cost)
    _check_whole("seed", seed, 0)
    if steps is not None:
        _check_whole("steps", steps, 1)
    if cores is not None:
        _check_whole("cores", cores, 1)
    seconds = None if budget is None else seconds_of(budget)
    return Effort(name, float(sine_cost), seconds, steps, seed, cores, passes)


def _passes(text: str) -> tuple[Pass, ...]:
    """Return the passes that a text names; none where its first word is no pass."""
    # Few name passes one by one, and nobody else shall wait until all of them are imported.
    from chainform.search.sequence import names_passes, parse_sequence

    return parse_sequence(text) if names_passes(text) else ()


def _check_sine_cost(value: object) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= cast(float, value) <= DEAREST_SINE:
        raise DeriveError(
            f"sine_cost must be a number from 0 on, up to {DEAREST_SINE:.0f}, not {shown(value)}",
            element="sine_cost",
            remedy=f"give it in multiplications, such as {SINE_COST:g}; from about a thousand on, "
            "no sine or cosine is added",
        )


def _check_whole(name: str, value: object, least: int) -> None:
    if type(value) is not int or not least <= value <= LARGEST:
        raise DeriveError(
            f"{name} must be a whole number from {least} on, not {shown(value)}",
            element=name,
            remedy=f"give a number without a fraction, {least} or larger, up to {LARGEST}",
        )
