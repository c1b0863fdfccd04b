"""The options of a problem: what may be given of it besides its mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from os import PathLike
from typing import Any, TypedDict, cast

from chainform.errors import RunError
from chainform.given import Given
from chainform.mechanism import Mechanism
from chainform.runtime import CodeStorage
from chainform.simulation.equations.efforts import Forces
from chainform.simulation.equations.events import Event
from chainform.simulation.equations.parameters import FoundForces
from chainform.simulation.files.formats import motion_file
from chainform.simulation.machine.method import Solver
from chainform.simulation.run import Run


class ProblemOptions(TypedDict, total=False):
    """What may be given of a problem besides its mechanism; `simulate` tells what each means."""

    q0: Any
    qd0: Any
    x0: Any
    values: Mapping[str, Any] | None
    t: tuple[float, float] | float
    t_eval: Any
    forces: Forces | None
    signals: Forces | None
    motion: Mapping[str, Any] | Run | str | PathLike[str] | None
    unknowns: Mapping[str, Any] | FoundForces | None
    controllers: Mapping[str, Any] | None
    fixed: Sequence[str] | None
    stabilise: Any
    hold: float | None
    events: Mapping[str, Any] | Sequence[Event] | None
    method: str | Solver
    rtol: float
    atol: float | None
    step: float | None
    largest: float | None
    without: Sequence[str]
    reduce: str
    stops: Any
    contacts: Any
    friction: Mapping[str, float] | None
    energy_balance: bool
    code_cache: CodeStorage | None


DEFAULTS: ProblemOptions = {
    "t": (0.0, 1.0),
    "stabilise": "projection",
    "method": "verner65",
    "rtol": 1e-9,
    "without": (),
    "reduce": "none",
    "energy_balance": True,
}
"""The options that are not None where they are not given."""

LAWS = ("forces", "signals", "controllers", "events", "stops", "contacts", "friction")
"""The options that decide how a motion goes, apart from its start and its solver."""


NAMES = tuple(ProblemOptions.__annotations__)


def check_names(options: Mapping[str, Any]) -> None:
    """Refuse an option that there is not, as Python does."""
    for name in options:
        if name not in NAMES:
            close = get_close_matches(name, NAMES, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise TypeError(f"there is no option {name!r} of a problem{hint}")


def solver_of(options: Mapping[str, Any], given: Mapping[str, Any]) -> Solver:
    """Return the solver of options, which is a value, or a name with its numbers next to it."""
    numbers, method = ("rtol", "atol", "step", "largest"), options["method"]
    if not isinstance(method, Solver):
        return Solver(method, *(options[name] for name in numbers))
    for name in numbers:
        if name in given:
            remedy = f"write {name} in Solver(...) only"
            raise RunError(f"{name} stands next to a solver", element=name, remedy=remedy)
    return method


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
