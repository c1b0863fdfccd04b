"""The page of the documentation with all results, and the rows that can be read from it again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.published.records import Case, Result

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "published.md"
PICTURES = ROOT / "docs" / "pictures"
NAMES = ("case", "quantity", "accuracy", "deviation", "where the accuracy comes from")
HEAD = f"| {' | '.join(NAMES)} |\n|---|---|---:|---:|---|"
INTRODUCTION = """# Results of others, computed again

Made by `python tools/published.py --write`. `tests/published` has the numbers, where each comes
from, and the mechanisms; the tests compute all of them. Without `--write` the command prints the
table, and names choose cases.

*Accuracy* is what the source claims, or the digits that it prints; *deviation* is the largest
difference from its numbers. Both are relative to the largest published number of the quantity, or
absolute in italics. Our motions are integrated to 1e-10 where a row does not say otherwise, so that
the deviation is mostly the error of the source.
"""


@dataclass(frozen=True)
class Row:
    """A row of the table: what was compared, and how far apart the numbers are."""

    case: str
    quantity: str
    accuracy: float
    deviation: float
    claim: str
    is_absolute: bool

    @classmethod
    def of(cls, case: Case, result: Result) -> Row:
        """Return the row of a result, which is computed for it."""
        return cls(
            case.title,
            result.quantity,
            result.accuracy,
            result.deviation(),
            result.claim,
            result.is_absolute,
        )

    @property
    def text(self) -> str:
        """The row as it stands on the page."""
        mark = "*" if self.is_absolute else ""
        figures = (self.accuracy, float(f"{self.deviation:.0e}"))
        accuracy, deviation = (f"{mark}{short(value)}{mark}" for value in figures)
        return f"| {self.case} | {self.quantity} | {accuracy} | {deviation} | {self.claim} |"


def short(value: float) -> str:
    """Return a figure with two digits at most: 0.5, 2e-3, 0."""
    if value == 0 or 0.1 <= value < 10:
        return f"{value:g}"
    return f"{value:.1e}".replace(".0e", "e").replace("e-0", "e-")


def rows_of(text: str) -> list[Row]:
    """Return the rows of a page, read from its tables."""
    rows: list[Row] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == len(NAMES) and cells[0] != NAMES[0]:
            case, quantity, accuracy, deviation, claim = cells
            is_absolute = accuracy.startswith("*")
            reached = float(deviation.strip("*"))
            row = Row(case, quantity, float(accuracy.strip("*")), reached, claim, is_absolute)
            rows.append(row)
    return rows


def page_of(cases: Iterable[Case], rows: Iterable[Row]) -> str:
    """Return the page: for each source its table, then pictures and notes of its cases."""
    all_cases, all_rows = tuple(cases), tuple(rows)
    counted = (
        f"{len(all_rows)} results of {len(all_cases)} models; positions and rates of one motion "
        "count as two."
    )
    parts = [INTRODUCTION, counted + "\n"]
    for source, group in groupby(all_cases, key=lambda case: case.source):
        chosen = tuple(group)
        titles = {case.title for case in chosen}
        table = [row.text for row in all_rows if row.case in titles]
        where = (
            f"`{source.repository}` at commit `{source.commit[:10]}`; licence: {source.licence}."
        )
        if source.parameters:
            where += f" Parameters: {source.parameters}."
        parts += [f"## {source.name}\n", where + "\n", "\n".join([HEAD, *table]) + "\n"]
        parts += [_described(case) for case in chosen]
    return "\n".join(parts)


def picture_of(case: Case) -> Path:
    """Return the file of the picture of a case."""
    return PICTURES / f"published_{case.name}.{case.picture}"


def _described(case: Case) -> str:
    """Return what the page says of a case, with its picture."""
    model = f", parameters from `{case.model}`" if case.model else ""
    lines = [f"**{case.title}.** {case.note} Results: `{case.path}`{model}.\n"]
    if case.picture:
        lines.append(f"![{case.title}](pictures/{picture_of(case).name})\n")
    return "\n".join(lines)
