"""Going on with a run that was interrupted, or beyond its end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.readers import native_text
from chainform.simulation.about import Bookmark
from chainform.simulation.layout import Layout
from chainform.simulation.run import Run
from chainform.simulation.solver import Motion

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Resumption:
    """Where a run goes on, and the times of output that are left."""

    run: Run
    mark: Bookmark
    times: Array

    def put(self, layout: Layout, p: Array) -> None:
        """Write into p what stood there."""
        for name, part in self.mark.parts.items():
            if layout.length(name) == len(part):
                layout.part(p, name)[:] = part

    def remind(self, motion: Motion, settings: dict[str, float | None], method: str) -> None:
        """Let a motion of the same method and settings remember what it knew.

        Its steps are then those that it would have made without a stop.
        """
        about = self.run.about
        if method == self.run.method and settings == about.settings and self.mark.memory:
            motion.recall(self.mark.memory)


def resumption_of(
    run: Run, mechanism: Mechanism, size: int, span: tuple[float, float], times: Array
) -> Resumption:
    """Return where a run goes on; RunError where it is not one of this mechanism and time.

    `size` is the length of the state, `times` all times of output, those before included.
    """
    mark = run.about.bookmark
    if mark is None:
        raise _refusal("the run does not say where it stands", "compute it anew")
    if native_text(run.mechanism) != native_text(mechanism):
        raise _refusal(
            f"the run is one of another mechanism ({run.mechanism.name})",
            "go on with the mechanism as it was; a changed one begins anew",
        )
    if len(mark.y) != size:
        raise _refusal(
            f"the run has {len(mark.y)} states, and now there are {size}",
            "keep actuators, controllers and stops as they were",
        )
    if not span[0] <= mark.t <= span[1]:
        raise _refusal(
            f"the run stands at t = {mark.t:g} s, which is not between {span[0]:g} and {span[1]:g}",
            "give the end of the whole motion, after that time",
        )
    latest = run.t[-1] if len(run.t) else -np.inf
    return Resumption(run, mark, times[(times > latest) & (times >= mark.t)])


def _refusal(message: str, remedy: str) -> RunError:
    return RunError(message, element="resume", remedy=remedy)
