"""What is said about methods, tolerances, steps and times, and what is wrong with it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from chainform.errors import RunError
from chainform.simulation import simulate, simulate_batch
from chainform.simulation.equations import times as output_times
from chainform.simulation.equations.times import check_size, span_of
from chainform.simulation.solvers import Solver, settings_of
from unit.simulation.swings import rods

pytestmark = pytest.mark.any_processor

WRONG: tuple[Any, ...] = ("1e-9", [1e-9], {}, float("nan"), 0, -1, True, 1j, 10**400)


@pytest.mark.parametrize("name", ["rtol", "atol", "step", "largest", "hold"])
def test_a_positive_number_is_needed(name: str) -> None:
    nothing: tuple[Any, ...] = (None,) if name == "rtol" else ()
    for value in (*WRONG, *nothing):
        with pytest.raises(RunError) as caught:
            simulate(rods(1), method="verner65" if name != "step" else "rk4", **{name: value})
        assert (caught.value.element, bool(caught.value.remedy)) == (name, True), value


@pytest.mark.parametrize(
    "value", [np.float32(0.5), np.float64(0.5), np.int64(1), Fraction(1, 2), 1]
)
def test_all_kinds_of_numbers(value: Any) -> None:
    found = settings_of(Solver("verner65", rtol=value, atol=value, largest=value), hold=value)
    numbers = found.numbers
    assert {type(numbers[name]) for name in ("rtol", "atol", "largest", "hold")} == {float}
    assert numbers["rtol"] == float(value)


@pytest.mark.parametrize(
    ("method", "meant"),
    [
        ("dop853", "dopri853"),
        ("DOP853", "dopri853"),
        ("RK45", "verner65"),
        ("dopri5", "verner65"),
        ("BDF", "cvode"),
        ("vernier65", "verner65"),
        ("gauss_4", "gauss4"),
        ("Euler", "euler"),
    ],
)
def test_the_method_that_was_meant(method: str, meant: str) -> None:
    with pytest.raises(RunError, match=f"{method} is not a method") as caught:
        settings_of(Solver(method))
    assert str(caught.value.remedy).startswith(f"did you mean '{meant}'? choose verner65, ")


@pytest.mark.parametrize("method", [["verner65"], None, 3])
def test_a_method_has_a_name(method: Any) -> None:
    with pytest.raises(RunError, match="expected a text") as caught:
        settings_of(Solver(method))
    assert caught.value.element == "method"
    with pytest.raises(RunError, match="leapfrog is not a method") as caught:
        settings_of(Solver("leapfrog"))
    assert str(caught.value.remedy).startswith("choose")


@pytest.mark.parametrize(
    ("given", "span"),
    [
        ({"step": 1e-20, "method": "rk4"}, 1.0),
        ({"largest": 1e-20}, 1.0),
        ({"hold": 1e-300}, 1.0),
        ({"hold": 1e-18}, (1.0, 2.0)),
        ({"step": 1e-12, "method": "rk4"}, (1e6, 1e6 + 1)),
    ],
)
def test_steps_by_which_time_would_not_go_on(given: dict[str, Any], span: Any) -> None:
    name = next(name for name in given if name != "method")
    for function in (simulate, simulate_batch):
        with pytest.raises(RunError, match=f"{name} is .* lost in rounding") as caught:
            function(rods(1), t=span, **given)
        assert caught.value.element == name
        assert "give at least" in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"hold": 1e-9}, "hold is 1e-09 s: that makes 1e.09 samples in 1 s"),
        ({"step": 1e-12, "method": "rk4"}, "step is 1e-12 s: that makes 1e.12 steps"),
        ({"largest": 1e-10}, "largest is 1e-10 s: that makes 1e.10 steps"),
        ({"hold": 1e-9, "method": "cvode"}, "samples"),
        ({"step": 1e-12, "method": "gauss4"}, "steps"),
    ],
)
def test_more_steps_than_a_motion_can_have(given: dict[str, Any], words: str) -> None:
    name = next(name for name in given if name != "method")
    for function in (simulate, simulate_batch):
        with pytest.raises(RunError, match=words) as caught:
            function(rods(1), t=1, forces={"rod1": "1"}, **given)
        assert caught.value.element == name
        assert "give at least 1e-0" in str(caught.value.remedy)
    assert settings_of(Solver("rk4", step=2e-8), span=(0.0, 1.0)).step == 2e-8


def test_more_output_than_there_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RunError, match="there would be 1000000000000 times") as caught:
        span_of(1.0, range(10**12))
    assert caught.value.element == "t_eval"
    with pytest.raises(RunError, match="times with 50 numbers each are 2e"):
        check_size(40_000_000, 50)
    monkeypatch.setattr(output_times, "MOST_NUMBERS", 500)
    times, motions = np.linspace(0, 1, 300), np.zeros((2, 1))
    with pytest.raises(RunError, match=r"300 times with \d numbers") as caught:
        simulate(rods(1), t=1, t_eval=times)
    assert caught.value.element == "t_eval"
    ways: tuple[dict[str, Any], ...] = ({"step": 0.1, "method": "rk4"}, {}, {"runs": True})
    for how in ways:
        with pytest.raises(RunError, match=r"(299|300) times of") as caught:
            simulate_batch(rods(1), q0=motions, t=1, t_eval=times, **how)
        assert "motions" in str(caught.value.remedy)


@pytest.mark.parametrize(
    "t_eval",
    [["0.5"], [True], np.array([0.5j]), np.ma.masked_array([0.5], [True]), [None], [[0.5]]],
)
def test_what_is_no_time_of_output(t_eval: Any) -> None:
    with pytest.raises(RunError) as caught:
        span_of(1.0, t_eval)
    assert caught.value.element == "t_eval"
    assert span_of(1.0, [Fraction(1, 2)])[1].tolist() == [0.5]
    assert span_of(1.0, [])[1].tolist() == []


@pytest.mark.parametrize(
    ("t", "span"),
    [
        (np.int64(2), (0, 2)),
        (np.float32(2), (0, 2)),
        (Fraction(1, 2), (0, 0.5)),
        (np.array(3.0), (0, 3)),
        ([1, 2], (1, 2)),
        (np.array([1.0, 2.0]), (1, 2)),
        ((np.int64(1), np.float32(2)), (1, 2)),
    ],
)
def test_start_and_end(t: Any, span: tuple[float, float]) -> None:
    found, times = span_of(t, None)
    assert found == span
    assert (times[0], times[-1]) == span


@pytest.mark.parametrize(
    "t", [(0, 1, 2), (1,), (), "12", "now", None, {"a": 1}, 1j, [[0, 1], [2, 3]]]
)
def test_what_is_no_start_and_end(t: Any) -> None:
    with pytest.raises(RunError, match=r"real numbers|a start and an end") as caught:
        span_of(t, None)
    assert caught.value.element == "t"
    assert caught.value.remedy
    with pytest.raises(RunError, match="real numbers") as caught:
        span_of(1.0, "soon")
    assert caught.value.element == "t_eval"
