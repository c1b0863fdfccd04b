"""Declaring results: arrays over the coordinates, named letter by letter."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from chainform.graph import Builder, Scalar

Key = tuple[int, ...]


def label(letter: str, key: Key) -> str:
    """Return the printed name of an entry, counted from 1: H_1_2."""
    return "_".join([letter, *(str(index + 1) for index in key)])


def declare(
    builder: Builder, name: str, letter: str, shape: tuple[int, ...], values: Mapping[Key, Scalar]
) -> None:
    """Declare an output; entries that are not given are zero."""
    zero = builder.number(0)
    keys = product(*(range(length) for length in shape))
    entries = [(label(letter, key), values.get(key, zero)) for key in keys]
    builder.output(name, shape, entries)


class Sums:
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

    def mirrored(self) -> dict[Key, Scalar]:
        """Return all entries, with those whose last two indices are exchanged."""
        return {
            **self.values,
            **{(*key[:-2], key[-1], key[-2]): value for key, value in self.values.items()},
        }


def add_to(values: dict[Key, Scalar], key: Key, value: Scalar) -> None:
    """Add a value to an entry."""
    values[key] = values[key] + value if key in values else value
