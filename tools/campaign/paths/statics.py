"""Paths from a mechanism and a state to numbers; each function stands in scripts as it is here.

A path takes the plain data of a case and returns arrays by the names of the reference. The value
of a name that begins with `same` is a pair, both the product's own.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import chainform as cf
from chainform.pipeline import available_outputs
from chainform.readers import native_text, read_text, write_urdf

Given = dict[str, Any]
Results = dict[str, Any]


def mechanism_of(given: Given) -> Any:
    """Read the mechanism of a case."""
    return read_text(json.dumps(given["mechanism"]), "json")


def wanted(given: Given, mechanism: Any, formulation: str = "auto") -> list[str]:
    """Name what a formulation gives and the reference knows."""
    dropped: list[str] = []
    if given.get("singular"):
        dropped += [
            "forward_dynamics",
            "constrained_dynamics",
            "multipliers",
            "complete_model",
            "drives",
        ]
    if given.get("massless"):
        dropped += ["com", "centroidal_momentum"]
    known = "mass_matrix gravity bias passive inverse_dynamics forward_dynamics coriolis "
    known += "coriolis_matrix "
    known += "kinetic_energy potential_energy momentum centroidal_momentum com reactions "
    known += "closure_jacobian constraint constraint_rate constraint_jacobian constraint_right "
    known += "constrained_dynamics multipliers complete_model drives"
    named = set(known.split()).difference(dropped)
    return [o for o in available_outputs(mechanism, formulation) if o in named]


def of_frames(given: Given) -> list[str]:
    """Name quantities of a frame and of the last segment."""
    names = [frame["name"] for frame in given["mechanism"].get("frames", ())]
    names.append(given["mechanism"]["segments"][-1]["name"])
    return [
        f"{kind}({name}{axes})"
        for name in names
        for kind, axes in (
            ("pose", ""),
            ("velocity", ""),
            ("velocity", ",local"),
            ("acceleration", ""),
            ("acceleration", ",mixed"),
            ("jacobian", ""),
            ("jacobian", ",local"),
        )
    ]


def state_of(given: Given, *groups: str) -> dict[str, Any]:
    """Return the inputs of a case that are given."""
    names = groups or ("q", "qd", "qdd", "tau", "sigma", "x", "u", "t")
    return {name: given[name] for name in names if np.size(given.get(name, []))}


def by_laws(given: Given, found: Results) -> Results:
    """Return what Cm must satisfy in place of it: Cm qd = c and Cm + Cm^T = dH/dt."""
    if "coriolis_matrix" not in found:
        return found
    Cm = np.asarray(found["coriolis_matrix"])
    rest = {name: value for name, value in found.items() if name != "coriolis_matrix"}
    return {**rest, "Cm qd": Cm @ np.array(given["qd"]), "Cm + Cm^T": Cm + Cm.T}


def evaluated(given: Given, model: Any, values: Any = None) -> Results:
    """Evaluate a model at the state of a case."""
    return by_laws(given, dict(model.evaluate(**state_of(given), values=values)))


def by_formulation(given: Given, formulation: str) -> Results:
    """Derive every output by one formulation by itself and evaluate it; refusals are noted."""
    mechanism = mechanism_of(given)
    results: Results = {}
    for output in wanted({}, mechanism, formulation):
        try:
            model = cf.derive(mechanism, [output], formulation=formulation)
        except cf.Error as error:
            results[f"refusal of {output}"] = error
            continue
        results |= evaluated(given, model)
    return results


def auto(given: Given) -> Results:
    """All outputs in one model."""
    mechanism = mechanism_of(given)
    model = cf.derive(mechanism, wanted(given, mechanism))
    return evaluated(given, model)


def newton_euler(given: Given) -> Results:
    """One formulation."""
    return by_formulation(given, "newton_euler")


def composite_body(given: Given) -> Results:
    """One formulation."""
    return by_formulation(given, "composite_body")


def articulated_body(given: Given) -> Results:
    """One formulation."""
    return by_formulation(given, "articulated_body")


def kinetostatic(given: Given) -> Results:
    """One formulation."""
    return by_formulation(given, "kinetostatic")


def closed_form(given: Given) -> Results:
    """One formulation."""
    return by_formulation(given, "closed_form")


def gibbs_appell(given: Given) -> Results:
    """One formulation."""
    return by_formulation(given, "gibbs_appell")


def lagrange(given: Given) -> Results:
    """One formulation."""
    return by_formulation(given, "lagrange")


def elements(given: Given) -> Results:
    """One formulation."""
    return by_formulation(given, "elements")


def frames(given: Given) -> Results:
    """Quantities of frames in all axes."""
    model = cf.derive(mechanism_of(given), of_frames(given))
    return evaluated(given, model)


def wrenches(given: Given) -> Results:
    """A force and a moment from outside on the last segment."""
    name = given["mechanism"]["segments"][-1]["name"]
    outputs = ["inverse_dynamics", "forward_dynamics"][: 1 if given["singular"] else 2]
    model = cf.derive(mechanism_of(given), outputs, wrenches=[name])
    wrench = [1.0, -2.0, 3.0, 0.5, -0.4, 0.3]
    found = model.evaluate(**state_of(given), wrench=wrench)
    return {f"{output} under a wrench": found[output] for output in outputs}


def reduced_fast(given: Given) -> Results:
    """The graph after the fast reduction."""
    mechanism = mechanism_of(given)
    outputs = [o for o in wanted(given, mechanism) if o != "coriolis"]
    return evaluated(given, cf.derive(mechanism, outputs, reduce="fast"))


def reduced_thesis(given: Given) -> Results:
    """The graph after the reduction of the thesis."""
    mechanism = mechanism_of(given)
    outputs = [o for o in ("gravity", "inverse_dynamics") if o in wanted(given, mechanism)]
    return evaluated(given, cf.derive(mechanism, outputs, reduce="thesis"))


def called(given: Given, program: Any, name: str, values: Any = None) -> Any:
    """Call one function of a program with the inputs that it takes."""
    groups = re.findall(r"const (?:double|float) \*(\w+)", program.prototype(name))
    state = {group: given.get(group, []) for group in groups if group != "parameter"}
    return program[name](**state, values=values) if values else program[name](**state)


def compiled(given: Given) -> Results:
    """Machine code, one state at a time."""
    mechanism = mechanism_of(given)
    program = cf.derive(mechanism, wanted(given, mechanism)).compile()
    return by_laws(given, {name: called(given, program, name) for name in program.outputs})


def single_precision(given: Given) -> Results:
    """Machine code in float32, one state and many."""
    mechanism = mechanism_of(given)
    names = ("mass_matrix", "bias", "inverse_dynamics", "coriolis_matrix", "potential_energy")
    outputs = [o for o in wanted(given, mechanism) if o in names]
    program = cf.derive(mechanism, outputs).compile(precision="float32")
    batch = given["batch"]
    state = {name: np.array([each[name] for each in batch]) for name in batch[0]}
    state |= {name: np.array(given[name]) for name in ("sigma", "t") if given.get(name) != []}
    found = {f"{n} of a batch": called(state, program, n) for n in outputs if n in names[:3]}
    return {**found, **by_laws(given, {name: called(given, program, name) for name in outputs})}


def compiled_batch(given: Given) -> Results:
    """Machine code, many states side by side."""
    mechanism = mechanism_of(given)
    outputs = [
        o for o in wanted(given, mechanism) if o in ("mass_matrix", "bias", "inverse_dynamics")
    ]
    program = cf.derive(mechanism, outputs).compile()
    batch = given["batch"]
    state = {name: np.array([each[name] for each in batch]) for name in batch[0]}
    state |= {name: np.array(given[name]) for name in ("sigma", "t") if given.get(name) != []}
    return {f"{name} of a batch": called(state, program, name) for name in program.outputs}


def program_bytes(given: Given) -> Results:
    """A program that travelled as bytes."""
    mechanism = mechanism_of(given)
    outputs = [o for o in ("bias", "mass_matrix", "reactions") if o in wanted(given, mechanism)]
    program = cf.derive(mechanism, outputs).compile()
    again = cf.Program.from_bytes(program.to_bytes())
    return {name: called(given, again, name) for name in outputs}


def emitted_python(given: Given) -> Results:
    """Program text in Python, run as it is."""
    mechanism = mechanism_of(given)
    model = cf.derive(mechanism, [o for o in wanted(given, mechanism) if o != "coriolis"])
    text = model.emit("python")
    space: dict[str, Any] = {}
    exec(text, space)  # noqa: S102
    head = text.partition("def model(")[2].partition("):")[0]
    groups = [name for name in head.split(", ") if "=" not in name and name]
    state = {**state_of(given), "t": [given["t"]]}
    found = space["model"](**{name: state[name] for name in groups})
    return by_laws(given, {name: np.array(value) for name, value in found.items()})


def through(store: Any, given: Given) -> Results:
    """Return what a model gives that was saved and loaded, and the same computed in SQL."""
    mechanism = mechanism_of(given)
    name = f"case {given.get('seed')}-{given.get('case')}"
    outputs = [o for o in ("mass_matrix", "inverse_dynamics") if o in wanted(given, mechanism)]
    store.save(cf.derive(mechanism, outputs), name)
    found = evaluated(given, store.load(name))
    rows = store.evaluate(name, **state_of(given))
    program = store.load(name).compile()
    machine = {name: called(given, program, name) for name in outputs}
    same = {f"same {name} in SQL": (rows[name], found[name]) for name in outputs}
    same |= {f"same {name} compiled": (machine[name], found[name]) for name in outputs}
    return {**found, **same}


def stored(given: Given) -> Results:
    """A model in a store of its own."""
    with TemporaryDirectory() as folder, cf.open_store(f"{folder}/models.db") as store:
        return through(store, given)


def stored_in_postgres(given: Given) -> Results:
    """A model in a database on a server, which all cases share."""
    with cf.open_store(os.environ["CAMPAIGN_POSTGRES"]) as store:
        return through(store, given)


def native_round_trip(given: Given) -> Results:
    """A mechanism that was written in the native form and read again."""
    again = read_text(native_text(mechanism_of(given)), "json")
    return evaluated(given, cf.derive(again, wanted(given, again)))


def of_urdf(given: Given, again: Any) -> Results:
    """Return what a mechanism gives that is written as URDF, which has no bodies of the ground."""
    outputs = [o for o in wanted(given, again) if o not in ("reactions", "com")]
    if any(s["joint"]["type"] == "fixed" for s in given["mechanism"]["segments"]):
        outputs = [o for o in outputs if o not in ("kinetic_energy", "potential_energy")]
    return evaluated(given, cf.derive(again, outputs))


def urdf_round_trip(given: Given) -> Results:
    """A mechanism that was written as URDF with its side file and read again."""
    mechanism = mechanism_of(given)
    with TemporaryDirectory() as folder:
        write_urdf(mechanism, Path(folder) / "case.urdf")
        return of_urdf(given, cf.read(Path(folder) / "case.urdf", snap=0))


def as_elements(given: Given) -> Results:
    """The mechanism written as elements."""
    mechanism = mechanism_of(given).as_elements()
    outputs = [o for o in wanted(given, mechanism) if o != "coriolis"]
    try:
        return evaluated(given, cf.derive(mechanism, outputs))
    except cf.Error as error:
        if "reaction" not in str(error):
            raise
        rest = [o for o in outputs if o != "reactions"]
        refusal: Results = {"refusal of reactions": error}
        return {**refusal, **evaluated(given, cf.derive(mechanism, rest))}


def builder(given: Given) -> Results:
    """The mechanism built in a program."""
    table = given["mechanism"]
    made = cf.Mechanism.builder(table["name"], gravity=table["gravity"])
    for name, value in table.get("parameters", {}).items():
        made.parameter(name, value)
    for segment in table["segments"]:
        made.segment(**segment)
    for frame in table.get("frames", ()):
        made.frame(**frame)
    for loop in table.get("loops", ()):
        made.loop(**loop)
    for spring in table.get("springs", ()):
        made.spring(**spring)
    for force in table.get("forces", ()):
        made.force(**force)
    for constraint in table.get("constraints", ()):
        made.constraint(constraint["kind"], constraint["law"], name=constraint["name"])
    for actuator in table.get("actuators", ()):
        made.actuator(**actuator)
    if "base" in table:
        made.base(table["base"])
    mechanism = made.build()
    outputs = [o for o in ("mass_matrix", "bias", "passive") if o in wanted(given, mechanism)]
    return evaluated(given, cf.derive(mechanism, outputs))
