"""Changes of a case that keep it whole: loops closed, states of the right length and on them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from chainform.verification.reference.bodies import WIDTH
from chainform.verification.reference.drives import has_motion, own_states
from chainform.verification.reference.dynamics import BodyState, inverse
from chainform.verification.reference.expressions import law
from chainform.verification.reference.kinematics import BodySystem
from tools.campaign.features import close
from tools.campaign.generate import Table


def whole(given: Table) -> Table:
    """Return the case with loops closed at q, rates that satisfy all rows, and fitting lengths."""
    given = deepcopy(given)
    table, q = given["mechanism"], np.array(given["q"], dtype=np.float64)
    _close(table, q)
    system = BodySystem.of(table)
    has_rows = bool(table.get("loops") or table.get("constraints"))
    if has_rows:
        given["t"] = 0.0
    rates = np.array(given["qd"], dtype=np.float64)
    state = BodyState.of(system, q, rates, given["t"])
    if has_rows:
        rates = rates - inverse(state.rows.J) @ state.rows.rate
        given["qd"] = rates.tolist()
    given["motion"] |= {"q0": given["q"], "qd0": given["qd"]}
    rows = len(state.closure.value)
    given["sigma"] = (list(given.get("sigma", ())) + [0.5] * rows)[:rows]
    given["singular"] = _is_singular(state.H)
    given["loose"] = _is_singular(_allowed(state), 1e-4)
    given["fitting"] = _fitting(BodyState.of(system, q, rates, given["t"]), given["qdd"])
    given["contradictory"] = has_rows and _is_contradictory(BodyState.of(system, q, rates, 0.0))
    given["prescribed"] = bool(np.linalg.matrix_rank(state.rows.J, tol=1e-6) == system.nv)
    given["massless"] = not any(body.mass for body in system.bodies)
    if table.get("actuators"):
        given |= _actuated(given, system)
    else:
        given.pop("x", None)
        given.pop("u", None)
    return given


def bare(table: Table) -> Table:
    """Return a mechanism without friction, springs, rotors and forces."""
    table = {k: v for k, v in deepcopy(table).items() if k not in ("springs", "forces")}
    for segment in table["segments"]:
        for name in ("friction", "rotor_inertia"):
            segment["joint"].pop(name, None)
    return table


def _is_singular(H: Any, share: float = 1e-7) -> bool:
    """Whether a mass matrix is singular, or nearly so."""
    if not len(H):
        return False
    values = np.linalg.eigvalsh(H)
    return bool(values[0] <= share * max(values[-1], 1e-9))


def _fitting(state: BodyState, qdd: list[float]) -> list[float]:
    """Return the accelerations next to others that satisfy all rows."""
    rows = state.rows
    left = rows.right - rows.J @ np.array(qdd)
    return (np.array(qdd) + inverse(rows.J) @ left).tolist()


def _is_contradictory(state: BodyState) -> bool:
    """Whether no rates, or no accelerations, satisfy all rows."""
    rows = state.rows
    qdd = inverse(rows.J) @ rows.right
    rest = np.concatenate([rows.rate, rows.J @ qdd - rows.right])
    return bool(np.abs(rest).max(initial=0.0) > 1e-6)


def _allowed(state: BodyState) -> Any:
    """Return the mass matrix of the motions that all rows allow."""
    J = state.rows.J
    if not len(J):
        return state.H
    _, values, vectors = np.linalg.svd(J)
    rank = int(np.sum(values > 1e-6 * max(values[0], 1e-300)))
    N = vectors[rank:].T
    return N.T @ state.H @ N


def _close(table: Table, q: Any) -> None:
    """Move the targets of loops and the constants of constraints to where they hold."""
    system = BodySystem.of(table)
    for loop in table.get("loops", ()):
        close(system, q, loop)
    names = BodyState.of(system, q, np.zeros(system.nv)).names
    for constraint in table.get("constraints", ()):
        if constraint["kind"] == "holonomic":
            text = constraint["law"].partition(" - (")[0]
            constraint["law"] = f"{text} - ({float(law(text, names).value)!r})"


def _actuated(given: Table, system: BodySystem) -> Table:
    """Return states and signals of actuators, with q and qd of the case."""
    x: list[float] = []
    for actuator in given["mechanism"]["actuators"]:
        place, rate, _, _ = system.motions[actuator["joint"]]
        x += [given["q"][place], given["qd"][rate]] if has_motion(actuator) else []
        x += [0.7] * own_states(actuator)
    count = len(given["mechanism"]["actuators"])
    return {"x": x, "u": (list(given.get("u", ())) + [3.0] * count)[:count]}


def with_mechanism(given: Table, table: Table) -> Table:
    """Return the case with another mechanism; states go along by the names of coordinates."""
    table = _without_dangling(table)
    old, new = BodySystem.of(given["mechanism"]), BodySystem.of(table)
    found: Table = {**deepcopy(given), "mechanism": table}
    for holder in (found, *found["batch"]):
        holder["q"] = _carried(old, new, given_q=holder["q"], which=0)
        for name in ("qd", "qdd", "tau"):
            if name in holder:
                holder[name] = _carried(old, new, given_q=holder[name], which=1)
    names, motion = set(new.own), found["motion"]
    feedback = _feedback((motion.get("controllers") or {}).get("feedback"), old, new)
    for field in ("forces", "controllers", "stops"):
        if motion.get(field):
            motion[field] = {n: v for n, v in motion[field].items() if n in names}
            motion[field] = {
                n: v for n, v in motion[field].items() if not _foreign(str(v), old, names)
            }
    driven = {a["joint"] for a in table.get("actuators", ())}
    if motion.get("signals"):
        motion["signals"] = {
            n: v
            for n, v in motion["signals"].items()
            if n in driven and not _foreign(str(v), old, names)
        }
    if feedback:
        motion["controllers"]["feedback"] = feedback
    events = motion.get("events") or {}
    motion["events"] = {n: v for n, v in events.items() if not _foreign(v["law"], old, names)}
    points = {x["name"] for x in (*table.get("frames", ()), *table["segments"])}
    contacts = motion.get("contacts") or {}
    motion["contacts"] = {n: v for n, v in contacts.items() if n in points}
    found["wrong"] = {n: v for n, v in found["wrong"].items() if n in table.get("parameters", {})}
    numbers = {f"_{i}": b.name for i, b in enumerate(new.bodies, start=1)}
    found["numbers"] = [n for n in found["numbers"] if _still(n, numbers, table)]
    return whole(found)


def _feedback(table: Table | None, old: BodySystem, new: BodySystem) -> Table | None:
    """Return feedback with the gains of the coordinates that are left."""
    if table is None or new.nq != new.nv or not set(table["joints"]) <= set(new.own):
        return None
    rows = [(row[: old.nv], row[old.nv :]) for row in table["K"]]
    gains = [[x for half in row for x in _carried(old, new, half, which=1)] for row in rows]
    return {**table, "K": gains}


def _still(number: Table, bodies: dict[str, str], table: Table) -> bool:
    """Whether a number of the mechanism has the same name and place as before."""
    if number["field"] == "gravity":
        return table["gravity"] in ([0, 0, -9.81], [0, -9.81, 0])
    if bodies.get("_" + number["name"].split("_")[1]) != number["segment"]:
        return False
    segment = next(s for s in table["segments"] if s["name"] == number["segment"])
    value = segment.get("mass") if number["field"] == "mass" else (segment.get("com") or [0])[0]
    return isinstance(value, int | float) and value != 0 and bool(segment.get("mass"))


def _foreign(text: str, old: BodySystem, names: set[str]) -> bool:
    """Whether a law names a coordinate that is there no more."""
    return any(name in text for name in old.own if name not in names)


def _carried(old: BodySystem, new: BodySystem, given_q: list[float], which: int) -> list[float]:
    """Return the entries of a vector for another system, by joint."""
    places = {
        b.coordinate: (p, b.kind)
        for b, p in zip(old.bodies, old.places, strict=True)
        if b.follows is None
    }
    found: list[float] = []
    for body in new.bodies:
        width = WIDTH[body.kind][which]
        if body.follows is not None or not width:
            continue
        place, kind = places.get(body.coordinate, ((0, 0), ""))
        if kind and WIDTH[kind][which] == width:
            found += given_q[place[which] : place[which] + width]
        else:
            rest = [0.3] * width
            if which == 0 and body.kind in ("ball", "free"):
                rest = [0.0] * (width - 1) + [1.0]
            found += rest
    return found


def _without_dangling(table: Table) -> Table:
    """Return the table without what refers to segments or joints that are gone."""
    table = {key: value for key, value in deepcopy(table).items() if value not in ([], {})}
    segments = {"ground", *(s["name"] for s in table["segments"])}
    joints = {s["joint"]["name"] for s in table["segments"]}
    for segment in table["segments"]:
        leader = segment["joint"].get("mimic", {}).get("joint")
        if leader is not None and leader not in joints:
            del segment["joint"]["mimic"]
    system = BodySystem.of(table)
    names, followers = set(system.motions), set(system.own)
    parameters = table.get("parameters", {})
    table["frames"] = [f for f in table.get("frames", ()) if f["segment"] in segments]
    table["loops"] = [
        loop
        for loop in table.get("loops", ())
        if {loop["closing"]["segment"], loop["target"]["segment"]} <= segments
    ]
    table["springs"] = [
        s
        for s in table.get("springs", ())
        if (s["joint"] in names if "joint" in s else {e["segment"] for e in s["ends"]} <= segments)
    ]
    for key in ("forces", "actuators"):
        table[key] = [x for x in table.get(key, ()) if x["joint"] in followers]
    frames = {name for frame in table["frames"] for name in (*"xyz", frame["name"])}
    for key in ("forces", "constraints"):
        named = followers | set(parameters) | frames
        known = [x for x in table.get(key, ()) if _words(x["law"]) <= named]
        table[key] = known
    return {key: value for key, value in table.items() if value not in ([], {})}


def _words(text: object) -> set[str]:
    import re

    found = set(
        re.findall(r"[A-Za-z_]\w*", re.sub(r"\d+\.?\d*(e-?\d+)?", " ", ""))
        if not isinstance(text, str)
        else re.findall(r"(?<![\w.])[A-Za-z_]\w*", text)
    )
    return found - {"sin", "cos", "exp", "abs", "der", "t", "pi", "sqrt", "step", "sign"}
