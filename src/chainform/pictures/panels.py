"""Panels of curves over time, with names and units: what is plotted of a motion."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, ReadError, RunError
from chainform.given import Given, near
from chainform.mechanism import coordinate_units, effort_unit, motion_units
from chainform.model import CATALOGUE
from chainform.pictures import colours
from chainform.pictures.motion import Plottable, PlottableBatch, Tabular, held_for

Array = NDArray[np.float64]


QUANTITIES = ("q", "qd", "qdd", "tau", "drives", "motion_forces", "x", "u", "energy")
REMEDY = "plot q, qd, qdd, tau, energy, reactions(segment), coordinates or outputs"
REACTIONS = re.compile(r"reactions?\((.*)\)", re.DOTALL)
ENTRY = re.compile(r"\[[\d,]+\]$")

MOST = 64
"""Curves of one output."""

_PAIRS = {
    "m": ("m",),
    "m/s": ("m/s",),
    "m/s^2": ("m/s²",),
    "v_i/s": ("m/s", "rad/s"),
    "v_i/s^2": ("m/s²", "rad/s²"),
    "J/v_i": ("N", "N m"),
    "J s/v_i": ("N s", "N m s"),
}
UNITS = {e.name: _PAIRS[e.unit] for e in CATALOGUE.values() if e.shape in ((3,), (6,))}
"""Outputs of three components each: a linear and, with two units, an angular vector."""

ENERGIES = ("kinetic_energy", "potential_energy", "work", "losses", "balance")


@dataclass(frozen=True)
class Curve:
    """Values (m,) over time, by name; `is_dashed` tells it from another of the same colour.

    With `is_held` each value has lasted since the time before.
    """

    name: str
    values: Array
    colour: str
    is_dashed: bool = False
    is_held: bool = False


@dataclass(frozen=True)
class Panel:
    """Curves that share an axis, what they are together, and their unit."""

    label: str
    unit: str
    curves: tuple[Curve, ...]
    is_logarithmic: bool = False

    @property
    def key(self) -> tuple[tuple[str, str, bool], ...]:
        """What a legend of the panel would say."""
        return tuple((curve.name, curve.colour, curve.is_dashed) for curve in self.curves)


def panels_of(run: Plottable, what: str | Sequence[str] | None) -> list[Panel]:
    """Return the panels of the quantities and coordinates with these names.

    Without names these are coordinates, rates, efforts where there are any, and energy.
    """
    items = _usual(run) if what is None else [what] if isinstance(what, str) else list(what)
    singles = [place for item in items if (place := _coordinate(run, item)) is not None]
    panels: list[Panel] = []
    for item in items:
        reaction = REACTIONS.fullmatch(item)
        if item in QUANTITIES:
            panels += _quantity(run, item)
        elif reaction is not None:
            panels += _reactions(run, reaction[1].strip())
        elif _coordinate(run, item) is None:
            panels += _output(run, item)
        else:
            # All coordinates that are named stand where the first of them does.
            panels += _coordinates(run, list(dict.fromkeys(singles)))
            singles = []
    return panels


def _usual(run: Plottable) -> list[str]:
    drives = "drives" if run.mechanism.actuators else "tau"
    values = run.drives if drives == "drives" else run.tau
    efforts = [drives] if np.any(values != 0) else []
    efforts += ["motion_forces"] if run.motion_forces else []
    return ["q", "qd", *efforts, "energy"]


def _coordinate(run: Plottable, name: str) -> int | None:
    """Return the place of a coordinate, None for the name of anything else."""
    if name in QUANTITIES or REACTIONS.fullmatch(name):
        return None
    try:
        return run.mechanism.coordinate_index(name)
    except ReadError:
        return None


def _quantity(run: Plottable, name: str) -> list[Panel]:
    mechanism = run.mechanism
    rates, units = mechanism.rates, motion_units(mechanism)
    match name:
        case "q":
            return _coordinates(run, range(mechanism.nq))
        case "qd":
            return _by_unit("rates", rates, run.qd, units, rate_unit)
        case "qdd":
            return _by_unit("accelerations", rates, run.qdd, units, lambda u: rate_unit(u, 2))
        case "tau":
            return _held(run, _by_unit("efforts", rates, run.tau, units, effort_unit))
        case "drives":
            return _by_unit("drives", rates, run.drives, units, effort_unit)
        case "motion_forces":
            return _motion_forces(run)
        case "x":
            return _actuators("states", mechanism.states, run.x)
        case "u":
            return _held(run, _actuators("signals", mechanism.signals, run.u))
        case _:
            return [_energy(run)]


def _motion_forces(run: Plottable) -> list[Panel]:
    """Return the forces of prescribed motions."""
    rates, forces = run.mechanism.rates, run.motion_forces
    names = [f"drive of {name}" for name in rates]
    values = np.zeros((len(run.t), len(rates)))
    places = [rates.index(name) for name in forces]
    for place, force in zip(places, forces.values(), strict=True):
        values[:, place] = force
    units = motion_units(run.mechanism)
    return _by_unit("forces of motion", names, values, units, effort_unit, places)


def _held(run: Plottable, panels: list[Panel]) -> list[Panel]:
    """Return panels whose curves are steps where a run holds efforts longer than it puts out."""
    hold, gaps = held_for(run), np.diff(run.t)
    if hold is None or not gaps.size or float(np.median(gaps)) > 1.001 * hold:
        return panels
    return [
        replace(panel, curves=tuple(replace(curve, is_held=True) for curve in panel.curves))
        for panel in panels
    ]


def _actuators(label: str, names: Sequence[str], values: Array | None) -> list[Panel]:
    """Return one panel for each state or signal of actuators: their units are their own."""
    if values is None or values.shape[1] != len(names):
        return []
    shades = colours.series(len(names))
    return [
        Panel(label, "", (Curve(name, values[:, k], shades[k]),)) for k, name in enumerate(names)
    ]


def _output(run: Plottable, name: str) -> list[Panel]:
    """Return the panels of an output of the run, or of the equations."""
    try:
        return output_panels(name, run.output(name))
    except Error as error:
        known = [*QUANTITIES, *run.mechanism.coordinates]
        raise RunError(
            f"there is nothing named {name!r} to plot: {error.message}",
            file=run.mechanism.file,
            element="what",
            remedy=near(name, known) + REMEDY,
        ) from error


def _coordinates(run: Plottable, places: Sequence[int]) -> list[Panel]:
    mechanism = run.mechanism
    names, units = mechanism.coordinates, coordinate_units(mechanism)
    return _by_unit("coordinates", names, run.q, units, lambda unit: unit, places)


def _by_unit(
    label: str,
    names: Sequence[str],
    values: Array,
    units: Sequence[str],
    shown: Callable[[str], str],
    places: Sequence[int] | None = None,
) -> list[Panel]:
    """Return one panel for each unit among some places, in the order of their first use."""
    chosen = range(len(names)) if places is None else places
    series = colours.series(len(names))
    is_gradient = len(names) > 2 * len(colours.SERIES)
    by_unit: dict[str, list[Curve]] = {}
    for place in chosen:
        is_dashed = not is_gradient and place >= len(colours.SERIES)
        curve = Curve(names[place], values[:, place], series[place], is_dashed)
        by_unit.setdefault(units[place], []).append(curve)
    return [Panel(label, shown(unit), tuple(curves)) for unit, curves in by_unit.items()]


def _energy(run: Plottable) -> Panel:
    kinetic, potential = run.kinetic_energy, run.potential_energy
    curves = (
        Curve("kinetic", kinetic, colours.SERIES[1]),
        Curve("potential", potential, colours.SERIES[0]),
        Curve("total", run.energy, colours.INK),
    )
    return Panel("energy", "J", curves)


def _reactions(run: Plottable, segment: str) -> list[Panel]:
    """Return force and moment in the joint of a segment, in its axes."""
    names = run.mechanism.body_names
    Given(segment, "what", run.mechanism.file, RunError).choice(names, "segment named")
    values = run.reactions[:, names.index(segment)]
    return [
        _vector(f"force in {segment}", "N", values[:, :3]),
        _vector(f"moment in {segment}", "N m", values[:, 3:]),
    ]


# --- outputs --------------------------------------------------------------------------------------


def output_panels(name: str, values: Array) -> list[Panel]:
    """Return the panels of an output (m, ...): vectors by x, y, z, else each entry by its place."""
    head = name.partition("(")[0].strip()
    if head == "pose" and values.shape[1:] == (4, 4):
        return [_vector(f"origin of {name.partition('(')[2].rstrip(') ')}", "m", values[:, :3, 3])]
    if head in UNITS and values.ndim == 2 and values.shape[1] == 3 * len(UNITS[head]):
        labels = (name, f"{name}, angular")
        return [
            _vector(labels[k], unit, values[:, 3 * k : 3 * k + 3])
            for k, unit in enumerate(UNITS[head])
        ]
    unit = "J" if head in ENERGIES else ""
    count = int(np.prod(values.shape[1:]))
    if not 0 < count <= MOST:
        raise RunError(
            f"it has {count} entries", element="what", remedy=f"plot outputs of 1 to {MOST} entries"
        )
    return [Panel(name, unit, _entries(name, values))]


def array_panels(table: Tabular, name: str) -> list[Panel]:
    """Return the panels of one array of a table, or of one column: `q`, `q.elbow`."""
    mechanism, unit = table.mechanism, table.units.get(name, "")
    shown: dict[str, Callable[[str], str]] = {
        "q": str,
        "qd": rate_unit,
        "qdd": lambda unit: rate_unit(unit, 2),
        "tau": effort_unit,
        "drives": effort_unit,
        "power": lambda _: "W",
    }
    if name in shown and name in table.arrays:
        names = mechanism.coordinates if name == "q" else mechanism.rates
        units = coordinate_units(mechanism) if name == "q" else motion_units(mechanism)
        return _by_unit(name, names, table.arrays[name], units, shown[name])
    if name in table.arrays:
        panels = output_panels(name, table.arrays[name])
        if table.rows == "frequency" and table.arrays[name].ndim > 1:
            panels = [_response(table, panel) for panel in panels]
        return [replace(panel, unit=unit or panel.unit) for panel in panels]
    columns = table.columns()
    chosen = Given(name, "what").choice((*table.arrays, *columns), "array or column")
    group, _, joint = name.partition(".")
    if group in shown and group in table.arrays:
        names = mechanism.coordinates if group == "q" else mechanism.rates
        units = coordinate_units(mechanism) if group == "q" else motion_units(mechanism)
        unit = shown[group](dict(zip(names, units, strict=True))[joint])
    else:
        unit = table.units.get(array_of(name), "")
    return [Panel(name, unit, (Curve(name, columns[chosen], colours.SERIES[0]),))]


def _response(table: Tabular, panel: Panel) -> Panel:
    """Return a panel of a frequency response with names of outputs and inputs."""
    outputs, inputs = (table.facts.get(key, ()) for key in ("outputs", "inputs"))
    shape = table.arrays[panel.label].shape[1:]
    names = [f"{a} by {b}" for a in outputs for b in inputs] if len(shape) == 2 else list(outputs)
    if len(names) == 1:
        names = [f"{panel.label} of {names[0]}"]
    if len(names) != len(panel.curves):
        return panel
    curves = tuple(replace(c, name=n) for c, n in zip(panel.curves, names, strict=True))
    is_positive = all(np.all(curve.values > 0) for curve in curves)
    return Panel(panel.label, panel.unit, curves, panel.label == "amplitude" and is_positive)


def array_of(column: str) -> str:
    """Return the array that a column belongs to: `position(pen)` for `position(pen)[1]`."""
    return ENTRY.sub("", column)


def _vector(label: str, unit: str, values: Array) -> Panel:
    curves = tuple(Curve(axis, values[:, k], colours.SERIES[k]) for k, axis in enumerate("xyz"))
    return Panel(label, unit, curves)


def _entries(name: str, values: Array) -> tuple[Curve, ...]:
    """Return each entry as a curve, named by its place from 1: H_1_2."""
    places = list(np.ndindex(values.shape[1:]))
    shades, single = colours.series(len(places)), len(colours.SERIES)
    is_gradient = len(places) > 2 * single
    return tuple(
        Curve(
            "_".join([name, *(str(index + 1) for index in place)]),
            values[(slice(None), *place)],
            shades[k],
            not is_gradient and k >= single,
        )
        for k, place in enumerate(places)
    )


# --- many motions ---------------------------------------------------------------------------------


def batch_panels(batch: PlottableBatch, item: str) -> list[Panel]:
    """Return the panels of one item for many motions: one for each coordinate, values (b, m)."""
    mechanism = batch.mechanism
    if item == "energy":
        return [_plain_panel("energy", "J", batch.energy)]
    if item == "qd":
        names, units = mechanism.rates, [rate_unit(unit) for unit in motion_units(mechanism)]
        return [_plain_panel(f"der({n})", units[k], batch.qd[..., k]) for k, n in enumerate(names)]
    names, units = mechanism.coordinates, coordinate_units(mechanism)
    try:
        places = range(mechanism.nq) if item == "q" else [mechanism.coordinate_index(item)]
    except ReadError as problem:
        remedy = "plot q, qd, energy or coordinates: " + ", ".join(names)
        raise RunError(problem.message, element="what", remedy=remedy) from problem
    return [_plain_panel(names[k], units[k], batch.q[..., k]) for k in places]


def _plain_panel(name: str, unit: str, values: Array) -> Panel:
    return Panel(name, unit, (Curve(name, values, colours.SERIES[0]),))


# --- units ----------------------------------------------------------------------------------------


def rate_unit(unit: str, order: int = 1) -> str:
    """Return the unit of the first or second derivative by time."""
    per = "s" if order == 1 else "s²"
    return f"{unit or '1'}/{per}"
