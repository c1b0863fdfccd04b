"""The record of a run: named arrays, and what is known of them as JSON can hold it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError

Array = NDArray[np.float64]

REMEDY = "take an undamaged copy, or compute the run anew"


@dataclass(frozen=True)
class Record:
    """Arrays by name, each with a row for every time, and what is known of the run.

    Those named in `outputs` were computed from the states.
    """

    arrays: Mapping[str, Array]
    outputs: tuple[str, ...]
    about: Mapping[str, Any]

    @property
    def text(self) -> str:
        """What is known, with the arrays and their shapes, as JSON."""
        shapes = {name: list(array.shape[1:]) for name, array in self.arrays.items()}
        known = {**self.about, "arrays": shapes, "outputs": list(self.outputs)}
        return json.dumps(known, allow_nan=False)


def known_of(text: str) -> dict[str, Any]:
    """Return what a text in a file of results says; ReadError if it is none of ours."""
    try:
        known = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ReadError(
            f"what is said of the run cannot be read: {problem}", remedy=REMEDY
        ) from problem
    if not isinstance(known, dict) or not {"arrays", "outputs"} <= known.keys():
        raise ReadError("there is no run in it", remedy="name a file that chainform wrote")
    return known  # pyright: ignore[reportUnknownVariableType]
