"""Events: functions of time and state whose zeros are noted, or end or change the motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.given import real_array
from chainform.mechanism import Mechanism, Number, law_reader
from chainform.mechanism.intake import Intake
from chainform.mechanism.laws import LawIntake
from chainform.simulation.about import END, FAILED, INTERRUPTED

Array = NDArray[np.float64]
Change: TypeAlias = Callable[[float, Array, Array], tuple[Array, Array]]
"""A function of t, q and qd that returns q and qd as they are after an event."""

DIRECTIONS = {"both": 0.0, "rising": 1.0, "falling": -1.0}
FIELDS = ("law", "direction", "stop", "change")
ENDINGS = (END, INTERRUPTED, FAILED)
"""How a motion ends where no event ends it: an event of such a name could not be told from it."""


@dataclass(frozen=True)
class Event:
    """A zero of a law: what it is called, which way the law goes, and what happens then.

    Without `stop` and `change` the event is noted and the motion goes on.
    """

    name: str
    law: Number
    direction: float = 0.0
    stop: bool = False
    change: Change | None = None

    def changed(self, t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        """Return what `change` makes of a state, checked; RunError where that is no state."""
        where = f"event {self.name!r}, change"
        assert self.change is not None
        try:
            found: Any = self.change(t, q.copy(), qd.copy())
        except Error:
            raise
        except Exception as problem:
            raise RunError(
                f"the function raised {type(problem).__name__}: {problem}",
                element=where,
                remedy="the cause is shown above",
            ) from problem
        try:
            after_q, after_qd = (np.array(real_array(where, part)) for part in found)
        except (RunError, TypeError, ValueError):
            raise _no_state(where, f"it returned {found!r}", q, qd) from None
        shapes = (after_q.shape, after_qd.shape)
        if shapes != (q.shape, qd.shape):
            raise _no_state(where, f"it returned the shapes {shapes[0]} and {shapes[1]}", q, qd)
        if not (np.isfinite(after_q).all() and np.isfinite(after_qd).all()):
            raise _no_state(where, "it returned numbers that are not finite", q, qd)
        return after_q, after_qd


def _no_state(where: str, message: str, q: Array, qd: Array) -> RunError:
    return RunError(
        message,
        element=where,
        remedy=f"return q and qd as they are afterwards: {len(q)} and {len(qd)} numbers",
    )


def events_of(mechanism: Mechanism, said: Mapping[str, Any] | Sequence[Any] | None) -> list[Event]:
    """Return checked events: `{"half turn": "q1 - pi", "ground": {"law": "y", "stop": True}}`."""
    if said is None:
        return []
    if not isinstance(said, Mapping):
        raise RunError("events are a table by names", element="events", remedy='{"top": "q1"}')
    laws = law_reader(mechanism)
    return [_event(checked_name(name), given, laws) for name, given in said.items()]


def checked_name(name: object) -> str:
    """Return the name of an event; RunError for one that cannot be shown, or that means an end."""
    where, text = f"event {str(name)[:40]!r}", Intake().text(str(name), "events")
    if text in ENDINGS:
        remedy = "choose another name: a motion that no event ends is said to end so"
        raise RunError(f"{text!r} is no name for an event", element=where, remedy=remedy)
    return text


def _event(name: str, given: Any, laws: LawIntake) -> Event:
    where = f"event {name!r}"
    table = cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {"law": given}
    for key in table:
        if key not in FIELDS:
            raise RunError(f"unknown field {key!r}", element=where, remedy=", ".join(FIELDS))
    direction = table.get("direction", "both")
    if not isinstance(direction, str) or direction not in DIRECTIONS:
        raise RunError(
            f"{direction!r} is no direction", element=where, remedy=", ".join(DIRECTIONS)
        )
    law = laws.law(table.get("law"), f"{where}, law")
    change = table.get("change")
    if change is not None and not callable(change):
        remedy = "let it return q and qd as they are afterwards"
        raise RunError("change is a function of (t, q, qd)", element=where, remedy=remedy)
    stop = table.get("stop", False)
    if not isinstance(stop, bool):
        raise RunError(f"stop is {stop!r}", element=where, remedy="true or false")
    return Event(name, law, DIRECTIONS[direction], stop, cast("Change | None", change))
