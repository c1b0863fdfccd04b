"""Saving and loading: revisions of models, each pointing to a graph that is stored once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from chainform.errors import StoreError
from chainform.graph import Cost, Graph, verify
from chainform.store import schema
from chainform.store.content import (
    canonical,
    content_hash,
    graph_bytes,
    graph_of_bytes,
    packed,
    unpacked,
)
from chainform.store.counts import TOTAL, counts
from chainform.store.link import Link
from chainform.store.records import MechanismFile, Parameter, Record, Revision
from chainform.store.references import check_name, check_tags
from chainform.store.rows import double, exact, read_graph, write_graph


def save(link: Link, graph: Graph, record: Record) -> int:
    """Store a graph as the next revision of a model, in one transaction; return its key."""
    verify(graph)
    content = Content(graph)
    with link.writing() as connection:
        link.hold(connection, alone=False)
        return add_revision(connection, content, record)


class Content:
    """A graph made ready for the store: canonical, with its bytes and their hash."""

    def __init__(self, graph: Graph) -> None:
        self.graph = canonical(graph)
        self.data = graph_bytes(self.graph)
        self.hash = content_hash(self.data)


def add_revision(connection: Connection, content: Content, record: Record) -> int:
    """Add a revision within a transaction that writes; return its key."""
    check_name(record.name)
    _check_texts(record)
    created = utc(record.created) if record.created else datetime.now(UTC)
    # The row of the model is locked first, so that two saves cannot take the same number.
    model = upsert(connection, schema.models, "name", {"name": record.name, "created": created})
    mechanism = add_mechanism(connection, record.mechanism) if record.mechanism else None
    graph = _add_graph(connection, content)
    rows = schema.revisions
    last = select(func.max(rows.c.number)).where(rows.c.model == model)
    number = (connection.execute(last).scalar() or 0) + 1
    if record.parent is not None and not 1 <= record.parent < number:
        raise StoreError(
            f"{record.name} has no revision {record.parent} to start from", element=record.name
        )
    values = {
        "model": model,
        "number": number,
        "graph": graph,
        "mechanism": mechanism,
        "parent": record.parent,
        "formulation": record.formulation,
        "step": record.step,
        "options": _json(record),
        "author": record.author,
        "note": record.note,
        "created": created,
        "seconds": record.seconds,
        **_total(connection, graph),
    }
    key: int = connection.execute(insert(rows).values(values).returning(rows.c.id)).scalar_one()
    add_tags(connection, key, record.tags)
    _add_parameters(connection, key, record.parameters, content.graph)
    return key


def _check_texts(record: Record) -> None:
    """Refuse text that not every database can hold."""
    texts = [record.name, record.formulation, record.step, record.author, record.note, *record.tags]
    if record.mechanism is not None:
        found = record.mechanism
        texts += [found.name, found.text, found.file_name, found.media_type]
    for item in record.parameters or ():
        texts += [item.name, item.unit, item.note]
    for text in texts:
        if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise StoreError(
                f"a text holds a character that cannot be stored: {text[:60]!r}",
                element=record.name,
                remedy="remove the character of number zero and halves of surrogate pairs",
            )


def upsert(connection: Connection, table: Any, unique: str, values: dict[str, Any]) -> int:
    """Return the key of the row with that unique value, made if there is none, and lock it."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table).values(values)
    statement = statement.on_conflict_do_update(
        index_elements=[unique], set_={unique: statement.excluded[unique]}
    )
    return connection.execute(statement.returning(table.c.id)).scalar_one()


def _json(record: Record) -> str:
    try:
        return json.dumps(dict(record.options), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise StoreError(
            f"the options of the step are not plain data: {problem}", element=record.name
        ) from None


def _add_graph(connection: Connection, content: Content) -> int:
    """Return the key of a graph, written unless the same content is there already."""
    table, graph = schema.graphs, content.graph
    found = connection.execute(select(table.c.id).where(table.c.hash == content.hash)).scalar()
    if found is not None:
        return found
    levels = int(graph.level.max()) + 1 if len(graph) else 0
    values = {
        "hash": content.hash,
        "variables": len(graph),
        "terms": len(graph.coefficient),
        "factors": len(graph.factor),
        "levels": levels,
    }
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table).values(values).on_conflict_do_nothing()
    key = connection.execute(statement.returning(table.c.id)).scalar()
    if key is None:
        # Another client stored the same content a moment ago, and has committed by now.
        query = select(table.c.id).where(table.c.hash == content.hash)
        return connection.execute(query).scalar_one()
    write_graph(connection, graph, key)
    rows = [
        {"graph": key, "quantity": name, **cost.as_dict()}
        | {f"once_{column}": value for column, value in once.as_dict().items()}
        for name, cost, once in counts(graph)
    ]
    connection.execute(insert(schema.operations), rows)
    cache = {"graph": key, "bytes": packed(content.data)}
    connection.execute(insert(schema.caches).values(cache))
    return key


