"""Motion of closed loops: exact kinematics, closure over long runs, forces of loops, remarks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import chainform as cf
from chainform.analysis import drives
from chainform.errors import RunError
from chainform.simulation import Run, simulate, simulate_batch
from chainform.simulation.equations.assembly import assemble
from chainform.simulation.equations.efforts import Efforts
from chainform.simulation.equations.loop_constraints import ConstraintResiduals
from chainform.simulation.machine.compilation import EquationOptions, machine_of, model_of
from chainform.simulation.machine.failures import UnsolvedError
from chainform.simulation.motion import placed
from chainform.simulation.solvers import SOLVERS
from unit.simulation.linkages import (
    CRANK,
    ROD,
    bennett,
    carried_bar,
    chain_of_four,
    ladder,
    ladder_angle,
    ladder_state,
    parallelogram,
    slider_crank,
)

Array = NDArray[np.float64]


def four_bar() -> cf.Mechanism:
    return cf.read("examples/four_bar.toml")


def largest_gap(run: Run) -> float:
    """Return the largest gap of a loop along a run (m, rad)."""
    gaps = ConstraintResiduals(run.mechanism)
    return max(float(np.max(np.abs(gaps.at(q)))) * gaps.size for q in run.q)


# --- the slider-crank, whose kinematics is known ------------------------------------------------


def slider_place(crank: Any) -> Any:
    return CRANK * np.cos(crank) + np.sqrt(ROD**2 - (CRANK * np.sin(crank)) ** 2)


def energy_of(crank: Any, rate: Any) -> tuple[Any, Any]:
    """Return kinetic energy and potential, from positions as functions of the angle alone."""
    h = 1e-20
    turned = crank + 1j * h

    def places(a: Any) -> list[Any]:
        pin = CRANK * np.exp(0) * np.array([np.cos(a), np.sin(a)])
        end = np.array([slider_place(a), 0 * a])
        return [pin / 2, (pin + end) / 2, end, np.arcsin(-CRANK * np.sin(a) / ROD)]

    first, middle, end, tilt = (np.imag(x) / h for x in places(turned))
    squares = 2 * (first**2).sum(0) + (middle**2).sum(0) + 3 * (end**2).sum(0)
    inertia = squares + 0.015 + 0.05 * tilt**2
    heights = [place[1] for place in places(crank)[:2]]
    return inertia * rate**2 / 2, 9.81 * (2 * heights[0] + heights[1])


def reduced_motion(start: float, rate: float, times: Array) -> Array:
    """Return the crank angle by the equation of one coordinate, M a'' + M' a'^2/2 + V' = 0."""

    def slope(_t: float, y: Array) -> Array:
        h = 1e-5
        M, V = (
            [float(energy_of(np.float64(y[0] + s * h), np.float64(1.0))[k]) for s in (-1, 0, 1)]
            for k in (0, 1)
        )
        change = (M[2] - M[0]) / (2 * h) * y[1] ** 2 + (V[2] - V[0]) / (2 * h)
        return np.array([y[1], -change / (2 * M[1])])

    found = solve_ivp(
        slope, (times[0], times[-1]), [start, rate], "DOP853", times, rtol=1e-10, atol=1e-12
    )
    return np.asarray(found.y[0])


def test_a_slider_crank_keeps_to_its_kinematics_and_moves_as_one_coordinate() -> None:
    times = np.linspace(0, 2, 41)
    start = {"crank": 0.4, "rod": -0.5, "slider": 1.0}
    run = simulate(
        slider_crank(), q0=start, fixed=["crank"], qd0={"crank": 6.0}, t=2.0, t_eval=times
    )
    crank, rate = run.q[:, 0], run.qd[:, 0]
    assert crank[0] == 0.4
    assert rate[0] == pytest.approx(6.0, abs=1e-12)
    assert np.abs(run.q[:, 2] - slider_place(crank)).max() < 1e-12
    tilt = np.arcsin(-CRANK * np.sin(crank) / ROD)
    assert np.abs(crank + run.q[:, 1] - tilt).max() < 1e-12
    speed = np.imag(slider_place(crank + 1j * 1e-20 * rate)) / 1e-20
    assert np.abs(run.qd[:, 2] - speed).max() < 1e-11
    kinetic, potential = energy_of(crank, rate)
    assert np.abs(run.kinetic_energy - kinetic).max() < 1e-11
    assert np.ptp(kinetic + potential) < 1e-6
    assert np.abs(crank - reduced_motion(0.4, 6.0, times)).max() < 1e-6


