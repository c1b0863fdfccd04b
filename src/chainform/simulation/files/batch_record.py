"""Many motions in files.

In NPZ files arrays have their shapes: q (b, m, nq), energy (b, m), values.m (b,). In CSV and
Parquet files every row is one time of one motion, which are counted from 1:

    motion, t, q.*, qd.*, values.*, energy, outputs

What is known of the batch goes with it, as for single runs: also when and how each motion ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError
from chainform.given import Given
from chainform.simulation.files.record import (
    data_of,
    numbers_in,
)

Array = NDArray[np.float64]

SCHEMA = "chainform-batch/1"
WHOLE = ".npz"
"""The ending of files in which arrays keep their shapes."""


def check_schema(about: Mapping[str, Any]) -> None:
    """Raise ReadError where plain data are not those of a batch."""
    if about.get("schema") == SCHEMA:
        return
    is_single = str(about.get("schema")).startswith("chainform-run/")
    remedy = "it was written by another program, or another version of chainform"
    single = "it has a single motion: read it with chainform.Run.load"
    raise ReadError(
        f"there is no batch of the form {SCHEMA}", remedy=single if is_single else remedy
    )


def flat(computed: Mapping[str, Array]) -> dict[str, Array]:
    """Return what was computed with a row for each time of each motion."""
    return {n: a.reshape(a.shape[0] * a.shape[1], *a.shape[2:]) for n, a in computed.items()}


def problems_in(table: Given, count: int) -> dict[int, str]:
    """Return what went wrong by the number of the motion."""
    known = {str(motion): motion for motion in range(count)}
    for name, problem in table.items():
        if name not in known:
            raise problem.error("there is no such motion")
    return {known[name]: problem.text() for name, problem in table.items()}


def interrupted_in(given: Given, count: int) -> NDArray[np.bool_]:
    """Return which motions Ctrl-C stopped, (b,)."""
    numbers = numbers_in(given, finite=True)
    if not set(numbers.tolist()) <= set(range(count)):
        raise given.error("there is no such motion")
    flags = np.zeros(count, dtype=np.bool_)
    flags[numbers.astype(np.int64)] = True
    return flags


def shaped(
    arrays: Mapping[str, Array],
    name: str,
    lead: tuple[int, int],
    rest: tuple[int, ...] | None = None,
    *,
    is_long: bool,
) -> Array:
    """Return an array (b, m, ...) of one that has its motions in one dimension or two."""
    if name not in arrays:
        raise data_of(None, name).error("there are no such numbers")
    array = arrays[name]
    first = (lead[0] * lead[1],) if is_long else lead
    inner = array.shape[len(first) :]
    if array.shape[: len(first)] != first or rest not in (None, inner):
        raise data_of(None, name).error(f"it has the shape {array.shape}")
    return array.reshape(*lead, *inner)
