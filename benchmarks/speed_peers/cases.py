"""Robots, states and the values that every competitor has to return.

States and values are in chainform's order: of coordinates as in the file, of matrices by rows.
Peers see the same numbers as chainform: the mechanism after its reader, joints branch by branch.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1] / "tests"), str(HERE.parent)]

from counting.robot_files import QUANTITIES, ROBOTS, Robot, find, read  # noqa: E402
from counting.verification import expected_value  # noqa: E402

import chainform as cf  # noqa: E402
from pinocchio_oracle import Oracle  # noqa: E402

NAMES = {"UR5": "ur5", "Panda": "panda", "ANYmal": "anymal", "Talos": "talos", "G1": "g1"}
MATRICES = ("mass_matrix", "coriolis_matrix")
LARGEST_DEVIATION = 1e-9

Array = NDArray[np.float64]

__all__ = ["MATRICES", "NAMES", "QUANTITIES", "Array", "Case", "Order", "States", "case_of"]


@dataclass(frozen=True)
class Order:
    """How a competitor arranges coordinates, rates and the entries of a matrix."""

    q: NDArray[np.intp]
    """Place of each of our coordinates in the competitor's q."""
    v: NDArray[np.intp]
    by_columns: bool = False

    def back(self, values: Array, quantity: str) -> Array:
        """Return results (count, size) of a competitor in our order."""
        n = len(self.v)
        if quantity not in MATRICES:
            return values[:, self.v]
        matrices = values.reshape(-1, n, n)
        matrices = matrices.swapaxes(1, 2) if self.by_columns else matrices
        return matrices[:, self.v[:, None], self.v].reshape(len(values), n * n)


@dataclass(frozen=True)
class States:
    """States one after the other: q is (count, nq), the others are (count, nv)."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    weights: Array
    """Factors of results, for products with derivatives."""
    direction: Array
    """Factors of rates, for products with derivatives."""

    def __len__(self) -> int:
        return len(self.q)

    def third(self, quantity: str) -> Array:
        """Return what a function takes after q and qd."""
        return self.tau if quantity == "forward_dynamics" else self.qdd

    def part(self, chosen: slice) -> States:
        """Return some of the states."""
        return States(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def arranged(self, order: Order) -> States:
        """Return the states in a competitor's order."""
        q, v = np.argsort(order.q), np.argsort(order.v)
        places = {field.name: q if field.name == "q" else v for field in fields(self)}
        given = (getattr(self, name)[:, place] for name, place in places.items())
        return States(*map(np.ascontiguousarray, given))


@dataclass(frozen=True, eq=False)
class Case:
    """One robot: its file, its mechanism and Pinocchio's model of the same numbers."""

    name: str
    robot: Robot
    path: Path
    mechanism: cf.Mechanism
    oracle: Oracle

    @property
    def model(self) -> Any:
        """Return Pinocchio's model."""
        return self.oracle.model

    @property
    def own_order(self) -> Order:
        """Return chainform's order."""
        return Order(np.arange(self.mechanism.nq), np.arange(self.mechanism.nv))

    @property
    def order(self) -> Order:
        """Return the order of Pinocchio's model, matrices by rows."""
        return Order(self.oracle.q_order.astype(np.intp), self.oracle.v_order.astype(np.intp))

    def size(self, quantity: str) -> int:
        """Return how many numbers a result has."""
        nv = self.mechanism.nv
        return nv * nv if quantity in MATRICES else nv

    def states(self, count: int, seed: int = 0) -> States:
        """Return random states, angles between -3 and 3, quaternions of unit length."""
        rng = np.random.default_rng(seed)
        q = rng.uniform(-3, 3, (count, self.mechanism.nq))
        if self.robot.base == "floating":
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        return States(q, *rng.uniform(-1, 1, (5, count, self.mechanism.nv)))

    @cached_property
    def few(self) -> States:
        """Return the states at which competitors are checked."""
        return self.states(16, seed=1)

    def verify(self, name: str, quantity: str, values: Array, states: States | None = None) -> None:
        """End the program if results (count, size) in our order are not what Pinocchio computes."""
        states = states or self.few
        expected = np.array([self._expected(quantity, states, i) for i in range(len(values))])
        deviation = np.abs(values - expected).max() / max(np.abs(expected).max(), 1e-3)
        if not deviation <= LARGEST_DEVIATION:
            raise SystemExit(f"{name}, {self.name}, {quantity}: deviates by {deviation:.0e}")

    def _expected(self, quantity: str, states: States, i: int) -> Array:
        given = (states.q[i], states.qd[i], states.qdd[i], states.tau[i])
        return np.ravel(expected_value(self.oracle, quantity, *given))


def case_of(name: str) -> Case:
    """Read a robot."""
    robot = ROBOTS[NAMES[name]]
    path = find(robot)
    if path is None:
        raise SystemExit(f"{name} needs the package {robot.package}")
    mechanism = read(robot, path)
    return Case(name, robot, path, mechanism, Oracle(mechanism))
