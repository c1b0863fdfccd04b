"""Contacts of frames and loops with the ground; stops in closed loops; redundant rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.simulation import Impact, simulate
from unit.simulation.small_machines import PENDULUM, TABLE, machine

EXAMPLES = Path(__file__).parents[3] / "examples"
LEGS = ["leg1", "leg2", "leg3", "leg4"]
BODY = """
gravity = [0, 0, -10]
[[segments]]
name = "ball"
joint = { type = "free", euler = "zyx" }
mass = 1
inertia = [0.1, 0.1, 0.1]
"""
# A slender rod in the plane x z; its tip is half a length below its middle at zero.
ROD = """
gravity = [0, 0, -10]
[[segments]]
name = "x"
parent = "ground"
joint = { type = "prismatic", axis = "x", name = "x" }
[[segments]]
name = "z"
parent = "x"
joint = { type = "prismatic", axis = "z", name = "z" }
[[segments]]
name = "rod"
parent = "z"
joint = { type = "revolute", axis = "y", name = "lean" }
mass = 1
inertia = [0, 0.3333333333, 0]
[[frames]]
name = "tip"
segment = "rod"
point = [0, 0, -1]
"""


def impacts(run: cf.Run) -> list[Impact]:
    return [event for event in run.events if isinstance(event, Impact)]


def test_a_table_falls_on_four_legs_and_stands() -> None:
    run = simulate(machine(TABLE), q0={"top_tz": 0.7}, t=1.0, contacts=LEGS)
    assert impacts(run)[0].t == pytest.approx(0.2)
    assert np.abs(run.qd[-1]).max() < 1e-12
    np.testing.assert_allclose(run.q[-1], [0, 0, 0.5, 0, 0, 0], atol=1e-9)
    assert sum(run.contact_forces[leg][-1] for leg in LEGS) == pytest.approx(40.0)
    assert min(run.contact_forces[leg][-1] for leg in LEGS) >= 0
    assert run.losses[-1] == pytest.approx(8.0)


def test_a_table_that_leans_comes_down_leg_by_leg() -> None:
    run = simulate(
        machine(TABLE), q0={"top_tz": 0.9, "top_rx": 0.15, "top_ry": 0.1}, t=3.0, contacts=LEGS
    )
    first = impacts(run)[0]
    assert len(first.impulses) == 1
    assert np.abs(run.qd[-1]).max() < 1e-9
    assert run.q[-1, 2] == pytest.approx(0.5, abs=1e-8)
    np.testing.assert_allclose(run.q[-1, 3:], [run.q[-1, 3], 0, 0], atol=1e-8)
    assert np.ptp(run.balance) < 1e-7
    assert sum(run.contact_forces[leg][-1] for leg in LEGS) == pytest.approx(40.0)


@pytest.mark.slow
def test_a_table_without_grip_keeps_its_way() -> None:
    slippery = {leg: {"friction": 0} for leg in LEGS}
    run = simulate(
        machine(TABLE), q0={"top_tz": 0.5}, qd0=[1, 0, 0, 0, 0, 0], t=1.0, contacts=slippery
    )
    assert run.q[-1, :3] == pytest.approx([1, 0, 0.5])
    grip = simulate(
        machine(TABLE), q0={"top_tz": 0.7}, qd0=[1, 0, 0, 0, 0, 0], t=1.0, contacts=LEGS
    )
    # It trips over its legs as soon as they touch.
    assert grip.qd[-1, 0] < 0.9
    assert np.ptp(grip.balance) < 1e-7


@pytest.mark.slow
def test_a_slope_holds_what_friction_can_hold() -> None:
    # tan a = 0.75; down the slope with g (sin a - mu cos a).
    for friction, pull in ((0.0, 6.0), (0.5, 2.0), (0.8, 0.0)):
        slope = {"ball": {"normal": [-0.6, 0, 0.8], "friction": friction}}
        run = simulate(machine(BODY), t=1.0, contacts=slope)
        way = pull / 2
        assert run.q[-1, :3] == pytest.approx([-0.8 * way, 0, -0.6 * way], abs=1e-9)
        assert run.contact_forces["ball"][-1] == pytest.approx(8.0)
        assert run.losses[-1] == pytest.approx(friction * 8.0 * way, abs=1e-9)
        assert np.ptp(run.balance) < 1e-8


@pytest.mark.slow
def test_a_body_slides_to_rest() -> None:
    run = simulate(
        machine(BODY), qd0=[3, 0, 0, 0, 0, 0], t=2.0, contacts={"ball": {"friction": 0.3}}
    )
    assert run.q[-1, 0] == pytest.approx(9 / (2 * 3.0))
    assert run.qd[-1] == pytest.approx(np.zeros(6), abs=1e-12)
    assert run.losses[-1] == pytest.approx(4.5)


def test_an_oblique_impact_with_friction() -> None:
    ground = {"ball": {"friction": 0.2, "restitution": 0.5}}
    q0, qd0 = {"ball_tz": 0.45}, [2, 0, 0, 0, 0, 0]
    (hit, *_) = impacts(simulate(machine(BODY), q0=q0, qd0=qd0, t=0.35, contacts=ground))
    assert hit.qd[:3] == pytest.approx([2, 0, -3])
    # The impulse 3 (1 + e) pushes up, and friction takes mu of that along the ground.
    assert hit.qd_after[:3] == pytest.approx([2 - 0.2 * 4.5, 0, 1.5])
    (hit, *_) = impacts(simulate(machine(BODY), q0=q0, qd0=qd0, t=0.35, contacts=["ball"]))
    assert hit.qd_after == pytest.approx(np.zeros(6), abs=1e-12)


def test_a_table_slides_and_comes_to_rest() -> None:
    grip = {leg: {"friction": 0.25} for leg in LEGS}
    run = simulate(machine(TABLE), q0={"top_tz": 0.5}, qd0=[2, 0, 0, 0, 0, 0], t=1.5, contacts=grip)
    assert run.q[-1, 0] == pytest.approx(4 / (2 * 2.5), rel=1e-8)
    assert np.abs(run.qd[-1]).max() < 1e-9
    assert run.losses[-1] == pytest.approx(8.0)
    assert np.ptp(run.balance) < 1e-7


@pytest.mark.slow
def test_a_leaning_rod_jams_on_rough_ground() -> None:
    """Painleve's rod: no friction fits with its sliding, so that its tip stops at once."""
    lean, rough = 0.5, {"tip": {"friction": 2.0}}
    start = [0, np.cos(lean), lean]
    run = simulate(machine(ROD), q0=start, qd0=[-1, 0, 0], t=0.5, contacts=rough)
    (stop, *_) = impacts(run)
    assert stop.t == 0
    assert stop.loss > 0.1
    tip = cf.derive(machine(ROD), ["jacobian(tip)"]).evaluate(q=stop.q)["jacobian(tip)"]
    np.testing.assert_allclose(tip[:3] @ stop.qd_after, 0, atol=1e-9)
    # The other way round it slides as anything else does.
    assert not impacts(simulate(machine(ROD), q0=start, qd0=[1, 0, 0], t=0.1, contacts=rough))
    heights = cf.derive(machine(ROD), ["pose(tip)"]).evaluate(q=run.q)["pose(tip)"][:, 2, 3]
    assert heights.min() > -1e-8
    assert np.ptp(run.balance) < 1e-7
    assert np.all(np.diff(run.losses) > -1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("friction", "restitution"), [(0.0, 0.5), (0.8, 0.0)])
