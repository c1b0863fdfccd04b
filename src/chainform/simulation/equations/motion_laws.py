"""Prescribed motions: coordinates that follow a law of time, whatever force that takes.

motion={"crank": "6*t"}                                          a law of t and parameters
motion={"crank": [{"until": 1, "law": "3*t^2"}, {"law": "6*t - 3"}]}      pieces in time
motion={"crank": {"t": ..., "values": ..., "smoothing": 0}}      numbers, by a spline

The motion s(t) of a coordinate q is the constraint q - s(t) = 0 of the mechanism, for one run. Its
row J has a 1 at the rate of q and zeros elsewhere, so that its multiplier is the force of the
drive.

Pieces and splines are sums over windows, each 1 between two times and 0 elsewhere:

    s(t) = sum of s_i(t) (step(t - t_i) - step(t - t_(i+1)))

Pieces must join with equal values and rates: a jump of either takes an infinite force. No step
goes over a time at which the acceleration may jump.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.expressions import format_expression
from chainform.formulations import Kinematics, Laws
from chainform.given import Given, argument, finite_array, real_array
from chainform.graph import Builder, Graph, Tangents
from chainform.mechanism import (
    Constraint,
    Meaning,
    Mechanism,
    Number,
    Order,
    law_reader,
    number_of,
    reader_of,
    symbol_of,
)
from chainform.simulation.equations.assembly import rank_of
from chainform.simulation.equations.evaluate import check_rate_of_time, values_along
from chainform.simulation.equations.loop_constraints import ConstraintResiduals
from chainform.simulation.equations.spline import MOTION_FIELDS, Spline, table_spline

Array = NDArray[np.float64]
REMEDY = 'write {"crank": "6*t"}, pieces [{"until": 1, "law": "6*t"}, ...], or a table of t, values'
PIECE_FIELDS = ("until", "law")
MOST = 300
"""The most pieces of laws or splines: all of them become terms of the equations."""
JOIN = 1e-9
"""A relative jump of a value or a rate that is rounding."""
SAME = 1e-6
"""How well q0 and qd0 must agree with a law (rad, m, and per s)."""


MARK = "motion("
"""How the names of constraints begin that are prescribed motions: motion(crank)."""


def motion_name(constraint: str) -> str:
    """Return the coordinate whose motion a constraint prescribes, by its name; "" for others."""
    return constraint.removeprefix(MARK)[:-1] if constraint.startswith(MARK) else ""


@dataclass(frozen=True)
class MotionLaw:
    """The law of a coordinate: pieces, and the times (s) between them."""

    coordinate: str
    index: int
    pieces: tuple[Number, ...]
    times: tuple[float, ...] = ()
    note: str = ""
    """How a table became a law."""

    @property
    def constraint(self) -> str:
        """The name of the constraint of the mechanism that it becomes."""
        return f"{MARK}{self.coordinate})"

    @property
    def law(self) -> Number:
        """All pieces in one law."""
        if len(self.pieces) == 1:
            return self.pieces[0]
        starts = [f"step(t - ({time!r}))" for time in self.times]
        windows = [f"(1 - {starts[0]})"]
        windows += [f"({now} - {then})" for now, then in pairwise(starts)]
        windows.append(starts[-1])
        products = [f"{w}*({_text(p)})" for w, p in zip(windows, self.pieces, strict=True)]
        return number_of(" + ".join(products))


def _text(law: Number) -> str:
    return str(law) if isinstance(law, Fraction) else format_expression(law)


def motion_laws_of(
    mechanism: Mechanism, motion: Mapping[str, Any] | None, span: tuple[float, float]
) -> tuple[MotionLaw, ...]:
    """Return the laws of a motion over a span of time (s), with all names and laws checked."""
    if motion is None:
        return ()
    laws: dict[int, MotionLaw] = {}
    for name, given in argument("motion", motion).table(remedy=REMEDY).items():
        index = _index(mechanism, name, given)
        if index in laws:
            raise given.error(f"the motion of {name} is given twice", "give each one law")
        laws[index] = _law(mechanism, index, given, span)
    return tuple(laws.values())


def _index(mechanism: Mechanism, name: str, given: Given) -> int:
    """Return the index into q of a coordinate that can be prescribed."""
    with given.translate_errors():
        index = mechanism.coordinate_index(name)
    segment = mechanism.coordinate_records[index].segment
    joint = mechanism.segments[segment].joint if segment >= 0 else None
    if joint is not None and joint.kind.has_quaternion:
        message = f"{name} belongs to {joint.name!r}, a joint with a quaternion"
        remedy = "prescribe revolute or prismatic joints, or give it euler angles in the file"
        raise given.error(message, remedy)
    if _symbol(mechanism, index) is None:
        raise given.error(f"no law can name {name}", "rename the joint or coordinate")
    return index


def _symbol(mechanism: Mechanism, index: int) -> str | None:
    """Return how laws name a coordinate."""
    order = Order(mechanism.coordinates, mechanism.rates)
    symbol = symbol_of(Meaning("q", index), order)
    return None if symbol is None else symbol.name


def _law(mechanism: Mechanism, index: int, given: Given, span: tuple[float, float]) -> MotionLaw:
    name = mechanism.coordinates[index]
    if callable(given.value):
        remedy = "sample it: a table of t and values"
        raise given.error("a motion cannot be a function of Python", remedy)
    if given.is_table and given.has("values"):
        return _from_table(mechanism, index, given, span)
    if given.is_table and given.has("pieces"):
        given = given.table(("pieces",))["pieces"]
    if given.is_table or given.is_list:
        return _from_pieces(mechanism, index, given, span)
    return MotionLaw(name, index, (_of_time(mechanism, given),))


def _of_time(mechanism: Mechanism, given: Given) -> Number:
    """Return a law of t and parameters."""
    return law_reader(mechanism).law(given, ("t",))


# --- pieces in time ---------------------------------------------------------------------------


def _from_pieces(
    mechanism: Mechanism, index: int, given: Given, span: tuple[float, float]
) -> MotionLaw:
    """Return the law of pieces, [{until, law}, ...] in the order of time."""
    listed = [given] if given.is_table else given.entries()
    if not 0 < len(listed) <= MOST:
        raise given.error(f"a motion cannot have {len(listed)} pieces", f"give 1 to {MOST}")
    laws, times = list[Number](), list[float]()
    for number, entry in enumerate(listed, 1):
        piece = entry.at(f"{given.element}, piece {number}").table(PIECE_FIELDS)
        laws.append(_of_time(mechanism, piece.required("law", 'write law = "6*t"')))
        is_last = number == len(listed)
        if is_last and not piece.has("until"):
            break
        until = reader_of(mechanism).fraction(piece.required("until", "write until = 0.5"))
        if times and float(until) <= times[-1]:
            message = f"the piece ends at {float(until):g} s, and the one before it no earlier"
            raise piece.error(message, "list the pieces by time")
        if is_last and float(until) < span[1]:
            message = f"nothing is given from {float(until):g} s on"
            raise piece.error(message, "leave out 'until' of the last piece")
        times.append(float(until))
    return MotionLaw(
        mechanism.coordinates[index], index, tuple(laws), tuple(times[: len(laws) - 1])
    )


def check_motion(
    mechanism: Mechanism, laws: Sequence[MotionLaw], span: tuple[float, float]
) -> None:
    """Refuse laws whose values or rates jump within a motion, by values of parameters."""
    for law in laws:
        if law.note:
            continue
        element = f"motion, {law.coordinate}"
        for piece, start, end in zip(
            law.pieces, (span[0], *law.times), (*law.times, span[1]), strict=True
        ):
            check_rate_of_time(mechanism, element, piece, (start, max(start, end)))
        _check_joins(mechanism, law, element)


def _check_joins(mechanism: Mechanism, law: MotionLaw, element: str) -> None:
    """Refuse pieces whose values or rates differ where they join."""
    graph, t = graph_of_laws(mechanism, law.pieces), np.array(law.times)
    for what, output in (("value", "q"), ("rate", "qd")):
        values = values_along(graph, output, {"t": t})
        for k, time in enumerate(law.times):
            before, after = values[k, k], values[k, k + 1]
            if not abs(after - before) <= JOIN * max(1.0, abs(before), abs(after)):
                raise RunError(
                    f"its {what} jumps by {after - before:.6g} at t = {time:.9g} s, from "
                    f"{before:.6g} to {after:.6g}, which takes an infinite force",
                    element=element,
                    remedy="let pieces join with equal values and rates",
                )


# --- tables -----------------------------------------------------------------------------------


def _from_table(
    mechanism: Mechanism, index: int, given: Given, span: tuple[float, float]
) -> MotionLaw:
    """Return the spline of a table of numbers as a law."""
    table, name = given.table(MOTION_FIELDS, REMEDY), mechanism.coordinates[index]
    _of_time(mechanism, given.holding("t"))
    spline, note = table_spline(table)
    start, end = spline.knots[0], spline.knots[-1]
    if span[0] < start or span[1] > end:
        both = f"{start:g} to {end:g} s, the motion from {span[0]:g} to {span[1]:g} s"
        remedy = "let the table have all of it: it is not continued"
        raise given.error(f"the table goes from {both}", remedy)
    if len(spline.powers) > MOST:
        message = f"the spline has {len(spline.powers)} pieces, the limit is {MOST}"
        raise given.error(message, "give more smoothing, fewer numbers, or a law")
    return MotionLaw(name, index, _polynomials(spline), tuple(spline.knots[1:-1].tolist()), note)


def _polynomials(spline: Spline) -> tuple[Number, ...]:
    """Return the polynomials between knots as laws."""
    laws: list[Number] = []
    for start, powers in zip(spline.knots.tolist(), spline.powers.tolist(), strict=False):
        since, text = f"(t - ({start!r}))", f"({powers[-1]!r})"
        for power in reversed(powers[:-1]):
            text = f"(({power!r}) + {since}*{text})"
        laws.append(number_of(text))
    return tuple(laws)


# --- the mechanism of a motion, and its start -------------------------------------------------


def with_motion(mechanism: Mechanism, laws: Sequence[MotionLaw]) -> Mechanism:
    """Return the mechanism with a constraint for each law."""
    if not laws:
        return mechanism
    taken = {constraint.name for constraint in mechanism.constraints}
    made: list[Constraint] = []
    for law in laws:
        if law.constraint in taken:
            message = f"the mechanism has a constraint {law.constraint!r} already"
            raise argument(f"motion, {law.coordinate}", law).error(message, "rename or remove it")
        text = f"{_symbol(mechanism, law.index)} - ({_text(law.law)})"
        made.append(Constraint(law.constraint, "holonomic", number_of(text)))
    return replace(mechanism, constraints=(*mechanism.constraints, *made), source=None)


def graph_of_laws(mechanism: Mechanism, laws: Sequence[Number]) -> Graph:
    """Return the values q of laws of t, and their first and second derivatives qd and qdd."""
    builder = Builder()
    scalars = Laws(Kinematics(mechanism, builder))
    clock = Tangents(builder, {builder.variable_of(scalars.time()): builder.number(1)})
    q = [builder.keep(scalars.scalar(law)) for law in laws]
    qd = [builder.keep(clock.of(value)) for value in q]
    qdd = [builder.keep(clock.of(value)) for value in qd]
    for name, column in (("q", q), ("qd", qd), ("qdd", qdd)):
        entries = [(f"{name}_{k + 1}_of_t", value) for k, value in enumerate(column)]
        builder.output(name, (len(column),), entries)
    return builder.finish()


def first_values(
    mechanism: Mechanism, laws: Sequence[MotionLaw], q0: Any, qd0: Any, t: float
) -> tuple[Any, Any]:
    """Return q0 and qd0 with the values of laws at the start; others that are given are refused."""
    if not laws:
        return q0, qd0
    graph = graph_of_laws(mechanism, [law.law for law in laws])
    q, qd, qdd = (values_along(graph, x, {"t": np.array([t])})[0] for x in ("q", "qd", "qdd"))
    for law, numbers in zip(laws, zip(q, qd, qdd, strict=True), strict=True):
        if not np.all(np.isfinite(numbers)):
            message = f"it has no finite value, rate or acceleration at t = {t:g} s"
            raise RunError(message, element=f"motion, {law.coordinate}", remedy="correct the law")
    names = [law.coordinate for law in laws]
    first, rates = (dict(zip(names, map(float, x), strict=True)) for x in (q, qd))
    return (
        _with_values(argument("q0", q0), first, mechanism.coordinate_index),
        _with_values(argument("qd0", qd0), rates, mechanism.rate_index),
    )


def _with_values(given: Given, values: dict[str, float], find: Callable[[str], int]) -> Any:
    """Return a state, as a table or an array, with values by name in it."""
    places = {find(name): name for name in values}
    if not given.is_given:
        return values
    if given.is_table:
        own = {str(key): entry for key, entry in cast("dict[str, Any]", given.value).items()}
        for key, entry in own.items():
            if find(key) in places:
                _check_same(given, places[find(key)], entry, values)
        return {**{key: entry for key, entry in own.items() if find(key) not in places}, **values}
    array = np.array(real_array(given.element or "", given.value))
    if array.ndim != 1 or len(array) <= max(places):
        return given.value
    for place, name in places.items():
        _check_same(given, name, array[place], values)
        array[place] = values[name]
    return array


def _check_same(given: Given, name: str, entry: Any, values: Mapping[str, float]) -> None:
    value = float(finite_array(given.element or "", entry))
    if not abs(value - values[name]) <= SAME * max(1.0, abs(values[name])):
        what = f"the rate of {name}" if given.element == "qd0" else name
        message = f"{what} begins at {values[name]:.9g} by its motion, and {value:.9g} is given"
        raise given.error(message, "leave it out here, or change its motion")


def check_independent(mechanism: Mechanism, laws: Sequence[MotionLaw], q: Array, t: float) -> None:
    """Refuse a motion that loops, constraints or other motions determine already, at a pose.

    Even where it agrees with them the forces of the drives are not determined.
    """
    gaps = ConstraintResiduals(mechanism, t)
    J = gaps.slopes(q)
    rows = {piece.name: piece.first for piece in gaps.pieces}
    own = [rows[f"constraint {law.constraint!r}"] for law in laws]
    others = [k for k in range(len(J)) if k not in own]
    rank = rank_of(J[others], gaps)
    for law, row in zip(laws, own, strict=True):
        others.append(row)
        rank, before = rank_of(J[others], gaps), rank
        if rank == before:
            raise RunError(
                f"loops, constraints or other motions determine the motion of {law.coordinate} "
                f"at t = {t:g} s already",
                file=mechanism.file,
                element=f"motion, {law.coordinate}",
                remedy="leave it out, or begin in another pose where this one is singular",
            )


def violation(problem: RunError, laws: Sequence[MotionLaw], t: float) -> RunError:
    """Return the error of a motion with which loops or constraints cannot hold at the start."""
    names = ", ".join(law.coordinate for law in laws)
    return RunError(
        f"with the motion of {names} at t = {t:g} s {problem.message}",
        file=problem.file,
        element="motion",
        remedy="prescribe no more coordinates than the loops leave free, by laws that fit them; or "
        "give q0 nearer to a closed pose",
    )
