"""The store of models: save, find, follow, bind, and evaluate inside the database."""

from __future__ import annotations

import getpass
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import DeriveError, Error, StoreError
from chainform.graph import numpy_indices
from chainform.model.model import Model
from chainform.model.names import parse_request, resolve
from chainform.model.persistence import (
    Recorded,
    StoredRun,
    bound_options,
    is_method,
    load_run,
    mechanism_file_of,
    model_from,
    options_of,
    parameters_of,
    save_run,
    stage_record,
)
from chainform.model.states import input_values
from chainform.search import path_of
from chainform.store import (
    Candidate,
    Database,
    Repository,
    Revision,
    RevisionRecord,
    RunEntry,
    chosen_names,
    import_models,
    mapping_of,
    remove_unused,
    text_of,
    texts_of,
    write_portable,
)


class Store(Repository, Displayed):
    """Models in a database, each with its history.

    A reference is `arm` (the last revision), `arm@3` or `arm@tag`. What cannot be found or done
    raises StoreError. The graphs of the models are in `store.database`.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database.connection)
        self.database = database
        self._is_in_vain = False
        """Whether models were to be taken over and did not come."""

    def __repr__(self) -> str:
        return f"<Store {self.connection.place}>"

    def close(self) -> None:
        """Give the connections back; a file that was made for nothing goes."""
        super().close()
        if self._is_in_vain:
            remove_unused(self.connection)

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
        model took to derive. A model that `bind` has changed is a step of that name, from the
        revision that it was loaded from. Each step of a reduction is a revision of its own, also
        where it was left or worked on a part; the last one is returned.
        """
        if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(model).__name__
            raise StoreError(f"what is saved must be a model, not {kind}", remedy="derive one")
        record = RevisionRecord(
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
        if model.bound:
            record = self._bound(record, model)
        elif len(model.stages) > 1:
            return self._save_stages(model, record)
        elif model.defined and model.origin is not None:
            record = self._defined(record, model)
        return self.database.save(model.graph, record)

    def _defined(self, record: RevisionRecord, model: Model) -> RevisionRecord:
        """Return the record of a step `define` where outputs were added since a revision."""
        parent = self._origin_of(model, record.name)
        if parent is None:
            origin = {**record.options, "origin": str(model.origin)}
            return replace(record, step="define", options=origin)
        before = self.revision(f"{record.name}@{parent}").options.get("define", {})
        return (
            record
            if before == dict(model.defined)
            else replace(record, step="define", parent=parent)
        )

    def _save_stages(self, model: Model, record: RevisionRecord) -> Revision:
        """Save each step of a reduction from where it started: a revision, or the derivation."""
        parent = self._origin_of(model, record.name)
        first, *steps = model.stages
        if parent is not None and model.defined:
            options = {**record.options, "reduce": "none"}
            plain = replace(record, options=options, tags=(), note="")
            defined = self._defined(plain, model)
            if defined.step == "define":
                parent = self.database.save(first.graph, defined).number
        if parent is None:
            options = {**record.options, "reduce": "none"}
            plain = replace(
                record, options=options, tags=(), note="", seconds=first.seconds or None
            )
            if model.origin is not None:
                options["origin"] = str(model.origin)
                plain = replace(plain, step="copy", options=options)
            parent = self.database.save(first.graph, plain).number
        numbers, tried, path = [parent], list[int](), path_of(model.stages)
        for number, stage in enumerate(steps, 1):
            is_last = stage is steps[-1]
            start = numbers[max(number - stage.back, 0)]
            made = stage_record(record, stage, start, tried if is_last else None)
            saved = self.database.save(model.graph if is_last else stage.graph, made)
            numbers.append(saved.number)
            tried += [saved.number] if all(stage is not other for other in path) else []
        return self.revision(f"{record.name}@{numbers[-1]}")

    def _origin_of(self, model: Model, name: str) -> int | None:
        """Return the revision of a name that a model was loaded from, if it is still that."""
        origin = model.origin
        if origin is None or origin.name != name:
            return None
        with suppress(StoreError):
            if self.revision(str(origin)).content == origin.content:
                return origin.number
        return None

    def _bound(self, record: RevisionRecord, model: Model) -> RevisionRecord:
        """Return the record of a step `bind`, with its values and what it started from."""
        options = {**record.options, **bound_options(model)}
        if model.origin is None:
            return replace(record, step="bind", options=options)
        parent = self._origin_of(model, record.name)
        if parent is not None:
            return replace(record, step="bind", options=options, parent=parent)
        return replace(record, step="bind", options=options | {"origin": str(model.origin)})

    def load(self, reference: str) -> Model:
        """Return a stored model, ready to show and evaluate."""
        return self._loaded(reference)[0]

    def _loaded(self, reference: str) -> tuple[Model, Revision]:
        graph, revision = self.database.load(reference)
        file = self.mechanism_file(revision.reference)
        cache = self.database.objects.of(revision.reference)
        return model_from(graph, revision, self._method(revision), file, cache), revision

    def _method(self, revision: Revision) -> Mapping[str, Any]:
        """Return how a model was derived: by the options of the step it goes back to."""
        while not is_method(revision.options) and revision.parent is not None:
            revision = self.revision(f"{revision.name}@{revision.parent}")
        return revision.options

    def bind(
        self,
        reference: str,
        values: Mapping[str, Any],
        note: str = "",
        author: str | None = None,
        *,
        tags: Iterable[str] = (),
        keep_free: bool = False,
    ) -> Revision:
        """Make free parameters numbers, and save the result as the next revision.

        With `keep_free` they are defaults. What is made from an earlier revision is the last one.
        """
        values = mapping_of(values, "values")
        if not values:
            raise StoreError("no values are given", element=reference, remedy="name a parameter")
        model, revision = self._loaded(reference)
        try:
            bound = model.bind(values, keep_free=keep_free)
        except DeriveError as problem:
            message, remedy = problem.message, problem.remedy
            raise StoreError(message, element=revision.reference, remedy=remedy) from None
        return self.save(bound, revision.name, tags, note, author)

    def revert(
        self, name: str, revision: int | str, note: str = "", author: str | None = None
    ) -> Revision:
        """Make an earlier revision, by its number or tag, the last one again, as a new one."""
        return super().revert(name, revision, note, _author(author))

    def lineage(self, reference: str, *, tried: bool = False) -> list[Revision]:
        """Return the revisions that led to one, from the first on.

        With `tried`, also the parts and the other ways that their reductions tried.
        """
        revision = self.revision(reference)
        known = {other.number: other for other in self.log(revision.name)}
        found = [revision.number]
        while (parent := known[found[-1]].parent) is not None:
            found.append(parent)
        if tried:
            found += [n for number in found for n in known[number].options.get("tried", ())]
        return [known[number] for number in sorted(found)]

    # --- runs -------------------------------------------------------------------------------

    def save_run(
        self, run: Recorded, reference: str, name: str, outputs: Sequence[str] | None = None
    ) -> RunEntry:
        """Keep the result of a simulation with a revision, with outputs along it."""
        return save_run(self.database, run, reference, name, outputs)

    def run(self, reference: str, name: str) -> StoredRun:
        """Return a stored run; `Run.load` makes a run of it that can be plotted."""
        return load_run(self.database, reference, name)

    def runs(self, reference: str) -> list[RunEntry]:
        """Return the runs of a revision, the oldest first, without their arrays."""
        return self.database.runs.list(reference)

    def delete_run(self, reference: str, name: str) -> None:
        """Remove a run."""
        self.database.runs.delete(reference, name)

    # --- files that can be sent around ------------------------------------------------------

    def export(
        self, path: str | PathLike[str], names: Sequence[str] | None = None, *, force: bool = False
    ) -> list[str]:
        """Write models (all, or those named) into one new SQLite file, and return their names."""
        found = chosen_names(self.connection, names)
        write_portable(self.connection, found, Path(text_of(str(path), "the path")), force=force)
        return found

    def import_(
        self,
        path: str | PathLike[str],
        names: Sequence[str] | Mapping[str, str] | None = None,
    ) -> list[Revision]:
        """Take models (all, or those named) over from a file that `export` wrote.

        A mapping gives them new names: `{"arm": "arm_of_ada"}`. Returns the last revision of
        each. All of them come, or none; a store that was made for them leaves no file when they
        do not.
        """
        try:
            with Database.open_file(text_of(str(path), "the path")) as other:
                if isinstance(names, Mapping):
                    chosen_names(other.connection, list(names))
                    return import_models(other.connection, self.connection, names)
                found = chosen_names(other.connection, names)
                return import_models(
                    other.connection, self.connection, {name: name for name in found}
                )
        except BaseException:
            self._is_in_vain = True
            raise

    # --- navigation, inside the database ----------------------------------------------------

    def evaluate(  # noqa: PLR0913, a front door
        self,
        reference: str,
        q: Any = None,
        qd: Any = None,
        qdd: Any = None,
        tau: Any = None,
        sigma: Any = None,
        wrench: Any = None,
        values: Mapping[str, Any] | None = None,
        outputs: str | Sequence[str] | None = None,
        *,
        x: Any = None,
        u: Any = None,
        force: Any = None,
        t: Any = None,
        direction: Any = None,
        weights: Any = None,
        trust_rows: bool = False,
    ) -> dict[str, NDArray[np.float64]]:
        """Return outputs (all, or those named, or other quantities) computed level by level in SQL.

        States and names are given as to `Model.evaluate`; the states of a batch are computed one
        by one. Rows that are not those saved are refused, unless `trust_rows` takes them as they
        are.
        """
        model, revision = self._loaded(reference)
        states = {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "sigma": sigma, "wrench": wrench}
        states |= {"x": x, "u": u, "force": force, "t": t}
        states |= {"direction": direction, "weights": weights}
        given = {group: state for group, state in states.items() if state is not None}
        numbers = {} if values is None else mapping_of(values, "values")
        batch, inputs = input_values(model.graph, model.mechanism, given, numbers)
        texts = model.outputs if outputs is None else texts_of(outputs, "outputs")
        if not inputs:
            # Nothing is to be computed; the outputs have their shapes all the same.
            return model.evaluate(**states, values=numbers, outputs=texts)
        wanted = {text: resolve(model.graph, text) for text in texts}
        names = list(dict.fromkeys(request.name for request in wanted.values()))
        results = [
            self.database.evaluate(revision.reference, each, names, trust_rows=trust_rows)
            for each in inputs
        ]
        arrays = {name: np.stack([result[name] for result in results]) for name in names}
        whole = {name: array.reshape((*batch, *array.shape[1:])) for name, array in arrays.items()}
        lead = (slice(None),) * len(batch)
        return {
            text: np.array(whole[request.name][(*lead, *numpy_indices(request.indices))])
            for text, request in wanted.items()
        }

    # Names are those of the database first, then the letters and indices of the command line.

    def formula(self, reference: str, quantity: str) -> str:
        """Return the definition of an entry or variable, or those of a whole quantity by lines."""
        entries = self.database.entries(reference, *_meanings(quantity))
        found = {label: self.database.formula(reference, v) for label, v in entries.items()}
        if len(found) == 1:
            return next(iter(found.values()))
        return "\n".join(f"{label} = {formula}" for label, formula in found.items())

    def expand(self, reference: str, quantity: str, **form: Any) -> dict[str, str]:
        """Return the analytic expression of each entry of a quantity, by its name (`H_1_2`).

        Its terms stay in the database, as rows, without brackets. `angles` and `limit` are those of
        `model["H_1_2"].expand`; angles are split, the canonical form, by default.
        """
        first, *others = _meanings(quantity)
        return self.database.expand(reference, first[0], *others, **form)

    def cone(self, reference: str, variable: str) -> list[str]:
        """Return the names of everything that a variable is computed from."""
        return self.database.cone(reference, self._single(reference, variable))

    def uses(self, reference: str, variable: str, *, whole: bool = False) -> list[str]:
        """Return the names of what a variable enters: directly, or with `whole` at all."""
        return self.database.uses(reference, self._single(reference, variable), whole=whole)

    def _single(self, reference: str, text: str) -> str:
        entries = self.database.entries(reference, *_meanings(text))
        if len(entries) > 1:
            raise StoreError(
                f"{text} has {len(entries)} entries",
                element=text,
                remedy=f"name one of them, such as {next(iter(entries))}",
            )
        return next(iter(entries.values()))


def _meanings(text: str) -> list[Candidate]:
    """Return what a text may mean: a name as it stands, or a letter and indices from 1."""
    found: list[Candidate] = [(text_of(text, "the name of a quantity"), ())]
    with suppress(Error):
        request = parse_request(text)
        found.append((request.name, request.indices))
    return found


def _author(author: str | None) -> str:
    if author is not None:
        return author
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
