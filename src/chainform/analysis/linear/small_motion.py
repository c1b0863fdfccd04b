"""A small motion about a state: how all that changes follows from z and w, and how z changes.

symbol   meaning
z        displacements of independent coordinates, changes of independent rates, states of actuators
w        changes of inputs
xi       displacements of all coordinates along the rates; where no joint has a quaternion, of q
J, f     rows of loops and constraints, and their rates, which stay zero; J_h those of positions

Positions stay on the loops and holonomic constraints, rates on all of them:

    J_h xi = 0,    J dqd = - (df/dq) xi

Accelerations and multipliers follow from the exact derivatives of the equations of motion
(implicit_equations.py). A joint with a quaternion turns while it is displaced: with its velocities
v and w in its own axes, xi_v' = dv - w x xi_v - v x xi_w and xi_w' = dw - w x xi_w.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.implicit_equations import ImplicitEquations
from chainform.analysis.linear.independent_coordinates import independent_coordinates
from chainform.analysis.linear.linear_outputs import LinearOutputs, LinearRows
from chainform.analysis.linear.linear_variables import (
    Changes,
    chosen_inputs,
    displacement_names,
    rate_names,
)
from chainform.analysis.linear.state_accelerations import no_value, settle_accelerations
from chainform.formulations import coordinate_of
from chainform.mechanism import JointKind, float_of, known_values
from chainform.simulation import rest_names, whole_states

Array = NDArray[np.float64]
ROUNDING = 1e-13
ROUNDED = 4 * 2.0**-53
"""The relative error of a sum of products."""
AT_REST = 1e-9
"""An acceleration is zero where it belongs to so small a deviation from rest, rad or m."""


class SmallMotion:
    """Deviations from the state of a mechanism: what changes with z and w, and how.

    `point` has all inputs of the equations but qdd and multipliers, which follow from it.
    """

    def __init__(
        self,
        equations: ImplicitEquations,
        point: Mapping[str, Array],
        inputs: Sequence[str] | None = None,
        independent: Sequence[str] | None = None,
    ) -> None:
        self.equations = equations
        self.mechanism = equations.mechanism
        self.inputs = chosen_inputs(equations, inputs)
        self.point = dict(point)
        self.wanted, self.named = inputs, independent
        self.accelerations = settle_accelerations(equations, self.point)
        self.d = equations.derivatives(self.point)
        if not all(np.isfinite(array).all() for array in self.d.values()):
            raise no_value(self.mechanism, "derivatives")
        self.independent = independent_coordinates(
            self.mechanism,
            self.point["q"],
            self.d["rows", "qdd"][: equations.held],
            equations.holonomic,
            t=float(self.point["t"][0]),
            independent=independent,
        )
        shifts, rates = displacement_names(self.mechanism), rate_names(self.mechanism)
        self.states = (
            *(shifts[k] for k in self.independent.places),
            *(rates[k] for k in self.independent.rate_places),
            *rest_names(self.mechanism),
            *equations.control_states,
        )
        self.changes = self.all_changes()

    # --- changes with z and w -----------------------------------------------------------

    def all_changes(self) -> Changes:
        """Return how all inputs of the equations change, a column for each entry of z and w."""
        chosen, d = self.independent, self.d
        np_, nv_, n = len(chosen.places), len(chosen.rate_places), len(self.states)
        width = n + len(self.inputs)
        sizes = {**self.equations.sizes, "q": self.mechanism.nv}
        changes = {group: np.zeros((size, width)) for group, size in sizes.items()}
        changes["q"][:, :np_] = chosen.T_q
        changes["qd"][:, :np_] = chosen.following(-d["rates", "q"] @ chosen.T_q)
        changes["qd"][:, np_ : np_ + nv_] = chosen.T_v
        changes["x"][:, np_ + nv_ : n] = np.eye(sizes["x"])
        for column, (group, place, _) in enumerate(self.inputs, start=n):
            changes[group][place, column] = 1.0
        # With qdd and sigma at zero, these are the right sides of the equations for both.
        right = (-self._change("balance", changes), -self._change("rows", changes))
        changes["qdd"], changes["sigma"] = self.accelerations.solve(*right)
        return changes

    def _change(self, part: str, changes: Changes) -> Array:
        """Return how a part of the equations changes."""
        return sum(
            (self.d[part, group] @ change for group, change in changes.items()), np.zeros(())
        )

    @cached_property
    def rates(self) -> Array:
        """A and B next to each other."""
        chosen, changes = self.independent, self.changes
        shifts = changes["qd"] - self._turning() @ changes["q"]
        return np.concatenate(
            [
                shifts[list(chosen.places)],
                changes["qdd"][list(chosen.rate_places)],
                self._change("x", changes),
            ]
        )

    @cached_property
    def bounds(self) -> Array:
        """How far rounding may take the accelerations and the rates of x among the rates."""
        errors = dict.fromkeys(("balance", "rows", "x"), np.zeros(()))
        for group in ("q", "qd", "x"):
            change = np.abs(self.changes[group])
            for part, found in self.equations.bounds(self.point, group).items():
                if part in errors:
                    own = found + ROUNDED * np.abs(self.d[part, group])
                    errors[part] = errors[part] + own @ change
        # The solution for accelerations satisfies equations whose M is rounded.
        inertial = np.abs(self.accelerations.M) @ np.abs(self.changes["qdd"])
        errors["balance"] = errors["balance"] + ROUNDED * inertial
        accelerations = self.accelerations.bounds(errors["balance"], errors["rows"])
        found = np.zeros_like(self.rates)
        count, chosen = len(self.independent.places), list(self.independent.rate_places)
        found[count:] = np.concatenate([accelerations[chosen], errors["x"]])
        return found

    def _turning(self) -> Array:
        """Return the matrix with xi' = dqd - (matrix) xi: axes of quaternion joints turn."""
        mechanism, qd = self.mechanism, self.point["qd"]
        matrix = np.zeros((mechanism.nv, mechanism.nv))
        for segment in mechanism.segments:
            if segment.rate is None or not segment.joint.kind.has_quaternion:
                continue
            free, first = segment.joint.kind is JointKind.FREE, segment.rate
            turn = slice(first + 3 * free, first + 3 * free + 3)
            matrix[turn, turn] = _cross(qd[turn])
            if free:
                move = slice(first, first + 3)
                matrix[move, move] = _cross(qd[turn])
                matrix[move, turn] = _cross(qd[move])
        return matrix

    @cached_property
    def balance(self) -> tuple[Array, Array]:
        """Return M and F with M v' = F (z, w) for the independent rates v; M is symmetric."""
        chosen, changes = self.independent, {**self.changes}
        for group in ("qdd", "sigma"):
            changes[group] = np.zeros_like(changes[group])
        start = chosen.following(-self._change("rows", changes))
        force = -self._change("balance", changes) - self.accelerations.M @ start
        inertia = chosen.T_v.T @ self.accelerations.M @ chosen.T_v
        return (inertia + inertia.T) / 2, chosen.T_v.T @ force

    # --- the state itself ---------------------------------------------------------------

    @cached_property
    def left(self) -> dict[str, Array]:
        """The parts of the equations at the state."""
        return self.equations.values(self.point)

    @property
    def drift(self) -> Array:
        """z' at the state."""
        chosen, point = self.independent, self.point
        return np.concatenate(
            [
                point["qd"][list(chosen.places)],
                point["qdd"][list(chosen.rate_places)],
                self.left["x"],
            ]
        )

    @property
    def tolerance(self) -> float:
        """What rounding may leave of a drift that is zero."""
        terms = [np.abs(self.left["drives"]), np.abs(self._reactions)]
        inertia = np.linalg.eigvalsh(self.accelerations.inertia)
        force = max((float(np.max(each, initial=0.0)) for each in terms), default=0.0)
        weakest = float(np.min(np.abs(inertia), initial=np.inf))
        flow = sum(
            (np.abs(self.d["x", g]) @ np.abs(self.point[g]) for g in ("x", "u", "qd", "sigma")),
            np.zeros(()),
        )
        count = len(self.independent.places)
        slope = float(np.max(np.abs(self.rates[count:, :count]), initial=0.0)) or 1.0
        return AT_REST * min(slope, 1.0) + ROUNDING * (
            force / weakest + float(np.max(flow, initial=0.0))
        )

    @property
    def _reactions(self) -> Array:
        return self.d["rows", "qdd"].T @ self.point["sigma"]

    @property
    def whole_point(self) -> dict[str, Array]:
        """The state as a user has it: x of all states of actuators."""
        point = self.point
        rest = len(point["x"]) - len(self.equations.control_states)
        x = whole_states(self.mechanism, point["q"], point["qd"], point["x"][:rest])
        x = np.concatenate([x, point["x"][rest:]])
        return {**point, "x": x, "drives": self.left["drives"]}

    def outputs(self, texts: Sequence[str] | None) -> LinearRows:
        """Return the rows of outputs; by default the states."""
        points = [self.for_outputs()]
        shared = self.accelerations.shared
        if shared.size:
            # Other multipliers do as well: what depends on the choice is not determined.
            own = self.point["sigma"]
            other = copy(self)
            size = 1.0 + float(np.max(np.abs(own)))
            other.point = {**self.point, "sigma": own + size * shared.sum(axis=1)}
            other.d = self.equations.derivatives(other.point)
            other.changes = other.all_changes()
            points.append(other.for_outputs())
        outputs = LinearOutputs(self.equations, points)
        return outputs.of(self.states if texts is None else texts)

    def for_outputs(self) -> tuple[Changes, Changes]:
        """Return the point and the changes as outputs take them: x of all states, and drives."""
        x, drives = self._whole_changes(), self._change("drives", self.changes)
        return self.whole_point, {**self.changes, "x": x, "drives": drives}

    def _whole_changes(self) -> Array:
        """Return how all states of actuators change, those too that are q and qd; controllers'."""
        mechanism, changes = self.mechanism, self.changes
        q = np.zeros((mechanism.nq, changes["q"].shape[1]))
        for actuator in mechanism.actuators:
            q[coordinate_of(mechanism, actuator.rate)] = changes["q"][actuator.rate]
        rest = len(changes["x"]) - len(self.equations.control_states)
        # They are linear in q, qd and the rest.
        x = whole_states(mechanism, q.T, changes["qd"].T, changes["x"][:rest].T).T
        return np.concatenate([x, changes["x"][rest:]])

    def notes(self) -> tuple[str, ...]:
        """Return what one should know of the result."""
        notes = list(self.independent.notes)
        notes += [self._seam(*seam) for seam in self.equations.seams(self.point)]
        if self.depends_on_time:
            notes.append(
                f"the equations depend on time: they hold at t = {self.point['t'][0]:.6g} s"
            )
        notes += [
            f"{name} is beyond its limit, so that it has no effect here"
            for group, place, name in self.inputs
            if group == "u" and self._is_limited(place)
        ]
        return tuple(notes)

    def _seam(self, function: str, inputs: tuple[str, ...]) -> str:
        """Return how the derivative of a function was taken that has none at the state."""
        if set(inputs) == {"t"}:
            return f"a law of time changes at t = {self.point['t'][0]:.6g} s: it has its mean there"
        mechanism = self.mechanism
        words = {f"qd{k + 1}": name for k, name in enumerate(rate_names(mechanism))}
        words |= {f"q{k + 1}": name for k, name in enumerate(mechanism.coordinates)}
        words |= {f"u{k + 1}": name for k, name in enumerate(mechanism.signals)}
        states = (*rest_names(mechanism), *self.equations.control_states)
        words |= {f"x{k + 1}": name for k, name in enumerate(states)}
        what = f"{function} of {', '.join(words.get(name, name) for name in inputs)}"
        if function == "sign":
            return (
                f"{what} changes here: A has the mean of both sides of min and max, step(0) = 1, "
                "and no jump, such as that of Coulomb friction at rest"
            )
        return f"{what} has a kink here: its derivative was taken as 0, the mean of both sides"

    def _is_limited(self, place: int) -> bool:
        if self.equations.gives_signals:
            return False
        limit, known = self.mechanism.actuators[place].limit, known_values(self.mechanism)
        return limit is not None and abs(self.point["u"][place]) > float_of(limit, known)

    @property
    def depends_on_time(self) -> bool:
        """Whether the equations depend on time."""
        graph = self.equations.graph
        cone = graph.cone(graph.output_variables(["equations"]))
        return any(cone[v] and item.group == "t" for v, item in graph.inputs.items())


def _cross(w: Array) -> Array:
    """Return the matrix of w x."""
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
