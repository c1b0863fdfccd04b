"""State files: what is known of a state, or of a batch of states, for `eval`; and strict JSON.

    {"q": [...], "qd": [...], "qdd": [...], "tau": [...], "sigma": [...], "wrench": [...],
     "x": [...], "u": [...], "force": [...], "t": 0.0, "direction": [...], "weights": [...],
     "values": {...}}

Every entry may be left out. A batch is a list of lists, to any depth; the last dimension has
the length of q, or of qd for qd, qdd and tau; `x` has the states of the actuators, `u` their
signals, `force` the unknown forces of an element model. In place of these lists a table may give a
number, or a batch of them, by the name of each entry. `sigma` has an entry for each closure
equation, `wrench` six for each frame on which a force and a moment act, `direction` and `weights`
have those of the derivative that they multiply. The time `t` and each of
the parameters in `values` is a number or a batch of them.

JSON is read without indulgence: every fault is an error that names the file and the place.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError
from chainform.given import Given
from chainform.mechanism import Mechanism
from chainform.model import batch_shape, group_length, state_array

Array: TypeAlias = NDArray[np.float64]
NAMELESS = ("sigma", "wrench", "direction", "weights")
"""Groups whose entries have no names."""

FACTORS = ("direction", "weights")
"""Groups that have as many entries as the derivative which they multiply."""
KEYS = ("q", "qd", "qdd", "tau", "sigma", "wrench", "x", "u", "force", "t", *FACTORS, "values")
DEEPEST = 16
"""The most dimensions an array may have."""
STDIN = "-"
MOST_BYTES = 1024**3
"""The greatest size of what is read; a device may have no end."""


@dataclass(frozen=True, slots=True)
class State:
    """Checked arrays: `groups` holds q, qd, ..., t as far as they are given."""

    file: str
    groups: dict[str, Array]
    values: dict[str, Array]
    batch: tuple[int, ...]


def read_state(source: str, mechanism: Mechanism, wrenches: Sequence[str] = ()) -> State:
    """Return the state in a file (or in stdin, for `-`), checked against a mechanism.

    `wrenches` are the frames on which wrenches act.
    """
    given = Given(read_json(source), "", name_of(source)).table(KEYS, 'write {"q": [...]}')
    lengths = {key: group_length(mechanism, None, key) for key in KEYS[:-1]}
    lengths["wrench"] = 6 * len(wrenches)
    arrays: dict[str, Array] = {}
    for key, length in lengths.items():
        if key in given.value:
            plain = _plain(key, given[key])
            with given[key].translate_errors():
                if key in FACTORS and not isinstance(plain, dict):
                    length = plain.shape[-1]
                arrays[key] = state_array(mechanism, key, plain, length)
    table = given["values"].table().items() if "values" in given.value else []
    values = {name: array_in(value) for name, value in table}
    with given.translate_errors():
        batch = batch_shape(arrays, values)
    groups = {key: array[..., 0] if key == "t" else array for key, array in arrays.items()}
    return State(name_of(source), groups, values, batch)


def _plain(key: str, given: Given) -> Array | dict[str, Array]:
    """Return a group as an array, or as arrays by the names of its entries."""
    if given.is_table and key not in (*NAMELESS, "t"):
        return {name: array_in(value) for name, value in given.table().items()}
    if key != "t" and not given.is_list:
        raise given.expected("a list" if key in NAMELESS else "a list, or a table by names")
    return array_in(given)


def array_in(given: Given) -> Array:
    """Return nested lists of finite numbers, all of the same lengths, as an array."""
    shape: list[int] = []
    first = given.value
    while isinstance(first, list):
        inner = cast("list[Any]", first)
        shape.append(len(inner))
        if len(shape) > DEEPEST:
            raise given.error(f"lists are nested more than {DEEPEST} deep", "flatten them")
        first = inner[0] if inner else None
    _check(given, shape)
    return np.asarray(given.value, dtype=np.float64).reshape(shape)


def _check(given: Given, shape: Sequence[int]) -> None:
    """Refuse what is not a finite number at full depth, or a list of the right length above."""
    if not shape:
        given.number()
        return
    value: object = given.value
    if len(shape) == 1 and isinstance(value, list):
        entries = cast("list[Any]", value)
        if len(entries) == shape[0] and all(type(x) is float and isfinite(x) for x in entries):
            return
    for entry in given.entries(shape[0], "give each list the length of the one before it"):
        _check(entry, shape[1:])


# --- JSON -------------------------------------------------------------------------------------


def read_json(source: str) -> Any:
    """Return what a JSON file holds, stdin for `-`, or what is given itself as `{...}`.

    Every number is a float.

    NaN and Infinity come through as such, for the caller to refuse where they stand.
    """
    file = name_of(source)
    text = _decoded(_bytes_of(source, file), file)
    if not text.strip():
        raise ReadError("the file is empty", file=file, remedy='write at least {"q": [...]}')

    def record(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        return _record(pairs, file)

    try:
        return json.loads(text, object_pairs_hook=record, parse_int=float)
    except json.JSONDecodeError as problem:
        raise ReadError(
            f"this is not JSON: {problem.msg}",
            file=file,
            element=f"line {problem.lineno}, column {problem.colno}",
            remedy='names stand in double quotes, numbers in lists: {"q": [0.1, 0.2]}',
        ) from None
    except RecursionError:
        remedy = 'write {"q": [0.1, 0.2]}'
        raise ReadError("lists are nested too deeply", file=file, remedy=remedy) from None


def name_of(source: str) -> str:
    """Return how messages call a source."""
    if source == STDIN:
        return "standard input"
    return "the state given" if _is_inline(source) else source


def _is_inline(source: str) -> bool:
    return source.lstrip().startswith("{")


def _bytes_of(source: str, file: str) -> bytes:
    if _is_inline(source):
        return source.encode("utf-8", "surrogatepass")
    try:
        if source != STDIN:
            with Path(source).open("rb") as stream:
                return _bounded(stream, file)
        if sys.stdin is None:
            raise ReadError("it is closed", file=file)
        return _bounded(sys.stdin.buffer, file)
    except FileNotFoundError:
        remedy = "name a JSON file, write {...} itself, or - for standard input"
        raise ReadError("there is no such file", file=file, remedy=remedy) from None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise ReadError(f"it cannot be read: {reason}", file=file) from None
    except ValueError as problem:
        raise ReadError(f"it cannot be a file: {problem}", file=file) from None


def _bounded(stream: BinaryIO, file: str) -> bytes:
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ReadError("it is larger than 1 GB", file=file, remedy="split the batch of states")
    return data


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        place, remedy = f"byte {problem.start + 1}", "save it as UTF-8"
        message = "the text is not UTF-8"
        raise ReadError(message, file=file, element=place, remedy=remedy) from None


def _record(pairs: Sequence[tuple[str, Any]], file: str) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for key, value in pairs:
        if key in record:
            raise ReadError("the key is given twice", file=file, element=repr(key[:60]))
        record[key] = value
    return record
