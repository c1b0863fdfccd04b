"""A seeded sample of changes: lines are drawn evenly, then one change of each line."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tools.mutants.changes import Change, changes_of, is_python

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "chainform"
ROOMS = ("graph", "algebra", "passes", "formulations", "mechanism", "simulation", "store")


def changes(rooms: Iterable[str]) -> dict[tuple[str, int], list[Change]]:
    """Return the changes of rooms by file and line, in the order of the text."""
    lines: dict[tuple[str, int], list[Change]] = defaultdict(list)
    for room in rooms:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            file = path.relative_to(PACKAGE).as_posix()
            for change in changes_of(file, text_of(file)):
                lines[file, change.line].append(change)
    return lines


def drawn(rooms: Iterable[str], count: int, seed: int) -> list[Change]:
    """Return so many changes, of different lines; the same for the same sources and seed.

    The order of lines, and of the changes of a line, is that of hashes with the seed. So most of
    the sample stays where a few lines of the sources change.
    """

    def rank(change: Change) -> bytes:
        return hashlib.sha256(f"{seed} {change.key}".encode()).digest()

    def rank_of_line(place: tuple[str, int]) -> bytes:
        return hashlib.sha256(f"{seed} line {lines[place][0].key}".encode()).digest()

    lines = changes(rooms)
    found: list[Change] = []
    for place in sorted(lines, key=rank_of_line):
        if len(found) == count:
            break
        change = min(lines[place], key=rank)
        if is_python(change.applied(text_of(change.file))):
            found.append(change)
    return found


def text_of(file: str) -> str:
    """Return the text of a file of the package."""
    return (PACKAGE / file).read_text(encoding="utf-8")
