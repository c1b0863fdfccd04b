"""Drives given by laws, of several joints and behind gears, against other computations."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import chainform as cf
from chainform.graph import EXACT, evaluate
from chainform.readers import read_text
from chainform.simulation import Run, simulate_batch
from chainform.verification.reference.quantities import StateAnswer
from zoo import exact_state

pytestmark = pytest.mark.any_processor

Array = NDArray[np.float64]
I, J, N, K, PLAY = 0.5, 0.01, 10.0, 800.0, 0.05
"""Inertias of table and rotor, gear ratio, stiffness and play."""
GEAR = {"gear_ratio": 10, "stiffness": 800, "rotor_inertia": "0.01"}


def table(**fields: Any) -> cf.Mechanism:
    builder = cf.Mechanism.builder("table", gravity=[0, 0, 0])
    joint = {"name": "table", "type": "revolute", "axis": "z"}
    builder.segment("table", joint=joint, mass=1, inertia=[0, 0, "0.5"])
    return builder.actuator("drive", "table", **fields).build()


def arm(**fields: Any) -> cf.Mechanism:
    """Return two joints, the first with the motor given."""
    builder = cf.Mechanism.builder("arm")
    for name, parent in (("upper", "ground"), ("fore", "upper")):
        builder.segment(
            name,
            parent=parent,
            joint={"name": f"j_{name}", "type": "revolute", "axis": "y"},
            position=[0, 0, 0] if parent == "ground" else ["2/5", 0, 0],
            mass=2,
            com=["1/5", 0, "1/9"],
            inertia=["1/7", "1/5", "1/6"],
        )
    return builder.actuator("m", "j_upper", **fields).build()


# --- equal to what was there ---------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["auto", "kinetostatic"])
def test_a_dc_motor_by_laws_is_that_of_the_library(formulation: str) -> None:
    """Equal in fractions, all outputs, below the limit and beyond it."""
    numbers = {"resistance": "1/3", "inductance": "1/50", "torque_constant": "2/7"}
    of_library = arm(type="dc_motor", **numbers, viscous="1/11", gear_ratio=30, voltage_limit=12)
    by_laws = arm(
        states={"current": "(u - current/3 - 2/7*der(q))*50"},
        effort="2/7*current - der(q)/11",
        gear_ratio=30,
        limit=12,
        signal="voltage",
    )
    outputs = ["complete_model", "complete_drift", "complete_input", "drives"]
    graphs = [
        cf.derive(m, outputs, formulation=formulation, reduce="none").graph
        for m in (of_library, by_laws)
    ]
    for seed, u in ((1, Fraction(5)), (2, Fraction(50)), (3, Fraction(-70, 3))):
        given = exact_state(of_library, seed) | {"x1": Fraction(seed, 3), "u1": u}
        given |= {f"tau{k}": Fraction(k) for k in (1, 2)}
        found = [evaluate(graph, given, EXACT) for graph in graphs]
        for output in outputs:
            assert np.array_equal(found[0][output], found[1][output]), output


def test_the_complete_input_of_a_nonlinear_law_is_refused() -> None:
    mechanism = table(effort="u*abs(u)")
    assert cf.derive(mechanism, ["complete_model", "complete_acceleration"]).graph
    with pytest.raises(cf.Error, match="not linear in its signal") as caught:
        cf.derive(mechanism, ["complete_input"])
    assert caught.value.element == "actuator 'drive'"
    # What stands before the signal may depend on the state.
    valve = table(states={"p": "u*sqrt(2 - p) - p"}, effort="p")
    values = cf.derive(valve, ["complete_input"]).evaluate(q=[0], qd=[0], x=[1], u=[3])
    assert values["complete_input"].tolist() == [[1.0]]


def test_a_law_may_name_what_is_a_state_of_another_actuator() -> None:
    builder = cf.Mechanism.builder("two", gravity=[0, 0, 0])
    for name in ("a", "b"):
        joint = {"name": name, "type": "prismatic", "axis": "x"}
        builder.segment(f"s{name}", parent="ground", joint=joint, mass=2)
    builder.actuator("p", "a", A=[[0, 1], [0, -5]], b=[0, 5], f=[0, -1], position=1, velocity=2)
    builder.actuator("d", "b", effort="3*a + 5*der(a) + 7*b + 11*der(q)")
    model = cf.derive(builder.build(), ["complete_model", "drives"])
    values = model.evaluate(q=[0, 2], qd=[0, 3], x=[10, 20], u=[0, 0])
    assert values["drives"][1] == 30 + 100 + 14 + 33


# --- gears ----------------------------------------------------------------------------------------


def backlash_by_pieces(load: Callable[[float], float], end: float) -> tuple[Array, int]:
    """Return the state at the end by scipy, zone by zone, and how often the gear changed sides."""

    def rhs(t: float, y: Array, zone: int) -> list[float]:
        q, qd, angle, speed = y
        force = zone and K * (angle / N - q - zone * PLAY / 2)
        return [qd, force / I, speed, (load(t) - 0.002 * speed - force / N) / J]

    def touch(side: int, direction: int) -> Any:
        def event(t: float, y: Array, zone: int) -> float:
            return float(y[2] / N - y[0] - side * PLAY / 2)

        event.terminal, event.direction = True, direction  # pyright: ignore[reportFunctionMemberAccess]
        return event

    t, y, zone, changes = 0.0, np.zeros(4), 0, 0
    events = {0: [touch(1, 1), touch(-1, -1)], 1: [touch(1, -1)], -1: [touch(-1, 1)]}
    while t < end:
        options: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-14, "events": events[zone]}
        found = solve_ivp(rhs, (t, end), y, "DOP853", args=(zone,), **options)
        t, y = found.t[-1], found.y[:, -1]
        if found.status == 1:
            met = [len(times) > 0 for times in found.t_events].index(True)
            zone, changes = (0 if zone else (1, -1)[met]), changes + 1
    return y, changes


@pytest.mark.parametrize("method", ["dopri853", "verner65", "cvode"])
def test_play_against_pieces_of_scipy(method: str) -> None:
    """The rotor hits the sides some fifty times; each kink is found, so that nothing is lost."""
    mechanism = table(effort="u - 0.002*der(q)", backlash="0.05", **GEAR)
    wanted, changes = backlash_by_pieces(lambda t: 3 * np.sin(7 * t), 3.0)
    assert changes > 20
    run = cf.simulate(
        mechanism, t=3, signals={"drive": "3*sin(7*t)"}, method=method, rtol=1e-11, atol=1e-13
    )
    assert run.x is not None
    found = np.concatenate([run.q[-1], run.qd[-1], run.x[-1]])
    # Tolerances of 1e-8 would give 1e-4, steps over the kinks without control far more.
    assert np.all(np.abs(found - wanted) < 1e-5 * (1 + np.abs(wanted)))
    assert not run.events


@pytest.mark.parametrize("play", [0, 0.1])
def test_a_lossless_gear_conserves_energy(play: float) -> None:
    mechanism = table(effort="0*u", backlash=play, **GEAR)
    run = cf.simulate(
        mechanism, t=3, q0=[0.3], x0={"drive.angle": -1}, method="dopri853", rtol=1e-11, atol=1e-13
    )
    assert run.x is not None
    twist = run.x[:, 0] / N - run.q[:, 0]
    stored = K / 2 * np.maximum(np.abs(twist) - play / 2, 0) ** 2
    energy = I / 2 * run.qd[:, 0] ** 2 + J / 2 * run.x[:, 1] ** 2 + stored
    assert energy[0] > 40
    assert np.ptp(energy) < 1e-8 * energy[0]
    assert np.ptp(run.q) > 0.3


def test_a_stiff_gear_comes_near_a_rigid_one() -> None:
    """The rigid gear has the inertia of its rotor in the joint: I + N^2 J."""
    builder = cf.Mechanism.builder("table", gravity=[0, 0, 0])
    joint = {"name": "table", "type": "revolute", "axis": "z", "gear_ratio": 10}
    builder.segment(
        "table", joint={**joint, "rotor_inertia": "0.01"}, mass=1, inertia=[0, 0, "0.5"]
    )
    laws = {"states": {"i": "(u - 2*i - 0.1*der(q))/0.05"}, "effort": "0.1*i"}
    rigid = builder.actuator("drive", "table", **laws, gear_ratio=10).build()
    ends: list[float] = []
    for k in ("1e4", "1e6"):
        elastic = table(**laws, **{**GEAR, "stiffness": k, "damping": "50"})
        ends.append(cf.simulate(elastic, t=1, signals={"drive": 24}).q[-1, 0])
    wanted = cf.simulate(rigid, t=1, signals={"drive": 24}).q[-1, 0]
    assert abs(ends[0] - wanted) > 3 * abs(ends[1] - wanted)
    assert abs(ends[1] - wanted) < 1e-5 * abs(wanted)


@pytest.mark.parametrize(("torque", "rate"), [(2, 3), (2, -3), (-2, 3), (-2, -3)])
def test_losses_go_with_the_flow_of_power(torque: int, rate: int) -> None:
    gear = {"gear_ratio": 10, "efficiency": "0.8", "efficiency_width": "1e-9"}
    model = cf.derive(table(effort="u", **gear), ["drives"])
    effort = model.evaluate(q=[0], qd=[rate], u=[torque])["drives"][0]
    driving = torque * rate > 0
    assert effort == pytest.approx(10 * torque * (0.8 if driving else 1 / 0.8))
    elastic = table(effort="u", **gear, stiffness=800, rotor_inertia=1)
    model = cf.derive(elastic, ["complete_model", "drives"])
    twist = torque / 100
    values = model.evaluate(q=[0], qd=[0], x=[10 * twist, 10 * rate], u=[0])
    assert values["drives"][0] == pytest.approx(800 * twist)
    load = 80 * twist * (1 / 0.8 if driving else 0.8)
    assert values["complete_model"][1] == pytest.approx(-load)


def test_a_gear_never_gives_power() -> None:
    """Within the width, too, for any torque and rate; at rest nothing is lost."""
    mechanism = table(effort="u", efficiency="0.6", efficiency_width="0.1")
    model = cf.derive(mechanism, ["drives"])
    torques, rates = (
        a.ravel() for a in np.meshgrid(np.linspace(-3, 3, 13), np.linspace(-1, 1, 41))
    )
    effort = model.evaluate(q=np.zeros((533, 1)), qd=rates[:, None], u=torques[:, None])["drives"]
    lost = (torques - effort[:, 0]) * rates
    assert lost.min() > -1e-15
    assert np.abs(lost[rates == 0]).max() == 0
    assert lost.max() > 0.3


def test_damping_never_pulls_the_sides_of_a_gear_together() -> None:
    mechanism = table(effort="u", backlash="0.05", damping=50, **GEAR)
    model = cf.derive(mechanism, ["drives"])
    rng = np.random.default_rng(0)
    x = np.stack([rng.uniform(-1, 1, 500), rng.uniform(-30, 30, 500)], axis=1)
    zero = np.zeros((500, 1))
    effort = model.evaluate(q=zero, qd=zero, x=x, u=zero)["drives"][:, 0]
    twist = x[:, 0] / N
    assert np.abs(effort[np.abs(twist) < PLAY / 2]).max() < 1e-12
    assert np.all(effort * twist >= -1e-12)
    assert np.abs(effort).max() > 50


# --- several joints -------------------------------------------------------------------------------


def wrist() -> cf.Mechanism:
    """Return a wrist on a differential: the sum of two motors pitches, the difference rolls."""
    builder = cf.Mechanism.builder("wrist")
    inertia = ["1/100", "3/100", "3/100"]
    pitch = {"name": "pitch", "type": "revolute", "axis": "y"}
    builder.segment("fork", joint=pitch, mass=2, com=["1/5", 0, 0], inertia=inertia)
    roll = {"name": "roll", "type": "revolute", "axis": "x"}
    builder.segment(
        "hand", parent="fork", joint=roll, mass=1, com=["3/10", 0, "1/10"], inertia=inertia
    )
    laws = {"states": {"i": "(u - i - 0.1*der(q))/0.02"}, "effort": "0.1*i", "gear_ratio": 20}
    builder.actuator("left", {"pitch": 1, "roll": 1}, **laws)
    builder.actuator("right", {"pitch": 1, "roll": "-1"}, **laws)
    return builder.build()


def test_a_differential_against_lagrange_by_hand() -> None:
    """H and h are written out for two bodies that turn about y, then about their own x.

    With s and c of the roll, the hand has its mass centre at (0.3, -0.1 s, 0.1 c) in the fork.
    """
    mechanism, g, m, M, a, b, r = wrist(), 9.81, 1.0, 2.0, 0.01, 0.03, 0.1

    def slope(t: float, y: Array) -> list[float]:
        p, x, pd, xd, left, right = y
        s, c = np.sin(x), np.cos(x)
        # Turning about y: both inertias, b of the hand about y and z alike.
        H11 = b + M * 0.04 + b + m * (0.09 + r * r * c * c)
        H12 = m * 0.3 * r * s
        H22 = a + m * r * r
        dH11 = -2 * m * r * r * c * s
        dH12 = m * 0.3 * r * c
        V_p = -g * (M * 0.2 * np.cos(p) + m * (0.3 * np.cos(p) + r * c * np.sin(p)))
        V_x = -g * m * r * s * np.cos(p)
        motors = [20 * 0.1 * left, 20 * 0.1 * right]
        h1 = dH11 * xd * pd + dH12 * xd * xd + V_p
        h2 = -0.5 * dH11 * pd * pd + V_x
        right_side = [motors[0] + motors[1] - h1, motors[0] - motors[1] - h2]
        qdd = np.linalg.solve([[H11, H12], [H12, H22]], right_side)
        rates = [20 * (pd + xd), 20 * (pd - xd)]
        u = [6 * np.sin(t), 3.0]
        currents = [(u[k] - (left, right)[k] - 0.1 * rates[k]) / 0.02 for k in (0, 1)]
        return [pd, xd, *qdd, *currents]

    found = solve_ivp(slope, (0, 1), np.zeros(6), "DOP853", rtol=1e-11, atol=1e-13)
    run = cf.simulate(mechanism, t=1, signals={"left": "6*sin(t)", "right": 3}, rtol=1e-10)
    assert run.x is not None
    assert np.abs(found.y[:2, -1] - run.q[-1]).max() < 1e-7
    assert np.abs(found.y[4:, -1] - run.x[-1]).max() < 1e-6
    assert np.abs(run.q[-1]).min() > 0.05


def test_the_power_of_a_shared_drive_is_that_of_its_joints() -> None:
    mechanism = wrist()
    run = cf.simulate(mechanism, t=0.3, signals={"left": "6*sin(t)", "right": 3})
    assert run.x is not None
    own = np.array([[1, 1], [1, -1]]) @ run.qd.T
    assert np.allclose(np.sum(2 * run.x.T * own, axis=0), np.sum(run.drives * run.qd, axis=1))


def test_controllers_reach_a_shared_drive_that_is_called_like_a_joint() -> None:
    control = {"type": "pd", "kp": 30, "kd": 1, "target": 0.4}

    def moved(drive: str, named: str, **others: Any) -> Run:
        builder = cf.Mechanism.builder("arm")
        for name in ("pitch", "roll", "yaw"):
            part = {"name": name, "type": "revolute", "axis": "y"}
            builder.segment(
                name, parent="ground", joint=part, mass=1, com=[0.1, 0, 0], inertia=[0, 0.1, 0]
            )
        builder.actuator(drive, {"pitch": 1, "roll": 1}, effort="u").actuator(**others)
        return cf.simulate(builder.build(), t=0.1, controllers={"c": {**control, "joint": named}})

    other: dict[str, Any] = {"name": "own", "joint": "yaw", "effort": "u"}
    wanted = moved("m", "m", **other).q
    assert np.abs(wanted[-1, :2]).max() > 1e-3
    for drive, named in (("pitch", "pitch"), ("m", "m.signal"), ("yaw", "yaw.signal")):
        assert np.array_equal(moved(drive, named, **other).q, wanted)
    with pytest.raises(cf.Error, match="driven together") as refusal:
        moved("yaw", "roll", **other)
    assert "'yaw.signal'" in str(refusal.value.remedy)
    # The name of a joint with a drive of its own stays that of the joint.
    assert not np.allclose(moved("yaw", "yaw", **other).q, wanted)


def test_a_signal_goes_to_the_actuator_of_its_name_before_one_of_a_joint() -> None:
    builder = cf.Mechanism.builder("arm", gravity=(0, 0, 0))
    for name in ("pitch", "roll"):
        joint = {"name": name, "type": "revolute", "axis": "y"}
        builder.segment(name, parent="ground", joint=joint, mass=1, inertia=[0, 1, 0])
    builder.actuator("roll", "pitch", effort="u").actuator("pitch", "roll", effort="u")
    run = cf.simulate(builder.build(), t=0.1, signals={"pitch": 1})
    assert run.q[-1, 0] == 0
    assert run.q[-1, 1] > 0


def test_signals_and_controllers_of_shared_drives_go_by_actuators() -> None:
    mechanism = wrist()
    control: dict[str, Any] = {
        "left": {"type": "pd", "kp": 30, "kd": 1, "target": 0.4, "limit": 24}
    }
    control["lq"] = {"type": "state_feedback", "joints": ["right"], "K": [[30, -30, 1, -1]]}
    run = cf.simulate(mechanism, t=0.2, controllers=control, q0=[0.1, 0.05])
    assert run.u is not None
    left = 30 * (0.4 - run.q.sum(axis=1)) - run.qd.sum(axis=1)
    right = -30 * (run.q[:, 0] - run.q[:, 1]) - run.qd[:, 0] + run.qd[:, 1]
    assert np.allclose(run.u, np.stack([np.clip(left, -24, 24), right], axis=1))

    def doubled(t: float, *_: Array) -> float:
        return 2 * t

    def both(t: float, *_: Array) -> list[float]:
        return [t, 3 * t]

    table_of = {"left": {"t": np.linspace(0, 1, 50), "values": np.linspace(0, 6, 50)}}
    run = cf.simulate(mechanism, t=0.2, signals={**table_of, "right": doubled})
    assert run.u is not None
    assert np.allclose(run.u, np.stack([6 * run.t, 2 * run.t], axis=1))
    run = cf.simulate(mechanism, t=0.2, signals=both)
    assert run.u is not None
    assert np.allclose(run.u, np.stack([run.t, 3 * run.t], axis=1))


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "signal by joint": ({"signals": {"pitch": 1}}, "no actuator 'pitch'"),
    "pd of a joint": ({"controllers": {"pitch": {"type": "pd", "kp": 1}}}, "together with others"),
    "feedback": (
        {"controllers": {"c": {"type": "state_feedback", "K": [[1, 0, 0, 0], [0, 1, 0, 0]]}}},
        "together with others",
    ),
    "computed torque": (
        {"controllers": {"c": {"type": "computed_torque", "kp": 1, "kd": 1, "targets": {}}}},
        "does not share",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_would_be_unclear_for_shared_drives_is_refused(case: str) -> None:
    options, words = REFUSED[case]
    with pytest.raises(cf.Error, match=words) as caught:
        cf.simulate(wrist(), t=0.1, **options)
    assert caught.value.remedy


# --- against the independent reference, small motions, rest ---------------------------------------


MIXED = """
gravity = [0, 0, -9.81]
[parameters]
kt = 0.3
L = 0.01

