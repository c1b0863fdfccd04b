"""Quantities along a motion: what a run knows itself, and any output of the equations.

Forces of contacts on points, and on the bodies that have them:

symbol   meaning
n, a, b  normal of the plane, and two directions across it
s        force of the gap and of the two tangential rows, zero for those that do not hold
c, d     cosine and sine of the angle by which the axes in the plane are turned
p, o     the point that touches, the origin of its segment

    f = n s_n + a (c s_a - d s_b) + b (c s_b + d s_a)          a rigid contact
    f = n k d max(0, 1 + c d')         a stiff one at the depth d

in the axes of the plane, those of the world or of the base; in world axes
    moment about o = (p - o) x f
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.given import argument
from chainform.graph import Builder
from chainform.mechanism import IDENTITY, ZERO_VECTOR, Attachment, Mechanism
from chainform.model import Model, output_of
from chainform.pipeline import available_outputs, derive
from chainform.simulation.equations.builder import RowCounts
from chainform.simulation.equations.contact.laws import (
    Barrier,
    Barriers,
    GapContext,
    PointContact,
    directions,
    without_loops,
)
from chainform.simulation.equations.efforts import Efforts
from chainform.simulation.equations.evaluate import values_along
from chainform.simulation.equations.inputs import inputs_along
from chainform.simulation.equations.motion_laws import motion_name
from chainform.simulation.files.about import About
from chainform.simulation.files.run_record import PUSHES
from chainform.simulation.machine.machine import Machine

Array = NDArray[np.float64]
OF_RUN = (
    *("energy", "kinetic_energy", "potential_energy", "work", "losses", "balance"),
    *("t", "q", "qd", "qdd", "tau", "drives", "x", "u", "multipliers", "sigma", "reactions"),
)
"""What a run has itself."""
AT_ONCE = 10_000
"""How many states are computed at once, so that a long run does not need much more memory."""


def check_output(mechanism: Mechanism, name: str) -> None:
    """Raise RunError where a run of a mechanism could not have an output.

    Which forces push is known after the motion only.
    """
    if name in OF_RUN or name.partition("(")[0] in PUSHES:
        return
    with output_errors(mechanism, name):
        derive(mechanism, [output_of(name)])


@contextmanager
def output_errors(mechanism: Mechanism, name: str) -> Generator[None]:
    """Let errors of a quantity name it, and tell what there is."""
    try:
        yield
    except Error as problem:
        raise _unknown(mechanism, name, problem) from problem


def outputs_along(
    mechanism: Mechanism,
    about: About,
    names: Sequence[str],
    states_of: Callable[[str], Array | None],
    wrenches: Mapping[str, Array],
) -> dict[str, Array]:
    """Return outputs of the equations at all times, each (m, ...).

    `states_of` gives a group of inputs along the motion, None where it is not known; `wrenches` are
    those of contacts.
    """
    opened, without = without_loops(mechanism, about.opened), about.without
    model = derive(opened, names, without=without, wrenches=list(wrenches))
    groups = {item.group for item in model.graph.inputs.values()} - {"parameter"}
    states: dict[str, Array] = {}
    for group in sorted((groups - {"wrench"}) | {"q", "t"}):
        value = states_of(group)
        if value is None:
            raise RunError(
                f"{group} is not known along a motion",
                element=", ".join(names),
                remedy="ask for outputs that do not depend on it",
            )
        states[group] = value
    if "wrench" in groups:
        states["wrench"] = np.concatenate(list(wrenches.values()), axis=1)
    values = evaluated(model, states)
    # A single one may be written in another way than the model has it: jacobian(tool, local).
    return values if len(names) > 1 else {names[0]: values[model.outputs[0]]}


def evaluated(
    model: Model,
    states: Mapping[str, Array],
    values: Mapping[str, float] | None = None,
    outputs: Sequence[str] | None = None,
) -> dict[str, Array]:
    """Return outputs of a model for many states, some of them at a time."""
    names, count = outputs or model.outputs, len(states["t"])
    parts: dict[str, list[Array]] = {name: [] for name in names}
    for first in range(0, max(1, count), AT_ONCE):
        some: dict[str, Any] = {group: a[first : first + AT_ONCE] for group, a in states.items()}
        for name, value in model.evaluate(**some, values=values, outputs=names).items():
            shape = (len(some["t"]), *model.graph.outputs[name].shape)
            # What does not depend on the state comes without a row for each.
            parts[name].append(value if value.shape == shape else np.broadcast_to(value, shape))
    return {name: np.concatenate(part) for name, part in parts.items()}


def _unknown(mechanism: Mechanism, name: str, problem: Error) -> Error:
    if not problem.message.startswith("there is no output"):
        return RunError(problem.message, element=name, remedy=problem.remedy)
    known = [*OF_RUN, *available_outputs(mechanism)]
    every = f"there are {', '.join(dict.fromkeys(known))}, and those of frames as pose(tool)"
    return argument("outputs", name).unknown("output", known, every)


# --- forces of constraints and contacts -------------------------------------------------------


@dataclass(frozen=True)
class ConstrainedStates:
    """The machine of a motion with constraints, and the states that it went through.

    `y` are whole states, `given` the numbers of p from tau on that were put out with each.
    """

    machine: Machine
    t: Array
    y: Array
    given: Array

    def followed_by(self, other: ConstrainedStates) -> ConstrainedStates:
        """Return both motions as one; the machine is that of the other one."""
        arrays = ((getattr(self, n), getattr(other, n)) for n in ("t", "y", "given"))
        return ConstrainedStates(other.machine, *map(np.concatenate, arrays))

    @property
    def qdd(self) -> Array:
        """The accelerations, (m, nv)."""
        return self._found[0]

    @property
    def multipliers(self) -> Array:
        """The forces of all rows of constraints, zero for those that did not hold, (m, rows)."""
        return self._found[1]

    @property
    def drives(self) -> Array:
        """What actuators put on their joints, and tau where there are none, (m, nv)."""
        sizes, layout = self.machine.equations, self.machine.layout
        qdd, multipliers, given = self._found
        first = layout.place("tau")
        parts = {"tau": ("tau",), "u": ("signals", "controls"), "force": ("modes",)}
        columns = {
            group: given[:, layout.place(own[0]) - first :][:, : sum(map(layout.length, own))]
            for group, own in parts.items()
        }
        q, qd, x = np.split(self.y, [sizes.nq, sizes.nq + sizes.nv], axis=1)
        columns |= {"t": self.t, "q": q, "qd": qd, "x": x, "qdd": qdd, "sigma": multipliers}
        return values_along(sizes.graph, "drives", columns)

    @cached_property
    def _found(self) -> tuple[Array, Array, Array]:
        machine, sizes = self.machine, self.machine.equations
        p, first = machine.layout.fresh(), machine.layout.place("tau")
        mask = machine.layout.part(p, "mask")
        forces = machine.layout.part(p, "multipliers")
        acting = p[first : machine.layout.place("slack")]
        qdd, multipliers = np.zeros((len(self.t), sizes.nv)), np.zeros((len(self.t), sizes.rows))
        inputs = np.zeros((len(self.t), len(acting)))
        for k, (t, y, given) in enumerate(zip(self.t, self.y, self.given, strict=True)):
            p[first : first + len(given)] = given
            qdd[k] = machine.rate(float(t), y, p)[sizes.nq : sizes.nq + sizes.nv]
            multipliers[k] = forces if np.any(mask) else 0.0
            inputs[k] = acting
        return qdd, multipliers, inputs


def loads_along(
    mechanism: Mechanism,
    barriers: Barriers,
    row_counts: RowCounts,
    states: Mapping[str, Array],
    multipliers: Array,
    modes: Array,
) -> dict[str, Array]:
    """Return the whole force of the ground on each point that can touch it, world axes, (m, 3).

    `multipliers` are the forces of all rows, `modes` the numbers that enter the equations with the
    state of affairs (`RowCounts.given`).
    """
    loads: dict[str, Array] = {}
    for i, barrier in enumerate(barriers.rigid):
        if isinstance(barrier, PointContact):
            normal, across, along = np.array(directions(barrier.normal), dtype=np.float64)
            loads[barrier.name] = multipliers[:, [row_counts.always + i]] * normal
            if barrier.friction:
                cosine, sine = modes[:, row_counts.sticking + row_counts.tangential + 3 * i :].T[:2]
                x, y = multipliers[:, row_counts.first_tangential + 2 * i :].T[:2]
                loads[barrier.name] += np.outer(cosine * x - sine * y, across)
                loads[barrier.name] += np.outer(sine * x + cosine * y, along)
    for barrier in barriers.stiff:
        if isinstance(barrier, PointContact):
            normal = np.array(barrier.normal, dtype=np.float64)
            loads[barrier.name] = push_along(mechanism, barrier, states)[:, None] * normal
    for barrier in (*barriers.rigid, *barriers.stiff):
        if isinstance(barrier, PointContact) and barrier.is_on_base:
            turns = _turns(mechanism, states)
            loads[barrier.name] = np.einsum("mij,mj->mi", turns, loads[barrier.name])
    return loads


def _turns(mechanism: Mechanism, states: Mapping[str, Array]) -> Array:
    """Return the rotation of the base, its axes to those of the world, (m, 3, 3)."""
    builder = Builder()
    rotation = GapContext(builder, mechanism).places.world.base.rotation
    entries = [(f"R{i}{k}", builder.number(0) + rotation[i][k]) for i in range(3) for k in range(3)]
    builder.output("turn", (3, 3), entries)
    return values_along(builder.finish(), "turn", states).reshape(-1, 3, 3)


def wrenches_along(
    mechanism: Mechanism,
    barriers: Barriers,
    states: Mapping[str, Array],
    loads: Mapping[str, Array],
) -> dict[str, Array]:
    """Return force and moment about the origin of each segment that touches, by name, (m, 6)."""
    wrenches: dict[str, Array] = {}
    for barrier in (*barriers.rigid, *barriers.stiff):
        if isinstance(barrier, PointContact) and barrier.place.segment >= 0:
            segment, load = mechanism.segments[barrier.place.segment], loads[barrier.name]
            arm = _arm(mechanism, barrier.place, states)
            wrench = np.concatenate([load, np.cross(arm, load)], axis=1)
            wrenches[segment.name] = wrenches.get(segment.name, 0.0) + wrench
    return wrenches


def pushes_along(
    mechanism: Mechanism, barriers: Barriers, motion: ConstrainedStates, states: Mapping[str, Array]
) -> dict[str, Array]:
    """Return the push of every stop and contact by name, N or N m, (m,) each."""
    rows = motion.multipliers.T[motion.machine.equations.row_counts.always :]
    rigid = {barrier.name: rows[i] for i, barrier in enumerate(barriers.rigid)}
    return rigid | {b.name: push_along(mechanism, b, states) for b in barriers.stiff}


def friction_along(barriers: Barriers, motion: ConstrainedStates, modes: Array) -> dict[str, Array]:
    """Return the dry friction of joints by name, N or N m, (m,) each."""
    row_counts = motion.machine.equations.row_counts
    stuck = motion.multipliers.T[row_counts.first_sticking :]
    ways = modes.T[row_counts.rows :]
    return {joint.name: stuck[i] - ways[i] * joint.sliding for i, joint in enumerate(barriers.dry)}


def motion_forces_along(motion: ConstrainedStates) -> dict[str, Array]:
    """Return the force of every prescribed motion by coordinate, N or N m, (m,) each."""
    mechanism = motion.machine.equations.mechanism
    first = sum(loop.equations for loop in mechanism.loops)
    names = [c.name for c in mechanism.constraints if c.kind != "unilateral"]
    rows = {motion_name(name): first + k for k, name in enumerate(names) if motion_name(name)}
    return {name: motion.multipliers[:, row] for name, row in rows.items()}


def push_along(mechanism: Mechanism, barrier: Barrier, states: Mapping[str, Array]) -> Array:
    """Return the push of a stiff stop or contact, (m,)."""
    builder = Builder()
    context = GapContext(builder, mechanism)
    row = context.laws.holonomic(barrier.residuals(context)[0])
    builder.output("gap", (2,), [("gap", row.value), ("rate", row.rate)])
    gap, rate = values_along(builder.finish(), "gap", states).T
    contact_law = barrier.contact_law
    depth = (contact_law.stiffness or 0.0) * np.maximum(-gap, 0.0)
    return depth * np.maximum(1.0 - contact_law.damping * rate, 0.0)


def _arm(mechanism: Mechanism, place: Attachment, states: Mapping[str, Array]) -> Array:
    """Return where a point is, from the origin of its segment, in world axes, (m, 3)."""
    builder = Builder()
    places = GapContext(builder, mechanism).places
    point = places.place_of(place)
    origin = places.place_of(Attachment(place.segment, ZERO_VECTOR, IDENTITY))
    arm = [(name, p - o) for name, p, o in zip("xyz", point, origin, strict=True)]
    builder.output("arm", (3,), arm)
    return values_along(builder.finish(), "arm", states)


# --- rows of output ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """What stands in the rows of one motion; `has_balance` tells whether work and losses do."""

    machine: Machine
    efforts: Efforts
    is_held: bool
    has_balance: bool
    controlled: tuple[int, ...] = ()
    """Where results of sampled controllers act, among all efforts and then all signals."""

    def of(self, t: Array, rows: Array) -> dict[str, Any]:
        """Return the fields of a Run that rows (m, k) at times (m,) give."""
        sizes = self.machine.equations
        q, qd, x, tail = np.split(rows, np.cumsum([sizes.nq, sizes.nv, sizes.nx]), axis=1)
        states = rows[:, : sizes.size]
        if self.is_held:
            acting = tail[:, : sizes.nv + sizes.nu].copy()
        else:
            acting = inputs_along(sizes, self.efforts, t, states)
        sampled = tail[:, sizes.nv + sizes.nu :]
        for k, place in enumerate(self.controlled):
            acting[:, place] += sampled[:, k]
        # The bare equations of motion do not know what constrains, drives and pushes here.
        is_simple = not (sizes.rows or sizes.nu or sizes.row_counts.watched)
        after = None if is_simple else ConstrainedStates(self.machine, t, states, tail)
        return {
            "q": q,
            "qd": qd,
            "tau": acting[:, : sizes.nv],
            "energy_balance": x[:, sizes.nx - sizes.balance_states :] if self.has_balance else None,
            "modes": sampled[:, sizes.controls :],
            "constrained": after,
            "extra_states": x[:, : sizes.nx - sizes.balance_states - sizes.impulses],
            "u": acting[:, sizes.nv :],
        }
