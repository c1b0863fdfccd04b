"""Arrays over the coordinates: sums of entries, declared outputs, H x = b and the inverse of H.

H = L^T D L without square roots, from the tips to the base. Eliminating the coordinates in this
order fills no zero of H: branches that do not meet stay apart (Featherstone). For each coordinate
one reciprocal is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeVar

from chainform.formulations.shared.scope import refuse_massless
from chainform.graph import Builder, Scalar, is_zero
from chainform.mechanism import Mechanism

Key = tuple[int, ...]
Entry = TypeVar("Entry", int, Key)
"""An entry of an array over the rates, by one index or by several."""

EQUATIONS = {
    "mass_matrix": ("H", 2),
    "inverse_mass_matrix": ("Hi", 2),
    "metric_derivative": ("dH", 3),
    "coriolis": ("C", 3),
    "coriolis_matrix": ("Cm", 2),
    "gravity": ("hG", 1),
    "bias": ("h", 1),
    "inverse_dynamics": ("tau", 1),
    "forward_dynamics": ("qdd", 1),
}
"""The parts of the equations of motion: the letter of each, and how many indices it has."""


def label(letter: str, key: Key) -> str:
    """Return the printed name of an entry, counted from 1: H_1_2."""
    return "_".join([letter, *(str(index + 1) for index in key)])


def declare(
    builder: Builder,
    name: str,
    letter: str,
    shape: tuple[int, ...],
    values: Mapping[Key, Scalar] | Mapping[int, Scalar] | Sequence[Scalar],
) -> None:
    """Declare an output; entries that are not given are zero. A vector may have plain indices."""
    items = values.items() if isinstance(values, Mapping) else enumerate(values)
    known = {key if isinstance(key, tuple) else (key,): value for key, value in items}
    zero = builder.number(0)
    keys = product(*(range(length) for length in shape))
    builder.output(name, shape, [(label(letter, key), known.get(key, zero)) for key in keys])


def declare_equation(
    builder: Builder,
    mechanism: Mechanism,
    output: str,
    values: Mapping[Key, Scalar] | Mapping[int, Scalar],
) -> None:
    """Declare a part of the equations of motion."""
    letter, rank = EQUATIONS[output]
    declare(builder, output, letter, (mechanism.nv,) * rank, values)


class SymmetricSums:
    """Entries that are symmetric in their last two indices, added up joint by joint.

    Joints may share a coordinate: what two of them give together then counts for both orders.
    """

    def __init__(self) -> None:
        self.values: dict[Key, Scalar] = {}

    def add(self, key: Key, value: Scalar, *, same_joint: bool) -> None:
        """Add a value; `same_joint` says that the last two indices come from one freedom."""
        *front, k, l = key
        if k == l and not same_joint:
            value = value + value
        place = (*front, max(k, l), min(k, l))
        before = self.values.get(place)
        self.values[place] = value if before is None else before + value

    def add_diagonal(self, values: Mapping[int, Scalar]) -> None:
        """Add to entries (i, i), such as the inertia of rotors."""
        for i, value in values.items():
            self.add((i, i), value, same_joint=True)

    def named(self, builder: Builder, letter: str) -> dict[Key, Scalar]:
        """Name the entries that are there, and return them with their mirror images."""
        for key in sorted(self.values):
            self.values[key] = builder.name(label(letter, key), self.values[key])
        return self.mirrored()

    def mirrored(self) -> dict[Key, Scalar]:
        """Return all entries, with those whose last two indices are exchanged."""
        return {
            **self.values,
            **{(*key[:-2], key[-1], key[-2]): value for key, value in self.values.items()},
        }


def add_to(values: dict[Entry, Scalar], key: Entry, value: Scalar) -> None:
    """Add a value to an entry."""
    values[key] = values[key] + value if key in values else value


def add_all(values: dict[Entry, Scalar], more: Mapping[Entry, Scalar], sign: int = 1) -> None:
    """Add values, or with the sign -1 subtract them, entry by entry."""
    for key, value in more.items():
        add_to(values, key, value if sign > 0 else -value)


# --- factorisation --------------------------------------------------------------------------------


class Factorisation:
    """H = L^T D L of a symmetric positive matrix, given by its entries that are not zero."""

    def __init__(self, matrix: Mapping[Key, Scalar], unknowns: Sequence[int]) -> None:
        h: dict[tuple[int, int], Scalar] = {(i, k): value for (i, k), value in matrix.items()}
        self.order = elimination_order(set(h), sorted(unknowns))
        self.factors: dict[int, list[tuple[int, Scalar]]] = {}
        self.inverse: dict[int, Scalar] = {}
        left = set(self.order)
        for k in self.order:
            left.discard(k)
            if (k, k) not in h or is_zero(h[k, k]):
                raise refuse_massless(k)
            self.builder = h[k, k].builder
            keep = self.builder.keep
            self.inverse[k] = self.builder.call("reciprocal", h[k, k])
            row = [i for i in sorted(left) if (k, i) in h]
            self.factors[k] = [(i, keep(h[k, i] * self.inverse[k])) for i in row]
            for index, (i, factor) in enumerate(self.factors[k]):
                for l in row[: index + 1]:
                    change = factor * h[k, l]
                    updated = keep(h[i, l] - change) if (i, l) in h else keep(-change)
                    h[i, l] = h[l, i] = updated

    def eliminated(self, right: Mapping[int, Scalar]) -> dict[int, Scalar]:
        """Return what is left of b after the elimination; entries not given are zero."""
        b, keep = dict(right), self.builder.keep
        for k in self.order:
            if k in b and not is_zero(b[k]):
                for i, factor in self.factors[k]:
                    b[i] = keep(b[i] - factor * b[k]) if i in b else keep(-factor * b[k])
        return b

    def product(self, b: Mapping[int, Scalar], c: Mapping[int, Scalar]) -> Scalar:
        """Return b . H^-1 c, for two columns after the elimination."""
        total = self.builder.number(0)
        for k in self.order:
            if k in b and k in c:
                total = total + self.builder.keep(b[k] * self.inverse[k]) * c[k]
        return self.builder.keep(total)

    def solve(self, right: Mapping[int, Scalar]) -> dict[int, Scalar]:
        """Return x with H x = b; entries of b that are not given are zero."""
        b, keep = self.eliminated(right), self.builder.keep
        x: dict[int, Scalar] = {}
        for k in reversed(self.order):
            value = b[k] * self.inverse[k] if k in b else self.builder.number(0)
            for i, factor in self.factors[k]:
                value = value - factor * x[i]
            x[k] = keep(value)
        return x

    def inverted(self) -> dict[Key, Scalar]:
        """Return H^-1, each pair of equal entries built once.

        Entry (k, i) with i eliminated after k is - sum_l factor_kl X_li, and X_kk has 1/d_k, too:
        from the last pivot to the first, all that is needed is there (Takahashi et al. 1973).
        """
        x: dict[Key, Scalar] = {}
        keep, zero = self.builder.keep, self.builder.number(0)
        for index, k in reversed(list(enumerate(self.order))):
            for i in (*self.order[index + 1 :], k):
                total = self.inverse[k] if i == k else zero
                for l, factor in self.factors[k]:
                    total = total - factor * x[l, i]
                x[k, i] = x[i, k] = keep(total)
        return x


def solve(matrix: Mapping[Key, Scalar], right: Mapping[int, Scalar]) -> dict[int, Scalar]:
    """Return x with H x = b, for a symmetric positive H given by its entries that are not zero."""
    return Factorisation(matrix, list(right)).solve(right) if right else {}


def elimination_order(entries: set[tuple[int, int]], unknowns: list[int]) -> list[int]:
    """Return an order that fills few zeros: always the unknown with the fewest neighbours left.

    For a tree these are the tips, so that nothing is filled at all.
    """
    neighbours = {k: {i for i in unknowns if i != k and (k, i) in entries} for k in unknowns}
    order: list[int] = []
    while neighbours:
        k = min(neighbours, key=lambda key: (len(neighbours[key]), -key))
        around = neighbours.pop(k)
        for i in around:
            neighbours[i] |= around - {i}
            neighbours[i].discard(k)
        order.append(k)
    return order
