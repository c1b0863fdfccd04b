"""Ranges, limits and friction of URDF joints.

None of them enters the equations of an ideal joint, so a limit that is plainly no limit is left out
with a note instead of stopping everything.
"""

from __future__ import annotations

from fractions import Fraction

from chainform.errors import ReadError
from chainform.readers.urdf_values import AttributeReader, is_infinite
from chainform.readers.urdf_xml import Element

ONE_COORDINATE = ("revolute", "continuous", "prismatic")
SIZES = ("velocity", "effort")

UNLIMITED = Fraction(10**9)
"""A limit of this size or beyond means that there is none (rad, m, per s, N m or N)."""


def limits_of(
    joint: Element, kind: str, reader: AttributeReader, where: str
) -> dict[str, Fraction]:
    """Return what is known of lower, upper (rad or m), velocity and effort."""
    element = reader.one(joint, "limit", where)
    if element is None:
        if kind in ("revolute", "prismatic"):
            reader.note(where, "no limits are given")
        return {}
    if kind not in ONE_COORDINATE:
        if kind != "fixed":
            reader.note(where, f"the limits of a {kind} joint are not read")
        return {}
    where = f"{where}, limit"
    names = ("velocity", "effort") if kind == "continuous" else ("lower", "upper", *SIZES)
    read = {name: _limit(element, name, reader, where) for name in names}
    limits = {name: value for name, value in read.items() if value is not None}
    for name in SIZES:
        if limits.get(name, 0) < 0:
            reader.note(where, f"{name} is negative; it was left out", "warning")
            del limits[name]
    _check_range(limits, kind, reader, where)
    return limits


def _limit(element: Element, name: str, reader: AttributeReader, where: str) -> Fraction | None:
    """Return one limit; None where it is missing, beyond all bounds or no number."""
    text = element.attributes.get(name, "").strip()
    if not text or is_infinite(text):
        return None
    try:
        value = reader.number(element, name, where)
        return value if abs(value) < UNLIMITED else None
    except ReadError as error:
        if "xacro" in error.message:
            raise
        reader.note(where, f"{name}: {error.message}; it was left out", "warning")
        return None


def _check_range(
    limits: dict[str, Fraction], kind: str, reader: AttributeReader, where: str
) -> None:
    """Drop a range that is none: a lower end above the upper one means free in some programs."""
    if kind == "continuous":
        return
    lower, upper = limits.get("lower"), limits.get("upper")
    if lower is None and upper is None:
        reader.note(where, "no range is given")
    elif lower is not None and upper is not None and lower > upper:
        reader.note(where, "lower exceeds upper; no range is kept", "warning")
        del limits["lower"], limits["upper"]
    elif lower == upper:
        reader.note(where, "lower equals upper: the joint has no room to move", "warning")


def friction_of(
    joint: Element, kind: str, reader: AttributeReader, where: str
) -> dict[str, Fraction]:
    """Return viscous (damping) and Coulomb friction, without zeros."""
    element = reader.one(joint, "dynamics", where)
    if element is None or kind not in ONE_COORDINATE:
        return {}
    result: dict[str, Fraction] = {}
    for attribute, name in (("damping", "viscous"), ("friction", "coulomb")):
        value = reader.number_or_none(element, attribute, f"{where}, dynamics")
        if value is not None and value < 0:
            reader.note(
                f"{where}, dynamics", f"{attribute} is negative; it was left out", "warning"
            )
        elif value:
            result[name] = value
    return result
