"""What people call quantities: mass_matrix, H, H[1,2], H_1_2, jacobian(tool)[1,2], Q_3, e_2_x."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from chainform.errors import Error, RunError
from chainform.given import near
from chainform.graph import (
    OF_OUTPUT,
    Block,
    Cost,
    Graph,
    Index,
    base_outputs,
    canonical,
    chosen_entries,
    cost_by_entry,
    indices_text,
    labelled,
    parts_of,
    restrict,
)
from chainform.mechanism import Mechanism
from chainform.model.catalogue import CATALOGUE, FRAME_LETTERS, LETTERS


@dataclass(frozen=True, slots=True)
class EntryRequest:
    """A quantity that is wanted: its name, and indices from 1."""

    text: str
    name: str
    indices: tuple[Index, ...] = ()


# --- names ----------------------------------------------------------------------------------


def output_of(text: str, is_own: Callable[[str], bool] | None = None) -> str:
    """Return an output in full: names for letters, derivative(tau, q) for d(tau)/d(q).

    A name that `is_own` knows stays, even where it is a letter.
    """

    def named(inner: str) -> str:
        return inner if is_own and is_own(parts_of(inner).whole) else _plain_output(inner)

    return canonical(text, named)


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
    if bracket and name in OF_OUTPUT:
        return OF_OUTPUT[name] + bracket + frame
    letters = FRAME_LETTERS if bracket else LETTERS
    found = (letter for letter, meant in letters.items() if meant == name)
    return next((letter + bracket + frame for letter in found), None)


def parse_request(text: str, is_own: Callable[[str], bool] | None = None) -> EntryRequest:
    """Return what a QUANTITY on the command line means; names that `is_own` knows stay."""
    parts = parts_of(output_of(text, is_own))
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
        request = request_in(graph, text)
    except Error:
        raise unknown(graph, text) from None
    if not has_name(graph, request.name):
        raise unknown(graph, text)
    chosen_entries(block_named(graph, request.name), request.indices, text)
    return request


def request_in(graph: Graph, text: str) -> EntryRequest:
    """Return a request by the names that a graph has, else by letters: T may be both.

    Of d(T)/d(q) a graph may have derivative(kinetic_energy,q), and a variable T besides.
    """
    own = parse_request(text, partial(has_name, graph))
    full = own if has_name(graph, own.name) else parse_request(text)
    return full if has_name(graph, full.name) else own


def can_resolve(graph: Graph, text: str) -> bool:
    """Whether a text means something in a graph, or would with other indices."""
    if has_name(graph, text):
        return True
    try:
        return has_name(graph, request_in(graph, text).name)
    except Error:
        return False


def missing_operators(graph: Graph, names: Iterable[str]) -> tuple[list[str], bool]:
    """Return the outputs of outputs among names that a graph lacks; whether it has all the rest."""
    missing = [name for name in names if not can_resolve(graph, name)]
    operators = [text for name in missing if (text := _operator(graph, name)) is not None]
    bases = [base for text in operators for base in base_outputs(text)]
    is_there = len(operators) == len(missing) and all(can_resolve(graph, b) for b in bases)
    return operators, is_there


def _operator(graph: Graph, text: str) -> str | None:
    """Return the output in full that a text means, if it is one of other outputs."""
    try:
        found = output_of(text, partial(has_name, graph))
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


def block_named(graph: Graph, name: str) -> Block:
    """Return the output, quantity, entry or variable of this very name.

    Entries of outputs come before variables: on the way to accelerations another one may be tau_1.
    """
    if name in graph.outputs or name in graph.quantities:
        return graph.block(name)
    variable = labelled(graph.outputs.values(), name)
    if variable is None:
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
    letters = [letter for output in graph.outputs if (letter := letter_of(output))]
    known = dict.fromkeys([*graph.outputs, *letters, *graph.quantities, *labels, *graph.numbers])
    meant = LETTERS.get(name.partition("[")[0], name.partition("[")[0])
    close = "" if meant in CATALOGUE else near(name, known, 3).strip()
    operators, is_there = missing_operators(graph, [name])
    if operators and is_there:  # A model would have added it; the rows of a store are as they are.
        close = "save a model that has it as an output, or evaluate the one that store.load gives"
    others = f"it has {', '.join(graph.outputs) or 'no outputs'}; others are to be derived"
    return RunError(
        f"the model has no quantity {name[:60]}",
        element=name[:60],
        remedy=close or others,
    )
