"""Further paths: other forms of a file, changed mechanisms, input that must be refused."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import chainform as cf
from chainform.readers import read_text, write_urdf
from tools.campaign.paths.motions import arguments_of, impacts_of, states
from tools.campaign.paths.statics import (
    Given,
    Results,
    evaluated,
    mechanism_of,
    of_urdf,
    state_of,
    wanted,
)


def tree_form(given: Given) -> Results:
    """The mechanism in the tree form, where all frames are parallel at zero."""
    table = deepcopy(given["mechanism"])
    segments = table.pop("segments")
    names = ["ground", *(s["name"] for s in segments)]
    joints = [s["joint"] for s in segments]
    plain = {"name", "type", "axis"}
    table.pop("actuators", None)
    if any({"rpy", "quaternion"} & set(s) for s in segments) or any(
        set(j) != plain or j["type"] in ("planar", "cylindrical") for j in joints
    ):
        return {}
    coms = [[0, 0, 0], *(s.get("com", [0, 0, 0]) for s in segments)]
    arms: dict[str, Any] = {}
    for number, segment in enumerate(segments, start=1):
        parent = names.index(segment["parent"])
        place = zip(segment.get("position", [0, 0, 0]), coms[parent], strict=True)
        arms[f"{number},{number}"] = segment.get("com", [0, 0, 0])
        arms[f"{parent},{number}"] = [f"({a}) - ({b})" for a, b in place]
    table |= {"format": "tree", "names": names[1:], "p": arms}
    table["L"] = [names.index(s["parent"]) for s in segments]
    table["T"] = [int(j["type"] == "prismatic") for j in joints]
    table["e"] = [j["axis"] for j in joints]
    table["m"] = [s.get("mass", 0) for s in segments]
    table["inertia"] = {
        str(i): s.get("inertia", [0, 0, 0]) for i, s in enumerate(segments, start=1)
    }
    # In this form joints have the names of their bodies.
    mechanism = read_text(re.sub(r"\bj(\d)", r"b\1", json.dumps(table)), "json")
    model = cf.derive(mechanism, ["mass_matrix", "bias"])
    return dict(model.evaluate(**state_of(given, "q", "qd", "t")))


def hinged(segment: Given) -> Given:
    """Return a segment on a hinge, with plain numbers and moments about the axes of its frame."""
    found: Given = {"name": segment["name"], "parent": segment["parent"], "mass": 1.5}
    for name, usual in (("position", 0.2), ("com", 0.3), ("rpy", 0.4)):
        given = segment.get(name) or [0, 0, 0]
        found[name] = [usual if isinstance(x, str) else x + usual / 8 for x in given]
    place = len(segment["joint"]["type"]) % 3
    axis = [[0.6, 0, 0.8], [0, 1, 0], [1, 0, 0]][place]
    joint = {"name": f"{segment['name']}_hinge", "type": "revolute", "axis": axis}
    return {**found, "joint": joint, "inertia": [0.1, 0.15, 0.2]}


def turned(place: int, angle: float) -> Any:
    """Return the rotation about x, y or z."""
    i, j = (place + 1) % 3, (place + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
    return R


def ways(parents: list[int]) -> list[list[int]]:
    """Return the joints from the ground to every tip; `parents` has 0 for the ground."""
    found: list[list[int]] = []
    for tip in range(1, len(parents) + 1):
        if tip in parents:
            continue
        way = [tip]
        while parents[way[0] - 1]:
            way.insert(0, parents[way[0] - 1])
        found.append(way)
    return found


def vectors_form(given: Given) -> Results:
    """The tree with hinges in place of all joints, in the vectors form: its chain is stretched."""
    segments = [hinged(segment) for segment in given["mechanism"]["segments"]]
    names = ["ground", *(s["name"] for s in segments)]
    count = len(segments)
    q, qd = 0.3 + 0.2 * np.arange(count), 1.1 - 0.6 * np.arange(count)
    arms: dict[str, Any] = {}
    axes, zeros = [], np.zeros(count)
    for number, segment in enumerate(segments, start=1):
        parent = names.index(segment["parent"])
        centre = np.array(segments[parent - 1]["com"]) if parent else np.zeros(3)
        axis, com = np.array(segment["joint"]["axis"]), np.array(segment["com"])
        still = np.linalg.multi_dot([turned(k, segment["rpy"][k]) for k in (2, 1, 0)])
        to_parent = centre - segment["position"]
        axes.append((still @ axis).tolist())
        arms[f"{number},{number}"] = com.tolist()
        arms[f"{parent},{number}"] = to_parent.tolist()
        # At zero the mass centre lies opposite to that of the parent, seen along the axis.
        seen = still.T @ -to_parent
        across = np.cross(axis, com)
        zeros[number - 1] = np.arctan2(seen @ across, seen @ np.cross(across, axis))
    table: Given = {"format": "vectors", "gravity": [0, 0, -9.81], "r": arms, "names": names[1:]}
    table["e"] = [s["joint"]["axis"] for s in segments]
    table["e_in_parent"] = {str(i): axis for i, axis in enumerate(axes, start=1)}
    table["m"], table["J"] = ([s[key] for s in segments] for key in ("mass", "inertia"))
    table["rows"] = ways([names.index(s["parent"]) for s in segments])
    native = {"gravity": [0, 0, -9.81], "segments": segments}
    outputs = ["mass_matrix", "bias"]
    first, second = (
        cf.derive(read_text(json.dumps(t), "json"), outputs).evaluate(q=x, qd=qd)
        for t, x in ((native, q), (table, q - zeros))
    )
    return {f"same {name} by vectors": (second[name], first[name]) for name in outputs}


def payload(given: Given) -> Results:
    """The last body taken off and put on again."""
    table = deepcopy(given["mechanism"])
    last = table["segments"][-1]
    body: Given = {"mass": 0}
    body |= {name: last.pop(name) for name in ("mass", "com", "inertia") if name in last}
    loaded = read_text(json.dumps(table), "json").with_payload(last["name"], **body)
    outputs = [o for o in wanted(given, loaded) if o != "reactions"]
    return evaluated(given, cf.derive(loaded, outputs))


def left_out(given: Given) -> Results:
    """Equations without friction, springs, rotors and forces."""
    parts = ["friction", "springs", "rotors", "forces"]
    outputs = ["inverse_dynamics", "mass_matrix", "potential_energy", "kinetic_energy"]
    model = cf.derive(mechanism_of(given), outputs, without=parts)
    return {f"{name} left out": value for name, value in evaluated(given, model).items()}


def bad_arrays(given: Given) -> Results:
    """States that are no real numbers: every one of them must be refused."""
    mechanism = mechanism_of(given)
    model = cf.derive(mechanism, ["gravity"])
    q = np.array(given["q"], dtype=float)
    spoilt = np.where(np.arange(len(q)) == 0, np.nan, q)
    bad: dict[str, Any] = {
        "complex": q * (1 + 1j),
        "masked": np.ma.masked_array(q, [True, *[False] * (len(q) - 1)]),
        "text": [str(x) for x in q],
        "bool": q > 0,
        "not a number": spoilt,
        "too long": [*q, 0.0],
    }
    found: Results = {}
    for name, array in bad.items():
        if name != "not a number":
            found[f"taken: {name} by evaluate"] = _is_taken(lambda a=array: model.evaluate(q=a))
        found[f"taken: {name} by simulate"] = _is_taken(
            lambda a=array: cf.simulate(mechanism, **{**arguments_of(given), "q0": a})
        )
    return found


def _is_taken(call: Any) -> float:
    """Return 1 where something is taken, 0 where it is refused."""
    try:
        call()
    except cf.Error:
        return 0.0
    return 1.0


def unilateral(given: Given) -> Results:
    """Stops written as unilateral constraints of the mechanism."""
    table, motion = deepcopy(given["mechanism"]), given["motion"]
    rows = table.setdefault("constraints", [])
    for joint, stop in motion["stops"].items():
        for side, sign in (("lower", 1), ("upper", -1)):
            if side in stop:
                law = f"{sign}*({joint} - ({stop[side]}))"
                row = {"name": f"{joint}_{side}", "kind": "unilateral", "law": law}
                rows.append({**row, "restitution": stop["restitution"]})
    arguments = {k: v for k, v in arguments_of(given).items() if k != "stops"}
    run = cf.simulate(read_text(json.dumps(table), "json"), **arguments)
    return {**states(run), **impacts_of(run)}


def computed_torque(given: Given) -> Results:
    """A controller that knows the mechanism: the motion is the target from the start."""
    mechanism, motion = mechanism_of(given), given["motion"]
    if mechanism.nq != mechanism.nv:
        return {}
    names = mechanism.coordinates
    pairs = zip(names, motion["q0"], motion["qd0"], strict=True)
    targets = {n: f"({q!r}) + ({qd!r})*t + 0.4*sin(3*t)^2" for n, q, qd in pairs}
    control = {"all": {"type": "computed_torque", "kp": 100, "kd": 20, "targets": targets}}
    start: Any = {"q0": motion["q0"], "qd0": motion["qd0"], "rtol": 1e-10}
    run = cf.simulate(mechanism, t=0.2, t_eval=[0, 0.1, 0.2], controllers=control, **start)
    t = run.t[:, None]
    wanted_q = np.array(motion["q0"]) + np.array(motion["qd0"]) * t + 0.4 * np.sin(3 * t) ** 2
    return {"drift of the tracking": np.abs(run.q - wanted_q).max()}


def spinning(given: Given) -> Results:
    """The last body alone, free of forces and turning fast: it keeps its momentum."""
    builder = cf.Mechanism.builder("ball", gravity=(0, 0, 0))
    builder.segment("ball", parent="ground", joint="free", mass=1.5, inertia=[0.1, 0.2, 0.25])
    rates = [1.0, 0.5, -0.2, 20 * given["qd"][0], 25.0, 3.0]
    found: Results = {}
    for method, step in (("semi_implicit", 1e-3), ("rk4", 1e-3), ("verner65", None)):
        more: Any = {"method": method, "step": step}
        run = cf.simulate(builder.build(), qd0=rates, t=0.5, t_eval=[0, 0.5], **more)
        linear = run.output("momentum")[:, :3]
        found[f"drift of momentum by {method}"] = np.abs(linear[1] - linear[0]).max() * 1e-4
    return found


def named_by_table(given: Given) -> Results:
    """States given as tables by names."""
    mechanism = mechanism_of(given)
    outputs = [o for o in ("mass_matrix", "bias") if o in wanted(given, mechanism)]
    model = cf.derive(mechanism, outputs)
    q = dict(zip(mechanism.coordinates, given["q"], strict=True))
    qd = dict(zip(mechanism.rates, given["qd"], strict=True))
    return dict(model.evaluate(q=q, qd=qd, **state_of(given, "t", "sigma")))


def xacro(given: Given) -> Results:
    """A file named xacro: without macros it is URDF, and what is not expanded is refused."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "case.xacro"
        write_urdf(mechanism_of(given), Path(folder) / "case.urdf")
        text = (Path(folder) / "case.urdf").read_text()
        found: Results = {}
        for what, old, new in (
            ("a macro", "<link ", '<xacro:insert name="a"/><link '),
            ("a variable", '<origin xyz="', '<origin xyz="${x} '),
        ):
            file.write_text(text.replace(old, new, 1))
            if old in text:
                found[f"taken: {what}"] = _is_taken(lambda: cf.read(file))
        file.write_text(text)
        again = cf.read(file, snap=0)
    return {**found, **of_urdf(given, again)}


def verified(given: Given) -> Results:
    """A certificate, one kind of checks for each case: no check may fail."""
    kinds = ("reference", "peers", "laws", "program", "text", "rows", "formulations")
    kind = kinds[given["case"] % len(kinds)]
    certificate = cf.verify(mechanism_of(given), only=kind, states=3, seed=given["case"])
    return {f"taken: {c.law}, {c.compared}": float(c.holds is False) for c in certificate.checks}
