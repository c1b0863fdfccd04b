"""Problem, System, Run: what moves under which conditions, its machine code, and a motion of it.

problem = Problem.of(mechanism, forces={"elbow": "-2*der(elbow)"}, t=2.0)
system = problem.compile()
run = system.run(q0=[0.1, 0.2])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.given import argument
from chainform.mechanism import Mechanism
from chainform.model import Model
from chainform.readers import read
from chainform.runtime import CodeCache, LruCache
from chainform.simulation.consistent_state import Remarks, state_of_motion
from chainform.simulation.equations.contact.contact_tables import barriers_of, tables_of
from chainform.simulation.equations.contact.laws import Barriers
from chainform.simulation.equations.controllers import (
    ControlClock,
    Controller,
    SampledController,
    check_resumption,
    controllers_of,
)
from chainform.simulation.equations.efforts import Efforts, bends_of, efforts_of, with_signals
from chainform.simulation.equations.energy_balance import parts_without_balance
from chainform.simulation.equations.evaluate import check_rates_of_time
from chainform.simulation.equations.events import Event, events_of, kinks_in
from chainform.simulation.equations.initial import initial_state, whole_state
from chainform.simulation.equations.loop_constraints import Stabilise, stabilise_of
from chainform.simulation.equations.motion_laws import (
    MotionLaw,
    check_motion,
    motion_laws_of,
    with_motion,
)
from chainform.simulation.equations.parameters import (
    Parameters,
    check_known,
    parameters_of,
    with_unknowns,
)
from chainform.simulation.equations.times import span_of
from chainform.simulation.execution import RunHeader, run_motion
from chainform.simulation.files.about import END, About, digests_of, has_functions
from chainform.simulation.files.scenario import Scenario, scenario_of
from chainform.simulation.machine.compilation import MACHINES, EquationOptions, machine_of, model_of
from chainform.simulation.machine.failures import check_resistance
from chainform.simulation.machine.machine import Machine
from chainform.simulation.machine.pauses import InterruptFlag
from chainform.simulation.motion import Runner
from chainform.simulation.problem_options import (
    DEFAULTS,
    LAWS,
    NAMES,
    ProblemOptions,
    check_names,
    motion_of,
    solver_of,
)
from chainform.simulation.quantities import Columns
from chainform.simulation.resumption import ResumeRequest, StartState, resumed
from chainform.simulation.run import Run
from chainform.simulation.solvers import Settings, settings_of
from chainform.simulation.solvers.contact.mode_changes import ModeChanges

Array = NDArray[np.float64]

UNCOMPARED = "of functions of Python only name and code were compared when the run went on"
"""A remark on runs that were resumed."""


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Displayed):
    """A mechanism, what drives and stops it, from when to when, and the solver.

    `options` are as they were given; a scenario is the file that they came from. In `cache` stands
    machine code that calls functions of Python, for motions of this problem only.
    """

    mechanism: Mechanism
    options: Mapping[str, Any]
    span: tuple[float, float]
    times: Array
    settings: Settings
    stabilise: Stabilise
    breaks: tuple[float, ...] = ()
    """Times (s) at which forces that were unknown, or prescribed motions, change their law."""
    motion: tuple[MotionLaw, ...] = ()
    """The coordinates that follow laws of time; `mechanism` has a constraint for each."""
    scenario: Scenario | None = None
    cache: LruCache[tuple[Machine, Model]] | None = None

    @staticmethod
    def of(
        mechanism: Mechanism | Scenario | str | PathLike[str], **options: Unpack[ProblemOptions]
    ) -> Problem:
        """Return the problem of a mechanism, of its file, or of a scenario, with options."""
        check_names(options)
        scenario, given = scenario_of(mechanism), cast("dict[str, Any]", options)
        if scenario is not None:
            mechanism, given = scenario.mechanism, scenario.options(given)
        elif not isinstance(mechanism, Mechanism):
            mechanism = read(cast("str", mechanism))
        whole: dict[str, Any] = {**dict.fromkeys(NAMES), **DEFAULTS, **given}
        whole |= {name: tables_of(whole[name]) for name in ("events", "stops", "contacts")}
        whole["motion"] = motion_of(whole["motion"], mechanism)
        argument("energy_balance", whole["energy_balance"]).flag()
        argument("reduce", whole["reduce"]).text()
        whole["without"] = argument("without", whole["without"]).texts()
        if whole["fixed"] is not None:
            argument("fixed", whole["fixed"]).texts()
        if whole["code_cache"] is not None:
            CodeCache(whole["code_cache"])
        source, breaks = with_unknowns(mechanism, whole["unknowns"])
        span, times = span_of(whole["t"], whole["t_eval"])
        motion = motion_laws_of(source, whole["motion"], span)
        source = with_motion(source, motion)
        breaks = (*breaks, *(time for law in motion for time in law.times))
        settings = settings_of(solver_of(whole, options), whole["hold"], span=span)
        held = stabilise_of(whole["stabilise"])
        return Problem(source, whole, span, times, settings, held, breaks, motion, scenario)

    def __repr__(self) -> str:
        span = f"from {self.span[0]:g} to {self.span[1]:g} s"
        return f"<Problem of {self.mechanism.name}, {span} by {self.settings.method.name}>"

    @property
    def without(self) -> Sequence[str]:
        """Parts of the mechanism that the equations do not hold."""
        return self.options["without"]

    @property
    def is_held(self) -> bool:
        """Whether efforts are sampled and held."""
        return self.settings.hold is not None

    def conditions(self, values: Mapping[str, Any] | None) -> Conditions:
        """Return the conditions of motions with values of parameters, all of them checked."""
        given, laws = parameters_of(self.mechanism, values), self.options
        moving, method = given.mechanism, self.settings.method
        check_rates_of_time(moving, self.span, [law.constraint for law in self.motion])
        check_motion(moving, self.motion, self.span)
        efforts = with_signals(moving, efforts_of(moving, laws["forces"]), laws["signals"])
        efforts = replace(efforts, bends=(*self.breaks, *bends_of(moving, efforts)))
        events = (*events_of(moving, laws["events"]), *kinks_in(moving))
        controllers = controllers_of(moving, laws["controllers"], self.without, self.span)
        contact = (laws["stops"], laws["contacts"], laws["friction"])
        barriers = barriers_of(moving, *contact, self.without)
        barriers = method.taken(barriers, has_bounds=bool(laws["friction"]))
        return Conditions(given, efforts, events, tuple(controllers), barriers)

    def equation_options(
        self, conditions: Conditions, *, energy_balance: bool = False
    ) -> EquationOptions:
        """Return what the equations hold under conditions."""
        return EquationOptions(
            conditions.efforts,
            self.settings.method,
            conditions.events,
            conditions.controllers,
            conditions.barriers,
            self.stabilise,
            tuple(self.without),
            self.is_held,
            energy_balance,
        )

    def compile(self, values: Mapping[str, Any] | None = None) -> System:
        """Return equations and machine code, with values of parameters in place of those given."""
        return self.system(self.conditions(self.options["values"] if values is None else values))

    def system(self, conditions: Conditions) -> System:
        """Return equations and machine code under conditions."""
        given, barriers, method = conditions.given, conditions.barriers, self.settings.method
        moving = barriers.bare(given.mechanism)
        has_balance = (
            self.options["energy_balance"]
            and method.takes_barriers
            and not parts_without_balance(self.mechanism)
        )
        model = model_of(
            given.bare(moving),
            self.without,
            method,
            given.names(moving),
            rows=barriers.has_rows,
            reduce=self.options["reduce"],
        )
        machine = machine_of(
            given.settled(moving),
            model,
            self.equation_options(conditions, energy_balance=has_balance),
            tuple(given.values),
            self.options["code_cache"],
            self._cache(conditions.efforts),
        )
        check_known(machine.equations.graph, given.values)
        return System(self, conditions, model, machine, has_balance)

    def _cache(self, efforts: Efforts) -> LruCache[tuple[Machine, Model]]:
        return self.cache if self.cache is not None and efforts.has_functions else MACHINES

    def given(self, values: Mapping[str, float]) -> dict[str, Any]:
        """Return all that decides how a motion goes, but its start, by names of options."""
        chosen = {name: self.options[name] for name in LAWS}
        empty = {n for n, x in chosen.items() if isinstance(x, Mapping | list | tuple) and not x}
        chosen |= dict.fromkeys(empty)
        chosen |= {"method": self.settings.method.name, **self.settings.numbers}
        chosen |= {"stabilise": repr(self.stabilise), "without": list(self.without)}
        return {**chosen, "energy_balance": self.options["energy_balance"], "values": dict(values)}

    @property
    def about(self) -> About:
        """What is known of runs before they begin."""
        about = About(self.span, END, self.settings.numbers, without=tuple(self.without))
        if self.scenario is None:
            return about
        return replace(about, scenario=self.scenario.text, title=self.scenario.name)


@dataclass(frozen=True, eq=False)
class Conditions:
    """Parameters with their values, and efforts, events, controllers and contacts under them."""

    given: Parameters
    efforts: Efforts
    events: tuple[Event, ...]
    controllers: tuple[Controller, ...]
    barriers: Barriers


@dataclass(frozen=True, eq=False, repr=False)
class System(Displayed):
    """A problem as equations and machine code, for any number of motions."""

    problem: Problem
    conditions: Conditions
    model: Model
    machine: Machine
    has_balance: bool

    def __repr__(self) -> str:
        return f"<System {repr(self.problem)[1:-1]}: {self.model.count()}>"

    def run(
        self,
        q0: Any = None,
        qd0: Any = None,
        x0: Any = None,
        *,
        resume: Run | None = None,
        progress: Callable[[float], None] | None = None,
        checkpoint: Callable[[Run], None] | None = None,
        interrupt: InterruptFlag | None = None,
    ) -> Run:
        """Return the motion from a state (that of the problem by default), or on from a run.

        Ctrl-C is noted in `interrupt`, which several motions may share, or in one of its own.
        """
        problem, conditions = self.problem, self.conditions
        p = self.machine.layout.fresh()
        first = self._first(q0, qd0, x0)
        start, remarks, digests = self._start(first, resume, p)
        runner = self._runner(start, p)
        start.remind(runner, problem.settings.numbers)
        columns = Columns(
            self.machine,
            conditions.efforts,
            is_held=problem.is_held,
            has_balance=self.has_balance,
            controlled=runner.clock.targets,
        )
        header = RunHeader(
            conditions.given.mechanism,
            self.model,
            problem.settings.method.name,
            replace(self.about, given=digests),
            columns,
            conditions.barriers,
            start.before,
            remarks,
        )
        return run_motion(
            header, runner, problem.span[1], start.times, progress, checkpoint, interrupt
        )

    def start(self, q0: Any = None, qd0: Any = None, x0: Any = None) -> StartState:
        """Return the state in which a motion begins, with its time."""
        return self._begin(self._first(q0, qd0, x0), self.machine.layout.fresh())[0]

    def motion(self, start: StartState, times: Array) -> Runner:
        """Return the motion from a start at its end, with rows of output at times.

        They are states, and what enters with them; nothing else is computed.
        """
        p = self.machine.layout.fresh()
        self.machine.find_redundant(start.t, start.y, p)
        runner = self._runner(replace(start, y=start.y.copy()), p)
        runner.run(self.problem.span[1], times)
        return runner

    def _runner(self, start: StartState, p: Array) -> Runner:
        settings, barriers = self.problem.settings, self.conditions.barriers
        events, breaks = self.conditions.events, self.conditions.efforts.breaks
        directions = [event.sign for event in events] + barriers.directions
        integrator = settings.method.start(
            self.machine, settings, start.t, start.y, p, directions, breaks
        )
        mode_changes = ModeChanges(integrator, barriers, settings.step) if barriers else None
        moving, controllers = self.conditions.given.mechanism, self.conditions.controllers
        clock = ControlClock(controllers, moving, self.model, start.t)
        return Runner(integrator, events, moving.nq, mode_changes, clock)

    @property
    def is_sampled(self) -> bool:
        """Whether efforts, or the results of a controller, are sampled and held."""
        controllers = self.conditions.controllers
        return self.problem.is_held or any(isinstance(c, SampledController) for c in controllers)

    @property
    def about(self) -> About:
        """What is known of a run before it begins."""
        conditions = self.conditions
        return replace(
            self.problem.about,
            values=conditions.given.values,
            opened=conditions.barriers.opened,
        )

    @property
    def digests(self) -> dict[str, str]:
        """Digests of all that decides how a motion goes, which its run has as `about.given`."""
        return self._digests(self._first(None, None, None))

    def _digests(self, first: Mapping[str, Any]) -> dict[str, str]:
        given = self.problem.given(self.conditions.given.values)
        return digests_of({**given, **self._exact(first)})

    def _first(self, q0: Any, qd0: Any, x0: Any) -> dict[str, Any]:
        """Return the state at the start as it was given."""
        options = self.problem.options
        given = {"q0": q0, "qd0": qd0, "x0": x0}
        first: dict[str, Any] = {n: options[n] if x is None else x for n, x in given.items()}
        return {**first, "fixed": options["fixed"]}

    def _start(
        self, first: Mapping[str, Any], resume: Run | None, p: Array
    ) -> tuple[StartState, Remarks, dict[str, str]]:
        """Return where the motion begins, remarks on it, and digests of all that decides it."""
        problem, moving = self.problem, self.conditions.given.mechanism
        given, digests = problem.given(self.conditions.given.values), self._digests(first)
        if resume is None:
            return *self._begin(first, p), digests
        check_resumption(self.conditions.controllers)
        named = {name: text for name, text in digests.items() if first.get(name, 0) is not None}
        has_times = problem.options["t_eval"] is not None
        request = ResumeRequest(moving, problem.span, self._times_after(resume), named, has_times)
        start = resumed(resume, request, self.machine, p)
        self.machine.find_redundant(start.t, start.y, p)
        notes = (UNCOMPARED,) if has_functions(given) else ()
        remarks = Remarks(tuple(dict.fromkeys((*resume.report, *notes))))
        return start, remarks, dict(resume.about.given)

    def _times_after(self, run: Run) -> Array:
        """Return times of output; so many over another time are those from where a run stands."""
        problem = self.problem
        mark = getattr(getattr(run, "about", None), "bookmark", None)
        if problem.scenario is None or problem.scenario.times.points is None or mark is None:
            return problem.times
        return problem.times[problem.times >= mark.t]

    def _exact(self, first: Mapping[str, Any]) -> dict[str, Any]:
        """Return how a motion begins, its state as it is meant, not as it is written."""
        mechanism = self.conditions.given.mechanism
        state = initial_state(mechanism, first["q0"], first["qd0"])
        return {**first, "q0": state[: mechanism.nq], "qd0": state[mechanism.nq :]}

    def _begin(self, first: Mapping[str, Any], p: Array) -> tuple[StartState, Remarks]:
        barriers, t = self.conditions.barriers, self.problem.span[0]
        moving, machine = self.conditions.given.mechanism, self.machine
        state = state_of_motion(barriers.bare(moving), self.problem.motion, first, t)
        y = whole_state(moving, state.q, state.qd, first["x0"], machine.equations.nx)
        start = StartState(t, machine.start_state(t, y, p), self.problem.times)
        check_resistance(machine.equations, t, start.y, p)
        lowest = machine.layout.part(p, "lowest")
        return start, Remarks(state.notes, None if barriers else lowest.copy())
