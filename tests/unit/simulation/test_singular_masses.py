"""Singular mass matrices: solved where constraints resist, refused by name where nothing does."""

from __future__ import annotations

import re
from functools import cache
from math import pi
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from chainform.runtime import code_of
from chainform.simulation import simulate_batch
from chainform.simulation.equations.efforts import Efforts
from chainform.simulation.machine.compilation import EquationOptions, machine_of, model_of
from chainform.simulation.solvers import SOLVERS

LINKS = (0.5, 0.85, 0.6)
"""Lengths (m) of a crank, a rod without mass, and a crank 1 m away."""


@cache
def slides(last: str = "1") -> cf.Mechanism:
    """Two slides that a loop holds together, one without mass, and a third on its own."""
    builder = cf.Mechanism.builder("slides", gravity=(0, 0, -10)).parameter("last", last)
    builder.segment("x", parent="ground", joint="prismatic", axis="z", mass=1)
    builder.segment("y", parent="ground", joint="prismatic", axis="z")
    builder.segment("z", parent="ground", joint="prismatic", axis="z", mass="last")
    return builder.loop("L", "point", {"segment": "x"}, {"segment": "y"}).build()


@cache
def cranks(mass: str | None = "0") -> cf.Mechanism:
    """Two cranks with a rod between them: a body of some mass, or, without one, a constraint."""
    a, rod, c = LINKS
    builder = cf.Mechanism.builder("cranks", gravity=(0, "-9.81", 0))
    sizes: dict[str, Any] = {"inertia": [0, "0.01", "0.01"]}
    builder.segment("a", axis="z", mass=2, com=["0.3", 0, 0], **sizes)
    if mass is not None:
        builder.segment("rod", parent="a", axis="z", position=[a, 0, 0], mass=mass)
    builder.segment(
        "c", parent="ground", axis="z", position=[1, 0, 0], mass=1, com=["0.2", 0, 0], **sizes
    )
    if mass is None:
        across = f"(1 + {c}*cos(c) - {a}*cos(a))^2 + ({c}*sin(c) - {a}*sin(a))^2 - {rod}^2"
        return builder.constraint("holonomic", across, name="rod").build()
    ends = {"segment": "rod", "point": [rod, 0, 0]}, {"segment": "c", "point": [c, 0, 0]}
    return builder.loop("pin", "point", *ends).build()


@cache
def without_rod(t: float) -> tuple[dict[str, float], NDArray[np.float64]]:
    """Return the start of the cranks that a constraint couples, and where they are at a time."""
    run = cf.simulate(cranks(None), q0={"a": 1.0}, qd0={"a": 2.0}, t=t, t_eval=[0, t], rtol=1e-12)
    return {"a": float(run.q[0, 0]), "c": float(run.q[0, 1])}, run.q[-1]


