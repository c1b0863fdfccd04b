"""All methods of integration: their order, events and output at given times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chainform.errors import RunError
from chainform.simulation import Run, simulate
from chainform.simulation.machine.method import CONTROLLED, FIXED
from chainform.simulation.solvers import SOLVERS, Solver, settings_of
from unit.simulation.small_machines import BLOCK, machine
from unit.simulation.swings import example, rods, spinning_top

STEPS = {name: solver.steps for name, solver in SOLVERS.items()}
WITH_FIXED_STEPS = [name for name, steps in STEPS.items() if FIXED in steps]
KINDS = ["verner65", "semi_implicit", "gauss4", "cvode", "ida"]
"""One of each kind: the others differ from these in numbers only."""
WITH_CONTROL = [name for name, steps in STEPS.items() if CONTROLLED in steps]
START: dict[str, Any] = {"q0": [0.6, -0.4], "qd0": [0.5, 0.2]}
REFERENCE = Path(__file__).parents[2] / "data" / "reference"


def run_of(method: str, end: float = 1.0, **options: Any) -> Run:
    return simulate(rods(2), t=end, method=method, **START, **options)


def precise(end: float = 1.0, **options: Any) -> Run:
    return run_of("dopri853", end, rtol=1e-13, **options)


def how(method: str, step: float = 1e-3) -> dict[str, Any]:
    """Return options under which any method computes a second well."""
    return {"rtol": 1e-9} if CONTROLLED in STEPS[method] else {"step": step}


# --- accuracy ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", WITH_FIXED_STEPS)
def test_order_of_convergence(method: str) -> None:
    order = SOLVERS[method].order
    # So short that the order shows, and so long that the error is far above rounding.
    step = {1: 1 / 640, 2: 1 / 320, 4: 1 / 160, 6: 1 / 80, 8: 1 / 32}[order]
    times = np.linspace(0, 1, 11)
    exact = precise(t_eval=times).qd
    found = [run_of(method, step=h, t_eval=times).qd for h in (step, step / 2)]
    coarse, fine = (float(np.abs(qd - exact).max()) for qd in found)
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.5)


@pytest.mark.parametrize("method", WITH_CONTROL)
def test_errors_fall_with_the_tolerance(method: str) -> None:
    exact = precise(2.0, t_eval=[2.0]).q[-1]
    tolerances = [1e-4, 1e-6, 1e-8]
    found = [run_of(method, 2.0, rtol=rtol, t_eval=[2.0]).q[-1] for rtol in tolerances]
    errors = [float(np.abs(q - exact).max()) for q in found]
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    # Methods with several steps take others after each change of the last digit, and their errors
    # change threefold: 0.1 of the slope. A tolerance that does not count gives 0.
    assert 0.5 < slope < 1.5
    assert errors[-1] < 1e-5


# --- output and events ------------------------------------------------------------------------


@pytest.mark.parametrize("method", SOLVERS)
def test_output_at_the_times_that_are_asked_for(method: str) -> None:
    times = [0.0, 0.0123456, 0.1, 1 / 3, 0.9999999, 1.0]
    run = run_of(method, t_eval=times, **how(method))
    assert run.t.tolist() == times
    assert run.q[0].tolist() == START["q0"]
    expected = precise(t_eval=times)
    close = 2e-2 if SOLVERS[method].order == 1 else 1e-5
    np.testing.assert_allclose(run.q, expected.q, atol=close)
    alone = run_of(method, 1 / 3, t_eval=[1 / 3], **how(method))
    np.testing.assert_allclose(run.q[3], alone.q[0], atol=1e-6)


@pytest.mark.parametrize("method", SOLVERS)
def test_output_does_not_change_the_motion(method: str) -> None:
    few = run_of(method, t_eval=[1.0], **how(method))
    many = run_of(method, t_eval=np.linspace(0, 1, 37), **how(method))
    np.testing.assert_allclose(many.q[-1], few.q[-1], atol=1e-14)


@pytest.mark.parametrize("method", SOLVERS)
def test_events_are_located(method: str) -> None:
    events = {
        "below": {"law": "rod1 - 0.3", "direction": "falling"},
        "never": {"law": "rod1 - 0.3", "direction": "rising"},
        "fast": {"law": "der(rod2) + 2", "stop": True},
    }
    run = run_of(method, events=events, **how(method))
    expected = precise(events=events)
    assert [event.name for event in run.events] == ["below", "fast"]
    close = 2e-2 if SOLVERS[method].order == 1 else 1e-5
    for found, exact in zip(run.events, expected.events, strict=True):
        assert found.t == pytest.approx(exact.t, abs=close)
    assert run.events[0].q[0] == pytest.approx(0.3, abs=1e-9)
    assert run.events[1].qd[1] == pytest.approx(-2, abs=1e-9)
    assert run.t[-1] <= run.events[1].t


@pytest.mark.parametrize("method", KINDS)
def test_a_changed_state_is_where_the_motion_goes_on(method: str) -> None:
    def rebound(_t: float, q: Any, qd: Any) -> tuple[Any, Any]:
        return q, -qd

    events = {"wall": {"law": "rod1 - 0.3", "direction": "falling", "change": rebound}}
    run = run_of(method, events=events, t_eval=np.linspace(0, 1, 51), **how(method))
    assert len(run.events) >= 1
    assert run.q[:, 0].min() > 0.3 - 1e-3
    exact = precise(events=events, t_eval=[1.0]).q[-1]
    np.testing.assert_allclose(run.q[-1], exact, atol=0.1 if SOLVERS[method].order == 1 else 1e-4)


@pytest.mark.parametrize("method", KINDS)
def test_forces_that_jump_or_are_held(method: str) -> None:
    jump: Any = {"rod1": [{"until": 0.2, "law": 5}, {"law": "-5*rod1"}]}
    held = {"rod1": "-5*rod1 - der(rod1)"}
    given: list[tuple[Any, dict[str, Any]]] = [(jump, {}), (held, {"hold": 0.05})]
    for forces, options in given:
        found = run_of(method, 0.5, forces=forces, t_eval=[0.5], **options, **how(method))
        exact = precise(0.5, forces=forces, t_eval=[0.5], **options)
        close = 2e-2 if SOLVERS[method].order == 1 else 1e-5
        np.testing.assert_allclose(found.q, exact.q, atol=close)


@pytest.mark.parametrize("method", KINDS)
def test_functions_of_python(method: str) -> None:
    def spring(t: float, q: Any, qd: Any) -> Any:
        return np.array([np.sin(9 * t) - 3 * q[0], -0.1 * qd[1]])

    found = run_of(method, 0.1, forces=spring, t_eval=[0.1], **how(method))
    laws = {"rod1": "sin(9*t) - 3*rod1", "rod2": "-0.1*der(rod2)"}
    same = run_of(method, 0.1, forces=laws, t_eval=[0.1], **how(method))
    np.testing.assert_allclose(found.q, same.q, atol=1e-12)


@pytest.mark.parametrize("method", KINDS)
def test_faults_of_python_end_the_motion(method: str) -> None:
    def broken(t: float, _q: Any, _qd: Any) -> Any:
        if t > 0.05:
            raise ZeroDivisionError("no force")
        return np.zeros(2)

    with pytest.raises(ZeroDivisionError, match="no force"):
        run_of(method, forces=broken, **how(method))


@pytest.mark.parametrize("method", [kind for kind in KINDS if kind != "gauss4"])
def test_quaternions_keep_their_length(method: str) -> None:
    start: dict[str, Any] = {"q0": [0.1, 0, 0, 1], "qd0": [0, 0.5, 30]}
    run = simulate(spinning_top(), t=0.3, method=method, **start, **how(method, 1e-4))
    np.testing.assert_allclose(np.linalg.norm(run.q, axis=1), 1, atol=1e-12)
    exact = simulate(spinning_top(), t=0.3, method="dopri853", rtol=1e-12, **start)
    close = 2e-2 if SOLVERS[method].order == 1 else 1e-4
    np.testing.assert_allclose(run.q[-1], exact.q[-1], atol=close)


# --- methods of their own kind ----------------------------------------------------------------


@pytest.mark.parametrize("method", ["midpoint", "gauss4", "gauss6"])
def test_symplectic_methods_do_not_drift(method: str) -> None:
    """The energy wavers about its mean, and the mean stays, over a hundred thousand steps."""
    step, steps = 4e-3, 100_000
    end = step * steps
    times = np.linspace(0, end, 2001)
    run = simulate(rods(2), q0=[2.0, 2.5], t=end, t_eval=times, method=method, step=step)
    assert run.statistics.steps == steps
    errors = (run.energy - run.energy[0]) / run.kinetic_energy.max()
    early, late = errors[:500], errors[-500:]
    bound = {"midpoint": 3e-3, "gauss4": 2e-6, "gauss6": 1e-8}[method]
    assert np.abs(errors).max() < bound
    assert abs(late.mean() - early.mean()) < 0.1 * bound
    assert np.abs(late).max() < 5 * np.abs(early).max()


def test_other_methods_drift() -> None:
    times = np.linspace(0, 400, 2001)
    run = simulate(rods(2), q0=[2.0, 2.5], t=400, t_eval=times, method="rk4", step=4e-3)
    errors = np.abs(run.energy - run.energy[0])
    assert errors[-500:].mean() > 3 * errors[:500].mean()


@pytest.mark.parametrize("method", ["cvode", "ida"])
def test_stiff_motions_take_few_evaluations(method: str) -> None:
    stiff: dict[str, Any] = {"t": 2.0, "q0": [1.0], "t_eval": [0.5, 2.0], "rtol": 1e-6}
    exact = simulate(rods(1, damping=5000), method="verner65", **stiff)
    found = simulate(rods(1, damping=5000), method=method, **stiff)
    np.testing.assert_allclose(found.q, exact.q, atol=1e-5)
    assert found.statistics.evaluations < 0.01 * exact.statistics.evaluations


@pytest.mark.slow
def test_ida_holds_closed_loops() -> None:
    """The squeezer of Andrews, whose loops close at every time that is put out."""
    data = json.loads((REFERENCE / "andrews_squeezer.json").read_text())
    machine = example("squeezer")
    given: dict[str, Any] = {"q0": data["initial"]["q"], "t": 0.03, "t_eval": [0.01, 0.03]}
    run = simulate(machine, method="ida", forces={"beta": 0.033}, rtol=1e-9, **given)
    exact = simulate(machine, method="dopri853", forces={"beta": 0.033}, rtol=1e-11, **given)
    np.testing.assert_allclose(run.q, exact.q, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "knife_edge"])
def test_ida_takes_redundant_rows_and_constraints_of_rates(name: str) -> None:
    starts: Any = {"four_bar": {"q0": [1.0, 0.5, 1.5]}, "knife_edge": {"qd0": {"phi": 1.0}}}
    given: dict[str, Any] = {"t": 1.0, "t_eval": [0.5, 1.0], **starts[name]}
    run = simulate(example(name), method="ida", rtol=1e-9, **given)
    exact = simulate(example(name), method="dopri853", rtol=1e-12, **given)
    np.testing.assert_allclose(run.q, exact.q, atol=1e-5)


# --- what is refused --------------------------------------------------------------------------


def test_what_a_method_cannot_do_is_said() -> None:
    with pytest.raises(RunError, match="not a method"):
        settings_of(Solver("leapfrog"))
    with pytest.raises(RunError, match="no step control"):
        settings_of(Solver("gauss4"))
    with pytest.raises(RunError, match="chooses its steps itself"):
        settings_of(Solver("cvode", step=0.01))
    with pytest.raises(RunError, match="quaternions"):
        simulate(spinning_top(), method="gauss4", step=0.01)
    with pytest.raises(RunError, match="closed loops"):
        simulate(example("four_bar"), method="gauss4", step=0.01, q0=[1.0, 0.5, 1.5])
    with pytest.raises(RunError, match="closed loops"):
        simulate(example("four_bar"), method="cvode", q0=[1.0, 0.5, 1.5])


@pytest.mark.parametrize("method", ["cvode", "ida"])
def test_controlled_steps_without_sticking_refuse_coulomb_friction(method: str) -> None:
    """The block would come to rest after 2/3 s, and its steps to an end."""
    given: dict[str, Any] = {"qd0": [1.0], "t": 1.0, "t_eval": [1.0]}
    with pytest.raises(RunError, match="slide has Coulomb friction") as raised:
        simulate(machine(BLOCK), method=method, **given)
    assert raised.value.element == "method"
    assert "without=['friction']" in str(raised.value)
    free = simulate(machine(BLOCK), method=method, without=["friction"], **given)
    assert free.q[-1, 0] == pytest.approx(1.0)


def test_symplectic_methods_take_the_sign_as_it_is() -> None:
    """They follow the block with 1 m/s and -1.5 m/s^2 as long as it slides."""
    given: dict[str, Any] = {"qd0": [1.0], "method": "midpoint", "step": 1e-3}
    run = simulate(machine(BLOCK), t=0.6, **given)
    assert run.q[-1, 0] == pytest.approx(0.6 - 0.75 * 0.6**2)
    with pytest.raises(RunError, match=r"no solution at t = 0\.66") as raised:
        simulate(machine(BLOCK), t=1.0, **given)
    assert "Coulomb friction" in str(raised.value.remedy)


def test_steps_that_cannot_be_solved_are_reported() -> None:
    with pytest.raises(RunError, match="no solution"):
        simulate(rods(2), q0=[2.0, 2.5], qd0=[50.0, -90.0], t=10, method="gauss4", step=0.5)
    stiff: dict[str, Any] = {"q0": [0.1, 0.1], "forces": {"rod2": "-1e6*rod2"}, "step": 1e-2}
    with pytest.raises(RunError, match="no solution") as raised:
        simulate(rods(2), method="gauss4", **stiff)
    assert "a shorter step" in str(raised.value.remedy)


def test_motions_without_finite_values_are_reported() -> None:
    with pytest.raises(RunError, match="no finite value"):
        simulate(rods(1), forces={"rod1": "exp(50*rod1^2)"}, q0=[1], t=9, method="rk4", step=0.01)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str, *_: object) -> object:
        raise ImportError(name)

    monkeypatch.setattr("chainform.simulation.solvers.sundials.import_module", absent)
    with pytest.raises(RunError, match="scikit-sundae") as raised:
        run_of("cvode")
    assert "chainform[stiff]" in str(raised.value)
