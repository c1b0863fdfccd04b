"""Options of a program, checked when they are given rather than when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from chainform.errors import RunError
from chainform.given import argument, real_array
from chainform.graph import GROUPS

PRECISIONS = ("float64", "float32")
LANES = (2, 4, 8, 16)


def precision_of(value: Any) -> str:
    """Return a precision by its name; the type of numpy's numbers will do as well."""
    name: Any = value.name if isinstance(value, np.dtype) else value
    return argument("precision", name).choice(PRECISIONS)


def threads_of(value: Any) -> int | None:
    """Return a number of threads; None stands for all cores."""
    return None if value is None else argument("threads", value).whole(1)


def lanes_of(value: Any, native: int) -> int:
    """Return a number of lanes; None stands for what the processor has."""
    if value is None:
        return native
    given = argument("lanes", value)
    if given.whole() not in LANES:
        raise given.error(f"there are no {given.whole()} lanes", "give 2, 4, 8 or 16")
    return given.whole()


def lengths_of(value: Any) -> dict[str, int]:
    """Return how many numbers the groups of inputs have."""
    if value is None:
        return {}
    table = argument("lengths", value).table(GROUPS, 'write {"q": 6}')
    return {group: length.whole() for group, length in table.items()}


def values_of(what: str, values: Any, known: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return parameters that are given by name, each of them known."""
    given = argument(what, values).table(remedy='write {"name": number}').value
    for name in given:
        if name not in known:
            remedy = "" if known else "the model has no free parameters"
            raise argument(name[:60], name).unknown("free parameter", known, remedy)
    return given


def number_of(name: str, value: Any) -> float:
    """Return the value of a parameter, one number."""
    array = real_array(name, value)
    if array.ndim:
        raise RunError(f"{name} must be one number", element=name, remedy="give one number")
    return float(array)
