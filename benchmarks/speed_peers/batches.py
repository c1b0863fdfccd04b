"""Inverse dynamics of 100,000 states at once: states per second, on one core and on two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from speed_peers import casadi_c, pinocchio_cpp
from speed_peers.build import Workshop
from speed_peers.casadi_c import BATCH, Batch
from speed_peers.cases import Case, Order, States
from speed_peers.measure import STATES, Loop, Timing, in_turn, seconds_of
from speed_peers.ours import ours_of

NATURAL, COMPONENTS = "chainform, natural order", "chainform, structure of arrays"
PEERS = ("CasADi C in a loop", "CasADi map, called", "CasADi map C", "Pinocchio C++")
OWN = (NATURAL, COMPONENTS)
HEADER = (
    "robot",
    "cores",
    *(f"{title}, states/s" for title in (*PEERS, *OWN)),
    *(f"{own} / {peer}" for own in OWN for peer in PEERS),
)


def rows(workshop: Workshop, cases: Sequence[Case], rounds: int) -> Iterator[Sequence[str]]:
    """Go through robots, on one core and on two."""
    for case in cases:
        for threads in (1, 2):
            yield row(workshop, case, threads, rounds)


def row(workshop: Workshop, case: Case, threads: int, rounds: int) -> Sequence[str]:
    """Check and time all that compute the batch of one robot."""
    states = case.states(BATCH)
    measures: dict[tuple[str, str], Callable[[], float]] = {}
    for key, (batch, order) in batches(workshop, case, states, threads).items():
        _verify(case, key[0], batch, order, states)
        measures[key] = _timer(batch, wall=threads > 1)
    if threads == 1:
        measures |= _loops(workshop, case)
    taken = in_turn(measures, rounds)
    rates = [_rate(taken.get(title)) for title in (*PEERS, *OWN)]
    ratios = [_ratio(taken.get(peer), taken.get(own)) for own in OWN for peer in PEERS]
    return [case.name, str(threads), *rates, *ratios]


def batches(
    workshop: Workshop, case: Case, states: States, threads: int
) -> dict[tuple[str, str], tuple[Batch, Order]]:
    """Return everyone's batch by title and variant, and the order in which its results are."""
    theirs = states.arranged(case.order)
    found = {(PEERS[2], ""): casadi_c.batch(workshop, case, theirs, threads)}
    if threads == 1:
        found[PEERS[1], ""] = casadi_c.called_map(workshop, case, theirs)
    for build in pinocchio_cpp.BUILDS:
        peer = pinocchio_cpp.batch(workshop, case, theirs, build, threads)
        found[PEERS[3], build] = peer
    result = {key: (batch, case.order) for key, batch in found.items()}
    for title, layout in ((NATURAL, "natural"), (COMPONENTS, "components")):
        result[title, ""] = (ours_of(case).batch(states, layout, threads), case.own_order)
    return result


def _loops(workshop: Workshop, case: Case) -> dict[tuple[str, str], Callable[[], float]]:
    """Return the C of one state, called in a compiled loop: seconds for as many states."""
    loop, states = Loop(workshop), case.states(STATES)
    size = case.size("inverse_dynamics")
    found: dict[tuple[str, str], Callable[[], float]] = {}
    for each in casadi_c.competitors(workshop, case, "inverse_dynamics"):
        timer = loop.timer(each, "inverse_dynamics", states, size, 50)
        found[PEERS[0], each.variant] = lambda timer=timer: timer() * 1e-9 * BATCH
    return found


def _verify(case: Case, title: str, batch: Batch, order: Order, states: States) -> None:
    """Check the first and the last states of a batch."""
    batch.run()
    found = order.back(batch.result, "inverse_dynamics")
    for part in (slice(0, 16), slice(BATCH - 16, BATCH)):
        case.verify(title, "inverse_dynamics", found[part], states.part(part))


def _timer(batch: Batch, *, wall: bool) -> Callable[[], float]:
    # On several cores only the wall's clock counts, which also sees other programs: more calls.
    return lambda: seconds_of(batch.run, calls=15 if wall else 3, wall=wall)


def _rate(timing: Timing | None) -> str:
    return f"{BATCH / timing.best:.2e}" if timing else "-"


def _ratio(peer: Timing | None, own: Timing | None) -> str:
    return peer.per(own) if peer and own else "-"
