"""Reading actuators: the general form, the library, mistakes, and what is made of a mechanism."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform as cf
from chainform.mechanism import Actuator, parametrise
from chainform.mechanism.actuator_library import LIBRARY
from chainform.readers import native_text, read_text
from chainform.readers.urdf.write import export_urdf

ARM = """
[parameters]
c = 2
free = {}

[[segments]]
name = "upper"
joint = { name = "shoulder", type = "revolute", axis = "z", limits = { effort = 40 } }
mass = 1
com = [1, 0, 0]

[[segments]]
name = "fore"
parent = "upper"
joint = { name = "elbow", type = "prismatic", axis = "x", gear_ratio = 7 }
mass = "c + free"

[[segments]]
name = "finger"
parent = "fore"
joint = { name = "grip", type = "prismatic", axis = "x", mimic = { joint = "elbow" } }

[[segments]]
name = "ball"
parent = "fore"
joint = { name = "socket", type = "spherical" }
mass = 1
inertia = [1, 1, 1]
"""

MOTION: dict[str, Any] = {
    "A": [[0, 1], [-1, -2]],
    "b": [0, 3],
    "f": [0, -4],
    "position": 1,
    "velocity": 2,
}


def toml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(toml, cast('list[object]', value)))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def said(joint: str = "shoulder", **fields: object) -> str:
    lines = [f"{name} = {toml(value)}" for name, value in {"joint": joint, **fields}.items()]
    return "\n[[actuators]]\n" + "\n".join(lines) + "\n"


def read(*actuators: str) -> cf.Mechanism:
    return read_text(ARM + "".join(actuators), "toml")


def one(joint: str = "shoulder", **fields: object) -> Actuator:
    (actuator,) = read(said(joint, **fields)).actuators
    return actuator


# --- the general form -----------------------------------------------------------------------


def test_a_state_with_the_motion() -> None:
    actuator = one(name="servo", **MOTION, limit="c/4", states=["angle", "speed"], signal="volts")
    assert actuator.rate == 0
    assert actuator.order == 2
    assert actuator.holds_motion
    assert actuator.A == ((0, 1), (-1, -2))
    assert (actuator.b, actuator.f, actuator.e) == ((0, 3), (0, -4), (0, 0))
    assert (actuator.position, actuator.velocity) == ((1, 0), (0, 1))
    mechanism = read(said(name="servo", **MOTION, states=["angle", "speed"], signal="volts"))
    assert mechanism.states == ("servo.angle", "servo.speed")
    assert mechanism.signals == ("servo.volts",)


def test_an_effort() -> None:
    row = {"A": [["-1/c"]], "b": [1], "e": ["free"], "effort": [5], "direct": 6, "viscous": 7}
    actuator = one("elbow", **row)
    assert actuator.rate == 1
    assert not actuator.holds_motion
    assert (actuator.effort, actuator.direct, actuator.viscous) == ((5,), 6, 7)
    assert actuator.name == "actuator1"
    assert actuator.states == ("x1",)
    settled = parametrise(read(said("elbow", **row)), "numeric").actuators[0]
    assert settled.A[0][0] == Fraction(-1, 2)
    assert settled.e != (0,)


def test_the_builder_speaks_the_same_words() -> None:
    builder = cf.Mechanism.builder("arm").segment("a", axis="z", mass=1, com=[1, 0, 0])
    A = np.array([[0.0, 1.0], [-1.0, -2.0]])
    built = builder.actuator("m", "a", **{**MOTION, "A": A}).build().actuators[0]
    assert built.A == one(name="m", **MOTION).A
    table = cf.Mechanism.builder("arm").segment("a", axis="z", mass=1, com=[1, 0, 0])
    assert table.actuator_table({"joint": "a", "type": "torque"}).build().actuators[0].direct == 1


def test_states_may_be_scaled_and_turned() -> None:
    """The state may be motor angle and motor rate, seen through a gear."""
    rows: dict[str, Any] = {"A": [[0, 1], [0, -2]], "b": [0, 3], "f": [0, -4]}
    actuator = one(**rows, position=["1/free", 0], velocity=[0, "1/free"])
    assert actuator.position is not None
    with pytest.raises(cf.Error, match="derivative of the position is not the velocity"):
        one(**rows, position=["1/free", 0], velocity=[0, "2/free"])


# --- mistakes -------------------------------------------------------------------------------

WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"A": [[0, 1]], **{k: MOTION[k] for k in ("velocity",)}}, ", velocity", "no state 2"),
    ({**MOTION, "A": [[0, 1], [1]]}, ", A[2]", "expected 2 entries, got 1"),
    ({**MOTION, "b": [1]}, ", b", "expected 2 entries"),
    ({**MOTION, "f": [0, "-1", 1]}, ", f", "expected 2 entries"),
    ({**MOTION, "effort": [1, 0]}, "", "'effort' is for an actuator whose state does not"),
    ({**MOTION, "e": [1, 0]}, "", "'e' is for an actuator whose state does not"),
    ({**MOTION, "velocity": None}, "", "the velocity is not"),
    ({"A": [[1]], "b": [1]}, "", "nothing says how the actuator drives"),
    ({**MOTION, "velocity": [0, 0]}, ", velocity", "no entry but zero"),
    ({**MOTION, "f": [0, 4]}, ", f", "velocity f > 0"),
    ({**MOTION, "f": [1, -4]}, ", position", "is not the velocity"),
    ({**MOTION, "b": [1, 3]}, ", position", "is not the velocity"),
    ({**MOTION, "position": 2}, ", position", "is not the velocity"),
    ({**MOTION, "limit": 0}, ", limit", "not positive"),
    ({**MOTION, "limit": "c - 3"}, ", limit", "not positive"),
    ({**MOTION, "states": ["a"]}, ", states", "expected 2 entries"),
    ({**MOTION, "states": ["a", "a"]}, ", states", "named twice"),
    ({**MOTION, "A": "x"}, ", A", "expected a list"),
    ({**MOTION, "A": [[0, "y"], [0, 0]]}, ", A[1][2]", "'y' is not a parameter"),
    ({**MOTION, "inertia": 1}, "", "unknown field 'inertia'"),
    ({"type": "dc_moter"}, ", type", "there is no type 'dc_moter'"),
    ({"type": "torque", "A": [[1]]}, "", "unknown field 'A'"),
    ({"type": "torque", "limit": -1}, ", limit", "not positive"),
    ({"type": "lag"}, "", "first or of second order"),
    ({"type": "lag", "time_constant": 1, "frequency": 1}, "", "first or of second order"),
    ({"type": "lag", "time_constant": 1, "damping_ratio": 1}, "", "no damping_ratio"),
    ({"type": "lag", "time_constant": 0}, ", time_constant", "not positive"),
    ({"type": "dc_motor", "resistance": 1}, ", torque_constant", "'torque_constant' is missing"),
    ({"type": "dc_motor", "resistance": 1, "torque_constant": -1}, ", torque_constant", "positive"),
    (
        {"type": "dc_motor", "resistance": 1, "torque_constant": 1, "inductance": -1},
        ", inductance",
        "negative",
    ),
    (
        {"type": "dc_motor", "resistance": 1, "torque_constant": 1, "inductance": "c - 2"},
        ", inductance",
        "the parameters make this zero",
    ),
    (
        {"type": "dc_motor", "resistance": 1, "torque_constant": 1, "gear_ratio": 0},
        ", gear_ratio",
        "zero",
    ),
    (
        {"type": "dc_motor", "resistance": 1, "torque_constant": 1, "efficiency": 70},
        ", efficiency",
        "above 1",
    ),
    ({"type": "hydraulic_servo", "area": 1, "valve_gain": 1}, "", "neither leaks nor gives way"),
    (
        {"type": "hydraulic_servo", "area": 1, "valve_gain": 1, "volume": 1},
        "",
        "belong together",
    ),
]


@pytest.mark.parametrize(("fields", "place", "message"), WRONG)
def test_mistakes_are_named(fields: dict[str, Any], place: str, message: str) -> None:
    table = {key: value for key, value in fields.items() if value is not None}
    with pytest.raises(cf.Error) as caught:
        read(said(**table))
    assert message in caught.value.message
    assert caught.value.element == f"actuator 'actuator1'{place}"
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("joint", "message", "remedy"),
    [
        ("shouldr", "no rate named 'shouldr'", "'shoulder'"),
        ("socket", "has a quaternion", "euler"),
        ("socket_wx", "belongs to a quaternion", "euler"),
        ("grip", "follows 'elbow'", "drive 'elbow'"),
    ],
)
def test_joints_that_cannot_be_driven(joint: str, message: str, remedy: str) -> None:
    with pytest.raises(cf.Error) as caught:
        read(said(joint, type="torque"))
    assert message in caught.value.message
    assert caught.value.element == "actuator 'actuator1', joint"
    assert remedy in (caught.value.remedy or "")


def test_other_mistakes() -> None:
    twice = said("elbow", type="torque"), said("elbow", type="torque")
    with pytest.raises(cf.Error, match="driven by 'actuator1' already"):
        read(*twice)
    same = said(name="m", type="torque"), said("elbow", name="m", type="torque")
    with pytest.raises(cf.Error, match="m"):
        read(*same)
    with pytest.raises(cf.Error, match="'joint' is missing"):
        read("\n[[actuators]]\ntype = 'torque'\n")
    with pytest.raises(cf.Error, match="expected a list"):
        read("\n[actuators]\ntype = 'torque'\n")
    named = ARM.replace("c = 2", "c = 2\nu1 = 3") + said(type="torque")
    with pytest.raises(cf.Error, match="u1 is the name of a state or a signal"):
        read_text(named, "toml")
    assert read_text(named.replace("u1", "u2"), "toml").actuators


def test_a_sign_that_depends_on_a_free_parameter_is_left_to_the_user() -> None:
    fields: dict[str, Any] = {**MOTION, "f": [0, "free"]}
    assert one(**fields).f[1] != 0


# --- notes ----------------------------------------------------------------------------------


def warnings_of(text: str) -> list[str]:
    return [n.text for n in read_text(text, "toml").notes if n.element.startswith("actuator")]


def test_inertia_in_two_places_is_told() -> None:
    motor = said("elbow", type="dc_motor", resistance=1, torque_constant=1, rotor_inertia=1)
    assert not warnings_of(ARM + motor)
    rotor = ARM.replace("gear_ratio = 7", "rotor_inertia = 1")
    (text,) = warnings_of(rotor + motor)
    assert "both count" in text
    assert not warnings_of(rotor + motor.replace("rotor_inertia = 1", "rotor_inertia = 0"))
    (note,) = warnings_of(rotor + said("elbow", **{**MOTION, "f": [0, 0]}))
    assert "the signal alone prescribes the motion" in note


# --- the library ----------------------------------------------------------------------------


def slopes(actuator: Actuator, x: dict[str, float], u: float, qd: float, load: float) -> Any:
    """Return x' and, for an effort, P, in floats."""
    state = np.array([x[name] for name in actuator.states])
    values = {name: np.array(getattr(actuator, name), dtype=float) for name in ("b", "f", "e")}
    A = np.array(actuator.A, dtype=float).reshape(actuator.order, actuator.order)
    if actuator.effort is not None:
        numbers: Any = (actuator.direct, actuator.viscous)
        load = float(
            np.array(actuator.effort, dtype=float) @ state + numbers[0] * u - numbers[1] * qd
        )
    rates = A @ state + values["b"] * u + values["f"] * load + values["e"] * qd
    return dict(zip(actuator.states, rates.tolist(), strict=True)), load


