"""Revisions of models, saved and read: each has a graph, parameters and a mechanism."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from sqlalchemy import func, insert, select

from chainform.errors import StoreError
from chainform.graph import Cost, Graph
from chainform.store import schema
from chainform.store.connection import Connection
from chainform.store.driver_errors import GONE, damaged
from chainform.store.graphs import Content, add_graph
from chainform.store.integrity import is_sealed, mechanism_hash, seal_of, seal_text
from chainform.store.records import (
    MechanismFile,
    ParameterEntry,
    Revision,
    RevisionRecord,
    bytes_of,
    mapping_of,
    raw_bytes,
    seconds_of,
    text_of,
    texts_of,
    utc,
)
from chainform.store.references import add_tags, check_name, check_tags, find_revision, split
from chainform.store.rows import TOTAL, double, exact, insert_or, upsert
from chainform.store.schema import Transaction


def save(connection: Connection, graph: Graph, record: RevisionRecord) -> Revision:
    """Store a graph as the next revision of a model, in one transaction."""
    content = Content(graph)
    check_record(record)
    parameters = parameter_rows(record.parameters, content.graph)
    record = replace(record, created=utc(record.created) if record.created else datetime.now(UTC))

    def task(transaction: Transaction) -> Revision:
        # The row of the model is locked first, so that two saves cannot take the same number.
        values = {"name": record.name, "created": record.created}
        model = upsert(transaction, schema.models, "name", values)
        owner = Owner(model, add_graph(transaction, content), content.hash)
        key = add_revision(transaction, owner, record, parameters)
        return read_revisions(transaction, schema.revisions.c.id == key)[0]

    return connection.write(task)


@dataclass(frozen=True, slots=True)
class Owner:
    """What a revision belongs to: the keys of its model and of its graph, and the graph's hash."""

    model: int
    graph: int
    content: str


def add_revision(
    transaction: Transaction,
    owner: Owner,
    record: RevisionRecord,
    parameters: list[tuple[Any, ...]],
) -> int:
    """Add a revision to a model that is locked; return its key."""
    origin = mechanism_values(record.mechanism) if record.mechanism else None
    rows = schema.revisions
    last = select(func.max(rows.c.number)).where(rows.c.model == owner.model)
    number = (transaction.execute(last).scalar() or 0) + 1
    if record.parent is not None and not 1 <= record.parent < number:
        raise StoreError(
            f"{record.name} has no revision {record.parent} to start from", element=record.name
        )
    values: dict[str, Any] = {
        "model": owner.model,
        "number": number,
        "graph": owner.graph,
        "mechanism": None if origin is None else add_mechanism(transaction, origin),
        "parent": record.parent,
        "formulation": record.formulation,
        "step": record.step,
        "options": json_text(record.options, "the options of the step", record.name),
        "author": record.author,
        "note": record.note,
        "created": record.created,
        "seconds": None if record.seconds is None else float(record.seconds),
        **_total(transaction, owner.graph),
    }
    seal = seal_of(values, owner.content, None if origin is None else origin["hash"], parameters)
    values["seal"] = seal_text(seal)
    key: int = transaction.execute(insert(rows).values(values).returning(rows.c.id)).scalar_one()
    add_tags(transaction, key, record.tags)
    add_parameters(transaction, key, parameters)
    return key


def check_record(record: RevisionRecord) -> None:
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


def json_text(options: Mapping[str, Any], what: str, element: str | None = None) -> str:
    """Return options as JSON; refuse what is no plain data."""
    try:
        return json.dumps(mapping_of(options, "options"), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as problem:
        message = f"{what} are not plain data: {problem}"
        raise StoreError(message, element=element) from None


def _total(transaction: Transaction, graph: int) -> dict[str, int]:
    table = schema.operations
    columns = [table.c[name] for name in schema.COST_COLUMNS]
    query = select(*columns).where(table.c.graph == graph, table.c.quantity == TOTAL)
    return dict(transaction.execute(query).mappings().one())


# --- reading --------------------------------------------------------------------------------


def find(connection: Connection, transaction: Transaction, reference: str) -> Revision:
    """Return the revision that a reference means."""
    key = find_revision(transaction, connection.place, reference)
    with damaged(connection.place, reference):
        for revision in read_revisions(transaction, schema.revisions.c.id == key):
            return revision
    raise connection.error(*GONE, element=reference)


def read_revisions(transaction: Transaction, *conditions: Any) -> list[Revision]:
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
    rows = transaction.execute(query).mappings().all()
    tags = _listed(transaction, schema.tags, "revision", "tag", [row["id"] for row in rows])
    graphs, s = sorted({row["graph"] for row in rows}), schema.shapes
    outputs = _listed(transaction, s, "graph", "quantity", graphs, s.c.is_output.is_(True))
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
    transaction: Transaction, table: Any, key: str, column: str, keys: list[int], *conditions: Any
) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    order = table.c.place if "place" in table.c else table.c[column]
    for first in range(0, len(keys), BATCH):
        query = select(table.c[key], table.c[column]).where(
            table.c[key].in_(keys[first : first + BATCH]), *conditions
        )
        for owner, value in transaction.execute(query.order_by(order)):
            found.setdefault(owner, []).append(value)
    return found


