"""The zero pose by assembly: what the axes and vectors on both sides of a joint say of it.

In the assembly two triads, one on either side of a joint, are laid on one another.

For joint i the triad on the parent side is (e0, a0, e0 x a0), a0 being the direction of the part of
r_(parent,i) normal to e0; on the side of the body it is (e, a, e x a), a being opposite to the part
of r_ii normal to e. At zero coordinate they coincide, so the chain is stretched. The r vectors
point from the joint to the mass centre, of the parent and of the body (Racković 1996, eq. 1.6-1.8).

Turek 1993 calls this the mapping of assembly and comes to the same rotation: of the two poses with
(r_(parent,i) x e).r_ii = 0 its triads (II.7) and (II.10), which are (e x a, -a, e) in these
letters, choose the stretched one; the nine equations (II.15) for the entries, solved in
(V.7)-(V.13), say that the rotation takes one triad to the other. Where r lies along e, Turek 1993
lets the user define a vector R* across e in its place. Racković 1996 turns r by 90 degrees there,
in frame i on the side of the body, in the reference frame on the side of the parent; the function
`quarter_turn` is the turn that leads to the H_44 that is printed for Example 2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from chainform.expressions import exact_square_root
from chainform.mechanism import (
    IDENTITY,
    ZERO_VECTOR,
    Axis,
    Rotation,
    exact_rotation,
    rotation_between,
    square_root,
)
from chainform.spatial import (
    add,
    add_matrices,
    apply,
    cross,
    dot,
    matrix,
    product,
    scale,
    scale_matrix,
)

_COLLINEAR = Fraction(1, 10**24)
"""The squared sine of the angle below which a vector counts as lying along the axis."""


def assembled_rotation(
    axis_in_parent: Axis, to_parent: Axis, axis: Axis, to_body: Axis
) -> tuple[Rotation, str | None]:
    """Return the rotation from body to parent axes at zero, and a remark where there was a choice.

    `axis_in_parent` and `to_parent` (from the joint to the mass centre of the parent) are in parent
    axes, `axis` and `to_body` (from the joint to the mass centre of the body) in body axes; both
    axes have exactly unit length. When a vector lies along its axis, the same perpendicular is
    taken on both sides, which makes the rotation the smallest one between the two axes.
    """
    n0 = normal_part(to_parent, axis_in_parent)
    n = scale(Fraction(-1), normal_part(to_body, axis))
    if ZERO_VECTOR in (n0, n):
        remark = "axis and vector are collinear: the same perpendicular was chosen on both sides"
        return rotation_between(axis, axis_in_parent), remark
    return _between_triads(axis_in_parent, n0, axis, n)


def quarter_turn(vector: Axis) -> Axis:
    """Return a vector turned by 90 degrees from its largest component to the next one.

    The next one of x is y, of y z, of z x; of components of the same size the first one counts. A
    vector with a length is never turned into itself, so that it has a part across its old line.
    """
    largest = max(range(3), key=lambda k: abs(vector[k]))
    following = (largest + 1) % 3
    turned = list(vector)
    turned[largest], turned[following] = -vector[following], vector[largest]
    return (turned[0], turned[1], turned[2])


def normal_part(vector: Axis, axis: Axis) -> Axis:
    """Return the part of `vector` normal to the unit vector `axis`, zero when it is negligible."""
    part = add(vector, scale(-dot(vector, axis), axis))
    return ZERO_VECTOR if dot(part, part) <= _COLLINEAR * dot(vector, vector) else part


def _between_triads(e0: Axis, n0: Axis, e: Axis, n: Axis) -> tuple[Rotation, str | None]:
    """Return [e0 a0 e0xa0] [e a exa]^T for a0 = n0/|n0|, a = n/|n|.

    Only the product of the lengths is needed, so the rotation is rational more often than the
    triads are.
    """
    square = dot(n0, n0) * dot(n, n)
    plane = add_matrices(_outer(n0, n), _outer(cross(e0, n0), cross(e, n)))
    length = square_root(square)
    rotation = add_matrices(_outer(e0, e), scale_matrix(1 / length, plane))
    if exact_square_root(square) is not None:
        return rotation, None
    return exact_rotation(rotation)


def _outer(a: Axis, b: Axis) -> Rotation:
    """Return the matrix a b^T."""
    return matrix(lambda i, k: a[i] * b[k])


def zero_frame(rotations: Sequence[Rotation], positions: Sequence[Axis]) -> tuple[Rotation, Axis]:
    """Return the frame at the end of a path at zero coordinates, relative to its beginning.

    `rotations` and `positions` (m) place each segment of the path in the one before.
    """
    frame, origin = IDENTITY, ZERO_VECTOR
    for rotation, position in zip(rotations, positions, strict=True):
        origin = add(origin, apply(frame, position))
        frame = product(frame, rotation)
    return frame, origin
