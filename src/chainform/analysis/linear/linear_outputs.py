"""Outputs of small motions by name: groups such as q and qdd, and all that can be derived.

symbol   meaning
y        an output, a function of q, qd, qdd, the drives, the multipliers, x and what acts outside

    dy = (dy/dq) xi + (dy/dqd) dqd + (dy/dqdd) dqdd + ...        each factor is known by then
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.implicit_equations import ImplicitEquations
from chainform.analysis.linear.linear_variables import Changes, displacement_names, rate_names
from chainform.analysis.linear.state_accelerations import no_value
from chainform.errors import DeriveError, RunError
from chainform.given import argument, near
from chainform.graph import Block, chosen_entries, parts_of
from chainform.model import output_of
from chainform.pipeline import derive

Array = NDArray[np.float64]

ACCELERATIONS = (
    "forward_dynamics",
    "constrained_dynamics",
    "complete_acceleration",
)
"""What stands for the accelerations of the motion, under all loops, constraints and actuators."""
SAME = 1e-8
"""Values that differ by less, against the largest, are the same."""


@dataclass(frozen=True)
class LinearRows:
    """Rows of C and D next to each other, the names of their outputs, and the values of these."""

    names: tuple[str, ...]
    rows: Array
    values: Array


class LinearOutputs:
    """Outputs of a mechanism about a point, given how all inputs of equations change there.

    `points` has the point and the changes by the groups of `ImplicitEquations`, and `drives`; x has
    all states of actuators. Where forces of loops are not determined it has a second pair, with
    other forces that do as well.
    """

    def __init__(
        self, equations: ImplicitEquations, points: Sequence[tuple[Changes, Changes]]
    ) -> None:
        self.mechanism = equations.mechanism
        self.wrenches = equations.wrenches
        self.control_states = equations.control_states
        self.points = points
        self.point, self.changes = points[0]
        self.loops = sum(loop.equations for loop in self.mechanism.loops)

    def of(self, texts: Sequence[str]) -> LinearRows:
        """Return the rows of outputs, one text after the other."""
        given = argument("outputs", texts).texts('write outputs=["pose(tool)"]')
        found = [self._own(text) or self._derived(text) for text in given]
        names = tuple(name for each in found for name in each.names)
        empty = np.zeros((0, self.changes["q"].shape[1]))
        rows = np.concatenate([empty, *(each.rows for each in found)])
        values = np.concatenate([np.zeros(0), *(each.values for each in found)])
        return LinearRows(names, rows, values)

    @cached_property
    def _known(self) -> dict[str, LinearRows]:
        """Whole groups by their words."""
        mechanism, point, changes = self.mechanism, self.point, self.changes
        shifts, rates = displacement_names(mechanism), rate_names(mechanism)
        still = np.zeros(mechanism.nv)
        q = point["q"] if mechanism.nq == mechanism.nv else still
        accelerations = LinearRows(
            tuple(f"der({name})" for name in rates), changes["qdd"], point["qdd"]
        )
        drives = tuple(f"drive({name})" for name in mechanism.rates)
        return {
            "q": LinearRows(shifts, changes["q"], q),
            "qd": LinearRows(rates, changes["qd"], point["qd"]),
            "x": LinearRows((*mechanism.states, *self.control_states), changes["x"], point["x"]),
            "drives": LinearRows(drives, changes["drives"], point["drives"]),
            **dict.fromkeys(ACCELERATIONS, accelerations),
        }

    def _own(self, text: str) -> LinearRows | None:
        """Return the rows of a group, of some of its entries, or of one by its name."""
        for rows in self._known.values():
            if text in rows.names:
                place = rows.names.index(text)
                return _entries(rows, [place])
        full = parts_of(output_of(text))
        if full.whole not in self._known:
            return None
        rows = self._known[full.whole]
        if not full.indices:
            return rows
        block = Block(full.whole, (len(rows.names),), tuple(range(len(rows.names))), rows.names)
        return _entries(rows, chosen_entries(block, full.indices, text).variables)

    def _derived(self, text: str) -> LinearRows:
        """Return the rows of an output that is derived."""
        found = self._chain(text)
        if not all(np.isfinite(x).all() for x in (found[0].rows, found[0].values)):
            raise no_value(self.mechanism, f"derivatives of {text[:60]}")
        for other in found[1:]:
            if not (
                _is_same(other.values, found[0].values) and _is_same(other.rows, found[0].rows)
            ):
                raise RunError(
                    f"{text[:60]} depends on forces of loops that are not determined, since some "
                    "equations of loops follow from others",
                    element=text[:60],
                    remedy="describe the loop by fewer equations, as a point in place of a frame",
                )
        return found[0]

    def _chain(self, text: str) -> list[LinearRows]:
        """Return the rows of an output at all points, by the chain rule."""
        try:
            own = derive(self.mechanism, [text], wrenches=self.wrenches)
        except DeriveError as error:
            names = [*self._known, *(name for rows in self._known.values() for name in rows.names)]
            remedy = near(text, names, 3).strip() or error.remedy
            raise RunError(error.message, element=text[:60], remedy=remedy) from None
        (output,), graph = own.outputs, own.graph
        needed = graph.cone(graph.output_variables([output]))
        groups = {item.group for v, item in graph.inputs.items() if needed[v]}
        factors = groups & {"weights", "direction"}
        if factors:
            message = f"{text[:60]} is multiplied by {min(factors)}, which no state has"
            remedy = "take the derivative itself, and multiply its rows of C and D"
            raise RunError(message, element=text[:60], remedy=remedy)
        kinds = sorted(groups - {"t", "parameter"})
        slopes = {g: output_of(f"derivative({output},{g})") for g in kinds}
        model = derive(self.mechanism, [output, *slopes.values()], wrenches=self.wrenches)
        labels = tuple(own[output].labels.ravel().tolist())
        found: list[LinearRows] = []
        for point, changes in self.points:
            state: dict[str, Any] = {g: self._group(g, point) for g in groups - {"parameter"}}
            if "t" in state:
                state["t"] = state["t"][0]
            values = model.evaluate(**state)
            rows = np.zeros((len(labels), changes["q"].shape[1]))
            for group, slope in slopes.items():
                rows += values[slope].reshape(len(labels), -1) @ self._group(group, changes)
            found.append(LinearRows(labels, rows, values[output].ravel()))
        return found

    def _group(self, group: str, arrays: Changes) -> Array:
        """Return what outputs take of a group: all that acts on joints, forces of loops only."""
        if group == "sigma":
            return arrays["sigma"][: self.loops]
        if group == "x":
            return arrays["x"][: len(self.mechanism.states)]
        return arrays["drives" if group == "tau" else group]


def _entries(rows: LinearRows, places: Sequence[int]) -> LinearRows:
    names, chosen = tuple(rows.names[k] for k in places), list(places)
    return LinearRows(names, rows.rows[chosen], rows.values[chosen])


def _is_same(a: Array, b: Array) -> bool:
    return bool(np.all(np.abs(a - b) <= SAME * (1.0 + np.max(np.abs(b), initial=0.0))))