def test_slides_held_together_fall_though_one_has_no_mass() -> None:
    run = cf.simulate(slides(), t=1.0)
    np.testing.assert_allclose(run.q[-1], -5, atol=1e-9)
    np.testing.assert_allclose(run.qdd[-1], -10, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("mass", ["0", "1e-18", "1e-30"])
def test_a_loop_that_ends_in_a_body_without_mass(mass: str) -> None:
    start, there = without_rod(1.0)
    more: dict[str, Any] = {"q0": start, "qd0": {"a": 2.0}, "t": 1.0, "t_eval": [1.0]}
    run = cf.simulate(cranks(mass), **more, rtol=1e-11)
    np.testing.assert_allclose(run.q[-1, [0, 2]], there, atol=1e-8)


@cache
def four_bar(crank: str, coupler: str, rocker: str) -> cf.Mechanism:
    """Three links of any masses in a plane, closed against the ground."""
    builder = cf.Mechanism.builder("four-bar", gravity=(0, "-9.81", 0))
    for name, parent, place, length, mass in (
        ("a", "ground", 0, "0.3", crank),
        ("b", "a", "0.3", "0.9", coupler),
        ("c", "ground", 1, "0.7", rocker),
    ):
        inertia = [0, 0, f"{mass}*{length}^2/12"]
        body: dict[str, Any] = {"mass": mass, "com": [f"{length}/2", 0, 0], "inertia": inertia}
        builder.segment(name, parent=parent, axis="z", position=[place, 0, 0], **body)
    ends = {"segment": "b", "point": ["0.9", 0, 0]}, {"segment": "c", "point": ["0.7", 0, 0]}
    return builder.loop("pin", "point", *ends).build()


@pytest.mark.slow
@pytest.mark.parametrize("masses", [("1", "1", "1e-15"), ("1e-6", "1000", "1e-12")])
def test_masses_far_apart_hide_no_row(masses: tuple[str, str, str]) -> None:
    start: dict[str, Any] = {"q0": {"a": 1.0}, "qd0": {"a": 3.0}, "t": 0.4, "t_eval": [0, 0.4]}
    light = tuple("0" if float(mass) < 1e-5 else mass for mass in masses)
    wanted = cf.simulate(four_bar(*light), **start)
    run = cf.simulate(four_bar(*masses), **start)
    np.testing.assert_allclose(run.q, wanted.q, atol=1e-7)
    np.testing.assert_allclose(run.qdd, wanted.qdd, rtol=1e-6)
    np.testing.assert_allclose(run.sigma, wanted.sigma, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["1", "1e-6"])
def test_units_of_redundant_rows_are_no_masses_far_apart(unit: str) -> None:
    builder = cf.Mechanism.builder("bead", gravity=(0, 0, -10))
    for name, parent, mass in ("x", "ground", 0), ("z", "x", 1), ("w", "ground", "1e-3"):
        joint = {"name": name, "type": "prismatic", "axis": "z" if name == "z" else "x"}
        builder.segment(name, parent=parent, joint=joint, mass=mass)
    for law in (f"{unit}*(x^2 + z^2 - 1)", "1000*(w - x*z)", "2*w - 2*x*z"):
        builder.constraint("holonomic", law)
    start: dict[str, Any] = {"q0": [0.6, -0.8, -0.48], "qd0": [0.8, 0.6, -0.28]}
    run = cf.simulate(builder.build(), **start, t=0.5)
    assert np.ptp(run.energy) < 1e-7
    np.testing.assert_allclose(run.q[:, 0] ** 2 + run.q[:, 1] ** 2, 1, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("light", "heavy"), [("1e-6", "1"), ("1e-9", "1e-3"), ("1e-15", "1e-9")])
def test_what_carries_a_whole_loop_does_not_weigh_its_rows(light: str, heavy: str) -> None:
    """Two loops, one of them redundant, stiffen what is on an arm; a slide on it stays free."""
    builder = cf.Mechanism.builder("arm", gravity=(0, "-9.81", 0))
    builder.segment("arm", axis="z", position=["0.533", "-0.154", 0], mass=light, com=["0.1", 0, 0])
    for name, place, mass in (
        ("a", ["-0.03", "-0.45", 0], light),
        ("b", ["-0.3", "1.25", 0], heavy),
    ):
        more: dict[str, Any] = {"mass": mass, "com": ["0.1", "-0.1", 0]}
        builder.segment(name, parent="arm", axis="z", position=place, **more)
    sliding = {"name": "slide", "type": "prismatic", "axis": "y"}
    builder.segment("tip", parent="b", joint=sliding, position=["-0.2", "-0.3", 0], mass=1)
    pins = {"b": ["-0.1", "0.3", 0], "arm": ["-0.1", "0.2", 0]}
    for name, point in {"b": ["-0.37", "2", 0], "arm": ["-0.07", "0.65", 0]}.items():
        ends = {"segment": "a", "point": point}, {"segment": name, "point": pins[name]}
        builder.loop(f"pin of {name}", "point", *ends)
    start = {"arm": -1.0, "slide": 0.1}
    run = cf.simulate(builder.build(), q0=start, qd0={"arm": 0.4, "slide": -0.5}, t=0.3)
    np.testing.assert_allclose(run.q[0, [0, 3]], [-1.0, 0.1], atol=1e-7)
    np.testing.assert_allclose(run.q[:, 1:3], 0, atol=1e-9)
    assert np.ptp(run.energy) < 1e-5


@pytest.mark.parametrize(
    ("method", "settings", "near"),
    [
        ("dopri853", {"rtol": 1e-10}, 1e-7),
        ("rk4", {"step": 1e-3}, 1e-4),
        ("semi_implicit", {"step": 1e-4}, 2e-2),
        ("ida", {"rtol": 1e-9}, 1e-5),
    ],
)
def test_every_method_that_takes_loops_takes_bodies_without_mass(
    method: str, settings: dict[str, Any], near: float
) -> None:
    if method == "ida":
        pytest.importorskip("sksundae")
    start, there = without_rod(0.5)
    more: dict[str, Any] = {"q0": start, "qd0": {"a": 2.0}, "t": 0.5, "t_eval": [0.5]}
    run = cf.simulate(cranks(), method=method, **settings, **more)
    np.testing.assert_allclose(run.q[-1, [0, 2]], there, atol=near)


@cache
def top(*, held: bool = True) -> cf.Mechanism:
    """A body with Euler angles whose first one a constraint may hold, so that the pole is none."""
    builder = cf.Mechanism.builder("top", gravity=(0, 0, 0))
    joint = {"type": "free", "euler": "zyx", "name": "f"}
    builder.segment("body", joint=joint, mass=2, inertia=["0.1", "0.2", "0.4"])
    first = builder.build().coordinates[3]
    if held:
        builder.constraint("holonomic", first, name="hold")
    return builder.build()


def test_a_constraint_takes_the_pole_from_euler_angles() -> None:
    """With the first angle held, the others turn about two axes at right angles, pole or not.

    The momentum about the axis of the second, which stays, and the energy are known.
    """
    built = top()
    names = built.coordinates
    start = {names[4]: pi / 2 - 0.5}
    rates = {built.rates[4]: 1.0, built.rates[5]: 0.7}
    run = cf.simulate(built, q0=start, qd0=rates, t=1.0, rtol=1e-10)
    assert run.q[-1, 4] > pi / 2 + 0.2, "it passed the pole"
    turn = run.q[:, 5]
    about = 0.2 * np.cos(turn) ** 2 + 0.4 * np.sin(turn) ** 2
    momentum = about * run.qd[:, 4]
    energy = 0.5 * momentum * run.qd[:, 4] + 0.5 * 0.1 * run.qd[:, 5] ** 2
    np.testing.assert_allclose(momentum, momentum[0], rtol=1e-7)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-7)


