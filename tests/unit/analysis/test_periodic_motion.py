"""Periodic motions against closed forms, special functions and published figures."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk, mathieu_a, mathieu_b

import chainform as cf
from chainform.analysis import Result
from chainform.readers import read_text
from chainform.simulation import Problem

ROOT = Path(__file__).parents[3]
WALKER = ROOT / "examples" / "scenarios" / "walker.toml"
G = 9.81


@cache
def slider(law: str) -> cf.Mechanism:
    """Return a mass of 1 on a slide under a law."""
    builder = cf.Mechanism.builder("slider", gravity=(0, 0, 0)).parameter("mu", 1)
    builder.parameter("w", "1.3")
    builder.segment("x", axis="x", joint="prismatic", mass=1)
    return builder.force("x", law).build()


@cache
def pendulum() -> cf.Mechanism:
    """Return a mathematical pendulum of 1 m."""
    builder = cf.Mechanism.builder("pendulum", gravity=(0, "-9.81", 0))
    return builder.segment("rod", axis="z", mass=1, com=[0, -1, 0]).build()


@cache
def driven_pendulum() -> cf.Mechanism:
    """Return a pendulum of 1 m whose pivot may move up and down."""
    builder = cf.Mechanism.builder("driven", gravity=(0, "-9.81", 0)).parameter("A", "0.1")
    builder.parameter("w", 5)
    builder.segment("pivot", axis="y", joint="prismatic", mass=1)
    builder.segment("rod", parent="pivot", axis="z", mass=1, com=[0, -1, 0])
    return builder.build()


def shaken(A: float, w: float, **options: Any) -> Result:
    """Return the motion of the driven pendulum at rest on its pivot, which moves as A cos(w t)."""
    return cf.periodic_motion(
        driven_pendulum(),
        period="2*pi/w",
        motion={"pivot": "A*cos(w*t)"},
        values={"A": A, "w": w},
        **options,
    )


def multipliers(result: Result) -> np.ndarray:
    facts = result.facts
    return np.array(facts["multipliers_real"]) + 1j * np.array(facts["multipliers_imag"])


VAN_DER_POL = "mu*(1 - x^2)*der(x) - x"


# --- closed forms -------------------------------------------------------------------------------


def test_a_linear_forced_oscillator() -> None:
    """Its multipliers are exp(lambda T), its motion is the forced oscillation."""
    found = cf.periodic_motion(
        slider("-4*x - 0.3*der(x) + sin(w*t)"), period="2*pi/w", q0=[0.7], points=41
    )
    T, poles = 2 * np.pi / 1.3, np.roots([1, 0.3, 4])
    assert found.facts["period"] == pytest.approx(T, rel=1e-14)
    assert found.facts["stable"] == 1
    expected = np.exp(poles * T)
    np.testing.assert_allclose(
        np.sort_complex(multipliers(found)), np.sort_complex(expected), atol=1e-9
    )
    response = 1 / (4 - 1.3**2 + 0.3j * 1.3)
    x = (response * np.exp(1.3j * found["t"])).imag
    np.testing.assert_allclose(found["q"][:, 0], x, atol=1e-9)
    # The next period is the same: the last row is the first one.
    np.testing.assert_allclose(found["q"][-1], found["q"][0], atol=1e-9)


def test_a_free_pendulum_is_one_of_a_family() -> None:
    """Its period is an elliptic integral; both multipliers are 1, each for a reason."""
    found = cf.periodic_motion(pendulum(), period=2.0, q0=[1.0], held=["rod", "der(rod)"])
    assert found.facts["period"] == pytest.approx(
        4 * np.sqrt(1 / G) * ellipk(np.sin(0.5) ** 2), rel=1e-10
    )
    assert found.facts["names"] == ["phase", "energy"]
    np.testing.assert_array_equal(multipliers(found), [1, 1])
    assert found.facts["stable"] == 1


def test_a_family_is_entered_at_a_period() -> None:
    T = 4 * np.sqrt(1 / G) * ellipk(np.sin(0.5) ** 2)
    found = cf.periodic_motion(pendulum(), period=T, q0=[0.6], held=["der(rod)", "period"])
    assert found["q"].max() == pytest.approx(1.0, abs=1e-8)


def test_a_pendulum_that_turns_over() -> None:
    """A revolution is a period with an advance of a whole turn; a section tells where it ends."""
    found = cf.periodic_motion(
        pendulum(), qd0=[7.0], section="sin(rod)", t=5, shift={"rod": "2*pi"}
    )
    k = (2 * np.sqrt(G) / 7.0) ** 2
    assert found.facts["period"] == pytest.approx(4 / 7.0 * ellipk(k), rel=1e-10)
    assert found.facts["advance"] == {"rod": pytest.approx(2 * np.pi)}


def test_a_limit_cycle() -> None:
    """Van der Pol: from the divergence along it the other multiplier follows (Liouville)."""
    found = cf.periodic_motion(slider(VAN_DER_POL), q0=[2.0], section="x", t=20, points=801)
    assert found.facts["period"] == pytest.approx(6.66328685933, rel=1e-9)

    def rates(t: float, y: np.ndarray) -> list[float]:
        del t
        x, v = y[:2]
        A = np.array([[0, 1], [-1 - 2 * x * v, 1 - x * x]])
        return [v, (1 - x * x) * v - x, *(A @ y[2:].reshape(2, 2)).ravel()]

    start = [found["q"][0, 0], found["qd"][0, 0], 1, 0, 0, 1]
    span = (0, found.facts["period"])
    end = solve_ivp(rates, span, start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    other = np.sort(np.abs(np.linalg.eigvals(end[2:].reshape(2, 2))))[0]
    values = multipliers(found)
    assert found.facts["names"] == ["phase", ""]
    assert values[1].real == pytest.approx(other, abs=1e-8)
    assert found.facts["stable"] == 1
    assert any("orbitally stable" in line for line in found.report)


def test_an_unstable_cycle() -> None:
    """Backwards in time the cycle is the same, and its multiplier the inverse."""
    one = cf.periodic_motion(slider(VAN_DER_POL), q0=[2.0], period=6.6, values={"mu": 0.3})
    back = cf.periodic_motion(slider(VAN_DER_POL), q0=[2.0], period=6.3, values={"mu": -0.3})
    assert back.facts["stable"] == 0
    assert back.facts["period"] == pytest.approx(one.facts["period"], rel=1e-9)
    assert multipliers(back)[1] * multipliers(one)[1] == pytest.approx(1, rel=1e-7)


@pytest.mark.parametrize("settle", [60.0, 61.7, 200.0])
def test_a_motion_may_settle_for_any_time(settle: float) -> None:
    """The second period ends with the last of its times, however these are rounded."""
    law = "-x - x^3 - 0.2*der(x) + 0.3*cos(w*t)"
    found = cf.periodic_motion(slider(law), period="2*pi/w", q0=[2.0], settle=settle)
    assert len(found) == 201
    assert found["t"][0] == settle
    assert found.facts["growth"] == pytest.approx(-0.1, rel=1e-9)


# --- parametric oscillations --------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
def test_boundaries_of_mathieus_chart(order: int) -> None:
    """Small turns obey x'' + (a - 2 q cos 2 s) x = 0 with a = 4 g/(l w^2), q = 2 A/l, s = w t/2."""
    A = 0.15
    for edge in (mathieu_a, mathieu_b):
        w = 2 * np.sqrt(G / float(edge(order, 2 * A)))
        sides = [shaken(A, w * (1 + step)) for step in (-1e-5, 1e-5)]
        assert {side.facts["stable"] for side in sides} == {0, -1}


@pytest.mark.slow
def test_kapitzas_pendulum() -> None:
    """Upside down it stands where the pivot moves fast enough, by Mathieu's functions again."""
    A = 0.1
    # Upwards a is negative: on the boundary a = mathieu_a(0, q).
    a = float(mathieu_a(0, 2 * A))
    w = 2 * np.sqrt(G / -a)
    assert w == pytest.approx(np.sqrt(2 * G) / A, rel=0.01)
    up = {"q0": {"pivot": A, "rod": np.pi}}
    assert shaken(A, w * (1 - 1e-4), **up).facts["stable"] == 0
    fast = shaken(A, w * (1 + 1e-4), **up)
    assert fast.facts["stable"] == -1
    np.testing.assert_allclose(fast["q"][:, 1], np.pi, atol=1e-9)


