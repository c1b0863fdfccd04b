"""Semi-implicit Euler with a fixed step, the usual method of physics engines.

Rates of joints with quaternions are in body axes, in which a body accelerates though no force acts
on it: v' = -w x v, I w' = -w x I w. Explicit steps of these would feed energy into it. Therefore

- a free joint is stepped by the mass centre x of all that it carries, in the axes of the ground:
  x'(t + h) = x' + h x'' and x(t + h) = x + h x'(t + h). Its position and its velocity follow. So
  the linear momentum of bodies without forces stays, whatever they do to each other;
- an angular velocity is stepped linearly implicitly in the gyroscopic moment of what the joint
  carries, which is taken as rigid: (I + h/2 G)(w(t + h) - w) = h I w', G u = w x I u - I w x u,
  where I is the inertia about the mass centre, or about a spherical joint. For one rigid body this
  is Kahan's method, whose energy and momentum do not drift;
- a quaternion is multiplied by that of the turn h w(t + h).

    qd(t + h) = qd + h qdd(t, q, qd)
    q(t + h)  = q + h dq/dt(q, qd(t + h))

One evaluation a step, of order 1. Vibrations do not grow as with Euler's explicit method: where the
inertia does not change with the pose it is symplectic. What a step makes of joints with quaternions
is part of the kernel `stepped`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from chainform.errors import RunError
from chainform.formulations import ConstraintLaws, WorldColumns
from chainform.graph import Builder, Graph, Scalar, Tangents, include
from chainform.mechanism import (
    AT_REST,
    IDENTITY,
    ZERO_VECTOR,
    Frame,
    JointKind,
    Mechanism,
    refuse_moments,
)
from chainform.runtime import Floats, Number, fmin
from chainform.simulation.equations.builder import EquationBuilder, Equations
from chainform.simulation.equations.evaluate import values_along
from chainform.simulation.machine.machine import CompiledLoop
from chainform.simulation.machine.method import FIXED, Method
from chainform.simulation.machine.records import TimeStep
from chainform.simulation.solvers.adaptive import PROCEDURES
from chainform.simulation.solvers.explicit import EULER
from chainform.simulation.solvers.integrator import Integrator
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    apply_transposed,
    cross,
    dot,
    matrix,
    product,
    scale,
    subtract,
    transpose,
)

ROWS = 3
"""The first stage; accelerations, and the coordinates and rates after a step."""


def stepped(t: Floats, y: Floats, p: Floats, out: Floats) -> None:
    """Stand for q and qd after a step, given both before it.

    Behind the time stands the length of the step, and before the result stand the accelerations.
    """


def semi_implicit_step(step: TimeStep, h: Number, new: Floats) -> int:
    """Make a step of length h from the start of a step into `new`; the first stage is there."""
    nq = step.coordinates
    nv = step.rates
    size = step.size
    y = step.y
    k = step.k
    clock = step.clock
    accelerations = k[size:]
    for e in range(nv):
        accelerations[e] = k[nq + e]
    after = k[size + nv :]
    clock[0] = fmin(step.t + h, step.latest)
    clock[1] = h
    stepped(clock, y, step.p, after)
    for e in range(nq + nv):
        new[e] = after[e]
    for e in range(nq + nv, size):
        new[e] = y[e] + h * k[e]
    return 0


# --- equations of a step ----------------------------------------------------------------------


HALF = Fraction(1, 2)
SLENDER = 1e-9
"""A thin rod has a smaller share of its largest moment of inertia about its axis."""


def _variables(v: Vector) -> Vector:
    """Make the components of a vector variables of its graph."""
    x, y, z = (entry.builder.keep(entry) for entry in v)
    return (x, y, z)


class CarriedBodies:
    """What a joint with a quaternion carries, as a graph of q, qd and qdd, in ground axes.

    | output          | meaning                                                   |
    |-----------------|-----------------------------------------------------------|
    | inertia         | about the mass centre, or a spherical joint; body axes    |
    | place, speed    | mass centre of what a free joint carries; its velocity    |
    | thrust          | its acceleration                                          |
    | along_p, along_v| what a unit of position and of velocity adds to the first |
    """

    def __init__(self, mechanism: Mechanism, joint: int) -> None:
        remedy = "give mass and mass centre, or choose another method"
        refuse_moments(mechanism, "this method", remedy, RunError)
        self.mechanism = replace(mechanism, base=AT_REST)
        segment = mechanism.segments[joint]
        assert segment.coordinate is not None
        assert segment.rate is not None
        self.joint, self.is_free = joint, segment.joint.kind is JointKind.FREE
        self.coordinate, self.rate = segment.coordinate, segment.rate
        self.builder = Builder()
        self.world = WorldColumns(self.builder, self.mechanism).world
        self.number = self.world.skeleton.kinematics.number
        self.bodies = [
            (j, Frame("", j, part.body.com, IDENTITY))
            for j, part in enumerate(mechanism.segments)
            if self._carries(j) and not part.body.is_massless
        ]
        self.graph = self._graph()

    def is_solid(self, free: Collection[str]) -> bool:
        """Tell whether it resists turning about all axes in the zero pose.

        Where the inertia depends on `free` parameters nothing is known, and it is taken to do so.
        """
        needed = self.graph.cone(self.graph.output_variables(["inertia"]))
        if any(item.name in free for v, item in self.graph.inputs.items() if needed[v]):
            return True
        pose = {"t": np.zeros(1), "q": self.mechanism.neutral()[None]}
        inertia = values_along(self.graph, "inertia", pose)
        moments = np.linalg.eigvalsh(inertia.reshape(3, 3))
        return bool(moments[0] > SLENDER * moments[-1])

    def _carries(self, segment: int) -> bool:
        """Tell whether the joint carries a segment, and not by way of another free joint."""
        path = self.mechanism.path_to(segment)
        if self.joint not in path:
            return False
        beyond = path[path.index(self.joint) + 1 :]
        kinds = (self.mechanism.segments[j].joint.kind for j in beyond)
        return JointKind.FREE not in kinds

    def _graph(self) -> Graph:
        mass = self.builder.number(0)
        for j, _ in self.bodies:
            mass = mass + self.number(self.mechanism.segments[j].body.mass)
        about = self.world.frame_origin(Frame("", self.joint, ZERO_VECTOR, IDENTITY))
        if self.is_free:
            centre = self._centre(about, mass)
            self._declare_course(centre)
            about = centre
        self._declare("inertia", [x for row in self._inertia(about) for x in row])
        return self.builder.finish()

    def _centre(self, origin: Vector, mass: Scalar) -> Vector:
        """Return the mass centre; the origin of the joint where there is no mass."""
        if mass.is_number and not mass.number:
            return origin
        total: Vector = self.world.none
        for j, frame in self.bodies:
            share = self.number(self.mechanism.segments[j].body.mass)
            total = add(total, scale(share, self.world.frame_origin(frame)))
        return _variables(scale(1 / mass, total))

    def _declare_course(self, place: Vector) -> None:
        """Declare the motion of the mass centre, and what the joint adds to it."""
        laws, builder = ConstraintLaws(self.builder, self.mechanism), self.builder
        q, n = self.world.skeleton.kinematics.q, self.mechanism.nv
        rates = {builder.variable_of(q(i)): v for i, v in laws.coordinate_rates().items()}
        extra = {builder.variable_of(q(i, "qd")): q(i, "qdd") for i in range(n)}
        speed = [builder.keep(Tangents(builder, rates).of(x)) for x in place]
        along = Tangents(builder, rates | extra)
        one = builder.number(1)
        self._declare("place", list(place))
        self._declare("speed", speed)
        self._declare("thrust", [along.of(v) for v in speed])
        for name, group, first, values in (
            ("along_p", "q", self.coordinate, place),
            ("along_v", "qd", self.rate, speed),
        ):
            moving = [{builder.variable_of(q(first + k, group)): one} for k in range(3)]
            columns = [Tangents(builder, direction) for direction in moving]
            self._declare(name, [column.of(value) for value in values for column in columns])

    def _inertia(self, about: Vector) -> Matrix:
        """Return the inertia about a point, in the axes of the joint's own body."""
        zero = self.builder.number(0)
        total = matrix(lambda _i, _k: zero)
        axes = self.world.frame_rotation(Frame("", self.joint, ZERO_VECTOR, IDENTITY))
        for j, frame in self.bodies:
            body = self.mechanism.segments[j].body
            own = matrix(lambda i, k, body=body: self.number(body.inertia[i][k]))
            turn: Matrix = IDENTITY
            if j != self.joint:
                turn = product(transpose(axes), self.world.frame_rotation(frame))
            arm = apply_transposed(axes, subtract(self.world.frame_origin(frame), about))
            arm, mass = _variables(arm), self.number(body.mass)
            turned, square = product(product(turn, own), transpose(turn)), dot(arm, arm)
            total = matrix(
                lambda i, k, m=mass, r=arm, s=square, now=turned, all_=total: (
                    all_[i][k] + now[i][k] + m * ((s if i == k else 0) - r[i] * r[k])
                )
            )
        keep = self.builder.keep
        return matrix(lambda i, k: keep(total[i][k]))

    def _declare(self, name: str, values: Sequence[Scalar]) -> None:
        entries = [(f"{name}_{i + 1}", value) for i, value in enumerate(values)]
        self.builder.output(name, (len(entries),), entries)


