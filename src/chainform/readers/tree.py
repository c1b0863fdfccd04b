"""The tree form of Obradović and Marković 1991: bodies whose frames are all parallel at zero.

    n         number of bodies (may be left out)
    L(i)      the body before body i, 0 for the ground
    T(i)      1 translation, 0 rotation
    p_ii      from joint i to the mass centre of body i, frame i (m)
    p_ij      from the mass centre of body i to joint j, frame i (m); p_0j from the ground's origin
    e_i       the axis of joint i
    m, inertia  masses (kg), inertias about the mass centre (kg m^2), principal or full

Vectors that are not given are zero.
"""

from __future__ import annotations

from collections.abc import Mapping

from chainform.given import Given
from chainform.mechanism import ZERO_VECTOR, Mechanism, Reader, Vector3, sum_of
from chainform.readers.forms import (
    builder_from,
    by_number,
    by_pair,
    kinds_from,
    names_from,
    required,
)
from chainform.readers.source import Source

TREE_FIELDS = frozenset({"n", "L", "T", "p", "e", "m", "inertia", "names"})


def read_tree(table: Mapping[str, object], source: Source) -> Mechanism:
    """Return the mechanism of a table in the tree form."""
    builder = builder_from(table, TREE_FIELDS, source)
    given = source.given(table)
    parents = _parents(given)
    count = len(parents)
    axes = by_number(given["e"], count)
    required(axes, count, given["e"])
    masses = by_number(given["m"], count)
    inertias = by_number(given["inertia"], count)
    kinds = kinds_from(given["T"], count)
    names = names_from(given["names"], count)
    vectors = _vectors(given["p"], parents, builder.reader())
    for number, parent in enumerate(parents, 1):
        builder.segment_table(
            {
                "id": number,
                "name": names[number - 1],
                "parent": parent,
                "joint": kinds[number],
                "axis": axes[number].value,
                "position": _joint_position(vectors, parent, number),
                "dof": number,
                "mass": masses[number].value if number in masses else 0,
                "com": vectors.get((number, number), ZERO_VECTOR),
                "inertia": inertias[number].value if number in inertias else None,
            }
        )
    return builder.build()


def _joint_position(
    vectors: Mapping[tuple[int, int], Vector3], parent: int, number: int
) -> Vector3:
    """Return joint `number` in the frame of its parent, p_ii + p_ij, from the parent's joint."""
    to_centre = vectors.get((parent, parent), ZERO_VECTOR)
    to_joint = vectors.get((parent, number), ZERO_VECTOR)
    x, y, z = (sum_of(a, b) for a, b in zip(to_centre, to_joint, strict=True))
    return (x, y, z)


def _parents(given: Given) -> list[int]:
    entries = given.required("L", "give it, the list of preceding bodies").entries()
    parents = [Reader().whole(entry) for entry in entries]
    if given.has("n") and Reader().whole(given["n"]) != len(parents):
        message = f"n does not fit the {len(parents)} entries of L"
        raise given["n"].error(message, "correct one of them")
    for number, parent in enumerate(parents, 1):
        if not 0 <= parent <= len(parents):
            message = f"body {number} is given as following body {parent}"
            raise given["L"].error(message, f"use 0 to {len(parents)}")
    return parents


def _vectors(given: Given, parents: list[int], reader: Reader) -> dict[tuple[int, int], Vector3]:
    """Return the vectors p, each belonging to a body or to a body and a joint it carries."""
    vectors: dict[tuple[int, int], Vector3] = {}
    for (body, joint), entry in by_pair(given).items():
        is_joint = 1 <= joint <= len(parents)
        if not is_joint or (body != joint and parents[joint - 1] != body):
            raise entry.error(f"joint {joint} does not belong to body {body}", "compare with L")
        vectors[body, joint] = reader.vector(entry)
    return vectors
