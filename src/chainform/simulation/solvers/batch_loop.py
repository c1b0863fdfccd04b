"""Compiled loops over many motions: each on its own, or several side by side in lanes, in threads.

Arrays have the motions first; in lanes, blocks of them, and the lanes last.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.runtime import CodeStorage, share
from chainform.simulation.equations.builder import Equations
from chainform.simulation.equations.efforts import Efforts
from chainform.simulation.equations.events import Event
from chainform.simulation.equations.times import check_size
from chainform.simulation.machine.failures import (
    failure_of,
    loose_rates,
    runaway,
    unresisted,
    unresisted_rate,
)
from chainform.simulation.machine.layout import Layout
from chainform.simulation.machine.machine import Machine
from chainform.simulation.machine.method import Settings, Statistics
from chainform.simulation.machine.records import (
    EVENT,
    NO_MASS,
    PAUSED,
    REACHED,
    UNRESISTED,
    EventMark,
    Integration,
    Marks,
    Motions,
)
from chainform.simulation.solvers.adaptive import integrate_each
from chainform.simulation.solvers.batch_outcome import BatchOutcome, BatchProgress
from chainform.simulation.solvers.integrator import PATIENCE, TOO_MANY, Integrator
from chainform.simulation.solvers.lanes import LanesMachine

Array = NDArray[np.float64]
NOT_STARTED, GIVEN_UP = -1, -2
"""The status of a motion that nobody came to, and of one that would never end."""
LIMIT = 100_000
"""After so many steps of a motion the loop comes back, to hear Ctrl-C."""
LINE = 64
"""Bytes of a line of the cache, at whose start vectors begin."""


@dataclass(frozen=True)
class BatchArrays:
    """The records of all motions, and the arrays that they hold by their addresses."""

    motions: Motions
    y: Array
    times: Array
    out: Array
    room: tuple[int, ...]
    """The shape of the room for a step."""
    arrays: tuple[Any, ...]
    """What else must live as long as the motions."""
    problems: dict[int, str] = field(default_factory=dict[int, str])

    def of_all(self, *names: str) -> Any:
        """Return a field of all motions, not a copy; one of a record within, by both names."""
        found: Any = self.motions.memory
        for name in names:
            found = found[name]
        return found


@dataclass(frozen=True)
class BlockLoop:
    """A compiled loop over blocks of motions, called by several threads."""

    loop: Callable[..., Any]
    batch: BatchArrays

    def go(self, first: int, last: int) -> None:
        """Integrate blocks until each has come to its end, or to a pause."""
        room = aligned(self.batch.room)
        self.batch.of_all("work")[first:last] = room.ctypes.data
        self.loop(first, last, self.batch.motions.address)

    def go_on(
        self, block: int, equations: Equations, watch: BatchProgress, *, is_fixed: bool
    ) -> None:
        """Integrate a block that has paused to its end, unless Ctrl-C came, or it has none."""
        motion, crawling = self.batch.motions[block], 0
        while motion.status == PAUSED and not watch.is_over:
            # The call that a pause costs is not counted.
            motion.calls -= 1
            step, left = motion.control.length, motion.end - motion.time
            crawling = crawling + 1 if left > TOO_MANY * step else 0
            if crawling > PATIENCE and not is_fixed:
                state = self.batch.y[block, :, 0]
                problem = runaway(equations, motion.time, state, step, left)
                motion.status, self.batch.problems[block] = GIVEN_UP, problem.message
                return
            self.go(block, block + 1)


def aligned(shape: tuple[int, ...]) -> Array:
    """Return zeros that begin at the start of a line of the cache."""
    size = 8 * int(np.prod(shape))
    raw = np.zeros(size + LINE, dtype=np.uint8)
    first = -raw.ctypes.data % LINE
    return raw[first : first + size].view(np.float64).reshape(shape)


class CompiledBatch(ABC):
    """Machine code for many motions, and the arrays around it."""

    def __init__(self, equations: Equations, settings: Settings, efforts: Efforts) -> None:
        self.equations = equations
        self.settings = settings
        self.efforts = efforts
        self.layout = Layout(equations)

    lanes: int
    width: int
    """How many entries p has."""
    together: int
    """How many blocks a thread takes at a time; before each Ctrl-C is checked."""

    @abstractmethod
    def procedure(self) -> Callable[..., Any]:
        """Return the compiled loop over motions."""

    @abstractmethod
    def template(self, t: float) -> Integrator:
        """Return an integrator whose numbers all motions begin with."""

    @abstractmethod
    def raise_pending(self) -> None:
        """Raise what a function of Python raised while machine code was running."""

    @abstractmethod
    def settle(self, t: float, states: Array, p: Array) -> None:
        """Put initial states where they belong."""

    def run(
        self,
        span: tuple[float, float],
        times: Array,
        states: Array,
        parameters: Mapping[str, Array],
        threads: int,
        watch: BatchProgress,
    ) -> BatchOutcome:
        """Run all motions over a span; put out their states at times."""
        p, starts = self._given(parameters, len(states)), states.copy()
        self.settle(span[0], starts, p)
        early = int(np.searchsorted(times, span[0], side="right"))
        loose = loose_rates(self.equations, span[0], starts, p)[:, None] >= 0
        batch = self._loaded(span, times[early:], np.where(loose, np.nan, starts), p)
        loop = self.procedure()
        watch.begin()
        self._launch(batch, loop, threads, watch, len(states))
        self.raise_pending()
        size = self.equations.size
        found = np.moveaxis(batch.out[:, :-1, :size], -1, 1)
        found = found.reshape(len(batch.y) * self.lanes, len(batch.times), size)[: len(states)]
        at_start = np.repeat(starts[:, None], early, axis=1)
        return self._found(batch, np.concatenate([at_start, found], axis=1), starts, p)

    def _loaded(
        self, span: tuple[float, float], times: Array, states: Array, p: Array
    ) -> BatchArrays:
        """Return the arrays of all motions, as they are at the start."""
        template, blocks = self.template(span[0]), -(-len(states) // self.lanes)
        check_size(len(times), template.width, blocks * self.lanes)
        out = aligned((blocks, len(times) + 1, template.width, self.lanes))
        out[:] = np.nan
        marks = Marks(EventMark, blocks * len(template.marks), self.lanes)
        marks.memory.reshape(blocks, len(template.marks))[:] = template.marks.memory
        motions = Motions(Integration, blocks, self.lanes)
        motions.memory[:] = template.integration.memory
        y, given, wanted = self._blocks(states), self._blocks(p), np.ascontiguousarray(times)
        room = (len(template.work) + 1, self.lanes)
        batch = BatchArrays(motions, y, wanted, out, room, (given, marks, template))
        batch.of_all("end")[:], batch.of_all("limit")[:] = span[1], LIMIT
        batch.of_all("status")[:] = NOT_STARTED
        batch.of_all("step", "y")[:] = _addresses(y)
        batch.of_all("step", "p")[:] = _addresses(given)
        batch.of_all("step", "watch", "marks")[:] = _addresses(marks.memory, len(template.marks))
        batch.of_all("output", "rows")[:] = _addresses(out)
        batch.of_all("output", "times")[:] = wanted.ctypes.data
        batch.of_all("output", "count")[:] = len(times)
        return batch

    def _launch(
        self,
        batch: BatchArrays,
        loop: Callable[..., Any],
        threads: int,
        watch: BatchProgress,
        count: int,
    ) -> None:
        """Integrate all blocks, some at a time, in several threads."""
        blocks_loop, is_fixed = BlockLoop(loop, batch), self.settings.step is not None

        def work(piece: range) -> None:
            if watch.is_over:
                return
            blocks_loop.go(piece.start, piece.stop)
            for block in piece:
                blocks_loop.go_on(block, self.equations, watch, is_fixed=is_fixed)
            last = min(piece.stop * self.lanes, count)
            watch.note(last - piece.start * self.lanes)

        blocks, some = len(batch.motions), self.together
        share(work, [range(i, min(i + some, blocks)) for i in range(0, blocks, some)], threads)

    def _found(self, batch: BatchArrays, states: Array, starts: Array, p: Array) -> BatchOutcome:
        """Return what came out; a motion without finite numbers at its end has no end."""
        count = len(states)

        def of_each(*names: str) -> Any:
            return np.repeat(batch.of_all(*names), self.lanes)[:count]

        ends, reason = of_each("time"), of_each("status")
        last = np.moveaxis(batch.y, -1, 1).reshape(-1, batch.y.shape[1])[:count]
        whole = np.isin(reason, (REACHED, EVENT)) & np.isfinite(last).all(axis=1)
        interrupted = np.isin(reason, (NOT_STARTED, PAUSED))
        lost = np.flatnonzero(~whole & ~interrupted)
        failures = of_each("step", "failed")
        problems = {
            int(i): self._problem(int(reason[i]), int(failures[i]), float(ends[i]), starts[i], p[i])
            for i in lost
        }
        problems |= {i: text for i, text in batch.problems.items() if i < count}
        # In lanes nobody looks: what comes after the last finite state is none.
        followed = np.logical_and.accumulate(np.isfinite(states[lost]).all(axis=2), axis=1)
        states[lost] = np.where(followed[..., None], states[lost], np.nan)
        totals = (int(of_each(name).sum()) for name in ("accepted", "rejected", "calls"))
        return BatchOutcome(
            states,
            np.where(whole, ends, np.nan),
            np.where(reason == EVENT, of_each("step", "watch", "first"), -1),
            interrupted,
            Statistics(*totals),
            problems,
        )

    def _problem(self, reason: int, failure: int, time: float, start: Array, p: Array) -> str:
        """Return what is wrong with one motion, in words."""
        if reason == NO_MASS:
            return unresisted(self.equations, UNRESISTED - failure, time).message
        loose = unresisted_rate(self.equations, time, start, p)
        if loose is not None:
            return unresisted(self.equations, loose, time).message
        if reason in (REACHED, EVENT):
            return f"the motion has no finite value at t = {time:.9g} s"
        return failure_of(reason, time).message

    def _given(self, parameters: Mapping[str, Array], count: int) -> Array:
        """Return p for all motions (b, width)."""
        p = np.zeros((count, self.width))
        fresh = self.layout.fresh()
        p[:, : len(fresh)] = fresh
        for place, name in enumerate(self.equations.parameters):
            if name in parameters:
                p[:, place] = parameters[name]
        return p

    def _blocks(self, rows: Array) -> Array:
        """Return rows of motions (b, n) in blocks (blocks, n, lanes), the last filled up."""
        blocks = -(-len(rows) // self.lanes)
        found = aligned((blocks, rows.shape[1], self.lanes))
        filled = np.concatenate([rows, np.repeat(rows[-1:], blocks * self.lanes - len(rows), 0)])
        found[:] = filled.reshape(blocks, self.lanes, -1).swapaxes(1, 2)
        return found


class Each(CompiledBatch):
    """Every motion on its own: steps of its own, closed loops, events, functions of Python."""

    lanes = 1
    together = 4

    def __init__(
        self,
        equations: Equations,
        settings: Settings,
        efforts: Efforts,
        events: Sequence[Event] = (),
        code_cache: CodeStorage | None = None,
        *,
        projects: bool = True,
    ) -> None:
        super().__init__(equations, settings, efforts)
        self.directions = [event.sign for event in events]
        loop = replace(settings.method.loop, procedures=(integrate_each,))
        hold = settings.hold is not None
        self.machine = Machine(
            equations, efforts, hold=hold, loop=loop, code_cache=code_cache, projects=projects
        )
        self.width = len(self.layout.fresh())

    def procedure(self) -> Callable[..., Any]:
        """Return the compiled loop over motions."""
        return self.machine.procedures["integrate_each"]

    def template(self, t: float) -> Integrator:
        """Return an integrator whose numbers all motions begin with."""
        y = np.zeros(self.equations.size)
        return Integrator(
            self.machine,
            self.settings,
            t,
            y,
            self.layout.fresh(),
            self.directions,
            self.efforts.breaks,
        )

    def raise_pending(self) -> None:
        """Raise what a function of Python raised while machine code was running."""
        self.machine.raise_pending()

    def settle(self, t: float, states: Array, p: Array) -> None:
        """Put initial states where they belong: quaternions of length 1, loops closed.

        A state that cannot be put there stays as it is: its motion fails at its start.
        """
        for state, given in zip(states, p, strict=True):
            try:
                state[:] = self.machine.start_state(t, state, given)
            except RunError:
                continue


class Lanes(CompiledBatch):
    """Motions side by side in lanes, with a fixed step."""

    together = 16

    def __init__(
        self,
        equations: Equations,
        settings: Settings,
        efforts: Efforts,
        code_cache: CodeStorage | None = None,
    ) -> None:
        super().__init__(equations, settings, efforts)
        self.machine = LanesMachine(equations, settings.method.loop, code_cache)
        self.lanes, self.width = self.machine.lanes, self.machine.width

    def procedure(self) -> Callable[..., Any]:
        """Return the compiled loop over motions."""
        return self.machine.integrate_each

    def template(self, t: float) -> Integrator:
        """Return an integrator whose numbers all motions begin with."""
        # Of a machine it looks only at what both kinds have: the equations and the layout.
        y, machine = np.zeros(self.equations.size), cast("Machine", self.machine)
        return Integrator(machine, self.settings, t, y, np.zeros(0), (), self.efforts.breaks)

    def raise_pending(self) -> None:
        """Raise nothing: in lanes no function of Python is called."""

    def settle(self, t: float, states: Array, p: Array) -> None:  # noqa: ARG002, as all have it
        """Give quaternions the length 1."""
        for part in self.equations.mechanism.quaternions:
            states[:, part] /= np.linalg.norm(states[:, part], axis=1, keepdims=True)


def _addresses(array: NDArray[Any], each: int = 1) -> NDArray[np.uint64]:
    """Return where each part of an array stands that belongs to one motion: so many entries."""
    return (array.ctypes.data + np.arange(0, len(array), each) * array.strides[0]).astype(np.uint64)
