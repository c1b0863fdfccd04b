"""The XML of a URDF file, read with limits: only the elements that matter, each with its line.

A file may come from anywhere, so nothing in it may cost more than its size: definitions of entities
are refused, nesting and the number of elements are limited, and what is not read (visuals, plugins)
is not even kept.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from xml.parsers import expat

from chainform.errors import ReadError
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
        place = f"line {error.lineno}, column {error.offset + 1}"
        raise source.error(f"this is not XML: {reason}", "correct it there", place) from error
    except (LookupError, ValueError) as error:
        # An encoding in the declaration that Python does not know, or of more than one byte.
        message = f"the encoding of the file cannot be read: {error}"
        raise source.error(message, "save it as UTF-8") from error
    if tree.root is None:
        raise source.error("the file holds no element", "describe a robot in it")
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
