"""`chainform simulate`: the motion that a scenario file asks for."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from typing import Any

from chainform.cli.commands.command import Command
from chainform.cli.motion_progress import shown_motion
from chainform.cli.printing import Document, Page, Report, counted, printable
from chainform.cli.run_saving import (
    check_pictures,
    check_store,
    result_files,
    run_name,
    save_into_store,
)
from chainform.errors import Error
from chainform.simulation import Interrupted, MotionError, Run, Scenario, simulate

SHOWN = 40
"""The most coordinates whose last values are shown to people."""


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
        "--allow-python",
        action="store_true",
        help="let the scenario run functions of Python that it names, which may do anything",
    )
    group.add_argument("--quiet", action="store_true", help="show no progress and no summary")


def run(args: Namespace) -> Report:
    """Compute the motion, and write what there is of it even if it does not come to its end."""
    files = result_files(args)
    check_pictures(args)
    scenario = Scenario.read(args.file, store=args.db, allow_python=args.allow_python)
    check_store(args, scenario)
    found = _computed(args, scenario, files)
    for file in files:
        found.save(file, scenario.outputs)
    saved = save_into_store(args, scenario, found) if args.save is not None else None
    written = [*files, *_pictures(args, found)]
    document = _document(args, found, written, saved)
    return Report(document, lambda page: _show(page, args, found, document))


def _computed(args: Namespace, scenario: Scenario, files: Sequence[str]) -> Run:
    """Return the run; one that was interrupted or failed is written before the error goes on."""
    before = None if args.resume is None else Run.load(args.resume)

    def keep(part: Run) -> None:
        for file in files:
            part.save(file, scenario.outputs)

    span = scenario.arguments["t"]
    try:
        with shown_motion(scenario.mechanism.name, span, quiet=args.quiet) as told:
            options: dict[str, Any] = {"progress": told, "resume": before}
            return simulate(scenario, checkpoint=keep if files else None, **options)
    except Interrupted as stop:
        if stop.run.about.is_complete:
            return stop.run
        keep(stop.run)
        _tell(_stopped(args, stop.run, files))
        raise
    except MotionError as problem:
        keep(problem.run)
        if files:
            _tell(f"what was computed before is in {', '.join(files)}")
        raise


def _stopped(args: Namespace, part: Run, files: Sequence[str]) -> str:
    mark = part.about.bookmark
    where = f"stopped at t = {0.0 if mark is None else mark.t:.6g} s"
    if not files:
        return f"{where}; with --out FILE.npz what was computed is kept"
    again = f"chainform simulate {args.file} --resume {files[0]}"
    return f"{where}, what was computed is in {', '.join(files)}; to go on: {again}"


def _tell(text: str) -> None:
    """Print a line on stderr, wherever that leads."""
    if sys.stderr is not None:
        print(f"chainform: note: {printable(text)}", file=sys.stderr, flush=True)


def _pictures(args: Namespace, found: Run) -> list[str]:
    if args.plot is not None:
        found.plot(file=args.plot)
    if args.animate is not None:
        found.animate(args.animate)
    return [file for file in (args.plot, args.animate) if file is not None]


# --- what is told -----------------------------------------------------------------------------


def _document(args: Namespace, found: Run, written: Sequence[str], saved: str | None) -> Document:
    about, counts, mark = found.about, found.statistics, found.about.bookmark
    assert mark is not None
    nq, nv = found.mechanism.nq, found.mechanism.nv
    return {
        "file": args.file,
        "mechanism": found.mechanism.name,
        "method": found.method,
        "settings": dict(about.settings),
        "values": dict(about.values),
        "time": list(about.span),
        "ending": about.ending,
        "rows": len(found.t),
        "steps": counts.steps,
        "rejected": counts.rejected,
        "evaluations": counts.evaluations,
        "seconds": about.seconds,
        "events": [{"name": event.name, "t": event.t} for event in found.happenings],
        "final": {
            "t": mark.t,
            "q": dict(zip(found.mechanism.coordinates, mark.y[:nq].tolist(), strict=True)),
            "qd": dict(zip(found.mechanism.rates, mark.y[nq : nq + nv].tolist(), strict=True)),
        },
        "energy": _energy(found),
        "report": list(found.report),
        "written": list(written),
        "saved": None if saved is None else {"revision": saved, "run": run_name(args)},
    }


def _energy(found: Run) -> dict[str, float] | None:
    """Return the energy at the first and the last output, where it can be computed."""
    try:
        energy = found.energy
    except Error:
        return None
    if not len(energy):
        return None
    first, last = float(energy[0]), float(energy[-1])
    return {"first": first, "last": last, "change": last - first}


def _show(page: Page, args: Namespace, found: Run, document: Document) -> None:
    if args.quiet:
        return
    first, last = document["time"]
    page.text(f"{document['mechanism']}, by {found.method}", style="bold")
    steps = f"{counted(document['steps'], 'step')} ({document['rejected']} rejected)"
    calls = counted(document["evaluations"], "evaluation")
    page.text(f"{first:g} to {last:g} s in {steps}, {calls}, {document['seconds']:.3g} s")
    if document["ending"] != "end":
        page.text(f"ended by {document['ending']} at t = {document['final']['t']:.9g} s")
    for remark in document["report"]:
        page.text(remark)
    _show_events(page, found)
    _show_final(page, document["final"])
    if document["energy"] is not None:
        page.heading("energy, J")
        rows = [(name, f"{value:.8g}") for name, value in document["energy"].items()]
        page.table(("at", "value"), rows, numbers=("value",))
    for file in document["written"]:
        page.text(f"written to {file}")
    if document["saved"] is not None:
        page.text(f"saved with {document['saved']['revision']} as {document['saved']['run']}")


def _show_events(page: Page, found: Run) -> None:
    if not found.happenings:
        return
    page.heading("events")
    times = {event.name: event.t for event in reversed(found.happenings)}
    latest = {event.name: event.t for event in found.happenings}
    counts = Counter(event.name for event in found.happenings)
    rows = [
        (name, str(counts[name]), f"{times[name]:.9g}", f"{latest[name]:.9g}") for name in latest
    ]
    titles = ("name", "times", "first, s", "last, s")
    page.table(titles, rows, numbers=titles[1:])


def _show_final(page: Page, final: dict[str, Any]) -> None:
    page.heading(f"at t = {final['t']:g} s")
    if list(final["q"]) == list(final["qd"]):
        rows = [(n, f"{q:.9g}", f"{final['qd'][n]:.9g}") for n, q in final["q"].items()]
        page.table(("name", "q", "qd"), rows[:SHOWN], numbers=("q", "qd"))
    else:
        for group in ("q", "qd"):
            rows = [(name, f"{value:.9g}") for name, value in final[group].items()]
            page.table(("name", group), rows[:SHOWN], numbers=(group,))


SIMULATE = Command(
    summary="compute the motion of a scenario",
    usage="SCENARIO",
    description="Compute the motion that a scenario file asks for, and tell how it ended. Ctrl-C\n"
    "ends it early: what was computed is written, the exit code is 130, and --resume goes on from\n"
    "there. Long runs are written every half a minute.",
    add_options=add_options,
    run=run,
)
