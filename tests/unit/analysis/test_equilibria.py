"""Equilibria: against closed forms, an algebraic count, energies, simulations; refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from chainform.errors import RunError
from chainform.simulation import assemble, simulate
from unit.analysis.spring_linkage import FourBar, drawn_lengths, same_sets, wrapped

Array = NDArray[np.float64]
EXAMPLES = Path(__file__).parents[3] / "examples"


# --- a four-bar with a spring, and all equilibria by algebra -------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        *(pytest.param((seed, None), id=str(seed)) for seed in (38, 0, 9, 22, 26, 1, 2, 3)),
        *(pytest.param((seed, seed), id=f"lengths {seed}") for seed in (3, 23, 58, 0, 1)),
    ],
)
def test_all_equilibria_of_a_four_bar_with_a_spring_are_the_real_roots_of_its_polynomial(
    given: tuple[int, int | None],
) -> None:
    seed, lengths = given
    bar = FourBar(seed) if lengths is None else FourBar(seed, drawn_lengths(lengths))
    wanted = bar.equilibria()
    assert len(wanted) >= 2
    assert len(wanted) % 2 == 0, "on a closed curve minima and maxima alternate"
    found = cf.equilibria(bar.mechanism())
    absolute = found["q"][:, :2] @ np.array([[1, 1], [0, 1]])
    assert same_sets(absolute, wanted)
    by_hand = bar.energy(absolute[:, 0], absolute[:, 1])
    assert np.ptp(found["potential_energy"] - by_hand) < 1e-9
    assert found["residual"].max() < 1e-9
    assert np.sum(found["stable"] == 1) == np.sum(found["stable"] == 0) == len(wanted) / 2


@pytest.mark.parametrize("seed", range(3))
def test_with_a_spring_of_some_length_they_are_the_turning_points_of_the_energy(
    seed: int,
) -> None:
    bar = FourBar(seed)
    bar.rest = 0.25
    crank = np.linspace(-np.pi, np.pi, 40001)
    away = bar.d - bar.a * np.exp(1j * crank)
    reach = np.abs(away)
    inner = np.arccos((bar.b**2 + reach**2 - bar.c**2) / (2 * bar.b * reach))
    count = 0
    for side in (1, -1):
        energy = bar.energy(crank, np.angle(away) + side * inner)
        slopes = np.diff(energy)
        count += int(np.sum(slopes * np.roll(slopes, 1) < 0))
    assert len(cf.equilibria(bar.mechanism(), starts=300)) == count


# --- closed forms --------------------------------------------------------------------------------


def pendulum(stiffness: Any = 0, *, up: bool = True, **joint: Any) -> cf.Mechanism:
    """A mass of 1 kg on a rod of 0.5 m, upright at zero, with a spring in its joint; g = 10."""
    builder = cf.Mechanism.builder("pendulum", gravity=(0, 0, -10))
    com = [0, 0, "0.5" if up else "-0.5"]
    builder.segment("swing", joint={"type": "revolute", **joint}, axis="y", mass=1, com=com)
    if stiffness:
        builder.spring(joint="swing", stiffness=stiffness)
    return builder.build()


def roots_of(function: Any, low: float, high: float) -> Array:
    """All zeros of a function between two bounds, by signs on a fine grid and halving."""
    grid = np.linspace(low, high, 20001)
    values = function(grid)
    found: list[float] = []
    for place in np.flatnonzero(values[:-1] * values[1:] < 0).tolist():
        a, b = grid[place], grid[place + 1]
        for _ in range(60):
            middle = (a + b) / 2
            a, b = (a, middle) if function(a) * function(middle) <= 0 else (middle, b)
        found.append(float(a))
    return np.array(found)


def test_an_upright_pendulum_with_a_spring_has_the_roots_of_its_equation() -> None:
    # k phi = m g l sin(phi): angles that differ by a turn are different, since the spring is.
    wide = cf.equilibria(pendulum("0.4"), ranges={"swing": [-15, 15]})
    wanted = roots_of(lambda phi: 0.4 * phi - 5 * np.sin(phi), -15.001, 15)
    assert np.allclose(np.sort(wide["q"][:, 0]), wanted, atol=1e-9)
    assert len(wanted) > 5
    stiffness = 0.4 - 5 * np.cos(wide["q"][:, 0])
    assert np.allclose(wide["stiffness"], stiffness)
    assert np.array_equal(wide["stable"], (stiffness > 0).astype(float))


def test_whole_turns_are_the_same_pose_where_nothing_winds_up() -> None:
    found = cf.equilibria(pendulum(), ranges={"swing": [-20, 20]})
    assert np.allclose(np.sort(np.abs(wrapped(found["q"][:, 0]))), [0, np.pi], atol=1e-9)
    assert found["hits"].sum() == found.facts["solved"] == 1000
    again = cf.equilibria(pendulum(), ranges={"swing": [-20, 20]})
    assert np.array_equal(found["q"], again["q"])


def test_a_relative_equilibrium_on_a_turning_base() -> None:
    # A bead on a hoop that turns with w: cos(phi) = g / (w^2 l), or it is lowest or highest.
    builder = cf.Mechanism.builder("hoop", gravity=(0, 0, -10)).base(angular_velocity=[0, 0, 6])
    builder.segment("swing", axis="y", mass=1, com=[0, 0, "-0.5"])
    found = cf.equilibria(builder.build())
    tilted = np.arccos(10 / (36 * 0.5))
    wanted = np.array([[0.0], [np.pi], [tilted], [-tilted]])
    assert same_sets(found["q"], wanted)
    angles = np.abs(wrapped(found["q"][:, 0]))
    stable = np.isclose(angles, tilted, atol=1e-6)
    assert np.array_equal(found["stable"] == 1, stable)
    assert any("moving base" in line for line in found.report)


def test_zieglers_column_flutters_at_its_follower_load() -> None:
    # Ziegler's column with masses 2 m and m: flutter at (7/2 - sqrt 2) k / l, no buckling before.
    builder = cf.Mechanism.builder("column", gravity=(0, 0, 0))
    builder.parameter("P", 1)
    builder.segment("lower", axis="y", mass=0)
    builder.segment("knee", parent="lower", joint="fixed", position=[0, 0, 1], mass=2)
    builder.segment("upper", parent="knee", axis="y", mass=1, com=[0, 0, 1])
    for joint in ("lower", "upper"):
        builder.spring(joint=joint, stiffness=1)
    builder.force("lower", "-P*sin(upper)")
    critical = 3.5 - np.sqrt(2)
    states = {
        load: cf.equilibria(builder.build(), values={"P": load}, q0=[0, 0], starts=1, ranges=SMALL)
        for load in (critical - 1e-3, critical + 1e-3)
    }
    below, above = states.values()
    assert (below["stable"][0], above["stable"][0]) == (-1, 0), "without damping nothing decays"
    assert below["growth"][0] == 0 < above["growth"][0]
    # Buckling is not what happens: the symmetric part of the stiffness says nothing here.
    assert not above["singular"][0]


SMALL = {"lower": [-0.01, 0.01], "upper": [-0.01, 0.01]}


def test_a_motor_holds_where_its_torque_is_that_of_the_weight() -> None:
    builder = cf.Mechanism.builder("driven", gravity=(0, 0, -10))
    builder.segment("swing", axis="y", mass=1, com=[0, 0, "-0.5"], inertia=["0.1", "0.1", "0.1"])
    builder.actuator(
        "motor",
        "swing",
        type="dc_motor",
        resistance=2,
        inductance="0.01",
        torque_constant="0.5",
        rotor_inertia="0.001",
        gear_ratio=5,
    )
    found = cf.equilibria(builder.build(), signals={"motor": 3})
    torque = 0.5 * 3 / 2 * 5
    wanted = np.arcsin(torque / 5)
    assert same_sets(found["q"], np.array([[wanted], [np.pi - wanted]]))
    assert np.allclose(found["x"], 1.5)
    order = np.argsort(np.abs(wrapped(found["q"][:, 0])))
    assert found["stable"][order].tolist() == [1, 0]


def test_a_signal_that_prescribes_a_motion_rests_where_it_asks_for_none() -> None:
    # qdd = -4 q - qd + 2 x and x' = -40 x + 10 u: q = u / 8, whatever the weight is.
    builder = cf.Mechanism.builder("servo", gravity=(0, 0, -10))
    builder.segment("swing", axis="y", mass=1, com=[0, 0, "-0.5"], inertia=["0.1", "0.1", "0.1"])
    builder.actuator(
        "servo",
        "swing",
        A=[[0, 1, 0], [-4, -1, 2], [0, 0, -40]],
        b=[0, 0, 10],
        f=[0, 0, 0],
        position=[1, 0, 0],
        velocity=[0, 1, 0],
    )
    found = cf.equilibria(builder.build(), signals={"servo": 2}, starts=20)
    assert found["q"] == pytest.approx(np.array([[0.25]]))
    assert found["multipliers"][0, 0] == pytest.approx(5 * np.sin(0.25)), "the drive of the servo"
    assert found["stable"].tolist() == [1]
    assert found["growth"][0] == pytest.approx(-0.5)


# --- contacts and stops --------------------------------------------------------------------------


def ladder() -> cf.Mechanism:
    """A rod of 2 m and 3 kg in a plane; a spring of no length draws its foot to the corner."""
    builder = cf.Mechanism.builder("ladder", gravity=(0, 0, -10))
    builder.segment("x", joint="prismatic", axis="x")
    builder.segment("z", parent="x", joint="prismatic", axis="z")
    builder.segment(
        "rod", parent="z", joint="revolute", axis="y", mass=3, com=[-1, 0, 0], inertia=[0, 1, 1]
    )
    builder.frame("top", "rod", [-2, 0, 0]).frame("foot", "rod")
    ends = [{"segment": "rod"}, {"segment": "ground"}]
    return builder.spring(ends=ends, stiffness=10).build()


def test_a_ladder_leans_where_weight_and_spring_say_and_the_walls_only_push() -> None:
    walls = {"foot": {"friction": 0}, "top": {"friction": 0, "normal": [1, 0, 0]}}
    found = cf.equilibria(ladder(), contacts=walls, starts=300)
    # V = m g L/2 sin + k L^2/2 cos^2: sin = m g / (2 k L)
    tilt = np.arcsin(3 * 10 / (2 * 10 * 2))
    forces, gaps = (
        np.stack([found[f"{word}({name})"] for name in walls], axis=1)
        for word in ("contact_force", "gap")
    )
    leaning = forces.min(axis=1) > 1e-6
    poses = found["q"][leaning]
    assert np.any(np.abs(poses - [2 * np.cos(tilt), 0, tilt]).max(axis=1) < 1e-8)
    for pose, push, stable in zip(poses, forces[leaning], found["stable"][leaning], strict=True):
        assert push[0] == pytest.approx(30), "the floor carries the weight"
        assert push[1] == pytest.approx(10 * pose[0]), "the wall balances the spring"
        assert stable == 0
    assert np.all(forces > -1e-9)
    assert np.all(gaps > -1e-9)
    assert np.abs(forces * gaps).max() < 1e-9


def test_balls_in_a_tube_lie_on_each_other_and_each_carries_those_above() -> None:
    builder = cf.Mechanism.builder("balls", gravity=(0, 0, -10))
    masses = {"a": 1, "b": 2, "c": 4}
    for name, mass in masses.items():
        joint = {"name": name, "type": "prismatic", "limits": {"lower": 0, "upper": 5}}
        builder.segment(name, parent="ground", joint=joint, axis="z", mass=mass)
    for pair in ("b - a - 0.5", "c - b - 0.5"):
        builder.constraint("unilateral", pair)
    tube = builder.build()
    found = cf.equilibria(tube, stops=True, starts=60)
    assert len(found) == 1
    assert np.allclose(found["q"], [[0, 0.5, 1]], atol=1e-9)
    pushes = {name: found[f"contact_force({name})"][0] for name in found.facts["contacts"]}
    assert pushes["a lower"] == pytest.approx(70)
    assert sorted(pushes.values())[-3:] == pytest.approx([40, 60, 70])
    assert found["stable"][0] == 1
    # Drawn up they lie on the upper stop of the topmost.
    drawn = cf.equilibria(tube, stops=True, starts=60, forces=dict.fromkeys(masses, 100))
    assert np.allclose(drawn["q"], [[4, 4.5, 5]], atol=1e-9)


def test_sliding_rods_come_to_rest_on_their_stops_in_eight_ways() -> None:
    # Each of three rods hangs out to its stop, or stands on its own lower stop and hangs back.
    links = cf.read(EXAMPLES / "sliding_links.toml")
    found = cf.equilibria(links, stops=True, starts=300)
    stable = found["stable"] == 1
    ends = np.round(found["q"][stable, 3:], 6) + 0.0
    assert len(np.unique(ends, axis=0)) == np.sum(stable) == 8
    assert set(np.unique(ends)) == {0, 1}
    # The rod i carries those after it: 20 N each, at half a length and at whole ones.
    wanted = [-90, -90, -70, -70, -50, -50, -30, -30]
    assert np.sort(found["potential_energy"][stable]) == pytest.approx(wanted)


def test_a_stiff_stop_gives_way() -> None:
    stops = {"swing": {"upper": 0.5, "stiffness": 200}}
    found = cf.equilibria(pendulum(), stops=stops, ranges={"swing": [0.1, 1.5]})
    # 5 sin(phi) = 200 (phi - 0.5)
    (wanted,) = roots_of(lambda phi: 5 * np.sin(phi) - 200 * np.maximum(phi - 0.5, 0), 0.1, 1.5)
    assert found["stable"].tolist().count(1) == 1
    assert found["q"][found["stable"] == 1, 0] == pytest.approx([wanted], abs=1e-9)


def test_friction_is_left_out_and_said_so() -> None:
    found = cf.equilibria(pendulum(friction={"coulomb": 1}))
    assert np.allclose(np.sort(np.abs(found["q"][:, 0])), [0, np.pi])
    assert any("friction" in line for line in found.report)


# --- families, singular equilibria ---------------------------------------------------------------


def test_what_moves_freely_is_one_family_with_its_direction() -> None:
    builder = cf.Mechanism.builder("turntable", gravity=(0, 0, -10))
    builder.segment("table", axis="z", mass=1, inertia=[1, 1, 1])
    builder.segment("swing", parent="table", axis="y", mass=1, com=[0, 0, "-0.5"])
    found = cf.equilibria(builder.build())
    assert found["family"].tolist() == [1, 1]
    assert found["hits"].sum() == found.facts["solved"]
    assert any("moves freely along table" in line for line in found.report)
    assert found["stable"].tolist() == [-1, 0]


def test_a_spring_that_balances_the_weight_in_every_pose_makes_a_family() -> None:
    # A spring of no length from a point on the rod to one above the pivot: k a b = m g l.
    builder = cf.Mechanism.builder("balanced", gravity=(0, 0, -10))
    builder.segment("swing", axis="y", mass=1, com=["0.5", 0, 0])
    ends = [
        {"segment": "swing", "point": ["0.25", 0, 0]},
        {"segment": "ground", "point": [0, 0, 1]},
    ]
    found = cf.equilibria(builder.spring(ends=ends, stiffness=20).build())
    assert len(found) == 1
    assert (found["family"][0], found["stable"][0]) == (1, -1)


def test_at_the_critical_load_an_equilibrium_is_singular_and_isolated() -> None:
    found = cf.equilibria(pendulum(5))
    assert len(found) == 1
    assert (found["singular"][0], found["family"][0], found["stable"][0]) == (1, 0, -1)
    assert any("is singular: no stiffness along swing" in line for line in found.report)


def test_a_ball_joint_hangs_or_stands_and_turns_about_the_vertical() -> None:
    builder = cf.Mechanism.builder("top", gravity=(0, 0, -10))
    builder.segment("top", joint="spherical", mass=1, com=[0, 0, "0.5"], inertia=[1, 1, 1])
    found = cf.equilibria(builder.build(), starts=50)
    assert found["family"].tolist() == [1, 1]
    assert found["potential_energy"] == pytest.approx([-5, 5])
    assert found["stable"].tolist() == [-1, 0]


def test_a_nonholonomic_constraint_holds_anywhere() -> None:
    skate = cf.equilibria(EXAMPLES / "knife_edge.toml", starts=20)
    assert np.all(skate["family"] > 0)
    assert np.all(skate["stable"] == -1)


# --- held joints, element models, simulations ----------------------------------------------------


def test_held_joints_have_the_drives_of_statics() -> None:
    linkage = cf.read(EXAMPLES / "four_bar.toml")
    found = cf.equilibria(linkage, held={"crank": 0.4}, starts=40)
    assert len(found) == 2, "a four-bar closes in two ways"
    for row in range(2):
        held = cf.statics(linkage, found["q"][row], ["crank"])
        assert np.allclose(held["tau"][0], found["tau"][row], atol=1e-9)
        assert np.allclose(held["multipliers"][0], found["multipliers"][row], atol=1e-9)
    assert np.all(found["stable"] == 1)
    assert np.all(np.isinf(found["stiffness"]))


@pytest.mark.slow
def test_a_stewart_platform_rests_on_its_legs_and_the_ground_carries_its_weight() -> None:
    stewart = cf.read(EXAMPLES / "stewart.toml")
    legs = {f"leg{k}": 0.166 for k in range(1, 7)}
    pose = assemble(stewart, {**legs, "platform_z": 0.6}, list(legs))
    drives = cf.statics(stewart, pose, list(legs))
    assert drives.facts["kind"] == "exact"
    found = cf.equilibria(stewart, q0=pose, held=legs, starts=1)
    near = np.argmin(np.abs(found["q"] - pose).max(axis=1))
    assert np.abs(found["q"][near] - pose).max() < 1e-8
    assert np.allclose(found["tau"][near], drives["tau"][0], atol=1e-8)
    assert found["stable"][near] == 1
    run = drives.run
    total = np.zeros(3)
    for k, segment in enumerate(stewart.segments):
        if segment.parent < 0:
            turned = run.output(f"pose({segment.name})")[0][:3, :3]
            total += turned @ run.reactions[0, k, :3]
    mass = 12 + 6 * 1.5
    assert np.allclose(total, [0, 0, 9.81 * mass], atol=1e-8)


def test_an_element_model_rests_where_its_energy_is_least() -> None:
    crane = cf.read(EXAMPLES / "portal_crane.toml")
    found = cf.equilibria(crane, forces={"S": 0}, ranges={"s": [2.7, 5.2]}, starts=30)
    energy = cf.derive(crane, ["potential_energy"])
    s = np.linspace(2.7, 5.2, 100001)[:, None]
    least = s[np.argmin(energy.evaluate(q=s)["potential_energy"]), 0]
    assert found["q"][:, 0] == pytest.approx([least], abs=3e-5)
    assert found["stable"].tolist() == [1]


@pytest.mark.slow
def test_damped_motions_end_in_stable_equilibria() -> None:
    builder = cf.Mechanism.builder("arm", gravity=(0, 0, -10))
    joint = {"type": "revolute", "friction": {"viscous": 3}}
    builder.segment("a", joint=joint, axis="y", mass=1, com=[0, 0, "0.5"])
    builder.segment(
        "b", parent="a", joint=joint, axis="y", position=[0, 0, 1], mass=1, com=[0, 0, "0.5"]
    )
    arm = builder.spring(joint="a", stiffness=8).spring(joint="b", stiffness=1).build()
    found = cf.equilibria(arm)
    stable = found["q"][found["stable"] == 1]
    ends = [simulate(arm, q0=q0, t=60, t_eval=[60]).q[-1] for q0 in ([0.1, 0], [-0.5, 1], [1, -2])]
    for end in ends:
        assert np.abs(stable - end).max(axis=1).min() < 1e-6
    assert len(np.unique(np.round(ends, 3), axis=0)) > 1


# --- files and refusals --------------------------------------------------------------------------


def test_the_result_is_written_and_read(tmp_path: Path) -> None:
    from chainform.analysis import Result

    found = cf.equilibria(pendulum(2))
    found.save(tmp_path / "found.npz")
    back = Result.load(tmp_path / "found.npz")
    assert np.array_equal(back["q"], found["q"])
    assert back.report == found.report
    assert "3 equilibria of pendulum: 2 stable, 1 unstable" in str(found)


def test_a_file_may_ask_the_same(tmp_path: Path) -> None:
    file = tmp_path / "rest.toml"
    text = f'task = "equilibria"\nmechanism = "{EXAMPLES / "four_bar.toml"}"\nstarts = 40\n'
    file.write_text(text + "[held]\ncrank = 0.4\n", encoding="utf-8")
    found = cf.analyse(file)
    assert len(found) == 2
    assert np.allclose(found["q"][:, 0], 0.4)
    file.write_text(text + "stop = true\n", encoding="utf-8")
    with pytest.raises(cf.Error, match="unknown field 'stop'"):
        cf.analyse(file)


REFUSED = [
    ({"forces": {"swing": 20}}, "no equilibrium was found from 1000 starts: at best"),
    ({"starts": 0}, "whole number"),
    ({"starts": 10**6}, "whole number"),
    ({"held": ["swung"]}, "no rate named 'swung'"),
    ({"held": {"swing": "x"}}, "expected a number"),
    ({"ranges": {"swing": [1, 0]}}, "the range is empty"),
    ({"ranges": {"swung": [0, 1]}}, "no coordinate named 'swung'"),
    ({"forces": {"swung": 1}}, "no rate named 'swung'"),
    ({"values": {"mass": 1}}, "there is no parameter 'mass'"),
    ({"signals": {"motor": 1}}, "motor"),
    ({"q0": [1, 2]}, "shape"),
    ({"q0": [[1, 2], 0], "held": []}, "lists of different lengths"),
    ({"stop": True}, "unknown field 'stop'"),
    ({"contacts": ["foot"]}, "foot"),
    ({"time": np.nan}, "not finite"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_wrong_arguments_are_refused_with_a_remedy(given: dict[str, Any], message: str) -> None:
    with pytest.raises(cf.Error) as caught:
        cf.equilibria(pendulum(), **given)
    assert message in str(caught.value)
    assert caught.value.remedy


def test_bases_that_move_by_laws_of_time_are_refused_and_laws_are_noted() -> None:
    builder = cf.Mechanism.builder("ship", gravity=(0, 0, -10)).base(position=[0, 0, "sin(t)"])
    ship = builder.segment("swing", axis="y", mass=1, com=[0, 0, 1]).build()
    with pytest.raises(RunError, match="moves by laws of time"):
        cf.equilibria(ship)
    pushed = cf.equilibria(pendulum(), forces={"swing": "2*t"}, time=1)
    assert np.allclose(np.sort(np.abs(pushed["q"][:, 0])), [np.arcsin(0.4), np.pi - np.arcsin(0.4)])
    assert any("at t = 1 s" in line for line in pushed.report)


def test_loops_that_cannot_close_are_named() -> None:
    with pytest.raises(RunError, match="could loops and constraints be closed"):
        cf.equilibria(EXAMPLES / "four_bar.toml", held={"crank": 0.4, "rocker": 3}, starts=5)


def test_reactions_in_the_joints_know_the_contacts() -> None:
    # A beam of 4 m on a hinge and on the ground at its end: each carries half of its weight.
    builder = cf.Mechanism.builder("beam", gravity=(0, 0, -10))
    builder.segment("beam", axis="y", mass=3, com=[2, 0, 0], inertia=[1, 1, 1])
    beam = builder.frame("end", "beam", [4, 0, 0]).build()
    found = cf.equilibria(beam, contacts={"end": {"friction": 0}}, ranges={"beam": [-1, 1]})
    row = int(np.argmin(np.abs(found["q"][:, 0])))
    assert found["contact_force(end)"][row] == pytest.approx(15)
    assert np.allclose(found["contact_wrench(beam)"][row], [0, 0, 15, 0, -60, 0])
    assert np.allclose(found.run.reactions[row, 0], [0, 0, 15, 0, 0, 0], atol=1e-9)


def test_a_loop_of_frames_has_the_equilibria_of_a_loop_of_points() -> None:
    bar = FourBar(0)
    builder = cf.Mechanism.builder("chain", gravity=(0, "-9.81", 0))
    lengths = {"crank": bar.a, "coupler": bar.b, "rocker": bar.c, "pivot": 0}
    parent, position = "ground", 0.0
    for (name, length), mass in zip(lengths.items(), (*bar.masses, 0), strict=True):
        place = [position, 0, 0]
        com = [length / 2, 0, 0]
        builder.segment(name, parent=parent, axis="z", position=place, mass=float(mass), com=com)
        parent, position = name, length
    ends = {"segment": "pivot"}, {"segment": "ground", "point": [bar.d, 0, 0]}
    builder.loop("frame", "frame", *ends)
    places = [
        {"segment": "coupler", "point": [*bar.point.tolist(), 0]},
        {"segment": "ground", "point": [*bar.ground.tolist(), 0]},
    ]
    builder.spring(ends=places, stiffness=bar.stiffness)
    found = cf.equilibria(builder.build(), starts=300)
    absolute = found["q"][:, :2] @ np.array([[1, 1], [0, 1]])
    assert same_sets(absolute, bar.equilibria())


@pytest.mark.parametrize("kind", ["revolute", "point"])
def test_a_linkage_in_a_tilted_plane_has_all_its_equilibria(kind: str) -> None:
    """Rows of the pin across the plane are rounding errors, as nothing moves them."""
    builder = cf.Mechanism.builder("tilted", gravity=(0, "-9.81", 0))
    builder.segment("plane", joint="fixed", rpy=["0.3", "0.7", "0.2"])
    for name, parent, x, length, mass in (
        ("crank", "plane", 0, "0.2", 0.3),
        ("coupler", "crank", "0.2", "0.5", 0.6),
        ("rocker", "plane", "0.6", "0.4", 0.5),
    ):
        com = [f"{length}/2", 0, 0]
        builder.segment(name, parent=parent, axis="z", position=[x, 0, 0], mass=mass, com=com)
    axis = {} if kind == "point" else {"axis": "z"}
    ends = (
        {"segment": "coupler", "point": ["0.5", 0, 0]},
        {"segment": "rocker", "point": [0.4, 0, 0]},
    )
    builder.loop("pin", kind, *({**end, **axis} for end in ends))
    found = cf.equilibria(builder.build(), starts=60)
    assert found.facts["closed"] == 60
    assert found["stable"].tolist() == [1, 0, 1, 0]


def door() -> cf.Mechanism:
    """Return a body that turns about and slides along the vertical axis of a loop."""
    builder = cf.Mechanism.builder("door", gravity=(0, -10, 0))
    joint = {"type": "spherical", "euler": "zyx"}
    builder.segment("door", joint=joint, mass=1, com=["0.2", 0, "0.3"], inertia=[1, 1, 1])
    ends = {"segment": "door", "point": [0, 0, 1], "axis": "z"}, {"segment": "ground", "axis": "z"}
    return builder.loop("hinge", "cylindrical", *ends).build()


def test_a_loop_that_is_turned_over_is_not_closed() -> None:
    found = cf.equilibria(door(), starts=60)
    # Each pose has two triples of angles.
    assert found["stable"].tolist() == [1, 1, 0, 0]
    z = cf.derive(door(), ["pose(door)"]).evaluate(q=found["q"])["pose(door)"][:, 2, 2]
    assert np.allclose(z, 1)
    with pytest.raises(RunError, match="no equilibrium was found near q0"):
        cf.equilibrium_path(door(), "m_3", (1, 2), q0=[np.pi / 2, np.pi, 0])


def test_what_the_equations_cannot_say_is_refused() -> None:
    crane = cf.read(EXAMPLES / "portal_crane.toml")
    with pytest.raises(RunError, match="leaves S unknown"):
        cf.equilibria(crane)
    with pytest.raises(RunError, match="no finite value at any of 20 starts"):
        cf.equilibria(crane, forces={"S": 0}, starts=20)
    builder = cf.Mechanism.builder("top", gravity=(0, 0, -10))
    top = builder.segment("top", joint="spherical", mass=1, com=[0, 0, 1]).build()
    with pytest.raises(RunError, match="quaternion"):
        cf.equilibria(top, held=["top_wx"])
    with pytest.raises(RunError, match="several values"):
        cf.equilibria(pendulum(), held=["swing"], q0=[[0.1], [0.2]])


def test_a_joint_without_mass_is_decided_by_stiffness_and_not_by_poles() -> None:
    builder = cf.Mechanism.builder("pointer", gravity=(0, 0, 0))
    pointer = builder.segment("turn", axis="z", mass=0).spring(joint="turn", stiffness=2).build()
    assert cf.equilibria(pointer)["stable"].tolist() == [1]
    # A force that depends on the rate asks for poles, and without mass there are none.
    swirl = cf.equilibria(pointer, forces={"turn": "der(turn)"})
    assert swirl["stable"].tolist() == [-1]


def test_a_linkage_without_freedoms_is_stable_with_a_drive_that_has_no_states() -> None:
    builder = cf.Mechanism.builder("triangle", gravity=(0, -10, 0))
    builder.segment("a", axis="z", mass=1, com=["0.5", 0, 0])
    builder.segment("b", parent="a", axis="z", position=[1, 0, 0], mass=1, com=["0.5", 0, 0])
    ends = {"segment": "b", "point": [1, 0, 0]}, {"segment": "ground", "point": [1, 0, 0]}
    builder.loop("pin", "point", *ends)
    builder.actuator("motor", "a", type="dc_motor", resistance=2, torque_constant="0.1")
    found = cf.equilibria(builder.build(), starts=20)
    assert len(found) == 2
    assert (found["stable"] == 1).all()
    assert np.allclose(np.abs(found["q"][:, 0]), np.pi / 3)


def test_pressures_of_a_cylinder_that_carries_a_load_are_found() -> None:
    """Millions of pascals, whose flow through the piston is a few cubic millimetres a second."""
    found = cf.equilibria(EXAMPLES / "hydraulic_lift.toml", starts=8)
    pressure = 400 * 9.81 / (1.257e-3 - 6.41e-4)
    assert found["x"] == pytest.approx(np.array([[0, pressure, pressure]]), rel=1e-9, abs=1e-9)
    assert found["family"].tolist() == [1]


def test_a_search_begins_with_states_that_are_given() -> None:
    """The laws of a pneumatic cylinder divide by pressures."""
    slide = cf.read(EXAMPLES / "pneumatic_slide.toml")
    with pytest.raises(RunError, match="no finite value") as error:
        cf.equilibria(slide, starts=4)
    assert "x0=" in (error.value.remedy or "")
    air: dict[str, Any] = {"x0": {"cylinder.push": 1e5, "cylinder.pull": 1e5}}
    assert cf.equilibria(slide, starts=4, **air)["x"].tolist() == [[1e5, 1e5]]
    with pytest.raises(RunError, match="no state 'push'"):
        cf.equilibria(slide, starts=4, x0={"push": 1e5})
