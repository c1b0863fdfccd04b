"""Paths to motions in which a coordinate follows a law of time."""

from __future__ import annotations

from typing import Any

import numpy as np

import chainform as cf
from tools.campaign.paths.motions import arguments_of, states
from tools.campaign.paths.statics import Given, Results, mechanism_of


def followed(given: Given) -> tuple[str, str]:
    """Return a coordinate that can be prescribed, and its law; an empty name where none is."""
    mechanism, motion = mechanism_of(given), given["motion"]
    taken = [*(motion.get("controllers") or ()), *(motion.get("stops") or ())]
    taken += [a["joint"] for a in given["mechanism"].get("actuators", ())]
    names = [n for n in mechanism.coordinates if n in mechanism.rates and n not in taken]
    if not names:
        return "", ""
    q = motion["q0"][mechanism.coordinate_index(names[0])]
    qd = motion["qd0"][mechanism.rate_index(names[0])]
    return names[0], f"({q!r}) + ({qd!r})*t + 0.3*sin(4*t)^2"


def prescribed(given: Given) -> Results:
    """One coordinate by a law, all else moves; and the force that it takes."""
    name, law = followed(given)
    rows = [*given["mechanism"].get("loops", ()), *given["mechanism"].get("constraints", ())]
    if not name or (rows and given["prescribed"]):
        return {}
    run = cf.simulate(mechanism_of(given), **arguments_of(given, motion={name: law}))
    found = {f"{n} as prescribed": value for n, value in states(run).items() if n != "t"}
    force: Any = run.motion_forces[name]
    return {**found, "tau": run.tau, "t": run.t, "force as prescribed": np.asarray(force)}


def repeated(given: Given) -> Results:
    """The efforts of a run are what inverse dynamics finds along it."""
    mechanism = mechanism_of(given)
    if given["singular"] or "coulomb" in str(given["mechanism"]):
        return {}
    run = cf.simulate(mechanism, **arguments_of(given))
    again = cf.inverse_dynamics(mechanism, run)
    return {**states(run), "same tau of a run": (again["tau"], run.tau)}
