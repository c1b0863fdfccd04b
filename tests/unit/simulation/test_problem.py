"""Problems: made from keywords or files, compiled once, run from any state."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.simulation import Contact, Event, Scenario, Solver, Stop
from unit.simulation.small_machines import BALL, PENDULUM, machine

pytestmark = pytest.mark.any_processor

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


# --- options that belong together -----------------------------------------------------------


def ball() -> cf.Mechanism:
    """A ball that falls along z, with a frame at its bottom."""
    builder = cf.Mechanism.builder("ball", gravity=(0, 0, -10))
    builder.segment("z", joint="prismatic", axis="z", mass=1)
    return builder.frame("bottom", "z").build()


def flipped(_: float, q: Any, qd: Any) -> Any:
    """Return the state with the opposite rates."""
    return q, -qd


@pytest.mark.parametrize(
    ("values", "tables"),
    [
        (
            {"method": Solver("rk4", step=0.01)},
            {"method": "rk4", "step": 0.01},
        ),
        (
            {"method": Solver(rtol=1e-6, largest=0.02)},
            {"rtol": 1e-6, "largest": 0.02},
        ),
        (
            {
                "events": {
                    "half": Event("z - 0.5", direction="falling", stop=True),
                    "up": Event("z"),
                }
            },
            {
                "events": {
                    "half": {"law": "z - 0.5", "direction": "falling", "stop": True},
                    "up": {"law": "z"},
                }
            },
        ),
        (
            {"events": [Event("z - 0.5", name="half", change=flipped)]},
            {"events": {"half": {"law": "z - 0.5", "change": flipped}}},
        ),
        (
            {"stops": {"z": Stop(restitution=0.5, lower=0.2)}},
            {"stops": {"z": {"restitution": 0.5, "lower": 0.2}}},
        ),
        (
            {"stops": {"z": Stop(stiffness=1e4, damping=0.1, lower=np.float64(0.2))}},
            {"stops": {"z": {"stiffness": 1e4, "damping": 0.1, "lower": 0.2}}},
        ),
        (
            {"contacts": {"bottom": Contact(point=np.array([0, 0, 0.1]), restitution=0.3)}},
            {"contacts": {"bottom": {"point": [0, 0, 0.1], "restitution": 0.3}}},
        ),
        ({"contacts": {"bottom": Contact()}}, {"contacts": ["bottom"]}),
    ],
)
def test_values_and_their_short_forms_are_the_same_problem(
    values: dict[str, Any], tables: dict[str, Any]
) -> None:
    one, other = (cf.simulate(ball(), q0=[1.0], t=1, **given) for given in (values, tables))
    assert np.array_equal(one.q, other.q)
    assert [event.name for event in one.events] == [event.name for event in other.events]
    same = set(one.about.given) - {"contacts"}
    assert {n: one.about.given[n] for n in same} == {n: other.about.given[n] for n in same}


def test_a_stop_alone_stands_for_all_limits() -> None:
    links = cf.read("examples/sliding_links.toml")
    given: dict[str, Any] = {"q0": {"l1": 0.4, "l2": 0.25, "l3": 0.25}, "t": 0.2}
    one, other = (
        cf.simulate(links, **given, stops=stops) for stops in (Stop(restitution=0.5), 0.5)
    )
    assert np.array_equal(one.q, other.q)


def test_values_are_frozen_and_checked_as_tables_are() -> None:
    for value in (Solver(), Event("z"), Contact(), Stop()):
        with pytest.raises(FrozenInstanceError):
            value.law = "t"  # type: ignore[misc, union-attr]
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"method": Solver("rk5", step=0.1)}, "rk5 is not a method"),
        ({"method": Solver("rk4", step=-1)}, "step"),
        ({"method": Solver("rk4", step=0.1), "rtol": 1e-6}, "rtol stands next to a solver"),
        ({"events": {"a": Event("nothing")}}, "nothing"),
        ({"events": [Event("z", name="a"), Event("z - 1", name="a")]}, "two events of the name"),
        ({"events": [Event("z")]}, "name"),
        ({"events": [Event("z", name="a"), "z"]}, "table"),
        ({"stops": {"z": Contact(friction=0.1)}}, "friction"),
        ({"stops": {"z": Stop(restitution=2)}}, "restitution lies between"),
        ({"contacts": {"bottom": Stop(lower=0.1)}}, "lower"),
    ]
    for options, words in wrong:
        with pytest.raises(RunError, match=words):
            cf.simulate(ball(), q0=[1.0], t=0.1, **options)


def test_a_solver_replaces_that_of_a_scenario() -> None:
    path = EXAMPLES / "four_bar.toml"
    run = cf.simulate(path, t=0.1, method=Solver("rk4", step=0.001))
    assert run.method == "rk4"
    assert run.about.settings["step"] == 0.001


def test_the_order_of_fields_does_not_matter_when_a_run_is_resumed() -> None:
    start: dict[str, Any] = {"q0": [0.5], "rtol": 1e-9}
    lower = {"height": {"lower": 0, "restitution": 0.5}}
    half = cf.simulate(machine(BALL), t=0.2, stops=lower, **start)
    again = {"height": Stop(restitution=0.5, lower=0)}
    run = cf.simulate(machine(BALL), t=0.4, stops=again, resume=half, rtol=1e-9)
    assert run.t[-1] == 0.4


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"energy_balance": "no"}, "expected true or false"),
        ({"code_cache": 3}, "a code cache has get"),
        ({"stops": 0.5}, "no joint has limits to stop at"),
    ],
)
def test_options_that_say_nothing_are_refused(options: Any, word: str) -> None:
    with pytest.raises(cf.Error, match=word) as caught:
        cf.simulate(machine(PENDULUM), t=0.1, **options)
    assert caught.value.remedy


def test_no_events_may_be_an_empty_list() -> None:
    assert cf.simulate(machine(PENDULUM), t=0.1, events=[]).events == ()
