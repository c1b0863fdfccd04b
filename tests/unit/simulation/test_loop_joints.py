"""Loops closed by joints: results that books have in closed form, and freedoms that they leave."""

from __future__ import annotations

from math import cos, pi, sin, sqrt, tan
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import chainform as cf
from chainform.simulation import assemble, consistent_rates, mobility

CRANK, ROD = 0.2, 0.7


def slider_crank() -> cf.Mechanism:
    """Return a crank, a rod and a piston that slides along x, closed by a prismatic joint."""
    builder = cf.Mechanism.builder("engine", gravity=(0, "-9.81", 0))
    body: dict[str, Any] = {"axis": "z", "mass": 1, "inertia": ["0.01", "0.01", "0.01"]}
    builder.segment("crank", com=["0.1", 0, 0], **body)
    builder.segment("rod", parent="crank", position=["0.2", 0, 0], com=["0.35", 0, 0], **body)
    builder.segment("piston", parent="rod", position=["0.7", 0, 0], **body)
    ends = {"segment": "piston", "axis": "x"}, {"segment": "ground", "axis": "x"}
    return builder.loop("bore", "prismatic", *ends).build()


def piston_place(crank: float) -> float:
    """Return where the piston is, in closed form (m)."""
    return CRANK * cos(crank) + sqrt(ROD**2 - (CRANK * sin(crank)) ** 2)


@pytest.mark.any_processor
def test_a_slider_crank_has_the_piston_where_the_formula_has_it() -> None:
    mechanism = slider_crank()
    model = cf.derive(mechanism, ["pose(piston)"])
    for crank in np.linspace(-1.4, 1.4, 7):
        q = assemble(mechanism, {"crank": crank}, fixed=["crank"])
        pose = model.evaluate(q=q)["pose(piston)"]
        np.testing.assert_allclose(pose[:3, 3], [piston_place(crank), 0, 0], atol=1e-10)
        np.testing.assert_allclose(pose[:3, :3], np.eye(3), atol=1e-10)
    found = mobility(mechanism, assemble(mechanism, {"crank": 1.0}))
    assert (found.freedoms, found.rows, found.rank) == (1, 5, 2)
    assert found.redundant == {"loop 'bore'": (3, 5)}


@pytest.mark.slow
def test_a_slider_crank_moves_as_one_with_a_slide_in_its_tree() -> None:
    """The piston on a slide and a pin to the rod: the same motion, the same force of the bore."""
    builder = cf.Mechanism.builder("engine", gravity=(0, "-9.81", 0))
    body: dict[str, Any] = {"axis": "z", "mass": 1, "inertia": ["0.01", "0.01", "0.01"]}
    builder.segment("crank", com=["0.1", 0, 0], **body)
    builder.segment("rod", parent="crank", position=["0.2", 0, 0], com=["0.35", 0, 0], **body)
    builder.segment("piston", parent="ground", joint="prismatic", axis="x", mass=1)
    ends = {"segment": "rod", "point": ["0.7", 0, 0]}, {"segment": "piston"}
    other = builder.loop("pin", "point", *ends).build()
    start: dict[str, Any] = {"q0": {"crank": 0.5}, "qd0": {"crank": 4.0}, "t": (0, 1)}
    runs = [
        cf.simulate(m, **start, t_eval=np.linspace(0, 1, 5), rtol=1e-10, atol=1e-12)
        for m in (slider_crank(), other)
    ]
    np.testing.assert_allclose(runs[0].q[:, :2], runs[1].q[:, :2], atol=1e-7)
    model = cf.derive(other, ["reaction(piston,world)"])
    same = runs[1]
    found = model.evaluate(q=same.q, qd=same.qd, qdd=same.qdd, sigma=same.sigma)
    # u of the axis x is y: the first row is the force of the bore across it.
    np.testing.assert_allclose(
        runs[0].sigma[:, 0], found["reaction(piston,world)"][:, 1], rtol=1e-6, atol=1e-6
    )


@pytest.mark.any_processor
def test_a_four_bar_closed_by_a_revolute_joint_has_three_equations_too_many() -> None:
    builder = cf.Mechanism.builder("bars")
    builder.segment("crank", axis="z", mass=1)
    builder.segment("coupler", parent="crank", axis="z", position=["0.2", 0, 0], mass=1)
    builder.segment("rocker", parent="ground", axis="z", position=["0.6", 0, 0], mass=1)
    ends = [
        {"segment": name, "point": [x, 0, 0], "axis": "z"}
        for name, x in (("coupler", "0.5"), ("rocker", "0.4"))
    ]
    mechanism = builder.loop("pin", "revolute", *ends).build()
    found = mobility(mechanism, assemble(mechanism, {"crank": 1.0}, fixed=["crank"]))
    assert (found.freedoms, found.redundant) == (1, {"loop 'pin'": (3, 5)})


@pytest.mark.slow
def test_a_point_on_a_thread_is_a_pendulum() -> None:
    builder = cf.Mechanism.builder("thread", gravity=(0, 0, "-9.81"))
    builder.segment("x", joint="prismatic", axis="x")
    builder.segment("y", parent="x", joint="prismatic", axis="y")
    builder.segment("z", parent="y", joint="prismatic", axis="z", mass=2)
    mechanism = builder.loop("thread", "distance", {"segment": "z"}, length="0.8").build()
    angle, length, mass = 1.1, 0.8, 2.0
    q0 = {"x": length * sin(angle), "z": -length * cos(angle)}
    times = np.linspace(0, 3, 7)
    run = cf.simulate(mechanism, q0=q0, t=3, t_eval=times, rtol=1e-10, atol=1e-12)

    def swing(_: float, y: Any) -> list[float]:
        return [y[1], -9.81 / length * sin(y[0])]

    found = solve_ivp(swing, (0, 3), [angle, 0], t_eval=times, rtol=1e-11, atol=1e-12).y
    np.testing.assert_allclose(run.q[:, 0], length * np.sin(found[0]), atol=1e-7)
    np.testing.assert_allclose(run.q[:, 2], -length * np.cos(found[0]), atol=1e-7)
    pull = mass * (9.81 * np.cos(found[0]) + length * found[1] ** 2)
    np.testing.assert_allclose(run.sigma[:, 0], -pull, rtol=1e-6)


