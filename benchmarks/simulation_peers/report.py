"""Tables on the screen, and the same in a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Section:
    """A table with a title, what it shows in words, and its rows."""

    title: str
    words: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def show(self, console: Console) -> None:
        """Print the table."""
        table = Table(title=self.title, caption=self.words, title_justify="left")
        for number, name in enumerate(self.header):
            table.add_column(name, justify="left" if number == 0 else "right")
        for row in self.rows:
            table.add_row(*row)
        console.print(table)

    def lines(self) -> list[str]:
        """Return the lines of a page."""
        rule = "|---" + "|---:" * (len(self.header) - 1) + "|"
        rows = [_row(row) for row in self.rows]
        return [f"## {self.title}", "", self.words, "", _row(self.header), rule, *rows, ""]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def seconds(value: float) -> str:
    """Return a time with three digits and a fitting unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def small(value: float) -> str:
    """Return a small number with two digits."""
    return f"{value:.1e}"
