"""Stops: rigid ones with restitution, stiff ones, several at once."""

from __future__ import annotations

import json
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.simulation import Impact, motion, simulate, simulate_batch
from chainform.simulation.equations.contact.contact_tables import stops_of
from unit.simulation.small_machines import BALL, BALLS, PENDULUM, machine

G = 9.81
EXAMPLES = Path(__file__).parents[3] / "examples"
REFERENCE = Path(__file__).parents[2] / "data" / "reference"


def impacts(run: cf.Run) -> list[Impact]:
    return [event for event in run.events if isinstance(event, Impact)]


def test_a_ball_bounces_as_the_formula_says() -> None:
    floor = {"height": {"lower": 0, "restitution": 0.5}}
    run = simulate(machine(BALL), q0=[1.0], t=2.0, stops=floor)
    fall = np.sqrt(2 / G)
    times = [fall * (1 + 2 * sum(0.5**k for k in range(1, n + 1))) for n in range(8)]
    met = impacts(run)
    np.testing.assert_allclose([hit.t for hit in met[:8]], times, rtol=1e-10)
    np.testing.assert_allclose([hit.loss for hit in met[:3]], [14.715, 3.67875, 0.9196875])
    # All bounces together take three times the fall; then the ball rests.
    assert run.events[-1].name == "height lower: rests"
    assert run.events[-1].t == pytest.approx(3 * fall, abs=1e-4)
    assert np.all(run.q >= -1e-12)
    np.testing.assert_allclose(run.q[run.t > 1.4], 0, atol=1e-12)
    np.testing.assert_allclose(run.balance, 2 * G, rtol=1e-9)
    assert run.losses[-1] == pytest.approx(2 * G)
    assert run.contact_forces["height lower"][-1] == pytest.approx(2 * G)
    assert run.qdd[-1] == pytest.approx(0, abs=1e-9)


def test_elastic_bounces_keep_energy() -> None:
    run = simulate(
        machine(BALL), q0=[1.0], t=10.0, stops={"height": {"lower": 0, "restitution": 1}}
    )
    assert len(impacts(run)) == 11
    np.testing.assert_allclose(run.energy, 2 * G, rtol=1e-10)
    np.testing.assert_allclose(run.losses, 0, atol=1e-10)


def test_limits_are_no_stops_unless_asked_for() -> None:
    links = cf.read(EXAMPLES / "sliding_links.toml")
    run = simulate(links, q0={"theta3": np.pi / 2, "l1": 0.4, "l2": 0.25, "l3": 0.25}, t=0.3)
    assert not run.events
    assert run.q[-1, 5] < 0


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_korayem_and_shafei_through_the_stops(restitution: float) -> None:
    case = json.loads((REFERENCE / "sliding_links_3.json").read_text())["trajectories"][0]
    first = case["first_limit_violation"]
    links = cf.read(EXAMPLES / "sliding_links.toml")
    run = simulate(
        links,
        q0=case["initial"]["q"],
        t=1.5,
        forces=dict.fromkeys(links.coordinates, "1"),
        stops=restitution,
        rtol=1e-11,
    )
    stop = impacts(run)[0]
    assert stop.name == "l3 lower: impact"
    assert stop.t == pytest.approx(first["t"], abs=1e-10)
    np.testing.assert_allclose(stop.q, first["state_q"], atol=1e-9)
    np.testing.assert_allclose(stop.qd, first["state_qd"], rtol=1e-8)
    assert stop.qd_after[5] == pytest.approx(-restitution * stop.qd[5], abs=1e-12)
    slides = run.q[:, 3:]
    assert slides.min() > -1e-12
    assert slides.max() < 1 + 1e-12
    size = np.abs(run.potential_energy).max()
    assert np.ptp(run.balance) < 1e-8 * size
    losses = np.concatenate([[0], run.losses])
    assert np.all(np.diff(losses) > -1e-9)
    if restitution == 1:
        assert run.losses[-1] == pytest.approx(0, abs=1e-9)
    else:
        # Hops of less than 1e-9 m that are put to rest lose a little, too.
        assert run.losses[-1] == pytest.approx(sum(hit.loss for hit in impacts(run)), rel=1e-8)


