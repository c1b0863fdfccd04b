"""Steady motions along a parameter, each found by Newton's method from the one before.

The equations are derived once, with the parameter left free. Entries of the state may be
expressions of it: qd={"rear": "-v/0.3"}. Rates stay as they are given; coordinates, and states of
actuators and controllers, become those in which no rate changes:

    (dF/dxi) step + (dF/dx) step = -F        F: accelerations and rates of x; least norm

Where a coordinate is cyclic there are many such poses, and the nearest is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.static_problem import with_parameter
from chainform.analysis.linear.acting_laws import acting_laws
from chainform.analysis.linear.implicit_equations import ImplicitEquations
from chainform.analysis.linear.linear_variables import operating_point, own_words
from chainform.analysis.linear.linearisation import ActingValues, equations_of
from chainform.analysis.linear.small_motion import SmallMotion
from chainform.analysis.results.displacement import displaced
from chainform.errors import RunError
from chainform.expressions import parse, symbols_of
from chainform.given import argument
from chainform.mechanism import (
    Mechanism,
    automatic_parameters,
    number_of,
    parametrise,
    reader_of,
)
from chainform.simulation import (
    assemble,
    check_known,
    initial_state,
    parameters_of,
    rest_names,
    without_values,
)

Array = NDArray[np.float64]
STEPS = 25
"""The most steps of Newton's method."""
LONGEST = 0.5
"""Its longest step, rad or m."""
EXACT = 1e-13
"""A drift that is smaller is not improved."""
RANK = 1e-10
BENT, SMALL = 0.5, 1e-6
"""How far all steps may end from the first one, as a share of it, rad and m."""
HALVES = 12
"""How often a part of the way is halved at most."""


class ParameterMotions:
    """The steady motions of a mechanism along a parameter."""

    def __init__(
        self,
        source: Mechanism,
        name: str,
        span: tuple[float, float],
        acting: ActingValues,
        state: Mapping[str, Any],
    ) -> None:
        self.name, self.state = name, dict(state)
        self.values: dict[str, Any] = argument("values", acting.values or {}).table().value
        given = (acting.forces, acting.signals, acting.controllers, list(state.values()))
        self.mechanism = with_parameter(source, name, given, acting.values, span)
        declared = [p.name for p in source.parameters]
        is_own = name in declared or name in automatic_parameters(source)
        self.fixed = None if is_own else parameters_of(source, acting.values).mechanism
        """The mechanism, where only laws or the state have the parameter."""
        self.depends = {group for group, table in state.items() if _names(table, name)}
        self.equations = free_equations(without_values(self.mechanism, [name]), [name], acting)

    def at(
        self, value: float, near: SmallMotion | None = None, halves: int = HALVES
    ) -> SmallMotion:
        """Return the steady motion with a value of the parameter, near another one.

        Where it is not simply ahead of that one, the way is taken in smaller parts.
        """
        found = self._ahead(value, near)
        if found is not None:
            return found
        if near is None or not halves:
            raise self._nothing(value, near)
        middle = self.at((near.equations.given[self.name] + value) / 2, near, halves - 1)
        return self.at(value, middle, halves - 1)

    def _nothing(self, value: float, near: SmallMotion | None) -> RunError:
        message = f"no equilibrium and no steady motion was found at {self.name} = {value:.10g}"
        remedy = "give a state nearer to one; chainform.equilibria finds equilibria"
        if near is not None:
            message += f", after that at {near.equations.given[self.name]:.10g}"
            remedy = "take a smaller span; equilibrium_path follows equilibria over folds"
        file = self.mechanism.file
        return RunError(message, file=file, element="span" if near else "state", remedy=remedy)

    def _ahead(self, value: float, near: SmallMotion | None) -> SmallMotion | None:
        """Return the steady motion by Newton's method; None where it is not near the first step."""
        valued = with_value(self.mechanism, self.name, value)
        state = {group: _numbers(valued, group, table) for group, table in self.state.items()}
        moving = self.fixed
        if moving is None:
            moving = parameters_of(self.mechanism, {**self.values, self.name: value}).mechanism
        names = None if near is None else near.independent.in_order
        if near is not None and "q" not in self.depends:
            state["q"] = _closed(moving, near.point["q"], names or (), near.point["t"])
        if near is not None and "x" not in self.depends:
            state["x"] = _states(near)
        equations = self.equations.with_values(moving, {self.name: value})
        try:
            motion = SmallMotion(equations, operating_point(equations, state), independent=names)
        except RunError:
            # Near a dead centre other coordinates are independent.
            motion = SmallMotion(equations, operating_point(equations, state))
        search = _Search(motion, state)
        is_near = near is None or bool(self.depends & {"q", "x"})
        return search.motion if search.succeeds() and (is_near or search.is_straight) else None


def free_equations(
    mechanism: Mechanism,
    names: Sequence[str],
    acting: ActingValues,
    wrenches: tuple[str, ...] = (),
) -> ImplicitEquations:
    """Return the equations of a mechanism in which the named parameters have no value."""
    settled = replace(parametrise(mechanism, "numeric"), parameters=mechanism.parameters)
    laws = acting_laws(settled, acting.forces, acting.signals, acting.controllers)
    equations = equations_of(settled, wrenches, laws)
    check_known(equations.graph, names)
    return equations


