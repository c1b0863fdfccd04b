"""What the head of an exported source says of a mechanism: joints, parameters, its reading."""

from __future__ import annotations

from collections.abc import Iterator

from chainform.mechanism import Mechanism, automatic_parameters

MEANINGS = {
    "m": ("kg", "mass"),
    "com": ("m", "mass centre"),
    "d": ("m", "position"),
    "I": ("kg m^2", "inertia"),
    "g": ("m/s^2", ""),
}
"""Units and meanings of parameters that have automatic names."""


def reading_notes(mechanism: Mechanism) -> list[str]:
    """Return why equations may differ from those of the file as it stands: warnings, snapping."""
    chosen = [n for n in mechanism.notes if n.level == "warning" or n.element == "snapping"]
    return [f"{note.element}: {note.text}" for note in chosen]


def followers(mechanism: Mechanism) -> Iterator[str]:
    """Yield a line about each joint that has no entry in q, since it follows another one."""
    for index, segment in enumerate(mechanism.segments):
        if segment.coordinate is None:
            continue
        leader = mechanism.coordinate_records[segment.coordinate].segment
        if leader != index:
            yield f"{segment.joint.name} follows {mechanism.segments[leader].joint.name}."


def parameter_meaning(mechanism: Mechanism, name: str) -> tuple[str, str]:
    """Return unit and meaning of a parameter: m_6 is ("kg", "mass of 'tool'"); "" if unknown."""
    own = {parameter.name: parameter for parameter in mechanism.parameters}
    if name in own:
        return own[name].unit, ""
    if name not in automatic_parameters(mechanism):
        return "", ""
    kind, *rest = name.split("_")
    unit, word = MEANINGS[kind]
    if not rest or int(rest[0]) > len(mechanism.segments):
        return unit, ""
    return unit, f"{word} of {mechanism.segments[int(rest[0]) - 1].name!r}"