# --- loops, controllers, quaternions ------------------------------------------------------------


@pytest.mark.slow
def test_a_linkage_that_turns() -> None:
    """Four bars have one freedom: its multiplier is exp of the integral of the divergence."""
    table = tomllib.loads((ROOT / "examples" / "four_bar.toml").read_text())
    table["forces"] = [{"joint": "crank", "law": "8 - 0.3*der(crank)"}]
    linkage = read_text(json.dumps(table), "json")
    shift = {"crank": "2*pi", "coupler": "-2*pi"}
    found = cf.periodic_motion(
        linkage, section="sin(crank)", t=3, settle=2, shift=shift, q0=[0, 0.5, 1.2], points=129
    )
    # The trapezoidal rule is exact for what is periodic.
    divergence = [
        cf.linearise(linkage, q=q, qd=qd, independent=["crank"]).A[1, 1]
        for q, qd in zip(found["q"][1:], found["qd"][1:], strict=True)
    ]
    expected = np.exp(np.mean(divergence) * found.facts["period"])
    assert found.facts["names"] == ["phase", ""]
    assert 0.01 < expected < 0.99
    assert multipliers(found)[1] == pytest.approx(expected, rel=1e-7)


def test_a_controller_with_an_integral() -> None:
    """Behind a linear controller the multipliers are exp of the poles, the integral among them."""
    pid = {"x": {"type": "pid", "kp": 5, "ki": 2, "kd": 3, "target": "sin(w*t)"}}
    found = cf.periodic_motion(slider("0"), period="2*pi/w", controllers=pid)
    expected = np.exp(np.roots([1, 3, 5, 2]) * found.facts["period"])
    ours = multipliers(found)
    np.testing.assert_allclose(np.sort_complex(ours), np.sort_complex(expected), atol=1e-8)
    assert found["x"].shape == (201, 1)
    np.testing.assert_allclose(found["x"][-1], found["x"][0], atol=1e-9)


