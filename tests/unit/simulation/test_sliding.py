"""Coulomb's cone: contacts that slide in any direction of their planes, stop, and break loose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import chainform as cf
from chainform.simulation import Impact, simulate

G, MU = 10.0, 0.5
ANGLES = [0.0, 0.3, np.pi / 4, 2.1, np.pi, 5.0]


def point() -> cf.Mechanism:
    """A point of 1 kg with the coordinates x, y, z."""
    builder = cf.Mechanism.builder("point", gravity=(0, 0, -10))
    parent = "ground"
    for name in "xyz":
        joint = {"name": name, "type": "prismatic"}
        builder.segment(name, parent=parent, joint=joint, axis=name, mass=int(name == "z"))
        parent = name
    return builder.build()


def puck() -> cf.Mechanism:
    builder = cf.Mechanism.builder("puck", gravity=(0, 0, -10))
    joint = {"name": "puck", "type": "free"}
    inertia = ["0.05", "0.04", "0.06"]
    return builder.segment("puck", parent="ground", joint=joint, mass=2, inertia=inertia).build()


def words(run: cf.Run) -> list[str]:
    return [event.name for event in run.events]


def slide(**settings: Any) -> cf.Run:
    return simulate(point(), contacts={"z": {"friction": MU}}, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("angle", ANGLES)
def test_a_point_stops_where_coulomb_says(angle: float) -> None:
    way, speed = np.array([np.cos(angle), np.sin(angle)]), np.sqrt(2)
    run = slide(qd0=[*(speed * way), 0], t=1.0)
    assert run.q[-1, :2] == pytest.approx(speed**2 / (2 * MU * G) * way, abs=1e-12)
    assert words(run) == ["z: rests", "z: sticks"]
    assert run.events[-1].t == pytest.approx(speed / (MU * G), abs=1e-9)
    assert np.ptp(run.balance) < 1e-12
    load = run.contact_loads["z"]
    assert load[1] == pytest.approx([*(-MU * G * way), G])
    assert load[-1] == pytest.approx([0, 0, G], abs=1e-9)


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.03), ("heun", 0.01)])
def test_fixed_steps_stop_there_too(method: str, step: float) -> None:
    run = slide(qd0=[0.6, 0.8, 0], t=1.0, method=method, step=step)
    assert run.q[-1, :2] == pytest.approx([0.06, 0.08], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.3, 0.8])
def test_a_point_pushed_sideways_on_an_incline_curves_downhill(mu: float) -> None:
    slope = {"z": {"friction": mu, "normal": [-1, 0, 2]}}
    run = simulate(point(), qd0=[0, 2, 0], t=1.0, contacts=slope, rtol=1e-10)
    down, push = G / np.sqrt(5), 2 * G / np.sqrt(5)

    def change(_: float, y: np.ndarray) -> np.ndarray:
        v = y[2:]
        return np.array([*v, *(-mu * push * v / np.hypot(*v) - [down, 0])])

    def rest(_: float, y: np.ndarray) -> float:
        return float(np.hypot(*y[2:])) - 1e-9

    rest.terminal = True  # type: ignore[attr-defined]
    known = solve_ivp(
        change, (0, 1), [0, 0, 0, 2], method="DOP853", rtol=1e-11, atol=1e-13, events=rest
    )
    assert run.q[-1] @ [2, 0, 1] / np.sqrt(5) == pytest.approx(known.y[0, -1], abs=1e-9)
    assert run.q[-1, 1] == pytest.approx(known.y[1, -1], abs=1e-9)
    assert words(run)[1:] == (["z: sticks"] if mu > 0.5 else [])
    assert np.ptp(run.balance) < 1e-8


def test_a_contact_breaks_loose_at_the_edge_of_the_cone() -> None:
    """Pulled at 45 degrees it holds mu N, not 1.4 times as much, and slides the way of the pull."""
    run = slide(t=1.2, forces={"x": "5*t", "y": "5*t"})
    loose = MU * G / (5 * np.sqrt(2))
    assert run.events[-1].t == pytest.approx(loose, rel=1e-8)
    way = 5 * (1.2 - loose) ** 3 / 6
    assert run.q[-1] == pytest.approx([way, way, 0], rel=1e-7)
    load = np.hypot(*run.contact_loads["z"][:, :2].T)
    assert load.max() <= MU * G * (1 + 1e-4)


def test_a_pull_that_turns() -> None:
    """It breaks loose with no speed at all, where the way is that of the pull."""
    run = slide(t=3.0, forces={"x": "4*t*cos(5*t)", "y": "4*t*sin(5*t)"})
    assert run.events[-1].t == pytest.approx(1.25, rel=1e-8)
    # The limit of smooth laws, mu N v / sqrt(v^2 + e^2), for ever smaller e.
    assert run.q[-1, :2] == pytest.approx([0.4151877, -0.251177], abs=2e-7)
    assert np.ptp(run.balance) < 1e-7
    assert np.all(np.diff(run.losses) > -1e-12)


CORNERS = [[0.2 * np.cos(a), 0.2 * np.sin(a), 0] for a in (0.1, 0.1 + 2.0944, 0.1 + 4.1888)]
SQUARE = [[x, y, -0.1] for x in (-0.2, 0.2) for y in (-0.3, 0.3)]


def turned(points: Sequence[Sequence[float]], angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array(points)[:, :2] @ np.array([[c, s], [-s, c]])


def spinning(
    q0: list[float], qd0: list[float], points: Sequence[Sequence[float]], t: float
) -> cf.Run:
    contacts = {"puck": {"points": points, "friction": 0.4}}
    return simulate(puck(), q0=q0, qd0=qd0, t=t, contacts=contacts, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(("v", "spin"), [((1.0, 0.0), 5.0), ((0.5, 0.8), 10.0), ((0.1, 0.0), 20.0)])
def test_a_puck_that_spins_and_slides(v: tuple[float, float], spin: float) -> None:
    """Three points with a third of the weight each; smooth friction for comparison."""

    def change(_: float, y: np.ndarray) -> np.ndarray:
        arms = turned(CORNERS, y[2])
        speeds = y[3:5] + y[5] * np.column_stack([-arms[:, 1], arms[:, 0]])
        sizes = np.sqrt((speeds**2).sum(axis=1) + 1e-12)
        forces = -0.4 * 20 / 3 * speeds / sizes[:, None]
        moment = (arms[:, 0] * forces[:, 1] - arms[:, 1] * forces[:, 0]).sum()
        return np.array([*y[3:], *(forces.sum(axis=0) / 2), moment / 0.06])

    run = spinning([0, 0, 0, 0, 0, 0, 1], [*v, 0, 0, 0, spin], CORNERS, 0.9)
    start = [0, 0, 0, *v, spin]
    known = solve_ivp(change, (0, 0.8), start, method="Radau", rtol=1e-8, atol=1e-9).y[:3, -1]
    assert run.q[-1, :2] == pytest.approx(known[:2], abs=1e-6)
    assert 2 * np.arctan2(run.q[-1, 5], run.q[-1, 6]) % (2 * np.pi) == pytest.approx(
        known[2] % (2 * np.pi), abs=3e-6
    )
    assert np.abs(run.qd[-1]).max() < 1e-9
    assert np.ptp(run.balance) < 1e-8


@pytest.mark.slow
def test_a_box_slides_the_same_way_in_a_turned_world() -> None:
    """Four corners, of which three or four carry the box as it brakes and turns."""
    ends: list[np.ndarray] = []
    for angle in (0.0, 0.4, np.pi / 4, 3.0):
        c, s = np.cos(angle), np.sin(angle)
        q0 = [0, 0, 0.1, 0, 0, np.sin(angle / 2), np.cos(angle / 2)]
        # The rates of a free body are in its own axes.
        run = spinning(q0, [1.2, 0, 0, 0, 0, 3], SQUARE, 1.0)
        assert np.abs(run.qd[-1]).max() < 1e-9
        assert np.ptp(run.balance) < 1e-8
        for load in run.contact_loads.values():
            assert (np.hypot(*load[:, :2].T) - 0.4 * load[:, 2]).max() < 1e-3
        x, y = run.q[-1, :2]
        ends.append(np.array([c * x + s * y, c * y - s * x]))
    np.testing.assert_allclose(ends, [ends[0]] * 4, atol=2e-8)


@pytest.mark.parametrize("angle", ANGLES)
def test_an_impact_takes_mu_of_its_push_in_any_direction(angle: float) -> None:
    way = np.array([np.cos(angle), np.sin(angle)])
    ground = {"z": {"friction": 0.2, "restitution": 0.5}}
    run = simulate(point(), q0=[0, 0, 0.45], qd0=[*(2 * way), 0], t=0.35, contacts=ground)
    (hit,) = [event for event in run.events if isinstance(event, Impact)]
    assert hit.qd_after == pytest.approx([*((2 - 0.2 * 4.5) * way), 1.5])


def test_a_slide_goes_on_where_it_was_interrupted() -> None:
    slope: dict[str, Any] = {"z": {"friction": 0.8, "normal": [-1, 0, 2]}}
    settings: dict[str, Any] = {"qd0": [0, 2, 0], "contacts": slope}
    whole = simulate(point(), t=1.0, **settings)
    half = simulate(point(), t=0.3, t_eval=[0.1, 0.3], **settings)
    again = simulate(point(), t=1.0, resume=half, **settings)
    assert again.q[-1] == pytest.approx(whole.q[-1], abs=1e-9)
    assert again.contact_loads["z"][-1] == pytest.approx(whole.contact_loads["z"][-1], abs=1e-6)


def test_a_blocked_direction_has_no_friction() -> None:
    """A bar about an axis that is hardly inclined: its tip slides along, and across not at all."""
    builder = cf.Mechanism.builder("bar", gravity=(0, 0, -10))
    joint = {"name": "turn", "type": "revolute"}
    builder.segment("base", joint=joint, axis="y", mass=1, com=[0.5, 0, 0], inertia=[0, 0.1, 0.1])
    bar = builder.build().with_frame("tip", "base", (1, 0, 0))
    run = simulate(bar, q0=[-0.5], t=2.0, contacts={"tip": {"friction": 0.4}})
    assert np.abs(run.qd[-1]).max() < 1e-9
    assert run.contact_loads["tip"][-1] == pytest.approx([0, 0, 5], abs=1e-6)
    assert np.ptp(run.balance) < 1e-7
