"""What people call quantities: mass_matrix, H, H[1,2], H_1_2, Q_3, e_2_x."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from chainform.errors import ReadError
from chainform.graph import Block
from chainform.model import Model

LETTERS = {
    "H": "mass_matrix",
    "C": "coriolis",
    "hG": "gravity",
    "B": "closure",
    "J": "closure_jacobian",
    "tau": "inverse_dynamics",
}
"""The letters of the equation tau = H qdd + qd^T C qd + hG + B sigma, and the outputs they mean."""

WORD = re.compile(r"\s*([^\s\[\],]+)\s*(?:\[([^\[\]]*)\])?\s*")
INDEX = re.compile(r"\s*(:|[0-9]{1,6})\s*")


@dataclass(frozen=True, slots=True)
class Request:
    """A quantity asked for: its name, and 1-based indices, None standing for `:`."""

    text: str
    name: str
    indices: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One scalar of a quantity: 1-based index, name (H_1_2) and the variable behind it."""

    index: tuple[int, ...]
    name: str
    variable: int


@dataclass(frozen=True, slots=True)
class Selection:
    """What a request means in a model."""

    request: Request
    name: str
    entries: tuple[Entry, ...]


def output_of(name: str) -> str:
    """Return the output that a letter stands for, other names as they are."""
    return LETTERS.get(name, name)


def letter_of(output: str) -> str | None:
    """Return the letter of an output, or None."""
    return next((letter for letter, name in LETTERS.items() if name == output), None)


def parse_request(text: str) -> Request:
    """Return what a QUANTITY on the command line asks for."""
    match = WORD.fullmatch(text)
    if match is None:
        raise ReadError(
            f"{text[:60]!r} is not a quantity",
            element="QUANTITY",
            remedy="write a name or a name with indices: mass_matrix, H[1,2], H_1_2, e_2_x",
        )
    if match[2] is None:
        return Request(text, output_of(match[1]))
    indices = tuple(_index(part, text) for part in match[2].split(","))
    return Request(text, output_of(match[1]), indices)


def _index(part: str, text: str) -> int | None:
    match = INDEX.fullmatch(part)
    if match is None:
        raise ReadError(
            f"{part.strip()[:20]!r} is not an index",
            element=text[:60],
            remedy="write numbers from 1 with commas between them, or : for all, as in H[1,:]",
        )
    return None if match[1] == ":" else int(match[1])


def outputs_for(requests: Sequence[Request], outputs: Sequence[str]) -> list[str]:
    """Return the outputs to derive so that all requests can be answered.

    An output, or an entry of one, needs that output; any other name may stand anywhere in the
    equations and needs all of them.
    """
    named = [_output_in(request.name, outputs) for request in requests]
    if not named or None in named:
        return list(dict.fromkeys([*outputs, *filter(None, named)]))
    return list(dict.fromkeys(filter(None, named)))


def _output_in(name: str, outputs: Sequence[str]) -> str | None:
    if name in outputs or name in LETTERS.values():
        return name
    letter, *numbers = name.split("_")
    return LETTERS.get(letter) if numbers and all(n.isdigit() for n in numbers) else None


def select(model: Model, request: Request) -> Selection:
    """Return the entries that a request means in a model."""
    graph = model.graph
    name = model.input_name(request.name)
    if name in graph.outputs or name in graph.quantities:
        block = graph.block(name)
        _check_indices(block, request)
        chosen = tuple(_entries_at(block, request.indices))
        return Selection(request, name, chosen)
    found = _by_label(model, name)
    if found is None and name in graph.numbers:
        found = Entry((), name, graph.numbers[name])
    if found is None:
        raise _unknown(model, request)
    if request.indices:
        raise ReadError(
            f"{name} is a single quantity and takes no indices", element=request.text[:60]
        )
    return Selection(request, name, (found,))


def _entries_at(block: Block, indices: tuple[int | None, ...]) -> Iterator[Entry]:
    places = np.ndindex(*block.shape)
    for place, label, variable in zip(places, block.labels, block.variables, strict=True):
        index = tuple(p + 1 for p in place)
        if all(asked in (None, own) for asked, own in zip(indices, index, strict=False)):
            yield Entry(index, label, variable)


def _check_indices(block: Block, request: Request) -> None:
    shape = block.shape
    asked = zip(request.indices, shape, strict=False)
    inside = all(i is None or 1 <= i <= length for i, length in asked)
    if len(request.indices) <= len(shape) and inside:
        return
    lengths = " × ".join(map(str, shape)) or "one number"
    raise ReadError(
        f"{block.name} is {lengths}; there is no entry [{_indices_text(request.indices)}]",
        element=request.text[:60],
        remedy="indices count from 1",
    )


def _indices_text(indices: tuple[int | None, ...]) -> str:
    return ",".join(":" if i is None else str(i) for i in indices)


def _by_label(model: Model, name: str) -> Entry | None:
    """Find an entry by its own name, which need not be that of the variable: H_2_1 is H_1_2."""
    for block in (*model.graph.outputs.values(), *model.graph.quantities.values()):
        if name in block.labels:
            place = block.labels.index(name)
            return Entry((), name, block.variables[place])
    return None


def _unknown(model: Model, request: Request) -> ReadError:
    blocks = (*model.graph.outputs.values(), *model.graph.quantities.values())
    labels = [label for block in blocks for label in block.labels]
    known = dict.fromkeys([*(block.name for block in blocks), *labels, *model.graph.numbers])
    close = get_close_matches(request.name[:60], known, n=3)
    hint = f"did you mean {', '.join(close)}? " if close else ""
    return ReadError(
        f"there is no quantity {request.name[:60]!r}",
        element="QUANTITY",
        remedy=hint + "without QUANTITY, show lists those there are",
    )
