"""What `check` tells of drives, forces, elements and constraints, as tables and as plain data."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from chainform.cli.printing import Page
from chainform.expressions import format_expression
from chainform.mechanism import (
    ONE,
    ZERO,
    Description,
    Force,
    Friction,
    Mechanism,
    Number,
)


def show_elements(page: Page, said: Description) -> None:
    """Show elements, unknown forces, definitions, constraints and quasi-velocities."""
    if said.elements:
        page.heading("elements (m, kg, N, rad)")
        page.table(
            ("name", "kind", "place", "content"),
            [(row.name, row.kind, row.place, row.content) for row in said.elements],
        )
    if said.unknowns:
        page.heading("unknown forces")
        page.text(f"  {', '.join(said.unknowns)}")
    if said.definitions:
        page.heading("definitions")
        page.table(("name", "law"), [(row.name, row.law) for row in said.definitions])
    bound = [*said.constraints, *said.quasi]
    if bound:
        page.heading("constraints and quasi-velocities")
        rows = [(row.name, row.kind, row.law) for row in bound]
        page.table(("name", "kind", "condition or law"), rows)


FRICTION = ("viscous", "coulomb", "rotor_inertia", "gear_ratio")
"""What joints have beside their motion: the fields of the file."""

SPRING = ("stiffness", "rest", "damping")


def show_drives(page: Page, mechanism: Mechanism) -> None:
    """Show friction, rotors, actuators, springs and forces given by laws."""
    drives = _drives(mechanism)
    if drives:
        page.heading("friction, rotors and gears of joints (SI)")
        page.table(("joint", *FRICTION), drives, numbers=FRICTION)
    if mechanism.actuators:
        page.heading("actuators")
        page.table(
            ("name", "drives", "states", "signal"),
            [
                (a.name, mechanism.rates[a.rate], ", ".join(a.states) or "none", a.signal)
                for a in mechanism.actuators
            ],
        )
    if mechanism.springs:
        page.heading("springs")
        rows = [
            (s.name, _spring_place(mechanism, i), *(_text(getattr(s, field)) for field in SPRING))
            for i, s in enumerate(mechanism.springs)
        ]
        page.table(("name", "place", *SPRING), rows, numbers=SPRING)
    if mechanism.forces:
        page.heading("forces (N, N m; t in s)")
        rows = [(f.name, mechanism.rates[f.rate], _force_text(f)) for f in mechanism.forces]
        page.table(("name", "on", "law"), rows)


def drives_document(
    mechanism: Mechanism, said: Description, number: Callable[[Number], dict[str, Any]]
) -> dict[str, Any]:
    """Return what there is of actuators, springs, forces, elements and constraints.

    `number` writes one number as plain data.
    """
    found: dict[str, Any] = {
        "actuators": [
            {"name": a.name, "rate": mechanism.rates[a.rate]}
            | {"states": list(a.states), "signal": a.signal}
            for a in mechanism.actuators
        ],
        "springs": [
            {"name": s.name, "place": _spring_place(mechanism, i)}
            | {field: number(getattr(s, field)) for field in SPRING}
            for i, s in enumerate(mechanism.springs)
        ],
        "forces": [
            {"name": f.name, "rate": mechanism.rates[f.rate], "law": _force_text(f)}
            for f in mechanism.forces
        ],
        "elements": [
            {"name": row.name, "kind": row.kind, "place": row.place, "content": row.content}
            for row in said.elements
        ],
        "unknowns": list(said.unknowns),
        "definitions": [{"name": row.name, "law": row.law} for row in said.definitions],
        "constraints": [
            {"name": row.name, "kind": row.kind, "law": row.law}
            for row in (*said.constraints, *said.quasi)
        ],
    }
    return {name: entries for name, entries in found.items() if entries}


def _drives(mechanism: Mechanism) -> list[tuple[str, ...]]:
    """Return the joints that have friction, a rotor or a gear, each with these numbers."""
    rows: list[tuple[str, ...]] = []
    for joint in (segment.joint for segment in mechanism.segments):
        friction = joint.friction or Friction()
        numbers = (friction.viscous, friction.coulomb, joint.rotor_inertia, joint.gear_ratio)
        if numbers != (ZERO, ZERO, ZERO, ONE):
            rows.append((joint.name, *map(_text, numbers)))
    return rows


def _spring_place(mechanism: Mechanism, index: int) -> str:
    spring = mechanism.springs[index]
    if spring.segment is not None:
        return f"joint {mechanism.segments[spring.segment].joint.name}"
    names = [
        "ground" if end.segment < 0 else mechanism.segments[end.segment].name
        for end in spring.ends or ()
    ]
    return " to ".join(names)


def _force_text(force: Force) -> str:
    """Return the laws of a force with the times in which they hold."""
    texts: list[str] = []
    for piece in force.pieces:
        start = "" if piece.start is None else f" from {_text(piece.start)}"
        until = "" if piece.until is None else f" until {_text(piece.until)}"
        texts.append(f"{_text(piece.law)}{start}{until}")
    return "; ".join(texts)


def _text(number: Number) -> str:
    return f"{float(number):.10g}" if isinstance(number, Fraction) else format_expression(number)
