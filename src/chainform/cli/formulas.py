"""Formulas as LaTeX and MathML on the command line: their options, and how arrays are printed."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence

import numpy as np

from chainform.cli.printing import Document
from chainform.cli.selection import Selection, bad_input
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
from chainform.errors import ReadError
from chainform.model import (
    FormulaArray,
    FormulaOptions,
    Model,
    Quantity,
    block_named,
    has_name,
    letters_of,
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
