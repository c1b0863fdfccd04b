"""Sensitivities: closed forms, differences of tight runs, CVODES, forward against adjoint."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from math import cos, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis import Result
from chainform.readers import read_text
from unit.analysis.test_variations import PENDULUM

EXAMPLES = Path(__file__).parents[3] / "examples"
SCENARIOS = EXAMPLES / "scenarios"
BALL = SCENARIOS / "bouncing_ball.toml"
CRANK: dict[str, Any] = {"q0": {"crank": 0.4}, "qd0": {"crank": 1.0}}


def mechanism_of(table: dict[str, Any]) -> cf.Mechanism:
    return read_text(json.dumps(table), "json")


def difference(value: Callable[[float], Any], step: float) -> Any:
    """Return the derivative of a function at zero, of fourth order."""
    near, far = value(step) - value(-step), value(2 * step) - value(-2 * step)
    return (8 * near - far) / (12 * step)


def column(found: Result, array: str, name: str) -> Any:
    return found[array][..., found.facts["by"].index(name)]


# --- against closed forms -------------------------------------------------------------------------


def ball(h: float, g: float, v: float = 0.0, end: float = 1.5) -> tuple[Any, float]:
    """Return height and velocity after two impacts with the restitution 4/5, and their time."""
    first = (v + np.sqrt(v * v + 2 * g * h)) / g
    rate = 0.8 * np.sqrt(v * v + 2 * g * h)
    second = first + 2 * rate / g
    rate, left = 0.8 * rate, end - second
    return np.array([rate * left - g * left**2 / 2, rate - g * left]), second


def test_a_bouncing_ball() -> None:
    found = cf.sensitivities(BALL, ["g"], t=1.5, t_eval=[0.2, 1.5], outputs=["energy", "qdd"])
    moves: dict[str, Callable[[float], Any]] = {
        "q0.height": lambda e: ball(1 + e, 9.81),
        "qd0.height": lambda e: ball(1, 9.81, e),
        "g": lambda e: ball(1, 9.81 + e),
    }
    assert found.facts["by"] == list(moves)
    for name, move in moves.items():
        slopes = [column(found, array, name)[-1, 0] for array in ("d(q)", "d(qd)")]
        assert np.allclose(slopes, difference(lambda e, m=move: m(e)[0], 1e-3), atol=1e-8)
        (_, second) = found.facts["events"]
        assert np.isclose(
            second["by"][name], difference(lambda e, m=move: m(e)[1], 1e-3), atol=1e-8
        )
    # The energy is m g h, of which 0.64 is left after each impact.
    assert np.allclose(column(found, "d(energy)", "q0.height"), [1.962, 1.962 * 0.64**2])
    assert np.allclose(column(found, "d(energy)", "g"), [0.2, 0.2 * 0.64**2])
    assert np.allclose(column(found, "d(qdd)", "g"), -1)


def test_a_block_that_friction_stops() -> None:
    """It slides v m / f long, and v^2 m / 2 f far."""
    table: dict[str, Any] = {
        "name": "block",
        "gravity": [0, 0, 0],
        "parameters": {"m": 2.0, "f": 3.0},
        "segments": [{"name": "x", "parent": "ground", "mass": "m"}],
    }
    friction = {"viscous": 0, "coulomb": "f"}
    joint = {"name": "x", "type": "prismatic", "axis": "x", "friction": friction}
    table["segments"][0]["joint"] = joint
    found = cf.sensitivities(mechanism_of(table), ["m", "f"], q0=[0.0], qd0=[2.0], t=3)
    assert np.allclose(found["d(q)"][-1, 0], [1, 4 / 3, 2 / 3, -4 / 9], atol=1e-8)
    assert np.allclose(found["d(qd)"][-1], 0, atol=1e-8)


def test_an_event_that_ends_the_motion() -> None:
    """A stone from the height h flies sqrt(2 h / g): the objective is that time."""
    found = cf.sensitivities(
        BALL,
        ["g"],
        stops=False,
        t=2,
        events={"ground": {"law": "height", "stop": True}},
        objective="t",
    )
    time = np.sqrt(2 / 9.81)
    assert found.facts["objective"] == pytest.approx(time, rel=1e-9)
    assert found.facts["gradient"]["q0.height"] == pytest.approx(time / 2, rel=1e-8)
    assert found.facts["gradient"]["g"] == pytest.approx(-time / 2 / 9.81, rel=1e-8)


# --- against differences of tight runs ------------------------------------------------------------


def test_a_linkage() -> None:
    linkage = cf.read(EXAMPLES / "four_bar.toml")
    known = {"a": 0.2, "coupler_mass": 1.0, "g": 9.81}
    options: dict[str, Any] = {"t": 0.8, "rtol": 1e-12, "t_eval": [0.8], "values": known}
    found = cf.sensitivities(linkage, list(known), outputs=["com"], **CRANK, **options)
    assert found.facts["by"] == ["q0.crank", "qd0.crank", *known]
    system = cf.Problem.of(linkage, energy_balance=False, **CRANK, **options)

    def end(values: dict[str, float], crank: float = 0.4, rate: float = 1.0) -> Any:
        run = system.compile({**known, **values}).run({"crank": crank}, {"crank": rate})
        return np.concatenate([run.q[-1], run.qd[-1], run.output("com")[-1]])

    moves: list[Callable[[float], Any]] = [
        lambda e: end({}, 0.4 + e),
        lambda e: end({}, rate=1 + e),
        *(lambda e, n=n, v=v: end({n: v + v * e}) / v for n, v in known.items()),
    ]
    for k, move in enumerate(moves):
        mine = np.concatenate([found[a][-1, ..., k] for a in ("d(q)", "d(qd)", "d(com)")])
        other = difference(move, 1e-3)
        assert np.allclose(mine, other, atol=1e-6 * np.abs(other).max())


@pytest.mark.slow
def test_a_walker_over_its_steps() -> None:
    """Prescribed motions, feet that rest and leave, impacts with friction."""
    known = {"m_2": 30.0, "g": 9.81}
    options: dict[str, Any] = {"t": 0.7, "rtol": 1e-11, "t_eval": [0.7], "values": known}
    walker = SCENARIOS / "walker.toml"
    found = cf.sensitivities(walker, list(known), ["q0.x"], **options)
    problem = cf.Problem.of(walker, energy_balance=False, **options)

    def end(values: dict[str, float], e: float = 0.0) -> Any:
        q = {"x": e - sin(0.25), "z": cos(0.25), "left": 0.25}
        qd = {"x": 1.2 * cos(0.25), "z": 1.2 * sin(0.25), "left": -1.2}
        run = problem.compile({**known, **values}).run(q, qd)
        return np.append(run.q[-1], run.qd[-1])

    for name, other in (
        ("q0.x", difference(lambda e: end({}, e), 1e-3)),
        ("m_2", difference(lambda e: end({"m_2": known["m_2"] + e}), 1e-2)),
        ("g", difference(lambda e: end({"g": 9.81 + e}), 1e-3)),
    ):
        mine = np.append(column(found, "d(q)", name)[-1], column(found, "d(qd)", name)[-1])
        assert np.allclose(mine, other, atol=1e-6)


# --- against CVODES, and the adjoint --------------------------------------------------------------


def test_cvodes_agrees() -> None:
    """Forward and adjoint of SUNDIALS for the same equations, written by hand for CasADi."""
    ca: Any = import_module("casadi")
    q, v, t = ca.MX.sym("q"), ca.MX.sym("v"), ca.MX.sym("t")
    m, length, k = (ca.MX.sym(name) for name in "mlk")
    push = -k * v**3 + ca.sin(3 * t) * length - m * 9.81 * length * ca.cos(q)
    rate = push / (m * length**2 * (1 + 1 / 12))
    state, numbers = ca.vertcat(q, v), ca.vertcat(m, length, k)
    problem = {"x": state, "t": t, "p": numbers, "ode": ca.vertcat(v, rate)}
    given = {"abstol": 1e-13, "reltol": 1e-12, "max_num_steps": 200000}
    solver = ca.integrator("swing", "cvodes", problem, 0, 2.0, given)
    x, p = ca.MX.sym("x", 2), ca.MX.sym("p", 3)
    last = solver(x0=x, p=p)["xf"]
    # One backward run gives the gradient, two forward ones all derivatives.
    gradient = ca.jtimes(last[0] ** 2 + last[1], ca.vertcat(x, p), ca.MX(1), True)
    slopes = ca.Function("slopes", [x, p], [ca.jacobian(last, ca.vertcat(x, p)), gradient])
    other, backward = map(np.array, slopes([0.4, 1.0], [1.5, 0.7, 0.4]))
    options: dict[str, Any] = {"q0": [0.4], "qd0": [1.0], "t": 2, "rtol": 1e-12}
    options |= {"forces": {"rod": "-k*der(rod)^3 + sin(3*t)*l"}}
    pendulum, names = mechanism_of(PENDULUM), ["m", "l", "k"]
    found = cf.sensitivities(pendulum, names, **options)
    mine = np.concatenate([found["d(q)"][-1], found["d(qd)"][-1]])
    assert np.allclose(mine, other, atol=1e-7 * np.abs(other).max())
    adjoint = cf.sensitivities(pendulum, names, objective="rod^2 + der(rod)", **options)
    assert adjoint.facts["mode"] == "adjoint"
    ours = list(adjoint.facts["gradient"].values())
    assert np.allclose(ours, backward[:, 0], atol=1e-7 * np.abs(backward).max())


OBJECTIVES: dict[str, dict[str, Any]] = {
    "a tree": {
        "mechanism": EXAMPLES / "pick_arm.urdf",
        "parameters": ["m_*", "g"],
        "objective": {"end": "elbow^2", "integral": "der(yaw)^2 + sin(t)*wrist"},
        "q0": [0.1, 0.3, -0.2, 0.4],
        "controllers": {"elbow": {"type": "pid", "kp": 4, "kd": 1, "ki": 2, "target": "sin(t)"}},
        "t": 0.7,
    },
    "a linkage": {
        "mechanism": EXAMPLES / "four_bar.toml",
        "parameters": ["a", "b", "*_mass"],
        "objective": {"end": "sin(rocker)", "integral": "b*der(crank)^2"},
        "t": 0.7,
        **CRANK,
    },
    "impacts": {"mechanism": BALL, "parameters": ["g"], "objective": "height^2", "t": 1.5},
}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_adjoint_is_the_forward_gradient(name: str) -> None:
    given: dict[str, Any] = {**OBJECTIVES[name], "rtol": 1e-11, "t_eval": [0, 0.5]}
    forward, adjoint = (
        cf.sensitivities(**given, mode=mode).facts for mode in ("forward", "adjoint")
    )
    assert adjoint["objective"] == pytest.approx(forward["objective"], rel=1e-11)
    a, b = (np.array(list(facts["gradient"].values())) for facts in (forward, adjoint))
    assert len(a) == len(forward["by"])
    assert np.allclose(a, b, rtol=0, atol=1e-10 * np.abs(a).max())


def test_an_integral_against_differences() -> None:
    linkage = cf.read(EXAMPLES / "four_bar.toml")
    given: dict[str, Any] = {"objective": {"integral": "der(crank)^2"}, "t": 0.5, "rtol": 1e-11}

    def value(e: float) -> float:
        values = {"a": 0.2 + e}
        found = cf.sensitivities(linkage, (), ["q0.crank"], values=values, **given, **CRANK)
        return found.facts["objective"]

    found = cf.sensitivities(linkage, ["a"], **given, **CRANK)
    assert found.facts["gradient"]["a"] == pytest.approx(difference(value, 2e-4), rel=1e-7)


def test_a_short_push_is_not_missed() -> None:
    """The mesh begins with a sixth of the steps, and the push is far shorter than that."""
    slide = mechanism_of(
        {
            "name": "slide",
            "gravity": [0, 0, 0],
            "segments": [
                {"name": "x", "parent": "ground", "joint": "prismatic", "axis": "x", "mass": 1}
            ],
        }
    )
    options: dict[str, Any] = {"t": 3, "rtol": 1e-9, "largest": 0.004, "t_eval": [3]}
    options |= {"forces": {"x": "-x + 400*exp(-1e5*(t - 1.2345)^2)*x"}}
    found = cf.sensitivities(slide, q0=[0.3], qd0=[2.0], **options)
    ends = [cf.simulate(slide, q0=[x], qd0=[2.0], **options).q[-1] for x in (0.4, 0.2)]
    assert np.allclose(found["d(q)"][-1, 0, 0], (ends[0] - ends[1]) / 0.2, atol=1e-6)


def test_growth_of_deviations_is_said() -> None:
    """What is pushed away by 1 N/m goes as cosh(t), and all errors of the motion with it."""
    for end, is_said in ((2, False), (20, True)):
        for objective in (None, "x"):
            found = cf.sensitivities(
                mechanism_of(SLIDE), t=end, forces={"x": "x"}, objective=objective, rtol=1e-8
            )
            assert np.isclose(found.facts["growth"], np.cosh(end))
            assert any("deviations grow" in line for line in found.report) is is_said


@pytest.mark.slow
def test_a_load_that_hangs_at_rest_moves_by_rounding() -> None:
    found = cf.sensitivities(SCENARIOS / "crane_lift.toml", t=0.3)
    assert 0 < np.abs(found["qd"]).max() < 1e-12
    rate = np.sqrt(2000 * 9.81 * 12 / (2000 * 12**2 + 300))
    swing = column(found, "d(q)", "q0.swing_r1")[-1]
    assert np.isclose(np.abs(swing).max(), np.cos(0.3 * rate), atol=1e-8)


# --- laws that jump -------------------------------------------------------------------------------

SLIDE: dict[str, Any] = {
    "name": "slide",
    "gravity": [0, 0, 0],
    "parameters": {"F": 2.0, "w": 0.3, "T": 0.4},
    "segments": [
        {"name": "x", "parent": "ground", "joint": "prismatic", "axis": "x", "mass": 1},
    ],
}
RELAY = {"joint": "x", "name": "relay", "states": {}, "effort": "-F*sign(q - w)"}
JUMPS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "of a force": ({}, {"forces": {"x": "-F*sign(x - w)"}}),
    "at an event": ({}, {"forces": {"x": "-F*sign(x - w)"}, "events": {"there": "2*x - 2*w"}}),
    "of a drive": ({"actuators": [RELAY]}, {}),
}


def thrown(x: float = 0.1, v: float = 0.5, F: float = 2.0, w: float = 0.3) -> Any:
    """Return place, rate and time beyond w after 0.7 s of a mass that is pushed towards w by F."""
    rate = np.sqrt(v * v + 2 * F * (w - x))
    beyond = 0.7 - (rate - v) / F
    return np.array([w + rate * beyond - F * beyond**2 / 2, rate - F * beyond, beyond])


@pytest.mark.parametrize("case", JUMPS)
def test_laws_that_jump(case: str) -> None:
    more, acting = JUMPS[case]
    options: dict[str, Any] = {"t": 0.7, "q0": [0.1], "qd0": [0.5], "rtol": 1e-11, **acting}
    beyond = {"integral": "step(x - w)"}
    found = cf.sensitivities(
        mechanism_of({**SLIDE, **more}), ["F", "w"], objective=beyond, mode="forward", **options
    )
    moves: dict[str, Callable[[float], Any]] = {
        "q0.x": lambda e: thrown(x=0.1 + e),
        "qd0.x": lambda e: thrown(v=0.5 + e),
        "F": lambda e: thrown(F=2 + e),
        "w": lambda e: thrown(w=0.3 + e),
    }
    for name, move in moves.items():
        by_hand = difference(move, 1e-3)
        slopes = [column(found, array, name)[-1, 0] for array in ("d(q)", "d(qd)")]
        assert np.allclose([*slopes, found.facts["gradient"][name]], by_hand, atol=1e-6)
    assert [event["name"] for event in found.facts["events"]] == ["there"] * ("events" in acting)
    adjoint = cf.sensitivities(
        mechanism_of({**SLIDE, **more}), ["F", "w"], objective=beyond, **options
    )
    assert np.isclose(adjoint.facts["objective"], thrown()[2], atol=1e-8)
    slopes = [list(one.facts["gradient"].values()) for one in (found, adjoint)]
    assert np.allclose(*slopes, atol=1e-9)


def test_a_law_that_jumps_at_a_time() -> None:
    """The mass goes on for T, and is then pushed back by F; a fixed time moves nothing."""
    for time, by in (("T", -2 * 0.6), ("0.4", 0.0)):
        found = cf.sensitivities(
            mechanism_of(SLIDE), ["T"], t=1, qd0=[0.5], forces={"x": f"-F*step(t - {time})"}
        )
        assert np.isclose(column(found, "d(q)", "T")[-1, 0], -by, atol=1e-8)
        assert np.isclose(column(found, "d(q)", "qd0.x")[-1, 0], 1, atol=1e-8)


def test_what_differs_on_both_sides_of_the_start_is_left_out() -> None:
    """It goes on with the rate 1, or is braked first: so it is at rest with dry friction, too."""
    pushed = cf.sensitivities(
        mechanism_of(SLIDE), ["F"], t=0.2, forces={"x": "-F*sign(x)"}, qd0=[1]
    )
    assert pushed.facts["by"] == ["qd0.x", "F"]
    joint = {"name": "x", "type": "prismatic", "axis": "x", "friction": {"coulomb": 0.5}}
    block = {
        **SLIDE,
        "segments": [{"name": "block", "parent": "ground", "mass": 1, "joint": joint}],
    }
    options: dict[str, Any] = {"t": 1, "forces": {"x": "F"}}
    assert cf.sensitivities(mechanism_of(block), ["F"], **options).facts["by"] == ["q0.x", "F"]
    with pytest.raises(cf.Error, match=r"qd0\.x moves the start over a jump"):
        cf.sensitivities(mechanism_of(block), ["F"], ["qd0"], **options)


def test_jumps_at_one_time_are_refused() -> None:
    """One stays at its time, the other moves with the rate at the start."""
    forces = {"x": "(1 + sign(t - 0.6))*(2 + sign(x - 0.3))"}
    with pytest.raises(cf.Error, match=r"t = 0\.6 s: laws jump at the same time"):
        cf.sensitivities(mechanism_of(SLIDE), t=1, qd0=[0.5], forces=forces)


def test_an_objective_names_parameters_that_the_motion_does_not_have() -> None:
    for mode in ("forward", "adjoint"):
        found = cf.sensitivities(
            mechanism_of(SLIDE), ["w", "F"], t=1, qd0=[0.5], objective="F*w^2 + x", mode=mode
        )
        assert np.isclose(found.facts["objective"], 0.68)
        slopes = {"q0.x": 1.0, "qd0.x": 1.0, "w": 1.2, "F": 0.09}
        assert found.facts["gradient"] == pytest.approx(slopes)


# --- what is refused ------------------------------------------------------------------------------


PENDULUM_OPTIONS: dict[str, Any] = {"q0": [0.4], "t": 1}
WITH_BLANK = {**PENDULUM, "parameters": {"m": 1.5, "l": 0.7, "k": 0.4, "blank": {}}}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a function": ({"forces": lambda _t, q, _qd: -q}, "function of Python"),
    "samples": ({"hold": 0.01}, "sampled"),
    "no parameter": ({"parameters": ["mm"]}, "there is no parameter"),
    "no start value": ({"initial": ["q0.rodd"]}, "there is no start value"),
    "nothing": ({"initial": []}, "nothing to differentiate"),
    "an adjoint of nothing": ({"mode": "adjoint"}, "one number"),
    "a start on a jump": (
        {"initial": ["q0"], "q0": [0.0], "qd0": [1.0], "forces": {"rod": "-sign(rod)"}},
        "q0.rod moves the start over a jump",
    ),
    "an objective without a value": ({"objective": "blank*rod"}, "blank has no value"),
    "a moving break": (
        {"parameters": ["k"], "forces": {"rod": [{"until": "k", "law": "1"}, {"law": "2"}]}},
        "k moves the time",
    ),
    "a change": (
        {"events": {"low": {"law": "rod", "change": lambda _t, q, qd: (q, -qd)}}},
        r"t = .* function of Python",
    ),
    "a tolerance": ({"tolerance": 0}, "tolerance"),
    "an output of drives": ({"outputs": ["tau"]}, "not known"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_reason(name: str) -> None:
    given, message = REFUSED[name]
    with pytest.raises(cf.Error, match=message) as caught:
        cf.sensitivities(mechanism_of(WITH_BLANK), **{**PENDULUM_OPTIONS, **given})
    assert caught.value.remedy


def test_sticking_that_breaks_is_refused() -> None:
    with pytest.raises(cf.Error, match=r"t = 1 s: .* breaks loose"):
        cf.sensitivities(SCENARIOS / "stick_slip.toml")


def test_values_that_a_loop_binds_are_refused() -> None:
    with pytest.raises(cf.Error, match="bind it"):
        cf.sensitivities(EXAMPLES / "four_bar.toml", (), ["q0.crank", "q0.rocker"], t=0.1, **CRANK)
