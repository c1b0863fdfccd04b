"""The path to matrices of small motions about a state, against differences of the motion."""

from __future__ import annotations

import re
from typing import Any

import chainform as cf
from chainform import analysis
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
    first = len(at.independent)
    last = len(at.states) - sum(name in mechanism.states for name in at.states)
    rates = [re.sub(r"der\((.*)\)", r"\1", name) for name in at.states[first:last]]
    found: Results = {"places": [mechanism.rate_index(name) for name in at.independent]}
    found |= {"rates": [mechanism.rate_index(name) for name in rates], "tau": tau}
    return {**found, "A of small motions": at.A, "B of small motions": at.B, "drift": at.drift}
