"""Tags of revisions: one revision of a model bears a tag at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from chainform.errors import StoreError
from chainform.store import schema
from chainform.store.arguments import texts_of
from chainform.store.records import Revision
from chainform.store.references import check_tags


def add_tags(connection: Connection, revision: int, tags: Iterable[str]) -> None:
    """Give a revision tags; another revision of the model that bears one loses it."""
    names = sorted(set(texts_of(tags, "a tag")))
    check_tags(names)
    if names:
        remove_tags(connection, revision, names)
        rows = [{"revision": revision, "tag": tag} for tag in names]
        connection.execute(insert(schema.tags), rows)


def take_tags(
    connection: Connection, revision: Revision, tags: Iterable[str], *, whole: bool
) -> None:
    """Take tags away from a revision, or with `whole` from whichever one of its model bears them.

    A tag that is not there is refused, with where it is.
    """
    names = texts_of(tags, "a tag")
    borne = bearers(connection, revision)
    for tag in names:
        if tag not in borne:
            listed = ", ".join(sorted(borne)) or "none"
            raise StoreError(
                f"{revision.name} has no tag {tag[:60]}",
                element=revision.name,
                remedy=f"its tags are {listed}",
            )
        if not whole and borne[tag] != revision.number:
            where = f"{revision.name}@{borne[tag]}"
            raise StoreError(
                f"{tag} is a tag of {where}", element=revision.reference, remedy=f"name {where}"
            )
    remove_tags(connection, revision.key, names)


def bearers(connection: Connection, revision: Revision) -> dict[str, int]:
    """Return the number of the revision that bears each tag of the model."""
    r, t = schema.revisions.c, schema.tags
    model = select(r.model).where(r.id == revision.key).scalar_subquery()
    query = select(t.c.tag, r.number).join_from(t, schema.revisions, r.id == t.c.revision)
    rows: Any = connection.execute(query.where(r.model == model)).all()
    return dict(rows)


def remove_tags(connection: Connection, revision: int, tags: Iterable[str]) -> None:
    """Take tags from the model of a revision, whichever revision bears them."""
    r, t = schema.revisions.c, schema.tags
    model = select(r.model).where(r.id == revision).scalar_subquery()
    of_model = select(r.id).where(r.model == model)
    connection.execute(delete(t).where(t.c.revision.in_(of_model), t.c.tag.in_(list(tags))))
