"""One state after the other: nanoseconds per call in a compiled loop, and per call from Python."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pinocchio_oracle import pin
from speed_peers import casadi_c, ours, pinocchio_cpp
from speed_peers.build import Workshop, casadi_folder
from speed_peers.cases import Array, Case
from speed_peers.measure import STATES, Competitor, Loop, Timing, in_turn, seconds_of
from speed_peers.ours import ours_of

PEERS = (casadi_c.TITLE, pinocchio_cpp.TITLE)
HEADER = (
    "robot",
    "quantity",
    *(f"{title}, ns" for title in (*PEERS, ours.TITLE)),
    *(f"{title} / {ours.TITLE}" for title in PEERS),
    f"{pinocchio_cpp.TITLE} / {casadi_c.TITLE}",
)
CALL_HEADER = ("robot", "quantity", "CasADi, ns", "pinocchio, ns", "chainform, ns")
DASH = "-"
Call = Callable[[Array, Array, Array], object]


def rows(
    workshop: Workshop, cases: Sequence[Case], quantities: Sequence[str], rounds: int, turn: int
) -> Iterator[Sequence[str]]:
    """Go through robots and quantities; each turn of a competitor takes `turn` milliseconds."""
    loop = Loop(workshop)
    for case in cases:
        for quantity in quantities:
            yield row(workshop, loop, case, quantity, rounds, turn)


def row(
    workshop: Workshop, loop: Loop, case: Case, quantity: str, rounds: int, turn: int
) -> Sequence[str]:
    """Check and time all competitors of one robot and quantity."""
    size, states = case.size(quantity), case.states(STATES)
    measures: dict[tuple[str, str], Callable[[], float]] = {}
    for each in competitors(workshop, case, quantity):
        found = loop.values(each, quantity, case.few, size)
        case.verify(f"{each.title} ({each.variant})", quantity, found)
        timer = loop.timer(each, quantity, states, size, turn)
        measures[each.title, each.variant] = timer
    taken = in_turn(measures, rounds)
    times = [_time(taken.get(title)) for title in (*PEERS, ours.TITLE)]
    own, (casadi, pinocchio) = taken.get(ours.TITLE), (taken[title] for title in PEERS)
    ratios = [_ratio(casadi, own), _ratio(pinocchio, own), _ratio(pinocchio, casadi)]
    return [case.name, quantity, *times, *ratios]


def competitors(workshop: Workshop, case: Case, quantity: str) -> list[Competitor]:
    """Return all that compute a quantity; ours only if it is there."""
    peers = casadi_c.competitors(workshop, case, quantity)
    peers += pinocchio_cpp.competitors(workshop, case, quantity)
    return [*peers, ours_of(case).competitor(quantity)]


def _time(timing: Timing | None) -> str:
    if timing is None:
        return DASH
    return f"{timing.best:.0f} ({timing.variant})" if timing.variant else f"{timing.best:.0f}"


def _ratio(top: Timing | None, bottom: Timing | None) -> str:
    return top.per(bottom) if top and bottom else DASH


# --- from Python ----------------------------------------------------------------------------


def call_rows(
    workshop: Workshop, cases: Sequence[Case], quantities: Sequence[str], rounds: int
) -> Iterator[Sequence[str]]:
    """Go through robots and quantities: one state, called from Python with NumPy's arrays."""
    for case in cases:
        for quantity in quantities:
            calls = python_calls(workshop, case, quantity)
            states = case.states(1)
            state = (states.q[0], states.qd[0], states.third(quantity)[0])
            measures = {(title, ""): _per_call(call, state) for title, call in calls.items()}
            taken = in_turn(measures, rounds)
            titles = ("CasADi", "pinocchio", "chainform")
            yield [case.name, quantity, *(_time(taken.get(title)) for title in titles)]


def _per_call(call: Call, state: tuple[Array, Array, Array], calls: int = 1000) -> Any:
    def many() -> None:
        for _ in range(calls):
            call(*state)

    return lambda: seconds_of(many) / calls * 1e9


def python_calls(workshop: Workshop, case: Case, quantity: str) -> dict[str, Call]:
    """Return what users of each library call; the time does not depend on the order of joints."""
    source = casadi_c.sources(workshop, case, quantity)[0]
    library = casadi_c.compiled(workshop, case, source)
    calls: dict[str, Call] = {
        "CasADi": _imported_casadi(workshop).external(source.stem, str(library)),
        "pinocchio": _pinocchio_call(case, quantity),
    }
    return calls | {"chainform": ours_of(case).python_call(quantity)}


def _imported_casadi(workshop: Workshop) -> Any:
    folder = str(casadi_folder(workshop).parent)
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module("casadi")


def _pinocchio_call(case: Case, quantity: str) -> Call:
    model, data = case.model, case.model.createData()
    match quantity:
        case "inverse_dynamics":
            return lambda q, qd, qdd: pin.rnea(model, data, q, qd, qdd)
        case "mass_matrix":
            return lambda q, _qd, _qdd: pin.crba(model, data, q)
        case "forward_dynamics":
            return lambda q, qd, tau: pin.aba(model, data, q, qd, tau)
        case _:
            return lambda q, qd, _qdd: pin.computeCoriolisMatrix(model, data, q, qd)
