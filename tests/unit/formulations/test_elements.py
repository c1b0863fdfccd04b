"""Elements against equations that are derived by hand, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import DeriveError
from chainform.formulations.shared.scope import check_frame
from chainform.mechanism import InertialElement
from chainform.pipeline import available_outputs
from element_models import everything

G = 9.81


def values(mechanism: cf.Mechanism, *outputs: str, **state: Any) -> list[Any]:
    found = cf.derive(mechanism, outputs).evaluate(**state)
    return [found[output] for output in outputs]


def shaken_pendulum() -> cf.Mechanism:
    """A bob on a rod of length l whose pivot moves up and down as a sin(w t)."""
    builder = cf.Mechanism.builder("shaken pendulum", gravity=(0, -G, 0))
    for name, value in {"l": 0.7, "m": 2, "a": 0.1, "w": 5}.items():
        builder.parameter(name, value)
    builder.coordinates({"name": "phi", "unit": "rad"})
    builder.element(kind="point", mass="m", position=["l*sin(phi)", "a*sin(w*t) - l*cos(phi)", 0])
    return builder.build()


def test_a_pivot_that_moves_as_prescribed() -> None:
    l, m, a, w = 0.7, 2, 0.1, 5
    phi, rate, acceleration, t = 0.4, 1.3, -2.0, 0.9
    state: dict[str, Any] = {"q": [phi], "qd": [rate], "qdd": [acceleration], "t": t, "tau": [3]}
    outputs = ("inverse_dynamics", "mass_matrix", "gravity", "kinetic_energy", "forward_dynamics")
    tau, H, hG, T, qdd = values(shaken_pendulum(), *outputs, **state)
    lift = -a * w**2 * np.sin(w * t)
    assert tau == pytest.approx(m * l**2 * acceleration + m * l * (G + lift) * np.sin(phi))
    assert pytest.approx(m * l**2) == H
    assert hG == pytest.approx(m * G * l * np.sin(phi))
    speed = (l * np.cos(phi) * rate) ** 2
    speed += (l * np.sin(phi) * rate + a * w * np.cos(w * t)) ** 2
    assert pytest.approx(m * speed / 2) == T
    assert qdd == pytest.approx((3 - m * l * (G + lift) * np.sin(phi)) / (m * l**2))


def test_the_same_motion_by_a_chain() -> None:
    """The bob as a body on a chain, with the rod's own turning."""
    builder = cf.Mechanism.builder("pendulum", gravity=(0, -G, 0)).coordinates("phi")
    builder.element("bob: Sy(0.1*sin(5*t)), Rz(phi), Sy(-0.7); 2, 0, 0, 0")
    state: dict[str, Any] = {"q": [0.4], "qd": [1.3], "qdd": [-2.0], "t": 0.9}
    names = ("inverse_dynamics", "bias", "kinetic_energy", "potential_energy", "pose(bob)")
    by_chain = values(builder.build(), *names, **state)
    shaken = shaken_pendulum()
    point = values(shaken, *names[:-1], f"pose({shaken.elements[0].name})", **state)
    for a, b in zip(by_chain[:-1], point[:-1], strict=True):
        assert a == pytest.approx(b)
    assert by_chain[-1][:3, 3] == pytest.approx(point[-1][:3, 3])


def two_masses() -> Any:
    builder = cf.Mechanism.builder("two masses", gravity=(0, 0, 0)).coordinates("x", "y")
    builder.element(kind="point", name="a", mass=1, position=["x", 0, 0])
    return builder.element(kind="point", name="b", mass=1, position=[0, "y", 0])


def test_a_spring_and_a_damper_between_points() -> None:
    builder = two_masses()
    builder.element(kind="elastic", stiffness=30, rest=4, ends=["a", "b"])
    builder.element(kind="dissipative", damping=2, coulomb=7, ends=["a", "b"])
    state: dict[str, Any] = {"q": [3, 4], "qd": [0.5, -1]}
    passive, energy = values(builder.build(), "passive", "potential_energy", **state)
    direction = np.array([3, 4]) / 5
    rate = direction @ [0.5, -1]
    assert passive == pytest.approx((30 * (5 - 4) + 2 * rate + 7 * np.sign(rate)) * direction)
    assert energy == pytest.approx(30 / 2)


