"""What is asked of motions, made ready once for all that differ only in their states.

Task        a mechanism, forces, events, a method: the same for all motions
Prepared    the same with values of parameters, as machine code
Run         from a state on
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import Mechanism
from chainform.model import Model
from chainform.runtime import Keeper, LruCache
from chainform.simulation.about import END, About, digests_of, has_functions
from chainform.simulation.beginning import Remarks, beginning
from chainform.simulation.bookkeeping import can_be_booked
from chainform.simulation.columns import Columns
from chainform.simulation.constraints.stabilise import PROJECTION, Stabilise
from chainform.simulation.contact.switches import Switches, switches_for
from chainform.simulation.contact.switching import Switching
from chainform.simulation.controllers import Controller, controllers_of
from chainform.simulation.drives.efforts import Efforts, Forces, bends_of, efforts_of
from chainform.simulation.drives.signals import with_signals
from chainform.simulation.initial import initial_state, whole_state
from chainform.simulation.interruption import Ear
from chainform.simulation.law_values import check_rates_of_time
from chainform.simulation.machines.machine import Machine
from chainform.simulation.machines.troubles import check_resistance
from chainform.simulation.making import MACHINES, machine_of, model_of
from chainform.simulation.parameters import Parameters, parameters_of
from chainform.simulation.recording import Recording, carried_out
from chainform.simulation.resuming import Request, Start, resumed
from chainform.simulation.run import Run
from chainform.simulation.runner import Runner
from chainform.simulation.solver import Settings
from chainform.simulation.watches import Event, events_of

Array = NDArray[np.float64]

UNCOMPARED = "of functions of Python only name and code were compared when the run went on"
"""A remark on runs that were resumed."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is asked of motions, whatever their states and their parameters: see `simulate`.

    In `own` machine code is kept that calls functions of Python, for motions with other values.
    """

    source: Mechanism
    span: tuple[float, float]
    times: Array
    settings: Settings
    forces: Forces | None = None
    signals: Forces | None = None
    controllers: Mapping[str, Any] | None = None
    events: Mapping[str, Any] | None = None
    stops: Any = None
    contacts: Any = None
    friction: Mapping[str, float] | None = None
    fixed: Sequence[str] | None = None
    stabilise: Stabilise = PROJECTION
    leave_out: Sequence[str] = ()
    reduce: str = "none"
    books: bool = True
    keeper: Keeper | None = None
    own: LruCache[tuple[Machine, Model]] | None = None
    bends: tuple[float, ...] = ()
    has_times: bool = True

    @property
    def hold(self) -> bool:
        """Whether efforts are sampled and held."""
        return self.settings.hold is not None

    def given(self, values: Mapping[str, float]) -> dict[str, Any]:
        """Return all that decides how a motion goes, but its start, by names of arguments."""
        names = ("forces", "signals", "controllers", "events", "stops", "contacts", "friction")
        chosen = {name: getattr(self, name) for name in names}
        empty = {n for n, x in chosen.items() if isinstance(x, Mapping | list | tuple) and not x}
        chosen |= dict.fromkeys(empty)
        chosen |= {"method": self.settings.solver.name, **self.settings.numbers}
        chosen |= {"stabilise": repr(self.stabilise), "books": self.books}
        return {**chosen, "leave_out": list(self.leave_out), "values": dict(values)}

    def understood(self, values: Mapping[str, Any] | None) -> Understood:
        """Return what is asked for with values of parameters, all of it checked."""
        given = parameters_of(self.source, values)
        check_rates_of_time(given.mechanism, self.span)
        moved, solver = given.mechanism, self.settings.solver
        efforts = with_signals(moved, efforts_of(moved, self.forces), self.signals)
        efforts = replace(efforts, bends=(*self.bends, *bends_of(moved, efforts)))
        events = tuple(events_of(moved, self.events))
        controllers = tuple(controllers_of(moved, self.controllers, self.leave_out))
        asked = (self.stops, self.contacts, self.friction)
        switches = switches_for(moved, solver, *asked, self.leave_out)
        return Understood(given, efforts, events, controllers, switches)

    def prepared(self, understood: Understood) -> Prepared:
        """Return all that motions with the same values share: equations and machine code."""
        given, switches, solver = understood.given, understood.switches, self.settings.solver
        moving = switches.bare(given.mechanism)
        free = given.names(moving)
        booked = self.books and solver.switches and can_be_booked(self.source)
        model = model_of(
            moving, self.leave_out, solver, free, rows=switches.has_rows, reduce=self.reduce
        )
        machine = machine_of(
            given.settled(moving),
            model,
            understood.efforts,
            understood.events,
            hold=self.hold,
            solver=solver,
            keeper=self.keeper,
            switches=switches,
            books=booked,
            leave_out=self.leave_out,
            controllers=understood.controllers,
            stabilise=self.stabilise,
            free=tuple(given.values),
            cached=self._cached(understood.efforts),
        )
        return Prepared(self, understood, model, machine, booked)

    def _cached(self, efforts: Efforts) -> LruCache[tuple[Machine, Model]]:
        return self.own if self.own is not None and efforts.has_functions else MACHINES


@dataclass(frozen=True, eq=False)
class Understood:
    """What was asked for, as it is with the values of one motion."""

    given: Parameters
    efforts: Efforts
    events: tuple[Event, ...]
    controllers: tuple[Controller, ...]
    switches: Switches


@dataclass(frozen=True, eq=False)
class Prepared:
    """What is asked for as machine code, for any number of motions from states of their own."""

    task: Task
    understood: Understood
    model: Model
    machine: Machine
    is_booked: bool

    def run(
        self,
        q0: Any,
        qd0: Any,
        x0: Any,
        *,
        resume: Run | None = None,
        progress: Callable[[float], None] | None = None,
        checkpoint: Callable[[Run], None] | None = None,
        ear: Ear | None = None,
    ) -> Run:
        """Return the motion from a state, or on from where a run stands.

        Ctrl-C is heard by `ear`, which several motions may share, or by one of its own.
        """
        task, asked = self.task, self.understood
        moved, switches = asked.given.mechanism, asked.switches
        p = self.machine.layout.fresh()
        given = task.given(asked.given.values)
        first = {"q0": q0, "qd0": qd0, "x0": x0, "fixed": task.fixed}
        digests = digests_of({**given, **self._start_given(first)})
        if resume is None:
            start, remarks = self._begun(q0, qd0, x0, p)
        else:
            named = {name: text for name, text in digests.items() if first.get(name, 0) is not None}
            request = Request(moved, task.span, task.times, named, task.has_times)
            start = resumed(resume, request, self.machine, p)
            self.machine.find_redundant(start.t, start.y, p)
            digests = dict(resume.about.given)
            notes = (UNCOMPARED,) if has_functions(given) else ()
            remarks = Remarks(tuple(dict.fromkeys((*resume.report, *notes))))
        directions = [event.direction for event in asked.events] + switches.directions
        solver, breaks = task.settings.solver, asked.efforts.breaks
        integrator = solver.start(
            self.machine, task.settings, start.t, start.y, p, directions, breaks
        )
        switching = Switching(integrator, switches, task.settings.step) if switches else None
        runner = Runner(integrator, asked.events, moved.nq, switching)
        start.remind(runner, task.settings.numbers)
        columns = Columns(self.machine, asked.efforts, is_held=task.hold, has_books=self.is_booked)
        about = replace(self.about, given=digests)
        recording = Recording(
            moved, self.model, solver.name, about, columns, switches, start.before, remarks
        )
        return carried_out(recording, runner, task.span[1], start.times, progress, checkpoint, ear)

    @property
    def about(self) -> About:
        """What is known of a run before it begins."""
        task, asked = self.task, self.understood
        told = (task.settings.numbers, asked.given.values, tuple(task.leave_out))
        return About(task.span, END, *told, opened=asked.switches.opened)

    def _start_given(self, first: Mapping[str, Any]) -> dict[str, Any]:
        """Return how a motion begins, its state as it is meant, not as it is written."""
        mechanism = self.understood.given.mechanism
        state = initial_state(mechanism, first["q0"], first["qd0"])
        return {**first, "q0": state[: mechanism.nq], "qd0": state[mechanism.nq :]}

    def _begun(self, q0: Any, qd0: Any, x0: Any, p: Array) -> tuple[Start, Remarks]:
        task, switches = self.task, self.understood.switches
        moved, machine, first = self.understood.given.mechanism, self.machine, task.span[0]
        begun = beginning(switches.bare(moved), q0, qd0, first, task.fixed)
        y = whole_state(moved, begun.q, begun.qd, x0, machine.equations.nx)
        start = Start(first, machine.start_state(first, y, p), task.times)
        check_resistance(machine.equations, first, start.y, p)
        lowest = machine.layout.part(p, "lowest")
        return start, Remarks(begun.notes, None if switches else lowest.copy())
