"""The record of a run: named arrays, and what is known of them as JSON can hold it.

In tables arrays are columns with names: q.elbow, tau.elbow, energy, pose(tool)[1,4].
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError, RunError
from chainform.given import Given, double_of
from chainform.mechanism import Mechanism

Array = NDArray[np.float64]
LONGEST = 2**31
"""No dimension of an array is as long."""
LONGEST_NAME = 1000
"""The most characters of a name; those of events have names of joints in them."""
RATES = ("qd", "tau", "qdd", "drives", "power", "shape_real", "shape_imag")
"""Arrays with a column for each rate."""
REMEDY = "take an undamaged copy, or compute the run anew"


@dataclass(frozen=True)
class ResultRecord:
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
        try:
            return json.dumps(known, allow_nan=False)
        except ValueError as problem:
            where = place_of_odd(known) or "about"
            raise RunError(
                "what is known of the run cannot be written: a number is not finite",
                element=where,
                remedy="give finite numbers",
            ) from problem


def data_of(value: object, element: str = "") -> Given:
    """Return plain data of a file of results; whatever is wrong with them has one remedy."""
    return Given(value, element, remedy=REMEDY)


def present(table: Given, key: str) -> Given:
    """Return an entry that must be there, perhaps as None."""
    if key not in table.value:
        raise table[key].error("it is missing")
    return table[key]


def texts_in(given: Given) -> tuple[str, ...]:
    """Return the texts in a list."""
    return tuple(entry.text() for entry in given.entries())


def numbers_in(given: Given, count: int | None = None, *, finite: bool = False) -> Array:
    """Return the numbers in a list, as `plain_numbers` wrote them, perhaps so many."""
    value: object = given.value
    if not isinstance(value, list):
        raise given.expected("a list")
    listed = cast("list[Any]", value)
    if count is not None and len(listed) != count:
        raise given.error(f"expected {count} numbers, got {len(listed)}")
    texts = {"nan": nan, "inf": inf, "-inf": -inf}
    numbers = [texts[x] if isinstance(x, str) and x in texts else double_of(x) for x in listed]
    if None in numbers:
        raise given.holding(listed[numbers.index(None)]).expected("numbers")
    array = np.array(numbers, dtype=np.float64)
    if finite and not np.all(np.isfinite(array)):
        raise given.error("the numbers are not finite")
    return array


def place_of_odd(value: Any, where: str = "") -> str | None:
    """Return where in nested tables and lists a number stands that is not finite."""
    if isinstance(value, float):
        return None if isfinite(value) else where
    entries: Iterable[tuple[str, Any]] = ()
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        entries = ((f"{where}, {key}" if where else key, entry) for key, entry in table.items())
    elif isinstance(value, list):
        listed = cast("list[Any]", value)
        entries = ((f"{where}[{k}]", entry) for k, entry in enumerate(listed, 1))
    return next((found for at, entry in entries if (found := place_of_odd(entry, at))), None)


def known_of(text: str) -> dict[str, Any]:
    """Return what a text in a file of results says; ReadError if it is none of ours."""
    try:
        known = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ReadError(
            f"the description of the run cannot be read: {problem}", remedy=REMEDY
        ) from problem
    if not isinstance(known, dict) or not {"arrays", "outputs"} <= known.keys():
        raise ReadError("there is no run in it", remedy="name a file that chainform wrote")
    found = cast("dict[str, Any]", known)
    shapes, outputs = found["arrays"], found["outputs"]
    if not isinstance(shapes, dict) or not all(map(_is_shape, cast("Any", shapes).values())):
        raise ReadError("expected shapes by name", element="arrays", remedy=REMEDY)
    if not isinstance(outputs, list) or not {*map(type, cast("Any", outputs))} <= {str}:
        raise ReadError("expected a list of names", element="outputs", remedy=REMEDY)
    return found


def _is_shape(shape: object) -> bool:
    """Tell whether something is a list of lengths."""
    if not isinstance(shape, list):
        return False
    return all(type(n) is int and 0 <= n < LONGEST for n in cast("list[object]", shape))


# --- columns of tables ------------------------------------------------------------------------


def column_names(mechanism: Mechanism, name: str, shape: Sequence[int]) -> list[str]:
    """Return the names of the columns of an array, row after row of its last dimensions."""
    labels = {"q": mechanism.coordinates, "u": mechanism.signals, "x": mechanism.states}
    labels |= dict.fromkeys(RATES, mechanism.rates)
    labels |= {"energy_balance": ("work", "losses")}
    if name in labels and tuple(shape) == (len(labels[name]),):
        return [f"{name}.{label}" for label in labels[name]]
    if not shape:
        return [name]
    places = np.ndindex(*shape)
    return [f"{name}[{','.join(str(k + 1) for k in place)}]" for place in places]


def columns_of(record: ResultRecord, mechanism: Mechanism) -> dict[str, Array]:
    """Return all columns of a run by name, `t` first."""
    columns: dict[str, Array] = {}
    for name, array in record.arrays.items():
        flat = array.reshape(len(array), int(np.prod(array.shape[1:])))
        names = column_names(mechanism, name, array.shape[1:])
        columns |= {label: flat[:, k] for k, label in enumerate(names)}
    return columns


def in_order(
    mechanism: Mechanism, known: dict[str, Any], names: Sequence[str], columns: Sequence[Array]
) -> list[Array]:
    """Return the columns of arrays one after the other; ReadError where their names are others.

    Columns may have been moved in a spreadsheet.
    """
    shapes = cast("dict[str, list[int]]", known["arrays"])
    wanted = [
        label for name, shape in shapes.items() for label in column_names(mechanism, name, shape)
    ]
    found = dict(zip(names, columns, strict=True))
    if sorted(names) != sorted(wanted):
        odd = next(
            (name for name in (*names, *wanted) if name not in found or name not in wanted), ""
        )
        raise ReadError(
            "the names of columns are not those of the run", element=odd[:60], remedy=REMEDY
        )
    return [found[label] for label in wanted]


def record_from(known: dict[str, Any], columns: Sequence[Array]) -> ResultRecord:
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
        return ResultRecord(arrays, tuple(outputs), known)
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as problem:
        raise ReadError(
            f"the columns are not those of the run: {problem}",
            remedy=REMEDY,
        ) from problem
