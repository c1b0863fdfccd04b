"""Where a motion begins: at the start, or where a run stands that is to go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.readers import native_text, read_text
from chainform.simulation.machines.machine import Machine
from chainform.simulation.run import Run
from chainform.simulation.runner import Runner

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Start:
    """Time and state, the times of output from there on, and the run that goes on."""

    t: float
    y: Array
    times: Array
    before: Run | None = None

    def remind(self, runner: Runner, settings: Mapping[str, float | None], method: str) -> None:
        """Let a motion that goes on with the same method remember what it knew.

        Its steps are then those that it would have made without a stop.
        """
        if self.before is None or self.before.about.bookmark is None:
            return
        about, mark = self.before.about, self.before.about.bookmark
        runner.is_begun = True
        if method == self.before.method and settings == about.settings:
            runner.integrator.recall(mark.memory)
        for event in runner.events:
            if event.stop and event.name == about.ending:
                runner.is_over, runner.ending = True, event.name


def resumed(
    run: Run,
    mechanism: Mechanism,
    machine: Machine,
    p: Array,
    span: tuple[float, float],
    times: Array,
) -> Start:
    """Return where a run goes on, and write into p what stood there.

    `times` are all times of output, those before included. RunError where it is not a run of this
    mechanism and time.
    """
    mark, size = run.about.bookmark, machine.equations.size
    if mark is None:
        raise _refusal("the run does not say where it stands", "compute it anew")
    if not _is_same(run.mechanism, mechanism):
        raise _refusal(
            f"the run is one of another mechanism, or of other values ({run.mechanism.name})",
            "go on with the mechanism and the values as they were, or begin anew",
        )
    if len(mark.y) != size or not np.all(np.isfinite(mark.y)):
        raise _refusal(
            f"the run has {len(mark.y)} states, and now there are {size}",
            "keep forces, actuators, controllers and books as they were",
        )
    if not span[0] <= mark.t <= span[1]:
        raise _refusal(
            f"the run stands at t = {mark.t:g} s, which is not between {span[0]:g} and {span[1]:g}",
            "give the end of the whole motion, after that time",
        )
    for name, part in mark.parts.items():
        if len(part) != machine.layout.length(name):
            raise _refusal(
                f"the run has other {name} than there are now",
                "keep stops, contacts and friction as they were",
            )
        machine.layout.part(p, name)[:] = part
    latest = run.t[-1] if len(run.t) else -np.inf
    left = times[(times > latest) & (times >= mark.t)]
    return Start(mark.t, mark.y.copy(), left, run)


def _is_same(a: Mechanism, b: Mechanism) -> bool:
    """Tell whether two mechanisms are the same, perhaps after one has been in a file."""
    first, second = native_text(a), native_text(b)
    return first == second or first == native_text(read_text(second, "json"))


def _refusal(message: str, remedy: str) -> RunError:
    return RunError(message, element="resume", remedy=remedy)