@pytest.mark.slow
def test_a_heavy_top() -> None:
    """Turns of a spherical joint: the motion is one of families, and nothing leaves the circle."""
    builder = cf.Mechanism.builder("top", gravity=(0, 0, "-9.81"))
    builder.segment("top", joint="spherical", mass=1, com=[0, 0, 0.1], inertia=[0.02, 0.02, 0.005])
    tilt = [np.sin(0.15), 0, 0, np.cos(0.15)]
    found = cf.periodic_motion(builder.build(), period=2.0, q0=tilt, qd0=[0, 3.0, 60.0])
    assert found.facts["names"][:2] == ["phase", "energy"]
    np.testing.assert_allclose(np.abs(multipliers(found)), 1, atol=1e-4)
    assert np.prod(multipliers(found)) == pytest.approx(1, abs=1e-6)
    assert found.facts["stable"] == -1
    first, last = found["q"][[0, -1]]
    assert abs(first @ last) == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
def test_a_disc_that_rolls_in_a_circle() -> None:
    """It comes back to its place; the multipliers are exp of the poles of its steady motion."""
    disc = cf.read(ROOT / "examples" / "rolling_disc.toml")
    turns = cf.root_locus(disc, "w", (0, -2), count=3, qd={"phi": 6, "psi": "w"})
    found = cf.periodic_motion(
        disc,
        period=np.pi,
        q0=turns["q"][-1],
        qd0=turns["qd"][-1],
        shift={"psi": "-2*pi"},
        relative=["phi"],
        held=["psi"],
    )
    assert found.facts["period"] == pytest.approx(np.pi, rel=1e-9)
    assert found.facts["names"][:3] == ["phase", "phi", "energy"]
    wanted = np.exp(1j * np.pi * turns["pole_imag"][-1].max())
    assert np.abs(multipliers(found) - wanted).min() < 1e-7


# --- sections with a change, impacts -------------------------------------------------------------


@cache
def walker() -> cf.Mechanism:
    """Return the simplest walker: equations of Garcia and others (1998), as forces on masses."""
    builder = cf.Mechanism.builder("simplest walker", gravity=(0, 0, 0)).parameter("s", "0.009")
    for name in ("theta", "phi"):
        builder.segment(name, parent="ground", axis="x", joint="prismatic", mass=1)
    builder.force("theta", "sin(theta - s)")
    swing = "sin(theta - s) + der(theta)^2*sin(phi) - cos(theta - s)*sin(phi)"
    return builder.force("phi", swing).build()


HEELSTRIKE = {"law": "phi - 2*theta", "direction": "rising"}
AFTER = {
    "theta": "-theta",
    "phi": "-2*theta",
    "der(theta)": "cos(2*theta)*der(theta)",
    "der(phi)": "cos(2*theta)*(1 - cos(2*theta))*der(theta)",
}


