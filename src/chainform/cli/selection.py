"""Quantities on a command line: what they mean in a model, what must be derived, their text."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from chainform.cli.printing import Document
from chainform.emitters import (
    TRIG_FORMS,
    WIDTH,
    ZERO,
    Equation,
    Formula,
    Letters,
    formula_latex,
    formula_mathml,
)
from chainform.errors import ReadError, RunError
from chainform.formulations import OF_FRAME, OF_ROWS, PART_CHOICES
from chainform.given import near
from chainform.graph import (
    Block,
    Index,
    base_outputs,
    divided,
    fits,
    indices_text,
    numpy_indices,
)
from chainform.mechanism import InertialElement, Mechanism
from chainform.model import (
    CATALOGUE,
    FRAME_LETTERS,
    LETTERS,
    EntryRequest,
    FormulaArray,
    FormulaOptions,
    Model,
    Quantity,
    block_named,
    has_name,
    letters_of,
    request_in,
    select_outputs,
)
from chainform.model import parse_request as parse_quantity

NUMBERED = re.compile(r"(?:[a-z]+_)*(?:x|constant)_[0-9]+_*")
"""The name of a variable without a name of its own: its place in one particular graph."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One scalar of a quantity: 1-based index, name (H_1_2) and the variable behind it."""

    index: tuple[int, ...]
    name: str
    variable: int


@dataclass(frozen=True, slots=True)
class Selection:
    """What a request means in a model."""

    request: EntryRequest
    name: str
    entries: tuple[Entry, ...]


# --- names ----------------------------------------------------------------------------------


def parse_request(text: str, is_own: Callable[[str], bool] | None = None) -> EntryRequest:
    """Return what a QUANTITY on the command line means; names that `is_own` knows stay."""
    with bad_input():
        return parse_quantity(text, is_own)


def split_list(texts: Iterable[str]) -> list[str]:
    """Return the items of texts in which commas or spaces separate them, outside of brackets.

    What stands in brackets belongs to the item: jacobian(tool, local)[1, 2], d(tau)/d(q).
    """
    # A bracket may stand apart from its word.
    joined = re.sub(r"\s+(?=[(\[])", "", " ".join(texts))
    words = (word for item in divided(joined, ",") for word in divided(item, " "))
    return [word for word in words if word]


def split_names(texts: Iterable[str]) -> list[str]:
    """Return names with commas between them, outside of brackets; a name may have blanks."""
    return [name for text in texts for name in divided(text, ",") if name]


def chosen_requests(args: Namespace, texts: Iterable[str]) -> list[EntryRequest]:
    """Return what texts mean: names of the stored model and of `--define` first, then letters."""
    return [parse_request(text, own_names(args)) for text in texts]


def own_names(args: Namespace) -> Callable[[str], bool]:
    own, stored = definitions(args), args.stored
    return lambda name: name in own or (stored is not None and has_name(stored.graph, name))


def wanted_texts(args: Namespace) -> list[str]:
    """Return what `--outputs` names; with it those of `--define`, if it names none of them."""
    texts, own = split_list(args.outputs), definitions(args)
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    return texts if words.intersection(own) else [*texts, *own]


def definitions(args: Namespace) -> dict[str, str]:
    """Return the outputs of `--define` by name, as they were written."""
    found: dict[str, str] = {}
    for text in getattr(args, "define", None) or ():
        name, equals, expression = (part.strip() for part in text.partition("="))
        if not (name and equals and expression):
            message = f"{text[:60]!r} is not NAME=EXPRESSION"
            raise ReadError(message, element="--define", remedy="write 'power = tau1*qd1'")
        if name in found:
            message = f"{name[:60]} is defined twice"
            raise ReadError(message, element="--define", remedy="give one another name")
        found[name] = expression
    return found


@contextmanager
def bad_input(option: str | None = None) -> Generator[None]:
    """Turn a RunError about a name into an error of the command line, or of an option of it."""
    try:
        yield
    except RunError as problem:
        parts = (option, problem.element)
        element = ", ".join(part for part in parts if part)
        raise ReadError(problem.message, element=element or None, remedy=problem.remedy) from None


# --- what must be derived -------------------------------------------------------------------


def named_outputs(
    requests: Sequence[EntryRequest], outputs: Sequence[str], mechanism: Mechanism
) -> list[str]:
    """Return the outputs that requests name, or name an entry of: H, H[1,2], H_1_2."""
    named = [_output_in(request.name, outputs, mechanism) for request in requests]
    return list(dict.fromkeys(filter(None, named)))


def output_with(name: str, outputs: Sequence[str], mechanism: Mechanism) -> str:
    """Return the output that a name means, or means an entry of; else the name itself."""
    return _output_in(name, outputs, mechanism) or name