# --- closure over long runs ---------------------------------------------------------------------


def test_closure_holds_over_ten_thousand_steps() -> None:
    run = simulate(
        four_bar(), q0={"crank": 1.0}, qd0={"crank": 4.0}, t=20.0, step=2e-3, method="rk4"
    )
    assert run.statistics.steps == 10_000
    assert largest_gap(run) < 1e-12
    J = cf.derive(run.mechanism, ["closure_jacobian"]).evaluate(q=run.q)["closure_jacobian"]
    assert np.abs(np.einsum("mij,mj->mi", J, run.qd)).max() < 1e-12
    assert np.ptp(run.energy) < 1e-6


def test_energy_drifts_with_the_tolerance() -> None:
    drifts = [
        np.ptp(simulate(four_bar(), q0={"crank": 1.0}, t=5.0, rtol=rtol).energy)
        for rtol in (1e-7, 1e-10)
    ]
    assert drifts[1] < 2e-2 * drifts[0]
    assert drifts[1] < 1e-7


@pytest.mark.parametrize(
    ("how", "largest"), [("projection", 1e-12), ({"alpha": 50, "beta": 50}, 1e-7), ("none", 1.0)]
)
def test_ways_to_hold_a_loop(how: Any, largest: float) -> None:
    options: dict[str, Any] = {"q0": {"crank": 1.0}, "t": 10.0, "rtol": 1e-7}
    run = simulate(four_bar(), stabilise=how, **options)
    assert largest_gap(run) < largest
    if how == "none":
        assert largest_gap(run) > 1e-6


def test_a_wrong_way_to_hold_a_loop_is_refused() -> None:
    with pytest.raises(RunError, match="no way to hold constraints"):
        simulate(four_bar(), q0={"crank": 1.0}, stabilise="glue")
    with pytest.raises(RunError, match="alpha: the number is negative"):
        simulate(four_bar(), q0={"crank": 1.0}, stabilise={"alpha": -1})


# --- forces of loops ----------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [four_bar, slider_crank, chain_of_four])
def test_forces_of_loops_enter_inverse_dynamics(mechanism: Any) -> None:
    source = mechanism()
    run = simulate(
        source,
        q0={source.coordinates[0]: 1.0},
        qd0={source.coordinates[0]: 3.0},
        t=1.0,
        forces={source.coordinates[0]: "0.7*sin(3*t)"},
    )
    model = cf.derive(source, ["inverse_dynamics"])
    found = model.evaluate(q=run.q, qd=run.qd, qdd=run.qdd, sigma=run.sigma)
    assert np.abs(found["inverse_dynamics"] - run.tau).max() < 1e-9
    assert np.abs(run.tau[:, 0] - 0.7 * np.sin(3 * run.t)).max() < 1e-15
    assert run.sigma.shape == run.multipliers.shape
    assert np.abs(run.sigma).max() > 1


def test_the_force_of_a_loop_is_that_of_a_hanging_weight() -> None:
    """Two strings of a V hold a weight: each takes mg / (2 cos) along itself."""
    builder = cf.Mechanism.builder("V", gravity=(0, "-9.81", 0))
    sizes: dict[str, Any] = {"inertia": [0, 0, "0.001"]}
    builder.segment("left", axis="z", **sizes)
    builder.segment("weight", parent="left", axis="z", position=[0, -1, 0], mass=3, **sizes)
    builder.segment("right", parent="ground", axis="z", position=[1, 0, 0], **sizes)
    builder.loop(
        "knot",
        kind="point",
        closing={"segment": "weight"},
        target={"segment": "right", "point": [0, -1, 0]},
    )
    run = simulate(builder.build(), q0=[0.5236, 0, -0.5236], t=0.01)
    assert run.q[0] == pytest.approx([np.pi / 6, 0, -np.pi / 6], abs=1e-4)
    along = 3 * 9.81 / (2 * np.cos(np.pi / 6))
    pull = along * np.array([np.sin(np.pi / 6), np.cos(np.pi / 6)])
    assert run.sigma[0, :2] == pytest.approx(pull, abs=1e-6)


