"""What a report verifies: laws that are computed anew for the model, each with its figure.

Equal means equal in fractions, at a random state whose angles have rational sines; where a function
has no rational value, in a finite field, or else in doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.algebra import is_same
from chainform.analysis import agreement, exact_values
from chainform.display import Displayed
from chainform.errors import Error
from chainform.formulations import FORMULATIONS
from chainform.graph import Graph
from chainform.mechanism import Mechanism, closed_pose
from chainform.model import CATALOGUE, Model, select_outputs
from chainform.pipeline import available_outputs, derive
from chainform.simulation import simulate

LARGEST = 30_000
"""Variables of the largest graph that is verified."""
SECONDS = 60.0
"""After this time no further formulation is derived for comparison."""
SPAN = 1.0
"""How long the motion is whose energy is watched, s."""
CLOSE = 1e-6
"""How much of the energy that is exchanged may be lost to the method of integration."""
ROUNDING = 1e-12
"""An eigenvalue so much smaller than the largest one is zero."""
ARITHMETIC = {"fractions": "in fractions", "residues": "in a finite field", "doubles": "in doubles"}


@dataclass(frozen=True, slots=True, repr=False)
class Check(Displayed):
    """A law, what was compared, the figure, and whether it holds; None if it was not checked."""

    law: str
    compared: str
    figure: str
    holds: bool | None

    @property
    def verdict(self) -> str:
        """The result in a word."""
        return {True: "holds", False: "FAILS", None: "not checked"}[self.holds]


def verify(model: Model) -> tuple[Check, ...]:
    """Return the laws that were checked for a model."""
    if len(model.graph) > LARGEST:
        figure = f"{len(model.graph)} variables, the limit is {LARGEST}"
        return (Check("any law", "nothing", figure, None),)
    checks: list[Callable[[Model], Iterator[Check]]] = [_reduction]
    if model.has_bodies:
        checks += [_formulations, _mass_matrix, _skew, _gravity, _energy]
    found: list[Check] = []
    for check in checks:
        try:
            found += check(model)
        except Error as problem:
            found.append(Check(LAWS[check.__name__], "nothing", problem.message, None))
    return tuple(found)


LAWS = {
    "_reduction": "the reduced formulas equal the derived ones",
    "_formulations": "other formulations give the same",
    "_mass_matrix": "H is symmetric, without negative eigenvalues",
    "_skew": "dH/dt - 2 Cm is skew",
    "_gravity": "gravity is the gradient of the potential energy",
    "_energy": "energy changes by work and losses only",
}
"""What each check is about."""


def _method(model: Model) -> dict[str, Any]:
    return {"parameters": model.parameters, "without": model.without}


def _reduction(model: Model) -> Iterator[Check]:
    if not model.is_reduced or not model.stages:
        return
    first, last = (_outputs_alone(graph) for graph in (model.derived, model.graph))
    compared = f"all outputs, as derived and after {model.reduction}, as polynomials"
    is_equal = is_same(first, last)
    yield Check(LAWS["_reduction"], compared, "equal in a finite field", is_equal)


def _outputs_alone(graph: Graph) -> Graph:
    return select_outputs(graph, list(graph.outputs))


def _formulations(model: Model) -> Iterator[Check]:
    """Yield, for each output, with which other formulations it was compared."""
    mechanism, began = model.mechanism, perf_counter()
    known = {m: available_outputs(mechanism, m) for m in FORMULATIONS if m != "auto"}
    options: dict[str, Any] = {**_method(model), "closure": model.closure}
    options["wrenches"] = model.wrenches
    for output in model.outputs:
        if output in model.defined or output not in CATALOGUE:
            continue
        own = model.with_graph(select_outputs(model.graph, [output]))
        able = [m for m, outputs in known.items() if output in outputs and m != model.formulation]
        equal: dict[str, list[str]] = {}
        differs: list[str] = []
        late: list[str] = []
        for name in able:
            if perf_counter() - began > SECONDS:
                late.append(name)
                continue
            try:
                other = derive(mechanism, [output], formulation=name, **options)
            except Error:
                continue
            agrees, how = agreement(own, other)
            if agrees:
                equal.setdefault(how, []).append(name)
            else:
                differs.append(name)
        yield _agreement(output, equal, differs, late)


def _agreement(
    output: str, equal: dict[str, list[str]], differs: list[str], late: list[str]
) -> Check:
    law = f"other formulations give the same {output}"
    words = [f"equal {ARITHMETIC[how]}: {', '.join(names)}" for how, names in equal.items()]
    words += [f"DIFFERENT: {', '.join(differs)}"] if differs else []
    words += [f"left out after {SECONDS:g} s: {', '.join(late)}"] if late else []
    if not equal and not differs:
        return Check(law, "nothing", "; ".join([*words, "no other gives it"][:1]), None)
    return Check(law, "all entries at a random state", "; ".join(words), not differs)


def _mass_matrix(model: Model) -> Iterator[Check]:
    own = _with(model, ["mass_matrix"])
    values, how = exact_values(own)
    H = values["mass_matrix"]
    gap = _largest(H - H.T)
    yield Check("H is symmetric", f"H and its transpose {ARITHMETIC[how]}", _figure(gap), gap == 0)
    found = np.linalg.eigvalsh(H.astype(np.float64))
    least, most = float(found.min()), float(found.max())
    # Zero is right where a body without inertia turns about its own mass centre.
    figure = f"eigenvalues from {least:.3g} to {most:.3g}"
    law = "H has no negative eigenvalue"
    yield Check(law, "H at a random state, in doubles", figure, least >= -ROUNDING * most)


def _skew(model: Model) -> Iterator[Check]:
    if model.mechanism.quaternions:
        yield Check(LAWS["_skew"], "nothing", "joints with quaternions have no dH/dq", None)
        return
    outputs = ["coriolis_matrix", "metric_derivative"]
    own = derive(model.mechanism, outputs, formulation="lagrange", **_method(model))
    own = own.with_outputs({"rate": own["metric_derivative"] @ own["qd"]})
    cm = _with(model, ["coriolis_matrix"])
    values, how = exact_values(own)
    other, _ = exact_values(cm)
    N = values["rate"] - 2 * other["coriolis_matrix"]
    gap = _largest(N + N.T)
    words = f"the matrix and its negative transpose {ARITHMETIC[how]}"
    yield Check(LAWS["_skew"], words, _figure(gap), _is_small(gap, how))


def _gravity(model: Model) -> Iterator[Check]:
    without = sorted({*model.without, "springs"})
    options: dict[str, Any] = {"parameters": model.parameters, "without": without}
    energy = derive(model.mechanism, ["derivative(potential_energy,q)"], **options)
    own = derive(model.mechanism, ["gravity"], **options)
    if model.mechanism.quaternions:
        yield Check(LAWS["_gravity"], "nothing", "quaternions are no plain coordinates", None)
        return
    (slope,), how = (list(exact_values(energy)[0].values()), exact_values(own)[1])
    gap = _largest(exact_values(own)[0]["gravity"] - slope)
    words = f"gravity and the derivatives of the potential energy {ARITHMETIC[how]}"
    yield Check(LAWS["_gravity"], words, _figure(gap), _is_small(gap, how))


def _energy(model: Model) -> Iterator[Check]:
    """Integrate a motion under weight alone, and follow its energy balance."""
    mechanism: Mechanism = model.mechanism
    q0 = closed_pose(mechanism) if mechanism.loops else mechanism.neutral()
    start = mechanism.neutral() if q0 is None else q0
    if not mechanism.loops and not mechanism.quaternions:
        start = start + 0.3
    run = simulate(mechanism, q0=start, t=SPAN, rtol=1e-10, atol=1e-10, energy_balance=True)
    drift = float(np.max(np.abs(run.balance - run.balance[0])))
    kinetic = float(np.max(run.kinetic_energy))
    figure = f"drift {drift:.1e} J, kinetic energy up to {kinetic:.3g} J"
    words = f"a motion of {SPAN:g} s under weight alone, {run.method}, tolerance 1e-10"
    if kinetic == 0:
        yield Check(LAWS["_energy"], words, "the mechanism does not move by itself", None)
        return
    yield Check(LAWS["_energy"], words, figure, drift <= CLOSE * max(kinetic, 1e-6))


# --- numbers ----------------------------------------------------------------------------------


def _with(model: Model, outputs: list[str]) -> Model:
    """Return the model with outputs: its own graph where that has them, else derived anew."""
    if all(name in model.outputs for name in outputs):
        return model.with_graph(select_outputs(model.graph, outputs))
    return derive(model.mechanism, outputs, **_method(model))


def _largest(gaps: NDArray[Any]) -> Fraction | float:
    return max((abs(gap) for gap in gaps.ravel().tolist()), default=Fraction(0))


def _is_small(gap: Fraction | float, how: str) -> bool:
    return gap == 0 if how == "fractions" else float(gap) < 1e-9


def _figure(gap: Fraction | float) -> str:
    return "difference 0" if gap == 0 else f"difference {float(gap):.1e}"
