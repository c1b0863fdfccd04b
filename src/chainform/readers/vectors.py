"""The vectors form of Racković 1996: axes e, vectors r from joints to mass centres, rows of joints.

    e_i      the axis of joint i in frame i; e_in_parent where it differs in the frame before
    r_ij     from joint j to the mass centre of body i, frame i (m); r_0j from joint j to the origin
    m, J     masses (kg), principal moments about the mass centre along the axes of frame i (kg m^2)
    rows     one list of joints per path from the base to a tip; zeros are padding
    closed   for each row whether it is closed, by r_is to a fictitious joint s beyond the last
    T        1 translation, 0 rotation; all rotations when left out
    normals  what stands for r_ij in the zero pose, where r_ij lies along the axis of joint j

The zero pose follows from assembly; `normals` are the vectors
R* that Turek 1993 defines for axes without a direction across them.

In the assembly two triads, one on either side of a joint, are laid on one another.

For joint i the triad on the parent side is (e0, a0, e0 x a0), a0 being the direction of the part of
r_(parent,i) normal to e0; on the side of the body it is (e, a, e x a), a being opposite to the part
of r_ii normal to e. At zero coordinate they coincide, so the chain is stretched. The r vectors
point from the joint to the mass centre, of the parent and of the body (Racković 1996, eq. 1.6-1.8).

Turek 1993 calls this the mapping of assembly and comes to the same rotation: of the two poses with
(r_(parent,i) x e).r_ii = 0 its triads (II.7) and (II.10), which are (e x a, -a, e) in these
letters, choose the stretched one; the nine equations (II.15) for the entries, solved in
(V.7)-(V.13), say that the rotation takes one triad to the other. Where r lies along e, Turek 1993
lets the user define a vector R* across e in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from chainform.expressions import exact_square_root
from chainform.given import Given
from chainform.mechanism import (
    IDENTITY,
    ZERO_VECTOR,
    Axis,
    Mechanism,
    MechanismBuilder,
    Reader,
    Rotation,
    Vector3,
    difference,
    exact_rotation,
    rotation_between,
    square_root,
)
from chainform.readers.forms import (
    JointRows,
    builder_from,
    by_number,
    by_pair,
    kinds_from,
    names_from,
    required,
    rows_from,
)
from chainform.readers.source import Source
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
    transpose,
)

VECTOR_FIELDS = frozenset(
    {"e", "e_in_parent", "r", "normals", "m", "J", "rows", "closed", "T", "names", "n"}
)
DEPENDENT = 5
"""Joints of a closed row that are not basic: with the fictitious closing joint they are six."""


@dataclass(frozen=True, slots=True)
class _Geometry:
    """The vectors of the form by number, and the rows; numbers as written, checked."""

    rows: JointRows
    axes: Mapping[int, Axis]
    axes_in_parent: Mapping[int, Axis]
    vectors: Mapping[tuple[int, int], Vector3]
    normals: Mapping[tuple[int, int], Axis]
    reader: Reader

    def vector(self, body: int, joint: int) -> Vector3:
        """Return r_(body,joint); r_00 and what is not given for the ground are zero."""
        return self.vectors.get((body, joint), ZERO_VECTOR)

    def offset(self, body: int, joint: int) -> Vector3:
        """Return joint `joint` in frame `body`, seen from the joint of that body (m)."""
        pairs = zip(self.vector(body, body), self.vector(body, joint), strict=True)
        x, y, z = (difference(own, other) for own, other in pairs)
        return (x, y, z)

    def known(self, vector: Vector3, where: str) -> Axis:
        x, y, z = (self.reader.fraction(self.reader.given(entry, where)) for entry in vector)
        return (x, y, z)

    def rotation(self, number: int) -> tuple[Rotation, str | None]:
        """Return the rotation of body `number` in the frame before it, at zero."""
        parent = self.rows.parents[number]
        axis, before = self.axes[number], self.axes_in_parent[number]
        if parent == 0 and (0, number) not in {*self.vectors, *self.normals}:
            remark = f"r '0,{number}' is not given: zero is the smallest turn from the reference"
            return rotation_between(axis, before), remark
        return assembled_rotation(
            before, self.across(parent, number), axis, self.across(number, number)
        )

    def across(self, body: int, joint: int) -> Axis:
        """Return what fixes the zero pose on one side of a joint: the normal given, else r."""
        if (body, joint) in self.normals:
            return self.normals[body, joint]
        return self.known(self.vector(body, joint), f"r '{body},{joint}'")


def read_vectors(table: Mapping[str, object], source: Source) -> Mechanism:
    """Return the mechanism of a table in the vectors form."""
    builder = builder_from(table, VECTOR_FIELDS, source)
    given, reader = source.given(table), builder.reader()
    rows = rows_from(given, reader)
    geometry = _geometry(given, rows, reader)
    masses = by_number(given["m"], rows.count)
    moments = by_number(given["J"], rows.count)
    kinds = kinds_from(given["T"], rows.count)
    names = names_from(given["names"], rows.count)
    rotations: dict[int, Rotation] = {}
    for number in range(1, rows.count + 1):
        rotations[number], remark = geometry.rotation(number)
        if remark is not None:
            builder.remark(f"joint {number}, zero pose", remark)
        builder.segment_table(
            {
                "id": number,
                "name": names[number - 1],
                "parent": rows.parents[number],
                "joint": kinds[number],
                "axis": geometry.axes[number],
                "position": geometry.offset(rows.parents[number], number),
                "rotation": rotations[number],
                "dof": number,
                "mass": masses[number].value if number in masses else 0,
                "com": geometry.vector(number, number),
                "inertia": moments[number].value if number in moments else None,
            }
        )
    for index, row in enumerate(rows.rows):
        if rows.closed[index]:
            basic = [names[joint - 1] for joint in row[:-DEPENDENT]]
            if not basic:
                text = f"a closed row of {len(row)} joints has no basic ones: there is no closure"
                builder.remark(f"row {index + 1}", f"{text}, only closure_jacobian")
            closing, target = _ends(builder, geometry, rotations, row, source)
            builder.loop(f"row{index + 1}", "frame", closing, target, basic)
    return builder.build()


def _geometry(table: Given, rows: JointRows, reader: Reader) -> _Geometry:
    given = by_number(table["e"], rows.count)
    required(given, rows.count, table["e"])
    axes = {k: reader.axis(entry.at(f"e of joint {k}")) for k, entry in given.items()}
    before = dict(axes)
    for k, entry in by_number(table["e_in_parent"], rows.count).items():
        if entry.is_given:
            before[k] = reader.axis(entry.at(f"e_in_parent of joint {k}"))
    vectors: dict[tuple[int, int], Vector3] = {}
    for (body, joint), entry in by_pair(table["r"]).items():
        _check_pair(body, joint, rows, entry)
        vectors[body, joint] = reader.vector(entry)
    for number in range(1, rows.count + 1):
        parent = rows.parents[number]
        for pair in ((number, number), (parent, number)):
            if pair not in vectors and pair[0] != 0:
                where = table.at(f"r '{pair[0]},{pair[1]}'")
                raise where.error("the vector is missing", "give it, zero included")
    normals: dict[tuple[int, int], Axis] = {}
    for (body, joint), entry in by_pair(table["normals"]).items():
        if joint > rows.count or joint not in axes or body not in (joint, rows.parents[joint]):
            message = f"joint {joint} does not lie on body {body}"
            raise entry.error(message, "compare with the rows")
        axis = axes[joint] if body == joint else before[joint]
        normals[body, joint] = reader.known_vector(entry)
        if normal_part(normals[body, joint], axis) == ZERO_VECTOR:
            remedy = "give a vector that points across the axis of the joint"
            raise entry.error("it lies along the axis", remedy)
    return _Geometry(rows, axes, before, vectors, normals, reader)


def _check_pair(body: int, joint: int, rows: JointRows, given: Given) -> None:
    """Refuse a vector r whose joint does not lie on its body; tips may have further points."""
    is_tip = joint > rows.count and body in rows.tips
    is_ground_point = joint > rows.count and body == 0
    if is_tip or is_ground_point or (body == joint and 1 <= body <= rows.count):
        return
    if rows.parents.get(joint) != body:
        message = f"joint {joint} does not lie on body {body}"
        raise given.error(message, "compare with the rows")


def _ends(
    builder: MechanismBuilder,
    geometry: _Geometry,
    rotations: Mapping[int, Rotation],
    row: Sequence[int],
    source: Source,
) -> tuple[dict[str, object], dict[str, object]]:
    """Return the ends of a closed row: the frame at the fictitious joint of the tip, the reference.

    The closing axes are parallel to the reference axes at zero. The closing point on the ground is
    -r_0s, or, where that is not given, the position of the point at zero.
    """
    tip, count = row[-1], geometry.rows.count
    joints = sorted(joint for body, joint in geometry.vectors if body == tip and joint > count)
    if len(joints) != 1:
        message = f"a closed row needs one vector r '{tip},s' with s > {count}, found {len(joints)}"
        raise source.error(message, "give it: from the closing point to the mass centre", "r")
    point = geometry.offset(tip, joints[0])
    frame, origin = _frame_at_zero(geometry, rotations, row)
    if (0, joints[0]) in geometry.vectors:
        target = geometry.offset(0, joints[0])
    else:
        target = add(origin, apply(frame, geometry.known(point, f"r '{tip},{joints[0]}'")))
        where, text = f"r '0,{joints[0]}'", "not given: the row closes where its tip is at zero"
        builder.remark(where, text)
    closing: dict[str, object] = {"segment": tip, "point": point, "rotation": transpose(frame)}
    return closing, {"segment": "ground", "point": target}


def _frame_at_zero(
    geometry: _Geometry, rotations: Mapping[int, Rotation], row: Sequence[int]
) -> tuple[Rotation, Axis]:
    """Return the frame of the last body of a row at zero, relative to the ground."""
    parents = geometry.rows.parents
    offsets = [
        geometry.known(geometry.offset(parents[number], number), f"joint {number}")
        for number in row
    ]
    return zero_frame([rotations[number] for number in row], offsets)


# --- zero pose by assembly ------------------------------------------------------------------


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
