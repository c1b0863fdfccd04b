"""The biped of Racković 1996 puts a foot down and lifts it: phases, impacts, the ground."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import chainform as cf
from chainform.simulation import Impact

pytestmark = pytest.mark.any_processor

EXAMPLES = Path(__file__).parents[3] / "examples"
POINTS = {
    "heel": [-0.06, 0, "-0.1"],
    "inner_toe": ["0.14", "-0.04", "-0.1"],
    "outer_toe": ["0.14", "0.04", "-0.1"],
}


@pytest.fixture(scope="module")
def run() -> cf.Run:
    return cf.simulate(EXAMPLES / "scenarios" / "biped_step.toml")


@pytest.fixture(scope="module")
def feet() -> cf.Model:
    biped = replace(cf.read(EXAMPLES / "biped.toml"), loops=())
    for name, point in POINTS.items():
        biped = biped.with_frame(name, "swing_foot", point)
    outputs = [f"{quantity}({name})" for name in POINTS for quantity in ("pose", "jacobian")]
    return cf.derive(biped, ["mass_matrix", *outputs], reduce="none")


@pytest.mark.slow
def test_single_support_then_double_support_then_single_again(run: cf.Run) -> None:
    words = [event.name for event in run.events]
    assert words[:2] == ["outer_toe: impact", "outer_toe: rests"]
    assert "heel: rests" in words[2:]
    assert words[-1].endswith("leaves")
    forces = np.array(list(run.contact_forces.values()))
    assert not np.any(forces[:, run.t < 0.3])
    assert np.all(forces[:, (run.t > 0.4) & (run.t < 0.55)].max(axis=0) > 0)
    assert not np.any(forces[:, run.t > 1.3])


def test_the_ground_pushes_only_and_nothing_sinks_in_or_slides_far(
    run: cf.Run, feet: cf.Model
) -> None:
    for name, force in run.contact_forces.items():
        assert force.min() > -1e-6
        places = feet.evaluate(q=run.q)[f"pose({name})"][:, :3, 3]
        assert places[:, 2].min() > 0.0002 - 1e-8
        np.testing.assert_allclose(places[force > 0, 2], 0.0002, atol=1e-8)
    standing = (run.t > 0.4) & (run.t < 0.55)
    heel = feet.evaluate(q=run.q[standing])["pose(heel)"][:, :3, 3]
    assert np.ptp(heel, axis=0).max() < 1e-3


def test_impacts_obey_the_balance_of_momentum(run: cf.Run, feet: cf.Model) -> None:
    hits = [event for event in run.events if isinstance(event, Impact)]
    assert len(hits) >= 2
    for hit in hits:
        values = feet.evaluate(q=hit.q)
        change = values["mass_matrix"] @ (hit.qd_after - hit.qd)
        rows = np.concatenate([values[f"jacobian({name})"][:3] for name in hit.impulses])
        impulses, *_ = np.linalg.lstsq(rows.T, change, rcond=1e-12)
        np.testing.assert_allclose(rows.T @ impulses, change, atol=1e-7)
        for name in hit.impulses:
            assert values[f"jacobian({name})"][2] @ hit.qd_after > -1e-8
        kinetic = [qd @ values["mass_matrix"] @ qd / 2 for qd in (hit.qd, hit.qd_after)]
        assert hit.loss == pytest.approx(kinetic[0] - kinetic[1], rel=1e-6, abs=1e-9)


def test_energy_is_accounted_for(run: cf.Run) -> None:
    assert np.ptp(run.balance) < 1e-6 * np.abs(run.energy).max()
    assert np.all(np.diff(run.losses) > -1e-9)
    hits = [event for event in run.events if isinstance(event, Impact)]
    assert run.losses[-1] >= sum(hit.loss for hit in hits) - 1e-9


@pytest.mark.slow
def test_ground_and_weight_change_the_momentum(run: cf.Run) -> None:
    """Weight and both feet change the momentum; the loop of the file is open but for contacts."""
    assert np.all(np.isfinite(run.reactions))
    loads = sum(run.contact_loads.values())
    assert isinstance(loads, np.ndarray)
    pushes = sum(run.contact_forces.values())
    assert isinstance(pushes, np.ndarray)
    assert loads[:, 2] == pytest.approx(pushes)
    assert pushes.max() > 50
    first = run.mechanism.segments[0].name
    foot = run.output(f"reaction({first},world)")[:, :3]
    bodies = [segment.body.mass for segment in run.mechanism.segments]
    masses = sum(float(mass) for mass in bodies if isinstance(mass, Fraction))
    rate = np.gradient(run.output("momentum")[:, :3], run.t, axis=0)
    smooth = np.ones(len(run.t), dtype=bool)
    for event in run.events:
        smooth &= np.abs(run.t - event.t) > 0.02
    smooth[[0, 1, -2, -1]] = False
    weight = masses * np.array([0, 0, -9.81])
    difference = (foot + loads + weight - rate)[smooth]
    assert np.abs(difference).max() < 0.02 * np.abs(weight).max()
