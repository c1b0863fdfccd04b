"""Prescribed motions: of all coordinates, or of those that the others of a linkage follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from os import PathLike
from typing import Any, TypeAlias, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.known_states import (
    check_times,
    checked_states,
    known_states,
)
from chainform.analysis.motions.motion_sources import (
    CoordinateMotion,
    coordinate_motion,
    law_graph,
    motions_in,
)
from chainform.analysis.motions.supplementary import PrescribedMotion, complete
from chainform.analysis.results.interruption import Watch
from chainform.analysis.results.result import Result
from chainform.errors import RunError
from chainform.formulations import is_bound
from chainform.given import Given, argument, finite_array, real_array
from chainform.graph import Graph
from chainform.mechanism import Mechanism, number_of
from chainform.model import StoredRun, evaluate_states
from chainform.readers import read
from chainform.simulation import Run, parameters_of

Array = NDArray[np.float64]


MotionSource: TypeAlias = (
    Mapping[str, object] | str | PathLike[str] | PrescribedMotion | Run | Result | StoredRun
)
"""A table by coordinates, a file, or states that are known already."""


class MotionOptions(TypedDict, total=False):
    """How a motion is completed and differentiated, see `motion_of`; `values` of parameters."""

    start: Any
    smoothing: float | None
    values: Mapping[str, Any] | None


def motion_of(
    mechanism: Mechanism,
    motion: MotionSource,
    t: Any = None,
    values: Mapping[str, Any] | None = None,
    *,
    start: Any = None,
    smoothing: float | None = None,
    watch: Watch | None = None,
) -> PrescribedMotion:
    """Return the motion at times t (s) that is prescribed for coordinates by name.

    Each has a law of t, {"theta1": "0.3*sin(t)"}, pieces of laws, or numbers; a CSV file has
    columns of numbers, and a run, a result, the file of one or a stored one has all states. Laws
    may name parameters that have values, and are differentiated exactly; numbers without rates need
    `smoothing`, their standard deviation, 0 for exact ones. In a closed mechanism coordinates
    that are not named follow from the loops; `start` is a pose near the first one and decides in
    which of several ways they close. `watch` is that of `complete`.
    """
    known = known_states(motion, t)
    if known is not None:
        return checked_states(mechanism, known)
    table = Given(motions_in(cast("Any", motion)), "motion").table(remedy=LAWS)
    sources = _by_name(mechanism, table)
    if t is None:
        t = next((s.table()["t"].value for s in sources.values() if _has_times(s)), None)
    if t is None:
        remedy = "give times: t=np.linspace(0, 1, 101)"
        raise RunError("a motion by laws needs times", element="t", remedy=remedy)
    if all(_is_law(source) for source in sources.values()) and len(sources) == mechanism.nv:
        return _motion_by_laws(mechanism, table.value, t, values)
    times = finite_array("t", t)
    check_times(mechanism, times)
    wanted = None if smoothing is None else argument("smoothing", smoothing).number(least=0)
    return _motion_by_sources(mechanism, sources, times, values, (start, wanted, watch))


LAWS = 'write {"phi": "0.3*sin(t)"}'


def with_values(
    mechanism: Mechanism | str | PathLike[str], values: Mapping[str, Any] | None
) -> Mechanism:
    """Return a mechanism, or that of a file, with the values of parameters.

    With a table, even an empty one, every parameter must have a value; without one, those that have
    none may be such that the task does not need.
    """
    source = mechanism if isinstance(mechanism, Mechanism) else read(mechanism)
    return source if values is None else parameters_of(source, values).mechanism


def _is_law(source: Given) -> bool:
    return not isinstance(source.value, np.ndarray) and not source.is_table and not source.is_list


def _has_times(source: Given) -> bool:
    return source.is_table and source.table().has("t")


def _by_name(mechanism: Mechanism, motion: Given) -> dict[str, Given]:
    """Return where motions come from by coordinate, each once."""
    given: dict[str, Given] = {}
    for name, source in motion.items():
        own = mechanism.coordinates[mechanism.coordinate_index(name)]
        if own in given:
            raise motion.error(f"the motion of {name} is given twice", "give each coordinate one")
        given[own] = source.at(f"motion of {own!r}")
    return given


def _motion_by_sources(
    mechanism: Mechanism,
    sources: Mapping[str, Given],
    t: Array,
    values: Mapping[str, Any] | None,
    options: tuple[Any, float | None, Watch | None],
) -> PrescribedMotion:
    """Return the motion of sources of any kind, completed by loops and constraints."""
    moments, (start, smoothing, watch) = np.atleast_1d(t), options
    found: dict[str, CoordinateMotion] = {}
    for name, source in sources.items():
        law = partial(_law_at, mechanism, name, values)
        found[name] = coordinate_motion(source, moments, law, smoothing)
    notes = tuple(f"{name}: {one.note}" for name, one in found.items() if one.note)
    if not is_bound(mechanism):
        _by_place(mechanism, dict.fromkeys(sources, 0))
    elif values:
        mechanism = parameters_of(mechanism, values).mechanism
    tables = [
        {name: getattr(one, part) for name, one in found.items()}
        for part in ("values", "rates", "accelerations")
    ]
    found_motion = complete(mechanism, *tables, t=moments, start=start, watch=watch)
    return replace(found_motion, notes=notes)


def _law_at(
    mechanism: Mechanism,
    name: str,
    values: Mapping[str, Any] | None,
    law: object,
    element: str,
    t: Array,
) -> tuple[Array, Array, Array]:
    """Return a law of one coordinate with its first and second derivative, at times."""
    del element
    graph = law_graph(*_valued(mechanism, values, {name: law}, t))
    found = _evaluated(mechanism, graph, t, values)
    parts = [np.broadcast_to(found[key][..., 0], t.shape) for key in ("q", "qd", "qdd")]
    if not all(np.isfinite(part).all() for part in parts):
        wrong = t[~np.all([np.isfinite(part) for part in parts], axis=0)][0]
        raise RunError(
            f"the motion of {name} has no finite value, rate or acceleration at t = {wrong:.6g}",
            element=f"motion of {name!r}",
            remedy="correct its law, or leave out that time",
        )
    return parts[0], parts[1], parts[2]


# --- a law of time for every coordinate -------------------------------------------------------


def _evaluated(
    mechanism: Mechanism, graph: Graph, t: Any, values: Mapping[str, Any] | None
) -> dict[str, Array]:
    numbers = _used(mechanism, graph, values)
    # Where a law has no value there is none, and the caller refuses that time.
    with np.errstate(all="ignore"):
        return evaluate_states(graph, mechanism, {"t": t}, numbers, None)


def _valued(
    mechanism: Mechanism, values: Mapping[str, Any] | None, laws: Mapping[str, object], t: Array
) -> tuple[Mechanism, Mapping[str, object], str, Array | None]:
    """Return what `law_graph` takes: with values, and times at which it looks for jumps.

    It looks for none where a value is a batch.
    """
    given = values or {}
    if any(np.ndim(value) for value in given.values()):
        return mechanism, laws, "motion", None
    exact = {
        p.name: cast("Fraction", number_of(np.asarray(given[p.name]).item()))
        for p in mechanism.parameters
        if p.name in given
    }
    parameters = (replace(p, value=exact.get(p.name, p.value)) for p in mechanism.parameters)
    return replace(mechanism, parameters=tuple(parameters), source=None), laws, "motion", t


def _used(mechanism: Mechanism, graph: Graph, values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the values of parameters that a graph names."""
    known = {p.name: float(p.value) for p in mechanism.parameters if p.value is not None}
    free = {item.name for item in graph.inputs.values() if item.group == "parameter"}
    return {name: value for name, value in {**known, **(values or {})}.items() if name in free}


