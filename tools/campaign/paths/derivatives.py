"""Paths to derivatives, regressors, matrices of small motions and outputs of one's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import chainform as cf
from chainform import analysis
from chainform.mechanism import parametrise
from tools.campaign.paths.statics import Given, Results, mechanism_of, state_of


def all_move(given: Given) -> bool:
    """Whether no rate is so small that a law may have a jump or a corner next to it."""
    return bool(np.all(np.abs(given["qd"]) > 0.01))


def first_derivatives(given: Given) -> Results:
    """Inverse dynamics by q, qd and qdd: as outputs, and their products with vectors."""
    groups = ("q", "qd", "qdd") if all_move(given) else ("q", "qdd")
    texts = {g: f"derivative(inverse_dynamics,{g})" for g in groups}
    model = cf.derive(mechanism_of(given), list(texts.values()))
    found = model.evaluate(**state_of(given))
    results: Results = {f"inverse_dynamics by {g}": found[texts[g]] for g in groups}
    plain = cf.derive(mechanism_of(given), ["inverse_dynamics"])
    nv = len(given["qd"])
    weights, direction = np.cos(np.arange(1, nv + 1)), np.sin(np.arange(1, nv + 1))
    for group in groups:
        left, right = f"weights*d(tau)/d({group})", f"d(tau)/d({group})*direction"
        along = plain.evaluate(
            **state_of(given), weights=weights, direction=direction, outputs=[left, right]
        )
        whole = np.asarray(found[texts[group]])
        results[f"same weights by {group}"] = (along[left], weights @ whole)
        results[f"same direction by {group}"] = (along[right], whole @ direction)
    return results


def second_derivatives(given: Given) -> Results:
    """Inverse dynamics by q and qd twice, against differences of its first derivatives."""
    mechanism, h = mechanism_of(given), 1e-3
    model = cf.derive(mechanism, ["inverse_dynamics"])
    pairs = [("q", "qd"), ("qd", "qd")] if all_move(given) else []
    pairs += [("q", "q")] if mechanism.nq == mechanism.nv else []
    results: Results = {}
    for first, by in pairs:
        text, whole = f"derivative(tau,{first})", f"derivative(tau,{first},{by})"
        weighted = f"product(weights,{whole},direction)"
        weights, direction = np.cos(np.arange(mechanism.nv)), np.sin(np.arange(mechanism.nv))
        found = model.evaluate(
            **state_of(given), weights=weights, direction=direction, outputs=[whole, weighted]
        )
        # Central differences of fourth order.
        factors = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
        columns: list[Any] = []
        for k in range(mechanism.nv):
            total: Any = 0.0
            for place, factor in factors.items():
                aside = np.array(given[by], dtype=float)
                aside[k] += place * h
                state: dict[str, Any] = {**state_of(given), by: aside}
                total = total + factor * model.evaluate(**state, outputs=[text])[text] / h
            columns.append(total)
        results[f"same second derivatives by {first}, {by}"] = (
            found[whole],
            np.stack(columns, axis=-1),
        )
        results[f"same product by {first}, {by}"] = (
            found[weighted],
            np.einsum("i,ijk,k", weights, np.asarray(found[whole]), direction),
        )
    return results


def regressors(given: Given) -> Results:
    """Regressors times their parameters; those of the base suffice."""
    mechanism = parametrise(mechanism_of(given), "numeric")
    names = {entry.name for entry in cf.quantities(mechanism)}
    results: Results = {}
    for output in sorted(names & {"regressor", "base_regressor"}):
        if output == "regressor":
            values = np.array([float(each) for each in mechanism.dynamic_parameters()])
        else:
            values = np.asarray(mechanism.base_parameters().vector())
        found = cf.derive(mechanism, [output]).evaluate(**state_of(given, "q", "qd", "qdd", "t"))
        results[f"efforts by {output}"] = np.asarray(found[output]) @ values
    return results


def unit_rows(matrix: Any, columns: range) -> list[int]:
    """Return, for some columns, the first row that has 1 there and 0 elsewhere."""
    rows, units = np.asarray(matrix).tolist(), np.eye(np.shape(matrix)[1]).tolist()
    return [rows.index(units[k]) for k in columns]


def small_motions(given: Given) -> Results:
    """Matrices of small motions as formulas, against those of `linearise` in the same choice."""
    mechanism = mechanism_of(given)
    driven = {actuator.rate for actuator in mechanism.actuators}
    tau = [0.0 if k in driven else value for k, value in enumerate(given["tau"])]
    state: dict[str, Any] = {**state_of(given, "q", "qd", "x", "u", "t"), "tau": tau}
    try:
        at = analysis.linearise(mechanism, **state)
    except cf.Error:
        return {}
    basic = tuple(i for i, n in enumerate(mechanism.coordinates) if n in at.independent)
    if mechanism.loops and not basic:
        return {}
    loops = tuple(replace(loop, basic=basic) for loop in mechanism.loops)
    mechanism = replace(mechanism, loops=loops)
    outputs = ["Az", "Bz", "Cz(q)", "Cz(qd)", "Cz(T)", "Dz(qdd)"]
    A, B, moved, turned, C, D = cf.derive(mechanism, outputs).evaluate(**state).values()
    # Both must have chosen the same coordinates, whose rows of C are those of the unit matrix.
    first = len(at.independent)
    last = len(at.states) - sum(name in mechanism.states for name in at.states)
    chosen = [*unit_rows(turned, range(first, last)), *unit_rows(moved, range(first))]
    names = [mechanism.rates[k] for k in dict.fromkeys(chosen)]
    at = analysis.linearise(mechanism, outputs=["T", "qdd"], independent=names, **state)
    results: Results = {"same A": (A, at.A), "same B": (B, at.B)}
    results |= {"same C of T": (C, at.C[:1]), "same D of qdd": (D, at.D[1:])}
    if not (mechanism.loops or mechanism.constraints or mechanism.actuators):
        results["forward_dynamics by q"] = A[mechanism.nv :, : mechanism.nv]
    return results


def own_outputs(given: Given) -> Results:
    """Outputs of one's own: from expressions, and computed from quantities; reduced."""
    model = cf.derive(mechanism_of(given), ["inverse_dynamics", "T", "V"])
    power = model["inverse_dynamics"] @ model["qd"]
    text = "kinetic_energy + potential_energy"
    more = model.with_outputs({"power": power, "energy": text, "both": [power, f"2*({text})"]})
    found = more.reduce("fast").evaluate(**state_of(given))
    pair = np.array([found["power"], 2 * found["energy"]])
    return {"power": found["power"], "energy": found["energy"], "same both": (found["both"], pair)}
