"""The mechanism that a model came from, and its parameters, beside the graph."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, insert, select

from chainform.graph import Graph
from chainform.store import schema
from chainform.store.arguments import raw_bytes
from chainform.store.records import MechanismFile, Parameter, Revision
from chainform.store.rows import double, exact
from chainform.store.seals import is_sealed, mechanism_hash
from chainform.store.upsert import upsert


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


def add_mechanism(connection: Connection, values: dict[str, Any]) -> int:
    """Return the key of a mechanism, stored once for all models that came from it.

    What stands there under its hash is written anew, so that a damaged row heals.
    """
    return upsert(connection, schema.mechanisms, "hash", values)


def read_mechanism(connection: Connection, revision: Revision) -> MechanismFile | None:
    """Return the mechanism of a revision, with its file; refuse one that is not what was saved."""
    k, r = schema.mechanisms, schema.revisions.c
    query = select(k, r.seal).join_from(k, schema.revisions, r.mechanism == k.c.id)
    row = connection.execute(query.where(r.id == revision.key)).one_or_none()
    if row is None:
        return None
    source = raw_bytes(row.bytes)
    parts = (row.name, row.file_name, row.media_type, row.text)
    is_whole = source is not None and mechanism_hash(parts, source, str(row.notes)) == row.hash
    if source is None or not is_whole or not is_sealed(row.seal, "mechanism", row.hash):
        raise ValueError("its mechanism is not what was saved")
    notes = tuple(tuple(map(str, note)) for note in json.loads(row.notes))
    return MechanismFile(row.name, row.text, row.file_name, row.media_type, source, notes)


def parameter_rows(given: tuple[Parameter, ...] | None, graph: Graph) -> list[tuple[Any, ...]]:
    """Return the rows of parameters; without any given, of those that the graph leaves free."""
    if given is None:
        found = sorted(graph.inputs.values(), key=lambda item: item.index)
        given = tuple(Parameter(i.name, i.default) for i in found if i.group == "parameter")
    return given_rows(given)


def given_rows(given: tuple[Parameter, ...]) -> list[tuple[Any, ...]]:
    """Return the rows of parameters."""
    return [
        (item.name, place, exact(item.value), double(item.value), item.unit, item.note)
        for place, item in enumerate(given)
    ]


def add_parameters(connection: Connection, revision: int, rows: list[tuple[Any, ...]]) -> None:
    """Write the parameters of a revision."""
    names = [column.name for column in schema.parameters.c]
    values = [dict(zip(names, (revision, *row), strict=True)) for row in rows]
    if values:
        connection.execute(insert(schema.parameters), values)


def read_parameters(connection: Connection, revision: Revision) -> tuple[Parameter, ...]:
    """Return the parameters of a revision in their order."""
    table = schema.parameters
    query = select(table).where(table.c.revision == revision.key).order_by(table.c.place)
    return tuple(
        Parameter(row.name, None if row.exact is None else Fraction(row.exact), row.unit, row.note)
        for row in connection.execute(query)
    )
