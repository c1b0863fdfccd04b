"""`cf.verify`: every check that there is for a model or a motion, and the certificate of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

from chainform.errors import DeriveError, Error, ReadError, RunError, StoreError
from chainform.given import Given, argument
from chainform.graph import graph_text
from chainform.mechanism import Mechanism
from chainform.model import Model, Store, StoredRun, output_of, read_expressions, select_outputs
from chainform.pipeline import SOLVED, available_outputs, derive, names_in
from chainform.readers import EXPRESSIONS, read
from chainform.simulation import FORMS, Problem, Run, scenario_of
from chainform.verification.certificate import (
    TASK,
    Certificate,
    Check,
    now,
    reason_of,
    versions_here,
)

Subject: TypeAlias = Model | Mechanism | Problem | Run | StoredRun | str | PathLike[str]
Observer: TypeAlias = Callable[[str, int], None]
"""What is called before each kind of check and after each check: the kind, how many are made."""

STATES = 5
"""At how many random states a model is compared, unless somebody says otherwise."""
MOST_STATES = 1000
DEFAULT = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "gravity"),
    *("bias", "passive", "kinetic_energy", "potential_energy"),
    *("constrained_dynamics", "multipliers", "complete_model"),
)
"""What is derived of a mechanism for it, as far as there is."""
OF_MODEL = {
    "reference": ("independent", "check_reference"),
    "peers": ("peers", "check_peers"),
    "laws": ("laws", "check_laws"),
    "program": ("machine_code", "check_program"),
    "text": ("emitted_text", "check_text"),
    "rows": ("stored_rows", "check_rows"),
    "formulations": ("formulations", "check_formulations"),
}
"""Kinds of checks of a model, in their order: the file, and the function in it."""
OF_MOTION = {"motion": ("motion", "check_motion")}
"""The same of a motion."""
KINDS = (*OF_MODEL, *OF_MOTION)


class VerificationInterrupted(KeyboardInterrupt):
    """Ctrl-C came; `certificate` has the checks that were made by then, and says so."""

    def __init__(self, certificate: Certificate) -> None:
        super().__init__(f"{len(certificate.checks)} checks were made")
        self.certificate = certificate


@dataclass(frozen=True, eq=False)
class _Work:
    """What is verified, by which kinds of checks."""

    subject: Model | Problem | Run
    title: str
    kinds: tuple[str, ...]
    options: Mapping[str, Any]
    store: Store | None = None

    @property
    def content(self) -> str:
        """The hash of the formulas of a stored revision; nothing where it is none."""
        origin = self.subject.origin if isinstance(self.subject, Model) else None
        return origin.content if self.store is not None and origin is not None else ""

    def checks(self, kind: str, observe: Observer) -> Iterator[Check]:
        """Yield the checks of a kind; one that cannot be made at all says why."""
        file, name = {**OF_MODEL, **OF_MOTION}[kind]
        check: Callable[..., Iterable[Check]]
        check = getattr(import_module(f"chainform.verification.{file}"), name)
        options = {**self.options, **({"store": self.store} if kind == "rows" else {})}
        if kind in OF_MOTION:
            options["progress"] = partial(_tell_motion, observe)
        made = False
        try:
            for found in check(self.subject, **options):
                made = True
                yield replace(found, kind=kind)
        except Error as problem:
            made = True
            words = reason_of(problem)
            yield Check(f"checks of the kind {kind}", "nothing", words, None, 0, kind=kind)
        if not made:
            words = "it compares bodies that move, and there are none"
            yield Check(f"checks of the kind {kind}", "nothing", words, None, 0, kind=kind)


def _tell_motion(observe: Observer, done: int, total: int) -> None:
    observe(f"motion {done} of {total}", 0)


def verify(  # noqa: PLR0913, a front door
    subject: Subject,
    outputs: Sequence[str] | None = None,
    *,
    only: str | Sequence[str] | None = None,
    states: int = STATES,
    seed: int = 0,
    store: Store | None = None,
    save: bool = True,
    observe: Observer | None = None,
    **options: Any,
) -> Certificate:
    """Return the certificate of a model, a mechanism, a stored revision or a motion.

    `subject` is a model, a mechanism or its file, a file of expressions, or with `store` a stored
    model by its reference (`"arm@2"`). `outputs` are those that are verified: all of a model; of a
    mechanism, which is derived by the `options` of `derive`, the usual ones. A `Problem`, a run,
    also one of a store, or the file of a scenario or a run is verified as a motion.

    `only` names kinds of checks. A model is compared at so many random `states`, drawn by `seed`.
    Of a revision of `store` the rows are computed there, and the certificate is saved with it if
    `save`.
    `observe` is called with the kind of check and how many are made. Ctrl-C raises
    VerificationInterrupted, whose `certificate` has the checks made by then.
    """
    count = Given(states, "states", raises=ReadError).whole(1, MOST_STATES)
    first = Given(seed, "seed", raises=ReadError).whole(0)
    is_saved = argument("save", save).flag()
    _check_arguments(store, observe)
    work = _work(subject, outputs, store, options)
    chosen = _kinds(only, work.kinds)
    if is_saved and work.content:
        _check_saving(work.store)
    given = {} if work.kinds == tuple(OF_MOTION) else {"seed": first, "states": count}
    work = replace(work, kinds=chosen, options=given)
    certificate = _certificate(work, first, observe)
    if is_saved and work.content and work.store is not None:
        assert isinstance(work.subject, Model)
        save_certificate(certificate, work.store, str(work.subject.origin))
    return certificate


def _check_arguments(store: object, observe: object) -> None:
    if store is not None and not isinstance(store, Store):
        raise argument("store", store).expected("an open store", "write store=cf.open_store(...)")
    if observe is not None and not callable(observe):
        raise argument("observe", observe).expected("a function", "leave it out")


def _check_saving(store: Store | None) -> None:
    """Refuse, before anything is computed, a store in which no certificate can be saved."""
    if store is not None and store.connection.read_only:
        message = "the store is open for reading only, and the certificate is saved in it"
        remedy = "take save=False, or open the store where it can be written"
        raise StoreError(message, element="save", remedy=remedy)


def _certificate(work: _Work, seed: int, observe: Observer | None) -> Certificate:
    began, created, checks = perf_counter(), now(), list[Check]()
    left = ""

    def made() -> Certificate:
        seconds = perf_counter() - began
        mechanism = work.subject.mechanism
        found = Certificate(work.title, mechanism, tuple(checks), created, seconds, seed)
        return replace(found, content=work.content, left=left, versions=versions_here())

    def tell(kind: str, _: int = 0) -> None:
        if observe is not None:
            observe(kind, len(checks))

    try:
        for kind in work.kinds:
            left = kind
            tell(kind)
            for check in work.checks(kind, tell):
                checks.append(check)
                tell(kind)
        left = ""
    except KeyboardInterrupt:
        if not checks:
            raise
        left = f"the end of {left}" if any(c.kind == left for c in checks) else left
        raise VerificationInterrupted(made()) from None
    return made()


def _kinds(only: str | Sequence[str] | None, able: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds that are named, in their order."""
    if only is None:
        return tuple(able)
    names = names_in("only", [only] if isinstance(only, str) else only)
    for name in names:
        if name in KINDS and name not in able:
            subject, other = (
                ("a motion", "a model") if name in OF_MODEL else ("a model", "a motion")
            )
            remedy = f"leave it out: {subject} has {', '.join(able)}"
            message = f"checks of the kind {name!r} are those of {other}, and this is {subject}"
            raise ReadError(message, element="only", remedy=remedy)
        Given(name, "only", raises=ReadError).choice(tuple(able), "kind of check")
    if not names:
        remedy = f"name some of {', '.join(able)}, or leave it out"
        raise ReadError("no kind of check is named", element="only", remedy=remedy)
    return tuple(kind for kind in able if kind in names)


