"""The side file of a URDF file, written: what a mechanism has and URDF has no words for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import cast

from chainform.expressions import format_fraction
from chainform.mechanism import (
    AT_REST,
    DEFAULT_GRAVITY,
    GROUND,
    IDENTITY,
    ONE,
    ZERO,
    Actuator,
    Attachment,
    Force,
    Joint,
    Loop,
    Mechanism,
    Number,
    Piece,
    Rotation,
    Spring,
)
from chainform.mechanism.types import is_law_of_time
from chainform.readers.actuator_writer import actuator_fields
from chainform.readers.urdf_writing import Numbers


def side_text(mechanism: Mechanism, numbers: Numbers) -> tuple[str | None, list[str]]:
    """Return the text of the side file, None where nothing needs one, and what it holds."""
    writer = _Writer(mechanism, numbers)
    parts = {
        "gravity": list(writer.gravity()),
        "base": list(writer.base()),
        "rotor inertia and gears": list(writer.drives()),
        "loops": [line for loop in mechanism.loops for line in writer.loop(loop)],
        "springs": [line for spring in mechanism.springs for line in writer.spring(spring)],
        "forces": [line for force in mechanism.forces for line in writer.force(force)],
        "actuators": [line for each in mechanism.actuators for line in writer.actuator(each)],
    }
    held = {what: lines for what, lines in parts.items() if lines}
    if not held:
        return None, []
    text = "\n".join("\n".join(lines) for lines in held.values())
    return text.strip() + "\n", list(held)


class _Writer:
    """Writes TOML; numbers are exact, as decimals or as quotients in quotation marks."""

    def __init__(self, mechanism: Mechanism, numbers: Numbers) -> None:
        self.mechanism = mechanism
        self.numbers = numbers

    def gravity(self) -> Iterator[str]:
        if self.mechanism.gravity != DEFAULT_GRAVITY:
            yield f"gravity = {self.vector(self.mechanism.gravity)}"

    def base(self) -> Iterator[str]:
        base = self.mechanism.base
        if base == AT_REST:
            return
        yield "\n[base]"
        for name in ("rpy", "quaternion"):
            if getattr(base, name) is not None:
                yield f"{name} = {self.laws(getattr(base, name))}"
        if base.rpy is None and base.quaternion is None:
            yield f"rotation = {self.matrix(base.rotation)}"
        for name in ("position", "velocity", "acceleration"):
            yield f"{name} = {self.laws(getattr(base, name))}"
        for name in ("angular_velocity", "angular_acceleration"):
            yield f"{name} = {self.laws(getattr(base, name))}"

    def drives(self) -> Iterator[str]:
        for segment in self.mechanism.segments:
            joint: Joint = segment.joint
            if joint.rotor_inertia == ZERO and joint.gear_ratio == ONE:
                continue
            yield f"\n[joints.{_quoted(joint.name)}]"
            yield f"rotor_inertia = {self.number(joint.rotor_inertia)}"
            yield f"gear_ratio = {self.number(joint.gear_ratio)}"

    def loop(self, loop: Loop) -> Iterator[str]:
        yield "\n[[loops]]"
        yield f"name = {_quoted(loop.name)}"
        yield f"kind = {_quoted(loop.kind)}"
        yield f"closing = {self.attachment(loop.closing)}"
        yield f"target = {self.attachment(loop.target)}"
        if loop.basic is not None:
            names = (_quoted(self.mechanism.coordinates[index]) for index in loop.basic)
            yield f"basic = [{', '.join(names)}]"

    def spring(self, spring: Spring) -> Iterator[str]:
        yield "\n[[springs]]"
        yield f"name = {_quoted(spring.name)}"
        if spring.segment is not None:
            yield f"joint = {_quoted(self.mechanism.segments[spring.segment].joint.name)}"
        else:
            yield f"ends = [{', '.join(map(self.attachment, spring.ends or ()))}]"
        for name in ("stiffness", "rest", "damping"):
            yield f"{name} = {self.number(getattr(spring, name))}"

    def force(self, force: Force) -> Iterator[str]:
        yield "\n[[forces]]"
        yield f"name = {_quoted(force.name)}"
        yield f"joint = {_quoted(self.mechanism.rates[force.rate])}"
        pieces = ", ".join(self.piece(piece, f"force {force.name!r}") for piece in force.pieces)
        yield f"pieces = [{pieces}]"

    def piece(self, piece: Piece, where: str) -> str:
        times = {"from": piece.start, "until": piece.until}
        words = [
            f"{name} = {self.number(time)}" for name, time in times.items() if time is not None
        ]
        law = self.numbers.law(piece.law, where)
        return "{ " + ", ".join([*words, f"law = {_quoted(law)}"]) + " }"

    def actuator(self, actuator: Actuator) -> Iterator[str]:
        yield "\n[[actuators]]"
        joint = self.mechanism.rates[actuator.rate]
        for name, value in actuator_fields(actuator, joint, self.number, _quoted):
            yield f"{name} = {_toml(value)}"

    def attachment(self, place: Attachment) -> str:
        segment = (
            "ground" if place.segment == GROUND else self.mechanism.segments[place.segment].name
        )
        words = [f"segment = {_quoted(segment)}", f"point = {self.vector(place.point)}"]
        if place.rotation != IDENTITY:
            words.append(f"rotation = {self.matrix(place.rotation)}")
        return "{ " + ", ".join(words) + " }"

    def number(self, number: Number) -> str:
        text = format_fraction(self.numbers.value(number))
        return f'"{text}"' if "/" in text else text

    def vector(self, numbers: Iterable[Number]) -> str:
        return f"[{', '.join(map(self.number, numbers))}]"

    def laws(self, components: Iterable[Number]) -> str:
        """Return components of the base's motion: numbers, or laws of time."""
        texts = (
            _quoted(self.numbers.law(c, "base")) if is_law_of_time((c,)) else self.number(c)
            for c in components
        )
        return f"[{', '.join(texts)}]"

    def matrix(self, rotation: Rotation) -> str:
        return f"[{', '.join(map(self.vector, rotation))}]"


def _toml(value: object) -> str:
    """Return lists of texts that are TOML already as one text."""
    if not isinstance(value, list):
        return str(value)
    return f"[{', '.join(_toml(entry) for entry in cast('list[object]', value))}]"


def _quoted(text: str) -> str:
    """Return a text in quotation marks; what JSON escapes, TOML escapes alike."""
    return json.dumps(text, ensure_ascii=False)
