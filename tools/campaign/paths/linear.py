"""Paths to small motions: matrices about a state, modes and responses about an equilibrium."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import chainform as cf
from chainform import analysis
from chainform.simulation import rest_names
from tools.campaign.paths.rest import acting, held
from tools.campaign.paths.statics import Given, Results, mechanism_of, state_of


def linearised(given: Given) -> Results:
    """A, B and the drift, with the names of states and inputs."""
    mechanism = mechanism_of(given)
    driven = {actuator.rate for actuator in mechanism.actuators}
    tau = [0.0 if k in driven else value for k, value in enumerate(given["tau"])]
    state: dict[str, Any] = {**state_of(given, "q", "qd", "x", "u", "t"), "tau": tau}
    if mechanism.loops or mechanism.constraints:
        try:
            at = analysis.linearise(mechanism, **state)
        except cf.Error as error:
            if "singular" in str(error.message) or "independent" in str(error.message):
                return {}
            raise
    else:
        at = analysis.linearise(mechanism, **state)
    found: Results = {**chosen(mechanism, at), "tau": tau}
    return {**found, "A of small motions": at.A, "B of small motions": at.B, "drift": at.drift}


def chosen(mechanism: Any, at: Any) -> dict[str, list[int]]:
    """Return which rates the displacements and the rates among the states belong to."""
    first = len(at.independent)
    last = len(at.states) - sum(name in mechanism.states for name in at.states)
    rates = [re.sub(r"der\((.*)\)", r"\1", name) for name in at.states[first:last]]
    named = {"places": at.independent, "rates": rates}
    return {key: [mechanism.rate_index(name) for name in names] for key, names in named.items()}


def at_rest(given: Given, mechanism: Any) -> dict[str, Any]:
    """Return an equilibrium, the pose of a case held by drives, or with actuators one by a search.

    There is none where forces change with time or hardly a mass resists.
    """
    forces = given["mechanism"].get("forces", ())
    changes = any({"from", "until"} & set(f) or re.search(r"\bt\b", str(f["law"])) for f in forces)
    if changes or given["singular"] or given["loose"]:
        return {}
    if not mechanism.actuators:
        found = cf.statics(mechanism, given["q"], mechanism.rates, time=given["t"])
        return {"q": given["q"], "tau": found["tau"][0], "t": given["t"]}
    options: Any = {**acting(given, mechanism), "held": held(given)}
    found = cf.equilibria(mechanism, starts=8, seed=1, **options)
    sure = np.flatnonzero(found["singular"] == 0)
    if not len(sure):
        return {}
    state: dict[str, Any] = {name: found[name][sure[0]] for name in ("q", "tau")}
    if "x" in found.arrays:
        state["x"] = dict(zip(rest_names(mechanism), found["x"][sure[0]].tolist(), strict=True))
    return {**state, **state_of(given, "u", "t")}


def of_rest(state: dict[str, Any], mechanism: Any, at: Any) -> Results:
    """Return what the reference needs to know of an equilibrium."""
    found: Results = {**chosen(mechanism, at), "q at rest": state["q"], "tau": state["tau"]}
    return {**found, "x at rest": list(state.get("x", {}).values())}


def modes(given: Given) -> Results:
    """Poles and shapes about an equilibrium: A v = s v for each, and sums of powers of all."""
    mechanism = mechanism_of(given)
    state = at_rest(given, mechanism)
    if not state:
        return {}
    found = cf.modes(mechanism, **state)
    results = of_rest(state, mechanism, analysis.linearise(mechanism, **state))
    poles = found["pole_real"] + 1j * found["pole_imag"]
    shapes = found["shape_real"] + 1j * found["shape_imag"]
    own = [shapes[:, results["places"]], poles[:, None] * shapes[:, results["rates"]]]
    if "x_real" in found.arrays:
        own.append(found["x_real"] + 1j * found["x_imag"])
    size = max(1.0, float(np.abs(poles).max(initial=0.0)))
    both = np.concatenate([poles, poles[poles.imag > 0].conj()]) / size
    sums = np.array([np.sum(both**k).real for k in (1, 2, 3, 4)])
    results |= {"poles": poles, "shapes": np.concatenate(own, axis=1), "size": size}
    return {**results, "misses of modes": np.zeros(len(poles)), "powers of poles": sums}


def frequency_response(given: Given) -> Results:
    """How states and accelerations answer to all inputs that swing, about an equilibrium."""
    mechanism = mechanism_of(given)
    state = at_rest(given, mechanism)
    if not state:
        return {}
    at = analysis.linearise(mechanism, **state)
    hertz = [0.05, 0.7, 4.0]
    outputs = [*at.states, "qdd"]
    found = cf.frequency_response(mechanism, list(at.inputs), outputs, hertz, **state)
    results, last = of_rest(state, mechanism, at), len(at.states)
    rows = [*range(last), *(last + k for k in results["rates"])]
    for part in ("real", "imag"):
        results[f"{part} parts of the response"] = found[part][:, rows]
    return {**results, "frequencies": hertz}
