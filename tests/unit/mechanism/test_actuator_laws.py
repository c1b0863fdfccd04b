"""Reading actuators by laws, of several joints, with gears: what is made of them; mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
from chainform.mechanism import Mechanism, kinks_of, parametrise
from chainform.readers import native_text, native_toml, read_text
from chainform.readers.urdf.write import export_urdf
from chainform.simulation import simulate_batch

ARM = """
[parameters]
kt = 2
free = {}

[[segments]]
name = "upper"
joint = { name = "shoulder", type = "revolute", axis = "z", gear_ratio = 3 }
mass = 1
com = [1, 0, 0]

[[segments]]
name = "fore"
parent = "upper"
joint = { name = "elbow", type = "prismatic", axis = "x" }
mass = "kt + free"
"""
MOTOR = 'states = { i = "(u - 2*i - kt*der(q))/free" }\neffort = "kt*i"'
GEAR = "gear_ratio = 10\nstiffness = 800\nrotor_inertia = 0.01"


def read(*actuators: str, arm: str = ARM) -> Mechanism:
    return read_text(arm + "".join(f"[[actuators]]\n{text}\n" for text in actuators), "toml")


def laws_of(mechanism: Mechanism, place: int = 0) -> tuple[str, ...]:
    """Return the laws of an actuator as the native file has them."""
    found = json.loads(native_text(mechanism))["actuators"][place]
    return (*found.get("states", {}).values(), found["effort"])


def test_states_signal_and_laws() -> None:
    mechanism = read(f'name = "m"\njoint = "elbow"\nsignal = "voltage"\nlimit = 24\n{MOTOR}')
    (actuator,) = mechanism.actuators
    assert mechanism.states == ("m.i",)
    assert mechanism.signals == ("m.voltage",)
    assert actuator.order == 1
    assert not actuator.holds_motion
    assert laws_of(mechanism) == ("(u - 2*i - kt*der(q))/free", "kt*i")
    assert {p.name for p in mechanism.parameters} == {"kt", "free"}
    assert not any("not used" in note.text for note in mechanism.notes)


def test_the_signal_goes_by_its_own_name_too() -> None:
    mechanism = read('name = "m"\njoint = "elbow"\nsignal = "valve"\neffort = "3*valve + u"')
    assert laws_of(mechanism) == ("3*u + u",)


def test_a_rigid_gear_turns_faster_and_pushes_harder() -> None:
    mechanism = read(f'joint = "elbow"\ngear_ratio = 10\n{MOTOR}')
    assert laws_of(mechanism) == ("(u - 2*i - kt*(10*der(q)))/free", "10*(kt*i)")


def test_an_elastic_gear_gives_the_rotor_states() -> None:
    mechanism = read(f'name = "m"\njoint = "elbow"\n{GEAR}\n{MOTOR}')
    assert mechanism.states == ("m.i", "m.angle", "m.speed")
    assert laws_of(mechanism)[-1] == "800*(angle/10 - q)"
    assert not kinks_of(mechanism.actuators[0], mechanism)


def test_play_has_two_kinks_and_with_damping_five() -> None:
    kinks = [
        set(kinks_of(m.actuators[0], m))
        for m in (
            read(f'joint = "elbow"\n{GEAR}\nbacklash = 0.1\n{extra}\n{MOTOR}')
            for extra in ("", "damping = 2")
        )
    ]
    assert [len(found) for found in kinks] == [2, 5]


def test_kinks_are_those_of_laws_of_the_motion() -> None:
    law = "abs(q) + sign(kt)*max(q, der(q), 1) + step(t - 1) + abs(abs(q))"
    mechanism = read(f'joint = "elbow"\neffort = "{law} + u"')
    assert len(set(kinks_of(mechanism.actuators[0], mechanism))) == 5


def test_kinks_keep_their_order_whatever_values_parameters_get() -> None:
    """Laws that are equal for some values are still two."""
    mechanism = read('joint = "elbow"\neffort = "abs(kt*q) + abs(2*q) + sign(kt) + step(q - kt)"')
    settled = parametrise(mechanism, "numeric")
    assert [len(kinks_of(m.actuators[0], m)) for m in (mechanism, settled)] == [3, 3]


GIVEN = [
    f'joint = "elbow"\n{MOTOR}',
    f'joint = "elbow"\nsignal = "voltage"\nlimit = "2*kt"\n{MOTOR}',
    f'joints = {{ elbow = 1, shoulder = "-kt/2" }}\n{MOTOR}',
    'joints = { elbow = 1, shoulder = 3 }\ntype = "lag"\ntime_constant = 2',
    'joints = { shoulder = "1/3" }\ntype = "dc_motor"\nresistance = 1\ntorque_constant = 2',
    f'joint = "elbow"\n{GEAR}\nbacklash = 0.1\ndamping = "kt"\n{MOTOR}',
    f'joint = "elbow"\ngear_ratio = 3\nefficiency = 0.7\nefficiency_width = 0.01\n{MOTOR}',
    f'joint = "elbow"\n{GEAR}\nefficiency = "1/kt"\nefficiency_width = 0.01\n{MOTOR}',
    'joint = "elbow"\neffort = "-3*sign(der(q)) + u*(1 + abs(shoulder)) + t"',
    'joint = "elbow"\neffort = "3"',
    'joint = "elbow"\nstates = {}\neffort = "2*kt"',
]


@pytest.mark.parametrize("text", GIVEN)
@pytest.mark.parametrize("parameters", ["numeric", "symbolic", ["kt"]])
def test_files_read_back(text: str, parameters: Any) -> None:
    mechanism = read(text)
    for one in (mechanism, parametrise(mechanism, parameters)):
        assert read_text(native_text(one), "json").actuators == one.actuators
        assert read_text(native_toml(one), "toml").actuators == one.actuators


def test_side_files_of_urdf_hold_laws(tmp_path: Path) -> None:
    builder = cf.Mechanism.builder("arm").parameter("kt", "1/3")
    for name, parent in (("upper", None), ("fore", "upper")):
        joint = {"name": f"j_{name}", "type": "revolute", "axis": "z"}
        builder.segment(name, parent=parent or "ground", joint=joint, mass=1, com=[1, 0, 0])
    builder.actuator("m", "j_fore", states={"i": "u - i - q2"}, effort="kt*i")
    builder.actuator("n", {"j_upper": "2*kt"}, states={}, effort="kt*3")
    mechanism = builder.build()
    export = export_urdf(mechanism)
    (tmp_path / "arm.urdf").write_text(export.text)
    (tmp_path / "arm.chainform.toml").write_text(export.side or "")
    again = cf.read(tmp_path / "arm.urdf")
    state: dict[str, Any] = {"q": [0.1, 0.2], "qd": [0.3, 0.4], "x": [0.5], "u": [0.6, 0.7]}
    for output in ("complete_model", "drives"):
        found = [cf.derive(m, [output]).evaluate(**state)[output] for m in (mechanism, again)]
        assert abs(found[0] - found[1]).max() < 1e-14


def test_parts_have_the_actuators_whose_joints_they_have() -> None:
    whole = read(
        f'name = "a"\njoints = {{ elbow = 2 }}\n{MOTOR}',
        'name = "b"\njoints = { elbow = 1, shoulder = 2 }\neffort = "u"',
        'name = "c"\njoints = { elbow = 1 }\neffort = "u - shoulder"',
        'name = "d"\njoints = { elbow = 1 }\neffort = "u - qd2*q"',
    )
    part = whole.subtree(root="upper")
    assert [(a.name, a.rate, a.weights) for a in part.actuators] == [
        ("a", 0, ((0, 2),)),
        ("d", 0, ((0, 1),)),
    ]
    assert laws_of(part, 1) == ("u - qd1*q",)


WRONG: dict[str, tuple[str, str]] = {
    'joint = "elbow"\nstates = { q = "u" }\neffort = "q"': ("q", "something else"),
    'joint = "elbow"\nstates = { kt = "u" }\neffort = "kt"': ("kt", "something else"),
    'joint = "elbow"\nstates = { shoulder = "u" }\neffort = "u"': ("shoulder", "something else"),
    'joint = "elbow"\nstates = { t = "u" }\neffort = "u"': ("t", "something else"),
    'joint = "elbow"\nstates = { "a b" = "u" }\neffort = "u"': ("a b", "cannot stand in a law"),
    'joint = "elbow"\nstates = { i = "u - j" }\neffort = "i"': ("states", "not known here"),
    'joint = "elbow"\nstates = { i = "u" }': ("effort", "give the law"),
    'joint = "elbow"\nstates = ["i"]\neffort = "i"': ("states", "name = value"),
    'joint = "elbow"\neffort = "u +"': ("effort", ""),
    'joint = "elbow"\neffort = "u"\nA = [[1]]': ("effort", ""),
    'joint = "elbow"\nsignal = "i"\nstates = { i = "u" }\neffort = "i"': ("signal", "state"),
    'joint = "elbow"\neffort = "u"\nviscous = 2': ("viscous", ""),
    'joint = "elbow"\neffort = "u"\ngear_ratio = 0': ("gear_ratio", "zero"),
    'joint = "elbow"\neffort = "u"\nbacklash = 0.1': ("backlash", "elastic gear"),
    'joint = "elbow"\neffort = "u"\nstiffness = 5': ("rotor_inertia", ""),
    'joint = "elbow"\neffort = "u"\nstiffness = 0\nrotor_inertia = 1': ("stiffness", ""),
    'joint = "elbow"\neffort = "u"\nefficiency = 0.5': ("efficiency", "any of an interval"),
    'joint = "elbow"\neffort = "u"\nefficiency = 1.5\nefficiency_width = 1': ("efficiency", ""),
    'joint = "elbow"\neffort = "u"\nefficiency_width = 1': ("efficiency_width", "loses nothing"),
    f'joint = "elbow"\n{GEAR}\nstates = {{ speed = "u" }}\neffort = "u"': ("states", "rotor"),
    'joints = { elbow = 0 }\neffort = "u"': ("elbow", "drives nothing"),
    'joints = {}\neffort = "u"': ("joints", "no joint"),
    'joints = { wrist = 1 }\neffort = "u"': ("wrist", ""),
    'joint = "elbow"\njoints = { elbow = 1 }\neffort = "u"': ("joints", "joint as well"),
    "joints = { elbow = 1 }\nA = [[0, 1], [0, -5]]\nb = [0, 5]\nf = [0, -1]\nvelocity = 2": (
        "joints",
        "several joints",
    ),
}


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_are_named(text: str) -> None:
    where, words = WRONG[text]
    with pytest.raises(cf.Error) as caught:
        read(f'name = "m"\n{text}')
    error = caught.value
    assert "actuator 'm'" in (error.element or "")
    assert where in f"{error.element} {error.message} {error.remedy}"
    assert words in f"{error.message} {error.remedy}"
    assert error.remedy


def test_a_name_with_two_meanings_is_refused_where_it_is_used() -> None:
    arm = ARM.replace('"shoulder"', '"q"')
    assert read('joint = "elbow"\neffort = "u"', arm=arm).actuators
    with pytest.raises(cf.Error, match="may be that of the actuator, or a joint"):
        read('joint = "elbow"\neffort = "u - q"', arm=arm)


def test_a_joint_has_one_drive_unless_all_give_weights() -> None:
    alone, shared = 'joint = "elbow"\neffort = "u"', 'joints = { elbow = 1 }\neffort = "u"'
    assert len(read(shared, shared).actuators) == 2
    for pair in ((alone, alone), (alone, shared), (shared, alone)):
        with pytest.raises(cf.Error, match="driven by 'actuator1' already"):
            read(*pair)


def test_a_law_too_deep_with_its_gear_is_refused_at_once() -> None:
    deep = "sin(" * 96 + "u" + ")" * 96
    assert read(f'joint = "elbow"\neffort = "{deep}"').actuators
    with pytest.raises(cf.Error):
        read(f'joint = "elbow"\nefficiency = 0.5\nefficiency_width = 1\neffort = "{deep}"')


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("u/free", "u/free divides by zero with free = 0"),
        ("u/(2*free)^2", "divides by zero"),
        ("1/free", "has no value"),
        ("u*free^-1", "has no value"),
        ("u*log(free)", "has no value"),
        ("u/(kt - 2)", "with kt = 2"),
        ("u/0", "divides by zero"),
    ],
)
def test_a_law_that_divides_by_a_zero_number_is_refused_wherever_it_is_used(
    law: str, message: str
) -> None:
    text = ARM.replace("free = {}", "free = 0").replace("kt + free", "1 + free")
    arm = read(f'name = "motor"\njoint = "elbow"\neffort = "{law}"', arm=text)
    tasks: list[Callable[[], object]] = [
        lambda: cf.derive(arm, ["drives"]),
        lambda: cf.simulate(arm, t=0.1),
        lambda: simulate_batch(arm, t=0.1, q0=[[0, 0], [0, 1]]),
        lambda: cf.linearise(arm),
        lambda: cf.modes(arm),
        lambda: cf.equilibria(arm),
    ]
    for task in tasks:
        with pytest.raises(cf.Error, match=re.escape(message)) as refusal:
            task()
        assert refusal.value.element == "actuator 'motor', effort"


def test_other_values_are_those_that_a_law_is_divided_by() -> None:
    text = ARM.replace("free = {}", "free = 0").replace("kt + free", "1 + free")
    arm = read('name = "motor"\njoint = "elbow"\neffort = "u/free"', arm=text)
    run = cf.simulate(arm, t=0.1, signals={"motor": 1}, values={"free": 2})
    assert run.q[-1, 1] != 0
    assert cf.linearise(arm, values={"free": 2}).B.any()
    several: dict[str, Any] = {"q0": [[0, 0], [0, 1]], "t": 0.1}
    assert simulate_batch(arm, values={"free": [-0.5, 2]}, **several).q.shape[0] == 2
    with pytest.raises(cf.Error, match="divides by zero"):
        simulate_batch(arm, values={"free": [2, 0]}, **several)
    bare = read('name = "motor"\njoint = "elbow"\neffort = "u"', arm=text)
    with pytest.raises(cf.Error, match="0\\*t/free divides by zero") as refusal:
        cf.simulate(bare, t=0.1, signals={"motor": "0*t/free"})
    assert refusal.value.element == "signals, motor"
