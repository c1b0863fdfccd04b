"""The records a mechanism consists of.

Every record is frozen. Lengths are in m, masses in kg, angles in rad, moments of inertia in kg m^2.
A body frame has its origin at the joint that carries the body. `Rot(axis, q)` being the rotation
by q about the axis, the frame of segment i stands at

    R_i = R_parent rotation Rot(axis, q_i),  p_i = p_parent + R_parent position      (revolute)
    R_i = R_parent rotation,  p_i = p_parent + R_parent (position + rotation axis q_i)  (prismatic)
    R_i = R_parent rotation,  p_i = p_parent + R_parent position                         (fixed)
    R_i = R_parent rotation R(quaternion),  p_i = p_parent + R_parent position       (spherical)
    as spherical, and p_i = p_parent + R_parent (position + rotation (x, y, z))           (free)

where R(quaternion) takes the last four coordinates of the joint, in the order x y z w. The motion
q_i of a coupled joint is `ratio` times its coordinate plus `offset`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Literal, TypeAlias

from chainform.display import Displayed
from chainform.expressions import Expression, symbols_of

Number: TypeAlias = Fraction | Expression
"""A known number, or an expression of the mechanism's parameters."""

Vector3: TypeAlias = tuple[Number, Number, Number]
Matrix3: TypeAlias = tuple[Vector3, Vector3, Vector3]
Axis: TypeAlias = tuple[Fraction, Fraction, Fraction]
Rotation: TypeAlias = tuple[Axis, Axis, Axis]

GROUND = -1
"""The index that stands for the ground (the base body) where a segment is expected."""

ZERO = Fraction(0)
ONE = Fraction(1)
ZERO_VECTOR: Axis = (ZERO, ZERO, ZERO)
IDENTITY: Rotation = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))
ZERO_MATRIX: Rotation = (ZERO_VECTOR, ZERO_VECTOR, ZERO_VECTOR)


class JointKind(StrEnum):
    """The elementary joints; other joints of several freedoms are chains of them.

    A spherical joint has a quaternion (x y z w) in q and the angular velocity, body axes, in qd; a
    free joint position and quaternion in q, linear and angular velocity, both body axes, in qd.
    """

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    FIXED = "fixed"
    SPHERICAL = "spherical"
    FREE = "free"

    @property
    def coordinates(self) -> int:
        """How many entries of q the joint has."""
        return {"fixed": 0, "spherical": 4, "free": 7}.get(self.value, 1)

    @property
    def rates(self) -> int:
        """How many entries of qd the joint has."""
        return {"fixed": 0, "spherical": 3, "free": 6}.get(self.value, 1)

    @property
    def has_quaternion(self) -> bool:
        """Tell whether the last four coordinates are a quaternion, so that q outnumbers qd."""
        return self.coordinates != self.rates


@dataclass(frozen=True, slots=True, repr=False)
class Parameter(Displayed):
    """A quantity that is constant during motion, bound to a number or free (`value` is None)."""

    name: str
    value: Fraction | None = None
    unit: str = ""
    note: str = ""
    symbol: str = ""
    """How formulas write it, in LaTeX: m_{crank}."""
    fixed_in: str = field(default="", compare=False)
    """An element whose number was computed from it when the file was read, for good."""
    limit_in: str = field(default="", compare=False)
    """The same in a limit of a joint, which is no part of the equations of motion."""


@dataclass(frozen=True, slots=True, repr=False)
class Limits(Displayed):
    """The range of a coordinate (rad or m), its greatest rate and its greatest effort."""

    lower: Fraction | None = None
    upper: Fraction | None = None
    velocity: Fraction | None = None
    effort: Fraction | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Friction(Displayed):
    """Joint friction: viscous (effort per rate) and Coulomb (constant, against the motion)."""

    viscous: Number = ZERO
    coulomb: Number = ZERO


@dataclass(frozen=True, slots=True, repr=False)
class Joint(Displayed):
    """A connection of one freedom, of none, or with a quaternion.

    `axis` is an exactly unit rational vector in the body frame (it has the same components on the
    parent side, before the motion); for a fixed joint and one with a quaternion it is without
    meaning. `rotor_inertia` (kg m^2 or kg) is that of the motor before the gear, `gear_ratio` motor
    rate over joint rate; a joint with a quaternion has no drive, friction or limits.
    """

    name: str
    kind: JointKind
    axis: Axis = (ZERO, ZERO, ONE)
    limits: Limits | None = None
    friction: Friction | None = None
    rotor_inertia: Number = ZERO
    gear_ratio: Number = ONE


