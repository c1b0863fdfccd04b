"""What goes into the store with a graph, and what comes out of it; arguments, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, cast

from chainform.display import Displayed
from chainform.errors import StoreError
from chainform.given import Given, counted
from chainform.graph import Cost


@dataclass(frozen=True, slots=True, repr=False)
class ParameterEntry(Displayed):
    """A parameter of the mechanism, bound or free: its exact value, unit and note."""

    name: str
    value: Fraction | None = None
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class MechanismFile(Displayed):
    """The mechanism a model came from: the file as it was read, and its canonical text."""

    name: str
    text: str = ""
    """The mechanism as canonical text, written by the caller."""
    file_name: str = ""
    media_type: str = ""
    source: bytes = b""
    """The user's own file, byte for byte."""
    notes: tuple[tuple[str, ...], ...] = ()
    """The notes of the reader on the mechanism: level, element and text of each."""


@dataclass(frozen=True, slots=True)
class RevisionRecord:
    """What is stored with a graph: the name it goes by, and how it came about."""

    name: str
    formulation: str = ""
    step: str = "derive"
    """What made this revision: derive, bind, define, revert, or the name of a pass."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The options of the step, as JSON can hold them."""
    parent: int | None = None
    """The revision of the same model that the step started from."""
    author: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    seconds: float | None = None
    """How long the step took."""
    mechanism: MechanismFile | None = None
    parameters: tuple[ParameterEntry, ...] | None = None
    """The mechanism's parameters; None takes those that the graph leaves free."""
    created: datetime | None = None
    """When the step was made (with a time zone); None is now."""


@dataclass(frozen=True, slots=True, repr=False)
class Revision(Displayed):
    """One state of a model, as the store knows it."""

    name: str
    number: int
    formulation: str
    step: str
    options: Mapping[str, Any]
    parent: int | None
    author: str
    note: str
    tags: tuple[str, ...]
    created: datetime
    seconds: float | None
    cost: Cost
    """Operations of one evaluation of all outputs."""
    once: Cost
    """Operations that depend on parameters alone."""
    outputs: tuple[str, ...]
    variables: int
    terms: int
    factors: int
    content: str
    """The hash of the graph; revisions with equal content share their rows."""
    mechanism: str
    """The name of the mechanism."""
    graph: int = field(repr=False, compare=False)
    """The number of the graph in this database: what the tables call `graph`."""
    key: int = field(repr=False, compare=False)
    """The number of the revision in this database: what the tables call `revision`."""

    @property
    def reference(self) -> str:
        """The revision as commands name it: arm@3."""
        return f"{self.name}@{self.number}"

    @property
    def values(self) -> Mapping[str, str]:
        """The numbers that the step gave to parameters, each as exact text."""
        return dict(self.options.get("values") or {})

    @property
    def origin(self) -> str:
        """The revision that the step started from: 2, or arm@2 where that is another model."""
        return str(self.options.get("origin") or ("" if self.parent is None else self.parent))

    def __repr__(self) -> str:
        came = f" from {self.origin}" if self.origin else ""
        bound = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        tags = f"tags {', '.join(self.tags)}" if self.tags else ""
        when = f"{self.created:%Y-%m-%d %H:%M}"
        parts = (f"{self.step}{came}", bound, tags, self.author, when, self.note)
        return f"<{self.reference}: {'; '.join(part for part in parts if part)}>"


@dataclass(frozen=True, slots=True, repr=False)
class ModelEntry(Displayed):
    """A model in a list: its name, how many revisions it has, and the last of them."""

    name: str
    revisions: int
    latest: Revision
    matching: tuple[Revision, ...]
    """The revisions that meet the conditions of a search; the last one where there are none."""

    def __repr__(self) -> str:
        count = counted(self.revisions, "revision")
        return f"<{self.name}: {count}, of {self.latest.mechanism or 'no mechanism'}>"


@dataclass(frozen=True, slots=True, repr=False)
class Swept(Displayed):
    """What `gc` removed."""

    graphs: int
    mechanisms: int
    objects: int = 0


# --- arguments, checked before a database sees them -------------------------------------------


def argument_of(value: object, what: str) -> Given:
    """Return an argument; what is wrong with it is a StoreError."""
    return Given(value, what, raises=StoreError)


def text_of(value: object, what: str) -> str:
    """Return a text; refuse anything else, and text that not every database can hold."""
    text = argument_of(value, what).text("give a text")
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise StoreError(
            f"a text holds a character that cannot be stored: {text[:60]!r}",
            element=what,
            remedy="remove the character of number zero and halves of surrogate pairs",
        )
    return text


def optional_text(value: object, what: str) -> str | None:
    """Return a text, or None."""
    return None if value is None else text_of(value, what)


def texts_of(values: object, what: str) -> tuple[str, ...]:
    """Return several texts; a single one stands for itself."""
    return tuple(text_of(text, what) for text in argument_of(values, what).texts("give texts"))


def whole_number(value: object, what: str) -> int:
    """Return a number of a revision, or of something else that is counted."""
    return argument_of(value, what).whole(0, 2**31 - 1)


def seconds_of(value: object, what: str) -> float:
    """Return a time in seconds."""
    return argument_of(value, what).number(0, remedy="give a number of seconds")


def mapping_of(value: object, what: str) -> dict[str, Any]:
    """Return a mapping from texts."""
    if not isinstance(value, Mapping):
        raise argument_of(value, what).expected("a mapping", "give one from names")
    pairs = cast("Mapping[object, Any]", value)
    return {text_of(key, what): item for key, item in pairs.items()}


def bytes_of(value: object, what: str) -> bytes:
    """Return bytes."""
    found = raw_bytes(value)
    if found is None:
        raise argument_of(value, what).expected("bytes", "give bytes")
    return found


def raw_bytes(value: object) -> bytes | None:
    """Return bytes as they come from a driver, None where a cell holds something else."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(cast("bytes", value))
    return None


def utc(moment: object) -> datetime:
    """Return a moment in UTC; one without a time zone is taken to be in UTC already."""
    if not isinstance(moment, datetime):
        raise argument_of(moment, "a moment").expected("a date with a time", "give a datetime")
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise StoreError(
            f"{moment.isoformat()} is outside of the calendar", remedy="take a year from 1 to 9999"
        ) from None
