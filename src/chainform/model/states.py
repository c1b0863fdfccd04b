"""Numbers for a model: the entries of q, qd, ..., x, u and force by name; exact parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import DeriveError, ReadError, RunError
from chainform.given import Given, argument, near, real_array
from chainform.graph import BatchPlan, Graph, Input
from chainform.mechanism import Mechanism, number_of
from chainform.model.names import find_block
from chainform.readers import native_text, read_text

# --- entries: how many there are, their names, values by name ------------------------------------


ORDERS = {
    "sigma": "sigma has an entry for each equation of each loop: forces, then moments",
    "wrench": "wrench has 6 entries for each frame named in `wrenches`: force, then moment",
    "x": "x holds the states of the actuators, one actuator after the other",
    "u": "u has one signal for each actuator",
    "force": "force has an entry for each unknown force of the element model",
    "direction": "direction has an entry for each column of the derivative",
    "weights": "weights has an entry for each entry of the output that is differentiated",
}
"""What the entries of a group are, where they are not those of q or qd."""

COUNTED = ("wrench", "direction", "weights")
"""The groups whose entries a graph alone tells."""


def group_length(mechanism: Mechanism, graph: Graph | None, group: str) -> int:
    """Return how many numbers a group of inputs has."""
    if group == "q":
        return mechanism.nq
    if group == "sigma":
        return sum(loop.equations for loop in mechanism.loops)
    if group in ORDERS:
        used = sum(item.group == group for item in graph.inputs.values()) if graph else 0
        # A graph that needs none of them may be given them all the same.
        return used or (0 if group in COUNTED else len(entry_names(mechanism, group)))
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
        case "sigma" | "wrench" | "direction" | "weights":
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


# --- numbers: checked, laid out, evaluated -------------------------------------------------------


Array = NDArray[np.float64]


def evaluate_states(
    graph: Graph,
    mechanism: Mechanism,
    states: Mapping[str, Any],
    values: Mapping[str, Any],
    outputs: Sequence[str] | None,
) -> dict[str, Array]:
    """Return the named outputs for one state or a batch of states."""
    chosen = [outputs] if isinstance(outputs, str) else outputs
    names = list(graph.outputs if chosen is None else chosen)
    blocks = {name: find_block(graph, name) for name in names}
    entries = [v for block in blocks.values() for v in block.variables]
    wanted = np.unique(np.asarray(entries, dtype=np.int32))
    plan = BatchPlan(graph, wanted)
    arrays = _arrays(mechanism, graph, states)
    parameters = _parameters(graph, values)
    batch = batch_shape(arrays, parameters)
    inputs = {v: _column(graph.inputs[v], arrays, parameters, batch) for v in plan.inputs}
    size = int(np.prod(batch, dtype=np.int64))
    results = plan.run(inputs, size)
    place = {int(v): row for row, v in enumerate(wanted)}
    return {
        name: _shaped(results[[place[v] for v in block.variables]], batch, block.shape)
        for name, block in blocks.items()
    }


def input_values(
    graph: Graph, mechanism: Mechanism, states: Mapping[str, Any], values: Mapping[str, Any]
) -> tuple[tuple[int, ...], list[dict[str, float]]]:
    """Return the shape of a batch and, for each of its states, the inputs by name.

    Inputs that are not given are left out, since not every quantity needs all of them.
    """
    arrays = _arrays(mechanism, graph, states)
    parameters = _parameters(graph, values)
    batch = batch_shape(arrays, parameters)
    size = int(np.prod(batch, dtype=np.int64))
    columns = {
        item.name: np.broadcast_to(_column(item, arrays, parameters, batch), (size,)).tolist()
        for item in graph.inputs.values()
        if item.group in arrays or item.name in parameters or item.default is not None
    }
    return batch, [{name: column[i] for name, column in columns.items()} for i in range(size)]


def _shaped(rows: Array, batch: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    return np.ascontiguousarray(rows.T).reshape((*batch, *shape))


def _arrays(mechanism: Mechanism, graph: Graph, states: Mapping[str, Any]) -> dict[str, Array]:
    """Return every group that is given as an array; tau may be a function of (t, q, qd)."""
    lengths = {group: group_length(mechanism, graph, group) for group in states}
    given = {group: state for group, state in states.items() if not callable(state)}
    arrays = {g: state_array(mechanism, g, state, lengths[g]) for g, state in given.items()}
    for group in states.keys() - given.keys():
        if group != "tau":
            raise RunError(
                f"{group} cannot be a function", element=group, remedy="only tau may be one"
            )
        _check_function(states[group])
        time = arrays["t"][..., 0] if "t" in arrays else None
        found = states[group](time, arrays.get("q"), arrays.get("qd"))
        arrays[group] = state_array(mechanism, group, found, lengths[group])
    return arrays


def _check_function(tau: Callable[..., Any]) -> None:
    """Refuse a function that does not take t, q and qd."""
    try:
        inspect.signature(tau).bind(None, None, None)
    except ValueError:
        return  # it does not tell what it takes
    except TypeError:
        raise RunError(
            "the function does not take three arguments",
            element="tau",
            remedy="write a function of t, q and qd: tau=lambda t, q, qd: -3*q - qd",
        ) from None


def state_array(mechanism: Mechanism, group: str, given: Any, length: int) -> Array:
    """Return the values of a group as an array whose last dimension has a length, that of t 1."""
    if group == "t":
        return real_array(group, given)[..., np.newaxis]
    if isinstance(given, Mapping):
        by_name = cast(Mapping[str, Any], given)
        given = from_names(mechanism, group, by_name, length)
    array = real_array(group, given)
    if array.ndim == 0 or array.shape[-1] != length:
        raise RunError(
            f"{group} has the shape {array.shape}, its last dimension must be {length}",
            element=group,
            remedy=ORDERS.get(group) or f"the order is {', '.join(entry_names(mechanism, group))}",
        )
    if group == "q":
        _check_quaternions(mechanism, array)
    return array


def _check_quaternions(mechanism: Mechanism, q: Array) -> None:
    """Refuse quaternions that are not of unit length: they are no rotations."""
    for segment in mechanism.segments:
        if segment.joint.kind.has_quaternion and segment.coordinate is not None:
            last = segment.coordinate + segment.joint.kind.coordinates
            lengths = np.linalg.norm(q[..., last - 4 : last], axis=-1)
            if np.any(np.abs(lengths - 1) > _QUATERNION_TOLERANCE):
                worst = lengths.flat[int(np.argmax(np.abs(lengths - 1)))]
                raise RunError(
                    f"the quaternion of {segment.joint.name} has the length {worst:.6g}",
                    element="q",
                    remedy="divide its four entries (x y z w) by their length",
                )


_QUATERNION_TOLERANCE = 1e-4


def _parameters(graph: Graph, values: object) -> dict[str, Array]:
    """Return the values of parameters, after a check that each of them is free."""
    free = [item.name for item in graph.inputs.values() if item.group == "parameter"]
    table = argument("values", values).table(remedy='write values={"name": number}').value
    for name in table:
        if name not in free:
            remedy = "every parameter is a number here; derive with parameters='symbolic' or a "
            remedy = "" if free else remedy + "list of names to keep some free"
            raise argument(name, name).unknown("free parameter", free, remedy)
    return {name: real_array(name, value) for name, value in table.items()}


def batch_shape(arrays: Mapping[str, Array], parameters: Mapping[str, Array]) -> tuple[int, ...]:
    """Return the leading dimensions that states and parameters have in common."""
    batches = {group: array.shape[:-1] for group, array in arrays.items()}
    batches |= {name: array.shape for name, array in parameters.items()}
    try:
        return np.broadcast_shapes(*batches.values())
    except ValueError:
        large = {name: shape for name, shape in batches.items() if shape}
        raise RunError(
            "the batches do not fit together: "
            + ", ".join(f"{name} {shape}" for name, shape in large.items()),
            element=", ".join(large),
            remedy="all dimensions but the last, and all of t and of parameters, are the batch",
        ) from None


def _column(
    given: Input,
    arrays: Mapping[str, Array],
    parameters: Mapping[str, Array],
    batch: tuple[int, ...],
) -> Array | float:
    """Return the values of one input, one per state, or a single number for all of them."""
    if given.group == "parameter":
        if given.name not in parameters:
            if given.default is None:
                raise RunError(
                    f"no value is given for the free parameter {given.name}",
                    element=given.name,
                    remedy=f"values={{{given.name!r}: ...}}",
                )
            return float(given.default)
        values = parameters[given.name]
    elif given.group not in arrays:
        example = "t=0.5" if given.group == "t" else f"{given.group}=[...]"
        raise RunError(
            f"{given.group} is needed for these outputs and was not given",
            element=given.group,
            remedy=f"{example}, or ask for outputs that do not depend on it",
        )
    else:
        values = arrays[given.group][..., given.index]
    return np.broadcast_to(values, batch).reshape(-1) if values.ndim else float(values)


# --- free parameters that become numbers, exactly ------------------------------------------------


def exact_values(values: Mapping[str, Any], free: Mapping[str, Any]) -> dict[str, Fraction]:
    """Return numbers for free parameters; refuse other names."""
    for name in values:
        if name not in free:
            listed = (
                f"free are {', '.join(free)}" if free else "every parameter is a number already"
            )
            remedy = f"{listed}; derive it with parameters=[{name!r}] to keep it free"
            remedy = near(name, free, 3) + remedy
            raise DeriveError(f"{name} is not a free parameter", element=name, remedy=remedy)
    return {name: _exact(Given(value, name, raises=DeriveError)) for name, value in values.items()}


def _exact(given: Given) -> Fraction:
    with given.translate_errors():
        number = number_of(given.value)
    if isinstance(number, Fraction):
        return number
    raise given.error("a value may not name parameters", "give a number")


def with_values(
    mechanism: Mechanism, settled: Mechanism, values: Mapping[str, Fraction]
) -> Mechanism:
    """Return the settled mechanism with numbers for parameters, and those that it declares.

    Values with which it is no mechanism are refused: it is stored as text and must read back.
    """
    named = {p.name: p for p in (*mechanism.parameters, *settled.parameters)}
    parameters = tuple(replace(p, value=values.get(p.name, p.value)) for p in named.values())
    bound = replace(settled, parameters=parameters)
    try:
        read_text(native_text(bound), "json")
    except ReadError as problem:
        where = f"{problem.element}: " if problem.element else ""
        message = f"with these values the mechanism is not possible: {where}{problem.message}"
        raise DeriveError(message, element="bind", remedy=problem.remedy) from None
    return bound
