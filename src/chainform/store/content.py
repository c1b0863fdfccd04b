"""A graph as bytes: what its hash is taken of, and what the load cache holds.

The bytes are a line of JSON with names, inputs, blocks and the lengths of what follows, then the
arrays one after another, little-endian. They depend on the content only: coefficients are
numbered in the order of their first use, so a graph from the rows gives the same bytes as the
graph that was saved. Nothing in them is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.given import decompressed
from chainform.graph import Block, Graph, Input, number_text

FORMAT = 1
ARRAYS: tuple[tuple[str, str, str], ...] = (
    ("kind", "<u1", "variables"),
    ("level", "<i4", "variables"),
    ("call", "<u1", "variables"),
    ("argument", "<i4", "variables"),
    ("term_count", "<i4", "variables"),
    ("coefficient", "<i4", "terms"),
    ("factor_count", "<i4", "terms"),
    ("factor", "<i4", "factors"),
    ("power", "<i2", "factors"),
)
"""Name, type and length of each array, in the order in which they stand."""


def canonical(graph: Graph) -> Graph:
    """Return the graph with its coefficients in the order of their first use."""
    used, first, place = np.unique(graph.coefficient, return_index=True, return_inverse=True)
    order = np.argsort(first)
    if len(used) == len(graph.coefficients) and np.array_equal(used[order], np.arange(len(used))):
        return graph
    rank = np.empty(len(used), dtype=np.int32)
    rank[order] = np.arange(len(used), dtype=np.int32)
    pool = tuple(graph.coefficients[int(k)] for k in used[order])
    return replace(graph, coefficient=rank[place.reshape(-1)], coefficients=pool)


def graph_bytes(graph: Graph) -> bytes:
    """Return the bytes of a canonical graph."""
    arrays: dict[str, Any] = {
        **{name: getattr(graph, name) for name in ("kind", "level", "call", "argument")},
        "term_count": np.diff(graph.term_start),
        "coefficient": graph.coefficient,
        "factor_count": np.diff(graph.factor_start),
        **{name: getattr(graph, name) for name in ("factor", "power")},
    }
    head = {
        "format": FORMAT,
        "variables": len(graph),
        "terms": len(graph.coefficient),
        "factors": len(graph.factor),
        "names": " ".join(graph.names),
        "coefficients": " ".join(map(number_text, graph.coefficients)),
        "inputs": [
            [v, i.group, i.index, None if i.default is None else number_text(i.default)]
            for v, i in sorted(graph.inputs.items())
        ],
        "aliases": list(graph.aliases.items()),
        "outputs": [_block_data(block) for block in graph.outputs.values()],
        "quantities": [_block_data(block) for block in graph.quantities.values()],
    }
    line = json.dumps(head, ensure_ascii=True, separators=(",", ":")).encode()
    return b"".join([line, b"\n", *(arrays[n].astype(kind).tobytes() for n, kind, _ in ARRAYS)])


def _block_data(block: Block) -> list[Any]:
    return [block.name, list(block.shape), list(block.variables), " ".join(block.labels)]


def _block(data: list[Any]) -> Block:
    name, shape, variables, labels = data
    return Block(name, tuple(shape), tuple(variables), tuple(labels.split()))


def graph_of_bytes(data: bytes) -> Graph:
    """Return the graph of which `graph_bytes` made these bytes."""
    line, _, _ = data.partition(b"\n")
    head = json.loads(line)
    if head["format"] != FORMAT:
        raise ValueError(f"format {head['format']} of the cache is not known")
    arrays: dict[str, NDArray[Any]] = {}
    place = len(line) + 1
    for name, kind, length in ARRAYS:
        found = np.frombuffer(data, dtype=kind, count=head[length], offset=place)
        place += found.nbytes
        # A copy in the machine's own order, at an even address, that may be written to.
        arrays[name] = found.astype(found.dtype.newbyteorder("="))
    names = tuple(head["names"].split())
    return Graph(
        names=names,
        **{name: arrays[name] for name in ("kind", "level", "call", "argument")},
        term_start=starts(arrays["term_count"]),
        coefficient=arrays["coefficient"],
        coefficients=tuple(map(Fraction, head["coefficients"].split())),
        factor_start=starts(arrays["factor_count"]),
        factor=arrays["factor"],
        power=arrays["power"],
        inputs={
            v: Input(names[v], group, index, None if default is None else Fraction(default))
            for v, group, index, default in head["inputs"]
        },
        outputs={data[0]: _block(data) for data in head["outputs"]},
        quantities={data[0]: _block(data) for data in head["quantities"]},
        aliases=dict(head["aliases"]),
    )


def starts(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Return where each of consecutive groups begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def content_hash(data: bytes) -> str:
    """Return the name under which content is stored."""
    return hashlib.sha256(data).hexdigest()


def packed(data: bytes) -> bytes:
    """Return the bytes of a load cache."""
    return zlib.compress(data, 1)


def unpacked(cache: bytes, expected: str) -> bytes | None:
    """Return the content of a load cache, or None unless it has the expected hash."""
    try:
        data = decompressed(cache)
    except zlib.error:
        return None
    return data if content_hash(data) == expected else None
