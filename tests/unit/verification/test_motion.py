"""Motions against themselves: right ones hold, also awkward ones, and wrong ones are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.formulations import ConstraintLaws
from chainform.mechanism import ONE, ZERO, difference, number_of
from chainform.readers import read_text
from chainform.simulation import Impact, Problem, Run, Solver, run_batch, simulate
from chainform.simulation.solvers import SOLVERS
from chainform.verification import Check, check_motion, motion
from chainform.verification.motion.motion_comparison import LAWS
from chainform.verification.motion.motion_identities import CLOSURE, ENERGY, LENGTH, RATES

SCENARIOS = Path(__file__).parents[3] / "examples" / "scenarios"
NAMES = sorted(path.stem for path in SCENARIOS.glob("*.toml"))
BATCH = "crane_loads"
LONG = ("biped_step", "stewart")
"""Scenarios that take most of the time and have nothing that others have not."""
WITHOUT_BALANCE = (
    *("driven_arm", "hydraulic_lift", "knife_edge", "pneumatic_slide", "rolling_disc"),
    "stanford_tracking",
)
"""Scenarios of elements and actuators."""
TIGHT, OTHER, EVENTS, STEPS, AGAIN, COLUMNS = (
    LAWS[name] for name in ("tight", "other", "events", "steps", "again", "columns")
)

PENDULUM = """
gravity = [0, 0, -9.81]
[[segments]]
name = "rod"
joint = { name = "swing", type = "revolute", axis = "y", limits = { lower = -0.5, upper = 3 } }
mass = 1
com = [0, 0, -0.5]
inertia = [0.1, 0.1, 0]
"""
DAMPED = PENDULUM.replace('axis = "y",', 'axis = "y", friction = { viscous = 0.1 },')
TOP = """
gravity = [0, 0, -9.81]
[[segments]]
name = "top"
joint = "free"
mass = 1
com = [0, 0, 0.1]
inertia = { xx = 0.02, yy = 0.02, zz = 0.01 }
"""


def verdicts(checks: Sequence[Check]) -> dict[str, bool | None]:
    return {check.law: check.holds for check in checks}


def problem_of(text: str = PENDULUM, **options: Any) -> Problem:
    return Problem.of(read_text(text, "toml"), **options)


def pendulum(**options: Any) -> Problem:
    whole: dict[str, Any] = {"q0": [1.0], "t": 3.0, "rtol": 1e-8, **options}
    return problem_of(**whole)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in (BATCH, *LONG)])
def test_every_scenario_holds(name: str) -> None:
    """The chaotic ones, those with impacts, sticking and loops among them."""
    problem = Problem.of(SCENARIOS / f"{name}.toml")
    checks = list(check_motion(problem))
    found = verdicts(checks)
    unmade = [ENERGY] if name in WITHOUT_BALANCE else []
    assert [law for law, holds in found.items() if holds is not True] == unmade
    assert {TIGHT, OTHER, RATES} <= set(found)
    assert (LENGTH in found) is bool(problem.mechanism.quaternions)
    is_bound = problem.mechanism.loops or any(
        c.kind != "unilateral" for c in problem.mechanism.constraints
    )
    assert (CLOSURE in found) is bool(is_bound)
    if name in ("double_pendulum", "six_axis_swing"):
        since = [check.figure for check in checks if check.law in (TIGHT, OTHER)]
        assert all("not decided after t" in figure for figure in since)


def test_the_figure_says_where_and_when() -> None:
    checks = {check.law: check for check in check_motion(pendulum())}
    tight, other = checks[TIGHT], checks[OTHER]
    assert "of swing at t = " in tight.figure.replace("rate ", "")
    assert tight.compared == "all coordinates and rates, verner65 and verner65 with tolerance 1e-10"
    assert "cvode with tolerance 1e-11" in other.compared
    assert tight.deviation is not None
    assert tight.allowed is not None
    assert 0.0 < tight.deviation < tight.allowed < 1e-5
    assert other.allowed is not None
    assert other.allowed < tight.allowed
    assert tight.states == 201


def test_progress_goes_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    list(check_motion(pendulum(), lambda done, total: seen.append((done, total))))
    counts, totals = zip(*seen, strict=True)
    assert list(counts) == sorted(counts)
    assert (counts[0], counts[-1]) == (0, totals[-1])


@pytest.mark.parametrize(
    ("method", "first"),
    [
        (Solver("dopri853", 1e-10), TIGHT),
        (Solver("cvode", 1e-9), TIGHT),
        (Solver("rk4", step=0.01), STEPS),
        (Solver("semi_implicit", step=0.002), STEPS),
        (Solver("gauss4", step=0.01), STEPS),
    ],
    ids=lambda given: getattr(given, "method", ""),
)
def test_every_family_of_methods_holds(method: Solver, first: str) -> None:
    problem = problem_of(q0=[1.0], t=3.0, method=method)
    found = verdicts(list(check_motion(problem)))
    assert found[first] is True
    assert found[OTHER] is True
    assert False not in found.values()


# --- awkward motions --------------------------------------------------------------------------


def test_a_stop_that_is_just_reached_is_not_decided() -> None:
    """From 0.5 rad at rest the pendulum comes back to -0.5 rad, where its stop is."""
    problem = pendulum(q0=[0.5], stops={"swing": {"restitution": 0.8}})
    checks = {check.law: check for check in check_motion(problem)}
    assert all(check.holds is not False for check in checks.values())
    half = 0.5 * 2 * np.pi * np.sqrt(0.35 / (0.5 * 9.81)) * 1.016
    assert "not decided after t" in checks[TIGHT].figure
    since = float(checks[TIGHT].figure.rpartition("t = ")[2].partition(" s")[0])
    assert since == pytest.approx(half, rel=0.02)


def test_a_free_top_keeps_its_quaternion() -> None:
    start = {"q0": [0, 0, 0, 0.3, 0, 0, 1], "qd0": [0, 0, 1, 0, 1, 30]}
    found = verdicts(list(check_motion(problem_of(TOP, **start, t=1.0))))
    assert found == dict.fromkeys([ENERGY, LENGTH, TIGHT, OTHER, RATES], True)


def test_an_event_that_ends_the_motion_and_one_that_changes_it() -> None:
    def kick(t: float, q: Any, qd: Any) -> tuple[Any, Any]:
        return q, -qd / 2

    events = {"low": {"law": "swing - 0.2", "change": kick}, "over": {"law": "t - 2", "stop": True}}
    found = verdicts(list(check_motion(pendulum(events=events))))
    assert found == {ENERGY: None, TIGHT: True, OTHER: True, EVENTS: True, RATES: True}


def test_forces_with_corners_and_held_ones_hold() -> None:
    pieces = [{"until": 1, "law": "2"}, {"law": "-3*der(swing)"}]
    for options in ({"forces": {"swing": pieces}}, {"forces": {"swing": "-swing"}, "hold": 0.05}):
        found = verdicts(list(check_motion(pendulum(**options))))
        assert False not in found.values()
        assert found[TIGHT] is True


def test_a_jump_within_fixed_steps_is_no_error() -> None:
    """A sign changes now and then, so that steps of half the length may be no better."""
    forces = {"swing": "-0.3*sign(der(swing))"}
    for step in (0.01, 0.003):
        problem = problem_of(q0=[1.0], t=1.0, method=Solver("rk4", step=step), forces=forces)
        assert verdicts(list(check_motion(problem)))[STEPS] is not False


def test_a_motion_at_rest_holds() -> None:
    found = verdicts(list(check_motion(pendulum(q0=[0.0]))))
    assert found[TIGHT] is True
    assert False not in found.values()


def test_a_motion_that_fails_is_told() -> None:
    checks = list(check_motion(pendulum(forces={"swing": "1/(t - 1)^2"})))
    assert [check.holds for check in checks] == [None]
    assert "the motion fails" in checks[0].figure


# --- planted errors -----------------------------------------------------------------------------


def uncontrolled(name: str) -> Any:
    """Return a method whose steps are as long as if the tolerance were 0.01."""
    method = SOLVERS[name]

    def start(machine: Any, settings: Any, *args: Any, **options: Any) -> Any:
        return method.start(machine, replace(settings, rtol=1e-2, atol=1e-2), *args, **options)

    return replace(method, start=start)


@pytest.mark.parametrize("name", ["verner65", "dopri853", "cvode"])
def test_a_method_without_control_of_errors_is_found(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SOLVERS, name, uncontrolled(name))
    checks = list(check_motion(pendulum(method=name)))
    assert verdicts(checks)[OTHER] is False


def test_a_chaotic_motion_without_control_of_errors_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(SOLVERS, "dopri853", uncontrolled("dopri853"))
    problem = Problem.of(SCENARIOS / "double_pendulum.toml")
    assert verdicts(list(check_motion(problem)))[OTHER] is False


def other_model(change: Callable[[cf.Mechanism], cf.Mechanism]) -> Callable[..., cf.Model]:
    """Return what makes the equations of a motion, of another mechanism than that of the motion."""
    from chainform.simulation import problem

    model_of = problem.model_of

    def wrong(mechanism: cf.Mechanism, *args: Any, **options: Any) -> cf.Model:
        return model_of(change(mechanism), *args, **options)

    return wrong


def heavier(mechanism: cf.Mechanism) -> cf.Mechanism:
    (rod,) = mechanism.segments
    (a, b, c), (d, e, f), last = rod.body.inertia
    inertia = ((a, b, c), (d, number_of("0.10001"), f), last)
    del e
    return replace(mechanism, segments=(replace(rod, body=replace(rod.body, inertia=inertia)),))


def upside_down(mechanism: cf.Mechanism) -> cf.Mechanism:
    x, y, z = mechanism.gravity
    return replace(mechanism, gravity=(x, y, difference(ZERO, z)))


@pytest.mark.parametrize("change", [heavier, upside_down])
def test_equations_of_another_mechanism_are_found(
    change: Callable[[cf.Mechanism], cf.Mechanism], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All methods agree on them; energy does not."""
    monkeypatch.setattr("chainform.simulation.problem.model_of", other_model(change))
    found = verdicts(list(check_motion(pendulum())))
    assert found[ENERGY] is False
    assert found[OTHER] is True


