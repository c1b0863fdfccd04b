"""The side file of a URDF file, written: parts of the native table that URDF has no words for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import cast

from chainform.expressions import format_fraction, symbols_of
from chainform.mechanism import (
    DEFAULT_GRAVITY,
    ONE,
    ZERO,
    Mechanism,
    Number,
    meaning_of,
    native_table,
)
from chainform.readers.urdf_writing import Numbers

LISTS = ("loops", "springs", "forces", "actuators")
"""The lists of a native file that a side file has as well."""

LAWS = {"forces": "force"}
"""The lists whose numbers may be laws of the motion, with the word for one entry."""


def side_text(mechanism: Mechanism, numbers: Numbers) -> tuple[str | None, list[str]]:
    """Return the text of the side file, None where nothing needs one, and what it holds."""
    writer, table = _Writer(mechanism, numbers), native_table(mechanism)
    is_usual = mechanism.gravity == DEFAULT_GRAVITY
    parts = {
        "gravity": [] if is_usual else [f"gravity = {writer.value(table['gravity'])}"],
        "base": list(writer.tables("[base]", [table["base"]], "base")) if "base" in table else [],
        "rotor inertia and gears": list(writer.drives()),
    }
    for name in LISTS:
        entries = cast("Sequence[Mapping[str, object]]", table.get(name, ()))
        parts[name] = list(writer.tables(f"[[{name}]]", entries, LAWS.get(name, "")))
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

    def drives(self) -> Iterator[str]:
        for joint in (segment.joint for segment in self.mechanism.segments):
            if joint.rotor_inertia == ZERO and joint.gear_ratio == ONE:
                continue
            yield f"\n[joints.{_quoted(joint.name)}]"
            yield f"rotor_inertia = {self.value(joint.rotor_inertia)}"
            yield f"gear_ratio = {self.value(joint.gear_ratio)}"

    def tables(self, title: str, entries: Sequence[object], kind: str) -> Iterator[str]:
        """Yield the lines of tables; `kind` names what may have laws, and is empty elsewhere."""
        for entry in cast("Sequence[Mapping[str, object]]", entries):
            where = f"{kind} {entry['name']!r}" if kind and "name" in entry else kind
            yield f"\n{title}"
            for name, value in entry.items():
                yield f"{name} = {self.value(value, where)}"

    def value(self, value: object, where: str = "") -> str:
        """Return an entry of the native table as TOML; laws only where an element is given."""
        if isinstance(value, str):
            return _quoted(value)
        if isinstance(value, Mapping):
            table = cast("Mapping[str, object]", value)
            words = (f"{name} = {self.value(entry, where)}" for name, entry in table.items())
            return "{ " + ", ".join(words) + " }"
        if isinstance(value, list):
            entries = cast("Sequence[object]", value)
            return f"[{', '.join(self.value(entry, where) for entry in entries)}]"
        number = cast("Number", value)
        if where and self.is_law(number):
            return _quoted(self.numbers.law(number, where))
        text = format_fraction(self.numbers.value(number))
        return _quoted(text) if "/" in text else text

    def is_law(self, number: Number) -> bool:
        """Tell whether a number names coordinates, rates or time; all others have a value."""
        names = self.mechanism.coordinates, self.mechanism.rates
        symbols = () if isinstance(number, Fraction) else symbols_of(number)
        return any(meaning_of(symbol, *names) is not None for symbol in symbols)


def _quoted(text: str) -> str:
    """Return a text in quotation marks; what JSON escapes, TOML escapes alike."""
    return json.dumps(text, ensure_ascii=False)
