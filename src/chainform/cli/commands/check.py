"""`chainform check`: read a mechanism and tell what was understood."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence

from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen
from chainform.cli.mechanism_document import (
    Outputs,
    Table,
    common_outputs,
    frame_outputs,
    mechanism_document,
    show_drives,
    show_elements,
    vector_text,
)
from chainform.cli.printing import Page, Report
from chainform.formulations import COMMON, FORMULATIONS, refusal, uses_elements
from chainform.given import counted
from chainform.mechanism import Mechanism
from chainform.pipeline import available_outputs

INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")

ORIGIN = ("0", "0", "0")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)


def run(args: Namespace) -> Report:
    """Read the file and describe the mechanism."""
    return mechanism_report(read_chosen(args))


def mechanism_report(mechanism: Mechanism) -> Report:
    """Return the description of a mechanism."""
    outputs = {name: _outputs(mechanism, name) for name in FORMULATIONS}
    return Report(
        mechanism_document(mechanism, outputs), lambda page: _show(page, mechanism, outputs)
    )


def _show(page: Page, mechanism: Mechanism, outputs: Outputs) -> None:
    description = mechanism.describe(short=True)
    table = description["mechanism"]
    page.text(f"{table['name']}, read from {description['file']}", style="bold")
    _show_size(page, description, table)
    if "segments" in table:
        _show_tree(page, description, table["segments"])
    _show_coordinates(page, description, table.get("segments", ()))
    if "parameters" in table:
        page.heading("parameters")
        rows = [
            (name, p.get("value", "free"), p.get("unit", ""), p.get("note", ""))
            for name, p in table["parameters"].items()
        ]
        page.table(("name", "value", "unit", "note"), rows)
    _show_loops(page, description, table)
    show_drives(page, table, description["actuators"])
    show_elements(page, table)
    if "frames" in table:
        page.heading("frames (origin in body axes; m)")
        rows = [
            (f["name"], f["segment"], vector_text(f.get("point", ORIGIN))) for f in table["frames"]
        ]
        page.table(("name", "segment", "origin"), rows)
    _show_notes(page, description["notes"])
    _show_outputs(page, mechanism, outputs)


def _show_size(page: Page, description: Table, table: Table) -> None:
    total = description["total_mass"]
    mass = "not known" if total is None else f"{total:.10g} kg"
    counts = [counted(len(table[f"{n}s"]), n) for n in ("segment", "element") if f"{n}s" in table]
    counts.append(counted(description["nq"], "coordinate"))
    if description["nv"] != description["nq"]:
        counts.append(counted(description["nv"], "rate"))
    counts.append(counted(len(table.get("loops", ())), "loop"))
    page.text(f"{', '.join(counts)}, total mass {mass}")
    page.text(f"gravity {vector_text(table['gravity'])} m/s^2, world axes")
    if description["base_is_moving"]:
        page.text("the base moves as prescribed in the file")


def _show_tree(page: Page, description: Table, segments: Sequence[Table]) -> None:
    page.heading("segments (position in parent axes, mass centre in body axes; m, kg)")
    rows = [
        (
            str(number),
            s["name"],
            s["parent"],
            vector_text(s.get("position", ORIGIN)),
            s.get("mass", "0"),
            vector_text(s.get("com", ORIGIN)),
        )
        for number, s in enumerate(segments, 1)
    ]
    titles = ("no", "name", "parent", "position", "mass", "mass centre")
    page.table(titles, rows, numbers=("no", "mass"))
    turning = [s for s in segments if "inertia" in s]
    if turning:
        page.heading("inertia about the mass centre (body axes, kg m^2)")
        rows = [(s["name"], *(s["inertia"].get(key, "0") for key in INERTIA)) for s in turning]
        page.table(("name", *INERTIA), rows, numbers=INERTIA)
    page.heading("joints (axis in body axes)")
    joints = zip((s["joint"] for s in segments), description["joints"], strict=True)
    rows = [
        (str(no), joint["name"], joint["type"], vector_text(joint.get("axis")), motion["motion"])
        for no, (joint, motion) in enumerate(joints, 1)
    ]
    page.table(("no", "name", "kind", "axis", "moved by"), rows, numbers=("no",))


def _show_coordinates(page: Page, description: Table, segments: Sequence[Table]) -> None:
    coordinates, rates = description["coordinates"], description["rates"]
    if not coordinates:
        return
    same_names = [row["name"] for row in coordinates] == [row["name"] for row in rates]
    page.heading(
        "coordinates and rates, in the order of q and qd"
        if same_names
        else "coordinates, in the order of q"
    )
    limits = {s["name"]: s["joint"].get("limits", {}) for s in segments}
    rows = [
        (f"q{r['number']}", r["name"], r["segment"], r["unit"], *_range(r, limits))
        for r in coordinates
    ]
    titles = ("q", "name", "segment", "unit", "lower", "upper")
    page.table(titles, rows, numbers=("lower", "upper"))
    if not same_names:
        page.heading("rates, in the order of qd, qdd and tau (body axes where there are several)")
        rows = [(f"qd{r['number']}", r["name"], r["segment"], r["unit"]) for r in rates]
        page.table(("qd", "name", "segment", "unit"), rows)


def _range(row: Table, limits: Mapping[str, Table]) -> tuple[str, str]:
    own = limits.get(row["segment"], {})
    return own.get("lower", ""), own.get("upper", "")


def _show_loops(page: Page, description: Table, table: Table) -> None:
    if "loops" not in table:
        return
    page.heading("loops")
    equations = description["equations"]
    rows = [
        (
            loop["name"],
            " ".join((loop["kind"], loop.get("length", ""))).strip(),
            _end(loop["closing"]),
            _end(loop["target"]),
            str(equations[loop["name"]]),
            ", ".join(loop.get("basic", ("not chosen",))),
        )
        for loop in table["loops"]
    ]
    titles = ("name", "kind", "closing", "target", "equations", "basic coordinates")
    page.table(titles, rows, numbers=("equations",))


def _end(attachment: Table) -> str:
    text = f"{attachment['segment']} {vector_text(attachment.get('point', ORIGIN))}"
    return f"{text} axis {vector_text(attachment['axis'])}" if "axis" in attachment else text


def _show_notes(page: Page, notes: Sequence[Table]) -> None:
    for level in ("note", "warning"):
        chosen = [note for note in notes if note["level"] == level]
        if chosen:
            page.heading(f"{level}s")
        for note in chosen:
            style = "yellow" if level == "warning" else ""
            page.text(f"  {note['element']}: {note['text']}", style=style)


def _outputs(mechanism: Mechanism, formulation: str) -> list[str]:
    """Return the outputs that only some formulations have; none where it refuses."""
    if refusal(mechanism, formulation) is not None:
        return []
    return [name for name in available_outputs(mechanism, formulation) if name not in COMMON]


def _show_outputs(page: Page, mechanism: Mechanism, outputs: Outputs) -> None:
    page.heading("outputs, by formulation")
    for formulation, names in outputs.items():
        text = ", ".join(names) or f"none, since {refusal(mechanism, formulation)}"
        page.text(f"  {formulation}: {text}")
    of_frame = ", ".join(f"{name}(F)" for name in frame_outputs(mechanism))
    places = "an element" if uses_elements(mechanism) else "a frame or segment"
    page.text(f"  each: {', '.join(common_outputs(mechanism))};")
    page.text(f"        of {places} F: {of_frame}")


COMMAND = Command(
    usage="FILE",
    description="Read a mechanism and tell what was understood: segments, joints, the\n"
    "coordinates in the order of q, the rates in that of qd, parameters, loops,\n"
    "frames, notes and warnings.",
    add_options=add_options,
    run=run,
)
