"""What the reference says to results of tasks: it takes the states that a task found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from chainform.verification.reference.drives import needed
from chainform.verification.reference.dynamics import UnsureError
from chainform.verification.reference.kinematics import BodySystem
from chainform.verification.reference.motions import Mover
from chainform.verification.reference.quantities import StateAnswer
from tools.campaign import differences, small_motions
from tools.campaign.generate import Table
from tools.campaign.paths.poses import arm_of
from tools.campaign.paths.prescribed import followed
from tools.campaign.reasons import moves_by_time

Results = dict[str, Any]
PARTS = (
    *("position", "velocity", "acceleration"),
    *("rotation", "angular_velocity", "angular_acceleration"),
)


def pose_at(answer: StateAnswer, name: str) -> Any:
    """Return the pose of a frame."""
    return answer.of_frame("pose", name, "world")


def still(table: Table, q: Any, t: float = 0.0) -> StateAnswer:
    """Return the mechanism at rest in a pose."""
    return StateAnswer(table, {"q": q, "t": t})


# --- kinematics -----------------------------------------------------------------------------------


def in_motion(given: Table, part: str, name: str) -> Any:
    """Return a part of the motion of a frame, world axes."""
    answer = StateAnswer(given["mechanism"], {**given, "qdd": given["fitting"]})
    kind = {"position": "pose", "rotation": "pose"}.get(part, part.rpartition("_")[2])
    whole = answer.of_frame(kind, name, "world")
    if kind == "pose":
        return whole[:3, 3] if part == "position" else whole[:3, :3]
    return whole[3:] if part.startswith("angular") else whole[:3]


def seen(given: Table, part: str, name: str) -> Any:
    """Return a part of the motion of a frame as the first segment sees it."""
    system = BodySystem.of(given["mechanism"])
    state = [np.array(given[n]) for n in ("q", "qd", "fitting")]

    def pose(s: float, frame: str) -> Any:
        q, _ = differences.along(system, state[0], state[1], state[2], s)
        return pose_at(still(given["mechanism"], q, given["t"] + s), frame)

    found = differences.seen(pose, name, given["mechanism"]["segments"][0]["name"])
    return found[PARTS.index(part)]


def open_ways(given: Table) -> Any:
    """Return the directions that loops and constraints leave open."""
    answer = StateAnswer(given["mechanism"], given)
    return differences.free(answer.state.rows.J, answer.system.nv)


def singular_values(given: Table, name: str) -> Any:
    """Return how well the origin of a frame moves."""
    N = open_ways(given)
    J = StateAnswer(given["mechanism"], given).of_frame("jacobian", name, "world")[:3]
    return np.linalg.svd(J @ N, compute_uv=False)[: min(3, N.shape[1])]


def completed(given: Table, results: Results, part: str) -> Any:
    """Return the motion of laws, with all other coordinates next to those found."""
    system, found = BodySystem.of(given["mechanism"]), list[Any]()
    named = results["named"]
    start = [np.array(given[n]) for n in ("q", "qd", "fitting")]
    for q, t in zip(results["completed q"], (0.0, 0.01, 0.02), strict=True):
        rates, q = start[1] + t * start[2], np.array(q)
        for place, rate in system.own.values():
            if rate in named:
                move = t * start[1][rate] + t**2 / 2 * start[2][rate]
                q[place] = start[0][place] + move
        state = differences.on_rows(system, q, named, t, rates, start[2])
        found.append(state[("q", "qd", "qdd").index(part)])
    return np.array(found)


def loads(given: Table, results: Results, part: str) -> Any:
    """Return drives, multipliers, power and energy along the motion that was found."""
    table, found = given["mechanism"], list[Any]()
    for i in range(len(results["t of loads"])):
        t, q, qd, qdd = (results[f"{n} of loads"][i] for n in ("t", "q", "qd", "qdd"))
        answer = StateAnswer(table, {"q": q, "qd": qd, "t": t})
        if part == "energy":
            found.append(answer.kinetic_energy() + answer.potential_energy())
            continue
        S = np.eye(len(qd))[:, results["named"]]
        x, multipliers = needed(answer.state, qdd, S)
        tau = S @ x
        if part == "residual":
            J = answer.state.rows.J
            found.append(tau + J.T @ multipliers - answer.state.effort(qdd))
            continue
        found.append({"tau": tau, "power": tau * qd, "multipliers": multipliers}[part])
    return np.array(found)


# --- statics --------------------------------------------------------------------------------------


def holding(given: Table, results: Results, part: str) -> Any:
    """Return drives of every second rate, or multipliers, that hold poses beside a force."""
    table, name = given["mechanism"], results["force by a law"]
    if name:
        force = {"joint": name, "law": f"2*cos({name}) - 0.3*{name}"}
        table = {**table, "forces": [*table.get("forces", ()), force]}
    found: list[Any] = []
    for q in results["q that holds"]:
        state = still(table, q, given["t"]).state
        S = np.eye(state.system.nv)[:, ::2]
        x, multipliers = needed(state, np.zeros(state.system.nv), S)
        rest = S @ x + state.rows.J.T @ multipliers - state.effort(np.zeros(state.system.nv))
        found.append({"tau": S @ x, "multipliers": multipliers, "residual": rest}[part])
    return np.array(found)


def wrenches(given: Table, results: Results, part: str) -> Any:
    """Return the force and the moment on the last segment that hold poses."""
    table, found = given["mechanism"], list[Any]()
    for q in results["q on a frame"]:
        answer = still(table, q, given["t"])
        S = answer.of_frame("jacobian", table["segments"][-1]["name"], "world").T
        x, multipliers = needed(answer.state, np.zeros(len(S)), S)
        rest = S @ x + answer.state.rows.J.T @ multipliers
        rest = rest - answer.state.effort(np.zeros(len(S)))
        found.append({"wrench": x, "multipliers": multipliers, "residual": rest}[part])
    return np.array(found)


def places(table: Table, poses: Any, name: str, t: float = 0.0) -> Any:
    """Return where a frame is in poses."""
    return np.array([pose_at(still(table, q, t), name)[:3, 3] for q in poses])


def gaps(table: Table, poses: Any, t: float = 0.0) -> Any:
    """Return the largest gap of loops and constraints of positions in each pose."""
    return np.array([np.abs(_position_rows(table, q, t)).max(initial=0.0) for q in poses])


def _position_rows(table: Table, q: Any, t: float) -> Any:
    state = still(table, q, t).state
    kinds = [row["kind"] == "holonomic" for row in table.get("constraints", ())]
    value = state.rows.value
    return value[np.array([True] * (len(value) - len(kinds)) + kinds, dtype=bool)]


# --- equilibria -----------------------------------------------------------------------------------


def forces_left(given: Table, results: Results, load: str = "") -> Any:
    """Return what is left of the forces at rest; on a path a parameter is a force on a joint."""
    system, found = BodySystem.of(given["mechanism"]), list[Any]()
    u = np.array(given.get("u", ()))
    for i, q in enumerate(results["q at rest"]):
        s = results["multipliers at rest"][i]
        left = differences.forces_at_rest(system, q, given["t"], s, u) - results["tau at rest"][i]
        if load:
            left[system.own[load][1]] -= results["parameter at rest"][i]
        found.append(left)
    return np.array(found)


def stiffness(given: Table, results: Results) -> Any:
    """Return the least stiffness of each equilibrium; the product's own where it is unsure."""
    system, found = BodySystem.of(given["mechanism"]), list[Any]()
    u = np.array(given.get("u", ()))
    for i, q in enumerate(results["q at rest"]):
        s = results["multipliers at rest"][i]
        try:
            own = differences.stiffness(system, q, given["t"], s, u, results["held"])
        except UnsureError:
            own = results["stiffness at rest"][i]
        # Without any direction the product's stiffness has no bound.
        found.append(min(own, 1e9))
    return np.array(found)


