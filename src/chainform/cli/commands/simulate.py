"""`chainform simulate`: the motion that a scenario file asks for, or that of a mechanism."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from chainform.cli.command import Command
from chainform.cli.motion_options import (
    add_overrides,
    add_source,
    chosen_scenario,
    option_errors,
    options_again,
    overrides_of,
)
from chainform.cli.printing import Document, Page, Report, tell
from chainform.cli.progress import MOTIONS, motion_progress
from chainform.cli.results import (
    Checkpoint,
    add_results,
    check_pictures,
    check_store,
    draw_pictures,
    is_resumed,
    model_of_run,
    result_files,
    run_name,
    save_into_store,
)
from chainform.cli.run_report import (
    batch_document,
    quantity_of,
    run_document,
    run_series,
    show_batch,
    show_run,
    show_series,
    show_written,
)
from chainform.cli.selection import bad_input, split_list
from chainform.errors import Error, ReadError
from chainform.given import counted
from chainform.runtime import CodeCache
from chainform.simulation import (
    BatchInterrupted,
    BatchRun,
    Interrupted,
    MotionError,
    Run,
    Scenario,
    check_output,
    needs_runs,
    simulate,
    simulate_batch,
)

SINGLE = ("resume", "animate", "save", "run", "table")
"""Options that go with a single motion."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_source(parser)
    group = parser.add_argument_group("where results go")
    add_results(group, "times, states, efforts, energy and the outputs of the scenario")
    group.add_argument(
        "--save",
        metavar="NAME[@REVISION]",
        help="keep the run in the store with this model, which is made where there is none",
    )
    group.add_argument(
        "--run", metavar="NAME", help="the name of the run there (default: that of the file)"
    )
    group.add_argument(
        "--table",
        metavar="COLUMN",
        nargs="*",
        help="print the numbers at the times of output: q, qd, tau and forces of motions, or these "
        "quantities and columns (energy, q.elbow, 'pose(tool)')",
    )
    group = parser.add_argument_group("how it runs")
    group.add_argument(
        "--resume",
        metavar="FILE",
        help="go on where the run in this file of results stands; without --out it is written "
        "there again",
    )
    group.add_argument(
        "--threads",
        metavar="N",
        type=int,
        help="run the motions of a [batch] in so many threads (default: all cores)",
    )
    group.add_argument(
        "--allow-python",
        action="store_true",
        help="let the scenario run functions of Python that it names, which may do anything",
    )
    add_overrides(parser)
    group.add_argument("--quiet", action="store_true", help="show no progress and no summary")


def run(args: Namespace) -> Report:
    """Compute the motions, and write what there is of them even if they do not come to an end."""
    files = result_files(args)
    check_pictures(args)
    scenario = chosen_scenario(args)
    check_batch_options(args, scenario)
    check_outputs(scenario)
    check_table(args, scenario)
    if scenario.batch is not None:
        return _run_batch(args, scenario, files)
    check_store(args, scenario.mechanism)
    found = _computed(args, scenario, files)
    for file in files:
        found.save(file, scenario.outputs)
    revision = None
    if args.save is not None:
        model = partial(model_of_run, scenario, found)
        revision = save_into_store(args, found, model, scenario.outputs)
    saved = None if revision is None else {"revision": revision, "run": run_name(args)}
    written = [*files, *draw_pictures(args, found)]
    series = run_series(found, args.table or ())
    document = {"file": args.file, **run_document(found), "written": written, "saved": saved}
    document["series"] = {name: column.tolist() for name, column in series.items()}

    def show(page: Page) -> None:
        _show(page, args, document)
        if args.table is not None:
            show_series(page, series, len(found.t))

    return Report(document, show)


def _computed(args: Namespace, scenario: Scenario, files: Sequence[str]) -> Run:
    """Return the run; one that was interrupted or failed is written before the error goes on."""
    before = None if args.resume is None else Run.load(args.resume)
    earlier = [file for file in files if Path(file).exists() and not is_resumed(args, file)]
    checkpoint = Checkpoint(files, scenario.outputs, earlier)
    given = overrides_of(args, scenario)
    name, span = scenario.mechanism.name, given.get("t", scenario.arguments["t"])
    try:
        with option_errors(given), motion_progress(name, span, quiet=args.quiet) as progress:
            found = simulate(
                scenario,
                checkpoint=checkpoint if files else None,
                progress=progress,
                resume=before,
                code_cache=CodeCache.of_user(),
                **given,
            )
    except Interrupted as stop:
        if not stop.run.about.is_complete:
            checkpoint(stop.run)
            tell(_stopped(args, stop.run, checkpoint.written))
            raise
        found = stop.run
    except MotionError as problem:
        with suppress(Error):
            # That the motion failed is what has to be reported.
            checkpoint(problem.run)
        if checkpoint.written:
            tell(f"what was computed before is in {', '.join(checkpoint.written)}")
        raise
    checkpoint.finished()
    return found