def nearest_state(motion: SmallMotion, state: Mapping[str, Any]) -> dict[str, Array]:
    """Return the state of the steady motion near another one; that one where none is found."""
    search = _Search(motion, dict(state))
    return search.motion.point if search.succeeds() else motion.point


class _Search:
    """Newton's method for a steady motion with one value of the parameter."""

    def __init__(self, motion: SmallMotion, state: dict[str, Any]) -> None:
        self.motion, self.state = motion, state
        self.first: Array | None = None
        self.total: Array = np.zeros(1)

    @property
    def left(self) -> float:
        """The largest drift, but for that of coordinates."""
        drift = self.motion.drift[len(self.motion.independent.places) :]
        return float(np.max(np.abs(drift), initial=0.0))

    @property
    def is_straight(self) -> bool:
        """Whether all steps together are about the first one, which is along the path."""
        if self.first is None or self.first.shape != self.total.shape:
            return self.first is None
        size = float(np.linalg.norm(self.first))
        return float(np.linalg.norm(self.total - self.first)) <= BENT * size + SMALL

    def succeeds(self) -> bool:
        """Go on to the steady motion; tell whether there is one."""
        best = np.inf
        for _ in range(STEPS):
            before, left = self.motion, self.left
            is_steady = left <= before.tolerance
            if left <= EXACT or (is_steady and left > best / 10):
                return True
            best = left
            if not self._step():
                return is_steady
            if is_steady and self.left > left:
                self.motion = before
                return True
        return False

    def _step(self) -> bool:
        """Take a step; tell whether there is one."""
        motion = self.motion
        places, n = len(motion.independent.places), len(motion.states)
        columns = [*range(places), *range(n - len(motion.point["x"]), n)]
        J = motion.rates[places:, columns]
        if not np.isfinite(J).all():
            return False
        whole = np.linalg.lstsq(J, -motion.drift[places:], rcond=RANK)[0]
        largest = float(np.max(np.abs(whole[:places]), initial=0.0))
        step = np.asarray(whole * min(1.0, LONGEST / max(largest, LONGEST)), np.float64)
        if self.first is None:
            self.first, self.total = np.asarray(whole, np.float64), np.zeros(len(whole))
        xi = np.asarray(motion.independent.T_q @ step[:places], np.float64)
        names, equations = motion.independent.in_order, motion.equations
        q = displaced(motion.mechanism, motion.point["q"][None], xi[None])[0]
        try:
            self.state["q"] = _closed(motion.mechanism, q, names, motion.point["t"])
            self.state["x"] = _states(motion, step[places:])
            point = operating_point(equations, self.state)
            self.motion = SmallMotion(equations, point, independent=names)
        except RunError:
            return False
        self.total = self.total + step
        return True


def with_value(mechanism: Mechanism, name: str, value: float) -> Mechanism:
    """Return a mechanism with another value of a parameter."""
    exact = cast("Fraction", number_of(value))
    parameters = (replace(p, value=exact) if p.name == name else p for p in mechanism.parameters)
    return replace(mechanism, parameters=tuple(parameters))


def closed_state(
    equations: ImplicitEquations, state: Mapping[str, Any], independent: Sequence[str] | None
) -> dict[str, Any]:
    """Return a state whose pose closes loops, where all coordinates are given."""
    own, mechanism = dict(state), equations.mechanism
    if own.get("q") is not None and not isinstance(own["q"], Mapping):
        with own_words():
            q = initial_state(mechanism, own["q"], None)[: mechanism.nq]
        t = np.array([argument("t", own.get("t") or 0.0).number()])
        own["q"] = _closed(mechanism, q, independent or (), t)
    return own


# --- states -----------------------------------------------------------------------------------


def _closed(mechanism: Mechanism, q: Array, names: Sequence[str], t: Array) -> Array:
    """Return a pose near by in which loops hold, the independent coordinates as they are."""
    if not (mechanism.loops or mechanism.constraints):
        return q
    try:
        return assemble(mechanism, q, names, t=float(t[0]))
    except RunError:
        return assemble(mechanism, q, t=float(t[0]))


def _states(motion: SmallMotion, step: Array | None = None) -> dict[str, float]:
    """Return states of actuators and controllers by name, after a step."""
    names = (*rest_names(motion.mechanism), *motion.equations.control_states)
    x = motion.point["x"] if step is None else motion.point["x"] + step
    return dict(zip(names, x.tolist(), strict=True))


def _numbers(mechanism: Mechanism, group: str, given: Any) -> Any:
    """Return a part of a state with numbers in place of expressions of parameters."""
    if isinstance(given, str):
        return float(reader_of(mechanism).fraction(argument(group, given)))
    if isinstance(given, Mapping):
        table = cast("Mapping[str, Any]", given)
        return {name: _numbers(mechanism, f"{group}, {name}", x) for name, x in table.items()}
    if isinstance(given, list | tuple):
        return [_numbers(mechanism, group, entry) for entry in cast("list[Any]", given)]
    return given


def _names(given: Any, name: str) -> bool:
    """Whether expressions in a part of a state name a parameter."""
    if isinstance(given, str):
        return name in symbols_of(parse(given))
    if isinstance(given, Mapping):
        given = list(cast("Mapping[str, Any]", given).values())
    return isinstance(given, list | tuple) and any(
        _names(entry, name) for entry in cast("list[Any]", given)
    )
