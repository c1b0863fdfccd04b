"""The proof that a store is whole: every cell that a model depends on, compared and named.

What follows from the content of a graph (rows, doubles, counts, cache) is compared with the graph
whose hash was saved, as long as the cache or the rows still give it, and can then be written anew.
Revisions and their parameters bear a seal; mechanisms, runs and objects their hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, delete, select, text, update

from chainform.errors import Error, StoreError
from chainform.graph import verify
from chainform.store import runs, schema
from chainform.store.arguments import raw_bytes
from chainform.store.check_expansions import broken_expansions
from chainform.store.check_rows import damage_of, merged, usable_graph
from chainform.store.check_views import view_damage
from chainform.store.counts import TOTAL
from chainform.store.link import Link
from chainform.store.references import check_name, check_tags
from chainform.store.revisions import Content, rewrite_graph
from chainform.store.seals import broken_parts, mechanism_hash, stored_seal

REPAIRED = " (repaired)"

_REVISIONS = """
SELECT r.id, r.number, r.graph, r.mechanism, m.name, g.id AS known, k.id AS origin
FROM revisions r LEFT JOIN models m ON m.id = r.model LEFT JOIN graphs g ON g.id = r.graph
LEFT JOIN mechanisms k ON k.id = r.mechanism ORDER BY r.id
"""


def check_store(link: Link, connection: Connection, *, repair: bool) -> list[str]:
    """Return everything that is wrong, each with where it is; with `repair` mend what can be."""
    found = list(_file_damage(link, connection))
    names: dict[int, str] = {}
    for row in _revisions(connection):
        names.setdefault(row["graph"], row["reference"])
    for key in connection.execute(select(schema.graphs.c.id)).scalars().all():
        found += _graph_damage(connection, key, names.get(key, f"graph {key}"), repair)
    # What a revision says of its graph is compared after the graph was mended.
    for row in _revisions(connection):
        found += _revision_damage(connection, row, row["reference"])
    found += _cost_damage(connection, repair)
    found += _mechanism_damage(connection)
    found += _object_damage(connection, repair)
    found += _run_damage(connection)
    found += view_damage(connection, repair)
    found += _orphans(connection, repair)
    return found


def _revisions(connection: Connection) -> list[dict[str, Any]]:
    rows = connection.execute(text(_REVISIONS)).mappings().all()
    return [{**row, "reference": f"{row['name']}@{row['number']}"} for row in rows]


def _file_damage(link: Link, connection: Connection) -> Iterator[str]:
    if connection.dialect.name == "sqlite":
        answers = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        yield from (f"{link.place}: {answer}" for answer in answers if answer != "ok")


def _revision_damage(connection: Connection, row: dict[str, Any], reference: str) -> Iterator[str]:
    if row["name"] is None:
        yield f"revisions {row['id']}: its model is missing"
    if row["known"] is None:
        yield f"{reference}: its graph {row['graph']} is missing"
    if row["mechanism"] is not None and row["origin"] is None:
        yield f"{reference}: its mechanism {row['mechanism']} is missing"
    seal, sealed = stored_seal(connection, row["id"])
    for part in broken_parts(seal, sealed):
        where = part if "." in part else f"revisions.{part}"
        yield f"{reference}: {where} is not what was saved"
    tags = select(schema.tags.c.tag).where(schema.tags.c.revision == row["id"])
    try:
        if row["name"] is not None:
            check_name(row["name"])
        check_tags(connection.execute(tags).scalars().all())
    except StoreError as problem:
        yield f"{reference}: {problem.message}"


def _mechanism_damage(connection: Connection) -> Iterator[str]:
    query = text("SELECT id, hash, name, file_name, media_type, text, bytes, notes FROM mechanisms")
    for row in connection.execute(query).all():
        parts = (row.name, row.file_name, row.media_type, row.text)
        data = raw_bytes(row.bytes)
        if data is None or mechanism_hash(parts, data, str(row.notes)) != row.hash:
            columns = "name, file_name, media_type, bytes, text, notes or hash"
            yield f"mechanisms {row.id} ({row.name}): {columns} is not what was saved"


def _graph_damage(connection: Connection, key: int, name: str, repair: bool) -> list[str]:
    try:
        graph, found = usable_graph(connection, key, repair)
        if graph is not None:
            verify(graph)
    except (Error, ValueError, TypeError, LookupError, ArithmeticError, AttributeError):
        graph, found = None, ["the rows cannot be read, and no cache is left"]
    if graph is None:
        return [f"{name}: {problem}; take the database from a backup" for problem in found]
    if repair and found and merged(connection, key, graph):
        return [f"{name}: {problem}{REPAIRED}" for problem in found]
    rows = damage_of(connection, key, graph)
    if repair and (rows or found):
        rewrite_graph(connection, Content(graph), key)
    stale = broken_expansions(connection, key, graph, repair)
    mended = REPAIRED if repair else ""
    return [f"{name}: {problem}{mended}" for problem in (*found, *rows, *stale)]


def _cost_damage(connection: Connection, repair: bool) -> Iterator[str]:
    r, o, m = schema.revisions, schema.operations.c, schema.models.c
    counts = schema.COST_COLUMNS
    query = (
        select(r.c.id, m.name, r.c.number, *(r.c[c] for c in counts))
        .add_columns(*(o[c].label(f"of_graph_{c}") for c in counts))
        .join_from(r, schema.operations, (o.graph == r.c.graph) & (o.quantity == TOTAL))
        .join(schema.models, m.id == r.c.model)
    )
    for row in connection.execute(query).mappings().all():
        right = {c: row[f"of_graph_{c}"] for c in counts}
        wrong = [c for c in counts if row[c] != right[c]]
        if wrong and repair:
            connection.execute(update(r).where(r.c.id == row["id"]).values(**right))
        for column in wrong:
            said = f"{row['name']}@{row['number']}: revisions.{column} is {row[column]!r}"
            yield f"{said}, the graph takes {right[column]}{REPAIRED if repair else ''}"


def _object_damage(connection: Connection, repair: bool) -> Iterator[str]:
    table = schema.objects
    for key, expected, data in connection.execute(
        text("SELECT key, hash, bytes FROM objects")
    ).all():
        found = raw_bytes(data)
        if found is not None and hashlib.sha256(found).hexdigest() == expected:
            continue
        if repair:
            connection.execute(delete(table).where(table.c.key == key))
        mended = REPAIRED if repair else ""
        yield f"objects {key}: the bytes are not those that were saved{mended}"


def _run_damage(connection: Connection) -> Iterator[str]:
    for row in connection.execute(text(runs.ROWS)).mappings().all():
        if not runs.is_whole(dict(row)):
            columns = "name, kind, options, created, seconds, media_type, bytes or hash"
            yield f"runs {row['id']} ({row['name']}): {columns} is not what was saved"


def _orphans(connection: Connection, repair: bool) -> Iterator[str]:
    """Give the rows that belong to nothing."""
    graphs, revisions = select(schema.graphs.c.id), select(schema.revisions.c.id)
    for tables, column, known in (
        (schema.OF_GRAPH, "graph", graphs),
        (schema.OF_REVISION, "revision", revisions),
    ):
        for table in tables:
            lost = table.c[column].is_not(None) & table.c[column].not_in(known)
            keys = connection.execute(select(table.c[column]).where(lost).distinct()).scalars()
            for key in sorted(keys.all(), key=str):
                if repair:
                    connection.execute(delete(table).where(table.c[column] == key))
                mended = REPAIRED if repair else ""
                yield f"{table.name}: rows of a {column} {key} that is missing{mended}"
