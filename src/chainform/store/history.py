"""Finding models, and changing what they are called; comparing, reverting, removing."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from chainform.graph import Graph, definition_text, number_text
from chainform.store import schema
from chainform.store.arguments import optional_text, utc
from chainform.store.link import Link
from chainform.store.records import Difference, ModelEntry, Revision, Swept
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
    """Return the models of which some revision meets every condition, by name."""
    words = {"search": search, "mechanism": mechanism, "author": author, "tag": tag}
    for what, word in {**words, "quantity": quantity}.items():
        optional_text(word, what)
    m, r, k = schema.models.c, schema.revisions.c, schema.mechanisms.c
    o, t = schema.shapes.c, schema.tags.c
    found = (
        select(r.model)
        .join_from(schema.revisions, schema.models, m.id == r.model)
        .outerjoin(schema.mechanisms, k.id == r.mechanism)
    )
    if search:
        found = found.where(contains(m.name, search))
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
    last = select(func.max(r.id)).where(r.model.in_(found)).group_by(r.model)
    counts: Any = connection.execute(select(r.model, func.count()).group_by(r.model)).all()
    number: dict[int, int] = dict(counts)
    models: Any = connection.execute(select(m.name, m.id)).all()
    key: dict[str, int] = dict(models)
    latest = read_revisions(connection, r.id.in_(last))
    return [ModelEntry(item.name, number[key[item.name]], item) for item in latest]


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


# --- differences ------------------------------------------------------------------------------


def difference(before: tuple[Graph, Revision], after: tuple[Graph, Revision]) -> Difference:
    """Return what changed between two graphs, by the names of variables."""
    (old_graph, old), (new_graph, new) = before, after
    if old.content == new.content:
        return Difference(old, new, {}, {}, {}, (), (), ())
    ids: dict[object, int] = {}
    earlier, later = _Definitions(old_graph, ids), _Definitions(new_graph, ids)
    old_outputs, new_outputs = earlier.outputs(), later.outputs()
    return Difference(
        old,
        new,
        added=later.missing_in(earlier),
        removed=earlier.missing_in(later),
        changed={
            name: (earlier.text(name), later.text(name))
            for name in later.named
            if name in earlier.named and earlier.named[name] != later.named[name]
        },
        outputs_added=tuple(name for name in new_outputs if name not in old_outputs),
        outputs_removed=tuple(name for name in old_outputs if name not in new_outputs),
        outputs_changed=tuple(
            name
            for name, entries in new_outputs.items()
            if old_outputs.get(name, entries) != entries
        ),
    )


_NUMBERED = re.compile(r"(x|constant)_\d+_*")
"""Names that only count: they change whenever something before them does, and mean nothing."""


class _Definitions:
    """The definitions of a graph, comparable with those of another that shares `ids`.

    `meaning` says what each variable is, down to the inputs; `shallow` the same, down to inputs
    and variables with names of their own. Equal numbers mean equal definitions.
    """

    def __init__(self, graph: Graph, ids: dict[object, int]) -> None:
        self.graph = graph
        self.ids = ids
        self.meaning: list[int] = []
        self.shallow: list[int] = []
        self.named: dict[str, int] = {}
        self.numbered: dict[str, int] = {}
        for v, name in enumerate(graph.names):
            self.meaning.append(self._number(self._key(v, self.meaning.__getitem__)))
            self.shallow.append(self._number(self._key(v, self._seen)))
            kind = self.numbered if _NUMBERED.fullmatch(name) else self.named
            kind[name] = self.shallow[v]

    def _number(self, key: object) -> int:
        return self.ids.setdefault(key, len(self.ids))

    def _seen(self, variable: int) -> int:
        name = self.graph.names[variable]
        if _NUMBERED.fullmatch(name):
            return self.shallow[variable]
        return self._number(("name", name))

    def _key(self, variable: int, refer: Callable[[int], int]) -> object:
        graph = self.graph
        if variable in graph.inputs:
            return graph.inputs[variable]
        if graph.call[variable]:
            return (int(graph.call[variable]), refer(int(graph.argument[variable])))
        return frozenset(
            (term.coefficient, tuple(sorted((refer(f.variable), f.power) for f in term.factors)))
            for term in graph.terms(variable)
        )

    def text(self, name: str) -> str:
        """Return a definition as text."""
        variable = self.graph.numbers[name]
        given = self.graph.inputs.get(variable)
        if given is None:
            return definition_text(self.graph, variable)
        default = "" if given.default is None else f" = {number_text(given.default)}"
        return f"input {given.group} {given.index}{default}"

    def missing_in(self, other: _Definitions) -> dict[str, str]:
        """Return the definitions that the other graph has not, under any number."""
        known = {*other.named.values(), *other.numbered.values()}
        own = [name for name in self.named if name not in other.named]
        own += [name for name, shallow in self.numbered.items() if shallow not in known]
        return {name: self.text(name) for name in own}

    def outputs(self) -> dict[str, tuple[Any, ...]]:
        """Return what each output is."""
        return {
            name: (block.shape, block.labels, tuple(self.meaning[v] for v in block.variables))
            for name, block in self.graph.outputs.items()
        }
