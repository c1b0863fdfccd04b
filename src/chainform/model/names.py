"""What people call quantities: mass_matrix, H, H[1,2], H_1_2, jacobian(tool)[1,2], Q_3, e_2_x."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from chainform.errors import Error, RunError
from chainform.given import near
from chainform.graph import (
    Block,
    Graph,
    canonical,
    chosen_entries,
    indices_text,
    parts_of,
    restrict,
)

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
    "Az": "state_matrix",
    "Bz": "input_matrix",
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


@dataclass(frozen=True, slots=True)
class EntryRequest:
    """A quantity that is wanted: its name, and 1-based indices, None standing for `:`."""

    text: str
    name: str
    indices: tuple[int | None, ...] = ()


# --- names ----------------------------------------------------------------------------------


def output_of(text: str) -> str:
    """Return an output in full: names for letters, derivative(tau, q) for d(tau)/d(q)."""
    return canonical(text, _plain_output)


def _plain_output(text: str) -> str:
    """Return the output that a letter stands for, with its frame; other names as they are."""
    parts = parts_of(text)
    indices = f"[{indices_text(parts.indices)}]" if parts.indices else ""
    if parts.inside is None:
        return LETTERS.get(parts.name, parts.name) + indices
    # Numbers can be had from a stored model without any method of mechanics being imported.
    from chainform.formulations import parse_request as parse_output

    name = FRAME_LETTERS.get(parts.name, parts.name)
    return parse_output(f"{name}({parts.inside})").text + indices


def letter_of(output: str) -> str | None:
    """Return the letter of an output, with its frame if it has one: J(tool); or None."""
    name, bracket, frame = output.partition("(")
    letters = FRAME_LETTERS if bracket else LETTERS
    found = (letter for letter, meant in letters.items() if meant == name)
    return next((letter + bracket + frame for letter in found), None)


def parse_request(text: str) -> EntryRequest:
    """Return what a QUANTITY on the command line means."""
    parts = parts_of(output_of(text))
    return EntryRequest(text, parts.whole, parts.indices)


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
    chosen_entries(block_named(graph, request.name), request.indices, text)
    return request


def can_resolve(graph: Graph, text: str) -> bool:
    """Whether a text means something in a graph, or would with other indices."""
    if has_name(graph, text):
        return True
    try:
        return has_name(graph, parse_request(text).name)
    except Error:
        return False


def full_text(text: str) -> str | None:
    """Return the output in full that a text means, if it is one of other outputs."""
    try:
        found = output_of(text)
        return found if parts_of(found).is_operator else None
    except Error:
        return None


def find_block(graph: Graph, text: str) -> Block:
    """Return the entries that a text means, as an array; a single one has the shape ()."""
    request = resolve(graph, text)
    block = block_named(graph, request.name)
    return chosen_entries(block, request.indices, text) if request.indices else block


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
