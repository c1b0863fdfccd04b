"""What variables are computed from: groups of inputs (q, qd, qdd, tau, parameters, ...), as bits.

A = (A + x) - x is true, and may save an operation where A + x is there already. But then A cannot
be had without x any more, and is not a number where x is none. So a sum is written by what needs no
group of inputs other than its own, unless all outputs need the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from chainform.algebra.convert import SumSystem
from chainform.algebra.sums import complete
from chainform.graph import Graph


def group_bits(graph: Graph) -> tuple[list[int], dict[str, int]]:
    """Return the groups that each variable of a graph is computed from, and the bit of each."""
    groups = dict.fromkeys(item.group for item in graph.inputs.values())
    bit = {group: 1 << k for k, group in enumerate(groups)}
    first_factor = graph.factor_start[graph.term_start].tolist()
    factor: list[int] = graph.factor.tolist()
    argument: list[int] = graph.argument.tolist()
    bits = [0] * len(graph)
    for v, item in graph.inputs.items():
        bits[v] = bit[item.group]
    for v in range(len(graph)):
        found = bits[v] | (bits[argument[v]] if argument[v] >= 0 else 0)
        for used in factor[first_factor[v] : first_factor[v + 1]]:
            found |= bits[used]
        bits[v] = found
    return bits, bit


def groups_needed(
    graph: Graph, known: tuple[list[int], dict[str, int]] | None = None
) -> Mapping[str, frozenset[str]]:
    """Return the groups of inputs that each output needs; `known` are the bits of the graph."""
    bits, bit = known or group_bits(graph)
    needed: dict[str, frozenset[str]] = {}
    for name, block in graph.outputs.items():
        found = 0
        for v in block.variables:
            found |= bits[v]
        needed[name] = frozenset(group for group, one in bit.items() if one & found)
    return needed


def needs_more(before: Graph, after: Graph) -> bool:
    """Tell whether an output needs a group of inputs that it did not need before."""
    known = groups_needed(before)
    return any(not groups <= known[name] for name, groups in groups_needed(after).items())


class Needs:
    """The groups that the variables of a system are computed from, found at their first use.

    A variable keeps what it needed when it was first looked at, or less.
    """

    def __init__(self, system: SumSystem) -> None:
        self.system = system
        self.sums = system.sums
        known = group_bits(system.graph)
        self._of_graph = known[0]
        self._known: dict[int, int] = {}
        self._differ = len(set(groups_needed(system.graph, known).values())) > 1

    def of(self, variable: int) -> int:
        """Return the groups that a variable is computed from."""
        birth = self.sums.birth
        known = self._known.get(birth[variable])
        if known is None:
            known = complete(
                self._known, variable, self.sums.names_in, self._computed, birth.__getitem__
            )
        return known

    def allow(self, variable: int, name: int) -> bool:
        """Tell whether a variable may be written by another one."""
        return not self._differ or not self.of(name) & ~self.of(variable)

    def _computed(self, variable: int) -> int:
        if self.sums.terms[variable] is None and variable not in self.sums.argument:
            return self._given(variable)
        found = 0
        for name in self.sums.names_in(variable):
            found |= self._known[self.sums.birth[name]]
        return found

    def _given(self, variable: int) -> int:
        difference = self.system.differences.get(variable)
        if difference is not None:
            return self._of_graph[difference.minuend] | self._of_graph[difference.subtrahend]
        origin = self.system.origin.get(variable)
        return 0 if origin is None else self._of_graph[origin]
