"""The vectors form of Racković 1996: axes e, vectors r from joints to mass centres, rows of joints.

    e_i      the axis of joint i in frame i; e_in_parent where it differs in the frame before
    r_ij     from joint j to the mass centre of body i, frame i (m); r_0j from joint j to the origin
    m, J     masses (kg), principal moments about the mass centre along the axes of frame i (kg m^2)
    rows     one list of joints per path from the base to a tip; zeros are padding
    closed   for each row whether it is closed, by r_is to a fictitious joint s beyond the last
    T        1 translation, 0 rotation; all rotations when left out
    normals  what stands for r_ij in the zero pose, where r_ij lies along the axis of joint j
    collinear  what to do where it does so and no normal is given: smallest, or rotate
    basic, closing_axes   of closed rows: the joints chosen freely, the axes that close
    symbols  whether the numbers of m, r and J are parameters m_6, r_5_6_y, J_6_1

The zero pose follows from assembly; `normals` are the vectors
R* that Turek 1993 defines for axes without a direction across them. `zero_pose.py` has the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from chainform.expressions import Identifier
from chainform.given import Given
from chainform.mechanism import (
    IDENTITY,
    ZERO_VECTOR,
    Axis,
    Mechanism,
    MechanismBuilder,
    Number,
    Reader,
    Rotation,
    Vector3,
    difference,
    exact_rotation,
    rotation_between,
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
from chainform.readers.zero_pose import assembled_rotation, normal_part, quarter_turn, zero_frame
from chainform.spatial import add, apply, product, transpose

VECTOR_FIELDS = frozenset(
    {"e", "e_in_parent", "r", "normals", "m", "J", "rows", "closed", "T", "names", "n"}
    | {"basic", "closing_axes", "collinear", "symbols"}
)
COLLINEAR = ("smallest", "rotate")
"""What `collinear` may be: the smallest turn between the axes, or vectors turned by 90 degrees."""
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
    collinear: str
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

    def rotations(self) -> dict[int, tuple[Rotation, str | None]]:
        """Return the rotation of each body in the frame before it, at zero, and a remark."""
        result: dict[int, tuple[Rotation, str | None]] = {}
        frames = {0: IDENTITY}
        for number in (number for row in self.rows.rows for number in row):
            if number not in result:
                parent = frames.get(self.rows.parents[number], IDENTITY)
                result[number] = self.rotation(number, parent)
                if self.collinear == "rotate":
                    frames[number] = product(parent, result[number][0])
        return result

    def rotation(self, number: int, parent_frame: Rotation) -> tuple[Rotation, str | None]:
        """Return the rotation of body `number` in the frame before it, at zero.

        `parent_frame` has the axes of that frame at zero, for vectors that are to be turned.
        """
        parent = self.rows.parents[number]
        axis, before = self.axes[number], self.axes_in_parent[number]
        if parent == 0 and (0, number) not in {*self.vectors, *self.normals}:
            remark = f"r '0,{number}' is not given: zero is the smallest turn from the reference"
            return rotation_between(axis, before), remark
        to_parent, to_body = self.across(parent, number), self.across(number, number)
        sides = (normal_part(to_parent, before), normal_part(to_body, axis))
        if self.collinear != "rotate" or ZERO_VECTOR not in sides:
            return assembled_rotation(before, to_parent, axis, to_body)
        if ZERO_VECTOR in (to_parent, to_body):
            rotation, remark = assembled_rotation(before, to_parent, axis, to_body)
            return rotation, f"{remark}; a vector without length cannot be turned"
        if sides[0] == ZERO_VECTOR:
            turned = quarter_turn(apply(parent_frame, to_parent))
            to_parent = apply(transpose(parent_frame), turned)
        if sides[1] == ZERO_VECTOR:
            to_body = quarter_turn(to_body)
        rotation, remark = assembled_rotation(before, to_parent, axis, to_body)
        turned_by = "axis and vector are collinear: the vector was turned by 90 degrees"
        return rotation, turned_by if remark is None else f"{turned_by}; {remark}"

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
    symbols = _Symbols(builder, reader, given.has("symbols") and given["symbols"].flag())
    written = replace(geometry, vectors=symbols.vectors(geometry.vectors))
    rotations: dict[int, Rotation] = {}
    for number, (rotation, remark) in sorted(geometry.rotations().items()):
        rotations[number] = rotation
        if remark is not None:
            builder.remark(f"joint {number}, zero pose", remark)
        builder.segment_table(
            {
                "id": number,
                "name": names[number - 1],
                "parent": rows.parents[number],
                "joint": kinds[number],
                "axis": geometry.axes[number],
                "position": written.offset(rows.parents[number], number),
                "rotation": rotation,
                "dof": number,
                "mass": symbols.mass(number, masses.get(number)),
                "com": written.vector(number, number),
                "inertia": symbols.moments(number, moments.get(number)),
            }
        )
    closures = _closures_from(given, rows, reader)
    for index, closure in closures.items():
        row = rows.rows[index]
        if not closure.basic:
            text = f"a closed row of {len(row)} joints has no basic ones: there is no closure"
            builder.remark(f"row {index + 1}", f"{text}, only closure_jacobian")
        closing, target = _ends(builder, geometry, written, rotations, row, source)
        if closure.axes is not None:
            closing["rotation"] = closure.axes
        basic = [names[joint - 1] for joint in closure.basic]
        builder.loop(f"row{index + 1}", "frame", closing, target, basic)
    return builder.build()


@dataclass(frozen=True, slots=True)
class _Symbols:
    """The names of the thesis for numbers that are not zero, where they are wanted.

    Each becomes a parameter with the number of the file as its value; expressions stay.
    """

    builder: MechanismBuilder
    reader: Reader
    wanted: bool

    def number(self, name: str, value: Number, unit: str) -> Number:
        if not self.wanted or not isinstance(value, Fraction) or value == 0:
            return value
        self.builder.parameter(name, value, unit)
        return Identifier(name)

    def vectors(
        self, vectors: Mapping[tuple[int, int], Vector3]
    ) -> Mapping[tuple[int, int], Vector3]:
        result: dict[tuple[int, int], Vector3] = {}
        for (body, joint), vector in vectors.items():
            name = f"r_{body}_{joint}"
            pairs = zip("xyz", vector, strict=True)
            x, y, z = (self.number(f"{name}_{axis}", entry, "m") for axis, entry in pairs)
            result[body, joint] = (x, y, z)
        return result

    def mass(self, number: int, given: Given | None) -> object:
        if given is None or not self.wanted or not given.is_given:
            return 0 if given is None else given.value
        return self.number(f"m_{number}", self.reader.number(given), "kg")

    def moments(self, number: int, given: Given | None) -> object:
        if given is None or not self.wanted or not given.is_given:
            return None if given is None else given.value
        entries = enumerate(self.reader.vector(given.at(f"J of body {number}")), 1)
        return [self.number(f"J_{number}_{k}", entry, "kg m^2") for k, entry in entries]


@dataclass(frozen=True, slots=True)
class _Closure:
    """What a closed row has besides its joints: the basic ones, the closing axes where given."""

    basic: Sequence[int]
    axes: Rotation | None


def _closures_from(table: Given, rows: JointRows, reader: Reader) -> dict[int, _Closure]:
    """Return the closures by the index of the row; of open rows nothing may be given."""
    count = len(rows.rows)
    basic = by_number(table["basic"], count, "row")
    axes = by_number(table["closing_axes"], count, "row")
    result: dict[int, _Closure] = {}
    for index, row in enumerate(rows.rows):
        chosen = _given_of_row(basic, index + 1, "basic joints", rows.closed[index])
        turned = _given_of_row(axes, index + 1, "closing axes", False)
        if rows.closed[index]:
            joints = row[:-DEPENDENT] if chosen is None else _basic_from(chosen, row, reader)
            frame = None if turned is None else _axes_from(turned, reader)
            result[index] = _Closure(joints, frame)
        elif chosen is not None or turned is not None:
            where = chosen or turned or table
            raise where.error("the row is open", "write [], or close the row")
    return result


def _given_of_row(entries: Mapping[int, Given], row: int, what: str, empty: bool) -> Given | None:
    """Return what is given for a row; [] is nothing, unless it is to be `empty`."""
    given = entries.get(row)
    if given is None or not given.is_given or (given.value == [] and not empty):
        return None
    return given.at(f"row {row}, {what}")


def _basic_from(given: Given, row: Sequence[int], reader: Reader) -> list[int]:
    joints = [joint for entry in given.entries() if (joint := reader.whole(entry)) != 0]
    for joint in joints:
        if joint not in row or joints.count(joint) > 1:
            message = f"joint {joint} is not in the row, or is named twice"
            raise given.error(message, f"choose from {', '.join(map(str, row))}, each once")
    return joints


def _axes_from(given: Given, reader: Reader) -> Rotation:
    """Return the rotation whose columns are the closing axes x, y, z in the frame of the tip."""
    x, y, z = (reader.axis(entry) for entry in given.entries(3))
    with given.translate_errors():
        rotation, remark = exact_rotation(transpose((x, y, z)))
    if remark is not None:
        reader.note(given.element, remark)
    return rotation


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
    collinear = table["collinear"].choice(COLLINEAR) if table.has("collinear") else COLLINEAR[0]
    return _Geometry(rows, axes, before, vectors, normals, collinear, reader)


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
    written: _Geometry,
    rotations: Mapping[int, Rotation],
    row: Sequence[int],
    source: Source,
) -> tuple[dict[str, object], dict[str, object]]:
    """Return the ends of a closed row: the frame at the fictitious joint of the tip, the reference.

    The closing axes are parallel to the reference axes at zero. The closing point on the ground is
    -r_0s, or, where that is not given, the position of the point at zero. `written` has the
    vectors with symbols.
    """
    tip, count = row[-1], geometry.rows.count
    joints = sorted(joint for body, joint in geometry.vectors if body == tip and joint > count)
    if len(joints) != 1:
        message = f"a closed row needs one vector r '{tip},s' with s > {count}, found {len(joints)}"
        raise source.error(message, "give it: from the closing point to the mass centre", "r")
    point = geometry.offset(tip, joints[0])
    frame, origin = _frame_at_zero(geometry, rotations, row)
    if (0, joints[0]) in geometry.vectors:
        target = written.offset(0, joints[0])
    else:
        target = add(origin, apply(frame, geometry.known(point, f"r '{tip},{joints[0]}'")))
        where, text = f"r '0,{joints[0]}'", "not given: the row closes where its tip is at zero"
        builder.remark(where, text)
    place = {"segment": tip, "point": written.offset(tip, joints[0])}
    return {**place, "rotation": transpose(frame)}, {"segment": "ground", "point": target}


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
