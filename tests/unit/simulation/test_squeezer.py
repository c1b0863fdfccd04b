"""Andrews' squeezing mechanism: seven bodies, three loops, fast and stiff in its geometry."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import chainform as cf
from chainform.readers import read_text
from chainform.simulation import simulate
from chainform.simulation.equations.assembly import assemble, mobility

REFERENCE = json.loads(
    (Path(__file__).parents[2] / "data/reference/andrews_squeezer.json").read_text()
)

SPRING = """
[[springs]]
stiffness = 4530
rest = 0.07785
ends = [
    { segment = "ground", point = [0.014, 0.072, 0] },
    { segment = "rocker", point = [0.02, -0.018, 0] },
]
"""


@pytest.fixture(scope="module")
def squeezer() -> cf.Mechanism:
    return read_text(Path("examples/squeezer.toml").read_text() + SPRING, "toml")


@pytest.mark.slow
def test_the_motion_agrees_with_the_reference(squeezer: cf.Mechanism) -> None:
    run = simulate(
        squeezer,
        q0=REFERENCE["initial"]["q"],
        t=0.03,
        t_eval=[0.03],
        forces={"beta": 0.033},
        method="dopri853",
        rtol=1e-10,
    )
    assert np.abs(run.q[-1] - REFERENCE["reference_t_0_03"]["q"]).max() < 1e-7
    assert len(run.report) == 3


def test_it_is_assembled_from_two_digits(squeezer: cf.Mechanism) -> None:
    q = np.array(REFERENCE["initial"]["q"])
    rough = np.round(q, 2)
    rough[0] = q[0]
    assert np.abs(assemble(squeezer, rough, fixed=["beta"]) - q).max() < 1e-9
    assert mobility(squeezer, q).freedoms == 1
