"""Lines and branches that the tests reach, room by room: `coverage json -o - | python FILE`.

`make coverage` runs the tests under coverage and prints this table.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, TypeAlias

COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")
"""Names of coverage for what is counted in each file."""

Totals: TypeAlias = dict[str, Counter[str]]


def totals_of(report: Mapping[str, Any]) -> Totals:
    """Return the counts of each room, and those of all rooms as the last row."""
    totals: Totals = {}
    for path, entry in sorted(report["files"].items()):
        counts = Counter({name: entry["summary"].get(name, 0) for name in COUNTS})
        totals.setdefault(_room(path), Counter()).update(counts)
    whole = Counter[str]()
    for counts in totals.values():
        whole.update(counts)
    return {**totals, "all": whole}


def _room(path: str) -> str:
    """Return the room of a source file: a folder of the package, or a file of its own."""
    parts = PurePath(path).parts
    return parts[parts.index("chainform") + 1].removesuffix(".py")


def table(totals: Totals) -> str:
    """Return the counts as text, one row for each room."""
    lines = [f"{'room':14} {'lines':>7} {'reached':>9} {'branches':>9} {'reached':>9}"]
    for room, counts in totals.items():
        statements, lines_reached, branches, branches_reached = (counts[name] for name in COUNTS)
        lines.append(
            f"{room:14} {statements:7} {_share(lines_reached, statements)}"
            f" {branches:9} {_share(branches_reached, branches)}"
        )
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:8.2f}%" if whole else f"{'-':>9}"


if __name__ == "__main__":
    print(table(totals_of(json.load(sys.stdin))))
