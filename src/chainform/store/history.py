"""Finding models, changing what they are called, and removing them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from chainform.store import schema
from chainform.store.arguments import optional_text, utc
from chainform.store.connection import Link
from chainform.store.records import ModelEntry, Revision, Swept
from chainform.store.references import check_name, find_model
from chainform.store.revisions import read_revisions


def contains(column: Any, part: str) -> Any:
    """Return the condition that a text contains a part, in any case; % and _ are letters."""
    return func.lower(column).contains(part.lower(), autoescape=True)


def list_models(
    connection: Connection,
    search: str | None,
    mechanism: str | None,
    author: str | None,
    quantity: str | None,
    tag: str | None,
    since: datetime | None,
    until: datetime | None,
) -> list[ModelEntry]:
    """Return the models of which some revision meets every condition, by name.

    `search` is looked for in names and in notes.
    """
    words = {"search": search, "mechanism": mechanism, "author": author, "tag": tag}
    for what, word in {**words, "quantity": quantity}.items():
        optional_text(word, what)
    m, r, k = schema.models.c, schema.revisions.c, schema.mechanisms.c
    o, t = schema.shapes.c, schema.tags.c
    found = (
        select(r.id)
        .join_from(schema.revisions, schema.models, m.id == r.model)
        .outerjoin(schema.mechanisms, k.id == r.mechanism)
    )
    if search:
        found = found.where(contains(m.name, search) | contains(r.note, search))
    if mechanism:
        found = found.where(contains(k.name, mechanism))
    if author:
        found = found.where(contains(r.author, author))
    if quantity:
        named = select(o.graph).where(o.quantity == quantity)
        found = found.where(r.graph.in_(named))
    if tag:
        found = found.where(r.id.in_(select(t.revision).where(t.tag == tag)))
    if since:
        found = found.where(r.created >= utc(since))
    if until:
        found = found.where(r.created <= utc(until))
    last = select(func.max(r.id)).group_by(r.model)
    if not any((search, mechanism, author, quantity, tag, since, until)):
        found = last
    matching: dict[str, list[Revision]] = {}
    for revision in read_revisions(connection, r.id.in_(found)):
        matching.setdefault(revision.name, []).append(revision)
    latest = {item.name: item for item in read_revisions(connection, r.id.in_(last))}
    counts: Any = connection.execute(
        select(m.name, func.count())
        .join_from(schema.revisions, schema.models, m.id == r.model)
        .group_by(m.name)
    ).all()
    number: dict[str, int] = dict(counts)
    return [
        ModelEntry(name, number[name], latest[name], tuple(revisions))
        for name, revisions in matching.items()
    ]


def rename(link: Link, connection: Connection, name: str, new_name: str) -> None:
    """Give a model a new name, which must be free."""
    check_name(new_name)
    table = schema.models
    key = find_model(connection, link.place, name)
    taken = connection.execute(select(table.c.id).where(table.c.name == new_name)).scalar()
    if taken is not None and taken != key:
        raise link.error(f"there is a model {new_name} already", "choose another name", new_name)
    connection.execute(update(table).where(table.c.id == key).values(name=new_name))


def delete_model(link: Link, connection: Connection, name: str) -> int:
    """Remove a model with its revisions; return how many there were."""
    m, r = schema.models, schema.revisions
    key = find_model(connection, link.place, name)
    # The row is locked first, as a save does it, so that no revision comes in between.
    connection.execute(update(m).where(m.c.id == key).values(name=name))
    of_model = select(r.c.id).where(r.c.model == key)
    for table in schema.OF_REVISION:
        connection.execute(delete(table).where(table.c.revision.in_(of_model)))
    removed = connection.execute(delete(r).where(r.c.model == key)).rowcount
    connection.execute(delete(m).where(m.c.id == key))
    return removed


def sweep(connection: Connection) -> Swept:
    """Remove graphs and mechanisms that no revision points to, and objects of no graph."""
    r, g, k, o = schema.revisions.c, schema.graphs, schema.mechanisms, schema.objects
    graphs = list(
        connection.execute(select(g.c.id).where(g.c.id.not_in(select(r.graph)))).scalars()
    )
    for key in graphs:
        for table in schema.OF_GRAPH:
            connection.execute(delete(table).where(table.c.graph == key))
        connection.execute(delete(g).where(g.c.id == key))
    in_use = select(r.mechanism).where(r.mechanism.is_not(None))
    mechanisms = connection.execute(delete(k).where(k.c.id.not_in(in_use))).rowcount
    objects = connection.execute(delete(o).where(o.c.graph.is_(None))).rowcount
    return Swept(len(graphs), mechanisms, objects)
