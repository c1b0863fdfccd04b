"""Runs a motion from start to end, over the events on the way."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import RunError
from chainform.simulation.equations.controllers import ControlClock
from chainform.simulation.equations.events import Event, EventRecord, StateChange
from chainform.simulation.equations.times import check_size, later
from chainform.simulation.machine.failures import SmallStepError, UnsolvedError, ValuelessEventError
from chainform.simulation.machine.machine import Machine
from chainform.simulation.machine.method import ActiveMotion
from chainform.simulation.machine.pauses import Pause, Throttle
from chainform.simulation.solvers.contact.mode_changes import ModeChanges

Array = NDArray[np.float64]
CLOSED = 1e-8
"""How well loops and constraints are closed in the end (m, rad)."""


def placed(machine: Machine, t: float, y: Array, p: Array) -> Array | None:
    """Return a state with unit quaternions and closed loops; None where there is none near it.

    What stops and contacts do there is left to who decides what holds.
    """
    row_counts, mask = machine.equations.row_counts, machine.layout.part(p, "mask")
    held = mask.copy()
    mask[row_counts.always :] = 0.0
    try:
        found = machine.settled(t, y, p)
        is_closed = np.isfinite(found).all() and _is_closed(machine, t, found, p)
    except UnsolvedError:
        return None
    finally:
        mask[:] = held
    return found if is_closed else None


def _is_closed(machine: Machine, t: float, y: Array, p: Array) -> bool:
    rows, always = machine.equations.rows, machine.equations.row_counts.always
    if not always:
        return True
    residuals = machine.terms(t, y, p)[-2 * rows :][:always]
    return bool(np.abs(residuals).max() < CLOSED)


MOST_AT_ONCE = 100
"""Events without any progress in time after which it goes on by a step across them."""
STANDSTILL = 1e-11
"""What is no progress, as a share of the time to the end."""
SHORTEST, LONGEST = 1e-9, 1e-5
"""The first step (s) across events that come to no end, and the last; each is twice as long."""
WINDOW, TOO_MANY, PATIENCE = 1000, 1e7, 2
"""A motion is given up that has so many events before it, as the last `WINDOW` ones went, so many
times in a row."""


class ZenoDetector:
    """Looks at how fast events follow each other."""

    def __init__(self, t: float) -> None:
        self.count, self.since, self.windows = 0, t, 0

    def is_endless(self, t: float, end: float) -> bool:
        """Note an event at a time; tell whether the end is out of reach."""
        self.count += 1
        if self.count % WINDOW:
            return False
        is_crowded = (end - t) * WINDOW > TOO_MANY * (t - self.since)
        self.windows, self.since = self.windows + 1 if is_crowded else 0, t
        return self.windows >= PATIENCE


class Runner(Displayed):
    """One motion: it asks the integrator for the next stretch until the end is reached.

    There is room for all output from the start. What was computed stays when the motion is
    interrupted or fails.
    """

    def __init__(
        self,
        integrator: ActiveMotion,
        events: Sequence[Event],
        nq: int,
        mode_changes: ModeChanges | None,
        clock: ControlClock,
    ) -> None:
        self.integrator = integrator
        self.clock = clock
        self.requested = events
        self.nq = nq
        self.mode_changes = mode_changes
        self.times = np.zeros(0)
        self.rows = np.zeros((0, integrator.width))
        self.given = 0
        """How many rows of output there are, apart from those of the stretch under way."""
        self.is_under_way = False
        self.records: list[EventRecord] = []
        self.changes: list[StateChange] = []
        self.is_over = False
        """Whether an event ended the motion, and its name."""
        self.ending = ""
        self.is_resumed = False
        """Whether the motion goes on from where it was before."""

    def run(self, end: float, times: Array, pause: Pause | None = None) -> None:
        """Compute the states at `times` up to `end`, or up to an event that ends the motion.

        `pause` is called now and then, however short the stretches between events are.
        """
        check_size(len(times), self.integrator.width)
        self.times, self.rows = times, np.zeros((len(times), self.integrator.width))
        self.given, stuck, before = 0, 0, self.integrator.t
        step, across, crowd = SHORTEST, -np.inf, ZenoDetector(before)
        throttle = Throttle(pause)
        self._sample()
        if self.mode_changes is not None and not self.is_resumed:
            with self._decided(), self._noted(()):
                self.records += self.mode_changes.begin()
        while self.integrator.t < end and not self.is_over:
            found = self._advance(min(end, self.next_sample), throttle)
            if self._sample():
                self._put_out_again()
                if throttle.is_due:
                    throttle.pause(self.integrator.t)
            if not found:
                continue
            if self.integrator.t > before + STANDSTILL * (end - before):
                stuck, before = 0, self.integrator.t
            stuck += 1
            if crowd.is_endless(self.integrator.t, end):
                raise self._crowded(found[0])
            with self._noted(found):
                self._happen(found)
            self._put_out_again()
            if stuck > MOST_AT_ONCE:
                # A time that goes on by itself for longer than a step was not stuck.
                step = 2 * step if before < across + step else SHORTEST
                with self._noted(found, is_regular=False):
                    self._step_across(found[0], step, end)
                stuck, before = 0, self.integrator.t
                across, crowd = before, ZenoDetector(before)
            if throttle.is_due and not self.is_over:
                throttle.pause(self.integrator.t)

    @property
    def next_sample(self) -> float:
        """The time of the next sample of a controller that is sampled by itself."""
        return self.clock.next

    def _sample(self) -> bool:
        """Let the controllers act that are due now; tell whether there are any."""
        motion = self.integrator
        if self.next_sample > later(motion.t):
            return False
        (q, qd), split = self._state(), self.nq + motion.machine.equations.nv
        parts = {"q": q, "qd": qd, "x": motion.y[split:]}
        self.clock.sample(motion.t, parts, motion.machine.layout.part(motion.p, "controls"))
        motion.jump()
        return True

    def _advance(self, end: float, throttle: Throttle) -> tuple[int, ...]:
        """Go to the next events, and return their numbers; none at the end."""
        self.is_under_way = True
        try:
            times = self.times[self.given :]
            times = times[: int(np.searchsorted(times, later(end), "right"))]
            return self.integrator.advance(end, times, throttle.pause)[1]
        except ValuelessEventError as problem:
            if problem.number < len(self.requested):
                problem.element = f"event {self.requested[problem.number].name!r}"
            raise
        except SmallStepError:
            if not self._is_jam_over():
                raise
            return ()
        finally:
            self._keep()

    def _is_jam_over(self) -> bool:
        """Tell whether steps became short because contacts jam, which were stopped then."""
        with self._noted((), is_regular=False):
            news = [] if self.mode_changes is None else self.mode_changes.stop_jammed()
        self.records += news
        return bool(news)

    def _happen(self, found: Sequence[int]) -> None:
        """Let all events happen that are met at once: those requested first, in their order."""
        requested = [self.requested[number] for number in found if number < len(self.requested)]
        for event in requested:
            if event.is_kink:
                continue
            q, qd = self._state()
            self.records.append(EventRecord(event.name, self.integrator.t, q, qd))
            if event.change is not None:
                self._change(event)
            if event.stop and not self.is_over:
                self.is_over, self.ending = True, event.name
        if self.mode_changes is None:
            return
        with self._decided():
            if any(event.change is not None for event in requested):
                self.records += self.mode_changes.settle()
            elif len(found) > len(requested):
                # Of all that begins or ceases to hold now the first one is enough: it looks at all.
                self.records += self.mode_changes.happen(
                    found[len(requested)] - len(self.requested)
                )

    @contextmanager
    def _noted(self, met: tuple[int, ...], *, is_regular: bool = True) -> Generator[None]:
        """Note the state before and after what happens now."""
        t, before = self.integrator.t, self.row()
        yield
        self.changes.append(StateChange(t, met, before, self.row(), is_regular))

    def row(self) -> Array:
        """Return the state now as a row: with all that enters the equations with it."""
        layout, p = self.integrator.machine.layout, self.integrator.p
        acting = p[layout.place("tau") : layout.place("slack")]
        return np.concatenate([self.integrator.y, acting])

    @contextmanager
    def _decided(self) -> Generator[None]:
        """Let stops, contacts and friction decide what holds; RunError where they cannot.

        Numbers that are not finite end the motion in its next step, which names the cause.
        """
        try:
            with np.errstate(all="ignore"):
                yield
        except np.linalg.LinAlgError as problem:
            raise RunError(
                f"stops, contacts and friction have no forces at t = {self.integrator.t:.9g} s: "
                "the mass matrix is singular",
                element="simulate",
                remedy="give what every coordinate moves mass or inertia",
            ) from problem

    def _put_out_again(self) -> None:
        """Let output at the time of events be the state after them, which holds from then on."""
        k = self.given
        while k > 0 and later(self.times[k - 1]) >= self.integrator.t:
            k -= 1
            self.rows[k] = self.row()[: self.integrator.width]

    def _step_across(self, found: int, step: float, end: float) -> None:
        """Go on by a short step where stops and friction change without end."""
        if self.mode_changes is None or found < len(self.requested) or step > LONGEST:
            raise self._standstill(found)
        ahead = self.times[self.given :]
        ahead = ahead[ahead > self.integrator.t]
        room = min(end, float(ahead[0]) if len(ahead) else end) - self.integrator.t
        with self._decided():
            self.records += self.mode_changes.step_over(min(step, room))

    def _state(self) -> tuple[Array, Array]:
        y, nv = self.integrator.y, self.integrator.machine.equations.nv
        return y[: self.nq].copy(), y[self.nq : self.nq + nv].copy()

    def _change(self, event: Event) -> None:
        """Go on from the state that an event makes of the present one, put where it belongs."""
        motion, nv = self.integrator, self.integrator.machine.equations.nv
        q, qd = event.changed(motion.t, *self._state())
        state = np.concatenate([q, qd, motion.y[self.nq + nv :]])
        y = placed(motion.machine, motion.t, state, motion.p)
        if y is None:
            raise RunError(
                "loops and constraints do not close after it",
                element=f"event {event.name!r}, change",
                remedy="return a state near one in which they are closed; "
                "chainform.simulation.assemble finds one",
            )
        motion.restart(y)

    def _standstill(self, found: int) -> RunError:
        t = f"t = {self.integrator.t:.9g} s"
        if found >= len(self.requested) and self.mode_changes is not None:
            return RunError(
                f"stops and friction change without end at {t}",
                element=self.mode_changes.name_of(found - len(self.requested)),
                remedy="make one of them stiff, or end the motion there by an event",
            )
        if self.requested[found].is_kink:
            return RunError(
                f"a jump in the laws holds the motion at {t}, which the laws do not describe",
                element=f"actuator {self.requested[found].name}",
                remedy="make the law steep in place of the jump: z/sqrt(z^2 + 1e-6) for sign(z); "
                "friction of a joint is in its friction = { coulomb = ... }",
            )
        return RunError(
            f"{self.requested[found].name} happens again and again at {t}",
            element="events",
            remedy="let the event end the motion, or change the state so that it is left",
        )

    def _crowded(self, found: int) -> RunError:
        name = "events"
        if found >= len(self.requested) and self.mode_changes is not None:
            name = self.mode_changes.name_of(found - len(self.requested))
        return RunError(
            f"events follow each other faster and faster at t = {self.integrator.t:.9g} s, and the "
            "end is out of reach",
            element=name,
            remedy="walls that move towards each other with restitution 1 do so: lower it, make "
            "one of them stiff, or end the motion there by an event",
        )

    def _keep(self) -> None:
        """Take over the rows of a stretch."""
        self.given = self._taken_over()
        self.is_under_way = False

    def _taken_over(self) -> int:
        rows = self.integrator.delivered
        self.rows[self.given : self.given + len(rows)] = rows
        return self.given + len(rows)

    def result(self) -> tuple[Array, Array]:
        """Return the times and states so far."""
        given = self._taken_over() if self.is_under_way else self.given
        return self.times[:given], self.rows[:given]