# --- remarks ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_redundant_equations_are_told() -> None:
    assert simulate(four_bar(), q0={"crank": 1.0}, t=0.1).report == (
        "loop 'linkage': 1 of 3 equations is redundant",
    )
    run = simulate(chain_of_four(), q0={"a": 1.0}, t=0.1)
    assert run.report == ("loop 'whole': 3 of 6 equations are redundant",)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "rate"), [(2, 0.0), (2, 12.0), (3, 0.0), (3, 12.0)])
def test_parallelograms_pass_flat_positions_and_stay_parallelograms(
    count: int, rate: float
) -> None:
    """Every flat position is singular. Errors fall with the tolerance, and the run tells of it."""
    start: dict[str, Any] = {"q0": ladder_state(count, 1.0), "qd0": ladder_state(count, rate)}
    there = ladder_angle(count, 1.0, rate, 10.0)
    for rtol, most in ((1e-5, 0.5), (1e-7, 5e-4), (1e-9, 1e-5), (1e-11, 1e-7), (1e-13, 1e-8)):
        run = simulate(ladder(count), **start, t=10.0, t_eval=[10.0], rtol=rtol)
        np.testing.assert_allclose(run.q[-1], ladder_state(count, there), atol=most)
        assert any(note.startswith("singular position") for note in run.report)
        assert run.statistics.rejected < 0.5 * run.statistics.steps


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6])
def test_parallelograms_begin_flat(angle: float) -> None:
    """The rates tell the branch."""
    start: dict[str, Any] = {"q0": ladder_state(2, angle), "qd0": ladder_state(2, 5.0)}
    run = simulate(ladder(2), **start, t=2.0, t_eval=[2.0], rtol=1e-9)
    there = ladder_angle(2, angle, 5.0, 2.0)
    np.testing.assert_allclose(run.q[-1], ladder_state(2, there), atol=1e-5)


@pytest.mark.slow
def test_an_event_in_a_flat_position_does_not_end_a_motion() -> None:
    events = {"flat": "c0", "over": "c1 + pi"}
    start: dict[str, Any] = {"q0": ladder_state(2, 1.0)}
    run = simulate(ladder(2), **start, t=3.0, t_eval=[3.0], rtol=1e-10, events=events)
    assert len(run.events) > 3
    there = ladder_angle(2, 1.0, 0.0, 3.0)
    np.testing.assert_allclose(run.q[-1], ladder_state(2, there), atol=1e-6)


def test_a_singular_position_at_the_start_is_told() -> None:
    run = simulate(parallelogram(), qd0=[1.0, -1.0, 1.0], t=0.01)
    assert any(note.startswith("singular position: 1 of 2") for note in run.report)


def test_a_singular_position_on_the_way_is_told() -> None:
    start = {"a": 1.0, "b": -1.0, "c": 1.0}
    run = simulate(parallelogram(), q0=start, qd0={"a": -1.0}, t=1.5)
    told = [note for note in run.report if note.startswith("singular position")]
    assert len(told) == 1
    assert float(told[0].split("=")[1].removesuffix(" s")) == pytest.approx(1.0, abs=0.05)
    quiet = simulate(parallelogram(), q0=start, qd0={"a": -1.0}, t=0.5)
    assert not [note for note in quiet.report if note.startswith("singular position")]


