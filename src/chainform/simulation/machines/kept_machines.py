"""Machine code of the last few systems: who simulates the same again need not wait for it.

Nothing of a motion stays in a machine, unless functions of Python are called: those are kept only
for the motions of one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from chainform.mechanism import Mechanism
from chainform.model import Model
from chainform.runtime import target_for
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
    kept: Recent[tuple[Machine, Model]] = MACHINES,
) -> Machine:
    """Return the machine for a mechanism, its model, efforts, and all else that it is made of.

    One that calls functions of Python is kept only in a place of its own, where all have the same
    functions.
    """
    is_alone = efforts.has_functions and kept is MACHINES
    key = None if is_alone else _key(mechanism, model, efforts, choices)
    if key is None:
        return make()
    return kept.get(key, lambda: (make(), model))[0]


def _key(
    mechanism: Mechanism, model: Model, efforts: Efforts, choices: tuple[Hashable, ...]
) -> Key | None:
    """Return the key of a machine; None where something cannot be compared, such as an array."""
    try:
        return Key((id(model), target_for(), _laws(efforts), *choices), (mechanism,))
    except TypeError:
        return None


def _laws(efforts: Efforts) -> Hashable:
    signals = None if efforts.signals is None else _laws(efforts.signals)
    return efforts.laws, efforts.tables, signals
