"""What is known of a run besides its states: how it was computed, and where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

END, INTERRUPTED, FAILED = "end", "interrupted", "failed"
"""How a motion ends, if no event ends it."""

KEPT = ("tau", "signals", "mask", "modes", "grips", "slack", "bounds", "multipliers")
"""Parts of p that go on from one step to the next."""


@dataclass(frozen=True, eq=False)
class Bookmark:
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
    def from_dict(data: Mapping[str, Any]) -> Bookmark:
        """Return the bookmark of plain data."""
        return Bookmark(
            float(data["t"]),
            array_of(data["y"]),
            {str(name): array_of(part) for name, part in data["parts"].items()},
            {str(name): array_of(part) for name, part in data["memory"].items()},
        )


@dataclass(frozen=True)
class About:
    """How a run was computed.

    `ending` is `end`, `interrupted`, `failed`, or the name of the event that ended it; `span` are
    start and end as they were asked for (s), `seconds` what the loop took. `scenario` is the text
    of the file that asked for it, `opened` are loops of the mechanism that close by contact only.
    """

    span: tuple[float, float] = (0.0, 0.0)
    ending: str = END
    settings: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    values: Mapping[str, float] = field(default_factory=dict[str, float])
    leave_out: tuple[str, ...] = ()
    seconds: float = 0.0
    scenario: str = ""
    bookmark: Bookmark | None = None
    opened: tuple[str, ...] = ()

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
            "leave_out": list(self.leave_out),
            "seconds": self.seconds,
            "scenario": self.scenario,
            "bookmark": None if self.bookmark is None else self.bookmark.as_dict(),
            "opened": list(self.opened),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> About:
        """Return what plain data say."""
        first, last = data["span"]
        settings = {str(k): None if v is None else float(v) for k, v in data["settings"].items()}
        mark = data["bookmark"]
        return About(
            (float(first), float(last)),
            str(data["ending"]),
            settings,
            {str(name): float(value) for name, value in data["values"].items()},
            tuple(map(str, data["leave_out"])),
            float(data["seconds"]),
            str(data["scenario"]),
            None if mark is None else Bookmark.from_dict(mark),
            tuple(map(str, data["opened"])),
        )


def plain_numbers(array: Array) -> list[float | str]:
    """Return numbers as JSON has them; those that are not finite are texts."""
    return [number if isfinite(number) else repr(number) for number in array.tolist()]


def array_of(data: Any) -> Array:
    """Return numbers that `plain_numbers` wrote."""
    return np.array([float(number) for number in data], dtype=np.float64)
