"""What the functions of a program are called: by their outputs, or by the letters of these.

The entries of an output carry its letter: H_1_1 is an entry of the mass matrix, and J_tool_1_1 one
of the Jacobian of a frame. So H and J(tool) mean these outputs, as they do elsewhere.
"""

from __future__ import annotations

import re
from typing import Any, cast

from chainform.errors import RunError
from chainform.graph import Block, Graph

_AROUND = re.compile(r"\s*([(),])\s*")


def outputs_named(graph: Graph, names: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the outputs that are meant; RunError where one is not there."""
    if not names:
        raise RunError("no output was named", element="outputs")
    return tuple(_output_named(graph, name) for name in names)


def _output_named(graph: Graph, name: Any) -> str:
    found = find_output(graph, name) if isinstance(name, str) else None
    if found is not None:
        return found
    remedy = f"choose from {', '.join(graph.outputs)}"
    if isinstance(name, str) and _is_entry(graph, name):
        remedy += f"; an entry is compiled by name: model.compile([{name[:60]!r}])"
    if isinstance(name, list | tuple | set | frozenset):
        remedy += '; several at once are program.function("name", "name")'
    shown = str(cast(Any, name))
    raise RunError(f"{shown} is not an output of the program", element=shown, remedy=remedy)


def _is_entry(graph: Graph, text: str) -> bool:
    return "[" in text or any(text in block.labels for block in graph.outputs.values())


def find_output(graph: Graph, text: str) -> str | None:
    """Return the output of this name or letter, if there is one; its own name comes first."""
    if text in graph.outputs:
        return text
    plain = _AROUND.sub(r"\1", text.strip())
    for name, block in graph.outputs.items():
        if plain in (name, letter_of(block)):
            return name
    return None


def letter_of(block: Block) -> str | None:
    """Return the letter of an output, with its frame if it has one: H, J(tool); or None."""
    if not block.labels:
        return None
    _, bracket, frame = block.name.partition("(")
    first, last = ("".join(f"_{i}" for i in place) for place in _corners(block.shape))
    stem = block.labels[0].removesuffix(first)
    if (stem + first, stem + last) != (block.labels[0], block.labels[-1]):
        return None
    return stem.partition("_")[0] + bracket + frame if bracket else stem


def _corners(shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return (1,) * len(shape), shape
