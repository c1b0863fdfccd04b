"""What `check` prints of a mechanism: plain data, and tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from chainform.cli.printing import Document, Page, Report
from chainform.formulations import (
    COMMON,
    FORMULATIONS,
    OF_FRAME,
    outputs_in_scope,
    refusal,
    uses_elements,
)
from chainform.given import counted
from chainform.mechanism import Mechanism
from chainform.pipeline import available_outputs

Outputs: TypeAlias = Mapping[str, Sequence[str]]
"""The outputs that can be derived, by formulation, without those that all formulations have."""
Table: TypeAlias = Mapping[str, Any]
"""A part of the native table, its numbers as texts."""

FRICTION = ("viscous", "coulomb", "rotor_inertia", "gear_ratio")
"""What joints have besides their motion: the fields of the file."""

SPRING = ("stiffness", "rest", "damping")

INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")

ORIGIN = ("0", "0", "0")

RELATIONS = {"unilateral": " >= 0"}
"""What a constraint says of its law; the others say that it is zero."""


def mechanism_report(mechanism: Mechanism) -> Report:
    """Return the description of a mechanism."""
    outputs = {name: _outputs(mechanism, name) for name in FORMULATIONS}
    return Report(
        mechanism_document(mechanism, outputs), lambda page: _show(page, mechanism, outputs)
    )


def mechanism_document(mechanism: Mechanism, outputs: Outputs) -> Document:
    """Return everything that was read; `outputs` are those that can be derived, by formulation."""
    return {
        **mechanism.describe(),
        "outputs": outputs,
        "common_outputs": common_outputs(mechanism),
        "frame_outputs": frame_outputs(mechanism),
    }


def common_outputs(mechanism: Mechanism) -> list[str]:
    """Return the outputs of the whole mechanism that every formulation gives which takes it."""
    return [name for name in available_outputs(mechanism) if name in COMMON]


def frame_outputs(mechanism: Mechanism) -> list[str]:
    """Return the outputs of frames."""
    return list(outputs_in_scope(mechanism, "auto", list(OF_FRAME)))


def _show_elements(page: Page, mechanism: Table) -> None:
    """Show elements, unknown forces, definitions, constraints and quasi-velocities."""
    if elements := mechanism.get("elements"):
        page.heading("elements (m, kg, N, rad)")
        rows = [(e["name"], e["kind"], _position(e), _content(e)) for e in elements]
        page.table(("name", "kind", "place", "content"), rows)
    if unknowns := mechanism.get("unknowns"):
        page.heading("unknown forces")
        page.text(f"  {', '.join(unknowns)}")
    if definitions := mechanism.get("definitions"):
        page.heading("definitions")
        page.table(("name", "law"), list(definitions.items()))
    rows = [
        (c["name"], c["kind"], c["law"] + RELATIONS.get(c["kind"], " = 0"))
        for c in mechanism.get("constraints", ())
    ]
    rows += [(q["name"], "quasi-velocity", q["law"]) for q in mechanism.get("quasi", ())]
    if rows:
        page.heading("constraints and quasi-velocities")
        page.table(("name", "kind", "condition or law"), rows)


def _show_drives(page: Page, mechanism: Table, actuators: Sequence[Table]) -> None:
    """Show friction, rotors, actuators, springs and forces given by laws."""
    drives = [row for s in mechanism.get("segments", ()) if (row := _drive(s["joint"]))]
    if drives:
        page.heading("friction, rotors and gears of joints (SI)")
        page.table(("joint", *FRICTION), drives, numbers=FRICTION)
    if actuators:
        page.heading("actuators")
        joints = [_driven(entry) for entry in mechanism["actuators"]]
        page.table(
            ("name", "drives", "states", "signal"),
            [
                (a["name"], joint, ", ".join(a["states"]) or "none", a["signal"])
                for a, joint in zip(actuators, joints, strict=True)
            ],
        )
    if springs := mechanism.get("springs"):
        page.heading("springs")
        preload = ("preload",) if any("preload" in s for s in springs) else ()
        fields = (*SPRING, *preload)
        rows = [(s["name"], _spring_ends(s), *(s.get(f, "0") for f in fields)) for s in springs]
        page.table(("name", "place", *fields), rows, numbers=fields)
    if forces := mechanism.get("forces"):
        page.heading("forces (N, N m; t in s)")
        rows = [(f["name"], f["joint"], _laws(f.get("pieces", [f]))) for f in forces]
        page.table(("name", "on", "law"), rows)


def _driven(actuator: Table) -> str:
    """Return the joint of an actuator, or its joints with their weights."""
    if "joint" in actuator:
        return actuator["joint"]
    return ", ".join(f"{weight} {joint}" for joint, weight in actuator["joints"].items())


def _vector_text(entries: Sequence[str] | None) -> str:
    """Return three numbers in brackets."""
    return "" if entries is None else f"({', '.join(entries)})"


def _drive(joint: Table) -> tuple[str, ...] | None:
    """Return friction, rotor and gear of a joint, None if it has none of them."""
    numbers = {**dict.fromkeys(FRICTION, "0"), "gear_ratio": "1"}
    found = {k: v for k, v in {**joint.get("friction", {}), **joint}.items() if k in FRICTION}
    return (joint["name"], *(numbers | found).values()) if numbers | found != numbers else None


def _spring_ends(spring: Table) -> str:
    if "joint" in spring:
        return f"joint {spring['joint']}"
    return " to ".join(end["segment"] for end in spring["ends"])


def _laws(pieces: Sequence[Table]) -> str:
    """Return the laws of a force with the times in which they hold."""
    texts: list[str] = []
    for piece in pieces:
        times = [f" {word} {piece[word]}" for word in ("from", "until") if word in piece]
        texts.append(piece["law"] + "".join(times))
    return "; ".join(texts)


# --- elements -------------------------------------------------------------------------------


def _position(element: Table) -> str:
    """Return where an element is, or along what it acts."""
    match element["kind"]:
        case "frame" | "point" | "body":
            return f"on {element.get('on', 'ground')}: {_chain(element) or 'at its origin'}"
        case "elastic" | "dissipative":
            if "ends" in element:
                near, far = map(_point, element["ends"])
                return f"between {near} and {far}"
            word = "rate" if "rate" in element else "deformation"
            return f"{word} {element[word]}"
        case "force":
            to = f", opposite at {_point(element['to'])}" if "to" in element else ""
            return f"at {_point(element['at'])}{to}"
        case "moment" if "on" in element:
            return f"on {element['on']}" + (
                f", opposite on {element['to']}" if "to" in element else ""
            )
        case _:
            return f"along {element['along']}"


def _content(element: Table) -> str:
    """Return what an element has or does."""
    match kind := element["kind"]:
        case "frame" | "point" | "body":
            parts = [f"mass {element['mass']}"] if "mass" in element else []
            parts += [f"com {_vector_text(element['com'])}"] if "com" in element else []
            parts += [f"J {_moments(element['inertia'])}"] if "inertia" in element else []
            return ", ".join(parts)
        case "elastic":
            return f"stiffness {element['stiffness']}, rest {element['rest']}"
        case "dissipative":
            coulomb = element["coulomb"]
            dry = f", Coulomb {coulomb}" if coulomb != "0" else ""
            return f"damping {element['damping']}{dry}"
        case "force" | "moment":
            axes = f", axes of {element['axes']}" if "axes" in element else ""
            return _vector_text(element[kind]) + axes
        case _:
            return element[kind]


def _chain(element: Table) -> str:
    """Return the chain to the frame of an element; that of a point is one shift."""
    if "position" not in element:
        return element.get("chain", "")
    position = element["position"]
    moved = [k for k in range(3) if position[k] != "0"]
    if len(moved) == 1:
        return f"S{'xyz'[moved[0]]}({position[moved[0]]})"
    return f"S{_vector_text(position)}"


def _moments(inertia: Sequence[Sequence[str]]) -> str:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    own = ", ".join((xx, yy, zz))
    products = (xy, xz, yz)
    return f"({own})" if set(products) == {"0"} else f"({own}; {', '.join(products)})"


def _point(point: Table) -> str:
    return f"{point['on']} {_vector_text(point['point'])}" if "point" in point else point["on"]


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
    _show_drives(page, table, description["actuators"])
    _show_elements(page, table)
    if "frames" in table:
        page.heading("frames (origin in body axes; m)")
        rows = [
            (f["name"], f["segment"], _vector_text(f.get("point", ORIGIN))) for f in table["frames"]
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
    page.text(f"gravity {_vector_text(table['gravity'])} m/s^2, world axes")
    if description["base_is_moving"]:
        page.text("the base moves as prescribed in the file")


def _show_tree(page: Page, description: Table, segments: Sequence[Table]) -> None:
    page.heading("segments (position in parent axes, mass centre in body axes; m, kg)")
    rows = [
        (
            str(number),
            s["name"],
            s["parent"],
            _vector_text(s.get("position", ORIGIN)),
            s.get("mass", "0"),
            _vector_text(s.get("com", ORIGIN)),
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
        (str(no), joint["name"], joint["type"], _vector_text(joint.get("axis")), motion["motion"])
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
    text = f"{attachment['segment']} {_vector_text(attachment.get('point', ORIGIN))}"
    return f"{text} axis {_vector_text(attachment['axis'])}" if "axis" in attachment else text


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