def _motion_by_laws(
    mechanism: Mechanism, laws: Mapping[str, object], t: Any, values: Mapping[str, Any] | None
) -> PrescribedMotion:
    """Return the motion of laws of all coordinates; times and parameters may be a batch."""
    times = real_array("t", t)
    check_times(mechanism, times)
    graph = law_graph(*_valued(mechanism, values, _of_all(mechanism, laws), times))
    found = _evaluated(mechanism, graph, t, values)
    sizes = [np.shape(value) for value in _used(mechanism, graph, values).values()]
    shape = np.broadcast_shapes(times.shape, *sizes)
    times = np.broadcast_to(times, shape)
    q, qd, qdd = (
        np.broadcast_to(found[name], (*shape, mechanism.nv)) for name in ("q", "qd", "qdd")
    )
    with np.errstate(invalid="ignore"):
        total = q + qd + qdd
    _refuse_infinite(mechanism, times, total)
    return PrescribedMotion(times, q, qd, qdd)


def _refuse_infinite(mechanism: Mechanism, t: Array, total: Array) -> None:
    """Refuse a motion that is not finite at some time; `total` has the shape of q."""
    wrong = ~np.isfinite(total + t[..., np.newaxis])
    if not wrong.any():
        return
    first = tuple(map(int, np.argwhere(wrong)[0]))
    name, when = mechanism.coordinates[first[-1]], t[first[:-1]]
    raise RunError(
        f"the motion of {name} has no finite value, rate or acceleration at t = {when:.6g}",
        element=f"motion of {name!r}",
        remedy="correct its law, or leave out that time",
    )


def _of_all(mechanism: Mechanism, laws: object) -> dict[str, object]:
    """Return the laws of all coordinates, in their order."""
    if mechanism.nq != mechanism.nv:
        raise RunError(
            "a motion is given for coordinates whose rates are qd, and a joint has a quaternion",
            element="motion",
            remedy="give q, qd and qdd as arrays",
        )
    given = _by_place(mechanism, laws)
    return {name: given[k] for k, name in _named(mechanism)}


def _named(mechanism: Mechanism) -> list[tuple[int, str]]:
    return list(enumerate(mechanism.coordinates))


def _by_place(mechanism: Mechanism, laws: object) -> dict[int, object]:
    """Return the laws by coordinate; every coordinate must have one."""
    motion = Given(laws, "motion").table(remedy='write {"phi": "0.3*sin(t)"}')
    given: dict[int, object] = {}
    for name, law in motion.items():
        place = mechanism.coordinate_index(name)
        if place in given:
            message = f"the motion of {name} is given twice"
            raise motion.error(message, "give each coordinate one law")
        given[place] = law.value
    missing = [name for k, name in _named(mechanism) if k not in given]
    if missing:
        remedy = f'give each a law of t: {{"{missing[0]}": "0.3*sin(t)"}}, or "0" to hold it'
        raise motion.error(f"no motion is given for {', '.join(missing)}", remedy)
    return given
