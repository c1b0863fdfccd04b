"""What the reference says to small motions: by differences about states, and of motions."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainform.verification.reference.drives import inner_states
from chainform.verification.reference.dynamics import BodyState, UnsureError
from chainform.verification.reference.kinematics import BodySystem
from chainform.verification.reference.motions import Mover
from chainform.verification.reference.quantities import StateAnswer
from tools.campaign import differences
from tools.campaign.generate import Table

Results = dict[str, Any]


def matrices(given: Table, results: Results, which: int) -> Any:
    """Return A, B or the drift; what turning axes add to displacements is the product's own."""
    table = given["mechanism"]
    system = BodySystem.of(table)
    state = StateAnswer(table, given).state
    own = inner_states(system, given.get("x", ()))
    u, tau = np.array(given.get("u", ())), np.array(results["tau"])
    chosen = (results["places"], results["rates"])
    A, by_inputs, drift = differences.small_motions(state, own, u, tau, chosen)
    if system.nq != system.nv:
        first = len(chosen[0])
        A[:first] = results["A of small motions"][:first]
    return (A, by_inputs[:, len(tau) :] if len(u) else by_inputs, drift)[which]


def about_rest(given: Table, results: Results) -> tuple[Any, Any]:
    """Return A and B about an equilibrium that was found."""
    system = BodySystem.of(given["mechanism"])
    state = BodyState.of(system, results["q at rest"], np.zeros(system.nv), given["t"])
    chosen, own = (results["places"], results["rates"]), np.array(results["x at rest"])
    u, tau = np.array(given.get("u", ())), results["tau"]
    A, B, _ = differences.small_motions(state, own, u, tau, chosen)
    return A, B[:, len(tau) :] if len(u) else B


def misses_of_modes(given: Table, results: Results) -> Any:
    """Return what is left of A v = s v, against the sizes of A and v; free motions may drift."""
    A, _ = about_rest(given, results)
    poles, shapes = results["poles"], results["shapes"]
    left = np.linalg.norm(shapes @ A.T - poles[:, None] * shapes, axis=1) * (poles != 0)
    return left / (1 + np.linalg.norm(A)) / np.linalg.norm(shapes, axis=1)


def powers_of_poles(given: Table, results: Results) -> Any:
    """Return the sums of the first powers of all poles: traces of powers of A."""
    A = about_rest(given, results)[0] / results["size"]
    return np.array([np.trace(np.linalg.matrix_power(A, k)) for k in (1, 2, 3, 4)])


def response(given: Table, results: Results) -> Any:
    """Return how states and accelerations swing; unsure where small errors of A change that."""
    A, B = about_rest(given, results)
    first = len(results["places"])
    rates = [*range(first, first + len(results["rates"]))]

    def swings(A: Any, w: float) -> Any:
        z = np.linalg.solve(1j * w * np.eye(len(A)) - A, B)
        return np.concatenate([z, 1j * w * z[rates]])

    found: list[Any] = []
    error = 1 + 1e-8 * np.cos(np.arange(A.size)).reshape(A.shape)
    for w in 2 * np.pi * np.array(results["frequencies"]):
        own, other = swings(A, w), swings(A * error, w)
        if np.abs(own - other).max() > 1e-6 * (1 + np.abs(own).max()):
            raise UnsureError("a resonance is near")
        found.append(own)
    return np.array(found)


def change_of_a_motion(given: Table, results: Results) -> Any:
    """Return how a motion changes along a direction, by differences of fourth order."""
    table, motion, names = given["mechanism"], given["motion"], results["by"]
    q0, qd0 = np.array(motion["q0"]), np.array(motion["qd0"])

    def moved(s: float) -> Any:
        shift = dict(zip(names, s * results["direction"], strict=True))
        steps = list(shift.values())
        q, qd = q0 + steps[: len(q0)], qd0 + steps[len(q0) : 2 * len(q0)]
        values = {n: v + shift[n] for n, v in table.get("parameters", {}).items()}
        system = BodySystem.of({**table, "parameters": values})
        path = Mover(system, {**motion, "q0": q, "qd0": qd}).run()
        if len(path.t) < len(motion["times"]):
            raise UnsureError("the motion has a horizon")
        return np.concatenate([path.q, path.qd], axis=1)

    near, far = ((moved(h) - moved(-h)) / (2 * h) for h in (1e-3, 2e-3))
    found = (4 * near - far) / 3
    if np.abs(found - near).max() > 1e-4 * (1 + np.abs(found).max()):
        raise UnsureError("the motion bends too much for differences")
    return found
