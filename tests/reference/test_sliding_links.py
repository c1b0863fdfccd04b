"""Korayem and Shafei: three rods that turn and slide, by its own recursions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from zoo import reference, reference_data

CASE = "sliding_links_3"
LINKS = 3
Array = NDArray[np.float64]


def model_of(*outputs: str) -> cf.Model:
    return cf.derive(reference(CASE), outputs, formulation="gibbs_appell")


def test_evaluations() -> None:
    model = model_of("mass_matrix", "gravity", "bias", "inverse_dynamics")
    for state in reference_data(CASE)["evaluations"]:
        got = model.evaluate(q=state["q"], qd=state["qd"], qdd=state["qdd"])
        expected = {
            "mass_matrix": state["H"],
            "gravity": state["hG"],
            "bias": np.add(state["c"], state["hG"]),
            "inverse_dynamics": state["tau"],
        }
        for name, value in expected.items():
            np.testing.assert_allclose(got[name], value, rtol=1e-9, atol=1e-11, err_msg=name)


def test_initial_accelerations() -> None:
    model = model_of("forward_dynamics")
    for motion in reference_data(CASE)["trajectories"]:
        start = motion["initial"]
        got = model.evaluate(q=start["q"], qd=start["qd"], tau=motion["applied"])
        np.testing.assert_allclose(
            got["forward_dynamics"], motion["initial_accelerations"], rtol=1e-9, atol=1e-9
        )


def test_accelerations_along_the_trajectories() -> None:
    """The accelerations lead from each given state to the next one, to the given tolerance."""
    model = model_of("forward_dynamics")
    motions = reference_data(CASE)["trajectories"]
    starts = [np.array([*zip(m["q"], m["qd"], strict=True)][:-1]) for m in motions]
    ends = np.concatenate([np.array([*zip(m["q"], m["qd"], strict=True)][1:]) for m in motions])
    steps = np.concatenate([np.diff(m["t"]) for m in motions])
    tau = np.concatenate([np.tile(m["applied"], (len(m["t"]) - 1, 1)) for m in motions])
    assert len(steps) == 52

    def rate(state: Array) -> Array:
        q, qd = state[:, 0], state[:, 1]
        return np.stack([qd, model.evaluate(q=q, qd=qd, tau=tau)["forward_dynamics"]], axis=1)

    state, parts = np.concatenate(starts), 40
    h = (steps / parts)[:, None, None]
    for _ in range(parts):
        first = rate(state)
        second = rate(state + h / 2 * first)
        third = rate(state + h / 2 * second)
        fourth = rate(state + h * third)
        state = state + h / 6 * (first + 2 * second + 2 * third + fourth)
    np.testing.assert_allclose(state, ends, rtol=1e-8, atol=1e-8)


# --- the paper's sums, written out ----------------------------------------------------------


def skew(v: Array) -> Array:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


class Printed:
    """(38) to (43) for every pair of links, with the corrections, in numbers."""

    def __init__(self, q: list[float]) -> None:
        angles, self.l = np.cumsum(q[:LINKS]), np.array(q[LINKS:])
        self.R = [
            np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
            for a in angles
        ]
        tips = np.cumsum([self.R[i][:, 0] * self.l[i] for i in range(LINKS)], axis=0)
        self.O = [np.zeros(3), *tips]
        mu, length, rotary = 2.0, 1.0, 0.0008
        x = np.array([1.0, 0, 0])
        lower = self.l - length
        self.B0 = mu * length
        self.B3 = [mu * (b**2 - a**2) / 2 * skew(x) for a, b in zip(lower, self.l, strict=True)]
        self.B78 = [
            mu * (b**3 - a**3) / 3 * skew(x) @ skew(x).T + rotary * length * np.eye(3)
            for a, b in zip(lower, self.l, strict=True)
        ]

    def turn(self, j: int, i: int) -> Array:
        return self.R[j].T @ self.R[i]

    def way(self, i: int, j: int) -> Array:
        """From O_j to O_i, in the axes of j, as a matrix."""
        return skew(self.R[j].T @ (self.O[i] - self.O[j]))

    def sigma(self, j: int, k: int) -> Array:
        links = range(max(k, j), LINKS)
        return self.total(self.turn(j, i) @ self.B78[i] @ self.turn(i, k) for i in links)

    def psi(self, j: int, k: int) -> Array:
        links = range(max(k, j + 1), LINKS)
        return self.total(
            self.way(i, j) @ self.turn(j, i) @ self.B3[i] @ self.turn(i, k) for i in links
        )

    def gamma(self, j: int, k: int) -> Array:
        links = range(max(k + 1, j + 1), LINKS)
        return self.total(
            self.way(i, j) @ self.turn(j, i) * self.B0 @ self.turn(i, k) for i in links
        )

    def xi(self, j: int, k: int, *, after: bool) -> Array:
        links = range(max(k + after, j), LINKS)
        return self.total(self.turn(j, i) @ self.B3[i] @ self.turn(i, k) for i in links)

    def U(self, j: int, k: int) -> Array:
        return self.total(
            (self.gamma(j, t) + self.xi(j, t, after=True)) @ self.way(t + 1, t) @ self.turn(t, k)
            for t in range(k, LINKS - 1)
        )

    def lambda_(self, j: int, k: int) -> Array:
        return self.total(self.B0 * self.turn(j, k) for _ in range(max(k + 1, j + 1), LINKS))

    @staticmethod
    def total(parts: Any) -> Array:
        return sum(parts, np.zeros((3, 3)))

    def mass_matrix(self) -> Array:
        """Fill the inertia matrix from the expressions (I) and (II)."""
        h, n = np.zeros((2 * LINKS, 2 * LINKS)), LINKS
        for j in range(n):
            for k in range(j, n):
                turns = self.sigma(j, k) - self.psi(j, k) - self.U(j, k)
                h[j, k] = h[k, j] = turns[2, 2]
                slides = self.lambda_(j, k) + self.turn(j, k) * self.B0
                h[n + j, n + k] = h[n + k, n + j] = slides[0, 0]
            for k in range(n):
                mixed = self.xi(j, k, after=True) + self.gamma(j, k)
                if k > j:
                    mixed = mixed + self.way(k, j) @ self.turn(j, k) * self.B0
                h[j, n + k] = h[n + k, j] = mixed[2, 0]
        return h


@pytest.mark.parametrize("number", range(4))
def test_the_corrected_sums_of_the_paper(number: int) -> None:
    state = reference_data(CASE)["evaluations"][number]
    printed = Printed(state["q"])
    np.testing.assert_allclose(printed.mass_matrix(), state["H"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("number", range(4))
def test_the_recursions_give_the_sums(number: int) -> None:
    """Each sum of a link with itself is a quantity of the model, by the number of its segment."""
    state = reference_data(CASE)["evaluations"][number]
    printed, model = Printed(state["q"]), model_of("mass_matrix")
    links = [s for s, segment in enumerate(reference(CASE).segments, 1) if "link" in segment.name]
    for k, s in enumerate(links):
        names = ["B3", "B78", "sigma", "psi", "U", "gamma", "xi", "lambda"]
        got = model.evaluate(q=state["q"], outputs=[f"{name}_{s}" for name in names])
        expected = {
            "B3": printed.B3[k],
            "B78": printed.B78[k],
            "sigma": printed.sigma(k, k),
            "psi": printed.psi(k, k),
            "U": printed.U(k, k),
            "gamma": printed.gamma(k, k),
            "xi": printed.xi(k, k, after=False),
            "lambda": printed.lambda_(k, k)[0, 0],
        }
        for name, value in expected.items():
            found = got[f"{name}_{s}"]
            whole = skew(found) if found.shape == (3,) else found
            np.testing.assert_allclose(whole, value, rtol=1e-9, atol=1e-12, err_msg=name)
