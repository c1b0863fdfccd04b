"""`chainform eval`: numbers of outputs at a state."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence

import numpy as np

from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen
from chainform.cli.model_report import LeftOut, method_document, show_left_out
from chainform.cli.options import (
    add_method,
    add_outputs,
    chosen_wrenches,
    derive_wanted,
    parameter_choice,
)
from chainform.cli.printing import Page, Report, aligned, shape_text
from chainform.cli.states import Array, State, read_state
from chainform.errors import ReadError
from chainform.given import Given
from chainform.graph import GROUPS
from chainform.mechanism import Mechanism, parametrise
from chainform.model import Model

NEGLIGIBLE = 1e-14
"""What is smaller than this part of an output's largest entry is rounding, shown to people as 0."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser, stored=True)
    parser.add_argument(
        "--at",
        metavar="STATE",
        required=True,
        help="a state file (JSON), the state itself as '{...}', or - for standard input",
    )
    add_outputs(parser, "those whose inputs the state gives")
    add_method(parser, search=False)


def run(args: Namespace) -> Report:
    """Derive the outputs and evaluate those that the state suffices for."""
    mechanism = read_chosen(args)
    state = read_state(args.at, mechanism, chosen_wrenches(mechanism, args))
    parameters = _parameters(mechanism, state, args)
    model, failed = derive_wanted(mechanism, args, parameters)
    lacking = {name: _lacking(model, name, state) for name in model.outputs}
    left_out = {name: needs for name, needs in lacking.items() if needs}
    chosen = [name for name in model.outputs if name not in left_out]
    if left_out and (args.outputs is not None or not chosen):
        raise _insufficient(state, left_out)
    results = _evaluate(model, state, chosen)
    reasons = failed | {
        name: f"the state gives no {', '.join(missing)}" for name, missing in left_out.items()
    }
    document = {
        "file": args.file,
        "state": state.file,
        **method_document(model),
        "batch": list(state.batch),
        "outputs": {
            name: {"shape": list(array.shape), "values": array.tolist()}
            for name, array in results.items()
        },
        "left_out": [
            {"name": name, "reason": reason, "missing": left_out.get(name, [])}
            for name, reason in reasons.items()
        ],
    }
    return Report(document, lambda page: _show(page, mechanism.name, state, results, reasons))


# --- inputs ---------------------------------------------------------------------------------


def _parameters(mechanism: Mechanism, state: State, args: Namespace) -> str | list[str]:
    """Return which parameters stay free, after a check that the state names no other ones.

    Unless the command line says it, they are those that the state gives values for.
    """
    chosen = parameter_choice(args.parameters)
    declared = [parameter.name for parameter in mechanism.parameters]
    free = _names(parametrise(mechanism, chosen or "numeric")) if state.values else []
    possible = _names(parametrise(mechanism, "symbolic")) if state.values else []
    possible += [name for name in free if name not in possible]
    for name in state.values:
        if name not in possible and name not in declared:
            every = f"the names are {', '.join(possible)}"
            raise Given(name, "values", state.file).unknown("parameter", possible, every)
    if chosen is None:
        return [name for name in state.values if name in possible] or "numeric"
    for name in state.values:
        if name in possible and name not in free:
            raise ReadError(
                "the parameter is a number in this model",
                file=state.file,
                element=f"values {name}",
                remedy=f"leave out --parameters, or add {name} to it",
            )
    return chosen


def _names(mechanism: Mechanism) -> list[str]:
    return [parameter.name for parameter in mechanism.parameters]


def _lacking(model: Model, output: str, state: State) -> list[str]:
    """Return the groups of inputs and the parameters that an output needs and lacks."""
    graph = model.graph
    needed = graph.cone(graph.output_variables([output]))
    inputs = [given for v, given in graph.inputs.items() if needed[v]]
    groups = {given.group for given in inputs}
    parameters = [given for given in inputs if given.group == "parameter"]
    return [group for group in GROUPS if group in groups - {"parameter", *state.groups}] + [
        given.name
        for given in parameters
        if given.default is None and given.name not in state.values
    ]


def _insufficient(state: State, left_out: dict[str, list[str]]) -> ReadError:
    needs = "; ".join(f"{name} needs {', '.join(missing)}" for name, missing in left_out.items())
    return ReadError(
        f"the state does not suffice: {needs}",
        file=state.file,
        remedy="add what is missing (parameters under values), or choose other --outputs",
    )


def _evaluate(model: Model, state: State, outputs: Sequence[str]) -> dict[str, Array]:
    free = model.free_parameters
    values = {name: value for name, value in state.values.items() if name in free}
    inputs = {given.group for given in model.graph.inputs.values()}
    groups = {group: array for group, array in state.groups.items() if group in inputs}
    # What overflows shows in the result itself: inf for people, null for programs.
    with np.errstate(all="ignore"):
        results = model.evaluate(**groups, values=values, outputs=outputs)
    return {
        name: np.broadcast_to(array, (*state.batch, *model[name].shape))
        for name, array in results.items()
    }


# --- for people -----------------------------------------------------------------------------


def _show(
    page: Page, name: str, state: State, results: dict[str, Array], left_out: LeftOut
) -> None:
    batch = f", a batch of {shape_text(state.batch)}" if state.batch else ""
    page.text(f"{name} at {state.file}{batch}", style="bold")
    for output, array in results.items():
        page.heading(output)
        for line in _lines(array):
            page.text(line)
    together: dict[str, list[str]] = {}
    for output, reason in left_out.items():
        together.setdefault(reason, []).append(output)
    show_left_out(page, {", ".join(outputs): reason for reason, outputs in together.items()})


def _lines(array: Array) -> Iterator[str]:
    """Yield vectors as one line and matrices as rows; further dimensions by their 1-based index."""
    negligible = NEGLIGIBLE * float(np.max(np.abs(array), initial=0, where=np.isfinite(array)))
    if array.ndim <= 2:
        yield from _rows(np.atleast_2d(array), negligible)
        return
    for place in np.ndindex(*array.shape[:-2]):
        yield f"  [{','.join(str(p + 1) for p in place)}]"
        yield from _rows(array[place], negligible)


def _rows(matrix: Array, negligible: float) -> list[str]:
    cells = [[_text(value, negligible) for value in row] for row in matrix.tolist()]
    return aligned(cells, [True] * matrix.shape[1])


def _text(value: float, negligible: float) -> str:
    return "0" if abs(value) <= negligible else f"{value:.8g}"


COMMAND = Command(
    usage="FILE --at STATE",
    description="Evaluate outputs at a state or a batch of states. The state file holds\n"
    '{"q": [...], "qd": [...], "qdd": [...], "tau": [...], "sigma": [...], "wrench": [...],\n'
    ' "x": [...], "u": [...], "force": [...], "t": 0.0, "direction": [...], "weights": [...],\n'
    ' "values": {...}},\n'
    "each entry as far as it is needed.",
    add_options=add_options,
    run=run,
)