@dataclass(frozen=True, slots=True, repr=False)
class Body(Displayed):
    """Mass, mass centre seen from the joint, and inertia about the mass centre, in body axes.

    `moment` is a first moment (kg m) besides that of the mass at its centre, about the joint. Base
    parameters are such: of many bodies the first moment has an effect, and the mass has none.
    """

    mass: Number = ZERO
    com: Vector3 = ZERO_VECTOR
    inertia: Matrix3 = ZERO_MATRIX
    moment: Vector3 = ZERO_VECTOR

    @property
    def is_massless(self) -> bool:
        """Tell whether mass and inertia are the number zero, so that the body has no dynamics."""
        rows = (*self.inertia, self.moment)
        return self.mass == ZERO and all(entry == ZERO for row in rows for entry in row)


@dataclass(frozen=True, slots=True, repr=False)
class Segment(Displayed):
    """One joint and the body it carries: the node of the tree.

    `parent` is the index of an earlier segment or GROUND. `position` is the joint origin in the
    parent frame and `rotation` turns components in the body frame into components in the parent
    frame, both at zero coordinate. `coordinate` is the first index into q and `rate` the first into
    qd, qdd and tau; both are None for a fixed joint. Several segments may share a coordinate: each
    then moves by `ratio` times the coordinate plus `offset`.
    """

    name: str
    parent: int
    joint: Joint
    position: Vector3 = ZERO_VECTOR
    rotation: Rotation = IDENTITY
    body: Body = Body()
    coordinate: int | None = None
    rate: int | None = None
    ratio: Fraction = ONE
    offset: Number = ZERO


@dataclass(frozen=True, slots=True, repr=False)
class Coordinate(Displayed):
    """An entry of q, or of qd: its name and the index of the segment whose joint it belongs to.

    Coupled segments that share the entry are not listed here; see `Segment.coordinate`. In a model
    of elements without segments it belongs to no joint: the segment is GROUND, and `unit` is what
    the file gives, rad or m.
    """

    name: str
    segment: int
    unit: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Frame(Displayed):
    """A named frame on a segment (or the ground): its origin and axes in the axes of the body."""

    name: str
    segment: int
    point: Vector3 = ZERO_VECTOR
    rotation: Rotation = IDENTITY


@dataclass(frozen=True, slots=True, repr=False)
class Attachment(Displayed):
    """A point (m) and a frame on a segment or on the ground, in the axes of that body.

    `axis` is an exactly unit rational vector in the axes of the frame, where a loop needs one.
    """

    segment: int
    point: Vector3 = ZERO_VECTOR
    rotation: Rotation = IDENTITY
    axis: Axis | None = None


@dataclass(frozen=True, slots=True)
class LoopRows:
    """The relative motions that a loop prevents: slides along some directions, turns about others.

    x y z   world axes
    u v n   a right-handed triad that turns with the target, n being its axis
    cross   the axis of the closing body times that of the target
    line    from the target point to the closing point
    """

    linear: tuple[str, ...]
    angular: tuple[str, ...] = ()

    @property
    def has_axes(self) -> bool:
        """Tell whether both ends need an axis."""
        return not {"u", "n", "cross"}.isdisjoint((*self.linear, *self.angular))

    @property
    def turns_with_target(self) -> bool:
        """Tell whether points slide against each other, along directions that the target turns."""
        return not {"u", "n"}.isdisjoint(self.linear)

    @property
    def has_sense(self) -> bool:
        """Tell whether rows of directions vanish after half a turn, too, where it is not closed."""
        return len(self.angular) > 1


LOOP_ROWS = {
    "point": LoopRows(("x", "y", "z")),
    "frame": LoopRows(("x", "y", "z"), ("x", "y", "z")),
    "revolute": LoopRows(("x", "y", "z"), ("u", "v")),
    "prismatic": LoopRows(("u", "v"), ("x", "y", "z")),
    "cylindrical": LoopRows(("u", "v"), ("u", "v")),
    "universal": LoopRows(("x", "y", "z"), ("cross",)),
    "planar": LoopRows(("n",), ("u", "v")),
    "distance": LoopRows(("line",)),
}
"""The kinds of loops."""


@dataclass(frozen=True, slots=True, repr=False)
class Loop(Displayed):
    """A closure of one of the kinds of LOOP_ROWS, as by a joint between two bodies.

    `closing` lies on the body that closes the loop, `target` on the body it is closed against.
    `basic` holds the indices of the coordinates chosen as independent, None when not chosen;
    a loop of the kind "distance" has a `length` (m).
    """

    name: str
    kind: str
    closing: Attachment
    target: Attachment
    basic: tuple[int, ...] | None = None
    length: Number | None = None

    @property
    def rows(self) -> LoopRows:
        """What the loop prevents."""
        return LOOP_ROWS[self.kind]

    @property
    def equations(self) -> int:
        """How many equations the loop gives."""
        return len(self.rows.linear) + len(self.rows.angular)

    @property
    def numbers(self) -> tuple[Number, ...]:
        """All numbers that may name parameters."""
        length = () if self.length is None else (self.length,)
        return (*self.closing.point, *self.target.point, *length)