def _stopped(args: Namespace, part: Run, files: Sequence[str]) -> str:
    mark = part.about.bookmark
    where = f"stopped at t = {0.0 if mark is None else mark.t:.6g} s"
    if not files:
        return f"{where}; with --out FILE.npz what was computed is saved"
    again = f"chainform simulate {quote(args.file)} --resume {quote(files[0])}"
    again += options_again(args) + " --allow-python" * args.allow_python
    return f"{where}, what was computed is in {', '.join(files)}; to go on: {again}"


def _show(page: Page, args: Namespace, document: Document) -> None:
    if args.quiet:
        return
    show_run(page, document)
    show_written(page, document["written"])
    if document["saved"] is not None:
        page.text(f"saved with {document['saved']['revision']} as {document['saved']['run']}")


def check_outputs(scenario: Scenario) -> None:
    """Refuse outputs that could not be written after the motion has been computed."""
    for name in scenario.outputs:
        try:
            check_output(scenario.mechanism, name)
        except Error as problem:
            raise ReadError(
                problem.message,
                file=scenario.file,
                element=f"output, outputs {name[:60]!r}",
                remedy=problem.remedy,
            ) from None


def check_table(args: Namespace, scenario: Scenario) -> None:
    """Refuse columns of --table that there could not be after the motion has been computed."""
    for name in split_list(args.table or ()):
        with bad_input("--table"):
            check_output(scenario.mechanism, quantity_of(name))


# --- a scenario with a section `batch`: many motions ---------------------------------------------


def _run_batch(args: Namespace, scenario: Scenario, files: Sequence[str]) -> Report:
    """Compute all motions, and write what there is of them even if Ctrl-C ends it."""
    batch = _computed_batch(args, scenario, files)
    for file in files:
        batch.save(file, scenario.outputs)
    written = [*files, *draw_pictures(args, batch)]
    document = {"file": args.file, **batch_document(batch), "written": written}

    def show(page: Page) -> None:
        if not args.quiet:
            show_batch(page, batch, document)
            show_written(page, written)

    return Report(document, show, has_failed=bool(batch.failed.all()))


def _computed_batch(args: Namespace, scenario: Scenario, files: Sequence[str]) -> BatchRun:
    assert scenario.batch is not None
    name, count = scenario.mechanism.name, motions_in(scenario.batch)
    left_out = scenario.arguments.get("without", ())
    given = overrides_of(args, scenario)
    options: dict[str, Any] = {
        "runs": needs_runs(scenario.mechanism, scenario.outputs, left_out),
        "code_cache": CodeCache.of_user(),
        **({} if args.threads is None else {"threads": args.threads}),
        **given,
    }
    shown = motion_progress(name, (0.0, float(count)), MOTIONS, quiet=args.quiet)
    try:
        with option_errors(given), shown as progress:
            return simulate_batch(scenario, progress=progress, **options)
    except BatchInterrupted as stop:
        if stop.batch.about.is_complete:
            return stop.batch
        for file in files:
            stop.batch.save(file, scenario.outputs)
        tell(_stopped_batch(stop.batch, files))
        raise


def check_batch_options(args: Namespace, scenario: Scenario) -> None:
    """Refuse, before anything is computed, options that go with the other kind of scenario."""
    if scenario.batch is None:
        if args.threads is not None:
            raise _refused("--threads", "goes with a section [batch] of the scenario")
        return
    for name in SINGLE:
        if getattr(args, name) is not None:
            raise _refused(f"--{name}", "goes with a single motion, and the scenario has [batch]")
    if args.threads is not None and args.threads < 1:
        raise ReadError(
            "threads must be a whole number from 1 on",
            element="--threads",
            remedy="leave it out for all cores",
        )


def _refused(option: str, why: str) -> ReadError:
    return ReadError(f"{option} {why}", element="options", remedy=f"leave out {option}")


def motions_in(batch: Mapping[str, Any]) -> int:
    """Return how many motions a section asks for."""
    columns: list[Any] = []
    for name in ("q0", "qd0", "x0", "values"):
        group = batch.get(name, ())
        columns += list(group.values()) if hasattr(group, "values") else [group]
    return max((len(column) for column in columns if np.ndim(column)), default=1) or 1


def _stopped_batch(batch: BatchRun, files: Sequence[str]) -> str:
    done = len(batch) - int(batch.interrupted.sum())
    where = f"stopped after {done} of {counted(len(batch), 'motion')}"
    if not files:
        return f"{where}; with --out FILE.npz those that were finished are saved"
    return f"{where}, which are in {', '.join(files)}"


COMMAND = Command(
    usage="FILE",
    description="Compute the motion that a scenario file asks for, or that of a mechanism from a\n"
    "state --q0, --qd0 on, and tell how it ended. Ctrl-C ends it early: what was computed is\n"
    "written, the exit code is 130, and --resume goes on from there. Long runs are written every\n"
    "half a minute. A scenario with a section [batch] asks for many motions, which run on all\n"
    "cores.",
    add_options=add_options,
    run=run,
)
