"""`chainform simulate`: the motion that a scenario file asks for."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Any

from chainform.cli.batch_simulation import check_batch_options, run_batch
from chainform.cli.commands.command import Command
from chainform.cli.motion_progress import shown_motion
from chainform.cli.overriding import (
    add_overrides,
    blamed,
    check_outputs,
    overrides_of,
)
from chainform.cli.printing import Document, Page, Report, tell
from chainform.cli.run_keeping import Keeping
from chainform.cli.run_saving import (
    check_pictures,
    check_store,
    is_resumed,
    result_files,
    run_name,
    save_into_store,
)
from chainform.cli.run_telling import run_document, show_run
from chainform.errors import Error
from chainform.runtime import CodeCache
from chainform.simulation import Interrupted, MotionError, Run, Scenario, simulate


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("file", metavar="SCENARIO", help="the scenario (.toml or .json)")
    group = parser.add_argument_group("where results go")
    group.add_argument(
        "--out",
        metavar="FILE",
        nargs="+",
        action="extend",
        help="write times, states, efforts, energy and the outputs of the scenario: .parquet, "
        ".csv or .npz",
    )
    group.add_argument("--plot", metavar="FILE.svg", help="plot over time (.svg, .png or .pdf)")
    group.add_argument(
        "--animate", metavar="FILE.html", help="a moving picture (.html, .mp4 or .gif)"
    )
    group.add_argument(
        "--save",
        metavar="NAME[@REVISION]",
        help="keep the run in the store with this model, which is made where there is none",
    )
    group.add_argument(
        "--run", metavar="NAME", help="the name of the run there (default: that of the file)"
    )
    group.add_argument("--force", action="store_true", help="overwrite files")
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
    """Compute the motion, and write what there is of it even if it does not come to its end."""
    files = result_files(args)
    check_pictures(args)
    scenario = Scenario.read(args.file, store=args.db, allow_python=args.allow_python)
    check_batch_options(args, scenario)
    check_outputs(scenario)
    if scenario.batch is not None:
        return run_batch(args, scenario, files)
    check_store(args, scenario)
    found = _computed(args, scenario, files)
    for file in files:
        found.save(file, scenario.outputs)
    saved = save_into_store(args, scenario, found) if args.save is not None else None
    written = [*files, *_pictures(args, found)]
    document = _document(args, found, written, saved)
    return Report(document, lambda page: _show(page, args, document))


def _computed(args: Namespace, scenario: Scenario, files: Sequence[str]) -> Run:
    """Return the run; one that was interrupted or failed is written before the error goes on."""
    before = None if args.resume is None else Run.load(args.resume)
    earlier = [file for file in files if Path(file).exists() and not is_resumed(args, file)]
    keep = Keeping(files, scenario.outputs, earlier)
    given = overrides_of(args, scenario)
    span = given.get("t", scenario.arguments["t"])
    try:
        name = scenario.mechanism.name
        with blamed(given), shown_motion(name, span, quiet=args.quiet) as told:
            cache = CodeCache.of_user()
            options: dict[str, Any] = {
                "progress": told,
                "resume": before,
                "code_cache": cache,
                **given,
            }
            found = simulate(scenario, checkpoint=keep if files else None, **options)
    except Interrupted as stop:
        if not stop.run.about.is_complete:
            keep(stop.run)
            tell(_stopped(args, stop.run, keep.written))
            raise
        found = stop.run
    except MotionError as problem:
        with suppress(Error):
            # That the motion failed is what has to be told.
            keep(problem.run)
        if keep.written:
            tell(f"what was computed before is in {', '.join(keep.written)}")
        raise
    keep.finished()
    return found


def _stopped(args: Namespace, part: Run, files: Sequence[str]) -> str:
    mark = part.about.bookmark
    where = f"stopped at t = {0.0 if mark is None else mark.t:.6g} s"
    if not files:
        return f"{where}; with --out FILE.npz what was computed is kept"
    again = f"chainform simulate {quote(args.file)} --resume {quote(files[0])}"
    again += " --allow-python" * args.allow_python
    return f"{where}, what was computed is in {', '.join(files)}; to go on: {again}"


def _pictures(args: Namespace, found: Run) -> list[str]:
    if args.plot is not None:
        found.plot(file=args.plot)
    if args.animate is not None:
        found.animate(args.animate)
    return [file for file in (args.plot, args.animate) if file is not None]


# --- what is told -----------------------------------------------------------------------------


def _document(args: Namespace, found: Run, written: Sequence[str], saved: str | None) -> Document:
    kept = None if saved is None else {"revision": saved, "run": run_name(args)}
    told = {"written": list(written), "saved": kept}
    return {"file": args.file, **run_document(found), **told}


def _show(page: Page, args: Namespace, document: Document) -> None:
    if args.quiet:
        return
    show_run(page, document)
    for file in document["written"]:
        page.text(f"written to {file}")
    if document["saved"] is not None:
        page.text(f"saved with {document['saved']['revision']} as {document['saved']['run']}")


COMMAND = Command(
    usage="SCENARIO",
    description="Compute the motion that a scenario file asks for, and tell how it ended. Ctrl-C\n"
    "ends it early: what was computed is written, the exit code is 130, and --resume goes on from\n"
    "there. Long runs are written every half a minute. A scenario with a section [batch] asks for\n"
    "many motions, which run on all cores.",
    add_options=add_options,
    run=run,
)
