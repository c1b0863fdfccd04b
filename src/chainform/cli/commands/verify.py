"""`chainform verify`: a model or a motion against everything that can tell, and its certificate."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.status import Status

from chainform.cli.command import Command
from chainform.cli.files import OF_FILE, add_file, option_name, read_chosen, target_of
from chainform.cli.options import add_list, add_method, add_outputs, derive_named
from chainform.cli.printing import Document, Page, Report, print_report, tell
from chainform.cli.selection import split_list
from chainform.cli.store import chosen_store
from chainform.errors import DeriveError, ReadError, StoreError
from chainform.files import check_target
from chainform.model import Model, reading_notes
from chainform.pipeline import SOLVED, available_outputs
from chainform.simulation import FORMS, Problem, Run, scenario_of
from chainform.verification import (
    DEFAULT,
    KINDS,
    STATES,
    Certificate,
    Observer,
    VerificationInterrupted,
    save_certificate,
    verify,
)

FILES = (".json", ".txt", ".html")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser, stored=True, more="a scenario, or the file of a run (.npz, .csv, .parquet)")
    group = parser.add_argument_group("what is verified")
    add_list(group, "--only", "KIND", f"some kinds of checks: {', '.join(KINDS)} (default: all)")
    text = f"random states, drawn by --seed, at which a model is compared (default: {STATES})"
    group.add_argument("--states", type=int, metavar="N", help=text)
    group.add_argument(
        "-o", "--output", metavar="PATH", help=f"write the certificate: {', '.join(FILES)}"
    )
    group.add_argument("--force", action="store_true", help="overwrite the file if it exists")
    text = "do not save the certificate of a stored model in its store"
    group.add_argument("--no-save", action="store_true", help=text)
    add_outputs(parser, f"{' '.join(DEFAULT)}, as far as there are; all of a stored model")
    add_method(parser)


def run(args: Namespace) -> Report:
    """Verify, show, and save the certificate; exit code 1 unless it holds."""
    target = None if args.output is None else _target(args)
    subject = _motion(args)
    if subject is None:
        subject = _model(args)
    options: dict[str, Any] = {"only": split_list(args.only) if args.only else None}
    options |= {"states": STATES if args.states is None else args.states, "seed": _seed(args)}
    try:
        with _progress(subject) as observe:
            certificate, saved = _verified(args, subject, options, observe)
    except VerificationInterrupted as stop:
        print_report(args, _report(args, stop.certificate, None, target))
        raise KeyboardInterrupt("the certificate is not whole") from None
    return _report(args, certificate, saved, target)


def _report(
    args: Namespace, certificate: Certificate, saved: dict[str, str] | None, target: Path | None
) -> Report:
    lines = [f"saved in the store with {saved['revision']} as {saved['name']}"] if saved else []
    if target is not None:
        certificate.save(target)
        lines.append(f"written to {target}")
    document: Document = {
        "file": args.file,
        "certificate": certificate.document,
        "saved": saved,
        "written": None if target is None else str(target),
    }
    show = partial(_show, certificate=certificate, lines=lines)
    return Report(document, show, has_failed=not certificate.holds)


def _verified(
    args: Namespace, subject: Model | Problem | Run, options: dict[str, Any], observe: Observer
) -> tuple[Certificate, dict[str, str] | None]:
    """Return the certificate, and where it is saved."""
    is_whole = args.outputs is None and not args.define and args.reduce is None
    origin = subject.origin if isinstance(subject, Model) and args.stored is not None else None
    if origin is None or not is_whole:
        if origin is not None and not args.no_save:
            tell("the certificate of a part of a stored model, or of a changed one, is not saved")
        return verify(subject, observe=observe, **options), None
    with chosen_store(args, read_only=True) as store:
        certificate = verify(subject, store=store, observe=observe, save=False, **options)
    if args.no_save:
        return certificate, None
    try:
        with chosen_store(args) as store:
            name = save_certificate(certificate, store, str(origin))
    except StoreError as problem:
        tell(f"the certificate is not saved: {problem.message}")
        return certificate, None
    return certificate, {"revision": str(origin), "name": name}


def _seed(args: Namespace) -> int:
    """Return `--seed`, which is that of the states and, where there is one, of a deep search."""
    if args.seed is None:
        return 0
    try:
        return int(args.seed)
    except ValueError:
        remedy = "write --seed 1"
        raise ReadError(f"{args.seed[:40]!r} is no seed", element="--seed", remedy=remedy) from None


def _target(args: Namespace) -> Path:
    target = target_of(args.output, args.file, force=args.force)
    if target is None or target.suffix.lower() not in FILES:
        remedy = f"let the name end in {', '.join(FILES)}"
        raise ReadError(
            "this is no name of a certificate", file=args.output, element="-o", remedy=remedy
        )
    check_target(target)
    return target


# --- what is verified -------------------------------------------------------------------------


def _motion(args: Namespace) -> Problem | Run | None:
    """Return the motion of a scenario or a file of a run; None for all else."""
    suffix = Path(args.file).suffix.lower()
    is_run = suffix in FORMS
    if not is_run and (suffix not in (".toml", ".json") or not Path(args.file).is_file()):
        return None
    if not is_run and scenario_of(args.file) is None:
        return None
    for name in (*OF_FILE, "outputs", "define", "states"):
        if getattr(args, name, None) is not None:
            message = f"{option_name(name)} goes with a model, and this is a motion"
            raise ReadError(message, element=args.file[-60:], remedy="leave it out")
    args.stored = None
    return Run.load(args.file) if is_run else Problem.of(args.file)


def _model(args: Namespace) -> Model:
    """Return the stored model, or derive what the options say."""
    seed, reduces = args.seed, args.reduce is not None
    if not reduces:
        # It is that of the states; a reduction has none then.
        args.seed = None
    mechanism = read_chosen(args)
    for note in reading_notes(mechanism):
        tell(note)
    if args.stored is not None:
        usual = list(args.stored.outputs)
    else:
        known = available_outputs(mechanism, args.formulation or "auto")
        usual = [name for name in DEFAULT if name in known] or list(known)
    try:
        model = derive_named(mechanism, args, usual)
    except DeriveError:
        # Where nothing resists a motion, its acceleration is anything.
        rest = [name for name in usual if name not in SOLVED]
        if args.outputs is not None or args.stored is not None or rest in (usual, []):
            raise
        model = derive_named(mechanism, args, rest)
    args.seed = seed
    return model


# --- what is shown ----------------------------------------------------------------------------


@contextmanager
def _progress(subject: Model | Problem | Run) -> Generator[Observer]:
    """Show which checks are made, on a terminal."""
    with Status("", console=Console(stderr=True, markup=False, highlight=False)) as status:

        def show(kind: str, made: int) -> None:
            status.update(f"{subject.mechanism.name}: {kind}, {made} checks made; Ctrl-C ends it")

        yield show


def _show(page: Page, certificate: Certificate, lines: list[str]) -> None:
    page.text(certificate.subject, style="bold")
    rows = [(c.verdict, c.kind, c.law, c.compared, c.figure) for c in certificate.checks]
    if rows:
        page.table(("result", "kind", "law", "compared", "figure"), rows)
    page.text(certificate.verdict, style="bold" if certificate.holds else "bold red")
    for line in (*certificate.lines()[-2:], *lines):
        page.text(line)


COMMAND = Command(
    usage="FILE|NAME[@REVISION]|SCENARIO|RUN",
    description="Verify a mechanism, a stored model or a motion, and show a certificate: what was\n"
    "compared with what, at how many states, how far it was off, by which versions. That of a\n"
    "stored model is saved with its revision, and chainform log tells of it. Exit code 1 where\n"
    "something disagrees, and where nothing could be compared.",
    add_options=add_options,
    run=run,
)
