"""What pictures need of a simulated motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.files import check_target
from chainform.mechanism import Mechanism

Array = NDArray[np.float64]


class TimeMark(Protocol):
    """Something that happened on the way."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def t(self) -> float:
        """When it happened, s."""
        ...


class Moving(Protocol):
    """A mechanism and its states at growing times."""

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that moves."""
        ...

    @property
    def t(self) -> Array:
        """The times, s."""
        ...

    @property
    def q(self) -> Array:
        """The coordinates at these times, rad and m."""
        ...

    @property
    def qd(self) -> Array:
        """The rates at these times, rad/s and m/s."""
        ...


class Drawable(Moving, Protocol):
    """One motion: t (m,), q (m, nq), qd (m, nv)."""

    @property
    def events(self) -> Sequence[TimeMark]:
        """The events on the way."""
        ...


class Plottable(Drawable, Protocol):
    """A motion with what follows from it; each part is computed only when it is drawn."""

    @property
    def qdd(self) -> Array:
        """The accelerations, (m, nv)."""
        ...

    @property
    def tau(self) -> Array:
        """The efforts, (m, nv)."""
        ...

    @property
    def drives(self) -> Array:
        """What actuators put on joints, (m, nv)."""
        ...

    @property
    def motion_forces(self) -> Mapping[str, Array]:
        """The forces of prescribed motions by coordinate, (m,) each."""
        ...

    @property
    def x(self) -> Array:
        """The states of actuators, (m, n)."""
        ...

    @property
    def u(self) -> Array | None:
        """The signals of actuators, (m, n)."""
        ...

    @property
    def energy(self) -> Array:
        """All mechanical energy, (m,), J."""
        ...

    @property
    def kinetic_energy(self) -> Array:
        """The kinetic energy, (m,), J."""
        ...

    @property
    def potential_energy(self) -> Array:
        """The potential energy, (m,), J."""
        ...

    @property
    def reactions(self) -> Array:
        """Force and moment in each joint, (m, n, 6), N and N m."""
        ...

    def output(self, name: str) -> Array:
        """Return any quantity by name, (m, ...)."""
        ...


class PlottableBatch(Moving, Protocol):
    """Many motions at the same times: t (m,), q (b, m, nq), qd (b, m, nv)."""

    @property
    def energy(self) -> Array:
        """All mechanical energy, (b, m), J."""
        ...


class Tabular(Protocol):
    """Arrays by name with a row for each state; `rows` names the one that orders them."""

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism they belong to."""
        ...

    @property
    def rows(self) -> str:
        """The array that orders the rows."""
        ...

    @property
    def arrays(self) -> Mapping[str, Array]:
        """All arrays, (m, ...) each."""
        ...

    @property
    def units(self) -> Mapping[str, str]:
        """The units of arrays that have one for all entries."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """Single numbers and names."""
        ...

    def columns(self, names: Sequence[str] | None = None) -> dict[str, Array]:
        """Return columns of numbers by name, (m,) each."""
        ...


def check_motion(run: Drawable, element: str) -> None:
    """Raise RunError for a motion that cannot be drawn: without a time, or not of numbers."""
    shapes = (run.t.shape, run.q.shape, run.qd.shape)
    count = len(run.t)
    if shapes != ((count,), (count, run.mechanism.nq), (count, run.mechanism.nv)):
        raise RunError(
            f"t, q and qd have the shapes {shapes}, which do not fit together",
            element=element,
            remedy="they must be (m,), (m, nq) and (m, nv)",
        )
    if count == 0:
        raise RunError(
            "the motion has no time at all", element=element, remedy="simulate for a longer time"
        )
    if not (np.isfinite(run.t).all() and (np.diff(run.t) >= 0).all()):
        raise RunError(
            "the times of the motion do not grow", element=element, remedy="sort t, q and qd by t"
        )


def title_of(run: Any, title: str | None) -> str:
    """Return the heading of a picture: as given, what the scenario is called, or the mechanism."""
    about = getattr(run, "about", None)
    return (getattr(about, "title", "") or run.mechanism.name) if title is None else title


def held_for(run: Any) -> float | None:
    """Return for how long efforts are held between samples (s), None where they are not."""
    about = getattr(run, "about", None)
    return getattr(about, "settings", {}).get("hold")


def target_file(
    what: str, file: str | PathLike[str] | None, *endings: str, also: str | None = None
) -> Path | None:
    """Return the file to write, if one is given; RunError where it cannot be written.

    `endings` are the choices; one that is accepted without being named is `also`.
    """
    if file is None:
        return None
    path = Path(file)
    if path.suffix.lower() not in (*endings, also):
        *most, last = endings
        raise RunError(
            f"{what} cannot be written as {path.suffix or 'a file without an ending'}",
            file=str(path),
            element="file",
            remedy="let the name end in " + (", ".join(most) + " or " if most else "") + last,
        )
    check_target(path)
    return path


def library(name: str, purpose: str, extra: str) -> ModuleType:
    """Return an optional library; RunError names the extra that brings it where it is missing."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise RunError(
            f"{purpose} needs {name.partition('.')[0]}",
            element=extra,
            remedy=f"install it with: pip install 'chainform[{extra}]'",
        ) from error
