"""Fair timing: competitors take turns, the best time of each counts, ratios come with spread."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from speed_peers.build import HERE, Workshop, shared_library
from speed_peers.cases import Array, Order, States

STATES = 1000
"""So many states stay in the caches, and are enough for branches not to repeat."""


@dataclass(frozen=True)
class Competitor:
    """A C function of one state: addresses of what is given, then of results."""

    title: str
    variant: str
    address: int
    order: Order
    arguments: tuple[str, ...] = ("q", "qd", "third")
    """What is given, by its name in `States`."""
    results: tuple[int, ...] = ()
    """How many numbers each result has; one result where this is empty."""
    keep: Any = field(default=None, repr=False, compare=False)
    """Whatever has to live as long as the address is used."""


class _Array(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("step", ctypes.c_long))


class Loop:
    """loop.c, compiled."""

    def __init__(self, workshop: Workshop) -> None:
        self.library = ctypes.CDLL(str(shared_library(workshop, "loop", HERE / "loop.c", "")))
        given = [ctypes.c_void_p, ctypes.c_long, ctypes.c_long, ctypes.c_void_p]
        self.library.values.argtypes = given
        self.library.best_pass.argtypes = [*given, ctypes.c_long]
        self.library.values.restype, self.library.best_pass.restype = None, ctypes.c_double

    def values(self, competitor: Competitor, quantity: str, states: States, size: int) -> Array:
        """Return the results at all states, (count, size), in our order."""
        out = np.zeros((len(states), size))
        inputs = _inputs(competitor, quantity, states)
        arrays = _arrays(competitor, inputs, out)
        self.library.values(competitor.address, len(states), len(arrays), arrays)
        return competitor.order.back(out, quantity)

    def timer(
        self, competitor: Competitor, quantity: str, states: States, size: int, milliseconds: int
    ) -> Callable[[], float]:
        """Return a function that measures nanoseconds per call, for about so long."""
        inputs, out = _inputs(competitor, quantity, states), np.zeros((1, size))
        arrays = _arrays(competitor, inputs, out)

        def measure() -> float:
            # `inputs` and `out` live here, since C sees only where they lie.
            assert len(inputs[0]) == len(states)
            assert out.shape == (1, size)
            given = (competitor.address, len(states), len(arrays), arrays)
            return self.library.best_pass(*given, milliseconds)

        return measure


def _inputs(competitor: Competitor, quantity: str, states: States) -> list[Array]:
    """Return what a competitor is given, in its order."""
    arranged = states.arranged(competitor.order)
    return [
        arranged.third(quantity) if name == "third" else getattr(arranged, name)
        for name in competitor.arguments
    ]


def _arrays(competitor: Competitor, inputs: Sequence[Array], out: Array) -> Any:
    """Return where everything lies; with one row, results overwrite each other."""
    places = [(array.ctypes.data, array.shape[1]) for array in inputs]
    count, size = out.shape
    step, place = size if count > 1 else 0, 0
    for length in competitor.results or (size,):
        places.append((out.ctypes.data + place * out.itemsize, step))
        place += length
    return (_Array * len(places))(*places)


def seconds_of(run: Callable[[], object], calls: int = 3, *, wall: bool = False) -> float:
    """Return the shortest of several calls: time of this thread, or on the wall for several."""
    clock = perf_counter if wall else thread_time
    best = np.inf
    for _ in range(calls):
        start = clock()
        run()
        best = min(best, clock() - start)
    return float(best)


@dataclass(frozen=True)
class Timing:
    """What one competitor, or the best of its variants, took in each round."""

    rounds: tuple[float, ...]
    variant: str = ""

    @property
    def best(self) -> float:
        """Return the shortest time."""
        return min(self.rounds)

    def per(self, other: Timing) -> str:
        """Return how often this time holds the other: of the best, and range over rounds."""
        each = [mine / theirs for mine, theirs in zip(self.rounds, other.rounds, strict=True)]
        return f"{self.best / other.best:.2f} ({min(each):.2f}-{max(each):.2f})"


def in_turn(
    measures: Mapping[tuple[str, str], Callable[[], float]], rounds: int
) -> dict[str, Timing]:
    """Measure competitors (title, variant) one after the other, round by round."""
    taken: dict[tuple[str, str], list[float]] = {key: [] for key in measures}
    for _ in range(rounds):
        for key, measure in measures.items():
            taken[key].append(measure())
    titles = dict.fromkeys(title for title, _ in measures)
    return {title: _best_variant(title, taken) for title in titles}


def _best_variant(title: str, taken: Mapping[tuple[str, str], Sequence[float]]) -> Timing:
    """Return the timing of the variant with the shortest time."""
    variants = {variant: times for (owner, variant), times in taken.items() if owner == title}
    best = min(variants, key=lambda variant: min(variants[variant]))
    return Timing(tuple(variants[best]), best)
