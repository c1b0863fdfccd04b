"""Closed loops as rows of constraints, with those of the file behind them.

A loop says that two points, or two frames, coincide. With the points a and b, and the rotations
A and B from their axes to the world,

    position   a - b                                                        three rows
    direction  B (A^T B - B^T A)_vee / 2, the axis of the turn from B to A   three more for frames

At a closed loop the rate of the second is the relative angular velocity in world axes, so that the
multipliers are force and moment on the closing body, as `sigma` is.
"""

from __future__ import annotations

from chainform.formulations.shared.constraints import ConstraintLaws, ConstraintRow
from chainform.formulations.shared.world import WorldColumns
from chainform.graph import Builder, Scalar
from chainform.mechanism import Attachment, Frame, Loop, Mechanism
from chainform.spatial import Matrix, Vector, apply, product, subtract, transpose


def rows_of(builder: Builder, mechanism: Mechanism) -> list[ConstraintRow]:
    """Return the rows that always hold: loops first, then the constraints of the file."""
    laws = ConstraintLaws(builder, mechanism)
    rows: list[ConstraintRow] = []
    if mechanism.loops:
        places = WorldColumns(builder, mechanism)
        for loop in mechanism.loops:
            moving = _moving(mechanism, loop)
            rows += [laws.holonomic(value, moving) for value in loop_residuals(places, loop)]
    return [*rows, *laws.bilateral]


def _moving(mechanism: Mechanism, loop: Loop) -> frozenset[int]:
    """Return the coordinates that move the ends of a loop against each other.

    Joints that carry both ends turn what is left between them, which is nothing where the loop is
    closed. In the stages of a step it would be taken for a motion.
    """
    closing, target = (set(mechanism.path_to(end.segment)) for end in (loop.closing, loop.target))
    moving = [mechanism.segments[i] for i in closing ^ target]
    return frozenset(
        segment.coordinate + k
        for segment in moving
        if segment.coordinate is not None
        for k in range(segment.joint.kind.coordinates)
    )


def loop_residuals(places: WorldColumns, loop: Loop) -> list[Scalar]:
    """Return what must be zero for a loop to be closed, in world axes."""
    keep = places.world.builder.keep_vector
    position = keep(subtract(places.place_of(loop.closing), places.place_of(loop.target)))
    if loop.kind == "point":
        return list(position)
    relative = _relative(places, loop)
    turned: Vector = (
        (relative[2][1] - relative[1][2]) / 2,
        (relative[0][2] - relative[2][0]) / 2,
        (relative[1][0] - relative[0][1]) / 2,
    )
    return [*position, *keep(apply(_rotation(places, loop.target), keep(turned)))]


def turn_cosine(places: WorldColumns, loop: Loop) -> Scalar:
    """Return the cosine of the turn between the frames of a loop.

    Residuals of directions vanish at half a turn, too, where it is -1.
    """
    relative = _relative(places, loop)
    return (relative[0][0] + relative[1][1] + relative[2][2] - 1) / 2


def _relative(places: WorldColumns, loop: Loop) -> Matrix:
    """Return B^T A."""
    return product(transpose(_rotation(places, loop.target)), _rotation(places, loop.closing))


def _rotation(places: WorldColumns, end: Attachment) -> Matrix:
    return places.world.frame_rotation(Frame("", end.segment, end.point, end.rotation))
