"""Events: functions of time and state whose zeros are noted, or end or change the motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import Error, RunError
from chainform.expressions import format_expression
from chainform.given import Given, argument, real_array
from chainform.mechanism import LawReader, Mechanism, kinks_of, law_reader

Array = NDArray[np.float64]
Change: TypeAlias = Callable[[float, Array, Array], tuple[Array, Array]]
"""A function of t, q and qd that returns q and qd as they are after an event."""

DIRECTIONS = {"both": 0.0, "rising": 1.0, "falling": -1.0}
FIELDS = ("law", "direction", "stop", "change")
ENDINGS = (END, INTERRUPTED, FAILED) = ("end", "interrupted", "failed")
"""How a motion ends where no event ends it: an event of such a name could not be distinguished."""


@dataclass(frozen=True, repr=False)
class Event(Displayed):
    """A zero of a law: which way the law goes (rising, falling, both), and what happens then.

    Without `stop` and `change` the event is noted and the motion goes on. In a table of events the
    key is its name.
    """

    law: Any
    direction: str = "both"
    stop: bool = False
    change: Change | None = None
    name: str = ""

    @property
    def is_kink(self) -> bool:
        """Whether it only keeps steps from going over a kink of an actuator."""
        return isinstance(self.law, Kink)

    @property
    def sign(self) -> float:
        """The sign of the law's rate at the event; 0 for any."""
        return DIRECTIONS[self.direction]

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


@dataclass(frozen=True)
class Kink:
    """What is zero where a law of an actuator has a kink or a jump, in place of a law of events."""

    place: int
    """That of the actuator in u."""
    number: int
    """Which of the kinks of the actuator it is."""


def kinks_in(mechanism: Mechanism) -> tuple[Event, ...]:
    """Return events at the kinks of all actuators, at which steps end; they are not noted."""
    found: list[Event] = []
    for place, actuator in enumerate(mechanism.actuators):
        kinks = kinks_of(actuator, mechanism)
        for kink in dict.fromkeys(kinks):
            name = f"{actuator.name}: zero of {format_expression(kink)}"
            found.append(Event(Kink(place, kinks.index(kink)), name=name))
    return tuple(found)


@dataclass(frozen=True, repr=False)
class EventRecord(Displayed):
    """An event that was met: its name, when, and the state then."""

    name: str
    t: float
    q: Array
    qd: Array


@dataclass(frozen=True, repr=False)
class Impact(EventRecord):
    """An impact: the state before it, the rates after it, the impulses (N s, N m s) of the gaps
    that took part, by name, and the energy it took (J).
    """

    qd_after: Array
    impulses: dict[str, float]
    loss: float


@dataclass(frozen=True, eq=False, repr=False)
class StateChange(Displayed):
    """A moment between two smooth stretches of a motion: what was met, and the rows around it.

    `met` are numbers of what was watched: events that were requested, then those of stops, contacts
    and friction in the order of their rows; there are none at the start. `before` and `after` are
    rows of output: a state, then what enters the equations with it.
    """

    t: float
    met: tuple[int, ...]
    before: Array
    after: Array
    is_regular: bool = True
    """Whether what happened follows from the state, and was not a step across."""


def _no_state(where: str, message: str, q: Array, qd: Array) -> RunError:
    return RunError(
        message,
        element=where,
        remedy=f"return q and qd as they are after it: {len(q)} and {len(qd)} numbers",
    )


def events_of(mechanism: Mechanism, events: Mapping[str, Any] | None) -> list[Event]:
    """Return checked events: `{"half turn": "q1 - pi", "ground": {"law": "y", "stop": True}}`."""
    given, laws = argument("events", {} if events is None else events), law_reader(mechanism)
    return [
        _event(checked_name(name), entry.at(f"event {name!r}"), laws)
        for name, entry in given.table(remedy='{"top": "q1"}').items()
    ]


def checked_name(name: object) -> str:
    """Return the name of an event; RunError for one that cannot be shown, or that means an end."""
    given = argument(f"event {str(name)[:40]!r}", str(name))
    if given.name() in ENDINGS:
        remedy = "choose another name: this one says that a motion ended without an event"
        raise given.error(f"{name!r} is no name for an event", remedy)
    return given.name()


def _event(name: str, given: Given, laws: LawReader) -> Event:
    table = given.table(FIELDS) if given.is_table else given.holding({"law": given.value})
    direction, stop, change = table["direction"], table["stop"], table["change"]
    if change.is_given and not callable(change.value):
        remedy = "let it return q and qd as they are after it"
        raise change.error("change is a function of (t, q, qd)", remedy)
    return Event(
        laws.law(table["law"]),
        direction.choice(tuple(DIRECTIONS)) if direction.is_given else "both",
        stop.flag() if stop.is_given else False,
        cast("Change | None", change.value),
        name,
    )
