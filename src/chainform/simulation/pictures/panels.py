"""What is plotted: panels of curves over time, with names and units."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, ReadError, RunError
from chainform.given import Given, near
from chainform.simulation.pictures import colours
from chainform.simulation.pictures.curves import Curve, Panel, output_panels
from chainform.simulation.pictures.motion import Run, held_for
from chainform.simulation.pictures.plan import (
    coordinate_units,
    effort_unit,
    motion_units,
    rate_unit,
)

Array = NDArray[np.float64]

INK = "#1f2933"
QUANTITIES = ("q", "qd", "qdd", "tau", "drives", "x", "u", "energy")
REMEDY = "plot q, qd, qdd, tau, energy, reactions(segment), coordinates or outputs"
REACTIONS = re.compile(r"reactions?\((.*)\)", re.DOTALL)


def panels_of(run: Run, what: str | Sequence[str] | None) -> list[Panel]:
    """Return the panels of what is asked for.

    That is coordinates, rates, efforts where there are any, and energy, if nothing is.
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
            # All coordinates that are asked for by name stand where the first of them does.
            panels += _coordinates(run, list(dict.fromkeys(singles)))
            singles = []
    return panels


def _usual(run: Run) -> list[str]:
    drives = "drives" if run.mechanism.actuators else "tau"
    values = run.drives if drives == "drives" else run.tau
    return ["q", "qd", drives, "energy"] if np.any(values != 0) else ["q", "qd", "energy"]


def _coordinate(run: Run, name: str) -> int | None:
    """Return the place of a coordinate, None for the name of anything else."""
    if name in QUANTITIES or REACTIONS.fullmatch(name):
        return None
    try:
        return run.mechanism.coordinate_index(name)
    except ReadError:
        return None


def _quantity(run: Run, name: str) -> list[Panel]:
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
        case "x":
            return _actuators("states", mechanism.states, run.x)
        case "u":
            return _held(run, _actuators("signals", mechanism.signals, run.u))
        case _:
            return [_energy(run)]


def _held(run: Run, panels: list[Panel]) -> list[Panel]:
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


def _output(run: Run, name: str) -> list[Panel]:
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


def _coordinates(run: Run, places: Sequence[int]) -> list[Panel]:
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


def _energy(run: Run) -> Panel:
    kinetic, potential = run.kinetic_energy, run.potential_energy
    curves = (
        Curve("kinetic", kinetic, colours.SERIES[1]),
        Curve("potential", potential, colours.SERIES[0]),
        Curve("total", run.energy, INK),
    )
    return Panel("energy", "J", curves)


def _reactions(run: Run, segment: str) -> list[Panel]:
    """Return force and moment in the joint of a segment, in its axes."""
    names = [one.name for one in run.mechanism.segments]
    Given(segment, "what", run.mechanism.file, RunError).choice(names, "segment named")
    values = run.reactions[:, names.index(segment)]
    panels: list[Panel] = []
    for label, unit, first in (("force", "N", 0), ("moment", "N m", 3)):
        curves = tuple(
            Curve(axis, values[:, first + k], colours.SERIES[k]) for k, axis in enumerate("xyz")
        )
        panels.append(Panel(f"{label} in {segment}", unit, curves))
    return panels
