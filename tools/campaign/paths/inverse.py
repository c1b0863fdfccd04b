"""Paths from a motion to the forces that it needs, and back."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import chainform as cf
from chainform import analysis
from chainform.readers import read_text
from tools.campaign.paths.motions import arguments_of, states
from tools.campaign.paths.statics import Given, Results, mechanism_of, state_of


def drives(given: Given) -> Results:
    """The drives of a motion that fits all rows: of all joints, of some; then the motion again."""
    mechanism = mechanism_of(given)
    q, qd, qdd, t = (given[name] for name in ("q", "qd", "fitting", "t"))
    some = analysis.drives(mechanism, q, qd, qdd, mechanism.rates[::2], t=t)
    found: Results = {"tau by some drives": some.tau}
    found["multipliers by some drives"] = some.multipliers
    every = analysis.drives(mechanism, q, qd, qdd, mechanism.rates, t=t)
    found |= {"tau by all drives": every.tau, "multipliers by all drives": every.multipliers}
    if given["singular"]:
        return found
    output = "constrained_dynamics" if mechanism.constraints else "forward_dynamics"
    loops: Any = {"sigma": every.sigma} if mechanism.loops else {}
    model = cf.derive(mechanism, [output])
    again = model.evaluate(q=q, qd=qd, tau=every.tau, t=t, **loops)[output]
    return {**found, "same qdd by the drives": (again, qdd)}


def with_unknowns(given: Given) -> Any:
    """Read the mechanism with three unknown forces at the origin of its last segment."""
    table, names = deepcopy(given["mechanism"]), ["F1", "F2", "F3"]
    table["unknowns"] = names
    table["elements"] = [{"kind": "force", "force": names, "at": table["segments"][-1]["name"]}]
    return read_text(json.dumps(table), "json")


def unknown_forces(given: Given) -> Results:
    """The unknown forces of a motion that fits all rows, and drives beside such forces."""
    mechanism = with_unknowns(given)
    q, qd, qdd, t = (given[name] for name in ("q", "qd", "fitting", "t"))
    forces = analysis.unknown_forces(mechanism, t, q, qd, qdd)
    found: Results = {"unknown forces": forces.values}
    found["multipliers by unknown forces"] = forces.multipliers
    model = cf.derive(mechanism, ["inverse_dynamics"])
    beside = model.evaluate(**state_of(given), force=[1.0, -2.0, 3.0])["inverse_dynamics"]
    return {**found, "inverse_dynamics with forces": beside}


def moved_by_unknowns(given: Given) -> Results:
    """The motion under such forces, which are given by laws."""
    laws = dict(zip(("F1", "F2", "F3"), given["motion"]["pushes"], strict=True))
    run = cf.simulate(with_unknowns(given), **arguments_of(given, unknowns=laws))
    return {f"{name} under pushes": value for name, value in states(run).items() if name != "t"}