def has_intermediates(outputs: Iterable[str], known: Sequence[str], mechanism: Mechanism) -> bool:
    """Whether some of the names, or what is taken of them, are no outputs: alpha_3_2."""
    bases = [base.partition("[")[0] for name in outputs for base in base_outputs(name)]
    return any(_output_in(base, known, mechanism) is None for base in bases)


def with_entries(model: Model, texts: Sequence[str]) -> Model:
    """Return the model with the entries that texts mean as its only outputs."""
    with bad_input():
        return replace(model, graph=select_outputs(model.graph_with(texts), texts))


def _output_in(name: str, outputs: Sequence[str], mechanism: Mechanism) -> str | None:
    known = (*outputs, *LETTERS.values(), *OF_FRAME)
    if name in known or "(" in name:
        return name
    letter, *numbers = name.split("_")
    if numbers and all(n.isdigit() for n in numbers):
        return LETTERS.get(letter)
    return _output_of_label(name, mechanism)


def _output_of_label(label: str, mechanism: Mechanism) -> str | None:
    """Return the output of a frame in which an entry has this name: J_tool_local_1_2."""
    letter, _, rest = label.partition("_")
    output = FRAME_LETTERS.get(letter)
    if output is None:
        return None
    indices = len(CATALOGUE[output].shape)
    place = rest.rsplit("_", indices)[0] if indices else rest
    parts = ("", *PART_CHOICES) if output in OF_ROWS else ("",)
    for name in frame_names(mechanism):
        word = re.sub(r"[^A-Za-z0-9_]", "_", name)
        for axes, part in product(("", "world", "local", "mixed"), parts):
            further = [choice for choice in (axes, part) if choice]
            # A segment may be called 2, and v_2_1 is a vector of the closed form.
            if place == "_".join([word, *further]) and not place.isdigit():
                return f"{output}({','.join([name, *further])})"
    return None


def frame_names(mechanism: Mechanism) -> list[str]:
    """Return what the frame of a quantity may be: named frames, segments, frames of elements."""
    own = [e.name for e in mechanism.elements if isinstance(e, InertialElement)]
    places = (*mechanism.frames, *mechanism.segments)
    return [*(place.name for place in places), *own]


def is_numbered(request: EntryRequest, mechanism: Mechanism) -> bool:
    """Whether a variable without a name of its own is meant, such as x_40.

    It is a place in the graph of certain outputs; with others it is another variable.
    """
    own = (*mechanism.coordinates, *(parameter.name for parameter in mechanism.parameters))
    return NUMBERED.fullmatch(request.name) is not None and request.name not in own


def refuse_numbered(requests: Sequence[EntryRequest], mechanism: Mechanism) -> None:
    """Refuse variables without names of their own, where no output is named with them."""
    for request in requests:
        if is_numbered(request, mechanism):
            raise ReadError(
                f"{request.name[:60]} is a place in the graph of certain outputs, "
                "and these are not named",
                element="QUANTITY",
                remedy=f"name them with it, as in: show FILE H {request.name[:60]}; "
                "or show an output with --steps",
            )


# --- entries --------------------------------------------------------------------------------


def is_known(model: Model, request: EntryRequest) -> bool:
    """Whether a model has a quantity or a variable of that name."""
    request = by_own_name(model, request)
    return request.name in model or has_name(model.graph, model.input_name(request.name))


def by_own_name(model: Model, request: EntryRequest) -> EntryRequest:
    """Return a request by the names that a model has, where it has them; else by letters."""
    with bad_input():
        return request_in(model.graph, request.text)


def select(model: Model, request: EntryRequest) -> Selection:
    """Return the entries that a request means in a model."""
    request = by_own_name(model, request)
    name = model.input_name(request.name)
    if not has_name(model.graph, name):
        raise _unknown(model, request)
    block = block_named(model.graph, name)
    _check_indices(block, request)
    return Selection(request, name, tuple(_entries_at(block, request.indices)))


def _entries_at(block: Block, indices: tuple[Index, ...]) -> Iterator[Entry]:
    places = np.arange(len(block.variables)).reshape(block.shape)[numpy_indices(indices)]
    for place in places.ravel().tolist():
        index = tuple(int(p) + 1 for p in np.unravel_index(place, block.shape))
        yield Entry(index, block.labels[place], block.variables[place])


def _check_indices(block: Block, request: EntryRequest) -> None:
    if fits(request.indices, block.shape):
        return
    lengths = " × ".join(map(str, block.shape)) or "one number"
    raise ReadError(
        f"{block.name} is {lengths}; there is no entry [{indices_text(request.indices)}]",
        element=request.text[:60],
        remedy="indices count from 1",
    )


