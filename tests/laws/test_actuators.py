"""Power in motors and servos: what the signal brings in is stored, lost or handed to the joint."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform as cf

pytestmark = pytest.mark.any_processor

NUMBERS = st.lists(st.floats(-3, 3), min_size=6, max_size=6)
R, L, KT, J, B, GEAR = 0.4, 0.002, 0.05, 0.0003, 0.001, 40
S, K, C, V, E, M = 0.002, 0.003, 4e-4, 0.02, 9.0, 1.5


def arm() -> cf.Mechanism:
    """Return two links, the first driven by a motor, the second by a cylinder."""
    builder = cf.Mechanism.builder("arm")
    builder.segment("upper", axis="y", mass=3, com=[0.2, 0, 0.1], inertia=[0.1, 0.2, 0.3])
    builder.segment(
        "fore", parent="upper", axis="z", position=[0.4, 0, 0], mass=2, com=[0.1, 0.2, 0]
    )
    motor = {"resistance": R, "inductance": L, "torque_constant": KT, "rotor_inertia": J}
    builder.actuator("motor", "upper", type="dc_motor", **motor, viscous=B, gear_ratio=GEAR)
    servo = {"area": S, "valve_gain": K, "leakage": C, "volume": V, "bulk_modulus": E}
    builder.actuator("servo", "fore", type="hydraulic_servo", **servo, piston_mass=M, viscous=B)
    return builder.build()


MODEL = cf.derive(arm(), ["complete_model", "drives"])


@given(NUMBERS, st.floats(-20, 20), st.floats(-1, 1))
def test_power_is_accounted_for(state: list[float], u: float, opening: float) -> None:
    x = np.array(state)
    values = MODEL.evaluate(x=x, u=[u, opening])
    xd, P = values["complete_model"], values["drives"]
    _, qd, i, _, rate, p = x
    electric = R * i**2 + L * i * xd[2] + GEAR**2 * (J * qd * xd[1] + B * qd**2) + P[0] * qd
    assert electric == pytest.approx(u * i, rel=1e-9, abs=1e-9)
    stored = V / (4 * E) * p * xd[5] + M * rate * xd[4]
    hydraulic = stored + C * p**2 + B * rate**2 + P[1] * rate
    assert hydraulic == pytest.approx(K * opening * p, rel=1e-9, abs=1e-9)
