"""What people see of an object: one short line in a shell, formulas and pictures in a notebook.

Notebooks ask an object for `_repr_mimebundle_`. Every public class inherits it from here; the room
`reports`, which stands above all others and knows them, makes the answer and is imported then.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from importlib import import_module
from typing import Any, TypeVar

Item = TypeVar("Item")
LONGEST = 100
"""Characters of a line; what is longer is cut."""


class Displayed:
    """An object that notebooks show as formulas, tables and pictures."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the object as notebooks ask for it: plain text, and HTML or LaTeX."""
        del include, exclude
        found: dict[str, str] = import_module("chainform.reports").bundle_of(self)
        return found

    def __repr__(self) -> str:
        """Return one line: the class, the name, and what is a number or a text."""
        kind, name = type(self).__name__, getattr(self, "name", "")
        parts = [f"{key} = {text}" for key, value in _fields(self) if (text := scalar_text(value))]
        head = f"{kind} {name}" if isinstance(name, str) and name else kind
        line = f"{head}: {', '.join(parts)}" if parts else head
        return f"<{line if len(line) <= LONGEST else f'{line[: LONGEST - 3]}...'}>"


class Records(tuple[Item, ...], Displayed):
    """Records of one class, which notebooks show as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        kind = type(self[0]).__name__ if self else "nothing"
        names = ", ".join(str(getattr(record, "name", "")) for record in self)
        shown = names if len(names) <= LONGEST else f"{names[: LONGEST - 3]}..."
        return f"<{len(self)} of {kind}: {shown}>"


def _fields(record: object) -> list[tuple[str, Any]]:
    if not is_dataclass(record):
        return []
    return [
        (f.name, getattr(record, f.name)) for f in fields(record) if f.repr and f.name != "name"
    ]


def scalar_text(value: object) -> str:
    """Return a number, a text or a short list of them; nothing for all else."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool | int | Fraction | str):
        return " ".join(str(value).split())
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, tuple):
        entries: list[object] = list(value)  # pyright: ignore[reportUnknownArgumentType]
        texts = ["" if isinstance(entry, tuple) else scalar_text(entry) for entry in entries]
        return f"({', '.join(texts)})" if texts and all(texts) else ""
    return ""