@pytest.mark.parametrize(
    ("q0", "qd0", "state", "pair", "stable"),
    [
        (
            [0.2, 0.4],
            [-0.2, -0.016],
            (0.200310900544287, -0.199832473004977),
            (-0.190099639402167 + 0.557599274284362j, -0.190099639402167 - 0.557599274284362j),
            1,
        ),
        ([0.194, 0.388], [-0.204, -0.015], (0.193937369810184, -0.203866927442), (4.00, 0.459), 0),
    ],
)
def test_the_simplest_walker(
    q0: list[float], qd0: list[float], state: tuple[float, float], pair: Any, stable: int
) -> None:
    """The two gaits on a slope of 0.009, with the figures of Garcia and others (1998), table 1."""
    found = cf.periodic_motion(walker(), q0=q0, qd0=qd0, section=HEELSTRIKE, change=AFTER, t=6)
    assert (found["q"][0, 0], found["qd"][0, 0]) == pytest.approx(state, abs=2e-9)
    assert found.facts["stable"] == stable
    values = sorted(multipliers(found)[1:], key=abs)[1:]
    expected = sorted(np.array(pair, complex), key=lambda value: (abs(value), value.imag))
    # The published ones are from differences.
    np.testing.assert_allclose(sorted(values, key=lambda v: (abs(v), v.imag)), expected, atol=4e-3)
    if stable:
        np.testing.assert_allclose(np.abs(values), np.abs(expected), atol=1e-6)
    # One multiplier is lost at heelstrike, where the swing foot takes its rate from the other.
    assert np.abs(multipliers(found)).min() < 1e-9


@pytest.mark.slow
def test_the_wheel_without_rim() -> None:
    """From spoke to spoke deviations of the speed are halved: cos(pi/4)^2 for eight spokes."""
    spokes, slope = 8, 0.08
    turn = 2 * np.pi / spokes
    gravity = (G * np.sin(slope), 0, -G * np.cos(slope))
    builder = cf.Mechanism.builder("rimless wheel", gravity=gravity)
    joint = {"type": "planar", "axis": "y", "coordinates": ["z", "x", "theta"]}
    builder.segment("wheel", parent="ground", joint=joint, mass=1, inertia=[0, "1e-6", 0])
    feet = {f"foot{i}": [np.sin(a), 0, -np.cos(a)] for i, a in enumerate(turn * np.arange(spokes))}
    steady = np.sqrt(4 * G * np.sin(turn / 2) * np.sin(slope)) / np.tan(turn)
    rolling: dict[str, Any] = {
        "q0": [1.0, 0.0, 0.0],
        "qd0": [0, 1.5 * steady, 1.5 * steady],
        "contacts": {"wheel": {"points": feet, "friction": 5, "normal": [0, 0, 1]}},
        "relative": ["x"],
    }
    wheel = builder.build()
    found = cf.periodic_motion(wheel, settle=0.1, period=1.03, shift={"theta": turn}, **rolling)
    assert found.facts["advance"]["x"] == pytest.approx(2 * np.sin(turn / 2), abs=1e-8)
    assert found.facts["names"] == ["phase", "x", ""]
    assert multipliers(found)[2] == pytest.approx(np.cos(turn) ** 2, abs=2e-6)
    assert found.facts["stable"] == 1
    # A whole turn, from one impact of a foot to its next one.
    whole = cf.periodic_motion(wheel, section="foot1", t=20, shift={"theta": "2*pi"}, **rolling)
    assert whole.facts["period"] == pytest.approx(8 * found.facts["period"], rel=1e-8)
    assert multipliers(whole)[2] == pytest.approx(np.cos(turn) ** 16, abs=1e-6)


@pytest.mark.slow
def test_the_walker_of_the_examples_falls_in_the_end() -> None:
    """Its gait has a multiplier above 1: the six steps of the scenario lead away from it."""
    found = cf.periodic_motion(WALKER, period=0.95, settle=0.2, relative=["x"])
    assert found.facts["stable"] == 0
    assert found.facts["names"] == ["x", "", ""]
    # The same by differences: the foot stands, and angle and rate of the leg are changed.
    span = (0.2, 0.2 + 0.95)
    system = Problem.of(WALKER, t=span, rtol=1e-12, energy_balance=False).compile()
    q, qd, h = found["q"][0], found["qd"][0], 1e-5
    foot = q[0] + q[1] * np.tan(q[2])
    length = q[1] / np.cos(q[2])

    def returned(angle: float, rate: float) -> np.ndarray:
        sine, cosine = length * np.sin(angle), length * np.cos(angle)
        start = [foot - sine, cosine, angle, *q[3:]]
        run = system.run(start, [-cosine * rate, -sine * rate, rate, *qd[3:]])
        return np.array([run.q[-1, 2], run.qd[-1, 2]])

    one, two = (h, 0), (0, h)
    slopes = [
        (returned(q[2] + a, qd[2] + b) - returned(q[2] - a, qd[2] - b)) / (2 * h)
        for a, b in (one, two)
    ]
    expected = np.sort(np.real(np.linalg.eigvals(np.array(slopes).T)))
    np.testing.assert_allclose(np.sort(np.real(multipliers(found)[1:])), expected, rtol=1e-5)


