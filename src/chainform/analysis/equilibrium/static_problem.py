"""What a question about equilibria gives: mechanism, forces, stops, held joints, one parameter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.static_equations import StaticEquations, static_equations
from chainform.analysis.results.displacement import has_quaternion
from chainform.errors import RunError
from chainform.formulations import coordinate_of
from chainform.given import argument, listed, near, real_array
from chainform.mechanism import (
    Mechanism,
    Parameter,
    automatic_parameters,
    number_of,
    parametrise,
)
from chainform.model import place_of
from chainform.readers import read
from chainform.simulation import (
    Barriers,
    ConstraintResiduals,
    barriers_of,
    check_known,
    initial_rest,
    initial_state,
    parameters_of,
    tables_of,
    with_unknowns,
    without_values,
)

Array = NDArray[np.float64]
FRICTION = (
    "dry friction is left out: what holds without it is an equilibrium with it, too, but friction "
    "holds a whole range of poses around"
)


class StaticOptions(TypedDict, total=False):
    """What acts on a mechanism at rest.

    `held` names coordinates that drives hold, where q0 has them, or gives their values. `forces`
    are laws by joints, and by names of unknown forces; `signals` numbers by actuators. `values`,
    `stops` and `contacts` are as in `simulate`; contacts are without friction. Laws of time are
    taken at `time` (s). A search begins with the states `x0` of actuators, by names, and with zero.
    """

    held: Any
    forces: Mapping[str, Any]
    signals: Mapping[str, Any]
    values: Mapping[str, Any]
    stops: Any
    contacts: Any
    time: float
    x0: Mapping[str, Any]


@dataclass(frozen=True)
class StaticProblem:
    """A mechanism with all its values and forces, and its equations of rest.

    Along a parameter `mechanism` has the first value of it. `held` are values of coordinates by
    rate, `notes` what one should know, `x0` states of actuators to begin with.
    """

    mechanism: Mechanism
    equations: StaticEquations
    barriers: Barriers
    held: Mapping[int, float]
    t: float
    notes: tuple[str, ...]
    x0: Array
    first: float = np.nan
    """The first value of the parameter."""

    @cached_property
    def residuals(self) -> ConstraintResiduals:
        """What loops and constraints leave open, a parameter having its first value."""
        return ConstraintResiduals(self.barriers.bare(self.mechanism), self.t)

    def is_closed(self, q: Array, tolerance: float) -> NDArray[np.bool_]:
        """Whether loops are closed in poses (m, nq) whose rows vanish.

        Rows vanish as well where frames or axes are turned against each other by half a turn.
        """
        loops = self.residuals.mechanism.loops
        if not any(loop.rows.has_sense for loop in loops):
            return np.ones(len(q), np.bool_)
        gaps = np.array([self.residuals.at(pose) for pose in q]).reshape(len(q), -1)
        return np.asarray(np.all(np.abs(gaps) < tolerance, axis=1), np.bool_)

    @cached_property
    def scales(self) -> Array:
        """What counts as a motion of size 1 for each rate: 1 rad, or the size in m."""
        return self.residuals.scales() if self.mechanism.loops else np.ones(self.mechanism.nv)

    def pose(self, q: Any) -> Array:
        """Return a pose that is given, with held coordinates at their values."""
        pose = initial_state(self.mechanism, q, None)[: self.mechanism.nq]
        for rate, value in self.held.items():
            pose[coordinate_of(self.mechanism, rate)] = value
        return pose


def static_problem(
    source: Any,
    options: Mapping[str, Any],
    q0: Any = None,
    parameter: str | None = None,
    span: tuple[float, float] = (0.0, 0.0),
) -> StaticProblem:
    """Return the problem, all of it checked; a held coordinate without a value has that of q0."""
    mechanism = source if isinstance(source, Mechanism) else read(source)
    given = argument("options", options).table(StaticOptions.__annotations__).value
    t = argument("time", given.get("time", 0.0)).number()
    signal = None if parameter is None else _signal(mechanism, parameter)
    if parameter is not None and signal is None:
        laws = (given.get("forces"),)
        mechanism = with_parameter(mechanism, parameter, laws, given.get("values"), span)
    else:
        mechanism = parameters_of(mechanism, given.get("values")).mechanism
    mechanism = _with_forces(mechanism, given.get("forces"))
    tables = (tables_of(given.get("stops")), tables_of(given.get("contacts")))
    barriers = barriers_of(mechanism, *tables, without=("friction",))
    held = _held(mechanism, given.get("held"), q0)
    free = barriers.bare(mechanism)
    if parameter is not None and signal is None:
        free = without_values(free, [parameter])
    constants = {"t": np.array([t]), "u": _signals(mechanism, given.get("signals"))}
    # Laws of stops and constraints still name parameters.
    settled = replace(parametrise(free, "numeric"), parameters=free.parameters)
    equations = static_equations(settled, barriers, held, constants, signal)
    check_known(equations.graph, [] if parameter is None else [parameter])
    notes = _notes(mechanism, barriers, equations, t)
    x0 = argument("x0", given.get("x0", {})).table(remedy='write {"motor.current": 0.5}').value
    begin = initial_rest(mechanism, mechanism.neutral(), np.zeros(mechanism.nv), x0)
    return StaticProblem(mechanism, equations, barriers, held, t, notes, begin, float(span[0]))


def _with_forces(mechanism: Mechanism, forces: Any) -> Mechanism:
    """Return the mechanism with forces by joints, and with all its unknown forces given."""
    given = argument("forces", {} if forces is None else forces)
    table = given.table(remedy='write {"crank": 2} or {"crank": "-3*crank"}').value
    unknown = {name: force for name, force in table.items() if name in mechanism.unknowns}
    missing = [name for name in mechanism.unknowns if name not in unknown]
    if missing:
        raise RunError(
            f"the mechanism leaves {', '.join(missing)} unknown",
            file=mechanism.file,
            element="forces",
            remedy=f'give each: forces={{"{missing[0]}": 0}}; statics() finds them in a pose',
        )
    known = {name: force for name, force in table.items() if name not in unknown}
    if unknown:
        mechanism = with_unknowns(mechanism, unknown)[0]
    with given.translate_errors():
        return mechanism.with_forces(known) if known else mechanism


def _signals(mechanism: Mechanism, signals: Any) -> Array:
    """Return the signals of actuators, zero where nothing is given."""
    u = np.zeros(len(mechanism.actuators))
    table = argument("signals", {} if signals is None else signals)
    for name, value in table.table(remedy='write {"motor": 12}').items():
        place = _signal(mechanism, name)
        u[place_of(mechanism, "u", name) if place is None else place] = value.number()
    return u


def _signal(mechanism: Mechanism, name: str) -> int | None:
    """Return the place of a signal, given by its name or that of its actuator."""
    for names in (mechanism.signals, [actuator.name for actuator in mechanism.actuators]):
        if name in names:
            return list(names).index(name)
    return None


def _held(mechanism: Mechanism, held: Any, q0: Any) -> dict[int, float]:
    """Return values of held coordinates by rate."""
    given = argument("held", held)
    if held is None:
        return {}
    remedy = 'write ["crank"], or {"crank": 0.4}'
    values: dict[int, float] = {}
    pose = initial_state(mechanism, q0, None) if q0 is None or _is_one(q0) else None
    entries = given.table().items() if given.is_table else [(n, None) for n in given.texts(remedy)]
    for name, value in entries:
        rate = mechanism.rate_index(name)
        if has_quaternion(mechanism, rate):
            raise given.error(f"{name} belongs to a joint with a quaternion", "write euler angles")
        if rate in values:
            raise given.error(f"{name} is given twice", "give each coordinate once")
        if value is not None:
            values[rate] = value.number()
        elif pose is None:
            raise given.error(f"q0 has several values of {name}", remedy)
        else:
            values[rate] = float(pose[coordinate_of(mechanism, rate)])
    return values


def _is_one(q0: Any) -> bool:
    return isinstance(q0, Mapping) or real_array("q0", q0).ndim == 1


# --- the parameter ----------------------------------------------------------------------------


def with_parameter(
    mechanism: Mechanism, name: str, laws: Sequence[Any], given: Any, span: tuple[float, float]
) -> Mechanism:
    """Return the mechanism with a parameter at the first value of its span; both are checked.

    One that the mechanism does not have must stand in the laws. `given` are values of others.
    """
    declared = [parameter.name for parameter in mechanism.parameters]
    automatic = automatic_parameters(mechanism)
    if name not in declared and name not in automatic:
        if not _is_in_laws(name, list(laws)):
            known = [*declared, *automatic, *mechanism.signals]
            remedy = near(name, known) + (
                'name a parameter, a signal, or a factor in a law: forces={"crank": '
                f'"2*{name}"}}; there are {listed(known)}'
            )
            raise argument("parameter", name).error(f"there is no parameter {name!r}", remedy)
        value = cast("Fraction", number_of(span[0]))
        added = (*mechanism.parameters, Parameter(name, value))
        mechanism = replace(mechanism, parameters=added, source=None)
    values = argument("values", given or {}).table().value
    if name in values:
        raise argument("values", name).error(
            f"{name} is the parameter of the path, and is given a value",
            "leave it out of values: span tells where it begins",
        )
    parameters_of(mechanism, {**values, name: span[1]})
    return parameters_of(mechanism, {**values, name: span[0]}).mechanism


def _is_in_laws(name: str, laws: Any) -> bool:
    """Whether a name stands in laws."""
    if isinstance(laws, str):
        return re.search(rf"\b{re.escape(name)}\b", laws) is not None
    if isinstance(laws, Mapping):
        laws = list(cast("Mapping[str, Any]", laws).values())
    return isinstance(laws, list | tuple) and any(
        _is_in_laws(name, law) for law in cast("list[Any]", laws)
    )


# --- what one should know ---------------------------------------------------------------------


def _notes(
    mechanism: Mechanism, barriers: Barriers, equations: StaticEquations, t: float
) -> tuple[str, ...]:
    notes: list[str] = []
    if equations.depends_on_time():
        if mechanism.base.is_moving:
            raise RunError(
                "the base moves by laws of time, so that nothing stays in equilibrium with it",
                file=mechanism.file,
                element="base",
                remedy="give it a constant acceleration or angular velocity, or none",
            )
        notes.append(f"laws of time are taken at t = {t:g} s, as if they stood still then")
    elif mechanism.base.is_moving:
        notes.append("equilibria are those against the moving base")
    if _has_friction(mechanism, barriers):
        notes.append(FRICTION)
    if any(barrier.contact_law.damping for barrier in barriers.stiff):
        notes.append("damping of stiff contacts is left out of the stability")
    return tuple(notes)


def _has_friction(mechanism: Mechanism, barriers: Barriers) -> bool:
    joints = any(
        segment.joint.friction is not None and segment.joint.friction.coulomb != 0
        for segment in mechanism.segments
    )
    laws = any(c.kind == "unilateral" and c.friction != 0 for c in mechanism.constraints)
    elements = any(getattr(element, "coulomb", 0) for element in mechanism.elements)
    return joints or laws or elements or any(barrier.friction for barrier in barriers.rigid)
