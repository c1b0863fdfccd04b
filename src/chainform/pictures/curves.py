"""Curves over time, panels of them, and how the parts of an output become both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.pictures import colours

Array = NDArray[np.float64]

MOST = 64
"""Curves of one output."""


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

    @property
    def key(self) -> tuple[tuple[str, str, bool], ...]:
        """What a legend of the panel would say."""
        return tuple((curve.name, curve.colour, curve.is_dashed) for curve in self.curves)


UNITS = {
    "com": ("m",),
    "velocity": ("m/s", "rad/s"),
    "acceleration": ("m/s²", "rad/s²"),
    "reaction": ("N", "N m"),
    "momentum": ("N s", "N m s"),
    "centroidal_momentum": ("N s", "N m s"),
}
"""Outputs of three components each: a linear and, with two units, an angular vector."""

ENERGIES = ("kinetic_energy", "potential_energy", "work", "losses", "balance")


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