@pytest.mark.any_processor
@pytest.mark.parametrize("bend", [0.3, 0.9, -0.6])
def test_a_cardan_joint_turns_as_the_formula_says(bend: float) -> None:
    """tan(b) = tan(a) / cos(bend), so b' / a' = cos(bend) / (1 - sin(bend)^2 cos(a)^2)."""
    builder = cf.Mechanism.builder("cardan")
    builder.segment("a", axis="x", mass=1, inertia=[1, 1, 1])
    out = [cos(bend), sin(bend), 0]
    builder.segment("b", parent="ground", axis=out, mass=1, inertia=[1, 1, 1])
    pins = {"segment": "a", "axis": "y"}, {"segment": "b", "axis": "z"}
    mechanism = builder.loop("cross", "universal", *pins).build()
    for a in (-1.2, -0.2, 0.4, 1.3):
        q = assemble(mechanism, {"a": a, "b": a}, fixed=["a"])
        assert tan(q[1]) == pytest.approx(tan(a) / cos(bend), rel=1e-9)
        rates = consistent_rates(mechanism, q, {"a": 1.0}, fixed=["a"])
        assert rates[1] == pytest.approx(cos(bend) / (1 - (sin(bend) * cos(a)) ** 2), rel=1e-9)
        assert mobility(mechanism, q).freedoms == 1


def octahedron(legs: int) -> cf.Mechanism:
    """Return a platform on legs of a fixed length between balls, of an octahedron."""
    builder = cf.Mechanism.builder("octahedron", gravity=(0, 0, "-9.81"))
    builder.segment("platform", joint="free", mass=3, inertia=["0.1", "0.1", "0.2"])
    for k in range(legs):
        foot, ball = ((k + 1) // 2 * 2 * pi / 3, (k // 2) * 2 * pi / 3 + pi / 3)
        ends = [
            {"segment": name, "point": [round(r * cos(a), 9), round(r * sin(a), 9), 0]}
            for name, r, a in (("platform", 0.5, ball), ("ground", 1.0, foot))
        ]
        builder.loop(f"leg{k + 1}", "distance", *ends, length="1.2")
    return builder.build()


@pytest.mark.any_processor
@pytest.mark.parametrize(("legs", "freedoms"), [(6, 0), (5, 1), (3, 3)])
def test_an_octahedron_loses_a_freedom_with_each_leg(legs: int, freedoms: int) -> None:
    mechanism = octahedron(legs)
    q = assemble(mechanism, {"platform_z": 0.8})
    found = mobility(mechanism, q)
    assert (found.freedoms, found.rows, found.redundant) == (freedoms, legs, {})


@pytest.mark.slow
def test_legs_carry_the_weight_of_the_platform() -> None:
    mechanism = octahedron(6)
    q = assemble(mechanism, {"platform_z": 0.8})
    run = cf.simulate(mechanism, q0=q, t=0.1)
    np.testing.assert_allclose(run.q[-1], q, atol=1e-9)
    rise = sqrt(1.2**2 - (0.5**2 + 1.0**2 - 2 * 0.5 * 1.0 * cos(pi / 3)))
    assert q[2] == pytest.approx(rise, rel=1e-6)
    np.testing.assert_allclose(run.sigma, 3 * 9.81 / 6 * 1.2 / rise, rtol=1e-6)


@pytest.mark.any_processor
@pytest.mark.parametrize("length", [0, -0.8])
def test_a_length_that_values_make_zero_or_negative_is_refused(length: float) -> None:
    """A negative one would turn the sign of the force."""
    builder = cf.Mechanism.builder("thread").parameter("d", "0.8")
    builder.segment("bob", joint="prismatic", axis="z", mass=1, position=["0.3", 0, 0])
    mechanism = builder.loop("thread", "distance", {"segment": "bob"}, length="d").build()
    state: dict[str, Any] = {"values": {"d": length}}
    with pytest.raises(cf.Error, match="is not positive") as caught:
        cf.simulate(mechanism, q0={"bob": -0.6}, t=1, **state)
    assert caught.value.element == "loop 'thread', length"
    with pytest.raises(cf.Error, match=r"is not positive|always zero"):
        cf.linearise(mechanism, q={"bob": -0.6}, **state)


@pytest.mark.any_processor
def test_a_joint_cannot_be_a_contact() -> None:
    builder = cf.Mechanism.builder("foot").segment("leg", joint="prismatic", axis="z", mass=1)
    ends = {"segment": "leg", "axis": "z"}, {"segment": "ground", "axis": "z"}
    mechanism = builder.loop("foot", "cylindrical", *ends).build()
    with pytest.raises(cf.Error, match="'cylindrical' cannot be a contact"):
        cf.simulate(mechanism, t=1, contacts=["foot"])


@pytest.mark.any_processor
def test_an_open_joint_is_named_with_its_gap() -> None:
    mechanism = slider_crank()
    with pytest.raises(cf.Error, match=r"loop 'bore' stays open by .* m and .* rad"):
        assemble(mechanism, {"crank": 0.5, "rod": 0.5}, fixed=["crank", "rod"])