@pytest.mark.parametrize(("inductance", "inertia"), list(itertools.product((0, 0.002), (0, 0.03))))
def test_dc_motor(inductance: float, inertia: float) -> None:
    R, kt, ke, B, gear, efficiency = 0.4, 0.05, 0.06, 0.01, -30, 0.8
    numbers = {"resistance": R, "torque_constant": kt, "back_emf": ke, "viscous": B}
    numbers |= {"inductance": inductance, "rotor_inertia": inertia, "gear_ratio": gear}
    motor = one("elbow", type="dc_motor", **numbers, efficiency=efficiency, voltage_limit=12)
    assert motor.order == (2 if inertia else 0) + (1 if inductance else 0)
    assert motor.limit == 12
    u, qd, qdd = 7.0, 0.3, 1.7
    i = 2.5 if inductance else (u - ke * gear * qd) / R
    P = efficiency * gear * (kt * i - B * gear * qd - inertia * gear * qdd)
    rates, effort = slopes(motor, {"q": 0.9, "qd": qd, "current": i}, u, qd, P)
    assert effort == pytest.approx(P)
    if inertia:
        assert rates["q"] == pytest.approx(qd)
        assert rates["qd"] == pytest.approx(qdd)
    if inductance:
        assert rates["current"] == pytest.approx((u - R * i - ke * gear * qd) / inductance)


