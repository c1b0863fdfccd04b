"""Which entries of exported matrices are not always zero, as compressed rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from chainform.emitters import RowPattern
from chainform.graph import GROUPS, Block, Graph, parts_of
from chainform.mechanism import Mechanism
from chainform.model.catalogue import CATALOGUE
from chainform.model.quantity_results import sparsity_of
from chainform.model.states import group_length


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
