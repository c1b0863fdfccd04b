"""A mechanism as the plain data that `check --json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from chainform.cli.printing import Document
from chainform.expressions import format_expression, format_fraction, symbols_of, value_of
from chainform.mechanism import GROUND, Description, Joint, Limits, Mechanism, Number, Segment

Outputs: TypeAlias = Mapping[str, Sequence[str]]
"""The outputs that can be derived, by formulation."""

UNITS = {"revolute": "rad", "prismatic": "m"}
"""The unit of a coordinate, by the kind of its joint."""


def mechanism_document(mechanism: Mechanism, said: Description, outputs: Outputs) -> Document:
    """Return everything that was read; `outputs` are those that can be derived, by formulation."""
    return _Writer(mechanism).document(said, outputs)


class _Writer:
    """Writes a mechanism as plain data, each number exactly and as a float."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.values = {p.name: p.value for p in mechanism.parameters if p.value is not None}

    def document(self, said: Description, outputs: Outputs) -> Document:
        mechanism = self.mechanism
        return {
            "file": said.file,
            "name": said.name,
            "nq": said.nq,
            "nv": said.nv,
            "gravity": self.numbers(mechanism.gravity),
            "base_is_moving": said.base_is_moving,
            "total_mass": said.total_mass,
            "segments": [self.segment(i, s) for i, s in enumerate(mechanism.segments, 1)],
            "coordinates": [
                {"number": row.number, "name": row.name, "segment": row.segment}
                | {"kind": row.kind, "unit": UNITS[row.kind]}
                for row in said.coordinates
            ],
            "parameters": [
                {"name": p.name, "value": None if p.value is None else self.number(p.value)}
                | {"unit": p.unit, "note": p.note}
                for p in mechanism.parameters
            ],
            "loops": [
                {"name": row.name, "kind": row.kind, "closing": row.closing, "target": row.target}
                | {"equations": row.equations}
                | {"basic": None if row.basic is None else list(row.basic)}
                for row in said.loops
            ],
            "notes": [
                {"level": note.level, "element": note.element, "text": note.text}
                for note in said.notes
            ],
            "outputs": outputs,
        }

    def segment(self, number: int, segment: Segment) -> Document:
        parent = segment.parent
        return {
            "number": number,
            "name": segment.name,
            "parent": "ground" if parent == GROUND else self.mechanism.segments[parent].name,
            "joint": self.joint(segment.joint, segment.coordinate),
            "position": self.numbers(segment.position),
            "rotation": [self.numbers(row) for row in segment.rotation],
            "mass": self.number(segment.body.mass),
            "com": self.numbers(segment.body.com),
            "inertia": [self.numbers(row) for row in segment.body.inertia],
        }

    def joint(self, joint: Joint, coordinate: int | None) -> Document:
        friction = joint.friction
        return {
            "name": joint.name,
            "kind": joint.kind.value,
            "axis": None if coordinate is None else self.numbers(joint.axis),
            "coordinate": None if coordinate is None else coordinate + 1,
            "limits": None if joint.limits is None else self.limits(joint.limits),
            "viscous_friction": None if friction is None else self.number(friction.viscous),
            "coulomb_friction": None if friction is None else self.number(friction.coulomb),
            "rotor_inertia": self.number(joint.rotor_inertia),
            "gear_ratio": self.number(joint.gear_ratio),
        }

    def limits(self, limits: Limits) -> Document:
        names = ("lower", "upper", "velocity", "effort")
        given = {name: getattr(limits, name) for name in names}
        return {k: None if v is None else self.number(v) for k, v in given.items()}

    def numbers(self, values: Iterable[Number]) -> list[Document]:
        return [self.number(value) for value in values]

    def number(self, value: Number) -> dict[str, Any]:
        """Return a number as exact text and as a float; an expression of free names has none."""
        return {"exact": exact_text(value), "value": self.float_of(value)}

    def float_of(self, value: Number) -> float | None:
        if isinstance(value, Fraction):
            return float(value)
        known = symbols_of(value) <= set(self.values)
        return float(value_of(value, self.values)) if known else None


def exact_text(value: Number) -> str:
    """Return a number as an exact decimal or quotient, and an expression as it is written."""
    return format_fraction(value) if isinstance(value, Fraction) else format_expression(value)
