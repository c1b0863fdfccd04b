"""A program as bytes, for other processes and machines.

The bytes hold the graph and the machine code made so far. Where the code does not fit the processor
or was sealed by somebody else, it is compiled again from the graph.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from chainform.emitters import parameters_of
from chainform.errors import Error, RunError
from chainform.files import decompressed
from chainform.graph import Graph, graph_text, parse_graph
from chainform.runtime.cache import CodeCache

MAGIC = b"chainform program 1\n"

MOST_PARTS, MOST_LINES = 2**20, 2_000_000
"""Bytes of JSON outside of texts, and lines of the graph, beyond which bytes are no program."""

_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*+"')

_DAMAGE = (Error, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What reading bytes that are not as they were written may lead to."""


class CodeTable(dict[str, bytes]):
    """Machine code in memory, by key."""

    def put(self, key: str, data: bytes) -> None:
        """Store bytes under a key."""
        self[key] = data


@dataclass(frozen=True)
class ProgramState:
    """What a program is made from, and the machine code made so far, sealed, by key."""

    graph: Graph
    lengths: Mapping[str, int]
    precision: str
    threads: int | None
    lanes: int
    parameters: Mapping[str, float | None]
    codes: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    cpu: str | None = None

    def with_codes(self, codes: Mapping[str, bytes]) -> ProgramState:
        """Return the same with more machine code, under the user's seal.

        What is there already stays, whoever sealed it and whatever processor it is for: bytes may
        come back to where it fits.
        """
        table = CodeTable(self.codes)
        cache = CodeCache(table)
        for key, code in codes.items():
            cache.put(key, code)
        return replace(self, codes=table)


def serialise(state: ProgramState) -> bytes:
    """Return bytes that hold all of it."""
    data = {
        "graph": graph_text(state.graph),
        "lengths": dict(state.lengths),
        "precision": state.precision,
        "threads": state.threads,
        "lanes": state.lanes,
        "parameters": dict(state.parameters),
        "cpu": state.cpu,
        "codes": {key: base64.b85encode(code).decode() for key, code in state.codes.items()},
    }
    return MAGIC + zlib.compress(json.dumps(data).encode())


def deserialise(data: Any) -> ProgramState:
    """Return what bytes hold; RunError where it is not a program."""
    if isinstance(data, bytearray | memoryview):
        data = bytes(cast(Any, data))
    if not isinstance(data, bytes) or not data.startswith(MAGIC):
        raise RunError("these bytes are not a program", remedy="make them with program.to_bytes()")
    try:
        found = _table(decompressed(data[len(MAGIC) :]))
        graph, values = parse_graph(found["graph"]), found["parameters"]
        names = [graph.inputs[v].name for v in parameters_of(graph)]
        return ProgramState(
            graph,
            found["lengths"],
            found["precision"],
            found["threads"],
            found["lanes"],
            {name: None if values[name] is None else float(values[name]) for name in names},
            {key: base64.b85decode(code) for key, code in found["codes"].items()},
            found["cpu"],
        )
    except (*_DAMAGE, zlib.error) as error:
        raise RunError(
            "the bytes of the program are damaged",
            element="from_bytes",
            remedy="make them again with program.to_bytes()",
        ) from error


def _table(text: bytes) -> dict[str, Any]:
    """Return the table written as JSON; ValueError where it has too many parts to be a program.

    Nearly all of it is text: the graph and the machine code. So few objects come of it.
    """
    if len(_TEXTS.sub(b"", text)) > MOST_PARTS or text.count(b"\\n") > MOST_LINES:
        raise ValueError("a program has fewer parts")
    return cast(dict[str, Any], json.loads(text))
