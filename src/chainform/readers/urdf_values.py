"""Attributes of URDF elements as exact numbers, vectors and names, or what is wrong with them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from chainform.errors import ReadError
from chainform.expressions import fraction_of_decimal
from chainform.mechanism import ZERO_VECTOR, Axis, Note
from chainform.readers.source import Source
from chainform.readers.urdf_xml import Element, xacro_error

MAX_ANGLE = 10**9
"""Angles beyond this many rad have no meaning left in their decimals."""

SEPARATED = re.compile(r"\s*[^\s,]+\s*,\s+[^\s,]+\s*,\s+[^\s,]+\s*")
"""Three words with commas and blanks between them: here a comma cannot be a decimal point."""


@dataclass(frozen=True, slots=True)
class AttributeReader:
    """Reads attributes: it knows the file for errors and collects notes for the report.

    `where` in the methods names the element, for instance `link 'arm', mass`; the line is added.
    """

    source: Source
    notes: list[Note] = field(default_factory=list[Note])

    def note(self, where: str, text: str, level: Literal["note", "warning"] = "note") -> None:
        """Keep a remark for the report."""
        self.notes.append(Note(level, where, text))

    def error(self, message: str, element: Element, where: str, remedy: str) -> ReadError:
        """Return the error for an element of the file."""
        return self.source.error(message, remedy, f"{where} (line {element.line})")

    def one(self, parent: Element, tag: str, where: str) -> Element | None:
        """Return the element of that name; further ones are not read, as everywhere else."""
        found = parent.all(tag)
        if len(found) > 1:
            text = f"{len(found)} <{tag}> elements; the first one counts"
            self.note(where, text, "warning")
        return found[0] if found else None

    def text(self, element: Element, attribute: str, where: str) -> str:
        """Return an attribute that must be there."""
        value = element.attributes.get(attribute)
        if value is None:
            message = f"<{element.tag}> has no {attribute!r}"
            raise self.error(message, element, where, f'write {attribute}="..."')
        if "${" in value or "$(" in value:
            raise xacro_error(repr(value[:40]), self.source, f"{where} (line {element.line})")
        return value

    def name(self, element: Element, attribute: str, where: str) -> str:
        """Return a name, which must not be empty; blanks around it do not belong to it."""
        name = self.text(element, attribute, where).strip()
        return self.source.given(name, f"{where} (line {element.line})").name()

    def number(self, element: Element, attribute: str, where: str) -> Fraction:
        """Return the number in an attribute that must be there."""
        return self._number(self.text(element, attribute, where).strip(), element, where)

    def number_or_none(self, element: Element, attribute: str, where: str) -> Fraction | None:
        """Return the number in an attribute, None where the attribute is not there."""
        if attribute not in element.attributes:
            return None
        return self.number(element, attribute, where)

    def vector(self, element: Element | None, attribute: str, where: str) -> Axis:
        """Return the three numbers in an attribute, zeros where it is not there."""
        if element is None or attribute not in element.attributes:
            return ZERO_VECTOR
        text = self.text(element, attribute, where)
        words = text.split()
        if SEPARATED.fullmatch(text):
            words = text.replace(",", " ").split()
            self.note(where, f"the commas in {text[:60]!r} were read as blanks")
        elif "," in text:
            message = f"the commas in {attribute}={text[:60]!r} may be decimal points or separators"
            remedy = f'write points and blanks: {attribute}="0.5 0 0"'
            raise self.error(message, element, where, remedy)
        if len(words) != 3:
            message = f"expected three numbers in {attribute!r}, got {len(words)}"
            raise self.error(message, element, where, f'write {attribute}="0 0 0"')
        x, y, z = (self._number(word, element, where) for word in words)
        return (x, y, z)

    def angles(self, element: Element | None, where: str) -> Axis:
        """Return roll, pitch and yaw in rad, zeros where they are not given."""
        rpy = self.vector(element, "rpy", where)
        greatest = max(map(abs, rpy))
        if element is not None and greatest > MAX_ANGLE:
            raise self.error("the angle is out of all bounds", element, where, "write it in rad")
        if greatest > 7:
            text = "an angle is greater than a full turn; URDF has rad, not degrees"
            self.note(where, text, "warning")
        return rpy

    def _number(self, text: str, element: Element, where: str) -> Fraction:
        try:
            value = fraction_of_decimal(text)
            float(value)
        except OverflowError:
            message = f"the number {text[:20]!r} is beyond the range of double arithmetic"
            raise self.error(message, element, where, "use a smaller number") from None
        except ReadError as error:
            is_word = text.lower().lstrip("+-") in ("nan", "inf", "infinity")
            message = f"{text!r} is not a finite number" if is_word else error.message
            remedy = "write a number" if is_word else error.remedy or ""
            raise self.error(message, element, where, remedy) from None
        return value


def is_infinite(text: str) -> bool:
    """Tell whether a text stands for infinity, as a word or by its size."""
    try:
        return math.isinf(float(text))
    except ValueError:
        return False
