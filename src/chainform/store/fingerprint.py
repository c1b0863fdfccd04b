"""What the formulas of two revisions are worth at one random place, in a finite field.

Two formulas that agree there have the same values, however differently they are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from chainform.graph import Graph

Values = dict[int, int]
"""Variable -> value."""


def fingerprints(
    old: Graph, new: Graph, before: Sequence[int], after: Sequence[int]
) -> tuple[Values, Values]:
    """Return the values of some variables of each of two graphs.

    A parameter that only one side leaves free has its value there; all else is random.
    """
    # Exact arithmetic takes long to import, and only comparisons of revisions need it.
    from chainform.algebra.residues import field_for, residues

    known = _values_of_own(old, new), _values_of_own(new, old)
    numbers = (*old.coefficients, *new.coefficients, *known[0].values(), *known[1].values())
    field = field_for(numbers)
    return residues(old, field, before, known[0]), residues(new, field, after, known[1])


def _values_of_own(graph: Graph, other: Graph) -> Mapping[str, Fraction]:
    """Return the defaults of the inputs that the other graph has not."""
    free = {given.name for given in other.inputs.values()}
    return {
        given.name: given.default
        for given in graph.inputs.values()
        if given.default is not None and given.name not in free
    }
