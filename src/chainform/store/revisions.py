"""Saving and loading: revisions of models, each pointing to a graph that is stored once."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from chainform.errors import StoreError
from chainform.graph import Cost, Graph, verify
from chainform.store import schema
from chainform.store.arguments import (
    bytes_of,
    mapping_of,
    raw_bytes,
    seconds_of,
    text_of,
    texts_of,
    utc,
)
from chainform.store.content import (
    canonical,
    content_hash,
    graph_bytes,
    graph_of_bytes,
    packed,
    unpacked,
)
from chainform.store.counts import TOTAL, operation_rows
from chainform.store.digest import content_counts, rows_match
from chainform.store.link import Link
from chainform.store.mechanisms import (
    add_mechanism,
    add_parameters,
    mechanism_values,
    parameter_rows,
)
from chainform.store.records import Record, Revision
from chainform.store.references import check_name, check_tags, find_revision
from chainform.store.rows import read_graph, write_graph
from chainform.store.seals import seal_of, seal_text
from chainform.store.tags import add_tags
from chainform.store.troubles import GONE, damaged
from chainform.store.upsert import insert_or, upsert


def save(link: Link, graph: Graph, record: Record) -> Revision:
    """Store a graph as the next revision of a model, in one transaction."""
    content = Content(graph)
    check_record(record)
    parameters = parameter_rows(record.parameters, content.graph)
    record = replace(record, created=utc(record.created) if record.created else datetime.now(UTC))

    def task(connection: Connection) -> Revision:
        # The row of the model is locked first, so that two saves cannot take the same number.
        values = {"name": record.name, "created": record.created}
        model = upsert(connection, schema.models, "name", values)
        owner = Owner(model, add_graph(connection, content), content.hash)
        key = add_revision(connection, owner, record, parameters)
        return read_revisions(connection, schema.revisions.c.id == key)[0]

    return link.write(task)


class Content:
    """A graph made ready for the store: verified, canonical, with its bytes and their hash."""

    def __init__(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise StoreError(f"what is saved must be a graph, not {type(graph).__name__}")
        verify(graph)
        self.graph = canonical(graph)
        self.data = graph_bytes(self.graph)
        self.hash = content_hash(self.data)


@dataclass(frozen=True, slots=True)
class Owner:
    """What a revision belongs to: the keys of its model and of its graph, and the graph's hash."""

    model: int
    graph: int
    content: str


def add_revision(
    connection: Connection, owner: Owner, record: Record, parameters: list[tuple[Any, ...]]
) -> int:
    """Add a revision to a model that is locked; return its key."""
    origin = mechanism_values(record.mechanism) if record.mechanism else None
    rows = schema.revisions
    last = select(func.max(rows.c.number)).where(rows.c.model == owner.model)
    number = (connection.execute(last).scalar() or 0) + 1
    if record.parent is not None and not 1 <= record.parent < number:
        raise StoreError(
            f"{record.name} has no revision {record.parent} to start from", element=record.name
        )
    values: dict[str, Any] = {
        "model": owner.model,
        "number": number,
        "graph": owner.graph,
        "mechanism": None if origin is None else add_mechanism(connection, origin),
        "parent": record.parent,
        "formulation": record.formulation,
        "step": record.step,
        "options": _json(record),
        "author": record.author,
        "note": record.note,
        "created": record.created,
        "seconds": None if record.seconds is None else float(record.seconds),
        **_total(connection, owner.graph),
    }
    seal = seal_of(values, owner.content, None if origin is None else origin["hash"], parameters)
    values["seal"] = seal_text(seal)
    key: int = connection.execute(insert(rows).values(values).returning(rows.c.id)).scalar_one()
    add_tags(connection, key, record.tags)
    add_parameters(connection, key, parameters)
    return key


def check_record(record: Record) -> None:
    """Refuse a record with parts of the wrong kind, or text that not every database can hold."""
    check_name(record.name)
    check_tags(texts_of(record.tags, "tags"))
    for name in ("formulation", "step", "author", "note"):
        text_of(getattr(record, name), name)
    mapping_of(record.options, "options")
    if record.seconds is not None:
        seconds_of(record.seconds, "seconds")
    if record.mechanism is not None:
        found = record.mechanism
        for name in ("name", "text", "file_name", "media_type"):
            text_of(getattr(found, name), f"{name} of the mechanism")
        bytes_of(found.source, "the file of the mechanism")
    for item in record.parameters or ():
        texts_of((item.name, item.unit, item.note), "a parameter")


