"""Arms driven by DC motors, against integrations of separately written equations.

The motor is a maxon RE 40, 24 V, 150 W (order number 148867): 0.299 ohm, 0.082 mH, 30.2 mN m/A,
142 g cm^2.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from chainform.readers import read_text
from pinocchio_oracle import Oracle

Array = NDArray[np.float64]
EXAMPLE = Path(__file__).parents[2] / "examples" / "driven_arm.toml"

R, L, KT, J = 0.299, 0.082e-3, 30.2e-3, 142e-7
GEARS = (126.0, 66.0)
LIMIT = 24.0
DURATION = 0.5
LINKS = ((3.0, 0.4, 0.2, 0.042), (1.5, 0.3, 0.15, 0.012))
"""Mass, length, place of the mass centre, inertia about it."""


def two_links(kind: dict[str, object]) -> cf.Mechanism:
    """Return an arm of two links that swings in a vertical plane about the y axis."""
    builder = cf.Mechanism.builder("two_links")
    for k, (mass, _, centre, inertia) in enumerate(LINKS):
        builder.segment(
            f"link{k + 1}",
            parent="ground" if k == 0 else "link1",
            joint="revolute",
            axis="y",
            position=[0 if k == 0 else LINKS[0][1], 0, 0],
            mass=mass,
            com=[centre, 0, 0],
            inertia=[0, inertia, 0],
        )
        motor = {"resistance": R, "torque_constant": KT, "gear_ratio": GEARS[k]}
        builder.actuator(f"motor{k + 1}", f"link{k + 1}", type="dc_motor", **motor, **kind)
    return builder.build()


def voltages(t: float) -> list[float]:
    """Return signals that go beyond the limits for part of the time."""
    return [30 * sin(9 * t) - 6, 18 * cos(5 * t) + 9 * t]


def runge_kutta(slope: Callable[[float, Array], Array], x: Array, step: float) -> Array:
    """Return the state after the whole time, by the classical method of fourth order."""
    for k in range(round(DURATION / step)):
        t = k * step
        a = slope(t, x)
        b = slope(t + step / 2, x + step / 2 * a)
        c = slope(t + step / 2, x + step / 2 * b)
        d = slope(t + step, x + step * c)
        x = x + step / 6 * (a + 2 * b + 2 * c + d)
    return x


def clipped(u: float) -> float:
    return max(-LIMIT, min(LIMIT, u))


def two_link_slope(t: float, state: list[float], rotor: float) -> list[float]:
    """Return the rates of (q1, q2, qd1, qd2, i1, i2) by equations written out by hand.

    The links turn downwards for positive angles, so gravity speeds a horizontal arm up.
    """
    q1, q2, v1, v2, i1, i2 = state
    (m1, l1, c1, J1), (m2, _, c2, J2) = LINKS
    g = 9.81
    coupling = m2 * l1 * c2
    M11 = (
        J1 + m1 * c1**2 + J2 + m2 * (l1**2 + c2**2) + 2 * coupling * cos(q2) + rotor * GEARS[0] ** 2
    )
    M12 = J2 + m2 * c2**2 + coupling * cos(q2)
    M22 = J2 + m2 * c2**2 + rotor * GEARS[1] ** 2
    s = coupling * sin(q2)
    tau1, tau2 = GEARS[0] * KT * i1, GEARS[1] * KT * i2
    right1 = (
        tau1
        + s * (2 * v1 * v2 + v2**2)
        + g * ((m1 * c1 + m2 * l1) * cos(q1) + m2 * c2 * cos(q1 + q2))
    )
    right2 = tau2 - s * v1**2 + g * m2 * c2 * cos(q1 + q2)
    det = M11 * M22 - M12**2
    a1, a2 = (M22 * right1 - M12 * right2) / det, (M11 * right2 - M12 * right1) / det
    u1, u2 = voltages(t)
    di1 = (clipped(u1) - R * i1 - KT * GEARS[0] * v1) / L
    di2 = (clipped(u2) - R * i2 - KT * GEARS[1] * v2) / L
    return [v1, v2, a1, a2, di1, di2]


START = [-1.2, 0.7, 0.5, -0.3, 2.0, -1.0]


def by_hand(rotor: float, step: float) -> Array:
    """Integrate the equations written by hand, in plain floats."""
    x = START
    for k in range(round(DURATION / step)):
        t = k * step
        a = two_link_slope(t, x, rotor)
        b = two_link_slope(
            t + step / 2, [p + step / 2 * v for p, v in zip(x, a, strict=True)], rotor
        )
        c = two_link_slope(
            t + step / 2, [p + step / 2 * v for p, v in zip(x, b, strict=True)], rotor
        )
        d = two_link_slope(t + step, [p + step * v for p, v in zip(x, c, strict=True)], rotor)
        x = [
            p + step / 6 * (e + 2 * f + 2 * g + h)
            for p, e, f, g, h in zip(x, a, b, c, d, strict=True)
        ]
    return np.array(x)


@pytest.mark.slow
def test_a_driven_arm_against_equations_written_by_hand() -> None:
    """The motion is in the state: x = (q, qd, i) of each motor."""
    arm = two_links({"inductance": L, "rotor_inertia": J, "voltage_limit": LIMIT})
    assert arm.states[:3] == ("motor1.q", "motor1.qd", "motor1.current")
    model = cf.derive(arm, ["complete_model"]).compile().complete_model
    start = np.array([START[0], START[2], START[4], START[1], START[3], START[5]])
    end = runge_kutta(lambda t, x: model(x, np.array(voltages(t))), start, 1e-5)
    expected = by_hand(J, 1.25e-5)
    assert np.abs(end[[0, 3, 1, 4, 2, 5]] - expected).max() < 1e-8


@pytest.mark.slow
def test_without_rotor_inertia_the_state_is_the_current() -> None:
    """The motion is not in the state: x = (i1, i2), and qdd belongs to the model."""
    arm = two_links({"inductance": L, "voltage_limit": LIMIT})
    assert arm.states == ("motor1.current", "motor2.current")
    outputs = ["complete_model", "complete_acceleration"]
    model: Any = cf.derive(arm, outputs).compile()

    def slope(t: float, state: Array) -> Array:
        q, qd, x, u = state[:2], state[2:4], state[4:], np.array(voltages(t))
        qdd = model.complete_acceleration(q, qd, x, u)
        return np.concatenate([qd, qdd, model.complete_model(qd, x, u)])

    end = runge_kutta(slope, np.array(START), 2e-5)
    assert np.abs(end - by_hand(0.0, 2.5e-5)).max() < 1e-8


def test_the_limit_of_small_inductance_is_the_reduced_order() -> None:
    """Without inductance the current follows at once, so that the order is 2."""
    full = two_links({"inductance": L / 1000, "rotor_inertia": J})
    reduced = two_links({"rotor_inertia": J})
    assert [actuator.order for actuator in reduced.actuators] == [2, 2]
    motion, u = np.array([-1.2, 0.5, 0.7, -0.3]), np.array([9.0, -7.0])
    current = (u - KT * np.array(GEARS) * motion[[1, 3]]) / R
    x = np.array([*motion[:2], current[0], *motion[2:], current[1]])
    outputs = ["drives", "complete_acceleration"]
    one = cf.derive(full, outputs).evaluate(x=x, u=u)
    other = cf.derive(reduced, outputs).evaluate(x=motion, u=u)
    for output in outputs:
        assert np.allclose(one[output], other[output], rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_example_against_pinocchio(seed: int) -> None:
    """H and h by Pinocchio, the rest by (III.4) and (III.5) in numpy; efficiency included."""
    arm = cf.read(EXAMPLE)
    rng = np.random.default_rng(seed)
    x, u = rng.normal(size=9), 40 * rng.normal(size=3)
    x[2::3] *= 10
    q, qd = x[0::3], x[1::3]
    oracle = Oracle(arm)
    H, h = oracle.mass_matrix(q), oracle.inverse_dynamics(q, qd, 0 * q)
    A, B, F, G = np.zeros((9, 9)), np.zeros((9, 3)), np.zeros((9, 3)), np.zeros((3, 9))
    for k, (gear, efficiency) in enumerate([(81, 1), (126, 0.72), (66, 1)]):
        i = 3 * k
        A[i, i + 1] = G[k, i + 1] = 1
        A[i + 1, i + 1], A[i + 1, i + 2] = -5.2e-6 / J, KT / (J * gear)
        A[i + 2, i + 1], A[i + 2, i + 2] = -KT * gear / L, -R / L
        B[i + 2, k], F[i + 1, k] = 1 / L, -1 / (J * gear**2 * efficiency)
    N = np.clip(u, -24, 24)
    P = np.linalg.solve(np.eye(3) - H @ G @ F, H @ G @ (A @ x + B @ N) + h)
    values = cf.derive(arm, ["complete_model", "drives"]).evaluate(x=x, u=u)
    assert np.allclose(values["drives"], P, rtol=1e-9)
    assert np.allclose(values["complete_model"], A @ x + B @ N + F @ P, rtol=1e-9)


def test_parameters_of_motors_stay_free() -> None:
    arm = cf.read(EXAMPLE)
    model = cf.derive(arm, ["complete_model"], parameters=["R", "L", "kt"])
    assert set(model.free_parameters) == {"R", "L", "kt"}
    x, u = np.linspace(-1, 1, 9), np.array([5.0, 6.0, 7.0])
    other = {"R": "0.5", "L": "0.0001", "kt": "0.04"}
    given = model.evaluate(x=x, u=u, values={name: float(text) for name, text in other.items()})
    bound = model.bind(other)
    assert np.allclose(given["complete_model"], bound.evaluate(x=x, u=u)["complete_model"])
    text = EXAMPLE.read_text()
    for name, before in (("R", "0.299"), ("L", "0.082e-3"), ("kt", "30.2e-3")):
        text = text.replace(f"{name} = {{ value = {before}", f"{name} = {{ value = {other[name]}")
    again = cf.derive(read_text(text, "toml"), ["complete_model"]).evaluate(x=x, u=u)
    assert np.allclose(given["complete_model"], again["complete_model"], rtol=1e-12)
    plain = cf.derive(arm, ["complete_model"]).evaluate(x=x, u=u)
    assert not np.allclose(given["complete_model"], plain["complete_model"])
