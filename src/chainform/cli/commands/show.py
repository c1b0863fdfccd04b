"""`chainform show`: formulas of quantities, or the list of quantities there are."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chainform.algebra import formulas
from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen
from chainform.cli.mechanism_report import frame_outputs
from chainform.cli.model_report import LeftOut, left_out_document, method_document, show_left_out
from chainform.cli.options import add_method, all_outputs, derive_all, derive_chosen
from chainform.cli.printing import Document, Page, Report, shape_text
from chainform.cli.selection import (
    Selection,
    add_typesetting,
    bad_input,
    check_typesetting,
    chosen_requests,
    frame_names,
    has_intermediates,
    is_known,
    is_numbered,
    is_typeset,
    legend_rows,
    letters_for,
    named_outputs,
    parse_request,
    refuse_numbered,
    select,
    selection_text,
    typeset,
)
from chainform.emitters import (
    Equation,
    Letters,
    NameFormula,
    definition_formula,
    expansion_formula,
)
from chainform.emitters import Formula as FormulaTree
from chainform.errors import ReadError
from chainform.graph import (
    ANGLES,
    GROUPS,
    LIMIT,
    definition_text,
    digits_of,
    formula_text,
    length,
    rounded,
    sympy_expressions,
)
from chainform.mechanism import Mechanism
from chainform.model import CATALOGUE, EntryRequest, Model, equations, letter_of


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser, stored=True)
    parser.add_argument(
        "quantities",
        metavar="QUANTITY",
        nargs="*",
        help="an output, a letter, an entry or any variable: mass_matrix, H, H[1,2], H[1,:], "
        "H_1_2, C[1,2,3], jacobian(tool)[1,2], Q_2, e_2_x; indices count from 1",
    )
    parser.add_argument(
        "--steps", action="store_true", help="show also every variable on the way, in order"
    )
    parser.add_argument(
        "--expand", action="store_true", help="write over the inputs, without variables on the way"
    )
    parser.add_argument(
        "--angles",
        choices=ANGLES,
        help="with --expand, sums of angles as they stand, split into single angles (the canonical "
        "form, without brackets), or products folded into them (default: the shortest)",
    )
    parser.add_argument(
        "--limit",
        metavar="N",
        type=int,
        help=f"the most terms of an entry with --expand (default: {LIMIT})",
    )
    parser.add_argument(
        "--digits",
        metavar="N",
        type=int,
        help="round numbers to N significant digits, with --expand, --latex or --mathml "
        "(default: exact)",
    )
    parser.add_argument("--sympy", action="store_true", help="write SymPy expressions")
    add_typesetting(parser)
    add_method(parser, search=False)


@dataclass(frozen=True, slots=True)
class Formula:
    """The right side of an entry's equation; `terms` counts those written with --expand."""

    name: str
    index: tuple[int, ...]
    text: str
    terms: int | None
    tree: FormulaTree | None = None


def run(args: Namespace) -> Report:
    """Derive quantities and write their formulas; without a name, list those there are."""
    _check_options(args)
    requests = [parse_request(text) for text in args.quantities]
    mechanism = read_chosen(args)
    requests = chosen_requests(args, args.quantities)
    if not requests:
        # A stored model has the outputs it has; further ones would have to be derived.
        frames = [] if args.stored else frame_names(mechanism)
        return _list(args.file, *derive_all(mechanism, args), frames)
    model = _derive(mechanism, args, requests)
    selections = [select(model, request) for request in requests]
    letters = letters_for(model, selections, args) if is_typeset(args) else None
    steps = _steps(model, selections, args, letters) if args.steps else []
    found = [_formulas(model, selection, args, letters) for selection in selections]
    document: Document = {
        "file": args.file,
        **method_document(model),
        "form": _form(args),
        "expanded": args.expand,
        "angles": args.angles,
        "steps": [{"name": row.name, "formula": row.text} for row in steps],
        "quantities": [
            _quantity_document(selection, rows)
            for selection, rows in zip(selections, found, strict=True)
        ],
    }
    if letters is None:
        once = args.expand and not args.sympy
        return Report(document, lambda page: _show(page, [steps, *found], once=once))
    trees = [row.tree for rows in (steps, *found) for row in rows if row.tree is not None]
    document["steps"] += legend_rows(letters, trees, args)
    pairs = list(zip(selections, found, strict=True))
    return Report(document, lambda page: _show_typeset(page, model, steps, pairs, letters, args))


