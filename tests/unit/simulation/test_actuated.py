"""Actuators in the loop: against the complete model, Turek's formulas, and closed forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import chainform as cf
from chainform.errors import RunError
from chainform.mechanism.pose import float_of, known_values
from chainform.simulation import simulate
from chainform.simulation.equations.efforts import efforts_of, with_signals
from chainform.simulation.equations.initial import rest_names, whole_states
from chainform.simulation.machine.compilation import EquationOptions, machine_of, model_of
from chainform.simulation.solvers import SOLVERS
from driven import driven_tree
from unit.simulation.linkages import slider_crank

pytestmark = pytest.mark.any_processor

Array = NDArray[np.float64]


def driven_arm() -> cf.Mechanism:
    return cf.read("examples/driven_arm.toml")


VOLTAGES: dict[str, Any] = {"waist_motor": "6 + 30*t", "shoulder": -12, "elbow_motor.voltage": "-9"}


# --- against the complete model -----------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 6, 7, 8, 10])
def test_rates_are_those_of_the_complete_model(seed: int) -> None:
    """States are mixed at random, some actuators prescribe the motion, others give an effort."""
    mechanism = driven_tree(seed).mechanism
    assert mechanism.actuators
    rng = np.random.default_rng(seed)
    q, qd = rng.normal(size=mechanism.nq), rng.normal(size=mechanism.nv)
    rest = rng.normal(size=len(rest_names(mechanism)))
    u, tau = rng.normal(size=len(mechanism.actuators)) * 20, rng.normal(size=mechanism.nv)
    tau[[actuator.rate for actuator in mechanism.actuators]] = 0.0
    forces = {name: float(tau[i]) for i, name in enumerate(mechanism.rates)}
    signals = {a.name: float(u[k]) for k, a in enumerate(mechanism.actuators)}
    efforts = with_signals(mechanism, efforts_of(mechanism, forces), signals)
    solver = SOLVERS["verner65"]
    options = EquationOptions(efforts, solver)
    machine = machine_of(mechanism, model_of(mechanism, (), solver), options)
    rate = machine.rate(0.0, np.concatenate([q, qd, rest]), machine.layout.fresh())
    x, split = whole_states(mechanism, q, qd, rest), mechanism.nq + mechanism.nv
    outputs = ["complete_model", "complete_acceleration"]
    found = cf.derive(mechanism, outputs).evaluate(q=q, qd=qd, x=x, u=u, tau=tau)
    scale = max(1.0, float(np.abs(rate).max()))
    qdd = rate[mechanism.nq : split]
    assert np.abs(qdd - found["complete_acceleration"]).max() < 1e-9 * scale
    # What leads from (q, qd, rest) to x is linear, so it leads from their rates to that of x.
    made = whole_states(mechanism, rate[: mechanism.nq], qdd, rate[split:])
    assert np.abs(made - found["complete_model"]).max(initial=0.0) < 1e-8 * scale


def test_states_signals_and_drives_along_a_run() -> None:
    arm = driven_arm()
    run = simulate(arm, t=0.1, signals=VOLTAGES, x0={"waist_motor.current": 2.0})
    assert run.x.shape == (201, 9)
    assert run.x[0].tolist() == [0, 0, 2, 0, 0, 0, 0, 0, 0]
    assert np.array_equal(run.x[:, 0::3], run.q)
    assert np.array_equal(run.x[:, 1::3], run.qd)
    assert run.u is not None
    assert np.abs(run.u[:, 0] - (6 + 30 * run.t)).max() < 1e-12
    found = cf.derive(arm, ["drives", "complete_acceleration"]).evaluate(x=run.x, u=run.u)
    assert np.abs(run.drives - found["drives"]).max() < 1e-10
    assert np.abs(run.qdd - found["complete_acceleration"]).max() < 1e-10


def test_forces_act_beside_the_drives() -> None:
    """An effort on a joint with a motor does what the same load in the file does."""
    arm = driven_arm()
    forces = {"elbow": "3 - elbow"}
    run = simulate(arm, t=0.1, signals=VOLTAGES, forces=forces)
    loaded = simulate(arm.with_forces(forces), t=0.1, signals=VOLTAGES)
    assert np.abs(run.q - loaded.q).max() < 1e-9
    assert np.abs(run.q - simulate(arm, t=0.1, signals=VOLTAGES).q).max() > 1e-4


# --- against the formulas of Turek 1993, integrated by another program ---------------------------


class Paper:
    """x' by (III.4) and (III.5), in numpy: P = (I - H G F)^-1 (H G (A x + B N) + h)."""

    def __init__(self, mechanism: cf.Mechanism) -> None:
        self.model = cf.derive(mechanism, ["mass_matrix", "inverse_dynamics"])
        known, actuators = known_values(mechanism), mechanism.actuators

        def array(rows: Sequence[Any]) -> Array:
            return np.array([[float_of(x, known) for x in row] for row in rows])

        self.A = _diagonal([array(a.A) for a in actuators])
        self.B, self.F = (_diagonal([array([getattr(a, s)]).T for a in actuators]) for s in "bf")
        self.C = _diagonal([array([a.position or ()]) for a in actuators])
        self.G = _diagonal([array([a.velocity or ()]) for a in actuators])
        self.limit = array([[a.limit for a in actuators]])[0]

    def slope(self, x: Array, u: Array) -> Array:
        q, qd = self.C @ x, self.G @ x
        found = self.model.evaluate(q=q, qd=qd, qdd=np.zeros(len(q)))
        H, h = found["mass_matrix"], found["inverse_dynamics"]
        free = self.A @ x + self.B @ np.clip(u, -self.limit, self.limit)
        P = np.linalg.solve(np.eye(len(q)) - H @ self.G @ self.F, H @ self.G @ free + h)
        return free + self.F @ P


