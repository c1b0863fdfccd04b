"""Paths to equilibria: where a mechanism rests, whether it stays there, and along a parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

import chainform as cf
from tools.campaign.paths.statics import Given, Results, mechanism_of

PATH = ("q", "tau", "multipliers", "parameter", "potential_energy")
"""What is compared along a parameter."""


def acting(given: Given, mechanism: Any) -> dict[str, Any]:
    """Return signals of actuators and the time."""
    signals = dict(zip(mechanism.signals, given.get("u", ()), strict=True))
    return {"signals": signals, "time": given["t"]}


def held(given: Given) -> dict[str, float]:
    """Return slides that are held where they are, which without rows they can be anywhere."""
    table = given["mechanism"]
    if given["case"] % 2 or table.get("loops") or table.get("constraints"):
        return {}
    system, joints = mechanism_of(given), [s["joint"] for s in table["segments"]]
    names = [j["name"] for j in joints if j["type"] == "prismatic" and "mimic" not in j]
    names += [
        f"{j['name']}_t" for j in joints if j["type"] in ("cylindrical", "revolute_prismatic")
    ]
    return {name: given["q"][system.coordinate_index(name)] for name in names}


def equilibria(given: Given) -> Results:
    """Poses of rest by a search: forces that are left, gaps, energy, stability."""
    mechanism, still = mechanism_of(given), held(given)
    options: Any = {**acting(given, mechanism), "held": still}
    found = cf.equilibria(mechanism, starts=8, seed=1, **options)
    m, nv = len(found["q"]), mechanism.nv
    results: Results = {"held": [mechanism.rate_index(name) for name in still]}
    results["multipliers at rest"] = np.zeros((m, 0))
    results |= {f"{name} at rest": array for name, array in found.arrays.items()}
    results["stiffness at rest"] = np.minimum(found["stiffness"], 1e9)
    results |= {"forces left at rest": np.zeros((m, nv)), "gaps at rest": np.zeros(m)}
    return results


def equilibrium_path(given: Given) -> Results:
    """Equilibria along a force on a joint."""
    mechanism = mechanism_of(given)
    names = [n for n in mechanism.coordinates if n in mechanism.rates]
    if not names:
        return {}
    start = cf.equilibria(mechanism, starts=8, seed=1, **acting(given, mechanism))
    lonely = np.flatnonzero((start["family"] == 0) & (start["singular"] == 0))
    if not len(lonely):
        return {}
    options: Any = {**acting(given, mechanism), "forces": {names[-1]: "P"}, "points": 25}
    found = cf.equilibrium_path(mechanism, "P", (0, 1.5), q0=start["q"][lonely[0]], **options)
    m, nv = len(found["q"]), mechanism.nv
    results: Results = {"held": [], "multipliers at rest": np.zeros((m, 0))}
    results |= {f"{name} at rest": found[name] for name in PATH if name in found.arrays}
    results |= {"forces left along a path": np.zeros((m, nv)), "gaps at rest": np.zeros(m)}
    return {**results, "force by a parameter": names[-1]}
