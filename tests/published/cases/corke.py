"""The PUMA 560 of Corke's robotics toolbox: its equations of motion at one state."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import chainform as cf
from tests.published.records import Array, Case, Result, Source

SOURCE = Source(
    name="Robotics toolbox of Corke: tests",
    repository="github.com/petercorke/robotics-toolbox-python",
    commit="a9ed8d45e92aa221f85955406825e6a272151ece",
    licence="MIT",
)
LINKS = (
    # d, a, alpha; mass; mass centre and moments in the frame at the far end; rotor; gear
    ((26.45 * 0.0254, 0, 1), 0, (0, 0, 0), (0, 0.35, 0), 200e-6, -62.6111),
    ((0, 0.4318, 0), 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539), 200e-6, 107.815),
    (
        (0.15005, 0.0203, -1),
        4.8,
        (-0.0203, -0.0141, 0.07),
        (0.066, 0.086, 0.0125),
        200e-6,
        -53.7063,
    ),
    ((0.4318, 0, 1), 0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3), 33e-6, 76.0364),
    ((0, 0, -1), 0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3), 33e-6, 71.923),
    ((0, 0, 0), 0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3), 33e-6, 76.686),
)
"""As Denavit and Hartenberg have it; alpha is in right angles."""
POSE = (0, np.pi / 4, np.pi, 0, np.pi / 4, 0)
RATES = (1, 2, 3, 1, 2, 3)
"""Rates, and in another test accelerations."""
WEIGHT = (0, 31.6399, 6.0351, 0, 0.0283, 0)
INERTIAL = (3.1500, 9.4805, 3.6189, 0.1901, 0.3519, 0.5823)
MASS = (
    (3.6594, -0.4044, 0.1006, -0.0025, 0, 0),
    (-0.4044, 4.4137, 0.3509, 0, 0.0024, 0),
    (0.1006, 0.3509, 0.9378, 0, 0.0015, 0),
    (-0.0025, 0, 0, 0.1925, 0, 0),
    (0, 0.0024, 0.0015, 0, 0.1713, 0),
    (0, 0, 0, 0, 0, 0.1941),
)
CORIOLIS = (
    (-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001),
    (0.6274, 1.1572, 1.9287, -0.0015, -0.0003, 0),
    (-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, 0),
    (0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001),
    (-0.0002, 0.0028, 0.0046, -0.0002, 0, 0),
    (0.0001, 0, 0, 0, 0, 0),
)


def far_end(d: float, a: float, quarter: int) -> tuple[Array, Array]:
    """Return rotation and place of the far end of a link in the frame of its joint."""
    c, s = (1, 0) if quarter == 0 else (0, quarter)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]]), np.array([a, 0, d])


@cache
def puma() -> cf.Mechanism:
    """Return the arm with its rotors and without friction."""
    builder = cf.Mechanism.builder("puma", gravity=(0, 0, "-9.81"))
    place: dict[str, Any] = {}
    for i, (lengths, mass, com, inertia, rotor, gear) in enumerate(LINKS, 1):
        turn, shift = far_end(*lengths)
        builder.segment(
            f"link{i}",
            parent=f"link{i - 1}" if i > 1 else "ground",
            joint={"name": f"joint{i}", "type": "revolute", "axis": "z"},
            mass=mass,
            com=(shift + turn @ np.array(com)).tolist(),
            inertia=(turn @ np.diag(inertia) @ turn.T).tolist(),
            rotor_inertia=rotor,
            gear_ratio=gear,
            **place,
        )
        place = {"rotation": turn.tolist(), "position": shift.tolist()}
    return builder.build()


@cache
def values() -> dict[str, Array]:
    """Return the outputs that are compared."""
    outputs = ["gravity", "mass_matrix", "coriolis_matrix"]
    found = cf.derive(puma(), outputs).evaluate(q=POSE, qd=RATES)
    drive = cf.derive(puma(), ["inverse_dynamics"]).evaluate(q=POSE, qd=np.zeros(6), qdd=RATES)
    return {**found, "inertial": drive["inverse_dynamics"] - found["gravity"]}


def result(quantity: str, published: Any, ours: Callable[[], Array]) -> Result:
    """Return a comparison with numbers of four digits after the point."""
    claim = "half of the fourth digit after the point"
    return Result(quantity, lambda: np.array(published), ours, 5e-5, claim, is_absolute=True)


CASES = (
    Case(
        name="corke_puma",
        title="PUMA 560",
        source=SOURCE,
        path="tests/test_DHRobot.py",
        model="src/roboticstoolbox/models/DH/Puma560.py",
        note="The arm with six axes after Corke and Armstrong-Helouvry 1994, with the inertia of "
        "its rotors.",
        results=(
            result("moments of the weight, N m", WEIGHT, lambda: values()["gravity"]),
            result("mass matrix, kg m²", MASS, lambda: values()["mass_matrix"]),
            result("Coriolis matrix, N m s", CORIOLIS, lambda: values()["coriolis_matrix"]),
            result("moments for accelerations, N m", INERTIAL, lambda: values()["inertial"]),
        ),
    ),
)
