"""Unknown forces along prescribed motions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis import complete, drives, unknown_forces
from chainform.analysis.motions.motion import motion_of
from chainform.errors import Error, RunError
from chainform.readers import read_text
from zoo import reference_data

STANFORD = "examples/stanford_elements.toml"
CRANE = "examples/portal_crane.toml"
LUFFING: dict[str, object] = {"s": "((5.2 + 2.7) + (5.2 - 2.7)*cos(pi*t/20))/2"}


def trajectories() -> list[Any]:
    return [
        pytest.param(path, id=path["label"][:12])
        for path in reference_data("stanford_arm")["trajectories"]
    ]


@pytest.mark.parametrize("path", trajectories())
def test_the_stanford_arm_of_andrieiev_and_dziuba(path: dict[str, Any]) -> None:
    """The bodies in the words of the paper; forces computed by CasADi and Pinocchio."""
    side = {"d22": path["d22_sign"] * 0.5}
    found = unknown_forces(
        cf.read(STANFORD), path["t"], path["q"], path["qd"], path["qdd"], values=side
    )
    assert found.names == ("M1", "M2", "F32")
    assert found.kind == "exact"
    assert np.allclose(found.values, path["tau"], rtol=1e-9, atol=1e-9)
    assert np.allclose(found.residual, 0, atol=1e-9)


ASTROID = {
    # theta1 = atan2(y, x) - atan2(yh, off), theta2 = atan2(z - d11 - d12, yh), with all branches
    # such that one arctangent will do; off is d21 + d22.
    "theta1": "atan(y/x) - acos(off/sqrt(x^2 + y^2))",
    "theta2": "atan((z - 0.75)/yh)",
    "d32": "sqrt(yh^2 + (z - 0.75)^2) - 0.4",
}


def astroid(x: str, off: str) -> dict[str, str]:
    """Return the motion as laws of time alone."""
    y, z = "(0.6*cos(t)^3)", "(0.6*sin(t)^3)"
    yh = f"sqrt({x}^2 + {y}^2 - ({off})^2)"
    words = {"yh": yh, "off": f"({off})", "x": x, "y": y, "z": z}
    laws = dict(ASTROID)
    for name, law in laws.items():
        for word, text in words.items():
            law = re.sub(rf"\b{word}\b", text, law)
        laws[name] = law
    return laws


@pytest.mark.parametrize("path", trajectories())
def test_motions_given_by_laws_are_differentiated(path: dict[str, Any]) -> None:
    arm, side = cf.read(STANFORD), path["d22_sign"] * 0.5
    if "joint_laws" in path:
        laws: dict[str, Any] = dict(zip(arm.coordinates, path["joint_laws"], strict=True))
    else:
        laws = astroid(path["tip_path"]["x"], str(0.25 + side))
    motion = motion_of(arm, laws, path["t"])
    for name in ("q", "qd", "qdd"):
        assert np.allclose(getattr(motion, name), path[name], rtol=1e-9, atol=1e-9), name
    found = unknown_forces(arm, path["t"], motion=laws, values={"d22": side})
    assert np.allclose(found.values, path["tau"], rtol=1e-9, atol=1e-9)


def test_the_rack_of_a_portal_crane_does_the_work_of_its_motion() -> None:
    """Work of the rack force = change of kinetic and potential energy, and power = their rate."""
    crane = cf.read(CRANE)
    start, end = 1.0, 8.3
    nodes, weights = np.polynomial.legendre.leggauss(40)
    times = start + (end - start) * (nodes + 1) / 2
    found = unknown_forces(crane, times, motion=LUFFING)
    assert found.kind == "exact"
    motion = motion_of(crane, LUFFING, times)
    work = (found["S"] * motion.qd[:, 0]) @ weights * (end - start) / 2
    energy = cf.derive(crane, ["kinetic_energy", "potential_energy"])

    def total(t: Any) -> Any:
        at = motion_of(crane, LUFFING, t)
        return sum(energy.evaluate(q=at.q, qd=at.qd).values())

    assert work == pytest.approx(total(end) - total(start), rel=1e-11)
    h = 1e-3
    rate = (
        8 * (total(times + h) - total(times - h)) - total(times + 2 * h) + total(times - 2 * h)
    ) / (12 * h)
    assert found["S"] * motion.qd[:, 0] == pytest.approx(rate, rel=1e-7, abs=1e-3)
    # It begins and ends at rest, so that all of the work lies in the height of the masses.
    assert motion_of(crane, LUFFING, [0, 20]).qd == pytest.approx(0, abs=1e-15)


def test_the_rack_force_acts_along_its_coordinate() -> None:
    """s is the distance of pinion and hinge, so that A = 1 although S stands in two components."""
    crane = cf.read(CRANE)
    model = cf.derive(crane, ["force_matrix"])
    A = model.evaluate(q=np.linspace(2.7, 5.2, 7)[:, np.newaxis])["force_matrix"]
    assert pytest.approx(1, abs=1e-12) == A


def test_the_crane_is_closed_and_carries_its_load_level() -> None:
    crane = cf.read(CRANE)
    model = cf.derive(crane, ["pose(head)", "pose(load)", "pose(rocker)", "pose(rod)", "pose(tie)"])
    value = model.evaluate(q=np.linspace(2.7, 5.2, 11)[:, np.newaxis])
    at = {name[5:-1]: pose for name, pose in value.items()}

    def point(frame: str, x: float) -> Any:
        return at[frame][..., :2, 3] + x * at[frame][..., :2, 0]

    assert point("head", -4) == pytest.approx(point("tie", 14 / 2)), "E of jib and tie"
    assert point("tie", -14 / 2) == pytest.approx(np.tile([-2, 10], (11, 1))), "L"
    assert point("rocker", 3.5) == pytest.approx(point("rod", 7 / 2)), "M of rocker and rod"
    load = at["load"][..., :2, 3]
    assert np.ptp(load[:, 0]) > 12
    assert np.ptp(load[:, 1]) < 1.5


def chain(count: int, unknowns: tuple[str, ...], laws: dict[str, str]) -> cf.Mechanism:
    builder = cf.Mechanism.builder("masses", gravity=(0, 0, 0)).unknowns(*unknowns)
    builder.coordinates(*(f"x{chr(97 + k)}" for k in range(count)))
    for k in range(count):
        name = f"x{chr(97 + k)}"
        builder.element(kind="point", mass=k + 1, position=[name, 0, 0])
    for along, law in laws.items():
        builder.element(kind="force", force=law, along=along)
    return builder.build()


def test_more_forces_than_equations_have_least_norm() -> None:
    found = unknown_forces(
        chain(1, ("F", "G"), {"xa": "3*F + 4*G"}), q=[[0], [0]], qd=[[0], [0]], qdd=[[5], [10]]
    )
    assert found.kind == "least norm"
    assert found.values == pytest.approx(np.array([[0.6, 0.8], [1.2, 1.6]]))
    assert found.rank.tolist() == [1, 1]
    assert "least norm" in found.report


def test_more_equations_than_forces_have_least_squares() -> None:
    model = chain(2, ("F",), {"xa": "F", "xb": "F"})
    exact = unknown_forces(model, q=[0, 0], qd=[0, 0], qdd=[2, 1])
    assert exact.kind == "exact"
    assert exact.values == pytest.approx([2])
    found = unknown_forces(model, q=[0, 0], qd=[0, 0], qdd=[2, 2])
    assert found.kind == "least squares"
    assert found.values == pytest.approx([3])
    assert found.residual == pytest.approx([1, -1])
    assert "the most that is left over is 1" in found.report
    times = np.array([0.0, 1.0])
    batch = unknown_forces(model, times, motion={"xa": "t^2", "xb": "t^3"})
    assert batch.kind == "least squares"
    assert "at t = 1" in batch.report


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"motion": {"s": "5"}}, "needs times"),
        ({"motion": {"s": "5"}, "t": 0, "q": [5]}, "given twice"),
        ({"motion": {}, "t": 0}, "no motion is given for s"),
        ({"motion": {"z": "t"}, "t": 0}, "no coordinate named 'z'"),
        ({"motion": {"s": "2*r"}, "t": 0}, "'r' is not known here"),
        ({"motion": {"s": "12"}, "t": [0.0, 1]}, "no finite value"),
        ({"q": [5]}, "is needed for these outputs"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        unknown_forces(cf.read(CRANE), **options)


def test_a_model_needs_the_outputs() -> None:
    model = cf.derive(cf.read(CRANE), ["mass_matrix"])
    with pytest.raises(RunError, match="no output force_matrix"):
        unknown_forces(model, q=[5], qd=[0], qdd=[0])
    with pytest.raises(RunError, match="no unknown force 'T'"):
        unknown_forces(cf.read(CRANE), q=[5], qd=[0], qdd=[0])["T"]
    with pytest.raises(Error, match="no unknown forces"):
        unknown_forces(cf.read("examples/knife_edge.toml"), q=[0] * 3, qd=[0] * 3, qdd=[0] * 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"t": "soon"}, "real numbers"),
        ({"t": [1j]}, "real numbers"),
        ({"t": np.nan}, "no finite value, rate or acceleration at t = nan"),
        ({"motion": {"s": "5 + log(t)"}, "t": [1, 0]}, "the motion of s .* at t = 0"),
        ({"motion": {"s": "5 + sqrt(t)"}, "t": 0}, "the motion of s .* at t = 0"),
        ({"motion": []}, "motion: expected a table"),
        ({"motion": {1: 2}}, "no coordinate named '1'"),
        ({"values": {"weight": 2}}, "no parameter 'weight'"),
        ({"values": [2]}, "values: expected a table"),
    ],
)
def test_wrong_motions_and_values_are_named(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"t": [0, 1], "motion": {"s": "5 + 0.1*t"}, **options}
    with pytest.raises(Error, match=message) as caught:
        unknown_forces(cf.read(CRANE), **given)
    assert caught.value.element or caught.value.file


def test_no_times_are_refused() -> None:
    with pytest.raises(RunError, match="there are no times"):
        unknown_forces(CRANE, [], motion={"s": "5"})


def test_parameters_of_the_motion_and_of_the_equations() -> None:
    builder = cf.Mechanism.builder("cart").coordinates("s").unknowns("F")
    builder.parameter("m", 3).parameter("rise").element("cart: Sx(s); m")
    cart = builder.element(kind="force", force="F", along="s").build()
    motion = {"s": "rise*t^2/2"}
    found = unknown_forces(cart, [0, 1], motion=motion, values={"rise": 2, "m": [[5], [7]]})
    assert found["F"].tolist() == [[10, 10], [14, 14]]
    numeric = cf.derive(cart, ["force_matrix", "force_right"])
    assert unknown_forces(numeric, 0, motion=motion, values={"rise": 2})["F"] == 6
    with pytest.raises(RunError, match="the parameter m is a number in this model"):
        unknown_forces(numeric, 0, motion=motion, values={"rise": 2, "m": 5})


# --- under loops and constraints ------------------------------------------------------------------

WEIGHT = """
name = "weight"
gravity = [0, -9.81, 0]
coordinates = [{ name = "x", unit = "m" }, { name = "y", unit = "m" }]
elements = ["p: S(x, y, 0); m", { kind = "force", force = FORCE, at = "p" }]
unknowns = ["F"]
[parameters]
m = 2
r = 1
[[constraints]]
name = "rod"
kind = "holonomic"
law = "x^2 + y^2 - r^2"
"""
RODS = (
    WEIGHT
    + """