def stable(given: Table, results: Results) -> Any:
    """Return whether each equilibrium is stable, where weight and springs alone decide."""
    own = results["stable at rest"]
    if given["mechanism"].get("forces") or given["mechanism"].get("actuators"):
        return own
    if any(row["kind"] != "holonomic" for row in given["mechanism"].get("constraints", ())):
        return own
    sizes = stiffness(given, results)
    sure = np.isfinite(sizes) & (np.abs(sizes) > differences.FLAT * (1 + np.abs(sizes)))
    # Where rows are lost the product decides nothing.
    sure &= ~((results["singular at rest"] == 1) & (own == -1))
    return np.where(sure, sizes > 0, own)


# --- poses ----------------------------------------------------------------------------------------


def on_a_curve(given: Table, results: Results, part: str, name: str) -> Any:
    """Return place, rate or acceleration of a frame at the states that were found."""
    found: list[Any] = []
    for i, t in enumerate(results["times"]):
        q, qd, qdd = (results[f"{n} on a curve"][i] for n in ("q", "qd", "qdd"))
        own = results[f"{part} of a curve, {name}"][i]
        if not results["reached"][i] or not np.isfinite([*qd, *qdd]).all():
            found.append(own)
            continue
        answer = StateAnswer(given["mechanism"], {"q": q, "qd": qd, "qdd": qdd, "t": t})
        kind = {"rate": "velocity", "place": "pose"}.get(part, part)
        whole = answer.of_frame(kind, name, "world")
        found.append((whole[:3, 3] if part == "place" else whole[:3])[results["axes"]])
    return np.array(found)