class StateAfter:
    """Coordinates and rates after a step, as scalars of the equations that are being built."""

    def __init__(self, builder: EquationBuilder) -> None:
        self.builder, self.keep = builder, builder.builder.keep
        # Behind the time; no parameter can have such a name.
        self.h = builder.builder.input("step.length", "t", 1)
        self.old = {
            f"{group}{i + 1}": builder.input(group, i)
            for group, count in (("q", builder.mechanism.nq), ("qd", builder.mechanism.nv))
            for i in range(count)
        }
        self.new: dict[str, Scalar] = {}
        given = builder.model.graph.inputs.values()
        self.free = {item.name for item in given if item.group == "parameter"}

    def declare(self) -> None:
        """Declare `stepped`: q, then qd, after the step."""
        mechanism = self.builder.mechanism
        loads = [
            CarriedBodies(mechanism, j)
            for j, segment in enumerate(mechanism.segments)
            if segment.coordinate is not None and segment.joint.kind.has_quaternion
        ]
        for i in range(mechanism.nv):
            rate = self.old[f"qd{i + 1}"] + self.h * self.builder.input("qdd", i)
            self.new[f"qd{i + 1}"] = self.keep(rate)
        for load in loads:
            self._turn(load)
            self._multiply(load)
        self._move()
        for load in loads:
            if load.is_free:
                self._carry(load)
        names = [f"q{i + 1}" for i in range(mechanism.nq)]
        names += [f"qd{i + 1}" for i in range(mechanism.nv)]
        self.builder.declare("stepped", [self.new[name] for name in names])

    def _part(self, values: Mapping[str, Scalar], group: str, first: int) -> Vector:
        x, y, z = (values[f"{group}{first + k + 1}"] for k in range(3))
        return (x, y, z)

    def _put(self, group: str, first: int, values: Sequence[Scalar]) -> None:
        for k, value in enumerate(values):
            self.new[f"{group}{first + k + 1}"] = self.keep(value)

    def _outputs(
        self, load: CarriedBodies, values: Mapping[str, Scalar], *names: str
    ) -> list[tuple[Scalar, ...]]:
        """Return what a load is at given coordinates and rates, and present accelerations."""
        parameter = self.builder.kinematics.parameter
        inputs = [item for item in load.graph.inputs.values() if item.group == "parameter"]
        given = {item.name: parameter(item.name) for item in inputs}
        found = include(self.builder.builder, load.graph, {**given, **values}, names)
        return [found[name] for name in names]

    def _turn(self, load: CarriedBodies) -> None:
        """Step the angular velocity of a joint, unless it carries but a thin rod."""
        if not load.bodies or not load.is_solid(self.free):
            return
        first = load.rate + 3 * load.is_free
        w = self._part(self.old, "qd", first)
        x, y, z = (self.h * self.builder.input("qdd", first + k) for k in range(3))
        (entries,) = self._outputs(load, self.old, "inertia")
        inertia = matrix(lambda i, k: entries[3 * i + k])
        spin = _variables(apply(inertia, w))
        moment = _variables(apply(inertia, _variables((x, y, z))))
        columns: list[Vector] = []
        for k in range(3):
            column = (inertia[0][k], inertia[1][k], inertia[2][k])
            bent = subtract(cross(w, column), cross(spin, IDENTITY[k]))
            columns.append(_variables(add(column, scale(self.keep(HALF * self.h), bent))))
        self._put("qd", first, add(w, self._solved(columns, moment)))

    def _solved(self, columns: Sequence[Vector], right: Vector) -> Vector:
        """Return the solution of three equations, by Cramer's rule."""
        others = [_variables(cross(columns[k - 2], columns[k - 1])) for k in range(3)]
        inverse = self.builder.builder.call("reciprocal", dot(columns[0], others[0]))
        x, y, z = (self.keep(dot(right, other)) * inverse for other in others)
        return (x, y, z)

    def _move(self) -> None:
        """Step the coordinates, but for the positions of free joints."""
        mechanism = self.builder.mechanism
        pairs = {
            s.coordinate: s.rate
            for s in mechanism.segments
            if s.coordinate is not None and not s.joint.kind.has_quaternion
        }
        for place, rate in pairs.items() if mechanism.segments else enumerate(range(mechanism.nv)):
            assert rate is not None
            moved = self.old[f"q{place + 1}"] + self.h * self.new[f"qd{rate + 1}"]
            self.new[f"q{place + 1}"] = self.keep(moved)

    def _multiply(self, load: CarriedBodies) -> None:
        """Multiply a quaternion (u, s) by that of the new angular velocity."""
        first, turning = load.coordinate + 3 * load.is_free, load.rate + 3 * load.is_free
        u, s = self._part(self.old, "q", first), self.old[f"q{first + 4}"]
        half = _variables(scale(self.keep(HALF * self.h), self._part(self.new, "qd", turning)))
        x, y, z = _variables(add(u, add(scale(s, half), cross(u, half))))
        turned = [x, y, z, self.keep(s - dot(u, half))]
        square = self.keep(dot((x, y, z), (x, y, z)) + turned[3] * turned[3])
        call = self.builder.builder.call
        length = call("reciprocal", call("sqrt", square))
        self._put("q", first, [entry * length for entry in turned])

    def _carry(self, load: CarriedBodies) -> None:
        """Step a free joint by the mass centre of what it carries."""
        place, speed, thrust = self._outputs(load, self.old, "place", "speed", "thrust")
        after = [self.keep(v + self.h * a) for v, a in zip(speed, thrust, strict=True)]
        there = [self.keep(x + self.h * v) for x, v in zip(place, after, strict=True)]
        zeros = [self.builder.builder.number(0)] * 3
        self._put("q", load.coordinate, zeros)
        self._put("qd", load.rate, zeros)
        for name, along, group, first, goal in (
            ("place", "along_p", "q", load.coordinate, there),
            ("speed", "along_v", "qd", load.rate, after),
        ):
            start, columns = self._outputs(load, self.new, name, along)
            left = [self.keep(b - a) for a, b in zip(start, goal, strict=True)]
            # The columns are those of a rotation.
            own = [
                sum((columns[3 * i + k] * left[i] for i in range(3)), zeros[0]) for k in range(3)
            ]
            self._put(group, first, own)


def declare_step(builder: EquationBuilder, _tau: Sequence[Scalar]) -> None:
    """Declare q and qd after a step."""
    StateAfter(builder).declare()


def _rows(_equations: Equations) -> int:
    return ROWS


SEMI_IMPLICIT = Method(
    "semi_implicit",
    1,
    Integrator,
    (FIXED,),
    CompiledLoop(PROCEDURES, step=semi_implicit_step, kernels=("stepped",)),
    EULER,
    declare=declare_step,
    rows=_rows,
    in_lanes=True,
    takes_barriers=True,
)
