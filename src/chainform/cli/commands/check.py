"""`chainform check`: read a mechanism and tell what was understood."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from fractions import Fraction

from chainform.cli.commands import Command
from chainform.cli.element_tables import show_drives, show_elements
from chainform.cli.files import add_file, read_chosen
from chainform.cli.mechanism_document import (
    Outputs,
    common_outputs,
    exact_text,
    frame_outputs,
    mechanism_document,
)
from chainform.cli.printing import Page, Report
from chainform.formulations import (
    COMMON,
    FORMULATIONS,
    has_coupled,
    has_quaternions,
    uses_elements,
)
from chainform.given import counted
from chainform.mechanism import Description, Mechanism, Number, Segment
from chainform.pipeline import available_outputs

REFUSALS = {
    "articulated_body": (has_coupled, "joints share a coordinate"),
    "closed_form": (has_quaternions, "a joint has a quaternion"),
    "lagrange": (has_quaternions, "a joint has a quaternion"),
    "elements": (has_quaternions, "a joint has a quaternion"),
}
"""Mechanisms that a formulation does not take, and the reason in words."""

INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)


def run(args: Namespace) -> Report:
    """Read the file and describe the mechanism."""
    mechanism = read_chosen(args)
    description = mechanism.describe()
    outputs = {name: _outputs(mechanism, name) for name in FORMULATIONS}
    return Report(
        mechanism_document(mechanism, description, outputs),
        lambda page: _show(page, mechanism, description, outputs),
    )


def _show(page: Page, mechanism: Mechanism, said: Description, outputs: Outputs) -> None:
    page.text(f"{said.name}, read from {said.file}", style="bold")
    mass = "not known" if said.total_mass is None else f"{said.total_mass:.10g} kg"
    counts = [counted(len(said.segments), "segment")] if said.segments else []
    counts += [counted(len(said.elements), "element")] if said.elements else []
    counts.append(counted(said.nq, "coordinate"))
    if said.nv != said.nq:
        counts.append(counted(said.nv, "rate"))
    counts.append(counted(len(said.loops), "loop"))
    page.text(f"{', '.join(counts)}, total mass {mass}")
    page.text(f"gravity {_vector(said.gravity)} m/s^2, world axes")
    if said.base_is_moving:
        page.text("the base moves as prescribed in the file")
    if said.segments:
        _show_tree(page, mechanism, said)
    _show_coordinates(page, said)
    if said.parameters:
        page.heading("parameters")
        page.table(
            ("name", "value", "unit", "note"),
            [(p.name, p.value or "free", p.unit, p.note) for p in said.parameters],
        )
    _show_loops(page, said)
    show_drives(page, mechanism)
    show_elements(page, said)
    if said.frames:
        page.heading("frames (origin in body axes; m)")
        page.table(
            ("name", "segment", "origin"),
            [(r.name, r.segment, _vector(r.point)) for r in said.frames],
        )
    for level in ("note", "warning"):
        notes = [note for note in said.notes if note.level == level]
        if notes:
            page.heading(f"{level}s")
        for note in notes:
            style = "yellow" if level == "warning" else ""
            page.text(f"  {note.element}: {note.text}", style=style)
    _show_outputs(page, mechanism, outputs)


def _show_tree(page: Page, mechanism: Mechanism, said: Description) -> None:
    page.heading("segments (position in parent axes, mass centre in body axes; m, kg)")
    page.table(
        ("no", "name", "parent", "position", "mass", "mass centre"),
        [
            (str(r.number), r.name, r.parent, _vector(r.position), r.mass, _vector(r.com))
            for r in said.segments
        ],
        numbers=("no", "mass"),
    )
    turning = [s for s in mechanism.segments if any(x != 0 for row in s.body.inertia for x in row)]
    if turning:
        page.heading("inertia about the mass centre (body axes, kg m^2)")
        page.table(("name", *INERTIA), [(s.name, *_moments(s)) for s in turning], numbers=INERTIA)
    page.heading("joints (axis in body axes)")
    page.table(
        ("no", "name", "kind", "axis", "moved by"),
        [
            (str(row.number), segment.joint.name, row.joint, _vector(row.axis), row.motion)
            for row, segment in zip(said.segments, mechanism.segments, strict=True)
        ],
        numbers=("no",),
    )


def _show_coordinates(page: Page, said: Description) -> None:
    if not said.coordinates:
        return
    same_names = [row.name for row in said.coordinates] == [row.name for row in said.rates]
    page.heading(
        "coordinates and rates, in the order of q and qd"
        if same_names
        else "coordinates, in the order of q"
    )
    page.table(
        ("q", "name", "segment", "unit", "lower", "upper"),
        [
            (f"q{r.number}", r.name, r.segment, r.unit, r.lower or "", r.upper or "")
            for r in said.coordinates
        ],
        numbers=("lower", "upper"),
    )
    if not same_names:
        page.heading("rates, in the order of qd, qdd and tau (body axes where there are several)")
        page.table(
            ("qd", "name", "segment", "unit"),
            [(f"qd{r.number}", r.name, r.segment, r.unit) for r in said.rates],
        )


def _show_loops(page: Page, said: Description) -> None:
    if not said.loops:
        return
    page.heading("loops")
    page.table(
        ("name", "kind", "closing", "target", "equations", "basic coordinates"),
        [
            (r.name, r.kind, r.closing, r.target, str(r.equations), _basic(r.basic))
            for r in said.loops
        ],
        numbers=("equations",),
    )


def _outputs(mechanism: Mechanism, formulation: str) -> list[str]:
    """Return the outputs of a formulation beside those that all have; none where it refuses."""
    if formulation in REFUSALS and REFUSALS[formulation][0](mechanism):
        return []
    return [name for name in available_outputs(mechanism, formulation) if name not in COMMON]


def _reason(mechanism: Mechanism, formulation: str) -> str:
    """Return why a formulation has no outputs for a mechanism."""
    if uses_elements(mechanism):
        return "the mechanism has elements"
    return REFUSALS[formulation][1]


def _show_outputs(page: Page, mechanism: Mechanism, outputs: Outputs) -> None:
    page.heading("outputs, by formulation")
    for formulation, names in outputs.items():
        said = ", ".join(names) or f"none, since {_reason(mechanism, formulation)}"
        page.text(f"  {formulation}: {said}")
    of_frame = ", ".join(f"{name}(F)" for name in frame_outputs(mechanism))
    places = "an element" if uses_elements(mechanism) else "a frame or segment"
    page.text(f"  each: {', '.join(common_outputs(mechanism))};")
    page.text(f"        of {places} F: {of_frame}")


def _vector(texts: Sequence[str] | None) -> str:
    return "" if texts is None else f"({', '.join(texts)})"


def _basic(names: Sequence[str] | None) -> str:
    return "not chosen" if names is None else ", ".join(names)


def _moments(segment: Segment) -> list[str]:
    place = {"x": 0, "y": 1, "z": 2}
    inertia = segment.body.inertia
    return [_short(inertia[place[name[0]]][place[name[1]]]) for name in INERTIA]


def _short(value: Number) -> str:
    text = exact_text(value)
    if not isinstance(value, Fraction):
        return text
    decimal = f"{float(value):.15g}"
    return decimal if len(text) > 18 or Fraction(decimal) == value else text


COMMAND = Command(
    usage="FILE",
    description="Read a mechanism and tell what was understood: segments, joints, the\n"
    "coordinates in the order of q, the rates in that of qd, parameters, loops,\n"
    "frames, notes and warnings.",
    add_options=add_options,
    run=run,
)