[[segments]]
name = "a"
joint = { name = "sh", type = "revolute", axis = "y" }
mass = 2
com = [0.2, 0, 0]
inertia = { xx = 0.01, yy = 0.05, zz = 0.05 }

[[segments]]
name = "b"
parent = "a"
joint = { name = "el", type = "revolute", axis = "y" }
position = [0.4, 0, 0]
mass = 1
com = [0.1, 0.02, 0]
inertia = { xx = 0.01, yy = 0.02, zz = 0.03 }

[[segments]]
name = "c"
parent = "b"
joint = { name = "wr", type = "revolute", axis = "x" }
position = [0.3, 0, 0]
mass = 1
com = [0.1, 0.02, 0]
inertia = { xx = 0.01, yy = 0.02, zz = 0.03 }

[[actuators]]
name = "m1"
joint = "sh"
signal = "voltage"
states = { i = "(voltage - 2*i - kt*der(q))/L" }
effort = "kt*i/sqrt(1 + (i/4)^2) - 0.01*min(max(100*der(q), -1), 1)"
gear_ratio = 15
efficiency = 0.7
efficiency_width = 0.05
limit = 24

[[actuators]]
name = "m2"
joints = { el = 1, wr = "-1/2" }
states = { i = "(u - 2*i - kt*der(q))/L" }
effort = "kt*i - 0.02*q"
gear_ratio = 12
stiffness = 300
damping = 0.8
backlash = 0.02
rotor_inertia = 0.001
efficiency = 0.8
efficiency_width = 0.01

