"""Random states of a model, its values there, and how far rounding may take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.graph import rounding_bounds
from chainform.mechanism import with_unit_quaternions
from chainform.model import Model, group_length

Array = NDArray[np.float64]
TRIES = 20
"""Draws of states until enough of them have finite values."""
SPREAD = 0.2
"""How far parameters are drawn from their values."""
REACH = 1.5
"""The largest number drawn for a coordinate, rate, force ..., at first."""
FAR = 4.0
"""Coordinates of every second state reach so many times as far: beyond half a turn."""
WIDER = 4
"""After so many draws without enough states coordinates reach twice as far, and so on."""
MARGIN = 4.0
"""Two ways to one value may be as many bounds of rounding apart."""
USELESS = 1e-6
"""A state at which rounding takes a value so far, against the largest entry, tells nothing."""


@dataclass(frozen=True, eq=False)
class Sample:
    """States of a model as a batch: arrays (n, length) by group, (n,) of t and of parameters."""

    model: Model
    states: Mapping[str, Array]
    values: Mapping[str, Array]

    @cached_property
    def evaluated(self) -> dict[str, Array]:
        """All outputs (n, ...) by `model.evaluate`."""
        with np.errstate(all="ignore"):
            return self.model.evaluate(**self.arguments())

    @cached_property
    def bounds(self) -> dict[str, Array]:
        """How far another evaluation of the same formulas may be off, entry by entry."""
        return {name: MARGIN * bound for name, bound in self._rounding.items()}

    @cached_property
    def certain(self) -> dict[str, NDArray[np.bool_]]:
        """At which states rounding leaves enough of an output to compare, (n,)."""
        found: dict[str, NDArray[np.bool_]] = {}
        for name, bound in self.bounds.items():
            size = np.maximum(1.0, _largest(self.evaluated[name]))
            found[name] = np.isfinite(size) & (_largest(bound) < USELESS * size)
        return found

    @cached_property
    def _rounding(self) -> dict[str, Array]:
        graph, count = self.model.graph, len(self)
        blocks = graph.outputs
        wanted = np.unique(np.array([v for b in blocks.values() for v in b.variables], np.int32))
        inputs = {v: self.column(given.name) for v, given in graph.inputs.items()}
        _, found = rounding_bounds(graph, wanted, inputs, count)
        place = {int(v): row for row, v in enumerate(wanted)}
        return {
            name: found[[place[v] for v in block.variables]].T.reshape(count, *block.shape)
            for name, block in blocks.items()
        }

    def __len__(self) -> int:
        arrays = [*self.states.values(), *self.values.values()]
        return len(arrays[0]) if arrays else 1

    def column(self, name: str) -> Array:
        """Return the values of an input of the graph, (n,)."""
        given = next(g for g in self.model.graph.inputs.values() if g.name == name)
        if given.group == "parameter":
            return self.values[name]
        array = self.states[given.group]
        return array if given.group == "t" else array[:, given.index]

    def arguments(self, k: int | None = None) -> dict[str, Any]:
        """Return what `evaluate` takes, for all states or for one of them."""
        every = slice(None) if k is None else k
        states = {group: array[every] for group, array in self.states.items()}
        return {**states, "values": {name: array[every] for name, array in self.values.items()}}

    def chosen(self, which: NDArray[Any]) -> Sample:
        """Return some of the states."""
        states = {group: array[which] for group, array in self.states.items()}
        return Sample(self.model, states, {n: array[which] for n, array in self.values.items()})


def sample_of(model: Model, count: int, seed: int) -> Sample:
    """Return random states at which all outputs are certain, or else some of them.

    RunError where there is no such state.
    """
    rng = np.random.default_rng(seed)
    drawn = [_drawn(model, count, rng)]
    while len(drawn) < TRIES and sum(int(_all_certain(d).sum()) for d in drawn) < count:
        drawn.append(_drawn(model, count, rng, REACH * 2 ** (len(drawn) // WIDER)))
    together = _joined(model, drawn)
    good = np.flatnonzero(_all_certain(together))
    if not len(good):
        good = np.flatnonzero(np.any([*together.certain.values()], axis=0))
    if not len(good):
        message = "no random state was found at which the outputs are finite and well conditioned"
        remedy = "compare the model at states of your own, with model.evaluate"
        raise RunError(message, element=model.mechanism.name, remedy=remedy)
    return together.chosen(good[:count])


def _all_certain(sample: Sample) -> NDArray[np.bool_]:
    return np.all([*sample.certain.values()], axis=0)


def _drawn(model: Model, count: int, rng: np.random.Generator, reach: float = REACH) -> Sample:
    given = list(model.graph.inputs.values())
    states: dict[str, Array] = {}
    groups = [item.group for item in given if item.group != "parameter"]
    # Functions take these whether their formulas have them or not.
    groups += ["q", "qd", "qdd", "tau"] if model.has_bodies else []
    # Functions without any input have a q without entries, which says how many states there are.
    groups += [] if given else ["q"]
    for group in dict.fromkeys(groups):
        if group == "t":
            states["t"] = rng.uniform(0, REACH, count)
            continue
        length = group_length(model.mechanism, model.graph, group)
        bound = reach if group == "q" else REACH
        array = rng.uniform(-bound, bound, (count, length))
        if group == "q":
            array[1::2] *= FAR
        if group == "q" and length == model.mechanism.nq:
            array = np.array([with_unit_quaternions(model.mechanism, row) for row in array])
        states[group] = array
    values: dict[str, Array] = {}
    for item in given:
        if item.group == "parameter":
            middle = 1.0 if item.default is None else float(item.default)
            values[item.name] = middle * rng.uniform(1 - SPREAD, 1 + SPREAD, count)
            if not middle:
                # Terms with a parameter that is zero are seen where it is not.
                values[item.name][1::2] = rng.uniform(-SPREAD, SPREAD, count // 2)
    return Sample(model, states, values)


def _joined(model: Model, parts: list[Sample]) -> Sample:
    first = parts[0]
    states = {g: np.concatenate([p.states[g] for p in parts]) for g in first.states}
    values = {n: np.concatenate([p.values[n] for p in parts]) for n in first.values}
    return Sample(model, states, values)


def _largest(array: Array) -> Array:
    """Return the largest entry at each state, (n,); a value that is not finite is the largest."""
    flat = np.abs(array.reshape(len(array), -1))
    found = np.max(flat, axis=1, initial=0.0)
    return np.where(np.isnan(flat).any(axis=1), np.inf, found)
