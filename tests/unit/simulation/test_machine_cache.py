"""Who simulates the same again does not wait for machine code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from chainform.mechanism import Mechanism
from chainform.runtime import host
from chainform.simulation import simulate
from chainform.simulation.machine import compilation
from chainform.simulation.machine.machine import Machine
from unit.simulation.swings import rods

pytestmark = pytest.mark.any_processor


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Machine]:
    """The machines that were made, in order; none is known at first."""
    seen: list[Machine] = []
    original = Machine.__init__

    def counted(self: Machine, *given: Any, **named: Any) -> None:
        seen.append(self)
        original(self, *given, **named)

    monkeypatch.setattr(Machine, "__init__", counted)
    compilation.MACHINES.clear()
    return seen


def test_other_states_and_tolerances_have_the_same_machine(made: list[Machine]) -> None:
    for q, rtol in ((0.1, 1e-6), (0.2, 1e-9)):
        simulate(rods(1), q0=[q], t=0.1, rtol=rtol)
    assert len(made) == 1


def test_other_values_have_the_same_machine_code(made: list[Machine]) -> None:
    runs = [
        simulate(rods(2), q0=[0.5, 1.0], t=0.2, values={"m_2": mass}) for mass in (1.0, 2.0, 5.0)
    ]
    assert len(made) == 1
    heavy = simulate(rods(2).with_payload("rod2", 1, (0, 0, "-1/2")), q0=[0.5, 1.0], t=0.2)
    assert np.ptp(runs[2].energy) < 1e-6
    assert abs(runs[1].q[-1] - runs[0].q[-1]).max() > 1e-4
    np.testing.assert_allclose(runs[1].q, heavy.q, rtol=0, atol=1e-9)


def test_so_have_other_values_in_laws_of_forces_and_controllers(made: list[Machine]) -> None:
    builder = Mechanism.builder("slide", gravity=[0, 0, 0])
    builder.parameter("k", value=3).parameter("c", value=2)
    slide = builder.segment("x", joint="prismatic", axis="x", mass=1).build()
    laws: list[dict[str, Any]] = [
        {"forces": {"x": "-k*x - c*der(x)"}},
        {"controllers": {"x": {"type": "pd", "kp": "k", "kd": "c"}}},
    ]
    for options in laws:
        runs = [
            simulate(slide, q0=[1], t=1, values={"k": k, "c": 2.0}, **options) for k in (3.0, 2.0)
        ]
        rates = [np.roots([1, 2, k]) for k in (3.0, 2.0)]
        for run, (a, b) in zip(runs, rates, strict=True):
            exact = (a * np.exp(b) - b * np.exp(a)) / (a - b)
            assert run.q[-1] == pytest.approx(exact.real, abs=1e-8)
    assert len(made) == 2


def test_other_forces_events_and_methods_have_another_one(made: list[Machine]) -> None:
    simulate(rods(1), t=0.1)
    simulate(rods(1), t=0.1, forces={"rod1": "t"})
    simulate(rods(1), t=0.1, forces={"rod1": "2*t"})
    simulate(rods(1), t=0.1, events={"low": "rod1 - 1"})
    simulate(rods(1), t=0.1, method="semi_implicit", step=0.01)
    simulate(rods(2), t=0.1)
    assert len(made) == 6


@pytest.mark.slow
def test_another_processor_has_another_one(
    made: list[Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = "x86-64" if host().triple.startswith("x86_64") else "generic"
    runs = [
        (monkeypatch.setenv("CHAINFORM_CPU", cpu), simulate(rods(2), q0=[0.5, 1], t=0.2))[1]
        for cpu in ("native", usual, "native")
    ]
    assert [machine.target.cpu for machine in made] == [host().cpu, usual]
    assert runs[2].q.tobytes() == runs[0].q.tobytes()
    np.testing.assert_allclose(runs[1].q, runs[0].q, rtol=0, atol=1e-9)


def test_functions_of_python_are_called_by_their_own_machine(made: list[Machine]) -> None:
    runs = [
        simulate(rods(1), t=0.1, t_eval=[0.1], forces=lambda _t, _q, _qd, c=c: np.array([c]))
        for c in (0.0, 1.0)
    ]
    assert len(made) == 2
    assert abs(runs[1].q[0, 0] - runs[0].q[0, 0]) > 1e-3


def test_only_the_last_ones_are_kept(made: list[Machine], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation.MACHINES, "most", 1)
    for count in (1, 2, 1):
        simulate(rods(count), t=0.1)
    assert len(made) == 3