[[actuators]]
name = "m3"
joints = { el = "1/3", wr = 1 }
type = "lag"
time_constant = 0.1
limit = 3
"""


def test_the_independent_reference_gives_the_same() -> None:
    """It computes gears by cases, and reads the text of the laws by itself."""
    mechanism, rng = read_text(MIXED, "toml"), np.random.default_rng(1)
    model = cf.derive(mechanism, ["complete_model", "drives"])
    for k in range(12):
        q, qd, u = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3) * 20
        twist = rng.choice([-1, 1]) * 0.002 * k
        angle, speed = 12 * (q[1] - q[2] / 2 + twist), 12 * rng.normal()
        given: dict[str, Any] = {"q": q, "qd": qd, "u": u}
        given["x"] = [*rng.normal(size=2) * 3, angle, speed, 1.0]
        values = model.evaluate(**given)
        answer = StateAnswer(tomllib.loads(MIXED), {**given, "tau": np.zeros(3), "values": {}})
        for name, found in values.items():
            size = 1 + np.abs(found).max()
            assert np.abs(found - answer.value(name)).max() < 1e-10 * size, name


def test_small_motions_are_the_derivatives_of_the_complete_model() -> None:
    mechanism = arm(
        states={"i": "(u - 2*i*exp(-i/9) - 0.3*der(q))/0.1"},
        effort="i/sqrt(1 + i^2) - 0.1*sin(q)",
        damping=3,
        **GEAR,
    )
    model = cf.derive(mechanism, ["complete_model", "complete_acceleration"])
    z, u = np.array([0.1, 0.2, 0.3, -0.1, 1.0, 1.4, 2.0]), np.array([3.0])

    def slope(z: Array, u: Array) -> Array:
        values = model.evaluate(q=z[:2], qd=z[2:4], x=z[4:], u=u, tau=np.zeros(2))
        return np.concatenate([z[2:4], values["complete_acceleration"], values["complete_model"]])

    found = cf.linearise(mechanism, q=z[:2], qd=z[2:4], x=z[4:], u=u)
    h = 1e-5
    A = np.stack([(slope(z + e, u) - slope(z - e, u)) / (2 * h) for e in h * np.eye(7)], axis=1)
    B = (slope(z, u + h) - slope(z, u - h)) / (2 * h)
    assert np.allclose(found.A, A, rtol=1e-7, atol=1e-6)
    assert np.allclose(found.B[:, 0], B, rtol=1e-7, atol=1e-6)


def test_a_motor_holds_a_pendulum_by_its_flux() -> None:
    """At rest the current is u / R, and the torque that of the saturated flux."""
    builder = cf.Mechanism.builder("pendulum")
    joint = {"name": "q1", "type": "revolute", "axis": "y"}
    builder.segment("rod", joint=joint, mass=1, com=[0, 0, "-1/2"], inertia=[0, "1/9", 0])
    laws = {"states": {"i": "(u - 2*i - 0.5*der(q))/0.1"}, "effort": "2*i/sqrt(1 + i^2)"}
    mechanism = builder.actuator("m", "q1", **laws).build()
    found = cf.equilibria(mechanism, signals={"m": 4}, starts=10)
    torque = 4 / np.sqrt(5)
    q = found["q"][:, 0]
    assert len(q) == 2
    assert np.allclose(np.abs(9.81 / 2 * np.sin(q)), torque)
    assert np.allclose(found["x"][:, 0], 2)
    assert sorted(found["stable"].tolist()) == [0, 1]


# --- what simulations do at kinks -----------------------------------------------------------------


def test_laws_that_are_zero_for_long_do_not_stop_a_motion() -> None:
    mechanism = table(states={"z": "max(z, 0)*(1 - z)"}, effort="abs(z) + max(u, 0)")
    run = cf.simulate(mechanism, t=1, signals={"drive": "max(t - 0.5, 0)"})
    assert run.q[-1, 0] == pytest.approx(0.5**3 / 6 / I, abs=1e-10)


def test_a_jump_that_holds_the_motion_is_refused() -> None:
    mechanism = table(effort="u - sign(der(q))")
    options: dict[str, Any] = {"signals": {"drive": 0.5}, "qd0": [1.0]}
    run = cf.simulate(mechanism, t=0.9, **options)
    assert run.qd[-1, 0] == pytest.approx(0.1)
    with pytest.raises(cf.Error, match=r"t = 1(\.0000\d*)? s") as caught:
        cf.simulate(mechanism, t=2, **options)
    assert "steep in place of the jump" in (caught.value.remedy or "")


def test_kinks_follow_the_values_of_parameters() -> None:
    """Two laws that are equal for some values have a kink each all the same."""
    builder = cf.Mechanism.builder("table", gravity=[0, 0, 0]).parameter("a", 1).parameter("b", 2)
    joint = {"name": "table", "type": "revolute", "axis": "z"}
    builder.segment("table", joint=joint, mass=1, inertia=[0, 0, "0.5"])
    law = "u - abs(a*q) - max(b*q, der(q))*abs(b) - abs(b*q)"
    mechanism = builder.actuator("drive", "table", effort=law).build()
    signals, values = {"drive": "sin(3*t)"}, {"a": [1.0, 1.0], "b": [1.0, 2.0]}
    batch = simulate_batch(mechanism, t=1, q0=[[0.0], [0.0]], signals=signals, values=values)

    def slope(t: float, y: Array, b: float) -> list[float]:
        q, qd = y
        return [qd, (np.sin(3 * t) - abs(q) - max(b * q, qd) * b - abs(b * q)) / I]

    for k, b in enumerate((1.0, 2.0)):
        found = solve_ivp(slope, (0, 1), [0, 0], args=(b,), rtol=1e-9, atol=1e-11)
        assert abs(batch.q[k, -1, 0] - found.y[0, -1]) < 1e-6


def test_batches_and_motions_that_go_on_are_the_same(tmp_path: Any) -> None:
    mechanism = table(effort="u", backlash="0.05", damping=5, **GEAR)
    options: dict[str, Any] = {"signals": {"drive": "3*sin(7*t)"}, "events": {"half": "q1 - 0.01"}}
    whole = cf.simulate(mechanism, t=(0, 1), **options)
    assert {event.name for event in whole.events} == {"half"}
    half = cf.simulate(mechanism, t=(0, 0.5), **options)
    half.save(tmp_path / "half.npz")
    longer = cf.simulate(mechanism, t=(0, 1), resume=cf.Run.load(tmp_path / "half.npz"), **options)
    assert np.allclose(longer.q[-1], whole.q[-1], atol=1e-8)
    batch = simulate_batch(mechanism, t=(0, 1), q0=[[0.0], [0.01]], **options)
    assert np.allclose(batch.q[0, -1], whole.q[-1], atol=1e-12)
    assert batch.event_names == ("half",)


def test_stores_hold_laws(tmp_path: Path) -> None:
    mechanism = read_text(MIXED, "toml")
    model = cf.derive(mechanism, ["complete_model"])
    with cf.open_store(f"sqlite:///{tmp_path / 'models.db'}") as store:
        store.save(model, "mixed")
        again = store.load("mixed")
    assert again.mechanism is not None
    assert again.mechanism.actuators == mechanism.actuators
    state: dict[str, Any] = {"q": [1, 2, 3], "qd": [3, 2, 1], "x": [1, 2, 3, 4, 5], "u": [6, 7, 8]}
    first, second = (m.evaluate(**state)["complete_model"] for m in (model, again))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("angle", [2.0, 30.0])
def test_rest_behind_a_soft_gear_is_found_from_afar(angle: float) -> None:
    """The rotor goes along with the pose: from zero it would pull the rod to another place."""
    builder = cf.Mechanism.builder("rod", gravity=[0, 0, 0])
    joint = {"name": "q1", "type": "prismatic", "axis": "x"}
    builder.segment("rod", joint=joint, mass=1)
    gear = {"gear_ratio": 7, "stiffness": 300, "rotor_inertia": 1}
    laws = {"states": {"i": "(u - i)/0.1"}, "effort": f"10*i*(1 - (q/{7 * angle})^2)"}
    mechanism = builder.actuator("m", "q1", **laws, **gear).build()
    found = cf.equilibria(mechanism, signals={"m": 2}, q0=[[angle * 1.1]], starts=1)
    assert np.abs(found["q"][:, 0] - angle).min() < 1e-6
