"""What goes into the store with a graph, and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

from chainform.graph import Cost


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the mechanism, bound or free: its exact value, unit and note."""

    name: str
    value: Fraction | None = None
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class MechanismFile:
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
class Record:
    """What is stored with a graph: the name it goes by, and how it came about."""

    name: str
    formulation: str = ""
    step: str = "derive"
    """What made this revision: derive, bind, revert, or the name of a pass."""
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
    parameters: tuple[Parameter, ...] | None = None
    """The mechanism's parameters; None takes those that the graph leaves free."""
    created: datetime | None = None
    """When the step was made (with a time zone); None is now."""


@dataclass(frozen=True, slots=True, repr=False)
class Revision:
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
class ModelEntry:
    """A model in a list: its name, how many revisions it has, and the last of them."""

    name: str
    revisions: int
    latest: Revision
    matching: tuple[Revision, ...]
    """The revisions that meet the conditions of a search; the last one where there are none."""

    def __repr__(self) -> str:
        count = f"{self.revisions} revision{'' if self.revisions == 1 else 's'}"
        return f"<{self.name}: {count}, of {self.latest.mechanism or 'no mechanism'}>"


@dataclass(frozen=True, slots=True)
class Swept:
    """What `gc` removed."""

    graphs: int
    mechanisms: int
    objects: int = 0
