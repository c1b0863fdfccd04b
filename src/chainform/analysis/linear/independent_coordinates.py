"""Independent coordinates and rates of a mechanism with loops and constraints, at a state.

symbol    meaning
J, J_h    rows of loops and constraints; those that bind positions, not only rates
i, d      independent and dependent coordinates

    xi = T_q xi_i        with J_h T_q = 0, and T_q = 1 in the independent rows
    dqd = T_v dqd_i      with J T_v = 0, likewise

Independent are the basic joints of the file, then the first coordinates that the others follow
well. The dependent ones are columns of J that a factorisation with pivots takes first: those in
which a motion of the others shows most. Rates that only nonholonomic constraints bind are chosen
among the independent coordinates, so that fewer rates than coordinates are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.state_accelerations import even_factors, refuse_singular
from chainform.errors import RunError
from chainform.formulations import basic_rates
from chainform.given import argument, counted
from chainform.mechanism import Mechanism
from chainform.simulation import ConstraintResiduals, mobility, rank_of

Array = NDArray[np.float64]

PIVOT = 1e-7
"""Columns of which less than this share is left depend on those taken before."""
GOOD_PIVOT = 1e-2
"""The share that must be left where nobody named the choice, and others can be taken."""


@dataclass(frozen=True)
class IndependentCoordinates:
    """Places of independent coordinates and rates in qd, and how all others follow them.

    `T_q` (nv, freedoms) and `T_v` (nv, free rates) give displacements and rates of all coordinates;
    `notes` tell of equations that follow from others, and of coordinates that cannot move.
    """

    names: tuple[str, ...]
    places: tuple[int, ...]
    rate_places: tuple[int, ...]
    T_q: Array
    T_v: Array
    J: Array
    notes: tuple[str, ...] = ()

    @property
    def in_order(self) -> list[str]:
        """The names, those with independent rates first: given so, they are chosen again."""
        return sorted(
            self.names, key=lambda n: self.places[self.names.index(n)] not in self.rate_places
        )

    def following(self, right: Array) -> Array:
        """Return changes of the rates, zero for independent ones, with which J dqd is `right`."""
        rates = np.zeros((self.J.shape[1], right.shape[1]))
        dependent = [k for k in range(self.J.shape[1]) if k not in self.rate_places]
        factors = even_factors(self.J)
        even = self.J[:, dependent] * factors
        rates[dependent] = np.linalg.pinv(even, rcond=PIVOT) @ (factors * right)
        return rates


def independent_coordinates(
    mechanism: Mechanism,
    q: Array,
    J: Array,
    holonomic: NDArray[np.bool_],
    *,
    t: float = 0.0,
    independent: Sequence[str] | None = None,
) -> IndependentCoordinates:
    """Return independent coordinates at a pose q in which loops and constraints hold.

    J (rows, nv) has the rows of loops, then those of constraints, of which `holonomic` bind
    positions. `independent` are names that shall be among them.
    """
    gaps, notes = ConstraintResiduals(mechanism, t), ()
    if len(J):
        found = mobility(mechanism, q, t=t)
        notes = found.notes
        refuse_singular(mechanism, found)
    scales, bound, rank = gaps.scales(), rank_of(J[holonomic], gaps), rank_of(J, gaps)
    even = J * even_factors(J)
    fixed = even[holonomic]
    wanted = None if independent is None else _wanted(mechanism, independent)
    places = _positions(mechanism, fixed * scales, bound, wanted)
    T_q = _tangent(fixed, places)
    columns = even @ T_q * scales[places]
    rate_places = [places[k] for k in _rates(columns, rank - bound, places, wanted or [])]
    names = tuple(mechanism.rates[k] for k in places)
    T_v = _tangent(even, rate_places)
    if places:
        notes = (*notes, *_held(mechanism, T_q))
    return IndependentCoordinates(names, tuple(places), tuple(rate_places), T_q, T_v, J, notes)


def _wanted(mechanism: Mechanism, names: Sequence[str]) -> list[int]:
    texts = argument("independent", names).texts('write independent=["crank"]')
    return list(dict.fromkeys(mechanism.rate_index(name) for name in texts))


def _basic(mechanism: Mechanism) -> list[int]:
    """Return the basic joints that the file gives its loops."""
    loops = [loop for loop in mechanism.loops if loop.basic is not None]
    return sorted({k for loop in loops for k in basic_rates(mechanism, loop)})


def _positions(mechanism: Mechanism, J: Array, rank: int, wanted: list[int] | None) -> list[int]:
    """Return the places of independent coordinates; all rows of J bind positions."""
    every = range(mechanism.nv)
    named = _well_placed(J, rank, [*_basic(mechanism), *every]) if wanted is None else wanted
    dependent = pivots(J, rank, [k for k in every if k not in named])
    if len(dependent) < rank:
        raise _impossible(mechanism, J, rank, named)
    return [k for k in every if k not in dependent]


def _well_placed(J: Array, rank: int, order: Sequence[int]) -> list[int]:
    """Return the first coordinates in an order that the others follow well, up to the freedoms."""
    chosen: list[int] = []
    for place in dict.fromkeys(order):
        if len(chosen) == J.shape[1] - rank:
            break
        others = [k for k in range(J.shape[1]) if k not in (*chosen, place)]
        if len(pivots(J, rank, others, GOOD_PIVOT)) == rank:
            chosen.append(place)
    return chosen


def _rates(J: Array, rank: int, places: list[int], wanted: list[int]) -> list[int]:
    """Return which of the independent coordinates have an independent rate.

    Dependent become those that nobody named, as far as they can, then those named last.
    """
    free = list(range(len(places)))
    candidates = [k for k in free if places[k] not in wanted]
    named = [places.index(k) for k in wanted]
    while len(dependent := pivots(J, rank, candidates)) < rank and named:
        candidates.append(named.pop())
    return [k for k in free if k not in dependent]


def pivots(matrix: Array, rank: int, candidates: Sequence[int], share: float = PIVOT) -> list[int]:
    """Return independent columns, so many or fewer if there are no more among the candidates.

    Always the column is next of which most is left without its part along those before.
    """
    rest, chosen = matrix.copy(), list[int]()
    largest = float(np.max(np.linalg.norm(matrix, axis=0), initial=0.0))
    while len(chosen) < rank:
        sizes = {k: float(np.linalg.norm(rest[:, k])) for k in candidates if k not in chosen}
        best = max(sizes, key=lambda k: sizes[k], default=-1)
        if best < 0 or not sizes[best] > share * largest:
            break
        direction = rest[:, best] / sizes[best]
        for _ in range(2):
            rest = rest - np.outer(direction, direction @ rest)
        chosen.append(best)
    return chosen


def _tangent(J: Array, places: Sequence[int]) -> Array:
    """Return T with J T = 0, and 1 in the rows of the independent ones."""
    T = np.zeros((J.shape[1], len(places)))
    T[places, range(len(places))] = 1.0
    dependent = [k for k in range(J.shape[1]) if k not in places]
    T[dependent] = -np.linalg.pinv(J[:, dependent], rcond=PIVOT) @ J[:, places]
    return T


# --- what is refused --------------------------------------------------------------------------


def _held(mechanism: Mechanism, T_q: Array) -> list[str]:
    """Return a note on each coordinate that loops and constraints hold."""
    still = np.flatnonzero(np.all(np.abs(T_q) < PIVOT, axis=1)).tolist()
    return [f"{mechanism.rates[k]} cannot move: loops or constraints hold it" for k in still]


def _impossible(mechanism: Mechanism, J: Array, rank: int, wanted: Sequence[int]) -> RunError:
    freedoms, names = mechanism.nv - rank, mechanism.rates
    listed = ", ".join(names[k] for k in wanted)
    possible = [names[k] for k in range(mechanism.nv) if _can_be_free(J, rank, k)]
    if len(wanted) > freedoms:
        message = f"{listed} are {len(wanted)}, and {counted(freedoms, 'coordinate')} can be chosen"
    else:
        message = f"{listed} cannot be independent here: loops or constraints bind them"
    remedy = f"choose {freedoms} of {', '.join(possible)}" if freedoms else "leave it out"
    return RunError(message, file=mechanism.file, element="independent", remedy=remedy)


def _can_be_free(J: Array, rank: int, place: int) -> bool:
    return len(pivots(J, rank, [k for k in range(J.shape[1]) if k != place])) == rank