def test_a_block_that_rocks_comes_to_rest(friction: float, restitution: float) -> None:
    """It goes from one edge to the other, faster and faster, and stands after finitely many."""
    edges = {"l": [-0.1, 0, -0.3], "r": [0.1, 0, -0.3]}
    ground = {"points": edges, "friction": friction, "restitution": restitution}
    start = {"z": 0.01 + 0.3 * np.cos(0.05) + 0.1 * np.sin(0.05), "lean": 0.05}
    block = machine(ROD.replace("0.3333333333", "0.05"))
    run = simulate(block, q0=start, t=2, contacts={"rod": ground})
    np.testing.assert_allclose(run.q[-1, 1:], [0.3, 0], atol=1e-9)
    assert abs(run.qd[-1, 1:]).max() < 1e-9
    assert sum(force[-1] for force in run.contact_forces.values()) == pytest.approx(10.0)
    assert np.ptp(run.balance) < 1e-8
    last = [impact for impact in impacts(run) if impact.t > run.events[-1].t - 1e-3]
    assert len(last) > 2


def test_a_stiff_ground() -> None:
    soft = {"ball": {"point": [0, 0, -1], "stiffness": 1e5, "damping": 0.3}}
    run = simulate(machine(BODY), t=4.0, contacts=soft, rtol=1e-11)
    assert run.q[-1, 2] == pytest.approx(-1, abs=0.02)
    assert np.ptp(run.balance) < 1e-7


