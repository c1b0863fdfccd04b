"""Laws of mechanics that are computed anew for a model, each with its figure.

Equal means equal in fractions, at a random state whose angles have rational sines; where a function
has no rational value, in a finite field, or else in doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainform.algebra import is_same
from chainform.analysis import exact_values, rounding_at
from chainform.errors import Error, RunError
from chainform.given import counted
from chainform.graph import Graph
from chainform.mechanism import Mechanism, closed_pose
from chainform.model import Model, select_outputs
from chainform.pipeline import derive
from chainform.simulation import simulate
from chainform.verification.certificate import Check

LARGEST = 30_000
"""Variables of the largest graph that is verified."""
SPAN = 1.0
"""How long the motion is whose energy is watched, s."""
CLOSE = 1e-6
"""How much of the energy that is exchanged may be lost to the method of integration."""
ROUNDING = 1e-12
"""An eigenvalue so much smaller than the largest one is zero."""
Gap: TypeAlias = tuple[Fraction | float, float]
"""By how much something is off, and by how much rounding may take it there."""
TRIES = 20
"""How many states are tried where the outputs have no finite value."""
STRIDE = 1000
"""How far their seeds are apart, so that no state is counted twice."""
ARITHMETIC = {"fractions": "in fractions", "residues": "in a finite field", "doubles": "in doubles"}


def check_laws(model: Model, seed: int = 0, states: int = 1) -> Iterator[Check]:
    """Check the laws of mechanics for a model, at random states."""
    if len(model.graph) > LARGEST:
        figure = f"{len(model.graph)} variables, the limit is {LARGEST}"
        yield Check("any law", "nothing", figure, None, 0)
        return
    checks: list[Callable[[Model, range], Iterator[Check]]] = [_reduction]
    if model.has_bodies and model.mechanism.nv:
        checks += [_mass_matrix, _skew, _gravity, _energy]
    for check in checks:
        try:
            yield from check(model, range(seed, seed + states))
        except Error as problem:
            yield Check(LAWS[check.__name__], "nothing", problem.message, None, 0)


LAWS = {
    "_reduction": "the reduced formulas equal the derived ones",
    "_mass_matrix": "H is symmetric, without negative eigenvalues",
    "_skew": "dH/dt - 2 Cm is skew",
    "_gravity": "gravity is the gradient of the potential energy",
    "_energy": "energy changes by work and losses only",
}
"""What each check is about."""


def _method(model: Model) -> dict[str, Any]:
    return {"parameters": model.parameters, "without": model.without}


def _reduction(model: Model, seeds: range) -> Iterator[Check]:
    del seeds
    if not model.is_reduced or not model.stages:
        return
    first, last = (_outputs_alone(graph) for graph in (model.derived, model.graph))
    compared = f"all outputs, as derived and after {model.reduction}, as polynomials"
    is_equal = is_same(first, last)
    figure = f"{'equal' if is_equal else 'DIFFERENT'} in a finite field"
    yield Check(LAWS["_reduction"], compared, figure, is_equal)


def _outputs_alone(graph: Graph) -> Graph:
    return select_outputs(graph, list(graph.outputs))


def _mass_matrix(model: Model, seeds: range) -> Iterator[Check]:
    own, anew = _with(model, "mass_matrix")
    gaps, least, how = list[Gap](), list[tuple[float, float]](), ""
    for seed in seeds:
        (values,), (off,), how = _values([own], seed)
        H, moved = values["mass_matrix"], off["mass_matrix"]
        gaps.append(_excess(H - H.T, moved + moved.T))
        found = np.linalg.eigvalsh(H.astype(np.float64))
        least.append((float(found.min()), float(found.max())))
    yield _gap_check("H is symmetric", f"H{anew} and its transpose", gaps, how)
    # Zero is right where a body without inertia turns about its own mass centre.
    low, high = min(least, key=lambda pair: pair[0] / max(pair[1], 1e-300))
    figure = f"eigenvalues from {low:.3g} to {high:.3g}"
    words = f"H{anew} in doubles, {counted(len(seeds), 'state')}"
    is_positive = all(low >= -ROUNDING * high for low, high in least)
    yield Check("H has no negative eigenvalue", words, figure, is_positive, len(seeds))


def _skew(model: Model, seeds: range) -> Iterator[Check]:
    if model.mechanism.quaternions:
        reason = "joints with quaternions have no dH/dq"
        yield Check(LAWS["_skew"], "nothing", reason, None, 0)
        return
    slope, method = "metric_derivative", "lagrange"
    if model.mechanism.elements:
        slope, method = "derivative(mass_matrix,q)", "elements"
    own = derive(model.mechanism, [slope], formulation=method, **_method(model))
    own = own.with_outputs({"rate": own[slope] @ own["qd"]})
    cm, anew = _with(model, "coriolis_matrix")
    gaps, how = list[Gap](), ""
    for seed in seeds:
        (values, other), (off, also), how = _values([own, cm], seed)
        N = values["rate"] - 2 * other["coriolis_matrix"]
        moved = off["rate"] + 2 * also["coriolis_matrix"]
        gaps.append(_excess(N + N.T, moved + moved.T))
    words = f"the matrix, with Cm{anew}, and its negative transpose"
    yield _gap_check(LAWS["_skew"], words, gaps, how)


def _gravity(model: Model, seeds: range) -> Iterator[Check]:
    if model.mechanism.quaternions:
        reason = "quaternions are no plain coordinates"
        yield Check(LAWS["_gravity"], "nothing", reason, None, 0)
        return
    without = sorted({*model.without, "springs"})
    options: dict[str, Any] = {"parameters": model.parameters, "without": without}
    energy = derive(model.mechanism, ["derivative(potential_energy,q)"], **options)
    own, anew = _with(model, "gravity")
    gaps, how = list[Gap](), ""
    for seed in seeds:
        (slopes, values), (off, also), how = _values([energy, own], seed)
        (slope,), (moved,) = slopes.values(), off.values()
        gaps.append(_excess(values["gravity"] - slope, also["gravity"] + moved))
    words = f"gravity{anew} and the derivatives of the potential energy"
    yield _gap_check(LAWS["_gravity"], words, gaps, how)


def _energy(model: Model, seeds: range) -> Iterator[Check]:
    """Integrate a motion under weight alone, and follow its energy balance."""
    del seeds
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
    singular = [note for note in run.report if note.startswith("singular position")]
    if kinetic == 0 or singular:
        reason = singular[0] if singular else "the mechanism does not move by itself"
        yield Check(LAWS["_energy"], "nothing", reason, None, 0)
        return
    share = drift / max(kinetic, 1e-6)
    yield Check(LAWS["_energy"], words, figure, share <= CLOSE, len(run.t), share, CLOSE)


# --- numbers ----------------------------------------------------------------------------------


def _values(
    models: list[Model], seed: int
) -> tuple[list[dict[str, NDArray[Any]]], list[dict[str, NDArray[Any]]], str]:
    """Return the outputs of models at one random state, where all are finite, and by which way.

    Between them stands how far rounding may take them: not at all in fractions.
    """
    for other in range(seed, seed + TRIES * STRIDE, STRIDE):
        found, ways = zip(*(exact_values(model, other) for model in models), strict=True)
        arrays = [array for values in found for array in values.values()]
        if all(np.isfinite(array.astype(np.float64)).all() for array in arrays):
            if {*ways} == {"fractions"}:
                still = [{n: np.zeros(a.shape) for n, a in values.items()} for values in found]
                return list(found), still, "fractions"
            bounds = [rounding_at(model, other) for model in models]
            if all(np.isfinite(array).all() for values in bounds for array in values.values()):
                return list(found), bounds, "doubles"
    message = f"the outputs have no finite values at {TRIES} random states"
    raise RunError(message, element=models[0].mechanism.name, remedy="look at states of your own")


def _with(model: Model, output: str) -> tuple[Model, str]:
    """Return the model with an output: of its own graph where that has it, else derived anew."""
    if output in model.outputs:
        return model.with_graph(select_outputs(model.graph, [output])), ""
    return derive(
        model.mechanism, [output], **_method(model)
    ), " (derived anew, the model lacks it)"


def _excess(gaps: NDArray[Any], allowed: NDArray[Any]) -> Gap:
    """Return the entry that is farthest beyond what it may be off, or else the largest one."""
    sizes: list[Fraction | float] = [abs(gap) for gap in gaps.ravel().tolist()]
    limits: list[float] = allowed.ravel().tolist()
    pairs = list(zip(sizes, limits, strict=True))
    beyond = [pair for pair in pairs if not pair[0] <= pair[1]]
    return max(beyond or pairs, default=(Fraction(0), 0.0))


def _gap_check(law: str, compared: str, gaps: list[Gap], how: str) -> Check:
    """Return the check that something is zero at several states."""
    gap, allowed = max([pair for pair in gaps if not pair[0] <= pair[1]] or gaps)
    words = f"{compared} {ARITHMETIC[how]}, {counted(len(gaps), 'state')}"
    figure = "difference 0" if gap == 0 else f"difference {float(gap):.1e}"
    figure += f", where rounding makes {allowed:.1e}" if gap and how == "doubles" else ""
    return Check(law, words, figure, gap <= allowed, len(gaps), float(gap), allowed)