def _total(connection: Connection, graph: int) -> dict[str, int]:
    table = schema.operations
    columns = [table.c[name] for name in schema.COST_COLUMNS]
    query = select(*columns).where(table.c.graph == graph, table.c.quantity == TOTAL)
    return dict(connection.execute(query).mappings().one())


def add_mechanism(connection: Connection, mechanism: MechanismFile) -> int:
    """Return the key of a mechanism, stored once for all models that came from it."""
    parts = (mechanism.name, mechanism.file_name, mechanism.media_type, mechanism.text)
    head = json.dumps(parts).encode()
    values = {
        "hash": hashlib.sha256(head + b"\n" + mechanism.source).hexdigest(),
        "name": mechanism.name,
        "file_name": mechanism.file_name,
        "media_type": mechanism.media_type,
        "bytes": mechanism.source,
        "text": mechanism.text,
    }
    return upsert(connection, schema.mechanisms, "hash", values)


def add_tags(connection: Connection, revision: int, tags: Iterable[str]) -> None:
    """Give a revision tags; another revision of the model that bears one loses it."""
    names = sorted(set(tags))
    check_tags(names)
    if names:
        remove_tags(connection, revision, names)
        rows = [{"revision": revision, "tag": tag} for tag in names]
        connection.execute(insert(schema.tags), rows)


def remove_tags(connection: Connection, revision: int, tags: Iterable[str]) -> None:
    """Take tags from the model of a revision, whichever revision bears them."""
    r, t = schema.revisions.c, schema.tags
    model = select(r.model).where(r.id == revision).scalar_subquery()
    of_model = select(r.id).where(r.model == model)
    connection.execute(delete(t).where(t.c.revision.in_(of_model), t.c.tag.in_(list(tags))))


def _add_parameters(
    connection: Connection, revision: int, given: tuple[Parameter, ...] | None, graph: Graph
) -> None:
    if given is None:
        found = sorted(graph.inputs.values(), key=lambda item: item.index)
        given = tuple(Parameter(i.name, i.default) for i in found if i.group == "parameter")
    rows = [
        {
            "revision": revision,
            "name": item.name,
            "place": place,
            "exact": exact(item.value),
            "value": double(item.value),
            "unit": item.unit,
            "note": item.note,
        }
        for place, item in enumerate(given)
    ]
    if rows:
        connection.execute(insert(schema.parameters), rows)


# --- reading --------------------------------------------------------------------------------


def load_graph(link: Link, connection: Connection, revision: Revision) -> Graph:
    """Return the graph of a revision, from its cache or, where that fails, from the rows."""
    table = schema.caches
    query = select(table.c.bytes).where(table.c.graph == revision.graph)
    cache = connection.execute(query).scalar()
    data = unpacked(bytes(cache), revision.content) if cache is not None else None
    if data is not None:
        return graph_of_bytes(data)
    return graph_from_rows(link, connection, revision)


def graph_from_rows(link: Link, connection: Connection, revision: Revision) -> Graph:
    """Return the graph of a revision from its rows, and see that they are those saved."""
    changed = link.error(
        "the rows are not those that were saved: the file is damaged, or was changed by hand",
        "take the database from a backup",
        revision.reference,
    )
    try:
        graph = read_graph(connection, revision.graph)
        found = content_hash(graph_bytes(graph))
    except (ValueError, ArithmeticError, LookupError):
        raise changed from None
    if found != revision.content:
        raise changed
    return graph


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
        .join(schema.graphs, g.id == r.c.graph)
        .join(schema.operations, (o.graph == r.c.graph) & (o.quantity == TOTAL))
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


def read_mechanism(connection: Connection, revision: Revision) -> MechanismFile | None:
    """Return the mechanism of a revision, with its file."""
    k, r = schema.mechanisms, schema.revisions.c
    query = select(k).join_from(k, schema.revisions, r.mechanism == k.c.id)
    row = connection.execute(query.where(r.id == revision.key)).one_or_none()
    if row is None:
        return None
    return MechanismFile(row.name, row.text, row.file_name, row.media_type, bytes(row.bytes))


def read_parameters(connection: Connection, revision: Revision) -> tuple[Parameter, ...]:
    """Return the parameters of a revision in their order."""
    table = schema.parameters
    query = select(table).where(table.c.revision == revision.key).order_by(table.c.place)
    return tuple(
        Parameter(row.name, None if row.exact is None else Fraction(row.exact), row.unit, row.note)
        for row in connection.execute(query)
    )


def utc(moment: datetime) -> datetime:
    """Return a moment in UTC; SQLite gives it back without a time zone."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