@pytest.mark.slow
def test_a_foot_that_cannot_slip_stops_a_pendulum() -> None:
    """The plane's rows depend on each other: one freedom is left to three of them."""
    text = PENDULUM + '[[frames]]\nname = "tip"\nsegment = "rod"\npoint = [0, 0, -1]\n'
    plane = {"tip": {"point": [0, 0, -0.9]}}
    run = simulate(machine(text), q0=[1.0], t=2.0, contacts=plane)
    at = -np.arccos(0.9) * -1
    assert run.q[-1] == pytest.approx([at], abs=1e-9)
    assert np.abs(run.qd[-1]) < 1e-9
    assert run.contact_forces["tip"][-1] > 0
    # The weight about the hinge is borne by the ground alone.
    assert run.contact_forces["tip"][-1] * np.sin(at) == pytest.approx(2 * 9.81 * 0.5 * np.sin(at))


@pytest.mark.slow
def test_a_stop_in_a_closed_loop() -> None:
    linkage = cf.read(EXAMPLES / "four_bar.toml")
    name = linkage.coordinates[0]
    free = simulate(linkage, t=1.0)
    angle = free.q[:, 0]
    bound = float(angle[0] + 0.3 * (angle.max() - angle[0] or angle.min() - angle[0]))
    side = "upper" if bound > angle[0] else "lower"
    stops = {name: {side: bound, "restitution": 0.7}}
    run = simulate(linkage, t=1.0, stops=stops)
    hit = impacts(run)[0]
    assert hit.qd_after[0] == pytest.approx(-0.7 * hit.qd[0])
    jacobian = cf.derive(linkage, ["closure_jacobian"]).evaluate(q=hit.q)["closure_jacobian"]
    np.testing.assert_allclose(jacobian @ hit.qd_after, 0, atol=1e-9)
    assert np.ptp(run.balance) < 1e-7


@pytest.mark.parametrize(
    ("contacts", "word"),
    [
        (["leg5"], "no frame or segment"),
        ({"leg1": {"slips": 1}}, "unknown field"),
        ({"leg1": {"friction": 1, "stiffness": 3}}, "no friction"),
        ({"leg1": 3}, "expected a table, got a number"),
        (3, "expected a table, got a number"),
        ({"leg1": {"normal": [0, 0, 0]}}, "no length"),
    ],
)
def test_mistakes_are_named(contacts: object, word: str) -> None:
    with pytest.raises(cf.Error, match=word):
        simulate(machine(TABLE), q0={"top_tz": 1}, t=0.1, contacts=contacts)


# --- a base that moves ------------------------------------------------------------------------

SWAY = "0.3*sin(5*t)"


def block(base: dict[str, Any] | None = None, *, driven: bool = False, dry: float = 0) -> Any:
    """Return the builder of a point of 1 kg on slides along x and z.

    They stand on the base, or on a carriage that is driven as the base would be.
    """
    builder = cf.Mechanism.builder("block", gravity=(0, 0, -10))
    parent = "ground"
    if base is not None:
        builder.base(**base)
    if driven:
        parent = "carriage"
        slide = {"name": "s", "type": "prismatic"}
        builder.segment(parent, parent="ground", joint=slide, axis="x", mass=1)
        builder.constraint("holonomic", f"s - {SWAY}")
    for name, before in ("x", parent), ("z", "x"):
        joint: dict[str, Any] = {"name": name, "type": "prismatic"}
        joint |= {"friction": {"coulomb": dry}} if dry and name == "x" else {}
        builder.segment(name, parent=before, joint=joint, axis=name, mass=int(name == "z"))
    return builder


@pytest.mark.slow
@pytest.mark.parametrize(
    "contact",
    [
        {"friction": 0},
        {"friction": 0.3},
        {"friction": 1},
        {"friction": 0.3, "normal": [-1, 0, 3], "restitution": 0.5},
        {"stiffness": 1e3, "damping": 0.5, "normal": [-1, 0, 3]},
    ],
)
def test_a_plane_stands_still_while_the_base_moves(contact: dict[str, Any]) -> None:
    """The same motion is that on a carriage, which is driven over ground at rest."""
    start = {"x": 0.1, "z": 0.3}
    options: dict[str, Any] = {"t": 0.6, "contacts": {"z": contact}, "rtol": 1e-9}
    run = simulate(block({"position": [SWAY, 0, 0]}).build(), q0=start, **options)
    driven = block(driven=True).build()
    other = simulate(driven, q0={"s": 0, **start}, qd0={"s": 1.5}, **options)
    assert [event.name for event in run.events] == [event.name for event in other.events]
    np.testing.assert_allclose(run.q, other.q[:, 1:], atol=1e-7)
    loads = run.contact_loads["z"]
    np.testing.assert_allclose(loads, other.contact_loads["z"], atol=1e-5)
    assert run.events or np.abs(loads).max() > 9


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.3, 1.0])
def test_a_plane_that_moves_with_the_base(friction: float) -> None:
    """On a deck that sways a block slides as with dry friction in its slide, or stays."""
    deck = {"friction": friction, "plane": "base"}
    swaying = {"position": [SWAY, 0, 0]}
    run = simulate(block(swaying).build(), t=1, contacts={"z": deck}, rtol=1e-9)
    dry = block(swaying, dry=10 * friction).build()
    other = simulate(dry, t=1, stops={"z": {"lower": 0}}, rtol=1e-9)
    np.testing.assert_allclose(run.q, other.q, atol=1e-7)
    assert (np.abs(run.q[:, 0]).max() > 0.01) == (friction < 0.75)
    np.testing.assert_allclose(
        run.contact_loads["z"][1:-1, 0], other.friction_forces["x"][1:-1], atol=1e-5
    )


