"""Frames of an element model: velocities in their own axes, places in the world.

symbol   meaning                                                                 frame
R, p     rotation, own axes to world axes, and origin                            world
w, v     angular velocity, and velocity of the origin                            own axes
d, d'    a shift of the chain and its rate                                       axes before it
A, e, a  a turn of the chain, its axis and its angle                             axes before it

Along a chain of steps, and from the frame it stands on,

    v <- v + w x d + d'                      a shift
    w <- A^T w + e a',     v <- A^T v        a turn

where d' and a' are laws differentiated by time; the ground has the velocities of a base that moves
by laws of time. All velocities are linear in the rates, so that the structural matrices of paper
004, W_R = dv/dqd and W_M = dw/dqd, follow by differentiating them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeVar

from chainform.formulations.shared.laws import ElementLaws
from chainform.formulations.shared.scope import error_context
from chainform.formulations.shared.turns import AxisTurn, FrameTurn, MatrixTurn
from chainform.graph import Scalar, Tangents, is_zero
from chainform.mechanism import (
    GROUND_NAME,
    WORLD,
    Element,
    ElementPoint,
    FixedStep,
    InertialElement,
    Mechanism,
    Number,
    ShiftStep,
    TurnStep,
)
from chainform.spatial import Matrix, Vector, add, apply_transposed, cross, dot, rodrigues, scale

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Moved:
    """A step of a chain as scalars: a shift and its rate, or a turn and its angular velocity."""

    shift: Vector | None = None
    turn: FrameTurn | None = None
    rate: Vector | None = None


class Derivatives:
    """Derivatives of scalars: by time, by a coordinate, by a rate."""

    def __init__(self, laws: ElementLaws) -> None:
        self.laws = laws
        self.builder = laws.builder
        self.by_coordinate = cache(self._by_coordinate)
        self.by_rate = cache(self._by_rate)

    def _input(self, k: int, group: str) -> Scalar:
        return self.laws.kinematics.q(k, group)

    def _clock(self, *, accelerating: bool) -> dict[int, Scalar]:
        direction: dict[int, Scalar] = {}
        for k in range(self.laws.mechanism.nv):
            direction[self.builder.variable_of(self._input(k, "q"))] = self._input(k, "qd")
            if accelerating:
                rate = self.builder.variable_of(self._input(k, "qd"))
                direction[rate] = self._input(k, "qdd")
        if self.laws.has_time:
            direction[self.builder.variable_of(self.laws.time())] = self.builder.number(1)
        return direction

    @cached_property
    def by_time(self) -> Tangents:
        """Derivatives by time, with the accelerations qdd."""
        return Tangents(self.builder, self._clock(accelerating=True))

    @cached_property
    def by_time_at_even_rates(self) -> Tangents:
        """Derivatives by time while the rates stay what they are: qdd = 0."""
        return Tangents(self.builder, self._clock(accelerating=False))

    def _by_coordinate(self, k: int) -> Tangents:
        variable = self.builder.variable_of(self._input(k, "q"))
        return Tangents(self.builder, {variable: self.builder.number(1)})

    def _by_rate(self, k: int) -> Tangents:
        variable = self.builder.variable_of(self._input(k, "qd"))
        return Tangents(self.builder, {variable: self.builder.number(1)})

    def vector(self, tangents: Tangents, v: Vector) -> Vector:
        """Return the derivative of each component."""
        keep = self.builder.keep
        return (keep(tangents.of(v[0])), keep(tangents.of(v[1])), keep(tangents.of(v[2])))


class ElementFrames:
    """The frames of one element model, each built at its first use."""

    def __init__(self, laws: ElementLaws) -> None:
        self.laws = laws
        self.builder = laws.builder
        self.derivatives = Derivatives(laws)
        self.elements = {
            e.name: e for e in self.mechanism.elements if isinstance(e, InertialElement)
        }
        self.numbers = {e.name: k for k, e in enumerate(self.mechanism.elements, 1)}
        self.steps = cache(self._steps)
        self.velocity = self._from_ground(self._velocity)
        self.rotation = self._from_ground(self._rotation)
        self.origin = self._from_ground(self._origin)
        self.field = self._from_ground(self._field)

    def _from_ground(self, work: Callable[[str], T]) -> Callable[[str], T]:
        """Return what is found once for a frame, after the frames that it stands on.

        Frames may stand on one another in any number, more than calls can go into each other.
        """
        found: dict[str, T] = {}

        def value(name: str) -> T:
            for frame in reversed(self._path(name, found)):
                found[frame] = work(frame)
            return found[name]

        return value

    def _path(self, name: str, known: Container[str]) -> list[str]:
        """Return a frame and those it stands on, up to the ground or to one that is known."""
        path: list[str] = []
        while name not in known:
            path.append(name)
            if name == GROUND_NAME:
                break
            name = self.elements[name].on
        return path

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism whose elements these are."""
        return self.laws.mechanism

    def error_context(self, element: Element) -> AbstractContextManager[None]:
        """Say of what goes wrong inside that it is in the laws of an element."""
        return error_context(self.mechanism, f"element {element.name!r}")

    @cached_property
    def none(self) -> Vector:
        """The zero vector."""
        zero = self.builder.number(0)
        return (zero, zero, zero)

    def vector(self, laws: Sequence[Number]) -> Vector:
        """Return three laws as scalars."""
        x, y, z = (self.builder.keep(self.laws.scalar(law)) for law in laws)
        return (x, y, z)

    # --- steps of a chain ---------------------------------------------------------------

    def _steps(self, name: str) -> list[Moved]:
        with self.error_context(self.elements[name]):
            return [self._step(step) for step in self.elements[name].chain]

    def _step(self, step: ShiftStep | TurnStep | FixedStep) -> Moved:
        match step:
            case ShiftStep(vector):
                d = self.vector(vector)
                rate = self.derivatives.vector(self.derivatives.by_time, d)
                return Moved(shift=d, rate=rate)
            case FixedStep(rotation):
                return Moved(turn=MatrixTurn(self.builder, rotation))
            case TurnStep(axis, law):
                angle = self.builder.keep(self.laws.scalar(law))
                rate = self.builder.keep(self.derivatives.by_time.of(angle))
                return Moved(turn=self._turn(axis, angle), rate=scale(rate, axis))

    def _turn(self, axis: Vector, angle: Scalar) -> FrameTurn:
        cos, sin = self.builder.call("cos", angle), self.builder.call("sin", angle)
        for k in range(3):
            if axis[k] in (1, -1):
                return AxisTurn(k, cos, sin * axis[k])
        keep = self.builder.keep
        (a, b, c), (d, e, f), (g, h, i) = rodrigues(axis, cos, sin)
        rows = (
            (keep(a), keep(b), keep(c)),
            (keep(d), keep(e), keep(f)),
            (keep(g), keep(h), keep(i)),
        )
        return MatrixTurn(self.builder, rows)

    # --- velocities ---------------------------------------------------------------------

    def _velocity(self, name: str) -> tuple[Vector, Vector]:
        """Return w and v of a frame, in its own axes."""
        if name == GROUND_NAME:
            return self._base_velocity()
        w, v = self.velocity(self.elements[name].on)
        for step in self.steps(name):
            if step.shift is not None:
                v = self.builder.keep_vector(
                    add(v, add(cross(w, step.shift), step.rate or self.none))
                )
            elif step.turn is not None:
                w, v = step.turn.into(w), step.turn.into(v)
                w = self.builder.keep_vector(add(w, step.rate)) if step.rate is not None else w
        number, named = self.numbers[name], self.laws.kinematics.named_vector
        return named(f"w_{number}", w), named(f"v_{number}", v)

    def _base_velocity(self) -> tuple[Vector, Vector]:
        """Return w and v of the ground, in its axes: those of the base where it moves."""
        if not self.mechanism.base.is_moving:
            return self.none, self.none
        base = self.laws.kinematics.base
        w, v = (apply_transposed(base.rotation, x) for x in (base.angular_velocity, base.velocity))
        return self.builder.keep_vector(w), self.builder.keep_vector(v)

    def stands_still(self, name: str) -> bool:
        """Whether a frame keeps its place on the ground, whatever the ground does."""
        frames = self._path(name, {GROUND_NAME})
        steps = (step for frame in frames for step in self.steps(frame))
        rates = (step.rate for step in steps if step.rate is not None)
        return all(is_zero(component) for rate in rates for component in rate)

    def columns(self, velocity: Vector) -> dict[int, Vector]:
        """Return the derivatives of a velocity by the rates, those that are not zero."""
        by, nv = self.derivatives, self.mechanism.nv
        found = {k: by.vector(by.by_rate(k), velocity) for k in range(nv)}
        return {k: w for k, w in found.items() if not all(is_zero(x) for x in w)}

    def point_velocity(self, place: ElementPoint) -> Vector:
        """Return the velocity of a place, in the axes of its frame."""
        w, v = self.velocity(place.on)
        d = self.vector(place.point)
        rate = self.derivatives.vector(self.derivatives.by_time, d)
        return self.builder.keep_vector(add(v, add(cross(w, d), rate)))

    # --- places in the world ------------------------------------------------------------

    def _rotation(self, name: str) -> Matrix:
        """Return the rotation of a frame, its own axes to world axes."""
        if name == GROUND_NAME:
            return self.laws.kinematics.base.rotation
        rows = self.rotation(self.elements[name].on)
        for step in self.steps(name):
            if step.turn is not None:
                rows = (step.turn.into(rows[0]), step.turn.into(rows[1]), step.turn.into(rows[2]))
        return rows

    def _origin(self, name: str) -> Vector:
        """Return the origin of a frame, world axes."""
        if name == GROUND_NAME:
            return self.laws.kinematics.base.position
        on = self.elements[name].on
        rows, origin = self.rotation(on), self.origin(on)
        for step in self.steps(name):
            if step.shift is not None:
                moved = (
                    dot(rows[0], step.shift),
                    dot(rows[1], step.shift),
                    dot(rows[2], step.shift),
                )
                origin = self.builder.keep_vector(add(origin, moved))
            elif step.turn is not None:
                rows = (step.turn.into(rows[0]), step.turn.into(rows[1]), step.turn.into(rows[2]))
        return origin

    def point(self, place: ElementPoint) -> Vector:
        """Return a place, world axes."""
        rows, d = self.rotation(place.on), self.vector(place.point)
        moved = (dot(rows[0], d), dot(rows[1], d), dot(rows[2], d))
        return self.builder.keep_vector(add(self.origin(place.on), moved))

    def _field(self, name: str) -> Vector:
        """Return gravity in the axes of a frame."""
        if name == GROUND_NAME:
            world = self.laws.kinematics.vector(self.mechanism.gravity)
            return self.builder.keep_vector(
                apply_transposed(self.laws.kinematics.base.rotation, world)
            )
        field = self.field(self.elements[name].on)
        for step in self.steps(name):
            field = field if step.turn is None else step.turn.into(field)
        return field

    def into(self, name: str, axes: str, v: Vector) -> Vector:
        """Return a vector, given in the axes of one frame or of the world, in those of another."""
        if name == axes:
            return v
        if axes != WORLD:
            rows = self.rotation(axes)
            v = self.builder.keep_vector((dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)))
        return self.builder.keep_vector(apply_transposed(self.rotation(name), v))
