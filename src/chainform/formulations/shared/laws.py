"""Laws of coordinates, rates and time as scalars of a graph; element models add definitions.

symbol   meaning                                                     frame
R, p     rotation of a frame, its own axes to world axes; origin     world
d, A     a shift and a turn of the chain of an element               axes before it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, cached_property
from graphlib import TopologicalSorter

from chainform.errors import DeriveError
from chainform.expressions import evaluate_expression, latin_name, symbols_of
from chainform.formulations.shared.kinematics import BuilderArithmetic, Kinematics
from chainform.formulations.shared.scope import error_context
from chainform.formulations.shared.tree import Skeleton
from chainform.formulations.shared.world import World
from chainform.graph import Builder, Scalar, Tangents
from chainform.mechanism import (
    FixedStep,
    FrameCoordinate,
    InertialElement,
    Mechanism,
    Number,
    ShiftStep,
    TurnStep,
    frame_coordinate_of,
    frames_in,
    is_law_of_time,
    meaning_of,
    names_behind,
    numbers_in,
)
from chainform.spatial import Matrix, Vector, add, apply, product, rodrigues


class Laws:
    """Reads the laws of one mechanism into its graph.

    `further` are scalars that stand for names which only the caller knows.
    """

    def __init__(self, kinematics: Kinematics, further: Mapping[str, Scalar] | None = None) -> None:
        self.kinematics = kinematics
        self.builder = kinematics.builder
        self.further = dict(further or {})

    @cached_property
    def frames(self) -> FrameCoordinates:
        """The coordinates of frames."""
        return ElementLaws(self.builder, self.kinematics.mechanism).frames

    def time(self) -> Scalar:
        """Return the time t, an input."""
        return self.builder.input("t", "t", 0)

    def scalar(self, law: Number) -> Scalar:
        """Return a law as a scalar."""
        if isinstance(law, Fraction):
            return self.builder.number(law)
        symbols = {name: self._symbol(name) for name in sorted(symbols_of(law))}
        return evaluate_expression(law, symbols, BuilderArithmetic(self.builder))

    def _symbol(self, name: str) -> Scalar:
        if name in self.further:
            return self.further[name]
        mechanism, frame = self.kinematics.mechanism, frame_coordinate_of(name)
        if frame is not None:
            return self.frames.coordinate(frame)
        meaning = meaning_of(name, mechanism.coordinates, mechanism.rates)
        if meaning is None:
            return self.kinematics.parameter(name)
        if meaning.group == "t":
            return self.time()
        return self.kinematics.q(meaning.index, meaning.group)


class ElementLaws:
    """Reads the laws of one element model into a graph."""

    def __init__(self, builder: Builder, mechanism: Mechanism) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.kinematics = Kinematics(mechanism, builder)

    @cached_property
    def has_time(self) -> bool:
        """Whether a law names the time t, or the base moves by one."""
        if is_law_of_time(self.mechanism.base.numbers):
            return True
        names = (self.mechanism.coordinates, self.mechanism.rates)
        own = (self.mechanism.elements, self.mechanism.definitions)
        for law in numbers_in((own, self.mechanism.constraints, self.mechanism.quasi)):
            for name in frozenset[str]() if isinstance(law, Fraction) else symbols_of(law):
                meaning = meaning_of(name, *names)
                if meaning is not None and meaning.group == "t":
                    return True
        return False

    def time(self) -> Scalar:
        """Return the time t, an input."""
        return self._laws.time()

    @cached_property
    def definitions(self) -> dict[str, Scalar]:
        """The definitions of the mechanism, by name."""
        laws = Laws(self.kinematics)
        laws.frames = FrameCoordinates(self, laws.scalar)
        given = {d.name: d.law for d in self.mechanism.definitions}
        needs = {name: self._needs(law) & given.keys() for name, law in given.items()}
        for name in TopologicalSorter(needs).static_order():
            with error_context(self.mechanism, f"definition {name!r}"):
                laws.further[name] = self.builder.name(latin_name(name), laws.scalar(given[name]))
        return laws.further

    def _needs(self, law: Number) -> frozenset[str]:
        """Return the names in a law and in the chains of the frames that it names."""
        return self._behind(law) if frames_in(_names(law)) else _names(law)

    def _behind(self, law: Number) -> frozenset[str]:
        """Return the names in a law, in its definitions, and in the chains of their frames."""
        mechanism = self.mechanism
        return names_behind(mechanism, mechanism.elements, _names(law))

    @cached_property
    def frames(self) -> FrameCoordinates:
        """The coordinates of all frames."""
        return FrameCoordinates(self, self.scalar)

    def _laws_with(self, names: Mapping[str, Scalar]) -> Laws:
        laws = Laws(self.kinematics, names)
        laws.frames = self.frames
        return laws

    @cached_property
    def _laws(self) -> Laws:
        """Laws without unknown forces."""
        return self._laws_with(self.definitions)

    @cached_property
    def unknowns(self) -> tuple[Scalar, ...]:
        """The unknown forces X, inputs."""
        names = enumerate(self.mechanism.unknowns)
        return tuple(self.builder.input(latin_name(name), "force", place) for place, name in names)

    def scalar(self, law: Number) -> Scalar:
        """Return a law without unknown forces."""
        return self._laws.scalar(law)

    def differentiable(self, law: Number) -> Scalar:
        """Return a law without unknown forces that is to be differentiated by time."""
        if frames_in(self._behind(law)):
            self.frames.check_base()
        return self.scalar(law)

    @cached_property
    def _open(self) -> Laws:
        given = dict(zip(self.mechanism.unknowns, self.unknowns, strict=True))
        return self._laws_with(self.definitions | given)

    @cached_property
    def _closed(self) -> Laws:
        zeros = dict.fromkeys(self.mechanism.unknowns, self.builder.number(0))
        return self._laws_with(self.definitions | zeros)

    def known(self, laws: Sequence[Number]) -> tuple[Scalar, ...]:
        """Return laws with all unknown forces zero."""
        return tuple(self.builder.keep(self._closed.scalar(law)) for law in laws)

    def whole(self, laws: Sequence[Number]) -> tuple[Scalar, ...]:
        """Return laws with the unknown forces as inputs."""
        return tuple(self.builder.keep(self._open.scalar(law)) for law in laws)

    def unknowns_in(self, laws: Sequence[Number]) -> list[int]:
        """Return the places of the unknown forces that occur in some laws."""
        found = frozenset[str]().union(*(_names(law) for law in laws))
        return [k for k, name in enumerate(self.mechanism.unknowns) if name in found]


class FrameCoordinates:
    """Positions (m) and velocities (m/s) of frames in world axes, each built at its first use.

    `scalar` reads the laws in the chains of elements.
    """

    def __init__(self, laws: ElementLaws, scalar: Callable[[Number], Scalar]) -> None:
        self.laws = laws
        self.builder = laws.builder
        self.mechanism = laws.mechanism
        self.scalar = scalar
        elements = (e for e in self.mechanism.elements if isinstance(e, InertialElement))
        self.elements = {element.name: element for element in elements}
        self.position = cache(self._position)
        self.velocity = cache(self._velocity)

    def coordinate(self, given: FrameCoordinate) -> Scalar:
        """Return a component of the position or of the velocity of a frame."""
        vector = self.velocity if given.is_rate else self.position
        return vector(given.frame)[given.axis]

    @cached_property
    def _world(self) -> World:
        return World(Skeleton(self.laws.kinematics), ("base", "qd"))

    def check_base(self) -> None:
        """Refuse a base whose place does not say how it moves: positions have no rate then."""
        base = self.mechanism.base
        if base.is_moving and not base.follows_its_place:
            raise DeriveError(
                "the law names the position of a frame and is differentiated by time, and the base "
                "has velocities that do not follow from its place",
                file=self.mechanism.file,
                element="base",
                remedy="give position and orientation of the base as laws of t, and no velocities",
            )

    def _position(self, name: str) -> Vector:
        path: list[InertialElement] = []
        while name in self.elements:
            path.append(self.elements[name])
            name = self.elements[name].on
        frame, keep = self.mechanism.frame(name), self.builder.keep_vector
        p = self._world.frame_origin(frame)
        if not path:
            return p
        rotation = self._world.frame_rotation(frame)
        for step in (step for element in reversed(path) for step in element.chain):
            if isinstance(step, ShiftStep):
                x, y, z = (self.builder.keep(self.scalar(law)) for law in step.vector)
                p = keep(add(p, apply(rotation, (x, y, z))))
            else:
                rotation = self.builder.keep_matrix(product(rotation, self._turn(step)))
        return p

    def _turn(self, step: TurnStep | FixedStep) -> Matrix:
        if isinstance(step, FixedStep):
            return step.rotation
        angle, call = self.builder.keep(self.scalar(step.angle)), self.builder.call
        return rodrigues(step.axis, call("cos", angle), call("sin", angle))

    def _velocity(self, name: str) -> Vector:
        """Return the velocity: on the tree by its recursion, else by differentiating by time."""
        if name not in self.elements:
            return self._world.frame_velocity(self.mechanism.frame(name))[0]
        rate, keep = self._clock.of, self.builder.keep
        x, y, z = (keep(rate(component)) for component in self.position(name))
        return (x, y, z)

    @cached_property
    def _clock(self) -> Tangents:
        """Derivatives by time."""
        if self.mechanism.nq != self.mechanism.nv:
            raise DeriveError(
                "elements stand on joints with one coordinate each, and a joint has a quaternion",
                file=self.mechanism.file,
                element="elements",
                remedy='describe the joint by angles with euler = "zyx"',
            )
        self.check_base()
        q, variable = self.laws.kinematics.q, self.builder.variable_of
        direction = {variable(q(k)): q(k, "qd") for k in range(self.mechanism.nv)}
        if self.laws.has_time:
            direction[variable(self.laws.time())] = self.builder.number(1)
        return Tangents(self.builder, direction)


def _names(law: Number) -> frozenset[str]:
    return frozenset() if isinstance(law, Fraction) else symbols_of(law)
