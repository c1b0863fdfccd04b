"""The XML of a URDF file, read with limits: only the elements that matter, each with its line.

A file may come from anywhere, so nothing in it may cost more than its size: definitions of entities
are refused, nesting and the number of elements are limited, and what is not read (visuals, plugins)
is not even stored.

Attributes are read as exact numbers, vectors and names.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal
from xml.parsers import expat

from chainform.errors import ReadError
from chainform.expressions import fraction_of_decimal
from chainform.mechanism import ZERO_VECTOR, Axis, Note
from chainform.readers.source import Source

MAX_DEPTH = 100
"""The greatest depth of nesting; a robot needs five."""
MAX_ELEMENTS = 500_000
"""The greatest number of elements, those that are not read included."""
READ: dict[str, frozenset[str]] = {
    "robot": frozenset({"link", "joint"}),
    "link": frozenset({"inertial"}),
    "inertial": frozenset({"origin", "mass", "inertia"}),
    "joint": frozenset({"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}),
}
"""The elements that are read, by the element they stand in."""
SILENT: dict[str, frozenset[str]] = {
    "robot": frozenset({"material", "transmission", "gazebo", "sensor", "ros2_control"}),
    "link": frozenset({"visual", "collision", "contact", "self_collision_checking", "sensor"}),
    "joint": frozenset({"calibration", "safety_controller"}),
}
"""Elements that are left out without a word: they say nothing about motion."""
ATTRIBUTES: dict[str, frozenset[str]] = {
    "origin": frozenset({"xyz", "rpy"}),
    "mass": frozenset({"value"}),
    "inertia": frozenset({"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}),
    "axis": frozenset({"xyz"}),
    "limit": frozenset(
        {"lower", "upper", "velocity", "effort", "acceleration", "deceleration", "jerk"}
    ),
    "dynamics": frozenset({"damping", "friction"}),
    "mimic": frozenset({"joint", "multiplier", "offset"}),
}
"""The attributes that are read or say nothing about motion; any other may be a slip of the pen."""


@dataclass(slots=True)
class Element:
    """One element: its attributes as written, the line it begins in, the elements it holds."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list["Element"])

    def all(self, tag: str) -> list[Element]:
        """Return the elements of that name, in the order of the file."""
        return [child for child in self.children if child.tag == tag]


@dataclass(frozen=True, slots=True)
class Document:
    """The root element; what nobody reads, counted; remarks.

    Elements are counted as (parent, tag), attributes as (tag, name).
    """

    root: Element
    unread: Counter[tuple[str, str]]
    attributes: Counter[tuple[str, str]]
    remarks: tuple[str, ...]


def parse_xml(data: bytes, source: Source) -> Document:
    """Return the elements of a URDF file, or raise ReadError with the line of the mistake."""
    remarks: list[str] = []
    tree = _Tree(source)
    parser = tree.parser
    try:
        parser.Parse(_trimmed(data, source, remarks), True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        position = f"line {error.lineno}, column {error.offset + 1}"
        raise source.error(f"this is not XML: {reason}", "correct it there", position) from error
    except (LookupError, ValueError) as error:
        # An encoding in the declaration that Python does not know, or of more than one byte.
        message = f"the encoding of the file cannot be read: {error}"
        raise source.error(message, "save it as UTF-8") from error
    assert tree.root is not None, "expat refuses a document without an element"
    return Document(tree.root, tree.unread, tree.attributes, tuple(remarks))


def _trimmed(data: bytes, source: Source, remarks: list[str]) -> bytes:
    """Return the bytes without what some programs leave around the document.

    XML allows neither blanks before its declaration nor zero bytes after its end.
    """
    if not data.strip():
        raise source.error("the file is empty", "describe a robot in it")
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")):
        return data  # two bytes per character
    early = re.match(rb"([ \t\r\n]+)<\?xml(?=[ \t\r\n])", data)
    if early is not None:
        remarks.append("blanks before the XML declaration were skipped")
        # They move into the declaration, so that lines keep their numbers.
        data = b"<?xml" + early[1] + data[early.end() :]
    if data.endswith(b"\x00") or data.rstrip(b" \t\r\n").endswith(b"\x00"):
        remarks.append("zero bytes after the end were skipped")
        data = data.rstrip(b"\x00 \t\r\n")
    return data


class _Tree:
    """Builds elements while expat reports them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.root: Element | None = None
        self.unread: Counter[tuple[str, str]] = Counter()
        self.attributes: Counter[tuple[str, str]] = Counter()
        self.open: list[Element] = []
        self.skipped = 0
        self.count = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.EntityDeclHandler = self.entity

    def error(self, message: str, remedy: str) -> ReadError:
        return self.source.error(message, remedy, f"line {self.parser.CurrentLineNumber}")

    def doctype(
        self, name: str, system: str | None, public: str | None, has_subset: bool | int
    ) -> None:
        """Refuse a document type that defines anything or points to a file that does."""
        del name, public
        if has_subset or system is not None:
            raise self.error("document type definitions are not read", "remove <!DOCTYPE ...>")

    def entity(self, *definition: object) -> None:
        """Refuse every definition of an entity: a few of them can fill any memory."""
        del definition
        raise self.error("definitions of entities are not read", "remove <!ENTITY ...>")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Keep an element that is read; skip any other together with all it holds."""
        self.count += 1
        if self.count > MAX_ELEMENTS:
            remedy = "leave out what does not describe links and joints"
            raise self.error(f"the file has more than {MAX_ELEMENTS} elements", remedy)
        if len(self.open) + self.skipped >= MAX_DEPTH:
            raise self.error(f"elements are nested more than {MAX_DEPTH} deep", "flatten them")
        if tag.startswith("xacro:"):
            raise xacro_error(f"<{tag}>", self.source, f"line {self.parser.CurrentLineNumber}")
        if self.skipped or not self.is_read(tag):
            self.skipped += 1
            return
        if tag in ATTRIBUTES:
            others = (name for name in attributes if name not in ATTRIBUTES[tag])
            self.attributes.update((tag, name) for name in others if ":" not in name)
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def is_read(self, tag: str) -> bool:
        if not self.open:
            return True
        parent = self.open[-1].tag
        if tag in READ.get(parent, ()):
            return True
        if parent in SILENT and tag not in SILENT[parent] and ":" not in tag:
            self.unread[parent, tag] += 1
        return False

    def end(self, tag: str) -> None:
        """Close the element."""
        del tag
        if self.skipped:
            self.skipped -= 1
        else:
            self.open.pop()


def xacro_error(what: str, source: Source, where: str) -> ReadError:
    """Return the error for xacro that was not expanded: URDF has neither macros nor variables."""
    return source.error(
        f"{what} belongs to xacro, which must be expanded before it is a robot",
        "run `xacro FILE -o robot.urdf` first and read the result",
        where,
    )


# --- attributes -----------------------------------------------------------------------------


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
        elements = parent.all(tag)
        if len(elements) > 1:
            text = f"{len(elements)} <{tag}> elements; the first one counts"
            self.note(where, text, "warning")
        return elements[0] if elements else None

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
