"""The arrays of many motions, and the compiled loop over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.batches.watch import Watch
from chainform.simulation.equations import Equations
from chainform.simulation.loops.integration import PAUSED, Motions
from chainform.simulation.machines.integrator import PATIENCE, TOO_MANY
from chainform.simulation.machines.troubles import runaway

Array = NDArray[np.float64]

NOT_BEGUN, GIVEN_UP = -1, -2
"""The status of a motion that nobody came to, and of one that would never end."""
LIMIT = 100_000
"""After so many steps of a motion the loop comes back, to hear Ctrl-C."""
LINE = 64
"""Bytes of a line of the cache, at whose start vectors begin."""


@dataclass(frozen=True)
class Cargo:
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
class Voyage:
    """A compiled loop over blocks of motions, called by several threads."""

    loop: Callable[..., Any]
    cargo: Cargo

    def go(self, first: int, last: int) -> None:
        """Integrate blocks until each has come to its end, or to a pause."""
        room = aligned(self.cargo.room)
        self.cargo.of_all("work")[first:last] = room.ctypes.data
        self.loop(first, last, self.cargo.motions.address)

    def go_on(self, block: int, equations: Equations, watch: Watch, *, is_fixed: bool) -> None:
        """Integrate a block that has paused to its end, unless Ctrl-C came, or it has none."""
        motion, crawling = self.cargo.motions[block], 0
        while motion.status == PAUSED and not watch.is_over:
            # The call that a pause costs is not counted.
            motion.calls -= 1
            step, left = motion.control.length, motion.end - motion.time
            crawling = crawling + 1 if left > TOO_MANY * step else 0
            if crawling > PATIENCE and not is_fixed:
                state = self.cargo.y[block, :, 0]
                problem = runaway(equations, motion.time, state, step, left)
                motion.status, self.cargo.problems[block] = GIVEN_UP, problem.message
                return
            self.go(block, block + 1)


def aligned(shape: tuple[int, ...]) -> Array:
    """Return zeros that begin at the start of a line of the cache."""
    size = 8 * int(np.prod(shape))
    raw = np.zeros(size + LINE, dtype=np.uint8)
    first = -raw.ctypes.data % LINE
    return raw[first : first + size].view(np.float64).reshape(shape)
