"""How reports look: tables and colour by rich on a terminal, plain aligned text elsewhere."""

from __future__ import annotations

import json
import math
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from rich.console import Console

Document: TypeAlias = dict[str, Any]
"""What `--json` prints, before the fields `schema` and `command`."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a command: as a document, and as a function that shows it to people.

    The document is None where what is shown is JSON in any case.
    """

    document: Document | None
    show: Callable[[Page], None]
    has_failed: bool = False
    """Whether the report tells of a failure, so that the exit code must too."""


class Page:
    """Stdout. Text that is piped has no colour, no frames and lines as long as they need."""

    def __init__(self) -> None:
        self.console = _console() if sys.stdout is not None and sys.stdout.isatty() else None

    def text(self, text: str = "", style: str = "") -> None:
        """Print a text; a terminal wraps its long lines, and copies them whole."""
        if self.console is None:
            print(printable(text))
        else:
            self.console.print(printable(text), style=style, soft_wrap=True)

    def heading(self, text: str) -> None:
        """Print an empty line and the title of what follows."""
        self.text()
        self.text(text, style="bold")

    def equation(self, name: str, formula: str) -> None:
        """Print name = formula, the name in colour."""
        if self.console is None:
            print(printable(f"{name} = {formula}"))
            return
        from rich.text import Text

        line = Text.assemble((printable(name), "bold cyan"), " = ", printable(formula))
        self.console.print(line, soft_wrap=True)

    def table(
        self, titles: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str] = ()
    ) -> None:
        """Print rows under titles; columns whose title is in `numbers` stand to the right."""
        cells = [[printable(cell) for cell in row] for row in rows]
        if self.console is None:
            for line in aligned([list(titles), *cells], [title in numbers for title in titles]):
                print(line)
            return
        from rich.table import Table

        table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 0, 0, 2))
        for title in titles:
            justify = "right" if title in numbers else "left"
            table.add_column(title, justify=justify, overflow="fold")
        for row in cells:
            table.add_row(*row)
        self.console.print(table)


def _console() -> Console:
    from rich.console import Console

    # Brackets and colons are parts of names here, not markup or emoji.
    return Console(markup=False, emoji=False, highlight=False)


def aligned(rows: Sequence[Sequence[str]], to_right: Sequence[bool]) -> list[str]:
    """Return rows of cells as lines whose columns stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, to_right, strict=True)
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    return lines


def printable(text: str) -> str:
    """Return the text with control characters, and halves of characters, as escapes."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def tell(text: str) -> None:
    """Print a note on stderr, wherever that leads."""
    if sys.stderr is not None:
        print(f"chainform: note: {printable(text)}", file=sys.stderr, flush=True)


def print_report(args: Namespace, report: Report) -> None:
    """Print a report as the options say, all of it, so that a full disk shows here."""
    if args.json and report.document is not None:
        write_document({"schema": "chainform/1", "command": args.command, **report.document})
    else:
        report.show(Page())
    if sys.stdout is not None:
        sys.stdout.flush()


def write_document(document: Mapping[str, Any]) -> None:
    """Print a document as JSON."""
    print(json_text(document))


LINE = 88
"""A record without inner lists stands on one line when it is no longer than this."""


def json_text(value: Any, indent: str = "") -> str:
    """Return a value as JSON, two spaces to a level; a number that is not finite becomes null."""
    if isinstance(value, Mapping):
        return _json_record(cast("Mapping[str, Any]", value), indent)
    if isinstance(value, list | tuple):
        return _json_list(cast("Sequence[Any]", value), indent)
    if isinstance(value, float) and not math.isfinite(value):
        return "null"
    return json.dumps(value, allow_nan=False)


def _json_record(record: Mapping[str, Any], indent: str) -> str:
    inner = indent + "  "
    pairs = [f"{json.dumps(key)}: {json_text(item, inner)}" for key, item in record.items()]
    line = "{" + ", ".join(pairs) + "}"
    if len(line) <= LINE and not any(map(_is_nested, record.values())):
        return line
    return f"{{\n{inner}" + f",\n{inner}".join(pairs) + f"\n{indent}}}"


def _json_list(entries: Sequence[Any], indent: str) -> str:
    inner = indent + "  "
    texts = [json_text(entry, inner) for entry in entries]
    if not any(map(_is_nested, entries)):
        return "[" + ", ".join(texts) + "]"
    return f"[\n{inner}" + f",\n{inner}".join(texts) + f"\n{indent}]"


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)


def shape_text(shape: Sequence[int]) -> str:
    """Return the lengths of an array: 6 × 6."""
    return " × ".join(map(str, shape)) or "1"
