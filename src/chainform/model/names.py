"""What people call quantities: mass_matrix, H, H[1,2], H_1_2, jacobian(tool)[1,2], Q_3, e_2_x."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from chainform.errors import Error, RunError
from chainform.given import near
from chainform.graph import Block, Cost, Graph, cost_by_entry, restrict
from chainform.mechanism import Mechanism

LETTERS = {
    "H": "mass_matrix",
    "C": "coriolis",
    "Cm": "coriolis_matrix",
    "hG": "gravity",
    "h": "bias",
    "B": "closure",
    "J": "closure_jacobian",
    "tau": "inverse_dynamics",
    "qdd": "forward_dynamics",
    "T": "kinetic_energy",
    "V": "potential_energy",
    "P": "passive",
    "R": "reactions",
    "xd": "complete_model",
    "Ah": "complete_drift",
    "Bh": "complete_input",
    "qddx": "complete_acceleration",
    "drive": "drives",
    "dH": "metric_derivative",
    "S": "acceleration_energy",
    "A": "force_matrix",
    "b": "force_right",
    "f": "constraint",
    "fd": "constraint_rate",
    "Jc": "constraint_jacobian",
    "gamma": "constraint_right",
    "qddc": "constrained_dynamics",
    "lambda": "multipliers",
}
"""The letters of the equation tau = H qdd + qd^T C qd + hG + B sigma, and the outputs they mean."""

FRAME_LETTERS = {
    "T": "pose",
    "v": "velocity",
    "a": "acceleration",
    "J": "jacobian",
    "Jd": "jacobian_rate",
    "R": "reaction",
}
"""The letters of quantities of a frame, which stands in brackets behind them: J(tool)."""

WORD = re.compile(r"\s*([^\s\[\](),]+)\s*(\([^()]*\))?\s*(?:\[([^\[\]]*)\])?\s*")
INDEX = re.compile(r"\s*(?:([0-9]{1,6})|([0-9]{1,6})?\s*:\s*([0-9]{1,6})?)\s*")

Index: TypeAlias = int | slice | None
"""An index from 1; None stands for `:`, and a slice for `2:4`, both ends included."""


@dataclass(frozen=True, slots=True)
class EntryRequest:
    """A quantity that is wanted: its name, and indices from 1."""

    text: str
    name: str
    indices: tuple[Index, ...] = ()


# --- names ----------------------------------------------------------------------------------


def output_of(text: str) -> str:
    """Return the output that a letter stands for, with its frame; other names as they are."""
    name, bracket, frame = text.partition("(")
    word = name.strip()
    if not bracket:
        return LETTERS.get(word, word)
    # Numbers can be had from a stored model without any method of mechanics being imported.
    from chainform.formulations import parse_request as parse_output

    return parse_output(FRAME_LETTERS.get(word, word) + bracket + frame).text


def letter_of(output: str) -> str | None:
    """Return the letter of an output, with its frame if it has one: J(tool); or None."""
    name, bracket, frame = output.partition("(")
    letters = FRAME_LETTERS if bracket else LETTERS
    found = (letter for letter, meant in letters.items() if meant == name)
    return next((letter + bracket + frame for letter in found), None)


def parse_request(text: str) -> EntryRequest:
    """Return what a QUANTITY on the command line means."""
    match = WORD.fullmatch(text)
    if match is None:
        raise RunError(
            f"{text[:60]!r} is not a quantity",
            element="QUANTITY",
            remedy="write a name or a name with indices: mass_matrix, H[1,2], H_1_2, "
            "jacobian(tool)[1,2], e_2_x",
        )
    word, frame, indices = match.groups()
    name = output_of(word + (frame or ""))
    if indices is None:
        return EntryRequest(text, name)
    return EntryRequest(text, name, tuple(_index(part, text) for part in indices.split(",")))


def _index(part: str, text: str) -> Index:
    match = INDEX.fullmatch(part)
    if match is None:
        raise RunError(
            f"{part.strip()[:20]!r} is not an index",
            element=text[:60],
            remedy="write numbers from 1 with commas between them, 2:4 for a range, or : for all, "
            "as in H[1,:]",
        )
    number, first, last = match.groups()
    if number is not None:
        return int(number)
    if first is None and last is None:
        return None
    return slice(int(first) if first else None, int(last) if last else None)


def indices_of(inner: str, text: str) -> tuple[Index, ...]:
    """Return the indices that stand in the square brackets of a text."""
    return tuple(_index(part, text) for part in inner.split(","))


def fits(indices: tuple[Index, ...], shape: tuple[int, ...]) -> bool:
    """Whether an array of this shape has such entries; a range has at least one."""
    pairs = zip(indices, shape, strict=False)
    return len(indices) <= len(shape) and all(_inside(i, length) for i, length in pairs)


def _inside(index: Index, length: int) -> bool:
    if isinstance(index, slice):
        first, last = index.start or 1, length if index.stop is None else index.stop
        return index.start != 0 and 1 <= first <= last <= length
    return index is None or 1 <= index <= length


# --- in a graph -----------------------------------------------------------------------------


def has_name(graph: Graph, name: str) -> bool:
    """Whether a graph has an output, a quantity, a variable or an entry of this very name."""
    return (
        name in graph.outputs
        or name in graph.quantities
        or name in graph.numbers
        or _labelled(graph, name) is not None
    )


def resolve(graph: Graph, text: str) -> EntryRequest:
    """Return what a text means in a graph: a name of its own first, then a letter, with indices.

    Letters and indices are those of the command line, so that indices count from 1.
    """
    text = str(text)
    if has_name(graph, text):
        return EntryRequest(text, text)
    try:
        request = parse_request(text)
    except Error:
        raise unknown(graph, text) from None
    if not has_name(graph, request.name):
        raise unknown(graph, text)
    shape = block_named(graph, request.name).shape
    if not fits(request.indices, shape):
        raise RunError(
            f"{request.name} has the shape {shape}; there is no such entry",
            element=text[:60],
            remedy="indices within a text count from 1, as in H[1,2]",
        )
    return request


def find_block(graph: Graph, text: str) -> Block:
    """Return the entries that a text means, as an array; a single one has the shape ()."""
    request = resolve(graph, text)
    block = block_named(graph, request.name)
    if not request.indices:
        return block
    places = np.arange(len(block.variables)).reshape(block.shape)[chosen(request.indices)]
    labels = tuple(block.labels[i] for i in places.flat)
    name = labels[0] if not places.ndim else f"{request.name}[{indices_text(request.indices)}]"
    return Block(name, places.shape, tuple(block.variables[i] for i in places.flat), labels)


def select_outputs(graph: Graph, texts: Iterable[str]) -> Graph:
    """Return the part of a graph that computes what the texts mean, as its only outputs.

    This is the one meaning of a list of outputs: counting, emitting and compiling take the graph
    that comes out, so that an entry is answered for the entry. All inputs stay.
    """
    blocks = [find_block(graph, text) for text in texts]
    outputs = {block.name: block for block in blocks}
    needed = graph.cone([v for block in blocks for v in block.variables])
    needed[list(graph.inputs)] = True
    others = {name: b for name, b in graph.quantities.items() if name not in outputs}
    return restrict(replace(graph, outputs=outputs, quantities=others), needed)


def entry_counts(
    graphs: Iterable[tuple[str, Graph]], texts: Iterable[str]
) -> dict[str, dict[str, Cost]]:
    """Count each entry that texts mean by itself, in each of some graphs that have them, by name.

    A name that comes again has its number behind it.
    """
    wanted, counts = list(texts), dict[str, dict[str, Cost]]()
    for name, graph in graphs:
        with suppress(RunError):
            found = cost_by_entry(select_outputs(graph, wanted))
            again = sum(other.partition(" (")[0] == name for other in counts)
            counts[f"{name} ({again + 1})" if again else name] = found
    return counts


def input_named(graph: Graph, mechanism: Mechanism, name: str) -> str:
    """Return the input a name stands for: that of a coordinate or rate, or the name itself."""
    meanings = {name} if graph.numbers.get(name, -1) in graph.inputs else set[str]()
    if name in mechanism.coordinates:
        meanings.add(f"q{mechanism.coordinates.index(name) + 1}")
    elif name in mechanism.rates:
        meanings.add(f"qd{mechanism.rates.index(name) + 1}")
    if len(meanings) > 1:
        raise RunError(
            f"{name} may mean {' or '.join(sorted(meanings))}",
            element=name,
            remedy="rename the joint, or the parameter, in the mechanism",
        )
    return meanings.pop() if meanings else name


def chosen(indices: tuple[Index, ...]) -> tuple[int | slice, ...]:
    """Return indices from 1 as numpy takes them."""
    return tuple(_from_zero(index) for index in indices)


def _from_zero(index: Index) -> int | slice:
    if isinstance(index, slice):
        return slice((index.start or 1) - 1, index.stop)
    return slice(None) if index is None else index - 1


def indices_text(indices: tuple[Index, ...]) -> str:
    """Return indices as they are written: 1,:."""
    return ",".join(_index_text(index) for index in indices)


def _index_text(index: Index) -> str:
    if isinstance(index, slice):
        return f"{index.start or ''}:{index.stop or ''}"
    return ":" if index is None else str(index)


def block_named(graph: Graph, name: str) -> Block:
    """Return the output, quantity, variable or entry of this very name."""
    if name in graph.outputs or name in graph.quantities:
        return graph.block(name)
    variable = graph.numbers.get(name, _labelled(graph, name))
    if variable is None:
        raise unknown(graph, name)
    return Block(name, (), (variable,), (name,))


def _labelled(graph: Graph, label: str) -> int | None:
    """Return the variable behind an entry, whose own name may be another: H_2_1 is H_1_2."""
    for block in _blocks(graph):
        if label in block.labels:
            return block.variables[block.labels.index(label)]
    return None


def _blocks(graph: Graph) -> Iterator[Block]:
    yield from graph.outputs.values()
    yield from graph.quantities.values()


def unknown(graph: Graph, name: str) -> RunError:
    """Return the error about a name that a graph does not have, with those that may be meant."""
    labels = [label for block in _blocks(graph) for label in block.labels]
    known = dict.fromkeys([*graph.outputs, *graph.quantities, *labels, *graph.numbers])
    others = f"it has {', '.join(graph.outputs) or 'no outputs'}; others are to be derived"
    return RunError(
        f"the model has no quantity {name[:60]}",
        element=name[:60],
        remedy=near(name, known, 3).strip() or others,
    )
