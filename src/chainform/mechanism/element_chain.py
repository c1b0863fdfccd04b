"""Frame chains as text: `Sz(d12), Sx(d21), Rx(theta2)`, and bodies in the paper's short form.

| step                        | meaning                                                          |
|-----------------------------|------------------------------------------------------------------|
| `Sx(a)`, `Sy(a)`, `Sz(a)`   | shift by a along x, y, z                                         |
| `S(a, b, c)`                | shift by three components                                        |
| `Rx(a)`, `Ry(a)`, `Rz(a)`   | turn by a about x, y, z                                          |
| `R(x, y, z, a)`             | turn by a about the axis (x, y, z), known numbers                |
| `Q(x, y, z, w)`             | the fixed turn of a quaternion of any length, known numbers      |
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd, lcm

from chainform.given import Given
from chainform.mechanism.components import FixedStep, ShiftStep, Step, TurnStep
from chainform.mechanism.exact import exact_rotation
from chainform.mechanism.laws import LawReader
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import IDENTITY, ZERO, Axis, Number, Rotation, Vector3
from chainform.spatial import quaternion_of, rodrigues, rotation_of_quaternion

GEOMETRY = ("q", "t")
"""What laws of geometry may depend on, besides parameters."""

ARGUMENTS = {"S": 3, "R": 4, "Q": 4} | {f"{kind}{axis}": 1 for kind in "SR" for axis in "xyz"}
"""The steps, and how many arguments each has."""

MOST_STEPS, MOST_CHARACTERS = 1000, 100_000


def parts_of(text: str) -> list[str]:
    """Return the parts of a text between commas that stand in no brackets."""
    parts, depth, start = list[str](), 0, 0
    for index, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()]


def call_of(text: str) -> tuple[str, list[str]] | None:
    """Return the name and the arguments of `name(a, b)`; None for a text of another shape."""
    match = re.fullmatch(r"(\w+)\s*\((.*)\)", text, re.DOTALL)
    return None if match is None else (match[1], parts_of(match[2]))


def chain_from(given: Given, laws: LawReader) -> tuple[Step, ...]:
    """Return the steps of a chain; nothing and an empty text mean none."""
    if given.value is None or given.value == "":
        return ()
    text = given.text('write it as a text: "Sz(d), Rx(phi)"')
    steps = parts_of(text)
    if len(text) > MOST_CHARACTERS or len(steps) > MOST_STEPS:
        remedy = f"give at most {MOST_STEPS}, or several frames one after the other"
        raise given.error(f"the chain has {len(steps)} steps", remedy)
    return tuple(
        _step(given.holding(step).at(f"{given.element}, step {k}"), laws)
        for k, step in enumerate(steps, 1)
    )


def _step(given: Given, laws: LawReader) -> Step:
    call = call_of(given.value)
    if call is None or call[0] not in ARGUMENTS:
        remedy = "steps are Sx(a) Sy(a) Sz(a) S(a,b,c) Rx(a) Ry(a) Rz(a) R(x,y,z,a) Q(x,y,z,w)"
        raise given.error(f"{given.value[:60]!r} is not a step of a chain", remedy)
    name, arguments = call
    if len(arguments) != ARGUMENTS[name]:
        message = f"{name} has {ARGUMENTS[name]} argument(s), found {len(arguments)}"
        raise given.error(message, "correct the step")
    entries = [given.holding(argument) for argument in arguments]
    if name == "Q":
        return FixedStep(_quaternion(given, entries, laws.reader))
    if name[0] == "S":
        return ShiftStep(_vector(name, [laws.law(entry, GEOMETRY) for entry in entries]))
    axis = (
        IDENTITY["xyz".index(name[1])]
        if name != "R"
        else laws.reader.axis(given.holding(arguments[:3]))
    )
    return turn_about(axis, laws.law(entries[-1], GEOMETRY), given.element, laws.reader)


def _vector(name: str, values: Sequence[Number]) -> Vector3:
    if len(values) == 3:
        return (values[0], values[1], values[2])
    x, y, z = (values[0] if axis == name[1] else ZERO for axis in "xyz")
    return (x, y, z)


def _quaternion(step: Given, entries: Sequence[Given], reader: Reader) -> Rotation:
    x, y, z, w = map(reader.fraction, entries)
    if not (x or y or z or w):
        raise step.error("the quaternion is zero", "Q(0, 0, 0, 1) is no turn")
    return rotation_of_quaternion(x, y, z, w)


def turn_about(axis: Axis, angle: Number, element: str, reader: Reader) -> Step:
    """Return the turn by a law, or an exact fixed rotation where the angle is a known number."""
    if not isinstance(angle, Fraction):
        return TurnStep(axis, angle)
    cos, sin = Fraction(math.cos(angle)), Fraction(math.sin(angle))
    meant: Rotation = rodrigues(axis, cos, sin)
    rotation, remark = exact_rotation(meant)
    if remark is not None and rotation != IDENTITY:
        reader.note(element, remark)
    return FixedStep(rotation)


SHORT = re.compile(
    r"\s*(?P<name>[^~:;]+?)\s*(?:~\s*(?P<on>[^~:;]+?)\s*)?:(?P<chain>[^:;]*)(?:;(?P<mass>[^:;]*))?;?\s*"
)
"""The short form of a body: name ~ on : chain ; mass and moments."""

MOMENTS = ("m", "Jx", "Jy", "Jz")

MOMENT_NAME = re.compile(r"[IJ][0-9_]*([xyz])\1?[0-9_]*")
"""The name of a principal moment that tells its axis: Jx, J2x, J_2_x, Ixx."""

MOMENTS_REMEDY = (
    "write m, Jx, Jy, Jz in this order, or the mass alone, or names as Jz(J1z); in a table "
    "inertia = [Jx, Jy, Jz] or { xx = ..., yy = ..., zz = ... }"
)


def table_of_text(given: Given) -> dict[str, object]:
    """Return the table that a body, a frame or a force in short form stands for.

    `P~K: Sz(d12), Sx(d21), Rx(theta2); m2, J2x, J2y, J2z` is a body P on the frame K. After the
    semicolon stands the mass alone, mass and three moments, or some of them by name: `Jz(J1z)`.
    Without a semicolon it is a frame. With an equation it is a force, see `_force`.
    """
    if "=" in given.value:
        return _force(given)
    match = SHORT.fullmatch(given.value)
    if match is None:
        remedy = "write name ~ on : chain ; mass and moments, as P~K: Sz(a), Rx(phi); m, Jx, Jy, Jz"
        raise given.error(f"{given.value[:80]!r} is not a body in short form", remedy)
    table: dict[str, object] = {"kind": "frame", "name": match["name"], "chain": match["chain"]}
    table["chain"] = match["chain"].strip()
    if match["on"] is not None:
        table["on"] = match["on"]
    masses = (match["mass"] or "").strip()
    if not masses:
        return table
    values = _masses(parts_of(masses), given)
    moments = dict(zip(("xx", "yy", "zz"), (values.get(n, "0") for n in MOMENTS[1:]), strict=True))
    return table | {"kind": "body", "mass": values.get("m", "0"), "inertia": moments}


FORCE = re.compile(r"\s*(?:(?P<name>[^:=]+?)\s*:)?(?P<parts>[^:]*)")
COMPONENT = re.compile(r"([xyz])\s*\((.+)\)", re.DOTALL)
FORCE_REMEDY = "write name: x(C) = law, y(C) = law, or name: law = law"


def _force(given: Given) -> dict[str, object]:
    """Return the table of a force in one line: what it pushes along, and how strongly.

    `pull: x(C) = -S*cos(chi), y(C) = S*sin(chi)` is a force at C by its components in world axes,
    `drive: theta1 = M1` one that does its work along a law, here a coordinate.
    """
    match = FORCE.fullmatch(given.value)
    if match is None:
        raise given.error(f"{given.value[:80]!r} is not a force in one line", FORCE_REMEDY)
    table: dict[str, object] = {"kind": "force"}
    table |= {"name": match["name"]} if match["name"] is not None else {}
    equations = [_equation(part, given) for part in parts_of(match["parts"])]
    components = [COMPONENT.fullmatch(along) for along, _ in equations]
    if len(equations) == 1 and components[0] is None:
        return table | {"force": equations[0][1], "along": equations[0][0]}
    force, at = dict[str, str](), set[str]()
    for component, (along, law) in zip(components, equations, strict=True):
        if component is None:
            message = f"{along!r} is no component of a force, and there are others"
            raise given.error(message, "give each law along which forces act a line of its own")
        if component[1] in force:
            raise given.error(f"the component {component[1]} is given twice", "keep one")
        force[component[1]] = law
        at.add(component[2].strip())
    if len(at) > 1:
        message = f"one force acts at one place, here are {' and '.join(sorted(at))}"
        raise given.error(message, "give each place a line of its own")
    return table | {"force": [force.get(axis, "0") for axis in "xyz"], "at": at.pop()}


def _equation(text: str, given: Given) -> tuple[str, str]:
    along, _, law = (part.strip() for part in text.partition("="))
    if not along or not law or "=" in law:
        raise given.error(f"{text[:60]!r} is not an equation of a force", FORCE_REMEDY)
    return along, law


def _masses(entries: Sequence[str], given: Given) -> dict[str, str]:
    """Return mass and moments by name: all in order, the mass alone, or each with its name."""
    calls = [call_of(entry) for entry in entries]
    named = {c[0]: c[1][0] for c in calls if c and c[0] in MOMENTS and len(c[1]) == 1}
    if len(named) == len(entries):
        return named
    if named or len(entries) not in (1, 4) or _is_moment(entries[0]):
        raise given.error("mass and moments cannot be distinguished", MOMENTS_REMEDY)
    check_moments(given.holding(list(entries[1:])))
    return dict(zip(MOMENTS, entries, strict=False))


def _is_moment(text: str) -> bool:
    return MOMENT_NAME.fullmatch(text.strip()) is not None


def check_moments(given: Given) -> None:
    """Refuse three principal moments whose names tell another order than x, y, z.

    One name may stand for several axes, as in J2x, J2x, J2z; then its own axis has it too.
    """
    if not given.is_list:
        return
    entries = [entry.value for entry in given.entries()[:3]]
    texts = [entry.strip() if isinstance(entry, str) else "" for entry in entries]
    matches = [MOMENT_NAME.fullmatch(text) for text in texts]
    axes = ["" if match is None else match[1] for match in matches]
    for index, axis in enumerate(axes):
        if (
            axis
            and axis != "xyz"[index]
            and axes["xyz".index(axis) : "xyz".index(axis) + 1] != [axis]
        ):
            message = f"{texts[index]} stands where the moment about {'xyz'[index]} belongs"
            raise given.error(message, MOMENTS_REMEDY)


# --- text of a chain ------------------------------------------------------------------------


def chain_text(chain: Sequence[Step], number: Callable[[Number], str]) -> str:
    """Return the text of a chain, each number written by `number`."""
    return ", ".join(_step_text(step, number) for step in chain)


def _step_text(step: Step, number: Callable[[Number], str]) -> str:
    match step:
        case ShiftStep(vector):
            nonzero = [k for k in range(3) if vector[k] != ZERO]
            if len(nonzero) == 1:
                return f"S{'xyz'[nonzero[0]]}({number(vector[nonzero[0]])})"
            return f"S({', '.join(number(entry) for entry in vector)})"
        case TurnStep(axis, angle):
            if axis in IDENTITY:
                return f"R{'xyz'[IDENTITY.index(axis)]}({number(angle)})"
            return f"R({', '.join(number(entry) for entry in (*axis, angle))})"
        case FixedStep(rotation):
            return f"Q({', '.join(number(entry) for entry in _whole_quaternion(rotation))})"


def _whole_quaternion(rotation: Rotation) -> list[Fraction]:
    """Return a quaternion of whole numbers without a common divisor."""
    entries = quaternion_of(rotation)
    scale = lcm(*(entry.denominator for entry in entries))
    whole = [int(entry * scale) for entry in entries]
    return [Fraction(entry // gcd(*whole)) for entry in whole]
