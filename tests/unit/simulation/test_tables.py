"""Long tables of efforts are looked up; they move a mechanism as short ones and functions do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainform as cf
from chainform.errors import RunError
from chainform.simulation import simulate_batch
from chainform.simulation.equations import efforts
from chainform.simulation.equations.efforts import LONG
from chainform.simulation.machine.adapters import look_up
from unit.simulation.linkages import slider_crank
from unit.simulation.small_machines import BLOCK, PENDULUM, machine

TIMES = np.linspace(0.1, 0.9, 2 * LONG)
TABLE = {"t": TIMES.tolist(), "values": (3 * np.sin(9 * TIMES) + TIMES).tolist()}


def interpolated(t: float, *_: Any) -> float:
    return float(np.interp(t, TABLE["t"], TABLE["values"]))


def brake(*state: Any) -> float:
    return -float(state[2][2])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_value_is_found_between_the_entries(data: st.DataObject) -> None:
    numbers = st.floats(-1e3, 1e3, allow_subnormal=False).map(lambda x: round(x, 3))
    times = sorted(data.draw(st.sets(numbers, min_size=1, max_size=40)))
    values = data.draw(st.lists(numbers, min_size=len(times), max_size=len(times)))
    asked = data.draw(numbers | st.sampled_from(times))
    into = np.array([7.0])
    look_up(np.array([asked]), into, np.array([*times, *values]), len(times))
    assert into[0] - 7.0 == pytest.approx(np.interp(asked, times, values), abs=1e-9)


WAYS: list[dict[str, Any]] = [
    {},
    {"method": "rk4", "step": 1e-3},
    {"method": "gauss4", "step": 1e-3},
    {"method": "cvode"},
    {"hold": 0.01},
]


@pytest.mark.parametrize("ways", WAYS)
def test_long_tables_are_as_short_ones(monkeypatch: pytest.MonkeyPatch, ways: Any) -> None:
    pendulum = machine(PENDULUM)
    long = cf.simulate(pendulum, t=1, forces={"hinge": TABLE}, **ways)
    monkeypatch.setattr(efforts, "LONG", 10**6)
    short = cf.simulate(pendulum, t=1, forces={"hinge": TABLE}, **ways)
    assert np.abs(long.q - short.q).max() < (1e-7 if "method" in ways else 1e-9)
    assert np.abs(long.tau - short.tau).max() < 1e-12
    assert long.statistics.steps == pytest.approx(short.statistics.steps, rel=0.02)


@pytest.mark.slow
def test_tables_in_closed_loops_and_beside_functions() -> None:
    crank = slider_crank()
    # Steps go over the corners of the function: errors there are far above the tolerance.
    start: dict[str, Any] = {"q0": {"crank": 0.5}, "fixed": ["crank"], "t": 1, "rtol": 1e-11}
    run = cf.simulate(crank, forces={"crank": TABLE, "slider": brake}, **start)
    laws = {"crank": interpolated, "slider": "-der(slider)"}
    other = cf.simulate(crank, forces=laws, largest=0.8 / 127, **start)
    assert np.abs(run.q - other.q).max() < 1e-6
    assert np.abs(run.tau - other.tau).max() < 1e-5


def test_tables_with_sticking_friction() -> None:
    """The bound of 3 N is passed where the table says, and not before."""
    ramp = {"t": np.linspace(0, 2, 41).tolist(), "values": np.linspace(0, 6, 41).tolist()}
    run = cf.simulate(machine(BLOCK), t=2, forces={"slide": ramp})
    slips = [event.t for event in run.events if event.name == "slide: slides"]
    assert slips == pytest.approx([1.0], abs=1e-8)
    moved = run.t > 1
    assert np.abs(run.q[~moved]).max() < 1e-12
    assert run.q[moved, 0] == pytest.approx((run.t[moved] - 1) ** 3 / 4, abs=1e-8)


@pytest.mark.slow
def test_tables_of_signals() -> None:
    arm = cf.read("examples/driven_arm.toml")
    name = arm.actuators[0].name
    told = cf.simulate(arm, t=1, signals={name: TABLE})
    called = cf.simulate(arm, t=1, signals={name: interpolated}, largest=5e-3)
    assert np.abs(told.q - called.q).max() < 1e-6
    assert told.u is not None
    assert called.u is not None
    assert np.abs(told.u - called.u).max() < 1e-12
    with pytest.raises(RunError, match="given twice"):
        cf.simulate(arm, signals={name: TABLE, arm.rates[arm.actuators[0].rate]: "1"})


@pytest.mark.slow
def test_tables_in_batches() -> None:
    pendulum = machine(PENDULUM)
    places = [[0.1], [0.7], [-0.3]]
    given: dict[str, Any] = {"t": 1, "forces": {"hinge": TABLE}, "method": "rk4", "step": 1e-3}
    batch = simulate_batch(pendulum, q0=places, **given)
    for place, found in zip(places, batch.q[:, -1], strict=True):
        alone = cf.simulate(pendulum, q0=place, **given)
        assert found == pytest.approx(alone.q[-1], abs=1e-12)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"t": [0, 1], "values": [1]}, "equally many"),
        ({"t": [], "values": []}, "equally many"),
        ({"t": [0, 0], "values": [1, 2]}, "must grow, and 0 s follows 0 s"),
        ({"t": [1, 0], "values": [1, 2]}, "must grow"),
        ({"t": [0, "soon"], "values": [1, 2]}, "made of numbers"),
        ({"t": [0, float("nan")], "values": [1, 2]}, "not finite"),
        ({"t": 5, "values": 3}, "expected a list"),
        ({"times": [0, 1], "values": [1, 2]}, "unknown field 'times'"),
    ],
)
def test_wrong_tables_are_refused(table: Any, message: str) -> None:
    with pytest.raises(RunError, match=message) as caught:
        cf.simulate(machine(PENDULUM), forces={"hinge": table})
    assert str(caught.value.element).startswith("forces, hinge")
    assert caught.value.remedy


@pytest.mark.parametrize("together", [False, True])
def test_fixed_steps_end_where_a_force_of_the_file_begins_and_ends(together: bool) -> None:
    """Errors of a step over such a time would be of first order."""
    builder = cf.Mechanism.builder("cart").segment("cart", joint="prismatic", axis="x", mass=2)
    times: dict[str, Any] = {"from": 0.123, "until": "0.4567"}
    cart = builder.force("cart", "8", **times).build()
    how: dict[str, Any] = {"t": 1, "t_eval": [1], "method": "rk4", "step": 0.1}
    if together:
        last = simulate_batch(cart, q0=[[0.0], [0.0]], **how).q[1, -1]
    else:
        last = cf.simulate(cart, **how).q[-1]
    speed, length = 4 * (0.4567 - 0.123), 1 - (0.4567 + 0.123) / 2
    np.testing.assert_allclose(last, speed * length, rtol=1e-12)
