"""What an exported source says besides equations: joints, parameters, reading, rows of matrices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from chainform.emitters import RowPattern
from chainform.graph import GROUPS, Block, Graph, parts_of
from chainform.mechanism import Mechanism, automatic_parameters
from chainform.model.catalogue import CATALOGUE
from chainform.model.quantity_results import sparsity_of
from chainform.model.states import group_length

MEANINGS = {
    "m": ("kg", "mass"),
    "com": ("m", "mass centre"),
    "d": ("m", "position"),
    "I": ("kg m^2", "inertia"),
    "g": ("m/s^2", ""),
}
"""Units and meanings of parameters that have automatic names."""


def reading_notes(mechanism: Mechanism) -> list[str]:
    """Return why equations may differ from those of the file as it stands: warnings, snapping."""
    chosen = [n for n in mechanism.notes if n.level == "warning" or n.element == "snapping"]
    return [f"{note.element}: {note.text}" for note in chosen]


def followers(mechanism: Mechanism) -> Iterator[str]:
    """Yield a line about each joint that has no entry in q, since it follows another one."""
    for index, segment in enumerate(mechanism.segments):
        if segment.coordinate is None:
            continue
        leader = mechanism.coordinate_records[segment.coordinate].segment
        if leader != index:
            yield f"{segment.joint.name} follows {mechanism.segments[leader].joint.name}."


def parameter_meaning(mechanism: Mechanism, name: str) -> tuple[str, str]:
    """Return unit and meaning of a parameter: m_6 is ("kg", "mass of 'tool'"); "" if unknown."""
    own = {parameter.name: parameter for parameter in mechanism.parameters}
    if name in own:
        return own[name].unit, ""
    if name not in automatic_parameters(mechanism):
        return "", ""
    kind, *rest = name.split("_")
    unit, word = MEANINGS[kind]
    if not rest or int(rest[0]) > len(mechanism.segments):
        return unit, ""
    return unit, f"{word} of {mechanism.segments[int(rest[0]) - 1].name!r}"


def is_nonzeros(output: str) -> bool:
    """Whether an output is `nonzeros(Y)`, all of it."""
    parts = parts_of(output)
    return parts.name == "nonzeros" and len(parts.arguments) == 1 and not parts.indices


def row_patterns(
    mechanism: Mechanism, graph: Graph, names: Sequence[str]
) -> Iterator[tuple[str, RowPattern]]:
    """Yield the entries of matrices that have zeros, and of Y of each `nonzeros(Y)`, by name."""
    for name, (output, block) in zip(names, graph.outputs.items(), strict=True):
        pattern = (
            _of_labels(mechanism, graph, parts_of(output).arguments[0], block)
            if is_nonzeros(output)
            else _of_matrix(graph, block)
        )
        if pattern is not None:
            yield name, pattern


def _of_matrix(graph: Graph, block: Block) -> RowPattern | None:
    variables = np.asarray(block.variables, dtype=np.int64).reshape(block.shape)
    if variables.ndim != 2:
        return None
    found = sparsity_of(graph, variables)
    if len(found) == variables.size:
        return None
    return RowPattern(tuple(found.indptr.tolist()), tuple(found.indices.tolist()))


def _of_labels(mechanism: Mechanism, graph: Graph, whole: str, block: Block) -> RowPattern | None:
    """Return the places of entries of an output by their labels: tau_1_by_q2 is in row 1, column 2.

    Rows of an array with three indices are counted through the first two.
    """
    parts = parts_of(whole)
    base, *by = parts.arguments if parts.name == "derivative" else (whole,)
    entry = CATALOGUE.get(parts_of(base).name)
    if entry is None or parts.indices or parts_of(base).indices:
        return None
    own, groups = entry.shape_for(mechanism), [word for word in by if word in GROUPS]
    sizes = [mechanism.nv if g == "q" else group_length(mechanism, graph, g) for g in groups]
    shape = (*own, *sizes)
    words = [rf"_by_{re.escape(word)}" + (r"(\d+)" if word in GROUPS else "") for word in by]
    form = re.compile(r"_(\d+)" * len(own) + "".join(words) + "$")
    found = [form.search(label) for label in block.labels]
    places = [tuple(int(k) - 1 for k in match.groups()) for match in found if match]
    if len(places) < len(found) or not shape:
        return None
    rows = [int(np.ravel_multi_index((*p[:-1], 0), (*shape[:-1], 1))) for p in places]
    counts = np.bincount(np.asarray(rows, dtype=np.int64), minlength=int(np.prod(shape[:-1])))
    starts = (0, *np.cumsum(counts).tolist())
    return RowPattern(starts, tuple(p[-1] for p in places))