def test_a_wrong_rate_of_quaternions_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that turns half as fast as its angular velocity says, far from all forces."""
    rates = ConstraintLaws.coordinate_rates

    def slow(laws: ConstraintLaws) -> Any:
        found = dict(rates(laws))
        quaternion = range(3, 7)
        return {k: found[k] * ONE / 2 if k in quaternion else found[k] for k in found}

    monkeypatch.setattr(ConstraintLaws, "coordinate_rates", slow)
    text = TOP.replace("-9.81", "0").replace("0.1]", "0]")
    start = {"q0": [0, 0, 0, 0.3, 0, 0, 1], "qd0": [0, 0, 0, 0, 1, 3]}
    found = verdicts(list(check_motion(problem_of(text, **start, t=1.25))))
    assert found[RATES] is False
    assert found[OTHER] is True


# --- runs ---------------------------------------------------------------------------------------


def test_a_run_is_checked_by_its_own_numbers() -> None:
    run = pendulum().compile().run()
    found = verdicts(list(check_motion(run)))
    assert found == dict.fromkeys([ENERGY, AGAIN, COLUMNS, TIGHT, OTHER, RATES], True)


@pytest.mark.parametrize(
    ("column", "law"), [("q", TIGHT), ("qd", TIGHT), ("energy_balance", ENERGY), ("t", TIGHT)]
)
def test_a_changed_column_is_found(column: str, law: str, tmp_path: Path) -> None:
    """Also in a run that comes from a file."""
    right = problem_of(DAMPED, q0=[1.0], t=3.0, rtol=1e-8).compile().run()
    values = getattr(right, column).copy()
    values[(100, 0) if values.ndim > 1 else 100] += 1e-4
    wrong = replace(right, **{column: values})
    wrong.save(tmp_path / "run.npz")
    for run in (wrong, Run.load(tmp_path / "run.npz")):
        assert verdicts(list(check_motion(run)))[law] is False


def test_changed_states_and_impulses_of_events_are_found() -> None:
    run = simulate(SCENARIOS / "bouncing_ball.toml", t=1.0)
    (hit,) = (event for event in run.events if isinstance(event, Impact))
    changes = ({"q": hit.q + 0.5}, {"qd_after": hit.qd_after + 1}, {"loss": hit.loss + 1})
    for change in (*changes, {"impulses": dict.fromkeys(hit.impulses, 9.0)}):
        wrong = replace(run, events=(replace(hit, **change), *run.events[1:]))
        check = next(check for check in check_motion(wrong) if check.law == COLUMNS)
        assert check.figure == "DIFFERENT: states at events"


def test_what_a_run_says_of_its_computation_must_be_so() -> None:
    run = problem_of(DAMPED, q0=[1.0], t=1.0).compile().run()
    for wrong in (
        replace(run, method="dopri853"),
        replace(run, about=replace(run.about, settings={**run.about.settings, "rtol": 1e-2})),
        replace(run, about=replace(run.about, values={"m": 2.0})),
        replace(run, about=replace(run.about, without=("springs",))),
    ):
        (check,) = check_motion(wrong)
        assert check.holds is False
        assert check.figure.startswith("it was not computed with the ")


def test_a_linkage_that_was_closed_at_its_start_is_computed_again() -> None:
    """So is one that is drawn back to its loops, and a scenario with options of its own."""
    started: dict[str, Any] = {"q0": {"crank": 0.4}, "t": 0.2}
    linkage = simulate(SCENARIOS.parent / "four_bar.toml", **started)
    drawn = simulate(SCENARIOS.parent / "four_bar.toml", **started, stabilise="baumgarte")
    loose = simulate(SCENARIOS / "pendulum.toml", t=0.5, rtol=1e-6, method="dopri853")
    for run in (linkage, drawn, loose):
        assert False not in verdicts(list(check_motion(run))).values()
        assert verdicts(list(check_motion(run)))[AGAIN] is True
        tau = run.tau + 0.1
        assert verdicts(list(check_motion(replace(run, tau=tau))))[COLUMNS] is False


@pytest.fixture(scope="module")
def linkage(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The motion of a driven four-bar linkage, from a file with an output more."""
    path = tmp_path_factory.mktemp("run") / "linkage.npz"
    run = simulate(SCENARIOS / "four_bar_drive.toml", t=0.5)
    run.save(path, ["velocity(coupler)"])
    return Run.load(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["sigma", "multipliers", "motion_force(crank)", "velocity(coupler)"]
)
def test_a_changed_column_of_a_file_is_found(linkage: Run, name: str) -> None:
    """Forces and outputs are compared as all else; what cannot be computed again is named."""
    column = linkage.computed[name].copy()
    column[len(column) // 2] += 1e-3 * np.abs(column).max()
    changed = {**linkage.computed, name: column, "unknown": linkage.t}
    check = next(
        check for check in check_motion(replace(linkage, computed=changed)) if check.law == COLUMNS
    )
    assert check.holds is False
    assert check.figure == f"DIFFERENT: {name}; not compared: unknown"


@pytest.mark.parametrize("column", [0, 1])
def test_changed_work_and_losses_are_found(column: int) -> None:
    right = problem_of(DAMPED, q0=[1.0], t=3.0, rtol=1e-8).compile().run()
    assert right.energy_balance is not None
    balance = right.energy_balance.copy()
    balance[100:, column] += 1e-4
    checks = check_motion(replace(right, energy_balance=balance))
    check = next(check for check in checks if check.law == COLUMNS)
    assert check.figure == f"DIFFERENT: {('work', 'losses')[column]}"


def test_a_changed_column_of_fixed_steps_is_found() -> None:
    right = problem_of(q0=[1.0], t=3.0, method=Solver("rk4", step=0.01)).compile().run()
    assert False not in verdicts(list(check_motion(right))).values()
    q = right.q.copy()
    q[100] += 1e-4
    assert verdicts(list(check_motion(replace(right, q=q))))[AGAIN] is False


def test_lost_and_moved_events_are_found() -> None:
    """A run of a scenario is computed again by what it says of that."""
    run = simulate(SCENARIOS / "bouncing_ball.toml")
    assert verdicts(list(check_motion(run)))[EVENTS] is True
    first, second, *rest = run.events
    late = replace(second, t=second.t + 1e-3)
    for events in ((first, *rest), (first, late, *rest), (*run.events, run.events[-2])):
        assert verdicts(list(check_motion(replace(run, events=tuple(events)))))[EVENTS] is False


def test_a_run_that_does_not_say_what_drove_it_is_checked_by_its_laws() -> None:
    run = pendulum(forces={"swing": "sin(t)"}).compile().run()
    checks = list(check_motion(run))
    assert verdicts(checks) == {ENERGY: True, COLUMNS: None, TIGHT: None, OTHER: None}
    assert "does not say what drove it" in checks[-1].figure
    wrong = replace(run, q=run.q + 1e-3 * np.sin(run.t)[:, None])
    assert verdicts(list(check_motion(wrong)))[ENERGY] is False


def test_loops_that_are_open_are_found() -> None:
    run = simulate(SCENARIOS / "four_bar.toml")
    q = run.q.copy()
    q[50, 1] += 1e-6
    checks = {check.law: check for check in check_motion(replace(run, q=q))}
    assert checks[CLOSURE].holds is False
    assert f"t = {run.t[50]:.6g} s" in checks[CLOSURE].figure


def test_a_quaternion_that_is_too_long_is_found() -> None:
    start = {"q0": [0, 0, 0, 0.3, 0, 0, 1], "qd0": [0, 0, 0, 0, 1, 3]}
    run = problem_of(TOP, **start, t=0.5).compile().run()
    q = run.q.copy()
    q[20, 3:] *= 1 + 1e-7
    assert verdicts(list(check_motion(replace(run, q=q))))[LENGTH] is False


# --- batches ------------------------------------------------------------------------------------


def test_a_sample_of_many_motions_holds() -> None:
    checks = list(check_motion(Problem.of(SCENARIOS / f"{BATCH}.toml")))
    assert [check.law for check in checks] == [AGAIN, STEPS, OTHER] * 3
    assert all(check.holds for check in checks)
    assert checks[3].compared.endswith("motion 19 of 36")


@pytest.mark.parametrize("controlled", [True, False])
def test_a_motion_of_many_that_is_not_its_own_is_found(
    controlled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver: dict[str, Any] = {"rtol": 1e-8} if controlled else {"method": "rk4", "step": 0.01}
    problem = problem_of(q0=[[0.3], [1.0], [1.5]], t=2.0, t_eval=np.linspace(0, 2, 21), **solver)
    batch = run_batch(problem)
    q = batch.q.copy()
    q[1, 15:] += 1e-5
    monkeypatch.setattr(motion, "run_batch", lambda _: replace(batch, q=q))
    again = [check.holds for check in check_motion(problem) if check.law == AGAIN]
    assert again == [True, False, True]