def rows_on_a_curve(given: Table, results: Results) -> Any:
    """Return by how much loops and constraints do not hold along a curve."""
    found: list[float] = []
    for i, t in enumerate(results["times"]):
        q, qd, qdd = (results[f"{n} on a curve"][i] for n in ("q", "qd", "qdd"))
        if not results["reached"][i] or not np.isfinite([*qd, *qdd]).all():
            found += [0.0] * 3
            continue
        rows = StateAnswer(given["mechanism"], {"q": q, "qd": qd, "t": t}).state.rows
        parts = (rows.value, rows.rate, rows.J @ qdd - rows.right)
        found += [float(np.abs(each).max(initial=0.0)) for each in parts]
    return np.array(found)


# --- motions --------------------------------------------------------------------------------------


def with_law(given: Table) -> Table:
    """Return the mechanism with the constraint that a prescribed motion is."""
    name, text = followed(given)
    row = {"name": "motion", "kind": "holonomic", "law": f"{name} - ({text})"}
    table = given["mechanism"]
    return {**table, "constraints": [*table.get("constraints", ()), row]}


def as_prescribed(given: Table, part: str) -> Any:
    """Return the motion under a prescribed coordinate."""
    return getattr(Mover(BodySystem.of(with_law(given)), given["motion"]).run(), part)


def prescribed_force(given: Table, results: Results) -> Any:
    """Return the force that the law takes, at the states that were found."""
    found: list[float] = []
    if given["mechanism"].get("actuators") or any(
        given["motion"].get(n) for n in ("stops", "contacts")
    ):
        raise UnsureError("actuators, stops or contacts act as well")
    if any(body.coulomb for body in BodySystem.of(given["mechanism"]).bodies):
        raise UnsureError("a joint may stick")
    for i, t in enumerate(results["t"]):
        q, qd = (results[f"{n} as prescribed"][i] for n in ("q", "qd"))
        state = StateAnswer(with_law(given), {"q": q, "qd": qd, "t": t}).state
        solved = state.accelerations(results["tau"][i])
        if not solved.is_unique:
            raise UnsureError("the multipliers are not unique")
        found.append(float(solved.multipliers[-1]))
    return np.array(found)