def test_redundant_rows_have_multipliers_of_least_norm() -> None:
    builder = cf.Mechanism.builder("twice", gravity=(0, 0, -10))
    builder.segment("x", joint="prismatic", axis="z", mass=1)
    builder.constraint("holonomic", "x", name="once").constraint("holonomic", "2*x", name="again")
    run = cf.simulate(builder.build(), t=0.5, t_eval=[0.5])
    np.testing.assert_allclose(run.multipliers[-1], [2, 4], rtol=1e-12)
    assert any("least norm" in note for note in run.report)


def test_rows_in_small_units_count_as_much_as_others() -> None:
    builder = cf.Mechanism.builder("units", gravity=(0, 0, -10))
    for name in ("x", "y", "z"):
        builder.segment(name, parent="ground", joint="prismatic", axis="z", mass=1)
    builder.constraint("holonomic", "1e3*x - 1e3*y", name="large")
    builder.constraint("holonomic", "1e-4*z", name="small")
    run = cf.simulate(builder.build(), t=1.0, t_eval=[1.0])
    np.testing.assert_allclose(run.q[-1], [-5, -5, 0], atol=1e-8)


@pytest.mark.parametrize(
    ("method", "settings"), [("verner65", {}), ("rk4", {"step": 1e-2}), ("ida", {})]
)
def test_what_nothing_resists_is_named(method: str, settings: dict[str, Any]) -> None:
    if method == "ida":
        pytest.importorskip("sksundae")
    with pytest.raises(cf.Error, match="nothing resists z") as caught:
        cf.simulate(slides("0"), t=1.0, method=method, **settings)
    assert caught.value.element == "z"
    assert "mass" in str(caught.value.remedy)


