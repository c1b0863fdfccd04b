"""The complete model against Turek's (III.4) to (III.6), in fractions: equal, no tolerance."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.formulations import COMPLETE, FORMULATIONS
from chainform.graph import EXACT, evaluate, verify
from chainform.mechanism import ZERO, Actuator
from driven import Driven, Grid, Row, driven_tree, product, solved
from zoo import exact_state

TREES = range(16)
GIVEN = [m.name for m in FORMULATIONS.values() if "complete_model" in m.outputs]


def column(values: Row) -> Grid:
    return [[value] for value in values]


def flat(grid: Grid) -> Row:
    return [entry for (entry,) in grid]


def saturated(u: Fraction, limit: Any) -> Fraction:
    """Return N(u) as (III.2) means it."""
    return u if limit is None else max(min(u, limit), -limit)


class Numbers:
    """The mechanism and its actuators in numbers: H, h, and blocks of (III.4)."""

    def __init__(self, mechanism: cf.Mechanism, state: dict[str, Any], **options: Any) -> None:
        self.mechanism, self.state = mechanism, state
        n = mechanism.nv
        still = state | {f"qdd{i + 1}": ZERO for i in range(n)}
        self.H: Grid = _values(mechanism, state, "closed_form", "mass_matrix", options).tolist()
        self.h: Row = _values(
            mechanism, still, "newton_euler", "inverse_dynamics", options
        ).tolist()
        self.N = [saturated(state[f"u{k + 1}"], a.limit) for k, a in enumerate(mechanism.actuators)]
        self.orders = [a.order for a in mechanism.actuators]
        self.places = np.cumsum([0, *self.orders]).tolist()
        self.x = [state[f"x{k + 1}"] for k in range(self.places[-1])]

    def zeros(self, rows: int, columns: int) -> Grid:
        return [[ZERO] * columns for _ in range(rows)]

    def by_paper(self) -> dict[str, Any]:
        """Return (III.4) to (III.6), for actuators that all hold the motion of their joints."""
        n, order, count = self.mechanism.nv, self.places[-1], len(self.orders)
        A, B, F = self.zeros(order, order), self.zeros(order, count), self.zeros(order, n)
        G = self.zeros(n, order)
        for k, actuator in enumerate(self.mechanism.actuators):
            first = self.places[k]
            for i in range(actuator.order):
                A[first + i][first : first + actuator.order] = list(actuator.A[i])
                B[first + i][k] = actuator.b[i]
                F[first + i][actuator.rate] = actuator.f[i]
            assert actuator.velocity is not None
            G[actuator.rate][first : first + actuator.order] = list(actuator.velocity)
        HG = product(self.H, G)
        HGF = product(HG, F)
        left = [[Fraction(int(i == j)) - HGF[i][j] for j in range(n)] for i in range(n)]
        Ax = product(A, column(self.x))
        HGAx = flat(product(HG, Ax))
        inner = solved(left, column([a + b for a, b in zip(HGAx, self.h, strict=True)]))
        of_signals = solved(left, product(HG, B))
        assert inner is not None
        assert of_signals is not None
        drift = _sum(Ax, product(F, inner))
        inputs = _sum(B, product(F, of_signals))
        xd = _sum(drift, product(inputs, column(self.N)))
        P = _sum(inner, product(of_signals, column(self.N)))
        return {
            "complete_model": flat(xd),
            "complete_drift": flat(drift),
            "complete_input": inputs,
            "drives": flat(P),
            "complete_acceleration": flat(product(G, xd)),
        }

    def by_elimination(self) -> dict[str, Any] | None:
        """Return qdd, P and x' from all equations at once; None where they have no one solution."""
        n, order = self.mechanism.nv, self.places[-1]
        size = 2 * n + order
        rows, right = self.zeros(0, 0), list[Any]()

        def equation(terms: dict[int, Any], value: Any) -> None:
            rows.append([terms.get(k, ZERO) for k in range(size)])
            right.append(value)

        driven = {a.rate: k for k, a in enumerate(self.mechanism.actuators)}
        for i in range(n):
            equation({**dict(enumerate(self.H[i])), n + i: Fraction(-1)}, -self.h[i])
            if i not in driven:
                equation({n + i: Fraction(1)}, self.state[f"tau{i + 1}"])
                continue
            self._drive(equation, i, driven[i])
        found = solved(rows, column(right))
        if found is None:
            return None
        values = flat(found)
        return {
            "complete_acceleration": values[:n],
            "drives": values[n : 2 * n],
            "complete_model": values[2 * n :],
        }

    def _drive(self, equation: Any, i: int, k: int) -> None:
        n, first = self.mechanism.nv, self.places[k]
        actuator: Any = self.mechanism.actuators[k]
        x = self.x[first : first + actuator.order]
        qd, N = self.state[f"qd{i + 1}"], self.N[k]
        for j in range(actuator.order):
            known = flat(product([list(actuator.A[j])], column(x)))[0]
            known += actuator.b[j] * N + actuator.e[j] * qd
            equation({2 * n + first + j: Fraction(1), n + i: -actuator.f[j]}, known)
        if actuator.velocity is not None:
            row = {2 * n + first + j: entry for j, entry in enumerate(actuator.velocity)}
            equation({**row, i: Fraction(-1)}, ZERO)
            return
        given = actuator.direct * N - actuator.viscous * qd
        if actuator.order:
            given += flat(product([list(actuator.effort or ())], column(x)))[0]
        equation({n + i: Fraction(1)}, given)