# --- the table ------------------------------------------------------------------------------------

BY_KEY: dict[str, Callable[[Table, Results], Any]] = {
    "freedoms": lambda g, _: float(open_ways(g).shape[1]),
    **{
        f"completed {part}": lambda g, r, part=part: completed(g, r, part)
        for part in ("q", "qd", "qdd")
    },
    **{
        f"{part} of loads": lambda g, r, part=part: loads(g, r, part)
        for part in ("tau", "power", "energy", "multipliers", "residual")
    },
    **{
        f"{part} that holds": lambda g, r, part=part: holding(g, r, part)
        for part in ("tau", "multipliers", "residual")
    },
    **{
        f"{part} on a frame": lambda g, r, part=part: wrenches(g, r, part)
        for part in ("wrench", "multipliers", "residual")
    },
    "gaps where reached": lambda g, r: gaps(g["mechanism"], r["reached q"]),
    "gaps at the target": lambda g, r: gaps(g["mechanism"], r["found q"]),
    "gaps at rest": lambda g, r: gaps(g["mechanism"], r["q at rest"], g["t"]),
    "forces left at rest": forces_left,
    "forces left along a path": lambda g, r: forces_left(g, r, r["force by a parameter"]),
    "stiffness at rest": stiffness,
    "stable at rest": stable,
    "potential_energy at rest": lambda g, r: np.array(
        [still(g["mechanism"], q, g["t"]).potential_energy() for q in r["q at rest"]]
    ),
    "reached": lambda g, r: r["reached"] if moves_by_time(g) else np.ones(len(r["reached"])),
    "rows on a curve": rows_on_a_curve,
    "pose of a branch": lambda g, r: np.array(
        [pose_at(still(arm_of(g), q), "s5") for q in r["branches"]]
    ),
    "q as prescribed": lambda g, _: as_prescribed(g, "q"),
    "qd as prescribed": lambda g, _: as_prescribed(g, "qd"),
    "force as prescribed": prescribed_force,
    "A of small motions": lambda g, r: small_motions.matrices(g, r, 0),
    "B of small motions": lambda g, r: small_motions.matrices(g, r, 1),
    "drift": lambda g, r: small_motions.matrices(g, r, 2),
    "misses of modes": small_motions.misses_of_modes,
    "powers of poles": small_motions.powers_of_poles,
    "real parts of the response": lambda g, r: small_motions.response(g, r).real,
    "imag parts of the response": lambda g, r: small_motions.response(g, r).imag,
    "change of a motion": small_motions.change_of_a_motion,
}
"""Answers by the keys of results."""
OF_FRAMES: dict[str, Callable[[Table, Results, str], Any]] = {
    **{f"{p} in motion": lambda g, _, n, p=p: in_motion(g, p, n) for p in PARTS},
    **{f"{p} seen": lambda g, _, n, p=p: seen(g, p, n) for p in PARTS},
    "singular values": lambda g, _, n: singular_values(g, n),
    "reached": lambda g, r, n: places(g["mechanism"], r["reached q"], n),
    "pose at the target": lambda g, r, n: np.array(
        [pose_at(still(g["mechanism"], q), n) for q in r["found q"]]
    ),
    "place at the target": lambda g, r, n: places(g["mechanism"], r["found q"], n),
    **{
        f"{p} of a curve": lambda g, r, n, p=p: on_a_curve(g, r, p, n)
        for p in ("place", "rate", "acceleration")
    },
}
"""Answers by the keys of results, which end with the name of a frame."""


def answer(given: Table, results: Results, key: str) -> Any:
    """Return the answer for a key of the results of a task, None where there is none."""
    if key in BY_KEY:
        return BY_KEY[key](given, results)
    name, _, frame = key.partition(", ")
    return OF_FRAMES[name](given, results, frame) if frame and name in OF_FRAMES else None
