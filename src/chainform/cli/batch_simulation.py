"""`chainform simulate` of a scenario with a section `batch`: many motions at once."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainform.cli.motion_progress import shown_motions
from chainform.cli.overriding import blamed, overrides_of
from chainform.cli.printing import Document, Page, Report, counted, tell
from chainform.errors import ReadError
from chainform.runtime import CodeCache
from chainform.simulation import BatchInterrupted, BatchRun, Scenario, needs_runs, simulate_batch

SINGLE = ("resume", "animate", "save", "run")
"""Options that go with a single motion."""
SHOWN = 10
"""The most problems that are shown to people."""


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


def run_batch(args: Namespace, scenario: Scenario, files: Sequence[str]) -> Report:
    """Compute all motions, and write what there is of them even if Ctrl-C ends it."""
    batch = _computed(args, scenario, files)
    for file in files:
        batch.save(file, scenario.outputs)
    if args.plot is not None:
        batch.plot(file=args.plot)
    written = [*files, *([] if args.plot is None else [args.plot])]
    document = _document(args, batch, written)
    has_failed = bool(batch.failed.all())
    return Report(document, lambda page: _show(page, args, batch, document), has_failed)


def _computed(args: Namespace, scenario: Scenario, files: Sequence[str]) -> BatchRun:
    assert scenario.batch is not None
    mechanism, count = scenario.mechanism, motions_in(scenario.batch)
    left_out = scenario.arguments.get("without", ())
    more: dict[str, Any] = {"runs": needs_runs(mechanism, scenario.outputs, left_out)}
    more |= {} if args.threads is None else {"threads": args.threads}
    given = overrides_of(args, scenario)
    more |= given
    try:
        with blamed(given), shown_motions(mechanism.name, count, quiet=args.quiet) as told:
            return simulate_batch(scenario, progress=told, code_cache=CodeCache.of_user(), **more)
    except BatchInterrupted as stop:
        if stop.batch.about.is_complete:
            return stop.batch
        for file in files:
            stop.batch.save(file, scenario.outputs)
        tell(_stopped(stop.batch, files))
        raise


def motions_in(batch: Mapping[str, Any]) -> int:
    """Return how many motions a section asks for."""
    columns: list[Any] = []
    for name in ("q0", "qd0", "x0", "values"):
        group = batch.get(name, ())
        columns += list(group.values()) if hasattr(group, "values") else [group]
    return max((len(column) for column in columns if np.ndim(column)), default=1) or 1


def _stopped(batch: BatchRun, files: Sequence[str]) -> str:
    done = len(batch) - int(batch.interrupted.sum())
    where = f"stopped after {done} of {counted(len(batch), 'motion')}"
    if not files:
        return f"{where}; with --out FILE.npz those that were finished are kept"
    return f"{where}, which are in {', '.join(files)}"


# --- what is told -----------------------------------------------------------------------------


def _document(args: Namespace, batch: BatchRun, written: Sequence[str]) -> Document:
    about, counts, mechanism = batch.about, batch.statistics, batch.mechanism
    return {
        "file": args.file,
        "mechanism": mechanism.name,
        "method": batch.method,
        "settings": dict(about.settings),
        "values": {name: value.tolist() for name, value in batch.values.items()},
        "time": list(about.span),
        "motions": len(batch),
        "failed": int(batch.failed.sum()),
        "ended": batch.ended,
        "endings": list(batch.endings),
        "ends": batch.ends.tolist(),
        "problems": [
            {"motion": motion + 1, "problem": text} for motion, text in batch.problems.items()
        ],
        "rows": len(batch.t),
        "steps": counts.steps,
        "rejected": counts.rejected,
        "evaluations": counts.evaluations,
        "seconds": about.seconds,
        "final": {
            "t": float(batch.t[-1]) if len(batch.t) else None,
            "q": _last(mechanism.coordinates, batch.q),
            "qd": _last(mechanism.rates, batch.qd),
        },
        "written": list(written),
    }


def _last(names: Sequence[str], states: Any) -> dict[str, list[float]]:
    """Return the states at the last time of output by name, one for each motion."""
    if not states.shape[1]:
        return {name: [] for name in names}
    return {name: states[:, -1, k].tolist() for k, name in enumerate(names)}


def _show(page: Page, args: Namespace, batch: BatchRun, document: Document) -> None:
    if args.quiet:
        return
    first, last = document["time"]
    page.text(f"{document['mechanism']}, by {batch.method}", style="bold")
    motions = counted(document["motions"], "motion")
    seconds = max(document["seconds"], 1e-9)
    speed = f"{document['seconds']:.3g} s, {document['motions'] / seconds:.3g} a second"
    page.text(f"{motions} from {first:g} to {last:g} s in {speed}")
    steps = f"{counted(document['steps'], 'step')} ({document['rejected']} rejected)"
    page.text(f"{steps}, {counted(document['evaluations'], 'evaluation')}")
    page.heading("how they ended")
    rows = [(name, str(count), *_times(batch, name)) for name, count in document["ended"].items()]
    titles = ("ending", "motions", "first, s", "last, s")
    page.table(titles, rows, numbers=titles[1:])
    problems = document["problems"]
    for entry in problems[:SHOWN]:
        page.text(f"motion {entry['motion']}: {entry['problem']}")
    if len(problems) > SHOWN:
        page.text(f"and {len(problems) - SHOWN} more")
    for file in document["written"]:
        page.text(f"written to {file}")


def _times(batch: BatchRun, ending: str) -> tuple[str, str]:
    """Return when the first and the last of the motions ended that did so in a way."""
    ends = [end for end, how in zip(batch.ends, batch.endings, strict=True) if how == ending]
    known = [float(end) for end in ends if np.isfinite(end)]
    return (f"{min(known):.6g}", f"{max(known):.6g}") if known else ("", "")