@pytest.mark.parametrize(
    ("mass", "stiff", "lag"), list(itertools.product((0, 4), (True, False), (0, 0.01)))
)
def test_hydraulic_servo(mass: float, stiff: bool, lag: float) -> None:
    S, K, C, B, V, E, gear = 0.002, 0.0003, 0.04, 12, 0.001, 7, 0.25
    oil = {} if stiff else {"volume": V, "bulk_modulus": E}
    numbers = {"area": S, "valve_gain": K, "leakage": C, "viscous": B, "piston_mass": mass}
    numbers |= {"valve_time_constant": lag, "gear_ratio": gear, "signal_limit": 3}
    servo = one("shoulder", type="hydraulic_servo", **numbers, **oil)
    assert servo.order == (2 if mass else 0) + (0 if stiff else 1) + (1 if lag else 0)
    u, qd, qdd = 2.0, 0.3, 1.7
    s = 1.5 if lag else u
    p = (K * s - S * gear * qd) / C if stiff else 0.7
    P = gear * (S * p - B * gear * qd - mass * gear * qdd)
    rates, effort = slopes(servo, {"q": 0.9, "qd": qd, "pressure": p, "spool": s}, u, qd, P)
    assert effort == pytest.approx(P)
    if mass:
        assert rates["qd"] == pytest.approx(qdd)
    if not stiff:
        assert rates["pressure"] == pytest.approx(4 * E / V * (K * s - S * gear * qd - C * p))
    if lag:
        assert rates["spool"] == pytest.approx((u - s) / lag)


