"""What is told of a run: as a document, and to people."""

from __future__ import annotations

from collections import Counter
from typing import Any

from chainform.cli.printing import Document, Page, counted
from chainform.errors import Error
from chainform.simulation import Run

SHOWN = 40
"""The most coordinates whose last values, and the most names of events, are shown to people."""


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
    told = {"first": first, "last": last, "change": last - first}
    try:
        told |= {"work": float(found.work[-1]), "losses": float(found.losses[-1])}
    except Error:
        return told
    return told


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
