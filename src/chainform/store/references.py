"""How revisions are named: `arm`, `arm@3`, `arm@tag`; which of them bears a tag."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sqlalchemy import delete, func, insert, select

from chainform.errors import StoreError
from chainform.given import LONGEST_NAME, near
from chainform.store import schema
from chainform.store.records import Revision, argument_of, text_of, texts_of
from chainform.store.schema import Transaction

TAG = re.compile(r"[^\W\d][\w.+-]*")


def check_name(name: str) -> None:
    """Refuse what cannot be distinguished from a reference."""
    if "@" in argument_of(name, "the name of a model").name():
        message, remedy = (
            f"{name[:60]!r} cannot be a name",
            "leave out the @, which divides a reference",
        )
        raise StoreError(message, element="the name of a model", remedy=remedy)


def check_tags(tags: Iterable[str]) -> None:
    """Refuse tags that could be taken for revision numbers."""
    for tag in tags:
        text_of(tag, "a tag")
        if not TAG.fullmatch(tag) or len(tag) > LONGEST_NAME:
            raise StoreError(
                f"{tag[:60]!r} cannot be a tag",
                remedy="begin with a letter; letters, digits, dots, + and - may follow",
            )


def split(reference: str) -> tuple[str, str | None]:
    """Return the name and what stands behind the @, if anything does."""
    name, mark, rest = text_of(reference, "a reference").partition("@")
    if mark and not rest:
        raise StoreError("a revision number or a tag is missing after @", element=reference)
    return name, rest or None


def find_revision(transaction: Transaction, place: str, reference: str) -> int:
    """Return the key of the revision that a reference means."""
    name, rest = split(reference)
    model = find_model(transaction, place, name)
    rows, tags = schema.revisions.c, schema.tags.c
    query = select(rows.id).where(rows.model == model).order_by(rows.number.desc()).limit(1)
    if rest is None:
        pass
    elif rest.isascii() and rest.isdigit() and len(rest) < 10:
        query = query.where(rows.number == int(rest))
    else:
        query = query.join_from(schema.revisions, schema.tags, tags.revision == rows.id)
        query = query.where(tags.tag == rest)
    found = transaction.execute(query).scalar()
    if found is None:
        last = transaction.execute(
            select(func.max(rows.number)).where(rows.model == model)
        ).scalar()
        raise StoreError(
            f"{name} has no revision {rest}",
            file=place,
            element=reference,
            remedy=f"its last revision is {last}; `log` lists them with their tags",
        )
    return found


def find_model(transaction: Transaction, place: str, name: str) -> int:
    """Return the key of the model of that name."""
    text_of(name, "the name of a model")
    models = schema.models.c
    found = transaction.execute(select(models.id).where(models.name == name)).scalar()
    if found is not None:
        return found
    whole, mark, _ = name.partition("@")
    if mark:
        raise StoreError(
            "this names one revision, and the whole model is meant here",
            file=place,
            element=name,
            remedy=f"write {whole}",
        )
    known = list(transaction.execute(select(models.name)).scalars())
    raise StoreError(
        f"there is no model {name}",
        file=place,
        element=name,
        remedy=near(name, known, 3).strip() or "`models` lists what there is",
    )


# --- tags ----------------------------------------------------------------------------------------


def add_tags(transaction: Transaction, revision: int, tags: Iterable[str]) -> None:
    """Give a revision tags; another revision of the model that bears one loses it."""
    names = sorted(set(texts_of(tags, "a tag")))
    check_tags(names)
    if names:
        remove_tags(transaction, revision, names)
        rows = [{"revision": revision, "tag": tag} for tag in names]
        transaction.execute(insert(schema.tags), rows)


def take_tags(
    transaction: Transaction, revision: Revision, tags: Iterable[str], *, whole: bool
) -> None:
    """Take tags away from a revision, or with `whole` from whichever one of its model bears them.

    A tag that is not there is refused, with where it is.
    """
    names = texts_of(tags, "a tag")
    borne = bearers(transaction, revision)
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
    remove_tags(transaction, revision.key, names)


def bearers(transaction: Transaction, revision: Revision) -> dict[str, int]:
    """Return the number of the revision that bears each tag of the model."""
    r, t = schema.revisions.c, schema.tags
    model = select(r.model).where(r.id == revision.key).scalar_subquery()
    query = select(t.c.tag, r.number).join_from(t, schema.revisions, r.id == t.c.revision)
    rows: Any = transaction.execute(query.where(r.model == model)).all()
    return dict(rows)


def remove_tags(transaction: Transaction, revision: int, tags: Iterable[str]) -> None:
    """Take tags from the model of a revision, whichever revision bears them."""
    r, t = schema.revisions.c, schema.tags
    model = select(r.model).where(r.id == revision).scalar_subquery()
    of_model = select(r.id).where(r.model == model)
    transaction.execute(delete(t).where(t.c.revision.in_(of_model), t.c.tag.in_(list(tags))))