@cache
def arm() -> cf.Mechanism:
    """Two links without loops, the second of a mass to be chosen."""
    builder = cf.Mechanism.builder("arm").parameter("mb", 1)
    builder.segment("a", joint="revolute", axis="y", mass=1, com=[0, 0, -1])
    builder.segment(
        "b", parent="a", joint="revolute", axis="y", position=[0, 0, -1], mass="mb", com=[0, 0, -1]
    )
    return builder.build()


@pytest.mark.parametrize(
    ("method", "settings"),
    [("verner65", {}), ("rk4", {"step": 1e-2}), ("gauss4", {"step": 1e-2}), ("cvode", {})],
)
def test_what_nothing_resists_is_named_without_constraints(
    method: str, settings: dict[str, Any]
) -> None:
    if method == "cvode":
        pytest.importorskip("sksundae")
    with pytest.raises(cf.Error, match="nothing resists b"):
        cf.simulate(arm(), q0=[0.3, 0.1], t=1.0, values={"mb": 0}, method=method, **settings)


def sheet(**body: Any) -> cf.Mechanism:
    """A body on a ball joint that carries another on a plane: without inertia a coordinate more."""
    builder = cf.Mechanism.builder("sheet").parameter("J", "1/10")
    tensor = [["1/5", "1/90", 0], ["1/90", "1/7", "1/80"], [0, "1/80", "1/9"]]
    builder.segment("a", joint="spherical", mass=2, com=["1/3", 0, "1/7"], inertia=tensor)
    joint = {"type": "planar", "name": "p", "axis": "y"}
    builder.segment("b", parent="a", joint=joint, mass="0.65", com=["0.2", "0.36", 0], **body)
    return builder.build()


TILTED = [-0.493, -0.826, -0.267, -0.056, -0.3, 0.371, 0.857]
"""A pose of the sheet in which its mass matrix, singular, has no pivot that is zero."""


@pytest.mark.parametrize("formulation", ["auto", "articulated_body", "composite_body"])
def test_pivots_that_only_cancel_are_no_resistance(formulation: str) -> None:
    with pytest.raises(cf.Error, match="nothing resists"):
        cf.derive(sheet(), ["forward_dynamics"], formulation=formulation, reduce="none")


def test_rounding_is_no_resistance_at_the_start() -> None:
    """Motions so short that nothing overflows: the accelerations would be finite, and noise."""
    mechanism = sheet(inertia=[0, "J", 0])
    settings: dict[str, Any] = {"t": 2e-3, "t_eval": [2e-3], "method": "rk4", "step": 1e-3}
    with pytest.raises(cf.Error, match="nothing resists p_r"):
        cf.simulate(mechanism, q0=TILTED, values={"J": 0}, **settings)
    batch = simulate_batch(mechanism, q0=TILTED, values={"J": [0.1, 0.0, 0.2]}, **settings)
    assert list(batch.problems) == [1]
    assert batch.problems[1].startswith("nothing resists p_r")
    assert np.isnan(batch.q[1, -1]).all()
    alone = cf.simulate(mechanism, q0=TILTED, values={"J": 0.2}, **settings)
    np.testing.assert_allclose(batch.q[2, -1], alone.q[-1], atol=1e-12)


def test_an_actuator_without_inertia_is_no_resistance() -> None:
    """A point mass on a plane has a coordinate too many, whatever effort drives it."""
    builder = cf.Mechanism.builder("point")
    joint = {"type": "planar", "name": "p", "axis": "y"}
    builder.segment("b", joint=joint, mass="2.75", com=["-0.33", "-0.23", "-0.32"])
    builder.actuator("drive", joint="p_r", type="torque", limit=2)
    settings: dict[str, Any] = {"t": 2e-3, "t_eval": [2e-3], "method": "rk4", "step": 1e-3}
    with pytest.raises(cf.Error, match="nothing resists p_r"):
        cf.simulate(builder.build(), q0=[0.1, 0.2, 0.3], **settings)


