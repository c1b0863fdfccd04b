"""Friction, springs and rotors of small mechanisms, against formulas written by hand."""

from __future__ import annotations

from fractions import Fraction
from math import cos, hypot, sin
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.graph import EXACT, evaluate
from chainform.pipeline import available_outputs
from chainform.readers import native_text, read_text


def pendulum(**joint: Any) -> Any:
    """Return a builder with a rod of 2 kg and 1 m that turns about y, z pointing up."""
    builder = cf.Mechanism.builder("pendulum")
    return builder.segment(
        "rod", joint="revolute", axis="y", mass=2, com=[0, 0, "-1"], inertia=[0, 0, 0], **joint
    )


def passive(mechanism: cf.Mechanism, q: float, qd: float) -> float:
    return float(cf.derive(mechanism, ["passive"]).evaluate(q=[q], qd=[qd])["passive"][0])


@pytest.mark.parametrize("qd", [-2.0, 0.0, 0.5])
def test_friction(qd: float) -> None:
    mechanism = pendulum(friction={"viscous": "0.3", "coulomb": "0.7"}).build()
    assert passive(mechanism, 0.1, qd) == pytest.approx(0.3 * qd + 0.7 * np.sign(qd))


def test_friction_of_a_coupled_joint_counts_with_its_ratio() -> None:
    builder = pendulum(friction={"viscous": 1, "coulomb": 5})
    mimic = {"joint": "rod", "ratio": -3}
    rubbing = {"viscous": 2, "coulomb": 7}
    builder.segment("lid", parent="rod", joint="revolute", axis="x", mimic=mimic, friction=rubbing)
    mechanism = builder.build()
    # Its rate is -3 qd; the force on the coordinate is -3 times that on the joint.
    assert passive(mechanism, 0, 0.5) == pytest.approx((1 + 9 * 2) * 0.5 + 5 + 3 * 7)
    assert passive(mechanism, 0, -0.5) == pytest.approx(-(1 + 9 * 2) * 0.5 - 5 - 3 * 7)


def test_a_spring_in_a_joint() -> None:
    spring = {"joint": "rod", "stiffness": 4, "rest": "0.25", "damping": "0.5"}
    mechanism = pendulum().spring_table(spring).build()
    assert passive(mechanism, 1.0, -2.0) == pytest.approx(4 * 0.75 - 0.5 * 2)
    energy = cf.derive(mechanism, ["potential_energy"]).evaluate(q=[1.0])["potential_energy"]
    assert energy == pytest.approx(-2 * 9.81 * cos(1) + 4 * 0.75**2 / 2)


def test_preload_is_what_rest_times_stiffness_is() -> None:
    ends = [{"segment": "ground", "point": ["0.3", 0, 1]}, {"segment": "rod", "point": [0, 0, -1]}]
    for place in ({"joint": "rod"}, {"ends": ends}):
        given = {"stiffness": 4, "damping": "0.5", **place}
        by_rest, by_both = (
            pendulum().spring_table({**given, **more}).build()
            for more in ({"rest": "0.75"}, {"rest": "0.25", "preload": 2})
        )
        assert passive(by_both, 0.4, -2.0) == pytest.approx(passive(by_rest, 0.4, -2.0))
        assert read_text(native_text(by_both), "json").springs == by_both.springs
        energies = [cf.derive(mechanism, ["d(V)/d(q)"]) for mechanism in (by_rest, by_both)]
        (first,), (second,) = (next(iter(e.evaluate(q=[0.4]).values())) for e in energies)
        assert second == pytest.approx(first)
        elements = cf.derive(by_both, ["inverse_dynamics"], formulation="elements")
        tau = elements.evaluate(q=[0.4], qd=[-2.0], qdd=[0.0])["inverse_dynamics"]
        bias = cf.derive(by_both, ["bias"]).evaluate(q=[0.4], qd=[-2.0])["bias"]
        assert tau - bias == pytest.approx(passive(by_rest, 0.4, -2.0))


