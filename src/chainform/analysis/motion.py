"""A prescribed motion: coordinates as laws of time, with their rates and accelerations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.formulations import Kinematics, Laws
from chainform.given import Given, real_array
from chainform.graph import Builder, Graph, Tangents
from chainform.mechanism import Mechanism
from chainform.mechanism.additions import reader_of
from chainform.mechanism.laws import LawReader
from chainform.model import evaluate_states

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Motion:
    """A motion at times t (...): q (..., nq), qd and qdd (..., nv)."""

    t: Array
    q: Array
    qd: Array
    qdd: Array


def motion_of(
    mechanism: Mechanism,
    laws: Mapping[str, object],
    t: Any,
    values: Mapping[str, Any] | None = None,
) -> Motion:
    """Return the motion at times t (s) of which a law of t is given for every coordinate.

    Laws are those of files, as in {"theta1": "0.3*sin(t)"}, and may name parameters that have
    values. Rates and accelerations are their derivatives, found exactly and not by differences.
    """
    graph = motion_graph(mechanism, laws)
    known = {p.name: float(p.value) for p in mechanism.parameters if p.value is not None}
    free = {item.name for item in graph.inputs.values() if item.group == "parameter"}
    given = {name: value for name, value in {**known, **(values or {})}.items() if name in free}
    found = evaluate_states(graph, mechanism, {"t": t}, given, None)
    times = real_array("t", t)
    shape = np.broadcast_shapes(times.shape, *(np.shape(value) for value in given.values()))
    times = np.broadcast_to(times, shape)
    q, qd, qdd = (
        np.broadcast_to(found[name], (*shape, mechanism.nv)) for name in ("q", "qd", "qdd")
    )
    _refuse_infinite(mechanism, times, q + qd + qdd)
    return Motion(times, q, qd, qdd)


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


def motion_graph(mechanism: Mechanism, laws: object) -> Graph:
    """Return q, qd and qdd as functions of time and parameters; laws are a table by coordinates."""
    if mechanism.nq != mechanism.nv:
        raise RunError(
            "a motion is given for coordinates whose rates are qd, and a joint has a quaternion",
            element="motion",
            remedy="give q, qd and qdd as arrays",
        )
    given = _by_place(mechanism, laws)
    reader = LawReader(reader_of(mechanism), (), ())
    builder = Builder()
    scalars = Laws(Kinematics(mechanism, builder))
    clock = {builder.variable_of(scalars.time()): builder.number(1)}
    tangents = Tangents(builder, clock)
    rows = [
        reader.law(reader.reader.given(given[k], f"motion of {name!r}"), ("t",))
        for k, name in _named(mechanism)
    ]
    q = [builder.keep(scalars.scalar(law)) for law in rows]
    qd = [builder.keep(tangents.of(value)) for value in q]
    qdd = [builder.keep(tangents.of(value)) for value in qd]
    for name, column in (("q", q), ("qd", qd), ("qdd", qdd)):
        entries = [(f"{name}_{k + 1}_of_t", value) for k, value in enumerate(column)]
        builder.output(name, (len(column),), entries)
    return builder.finish()


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