def test_a_pole_of_euler_angles_is_no_place_to_start() -> None:
    builder = cf.Mechanism.builder("top")
    joint = {"type": "spherical", "name": "s", "euler": "xyz"}
    builder.segment("top", joint=joint, mass=1, com=[0, 0, "1/2"], inertia=["1/5", "1/7", "1/9"])
    settings: dict[str, Any] = {"t": 2e-3, "t_eval": [2e-3], "method": "rk4", "step": 1e-3}
    with pytest.raises(cf.Error, match="nothing resists"):
        cf.simulate(builder.build(), q0=[0.3, pi / 2, 0.1], **settings)


def test_what_nothing_resists_is_named_while_stops_are_open() -> None:
    builder = cf.Mechanism.builder("open", gravity=(0, 0, -10)).parameter("m", 1)
    joint = {"type": "prismatic", "name": "x", "limits": {"lower": -1, "upper": 1}}
    builder.segment("x", joint=joint, axis="z", mass="m")
    with pytest.raises(cf.Error, match="nothing resists x"):
        cf.simulate(builder.build(), t=1.0, stops={"x": 0.0}, values={"m": 0})


@pytest.mark.parametrize(
    ("mechanism", "name", "settings"),
    [
        (arm(), "mb", {"method": "rk4", "step": 1e-2}),
        (arm(), "mb", {}),
        (slides(), "last", {"method": "rk4", "step": 1e-2}),
        (slides(), "last", {}),
    ],
    ids=["lanes", "each", "loop, fixed steps", "loop"],
)
def test_one_motion_of_a_batch_without_mass_harms_no_other(
    mechanism: cf.Mechanism, name: str, settings: dict[str, Any]
) -> None:
    masses = [1.0, 0.0, 2.0]
    q0 = np.full(mechanism.nq, 0.0)
    batch = simulate_batch(mechanism, q0=q0, t=0.5, values={name: masses}, **settings)
    assert list(batch.problems) == [1]
    assert batch.problems[1].startswith("nothing resists " + mechanism.coordinates[-1])
    assert np.isnan(batch.q[1]).all()
    for i in (0, 2):
        alone = cf.simulate(
            mechanism, q0=q0, t=0.5, t_eval=[0.5], values={name: masses[i]}, **settings
        )
        np.testing.assert_allclose(batch.q[i, -1], alone.q[-1], atol=1e-12)


@pytest.mark.slow
def test_a_stop_and_friction_beside_a_body_without_mass() -> None:
    """A slide with dry friction falls onto a stop; a body without mass goes along by a loop."""
    builder = cf.Mechanism.builder("foot", gravity=(0, 0, -10))
    limits = {"lower": -1, "upper": 1}
    joint = {"type": "prismatic", "name": "x", "limits": limits}
    friction = {"coulomb": 2, "viscous": 0}
    builder.segment("x", parent="ground", joint=joint, axis="z", mass=1, friction=friction)
    builder.segment("y", parent="ground", joint="prismatic", axis="z")
    builder.loop("L", "point", {"segment": "x"}, {"segment": "y"})
    run = cf.simulate(builder.build(), t=1.0, stops={"x": 0.0}, t_eval=[0.3, 1.0])
    np.testing.assert_allclose(run.q[0], -0.5 * 8 * 0.09, atol=1e-9)
    np.testing.assert_allclose(run.q[-1], -1, atol=1e-9)
    np.testing.assert_allclose(run.qd[-1], 0, atol=1e-9)


@pytest.mark.slow
def test_a_contact_with_friction_on_a_body_without_mass() -> None:
    """A block slides on a plane by a foot without mass that a loop holds: a = -mu g."""
    builder = cf.Mechanism.builder("foot", gravity=(0, 0, -10))
    for name, mass in (("block", 1), ("foot", 0)):
        builder.segment(f"{name}_x", parent="ground", joint="prismatic", axis="x")
        builder.segment(name, parent=f"{name}_x", joint="prismatic", axis="z", mass=mass)
    builder.loop("L", "point", {"segment": "foot"}, {"segment": "block"})
    contacts = {"foot": {"friction": 0.3, "points": {"sole": [0, 0, 0]}}}
    names = builder.build().coordinates
    across = [i for i, name in enumerate(names) if name.endswith("_x")]
    rates = {names[i]: 2.0 for i in across}
    run = cf.simulate(builder.build(), qd0=rates, t=1.0, t_eval=[0.5, 1.0], contacts=contacts)
    moved = [2 * 0.5 - 0.5 * 3 * 0.25, 2.0**2 / (2 * 3.0)]
    np.testing.assert_allclose(run.q[0, across], moved[0], atol=1e-8)
    np.testing.assert_allclose(run.q[-1, across], moved[1], atol=1e-8)


