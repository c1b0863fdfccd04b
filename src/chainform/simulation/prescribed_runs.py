"""A motion that prescribes another one: laws, or a run, or the file of one."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, cast

from chainform.errors import RunError
from chainform.given import Given
from chainform.mechanism import Mechanism
from chainform.simulation.files.formats import motion_file
from chainform.simulation.run import Run


def motion_of(given: Any, mechanism: Mechanism) -> Any:
    """Return a prescribed motion: laws as they are, those of runs as tables of numbers with rates.

    A run, or its file, prescribes all coordinates; as the law of a coordinate it prescribes this.
    """
    run: Any = given
    if isinstance(given, str | PathLike):
        run = Run.load(motion_file(cast("str", given)))
    laws: Any = dict.fromkeys(mechanism.coordinates, run) if isinstance(run, Run) else run
    if not isinstance(laws, Mapping):
        return laws
    each = cast("Mapping[str, Any]", laws).items()
    return {name: _table(name, x) if isinstance(x, Run) else x for name, x in each}


def _table(name: str, run: Run) -> dict[str, Any]:
    """Return the motion of a coordinate in a run."""
    known = run.mechanism
    column = Given(name, "motion", raises=RunError).choice(
        known.coordinates, "coordinate of the run"
    )
    if known.nq != known.nv:
        raise RunError(
            "with a quaternion the rates are no derivatives of the coordinates",
            element=f"motion, {name}",
            remedy='give numbers: {"t": run.t, "values": ..., "smoothing": 0}',
        )
    k = known.coordinates.index(column)
    parts = {"values": run.q, "rates": run.qd, "accelerations": run.qdd}
    return {"t": run.t} | {part: array[:, k] for part, array in parts.items()}