def test_a_pendulum_between_stops() -> None:
    stops = {"hinge": {"lower": -0.2, "upper": 0.3, "restitution": 1}}
    run = simulate(machine(PENDULUM), q0=[0.3], qd0=[-1.0], t=5.0, stops=stops)
    names = {hit.name for hit in impacts(run)}
    assert names == {"hinge lower: impact", "hinge upper: impact"}
    assert np.ptp(run.energy) < 1e-8
    # Between the stops the time is the same every time.
    lower = [hit.t for hit in impacts(run) if "lower" in hit.name]
    np.testing.assert_allclose(np.diff(lower), lower[1] - lower[0], rtol=1e-8)


def test_a_stop_that_is_touched_between_two_steps_is_met() -> None:
    # The turning point lies 1e-4 rad beyond the stop, deep within a step.
    free = simulate(machine(PENDULUM), q0=[0.5], t=2.0, t_eval=np.linspace(0, 2, 2001))
    bound = float(free.q.min()) + 1e-4
    stops = {"hinge": {"lower": bound, "restitution": 1}}
    run = simulate(machine(PENDULUM), q0=[0.5], t=1.0, stops=stops)
    assert len(impacts(run)) == 1
    assert run.q.min() > bound - 1e-9


def test_a_blow_goes_through_a_row_of_balls() -> None:
    run = simulate(machine(BALLS), q0=[-1, 0, 0], qd0=[2, 0, 0], t=1.0)
    assert run.qd[-1] == pytest.approx([0, 0, 2], abs=1e-12)
    assert run.q[-1] == pytest.approx([0, 0, 1], abs=1e-9)
    assert np.ptp(run.qd.sum(axis=1)) < 1e-12
    assert np.ptp(run.energy) < 1e-12


def test_two_blows_at_once_stay_even() -> None:
    run = simulate(machine(BALLS), q0=[-1, 0, 1], qd0=[2, 0, -2], t=1.0)
    assert len(impacts(run)) == 1
    assert run.qd[-1] == pytest.approx([-2, 0, 2], abs=1e-12)
    assert run.q[-1] == pytest.approx([-1, 0, 1], abs=1e-9)


def test_balls_that_stick_together() -> None:
    plastic = {"ab": {"restitution": 0}, "bc": {"restitution": 0}}
    run = simulate(machine(BALLS), q0=[-1, 0, 0], qd0=[3, 0, 0], t=1.0, stops=plastic)
    assert run.qd[-1] == pytest.approx([1, 1, 1], abs=1e-12)
    assert run.losses[-1] == pytest.approx(3.0)
    np.testing.assert_allclose(run.balance, 4.5)


def test_a_stop_is_hit_while_another_one_is_closed() -> None:
    chain = machine(BALLS.replace("restitution = 1", "restitution = 0"))
    stops = {"c": {"upper": 0.0}}
    run = simulate(chain, q0=[-1, 0, 0], qd0=[2, 0, 0], t=1.0, forces={"c": "1"}, stops=stops)
    assert run.qd[-1] == pytest.approx([0, 0, 0], abs=1e-12)
    assert run.contact_forces["c upper"][-1] == pytest.approx(1.0)
    assert run.losses[-1] == pytest.approx(2.0)


def test_a_stop_lets_go_when_it_would_pull() -> None:
    stops = {"height": {"lower": 0}}
    lift = {"height": "40*t"}
    run = simulate(machine(BALL), q0=[0.0], t=1.0, forces=lift, stops=stops)
    (left,) = [h for h in run.events if h.name.endswith("leaves")]
    at = 2 * G / 40
    assert left.t == pytest.approx(at, abs=1e-9)
    after = 1 - at
    assert run.q[-1, 0] == pytest.approx(20 * after**3 / 6, rel=1e-8)
    np.testing.assert_allclose(run.balance, 0, atol=1e-8)


@pytest.mark.slow
def test_forces_that_jump_open_a_stop() -> None:
    lift = {"height": [{"until": 0.5, "law": 0}, {"law": 40}]}
    floor = {"height": {"lower": 0}}
    for hold in (None, 0.1):
        run = simulate(machine(BALL), q0=[0.0], t=1.0, forces=lift, stops=floor, hold=hold)
        assert run.q[-1, 0] == pytest.approx((20 - G) / 8, rel=1e-9)
    run = simulate(
        machine(BALL),
        q0=[0.0],
        t=1.0,
        forces={"height": lambda t, _q, _qd: 40.0 if t > 0.5 else 0.0},
        stops={"height": {"lower": 0}},
    )
    assert run.q[-1, 0] == pytest.approx((20 - G) / 8, rel=1e-6)