def test_defaults_come_from_the_joint() -> None:
    motor = one("elbow", type="dc_motor", resistance=1, torque_constant=1)
    assert (motor.direct, motor.viscous) == (7, 49)
    assert one("shoulder", type="torque").limit == 40
    assert one("shoulder", type="torque", limit=3).limit == 3
    assert one("elbow", type="torque").limit is None


# --- round trips ----------------------------------------------------------------------------

SAID = [
    said(**MOTION, limit="c", states=["a", "b"]),
    said("elbow", type="dc_motor", resistance="free", torque_constant="c/3", rotor_inertia=1),
    said("elbow", type="dc_motor", resistance="free", inductance="1/3", torque_constant="c"),
    said("elbow", type="lag", frequency="c", damping_ratio="free", gain="1/7"),
    said("elbow", type="torque"),
    said("elbow", direct=0, viscous="c"),
    said("elbow", type="hydraulic_servo", area="c", valve_gain=1, leakage="free", piston_mass=3),
]


@pytest.mark.parametrize("text", SAID)
@pytest.mark.parametrize("parameters", ["numeric", "symbolic", ["c"]])
def test_files_read_back(text: str, parameters: Any) -> None:
    mechanism = read(text)
    again = read_text(native_text(mechanism), "json")
    assert again.actuators == mechanism.actuators
    settled = parametrise(mechanism, parameters)
    again = read_text(native_text(settled), "json")
    assert again.actuators == settled.actuators
    names = {p.name for p in settled.parameters}
    assert {"free"} <= names
    assert ("c" in names) == (parameters != "numeric")


@given(st.integers(0, 4), st.randoms(use_true_random=False), st.booleans())
def test_any_numbers_read_back(n: int, rng: Any, moves: bool) -> None:
    def row() -> list[str]:
        return [str(Fraction(rng.randint(-30, 30), rng.randint(1, 9))) for _ in range(n)]

    fields: dict[str, Any] = {"A": [row() for _ in range(n)], "b": row(), "f": row()}
    if moves and n:
        fields |= {"velocity": [1] + [0] * (n - 1), "f": ["-1/3", *row()[1:]]}
    else:
        fields |= {"effort": row(), "e": row(), "direct": "2/3", "viscous": "1/7"}
    mechanism = read(said("elbow", **fields))
    assert read_text(native_text(mechanism), "json").actuators == mechanism.actuators


def test_parts_keep_the_actuators_of_their_joints() -> None:
    whole = read(said(name="a", type="torque"), said("elbow", name="b", type="lag", frequency=1))
    part = whole.subtree(root="upper")
    assert [(a.name, a.rate) for a in part.actuators] == [("b", 0)]
    left_out = next(n.text for n in part.notes if n.text.startswith("left out"))
    assert "actuator 'a'" in left_out
    assert whole.with_payload("fore", 1).actuators == whole.actuators
    assert whole.with_frame("tip", "fore").actuators == whole.actuators


def test_side_files_of_urdf_hold_actuators(tmp_path: Path) -> None:
    builder = cf.Mechanism.builder("arm")
    builder.segment("base", joint="fixed")
    builder.segment(
        "upper", parent="base", joint={"name": "j", "type": "revolute", "axis": "z"}, mass=1
    )
    motor = {"resistance": "1/3", "inductance": 2, "torque_constant": 3, "rotor_inertia": 4}
    mechanism = builder.actuator("m", "j", type="dc_motor", **motor).build()
    export = export_urdf(mechanism)
    (tmp_path / "arm.urdf").write_text(export.text)
    assert export.side is not None
    (tmp_path / "arm.chainform.toml").write_text(export.side)
    assert cf.read(tmp_path / "arm.urdf").actuators == mechanism.actuators


def test_every_type_has_its_words_in_the_documentation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "actuators.md").read_text()
    for kind, (fields, _) in LIBRARY.items():
        assert f"`{kind}`" in page
        for field in fields:
            assert f"`{field}`" in page, (kind, field)
