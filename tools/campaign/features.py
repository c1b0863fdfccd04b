"""What a mechanism has beside its segments: each function adds one feature to a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chainform.verification.reference.bodies import direction
from chainform.verification.reference.dynamics import BodyState
from chainform.verification.reference.expressions import Jet, law
from chainform.verification.reference.kinematics import BodySystem, motion_at
from chainform.verification.reference.loops import across
from tools.campaign.generate import Draw, Table

Array = Any


def neutral(system: BodySystem) -> Array:
    """Return q of the zero pose."""
    q = np.zeros(system.nq)
    for body, (place, _) in zip(system.bodies, system.places, strict=True):
        if body.kind in ("ball", "free"):
            q[place + (3 if body.kind == "ball" else 6)] = 1
    return q


def some_pose(draw: Draw, system: BodySystem) -> Array:
    """Return random coordinates with quaternions of unit length."""
    q = np.round(draw.rng.uniform(-1.2, 1.2, system.nq), 3)
    for body, (place, _) in zip(system.bodies, system.places, strict=True):
        if body.kind in ("ball", "free"):
            first = place + (0 if body.kind == "ball" else 3)
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
        elif body.kind == "slide":
            q[place] = round(q[place] / 2, 3)
    return q


def mimic(draw: Draw, table: Table, q: Array) -> None:
    """Let a joint follow an earlier one."""
    del q
    single = [s for s in table["segments"] if s["joint"]["type"] in ("revolute", "prismatic")]
    if len(single) > 1:
        leader, follower = single[0], draw.pick(single[1:])
        coupling: Table = {"joint": leader["joint"]["name"], "ratio": draw.pick([-1, 2, 0.5, -0.7])}
        if draw.chance(0.5):
            coupling["offset"] = draw.number(-0.5, 0.5)
        follower["joint"]["mimic"] = coupling


def frames(draw: Draw, table: Table, q: Array) -> None:
    """Add a frame."""
    del q
    segment = draw.pick(table["segments"])["name"]
    frame: Table = {"name": "tip", "segment": segment, "point": draw.vector(0.4)}
    if draw.chance(0.4):
        frame["rpy"] = draw.vector(1)
    table["frames"] = [frame]


def springs(draw: Draw, table: Table, q: Array) -> None:
    """Add springs in joints and between points."""
    system, found = BodySystem.of(table), list[Table]()
    if system.motions and draw.chance(0.7):
        spring: Table = {
            "joint": draw.pick(list(system.motions)),
            "stiffness": draw.number(1, 30, 1),
        }
        if draw.chance(0.5):
            spring["rest"] = draw.number(-0.5, 0.5)
        if draw.chance(0.5):
            spring["damping"] = draw.number(0.1, 2)
        found.append(spring)
    if not found or draw.chance(0.5):
        ends = [
            {"segment": "ground", "point": [*draw.vector(0.5)[:2], 1.7]},
            {"segment": draw.pick(table["segments"])["name"], "point": draw.vector(0.3)},
        ]
        state = BodyState.of(system, q, np.zeros(system.nv))
        if np.linalg.norm(state.point(ends[1])[1] - state.point(ends[0])[1]) > 0.4:
            spring = {"ends": ends, "stiffness": draw.number(1, 30, 1), "rest": draw.number(0, 1)}
            if draw.chance(0.5):
                spring["damping"] = draw.number(0.1, 2)
            found.append(spring)
    if found:
        table["springs"] = found


def some_law(draw: Draw, names: list[str], frames: Sequence[str] = ()) -> str:
    """Return a law of time, coordinates, rates and positions of frames."""
    terms = [f"{draw.number(-3, 3)}*sin({draw.number(1, 6, 1)}*t)"]
    if names:
        name = draw.pick(names)
        other = draw.pick(names)
        terms += [
            f"{draw.number(-3, 3)}*cos({name})",
            f"-{draw.number(0, 0.6)}*der({name})",
            f"-{draw.number(0, 0.3)}*der({name})*abs(der({name}))",
            f"{draw.number(-2, 2)}*{name}*{other}",
            f"{draw.number(-2, 2)}*t^2",
        ]
    for frame in frames:
        axis = draw.pick(["x", "y", "z"])
        terms += [
            f"{draw.number(-3, 3)}*{axis}({frame})",
            f"-{draw.number(0, 0.4)}*der({axis}({frame}))",
        ]
    count = int(draw.rng.integers(1, 4))
    return " + ".join(draw.pick(terms) for _ in range(count))


def forces(draw: Draw, table: Table, q: Array) -> None:
    """Add forces by laws, some of them for a time only."""
    del q
    names = list(BodySystem.of(table).own)
    if not names:
        return
    frames = [frame["name"] for frame in table.get("frames", ())]
    force: Table = {"joint": draw.pick(names), "law": some_law(draw, names, frames)}
    if draw.chance(0.3):
        force |= {"from": 0.05, "until": 0.21}
    table["forces"] = [force]


def base(draw: Draw, table: Table, q: Array) -> None:
    """Let the ground move."""
    del q
    moved: Table = {"position": [f"{draw.number(-1, 1)}*sin(2*t)", 0, f"{draw.number(-1, 1)}*t^2"]}
    if draw.chance(0.6):
        moved["rpy"] = [
            f"{draw.number(-1, 1)}*sin(t)",
            draw.number(-1, 1),
            f"{draw.number(-1, 1)}*t",
        ]
    table["base"] = moved


def constraints(draw: Draw, table: Table, q: Array) -> None:
    """Add a constraint that holds at a pose and t = 0."""
    system = BodySystem.of(table)
    names = list(system.own)
    if len(names) < 2:
        return
    if table.get("frames") and draw.chance(0.4):
        held_frame(draw, table, q)
        return
    order = [str(name) for name in draw.rng.permutation(names)]
    a, b, c = order[0], order[1], order[-1]
    if draw.chance(0.3):
        text = f"der({a})*sin({c}) - der({b})*cos({c}) + 0.3*der({a})"
        table["constraints"] = [{"name": "blade", "kind": "nonholonomic", "law": text}]
        return
    text = draw.pick(
        [
            f"{a} - {draw.number(0.5, 2)}*{b}",
            f"sin({a}) + {b}*{b}",
            f"{a} - {draw.number(-2, 2)}*t",
            f"{a} + 0.5*{b} - 0.3*sin(2*t)",
        ]
    )
    names_at = {n: Jet(float(q[p])) for n, (p, _) in system.own.items()}
    value = law(text, {**names_at, "t": Jet(0.0)}).value
    table["constraints"] = [{"name": "tie", "kind": "holonomic", "law": f"{text} - ({value!r})"}]


def held_frame(draw: Draw, table: Table, q: Array) -> None:
    """Keep a frame on a plane or a cylinder on which it is at a pose, if it can move off it."""
    frame = table["frames"][0]["name"]
    text = draw.pick([f"z({frame})", f"x({frame})^2 + y({frame})^2", f"y({frame}) - 0.1*t"])
    system = BodySystem.of(table)
    state = BodyState.of(system, q, np.zeros(system.nv))
    if np.linalg.norm(state.law_rows(text).J) > 0.1:
        held = f"{text} - ({float(state.law_rows(text).value[0])!r})"
        table["constraints"] = [{"name": "plane", "kind": "holonomic", "law": held}]


def loops(draw: Draw, table: Table, q: Array) -> None:
    """Add a loop that is closed at a pose: its target is where the closing end is."""
    system = BodySystem.of(table)
    moving = [b for b in system.bodies if b.kind != "fixed"]
    if system.nv < 2 or not moving:
        return
    segment = table["segments"][-1]["name"]
    others = ["ground", *(s["name"] for s in table["segments"][:-2])]
    target = "ground" if draw.chance(0.5) else draw.pick(others)
    is_flat = all(b.kind in ("turn", "slide") and "x" not in b.name for b in system.bodies)
    kind = (
        "frame" if system.nv >= 7 or (is_flat and system.nv >= 4 and draw.chance(0.5)) else "point"
    )
    if draw.chance(0.6):
        most = 6 if _is_flat(system) and system.nv > 2 else system.nv
        kind = draw.pick([k for k, count in LOOP_KINDS.items() if count < most])
    loop = closed_loop(draw, system, q, segment, target, kind)
    table["loops"] = [{"name": "loop1", **loop}]
    if draw.chance(0.15):
        table["loops"].append({"name": "loop2", **loop})


def closed_loop(
    draw: Draw, system: BodySystem, q: Array, segment: str, target: str, kind: str
) -> Table:
    """Return a loop between two segments that is closed at a pose."""
    closing: Table = {"segment": segment, "point": draw.vector(0.4)}
    if all(b.axis[2] in (0.0, 1.0) for b in system.bodies):
        closing["point"][2] = 0.0
    loop: Table = {"kind": kind, "closing": closing, "target": {"segment": target}}
    if kind == "distance":
        loop["length"] = draw.number(0.2, 1.5)
    if kind in WITH_AXES:
        closing["axis"] = draw.axis()
        if draw.chance(0.3) and not _is_flat(system):
            closing["rpy"] = draw.vector(1)
        elif _is_flat(system):
            closing["axis"] = "z" if kind in ("revolute", "cylindrical") else "x"
    close(system, q, loop)
    return loop


LOOP_KINDS = {
    "distance": 1,
    "planar": 3,
    "spherical": 3,
    "cylindrical": 4,
    "universal": 4,
    "revolute": 5,
    "prismatic": 5,
}
"""Kinds of loops, and their equations."""
WITH_AXES = ("revolute", "prismatic", "cylindrical", "planar", "universal")


def _is_flat(system: BodySystem) -> bool:
    """Tell whether all joints move in the plane of x and y."""
    return all(
        abs(b.axis[2]) == (b.kind == "turn") for b in system.bodies if b.kind in ("turn", "slide")
    ) and all(b.kind in ("turn", "slide") for b in system.bodies)


def close(system: BodySystem, q: Array, loop: Table) -> None:
    """Move the target of a loop to where it is closed at a pose."""
    motion = motion_at(system, q, np.zeros(system.nv))
    closing, target = loop["closing"], loop["target"]
    R, p, _, _ = motion.pose(system.number_of(closing["segment"]))
    Rt, pt, _, _ = motion.pose(system.number_of(target["segment"]))
    place, frame = p + R @ np.array(closing["point"]), R @ system.read.rotation(closing)
    if loop["kind"] == "distance":
        place = place - system.read.number(loop["length"]) * (R @ np.array([0.6, 0.8, 0.0]))
    if loop["kind"] in WITH_AXES:
        axis = frame @ direction(closing["axis"])
        u, v = (frame @ e for e in across(direction(closing["axis"])))
        place = place - {"planar": 0.2 * u - 0.3 * v, "revolute": 0, "universal": 0}.get(
            loop["kind"], 0.3 * axis
        )
        pin = (0.6 * u + 0.8 * v) if loop["kind"] == "universal" else axis
        if loop["kind"] == "universal" and _is_flat(system):
            pin = u
        target["axis"] = [float(x) for x in Rt.T @ pin]
    if loop["kind"] in ("frame", "prismatic"):
        target["rotation"] = (Rt.T @ frame).tolist()
    if loop["kind"] == "prismatic":
        target["axis"] = closing["axis"]
    target["point"] = [float(x) for x in Rt.T @ (place - pt)]


def actuators(draw: Draw, table: Table, q: Array) -> None:
    """Add actuators to some joints of one freedom."""
    del q
    system = BodySystem.of(table)
    names = [n for n in system.own if draw.chance(0.6)]
    found: list[Table] = []
    for name in names[:3]:
        kind = draw.pick(["torque", "lag", "dc_motor", "dc_motor"])
        actuator: Table = {"name": f"{name}_drive", "joint": name, "type": kind}
        if kind == "torque" and draw.chance(0.5):
            actuator["limit"] = draw.number(1, 5)
        if kind == "lag":
            second = {"frequency": draw.number(5, 20, 1), "damping_ratio": draw.number(0.2, 1)}
            actuator |= {"time_constant": draw.number(0.02, 0.2)} if draw.chance(0.5) else second
        if kind == "dc_motor":
            actuator |= {
                "resistance": draw.number(0.5, 3),
                "torque_constant": draw.number(0.02, 0.2),
            }
            actuator |= {"inductance": draw.number(0.01, 0.1)} if draw.chance(0.5) else {}
            actuator |= {"rotor_inertia": draw.number(0.0005, 0.01, 4)} if draw.chance(0.5) else {}
            actuator |= {"gear_ratio": draw.number(1, 20, 1)} if draw.chance(0.7) else {}
            actuator |= {"efficiency": 0.8} if draw.chance(0.3) else {}
            actuator |= {"viscous": draw.number(0, 0.02, 3)} if draw.chance(0.3) else {}
            actuator |= {"voltage_limit": 6} if draw.chance(0.3) else {}
        found.append(actuator)
    if found:
        table["actuators"] = found


def drive_laws(draw: Draw, table: Table, q: Array) -> None:
    """Add actuators by laws to joints without one: states that are linear, efforts that are not."""
    del q
    driven = {actuator["joint"] for actuator in table.get("actuators", ())}
    names = [n for n in BodySystem.of(table).own if n not in driven]
    found: list[Table] = []
    for name in names[:2]:
        R, kt = draw.number(0.5, 3), draw.number(0.1, 0.5)
        actuator: Table = {
            "name": f"{name}_laws",
            "joint": name,
            "states": {"i": f"(u - {R}*i - {kt}*der(q))/{draw.number(0.05, 0.2)}"},
            "effort": f"{kt}*i",
        }
        actuator |= {"gear_ratio": draw.number(1, 5, 1)} if draw.chance(0.7) else {}
        actuator |= {"limit": 6, "signal": "voltage"} if draw.chance(0.3) else {}
        if draw.chance(0.4):
            actuator |= {"stiffness": draw.number(5, 40, 1), "rotor_inertia": 0.05}
            actuator |= {"damping": draw.number(0.1, 1)} if draw.chance(0.6) else {}
        elif draw.chance(0.6):
            actuator["effort"] += f"/sqrt(1 + (i/{draw.number(1, 4)})^2)"
        if draw.chance(0.3):
            actuator |= {"efficiency": 0.7, "efficiency_width": 0.2}
        found.append(actuator)
    if found:
        table["actuators"] = [*table.get("actuators", ()), *found]


def parameters(draw: Draw, table: Table, q: Array) -> None:
    """Give names to some numbers of the table."""
    del q
    names: dict[str, float] = {}

    def name_for(value: float) -> str:
        name = draw.pick(["p", "mu", "e", "k", "L", "w", "a"]) + str(len(names))
        if draw.chance(0.3):
            names[name] = value / 2
            return f"2*{name}"
        names[name] = value
        return name

    places: list[tuple[Any, Any]] = [(s, "mass") for s in table["segments"] if s.get("mass")]
    places += [
        (s["com"], i) for s in table["segments"] if "com" in s for i in range(3) if s["com"][i]
    ]
    places += [
        (s, key) for s in table.get("springs", ()) for key in ("stiffness", "damping") if key in s
    ]
    places += [
        (s["joint"]["friction"], "viscous")
        for s in table["segments"]
        if isinstance(s["joint"].get("friction"), dict)
    ]
    places += [(table["gravity"], i) for i in range(3) if table["gravity"][i]]
    if "loops" not in table:
        places += [
            (s["position"], i)
            for s in table["segments"]
            if "position" in s
            for i in range(3)
            if s["position"][i]
        ]
    for holder, key in places:
        if draw.chance(0.2) and len(names) < 5:
            holder[key] = name_for(float(holder[key]))
    if names:
        table["parameters"] = names


FEATURES: dict[str, tuple[Callable[[Draw, Table, Array], None], float]] = {
    "mimic": (mimic, 0.12),
    "frames": (frames, 0.6),
    "springs": (springs, 0.3),
    "forces": (forces, 0.25),
    "base": (base, 0.1),
    "loops": (loops, 0.35),
    "constraints": (constraints, 0.15),
    "actuators": (actuators, 0.12),
    "parameters": (parameters, 0.4),
    "drive laws": (drive_laws, 0.1),
}
"""Every feature with the share of cases that have it; the order is that in which they are added."""
