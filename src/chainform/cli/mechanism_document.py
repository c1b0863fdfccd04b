"""What `check` prints of a mechanism: plain data, and tables of drives, forces and elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from chainform.cli.printing import Document, Page
from chainform.formulations import COMMON, OF_FRAME, outputs_in_scope
from chainform.mechanism import Mechanism
from chainform.pipeline import available_outputs

Outputs: TypeAlias = Mapping[str, Sequence[str]]
"""The outputs that can be derived, by formulation, without those that all formulations have."""
Table: TypeAlias = Mapping[str, Any]
"""A part of the native table, its numbers as texts."""

FRICTION = ("viscous", "coulomb", "rotor_inertia", "gear_ratio")
"""What joints have besides their motion: the fields of the file."""

SPRING = ("stiffness", "rest", "damping")

RELATIONS = {"unilateral": " >= 0"}
"""What a constraint says of its law; the others say that it is zero."""


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


def show_elements(page: Page, mechanism: Table) -> None:
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


def show_drives(page: Page, mechanism: Table, actuators: Sequence[Table]) -> None:
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


def vector_text(entries: Sequence[str] | None) -> str:
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
            parts += [f"com {vector_text(element['com'])}"] if "com" in element else []
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
            return vector_text(element[kind]) + axes
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
    return f"S{vector_text(position)}"


def _moments(inertia: Sequence[Sequence[str]]) -> str:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    own = ", ".join((xx, yy, zz))
    products = (xy, xz, yz)
    return f"({own})" if set(products) == {"0"} else f"({own}; {', '.join(products)})"


def _point(point: Table) -> str:
    return f"{point['on']} {vector_text(point['point'])}" if "point" in point else point["on"]
