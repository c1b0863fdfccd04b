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
from math import isfinite
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from chainform.cli.strict_json import name_of, read_json
from chainform.errors import Error
from chainform.given import Given
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
    """Checks one document."""

    def __init__(self, file: str, mechanism: Mechanism, wrenches: Sequence[str]) -> None:
        self.file = file
        self.mechanism = mechanism
        self.wrenches = wrenches

    def state(self, document: Any) -> State:
        """Return the whole state."""
        table = Given(document, "", self.file).table(KEYS, 'write {"q": [...]}')
        groups = {key: self.group(key, table[key]) for key in KEYS[:-1] if key in table.value}
        if "q" in groups:
            self.check_quaternions(groups["q"], table["q"])
        given = table["values"].table().items() if "values" in table.value else []
        values = {name: array_in(value) for name, value in given}
        return State(self.file, groups, values, batch_of(groups, values, table))

    def group(self, key: str, given: Given) -> Array:
        """Return one of q, qd, ..., force as an array (..., n), and t as an array (...)."""
        if key == "t":
            return array_in(given)
        if given.is_table and key in BY_NAME:
            return self.from_names(key, given)
        if not given.is_list:
            raise given.expected("a list, or a table by names" if key in BY_NAME else "a list")
        array = array_in(given)
        length = self.length_of(key)
        if array.shape[-1] == length:
            return array
        raise given.error(
            f"its last dimension is {array.shape[-1]}, "
            f"the number of {self.kind_of_entries(key)}s is {length}",
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
            return sum(loop.equations for loop in self.mechanism.loops)
        if key == "wrench":
            return 6 * len(self.wrenches)
        return len(entry_names(self.mechanism, key))

    def from_names(self, key: str, given: Given) -> Array:
        """Return a table by names as an array; batches are spread over each other."""
        names, kind = entry_names(self.mechanism, key), self.kind_of_entries(key)
        placed: dict[int, Array] = {}
        for name, value in given.table().items():
            try:
                place = place_of(self.mechanism, key, name)
            except Error:
                raise given.holding(name).unknown(kind, names) from None
            if place in placed:
                raise given[names[place]].error(f"the {kind} is given twice", "give each once")
            placed[place] = array_in(value)
        missing = [name for place, name in enumerate(names) if place not in placed]
        if missing:
            raise given.error(f"there is no value for {', '.join(missing)}", "give all of them")
        try:
            columns = np.broadcast_arrays(*(placed[place] for place in range(len(names))))
        except ValueError:
            shapes = ", ".join(f"{names[i]} {list(placed[i].shape)}" for i in range(len(names)))
            message = f"the batches do not fit together: {shapes}"
            raise given.error(message, "give all of them one shape") from None
        return np.stack(columns, axis=-1) if columns else np.zeros(0)

    def check_quaternions(self, q: Array, given: Given) -> None:
        """Refuse quaternions that are no rotations: formulas take their length for 1."""
        for segment in self.mechanism.segments:
            kind, first = segment.joint.kind, segment.coordinate
            if first is None or not kind.has_quaternion:
                continue
            places = slice(first + kind.coordinates - 4, first + kind.coordinates)
            lengths = np.linalg.norm(q[..., places], axis=-1).ravel()
            wrong = lengths[np.abs(lengths - 1) > UNIT_WITHIN]
            if wrong.size:
                names = ", ".join(self.mechanism.coordinates[places])
                message = f"the quaternion {names} has the length {wrong[0]:.6g}, not 1"
                raise given.error(message, "divide it by its length; no rotation is 0, 0, 0, 1")


def batch_of(groups: dict[str, Array], values: dict[str, Array], given: Given) -> tuple[int, ...]:
    """Return the leading dimensions that everything has in common."""
    shapes = {key: a.shape if key == "t" else a.shape[:-1] for key, a in groups.items()}
    shapes |= {f"values {name}": array.shape for name, array in values.items()}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{key} {list(shape)}" for key, shape in shapes.items() if shape)
        message = f"the batches do not fit together: {listed}"
        raise given.error(message, "give all of them one shape, or one state") from None


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
