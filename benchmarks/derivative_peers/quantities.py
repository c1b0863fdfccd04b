"""What is compared: derivatives of dynamics, and the values that every competitor has to return.

Values are in chainform's order, each array by rows: of tau_i by the j-th input, then by the k-th.
First derivatives are compared with those of Python's pinocchio, second ones with central
differences of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from speed_peers.cases import Array, Case, Order, States

from pinocchio_oracle import pin

PAIRS = ("q,q", "qd,qd", "q,qd", "qdd,q")
"""Second derivatives in the order of Pinocchio's tensors; all others are zero."""
STEP = 2e-3
WEIGHTS = np.array([-1, 9, -45, 45, -9, 1]) / (60 * STEP)
"""Central differences with an error of the sixth power of the step."""


@dataclass(frozen=True)
class Quantity:
    """Outputs that one function computes."""

    title: str
    outputs: tuple[str, ...]
    peer: str
    """The function of the peers that computes it, or what it is made of."""
    rank: int = 2
    """How many indices each output has."""
    tolerance: float = 1e-9

    def size(self, nv: int) -> int:
        """Return how many numbers all outputs have, zeros included."""
        return len(self.outputs) * nv**self.rank


def _second(title: str, form: str, rank: int) -> Quantity:
    outputs = tuple(form.format(f"derivative(inverse_dynamics,{pair})") for pair in PAIRS)
    return Quantity(title, outputs, "second_order", rank, tolerance=1e-7)


def _first(of: str, by: tuple[str, ...]) -> Quantity:
    return Quantity(of, tuple(f"derivative({of},{each})" for each in by), of)


QUANTITIES: Mapping[str, Quantity] = {
    "inverse_dynamics": _first("inverse_dynamics", ("q", "qd", "qdd")),
    "forward_dynamics": _first("forward_dynamics", ("q", "qd", "tau")),
    "entries": _second("entries", "nonzeros({})", 3),
    "weights": _second("weights", "product(weights,{})", 2),
    "direction": _second("direction", "product({},direction)", 2),
}


@dataclass(frozen=True)
class BlockOrder(Order):
    """Results as arrays one after the other, each index of which is one of rates."""

    places: tuple[NDArray[np.intp], ...] = ()
    """Where the entries lie in each array by rows, if zeros are left out."""

    def back(self, values: Array, quantity: str) -> Array:
        """Return results (count, size) of a competitor in our order."""
        rank, n = QUANTITIES[quantity].rank, len(self.v)
        blocks = _filled(values, self.places, n**rank) if self.places else values
        blocks = blocks.reshape(len(values), -1, *[n] * rank)
        if self.by_columns:
            blocks = blocks.transpose(0, 1, *range(rank + 1, 1, -1))
        for axis in range(rank):
            blocks = blocks.take(self.v, axis=axis + 2)
        return blocks.reshape(len(values), -1)


def _filled(values: Array, places: tuple[NDArray[np.intp], ...], size: int) -> Array:
    """Return results with the zeros that were left out."""
    result, start = np.zeros((len(values), len(places) * size)), 0
    for block, each in enumerate(places):
        result[:, block * size + each] = values[:, start : start + len(each)]
        start += len(each)
    return result


# --- what Pinocchio computes ------------------------------------------------------------------


def verify(case: Case, name: str, quantity: str, values: Array, states: States) -> None:
    """End the program if results (count, size) in our order are not what Pinocchio computes."""
    expected = np.array([_expected(case, quantity, states, i) for i in range(len(values))])
    deviation = np.abs(values - expected).max() / max(np.abs(expected).max(), 1e-3)
    if not deviation <= QUANTITIES[quantity].tolerance:
        raise SystemExit(f"{name}, {case.name}, {quantity}: deviates by {deviation:.0e}")


def _expected(case: Case, quantity: str, states: States, i: int) -> Array:
    """Return the expected result at one state."""
    oracle = case.oracle
    q, qd = oracle.q(states.q[i]), oracle.v(states.qd[i])
    if quantity == "forward_dynamics":
        tau = oracle.v(states.tau[i])
        blocks = pin.computeABADerivatives(oracle.model, oracle.data, q, qd, tau)
        return _in_our_order(case, np.array(blocks)).ravel()
    qdd = oracle.v(states.qdd[i])
    if quantity == "inverse_dynamics":
        return _in_our_order(case, first_derivatives(case, q, qd, qdd)).ravel()
    whole = _in_our_order(case, second_derivatives(case, q, qd, qdd))
    match quantity:
        case "weights":
            return np.einsum("i,bijk->bjk", states.weights[i], whole).ravel()
        case "direction":
            return np.einsum("bijk,k->bij", whole, states.direction[i]).ravel()
        case _:
            return whole.ravel()


def _in_our_order(case: Case, blocks: Array) -> Array:
    order = case.order.v
    for axis in range(1, blocks.ndim):
        blocks = blocks.take(order, axis=axis)
    return blocks


def first_derivatives(case: Case, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the derivatives of inverse dynamics by q, qd and qdd, in Pinocchio's order."""
    model, data = case.oracle.model, case.oracle.data
    by_q, by_qd, by_qdd = map(np.array, pin.computeRNEADerivatives(model, data, q, qd, qdd))
    return np.array([by_q, by_qd, np.triu(by_qdd) + np.triu(by_qdd, 1).T])


def second_derivatives(case: Case, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the derivatives of PAIRS by central differences, in Pinocchio's order."""
    model = case.oracle.model
    first = ("q", "qd", "qdd")
    moved: dict[str, Callable[[Array], tuple[Array, Array, Array]]] = {
        "q": lambda step: (np.array(pin.integrate(model, q, step)), qd, qdd),
        "qd": lambda step: (q, qd + step, qdd),
    }
    known = {by: _differences(case, change) for by, change in moved.items()}
    pairs = [pair.split(",") for pair in PAIRS]
    return np.array([known[then][first.index(by)] for by, then in pairs])


def _differences(
    case: Case, moved: Callable[[Array], tuple[Array, Array, Array]]
) -> NDArray[np.float64]:
    """Return how first derivatives change in each direction, which is the last index."""
    columns: list[Array] = []
    for direction in np.eye(case.mechanism.nv) * STEP:
        near = [first_derivatives(case, *moved(k * direction)) for k in (-3, -2, -1, 1, 2, 3)]
        columns.append(np.tensordot(WEIGHTS, np.array(near), 1))
    return np.stack(columns, axis=-1)