# --- what is verified -------------------------------------------------------------------------


def _work(
    subject: Subject, outputs: Sequence[str] | None, store: Store | None, options: dict[str, Any]
) -> _Work:
    if isinstance(subject, str | PathLike):
        found = _of_text(subject, store)
        if found is not subject:
            return _work(found, outputs, store, options)
    if isinstance(subject, StoredRun):
        subject = Run.load(subject)
    if isinstance(subject, Problem | Run):
        for name in ("outputs", *options) if outputs is not None else options:
            raise RunError(
                "a motion takes no options of derive", element=name, remedy="leave it out"
            )
        return _Work(subject, _motion_title(subject), tuple(OF_MOTION), {})
    if isinstance(subject, Model):
        if options:
            remedy = "give them to derive, or give the mechanism in place of the model"
            element = next(iter(options))
            raise RunError("a model takes no options of derive", element=element, remedy=remedy)
        return _of_model(subject, outputs, store)
    if not isinstance(subject, Mechanism):
        raise argument("subject", subject).expected("a model, a mechanism, a motion, or a file")
    return _of_model(_derived(subject, outputs, options), None, None)


def _of_text(subject: str | PathLike[str], store: Store | None) -> Any:
    """Return what a file or a reference names."""
    path = Path(subject)
    suffix = path.suffix.lower()
    if not suffix and not _is_there(path) and store is None:
        message = "there is no such file, and no store is given in which it may be a model"
        remedy = "check the name; a stored model needs store=cf.open_store()"
        raise ReadError(message, file=str(subject)[:100], remedy=remedy)
    if (
        store is not None
        and isinstance(subject, str)
        and not (suffix and _is_there(path) and path.is_file())
    ):
        # The name of a model may have a dot.
        return store.load(subject)
    if suffix == EXPRESSIONS:
        return read_expressions(subject)
    if suffix in FORMS:
        return Run.load(subject)
    return read(subject) if scenario_of(subject) is None else Problem.of(subject)