# --- the mechanism and its parameters ------------------------------------------------------------


def mechanism_values(mechanism: MechanismFile) -> dict[str, Any]:
    """Return the row of a mechanism, with the hash under which it is stored once."""
    parts = (mechanism.name, mechanism.file_name, mechanism.media_type, mechanism.text)
    notes = json.dumps([list(note) for note in mechanism.notes])
    return {
        "hash": mechanism_hash(parts, mechanism.source, notes),
        "name": mechanism.name,
        "file_name": mechanism.file_name,
        "media_type": mechanism.media_type,
        "bytes": mechanism.source,
        "text": mechanism.text,
        "notes": notes,
    }


def add_mechanism(transaction: Transaction, values: dict[str, Any]) -> int:
    """Return the key of a mechanism, stored once for all models that came from it.

    What stands there under its hash is written anew, so that a damaged row heals.
    """
    return upsert(transaction, schema.mechanisms, "hash", values)


def read_mechanism(transaction: Transaction, revision: Revision) -> MechanismFile | None:
    """Return the mechanism of a revision, with its file; refuse one that is not what was saved."""
    k, r = schema.mechanisms, schema.revisions.c
    query = select(k, r.seal).join_from(k, schema.revisions, r.mechanism == k.c.id)
    row = transaction.execute(query.where(r.id == revision.key)).one_or_none()
    if row is None:
        return None
    source = raw_bytes(row.bytes)
    parts = (row.name, row.file_name, row.media_type, row.text)
    is_whole = source is not None and mechanism_hash(parts, source, str(row.notes)) == row.hash
    if source is None or not is_whole or not is_sealed(row.seal, "mechanism", row.hash):
        raise ValueError("its mechanism is not what was saved")
    notes = tuple(tuple(map(str, note)) for note in json.loads(row.notes))
    return MechanismFile(row.name, row.text, row.file_name, row.media_type, source, notes)


def parameter_rows(given: tuple[ParameterEntry, ...] | None, graph: Graph) -> list[tuple[Any, ...]]:
    """Return the rows of parameters; without any given, of those that the graph leaves free."""
    if given is None:
        found = sorted(graph.inputs.values(), key=lambda item: item.index)
        given = tuple(ParameterEntry(i.name, i.default) for i in found if i.group == "parameter")
    return given_rows(given)


def given_rows(given: tuple[ParameterEntry, ...]) -> list[tuple[Any, ...]]:
    """Return the rows of parameters."""
    return [
        (item.name, place, exact(item.value), double(item.value), item.unit, item.note)
        for place, item in enumerate(given)
    ]


def add_parameters(transaction: Transaction, revision: int, rows: list[tuple[Any, ...]]) -> None:
    """Write the parameters of a revision."""
    names = [column.name for column in schema.parameters.c]
    values = [dict(zip(names, (revision, *row), strict=True)) for row in rows]
    if values:
        transaction.execute(insert(schema.parameters), values)


def read_parameters(transaction: Transaction, revision: Revision) -> tuple[ParameterEntry, ...]:
    """Return the parameters of a revision in their order."""
    table = schema.parameters
    query = select(table).where(table.c.revision == revision.key).order_by(table.c.place)
    return tuple(
        ParameterEntry(
            row.name, None if row.exact is None else Fraction(row.exact), row.unit, row.note
        )
        for row in transaction.execute(query)
    )


# --- rows that are locked before they are changed ------------------------------------------------

# Whoever changes a model locks its row in `models` first, so that writers on a server take turns.
# Several rows are always locked in one order - models by name, graphs by hash, mechanisms by hash -
# so that no two wait for each other. SQLite has one writer at a time and needs none of this.


def lock_model(transaction: Transaction, reference: str) -> None:
    """Keep others from changing the model of a reference, if there is one, until the end."""
    table = schema.models.c
    query = select(table.id).where(table.name == split(reference)[0])
    transaction.execute(query.with_for_update()).scalar()


def find_locked(connection: Connection, transaction: Transaction, reference: str) -> Revision:
    """Return the revision that a reference means; its model stays as it is until the end."""
    lock_model(transaction, reference)
    return find(connection, transaction, reference)


def claim_name(
    connection: Connection, transaction: Transaction, name: str, created: datetime
) -> int:
    """Make a model without revisions, locked; refuse a name that is there, or just being made."""
    statement = insert_or(transaction, schema.models, {"name": name, "created": created})
    statement = statement.on_conflict_do_nothing(index_elements=["name"])
    key = transaction.execute(statement.returning(schema.models.c.id)).scalar()
    if key is None:
        raise connection.error(f"there is a model {name} already", "choose another name", name)
    return key
