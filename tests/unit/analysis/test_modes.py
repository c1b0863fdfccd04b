"""Modes of oscillation: against closed forms, published eigenvalues, laws; pictures; refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import chainform as cf
from chainform.analysis import Result
from chainform.simulation import assemble
from published.cases.bicycle import FRONT, PUBLISHED, REAR, bicycle
from unit.analysis.oscillators import (
    TOP,
    G,
    elastic_joint,
    oscillator,
    parallelogram,
    pendulums,
    spherical_pendulum,
    spring_chain,
    top,
)
from unit.analysis.test_linearisation import driven_bar

EXAMPLES = Path(__file__).parents[3] / "examples"
DOWN = [-np.pi / 2, np.pi / 2, -np.pi / 2]


def complex_poles(found: Result) -> Any:
    return found["pole_real"] + 1j * found["pole_imag"]


# --- closed forms -------------------------------------------------------------------------------


def test_a_chain_of_springs_between_walls() -> None:
    """omega_k = 2 sqrt(k/m) sin(k pi/(2(n + 1))), shapes are sines."""
    n = 6
    found = cf.modes(spring_chain(n))
    k = np.arange(1, n + 1)
    wanted = 2 * np.sqrt(1.5) * np.sin(k * np.pi / (2 * (n + 1)))
    assert found["angular_frequency"] == pytest.approx(wanted, rel=1e-12)
    assert found["frequency"] == pytest.approx(wanted / (2 * np.pi), rel=1e-12)
    assert not found["growth"].any()
    assert found.facts["kinds"] == ["oscillation"] * n
    shapes = np.sin(np.outer(k, k) * np.pi / (n + 1))
    for row, shape in zip(found["shape_real"], shapes, strict=True):
        assert abs(row @ shape) == pytest.approx(np.linalg.norm(row) * np.linalg.norm(shape))
    assert np.abs(found["shape_real"]).max(axis=1) == pytest.approx(np.ones(n))
    assert not found["shape_imag"].any()


def test_a_free_chain_has_one_free_motion_of_frequency_zero() -> None:
    n = 5
    found = cf.modes(spring_chain(n, is_free=True))
    wanted = 2 * np.sqrt(1.5) * np.sin(np.arange(n) * np.pi / (2 * n))
    assert found["angular_frequency"][0] == 0
    assert found["angular_frequency"] == pytest.approx(wanted, rel=1e-12)
    assert found["shape_real"][0] == pytest.approx(np.ones(n))
    assert found.facts["kinds"][:2] == ["free motion", "oscillation"]
    assert found.report[2] == "mode 1: free motion of m0, m1, m2, m3 and 1 more"


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_pendulums_swing_by_roots_of_laguerre(count: int) -> None:
    """omega^2 = x g/l with L_n(x) = 0, for equal masses at equal distances."""
    roots = np.polynomial.laguerre.lagroots([0] * count + [1])
    found = cf.modes(pendulums(count))
    assert found["angular_frequency"] == pytest.approx(np.sqrt(2 * G * np.sort(roots)), rel=1e-11)


def test_pendulums_that_stand_grow_and_decay_by_the_same_rates() -> None:
    roots = np.sort(np.polynomial.laguerre.lagroots([0, 0, 1]))
    found = cf.modes(pendulums(2), q=[np.pi, 0])
    rates = np.repeat(np.sqrt(2 * G * roots), 2)
    assert np.abs(found["growth"]) == pytest.approx(rates, rel=1e-11)
    assert found.facts["kinds"] == ["growth", "decay", "growth", "decay"]
    assert found["damping_ratio"] == pytest.approx([-1, 1, -1, 1])


def test_a_parallelogram_swings_as_its_energy_says() -> None:
    """omega^2 = V'' / T'' of the crank angle; the coupler does not turn."""
    found = cf.modes(parallelogram(), q=DOWN)
    wanted = np.sqrt(G * (2 * 0.2 + 3 * 0.4) / (2 * (0.02 + 0.04) + 3 * 0.16))
    assert found["angular_frequency"] == pytest.approx([wanted], rel=1e-12)
    assert found["shape_real"][0] == pytest.approx([1, -1, 1])


def test_a_four_bar_swings_as_differences_of_its_energy_say() -> None:
    bar = cf.read(EXAMPLES / "four_bar.toml")
    rest = cf.equilibria(bar, starts=20)
    row = int(np.flatnonzero(rest["stable"] == 1)[0])
    found = cf.modes(bar, q=rest["q"][row])
    model = cf.derive(bar, ["potential_energy", "mass_matrix"])
    angles = rest["q"][row, 0] + 1e-3 * np.arange(-3, 4)
    poses = [assemble(bar, np.array([a, *rest["q"][row, 1:]]), ["crank"]) for a in angles]
    energies = [float(model.evaluate(q=q)["potential_energy"]) for q in poses]
    bend = np.dot([2, -27, 270, -490, 270, -27, 2], energies) / 180e-6
    along = np.dot([-1, 9, -45, 0, 45, -9, 1], poses) / 60e-3
    mass = along @ model.evaluate(q=poses[3])["mass_matrix"] @ along
    assert found["angular_frequency"][0] == pytest.approx(np.sqrt(bend / mass), rel=1e-7)
    shape = found["shape_real"][0]
    assert shape / shape[0] == pytest.approx(along, rel=1e-7)


def test_an_elastic_joint_between_rotor_and_arm() -> None:
    """omega^2 = k (1/J + 1/I), and all turns freely."""
    found = cf.modes(elastic_joint())
    assert found["angular_frequency"] == pytest.approx([0, np.sqrt(80 * (1 / 0.3 + 1 / 1.2))])
    assert found["shape_real"] == pytest.approx(np.array([[1, 0], [-0.8, 1]]))


def test_an_elastic_arm() -> None:
    """Two rods on springs in their joints: the quadratic equation of M and K by hand."""
    angle, length, mass = 0.7, 0.4, 2.0
    builder = cf.Mechanism.builder("elastic arm", gravity=(0, 0, 0))
    rod: dict[str, Any] = {"axis": "z", "mass": mass, "com": [length / 2, 0, 0]}
    rod["inertia"] = [0, 0, mass * length**2 / 12]
    builder.segment("upper", **rod)
    builder.segment("lower", parent="upper", position=[length, 0, 0], **rod)
    arm = builder.build()
    springs = {"upper": "-90*upper", "lower": f"-40*(lower - {angle})"}
    found = cf.modes(arm, q=[0, angle], forces=springs)
    inertia, side = mass * length**2, np.cos(angle)
    M = inertia * np.array([[5 / 3 + side, 1 / 3 + side / 2], [1 / 3 + side / 2, 1 / 3]])
    # det(K - s M) = 0
    middle = -(90 * M[1, 1] + 40 * M[0, 0])
    roots = np.roots([M[0, 0] * M[1, 1] - M[0, 1] ** 2, middle, 3600])
    assert found["angular_frequency"] == pytest.approx(np.sort(np.sqrt(roots)), rel=1e-12)


def test_a_damped_oscillator() -> None:
    """s^2 + 2 D w0 s + w0^2 with w0 = 5, D = 0.1; overdamped with two real poles."""
    found = cf.modes(oscillator())
    assert found["damping_ratio"] == pytest.approx([0.1], rel=1e-12)
    assert found["angular_frequency"] == pytest.approx([5 * np.sqrt(0.99)], rel=1e-12)
    assert found["growth"] == pytest.approx([-0.5], rel=1e-12)
    slow = cf.modes(oscillator(), values={"d": 100})
    assert slow["pole_real"] == pytest.approx(np.sort(np.roots([2, 100, 50]))[::-1], rel=1e-12)
    assert slow.facts["kinds"] == ["decay", "decay"]


# --- steady motions -----------------------------------------------------------------------------


@pytest.mark.parametrize("spin", [40.0, 43.0, 44.0, 70.0])
def test_a_sleeping_top(spin: float) -> None:
    """A s^2 - i C n s - m g l = 0 in space; in axes that turn with the top, s - i n."""
    A, C, moment = TOP["A"], TOP["C"], TOP["moment"]
    roots = np.roots([A, -1j * C * spin, -moment])
    for joint, turned in (("cardan", 0.0), ("spherical", spin)):
        found = cf.modes(top(joint), qd=[0, 0, spin])
        wanted = roots - 1j * turned
        wanted = np.where(wanted.imag < 0, np.conj(wanted), wanted)
        own = complex_poles(found)[1:]
        assert sorted(own, key=lambda s: (round(s.imag, 6), s.real)) == pytest.approx(
            sorted(wanted, key=lambda s: (round(s.imag, 6), s.real)), rel=1e-10
        )
        assert found.facts["kinds"][0] == "free motion"
        is_stable = "growth" not in found.facts["kinds"]
        assert is_stable == ((C * spin) ** 2 > 4 * A * moment)


def test_a_pendulum_that_turns_about_the_vertical() -> None:
    """omega^2 = W^2 (1 + 3 cos^2) about the steady cone; its neighbours are free motions."""
    spin = 6.0
    lean = np.arccos(G / (0.5 * spin**2))
    found = cf.modes(spherical_pendulum(), q=[0.3, lean], qd=[spin, 0])
    wanted = spin * np.sqrt(1 + 3 * np.cos(lean) ** 2)
    assert found["angular_frequency"] == pytest.approx([0, 0, wanted], rel=1e-11)
    assert found["qd"][0] == pytest.approx([spin, 0])


@pytest.mark.parametrize("speed", [0.8, 1.2])
def test_a_disc_that_rolls_upright(speed: float) -> None:
    """lean: A (A + m r^2) s^2 + C (C + m r^2) w^2 - m g r A = 0; stable where 3 v^2 > g r."""
    r, m, spin = 0.3, 2.0, speed / 0.3
    A, C = m * r**2 / 4, m * r**2 / 2
    found = cf.modes(cf.read(EXAMPLES / "rolling_disc.toml"), qd={"x": speed, "phi": spin})
    square = (m * G * r * A - C * (C + m * r**2) * spin**2) / (A * (A + m * r**2))
    moving = complex_poles(found)[found["kind"] > 0]
    assert moving**2 == pytest.approx(np.full(len(moving), square), rel=1e-10)
    assert (3 * speed**2 > G * r) == (found.facts["kinds"][-1] == "oscillation")
    # Both coordinates, the heading, the turn of the disc, and steady turns with some lean.
    assert np.sum(found["kind"] == 0) == 5


@pytest.mark.slow
@pytest.mark.parametrize("speed", [1, 5])
def test_the_bicycle_has_the_published_eigenvalues(speed: int) -> None:
    rates = {"frame_tx": speed, "rear": -speed / REAR, "front": -speed / FRONT}
    found = cf.modes(bicycle(), qd=rates)
    own = complex_poles(found)[found["kind"] > 0]
    assert sorted(own, key=lambda s: s.real) == pytest.approx(
        sorted(PUBLISHED[speed], key=lambda s: complex(s).real), rel=1e-10
    )
    assert np.sum(found["kind"] == 0) == 5


def disc_rates(w: Any, r: float = 0.3) -> Any:
    """Return rates of lean and turns of a disc of mass 1, by balances of momentum at its centre.

    `w` has the lean, then the turns about the heading, the axis of the disc and the third axis.
    """
    lean, turn = w[0], w[1:]
    moments = r * r * np.array([0.25, 0.5, 0.25])
    frame = np.array([turn[0], turn[2] * np.tan(lean), turn[2]])
    up, arm = np.array([0.0, np.sin(lean), np.cos(lean)]), np.array([0.0, 0.0, r])
    still = np.cross(frame, np.cross(turn, arm)) + G * up
    left = np.cross(frame, moments * turn) + np.cross(arm, still)
    M = np.diag(moments) + np.array([np.cross(arm, np.cross(e, arm)) for e in np.eye(3)]).T
    return np.append(turn[0], np.linalg.solve(M, -left))


def test_a_disc_that_rolls_in_a_circle() -> None:
    """Its place follows in directions that turn; the rest is a steady motion all the same."""
    disc, lean, spin = cf.read(EXAMPLES / "rolling_disc.toml"), 0.2, 6.0

    def turns(heading: float) -> Any:
        return [lean, 0.0, spin + heading * np.sin(lean), heading * np.cos(lean)]

    root: Any = brentq(lambda n: disc_rates(np.array(turns(n)))[1], -6, -0.1, xtol=1e-15)
    heading = float(root)
    found = cf.modes(disc, q={"theta": lean}, qd={"phi": spin, "psi": heading})
    w, h = np.array(turns(heading)), 1e-5
    columns = [(disc_rates(w + h * e) - disc_rates(w - h * e)) / (2 * h) for e in np.eye(4)]
    wanted = np.abs(np.linalg.eigvals(np.array(columns).T).imag).max()
    assert found["angular_frequency"][-1] == pytest.approx(wanted, rel=1e-8)
    assert found.facts["kinds"] == ["free motion"] * 5 + ["oscillation"]
    assert found.report[-1].startswith("of x, y there are no oscillations")
    answer = cf.frequency_response(
        disc, ["theta"], ["theta"], [1.0], state={"q": found["q"][0], "qd": found["qd"][0]}
    )
    assert answer["imag"][0, 0, 0] == pytest.approx(0, abs=1e-12)
    with pytest.raises(cf.Error, match="no steady motion"):
        cf.frequency_response(
            disc, ["theta"], ["x"], [1.0], state={"q": found["q"][0], "qd": found["qd"][0]}
        )


# --- rounding -----------------------------------------------------------------------------------


@pytest.mark.parametrize("damping", ["0", "1e-5*der(m0)"])
@pytest.mark.parametrize("stiffness", [1e6, 1e9, 1e12, 1e15])
def test_errors_of_slow_modes_behind_stiff_springs_are_given(
    stiffness: float, damping: str
) -> None:
    """Two masses with a stiff spring between them; what is lost to rounding is said to be."""
    chain = spring_chain(2)
    law = f"{stiffness!r}*(m0 - m1)"
    found = cf.modes(chain, forces={"m0": f"-{law} - {damping}", "m1": law})
    slow, error = found["angular_frequency"][0], found["pole_error"][0]
    assert abs(slow - np.sqrt(1.5)) < error
    assert (found["kind"][0] == 0) == (error > 1)
    told = [line for line in found.report if "rounding" in line or "counts as" in line]
    assert bool(told) == (stiffness > 1e7)


def test_a_slow_pendulum_aside_of_rest_is_not_at_rest() -> None:
    builder = cf.Mechanism.builder("slow", gravity=(0, 0, -9.81e-9))
    slow = builder.segment("p", axis="y", mass=1, com=[0, 0, -0.5]).build()
    assert cf.modes(slow)["angular_frequency"] == pytest.approx([np.sqrt(2 * 9.81e-9)])
    with pytest.raises(cf.Error, match="no equilibrium"):
        cf.modes(slow, q=[0.01])


def test_weight_that_is_only_rounding_is_none() -> None:
    """The centre of mass of the last link is on its axis: its turn is free, and does not grow."""
    arm = cf.read(EXAMPLES / "six_axis_arm.toml")
    found = cf.modes(arm, cf.statics(arm, q=[[0.3, -0.5, 0.8, 0.2, -0.4, 0.6]]))
    assert found.facts["kinds"].count("free motion") == 2
    assert found["growth"][found["kind"] == 3].min() > 1
    assert "constant forces" in found.report[-1]


# --- all kinds of mechanisms ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["six_axis_arm", "driven_arm", "pick_arm"])
def test_poles_are_those_of_linearise(name: str) -> None:
    """Arms with friction, rotors, motors, in a pose that torques hold."""
    path = next(EXAMPLES.glob(f"{name}.*"))
    arm = cf.read(path)
    q, still = 0.3 * np.cos(np.arange(arm.nv)), np.zeros(arm.nv)
    hold = cf.derive(arm, ["inverse_dynamics"]).evaluate(q=q, qd=still, qdd=still)
    state = {"q": q, "tau": hold["inverse_dynamics"]}
    springs = {joint: f"-200*(q{k + 1} - ({float(q[k])!r}))" for k, joint in enumerate(arm.rates)}
    found = cf.modes(arm, state, forces=springs)
    poles = cf.linearise(arm, state, forces=springs).poles
    wanted = poles[poles.imag >= 0]
    assert len(found) == len(wanted)
    for pole in complex_poles(found):
        assert np.abs(wanted - pole).min() < 1e-9 * abs(pole)
    vectors = found["shape_real"] + 1j * found["shape_imag"]
    assert np.abs(vectors).max(axis=1) == pytest.approx(np.ones(len(found)))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_free_body_spins_about_its_outer_axes_only(axis: int) -> None:
    """Euler: s^2 = -w^2 (I1 - I2) (I1 - I3)/(I2 I3); the motion of its centre is double at w."""
    inertia, spin = [1.0, 2.0, 3.0], 2.0
    builder = cf.Mechanism.builder("free", gravity=(0, 0, 0))
    body = builder.segment("b", joint="free", mass=2, inertia=inertia).build()
    found = cf.modes(body, qd={f"b_w{'xyz'[axis]}": spin})
    one, two, three = (inertia[(axis + k) % 3] for k in range(3))
    square = -(spin**2) * (one - two) * (one - three) / (two * three)
    poles = complex_poles(found)
    assert np.abs(poles**2 - square).min() < 1e-9
    assert ("growth" in found.facts["kinds"]) == (square > 0)
    assert np.all(np.abs(poles.real[found["kind"] == 1]) < found["pole_error"][found["kind"] == 1])


def test_a_free_satellite_has_six_free_motions() -> None:
    """omega^2 = k (1/Jy + 1/Ip) of hub with panel and panel, about the axis through both centres.

    The panel is balanced, so that only turns about its axis are bound to each other.
    """
    builder = cf.Mechanism.builder("satellite", gravity=(0, 0, 0))
    builder.segment("hub", joint="free", mass=10, inertia=[1, 2, 3])
    panel: dict[str, Any] = {"parent": "hub", "axis": "y", "mass": 1, "inertia": [0.1, 0.4, 0.1]}
    satellite = builder.segment("panel", **panel).spring(joint="panel", stiffness=5).build()
    for rates in (None, [0.5, 0.1, 0, 0, 0, 0, 0]):
        found = cf.modes(satellite, qd=rates)
        assert found.facts["kinds"] == ["free motion"] * 6 + ["oscillation"]
        assert found["angular_frequency"][:6].tolist() == [0.0] * 6
        wanted = np.sqrt(5 * (1 / 2 + 1 / 0.4))
        assert found["angular_frequency"][6] == pytest.approx(wanted, rel=1e-12)
    assert found.report[1] == "12 poles are zero: motions without stiffness may drift on"


@pytest.mark.parametrize("seed", [0, 4])
def test_poles_of_a_body_that_drives_hold_are_zero_next_to_others(seed: int) -> None:
    """Rounding leaves 1e-18 of stiffness that is zero, and balancing made it as large as others."""
    rng = np.random.default_rng(seed)
    builder = cf.Mechanism.builder("held body", gravity=(0, 0, "-9.81"))
    builder.segment("slider", joint="prismatic", axis="x", mass=1)
    I, com = [0.2, 0.3, 0.4], [0.3, -0.1, 0.2]
    builder.segment("body", parent="slider", joint="free", mass=2, com=com, inertia=I)
    held = builder.spring(joint="slider", stiffness=4, damping=1).build()
    turn = rng.normal(size=4)
    q = [0, *rng.normal(size=3), *turn / np.linalg.norm(turn)]
    found = cf.modes(held, q=q, tau=cf.statics(held, q, held.rates)["tau"][0])
    assert found.facts["kinds"] == ["free motion"] * 7 + ["decay"]
    assert complex_poles(found)[-1] == pytest.approx(-0.5 + 1j * np.sqrt(3.75), rel=1e-12)


def test_signals_that_prescribe_a_motion_have_modes_too() -> None:
    """x1'' = -4 x1 - x1' + 2 x3, x3' = -40 x3, whatever the linkage weighs."""
    bar = driven_bar(prescribed=True)
    found = cf.modes(bar, cf.equilibria(bar, starts=5))
    first = complex_poles(found)[found["equilibrium"] == 1]
    assert first == pytest.approx([-0.5 + 1j * np.sqrt(3.75), -40], rel=1e-9)


# --- controllers, equilibria --------------------------------------------------------------------


def test_controllers_have_their_states_in_modes() -> None:
    """2 s^3 + (2 + 4) s^2 + (50 + 30) s + 12 = 0 with a pid."""
    pid = {"hold": {"type": "pid", "joint": "x", "kp": 30, "ki": 12, "kd": 4}}
    found = cf.modes(oscillator(), controllers=pid)
    roots = np.roots([2, 6, 80, 12])
    assert complex_poles(found) == pytest.approx(sorted(roots[roots.imag >= 0], key=abs), rel=1e-11)
    x = (found["x_real"] + 1j * found["x_imag"])[:, 0]
    # The integral of -x follows x' = -x / s.
    assert x == pytest.approx(-1 / complex_poles(found), rel=1e-10)


def test_each_of_some_equilibria_has_its_modes() -> None:
    double = pendulums(2)
    rest = cf.equilibria(double, starts=60)
    found = cf.modes(double, rest)
    assert len(rest) == 4
    assert found["equilibrium"].tolist() == sorted(found["equilibrium"].tolist())
    for k, stable in enumerate(rest["stable"], 1):
        kinds = found["kind"][found["equilibrium"] == k]
        assert (3 not in kinds) == (stable == 1)
    assert found.report[0].startswith("equilibrium 1: 2 modes of pendulums")
    assert found.plot("frequency").axes[0].lines[0].get_linestyle() == "None"


def test_results_are_saved_and_shown(tmp_path: Path) -> None:
    found = cf.modes(parallelogram(), q=DOWN)
    for ending in ("csv", "npz"):
        found.save(tmp_path / f"modes.{ending}")
        again = Result.load(tmp_path / f"modes.{ending}")
        assert again["shape_real"] == pytest.approx(found["shape_real"])
        assert again.facts == found.facts
    assert list(found.columns(["shape_real"])) == [f"shape_real.{name}" for name in "abc"]
    path = found.animate(tmp_path / "swing.html", mode=1, amplitude=0.5)
    assert "swing" in path.read_text()
    run = found._shown(1, 0.5)
    assert np.abs(run.q[:, 0] - DOWN[0]).max() == pytest.approx(0.5, rel=1e-3)
    # The loop is closed all the time: the coupler stays level.
    assert run.q[:, 0] + run.q[:, 1] == pytest.approx(np.zeros(len(run.t)), abs=1e-9)
    double = cf.modes(pendulums(2), cf.equilibria(pendulums(2), starts=20))
    assert double.mechanism.name == "pendulums"


def test_unknown_forces_of_statics_hold_a_pose() -> None:
    """The weight of a crane hangs by the force in a rope, which its length does not change."""
    crane = cf.read(EXAMPLES / "portal_crane.toml")
    held = cf.statics(crane, q=[[4.0]])
    assert np.abs(held["forces"]).min() > 1
    state = {"q": [4.0], "force": held["forces"][0]}
    assert cf.modes(crane, held)["pole_imag"] == pytest.approx(cf.modes(crane, state)["pole_imag"])


def test_states_and_coordinates_that_stand_still_are_named() -> None:
    builder = cf.Mechanism.builder("rig", gravity=(0, 0, 0))
    builder.segment("x", joint="prismatic", axis="x", mass=1)
    builder.segment("y", parent="x", joint="prismatic", axis="y", mass=1)
    law = {"states": {"i": "(u - 2*i)/0.01"}, "effort": "0*i"}
    builder.actuator("motor", "x", **law).constraint("holonomic", "y", name="rail")
    found = cf.modes(builder.build(), forces={"x": "-8*x"})
    assert found["angular_frequency"] == pytest.approx([2, 0])
    assert found.report[2:] == (
        "mode 2: decay by 200 1/s of motor.i",
        "y cannot move: loops or constraints hold it",
    )


def test_a_file_has_the_equilibria(tmp_path: Path) -> None:
    rest = cf.equilibria(pendulums(1), starts=5)
    rest.save(tmp_path / "rest.npz")
    found = cf.modes(pendulums(1), tmp_path / "rest.npz")
    assert found["angular_frequency"][0] == pytest.approx(np.sqrt(2 * G), rel=1e-11)


# --- refusals -----------------------------------------------------------------------------------


def tilted() -> cf.Mechanism:
    """Return a body that spins about a level axis through a point aside of its mass centre."""
    builder = cf.Mechanism.builder("tilted", gravity=(0, 0, -9.81)).segment("turn", axis="z")
    builder.segment("roll", parent="turn", axis="y", mass=1, com=[0.1, 0, 0])
    return builder.build()


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (pendulums, {"q": [0.1, 0]}, r"no equilibrium and no steady motion: d\(der\(p2\)\)/dt"),
        (tilted, {"qd": [1, 1]}, "no steady motion"),
        (spring_chain, {"forces": {"m0": "-sin(t)*m0"}}, "with laws of time"),
        (spring_chain, {"forces": {"m7": "1"}}, "m7"),
        (spring_chain, {"controllers": {"m7": {"type": "pd", "kp": 1}}}, "m7"),
        (spring_chain, {"values": {"k": 1}}, "k"),
        (elastic_joint, {"values": {"I_1_zz": 0, "I_2_zz": 0}}, "mass matrix is singular"),
    ],
)
def test_what_is_refused(
    make: Callable[[], cf.Mechanism], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(cf.Error, match=message):
        cf.modes(make(), **given)


def test_more_is_refused() -> None:
    builder = cf.Mechanism.builder("held", gravity=(0, 0, 0))
    builder.segment("a", joint="prismatic", axis="x", mass=1).frame("tip", "a", [0, 0, 0])
    held = builder.constraint("holonomic", "x(tip)", name="stay").build()
    with pytest.raises(cf.Error, match="cannot move"):
        cf.modes(held)
    found = cf.modes(pendulums())
    with pytest.raises(cf.Error, match="no poses of chain"):
        cf.modes(spring_chain(3), found)
    with pytest.raises(cf.Error, match="mode"):
        found.animate(mode=3)
    with pytest.raises(cf.Error, match="amplitude"):
        found.picture(amplitude=0)
    with pytest.raises(cf.Error, match="equilibria has no modes"):
        cf.equilibria(pendulums(1), starts=5).animate(mode=1)


# --- sizes ----------------------------------------------------------------------------------------


def hanging(mass: float, damping: float, stiffness: float) -> cf.Mechanism:
    """Return a mass on a spring and another one on it, with 1 kg and 1 N/m."""
    builder = cf.Mechanism.builder("hanging", gravity=(0, 0, 0))
    friction = {"viscous": damping}
    for name, parent, weight in (("a", "ground", mass), ("b", "a", 1)):
        builder.segment(
            name, parent=parent, joint="prismatic", axis="x", mass=weight, friction=friction
        )
    builder.spring(joint="a", stiffness=stiffness)
    return builder.spring(joint="b", stiffness=1).build()


@pytest.mark.parametrize("numbers", [(1, 1e300, 1), (1, 1, 1e300), (1e-160, 1e150, 1)])
def test_sizes_beyond_numbers_are_refused_without_a_warning(numbers: tuple[float, ...]) -> None:
    with pytest.raises(cf.Error):
        cf.modes(hanging(*numbers))


def test_large_masses_and_small_damping_have_modes() -> None:
    heavy = cf.modes(hanging(1e300, 0, 1))
    assert heavy["angular_frequency"] == pytest.approx([1e-150, 1], rel=1e-9)
    slight = cf.modes(hanging(1, 1e-300, 1))
    assert slight["angular_frequency"] == pytest.approx([0.618033988749895, 1.618033988749895])


@pytest.mark.parametrize("stiffness", [1e24, 1e30, 1e40, 1e90])
def test_the_error_of_a_pole_covers_what_a_stiff_spring_takes_away(stiffness: float) -> None:
    # With the first mass held: s^2 + s + 1 = 0.
    found = cf.modes(hanging(1, 1, stiffness))
    wanted = np.array([-0.5 + 0.75**0.5 * 1j])
    slow = np.abs(complex_poles(found)) < 0.1 * stiffness**0.5
    assert slow.any()
    assert np.all(np.abs(complex_poles(found) - wanted)[slow] <= found["pole_error"][slow])
