"""Many motions at once are those that each would be alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from chainform.errors import Error, RunError
from chainform.simulation import simulate, simulate_batch
from chainform.simulation.solvers import SOLVERS
from chainform.simulation.solvers.batch_loop import aligned
from unit.simulation.swings import example, rods, spinning_top

IN_LANES = [name for name, solver in SOLVERS.items() if solver.in_lanes]
TIMES = [0.0, 0.0123, 0.1, 0.25]


def states(count: int, size: int = 2, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (count, size))


@pytest.mark.parametrize("method", IN_LANES)
def test_lanes_do_what_single_motions_do(method: str) -> None:
    q0, qd0 = states(11), states(11, seed=1)
    how: dict[str, Any] = {"t": 0.25, "t_eval": TIMES, "method": method, "step": 1e-3}
    batch = simulate_batch(rods(2), q0=q0, qd0=qd0, **how)
    assert batch.q.shape == (11, 4, 2)
    assert not batch.failed.any()
    assert (batch.ends == 0.25).all()
    for i in (0, 7, 8, 10):
        alone = simulate(rods(2), q0=q0[i], qd0=qd0[i], **how)
        np.testing.assert_allclose(batch.q[i], alone.q, rtol=0, atol=1e-13)
        np.testing.assert_allclose(batch.qd[i], alone.qd, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        {"method": "verner65", "rtol": 1e-8},
        {"method": "dopri853", "rtol": 1e-8},
        {"method": "gauss4", "step": 1e-2},
    ],
    ids=lambda how: how["method"],
)
def test_motions_with_steps_of_their_own(how: dict[str, Any]) -> None:
    q0 = states(20)
    batch = simulate_batch(rods(2), q0=q0, t=0.25, t_eval=TIMES, threads=2, **how)
    for i in (0, 13, 19):
        alone = simulate(rods(2), q0=q0[i], t=0.25, t_eval=TIMES, **how)
        np.testing.assert_array_equal(batch.q[i], alone.q)


def test_only_the_end_is_put_out_unless_asked() -> None:
    batch = simulate_batch(rods(2), q0=states(3), t=(1.0, 1.5), method="rk4", step=1e-2)
    assert batch.t.tolist() == [1.5]
    assert batch.q.shape == (3, 1, 2)
    assert len(batch) == 3


def test_the_number_of_threads_changes_nothing() -> None:
    q0 = states(300)
    one, two = (
        simulate_batch(rods(2), q0=q0, t=0.1, method="rk4", step=1e-3, threads=threads)
        for threads in (1, 2)
    )
    np.testing.assert_array_equal(one.q, two.q)


@pytest.mark.parametrize("how", [{"step": 1e-3, "method": "rk4"}, {"rtol": 1e-10}])
def test_parameters_differ_from_motion_to_motion(how: dict[str, Any]) -> None:
    masses = np.linspace(0.5, 3.0, 10)
    batch = simulate_batch(
        rods(2), q0=[0.5, 1.0], values={"m_2": masses}, t=0.3, t_eval=[0.0, 0.3], **how
    )
    assert batch.q.shape == (10, 2, 2)
    np.testing.assert_allclose(batch.energy[:, 1], batch.energy[:, 0], atol=1e-8)
    alone = simulate_batch(rods(2), q0=[0.5, 1.0], t=0.3, **how)
    own = simulate_batch(rods(2), q0=[0.5, 1.0], values={"m_2": 1.0}, t=0.3, **how)
    np.testing.assert_allclose(own.q, alone.q, atol=1e-12)
    assert np.ptp(batch.q[:, 1, 1]) > 1e-2


def test_forces_that_jump_and_forces_that_are_held() -> None:
    jump: Any = {"rod1": [{"until": 0.0505, "law": 5}, {"law": "-5*rod1"}]}
    held: Any = {"rod1": "-5*rod1 + sin(t)"}
    given: list[tuple[Any, dict[str, Any]]] = [(jump, {}), (held, {"hold": 0.02})]
    for forces, more in given:
        how: dict[str, Any] = {"forces": forces, "t": 0.1, "method": "rk4", "step": 1e-3, **more}
        q0 = states(9)
        batch = simulate_batch(rods(2), q0=q0, **how)
        alone = simulate(rods(2), q0=q0[4], t_eval=[0.1], **how)
        np.testing.assert_allclose(batch.q[4], alone.q, atol=1e-13)


def test_quaternions_keep_their_length() -> None:
    q0 = np.random.default_rng(1).normal(size=(9, 4))
    how: dict[str, Any] = {"t": 0.2, "method": "semi_implicit", "step": 1e-3, "qd0": [1, 2, 9]}
    batch = simulate_batch(spinning_top(), q0=q0, **how)
    np.testing.assert_allclose(np.linalg.norm(batch.q, axis=-1), 1, atol=1e-14)
    alone = simulate(spinning_top(), q0=q0[5], t_eval=[0.2], **how)
    np.testing.assert_allclose(batch.q[5], alone.q, atol=1e-13)


@pytest.mark.slow
def test_closed_loops() -> None:
    q0 = [[1.0, 0.5, 1.5], [0.7, 0.6, 1.6]]
    batch = simulate_batch(example("four_bar"), q0=q0, t=0.2, rtol=1e-9)
    alone = simulate(example("four_bar"), q0=q0[1], t=0.2, t_eval=[0.2], rtol=1e-9)
    np.testing.assert_array_equal(batch.q[1], alone.q)


def test_events_end_motions() -> None:
    events = {"low": {"law": "rod1", "stop": True}}
    q0 = [[0.2, 0.0], [1.0, 0.0], [3.0, 0.0]]
    batch = simulate_batch(rods(2), q0=q0, t=0.9, t_eval=[0.1, 0.9], events=events)
    assert batch.events.tolist() == [0, 0, -1]
    assert batch.ends[2] == 0.9
    alone = simulate(rods(2), q0=q0[1], t=0.9, events=events)
    assert batch.ends[1] == alone.events[0].t
    assert np.isnan(batch.q[1, 1]).all()
    assert not batch.failed.any()


def test_a_motion_that_fails_leaves_the_others_alone() -> None:
    laws = {"rod1": "exp(50*rod1^2)"}
    q0 = [[0.0, 0.0], [1.2, 0.0], [0.1, 0.0]]
    ways: list[dict[str, Any]] = [{"step": 1e-2, "method": "rk4"}, {"rtol": 1e-6}]
    for how in ways:
        batch = simulate_batch(rods(2), q0=q0, t=0.2, forces=laws, **how)
        assert batch.failed.tolist() == [False, True, False]
        assert np.isfinite(batch.q[[0, 2]]).all()


def test_functions_of_python() -> None:
    def push(t: float, q: Any, qd: Any) -> Any:
        return np.array([np.sin(t), -qd[1]])

    how: dict[str, Any] = {"t": 0.1, "forces": push, "method": "rk4", "step": 1e-2}
    batch = simulate_batch(rods(2), q0=states(3), **how)
    alone = simulate(rods(2), q0=states(3)[2], t_eval=[0.1], **how)
    np.testing.assert_array_equal(batch.q[2], alone.q)

    def broken(_t: float, _q: Any, _qd: Any) -> Any:
        raise ZeroDivisionError("no force")

    how["forces"] = broken
    with pytest.raises(ZeroDivisionError):
        simulate_batch(rods(2), q0=states(3), **how)


def test_tables_by_names() -> None:
    angles = np.linspace(0, 1, 5)
    batch = simulate_batch(rods(2), q0={"rod2": angles}, qd0={"rod1": 0.5}, t=0.1)
    same = simulate_batch(rods(2), q0=np.column_stack([0 * angles, angles]), qd0=[0.5, 0.0], t=0.1)
    np.testing.assert_array_equal(batch.q, same.q)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"q0": np.zeros((3, 2)), "qd0": np.zeros((4, 2))}, "3 and 4 motions"),
        ({"q0": np.zeros((3, 3))}, "must be"),
        ({"q0": np.zeros((3, 2)), "values": {"m_2": "heavy"}}, "not an array of real numbers"),
        ({"q0": [[np.nan, 0]]}, "not finite"),
        ({"q0": [0, 1, float("inf")]}, "not finite"),
        ({"q0": {"rod1": [0, 1], "rod2": [0, 1, 2]}}, "2 and 3 motions"),
        ({"q0": {"rod1": [[0, 1]]}}, "one for each motion"),
        ({"q0": np.zeros((0, 2))}, "there are no motions"),
        ({"values": {"m_2": []}}, "there are no motions"),
        ({"values": {"m_2": [1, 2]}, "q0": np.zeros((0, 2))}, "0 and 2 motions"),
        ({"values": [1, 2]}, "table by names"),
        ({"values": {"m_2": [1, np.nan]}}, "not finite"),
        ({"values": {"m_22": [1, 2]}}, "no parameter 'm_22'"),
        ({"q0": {"rod3": [1, 2]}}, "no coordinate named 'rod3'"),
        ({"x0": {"current": [1, 2]}}, "there is no state 'current'"),
        ({"x0": [[1.0], [2.0]]}, "must be"),
        ({"threads": 0}, "whole number from 1 on"),
        ({"method": "rk45"}, "is not a method"),
        ({"method": "gauss4", "step": 0.1, "stops": {"rod1": {"lower": 0}}}, "does not take stops"),
        ({"forces": {"rod3": "1"}}, "rod3"),
    ],
)
def test_what_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(Error, match=words):
        simulate_batch(rods(2), **given)


def test_the_first_number_that_is_none_is_named() -> None:
    with pytest.raises(RunError) as caught:
        simulate_batch(rods(2), q0=[[0, 0], [0, 1], [0, np.nan]])
    assert caught.value.element == "q0"
    assert caught.value.remedy == "give finite numbers; the first is number 3"


def test_quaternions_that_are_none() -> None:
    with pytest.raises(RunError, match="the quaternion of top is zero") as caught:
        simulate_batch(spinning_top(), q0=[[0, 0, 0, 1], [0, 0, 0, 0]])
    assert "motion 2" in (caught.value.remedy or "")


def test_a_single_motion_names_the_way_to_many() -> None:
    wrongs: list[dict[str, Any]] = [{"q0": np.zeros((3, 2))}, {"q0": {"rod1": [0, 1]}}]
    wrongs += [{"values": {"m_2": [1, 2]}}]
    for wrong in wrongs:
        with pytest.raises(RunError) as caught:
            simulate(rods(2), **wrong)
        assert "chainform.simulation.simulate_batch" in (caught.value.remedy or "")


def test_one_motion_is_a_batch_too() -> None:
    batch = simulate_batch(rods(2), q0=[0.3, 0.1], t=0.1)
    assert batch.q.shape == (1, 1, 2)
    assert batch.endings == ("end",)
    assert simulate_batch(rods(2), q0=[[0.3, 0.1]], t=0.1).q == pytest.approx(batch.q, abs=0)


def test_steps_are_those_of_the_motions() -> None:
    """Also in lanes, of which the last may have nothing to do."""
    batch = simulate_batch(rods(2), q0=states(3), t=0.1, method="rk4", step=1e-2)
    assert batch.statistics.steps == 30


def test_loops_that_pause_go_on_as_if_they_had_not(monkeypatch: pytest.MonkeyPatch) -> None:
    ways: list[dict[str, Any]] = [{"method": "rk4", "step": 1e-2}, {"rtol": 1e-9}]
    ways += [{"rtol": 1e-9, "events": {"low": {"law": "rod1", "stop": True}}}]
    for how in ways:
        whole = simulate_batch(rods(2), q0=states(9), t=0.5, t_eval=[0.1, 0.5], **how)
        with monkeypatch.context() as patch:
            patch.setattr("chainform.simulation.solvers.batch_loop.LIMIT", 3)
            paused = simulate_batch(rods(2), q0=states(9), t=0.5, t_eval=[0.1, 0.5], **how)
        np.testing.assert_array_equal(paused.q, whole.q)
        np.testing.assert_array_equal(paused.ends, whole.ends)
        assert paused.statistics == whole.statistics


def test_a_motion_that_would_never_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainform.simulation.solvers.batch_loop.LIMIT", 50)
    batch = simulate_batch(rods(1), q0=[[0.05], [1.0]], t=1e10, t_eval=[1.0], events=STOPPED)
    assert batch.endings == ("failed", "soon")
    assert "the rest would take" in batch.problems[0]
    assert np.isfinite(batch.q[0]).all()


STOPPED = {"soon": {"law": "rod1 - 0.1", "stop": True, "direction": "falling"}}


def test_arrays_begin_with_a_line_of_the_cache() -> None:
    assert aligned((3, 5)).ctypes.data % 64 == 0