def _diagonal(blocks: list[Array]) -> Array:
    whole, r, c = np.zeros(np.sum([block.shape for block in blocks], axis=0)), 0, 0
    for block in blocks:
        whole[r : r + block.shape[0], c : c + block.shape[1]] = block
        r, c = r + block.shape[0], c + block.shape[1]
    return whole


@pytest.mark.slow
def test_an_arm_with_motors_moves_as_turek_says() -> None:
    arm, times = driven_arm(), np.linspace(0, 0.02, 6)
    paper = Paper(arm)

    def slope(t: float, x: Array) -> Array:
        # The waist is asked for more than its 24 V after 0.009 s.
        return paper.slope(x, np.array([2000 * t + 6, -12, -9]))

    found = solve_ivp(slope, (0, 0.02), np.zeros(9), "Radau", times, rtol=1e-8, atol=1e-11)
    voltages = {**VOLTAGES, "waist_motor": "2000*t + 6"}
    run = simulate(arm, t=0.02, t_eval=times, signals=voltages)
    assert np.abs(run.x - found.y.T).max() < 1e-6
    assert run.u is not None
    assert run.u[-1, 0] == pytest.approx(46)


# --- signals ------------------------------------------------------------------------------------


def test_signals_in_pieces_tables_and_functions() -> None:
    arm = driven_arm()
    times = np.linspace(0, 0.1, 5)
    pieces = [{"until": 0.05, "law": 6}, {"law": "-3"}]
    table = {"t": [0, 0.05, 0.1], "values": [0, 10, 10]}
    options: dict[str, Any] = {"t": 0.1, "t_eval": times}
    made = simulate(arm, signals={"waist": pieces, "elbow_motor": table}, **options)
    assert made.u is not None
    assert made.u[:, 0].tolist() == [6, 6, -3, -3, -3]
    assert made.u[:, 2] == pytest.approx([0, 5, 10, 10, 10], abs=1e-12)

    def waist(t: float, _q: Array, qd: Array) -> float:
        return 6 + 0.1 * qd[0] * t

    one = simulate(arm, signals={"waist": waist}, **options)
    all_of_them = simulate(arm, signals=lambda t, q, qd: [waist(t, q, qd), 0, 0], **options)
    law = simulate(arm, signals={"waist": "6 + 0.1*der(waist)*t"}, **options)
    for other in (one, all_of_them):
        assert np.abs(other.x - law.x).max() < 1e-9
        assert other.u is not None
        assert law.u is not None
        assert np.abs(other.u - law.u).max() < 1e-9


def test_signals_are_sampled_and_held() -> None:
    arm = driven_arm()
    options: dict[str, Any] = {"t": 0.1, "t_eval": [0.0, 0.01, 0.035, 0.1], "hold": 0.02}
    run = simulate(arm, signals={"waist": "100*t"}, **options)
    assert run.u is not None
    # At 0.1 s a sample is taken: it acts from then on.
    assert run.u[:, 0] == pytest.approx([0, 0, 2, 10], abs=1e-12)
    same = simulate(arm, signals={"waist": lambda t, _q, _qd: 100 * t}, **options)
    assert same.u is not None
    assert np.array_equal(same.u, run.u)
    assert np.abs(same.x - run.x).max() < 1e-12


# --- closed loops, prescribed motion ------------------------------------------------------------


def motor(**further: Any) -> dict[str, Any]:
    return {
        "type": "dc_motor",
        "resistance": "0.5",
        "torque_constant": "0.05",
        "gear_ratio": 30,
        **further,
    }


