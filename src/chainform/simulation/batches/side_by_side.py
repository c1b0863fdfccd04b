"""Motions whose loops are compiled whole: in lanes of vector registers, or many in a thread.

They take what decides nothing but when to end: see `runs_alone` for what they do not take.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.expressions import symbols_of
from chainform.mechanism import Mechanism, Number
from chainform.runtime import CodeStorage
from chainform.simulation.batches.cases import Cases
from chainform.simulation.batches.fleet import Each, Fleet, Lanes
from chainform.simulation.batches.found import Found, nothing
from chainform.simulation.batches.watch import Watch
from chainform.simulation.beginning import beginning
from chainform.simulation.compilation import equations_of, model_of
from chainform.simulation.controllers.computed_torque import ComputedTorque
from chainform.simulation.drives.efforts import Efforts
from chainform.simulation.equations import Equations
from chainform.simulation.initial import whole_state
from chainform.simulation.parameters import parameters_of
from chainform.simulation.problem import Conditions, Problem
from chainform.simulation.solver import Settings
from chainform.simulation.watches import Event

Array = NDArray[np.float64]


def runs_alone(problem: Problem, conditions: Conditions, cases: Cases) -> bool:
    """Tell whether motions are run one by one: what happens in each decides how it goes on.

    That is so with stops, contacts and dry friction, with events after which a motion goes on, with
    methods that call back, and where values that differ are taken as numbers when the equations are
    made.
    """
    solver, differing = problem.settings.solver, set(cases.differing)
    if solver.tableau is None or conditions.switches:
        return True
    if any(event.change is not None or not event.stop for event in conditions.events):
        return True
    if not differing:
        return False
    is_modelled = any(isinstance(c, ComputedTorque) for c in conditions.controllers)
    return is_modelled or bool(differing & _decisive(problem))


def _decisive(problem: Problem) -> set[str]:
    """Return the parameters whose values decide what the equations are like."""
    source, numbers = problem.mechanism, list[Number]()
    for actuator in source.actuators:
        numbers += [*(actuator.velocity or ()), *(actuator.position or ())]
    if problem.settings.solver.switches and "friction" not in problem.without:
        frictions = [segment.joint.friction for segment in source.segments]
        numbers += [friction.coulomb for friction in frictions if friction is not None]
    laws = [number for number in numbers if not isinstance(number, Fraction)]
    return {name for law in laws for name in symbols_of(law)}


def side_by_side(
    problem: Problem, cases: Cases, conditions: Conditions, threads: int, watch: Watch
) -> Found | None:
    """Run all motions; None where values differ that the equations know as numbers only."""
    given = conditions.given
    solver, free = problem.settings.solver, given.names(given.mechanism)
    reduce = problem.options["reduce"]
    model = model_of(given.mechanism, problem.without, solver, free, reduce=reduce)
    equations = equations_of(
        given.settled(given.mechanism), model, problem.equation_options(conditions)
    )
    if not set(cases.differing) <= set(equations.parameters):
        return None
    states, able, problems = _begun(problem, cases, given.mechanism, equations)
    if not able:
        return nothing(len(problem.times), equations.size).among(cases.count, able, problems)
    projects = problem.stabilise.projects
    fleet = fleet_of(
        equations,
        problem.settings,
        conditions.efforts,
        conditions.events,
        problem.options["code_cache"],
        projects=projects,
    )
    columns = {name: column[able] for name, column in cases.values.items()}
    found = fleet.run(problem.span, problem.times, states, columns, threads, watch)
    return found.among(cases.count, able, problems) if problems else found


def fleet_of(
    equations: Equations,
    settings: Settings,
    efforts: Efforts,
    events: Sequence[Event] = (),
    code_cache: CodeStorage | None = None,
    *,
    projects: bool = True,
) -> Fleet:
    """Return what runs the motions: in lanes where nothing can differ but numbers."""
    deciding = equations.rows or events or settings.step is None
    if deciding or efforts.come_from_outside or not settings.solver.in_lanes:
        return Each(equations, settings, efforts, events, code_cache, projects=projects)
    return Lanes(equations, settings, efforts, code_cache)


def _begun(
    problem: Problem, cases: Cases, mechanism: Mechanism, equations: Equations
) -> tuple[Array, list[int], dict[int, str]]:
    """Return the states in which motions begin, which ones do, and what is wrong with others."""
    every = list(range(cases.count))
    if not equations.rows and not equations.nx:
        return cases.states(mechanism), every, {}
    states, problems = list[Array](), dict[int, str]()
    for motion in every:
        own, start = mechanism, cases.start(motion)
        if cases.differing:
            own = parameters_of(problem.mechanism, cases.values_of(motion)).mechanism
        places = (start["q0"], start["qd0"], problem.span[0], problem.options["fixed"])
        try:
            begun = beginning(own, *places, remarks=False)
        except RunError as error:
            problems[motion] = error.message
            continue
        states.append(whole_state(own, begun.q, begun.qd, start["x0"], equations.nx))
    able = [motion for motion in every if motion not in problems]
    return np.array(states).reshape(len(able), equations.size), able, problems