def test_preload_alone_is_a_constant_force_and_no_element() -> None:
    mechanism = pendulum().spring_table({"joint": "rod", "preload": 3}).build()
    assert passive(mechanism, 0.4, 1.0) == -3
    with pytest.raises(cf.Error, match="no preload without stiffness"):
        mechanism.as_elements()


def test_a_spring_in_a_coupled_joint() -> None:
    builder = pendulum()
    mimic = {"joint": "rod", "ratio": -3, "offset": "0.5"}
    builder.segment("lid", parent="rod", joint="revolute", axis="x", mimic=mimic)
    builder.spring_table({"joint": "lid", "stiffness": 4, "rest": "0.25", "damping": "0.5"})
    motion, rate = -3 * 0.2 + 0.5, -3 * 0.7
    expected = -3 * (4 * (motion - 0.25) + 0.5 * rate)
    assert passive(builder.build(), 0.2, 0.7) == pytest.approx(expected)


@pytest.mark.parametrize(("rest", "damping"), [("0", "0"), ("0.6", "0"), ("0.6", "3"), ("0", "3")])
def test_a_spring_between_two_points(rest: str, damping: str) -> None:
    """From (0.5, 0, 0) on the ground to the tip of the rod, (-sin q, 0, -cos q)."""
    ends = [{"segment": "ground", "point": ["0.5", 0, 0]}, {"segment": "rod", "point": [0, 0, -1]}]
    spring = {"ends": ends, "stiffness": 8, "rest": rest, "damping": damping}
    mechanism = pendulum().spring_table(spring).build()
    q, qd = 0.8, 1.5
    x, z = -sin(q) - 0.5, -cos(q)
    length = hypot(x, z)
    # d length / dq = (x dx/dq + z dz/dq) / length, dx/dq = -cos q, dz/dq = sin q
    slope = (-x * cos(q) + z * sin(q)) / length
    pull = 8 * (length - float(rest)) + float(damping) * slope * qd
    assert passive(mechanism, q, qd) == pytest.approx(pull * slope)
    energy = cf.derive(mechanism, ["potential_energy"]).evaluate(q=[q])["potential_energy"]
    assert energy == pytest.approx(-2 * 9.81 * cos(q) + 4 * (length - float(rest)) ** 2)


def test_a_spring_of_rest_length_zero_may_shrink_to_nothing() -> None:
    ends = [{"segment": "ground", "point": [0, 0, -1]}, {"segment": "rod", "point": [0, 0, -1]}]
    mechanism = pendulum().spring_table({"ends": ends, "stiffness": 8}).build()
    assert passive(mechanism, 0.0, 1.0) == 0.0
    stretched = pendulum().spring_table({"ends": ends, "stiffness": 8, "rest": "0.1"}).build()
    model = cf.derive(stretched, ["passive"])
    with pytest.raises(cf.Error):
        evaluate(model.graph, {"q1": Fraction(0), "qd1": Fraction(1)}, EXACT)


def test_a_spring_within_one_body_does_nothing() -> None:
    ends = [{"segment": "rod"}, {"segment": "rod", "point": [1, 2, 3]}]
    mechanism = pendulum().spring_table({"ends": ends, "stiffness": 8, "rest": 1}).build()
    graph = cf.derive(mechanism, ["passive"]).graph
    assert evaluate(graph, {"q1": Fraction(0), "qd1": Fraction(1)}, EXACT)["passive"] == [0]


def test_rotors_are_felt_behind_their_gears() -> None:
    builder = pendulum(rotor_inertia="0.001", gear_ratio=30)
    mimic = {"joint": "rod", "ratio": -3}
    builder.segment(
        "lid", parent="rod", joint="revolute", axis="x", mimic=mimic, rotor_inertia="0.5"
    )
    model = cf.derive(builder.build(), ["mass_matrix", "inverse_dynamics", "kinetic_energy"])
    values = model.evaluate(q=[0.4], qd=[2.0], qdd=[3.0])
    inertia = 2 * 1**2 + 30**2 * 0.001 + (-3) ** 2 * 0.5
    assert values["mass_matrix"][0, 0] == pytest.approx(inertia)
    assert values["kinetic_energy"] == pytest.approx(inertia * 2**2 / 2)
    assert values["inverse_dynamics"][0] == pytest.approx(inertia * 3 + 2 * 9.81 * sin(0.4))


