"""Models with their history from one database into another, all of them or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import Connection, insert, select

from chainform.store import schema
from chainform.store.link import Link
from chainform.store.mechanisms import read_mechanism, read_parameters
from chainform.store.records import Record, Revision
from chainform.store.references import check_name, find_model
from chainform.store.revisions import (
    Content,
    add_revision,
    check_record,
    load_graph,
    read_revisions,
)
from chainform.store.troubles import damaged


def copy_models(source: Link, target: Link, names: Mapping[str, str]) -> list[Revision]:
    """Copy models, each under a name that must be free, in one transaction of the target."""
    keys: list[int] = []
    with source.reading() as reader, target.writing() as writer:
        target.hold(writer, alone=False)
        for name, goal in names.items():
            _refuse_taken(target, writer, goal)
            model = find_model(reader, source.place, name)
            with damaged(source.place, name):
                keys += [
                    _copy_revision(source, reader, writer, revision, goal)
                    for revision in read_revisions(reader, schema.revisions.c.model == model)
                ]
    with target.reading() as reader:
        found = {r.key: r for r in read_revisions(reader, schema.revisions.c.id.in_(keys))}
    return [found[key] for key in keys]


def _refuse_taken(target: Link, writer: Connection, name: str) -> None:
    check_name(name)
    taken = select(schema.models.c.id).where(schema.models.c.name == name)
    if writer.execute(taken).scalar() is not None:
        raise target.error(f"there is a model {name} already", "choose another name", name)


def _copy_revision(
    source: Link, reader: Connection, writer: Connection, revision: Revision, goal: str
) -> int:
    content = Content(load_graph(source, reader, revision))
    record = replace(record_of(reader, revision), name=goal)
    check_record(record)
    key = add_revision(writer, content, record)
    table = schema.runs
    query = select(table).where(table.c.revision == revision.key).order_by(table.c.id)
    for row in reader.execute(query).mappings():
        values = {name: value for name, value in row.items() if name != "id"}
        writer.execute(insert(table).values({**values, "revision": key}))
    return key


def record_of(connection: Connection, revision: Revision) -> Record:
    """Return the record from which a revision could be made again."""
    return Record(
        name=revision.name,
        formulation=revision.formulation,
        step=revision.step,
        options=revision.options,
        parent=revision.parent,
        author=revision.author,
        note=revision.note,
        tags=revision.tags,
        seconds=revision.seconds,
        mechanism=read_mechanism(connection, revision),
        parameters=read_parameters(connection, revision),
        created=revision.created,
    )
