"""Paths on which parameters get their values at a later stage than in the file.

The file has other values; what comes out must be that of the right ones.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import numpy as np

import chainform as cf
from chainform.readers import read_text
from tools.campaign.paths.statics import Given, Results, called, evaluated, state_of, wanted


def with_wrong_values(given: Given) -> tuple[Any, dict[str, float], list[str]]:
    """Return the mechanism with other numbers, the right values by name, and patterns of names."""
    table = deepcopy(given["mechanism"])
    right: dict[str, float] = dict(table.get("parameters", {}))
    table["parameters"] = dict(given["wrong"])
    for number in given["numbers"]:
        if number["field"] == "gravity":
            right["g"] = 9.81
            table["gravity"] = [0 if x == 0 else -number["wrong"] for x in table["gravity"]]
            continue
        segment = next(s for s in table["segments"] if s["name"] == number["segment"])
        if number["field"] == "mass":
            right[number["name"]] = segment["mass"]
            segment["mass"] = number["wrong"]
        else:
            right[number["name"]] = segment["com"][0]
            segment["com"][0] = number["wrong"]
    return read_text(json.dumps(table), "json"), right, list(right)


def at_evaluate(given: Given) -> Results:
    """Values at evaluation."""
    mechanism, values, names = with_wrong_values(given)
    model = cf.derive(mechanism, wanted(given, mechanism), parameters=names)
    return evaluated(given, model, values)


def at_evaluate_symbolic(given: Given) -> Results:
    """Values at evaluation of a model in which every number is a parameter."""
    mechanism, values, _ = with_wrong_values(given)
    outputs = [
        o for o in ("mass_matrix", "inverse_dynamics", "reactions") if o in wanted(given, mechanism)
    ]
    model = cf.derive(mechanism, outputs, parameters="symbolic", reduce="fast")
    known = {name: value for name, value in values.items() if name in model.free_parameters}
    return evaluated(given, model, known)


def by_bind(given: Given) -> Results:
    """Values bound in the model."""
    mechanism, values, names = with_wrong_values(given)
    outputs = [
        o for o in ("mass_matrix", "bias", "passive", "reactions") if o in wanted(given, mechanism)
    ]
    model = cf.derive(mechanism, outputs, parameters=names)
    known = {name: value for name, value in values.items() if name in model.free_parameters}
    return evaluated(given, model.bind(known))


def at_call(given: Given) -> Results:
    """Values in a call of machine code, and bound in the program."""
    mechanism, values, names = with_wrong_values(given)
    outputs = [
        o for o in wanted(given, mechanism) if o not in ("coriolis", "coriolis_matrix", "com")
    ]
    program = cf.derive(mechanism, outputs, parameters=names).compile()
    known = {name: value for name, value in values.items() if name in program.parameters}
    found: Results = {}
    for name in program.outputs:
        found[name] = called(given, program, name, known)
        bound = called(given, program.bind(known), name)
        found[f"same {name} by bind"] = (bound, found[name])
    return found


def in_batch(given: Given) -> Results:
    """Values of its own for each state of a batch: the right ones in one lane, others elsewhere."""
    mechanism, values, names = with_wrong_values(given)
    outputs = [o for o in ("mass_matrix", "bias", "reactions") if o in wanted(given, mechanism)]
    model = cf.derive(mechanism, outputs, parameters=names)
    program = model.compile()
    known = {n: v for n, v in values.items() if n in program.parameters}
    count = 11
    lanes = {n: np.linspace(0.5, 1.5, count) * v for n, v in known.items()}
    middle = count // 2
    state: dict[str, Any] = {
        n: np.tile(np.array(v), (count, 1)) for n, v in state_of(given, "q", "qd", "qdd").items()
    }
    state |= state_of(given, "t", "sigma")
    found: Results = {}
    table = model.evaluate(**state, values=lanes)
    for name in outputs:
        found[name] = called(state, program, name, lanes)[middle]
        found[f"same {name} evaluated"] = (table[name][middle], found[name])
    return found
