"""Arrays as columns with names, for tables: q.elbow, tau.elbow, energy, pose(tool)[1,4]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError
from chainform.mechanism import Mechanism
from chainform.simulation.results.plain import REMEDY, Record

Array = NDArray[np.float64]


def column_names(mechanism: Mechanism, name: str, shape: Sequence[int]) -> list[str]:
    """Return the names of the columns of an array, row after row of its last dimensions."""
    labels = {"q": mechanism.coordinates, "u": mechanism.signals, "x": mechanism.states}
    labels |= dict.fromkeys(("qd", "tau", "qdd", "drives"), mechanism.rates)
    labels |= {"energy_balance": ("work", "losses")}
    if name in labels and tuple(shape) == (len(labels[name]),):
        return [f"{name}.{label}" for label in labels[name]]
    if not shape:
        return [name]
    places = np.ndindex(*shape)
    return [f"{name}[{','.join(str(k + 1) for k in place)}]" for place in places]


def columns_of(record: Record, mechanism: Mechanism) -> dict[str, Array]:
    """Return all columns of a run by name, `t` first."""
    columns: dict[str, Array] = {}
    for name, array in record.arrays.items():
        flat = array.reshape(len(array), int(np.prod(array.shape[1:])))
        names = column_names(mechanism, name, array.shape[1:])
        columns |= {label: flat[:, k] for k, label in enumerate(names)}
    return columns


def record_from(known: dict[str, Any], columns: Sequence[Array]) -> Record:
    """Return the record whose arrays stand in columns one after the other."""
    shapes, outputs = known["arrays"], known["outputs"]
    arrays: dict[str, Array] = {}
    place = 0
    try:
        for name, shape in cast("dict[str, list[int]]", shapes).items():
            count = int(np.prod(shape, dtype=np.int64))
            chosen = columns[place : place + count]
            if len(chosen) != count or any(length < 0 for length in shape):
                raise ValueError(f"{name} lacks columns")
            stacked = np.stack(chosen, axis=1) if chosen else np.zeros((len(columns[0]), 0))
            arrays[str(name)] = stacked.reshape((len(stacked), *shape))
            place += count
        return Record(arrays, tuple(outputs), known)
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as problem:
        raise ReadError(
            f"the columns are not those of the run: {problem}",
            remedy=REMEDY,
        ) from problem