def test_laws_of_deformation_and_rate() -> None:
    builder = two_masses().element(kind="elastic", stiffness=3, rest="t", deformation="x*y")
    builder.element(kind="dissipative", damping=2, rate="y*der(x) - der(y)")
    state: dict[str, Any] = {"q": [3, 4], "qd": [0.5, -1], "t": 2}
    (passive,) = values(builder.build(), "passive", **state)
    rate = 4 * 0.5 + 1
    assert passive == pytest.approx([3 * 10 * 4 + 2 * rate * 4, 3 * 10 * 3 - 2 * rate])


def test_a_rotor_behind_a_gear() -> None:
    builder = two_masses().element(kind="inertia", inertia="1/4", along="10*x - 2*y^2")
    state: dict[str, Any] = {"q": [3, 4], "qd": [0.5, -1], "qdd": [2, 1]}
    H, tau, T = values(
        builder.build(), "mass_matrix", "inverse_dynamics", "kinetic_energy", **state
    )
    slope = np.array([10, -16])
    assert pytest.approx(np.eye(2) + np.outer(slope, slope) / 4) == H
    second = slope @ [2, 1] - 4 * (-1) ** 2
    assert tau == pytest.approx(np.array([2, 1]) + slope * second / 4)
    assert pytest.approx((0.25 + 1 + (slope @ [0.5, -1]) ** 2 / 4) / 2) == T


def test_force_and_opposite_force() -> None:
    """Between two points along their line a force does work on their distance alone."""
    builder = two_masses().unknowns("S")
    builder.define(d="sqrt(x^2 + y^2)")
    pull = ["S*x/d", "-S*y/d", 0]
    found = builder.element(kind="force", force=pull, at="a", to="b").build()
    (A,) = values(found, "force_matrix", q=[3, 4])
    assert A[:, 0] == pytest.approx([3 / 5, 4 / 5])


def test_axes_of_forces() -> None:
    """The same force in world axes, in the axes of its frame and in those of another one."""
    forces = []
    for axes, law in (("world", "[c, s]"), ("arm", "[1, 0]"), ("other", "[0, -1]")):
        builder = (
            cf.Mechanism.builder("arm").coordinates("phi", "x").define(c="cos(phi)", s="sin(phi)")
        )
        builder.element("arm: Sx(x), Rz(phi), Sy(2); 1").element("other~arm: Rz(pi/2)")
        a, b = law.strip("[]").split(", ")
        builder.element(kind="force", force=[f"5*{a}", f"5*{b}", 0], at="arm", axes=axes)
        state: dict[str, Any] = {"q": [0.7, 1], "qd": [0, 0], "qdd": [0, 0]}
        forces += values(builder.build(), "inverse_dynamics", **state)
    assert forces[0] == pytest.approx(-np.array([-10, 5 * np.cos(0.7)]))
    assert forces[1] == pytest.approx(forces[0])
    assert forces[2] == pytest.approx(forces[0])