# --- what is refused ----------------------------------------------------------------------------


def mirrored(t: float, q: Any, qd: Any) -> tuple[Any, Any]:
    del t
    return q, -qd


def nothing(t: float, q: Any, qd: Any) -> float:
    del t, q, qd
    return 0.0


CYCLE = {"q0": [2.0], "section": "x", "t": 20}


@pytest.mark.parametrize(
    ("law", "options", "message"),
    [
        (VAN_DER_POL, {}, "neither period nor section"),
        (VAN_DER_POL, {"period": 0}, "not positive"),
        (VAN_DER_POL, {"period": "w - 1.3"}, "not positive"),
        (VAN_DER_POL, {"period": 6, "t": 3}, "t stands next to period"),
        (VAN_DER_POL, {**CYCLE, "t": 0.1}, "no return to the section within 0.1 s"),
        (VAN_DER_POL, {**CYCLE, "section": "x - 9"}, "no return to the section"),
        ("-x", {**CYCLE, "section": "x + 2"}, "only touches the section|no return"),
        (VAN_DER_POL, {"period": 1.0}, "rests, and every time is its period"),
        ("-x - der(x)", {"period": 6.0, "q0": [1.0]}, "rests|does not close"),
        ("1 + 0*x", {"period": 6.0, "q0": [1.0]}, "the period tends to zero"),
        ("sin(w*t) - x - der(x)", {"period": 3.0}, "the next period is another|does not close"),
        ("sin(w*t) - x - der(x)", {"section": "x"}, "the equations name the time"),
        ("-x", {"period": 6.0, "q0": [1.0], "shift": {"y": 1}}, "there is no coordinate 'y'"),
        ("-x", {"period": 6.0, "q0": [1.0], "held": ["y"]}, "there is no name 'y'"),
        ("-x", {"period": 6.2, "q0": [1.0], "hold": 0.1}, "hold has no place"),
        ("-x", {"period": 6.2, "q0": [1.0], "change": {"x": "-x"}}, "a change needs a section"),
        ("-x", {**CYCLE, "change": {"x": abs}}, "function of Python"),
        ("-x", {**CYCLE, "change": {"z": "x"}}, "there is no coordinate or rate 'z'"),
        (
            "-x",
            {**CYCLE, "events": {"wall": {"law": "x", "change": mirrored}}},
            "no derivatives",
        ),
        (
            "-x",
            {**CYCLE, "section": "wall", "events": {"wall": {"law": "x", "stop": True}}},
            "stop",
        ),
        ("-x", {"period": 6.2, "forces": {"x": nothing}}, "no derivatives"),
    ],
)
def test_what_is_refused(law: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(cf.Error, match=message) as caught:
        cf.periodic_motion(slider(law), **options)
    assert caught.value.element
    assert caught.value.remedy


def test_a_period_of_the_laws_is_needed() -> None:
    """A forced motion that happens to close after another time is not periodic with it."""
    with pytest.raises(cf.Error, match="the next period is another"):
        cf.periodic_motion(slider("-x - der(x) + max(0, sin(w*t))^4"), period=2.0)


@pytest.mark.slow
def test_a_period_that_begins_on_a_jump_of_a_law_is_refused() -> None:
    # With the jump at both ends and at none of them, the stable motion was found to be unstable.
    relay = slider("(1 - x^2)*der(x) - 2*sign(x)")
    options: Any = {"t": 30, "q0": [1]}
    for section in ("x", "-x"):
        with pytest.raises(cf.Error, match="begins where a law jumps") as refusal:
            cf.periodic_motion(relay, section=section, **options)
        assert refusal.value.element == "section"
    found = cf.periodic_motion(relay, section="der(x)", **options)
    assert found.facts["stable"] == 1
    elsewhere = cf.periodic_motion(relay, section="x - 0.5", **options)
    assert elsewhere.facts["growth"] == pytest.approx(found.facts["growth"], abs=1e-4)
