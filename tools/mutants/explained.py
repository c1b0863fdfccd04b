"""Changes that alter nothing that anybody can observe: a table, each with its reason.

An entry names a change by the text of its line, not by its number:

    [[change]]
    file = "graph/types.py"
    line = "the line without its indentation"
    old = "what stands there"
    new = "what stands there instead"
    why = "One sentence that a reader can check."

`nth = 2` means the second of several that look the same.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from tools.mutants.changes import Change, changes_of
from tools.mutants.draw import PACKAGE

TABLE = Path(__file__).parent / "equivalent.toml"
FIELDS = {"file", "line", "old", "new", "why"}


def explained(table: Path = TABLE, package: Path = PACKAGE) -> dict[str, str]:
    """Return the reasons by the keys of the changes; an entry without a change is an error."""
    entries = tomllib.loads(table.read_text(encoding="utf-8")).get("change", [])
    known: dict[str, list[Change]] = {}
    reasons: dict[str, str] = {}
    for entry in entries:
        if not FIELDS <= entry.keys() <= FIELDS | {"nth"} or not all(entry.values()):
            raise SystemExit(f"{table.name}: an entry has {', '.join(sorted(FIELDS))}: {entry}")
        file = entry["file"]
        if file not in known:
            path = package / file
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            known[file] = changes_of(file, text)
        same = [c for c in known[file] if all(_plain(v) == entry[k] for k, v in _parts(c).items())]
        nth = entry.get("nth", 1)
        if len(same) < nth or (len(same) > 1 and "nth" not in entry):
            place = f"{file}: {entry['line']} [{entry['old']} -> {entry['new']}]"
            raise SystemExit(f"{table.name}: {len(same)} changes are called {place}")
        reasons[same[nth - 1].key] = entry["why"]
    return reasons


def _parts(change: Change) -> dict[str, str]:
    return {"line": change.text, "old": change.old, "new": change.new}


def _plain(text: str) -> str:
    return " ".join(text.split())