def _unknown(model: Model, request: EntryRequest) -> ReadError:
    blocks = (*model.graph.outputs.values(), *model.graph.quantities.values())
    labels = [label for block in blocks for label in block.labels]
    others = [name for name in model.graph.numbers if NUMBERED.fullmatch(name) is None]
    known = dict.fromkeys([*(block.name for block in blocks), *labels, *others])
    other = "" if model.quantities else "; --formulation closed_form has more, such as Q_1 and e_1"
    return ReadError(
        f"there is no quantity {request.name[:60]!r} in the equations by {model.formulation}",
        element="QUANTITY",
        remedy=f"{near(request.name, known, 3)}without QUANTITY, show lists those there are{other}",
    )


def add_typesetting(parser: ArgumentParser) -> None:
    """Add the options of formulas for papers."""
    group = parser.add_argument_group("formulas for papers")
    group.add_argument("--latex", action="store_true", help="write LaTeX, for amsmath")
    group.add_argument("--mathml", action="store_true", help="write MathML, for pages")
    group.add_argument(
        "--trig",
        choices=TRIG_FORMS,
        help="sines as sin(q_2 + q_3) (full, the default), or as s_{23} with a legend (short)",
    )
    group.add_argument(
        "--symbol",
        metavar="NAME=LATEX",
        action="append",
        dest="symbols",
        help=r"the symbol of a coordinate or parameter, as in 'crank=\theta'; may be repeated",
    )
    group.add_argument(
        "--width",
        metavar="N",
        type=int,
        help=f"about how many characters a line of LaTeX has (default: {WIDTH})",
    )


def check_typesetting(args: Namespace) -> None:
    """Refuse options of LaTeX without it."""
    if args.latex and args.mathml:
        raise ReadError("--mathml goes without --latex", element="--mathml")
    options = {"--trig": args.trig, "--symbol": args.symbols}
    for option, given in options.items():
        if given is not None and not is_typeset(args):
            raise ReadError(f"{option} goes with --latex or --mathml", element=option)
    if args.width is not None and not args.latex:
        raise ReadError("--width goes with --latex", element="--width")


def is_typeset(args: Namespace) -> bool:
    """Tell whether formulas are wanted as LaTeX or MathML."""
    return bool(args.latex or args.mathml)


def typeset(formula: Formula, args: Namespace) -> str:
    """Return a formula as LaTeX or MathML."""
    return formula_mathml(formula) if args.mathml else formula_latex(formula)


def options_of(args: Namespace) -> FormulaOptions:
    """Return the options of formulas."""
    symbols: dict[str, str] = {}
    for text in args.symbols or ():
        name, equals, symbol = (part.strip() for part in text.partition("="))
        if not (name and equals and symbol):
            message = f"{text[:60]!r} is not NAME=LATEX"
            raise ReadError(message, element="--symbol", remedy=r"write 'crank=\theta'")
        symbols[name] = symbol
    return {
        "trig": args.trig or "full",
        "symbols": symbols,
        "width": WIDTH if args.width is None else args.width,
    }


def letters_for(model: Model, selections: Sequence[Selection], args: Namespace) -> Letters:
    """Return the symbols of a document with some selections."""
    entries = [entry for selection in selections for entry in selection.entries]
    variables = np.array([entry.variable for entry in entries], dtype=np.int64)
    labels = np.array([entry.name for entry in entries], dtype=np.str_)
    with bad_input():
        quantity = Quantity("", model.graph, variables, labels, model)
        return letters_of(quantity, options_of(args), expanded=args.expand)


def legend_rows(letters: Letters, formulas: Sequence[Formula], args: Namespace) -> list[Document]:
    """Return what the short sines in formulas stand for, as steps of a document."""
    legend = letters.legend([Equation(ZERO, formula) for formula in formulas])
    return [{"name": typeset(e.left, args), "formula": typeset(e.right, args)} for e in legend]


def selection_text(
    model: Model,
    selection: Selection,
    formulas: Mapping[int, Formula],
    letters: Letters,
    args: Namespace,
) -> str:
    """Return the equations of a selection: a matrix where it is one and fits."""
    entries = selection.entries
    axes = list(zip(*(entry.index for entry in entries), strict=True))
    shape = tuple(len(set(axis)) for axis in axes)
    if int(np.prod(shape)) != len(entries):
        shape = (len(entries),)
    variables = np.array([entry.variable for entry in entries], dtype=np.int64).reshape(shape)
    labels = np.array([entry.name for entry in entries], dtype=np.str_).reshape(shape)
    graph, name = model.graph, selection.name
    is_block = has_name(graph, name) and block_named(graph, name).shape == shape
    array = FormulaArray(name, labels, variables, letters, formulas.__getitem__, is_block)
    with bad_input():
        return array.mathml() if args.mathml else array.latex(options_of(args))
