"""Paths to poses in which frames are at targets."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from scipy.linalg import qr  # pyright: ignore[reportUnknownVariableType]

import chainform as cf
from chainform.readers import read_text
from tools.campaign.paths.further import hinged
from tools.campaign.paths.statics import Given, Results, mechanism_of, state_of
from tools.campaign.paths.tasks import named, poses_of


def targets(given: Given) -> Results:
    """Targets that are the places of a frame in known poses: they must be reached."""
    mechanism, name = mechanism_of(given), named(given)[0]
    known = poses_of(given)[:4]
    model = cf.derive(mechanism, [f"pose({name})"])
    still = state_of({**given, "t": 0.0}, "t")
    where = model.evaluate(q=known, **still)[f"pose({name})"]
    where = np.broadcast_to(where, (len(known), 4, 4))
    is_pose = given["case"] % 2 == 0
    target = where if is_pose else where[:, :3, 3]
    start = np.array(given["q"])
    if mechanism.nq == mechanism.nv:
        start = start + 0.1 * np.cos(np.arange(len(start)))
    found = cf.inverse_kinematics(mechanism, {name: target}, q0=start)
    results: Results = {"found q": found["q"], "reached": found["reached"]}
    results[f"{'pose' if is_pose else 'place'} at the target, {name}"] = target
    return {**results, "gaps at the target": np.zeros(len(known))}


def directions(given: Given, mechanism: Any, name: str) -> list[int]:
    """Return the axes along which a frame is well moved, one after the other."""
    outputs = ["closure_jacobian"] * bool(mechanism.loops)
    outputs += ["constraint_jacobian"] * bool(mechanism.constraints)
    model = cf.derive(mechanism, [f"jacobian({name})", *outputs])
    found = model.evaluate(**state_of(given, "q", "qd", "t"))
    ways = np.asarray(found[f"jacobian({name})"])[:3]
    if outputs:
        sizes, vectors = np.linalg.svd(np.concatenate([found[o] for o in outputs]))[1:]
        ways = ways @ vectors[int(np.sum(sizes > 1e-6)) :].T
    if not ways.shape[1]:
        return []
    chosen: Any = qr(ways.T, pivoting=True)
    sizes = np.abs(np.diag(chosen[1]))
    return sorted(int(k) for k in chosen[2][: int(np.sum(sizes > 0.15))])


def target_path(given: Given) -> Results:
    """A frame that goes along a curve: places, rates and accelerations."""
    mechanism, name = mechanism_of(given), named(given)[0]
    axes = directions(given, mechanism, name)
    if not axes:
        return {}
    state = state_of({**given, "t": 0.0}, "q", "t")
    place = cf.derive(mechanism, [f"pose({name})"]).evaluate(**state)[f"pose({name})"][:3, 3]
    amount, t = 0.02 * np.array([1.0, -0.7, 0.5]), np.array([0.0, 0.15, 0.3])
    curve = {"xyz"[k]: f"({float(place[k])!r}) + ({float(amount[k])!r})*sin(2*t)" for k in axes}
    choice = ("least_motion", "any")[given["case"] % 2]
    more: Any = {"q0": given["q"], "redundancy": choice}
    found = cf.inverse_kinematics(mechanism, {name: curve}, t, **more)
    results: Results = {"axes": axes, "times": t, "reached": found["reached"]}
    for part, width in (("q", mechanism.nq), ("qd", mechanism.nv), ("qdd", mechanism.nv)):
        results[f"{part} on a curve"] = found.arrays.get(part, np.full((len(t), width), np.nan))
    waves = {
        "place": place + amount * np.sin(2 * t)[:, None],
        "rate": 2 * amount * np.cos(2 * t)[:, None],
        "acceleration": -4 * amount * np.sin(2 * t)[:, None],
    }
    results |= {f"{part} of a curve, {name}": wave[:, axes] for part, wave in waves.items()}
    results["rows on a curve"] = np.zeros(3 * len(t))
    h, factors = 1e-3, np.array([1 / 12, -2 / 3, 0, 2 / 3, -1 / 12])
    close = cf.inverse_kinematics(mechanism, {name: curve}, h * np.arange(5), **more)
    if close["reached"].all() and np.isfinite(close.arrays.get("qdd", np.nan)).all():
        changes = np.einsum("m,mj->j", factors / h, close["qd"])
        results["same accelerations by differences"] = (close["qdd"][2], changes)
    return results


def arm_of(given: Given) -> Given:
    """Return an arm: three hinges of the case, and three more whose axes meet in a point."""
    segments = [hinged(s) for s in given["mechanism"]["segments"]][:3]
    while len(segments) < 3:
        segments.append({**segments[-1], "position": [0.4, 0.1 * len(segments), 0.2]})
    parent = "ground"
    for k, axis in enumerate((None, None, None, [0, 0, 1], [0, 1, 0], [0, 0, 1])):
        if axis is not None:
            place = [0.3, 0.1, 0.5] if k == 3 else [0, 0, 0]
            segments.append({"position": place, "joint": {"type": "revolute", "axis": axis}})
        joint = {**segments[k]["joint"], "name": f"a{k}"}
        segments[k] = {**segments[k], "name": f"s{k}", "parent": parent, "joint": joint}
        parent = f"s{k}"
    return {"name": "arm", "gravity": [0, 0, 0], "segments": segments}


def closed_form(given: Given) -> Results:
    """All branches of an arm with a spherical wrist: one of them is the pose that was taken."""
    arm = read_text(json.dumps(arm_of(given)), "json")
    q = np.resize(given["q"], 6) + 0.3 * np.arange(6)
    q[4] = 0.9 + 0.1 * np.sin(q[4])
    target = cf.derive(arm, ["pose(s5)"]).evaluate(q=q)["pose(s5)"]
    more: Any = {"method": "closed_form", "branches": "all"}
    found = cf.inverse_kinematics(arm, {"s5": target}, **more)
    apart = np.abs((found["q"] - q + np.pi) % (2 * np.pi) - np.pi).max(axis=1)
    poses = np.tile(target, (len(found["q"]), 1, 1))
    return {"branches": found["q"], "pose of a branch": poses, "taken: none of them": apart.min()}
