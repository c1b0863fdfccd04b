"""The entries of q, qd, ..., x, u and force: how many there are, their names, values by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from chainform.errors import RunError
from chainform.given import argument, real_array
from chainform.graph import Graph
from chainform.mechanism import Mechanism

ORDERS = {
    "sigma": "sigma has 6 entries for each frame loop and 3 for each point loop",
    "wrench": "wrench has 6 entries for each frame named in `wrenches`: force, then moment",
    "x": "x holds the states of the actuators, one actuator after the other",
    "u": "u has one signal for each actuator",
    "force": "force has an entry for each unknown force of the element model",
}
"""What the entries of a group are, where they are not those of q or qd."""


def group_length(mechanism: Mechanism, graph: Graph, group: str) -> int:
    """Return how many numbers a group of inputs has."""
    if group == "q":
        return mechanism.nq
    if group == "sigma":
        return sum(6 if loop.kind == "frame" else 3 for loop in mechanism.loops)
    if group in ORDERS:
        used = sum(item.group == group for item in graph.inputs.values())
        # A graph that needs none of them may be given them all the same.
        return used or (0 if group == "wrench" else len(entry_names(mechanism, group)))
    return 1 if group == "t" else mechanism.nv


def entry_names(mechanism: Mechanism, group: str) -> tuple[str, ...]:
    """Return the names of the entries of a group; those of sigma and wrench have none."""
    match group:
        case "q":
            return mechanism.coordinates
        case "x":
            return mechanism.states
        case "u":
            return mechanism.signals
        case "force":
            return mechanism.unknowns
        case "sigma" | "wrench":
            return ()
        case _:
            return mechanism.rates


def place_of(mechanism: Mechanism, group: str, name: str) -> int:
    """Return the place of an entry in its group; an actuator's name stands for its signal."""
    if group == "q":
        return mechanism.coordinate_index(name)
    if group not in ORDERS:
        return mechanism.rate_index(name)
    names = entry_names(mechanism, group)
    if name in names:
        return names.index(name)
    actuators = [actuator.name for actuator in mechanism.actuators]
    if group == "u" and name in actuators:
        return actuators.index(name)
    known = f"the names are {', '.join(names)}" if names else f"give a list; {ORDERS[group]}"
    raise argument(group, name).unknown("entry", names, known)


def from_names(mechanism: Mechanism, group: str, given: Mapping[str, Any], length: int) -> Any:
    """Return the array (..., n) of a group whose entries are given by name."""
    places: dict[int, Any] = {}
    names = entry_names(mechanism, group)
    for name, value in given.items():
        place = place_of(mechanism, group, str(name))
        if place in places:
            remedy = "give each entry once"
            message = f"{group} is given twice for {names[place]}"
            raise RunError(message, element=group, remedy=remedy)
        places[place] = real_array(f"{group}, {name}", value)
    missing = [names[i] if i < len(names) else str(i + 1) for i in range(length) if i not in places]
    if missing:
        remedy = f"give every entry a number, or a batch of numbers: {', '.join(names)}"
        message = f"{group} has no value for {', '.join(missing)}"
        raise RunError(message, element=group, remedy=remedy)
    if not length:
        return np.zeros(0)
    try:
        return np.stack(np.broadcast_arrays(*(places[i] for i in range(length))), axis=-1)
    except ValueError:
        shapes = ", ".join(f"{names[i]} {np.shape(places[i])}" for i in range(length))
        remedy = "give all of them the same shape, or some of them one number"
        message = f"the batches of {group} do not fit together: {shapes}"
        raise RunError(message, element=group, remedy=remedy) from None
