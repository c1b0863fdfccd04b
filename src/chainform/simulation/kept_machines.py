"""Machine code of the last few systems: who simulates the same again need not wait for it.

Nothing of a motion stays in a machine, unless functions of Python are called: those are not kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeAlias

from chainform.model import Model
from chainform.runtime.locks import Gate
from chainform.simulation.efforts import Efforts
from chainform.simulation.machine import Machine

Parts: TypeAlias = tuple[Hashable, ...]

MOST = 16
"""How many machines are kept."""


class Key:
    """What a machine is made of; its hash is computed once, since mechanisms are long."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.hash = hash(parts)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.parts == other.parts


_kept: OrderedDict[Key, tuple[Machine, Model]] = OrderedDict()
_gate = Gate()


def kept_machine(
    model: Model, efforts: Efforts, further: Parts, make: Callable[[], Machine]
) -> Machine:
    """Return the machine for a model, efforts, and all else that it is made of."""
    key = None if efforts.has_functions else _key(model, efforts, further)
    if key is None:
        return make()
    with _gate.held():
        found = _kept.get(key)
    # The model is kept as well, so that no other one can have its place in memory.
    found = found or (make(), model)
    with _gate.held():
        _kept[key] = found
        _kept.move_to_end(key)
        while len(_kept) > MOST:
            _kept.popitem(last=False)
    return found[0]


def _key(model: Model, efforts: Efforts, further: Parts) -> Key | None:
    """Return the key of a machine; None where something cannot be compared, such as an array."""
    try:
        return Key((id(model), _laws(efforts), *further))
    except TypeError:
        return None


def _laws(efforts: Efforts) -> Hashable:
    signals = None if efforts.signals is None else _laws(efforts.signals)
    return efforts.laws, signals