def driven_slider(**actuator: Any) -> cf.Mechanism:
    builder = cf.Mechanism.builder("motor")
    builder.segment("crank", axis="z")
    builder.actuator("motor", "crank", **actuator)
    return replace(slider_crank(), actuators=builder.build().actuators)


@pytest.mark.slow
@pytest.mark.parametrize(
    "actuator",
    [
        motor(inductance="0.01", rotor_inertia="0.0001"),
        motor(rotor_inertia="0.0001"),
        motor(inductance="0.01"),
        {"type": "torque", "limit": 9},
    ],
)
def test_a_motor_drives_a_closed_loop(actuator: dict[str, Any]) -> None:
    mechanism = driven_slider(**actuator)
    run = simulate(
        mechanism,
        q0={"crank": 0.4, "slider": 1.0},
        t=0.5,
        signals={"motor": "12"},
        t_eval=[0, 0.2, 0.5],
    )
    model = cf.derive(mechanism, ["inverse_dynamics", "complete_model"])
    found = model.evaluate(
        q=run.q, qd=run.qd, qdd=run.qdd, sigma=run.sigma, x=run.x, u=run.u, tau=run.tau
    )
    # The drive of the motor is what the loop and the bodies need.
    assert np.abs(run.drives[:, 0] - found["inverse_dynamics"][:, 0]).max() < 1e-9
    assert np.abs(found["inverse_dynamics"][:, 1:]).max() < 1e-9
    assert np.abs(run.drives[:, 0]).max() > 5


@pytest.mark.slow
def test_a_motor_that_holds_its_speed_prescribes_the_motion_of_a_loop() -> None:
    speed = {"A": [[0, 1], [0, -5]], "b": [0, 5], "position": 1, "velocity": 2}
    mechanism = driven_slider(**speed)
    times = np.linspace(0, 1, 11)
    run = simulate(
        mechanism, q0={"crank": 0.4, "slider": 1.0}, t=1.0, t_eval=times, signals={"motor": 4}
    )
    assert np.abs(run.qd[:, 0] - 4 * (1 - np.exp(-5 * times))).max() < 1e-9
    model = cf.derive(mechanism, ["inverse_dynamics"])
    needed = model.evaluate(q=run.q, qd=run.qd, qdd=run.qdd, sigma=run.sigma)["inverse_dynamics"]
    assert np.abs(run.drives - needed).max() < 1e-8


def test_the_load_reaches_other_states_of_a_prescribed_motion() -> None:
    """The third state integrates the drive itself, with loops and without."""
    integral = {
        "A": [[0, 1, 0], [0, -5, 0], [0, 0, 0]],
        "b": [0, 5, 0],
        "f": [0, 0, 1],
        "position": 1,
        "velocity": 2,
    }
    closed = driven_slider(**integral)
    builder = cf.Mechanism.builder("table")
    builder.segment("crank", axis="z", mass=4, com=["0.2", 0, 0], inertia=[0, 0, "0.3"])
    builder.actuator("motor", "crank", **integral)
    times = np.linspace(0, 1, 401)
    for mechanism in (closed, builder.build()):
        run = simulate(
            mechanism, q0={"crank": 0.4}, t=1.0, t_eval=times, signals={"motor": "4*cos(t)"}
        )
        drive = run.drives[:, 0]
        simpson = (drive[0] + drive[-1] + 4 * drive[1::2].sum() + 2 * drive[2:-1:2].sum()) / 1200
        assert run.x[-1, 2] == pytest.approx(simpson, abs=1e-7)


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"signals": {"wrist": 1}}, "there is no actuator 'wrist'"),
        ({"signals": {"waist": "wast"}}, "'wast' is not known here"),
        ({"signals": {"waist": 1, "waist_motor": 2}}, "a signal is given twice"),
        ({"signals": 5}, "signals: expected a table"),
        ({"x0": {"waist_motor.q": 1}}, "is the motion of the joint"),
        ({"x0": {"waist_motor.curent": 1}}, "there is no state 'waist_motor.curent'"),
        ({"x0": [1.0, *[0] * 8]}, "another motion of waist_motor.q"),
        ({"x0": [1.0]}, "x0 must have 9 finite numbers"),
        ({"method": "gauss4", "step": 0.01}, "gauss4 does not take actuators"),
    ],
)
def test_wrong_signals_and_states_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(cf.Error, match=message) as caught:
        simulate(driven_arm(), t=0.1, **options)
    assert caught.value.element


def test_signals_need_actuators() -> None:
    with pytest.raises(RunError, match="has none"):
        simulate("examples/six_axis_arm.toml", signals={"j1": 1})
