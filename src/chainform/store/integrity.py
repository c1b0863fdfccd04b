"""The proof that a store is whole: every cell that a model depends on, compared and named.

What follows from the content of a graph (rows, doubles, counts, cache) is compared with the graph
whose hash was saved, as long as the cache or the rows still give it, and can then be written anew.
Revisions and their parameters bear a seal; mechanisms, runs and objects their hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Table, delete, select, text, update

from chainform.errors import Error, StoreError
from chainform.graph import Graph, verify
from chainform.store import schema
from chainform.store.connection import Connection
from chainform.store.expansions import broken_expansions
from chainform.store.graphs import (
    Content,
    cached_bytes,
    content_counts,
    content_hash,
    graph_bytes,
    graph_of_bytes,
    load_graph,
    read_rows,
    rewrite_graph,
    sorted_rows,
    stored_rows,
)
from chainform.store.records import Revision, raw_bytes, utc
from chainform.store.references import check_name, check_tags
from chainform.store.rows import TOTAL, factor_columns, graph_columns, operation_rows
from chainform.store.schema import Transaction
from chainform.store.views import view_damage

REPAIRED = " (repaired)"

_REVISIONS = """
SELECT r.id, r.number, r.graph, r.mechanism, m.name, g.id AS known, k.id AS origin
FROM revisions r LEFT JOIN models m ON m.id = r.model LEFT JOIN graphs g ON g.id = r.graph
LEFT JOIN mechanisms k ON k.id = r.mechanism ORDER BY r.id
"""


def check_store(connection: Connection, transaction: Transaction, *, repair: bool) -> list[str]:
    """Return everything that is wrong, each with where it is; with `repair` mend what can be."""
    found = list(_file_damage(connection, transaction))
    names: dict[int, str] = {}
    for row in _revisions(transaction):
        names.setdefault(row["graph"], row["reference"])
    for key in transaction.execute(select(schema.graphs.c.id)).scalars().all():
        found += _graph_damage(transaction, key, names.get(key, f"graph {key}"), repair)
    # What a revision says of its graph is compared after the graph was mended.
    for row in _revisions(transaction):
        found += _revision_damage(transaction, row)
    found += _cost_damage(transaction, repair)
    found += _mechanism_damage(transaction)
    found += _object_damage(transaction, repair)
    found += _run_damage(transaction)
    found += view_damage(transaction, repair)
    found += _orphans(transaction, repair)
    return found


def check_revision(
    connection: Connection, transaction: Transaction, revision: Revision
) -> list[str]:
    """Return what is wrong with one revision: the rows of its graph, its own row, parameters."""
    rows = damage_of(transaction, revision.graph, load_graph(connection, transaction, revision))
    parts = broken_parts(*stored_seal(transaction, revision.key))
    return [*rows, *(f"{part} of the revision is not what was saved" for part in parts)]


def _revisions(transaction: Transaction) -> list[dict[str, Any]]:
    rows = transaction.execute(text(_REVISIONS)).mappings().all()
    return [{**row, "reference": f"{row['name']}@{row['number']}"} for row in rows]


def _file_damage(connection: Connection, transaction: Transaction) -> Iterator[str]:
    if transaction.dialect.name == "sqlite":
        answers = transaction.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        yield from (f"{connection.place}: {answer}" for answer in answers if answer != "ok")


def _revision_damage(transaction: Transaction, row: dict[str, Any]) -> Iterator[str]:
    reference = row["reference"]
    if row["name"] is None:
        yield f"revisions {row['id']}: its model is missing"
    if row["known"] is None:
        yield f"{reference}: its graph {row['graph']} is missing"
    if row["mechanism"] is not None and row["origin"] is None:
        yield f"{reference}: its mechanism {row['mechanism']} is missing"
    seal, sealed = stored_seal(transaction, row["id"])
    for part in broken_parts(seal, sealed):
        where = part if "." in part else f"revisions.{part}"
        yield f"{reference}: {where} is not what was saved"
    tags = select(schema.tags.c.tag).where(schema.tags.c.revision == row["id"])
    try:
        if row["name"] is not None:
            check_name(row["name"])
        check_tags(transaction.execute(tags).scalars().all())
    except StoreError as problem:
        yield f"{reference}: {problem.message}"


def _mechanism_damage(transaction: Transaction) -> Iterator[str]:
    query = text("SELECT id, hash, name, file_name, media_type, text, bytes, notes FROM mechanisms")
    for row in transaction.execute(query).all():
        parts = (row.name, row.file_name, row.media_type, row.text)
        data = raw_bytes(row.bytes)
        if data is None or mechanism_hash(parts, data, str(row.notes)) != row.hash:
            columns = "name, file_name, media_type, bytes, text, notes or hash"
            yield f"mechanisms {row.id} ({row.name}): {columns} is not what was saved"


def _graph_damage(transaction: Transaction, key: int, name: str, repair: bool) -> list[str]:
    try:
        graph, found = saved_graph(transaction, key, repair)
        if graph is not None:
            verify(graph)
    except (Error, ValueError, TypeError, LookupError, ArithmeticError, AttributeError):
        graph, found = None, ["the rows cannot be read, and no cache is left"]
    if graph is None:
        return [f"{name}: {problem}; take the database from a backup" for problem in found]
    if repair and found and merged(transaction, key, graph):
        return [f"{name}: {problem}{REPAIRED}" for problem in found]
    rows = damage_of(transaction, key, graph)
    if repair and (rows or found):
        rewrite_graph(transaction, Content(graph), key)
    stale = broken_expansions(transaction, key, graph, repair)
    return [f"{name}: {problem}{REPAIRED * repair}" for problem in (*found, *rows, *stale)]


def _cost_damage(transaction: Transaction, repair: bool) -> Iterator[str]:
    r, o, m = schema.revisions, schema.operations.c, schema.models.c
    counts = schema.COST_COLUMNS
    query = (
        select(r.c.id, m.name, r.c.number, *(r.c[c] for c in counts))
        .add_columns(*(o[c].label(f"of_graph_{c}") for c in counts))
        .join_from(r, schema.operations, (o.graph == r.c.graph) & (o.quantity == TOTAL))
        .join(schema.models, m.id == r.c.model)
    )
    for row in transaction.execute(query).mappings().all():
        right = {c: row[f"of_graph_{c}"] for c in counts}
        wrong = [c for c in counts if row[c] != right[c]]
        if wrong and repair:
            transaction.execute(update(r).where(r.c.id == row["id"]).values(**right))
        for column in wrong:
            stored = f"{row['name']}@{row['number']}: revisions.{column} is {row[column]!r}"
            yield f"{stored}, the graph takes {right[column]}{REPAIRED * repair}"


def _object_damage(transaction: Transaction, repair: bool) -> Iterator[str]:
    table = schema.objects
    query = text("SELECT key, hash, bytes FROM objects")
    for key, expected, data in transaction.execute(query).all():
        found = raw_bytes(data)
        if found is not None and hashlib.sha256(found).hexdigest() == expected:
            continue
        if repair:
            transaction.execute(delete(table).where(table.c.key == key))
        yield f"objects {key}: the bytes are not those that were saved{REPAIRED * repair}"


def _run_damage(transaction: Transaction) -> Iterator[str]:
    for row in transaction.execute(text(RUN_ROWS)).mappings().all():
        if not is_whole(dict(row)):
            columns = "name, kind, options, created, seconds, media_type, bytes or hash"
            yield f"runs {row['id']} ({row['name']}): {columns} is not what was saved"


def _orphans(transaction: Transaction, repair: bool) -> Iterator[str]:
    """Give the rows that belong to nothing."""
    graphs, revisions = select(schema.graphs.c.id), select(schema.revisions.c.id)
    for tables, column, known in (
        (schema.OF_GRAPH, "graph", graphs),
        (schema.OF_REVISION, "revision", revisions),
    ):
        for table in tables:
            lost = table.c[column].is_not(None) & table.c[column].not_in(known)
            keys = transaction.execute(select(table.c[column]).where(lost).distinct()).scalars()
            for key in sorted(keys.all(), key=str):
                if repair:
                    transaction.execute(delete(table).where(table.c[column] == key))
                yield f"{table.name}: rows of a {column} {key} that is missing{REPAIRED * repair}"


# --- the rows of a graph, cell by cell -----------------------------------------------------------


MOST = 20
"""How many cells of one table are named."""

Row = tuple[Any, ...]


def saved_graph(transaction: Transaction, key: int, repair: bool) -> tuple[Graph | None, list[str]]:
    """Return the graph that was saved, from what is left of it, and what is not left."""
    table = schema.graphs
    expected = transaction.execute(select(table.c.hash).where(table.c.id == key)).scalar()
    cache = cached_bytes(transaction, key)
    if cache is not None and content_hash(cache) == expected:
        return graph_of_bytes(cache), []
    found = [] if cache is None else ["the load cache is damaged; rows are used instead"]
    read = read_rows(transaction, key)
    if read is None:
        return None, [*found, "the rows are not those that were saved: they fit no graph"]
    rows, from_rows = read
    if from_rows == expected:
        return rows, found
    if cache is not None and content_hash(cache) == from_rows:
        if repair and _other(transaction, key, from_rows) is None:
            transaction.execute(update(table).where(table.c.id == key).values(hash=from_rows))
        return rows, [f"graphs.hash is {expected!r}, rows and cache have {from_rows!r}"]
    return None, [*found, "the rows are not those that were saved, and no whole cache is left"]


def merged(transaction: Transaction, key: int, graph: Graph) -> bool:
    """Let the graph of the same content take the place of one whose hash was changed.

    Whoever saved the content again did not find it under its hash, so that it is stored twice.
    """
    other = _other(transaction, key, content_hash(graph_bytes(graph)))
    if other is None:
        return False
    for table in (schema.revisions, schema.objects):
        transaction.execute(update(table).where(table.c.graph == key).values(graph=other))
    for table in schema.OF_CONTENT:
        transaction.execute(delete(table).where(table.c.graph == key))
    transaction.execute(delete(schema.graphs).where(schema.graphs.c.id == key))
    return True


def _other(transaction: Transaction, key: int, content: str) -> int | None:
    """Return another graph that has a hash."""
    table = schema.graphs.c
    query = select(table.id).where(table.hash == content, table.id != key)
    return transaction.execute(query).scalar()


def damage_of(transaction: Transaction, key: int, graph: Graph) -> list[str]:
    """Return the cells in which the rows of a graph are not what its content gives."""
    found: list[str] = []
    table = schema.graphs.c
    for name, value in content_counts(graph).items():
        stored: object = transaction.execute(select(table[name]).where(table.id == key)).scalar()
        if stored != value:
            found.append(f"graphs.{name} is {stored!r}, was {value!r}")
    tables: dict[Table, Any] = {t: columns for t, _, columns in graph_columns(graph, key)}
    tables[schema.factors] = [column.tolist() for column in factor_columns(graph, key)]
    tables[schema.operations] = zip(*operation_rows(graph, key), strict=True)
    for name, columns in tables.items():
        expected, stored_now = sorted_rows(name, columns), stored_rows(transaction, name, key)
        if expected != stored_now:
            found += _differences(name, expected, stored_now)
    return found


def _differences(table: Table, expected: list[Row], found: list[Row]) -> list[str]:
    names = [column.name for column in table.c]
    keys = [names.index(column.name) for column in table.primary_key.columns]
    was, now = ({tuple(row[k] for k in keys): row for row in rows} for rows in (expected, found))
    damage: list[str] = []
    for key in [*was, *(key for key in now if key not in was)]:
        if was.get(key) == now.get(key):
            continue
        parts = zip((names[k] for k in keys[1:]), key[1:], strict=True)
        row = f"{table.name} ({', '.join(f'{name} {value}' for name, value in parts)})"
        damage += _cells(names, row, was.get(key), now.get(key))
    more = [f"{table.name}: {len(damage) - MOST} more"] if len(damage) > MOST else []
    return damage[:MOST] + more


def _cells(names: list[str], row: str, was: Row | None, now: Row | None) -> list[str]:
    if was is None or now is None:
        return [f"{row} is missing" if now is None else f"{row} was not saved"]
    cells = zip(names, was, now, strict=True)
    return [f"{row}: {name} is {new!r}, was {old!r}" for name, old, new in cells if old != new]


# --- seals: short hashes by which revisions, mechanisms and runs show that nothing changed -------

# The seal of a revision has an entry for each column, so that `check` can name what was changed.
# The name of a model and tags are not sealed: they may change at any time.


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


def stored_seal(transaction: Transaction, key: int) -> tuple[dict[str, str], str]:
    """Return the seal that the rows of a revision give now, and the text of the one they bear."""
    found = transaction.execute(text(_ROW), {"key": key}).mappings().one()
    row: dict[str, Any] = {str(name): value for name, value in found.items()}
    parameters = transaction.execute(text(_PARAMETERS), {"key": key}).all()
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


RUN_ROWS = (
    f"SELECT r.id, r.hash, g.hash AS content, {', '.join(f'r.{name}' for name in RUN)}"
    " FROM runs r JOIN revisions v ON v.id = r.revision LEFT JOIN graphs g ON g.id = v.graph"
)
"""The runs as the tables hold them, each with the hash of its graph."""


def is_whole(row: Mapping[str, Any]) -> bool:
    """Tell whether a run is what was saved."""
    return run_hash(row, row["content"]) == row["hash"]
