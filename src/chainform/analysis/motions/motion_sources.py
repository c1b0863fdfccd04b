"""Where the motion of a coordinate comes from: a law, pieces of laws, numbers, a file, a run.

Laws are differentiated exactly. Numbers without rates are differentiated by a spline, as in
simulations: an ill-posed problem (Andrieiev and Dziuba 2023), so its smoothing must be given, and
the notes of the motion repeat it.

    "0.3*sin(t)"                                                    a law of t
    [{"until": 1, "law": "t^3"}, {"law": "1 + 3*(t - 1)"}]           pieces that follow each other
    {"t": [...], "values": [...], "smoothing": 1e-4}                 numbers
    {"t": [...], "values": ..., "rates": ..., "accelerations": ...}  numbers with their rates
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError
from chainform.given import Given
from chainform.graph import Graph
from chainform.mechanism import LawReader, Mechanism, reader_of
from chainform.simulation import (
    MOTION_FIELDS,
    check_rate_of_time,
    contradiction,
    graph_of_laws,
    known_rates,
    table_columns,
    table_spline,
)

Array = NDArray[np.float64]
Law: TypeAlias = Callable[[object, str, Array], tuple[Array, Array, Array]]
"""Values, rates and accelerations of a law of t, which belongs to a coordinate, at times."""

JOINED = 1e-9
"""The largest step between two pieces of laws, against the size of values and rates."""
LARGEST_FILE = 2**28


@dataclass(frozen=True, eq=False)
class CoordinateMotion:
    """Values, rates and accelerations of one coordinate at times, (m,) each, and a note on them."""

    values: Array
    rates: Array
    accelerations: Array
    note: str = ""


def coordinate_motion(
    given: Given, t: Array, law: Law, smoothing: float | None = None
) -> CoordinateMotion:
    """Return the motion of a coordinate at times t; `smoothing` is that of plain numbers."""
    value: Any = given.value
    if isinstance(value, np.ndarray):
        return _numbers(given.holding({"values": cast("Any", value)}), t, smoothing)
    if given.is_table:
        return _numbers(given.table(MOTION_FIELDS), t, smoothing)
    if given.is_list:
        entries = given.entries()
        if entries and entries[0].is_table:
            return _pieces(entries, t, law)
        return _numbers(given.holding({"values": value}), t, smoothing)
    return CoordinateMotion(*law(value, given.element, t))


# --- laws -----------------------------------------------------------------------------------------


def law_graph(
    mechanism: Mechanism,
    laws: Mapping[str, object],
    what: str = "motion",
    span: Array | None = None,
) -> Graph:
    """Return the values q of laws of t, and their first and second derivatives qd and qdd.

    `what` they are stands before their names in errors: motion of 'elbow'. Laws whose values or
    rates jump among the times `span` (s) are refused, as no finite force follows them.
    """
    reader = LawReader(reader_of(mechanism), (), ())
    rows = [
        reader.law(reader.reader.given(law, f"{what} of {name!r}"), ("t",))
        for name, law in laws.items()
    ]
    if span is not None and span.size:
        ends = float(span.min()), float(span.max())
        # Where a law has no value, that time is refused by its values.
        with np.errstate(all="ignore"):
            for name, row in zip(laws, rows, strict=True):
                check_rate_of_time(mechanism, f"{what} of {name!r}", row, ends)
    return graph_of_laws(mechanism, rows)


# --- pieces ---------------------------------------------------------------------------------------


def _pieces(entries: Sequence[Given], t: Array, law: Law) -> CoordinateMotion:
    """Return laws that hold one after the other; each joins the next in value and rate."""
    tables = [entry.table(("until", "law")) for entry in entries]
    ends = [table["until"].number() for table in tables[:-1]]
    if any(b <= a for a, b in pairwise(ends)):
        raise tables[0].error("the ends of the pieces do not grow", 'order them by "until"')
    if tables[-1].has("until") and np.any(t > tables[-1]["until"].number()):
        raise tables[-1].error("the last piece ends before the motion", 'leave out its "until"')
    laws = [table.required("law", 'write "law": "2*t"') for table in tables]
    for end, first, second in zip(ends, laws, laws[1:], strict=False):
        _check_joint(first, second, end, law)
    which = np.searchsorted(np.array(ends), t, side="right")
    result, borders = np.zeros((3, *t.shape)), np.clip([-np.inf, *ends, np.inf], t.min(), t.max())
    for k, piece in enumerate(laws):
        chosen = which == k
        if chosen.any():
            # The whole piece is looked at, not only the times in it.
            moments = np.concatenate([t[chosen], borders[k : k + 2]])
            result[:, chosen] = np.array(law(piece.value, piece.element, moments))[:, :-2]
    return CoordinateMotion(result[0], result[1], result[2])


def _check_joint(first: Given, second: Given, end: float, law: Law) -> None:
    at = np.array([end])
    before, after = (law(one.value, one.element, at) for one in (first, second))
    for what, a, b in zip(("value", "rate"), before, after, strict=False):
        if not abs(a[0] - b[0]) <= JOINED * max(1.0, abs(a[0]), abs(b[0])):
            raise second.error(
                f"the {what} jumps from {a[0]:.6g} to {b[0]:.6g} at t = {end:.6g} s",
                "let each piece begin with the value and the rate at which the one before ends",
            )


# --- numbers --------------------------------------------------------------------------------------


def _numbers(table: Given, t: Array, smoothing: float | None) -> CoordinateMotion:
    """Return numbers at times of their own, or at t: as they are where rates are known there."""
    own, values = table_columns(table, t)
    if table.has("rates") and np.array_equal(own, t):
        known = known_rates(table, own, values)
        return CoordinateMotion(*known, contradiction(own, *known))
    outside = t[(t < own[0]) | (t > own[-1])]
    if outside.size:
        raise table.error(
            f"the numbers reach from t = {own[0]:.6g} to {own[-1]:.6g} s, and not to "
            f"{outside.flat[0]:.6g} s",
            "ask for times among them: beyond, a spline tells nothing",
        )
    spline, note = table_spline(table, t, smoothing)
    return CoordinateMotion(*spline(t), note)


# --- files ----------------------------------------------------------------------------------------


def table_of_file(path: str | PathLike[str]) -> dict[str, dict[str, Array]]:
    """Return the columns of a CSV file by coordinate: t, phi, and perhaps der(phi) and others.

    The first row has the names; `der(phi)` are rates and `der(der(phi))` accelerations.
    """
    source = Path(path)
    columns = _csv_columns(source)
    if "t" not in columns:
        remedy = "name a column t, with times in s"
        raise ReadError("there are no times", file=str(path), element="t", remedy=remedy)
    t = columns.pop("t")
    parts = {"values": "{0}", "rates": "der({0})", "accelerations": "der(der({0}))"}
    names = [name for name in columns if not name.startswith("der(")]
    found = {
        name: {
            part: columns.pop(k)
            for part, form in parts.items()
            if (k := form.format(name)) in columns
        }
        for name in names
    }
    if columns:
        remedy = "each rate der(phi) stands in a file with its phi"
        name = next(iter(columns))
        raise ReadError(
            "there is a rate without its coordinate", file=str(path), element=name, remedy=remedy
        )
    return {name: {"t": t, **part} for name, part in found.items()}


def _csv_columns(path: Path) -> dict[str, Array]:
    """Return the columns of a CSV file by name."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ReadError("it is larger than 256 MB", file=str(path), remedy="take fewer rows")
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.reader(line for line in stream if not line.startswith("#"))
            names = [name.strip() for name in next(rows, list[str]())]
            table = [_numbers_of(row, rows.line_num) for row in rows if row]
    except FileNotFoundError:
        remedy = "check the name and the folder"
        raise ReadError("there is no such file", file=str(path), remedy=remedy) from None
    except (OSError, UnicodeDecodeError, ValueError, csv.Error) as problem:
        remedy = "the first row has names, all others numbers with commas between them"
        raise ReadError(f"it cannot be read: {problem}", file=str(path), remedy=remedy) from problem
    uneven = next((k for k, row in enumerate(table, 2) if len(row) != len(names)), None)
    if uneven is not None or not table or len({*names}) < len(names):
        message = "it has no numbers" if not table else "a name stands twice in the first row"
        message = message if uneven is None else f"row {uneven} has not as many entries as names"
        remedy = "the first row has a name for each column, all others a number for each"
        raise ReadError(message, file=str(path), remedy=remedy)
    return dict(zip(names, np.array(table).T, strict=True))


def _numbers_of(row: Sequence[str], line: int) -> list[float]:
    """Return the numbers of a row; ValueError names the row, notes not counted."""
    try:
        return [float(entry) for entry in row]
    except ValueError as problem:
        raise ValueError(f"row {line}: {problem}") from None


def motions_in(source: Mapping[str, object] | str | PathLike[str]) -> Mapping[str, object]:
    """Return motions by coordinate, out of a file where one is named."""
    return table_of_file(source) if isinstance(source, str | PathLike) else source