def _check_options(args: Namespace) -> None:
    check_typesetting(args)
    if args.sympy and (is_typeset(args) or args.expand):
        raise ReadError(
            "--sympy goes without --expand, --latex and --mathml",
            element="options",
            remedy="leave them out: SymPy expressions are over the inputs already",
        )
    if args.steps and (args.sympy or args.expand):
        raise ReadError(
            "--steps goes without --expand and --sympy, which leave no steps", element="options"
        )
    if args.limit is not None and (args.limit < 1 or not args.expand):
        remedy = "as in: show FILE H[1,1] --expand --limit 1000000"
        raise ReadError(
            "--limit is a number of terms, and goes with --expand", element="--limit", remedy=remedy
        )
    if args.angles and not args.expand:
        remedy = "as in: show FILE H[1,1] --expand --angles collected"
        raise ReadError("--angles goes with --expand", element="--angles", remedy=remedy)
    with bad_input():
        digits_of(args.digits)
    if args.digits is not None and not (args.expand or is_typeset(args)):
        remedy = "as in: show FILE H[1,1] --expand --digits 6"
        problem = "--digits goes with --expand, --latex or --mathml"
        raise ReadError(problem, element="--digits", remedy=remedy)
    if args.steps and not args.quantities:
        raise ReadError("--steps needs a QUANTITY", element="options", remedy="as in: show FILE H")


def _derive(mechanism: Mechanism, args: Namespace, requests: Sequence[EntryRequest]) -> Model:
    """Derive the outputs that are named, and all others where that does not answer everything."""
    known = all_outputs(mechanism, args)
    named = named_outputs(requests, known, mechanism)
    if not args.stored and args.formulation and has_intermediates(named, known, mechanism):
        more = [name for name in named if not has_intermediates([name], known, mechanism)]
        model = derive_all(mechanism, args, more=more)[0]
        return replace(model, graph=model.graph_with(named))
    if not named:
        # The graph of a stored model stays as it is, and so do the numbers in it.
        if args.stored is None:
            refuse_numbered(requests, mechanism)
        return derive_all(mechanism, args)[0]
    model = derive_chosen(mechanism, args, named)
    pinned = any(is_numbered(request, mechanism) for request in requests)
    if pinned or all(is_known(model, request) for request in requests):
        return model
    return derive_all(mechanism, args, more=named)[0]


def _form(args: Namespace) -> str:
    if is_typeset(args):
        return "mathml" if args.mathml else "latex"
    return "sympy" if args.sympy else "text"


# --- formulas -------------------------------------------------------------------------------


def _formulas(
    model: Model, selection: Selection, args: Namespace, letters: Letters | None
) -> list[Formula]:
    """Return the formulas of a selection; entries that share a variable share its formula."""
    variables = list(dict.fromkeys(entry.variable for entry in selection.entries))
    texts = dict(zip(variables, _texts(model, variables, args, letters), strict=True))
    return [Formula(e.name, e.index, *texts[e.variable]) for e in selection.entries]


def _steps(
    model: Model, selections: Sequence[Selection], args: Namespace, letters: Letters | None
) -> list[Formula]:
    """Return the formulas of everything that the selected entries are computed from, in order."""
    graph = model.graph
    selected = {entry.variable for selection in selections for entry in selection.entries}
    needed = np.flatnonzero(graph.cone(sorted(selected))).tolist()
    steps = [v for v in needed if v not in selected and v not in graph.inputs]
    texts = _texts(model, steps, args, letters)
    return [Formula(graph.names[v], (), *text) for v, text in zip(steps, texts, strict=True)]


def _texts(
    model: Model, variables: Sequence[int], args: Namespace, letters: Letters | None
) -> Sequence[tuple[str, int | None, FormulaTree | None]]:
    """Return formulas as text, the terms of those that are expanded, and their trees."""
    graph = model.graph
    if args.sympy:
        return [(str(formula), None, None) for formula in sympy_expressions(graph, variables)]
    if args.expand:
        limit = LIMIT if args.limit is None else args.limit
        found = formulas(graph, variables, angles=args.angles, limit=limit)
        digits = digits_of(args.digits)
        found = [result if digits is None else rounded(result, digits) for result in found]
        counts = [length(result)[0] for result in found]
        if letters is None:
            texts = map(formula_text, found)
            return [(text, count, None) for text, count in zip(texts, counts, strict=True)]
        trees = [expansion_formula(result, letters, letters.turn) for result in found]
        pairs = zip(trees, counts, strict=True)
        return [(typeset(tree, args), count, tree) for tree, count in pairs]
    if letters is None:
        return [(definition_text(graph, variable), None, None) for variable in variables]
    trees = [
        definition_formula(graph, v, letters, angles=letters.is_short, digits=args.digits)
        for v in variables
    ]
    return [(typeset(tree, args), None, tree) for tree in trees]


