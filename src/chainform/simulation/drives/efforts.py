"""Efforts of a simulation: laws, pieces in time, tables, or functions of Python.

forces={"joint2": "673*t - 508"}                       a law
forces={"joint2": [{"until": 0.5, "law": "3*t"}, {"law": "0"}]}      pieces in time
forces={"joint2": {"t": [0, 1, 2], "values": [0, 5, 0]}}             a table, linear in between
forces={"joint2": lambda t, q, qd: -3 * q[1]}          a function for one joint
forces=lambda t, q, qd: -K @ q                         a function for all of them
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.formulations import generalised_forces
from chainform.graph import Builder, Graph
from chainform.mechanism import Force, Mechanism
from chainform.mechanism.numbers import number_of
from chainform.model.states import evaluate_states

Array = NDArray[np.float64]
Function: TypeAlias = Callable[[float, Array, Array], Any]
Forces: TypeAlias = Mapping[str, Any] | Function


@dataclass(frozen=True)
class Efforts:
    """What drives a mechanism: laws by rate, and functions of Python.

    `functions` has those for single joints by rate; `whole` returns all of tau. `signals` are those
    of actuators, at the rates of the joints that they drive.
    """

    laws: tuple[Force, ...] = ()
    functions: Mapping[int, Function] = field(default_factory=dict[int, Function])
    whole: Function | None = None
    signals: Efforts | None = None

    @property
    def has_functions(self) -> bool:
        """Whether Python is called while the motion is computed."""
        own = bool(self.functions) or self.whole is not None
        return own or (self.signals is not None and self.signals.has_functions)

    @property
    def breaks(self) -> list[float]:
        """The times at which a law begins or ends, so that no step goes over them."""
        times = {
            float(number)
            for force in self.laws
            for number in force.numbers
            if isinstance(number, Fraction)
        }
        return sorted(times.union(self.signals.breaks if self.signals else ()))

    def along(self, mechanism: Mechanism, t: Array, q: Array, qd: Array) -> Array:
        """Return tau (m, nv) at times and states: what laws and functions give there."""
        tau = np.zeros((len(t), mechanism.nv))
        if self.laws and len(t):
            graph = law_graph(mechanism, self.laws)
            given = {"q": q, "qd": qd, "t": t}
            groups = {item.group for item in graph.inputs.values()}
            states = {group: given[group] for group in groups & given.keys()}
            tau += evaluate_states(graph, mechanism, states, {}, None)["tau"]
        if self.has_functions:
            for row, (time, place, rate) in enumerate(zip(t, q, qd, strict=True)):
                tau[row] += self.values(float(time), place, rate, mechanism.nv)
        return tau

    def values(self, t: float, q: Array, qd: Array, size: int) -> Array:
        """Return what the functions of Python give for all rates."""
        tau = np.zeros(size)
        if self.whole is not None:
            tau += np.asarray(self.whole(t, q, qd), dtype=np.float64)
        for rate, function in self.functions.items():
            tau[rate] += float(function(t, q, qd))
        return tau

    def signal_values(self, t: float, q: Array, qd: Array, mechanism: Mechanism) -> Array:
        """Return what the functions of Python give for all signals."""
        if self.signals is None:
            return np.zeros(len(mechanism.actuators))
        by_rate = self.signals.values(t, q, qd, mechanism.nv)
        return by_rate[[actuator.rate for actuator in mechanism.actuators]]


def efforts_of(mechanism: Mechanism, forces: Forces | None) -> Efforts:
    """Return the efforts that were asked for, with all names and laws checked."""
    if forces is None:
        return Efforts()
    if not isinstance(forces, Mapping):
        if not callable(forces):
            raise RunError(
                "forces are a table by joints, or a function of (t, q, qd)", element="forces"
            )
        return Efforts(whole=forces)
    laws: dict[str, object] = {}
    functions: dict[int, Function] = {}
    for joint, given in cast("Mapping[str, Any]", forces).items():
        if callable(given):
            functions[mechanism.rate_index(str(joint))] = given
        elif isinstance(given, Mapping) and "values" in given:
            laws[str(joint)] = pieces_of_table(str(joint), cast("Mapping[str, Any]", given))
        else:
            laws[str(joint)] = given
    bare = replace(mechanism, forces=())
    return Efforts(bare.with_forces(laws).forces if laws else (), functions)


def law_graph(mechanism: Mechanism, laws: Sequence[Force]) -> Graph:
    """Return a graph with the output `tau`: what laws put on all rates."""
    builder = Builder()
    found = generalised_forces(builder, replace(mechanism, forces=tuple(laws)))
    zero = builder.number(0)
    entries = [(f"tau_{i + 1}", found.get(i, zero)) for i in range(mechanism.nv)]
    builder.output("tau", (mechanism.nv,), entries)
    return builder.finish()


def pieces_of_table(joint: str, table: Mapping[str, Any]) -> list[dict[str, object]]:
    """Return a table of values in time as pieces, linear between its entries.

    Before the first time and after the last the effort is that of the nearest entry.
    """
    times, values = ([number_of(x) for x in table.get(key, ())] for key in ("t", "values"))
    known = all(isinstance(x, Fraction) for x in (*times, *values))
    if not known or len(times) != len(values) or not times:
        raise RunError(
            "a table of efforts needs equally many numbers in t and values",
            element=f"forces, {joint}",
            remedy='write {"t": [0, 1, 2], "values": [0, 5, 0]}',
        )
    t, v = cast("list[Fraction]", times), cast("list[Fraction]", values)
    if any(b <= a for a, b in pairwise(t)):
        raise RunError("the times of a table must grow", element=f"forces, {joint}")
    pieces: list[dict[str, object]] = [{"until": t[0], "law": v[0]}]
    for i in range(len(t) - 1):
        slope = (v[i + 1] - v[i]) / (t[i + 1] - t[i])
        law = f"({v[i]}) + ({slope})*(t - ({t[i]}))"
        pieces.append({"until": t[i + 1], "law": law})
    return [*pieces, {"law": v[-1]}]