@pytest.mark.parametrize("unit", ["1", "1000", "1e-6"])
def test_units_of_laws_make_no_singular_position(unit: str) -> None:
    builder = cf.Mechanism.builder("particle", gravity=(0, 0, -10))
    for name, parent in (("x", "ground"), ("y", "x"), ("z", "y")):
        builder.segment(name, parent=parent, joint="prismatic", axis=name, mass=int(name == "z"))
    builder.segment("w", parent="ground", joint="prismatic", axis="x", mass=1)
    builder.constraint("holonomic", f"{unit}*(x^2 + y^2 + z^2 - 1)")
    builder.constraint("holonomic", "1000*(w - x*y)")
    run = simulate(builder.build(), q0=[0.6, 0, -0.8, 0], qd0=[0, 1, 0, 0.6], t=1)
    assert run.report == ()


@pytest.mark.slow
def test_a_step_that_leaves_a_loop_open_ends_the_motion() -> None:
    """A rocker without crank and coupler of any mass strikes its end: nothing goes on there."""
    builder = cf.Mechanism.builder("rocker", gravity=(0, "-9.81", 0))
    builder.segment("a", axis="z")
    builder.segment("b", parent="a", axis="z", position=["0.3", 0, 0])
    more: dict[str, Any] = {"position": [1, 0, 0], "mass": 1, "com": ["0.35", 0, 0]}
    builder.segment("c", parent="ground", axis="z", **more)
    ends = {"segment": "b", "point": ["0.9", 0, 0]}, {"segment": "c", "point": ["0.7", 0, 0]}
    linkage = builder.loop("pin", "point", *ends).build()
    for method in ("rk4", "heun", "euler", "semi_implicit"):
        with pytest.raises(RunError, match="a step have no solution"):
            simulate(linkage, q0={"a": 1.0}, qd0={"a": 3.0}, t=1, method=method, step=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("step", [None, 0.01])
def test_a_linkage_whose_equations_are_redundant_where_it_is_closed(step: float | None) -> None:
    """In the stages of a step it is not closed, and there more equations are independent."""
    mechanism, constant = bennett()
    second = 2 * np.arctan(constant / np.tan(0.5))
    how: dict[str, Any] = {"rtol": 1e-8} if step is None else {"method": "rk4", "step": step}
    run = simulate(mechanism, q0=[1, second, -1, -second], t=2, **how)
    np.testing.assert_allclose(np.ptp(run.energy), 0, atol=1e-6)
    halves = np.tan(run.q / 2)
    np.testing.assert_allclose(halves[:, 0] * halves[:, 1], constant, rtol=1e-9)
    np.testing.assert_allclose(run.q[:, 2:], -run.q[:, :2], atol=1e-10)
    assert np.ptp(run.q[:, 0]) > 1
    assert run.statistics.rejected <= 2


def test_such_a_linkage_goes_on_from_a_run_as_it_would_have() -> None:
    mechanism, constant = bennett()
    second = 2 * np.arctan(constant / np.tan(0.5))
    how: dict[str, Any] = {"q0": [1, second, -1, -second], "method": "rk4", "step": 0.02}
    half = simulate(mechanism, t=0.5, t_eval=[0.5], **how)
    parts = simulate(mechanism, t=2, t_eval=[0.5, 2], resume=half, **how)
    whole = simulate(mechanism, t=2, t_eval=[0.5, 2], **how)
    np.testing.assert_allclose(parts.q, whole.q, atol=1e-11)


@pytest.mark.parametrize("how", [{}, {"qd0": [0.1, 0]}, {"method": "rk4", "step": 0.01}])
def test_a_law_that_moves_what_loops_hold_is_refused_at_the_start(how: dict[str, Any]) -> None:
    builder = cf.Mechanism.builder("held")
    builder.segment("cart", joint="prismatic", axis="x", mass=1)
    builder.segment("arm", parent="cart", axis="z", mass=1, com=[1, 0, 0])
    builder.loop(
        "pin",
        "point",
        {"segment": "arm", "point": [1, 0, 0]},
        {"segment": "ground", "point": [1, 0, 0]},
    )
    builder.constraint("holonomic", "cart - 0.1*t", name="drive")
    with pytest.raises(RunError, match=r"no rates keep (loop|constraint) '(pin|drive)' closed"):
        simulate(builder.build(), t=1, **how)


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-10])
def test_a_loop_that_is_carried_is_as_exact_as_asked_at_all_times(rtol: float) -> None:
    """What carries both ends of a loop does not move it, also where it is not quite closed."""
    start: dict[str, Any] = {
        "q0": [-1.1, 0.8, -0.9, *(0, 0, 0, 1), *(0, 0, 0, 1)],
        "qd0": [0.6, -1.2, 0.1, *(2, 0, 4), *(-2, 0, -4)],
        "t": 0.5,
        "t_eval": np.linspace(0, 0.5, 33),
    }
    run = simulate(carried_bar(), **start, rtol=rtol)
    exact = simulate(carried_bar(), **start, method="rk4", step=1e-4)
    np.testing.assert_allclose(run.q, exact.q, atol=rtol)
    assert run.statistics.rejected <= 2


