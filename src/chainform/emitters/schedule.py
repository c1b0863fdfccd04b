"""What a function computes, in which order: angles first, then the rest, in parts of some length.

Sines and cosines of all angles that need none themselves come first, so that they can be computed
side by side. A long function is cut into parts, one after the other, since compilers take more than
in proportion for a long one; what a later part needs goes through a work area.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chainform.emitters.definitions import Definitions, chunks, depth_first
from chainform.emitters.signature import Signature

SINES = ("sin", "cos")


@dataclass(frozen=True)
class Schedule:
    """What a function computes, in this order."""

    before: Sequence[int]
    """What the first angles need."""
    angles: Sequence[int]
    of_angles: Sequence[int]
    """The sines and cosines of these angles."""
    parts: Sequence[Sequence[int]]
    """The rest, cut into functions."""
    known: frozenset[int]
    """What need not be computed."""
    slots: Mapping[int, int] = field(default_factory=dict[int, int])
    """Where in the work area stands what a later part needs."""

    @property
    def work(self) -> int:
        """The length of the work area."""
        return max(self.slots.values(), default=-1) + 1

    def computed_in(self, number: int) -> list[int]:
        """Return what a part computes."""
        first = [*self.before, *self.of_angles] if number == 0 else []
        return [v for v in (*first, *self.parts[number]) if v not in self.known]


def schedule_of(
    definitions: Definitions, wanted: Sequence[int], known: set[int], stores: Mapping[int, int]
) -> Schedule:
    """Return how to compute what is wanted; `stores` is how often a value is stored as a result."""
    angles = _first_angles(definitions, depth_first(definitions, wanted, set(known)))
    done = set(known)
    before = depth_first(definitions, angles, done)
    calls = definitions.graph.call_variables
    of_angles = [v for a in angles for f in SINES if (v := calls.get((f, a))) is not None]
    done.update(of_angles)
    # What is wanted as it is given is only stored.
    after = [v for v in wanted if v in known] + depth_first(definitions, wanted, done)
    parts = chunks(definitions, after, stores) or [[]]
    schedule = Schedule(before, angles, of_angles, parts, frozenset(known))
    if len(parts) == 1:
        return schedule
    return Schedule(
        before, angles, of_angles, parts, schedule.known, _work_slots(definitions, schedule)
    )


def _first_angles(definitions: Definitions, order: Sequence[int]) -> list[int]:
    """Return the angles whose sines and cosines need none themselves."""
    calls = definitions.calls
    with_calls: set[int] = set()
    angles: dict[int, None] = {}
    for v in order:
        if calls[v] or any(u in with_calls for u in definitions.needs(v)):
            with_calls.add(v)
        if calls[v] in SINES and definitions.arguments[v] not in with_calls:
            angles[definitions.arguments[v]] = None
    return list(angles)


def _work_slots(definitions: Definitions, schedule: Schedule) -> dict[int, int]:
    """Return a slot of the work area for everything that a later part needs."""
    computed = [schedule.computed_in(number) for number in range(len(schedule.parts))]
    part_of = {v: number for number, part in enumerate(computed) for v in part}
    last: dict[int, int] = {}
    for number, part in enumerate(schedule.parts):
        for v in part:
            for u in definitions.needs(v):
                if part_of.get(u, number) < number:
                    last[u] = number
    slots: dict[int, int] = {}
    free: list[int] = []
    size = 0
    ends: dict[int, list[int]] = {}
    for number, part in enumerate(computed):
        free += [slots[v] for v in ends.get(number, [])]
        for v in part:
            if v in last:
                if not free:
                    free.append(size)
                    size += 1
                slots[v] = free.pop()
                ends.setdefault(last[v] + 1, []).append(v)
    return slots


def result_entries(
    definitions: Definitions, signature: Signature
) -> dict[int, list[tuple[int, int]]]:
    """Return where each variable goes: numbers of result and entry."""
    entries: dict[int, list[tuple[int, int]]] = {}
    for number, result in enumerate(signature.results):
        for index, v in enumerate(definitions.graph.block(result.name).variables):
            entries.setdefault(v, []).append((number, index))
    return entries
