"""Seals: short hashes by which a revision, and a mechanism, show that nothing of them changed.

The seal of a revision has an entry for each column, so that `check` can name what was changed. The
name of a model and tags are not sealed: they may change at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text

from chainform.errors import StoreError
from chainform.store.arguments import raw_bytes, utc

REVISION = (
    *("model", "number", "parent", "formulation", "step", "options", "author", "note"),
    *("created", "seconds"),
)
PARAMETER = ("name", "place", "exact", "value", "unit", "note")

_ROW = """
SELECT {columns}, g.hash AS content, m.hash AS mechanism, r.seal
FROM revisions r LEFT JOIN graphs g ON g.id = r.graph LEFT JOIN mechanisms m ON m.id = r.mechanism
WHERE r.id = :key
""".format(columns=", ".join(f"r.{name}" for name in REVISION))

_PARAMETERS = f"SELECT {', '.join(PARAMETER)} FROM parameters WHERE revision = :key ORDER BY place"


def seal_of(
    revision: Mapping[str, Any],
    content: str | None,
    mechanism: str | None,
    parameters: Sequence[Sequence[Any]],
) -> dict[str, str]:
    """Return the seal of a revision: a hash for each of its columns, and what it points to."""
    parts: dict[str, Any] = {name: revision[name] for name in REVISION}
    parts |= {"created": _moment(revision["created"]), "graph": content, "mechanism": mechanism}
    columns = list(zip(*parameters, strict=True)) or [()] * len(PARAMETER)
    parts |= dict(zip((f"parameters.{name}" for name in PARAMETER), columns, strict=True))
    return {name: short_hash(value) for name, value in parts.items()}


def stored_seal(connection: Connection, key: int) -> tuple[dict[str, str], str]:
    """Return the seal that the rows of a revision give now, and the text of the one they bear."""
    found = connection.execute(text(_ROW), {"key": key}).mappings().one()
    row: dict[str, Any] = {str(name): value for name, value in found.items()}
    parameters = connection.execute(text(_PARAMETERS), {"key": key}).all()
    return seal_of(row, row["content"], row["mechanism"], parameters), row["seal"]


def seal_text(seal: Mapping[str, str]) -> str:
    """Return a seal as the table holds it."""
    return json.dumps(dict(seal), sort_keys=True)


def broken_parts(found: Mapping[str, str], sealed: str) -> list[str]:
    """Return the columns in which a revision is not as it was sealed."""
    try:
        expected: Any = json.loads(sealed)
        if expected.keys() != found.keys():
            return ["seal"]
        return [name for name, value in found.items() if expected[name] != value]
    except (ValueError, TypeError, AttributeError):
        return ["seal"]


def is_sealed(sealed: str, part: str, value: object) -> bool:
    """Tell whether one part is as it was sealed; a seal that cannot be read tells nothing."""
    try:
        expected: Any = json.loads(sealed)
        return part not in expected or expected[part] == short_hash(value)
    except (ValueError, TypeError):
        return True


def short_hash(value: object) -> str:
    """Return a hash of plain data; what is not plain differs from whatever was."""
    data = json.dumps(value, sort_keys=True, default=repr).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:16]


def mechanism_hash(parts: Sequence[Any], source: bytes, notes: str) -> str:
    """Return the name under which a mechanism is stored, of its texts, its file and its notes."""
    head = json.dumps(list(parts), default=repr).encode()
    tail = b"" if notes == "[]" else b"\n" + notes.encode("utf-8", "surrogatepass")
    return hashlib.sha256(head + b"\n" + source + tail).hexdigest()


RUN = ("name", "kind", "options", "created", "seconds", "media_type", "bytes")


def run_hash(run: Mapping[str, Any], content: str | None) -> str:
    """Return the hash of a run: of its columns, its bytes, and the graph of its revision."""
    parts: dict[str, Any] = {name: run[name] for name in RUN if name != "bytes"}
    parts |= {"created": _moment(run["created"]), "graph": content}
    head = json.dumps(parts, sort_keys=True, default=repr).encode("utf-8", "surrogatepass")
    data = raw_bytes(run["bytes"])
    tail = repr(run["bytes"]).encode() if data is None else data
    return hashlib.sha256(head + b"\n" + tail).hexdigest()


def _moment(value: Any) -> str:
    """Return a moment as text; SQLite holds it as text without a time zone."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else value
        return utc(found).isoformat()
    except (ValueError, StoreError):
        return repr(value)
