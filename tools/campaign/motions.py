"""What a motion has beside forces: each function adds one feature to its table."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainform.verification.reference.dynamics import BodyState, inverse
from chainform.verification.reference.kinematics import BodySystem
from chainform.verification.reference.motions import Mover
from tools.campaign.generate import Draw, Table


def extend(draw: Draw, table: Table, motion: Table) -> None:
    """Add feedback, sampling, stops, contacts, forces at a point and an event to some motions."""
    system = BodySystem.of(table)
    q = np.array(motion["q0"])
    if system.own and system.nq == system.nv and draw.chance(0.15):
        motion.setdefault("controllers", {})["feedback"] = _feedback(draw, system)
    if any(motion.get(n) for n in ("forces", "signals", "controllers")) and draw.chance(0.2):
        # No sample is at a time at which anything else begins or ends.
        motion["hold"] = draw.number(0.008, 0.05, 3) + 1e-3 / 3
    if not (motion.get("stops") or motion.get("contacts")):
        ruled = " ".join(str(c["law"]) for c in table.get("constraints", ()))
        free = [name for name in system.own if name not in ruled]
        if free and draw.chance(0.1):
            motion["stops"] = some_stops(draw, system, free, q)
        if draw.chance(0.2):
            motion["contacts"] = _contact(draw, table, system, motion)
    if draw.chance(0.15):
        laws = [1.5, "2*sin(5*t)", "-3*t", f"{draw.number(-3, 3)}*cos(t)"]
        motion["pushes"] = [draw.pick(laws) for _ in range(3)]
    if system.own and draw.chance(0.25):
        motion["events"] = {"mark": _event(draw, system, motion)}


def some_stops(draw: Draw, system: BodySystem, names: list[str], q: Any) -> Table:
    """Return stops of a joint that is between them."""
    joint = draw.pick(names)
    here = float(q[system.own[joint][0]])
    stop: Table = {"restitution": draw.pick([0, 0.3, 0.6, 0.9, 1])}
    for side, sign in (("lower", -1), ("upper", 1)):
        if draw.chance(0.8):
            stop[side] = round(here + sign * draw.number(0.02, 0.15, 3), 3)
    return {joint: stop} if len(stop) > 1 else {}


def _contact(draw: Draw, table: Table, system: BodySystem, motion: Table) -> Table:
    """Return a contact with a plane a little below a point, in the direction of its motion."""
    places: list[Table] = [
        *table.get("frames", ()),
        *({"segment": s["name"], **s} for s in table["segments"]),
    ]
    place = draw.pick(places)
    own = {"segment": place["segment"], "point": place.get("point")}
    state = BodyState.of(system, np.array(motion["q0"]), np.array(motion["qd0"]))
    _, point, velocity = state.point(own)
    speed = float(np.linalg.norm(velocity))
    if speed < 0.05:
        return {}
    normal = [round(float(x), 2) for x in draw.rng.normal(size=3) / 3 - velocity / speed]
    up = np.array(normal) / np.linalg.norm(normal)
    below = point - draw.number(0.002, 0.1, 3) * up
    contact: Table = {
        "restitution": draw.pick([0, 0.5, 0.8, 1]),
        "friction": draw.pick([0, 0, 0, 0.5]),
        "point": [round(float(x), 4) for x in below],
        "normal": normal,
    }
    found = {place["name"]: contact}
    return found if _can_open(system, state, {**motion, "contacts": found}) else {}


def _can_open(system: BodySystem, state: BodyState, motion: Table) -> bool:
    """Whether joints can open the gap: else a base that moves runs a point into its plane."""
    gap = next(iter(Mover(system, motion).gaps()))
    J = state.rows.J
    own = np.eye(system.nv) - inverse(J) @ J
    return bool(np.linalg.norm(gap.row(state).J @ own) > 0.3)


def _feedback(draw: Draw, system: BodySystem) -> Table:
    """Return linear feedback of the state on one or two joints."""
    joints = [str(n) for n in draw.rng.permutation(list(system.own))][: 1 + draw.chance(0.5)]
    rows: list[list[float]] = []
    for joint in joints:
        row = [draw.number(-2, 2) if draw.chance(0.5) else 0.0 for _ in range(2 * system.nv)]
        place = system.own[joint][1]
        row[place], row[system.nv + place] = draw.number(5, 40, 0), draw.number(0, 5, 1)
        rows.append(row)
    found: Table = {"type": "state_feedback", "K": rows, "joints": joints}
    found["u_ref"] = [draw.pick([0, 1.5, "2*sin(4*t)"]) for _ in joints]
    if draw.chance(0.6):
        found["q_ref"] = {joints[0]: draw.pick([0.2, "0.4*sin(3*t)", "0.3 - t^2"])}
    if draw.chance(0.3):
        found["limit"] = draw.number(3, 20, 0)
    return found


def _event(draw: Draw, system: BodySystem, motion: Table) -> Table:
    """Return an event where a joint comes to a place on its way, or to one that moves."""
    joint = draw.pick(list(system.own))
    place, rate = system.own[joint]
    ahead = draw.number(0.1, 0.8) * motion["times"][-1] * motion["qd0"][rate]
    if abs(ahead) < 0.003:
        # A law that is zero at rest stays there, but for rounding.
        ahead = 0.05
    law = f"{joint} - ({round(motion['q0'][place] + ahead, 4)})"
    if draw.chance(0.4):
        law += f" + {draw.number(0.01, 0.1)}*sin({draw.number(10, 60, 0)}*t)"
    event: Table = {"law": law, "direction": draw.pick(["both", "rising", "falling"])}
    return {**event, "stop": True} if draw.chance(0.3) else event
