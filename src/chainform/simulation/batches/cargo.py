"""The arrays of many motions, and the compiled loop over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.batches.watch import Watch
from chainform.simulation.equations import Equations
from chainform.simulation.loops import places
from chainform.simulation.machines.integrator import PATIENCE, TOO_MANY, Integrator
from chainform.simulation.machines.machine import addresses
from chainform.simulation.machines.troubles import runaway

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

NOT_BEGUN, GIVEN_UP = -1, -2
"""The status of a motion that nobody came to, and of one that would never end."""
LIMIT = 100_000
"""After so many steps of a motion the loop comes back, to hear Ctrl-C."""
LINE = 64
"""Bytes of a line of the cache, at whose start vectors begin."""


@dataclass(frozen=True)
class Cargo:
    """The arrays of all motions, and the numbers that they begin with."""

    template: Integrator
    control: Array
    counts: Whole
    y: Array
    p: Array
    times: Array
    out: Array
    marks: Array
    status: Whole
    problems: dict[int, str] = field(default_factory=dict[int, str])

    @property
    def lengths(self) -> Whole:
        """How many entries one motion has in y, p, out and marks."""
        arrays = (self.y, self.p, self.out, self.marks)
        return np.array([int(np.prod(array.shape[1:-1])) for array in arrays])

    def voyage(self, loop: Callable[..., Any]) -> Voyage:
        """Return the loop with these arrays."""
        return Voyage(loop, self, self.lengths)


@dataclass(frozen=True)
class Voyage:
    """A compiled loop over blocks of motions, called by several threads."""

    loop: Callable[..., Any]
    cargo: Cargo
    lengths: Whole

    def go(self, first: int, last: int) -> None:
        """Integrate blocks until each has come to its end, or to a pause."""
        cargo, template = self.cargo, self.cargo.template
        room = aligned((len(template.work) + 1, cargo.y.shape[-1]))
        arrays = (self.lengths, cargo.control, cargo.counts, template.tableau, cargo.y, cargo.p)
        arrays += (room, cargo.times, cargo.out, cargo.marks, template.jumps, cargo.status)
        self.loop(first, last, *addresses(*arrays))

    def go_on(self, block: int, equations: Equations, watch: Watch, *, is_fixed: bool) -> None:
        """Integrate a block that has paused to its end, unless Ctrl-C came, or it has none."""
        cargo, crawling = self.cargo, 0
        control, counts = cargo.control[block], cargo.counts[block]
        while cargo.status[block] == places.PAUSED and not watch.is_over:
            # The call that a pause costs is not counted.
            counts[places.CALLS] -= 1
            time, step = float(control[places.TIME]), float(control[places.STEP])
            left = float(control[places.END]) - time
            crawling = crawling + 1 if left > TOO_MANY * step else 0
            if crawling > PATIENCE and not is_fixed:
                problem = runaway(equations, time, cargo.y[block, :, 0], step, left)
                cargo.status[block], cargo.problems[block] = GIVEN_UP, problem.message
                return
            self.go(block, block + 1)


def aligned(shape: tuple[int, ...]) -> Array:
    """Return zeros that begin at the start of a line of the cache."""
    size = 8 * int(np.prod(shape))
    raw = np.zeros(size + LINE, dtype=np.uint8)
    first = -raw.ctypes.data % LINE
    return raw[first : first + size].view(np.float64).reshape(shape)