def test_a_stop_that_moves_does_work() -> None:
    text = """
gravity = [0, 0, 0]
[[segments]]
name = "mass"
joint = { type = "prismatic", axis = "x", name = "x" }
mass = 2
[[constraints]]
name = "wall"
kind = "unilateral"
law = "x - t"
restitution = 1
"""
    run = simulate(machine(text), q0=[3.0], qd0=[-2.0], t=2.0)
    (hit,) = impacts(run)
    assert hit.t == pytest.approx(1.0)
    assert np.abs(run.qd[-1]) == pytest.approx([4.0])
    assert run.work[-1] == pytest.approx(12.0)
    assert run.losses[-1] == pytest.approx(0, abs=1e-12)
    resting = simulate(
        machine(text.replace('law = "x - t"', 'law = "x - t^2"').replace("= 1\n", "= 0\n")),
        q0=[0.0],
        t=2.0,
    )
    assert resting.q[-1] == pytest.approx([4.0])
    assert resting.work[-1] == pytest.approx(16.0)
    np.testing.assert_allclose(resting.balance, 0, atol=1e-8)


def test_a_stiff_stop_gives_back_what_its_damping_leaves() -> None:
    stiff = {"height": {"lower": 0, "stiffness": 1e6, "damping": 0.1}}
    no_weight = machine(BALL.replace("-9.81", "0"))
    run = simulate(no_weight, q0=[0.1], qd0=[-2.0], t=0.2, stops=stiff, rtol=1e-11)
    # m v dv = - k d (1 + c v) dd, integrated from contact to contact.
    c, v, u = 0.1, 2.0, run.qd[-1, 0]
    assert v / c - log(1 + c * v) / c**2 == pytest.approx(-u / c - log(1 - c * u) / c**2, rel=1e-9)
    assert 0 < u < 2
    np.testing.assert_allclose(run.balance, 4.0, rtol=1e-9)
    assert run.losses[-1] == pytest.approx(4.0 - u**2)


def test_a_stiff_stop_without_damping_keeps_energy_and_bears_the_weight() -> None:
    stiff = {"height": {"lower": 0, "stiffness": 1e4}}
    run = simulate(machine(BALL), q0=[0.5], t=3.0, stops=stiff)
    np.testing.assert_allclose(run.balance, G, rtol=1e-8)
    assert run.q.min() < -0.01
    at_rest = simulate(machine(BALL), q0=[-2 * G / 1e4], t=1.0, stops=stiff)
    np.testing.assert_allclose(at_rest.q, -2 * G / 1e4, rtol=1e-9)


@pytest.mark.parametrize(
    ("stops", "word"),
    [
        ({"heigt": 0.5}, "no coordinate"),
        ({"height": 0.5}, "no limits"),
        ({"height": {"lower": 0, "restitution": 2}}, "between 0 and 1"),
        ({"height": {"lower": 0, "restitution": 0.5, "stiffness": 3}}, "no restitution"),
        ({"height": {"lower": 0, "damping": 3}}, "only a stiff contact"),
        ({"height": {"lower": 0, "stiffness": -3}}, "stiffness: the number is negative"),
        ({"height": {"lower": 0, "bounce": 3}}, "unknown field"),
        ({"height": "rubber"}, "expected a table, got a text"),
        ({"height": {"lower": 2}}, "passed by 1 at the start"),
    ],
)
def test_mistakes_are_named(stops: object, word: str) -> None:
    with pytest.raises(cf.Error, match=word):
        simulate(machine(BALL), q0=[1.0], t=1.0, stops=stops)


def test_methods_that_cannot_refuse() -> None:
    with pytest.raises(RunError, match="does not take stops"):
        simulate(machine(BALL), t=1.0, method="midpoint", step=0.01, stops={"height": {"lower": 0}})


def test_fixed_steps_meet_stops_too() -> None:
    floor = {"height": {"lower": 0, "restitution": 1}}
    run = simulate(machine(BALL), q0=[1.0], t=2.0, stops=floor, method="rk4", step=0.01)
    np.testing.assert_allclose(run.energy, 2 * G, rtol=1e-9)
    assert len(impacts(run)) == 2