def _quantity_document(selection: Selection, formulas: Sequence[Formula]) -> Document:
    return {
        "asked": selection.request.text,
        "name": selection.name,
        "entries": [
            {"name": row.name, "index": list(row.index), "formula": row.text, "terms": row.terms}
            for row in formulas
        ],
    }


def _show(page: Page, quantities: Sequence[Sequence[Formula]], *, once: bool) -> None:
    """Print formulas; with `once` each one once, behind the names of all entries that it is of."""
    for rows in quantities:
        names, texts = [row.name for row in rows], [row.text for row in rows]
        for left, formula in equations(names, texts) if once else zip(names, texts, strict=True):
            page.equation(left, formula)


def _show_typeset(
    page: Page,
    model: Model,
    steps: Sequence[Formula],
    quantities: Sequence[tuple[Selection, Sequence[Formula]]],
    letters: Letters,
    args: Namespace,
) -> None:
    """Print the steps, each with its name, and every quantity as a matrix or as equations."""
    for row in steps:
        if row.tree is not None:
            equation = Equation(NameFormula(letters(row.name)), row.tree)
            page.text(typeset(equation, args))
    for selection, rows in quantities:
        trees = [row.tree for row in rows if row.tree is not None]
        by_variable = dict(zip((e.variable for e in selection.entries), trees, strict=True))
        page.text(selection_text(model, selection, by_variable, letters, args))


# --- the list -------------------------------------------------------------------------------


def _list(file: str, model: Model, left_out: LeftOut, frames: list[str]) -> Report:
    graph = model.graph
    needed = graph.cone(graph.output_variables())
    groups = list(GROUPS)
    inputs = sorted(
        (given for v, given in graph.inputs.items() if needed[v]),
        key=lambda given: (groups.index(given.group), given.index),
    )
    document: Document = {
        "file": file,
        **method_document(model),
        "outputs": [
            {"name": name, "letter": letter_of(name), "shape": list(model[name].shape)}
            for name in model.outputs
        ],
        "of_frame": [
            {"name": f"{name}(F)", "letter": letter_of(f"{name}(F)")}
            | {"shape": list(CATALOGUE[name].shape_for(model.mechanism))}
            for name in (frame_outputs(model.mechanism) if frames else ())
        ],
        "frames": frames,
        "intermediate": [
            {"name": name, "shape": list(model[name].shape)} for name in model.quantities
        ],
        "inputs": [{"name": given.name, "group": given.group} for given in inputs],
        **left_out_document(left_out),
    }
    return Report(document, lambda page: _show_list(page, model, document, left_out))


def _show_list(page: Page, model: Model, document: Document, left_out: LeftOut) -> None:
    page.text(model.title, style="bold")
    of_frame: list[Document] = document["of_frame"]
    page.heading("outputs")
    page.table(
        ("name", "letter", "shape"),
        [(name, letter_of(name) or "", shape_text(model[name].shape)) for name in model.outputs],
    )
    if of_frame:
        page.heading(
            "outputs of a frame F in world axes, reactions in its own; "
            "(F,world), (F,local) and (F,mixed) choose"
        )
        page.table(
            ("name", "letter", "shape"),
            [(r["name"], r["letter"], shape_text(r["shape"])) for r in of_frame],
        )
        page.text(f"  F: {', '.join(document['frames'])}")
    if model.quantities:
        page.heading("intermediate quantities")
        page.table(("names", "number", "shape"), _families(model), numbers=("number",))
    page.heading("inputs")
    groups: dict[str, list[str]] = {}
    for given in document["inputs"]:
        groups.setdefault(given["group"], []).append(given["name"])
    for group, names in groups.items():
        page.text(f"  {group}: {', '.join(names)}")
    show_left_out(page, left_out)


def _families(model: Model) -> list[tuple[str, str, str]]:
    """Return the intermediate quantities by their first letters: v_1_1 ... v_6_6."""
    families: dict[str, list[str]] = {}
    for name in model.quantities:
        families.setdefault(name.partition("_")[0], []).append(name)
    return [
        (
            names[0] if len(names) == 1 else f"{names[0]} ... {names[-1]}",
            str(len(names)),
            shape_text(model[names[0]].shape),
        )
        for names in families.values()
    ]


COMMAND = Command(
    usage="FILE [QUANTITY ...]",
    description="Show the formulas of quantities; without QUANTITY, list those there are.",
    add_options=add_options,
    run=run,
)
