"""The biped of paper 000 puts a foot down and lifts it: phases, impacts, and what the ground does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import chainform as cf
from chainform.simulation.switching import Impact

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


def test_single_support_then_double_support_then_single_again(run: cf.Run) -> None:
    words = [happening.name for happening in run.happenings]
    first = words.index("outer_toe: rests")
    assert words[first - 1] == "outer_toe: impact"
    down = words.index("heel: rests")
    assert first < down
    assert words.index("outer_toe: leaves") > down
    assert {h.name.split(":")[1] for h in run.happenings[-2:]} == {" leaves"}
    assert not any(np.any(force[-1]) for force in run.contact_forces.values())


def test_the_ground_pushes_only_and_holds_what_touches(run: cf.Run, feet: cf.Model) -> None:
    for name, force in run.contact_forces.items():
        assert force.min() > -1e-6
        places = feet.evaluate(q=run.q)[f"pose({name})"][:, :3, 3]
        assert places[:, 2].min() > 0.0002 - 1e-9
        touching = np.flatnonzero((force[1:] > 0) & (force[:-1] > 0))
        stretches = np.split(touching, np.flatnonzero(np.diff(touching) > 1) + 1)
        for stretch in stretches:
            if len(stretch):
                held = places[stretch]
                assert np.abs(held - held[0]).max() < 1e-8


def test_impacts_obey_the_balance_of_momentum(run: cf.Run, feet: cf.Model) -> None:
    hits = [happening for happening in run.happenings if isinstance(happening, Impact)]
    assert len(hits) >= 2
    for hit in hits:
        values = feet.evaluate(q=hit.q)
        change = values["mass_matrix"] @ (hit.qd_after - hit.qd)
        rows = np.concatenate([values[f"jacobian({name})"][:3] for name in hit.impulses])
        impulses, *_ = np.linalg.lstsq(rows.T, change, rcond=1e-10)
        np.testing.assert_allclose(rows.T @ impulses, change, atol=1e-7)
        np.testing.assert_allclose(rows @ hit.qd_after, 0, atol=1e-8)
        kinetic = [qd @ values["mass_matrix"] @ qd / 2 for qd in (hit.qd, hit.qd_after)]
        assert hit.loss == pytest.approx(kinetic[0] - kinetic[1], rel=1e-6, abs=1e-9)


def test_energy_is_accounted_for(run: cf.Run) -> None:
    assert np.ptp(run.balance) < 1e-6 * np.abs(run.energy).max()
    hits = [happening for happening in run.happenings if isinstance(happening, Impact)]
    assert run.losses[-1] == pytest.approx(sum(hit.loss for hit in hits), rel=1e-9)
