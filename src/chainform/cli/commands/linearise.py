"""`chainform linearise`: A, B, C, D of small motions about a state."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis import Linearisation, LinearOptions, linearise
from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen
from chainform.cli.options import add_list, chosen_wrenches
from chainform.cli.printing import Document, Page, Report
from chainform.cli.selection import split_list
from chainform.cli.states import name_of, read_json
from chainform.given import Given

NEGLIGIBLE = 1e-14
"""What is smaller than this part of a matrix's largest entry is rounding, shown to people as 0."""
MOST_COLUMNS = 12
"""Wider matrices are not shown to people."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    parser.add_argument(
        "--at",
        metavar="STATE",
        default="{}",
        help="a state file (JSON), the state itself as '{...}', or - for standard input; what it "
        "does not give is zero (default: all zero)",
    )
    text = "names of coordinates, rates such as 'der(crank)' and states of actuators, q, qd, qdd, "
    text += "x, drives, or outputs as in derive (default: the states)"
    add_list(parser, "--outputs", "NAME", text)
    text = "tau, u, force, wrench, or joints, signals and unknown forces by name (default: u and "
    text += "force, or tau where there is neither; and the wrenches)"
    add_list(parser, "--inputs", "NAME", text)
    text = "coordinates that shall be independent, where loops or constraints bind some"
    add_list(parser, "--independent", "NAME", text)
    text = "frames or segments on which an outer force and moment act"
    add_list(parser, "--wrenches", "FRAME", text)


def run(args: Namespace) -> Report:
    """Linearise the mechanism at the state."""
    mechanism = read_chosen(args)
    keys = LinearOptions.__annotations__
    given = Given(read_json(args.at), "", name_of(args.at)).table(keys, 'write {"q": [...]}').value
    # What has no finite value is refused.
    with np.errstate(all="ignore"):
        found = linearise(
            mechanism,
            outputs=_names(args.outputs),
            inputs=_names(args.inputs),
            independent=_names(args.independent),
            wrenches=chosen_wrenches(mechanism, args),
            **given,
        )
    return Report(_document(args, found), lambda page: _show(page, found))


def _names(texts: Sequence[str] | None) -> list[str] | None:
    return None if texts is None else split_list(texts)


def _document(args: Namespace, found: Linearisation) -> Document:
    poles = found.poles
    return {
        "file": args.file,
        "mechanism": found.mechanism.name,
        "states": list(found.states),
        "inputs": list(found.inputs),
        "outputs": list(found.outputs),
        "independent": list(found.independent),
        "A": found.A.tolist(),
        "B": found.B.tolist(),
        "C": found.C.tolist(),
        "D": found.D.tolist(),
        "poles": [[float(pole.real), float(pole.imag)] for pole in poles],
        "point": {group: array.tolist() for group, array in found.point.items()},
        "drift": found.drift.tolist(),
        "is_equilibrium": found.is_equilibrium,
        "values": found.values.tolist(),
        "notes": list(found.notes),
    }


def _show(page: Page, found: Linearisation) -> None:
    still = (
        "an equilibrium" if found.is_equilibrium else f"no equilibrium: drift {found.residual:.6g}"
    )
    page.text(f"{found.mechanism.name}, {still}", style="bold")
    for note in found.notes:
        page.text(f"note: {note}")
    _matrix(page, "A", found.A, found.states, found.states)
    _matrix(page, "B", found.B, found.states, found.inputs)
    if found.outputs != found.states:
        _matrix(page, "C", found.C, found.outputs, found.states)
        _matrix(page, "D", found.D, found.outputs, found.inputs)
    page.heading("poles (1/s)")
    largest = float(np.max(np.abs(found.poles), initial=0.0))
    rows = [(_number(p.real, largest), _number(p.imag, largest)) for p in found.poles]
    page.table(("real", "imaginary"), rows, numbers=("real", "imaginary"))


def _matrix(
    page: Page,
    name: str,
    matrix: NDArray[np.float64],
    rows: Sequence[str],
    columns: Sequence[str],
) -> None:
    page.heading(name)
    if not matrix.size or len(columns) > MOST_COLUMNS:
        page.text(f"  {len(rows)} × {len(columns)}" + (", see --json" if matrix.size else ""))
        return
    largest = float(np.max(np.abs(matrix)))
    cells = [
        (row, *(_number(x, largest) for x in values))
        for row, values in zip(rows, matrix.tolist(), strict=True)
    ]
    page.table(("", *columns), cells, numbers=columns)


def _number(value: Any, largest: float) -> str:
    return "0" if abs(value) <= NEGLIGIBLE * largest else f"{value:.6g}"


COMMAND = Command(
    usage="FILE --at STATE",
    description="Linearise a mechanism about a state: z' = A z + B w, y = C z + D w, with its\n"
    "actuators, loops (reduced to independent coordinates) and constraints. z are displacements\n"
    "of the independent coordinates, changes of their rates and of the states of actuators. The\n"
    'state file holds {"q": [...], "qd": [...], "x": [...], "u": [...], "tau": [...],\n'
    ' "force": [...], "wrench": [...], "t": 0.0, "values": {...}}, lists or tables by names,\n'
    "each entry as far as it is not zero; and what acts by laws, as in a simulation: forces,\n"
    "signals, controllers.",
    add_options=add_options,
    run=run,
)
