"""`chainform forces`: the forces that a mechanism leaves unknown, along a prescribed motion."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from chainform.analysis import PrescribedMotion, UnknownForces, motion_of, unknown_forces
from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen, target_of, write_file
from chainform.cli.options import add_list, parameter_values
from chainform.cli.printing import Document, Page, Report
from chainform.cli.states import name_of, read_json
from chainform.errors import ReadError
from chainform.given import Given
from chainform.mechanism import Mechanism, Reader

SHOWN = 25
"""The most times that are shown to people."""

MOST = 10_000_000
"""The most times that are computed."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    parser.add_argument(
        "--motion",
        metavar="LAWS",
        required=True,
        help="a law of t for every coordinate: a JSON file, or the table itself, as in "
        """'{"s": "0.2 + 0.1*sin(t)"}'; or - for standard input""",
    )
    parser.add_argument(
        "--times",
        metavar="START:END:COUNT",
        required=True,
        help="so many times from START to END (s), or times with commas between them",
    )
    text = "numbers of parameters, instead of those of the file: m=250, c=1/3"
    add_list(parser, "--values", "PARAMETER=VALUE", text)
    parser.add_argument("--out", metavar="FILE.csv", help="write times, motion and forces")
    parser.add_argument("--force", action="store_true", help="overwrite the file")


def run(args: Namespace) -> Report:
    """Solve for the unknown forces at all times."""
    target = target_of(args.out, args.file, force=args.force, option="--out")
    mechanism = read_chosen(args)
    times = _times(args.times)
    laws, values = _laws(args.motion), _values(args.values or ())
    # What has no finite value is reported with its time.
    with np.errstate(all="ignore"):
        motion = motion_of(mechanism, laws, times, values)
        found = unknown_forces(
            mechanism, times, motion.q, motion.qd, motion.qdd, values=values or None
        )
    if target is not None:
        write_file(target, _csv(mechanism, motion, found), force=args.force)
    document = _document(args, mechanism, motion, found, target)
    return Report(document, lambda page: _show(page, mechanism, found, times, target))


def _laws(source: str) -> dict[str, object]:
    document = read_json(source)
    if not isinstance(document, dict):
        raise ReadError(
            "the motion is a table of laws by coordinates",
            file=name_of(source),
            element="--motion",
            remedy='write {"q1": "sin(t)"}',
        )
    return cast("dict[str, object]", document)


def _values(texts: Sequence[str]) -> dict[str, float]:
    return {
        name: float(Reader().fraction(Given(text, f"--values, {name[:60]}")))
        for name, text in parameter_values(texts, "--values").items()
    }


def _times(text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        times = _spaced(text) if ":" in text else np.array([float(x) for x in text.split(",")])
    except ValueError:
        times = np.full(1, np.nan)
    if not np.all(np.isfinite(times)):
        raise ReadError(
            f"{text[:60]!r} tells no times",
            element="--times",
            remedy="write START:END:COUNT, as in 0:2:101 for 101 times, at most 10 million, or "
            "times with commas between them; all of them finite",
        )
    return times


def _spaced(text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the times of START:END:COUNT; whatever is wrong is a ValueError."""
    start, end, count = text.split(":")
    first, last, number = float(start), float(end), int(count)
    if not (1 <= number <= MOST and np.isfinite(first) and np.isfinite(last)):
        raise ValueError(text)
    return np.linspace(first, last, number)


def _document(
    args: Namespace,
    mechanism: Mechanism,
    motion: PrescribedMotion,
    found: UnknownForces,
    target: Path | None,
) -> Document:
    return {
        "file": args.file,
        "mechanism": mechanism.name,
        "kind": found.kind,
        "report": found.report,
        "unknowns": list(found.names),
        "t": motion.t.tolist(),
        "q": motion.q.tolist(),
        "forces": found.values.tolist(),
        "rank": found.rank.tolist(),
        "rows": list(found.rows),
        "multipliers": found.multipliers.tolist(),
        "row_rank": found.row_rank.tolist(),
        "written": None if target is None else str(target),
    }


def _csv(mechanism: Mechanism, motion: PrescribedMotion, found: UnknownForces) -> str:
    rates = [f"{prefix}{name}" for prefix in ("d_", "dd_") for name in mechanism.rates]
    head = ["t", *mechanism.coordinates, *rates, *found.names, *found.rows]
    states = [motion.t[:, np.newaxis], motion.q, motion.qd, motion.qdd]
    parts = [*states, found.values, found.multipliers]
    rows = np.concatenate(parts, axis=1)
    lines = [",".join(f'"{name}"' if "," in name else name for name in head)]
    lines += [",".join(repr(float(value)) for value in row) for row in rows]
    return "\n".join(lines) + "\n"


def _show(
    page: Page,
    mechanism: Mechanism,
    found: UnknownForces,
    times: np.ndarray[Any, np.dtype[np.float64]],
    target: Path | None,
) -> None:
    page.text(f"{mechanism.name}: {found.report}", style="bold")
    chosen = range(len(times))
    if len(times) > SHOWN:
        chosen = np.unique(np.linspace(0, len(times) - 1, SHOWN).astype(int)).tolist()
    columns = np.concatenate([found.values, found.multipliers], axis=1)
    rows = [(f"{times[i]:.6g}", *(f"{x:.8g}" for x in columns[i])) for i in chosen]
    head = ("t", *found.names, *found.rows)
    page.table(head, rows, numbers=head)
    if target is not None:
        page.text(f"written to {target}")


COMMAND = Command(
    usage="FILE --motion LAWS --times START:END:COUNT",
    description="Solve for the forces and moments that an element model leaves unknown, along a\n"
    "motion that is prescribed by laws of time. Rates and accelerations are found by exact\n"
    "differentiation. More forces than equations: the solution of least norm; fewer: least\n"
    "squares, with a report of what is left over. The forces of loops and constraints, which\n"
    "the motion must fit, are found with them: the columns behind.",
    add_options=add_options,
    run=run,
)
