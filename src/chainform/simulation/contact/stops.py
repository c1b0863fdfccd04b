"""Stops of joints, as they are asked for.

stops=True                                    every limit in the file, without restitution
stops=0.5                                     every limit, with that restitution
stops={"l1": 0.5, "l2": {"stiffness": 1e5, "damping": 0.2}}       single joints
stops={"theta*": 0, "l3": {"lower": 0, "upper": 0.8}}             patterns; limits of one's own
stops={"l*": 0.5, "l2": False}                all but one; a name goes before all patterns

Limits of the file are no stops unless this is asked for; unilateral constraints of the file are
always there, and may be named here to change how they answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any, TypeAlias, cast

from chainform.errors import RunError
from chainform.mechanism import Mechanism, Number, Segment
from chainform.mechanism.additions import intake_of
from chainform.mechanism.constraints import Constraint
from chainform.simulation.contact.barriers import (
    MANNER_FIELDS,
    Barrier,
    EndStop,
    LawBarrier,
    Manner,
    manner_of,
)

Table: TypeAlias = Mapping[str, object]

STOP_FIELDS = (*MANNER_FIELDS, "lower", "upper")


def stops_of(mechanism: Mechanism, said: object, leave_out: Sequence[str] = ()) -> list[Barrier]:
    """Return the stops that were asked for, then the unilateral constraints of the file."""
    tables = _tables(said)
    joints = {segment.joint.name: segment for segment in _movable(mechanism)}
    laws = {c.name: c for c in mechanism.constraints if c.kind == "unilateral"}
    patterns, own = dict[str, Table | None](), dict[str, Table | None]()
    for name, table in tables.items():
        is_pattern = name not in joints and name not in laws and any(c in name for c in "*?[")
        for found in _names(name, mechanism, joints, laws):
            if not is_pattern and found in own:
                remedy = "give each joint once"
                raise RunError(f"{found} is given twice", element="stops", remedy=remedy)
            (patterns if is_pattern else own)[found] = table
    chosen = {**patterns, **own}
    made: list[Barrier] = []
    for name, segment in joints.items():
        given = chosen.get(name)
        if given is not None:
            made += _ends(mechanism, segment, given, is_named=name in own)
    for name, constraint in laws.items():
        if constraint.friction != 0 and "friction" not in leave_out:
            raise RunError(
                "a law says nothing about directions along the bodies that touch, so there can be "
                "no friction between them",
                element=f"constraint {name!r}, friction",
                remedy='leave it out with leave_out=["friction"], or use contacts of frames',
            )
        made.append(_law_barrier(mechanism, constraint, chosen.get(name)))
    return made


def _tables(said: object) -> dict[str, Table | None]:
    if said is None or said is False:
        return {}
    if isinstance(said, Mapping):
        given = cast("Mapping[str, Any]", said)
        return {str(name): _table(value, f"stop {name!r}") for name, value in given.items()}
    return {"*": _table(said, "stops")}


def _table(value: object, where: str) -> Table | None:
    """Return how a stop answers; None where there is to be none."""
    if value is False:
        return None
    if value is True or value is None:
        return {}
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        for key in table:
            if key not in STOP_FIELDS:
                raise RunError(
                    f"unknown field {key!r}", element=where, remedy=", ".join(STOP_FIELDS)
                )
        return table
    if isinstance(value, int | float):
        return {"restitution": value}
    raise RunError(
        "a stop is true, a restitution, or a table",
        element=where,
        remedy='write {"restitution": 0.5} or {"stiffness": 1e5, "damping": 0.2}',
    )


def _movable(mechanism: Mechanism) -> Iterator[Segment]:
    return (s for s in mechanism.segments if s.joint.kind.rates == 1)


def _names(
    name: str,
    mechanism: Mechanism,
    joints: Mapping[str, Segment],
    laws: Mapping[str, Constraint],
) -> list[str]:
    """Return what a name or a pattern stands for; `*` alone leaves the laws of the file alone."""
    if name in joints or name in laws:
        return [name]
    if name == "*":
        return list(joints)
    found = [known for known in (*joints, *laws) if fnmatchcase(known, name)]
    if not found and "*" not in name:
        place = mechanism.coordinate_index(name)
        found = [joint for joint, segment in joints.items() if segment.coordinate == place]
    if not found:
        raise RunError(
            f"{name!r} is no joint of one coordinate and no unilateral constraint",
            element="stops",
            remedy="there are " + ", ".join((*joints, *laws)),
        )
    return found


def _ends(
    mechanism: Mechanism, segment: Segment, table: Mapping[str, object], *, is_named: bool
) -> list[Barrier]:
    name, where = segment.joint.name, f"stop {segment.joint.name!r}"
    intake, limits = intake_of(mechanism), segment.joint.limits
    manner = manner_of(table, where)
    made: list[Barrier] = []
    known: list[Fraction] = []
    for side, end in ((1, "lower"), (-1, "upper")):
        bound: Number | None = None if limits is None else getattr(limits, end)
        if table.get(end) is not None:
            bound = intake.number(table[end], f"{where}, {end}")
        if bound is not None:
            made.append(EndStop(f"{name} {end}", segment, side, bound, manner))
            known += [bound] if isinstance(bound, Fraction) else []
    if len(known) == 2 and known[0] > known[1]:
        ends = f"lower {float(known[0]):g} exceeds upper {float(known[1]):g}"
        raise RunError(ends, element=where, remedy="exchange them")
    if not made and is_named:
        remedy = "give lower or upper here, or limits in the file"
        raise RunError(f"the joint {name} has no limits", element=where, remedy=remedy)
    return made


def _law_barrier(
    mechanism: Mechanism, constraint: Constraint, table: Mapping[str, object] | None
) -> Barrier:
    where = f"constraint {constraint.name!r}"
    known = intake_of(mechanism).known(constraint.restitution, where)
    manner = Manner(restitution=float(known or 0))
    if table is not None:
        if "lower" in table or "upper" in table:
            remedy = "leave them out: its law tells where it begins"
            raise RunError("a constraint has no ends", element=where, remedy=remedy)
        given = manner_of(table, where)
        is_said = "restitution" in table or given.is_stiff
        manner = given if is_said else replace(given, restitution=manner.restitution)
    return LawBarrier(constraint.name, constraint.law, manner)