def _sum(a: Grid, b: Grid) -> Grid:
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def _values(
    mechanism: cf.Mechanism, state: Any, formulation: str, output: str, options: Any
) -> Any:
    model = cf.derive(mechanism, [output], formulation=formulation, **options)
    return evaluate(model.graph, state, EXACT)[output]


def complete(
    driven: Driven, state: Any, formulation: str, outputs: Any = COMPLETE, **options: Any
) -> dict[str, Any]:
    model = cf.derive(driven.mechanism, outputs, formulation=formulation, **options)
    verify(model.graph)
    return evaluate(model.graph, state, EXACT)


@pytest.mark.parametrize("seed", TREES)
def test_the_formulas_of_the_paper(seed: int) -> None:
    driven = driven_tree(seed, ("motion", "rate"))
    state = driven.state(exact_state(driven.mechanism, seed), seed)
    expected = Numbers(driven.mechanism, state).by_paper()
    # What is in x is no input any more: other values of q and qd change nothing.
    for actuator in driven.mechanism.actuators:
        state[f"qd{actuator.rate + 1}"] = Fraction(99)
        if actuator.position is not None:
            state[f"q{actuator.rate + 1}"] = Fraction(99)
    for formulation in GIVEN:
        for output, value in complete(driven, state, formulation).items():
            assert value.tolist() == expected[output], (formulation, output)


@pytest.mark.slow
def test_actuators_of_all_sorts_together() -> None:
    compared = 0
    for seed in range(100, 124):
        driven = driven_tree(seed)
        state = driven.state(exact_state(driven.mechanism, seed), seed)
        expected = Numbers(driven.mechanism, state).by_elimination()
        if expected is None or not driven.mechanism.actuators:
            continue
        for formulation in GIVEN:
            for output, value in complete(driven, state, formulation, tuple(expected)).items():
                assert value.tolist() == expected[output], (seed, formulation, output)
        compared += 1
    assert compared > 15


def test_drift_and_input_make_the_model() -> None:
    driven = next(d for d in map(driven_tree, range(200, 240)) if len(d.mechanism.actuators) > 3)
    state = driven.state(exact_state(driven.mechanism, 1), 1)
    values = complete(driven, state, "auto")
    N = [saturated(state[f"u{k + 1}"], a.limit) for k, a in enumerate(driven.mechanism.actuators)]
    made = values["complete_drift"] + values["complete_input"] @ np.array(N, dtype=object)
    assert (made == values["complete_model"]).all()


def test_orders_from_zero_to_four_occur() -> None:
    def orders(actuators: tuple[Actuator, ...]) -> set[int]:
        return {actuator.order for actuator in actuators}

    trees = [driven_tree(seed).mechanism for seed in range(100, 124)]
    assert set[int]().union(*(orders(tree.actuators) for tree in trees)) == {0, 1, 2, 3, 4}
