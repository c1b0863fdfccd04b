"""What is known of a run besides its states: how it was computed, and where it stands."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from hashlib import sha256
from math import isfinite
from types import CodeType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import Error
from chainform.formulations import PARTS
from chainform.given import Given
from chainform.mechanism import Mechanism, number_of
from chainform.readers import native_text
from chainform.simulation.equations.events import END, FAILED, INTERRUPTED
from chainform.simulation.files.record import (
    LONGEST_NAME,
    data_of,
    numbers_in,
    present,
    texts_in,
)

Array = NDArray[np.float64]

CONTINUED = ("tau", "signals", "mask", "modes", "grips", "slack", "bounds", "multipliers")
"""Parts of p that go on from one step to the next."""


EARLIER = {"leave_out": "without", "books": "energy_balance"}
"""Words of files that were written before they had their present ones."""


@dataclass(frozen=True, eq=False)
class ResumePoint:
    """Where a motion stands, so that it can go on as if it had never stopped.

    `y` is the whole state of the integration, `parts` holds what goes with it in p, and `memory`
    what the method remembers: the next step, samples taken, events just met.
    """

    t: float
    y: Array
    parts: Mapping[str, Array] = field(default_factory=dict[str, Array])
    memory: Mapping[str, Array] = field(default_factory=dict[str, Array])

    def as_dict(self) -> dict[str, Any]:
        """Return the bookmark as plain data."""
        return {
            "t": self.t,
            "y": plain_numbers(self.y),
            "parts": {name: plain_numbers(part) for name, part in self.parts.items()},
            "memory": {name: plain_numbers(part) for name, part in self.memory.items()},
        }

    @staticmethod
    def from_data(given: Given) -> ResumePoint:
        """Return the bookmark of plain data; ReadError where they are not those of one."""
        table = given.table()
        parts, memory = (table[name].table().items() for name in ("parts", "memory"))
        return ResumePoint(
            table["t"].number(),
            numbers_in(table["y"]),
            {name: numbers_in(part) for name, part in parts},
            {name: numbers_in(part) for name, part in memory},
        )


@dataclass(frozen=True, repr=False)
class About(Displayed):
    """How a run was computed.

    `ending` is `end`, `interrupted`, `failed`, or the name of the event that ended it; `span` are
    start and end as they were given (s), `seconds` what the loop took. `scenario` is the text
    of the file of the scenario and `title` what that is called, `opened` are loops of the
    mechanism that close by contact only. `given` has digests of all that decides how the motion
    goes, by the names of arguments of `simulate`, and `left` are the times of output (s) that a
    motion which was stopped did not come to.
    """

    span: tuple[float, float] = (0.0, 0.0)
    ending: str = END
    settings: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    values: Mapping[str, float] = field(default_factory=dict[str, float])
    without: tuple[str, ...] = ()
    seconds: float = 0.0
    scenario: str = ""
    bookmark: ResumePoint | None = None
    opened: tuple[str, ...] = ()
    title: str = ""
    given: Mapping[str, str] = field(default_factory=dict[str, str])
    left: tuple[float, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether the motion came to its end, or to an event that ends it."""
        return self.ending not in (INTERRUPTED, FAILED)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "span": list(self.span),
            "ending": self.ending,
            "settings": dict(self.settings),
            "values": dict(self.values),
            "without": list(self.without),
            "seconds": self.seconds,
            "scenario": self.scenario,
            "bookmark": None if self.bookmark is None else self.bookmark.as_dict(),
            "opened": list(self.opened),
            "title": self.title,
            "given": dict(self.given),
            "left": list(self.left),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> About:
        """Return what plain data say; ReadError where they are not what they should be."""
        table = data_of({EARLIER.get(name, name): value for name, value in data.items()})
        first, last = numbers_in(table["span"], 2, finite=True).tolist()
        mark, title, left = present(table, "bookmark"), table["title"], table["left"]
        left_out = texts_in(table["without"])
        if not set(left_out) <= set(PARTS):
            raise table["without"].error(f"there are only {', '.join(PARTS)}")
        settings = table["settings"].table().items()
        given = table["given"].table().items() if "given" in data else []
        return About(
            (first, last),
            table["ending"].name(LONGEST_NAME),
            {name: value.number() if value.is_given else None for name, value in settings},
            {name: value.number() for name, value in table["values"].table().items()},
            left_out,
            table["seconds"].number(),
            table["scenario"].text(),
            ResumePoint.from_data(mark) if mark.is_given else None,
            texts_in(table["opened"]),
            title.name(LONGEST_NAME) if title.value else "",
            {EARLIER.get(name, name): value.text() for name, value in given},
            tuple(numbers_in(left, finite=True).tolist()) if "left" in data else (),
        )


def plain_numbers(array: Array) -> list[float | str]:
    """Return numbers as JSON has them; those that are not finite are texts."""
    return [number if isfinite(number) else repr(number) for number in array.tolist()]


def digests_of(given: Mapping[str, Any]) -> dict[str, str]:
    """Return a digest of each of some arguments, to tell whether they are the same another time.

    Laws and numbers count as they are read, so that 0.5 and "1/2" are the same. Of a function of
    Python the name and the code are compared, and not the variables that it sees.
    """
    return {n: sha256(_canonical(v).encode()).hexdigest()[:32] for n, v in given.items()}


def _canonical(value: object, *, is_inside: bool = False) -> str:
    """Return a text that is the same for the same thing.

    Names of a table stand in their order, in which events happen; the fields of each have none.
    """
    if isinstance(value, Mechanism):
        return native_text(value)
    if isinstance(value, Mapping):
        table = cast("Mapping[object, object]", value)
        entries = [f"{key!s}: {_canonical(x, is_inside=True)}" for key, x in table.items()]
        return "{" + ", ".join(sorted(entries) if is_inside else entries) + "}"
    if isinstance(value, np.ndarray):
        return _canonical(cast("object", value.tolist()))
    if isinstance(value, list | tuple | range):
        entries = cast("Sequence[object]", value)
        return "[" + ", ".join(map(_canonical, entries)) + "]"
    if isinstance(value, functools.partial):
        made = cast("functools.partial[Any]", value)
        return _canonical([made.func, made.args, made.keywords])
    if callable(value):
        return _of_function(inspect.unwrap(cast("Callable[..., Any]", value)))
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: getattr(value, part.name) for part in fields(value)}
        return type(value).__name__ + _canonical(parts)
    if value is None or isinstance(value, bool):
        return str(value)
    try:
        return repr(number_of(value))
    except Error:
        return repr(value)


def has_functions(value: object) -> bool:
    """Tell whether functions of Python are among arguments."""
    if isinstance(value, Mapping):
        return any(map(has_functions, cast("Mapping[object, object]", value).values()))
    if isinstance(value, list | tuple):
        return any(map(has_functions, cast("Sequence[object]", value)))
    return callable(value)


def _of_function(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    code: object = getattr(function, "__code__", None)
    return f"{name} {_of_code(code) if isinstance(code, CodeType) else ''}"


def _of_code(code: CodeType) -> str:
    """Return what a function does, whatever file and line it stands in."""
    constants = [_of_code(c) if isinstance(c, CodeType) else _constant(c) for c in code.co_consts]
    return repr((code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars))


def _constant(value: object) -> str:
    """Return a constant; the order in a set differs from process to process."""
    if isinstance(value, frozenset):
        return repr(sorted(map(repr, cast("frozenset[object]", value))))
    return repr(value)
