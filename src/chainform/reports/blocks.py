"""What a report consists of: headings, texts, tables, equations and pictures, one after another.

The same blocks become a page of HTML (`html.py`), a LaTeX document (`tex.py`), or what a notebook
shows of an object (`notebook.py`). All texts are plain: each writer escapes them in its own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from chainform.emitters import Equation
from chainform.expressions import Symbol


@dataclass(frozen=True, slots=True)
class Title:
    """A heading; `level` is 1 for a section, 2 for what is inside, 0 for the whole."""

    text: str
    level: int = 1


InlineText: TypeAlias = tuple[str | Symbol, ...]
"""A text with symbols as formulas have them."""

TableCell: TypeAlias = str | Symbol | InlineText
"""What stands in a table or a paragraph: a text, a symbol, or a text with symbols."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences."""

    text: TableCell


@dataclass(frozen=True, slots=True)
class DataTable:
    """Rows of texts and symbols under titles; columns named in `numbers` stand to the right."""

    titles: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    numbers: tuple[str, ...] = ()
    caption: TableCell = ""

    @staticmethod
    def of(
        titles: Sequence[str],
        rows: Sequence[Sequence[TableCell]],
        numbers: Sequence[str] = (),
        caption: TableCell = "",
    ) -> DataTable:
        """Return a table of any sequences; columns that are empty in every row are left out."""
        filled = [k for k in range(len(titles)) if any(row[k] for row in rows)]
        chosen = tuple(tuple(row[k] for k in filled) for row in rows)
        return DataTable(tuple(titles[k] for k in filled), chosen, tuple(numbers), caption)


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Lines of text that keep their breaks and spaces."""

    text: str


@dataclass(frozen=True, slots=True)
class EquationList:
    """Equations below each other, and what short sines in them stand for."""

    equations: tuple[Equation, ...]
    legend: tuple[Equation, ...] = ()


@dataclass(frozen=True, slots=True)
class PictureBlock:
    """A picture as the bytes of a PNG file, with the words below it."""

    png: bytes = field(repr=False)
    caption: str
    name: str = "picture"
    """What its file is called in the folder of a LaTeX document."""


@dataclass(frozen=True, slots=True)
class DrawingBlock:
    """A drawing as the text of an SVG element, for pages only."""

    svg: str = field(repr=False)


ReportBlock = Title | Paragraph | DataTable | Verbatim | EquationList | PictureBlock | DrawingBlock
