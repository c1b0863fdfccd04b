"""The result of many simulations at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import Mechanism
from chainform.simulation.about import END, FAILED, INTERRUPTED, About
from chainform.simulation.batches.along import output_along
from chainform.simulation.run import Run
from chainform.simulation.solver import Statistics

Array = NDArray[np.float64]
Truth = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BatchRun:
    """Many motions: `q` (b, m, nq) and `qd` (b, m, nv) at the times `t` (m,).

    `values` are the parameters that were given, (b,) each. `ends` (b,) is when each motion ended;
    it is not a number where the motion has no finite value any more, or could not be followed to
    its end. `events` (b,) is the number of the event that ended it, or -1, and `event_names` what
    they are called. What a motion did not come to is not a number.

    `runs` has each motion as a Run where they were computed one by one; it is empty where they were
    computed side by side. `problems` tells by number, from 0, what went wrong with a motion, and
    `interrupted` (b,) which ones Ctrl-C kept from their end.
    """

    mechanism: Mechanism
    t: Array
    q: Array
    qd: Array
    values: Mapping[str, Array]
    ends: Array
    events: NDArray[np.int64]
    statistics: Statistics = field(default_factory=Statistics)
    method: str = ""
    event_names: tuple[str, ...] = ()
    problems: Mapping[int, str] = field(default_factory=dict[int, str])
    interrupted: Truth = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    runs: tuple[Run, ...] = field(default=(), repr=False)
    about: About = About()
    computed: Mapping[str, Array] = field(default_factory=dict[str, Array], repr=False)
    """What was computed along the motions already, by name: a file brings it along."""

    def __len__(self) -> int:
        return len(self.q)

    @property
    def failed(self) -> Truth:
        """Which motions did not come to an end, (b,)."""
        return np.isnan(self.ends)

    @cached_property
    def endings(self) -> tuple[str, ...]:
        """How each motion ended: end, the name of an event, failed, interrupted."""
        stopped = self.interrupted if len(self.interrupted) else np.zeros(len(self), dtype=np.bool_)
        pairs = zip(self.failed.tolist(), stopped.tolist(), strict=True)
        others = [INTERRUPTED if stop else FAILED if lost else END for lost, stop in pairs]
        events: list[int] = self.events.tolist()
        return tuple(
            self.event_names[event] if event >= 0 else other
            for event, other in zip(events, others, strict=True)
        )

    @property
    def ended(self) -> dict[str, int]:
        """How many motions ended in which way, the most frequent first."""
        return dict(Counter(self.endings).most_common())

    @cached_property
    def energy(self) -> Array:
        """The sum of kinetic and potential energy, that of stiff contacts with it, (b, m)."""
        return self.output("energy")

    def output(self, name: str) -> Array:
        """Return any quantity along the motions, (b, m, ...): "pose(tool)", "energy".

        One that depends on more than coordinates, rates and time is known only where each motion
        was computed by itself.
        """
        return self.computed[name] if name in self.computed else output_along(self, name)

    def save(self, path: str | PathLike[str], outputs: Sequence[str] | None = None) -> None:
        """Write the motions to a file, whose ending tells the form: .parquet, .csv or .npz.

        In NPZ files arrays keep their shapes; in the others each row is one time of one motion.
        Energy and `outputs` are written with them. A file that is there is replaced.
        """
        from chainform.simulation.results.batch_files import write_batch

        write_batch(self, path, outputs)

    @staticmethod
    def load(path: str | PathLike[str]) -> BatchRun:
        """Return the motions in a file that `save` wrote."""
        from chainform.simulation.results.batch_files import read_batch

        return read_batch(path)

    def plot(
        self,
        what: str | Sequence[str] | None = None,
        file: str | PathLike[str] | None = None,
        **options: Any,
    ) -> Any:
        """Return a figure of all motions over time, a thin line for each, and write it to a file.

        `what` is "q", "qd", "energy", or names of coordinates; all coordinates without it.
        """
        from chainform.pictures import plot_batch

        batch: Any = self
        return plot_batch(batch, what, file, **options)