def test_elements_on_top_of_segments() -> None:
    """A mass and a force on an arm of segments, against a payload and a wrench."""
    builder = cf.Mechanism.builder("arm")
    builder.segment("a", axis="z", mass=1, com=[1, 0, 0]).segment(
        "b", parent="a", joint="revolute", axis="y", position=[2, 0, 0], mass=1
    )
    plain = builder.build()
    point = {"kind": "point", "name": "bob", "on": "b", "position": [0.5, 0, 0.25], "mass": 3}
    builder.element(point).element(kind="force", force=[1, 2, 3], at="bob")
    state: dict[str, Any] = {"q": [0.3, 0.8], "qd": [1, -2], "qdd": [0.5, 2]}
    (own,) = values(builder.build(), "inverse_dynamics", **state)
    loaded = plain.with_payload("b", 3, com=[0.5, 0, 0.25]).with_frame("tip", "b", [0.5, 0, 0.25])
    model = cf.derive(loaded, ["inverse_dynamics"], wrenches=["tip"])
    usual = model.evaluate(**state, wrench=[1, 2, 3, 0, 0, 0])["inverse_dynamics"]
    assert own == pytest.approx(usual)
    model = cf.derive(builder.build(), ["inverse_dynamics"], wrenches=["bob"])
    wrenched = model.evaluate(**state, wrench=[-1, -2, -3, 0, 0, 0])["inverse_dynamics"]
    (free,) = values(plain.with_payload("b", 3, com=[0.5, 0, 0.25]), "inverse_dynamics", **state)
    assert wrenched == pytest.approx(free)


def test_other_formulations_refuse_elements() -> None:
    with pytest.raises(DeriveError, match="knows segments and joints"):
        cf.derive(shaken_pendulum(), formulation="newton_euler")
    assert available_outputs(shaken_pendulum(), "closed_form") == ()
    outputs = available_outputs(shaken_pendulum())
    assert "inverse_dynamics" in outputs
    assert "reactions" in outputs
    assert not {"force_matrix", "constraint", "regressor", "closure"} & set(outputs)
    named = available_outputs(everything(), "elements")
    assert {"force_matrix", "multipliers", "unilateral", "quasi_dynamics"} <= set(named)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("force_matrix", "no unknown forces"),
        ("regressor", "is a quantity of joints"),
        ("pose(arm)", "there is no frame named 'arm'"),
        ("constraint", "with constraints"),
        ("quasi_dynamics", "with quasi"),
    ],
)
def test_outputs_that_a_model_does_not_have(output: str, message: str) -> None:
    with pytest.raises(DeriveError, match=message):
        cf.derive(shaken_pendulum(), [output])


def test_a_freedom_without_inertia_is_named() -> None:
    builder = cf.Mechanism.builder("loose").coordinates("x", "y")
    builder.element(kind="point", mass=1, position=["x", 0, 0])
    with pytest.raises(DeriveError, match="nothing resists qd2"):
        cf.derive(builder.build(), ["forward_dynamics"])


def test_everything_can_be_derived_and_left_out() -> None:
    """All terms at once: they add up, and what is left out is gone."""
    found = everything()
    free = {"free": 1.5}
    state: dict[str, Any] = {"q": [0.3, 0.5, -0.4], "qd": [1, 2, -1], "qdd": [0, 1, 2], "t": 0.2}
    loads: dict[str, Any] = {"force": [2, -3], "values": free}
    names = ["inverse_dynamics", "mass_matrix", "bias", "passive", "force_matrix", "force_right"]
    r = cf.derive(found, names).evaluate(**state, **loads)
    rest = r["inverse_dynamics"] - r["mass_matrix"] @ state["qdd"] - r["bias"] - r["passive"]
    known = r["inverse_dynamics"] - r["force_right"]
    assert known == pytest.approx(-r["force_matrix"] @ [2, -3])
    assert np.abs(rest).max() > 0.1
    parts = ("friction", "springs", "rotors", "forces")
    bare = cf.derive(found, names, without=parts).evaluate(**state, **loads)
    assert bare["passive"] == pytest.approx(0)
    assert bare["force_matrix"] == pytest.approx(r["force_matrix"])
    assert not np.allclose(bare["mass_matrix"], r["mass_matrix"])


def test_what_is_no_frame_is_refused() -> None:
    """Bodies of elements have names; all but those, frames and segments is refused."""
    mechanism = everything()
    bodies = [e.name for e in mechanism.elements if isinstance(e, InertialElement)]
    assert bodies
    for name in bodies:
        check_frame(mechanism, name)
    with pytest.raises(cf.Error, match="nobody"):
        check_frame(mechanism, "nobody")
