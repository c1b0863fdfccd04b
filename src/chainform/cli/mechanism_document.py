"""A mechanism as the plain data that `check --json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from chainform.cli.element_tables import drives_document
from chainform.cli.printing import Document
from chainform.expressions import format_expression, format_fraction, symbols_of, value_of
from chainform.formulations import COMMON, OF_FRAME, outputs_in_scope
from chainform.mechanism import GROUND, Description, Frame, Limits, Mechanism, Number, Segment
from chainform.mechanism.describe import CoordinateRow, RateRow
from chainform.pipeline import available_outputs

Outputs: TypeAlias = Mapping[str, Sequence[str]]
"""The outputs that can be derived, by formulation, beside those that all formulations have."""


def mechanism_document(mechanism: Mechanism, said: Description, outputs: Outputs) -> Document:
    """Return everything that was read; `outputs` are those that can be derived, by formulation."""
    return _Writer(mechanism).document(said, outputs)


def common_outputs(mechanism: Mechanism) -> list[str]:
    """Return the outputs of the whole mechanism that every formulation gives which takes it."""
    return [name for name in available_outputs(mechanism) if name in COMMON]


def frame_outputs(mechanism: Mechanism) -> list[str]:
    """Return the outputs of frames; an element model has no reactions."""
    return list(outputs_in_scope(mechanism, "auto", list(OF_FRAME)))


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
            "coordinates": [_entry(row) for row in said.coordinates],
            "rates": [_entry(row) for row in said.rates],
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
            "frames": [self.frame(frame) for frame in mechanism.frames],
            **drives_document(mechanism, said, self.number),
            "notes": [
                {"level": note.level, "element": note.element, "text": note.text}
                for note in said.notes
            ],
            "outputs": outputs,
            "common_outputs": common_outputs(mechanism),
            "frame_outputs": frame_outputs(mechanism),
        }

    def segment(self, number: int, segment: Segment) -> Document:
        return {
            "number": number,
            "name": segment.name,
            "parent": self.name_of(segment.parent),
            "joint": self.joint(segment),
            "position": self.numbers(segment.position),
            "rotation": [self.numbers(row) for row in segment.rotation],
            "mass": self.number(segment.body.mass),
            "com": self.numbers(segment.body.com),
            "inertia": [self.numbers(row) for row in segment.body.inertia],
        }

    def name_of(self, index: int) -> str:
        return "ground" if index == GROUND else self.mechanism.segments[index].name

    def frame(self, frame: Frame) -> Document:
        return {
            "name": frame.name,
            "segment": self.name_of(frame.segment),
            "point": self.numbers(frame.point),
            "rotation": [self.numbers(row) for row in frame.rotation],
        }

    def joint(self, segment: Segment) -> Document:
        joint = segment.joint
        friction = joint.friction
        return {
            "name": joint.name,
            "kind": joint.kind.value,
            "axis": self.numbers(joint.axis) if joint.kind.coordinates == 1 else None,
            "coordinate": None if segment.coordinate is None else segment.coordinate + 1,
            "rate": None if segment.rate is None else segment.rate + 1,
            "ratio": self.number(segment.ratio),
            "offset": self.number(segment.offset),
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


def _entry(row: CoordinateRow | RateRow) -> Document:
    """Return one entry of q or qd; a coordinate of an element model belongs to no segment."""
    fields = ("number", "name", "segment", "unit")
    return {field: getattr(row, field) for field in fields} | {"kind": row.kind or "element"}


def exact_text(value: Number) -> str:
    """Return a number as an exact decimal or quotient, and an expression as it is written."""
    return format_fraction(value) if isinstance(value, Fraction) else format_expression(value)