@pytest.mark.parametrize("formulation", ["composite_body", "articulated_body", "lagrange", "auto"])
def test_a_rotor_alone_is_inertia_enough(formulation: str) -> None:
    builder = pendulum()
    builder.segment("fan", parent="rod", joint="revolute", axis="z", rotor_inertia="0.5")
    mechanism = builder.build()
    assert not [note for note in mechanism.notes if note.level == "warning"]
    model = cf.derive(mechanism, ["forward_dynamics"], formulation=formulation)
    got = model.evaluate(q=[0, 1], qd=[0, 0], tau=[2, 3])["forward_dynamics"]
    assert got.tolist() == pytest.approx([1, 6])
    bare = cf.derive(mechanism, ["mass_matrix"], without=["rotors"])
    assert bare.evaluate(q=[0, 1])["mass_matrix"][1, 1] == 0


def test_the_output_is_listed_where_there_is_something_passive() -> None:
    spring = {"joint": "rod", "stiffness": 1}
    rubbing = pendulum(friction={"viscous": "0.1"}).build()
    assert "passive" in available_outputs(pendulum().spring_table(spring).build())
    assert "passive" in available_outputs(rubbing, "newton_euler")
    for mechanism in (pendulum().build(), pendulum(friction={"viscous": 0}).build()):
        assert "passive" not in available_outputs(mechanism)
        assert passive(mechanism, 1, 1) == 0


def test_parameters_may_stand_in_all_of_it() -> None:
    builder = pendulum(friction={"viscous": "b", "coulomb": "f"}, rotor_inertia="I", gear_ratio="n")
    for name, value in {"b": "0.3", "f": 2, "I": "0.01", "n": 10, "k": 5, "x": 1, "d": 7}.items():
        builder.parameter(name, value)
    builder.spring_table({"joint": "rod", "stiffness": "k", "rest": "x", "damping": "d"})
    mechanism = builder.build()
    numeric, symbolic = (
        cf.derive(mechanism, ["inverse_dynamics"], parameters=choice)
        for choice in ("numeric", "symbolic")
    )
    state: dict[str, Any] = {"q": [0.3], "qd": [1.2], "qdd": [0.7]}
    expected = numeric.evaluate(**state)["inverse_dynamics"]
    assert symbolic.evaluate(**state)["inverse_dynamics"] == pytest.approx(expected)
    stiffer = symbolic.evaluate(**state, values={"k": 6})["inverse_dynamics"]
    assert stiffer - expected == pytest.approx([0.3 - 1])


def test_rotors_are_in_the_closed_form() -> None:
    """J = 0.04 kg m^2 beside the 2 kg m^2 of the rod."""
    mechanism = pendulum(rotor_inertia="0.04").build()
    found = cf.derive(mechanism, ["mass_matrix"], formulation="closed_form")
    assert found.evaluate(q=[0.3])["mass_matrix"] == pytest.approx(np.array([[2.04]]))


def test_an_effort_by_a_law_of_the_joint_and_its_rate() -> None:
    builder = pendulum().actuator(
        "drive", "rod", states={"i": "u - i"}, effort="2*i - 3*q - der(q)"
    )
    model = cf.derive(builder.build(), ["drives"])
    assert model.evaluate(q=[0.5], qd=[0.7], x=[0.9], u=[0.0])["drives"] == pytest.approx([-0.4])


def test_weight_alone_knows_nothing_of_a_base_that_turns() -> None:
    mechanism = pendulum().base({"rpy": ["2*t", 0, 0]}).build()
    found = [
        cf.derive(mechanism, ["gravity"], formulation=way).evaluate(q=[0.3], t=0.4)["gravity"]
        for way in ("newton_euler", "lagrange")
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    assert found[0] == pytest.approx([2 * 9.81 * sin(0.3) * cos(0.8)], abs=1e-12)
