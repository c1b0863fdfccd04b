"""Nonholonomic motion against solutions that are known in closed form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf

Array = NDArray[np.float64]


def runge_kutta(rate: Callable[[Array], Array], y: Array, end: float, steps: int) -> Array:
    """Return y at the end, by the classical method of order four."""
    h = end / steps
    for _ in range(steps):
        a = rate(y)
        b = rate(y + h / 2 * a)
        c = rate(y + h / 2 * b)
        d = rate(y + h * c)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
    return y


def integrated(model: cf.Model, q: Array, qd: Array, end: float, steps: int) -> tuple[Array, Array]:
    """Return q and qd under the constraints after some time, without drives."""
    program, n, tau = model.compile().constrained_dynamics, len(q), np.zeros(len(q))

    def rate(y: Array) -> Array:
        return np.concatenate([y[n:], program(y[:n], y[n:], tau)])

    y = runge_kutta(rate, np.concatenate([q, qd]), end, steps)
    return y[:n], y[n:]


def test_a_knife_edge_on_a_slope_draws_a_cycloid() -> None:
    """Turning evenly from rest: x = k sin^2(w t), y = k (w t - sin(2 w t) / 2), k = g' / 2 w^2."""
    skate = cf.read("examples/knife_edge.toml")
    model = cf.derive(skate, ["constrained_dynamics", "multipliers"])
    w, end, pull = 1.7, 4.0, 9.81 * np.sin(0.2)
    q, qd = integrated(model, np.zeros(3), np.array([0, 0, w]), end, 400)
    size, turn = pull / (2 * w**2), w * end
    expected = [size * np.sin(turn) ** 2, size * (turn - np.sin(2 * turn) / 2), turn]
    assert q == pytest.approx(expected, abs=1e-8)
    speed = pull / w * np.sin(turn)
    assert qd == pytest.approx([speed * np.cos(turn), speed * np.sin(turn), w], abs=1e-8)
    # The blade holds the skate back across: m (v w + g' sin phi), along (-sin, cos).
    (force,) = model.evaluate(q=q, qd=qd, tau=np.zeros(3))["multipliers"]
    assert force == pytest.approx(-3 * (speed * w + pull * np.sin(turn)))


def test_quasi_velocities_of_a_knife_edge() -> None:
    """In v and w the equations are m v' = m g' cos phi and J w' = 0."""
    skate = cf.read("examples/knife_edge.toml")
    names = ["quasi_mass_matrix", "quasi_bias", "quasi_dynamics", "quasi_matrix"]
    model = cf.derive(skate, names)
    phi, v, w = 0.6, 2.0, -1.5
    T = model.evaluate(q=[1, 2, phi], outputs=["quasi_matrix"])["quasi_matrix"]
    assert pytest.approx(np.array([[np.cos(phi), 0], [np.sin(phi), 0], [0, 1]])) == T
    value = model.evaluate(q=[1, 2, phi], qd=T @ [v, w], tau=[0, 0, 0])
    assert value["quasi_mass_matrix"] == pytest.approx(np.diag([3, 0.05]))
    pull = 9.81 * np.sin(0.2) * np.cos(phi)
    assert value["quasi_dynamics"] == pytest.approx([pull, 0])


def steady_spin(lean: float, turning: float) -> float:
    """Return phi' with which a disc keeps its lean while it turns with psi'.

    From the moments about the mass centre, with w = phi' + psi' sin(theta) about its own axis,

        (I_a + m r^2) w psi' cos - I_d psi'^2 sin cos + m g r sin = 0.
    """
    m, r, g = 2.0, 0.3, 9.81
    axial, diametral = m * r**2 / 2, m * r**2 / 4
    s, c = np.sin(lean), np.cos(lean)
    w = (diametral * turning**2 * s * c - m * g * r * s) / ((axial + m * r**2) * turning * c)
    return w - turning * s


@pytest.mark.parametrize(("lean", "turning"), [(0.35, -2.5), (-0.6, 4.0)])
def test_a_disc_rolls_in_a_circle(lean: float, turning: float) -> None:
    model = cf.derive(cf.read("examples/rolling_disc.toml"), ["constrained_dynamics", "constraint"])
    spin, r, end = steady_spin(lean, turning), 0.3, 1.0
    q = np.array([0, 0, 0.4, lean, 0])
    speed = r * spin
    qd = np.array([speed * np.cos(0.4), speed * np.sin(0.4), turning, 0, spin])
    found, rates = integrated(model, q, qd, end, 400)
    heading = 0.4 + turning * end
    radius = speed / turning
    place = radius * np.array([np.sin(heading) - np.sin(0.4), np.cos(0.4) - np.cos(heading)])
    assert found == pytest.approx([*place, heading, lean, spin * end], abs=1e-8)
    assert rates[2:] == pytest.approx([turning, 0, spin], abs=1e-7)
    held = model.evaluate(q=found, qd=rates, outputs=["constraint"])["constraint"]
    assert held == pytest.approx(0, abs=1e-8)


def test_a_disc_rolls_on_straight_and_keeps_its_energy() -> None:
    names = ["constrained_dynamics", "kinetic_energy", "potential_energy"]
    model = cf.derive(cf.read("examples/rolling_disc.toml"), names)
    found, rates = integrated(
        model, np.zeros(5), np.array([0.3 * 5, 0, 0, 0, 5.0]), end=1.0, steps=50
    )
    assert found == pytest.approx([1.5, 0, 0, 0, 5], abs=1e-12)
    start = (
        np.array([0, 0, 0.1, 0.2, 0]),
        np.array([1.2 * np.cos(0.1), 1.2 * np.sin(0.1), 1, 0.3, 4]),
    )
    energies = []
    for q, qd in (start, integrated(model, *start, end=0.5, steps=400)):
        value = model.evaluate(q=q, qd=qd, outputs=names[1:])
        energies.append(sum(value.values()))
    assert energies[1] == pytest.approx(energies[0], rel=1e-9)
    assert rates[4] == pytest.approx(5)
