"""Where the motion of a coordinate comes from: a law, pieces of laws, numbers, a file, a run.

Laws are differentiated exactly. Numbers without rates are differentiated by a quintic spline: this
is an ill-posed problem (Andrieiev and Dziuba 2023), so its smoothing must be given, and the notes
of the motion repeat it.

    "0.3*sin(t)"                                                    a law of t
    [{"until": 1, "law": "t^3"}, {"law": "1 + 3*(t - 1)"}]           pieces that follow each other
    {"t": [...], "values": [...], "smoothing": 1e-4}                 numbers
    {"t": [...], "values": ..., "rates": ..., "accelerations": ...}  numbers with their rates
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError, RunError
from chainform.given import Given, finite_array
from chainform.graph import Graph
from chainform.mechanism import LawReader, Mechanism, reader_of
from chainform.simulation import graph_of_laws

Array = NDArray[np.float64]
Law: TypeAlias = Callable[[object, str, Array], tuple[Array, Array, Array]]
"""Values, rates and accelerations of a law of t, which belongs to a coordinate, at times."""

FEWEST = 6
"""Numbers that a quintic spline needs."""
JOINED = 1e-9
"""The largest step between two pieces of laws, against the size of values and rates."""
FITTED = 1.01
"""How far the root mean square distance of a spline may be from the one that is required."""
ROUNDED = 1e-12
LARGEST_FILE = 2**28
FIELDS = ("t", "values", "rates", "accelerations", "smoothing")
REMEDY = 'give "smoothing": the standard deviation of the numbers, 0 for exact ones'


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
        return _numbers(given.table(FIELDS), t, smoothing)
    if given.is_list:
        entries = given.entries()
        if entries and entries[0].is_table:
            return _pieces(entries, t, law)
        return _numbers(given.holding({"values": value}), t, smoothing)
    return CoordinateMotion(*law(value, given.element, t))


# --- laws -----------------------------------------------------------------------------------------


def law_graph(mechanism: Mechanism, laws: Mapping[str, object], what: str = "motion") -> Graph:
    """Return the values q of laws of t, and their first and second derivatives qd and qdd.

    `what` they are stands before their names in errors: motion of 'elbow'.
    """
    reader = LawReader(reader_of(mechanism), (), ())
    rows = [
        reader.law(reader.reader.given(law, f"{what} of {name!r}"), ("t",))
        for name, law in laws.items()
    ]
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
    result = np.zeros((3, *t.shape))
    for k, piece in enumerate(laws):
        chosen = which == k
        if chosen.any():
            result[:, chosen] = law(piece.value, piece.element, t[chosen])
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
    """Return numbers at times of their own, or at t, as a spline."""
    values = _column(table.required("values"))
    own = _column(table["t"]) if table.has("t") else t
    if own.shape != values.shape:
        message = f"there are {len(own)} times and {len(values)} values"
        raise table.error(message, "give as many numbers as times")
    if len(own) > 1 and not np.all(np.diff(own) > 0):
        raise table.error("the times do not grow", "order them")
    if table.has("rates") or table.has("accelerations"):
        return _known(table, own, values, t)
    wanted = table["smoothing"].number(least=0) if table.has("smoothing") else smoothing
    if wanted is None:
        raise table.error("numbers without rates must be differentiated by a spline", REMEDY)
    _check_range(table, own, t)
    return _spline(table, own, values, wanted, t)


def _column(given: Given) -> Array:
    with given.translate_errors():
        values = finite_array(given.element, given.value)
    if values.ndim != 1 or not len(values):
        raise given.error(f"it has the shape {values.shape}", "give one row of numbers")
    return values


def _check_range(table: Given, own: Array, t: Array) -> None:
    outside = t[(t < own[0]) | (t > own[-1])]
    if outside.size:
        raise table.error(
            f"the numbers reach from t = {own[0]:.6g} to {own[-1]:.6g} s, and not to "
            f"{outside.flat[0]:.6g} s",
            "ask for times among them: beyond, a spline tells nothing",
        )


def _known(table: Given, own: Array, values: Array, t: Array) -> CoordinateMotion:
    """Return numbers of which rates and accelerations are known; between them, a quintic."""
    if not (table.has("rates") and table.has("accelerations")):
        remedy = 'give "rates" and "accelerations", or "smoothing" in place of them'
        raise table.error("rates and accelerations belong together", remedy)
    columns = [values, _column(table["rates"]), _column(table["accelerations"])]
    if any(column.shape != own.shape for column in columns):
        raise table.error("values, rates and accelerations are not as many", "give one each")
    if own.shape == t.shape and np.array_equal(own, t):
        return CoordinateMotion(columns[0], columns[1], columns[2])
    _check_range(table, own, t)
    if len(own) < 2:
        values, rates, accelerations = (np.broadcast_to(x, t.shape) for x in columns)
        return CoordinateMotion(values, rates, accelerations)
    curve = _splines().BPoly.from_derivatives(own, np.stack(columns, axis=1))
    note = "numbers with rates and accelerations, quintic between them"
    return CoordinateMotion(curve(t), curve.derivative(1)(t), curve.derivative(2)(t), note)


def _spline(
    table: Given, own: Array, values: Array, smoothing: float, t: Array
) -> CoordinateMotion:
    if len(own) < FEWEST:
        message = f"{len(own)} numbers are too few for a quintic spline"
        raise table.error(message, f"give at least {FEWEST}, or rates and accelerations")
    try:
        curve = _quintic(own, values, smoothing)
    except (ValueError, np.linalg.LinAlgError):
        message = "no spline goes along these numbers"
        raise table.error(message, "give times that are not much nearer than others") from None
    if smoothing == 0:
        note = f"quintic spline through {len(own)} numbers, no smoothing"
    else:
        offsets: Array = np.asarray(curve(own)) - values
        largest, mean = float(np.max(np.abs(offsets))), float(np.sqrt(np.mean(offsets**2)))
        if not mean <= FITTED * smoothing + ROUNDED * float(np.max(np.abs(values))):
            message = f"no spline is as near to the numbers as {smoothing:g}"
            raise table.error(message, "give more smoothing, or 0 for exact numbers")
        note = (
            f"quintic spline of {len(own)} numbers, smoothed by a standard deviation of "
            f"{smoothing:g}: at most {largest:.3g} from them"
        )
    return CoordinateMotion(curve(t), curve(t, nu=1), curve(t, nu=2), note)


def _quintic(t: Array, values: Array, smoothing: float) -> Any:
    """Return the spline through numbers, or so near to them in the mean."""
    splines = _splines()
    if smoothing == 0:
        return splines.make_interp_spline(t, values, k=5)
    with warnings.catch_warnings():  # The distance is checked after.
        warnings.simplefilter("ignore", RuntimeWarning)
        return splines.make_splrep(t, values, k=5, s=len(t) * smoothing**2)


def _splines() -> Any:
    try:
        return import_module("scipy.interpolate")
    except ImportError as problem:
        remedy = "pip install 'chainform[analyse]'"
        raise RunError("splines need scipy", element="smoothing", remedy=remedy) from problem


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
            table = [[float(entry) for entry in row] for row in rows if row]
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


def motions_in(source: Mapping[str, object] | str | PathLike[str]) -> Mapping[str, object]:
    """Return motions by coordinate, out of a file where one is named."""
    return table_of_file(source) if isinstance(source, str | PathLike) else source