def sliders(links: int) -> cf.Mechanism:
    """Unit rods that turn and slide in each other, between stops at 0 and 1."""
    builder, parent = cf.Mechanism.builder("sliders", gravity=(0, "-10", 0)), "ground"
    for k in range(links):
        limits = [{}, {"lower": 0, "upper": 1}]
        builder.segment(
            f"k{k}",
            parent=parent,
            joint={"name": f"j{k}", "type": "revolute_prismatic", "limits": limits},
            axes=["z", "x"],
            mass=2,
            com=["-1/2", 0, 0],
            inertia=["0.0016", "0.0016+1/6", "0.0016+1/6"],
        )
        parent = f"k{k}"
    return builder.build()


@pytest.mark.slow
def test_stops_that_are_hit_faster_and_faster_come_to_rest() -> None:
    """Three of five sliding rods come to rest on their stops at once, after a hundred impacts."""
    rods = sliders(5)
    q0 = [0, 0.4, 0, 0.25, 0, 0.25, 0, 0.25, np.pi / 2, 0.25]
    efforts = dict.fromkeys(rods.coordinates, "1")
    run = simulate(rods, q0=q0, t=0.9, forces=efforts, stops={"j*_t": 0.6})
    assert run.t[-1] == 0.9
    slides = run.q[:, 1::2]
    assert slides.min() > -1e-9
    assert slides.max() < 1 + 1e-9
    assert np.ptp(run.balance) < 1e-7 * np.abs(run.kinetic_energy).max()
    assert min(force.min() for force in run.contact_forces.values()) > -1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("links", "restitution", "seed"), [(3, 0.3, 1), (4, 0.8, 2), (5, 0.5, 3)])