def _json(record: Record) -> str:
    try:
        return json.dumps(dict(record.options), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise StoreError(
            f"the options of the step are not plain data: {problem}", element=record.name
        ) from None


def add_graph(connection: Connection, content: Content) -> int:
    """Return the key of a graph; rows of the same content are used, and healed."""
    table = schema.graphs
    known = select(table.c.id).where(table.c.hash == content.hash)
    found = connection.execute(known).scalar()
    if found is not None:
        if not rows_match(connection, found, content.graph):
            rewrite_graph(connection, content, found)
        return found
    values = {"hash": content.hash, **content_counts(content.graph)}
    statement = insert_or(connection, table, values).on_conflict_do_nothing()
    key = connection.execute(statement.returning(table.c.id)).scalar()
    if key is None:
        # Another client stored the same content a moment ago, and has committed by now.
        return connection.execute(known).scalar_one()
    _write_content(connection, content, key)
    return key


def rewrite_graph(connection: Connection, content: Content, key: int) -> None:
    """Write every row of a graph anew."""
    table = schema.graphs
    # Locked, so that two clients do not write them at once.
    locked = select(table.c.id).where(table.c.id == key)
    connection.execute(locked.with_for_update(key_share=True))
    for rows in schema.OF_CONTENT:
        connection.execute(delete(rows).where(rows.c.graph == key))
    counts = content_counts(content.graph)
    connection.execute(update(table).where(table.c.id == key).values(**counts))
    _write_content(connection, content, key)


def _write_content(connection: Connection, content: Content, key: int) -> None:
    write_graph(connection, content.graph, key)
    names = [column.name for column in schema.operations.c]
    rows = [dict(zip(names, row, strict=True)) for row in operation_rows(content.graph, key)]
    connection.execute(insert(schema.operations), rows)
    cache = {"graph": key, "bytes": packed(content.data)}
    connection.execute(insert(schema.caches).values(cache))


def _total(connection: Connection, graph: int) -> dict[str, int]:
    table = schema.operations
    columns = [table.c[name] for name in schema.COST_COLUMNS]
    query = select(*columns).where(table.c.graph == graph, table.c.quantity == TOTAL)
    return dict(connection.execute(query).mappings().one())


# --- reading --------------------------------------------------------------------------------


def load_graph(link: Link, connection: Connection, revision: Revision) -> Graph:
    """Return the graph of a revision, from its cache or, where that fails, from the rows."""
    cached = cached_graph(connection, revision)
    return graph_from_rows(link, connection, revision) if cached is None else cached


def cached_graph(connection: Connection, revision: Revision) -> Graph | None:
    """Return the graph from its cache, None where there is none or it does not fit the hash."""
    table = schema.caches
    query = select(table.c.bytes).where(table.c.graph == revision.graph)
    cache = raw_bytes(connection.execute(query).scalar())
    data = None if cache is None else unpacked(cache, revision.content)
    return None if data is None else graph_of_bytes(data)


def graph_from_rows(link: Link, connection: Connection, revision: Revision) -> Graph:
    """Return the graph of a revision from its rows, and see that they are those saved."""
    changed = link.error(
        "the rows are not those that were saved: the file is damaged, or was changed by hand",
        "check(repair=True) puts them back where a cache is left; else take a backup",
        revision.reference,
    )
    try:
        graph = read_graph(connection, revision.graph)
        found = content_hash(graph_bytes(graph))
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
        raise changed from None
    if found != revision.content:
        raise changed
    return graph


def find(link: Link, connection: Connection, reference: str) -> Revision:
    """Return the revision that a reference means."""
    key = find_revision(connection, link.place, reference)
    with damaged(link.place, reference):
        for revision in read_revisions(connection, schema.revisions.c.id == key):
            return revision
    raise link.error(*GONE, element=reference)


def read_revisions(connection: Connection, *conditions: Any) -> list[Revision]:
    """Return the revisions that meet the conditions, by model and number."""
    m, r, g, k = schema.models.c, schema.revisions, schema.graphs.c, schema.mechanisms.c
    o = schema.operations.c
    once = [o[f"once_{name}"] for name in schema.COST_COLUMNS]
    query = (
        select(
            *(m.name, r, k.name.label("mechanism_name"), *once),
            *(g.variables, g.terms, g.factors, g.hash.label("content")),
        )
        .join_from(r, schema.models, m.id == r.c.model)
        .outerjoin(schema.graphs, g.id == r.c.graph)
        .outerjoin(schema.operations, (o.graph == r.c.graph) & (o.quantity == TOTAL))
        .outerjoin(schema.mechanisms, k.id == r.c.mechanism)
        .where(*conditions)
        .order_by(m.name, r.c.number)
    )
    rows = connection.execute(query).mappings().all()
    tags = _listed(connection, schema.tags, "revision", "tag", [row["id"] for row in rows])
    outputs = _outputs(connection, sorted({row["graph"] for row in rows}))
    return [_revision(row, tags, outputs) for row in rows]


def _revision(row: Any, tags: dict[int, list[str]], outputs: dict[int, list[str]]) -> Revision:
    names = schema.COST_COLUMNS
    if row["content"] is None or row["once_calls"] is None:
        raise LookupError("its graph, or the count of its operations, is missing")
    return Revision(
        **{name: row[name] for name in ("name", "number", "formulation", "step", "parent")},
        **{name: row[name] for name in ("author", "note", "seconds", "content", "graph")},
        **{name: row[name] for name in ("variables", "terms", "factors")},
        options=json.loads(row["options"]),
        tags=tuple(sorted(tags.get(row["id"], []))),
        created=utc(row["created"]),
        cost=Cost(**{name: row[name] for name in names}),
        once=Cost(**{name: row[f"once_{name}"] for name in names}),
        outputs=tuple(outputs.get(row["graph"], [])),
        mechanism=row["mechanism_name"] or "",
        key=row["id"],
    )


BATCH = 500
"""How many keys one query asks for; a statement holds a limited number of values."""


def _listed(
    connection: Connection, table: Any, key: str, column: str, keys: list[int], *conditions: Any
) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    order = table.c.place if "place" in table.c else table.c[column]
    for first in range(0, len(keys), BATCH):
        query = select(table.c[key], table.c[column]).where(
            table.c[key].in_(keys[first : first + BATCH]), *conditions
        )
        for owner, value in connection.execute(query.order_by(order)):
            found.setdefault(owner, []).append(value)
    return found


def _outputs(connection: Connection, graphs: list[int]) -> dict[int, list[str]]:
    shapes = schema.shapes
    return _listed(connection, shapes, "graph", "quantity", graphs, shapes.c.is_output.is_(True))