def _is_there(path: Path) -> bool:
    """Tell whether there is such a file; a name that no file can have is that of none."""
    try:
        return path.exists()
    except OSError:
        return False


def _derived(mechanism: Mechanism, outputs: Sequence[str] | None, options: dict[str, Any]) -> Model:
    effort = options.pop("reduce", "none")
    method = options.get("formulation", "auto")
    if outputs is not None:
        model = derive(mechanism, outputs, **options)
    else:
        known = available_outputs(mechanism, method)
        usual = [name for name in DEFAULT if name in known] or list(known)
        try:
            model = derive(mechanism, usual, **options)
        except DeriveError:
            # Where nothing resists a motion, its acceleration is anything.
            rest = [name for name in usual if name not in SOLVED]
            if rest in (usual, []):
                raise
            model = derive(mechanism, rest, **options)
    return model if effort == "none" else model.reduce(effort)


def _of_model(model: Model, outputs: Sequence[str] | None, store: Store | None) -> _Work:
    """Return the checks of a model; with outputs of its own it is no stored revision any more."""
    if outputs is not None:
        names = [output_of(name) for name in names_in("outputs", outputs)]
        graph = select_outputs(model.graph_with(names), names)
        model = replace(model.with_graph(graph), origin=None)
    if not model.outputs:
        raise ReadError("the model has no outputs", element="outputs", remedy="name some")
    is_stored = store is not None and _is_revision(model, store)
    title = f"{model.origin}, {model.title}" if is_stored else model.title
    return _Work(model, title, tuple(OF_MODEL), {}, store if is_stored else None)


def _is_revision(model: Model, store: Store) -> bool:
    """Whether a model is a revision of a store, and not one that was made from it."""
    if model.origin is None:
        return False
    revision = store.revision(str(model.origin))
    if revision.content != model.origin.content:
        return False
    return graph_text(store.load(str(model.origin)).graph) == graph_text(model.graph)


def _motion_title(subject: Problem | Run) -> str:
    if isinstance(subject, Problem):
        return f"{subject!r}"[1:-1]
    return f"a run of {subject.mechanism.name} by {subject.method}"


# --- with the store ---------------------------------------------------------------------------


def save_certificate(certificate: Certificate, store: Store, reference: str) -> str:
    """Keep a certificate with the revision it is about, and return the name it has there."""
    taken = {entry.name for entry in store.runs(reference)}
    number = 1
    while f"{TASK}{number}" in taken:
        number += 1
    store.save_run(certificate, reference, f"{TASK}{number}")
    return f"{TASK}{number}"


def certificates(store: Store, reference: str) -> list[Certificate]:
    """Return the certificates of a revision, the oldest first."""
    entries = [entry for entry in store.runs(reference) if entry.kind == TASK]
    return [Certificate.load(store.run(reference, entry.name)) for entry in entries]
