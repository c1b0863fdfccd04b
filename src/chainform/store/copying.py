"""Models with their history from one database into another, all of them or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, insert, select, update

from chainform.store import schema
from chainform.store.connection import Link
from chainform.store.driver_errors import GONE, damaged
from chainform.store.graphs import Content, add_graph, load_graph
from chainform.store.integrity import broken_parts, seal_text, stored_seal
from chainform.store.records import Record, Revision
from chainform.store.references import check_name, find_model
from chainform.store.revisions import (
    Owner,
    add_mechanism,
    add_revision,
    check_record,
    claim_name,
    given_rows,
    mechanism_values,
    read_mechanism,
    read_parameters,
    read_revisions,
)


def copy_models(source: Link, target: Link, names: Mapping[str, str]) -> list[Revision]:
    """Copy models, each under a name that must be free, in one transaction of the target."""
    for goal in names.values():
        check_name(goal)
    if source is target:
        return target.write(lambda writer: _copied(source, writer, target, writer, names))
    with source.reading() as reader:
        return target.write(lambda writer: _copied(source, reader, target, writer, names))


def _copied(
    source: Link, reader: Connection, target: Link, writer: Connection, names: Mapping[str, str]
) -> list[Revision]:
    """Copy the parts of models in the order in which all clients lock them, then the revisions."""
    found: dict[str, list[Revision]] = {}
    for name, goal in names.items():
        model = find_model(reader, source.place, name)
        with damaged(source.place, name):
            found[goal] = read_revisions(reader, schema.revisions.c.model == model)
        if not found[goal]:
            raise source.error(*GONE, element=name)
    models = {
        goal: claim_name(target, writer, goal, found[goal][0].created) for goal in sorted(found)
    }
    every = [revision for revisions in found.values() for revision in revisions]
    graphs = _copy_graphs(source, reader, writer, every)
    _copy_mechanisms(source, reader, writer, every)
    keys = [
        _copy_revision(
            *(source, reader, writer, revision, goal),
            Owner(models[goal], graphs[revision.content], revision.content),
        )
        for goal, revisions in found.items()
        for revision in revisions
    ]
    made = {r.key: r for r in read_revisions(writer, schema.revisions.c.id.in_(keys))}
    return [made[key] for key in keys]


def _copy_graphs(
    source: Link, reader: Connection, writer: Connection, revisions: list[Revision]
) -> dict[str, int]:
    """Return the keys that the contents of revisions have in the target, by hash."""
    of_content = {revision.content: revision for revision in revisions}
    graphs: dict[str, int] = {}
    for content in sorted(of_content):
        revision = of_content[content]
        with damaged(source.place, revision.reference):
            graphs[content] = add_graph(writer, Content(load_graph(source, reader, revision)))
    return graphs


def _copy_mechanisms(
    source: Link, reader: Connection, writer: Connection, revisions: list[Revision]
) -> None:
    found: dict[str, dict[str, Any]] = {}
    for revision in revisions:
        with damaged(source.place, revision.reference):
            mechanism = read_mechanism(reader, revision)
        if mechanism is not None:
            values = mechanism_values(mechanism)
            found[values["hash"]] = values
    for name in sorted(found):
        add_mechanism(writer, found[name])


def _copy_revision(
    source: Link,
    reader: Connection,
    writer: Connection,
    revision: Revision,
    goal: str,
    owner: Owner,
) -> int:
    with damaged(source.place, revision.reference):
        record = replace(record_of(reader, revision), name=goal)
        check_record(record)
    key = add_revision(writer, owner, record, given_rows(record.parameters or ()))
    _copy_marks(reader, writer, revision.key, key)
    table = schema.runs
    query = select(table).where(table.c.revision == revision.key).order_by(table.c.id)
    for row in reader.execute(query).mappings().all():
        values = {name: value for name, value in row.items() if name != "id"}
        writer.execute(insert(table).values({**values, "revision": key}))
    return key


def _copy_marks(reader: Connection, writer: Connection, old: int, new: int) -> None:
    """Leave the seal of a copy broken where that of the original is: a copy mends nothing."""
    seal, sealed = stored_seal(reader, old)
    broken = broken_parts(seal, sealed)
    if broken:
        fresh, _ = stored_seal(writer, new)
        text = seal_text({**fresh, **dict.fromkeys(broken, "")})
        table = schema.revisions
        writer.execute(update(table).where(table.c.id == new).values(seal=text))


def check_parameters(connection: Connection, revision: Revision) -> None:
    """Refuse parameters that are not what was saved: a revision made of them would hide it."""
    broken = broken_parts(*stored_seal(connection, revision.key))
    if any(part.startswith("parameters.") for part in broken):
        raise ValueError("its parameters are not what was saved")


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
