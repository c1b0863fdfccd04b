"""What a compiled function takes and gives, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from chainform.display import Displayed
from chainform.emitters.definitions import parameters_of
from chainform.errors import RunError
from chainform.graph import GROUPS, Graph

USUAL = {
    "mass_matrix": ("q",),
    "coriolis": ("q",),
    "gravity": ("q",),
    "coriolis_matrix": ("q", "qd"),
    "bias": ("q", "qd"),
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "tau"),
    "complete_model": ("x", "u"),
    "complete_acceleration": ("x", "u"),
    "complete_drift": ("x",),
    "complete_input": ("x",),
    "drives": ("x", "u"),
}
"""Arguments that a function has in any case, whether its formulas need all of them or not."""


@dataclass(frozen=True, slots=True, repr=False)
class Argument(Displayed):
    """A group of inputs, given as one array of so many numbers."""

    group: str
    length: int


@dataclass(frozen=True, slots=True, repr=False)
class ResultArray(Displayed):
    """An output, given as one array."""

    name: str
    shape: tuple[int, ...]

    @property
    def length(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True, repr=False)
class Signature(Displayed):
    """The arguments, then the results, of a compiled function.

    The groups come in the order q, qd, qdd, tau, sigma, wrench, and last the parameters, if there
    are any.
    """

    arguments: tuple[Argument, ...]
    results: tuple[ResultArray, ...]


def signature_of(
    graph: Graph, outputs: Sequence[str], lengths: Mapping[str, int] | None = None
) -> Signature:
    """Return the signature for some outputs; `lengths` of groups come from the graph unless given.

    A function of rates or accelerations takes all that come before them as well: what needs qdd
    takes q and qd. One of a graph whose inputs are parameters and the time takes these alone.
    """
    needed = graph.cone(graph.output_variables(outputs))
    groups = {graph.inputs[v].group for v in graph.inputs if needed[v]}
    # Expressions may have parameters and time alone; equations of a mechanism have coordinates.
    present = {given.group for given in graph.inputs.values()}
    if present - {"parameter", "t"} or (lengths or {}).get("q") or not present:
        for output in outputs:
            groups.update(USUAL.get(output, ("q",)))
    if groups & {"qdd", "tau"}:
        groups |= {"q", "qd"}
    least = _lengths(graph)
    known = {**least, **(lengths or {}), "parameter": least["parameter"]}
    for group, length in least.items():
        if known[group] < length:
            raise RunError(
                f"{group} has at least {length} entries, not {known[group]}", element=group
            )
    order = [group for group in GROUPS if group != "parameter"] + ["parameter"]
    arguments = tuple(Argument(group, known.get(group, 0)) for group in order if group in groups)
    blocks = [graph.block(name) for name in outputs]
    results = (ResultArray(n, tuple(b.shape)) for n, b in zip(outputs, blocks, strict=True))
    return Signature(arguments, tuple(results))


def _lengths(graph: Graph) -> dict[str, int]:
    lengths: dict[str, int] = {}
    for given in graph.inputs.values():
        lengths[given.group] = max(lengths.get(given.group, 0), given.index + 1)
    lengths["parameter"] = len(parameters_of(graph))
    return lengths