[[constraints]]
name = "other rod"
kind = "holonomic"
law = "3*x^2 + 3*y^2 - 3*r^2"
"""
)
ACROSS, ALONG = '["F", 0, 0]', '["F*x", "F*y", 0]'


def weight(text: str = WEIGHT, force: str = ACROSS) -> cf.Mechanism:
    return read_text(text.replace("FORCE", force), "toml")


def swing(t: Any, r: float = 1.0, rate: float = 0.3) -> tuple[Any, Any, Any, Any]:
    """Return the angle, and q, qd, qdd of a uniform turn about the origin."""
    theta = 0.4 + rate * t
    out, along = (
        np.stack(x, -1) for x in ((np.sin(theta), -np.cos(theta)), (np.cos(theta), np.sin(theta)))
    )
    return theta, r * out, r * rate * along, -r * rate**2 * out


T = np.linspace(0, 1, 5)


def test_a_force_and_the_rod_share_the_load() -> None:
    """F = m g tan(theta); the rod takes the rest, and the centripetal force."""
    theta, *motion = swing(T)
    found = unknown_forces(weight(), T, *motion)
    assert found["F"] == pytest.approx(2 * 9.81 * np.tan(theta), rel=1e-12)
    pull = 2 * 9.81 / np.cos(theta) + 2 * 0.3**2
    assert -2 * found.multipliers[:, 0] == pytest.approx(pull, rel=1e-12)
    assert (found.kind, found.rows, found.row_rank.tolist()) == ("exact", ("rod",), [1] * 5)
    assert "1 row of loops and constraints, all independent" in found.report
    assert np.abs(found.residual).max() < 1e-12


def test_values_count_in_the_rows_too() -> None:
    theta, *motion = swing(T, r=1.5)
    found = unknown_forces(weight(), T, *motion, values={"r": 1.5, "m": 3.0, "g": 1.62})
    assert found["F"] == pytest.approx(3 * 1.62 * np.tan(theta), rel=1e-12)


def test_many_values_at_once() -> None:
    """Parameters may have a value for each state, as everywhere."""
    lengths = np.array([1.0, 1.5, 2.0])
    theta, q, qd, qdd = swing(np.full(3, 0.5))
    scaled = [lengths[:, None] * x for x in (q, qd, qdd)]
    found = unknown_forces(weight(), None, *scaled, values={"r": lengths})
    assert found["F"] == pytest.approx(2 * 9.81 * np.tan(theta), rel=1e-12)


def test_redundant_rows_leave_the_force_determined() -> None:
    theta, *motion = swing(T)
    found = unknown_forces(weight(RODS), T, *motion)
    assert found["F"] == pytest.approx(2 * 9.81 * np.tan(theta), rel=1e-12)
    assert found.kind == "exact"
    assert found.row_rank.tolist() == [1] * 5
    words = "2 rows of loops and constraints, 1 of them independent: the multipliers are those of"
    assert f"{words} least norm" in found.report
    # Of all s1 + 3 s2 = s the least norm has s2 = 3 s1.
    assert found.multipliers[:, 1] == pytest.approx(3 * found.multipliers[:, 0], rel=1e-9)


def test_a_force_along_the_rod_is_not_determined() -> None:
    """Its column is a combination of the rows: nothing but rounding is left of it."""
    t = np.zeros(1)
    rest = np.array([[0.0, -1.0]]), np.zeros((1, 2)), np.zeros((1, 2))
    found = unknown_forces(weight(force=ALONG), t, *rest)
    assert found.kind == "least norm"
    assert found.rank.tolist() == [0]
    assert found["F"] == pytest.approx(0, abs=1e-12)
    assert -2 * found.multipliers[0, 0] == pytest.approx(2 * 9.81)


def test_a_motion_that_no_force_along_the_rod_brings_about() -> None:
    _, *motion = swing(T)
    found = unknown_forces(weight(force=ALONG), T, *motion)
    assert found.kind == "least squares"


@pytest.mark.parametrize("level", ["positions", "rates", "accelerations"])
def test_a_motion_that_does_not_fit_is_refused(level: str) -> None:
    _, *motion = swing(T)
    motion[["positions", "rates", "accelerations"].index(level)][3, 1] += 1e-3
    words = rf"the {level} of the motion do not fit 'rod' at t = 0.75 s: -?0\.00\d+ is left"
    with pytest.raises(RunError, match=words):
        unknown_forces(weight(), T, *motion)


def test_a_motion_that_leans_on_something_is_refused() -> None:
    text = WEIGHT + '[[constraints]]\nname = "floor"\nkind = "unilateral"\nlaw = "y + 0.9"\n'
    theta, *motion = swing(T + 1)
    found = unknown_forces(weight(text), T, *motion)
    assert found["F"] == pytest.approx(2 * 9.81 * np.tan(theta), rel=1e-12)
    with pytest.raises(RunError, match=r"'floor' touches or is passed at t = 0 s"):
        unknown_forces(weight(text), T, *swing(T)[1:])


def four_bar() -> cf.Mechanism:
    text = Path("examples/four_bar.toml").read_text()
    moment = '{ kind = "moment", moment = [0, 0, "M"], on = "crank" }'
    head = f'unknowns = ["M"]\nelements = [{moment}]\n[parameters]'
    return read_text(text.replace("[parameters]", head), "toml")


@pytest.mark.parametrize("law", ["3*t", "1 + sin(2*t)"])
def test_the_moment_on_a_crank_is_its_drive(law: str) -> None:
    """The same linkage without elements, whose drive is found by `drives`."""
    t, plain = np.linspace(0, 0.7, 8), cf.read("examples/four_bar.toml")
    motion = complete(plain, {"crank": law}, t=t, start={"crank": 0.0})
    parts = (motion.q, motion.qd, motion.qdd)
    found, expected = unknown_forces(four_bar(), t, *parts), drives(plain, *parts, ["crank"])
    assert found["M"] == pytest.approx(expected.tau[:, 0], rel=1e-9)
    assert found.multipliers == pytest.approx(expected.sigma, rel=1e-9, abs=1e-12)
    assert found.rows == ("linkage x", "linkage y", "linkage z")
    # The third equation of a plane linkage is 0 = 0.
    assert found.row_rank.tolist() == [2] * 8
    assert found.kind == "exact"


def test_another_value_for_what_is_a_number_by_now_is_refused() -> None:
    """A turn about a known axis takes its numbers when the file is read."""
    text = WEIGHT.replace("p: S(x, y, 0); m", "p: S(x, y, 0), R(0, 0, r, pi/2); m")
    _, *motion = swing(T)
    assert unknown_forces(weight(text), T, *motion, values={"r": 1}).kind == "exact"
    with pytest.raises(RunError, match=r"r became a number when the file was read"):
        unknown_forces(weight(text), T, *motion, values={"r": 1.5})
