"""The store of models: save, find, follow, bind, and evaluate inside the database."""

from __future__ import annotations

import getpass
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import StoreError
from chainform.graph import number_text
from chainform.model.model import Model
from chainform.model.opening import open_store_file
from chainform.model.states import input_values
from chainform.model.stored import (
    bound_model,
    is_method,
    mechanism_file_of,
    model_from,
    options_of,
    parameters_of,
)
from chainform.model.transfer import chosen_names, copy_models, remove_unused, write_portable
from chainform.store import (
    Database,
    Difference,
    MechanismFile,
    ModelEntry,
    Record,
    Revision,
    Swept,
)
from chainform.store.arguments import mapping_of, text_of, texts_of, utc


class Store:
    """Models in a database, each with its history.

    A reference is `arm` (the last revision), `arm@3` or `arm@tag`. What cannot be found or done
    raises StoreError. The database itself is `store.database`, for what has no method here.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._is_in_vain = False
        """Whether models were to be taken over and did not come."""

    def close(self) -> None:
        """Give the connections back; a file that was made for nothing goes."""
        self.database.close()
        if self._is_in_vain:
            remove_unused(self.database)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- saving and loading -----------------------------------------------------------------

    def save(
        self,
        model: Model,
        name: str,
        tags: Iterable[str] = (),
        note: str = "",
        author: str | None = None,
        *,
        seconds: float | None = None,
    ) -> Revision:
        """Save a model as the next revision of `name`; nothing that is there is overwritten.

        The author is the user of the computer unless one is named; `seconds` is how long the
        model took to derive.
        """
        if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(model).__name__
            raise StoreError(f"what is saved must be a model, not {kind}", remedy="derive one")
        record = Record(
            name,
            model.formulation,
            options=options_of(model),
            author=_author(author),
            note=note,
            tags=texts_of(tags, "tags"),
            seconds=seconds,
            mechanism=mechanism_file_of(model.mechanism),
            parameters=parameters_of(model),
        )
        return self.database.save(model.graph, record)

    def load(self, reference: str) -> Model:
        """Return a stored model, ready to show and evaluate."""
        return self._loaded(reference)[0]

    def _loaded(self, reference: str) -> tuple[Model, Revision]:
        graph, revision = self.database.load(reference)
        file = self.database.mechanism(revision.reference)
        return model_from(graph, revision, self._method(revision), file), revision

    def _method(self, revision: Revision) -> Mapping[str, Any]:
        """Return how a model was derived: by the options of the step it goes back to."""
        while not is_method(revision.options) and revision.parent is not None:
            revision = self.database.revision(f"{revision.name}@{revision.parent}")
        return revision.options

    def bind(
        self, reference: str, values: Mapping[str, Any], note: str = "", author: str | None = None
    ) -> Revision:
        """Make free parameters numbers, and save the result as the next revision."""
        values = mapping_of(values, "values")
        if not values:
            raise StoreError("no values are given", element=reference, remedy="name a parameter")
        model, revision = self._loaded(reference)
        bound = bound_model(model, values, revision.reference)
        before = parameters_of(model)
        after = {p.name: p for p in parameters_of(bound)}
        numbers = {p.name: p.value for p in after.values() if p.value is not None}
        record = Record(
            revision.name,
            bound.formulation,
            step="bind",
            options=options_of(bound)
            | {"values": {name: number_text(numbers[name]) for name in values}},
            parent=revision.number,
            author=_author(author),
            note=note,
            mechanism=mechanism_file_of(bound.mechanism),
            parameters=tuple(after.get(p.name, p) for p in before),
        )
        return self.database.save(bound.graph, record)

    # --- finding ----------------------------------------------------------------------------

    def models(
        self,
        search: str | None = None,
        *,
        mechanism: str | None = None,
        author: str | None = None,
        quantity: str | None = None,
        tag: str | None = None,
        since: datetime | date | str | None = None,
        until: datetime | date | str | None = None,
    ) -> list[ModelEntry]:
        """Return the models, all or those that fit; dates are UTC, and `until` a whole day."""
        return self.database.models(
            search,
            mechanism=mechanism,
            author=author,
            quantity=quantity,
            tag=tag,
            since=_moment(since),
            until=_moment(until, ends=True),
        )

    def revision(self, reference: str) -> Revision:
        """Return what is known of one revision."""
        return self.database.revision(reference)

    def log(self, name: str) -> list[Revision]:
        """Return the revisions of a model, the oldest first."""
        return self.database.log(name)

    def diff(self, before: str, after: str) -> Difference:
        """Return what changed between two revisions, definition by definition."""
        return self.database.diff(before, after)

    def mechanism_file(self, reference: str) -> MechanismFile | None:
        """Return the file that a model's mechanism was read from, byte for byte."""
        return self.database.mechanism(reference)

    # --- changing ---------------------------------------------------------------------------

    def revert(
        self, name: str, revision: int, note: str = "", author: str | None = None
    ) -> Revision:
        """Make an earlier revision the last one again, as a new revision."""
        return self.database.revert(name, revision, author=_author(author), note=note)

    def tag(self, reference: str, *tags: str) -> Revision:
        """Give a revision tags; `arm@tag` then means it."""
        return self.database.tag(reference, *tags)

    def rename(self, name: str, new_name: str) -> None:
        """Give a model, with its history, another name."""
        self.database.rename(name, new_name)

    def delete(self, name: str) -> int:
        """Remove a model with all its revisions, and return how many there were."""
        return self.database.delete(name)

    def gc(self) -> Swept:
        """Remove what no revision needs any more."""
        return self.database.gc()

    def check(self, *, repair: bool = False) -> list[str]:
        """Return what is wrong with the stored data, cell by cell; nothing, if it is whole.

        With `repair` whatever follows from a graph is written anew, as long as its rows or its
        cache are whole; what was mended is marked so.
        """
        return self.database.check(repair=repair)

    def export(
        self, path: str | PathLike[str], names: Sequence[str] | None = None, *, force: bool = False
    ) -> list[str]:
        """Write models (all, or those named) into one new SQLite file, and return their names."""
        chosen = chosen_names(self.database, names)
        write_portable(self.database, chosen, Path(text_of(str(path), "the path")), force=force)
        return chosen

    def import_(
        self, path: str | PathLike[str], names: Sequence[str] | None = None
    ) -> list[Revision]:
        """Take models (all, or those named) over from a file that `export` wrote.

        Returns the last revision of each. All of them come, or none; a store that was made for
        them leaves no file when they do not.
        """
        try:
            with open_store_file(path) as other:
                chosen = chosen_names(other.database, names)
                return copy_models(other.database, self.database, chosen)
        except BaseException:
            self._is_in_vain = True
            raise

    # --- navigation, inside the database ----------------------------------------------------

    def evaluate(
        self,
        reference: str,
        q: Any = None,
        qd: Any = None,
        qdd: Any = None,
        tau: Any = None,
        sigma: Any = None,
        wrench: Any = None,
        values: Mapping[str, Any] | None = None,
        quantities: str | Sequence[str] | None = None,
        *,
        trust_rows: bool = False,
    ) -> dict[str, NDArray[np.float64]]:
        """Return quantities (the outputs, or those named) computed level by level in SQL.

        States and names are given as to `Model.evaluate`; the states of a batch are computed one
        by one. Rows that are not those saved are refused, unless `trust_rows` takes them as they
        are.
        """
        model, revision = self._loaded(reference)
        states = {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "sigma": sigma, "wrench": wrench}
        given = {group: state for group, state in states.items() if state is not None}
        numbers = {} if values is None else mapping_of(values, "values")
        batch, inputs = input_values(model.graph, model.mechanism, given, numbers)
        wanted = None if quantities is None else texts_of(quantities, "quantities")
        if not inputs:
            # Nothing is to be computed; what is asked for has its shape all the same.
            return model.evaluate(**states, values=numbers, outputs=wanted)
        results = [
            self.database.evaluate(revision.reference, each, wanted, trust_rows=trust_rows)
            for each in inputs
        ]
        return {
            name: np.stack([result[name] for result in results]).reshape((*batch, *array.shape))
            for name, array in results[0].items()
        }

    def formula(self, reference: str, variable: str) -> str:
        """Return the definition of one variable, in terms of others."""
        return self.database.formula(reference, variable)

    def expand(self, reference: str, quantity: str, **form: bool) -> dict[str, str]:
        """Return the analytic expression of each entry of a quantity, by its name (`H_1_2`)."""
        return self.database.expand(reference, quantity, **form)

    def cone(self, reference: str, variable: str) -> list[str]:
        """Return the names of everything that a variable is computed from."""
        return self.database.cone(reference, variable)

    def uses(self, reference: str, variable: str, *, whole: bool = False) -> list[str]:
        """Return the names of what a variable enters: directly, or with `whole` at all."""
        return self.database.uses(reference, variable, whole=whole)


def _author(author: str | None) -> str:
    if author is not None:
        return author
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


def _moment(value: datetime | date | str | None, *, ends: bool = False) -> datetime | None:
    """Return a date or a time as a moment; a day means its beginning, or its end."""
    if isinstance(value, str):
        value = _parsed(value)
    if value is None:
        return None
    if isinstance(value, datetime):
        return utc(value)
    if not isinstance(value, date):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _no_date(value)
    return datetime.combine(value, time.max if ends else time.min, UTC)


def _parsed(text: str) -> datetime | date:
    for form in (date, datetime):
        with suppress(ValueError):
            return form.fromisoformat(text)
    raise _no_date(text)


def _no_date(value: object) -> StoreError:
    return StoreError(
        f"{str(value)[:40]!r} is not a date",
        element="date",
        remedy="write 2026-01-31, or with a time",
    )