def test_functions_of_a_system_return_a_status_that_python_reads() -> None:
    mechanism, solver = slides("0"), SOLVERS["verner65"]
    machine = machine_of(
        mechanism, model_of(mechanism, (), solver), EquationOptions(Efforts(), solver)
    )
    y, p = np.zeros(machine.equations.size), machine.layout.fresh()
    for call in (machine.rate, machine.settled, machine.terms):
        with pytest.raises(cf.Error, match="nothing resists z"):
            call(0.0, y, p)


def dropped(text: str) -> list[str]:
    """Return the calls in a module whose result is not used later."""
    found: list[str] = []
    for body in text.split("\ndefine ")[1:]:
        lines = body.split("\n}")[0].splitlines()
        for place, line in enumerate(lines):
            if " call " not in line or " call void " in line or "llvm." in line:
                continue
            name, *called = line.split(" = ")
            rest = "\n".join(lines[place + 1 :])
            if not called or not re.search(re.escape(name.strip()) + r"\b", rest):
                found.append(line.strip())
    return found


@pytest.mark.slow
def test_text_for_llvm_drops_no_status() -> None:
    assert dropped("\ndefine i64 @f() {\n  %a = call i64 @g()\n  ret i64 0\n}\n")
    assert dropped("\ndefine i64 @f() {\n  call i64 @g()\n  ret i64 0\n}\n")
    assert not dropped("\ndefine i64 @f() {\n  %a = call i64 @g()\n  ret i64 %a\n}\n")
    texts: list[str] = []

    def noted(text: str, *_given: object) -> bytes:
        texts.append(text)
        return code_of(text, *_given)  # pyright: ignore[reportArgumentType]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chainform.simulation.machine.machine.code_of", noted)
        patch.setattr("chainform.simulation.solvers.lanes.code_of", noted)
        builder = cf.Mechanism.builder("all", gravity=(0, 0, -9)).parameter("m", 1)
        limits = {"lower": -1, "upper": 1}
        joint = {"type": "prismatic", "name": "x", "limits": limits}
        builder.segment("x", parent="ground", joint=joint, axis="z", mass="m")
        alone = builder.build()
        simulate_batch(alone, t=0.01, method="rk4", step=1e-3, values={"m": [1.0, 2.0]})
        simulate_batch(alone, t=0.01, values={"m": [1.0, 2.0]})
        builder.segment("y", parent="ground", joint="prismatic", axis="z")
        builder.loop("L", "point", {"segment": "x"}, {"segment": "y"})
        cf.simulate(builder.build(), t=0.01, stops={"x": 0.5}, forces={"x": lambda _t, _q, _v: 1.0})
    assert len(texts) >= 4
    for text in texts:
        assert not dropped(text)
        assert not re.search(r"define [^\n]*void @(rhs|settle|events|lasting)\(", text)


@pytest.mark.slow
def test_a_foot_without_mass_is_refused_by_name() -> None:
    builder = cf.Mechanism.builder("leg", gravity=(0, 0, -10)).parameter("m", 1)
    for name, parent, mass in ("body", "ground", 1), ("foot", "body", "m"):
        joint = {"name": name, "type": "prismatic"}
        builder.segment(name, parent=parent, joint=joint, axis="z", mass=mass)
    with pytest.raises(cf.Error, match="nothing resists foot") as caught:
        cf.simulate(builder.build(), q0=[1, -1], t=0.5, contacts=["foot"], values={"m": 0})
    assert caught.value.element == "foot"
