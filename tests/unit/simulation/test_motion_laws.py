"""Prescribed motions: the coordinate follows its law, and the force is the one that it takes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline

import chainform as cf
from chainform.analysis import complete, drives, unknown_forces
from chainform.errors import Error
from chainform.simulation import simulate_batch
from chainform.simulation.equations.spline import spline_near, spline_through, spline_with_rates
from unit.simulation.linkages import CRANK, ROD, slider_crank
from zoo import random_tree

Array = NDArray[np.float64]
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
LAW = "0.4 + 6*t"


@cache
def four_bar() -> cf.Mechanism:
    """A crank, a coupler and a rocker, closed by a frame."""
    return cf.read(EXAMPLES / "four_bar.toml")


def carriage(**slide: Any) -> cf.Mechanism:
    """A pendulum of 0.5 m, a point of 2 kg, on a carriage of 3 kg that slides along x."""
    return (
        cf.Mechanism.builder("carriage", gravity=(0, 0, "-9.81"))
        .parameter("A", 0.1, unit="m")
        .segment("cart", joint={"name": "slide", "type": "prismatic", **slide}, axis="x", mass=3)
        .segment("rod", parent="cart", joint="revolute", axis="y", mass=2, com=[0, 0, "-0.5"])
        .build()
    )


def needed(law: str, run: cf.Run) -> Array:
    """The torque of the crank of the four-bar by inverse dynamics of the closed mechanism."""
    motion = complete(four_bar(), {"crank": law}, t=run.t, start=run.q[0])
    found = drives(four_bar(), motion.q, motion.qd, motion.qdd, ["crank"], t=run.t)
    assert found.kind == "exact"
    return found.tau[:, 0]


def test_the_torque_of_a_driven_four_bar_is_that_of_inverse_dynamics() -> None:
    run = cf.simulate(four_bar(), motion={"crank": LAW}, t=1)
    assert run.motion_forces["crank"] == pytest.approx(needed(LAW, run), abs=1e-8)
    assert np.ptp(run.balance) < 1e-6 < np.ptp(run.work)
    assert run.q[:, 0] == pytest.approx(0.4 + 6 * run.t, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("rk4", {"step": 1e-3}),
        ("dopri853", {}),
        ("semi_implicit", {"step": 1e-3}),
        ("ida", {}),
        ("verner65", {"stabilise": "baumgarte"}),
    ],
)
def test_every_method_that_takes_constraints_gives_the_force(
    method: str, options: dict[str, Any]
) -> None:
    run = cf.simulate(four_bar(), motion={"crank": LAW}, t=0.5, method=method, **options)
    assert run.motion_forces["crank"] == pytest.approx(needed(LAW, run), abs=1e-6)


@pytest.mark.any_processor
def test_a_slider_crank_that_turns_evenly_follows_its_geometry() -> None:
    run = cf.simulate(slider_crank(), motion={"crank": "5*t"}, q0={"slider": CRANK + ROD}, t=1)
    along = CRANK * np.cos(5 * run.t) + np.sqrt(ROD**2 - (CRANK * np.sin(5 * run.t)) ** 2)
    assert run.q[:, 2] == pytest.approx(along, abs=1e-9)
    power = run.motion_forces["crank"] * run.qd[:, 0]
    assert run.work[-1] == pytest.approx(np.trapezoid(power, run.t), abs=2e-3)


def test_a_pendulum_on_a_pivot_that_is_moved_obeys_its_equation() -> None:
    run = cf.simulate(carriage(), motion={"slide": "A*sin(3*t)"}, q0={"rod": 0.3}, t=2)

    def rate(t: float, y: Array) -> list[float]:
        pivot = -0.9 * np.sin(3 * t)
        return [y[1], (pivot * np.cos(y[0]) - 9.81 * np.sin(y[0])) / 0.5]

    swing = solve_ivp(rate, (0, 2), [0.3, 0], t_eval=run.t, rtol=1e-10, atol=1e-12)
    assert run.q[:, 1] == pytest.approx(swing.y[0], abs=1e-7)
    pull = 5 * run.qdd[:, 0] - 1.0 * (
        run.qdd[:, 1] * np.cos(run.q[:, 1]) - run.qd[:, 1] ** 2 * np.sin(run.q[:, 1])
    )
    assert run.motion_forces["slide"] == pytest.approx(pull, abs=1e-9)
    assert run.tau == pytest.approx(0)


@pytest.mark.any_processor
@pytest.mark.parametrize("seed", range(3))
def test_where_every_coordinate_is_prescribed_forces_are_those_of_inverse_dynamics(
    seed: int,
) -> None:
    tree = random_tree(seed)
    laws = {name: f"{k}/10 + sin({k}*t)/5" for k, name in enumerate(tree.coordinates, 1)}
    run = cf.simulate(tree, motion=laws, t=0.5, t_eval=[0, 0.2, 0.5])
    k, t = np.arange(1, tree.nv + 1), run.t[:, None]
    states: dict[str, Any] = {
        "q": k / 10 + np.sin(k * t) / 5,
        "qd": k * np.cos(k * t) / 5,
        "qdd": -(k**2) * np.sin(k * t) / 5,
    }
    tau = cf.derive(tree, ["inverse_dynamics"]).evaluate(**states)["inverse_dynamics"]
    forces = np.stack([run.motion_forces[name] for name in tree.rates], axis=1)
    assert forces == pytest.approx(tau, rel=1e-9, abs=1e-9)


@pytest.mark.any_processor
def test_the_force_on_a_coordinate_of_elements_is_the_one_left_unknown() -> None:
    """The rack of the crane pushes along s, so that its force is the one on the coordinate s."""
    crane, law = cf.read(EXAMPLES / "portal_crane.toml"), "4 + 0.3*sin(t)"
    run = cf.simulate(crane, motion={"s": law}, unknowns={"S": 0}, t=2, t_eval=[0, 1, 2])
    push = unknown_forces(crane, run.t, motion={"s": law}).values[:, 0]
    assert run.motion_forces["s"] == pytest.approx(push, rel=1e-9)


@pytest.mark.any_processor
def test_joints_that_follow_the_prescribed_one_are_in_its_force() -> None:
    builder = cf.Mechanism.builder("hand").segment("finger", axis="y", mass=1, com=["0.1", 0, 0])
    follows = {"joint": "finger", "ratio": 2, "offset": "0.3"}
    sizes: dict[str, Any] = {"position": ["0.2", 0, 0], "com": ["0.1", 0, 0], "mass": 1}
    hand = builder.segment("thumb", parent="finger", axis="y", mimic=follows, **sizes).build()
    run = cf.simulate(hand, motion={"finger": "sin(t)"}, t_eval=[0, 0.5, 1])
    sine, cosine = np.sin(run.t)[:, None], np.cos(run.t)[:, None]
    tau = cf.derive(hand, ["inverse_dynamics"]).evaluate(q=sine, qd=cosine, qdd=-sine)
    assert run.motion_forces["finger"] == pytest.approx(tau["inverse_dynamics"][:, 0], abs=1e-10)


@pytest.mark.any_processor
def test_a_slide_that_undoes_the_motion_of_the_base_leaves_a_pendulum_at_rest() -> None:
    rod = {"name": "rod", "joint": "revolute", "axis": "y", "mass": 2, "com": [0, 0, "-0.5"]}
    ship = cf.Mechanism.builder("ship", gravity=(0, 0, "-9.81"))
    ship.base(position=["sin(2*t)/2", 0, 0]).segment("slide", joint="prismatic", axis="x", mass=1)
    undone = {"slide": "-sin(2*t)/2"}
    run = cf.simulate(
        ship.segment_table({**rod, "parent": "slide"}).build(), motion=undone, q0={"rod": 0.3}
    )
    plain = cf.Mechanism.builder("plain", gravity=(0, 0, "-9.81")).segment_table(rod).build()
    alone = cf.simulate(plain, q0={"rod": 0.3})
    assert run.q[:, 1] == pytest.approx(alone.q[:, 0], abs=1e-7)


def test_pieces_join_and_the_force_jumps_with_the_acceleration() -> None:
    pieces = [{"until": 0.5, "law": "3*t^2"}, {"law": "3*t - 3/4"}]
    run = cf.simulate(carriage(), motion={"slide": pieces}, t=1, t_eval=[0.25, 0.5, 0.75])
    assert run.qdd[:, 0] == pytest.approx([6, 0, 0], abs=1e-9)
    assert run.q[:, 0] == pytest.approx([3 / 16, 0.75, 1.5], abs=1e-12)


@pytest.mark.slow
@pytest.mark.any_processor
def test_a_table_is_a_spline_through_its_points_or_near_them() -> None:
    t = np.linspace(0, 2, 30)
    table = {"t": t, "values": 0.1 * np.sin(3 * t), "smoothing": 0}
    run = cf.simulate(carriage(), motion={"slide": table}, q0={"rod": 0.3}, t=2)
    law = cf.simulate(carriage(), motion={"slide": "A*sin(3*t)"}, q0={"rod": 0.3}, t=2)
    assert run.motion_forces["slide"] == pytest.approx(law.motion_forces["slide"], abs=2e-3)
    assert run.report == ("motion of slide: spline of degree 5 through 30 numbers, no smoothing",)
    near = cf.simulate(carriage(), motion={"slide": {**table, "smoothing": 1e-3}}, t=2)
    assert "near 30 numbers, smoothed by a standard deviation of 0.001" in near.report[0]
    assert 1e-4 < np.abs(near.q[:, 0] - 0.1 * np.sin(3 * near.t)).max() < 4e-3


@pytest.mark.any_processor
def test_a_spline_has_the_rates_of_its_polynomials() -> None:
    rng = np.random.default_rng(3)
    t, between = np.sort(rng.uniform(0, 3, 12)), np.linspace(0.5, 2.5, 40)
    y = rng.normal(size=(12, 2))
    between = between[(between > t[0]) & (between < t[-1])]
    other = make_interp_spline(t, y, 5)
    for order, found in enumerate(spline_through(t, y)(between)):
        assert found == pytest.approx(other(between, nu=order), rel=1e-9, abs=1e-9)
    assert spline_through(t[:3], y[:3])(t[:3])[0] == pytest.approx(y[:3])
    near = spline_near(t, y[:, 0], 0.3)
    assert np.sqrt(np.mean((near(t)[0] - y[:, 0]) ** 2)) == pytest.approx(0.3, rel=1e-2)
    assert spline_near(t, y[:, 0], 1e300)(t)[0] == pytest.approx(spline_near(t, y[:, 0], 9)(t)[0])
    known = np.stack([np.sin(t), np.cos(t), -np.sin(t)], axis=1)
    for found, column in zip(spline_with_rates(t, known)(t), known.T, strict=True):
        assert found == pytest.approx(column, abs=1e-12)


@pytest.mark.any_processor
def test_ten_thousand_noisy_numbers_are_a_spline_of_few_pieces() -> None:
    t, random = np.linspace(0, 1, 10_001), np.random.default_rng(4)
    noisy = {"t": t, "values": 0.1 * np.sin(3 * t) + 1e-3 * random.standard_normal(10_001)}
    run = cf.simulate(carriage(), motion={"slide": {**noisy, "smoothing": 1e-3}}, t=1)
    assert np.abs(run.q[:, 0] - 0.1 * np.sin(3 * run.t)).max() < 2e-4


@pytest.mark.slow
def test_files_events_and_a_resumed_run_have_the_motion(tmp_path: Path) -> None:
    given: dict[str, Any] = {"motion": {"slide": "A*sin(3*t)"}, "rtol": 1e-8}
    events = {"turns": "der(slide)"}
    run = cf.simulate(carriage(), t=2, q0={"rod": 0.3}, events=events, **given)
    assert [event.t for event in run.events] == pytest.approx([np.pi / 6, np.pi / 2])
    run.save(tmp_path / "run.npz")
    again = cf.Run.load(tmp_path / "run.npz")
    name = "motion_force(slide)"
    assert np.array_equal(again.motion_forces["slide"], run.output(name))
    assert np.array_equal(again.output(name), run.beyond_states()[name])
    half = cf.simulate(carriage(), t=1, q0={"rod": 0.3}, **given)
    whole = cf.simulate(carriage(), t=2, resume=half, **given)
    assert whole.q[-1] == pytest.approx(run.q[-1], abs=1e-6)
    assert whole.motion_forces["slide"][-1] == pytest.approx(run.motion_forces["slide"][-1])
    with pytest.raises(Error, match="another mechanism"):
        cf.simulate(carriage(), t=2, resume=half, motion={"slide": "A*sin(4*t)"}, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.any_processor
def test_motions_of_a_batch_begin_by_their_own_values() -> None:
    pieces = [{"until": 1, "law": "A*t"}, {"law": "0.1*t"}]
    given: dict[str, Any] = {"q0": {"rod": 0.3}, "values": {"A": [0.1, 0.2]}, "t": 2}
    batch = simulate_batch(carriage(), motion={"slide": "0.3 + A*sin(3*t)"}, **given)
    alone = cf.simulate(
        carriage(), motion={"slide": "0.3 + A*sin(3*t)"}, q0={"rod": 0.3}, values={"A": 0.2}, t=2
    )
    assert batch.q[1, -1] == pytest.approx(alone.q[-1], abs=1e-8)
    wrong = simulate_batch(carriage(), motion={"slide": pieces}, **given)
    assert list(wrong.problems) == [1]
    assert "jumps by -0.1 at t = 1 s" in wrong.problems[1]


TABLE = "{ t = [0, 0.2], values = [0.4, 1.6], rates = [6, 6], accelerations = [0, 0] }"


def test_a_scenario_prescribes_motions_by_laws_and_files(tmp_path: Path) -> None:
    t = np.linspace(0, 0.2, 21)
    rows = "\n".join(f"{a!r},{0.4 + 6 * a!r}" for a in t.tolist())
    (tmp_path / "crank.csv").write_text(f"t,q.crank\n{rows}\n")
    (tmp_path / "bar.toml").write_text((EXAMPLES / "four_bar.toml").read_text())
    head = 'mechanism = "bar.toml"\ntime = 0.2\n[motion]\n'
    forces: list[Array] = []
    for law in (f'"{LAW}"', '{ file = "crank.csv", smoothing = 0 }', TABLE):
        (tmp_path / "scenario.toml").write_text(f"{head}crank = {law}\n")
        forces.append(cf.simulate(tmp_path / "scenario.toml").motion_forces["crank"])
    for found in forces[1:]:
        assert found == pytest.approx(forces[0], abs=1e-6)
    (tmp_path / "scenario.toml").write_text(f'{head}crank = "6*rocker"\n')
    with pytest.raises(Error, match="'rocker' is a coordinate") as caught:
        cf.simulate(tmp_path / "scenario.toml")
    assert caught.value.element == "motion, crank"


EXACT = {"smoothing": 0}
WRONG: list[tuple[Any, dict[str, Any], str]] = [
    ({"crank": "6*t"}, {"q0": {"crank": 0.1}}, "q0: crank begins at 0 by its motion, and 0.1"),
    ({"crank": "6*t"}, {"qd0": [0, 0, 0]}, "qd0: the rate of crank begins at 6"),
    ({"crank": "6*rocker"}, {}, "motion, crank: 'rocker' is a coordinate"),
    ({"crnk": "6*t"}, {}, "did you mean 'crank'"),
    ({"crank": "t", "q1": "t"}, {}, "motion, q1: the motion of q1 is given twice"),
    ({"crank": "0.4 + t", "rocker": "2*t"}, {}, "motion: with the motion of crank, rocker"),
    ({"crank": "abs(t - 0.5)"}, {}, "motion, crank: its rate jumps at t = 0.5 s"),
    ({"crank": "sqrt(t)"}, {}, "motion, crank: it has no finite value"),
    ({"crank": [{"until": 0.5, "law": "t"}, {"law": "2*t"}]}, {}, "value jumps by 0.5 at t = 0.5"),
    ({"crank": [{"until": 0.5, "law": "t"}, {"law": "1/2"}]}, {}, "rate jumps by -1 at t = 0.5"),
    ({"crank": [{"until": 0.5, "law": "t"}]}, {}, "nothing is given from 0.5 s on"),
    ({"crank": {"t": [0, 0.5], "values": [0, 1], **EXACT}}, {}, "table goes from 0 to 0.5 s"),
    ({"crank": {"t": range(400), "values": range(400), **EXACT}}, {}, "spline has 395 pieces"),
    ({"crank": {"t": [0, 1], "values": [0, 1], "smoothing": 1}}, {}, "cannot be smoothed"),
    ({"crank": {"t": [0, 1], "values": [0, 1]}}, {}, "must be differentiated by a spline"),
    ({"crank": {"t": [0], "values": [0], **EXACT}}, {}, "one number is no motion"),
    ({"crank": len}, {}, "cannot be a function of Python"),
    ("6*t", {}, "motion: expected a table of laws by coordinate, not '6*t'"),
    ({"crank": "6*t"}, {"method": "cvode"}, "choose ida"),
    ({"crank": "6*t"}, {"method": "gauss4", "step": 0.01}, "does not take closed loops"),
]


@pytest.mark.any_processor
@pytest.mark.parametrize(("motion", "options", "message"), WRONG)
def test_what_no_motion_can_be_is_refused(
    motion: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(Error) as caught:
        cf.simulate(four_bar(), motion=motion, **options)
    assert message in str(caught.value)


@pytest.mark.any_processor
def test_motions_that_agree_with_a_loop_are_refused_since_no_force_is_determined() -> None:
    straight = "sqrt(0.64 - (0.3*sin(0.5 + t))^2) + 0.3*cos(0.5 + t)"
    with pytest.raises(Error, match="determine the motion of slider at t = 0 s already"):
        cf.simulate(slider_crank(), motion={"crank": "0.5 + t", "slider": straight})


@pytest.mark.any_processor
def test_joints_with_quaternions_and_stops_in_the_way_are_refused_by_name() -> None:
    body = cf.Mechanism.builder("body").segment("box", joint="free", mass=1, inertia=[1, 1, 1])
    with pytest.raises(Error, match="a joint with a quaternion"):
        cf.simulate(body.build(), motion={body.build().coordinates[0]: "t"})
    limited = carriage(limits={"lower": -1, "upper": 0.05})
    with pytest.raises(Error, match="no force can stop slide upper"):
        cf.simulate(limited, motion={"slide": "A*t"}, stops=True)


@pytest.mark.slow
@pytest.mark.any_processor
def test_dry_friction_of_a_prescribed_joint_adds_to_its_force() -> None:
    given: dict[str, Any] = {"motion": {"slide": "A*t"}, "t": 0.5, "q0": {"rod": 0.3}}
    dry, free = (cf.simulate(m, **given) for m in (carriage(friction={"coulomb": 2}), carriage()))
    assert dry.motion_forces["slide"] == pytest.approx(free.motion_forces["slide"] + 2, abs=1e-7)
    assert np.ptp(dry.balance) < 1e-7


def test_a_run_is_a_motion(tmp_path: Path) -> None:
    builder = cf.Mechanism.builder("arm").segment("upper", axis="y", mass=1, com=[1, 0, 0])
    builder.segment("lower", parent="upper", axis="y", position=[1, 0, 0], mass=1, com=[1, 0, 0])
    arm = builder.build()
    span: dict[str, Any] = {"t": 0.4, "t_eval": np.linspace(0, 0.4, 21)}
    swing = cf.simulate(arm, q0=[0.3, 0.2], **span)
    swing.save(tmp_path / "swing.npz")
    again = cf.simulate(arm, motion=tmp_path / "swing.npz", **span)
    assert np.abs(again.q - swing.q).max() < 1e-10
    assert max(np.abs(force).max() for force in again.motion_forces.values()) < 1e-6
    alone = cf.simulate(arm, q0=[0.3, 0.2], motion={"upper": swing}, **span)
    assert np.abs(alone.q - swing.q).max() < 1e-6
    with pytest.raises(Error, match="no coordinate of the run"):
        cf.simulate(four_bar(), motion={"crank": swing})
    ball = cf.Mechanism.builder("ball").segment("b", joint="free", mass=1, inertia=[1, 1, 1])
    thrown = cf.simulate(ball.build(), t=0.1, qd0=[1, 0, 0, 0, 0, 0])
    with pytest.raises(Error, match="quaternion"):
        cf.simulate(ball.build(), t=0.1, motion=thrown)
