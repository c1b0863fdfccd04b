"""Paths through tasks about a motion or a pose: kinematics, loads, statics, workspace.

The reference takes the states that a task found, and gives its own answer there.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.linalg import qr  # pyright: ignore[reportUnknownVariableType]

import chainform as cf
from chainform import analysis
from tools.campaign.paths.statics import Given, Results, mechanism_of, state_of


def named(given: Given) -> list[str]:
    """Name the frames of a case, and its last segment."""
    names = [frame["name"] for frame in given["mechanism"].get("frames", ())]
    return [*names, given["mechanism"]["segments"][-1]["name"]]


def moment(given: Given) -> Any:
    """Return the motion of a case at its time: accelerations are those that fit all rows."""
    q, qd, qdd = (np.array([given[name]], dtype=float) for name in ("q", "qd", "fitting"))
    return analysis.PrescribedMotion(np.array([given["t"]]), q, qd, qdd)


def kinematics(given: Given) -> Results:
    """Frames in world axes and seen from the first segment; freedoms and singular values."""
    mechanism, names = mechanism_of(given), named(given)
    first = given["mechanism"]["segments"][0]["name"]
    world = cf.kinematics(mechanism, moment(given), frames=names)
    seen = cf.kinematics(mechanism, moment(given), frames=names, relative_to=first)
    parts = ["position", "velocity", "acceleration"]
    parts += ["rotation", "angular_velocity", "angular_acceleration"]
    found: Results = {"freedoms": world["freedoms"][0]}
    for name in names:
        found |= {f"{part} in motion, {name}": world[f"{part}({name})"][0] for part in parts}
        found |= {f"{part} seen, {name}": seen[f"{part}({name})"][0] for part in parts}
        found[f"singular values, {name}"] = world[f"singular_values({name})"][0]
    return found


def free_names(given: Given, mechanism: Any) -> list[str]:
    """Name coordinates that may be prescribed, as many as there are freedoms; none if unclear."""
    if mechanism.nq != mechanism.nv and not (mechanism.loops or mechanism.constraints):
        return []
    if any(row.kind == "nonholonomic" for row in mechanism.constraints):
        return []
    outputs = ["closure_jacobian"] * bool(mechanism.loops)
    outputs += ["constraint_jacobian"] * bool(mechanism.constraints)
    if not outputs:
        return list(mechanism.coordinates)
    found = cf.derive(mechanism, outputs).evaluate(**state_of(given, "q", "qd", "t"))
    sizes, vectors = np.linalg.svd(np.concatenate([found[name] for name in outputs]))[1:]
    rank = int(np.sum(sizes > 1e-6))
    chosen: Any = qr(vectors[rank:], pivoting=True)
    names = [mechanism.rates[k] for k in chosen[2][: len(vectors) - rank]]
    return names if set(names) <= set(mechanism.coordinates) else []


def laws_of(given: Given, mechanism: Any, names: list[str]) -> dict[str, str]:
    """Return laws with the place, the rate and the acceleration of the case at t = 0."""
    found: dict[str, str] = {}
    for name in names:
        q = given["q"][mechanism.coordinate_index(name)]
        k = mechanism.rate_index(name)
        found[name] = f"({q!r}) + ({given['qd'][k]!r})*t + ({given['fitting'][k]!r})*t^2/2"
    return found


def completed(given: Given) -> Results:
    """A motion by laws of some coordinates, which the others follow; from its file again."""
    mechanism = mechanism_of(given)
    names = free_names(given, mechanism)
    if not names:
        return {}
    laws, t = laws_of(given, mechanism, names), [0.0, 0.01, 0.02]
    found = cf.kinematics(mechanism, laws, t, start=given["q"])
    results: Results = {"named": [mechanism.rate_index(name) for name in names]}
    results |= {f"completed {part}": found[part] for part in ("q", "qd", "qdd")}
    with TemporaryDirectory() as folder:
        for ending in ("csv", "npz"):
            found.save(f"{folder}/motion.{ending}")
            again = cf.kinematics(mechanism, f"{folder}/motion.{ending}")
            for part in ("q", "qd", "qdd"):
                results[f"same {part} from {ending}"] = (again[part], found[part])
    return results


def loads(given: Given) -> Results:
    """The drives of a motion by laws, its power and energy; then the motion again."""
    mechanism = mechanism_of(given)
    names = free_names(given, mechanism)
    if not names or given["singular"] or given["loose"]:
        return {}
    laws, t = laws_of(given, mechanism, names), np.linspace(0, 0.05, 11)
    found = cf.inverse_dynamics(mechanism, laws, t, names, start=given["q"])
    arrays = {f"{name} of loads": array for name, array in found.arrays.items()}
    results: Results = {"named": [mechanism.rate_index(name) for name in names], **arrays}
    has_force = "forces" in given["mechanism"] or "base" in given["mechanism"]
    if not (has_force or "coulomb" in str(given["mechanism"]) or mechanism.actuators):
        again = found.simulate(rtol=1e-9)
        results["same q by the drives"] = (again.q, found["q"])
    return results


def poses_of(given: Given) -> Any:
    """Return poses that satisfy all rows: that of the case, without rows those of its batch."""
    has_rows = given["mechanism"].get("loops") or given["mechanism"].get("constraints")
    return np.array([given["q"]] if has_rows else [lane["q"] for lane in given["batch"]])


def held(given: Given) -> Results:
    """Drives of some joints that hold poses, beside a force by a law."""
    mechanism, q = mechanism_of(given), poses_of(given)
    name = next((n for n in mechanism.coordinates if n in mechanism.rates), None)
    force = {name: f"2*cos({name}) - 0.3*{name}"} if name else None
    found = cf.statics(mechanism, q, mechanism.rates[::2], forces=force, time=given["t"])
    results = {f"{name} that holds": array for name, array in found.arrays.items()}
    return {**results, "force by a law": name}


def held_by_wrench(given: Given) -> Results:
    """A force and a moment on the last segment that hold poses."""
    mechanism, q = mechanism_of(given), poses_of(given)
    name = given["mechanism"]["segments"][-1]["name"]
    found = cf.statics(mechanism, q, wrenches=[name], time=given["t"])
    return {f"{part} on a frame": array for part, array in found.arrays.items()}


def workspace(given: Given) -> Results:
    """Positions that a frame can take; loops are closed there."""
    mechanism, name = mechanism_of(given), named(given)[0]
    slides = {c: [-0.5, 0.7] for c in mechanism.coordinates}
    found = cf.workspace(mechanism, name, count=12, ranges=slides)
    results: Results = {"reached q": found["q"], f"reached, {name}": found["position"]}
    return {**results, "gaps where reached": np.zeros(len(found["q"]))}
