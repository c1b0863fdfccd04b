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


def mirrored(values: Mapping[Key, Scalar]) -> dict[Key, Scalar]:
    """Return entries together with those whose last two indices are exchanged."""
    return {**values, **{(*key[:-2], key[-1], key[-2]): v for key, v in values.items()}}
