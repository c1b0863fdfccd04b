"""Options of a program, checked when they are given rather than when it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, cast

import numpy as np

from chainform.errors import RunError
from chainform.graph import GROUPS
from chainform.runtime.arrays import numbers

PRECISIONS = ("float64", "float32")
LANES = (2, 4, 8, 16)


def choice(what: str, value: Any, choices: Sequence[str]) -> str:
    """Return one of some words."""
    if isinstance(value, str) and value in choices:
        return str(value)
    raise RunError(
        f"{_shown(value)} is not a choice for {what}",
        element=what,
        remedy=f"choices are {', '.join(choices)}",
    )


def precision_of(value: Any) -> str:
    """Return a precision by its name; the type of numpy's numbers will do as well."""
    name: Any = value.name if isinstance(value, np.dtype) else value
    return choice("precision", name, PRECISIONS)


def threads_of(value: Any) -> int | None:
    """Return a number of threads; None stands for all cores."""
    count = None if value is None else _whole(value)
    if value is not None and (count is None or count < 1):
        raise RunError("threads must be a whole number from 1 on", element="threads")
    return count


def lanes_of(value: Any, native: int) -> int:
    """Return a number of lanes; None stands for what the processor has."""
    count = native if value is None else _whole(value)
    if count is None or (value is not None and count not in LANES):
        raise RunError("lanes must be 2, 4, 8 or 16", element="lanes")
    return count


def lengths_of(value: Any) -> dict[str, int]:
    """Return how many numbers the groups of inputs have."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise RunError(
            "lengths are given by the names of groups",
            element="lengths",
            remedy='write lengths={"q": 6}',
        )
    found: dict[str, int] = {}
    for group, given in cast("Mapping[Any, Any]", value).items():
        if group not in GROUPS:
            raise RunError(
                f"{_shown(group)} is not a group of inputs",
                element="lengths",
                remedy=f"choose from {', '.join(GROUPS)}",
            )
        length = _whole(given)
        if length is None or length < 0:
            raise RunError(
                f"the length of {group} is {_shown(given)}, not a whole number",
                element="lengths",
            )
        found[group] = length
    return found


def values_of(what: str, values: Any, known: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return parameters that are given by name, each of them known."""
    if not isinstance(values, Mapping):
        raise RunError(
            f"values are given by the names of parameters, not as {_shown(values)}",
            element=what,
            remedy='write {"name": number}',
        )
    given = cast("Mapping[Any, Any]", values)
    for name in given:
        if name not in known:
            raise RunError(
                f"{_shown(name)} is not a free parameter",
                element=_shown(name),
                remedy=f"choose from {', '.join(known)}"
                if known
                else "the model has no free parameters",
            )
    return given


def number_of(name: str, value: Any) -> float:
    """Return the value of a parameter, one number."""
    array = numbers(name, value, np.dtype("float64"))
    if array.ndim:
        raise RunError(f"{name} must be one number", element=name)
    return float(array)


def _whole(value: Any) -> int | None:
    """Return a whole number of any type; truth values are none."""
    if isinstance(value, bool | np.bool_ | np.ndarray):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def _shown(value: Any) -> str:
    """Return something given, short enough for a message."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