@dataclass(frozen=True, slots=True, repr=False)
class Spring(Displayed):
    """A linear spring and damper, in a joint or between two points.

    In a joint (`segment` is the index of its segment) the effort on the coordinate is
    preload - stiffness (q - rest) - damping qd. Between two points (`ends`) the same holds for
    their distance (m) and the force along it. Units: N/m or N m/rad, with s for damping; preload
    in N or N m.
    """

    name: str
    stiffness: Number
    rest: Number = ZERO
    damping: Number = ZERO
    segment: int | None = None
    ends: tuple[Attachment, Attachment] | None = None
    preload: Number = ZERO


@dataclass(frozen=True, slots=True, repr=False)
class ForcePiece(Displayed):
    """A law and the time in which it holds, start <= t < until (s); None stands for no bound."""

    law: Number
    start: Number | None = None
    until: Number | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Force(Displayed):
    """A generalised force (N or N m) that acts on the rate with index `rate`, like a drive.

    At any time it is the sum of the laws of the pieces that hold then, and zero where none does.
    """

    name: str
    rate: int
    pieces: tuple[ForcePiece, ...]

    @property
    def numbers(self) -> Iterator[Number]:
        """The times at which pieces begin and end: numbers of the mechanism."""
        for piece in self.pieces:
            yield from (time for time in (piece.start, piece.until) if time is not None)

    @property
    def laws(self) -> tuple[Number, ...]:
        """The laws of all pieces: expressions of coordinates, rates, time and parameters."""
        return tuple(piece.law for piece in self.pieces)


@dataclass(frozen=True, slots=True, repr=False)
class BaseMotion(Displayed):
    """The given motion of the base body (the ground), world axes, for the origin of its frame.

    `rotation` turns base components into world components. An orientation that names parameters or
    time is held as angles `rpy` (rad) or as `quaternion` (x, y, z, w; of any length) instead, and
    `rotation` is then the identity. Velocities are in m/s and rad/s, accelerations in m/s^2 and
    rad/s^2; all are zero for a base at rest, and where they follow from a position, orientation or
    velocity that is a law of time t.
    """

    position: Vector3 = ZERO_VECTOR
    rotation: Rotation = IDENTITY
    velocity: Vector3 = ZERO_VECTOR
    angular_velocity: Vector3 = ZERO_VECTOR
    acceleration: Vector3 = ZERO_VECTOR
    angular_acceleration: Vector3 = ZERO_VECTOR
    rpy: Vector3 | None = None
    quaternion: tuple[Number, Number, Number, Number] | None = None

    @property
    def is_moving(self) -> bool:
        """Tell whether any velocity or acceleration differs from the number zero."""
        motions = (*self.velocity, *self.acceleration)
        moves = any(component != ZERO for component in motions)
        return moves or is_law_of_time(self.position) or self.is_turning

    @property
    def is_turning(self) -> bool:
        """Tell whether an angular velocity or acceleration differs from the number zero."""
        motions = (*self.angular_velocity, *self.angular_acceleration)
        turns = any(component != ZERO for component in motions)
        return turns or is_law_of_time(self.rpy or self.quaternion or ())

    @property
    def follows_its_place(self) -> bool:
        """Tell whether the whole motion follows from position and orientation as laws of time."""
        linear = (*self.velocity, *self.acceleration)
        motions = (*linear, *self.angular_velocity, *self.angular_acceleration)
        return all(component == ZERO for component in motions)

    @property
    def has_laws(self) -> bool:
        """Tell whether it turns by parameters, or a part of it is a law of time."""
        return bool(self.rpy or self.quaternion) or is_law_of_time(self.numbers)

    @property
    def numbers(self) -> tuple[Number, ...]:
        """All numbers that may name parameters or time."""
        pose = (*self.position, *(self.rpy or ()), *(self.quaternion or ()))
        linear = (*self.velocity, *self.acceleration)
        return (*pose, *linear, *self.angular_velocity, *self.angular_acceleration)


def is_law_of_time(components: Iterable[Number]) -> bool:
    """Tell whether one of these components of a base's motion names the time t."""
    return any(not isinstance(c, Fraction) and "t" in symbols_of(c) for c in components)


@dataclass(frozen=True, slots=True, repr=False)
class Note(Displayed):
    """Something the user should know about a mechanism that was read: not an error."""

    level: Literal["note", "warning"]
    element: str
    text: str
