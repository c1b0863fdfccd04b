"""Reports on a run, and on many, for programs and people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis import Result
from chainform.cli.printing import Document, Page
from chainform.cli.selection import split_list
from chainform.errors import Error, ReadError
from chainform.given import Given, counted
from chainform.simulation import BatchRun, ResultRecord, Run, columns_of

Array = NDArray[np.float64]

SHOWN = 40
"""The most coordinates whose last values, and the most names of events, are shown to people."""

SHOWN_PROBLEMS = 10
"""The most problems of a batch that are shown to people."""


def run_document(found: Run) -> Document:
    """Return how a run was computed and how it ended."""
    about, counts = found.about, found.statistics
    return {
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
        "events": [{"name": event.name, "t": event.t} for event in found.events],
        "final": _final(found),
        "energy": _energy(found),
        "motion_forces": _motion_forces(found),
        "report": list(found.report),
    }


def _final(found: Run) -> Document:
    """Return where the motion stands."""
    mechanism, mark = found.mechanism, found.about.bookmark
    nq, nv = mechanism.nq, mechanism.nv
    if mark is not None:
        t, q, qd = mark.t, mark.y[:nq], mark.y[nq : nq + nv]
    else:
        t, q, qd = float(found.t[-1]), found.q[-1], found.qd[-1]
    return {
        "t": t,
        "q": dict(zip(mechanism.coordinates, q.tolist(), strict=True)),
        "qd": dict(zip(mechanism.rates, qd.tolist(), strict=True)),
    }


def _energy(found: Run) -> dict[str, float] | None:
    """Return the energy at the first and the last output, where it can be computed.

    Where there is an energy balance, what drives put in and what was lost stands there, too.
    """
    try:
        energy = found.energy
    except Error:
        return None
    if not len(energy):
        return None
    first, last = float(energy[0]), float(energy[-1])
    energies = {"first": first, "last": last, "change": last - first}
    try:
        return energies | {"work": float(found.work[-1]), "losses": float(found.losses[-1])}
    except Error:
        return energies


def _motion_forces(found: Run) -> dict[str, dict[str, float]]:
    """Return the least and the greatest force of each prescribed motion, and the last one."""
    return {
        name: {
            "least": float(force.min()),
            "greatest": float(force.max()),
            "last": float(force[-1]),
        }
        for name, force in found.motion_forces.items()
        if len(force)
    }


def show_run(page: Page, document: Document) -> None:
    """Show a document of a run to people."""
    first, last = document["time"]
    page.text(f"{document['mechanism']}, by {document['method']}", style="bold")
    calls = counted(document["evaluations"], "evaluation")
    if document["steps"]:
        # Of some methods only the evaluations are known.
        steps = counted(document["steps"], "step")
        calls = f"{steps} ({document['rejected']} rejected), {calls}"
    page.text(f"{first:g} to {last:g} s in {calls}, {document['seconds']:.3g} s")
    if document["ending"] != "end":
        page.text(f"ended by {document['ending']} at t = {document['final']['t']:.9g} s")
    for remark in document["report"]:
        page.text(remark)
    _show_events(page, document["events"])
    _show_final(page, document["final"])
    if document["energy"] is not None:
        page.heading("energy, J")
        rows = [(name, f"{value:.8g}") for name, value in document["energy"].items()]
        page.table(("at", "value"), rows, numbers=("value",))
    if document["motion_forces"]:
        page.heading("forces of motion, N or N m")
        titles = ("name", "least", "greatest", "last")
        rows = [
            (name, *(f"{force[title]:.6g}" for title in titles[1:]))
            for name, force in document["motion_forces"].items()
        ]
        page.table(titles, rows, numbers=titles[1:])


def _show_events(page: Page, events: list[Document]) -> None:
    if not events:
        return
    page.heading("events")
    first = {event["name"]: event["t"] for event in reversed(events)}
    latest = {event["name"]: event["t"] for event in events}
    counts = Counter(event["name"] for event in events)
    rows = [
        (name, str(counts[name]), f"{first[name]:.9g}", f"{latest[name]:.9g}") for name in latest
    ]
    titles = ("name", "times", "first, s", "last, s")
    page.table(titles, rows[:SHOWN], numbers=titles[1:])
    if len(rows) > SHOWN:
        page.text(f"and {len(rows) - SHOWN} more names")


def _show_final(page: Page, final: dict[str, Any]) -> None:
    page.heading(f"at t = {final['t']:g} s")
    if list(final["q"]) == list(final["qd"]):
        rows = [(n, f"{q:.9g}", f"{final['qd'][n]:.9g}") for n, q in final["q"].items()]
        page.table(("name", "q", "qd"), rows[:SHOWN], numbers=("q", "qd"))
        return
    for group in ("q", "qd"):
        rows = [(name, f"{value:.9g}") for name, value in final[group].items()]
        page.table(("name", group), rows[:SHOWN], numbers=(group,))


def result_document(result: Result) -> Document:
    """Return the result of a task as a document."""
    return {
        "task": result.task,
        "mechanism": result.mechanism.name,
        "rows": result.rows,
        "report": list(result.report),
        "facts": dict(result.facts),
        "arrays": {name: _plain(array) for name, array in result.arrays.items()},
    }


def _plain(array: Any) -> Any:
    """Return numbers as JSON has them: those that are none are null."""
    if array.ndim:
        return [_plain(row) for row in array]
    return float(array) if np.isfinite(array) else None


def show_result(page: Page, result: Result, columns: Sequence[str] | None = None) -> None:
    """Show the result of a task to people, or some of its columns."""
    page.text(f"{result.mechanism.name}, {result.task.replace('_', ' ')}", style="bold")
    for line in result.report:
        page.text(line)
    page.text("")
    page.text(result.table(columns))


def show_written(page: Page, files: Sequence[str]) -> None:
    """Show to which files results went."""
    for file in files:
        page.text(f"written to {file}")


# --- columns over time --------------------------------------------------------------------------


USUAL = ("q", "qd", "tau")
MOST_ROWS = 1001
"""The most times of a series that is printed; files have all."""
MOST_COLUMNS = 200


def run_series(found: Run, names: Sequence[str]) -> dict[str, Array]:
    """Return columns over time by name, as files have them; q.elbow is one, q are all of q.

    Without names they are states, efforts and forces of motions. Of many times some are left out,
    evenly.
    """
    wanted = [*USUAL, *(f"motion_force({name})" for name in found.motion_forces)]
    columns = {"t": found.t}
    for name in split_list(names) or wanted:
        columns |= _columns(found, name)
    if len(columns) > MOST_COLUMNS:
        message = f"there would be {len(columns)} columns"
        remedy = f"name some, at most {MOST_COLUMNS}: --table q.elbow energy"
        raise ReadError(message, element="--table", remedy=remedy)
    rows = np.unique(np.linspace(0, max(len(found.t) - 1, 0), MOST_ROWS).round().astype(int))
    return {name: column[rows[: len(column)]] for name, column in columns.items()}


def quantity_of(column: str) -> str:
    """Return the quantity that a column belongs to: q of q.elbow, pose(tool) of pose(tool)[1,4]."""
    return column.partition("[")[0] if "(" in column else re.split(r"[.\[]", column)[0]


def _columns(found: Run, name: str) -> dict[str, Array]:
    """Return the columns of a quantity, or the one with a name."""
    quantity = quantity_of(name)
    columns = columns_of(ResultRecord({quantity: found.output(quantity)}, (), {}), found.mechanism)
    if name in (quantity, *columns):
        return columns if name == quantity else {name: columns[name]}
    raise Given(name, "--table").unknown("column", columns)


def show_series(page: Page, series: Mapping[str, Array], rows: int) -> None:
    """Show columns over time to people, but efforts that are zero all the time."""
    page.text()
    shown = {name: x for name, x in series.items() if not name.startswith("tau.") or x.any()}
    titles, count = tuple(shown), len(series["t"])
    numbers = [[f"{value:.6g}" for value in column] for column in shown.values()]
    page.table(titles, list(zip(*numbers, strict=True)), numbers=titles)
    if count < rows:
        page.text(f"{count} of {rows} times; --every sets them, and files of --out have all")


# --- many motions -------------------------------------------------------------------------------


def batch_document(batch: BatchRun) -> Document:
    """Return how many motions were computed and how they ended."""
    about, counts, mechanism = batch.about, batch.statistics, batch.mechanism
    return {
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
    }


def show_batch(page: Page, batch: BatchRun, document: Document) -> None:
    """Show a document of many motions to people."""
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
    for entry in problems[:SHOWN_PROBLEMS]:
        page.text(f"motion {entry['motion']}: {entry['problem']}")
    if len(problems) > SHOWN_PROBLEMS:
        page.text(f"and {len(problems) - SHOWN_PROBLEMS} more")


def _last(names: Sequence[str], states: Any) -> dict[str, list[float]]:
    """Return the states at the last time of output by name, one for each motion."""
    if not states.shape[1]:
        return {name: [] for name in names}
    return {name: states[:, -1, k].tolist() for k, name in enumerate(names)}


def _times(batch: BatchRun, ending: str) -> tuple[str, str]:
    """Return when the first and the last of the motions ended that did so in a way."""
    ends = [end for end, how in zip(batch.ends, batch.endings, strict=True) if how == ending]
    known = [float(end) for end in ends if np.isfinite(end)]
    return (f"{min(known):.6g}", f"{max(known):.6g}") if known else ("", "")
