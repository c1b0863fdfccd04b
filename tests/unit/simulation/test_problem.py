"""Problems: made from keywords or files, compiled once, run from any state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import chainform as cf
from chainform.simulation import Scenario

EXAMPLES = Path(__file__).parents[3] / "examples" / "scenarios"


def arm() -> cf.Mechanism:
    """Two links, the second of a mass to be chosen."""
    builder = cf.Mechanism.builder("arm").parameter("mb", 1)
    builder.segment("a", joint="revolute", axis="y", mass=1, com=[0, 0, -1])
    builder.segment(
        "b", parent="a", joint="revolute", axis="y", position=[0, 0, -1], mass="mb", com=[0, 0, -1]
    )
    return builder.build()


def test_a_system_gives_the_motions_of_simulate() -> None:
    laws = {"a": "-0.3*der(a)", "b": "sin(t)"}
    system = cf.Problem.of(arm(), forces=laws, t=0.5, t_eval=[0.2, 0.5]).compile()
    for q0 in ([0.3, 0.1], [-0.2, 1.0]):
        run = cf.simulate(arm(), q0=q0, forces=laws, t=0.5, t_eval=[0.2, 0.5])
        assert np.array_equal(system.run(q0=q0).q, run.q)


def test_the_state_of_a_problem_is_where_motions_begin() -> None:
    problem = cf.Problem.of(arm(), q0={"a": 0.4}, qd0=[0, 1], t=0.1)
    run = problem.compile().run()
    np.testing.assert_array_equal(run.q[0], [0.4, 0])
    np.testing.assert_array_equal(problem.compile().run(q0=[0.1, 0.2]).qd[0], [0, 1])


def test_other_values_take_the_same_machine_code() -> None:
    problem = cf.Problem.of(arm(), q0=[0.3, 0.1], t=0.5, t_eval=[0.5], values={"mb": 2})
    first, second = problem.compile(), problem.compile({"mb": 3})
    assert first.machine.procedures["integrate"] is second.machine.procedures["integrate"]
    for system, mass in ((first, 2), (second, 3)):
        run = cf.simulate(arm(), q0=[0.3, 0.1], t=0.5, t_eval=[0.5], values={"mb": mass})
        assert np.array_equal(system.run().q, run.q)


def test_a_scenario_is_a_problem() -> None:
    path = EXAMPLES / "four_bar.toml"
    scenario = Scenario.read(path)
    problem = cf.Problem.of(path, t=0.2)
    run = problem.compile().run()
    assert run.about.scenario == scenario.text
    assert run.t[-1] == 0.2
    assert np.array_equal(run.q, cf.simulate(scenario, t=0.2).q)


def test_an_option_that_there_is_not_is_named() -> None:
    with pytest.raises(TypeError, match="no option 'force' of a problem; did you mean forces"):
        cf.simulate(arm(), force={"a": "1"})  # pyright: ignore[reportCallIssue]