@pytest.mark.slow
def test_work_of_a_motion_that_constraints_dictate_is_as_exact_as_asked() -> None:
    mechanism = slider_crank("crank - 0.5 - 0.4*sin(100*t)")
    start: dict[str, Any] = {
        "q0": {"crank": 0.5},
        "qd0": {"crank": 40},
        "fixed": ["crank"],
        "t": 0.1,
    }
    for rtol in (1e-6, 1e-8, 1e-10):
        run = simulate(mechanism, **start, rtol=rtol)
        assert np.ptp(run.work) > 100
        assert np.ptp(run.balance) < 1000 * rtol * np.ptp(run.work), rtol


def inside(has_loop: bool) -> cf.Mechanism:
    """A free body of two segments, and a loop whose ends both stand on it."""
    builder = cf.Mechanism.builder("body", gravity=(0, 0, "-9.81"))
    more: dict[str, Any] = {"mass": 1, "com": [0, "-0.2", "0.3"], "inertia": [1, 2, 2]}
    builder.segment("a", joint="free", rpy=["0.24", 0, "-0.51"], **more)
    place: dict[str, Any] = {"position": [0, "0.21", "0.51"], "rpy": [0, 0, "1.32"]}
    builder.segment("b", parent="a", joint="fixed", **place, **more)
    turn = np.array([[np.cos(1.32), -np.sin(1.32), 0], [np.sin(1.32), np.cos(1.32), 0], [0, 0, 1]])
    point = np.array([0.26, -0.31, 0.1])
    target = {"segment": "a", "point": [*(np.array([0, 0.21, 0.51]) + turn @ point)]}
    if has_loop:
        closing = {"segment": "b", "point": [*point]}
        builder.loop("inside", "frame", closing, {**target, "rotation": turn.tolist()})
    return builder.build()


@pytest.mark.slow
def test_a_loop_inside_a_body_binds_nothing() -> None:
    """Columns of joints that carry both ends are zero, not rounding errors."""
    q0 = np.array([-0.3, 0.4, -1.1, -0.2, 0.6, -0.6, np.sqrt(0.24)])
    qd0 = [-1.2, 0.2, -1.5, -4.7, -3.6, -4.2]
    free, bound = (
        simulate(inside(has_loop), q0=q0, qd0=qd0, t=0.3, t_eval=[0.1, 0.3], rtol=1e-7)
        for has_loop in (False, True)
    )
    assert np.abs(bound.q - free.q).max() < 1e-9
    assert np.abs(bound.multipliers).max() == 0
    needed = drives(inside(True), q0, qd0, np.ones(6), inside(True).rates)
    open_chain = cf.derive(inside(False), ["inverse_dynamics"], reduce="none")
    tau = open_chain.evaluate(q=q0, qd=qd0, qdd=np.ones(6))["inverse_dynamics"]
    assert np.abs(needed.tau - tau).max() < 1e-10


