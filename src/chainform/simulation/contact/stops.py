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

from chainform.errors import RunError
from chainform.given import Given, argument
from chainform.mechanism import Constraint, Mechanism, Number, Segment, reader_of
from chainform.simulation.contact.barriers import (
    MANNER_FIELDS,
    Barrier,
    EndStop,
    LawBarrier,
    Manner,
    manner_of,
)

STOP_FIELDS = (*MANNER_FIELDS, "lower", "upper")


def stops_of(mechanism: Mechanism, stops: object, without: Sequence[str] = ()) -> list[Barrier]:
    """Return the stops that were asked for, then the unilateral constraints of the file."""
    tables = _tables(stops)
    joints = {segment.joint.name: segment for segment in _movable(mechanism)}
    laws = {c.name: c for c in mechanism.constraints if c.kind == "unilateral"}
    patterns, own = dict[str, Given | None](), dict[str, Given | None]()
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
        if constraint.friction != 0 and "friction" not in without:
            raise RunError(
                "a law says nothing about directions along the bodies that touch, so there can be "
                "no friction between them",
                element=f"constraint {name!r}, friction",
                remedy='leave it out with without=["friction"], or use contacts of frames',
            )
        made.append(_law_barrier(mechanism, constraint, chosen.get(name)))
    return made


def _tables(stops: object) -> dict[str, Given | None]:
    given = argument("stops", stops)
    if stops is None or stops is False:
        return {}
    if given.is_table:
        return {name: _table(one.at(f"stop {name!r}")) for name, one in given.table().items()}
    return {"*": _table(given)}


def _table(given: Given) -> Given | None:
    """Return how a stop answers; None where there is to be none."""
    if given.value is False:
        return None
    if given.value is True or given.value is None:
        return given.holding({})
    if not given.is_table and isinstance(given.value, int | float):
        return given.holding({"restitution": given.value})
    return given.table(STOP_FIELDS, 'write true, 0.5 or {"stiffness": 1e5, "damping": 0.2}')


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


def _ends(mechanism: Mechanism, segment: Segment, given: Given, *, is_named: bool) -> list[Barrier]:
    name, limits = segment.joint.name, segment.joint.limits
    table, reader = given.at(f"stop {name!r}"), reader_of(mechanism)
    manner = manner_of(table)
    made: list[Barrier] = []
    known: list[Fraction] = []
    for side, end in ((1, "lower"), (-1, "upper")):
        bound: Number | None = None if limits is None else getattr(limits, end)
        if table.has(end):
            bound = reader.number(table[end])
        if bound is not None:
            made.append(EndStop(f"{name} {end}", segment, side, bound, manner))
            known += [bound] if isinstance(bound, Fraction) else []
    if len(known) == 2 and known[0] > known[1]:
        ends = f"lower {float(known[0]):g} exceeds upper {float(known[1]):g}"
        raise table.error(ends, "exchange them")
    if not made and is_named:
        remedy = "give lower or upper here, or limits in the file"
        raise table.error(f"the joint {name} has no limits", remedy)
    return made


def _law_barrier(mechanism: Mechanism, constraint: Constraint, given: Given | None) -> Barrier:
    known = reader_of(mechanism).known(constraint.restitution)
    manner = Manner(restitution=float(known or 0))
    if given is not None:
        table = given.at(f"constraint {constraint.name!r}")
        if table.has("lower", "upper"):
            remedy = "leave them out: its law tells where it begins"
            raise table.error("a constraint has no ends", remedy)
        own = manner_of(table)
        is_own = "restitution" in table.value or own.is_stiff
        manner = own if is_own else replace(own, restitution=manner.restitution)
    return LawBarrier(constraint.name, constraint.law, manner)
