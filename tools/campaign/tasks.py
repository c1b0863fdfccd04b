"""From a seed to a case: a mechanism, a state, and a motion, all of it plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainform.verification.reference.drives import has_motion, own_states
from chainform.verification.reference.dynamics import BodyState, UnsureError, inverse
from chainform.verification.reference.kinematics import BodySystem
from tools.campaign.edits import whole
from tools.campaign.features import FEATURES, mimic, some_law, some_pose
from tools.campaign.generate import Draw, Mechanism, Table
from tools.campaign.motions import extend, some_stops

STEPPED = {"rk4": 1e-3, "heun": 5e-4, "euler": 2e-4, "semi_implicit": 2e-4}
SYMPLECTIC = {"midpoint": 1e-3, "gauss4": 2e-3, "gauss6": 4e-3}
CONTROLLED = ("verner65", "dopri853", "cvode", "ida")
MORE = 13
"""With a source of random numbers of its own an addition to motions changes nothing else."""
METHODS = (*CONTROLLED, *STEPPED, *SYMPLECTIC)


def case_of(seed: int, number: int) -> Table:
    """Return the case of a number: everything that a path is given, as JSON could hold it."""
    draw = Draw(np.random.default_rng([seed, number]))
    is_planar = draw.chance(0.3)
    count = int(draw.rng.integers(1, 5)) if not is_planar else int(draw.rng.integers(2, 5))
    table = Mechanism(draw, is_planar).table(count)
    chosen = [name for name, (_, share) in FEATURES.items() if draw.chance(share)]
    if "mimic" in chosen:
        mimic(draw, table, None)
    system = BodySystem.of(table)
    if system.nv == 0:
        return case_of(seed, number + 1_000_003)
    q = some_pose(draw, system)
    for name in chosen:
        if name != "mimic":
            FEATURES[name][0](draw, table, q)
    if draw.chance(0.85):
        _heavy_enough(table, q)
    given: Table = {"seed": seed, "case": number, "mechanism": table}
    given |= _state(draw, table, q)
    given |= _values(draw, table)
    given["motion"] = _motion(draw, table, q, np.array(given["qd"]))
    more = Draw(np.random.default_rng([seed, number, MORE]))
    extend(more, table, given["motion"])
    return whole(given)


def _heavy_enough(table: Table, q: Any) -> None:
    """Give mass to all bodies where no accelerations would follow without it."""
    system = BodySystem.of(table)
    try:
        BodyState.of(system, q, np.zeros(system.nv)).accelerations()
    except UnsureError:
        for segment in table["segments"]:
            if not segment.get("mass"):
                segment["mass"] = 1.2
            segment.setdefault("inertia", [0.1, 0.12, 0.13])


def _method(draw: Draw, table: Table) -> str:
    """Return a method of integration, mostly one that takes such a mechanism."""
    joints = [s["joint"] for s in table["segments"]]
    has_rows = bool(table.get("loops") or table.get("constraints"))
    is_odd = any(j["type"] in ("free", "spherical") and "euler" not in j for j in joints)
    methods = list(METHODS)
    if not draw.chance(0.1):
        if has_rows or is_odd or table.get("actuators"):
            methods = [m for m in methods if m not in SYMPLECTIC]
        if has_rows:
            methods.remove("cvode")
    return draw.pick(methods)


def _state(draw: Draw, table: Table, q: Any) -> Table:
    """Return a state that satisfies loops and constraints where there are such."""
    system = BodySystem.of(table)
    qd = np.round(draw.rng.uniform(-1.5, 1.5, system.nv), 3)
    if draw.chance(0.05):
        qd *= 0
    has_rows = bool(table.get("loops") or table.get("constraints"))
    t = 0.0 if has_rows else draw.number(0, 1)
    state = BodyState.of(system, q, qd, t)
    if has_rows:
        qd = qd - inverse(state.rows.J) @ state.rows.rate
    given: Table = {"q": q.tolist(), "qd": qd.tolist(), "t": t}
    for name in ("qdd", "tau"):
        given[name] = np.round(draw.rng.uniform(-2, 2, system.nv), 3).tolist()
    given["sigma"] = np.round(draw.rng.uniform(-2, 2, len(state.closure.value)), 3).tolist()
    given["batch"] = [
        {
            "q": some_pose(draw, system).tolist(),
            **{
                n: np.round(draw.rng.uniform(-2, 2, system.nv), 3).tolist()
                for n in ("qd", "qdd", "tau")
            },
        }
        for _ in range(int(draw.rng.integers(2, 12)))
    ]
    if table.get("actuators"):
        given |= _actuated(draw, table, system, q, qd)
    return given


def _actuated(draw: Draw, table: Table, system: BodySystem, q: Any, qd: Any) -> Table:
    """Return states and signals of the actuators, as the complete model takes them."""
    x: list[float] = []
    for actuator in table["actuators"]:
        place, rate, _, _ = system.motions[actuator["joint"]]
        x += [float(q[place]), float(qd[rate])] if has_motion(actuator) else []
        x += [draw.number(-2, 2) for _ in range(own_states(actuator))]
    return {"x": x, "u": [draw.number(-8, 8) for _ in table["actuators"]]}


def _values(draw: Draw, table: Table) -> Table:
    """Return other values of parameters and of numbers, to be put right at a later stage."""
    wrong = {
        n: round(v * draw.number(0.5, 1.5) + 0.1, 4) for n, v in table.get("parameters", {}).items()
    }
    numbers: list[Table] = []
    bodies = BodySystem.of(table).bodies
    for place, body in enumerate(bodies, start=1):
        segment = next((s for s in table["segments"] if s["name"] == body.name), None)
        if segment is None:
            continue
        mass, com = segment.get("mass"), segment.get("com") or [0]
        if isinstance(mass, int | float) and mass and draw.chance(0.4):
            numbers.append(
                {
                    "name": f"m_{place}",
                    "segment": body.name,
                    "field": "mass",
                    "wrong": draw.number(0.3, 4),
                }
            )
        if isinstance(com[0], int | float) and com[0] and mass and draw.chance(0.2):
            numbers.append(
                {
                    "name": f"com_{place}_x",
                    "segment": body.name,
                    "field": "com",
                    "wrong": draw.number(0.1, 0.5),
                }
            )
    gravity = table["gravity"]
    if gravity in ([0, 0, -9.81], [0, -9.81, 0]) and draw.chance(0.6):
        numbers.append({"name": "g", "segment": "", "field": "gravity", "wrong": 1.62})
    return {"wrong": wrong, "numbers": numbers}


def _motion(draw: Draw, table: Table, q: Any, qd: Any) -> Table:
    """Return a motion of some tenths of a second, from a state at t = 0."""
    system = BodySystem.of(table)
    end = draw.number(0.1, 0.3, 2)
    times = sorted({0.0, *(draw.number(0, end, 3) for _ in range(4)), end})
    motion: Table = {"q0": q.tolist(), "qd0": qd.tolist(), "times": times}
    motion["method"] = _method(draw, table)
    names = list(system.own)
    driven = [a["joint"] for a in table.get("actuators", ())]
    if names and draw.chance(0.4):
        motion["forces"] = {draw.pick(names): _force(draw, names, end)}
    if driven:
        motion["signals"] = {name: some_law(draw, names) for name in driven if draw.chance(0.7)}
    if names and draw.chance(0.15):
        joint = draw.pick(names)
        control: Table = {"type": "pd", "kp": draw.number(5, 60, 0), "kd": draw.number(0, 5, 1)}
        control["target"] = draw.pick([0.3, "0.5*sin(3*t)", "t^2 - 0.2"])
        if draw.chance(0.4):
            control |= {"type": "pid", "ki": draw.number(5, 50, 0)}
        if draw.chance(0.3):
            control["limit"] = draw.number(3, 20, 0)
        motion["controllers"] = {joint: control}
    free = [n for n in names if not any(n in str(c["law"]) for c in table.get("constraints", ()))]
    if free and draw.chance(0.25):
        motion["stops"] = some_stops(draw, system, free, q)
    if (
        draw.chance(0.15)
        and table.get("frames")
        and np.linalg.norm(BodySystem.of(table).gravity) > 1
    ):
        height = BodyState.of(system, q, qd).point(table["frames"][0])[1] @ -system.gravity
        if height > 0.5 and table["frames"][0]["segment"] != "ground":
            friction = draw.pick([0, 0, 0.3, 0.8])
            motion["contacts"] = {
                "tip": {"restitution": draw.pick([0, 0.5, 0.8]), "friction": friction}
            }
    if draw.chance(0.3):
        motion["lanes"] = int(draw.rng.integers(2, 11))
    return motion


def _force(draw: Draw, names: list[str], end: float) -> Any:
    if draw.chance(0.2):
        half = round(end / 2, 3)
        return [{"until": half, "law": some_law(draw, names)}, {"law": some_law(draw, names)}]
    if draw.chance(0.2):
        values = [draw.number(-3, 3) for _ in range(3)]
        return {"t": [0.0, round(end / 3, 3), end], "values": values}
    return some_law(draw, names)