def test_chains_of_sliding_rods(links: int, restitution: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    q0 = np.stack([random.uniform(-1, 1, links), random.uniform(0.1, 0.9, links)], 1).ravel()
    run = simulate(sliders(links), q0=q0, t=1.0, stops={"j*_t": restitution})
    slides = run.q[:, 1::2]
    assert slides.min() > -1e-9
    assert slides.max() < 1 + 1e-9
    assert np.all(np.diff(run.losses) > -1e-9)
    assert np.ptp(run.balance) < 1e-7 * np.abs(run.kinetic_energy).max()


@pytest.mark.parametrize("rest_speed", [1e-4, 1e-7, 0.0])
def test_bounces_end_where_their_sum_ends(rest_speed: float) -> None:
    """All bounces together take three times the fall, even where no speed counts as rest."""
    floor = {"height": {"lower": 0, "restitution": 0.5, "rest_speed": rest_speed}}
    run = simulate(machine(BALL), q0=[0.2], t=1.0, stops=floor)
    assert run.events[-1].name == "height lower: rests"
    error = 5 * rest_speed + 1e-6
    assert run.events[-1].t == pytest.approx(3 * np.sqrt(0.4 / G), abs=error)
    np.testing.assert_allclose(run.qd[run.t > 0.61], 0, atol=1e-15)


def stack(masses: list[float], restitution: float) -> cf.Mechanism:
    builder, below = cf.Mechanism.builder("stack", gravity=(0, 0, -10)), ""
    for name, mass in zip("abc", masses, strict=False):
        joint = {"name": name, "type": "prismatic"}
        builder.segment(name, parent="ground", joint=joint, axis="z", mass=mass)
        law = f"{name} - {below}" if below else name
        builder.constraint("unilateral", law, name=f"under {name}", restitution=restitution)
        below = name
    return builder.build()


@pytest.mark.parametrize(("masses", "restitution"), [([1, 1], 0.5), ([1, 3, 1], 0.3)])
def test_balls_on_balls_come_to_rest(masses: list[float], restitution: float) -> None:
    count = len(masses)
    run = simulate(stack(masses, restitution), q0=np.arange(1, count + 1) / 10, t=1.0)
    weights = 10 * np.cumsum(masses[::-1])[::-1]
    forces = [run.contact_forces[f"under {name}"][-1] for name in "abc"[:count]]
    np.testing.assert_allclose(forces, weights)
    np.testing.assert_allclose(run.qd[-1], 0, atol=1e-12)
    assert np.ptp(run.balance) < 1e-8


def walls() -> cf.Mechanism:
    """Two walls that move towards each other, and meet at 2 s."""
    builder = cf.Mechanism.builder("walls", gravity=(0, 0, 0))
    builder.segment(
        "x", parent="ground", joint={"name": "x", "type": "prismatic"}, axis="x", mass=1
    )
    for name, law in ("left", "x + 1 - t/2"), ("right", "1 - x - t/2"):
        builder.constraint("unilateral", law, name=name, restitution=1)
    return builder.build()


def test_a_ball_between_walls_that_meet_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is hit ever faster, and never comes to rest."""
    monkeypatch.setattr(motion, "WINDOW", 100)
    monkeypatch.setattr(motion, "TOO_MANY", 1e4)
    run = simulate(walls(), qd0=[1], t=1.5)
    assert np.abs(run.qd[-1]) == pytest.approx([4.0])
    with pytest.raises(RunError, match="faster and faster") as caught:
        simulate(walls(), qd0=[1], t=3)
    assert caught.value.element in ("left", "right")


def test_time_goes_on_by_a_step_across_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """One such step at each event changes next to nothing, since each is so short."""
    free = simulate(stack([1, 2], 0.5), q0=[0.1, 0.2], t=0.6)
    monkeypatch.setattr(motion, "MOST_AT_ONCE", 0)
    run = simulate(stack([1, 2], 0.5), q0=[0.1, 0.2], t=0.6)
    assert len(run.events) >= len(free.events)
    np.testing.assert_allclose(run.q, free.q, atol=1e-5)
    assert run.q.min() > -1e-9
    assert np.ptp(run.balance) < 1e-6


@pytest.mark.parametrize(("law", "end"), [("x + 5*t^2", -5), ("x + 5*t^2 - t^3", -4)])
def test_a_floor_that_falls_as_fast_as_the_ball(law: str, end: float) -> None:
    """There is no push at first; only higher derivatives tell whether it comes."""
    builder = cf.Mechanism.builder("floor", gravity=(0, 0, -10))
    builder.segment(
        "x", parent="ground", joint={"name": "x", "type": "prismatic"}, axis="z", mass=1
    )
    run = simulate(builder.constraint("unilateral", law, name="floor").build(), t=1.0)
    assert run.q[-1, 0] == pytest.approx(end, abs=1e-8)
    push = run.contact_forces["floor"][-1]
    assert push == pytest.approx(6.0 if "t^3" in law else 0.0, abs=1e-6)


def test_a_name_goes_before_patterns() -> None:
    links = cf.read("examples/sliding_links.toml")
    stops: dict[str, Any] = {"l1": 0.5, "l*": {"restitution": 0.25, "upper": 3}, "l2": False}
    found = {stop.name: stop.contact_law.restitution for stop in stops_of(links, stops)}
    assert found == {"l1 lower": 0.5, "l1 upper": 0.5, "l3 lower": 0.25, "l3 upper": 0.25}
    reverse = dict(reversed(stops.items()))
    assert found == {stop.name: stop.contact_law.restitution for stop in stops_of(links, reverse)}


@pytest.mark.parametrize("name", ["stops", "q0", "qd0"])
def test_a_joint_that_is_given_twice_is_refused(name: str) -> None:
    links = cf.read("examples/sliding_links.toml")
    place = links.coordinates.index("l1") + 1
    options: dict[str, Any] = {name: {"l1": 0.3, f"{'qd' if name == 'qd0' else 'q'}{place}": 0.4}}
    for call in (simulate, simulate_batch):
        with pytest.raises(RunError, match="l1 is given twice"):
            call(links, **options)


def test_stiff_stops_are_watched_both_ways() -> None:
    """Rigid ones only as they close, and friction as it gives way: first those, then the others."""
    builder = cf.Mechanism.builder("slider")
    builder.segment("x", joint="prismatic", axis="x", mass=1)
    builder.segment("z", parent="x", joint="prismatic", axis="z", mass=1).frame("heel", "z")
    stops = {"x": {"lower": -1, "upper": 3, "stiffness": 1e3}, "z": {"upper": 1}}
    problem = cf.Problem.of(builder.build(), contacts={"heel": {"friction": 0.5}}, stops=stops, t=1)
    barriers = problem.compile().conditions.barriers
    assert (len(barriers.rigid), len(barriers.stiff)) == (2, 2)
    # Two more functions are the edges of the cone of friction.
    assert barriers.directions == [-1.0, -1.0, -1.0, -1.0, 0.0, 0.0]