@pytest.mark.slow
def test_a_constraint_of_rates_moves_no_coordinates() -> None:
    """Steps end with rates on it; x' (sin r + 0.3) = r' cos r keeps e^x = 1 + sin(r)/0.3."""
    builder = cf.Mechanism.builder("blade", gravity=("9.81", 0, 0))
    joint: dict[str, Any] = {"type": "cylindrical", "axis": [1, 0, 0], "name": "j"}
    builder.segment("blade", joint=joint, mass=2, inertia=["0.1", "0.1", "0.1"])
    builder.constraint("nonholonomic", "der(j_t)*(sin(j_r) + 0.3) - der(j_r)*cos(j_r)")
    blade = builder.build()
    for method, step, error in (
        ("verner65", None, 1e-8),
        ("heun", 5e-4, 1e-5),
        ("euler", 2e-4, 2e-3),
        ("semi_implicit", 2e-4, 2e-3),
    ):
        run = simulate(blade, t=0.25, method=method, step=step)
        (x, r), (xd, rd) = run.q.T, run.qd.T
        assert np.abs(np.exp(x) - 1 - np.sin(r) / 0.3).max() < error
        assert np.abs(xd * (np.sin(r) + 0.3) - rd * np.cos(r)).max() < 1e-12
        assert run.qd[-1, 0] > 2


@pytest.mark.slow
def test_what_cannot_stay_is_moved_and_told() -> None:
    run = simulate(four_bar(), q0={"crank": 0.0, "coupler": 0.1}, t=0.01)
    assert run.report[0] == "crank, coupler: moved at the start, to close the loops"
    with pytest.raises(RunError, match="cannot be assembled"):
        simulate(four_bar(), q0={"crank": 0.0, "coupler": 0.1}, fixed=["crank", "coupler"])
    run = simulate(four_bar(), q0={"crank": 1.0}, qd0={"crank": 1.0, "rocker": 5.0}, t=0.01)
    assert "crank, rocker: rates changed at the start, to keep loops closed" in run.report


def test_an_array_begins_the_motion_that_a_table_begins() -> None:
    linkage = four_bar()
    q0, rates = assemble(linkage, {"crank": 0.8}, fixed=["crank"]), [3.0, 0.0, 0.0]
    table = dict(zip(linkage.rates, rates, strict=True))
    options: dict[str, Any] = {"q0": q0, "t": 0.1}
    runs = [simulate(linkage, qd0=qd0, **options) for qd0 in (rates, table)]
    assert np.array_equal(runs[0].qd, runs[1].qd)
    names = ", ".join(linkage.rates)
    for run in runs:
        assert f"{names}: rates changed at the start, to keep loops closed" in run.report
    batch = simulate_batch(linkage, qd0=[rates], t_eval=[0.1], **options)
    assert np.allclose(batch.qd[0, -1], runs[0].qd[-1], rtol=0, atol=1e-12)
    moved = simulate(linkage, q0=q0 + 0.1, t=0.1)
    assert f"{names}: moved at the start, to close the loops" in moved.report
    assert not any("at the start" in note for note in simulate(linkage, q0=q0, t=0.1).report)


def test_rates_against_a_blade_are_corrected_and_noted() -> None:
    skate = cf.read("examples/knife_edge.toml")
    run = simulate(skate, qd0=[1.0, 1.0, 1.0], t=0.1)
    assert np.allclose(run.qd[0], [1, 0, 1], rtol=0, atol=1e-12)
    assert run.report == ("y: rates changed at the start, to keep loops closed",)


def test_a_state_that_cannot_be_closed_is_no_state() -> None:
    """The slider is drawn farther than crank and rod reach: what the loop returns is read."""
    crank = slider_crank("slider - 1 - t")
    model = model_of(crank, (), SOLVERS["verner65"], (), reduce="none")
    machine = machine_of(crank, model, EquationOptions(Efforts(), SOLVERS["verner65"]))
    y, p = np.zeros(machine.equations.size), machine.layout.fresh()
    y[:3] = 0.3, -0.5, 1.0
    closed = machine.settled(0.0, y, p)
    assert slider_place(closed[0]) == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(UnsolvedError, match="no solution at t = 2"):
        machine.settled(2.0, y, p)
    assert placed(machine, 2.0, y, p) is None
    assert placed(machine, 0.0, y, p) is not None
