"""Machine code of the last few systems: who simulates the same again need not wait for it.

Nothing of a motion stays in a machine, unless functions of Python are called: those are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from chainform.mechanism import Mechanism
from chainform.model import Model
from chainform.simulation.drives.efforts import Efforts
from chainform.simulation.machines.machine import Machine
from chainform.simulation.recent import Key, Recent

MACHINES: Recent[tuple[Machine, Model]] = Recent(16)
"""Each with its model, so that no other one can have the place of that in memory."""


def kept_machine(
    mechanism: Mechanism,
    model: Model,
    efforts: Efforts,
    choices: tuple[Hashable, ...],
    make: Callable[[], Machine],
) -> Machine:
    """Return the machine for a mechanism, its model, efforts, and all else that it is made of."""
    key = None if efforts.has_functions else _key(mechanism, model, efforts, choices)
    if key is None:
        return make()
    return MACHINES.get(key, lambda: (make(), model))[0]


def _key(
    mechanism: Mechanism, model: Model, efforts: Efforts, choices: tuple[Hashable, ...]
) -> Key | None:
    """Return the key of a machine; None where something cannot be compared, such as an array."""
    try:
        return Key((id(model), _laws(efforts), *choices), (mechanism,))
    except TypeError:
        return None


def _laws(efforts: Efforts) -> Hashable:
    signals = None if efforts.signals is None else _laws(efforts.signals)
    return efforts.laws, efforts.tables, signals