def test_a_deck_that_turns_pushes_along_its_own_normal() -> None:
    rolling = {"position": [SWAY, 0, "0.1*sin(3*t)"], "rpy": [0, "0.2*sin(2*t)", 0]}
    deck = {"friction": 0, "plane": "base", "normal": [0, 0, 1]}
    start: dict[str, Any] = {"q0": {"z": 0.05}, "t": 1, "rtol": 1e-9}
    run = simulate(block(rolling).build(), contacts={"z": deck}, **start)
    other = simulate(block(rolling).build(), stops={"z": {"lower": 0}}, **start)
    np.testing.assert_allclose(run.q, other.q, atol=1e-9)
    angle = 0.2 * np.sin(2 * run.t)
    normals = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1)
    pushes = other.contact_forces["z lower"]
    assert pushes[-1] > 5
    np.testing.assert_allclose(run.contact_loads["z"], pushes[:, None] * normals, atol=1e-9)


@pytest.mark.slow
def test_the_plane_of_a_loop_belongs_to_the_base() -> None:
    builder = block({"position": [1, 0, 0.5]})
    builder.loop("leg", "point", {"segment": "z"}, {"segment": "ground"})
    run = simulate(builder.build(), q0={"z": 0.1}, t=0.5, contacts={"leg": {}})
    assert run.q[-1].tolist() == pytest.approx([0, 0], abs=1e-9)


@pytest.mark.parametrize(
    ("base", "contact", "word"),
    [
        ({"velocity": [1, 0, 0]}, {}, "does not follow from its velocity"),
        ({"acceleration": [0, "t", 0]}, {}, "does not follow from its velocity"),
        ({"rpy": [0, "t", 0]}, {"plane": "base"}, "turned against the world"),
        ({"angular_velocity": [0, 1, 0]}, {"plane": "base"}, "turned against the world"),
        ({}, {"plane": "moon"}, "there is no plane|expected a text"),
        ({}, {"plane": ["base"]}, "there is no plane|expected a text"),
    ],
)
def test_planes_that_are_not_known(base: Any, contact: Any, word: str) -> None:
    with pytest.raises(cf.Error, match=word) as caught:
        simulate(block(base).build(), t=0.1, contacts={"z": contact})
    assert caught.value.remedy


@pytest.mark.parametrize("restitution", [0, 1])
def test_a_base_that_drives_a_contact_through_the_ground_is_refused(restitution: float) -> None:
    """No coordinate moves the point: nothing gives way, and it must not sink in without a word."""
    falling = machine(PENDULUM + '[base]\nposition = [0, 0, "1 - t"]\n')
    with pytest.raises(cf.Error, match=r"no force can stop rod at t = 1\.0") as caught:
        simulate(falling, q0=[0.1], t=2, contacts={"rod": {"restitution": restitution}})
    assert caught.value.remedy


@pytest.mark.slow
def test_contacts_of_many_points_compile_for_a_processor_with_avx2(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """LLVM's vectoriser of loops ended the process for such a machine; see runtime/engine.py."""
    monkeypatch.setenv("CHAINFORM_CPU", "x86-64-v3")
    builder, parent = cf.Mechanism.builder("arm"), "ground"
    for name in "abc":
        builder.segment(
            name, parent=parent, axis="y", position=[0.4, 0, 0], mass=1, com=[0.2, 0, 0]
        )
        parent = name
    points = {
        name: {"points": {f"{name}l": [0.4, 0.05, 0], f"{name}r": [0.4, -0.05, 0]}}
        for name in "abc"
    }
    grounds = {
        name: {**where, "friction": 0.5, "point": [0, 0, -0.5]} for name, where in points.items()
    }
    assert simulate(builder.build(), t=0.01, contacts=grounds).t[-1] == 0.01
