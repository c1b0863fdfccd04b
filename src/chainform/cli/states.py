"""State files: what is known of a state, or of a batch of states, for `eval`.

    {"q": [...], "qd": [...], "qdd": [...], "tau": [...], "sigma": [...], "wrench": [...],
     "x": [...], "u": [...], "force": [...], "t": 0.0, "values": {...}}

Every entry may be left out. A batch is a list of lists, to any depth; the last dimension has
the length of q, or of qd for qd, qdd and tau; `x` has the states of the actuators, `u` their
signals, `force` the unknown forces of an element model. In place of these lists a table may give a
number, or a batch of them, by the name of each entry. `sigma` has an entry for each closure
equation,
`wrench` six for each frame on which a force and a moment act. The time `t` and each of the
parameters in `values` is a number or a batch of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from chainform.cli.strict_json import name_of, read_json
from chainform.errors import Error, ReadError
from chainform.mechanism import Mechanism
from chainform.model import entry_names, place_of

Array: TypeAlias = NDArray[np.float64]

ENTRIES = {"q": "coordinate", "x": "state", "u": "signal", "force": "force"}
BY_NAME = ("q", "qd", "qdd", "tau", "x", "u", "force")
"""Groups whose entries have names."""
KEYS = ("q", "qd", "qdd", "tau", "sigma", "wrench", "x", "u", "force", "t", "values")

DEEPEST = 16
"""The most dimensions an array may have."""

UNIT_WITHIN = 1e-3
"""How far the length of a quaternion may be from 1: as far as a few digits leave it."""


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
    return _Reader(name_of(source), mechanism, wrenches).state(read_json(source))


class _Reader:
    """Checks one document; `fail` names the file."""

    def __init__(self, file: str, mechanism: Mechanism, wrenches: Sequence[str]) -> None:
        self.file = file
        self.mechanism = mechanism
        self.wrenches = wrenches

    def fail(self, message: str, element: str | None, remedy: str | None = None) -> ReadError:
        return ReadError(message, file=self.file, element=element, remedy=remedy)

    def state(self, document: Any) -> State:
        """Return the whole state."""
        table = self.table(document, None)
        for key in table:
            if key not in KEYS:
                raise self.unknown("key", key, KEYS, None)
        groups = {key: self.group(key, table[key]) for key in KEYS[:-1] if key in table}
        if "q" in groups:
            self.check_quaternions(groups["q"])
        given = self.table(table.get("values", {}), "values")
        values = {name: self.array(value, f"values {name[:60]}") for name, value in given.items()}
        return State(self.file, groups, values, self.batch_of(groups, values))

    def group(self, key: str, given: Any) -> Array:
        """Return one of q, qd, ..., force as an array (..., n), and t as an array (...)."""
        if key == "t":
            return self.array(given, key)
        if isinstance(given, dict) and key in BY_NAME:
            return self.from_names(key, cast(dict[str, Any], given))
        if not isinstance(given, list):
            form = "a list, or a table by names" if key in BY_NAME else "a list"
            raise self.fail(f"expected {form}, got {kind_of(given)}", key)
        array = self.array(cast(list[Any], given), key)
        length = self.length_of(key)
        if array.shape[-1] == length:
            return array
        raise self.fail(
            f"its last dimension is {array.shape[-1]}, "
            f"the number of {self.kind_of_entries(key)}s is {length}",
            key,
            self.order_of(key),
        )

    def kind_of_entries(self, key: str) -> str:
        """Return what an entry of a group is called."""
        if key == "sigma":
            return "closure equation"
        if key == "wrench":
            return "component"
        return ENTRIES.get(key, "coordinate" if self.mechanism.nq == self.mechanism.nv else "rate")

    def order_of(self, key: str) -> str | None:
        """Return how the entries of a group follow one another."""
        if key == "sigma":
            return None
        if key == "wrench":
            if not self.wrenches:
                return "name the frames on which wrenches act by --wrenches"
            return f"give force and moment, three numbers each, on {', '.join(self.wrenches)}"
        names = entry_names(self.mechanism, key)
        return f"the order is {', '.join(names)}" if names else "leave it out"

    def length_of(self, key: str) -> int:
        """Return how many entries a group has."""
        if key == "sigma":
            return sum(row.equations for row in self.mechanism.describe().loops)
        if key == "wrench":
            return 6 * len(self.wrenches)
        return len(entry_names(self.mechanism, key))

    def from_names(self, key: str, given: dict[str, Any]) -> Array:
        """Return a table by names as an array; batches are spread over each other."""
        names, kind = entry_names(self.mechanism, key), self.kind_of_entries(key)
        placed: dict[int, Array] = {}
        for name, value in given.items():
            try:
                place = place_of(self.mechanism, key, name)
            except Error:
                raise self.unknown(kind, name, names, key) from None
            if place in placed:
                raise self.fail(f"the {kind} is given twice", f"{key}, {names[place]}")
            placed[place] = self.array(value, f"{key}, {name}")
        missing = [name for place, name in enumerate(names) if place not in placed]
        if missing:
            raise self.fail(f"there is no value for {', '.join(missing)}", key)
        try:
            columns = np.broadcast_arrays(*(placed[place] for place in range(len(names))))
        except ValueError:
            shapes = ", ".join(f"{names[i]} {list(placed[i].shape)}" for i in range(len(names)))
            raise self.fail(f"the batches do not fit together: {shapes}", key) from None
        return np.stack(columns, axis=-1) if columns else np.zeros(0)

    def check_quaternions(self, q: Array) -> None:
        """Refuse quaternions that are no rotations: formulas take their length for 1."""
        for segment in self.mechanism.segments:
            kind, first = segment.joint.kind, segment.coordinate
            if first is None or not kind.has_quaternion:
                continue
            places = slice(first + kind.coordinates - 4, first + kind.coordinates)
            lengths = np.linalg.norm(q[..., places], axis=-1).ravel()
            wrong = lengths[np.abs(lengths - 1) > UNIT_WITHIN]
            if wrong.size:
                names = self.mechanism.coordinates[places]
                raise self.fail(
                    f"the quaternion {', '.join(names)} has the length {wrong[0]:.6g}, not 1",
                    "q",
                    "divide it by its length; no rotation is 0, 0, 0, 1",
                )

    def batch_of(self, groups: dict[str, Array], values: dict[str, Array]) -> tuple[int, ...]:
        """Return the leading dimensions that everything has in common."""
        shapes = {key: a.shape if key == "t" else a.shape[:-1] for key, a in groups.items()}
        shapes |= {f"values {name}": array.shape for name, array in values.items()}
        try:
            return np.broadcast_shapes(*shapes.values())
        except ValueError:
            listed = ", ".join(f"{key} {list(shape)}" for key, shape in shapes.items() if shape)
            raise self.fail(f"the batches do not fit together: {listed}", None) from None

    # --- plain JSON ---------------------------------------------------------------------

    def table(self, value: Any, element: str | None) -> dict[str, Any]:
        """Return a table (an object of JSON)."""
        if isinstance(value, dict):
            return cast(dict[str, Any], value)
        remedy = 'write {"q": [...]}' if element is None else f'write "{element}": {{...}}'
        raise self.fail(f"expected a table, got {kind_of(value)}", element, remedy)

    def array(self, value: Any, element: str) -> Array:
        """Return nested lists of finite numbers, all of the same lengths, as an array."""
        shape: list[int] = []
        first = value
        while isinstance(first, list):
            inner = cast(list[Any], first)
            shape.append(len(inner))
            if len(shape) > DEEPEST:
                raise self.fail(f"lists are nested more than {DEEPEST} deep", element)
            first = inner[0] if inner else None
        self.check(value, shape, element, ())
        return np.asarray(value, dtype=np.float64).reshape(shape)

    def check(self, value: Any, shape: Sequence[int], element: str, path: tuple[int, ...]) -> None:
        """Refuse what is not a finite number at full depth, or a list of the right length above."""
        if isinstance(value, float) and not shape:
            if isfinite(value):
                return
            raise self.fail("the number is not finite, or too large", _place(element, path))
        if not isinstance(value, list):
            wanted = "a list like the one before it" if shape else "a number"
            raise self.fail(f"expected {wanted}, got {kind_of(value)}", _place(element, path))
        entries = cast(list[Any], value)
        if not shape:
            raise self.fail("expected a number, got a list", _place(element, path))
        if len(entries) != shape[0]:
            raise self.fail(
                f"the list has the length {len(entries)}, the one before it {shape[0]}",
                _place(element, path),
            )
        for number, entry in enumerate(entries, 1):
            self.check(entry, shape[1:], element, (*path, number))

    def unknown(self, what: str, name: str, known: Sequence[str], element: str | None) -> ReadError:
        """Say that a name is not known, and which one may be meant."""
        close = get_close_matches(name[:60], known, n=1)
        listed = f"known are {', '.join(known)}" if known else "there are none"
        remedy = f"did you mean {close[0]!r}? {listed}" if close else listed
        return self.fail(f"unknown {what} {name[:60]!r}", element, remedy)


def _place(element: str, path: tuple[int, ...]) -> str:
    return f"{element}[{','.join(map(str, path))}]" if path else element


def kind_of(value: Any) -> str:
    """Return what a value of JSON is, in words."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    kinds = {str: "a text", list: "a list", dict: "a table"}
    return next((word for kind, word in kinds.items() if isinstance(value, kind)), "a number")
