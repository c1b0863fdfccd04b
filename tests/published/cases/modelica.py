"""Modelica's multibody examples: their source, and the bodies and claims that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import chainform as cf
from tests.published.records import Array, Case, Result, Source, series

SOURCE = Source(
    name="Modelica: multibody examples",
    repository="github.com/modelica/MAP-LIB_ReferenceResults",
    commit="d6a2b9b20426bbff1a6a5a1f29bb4c5e50d0e57a",
    licence="BSD-3-Clause, that of the library; the repository of results has no text of its own",
    parameters=(
        "`github.com/modelica/ModelicaStandardLibrary` at commit `bd753330af`, which the logs of "
        "the results name"
    ),
)
EXAMPLES = "Modelica/Mechanics/MultiBody/Examples"
TESTS = "ModelicaTest/MultiBody"
ACCURACY = 2e-3
"""What the authors of the results compare them with between versions (`compare_passed.log`)."""
CLAIM, FINE_CLAIM = (
    f"compared to 2e-3 by its authors, integrated to {tolerance}" for tolerance in ("1e-6", "1e-9")
)
G = 9.80665
STEEL = 7700.0
Z_UP, Y_UP = (0, 0, -G), (0, -G, 0)

Vector = Sequence[float]
Fields = dict[str, Any]
"""Fields of a segment or of an element."""


def result(
    quantity: str,
    file: str,
    columns: Sequence[str],
    ours: Callable[[], Array],
    bound: float,
    claim: str = CLAIM,
) -> Result:
    """Return the comparison of columns of a file with our values."""
    published = series(f"modelica/{file}.csv", *columns)
    return Result(quantity, published, ours, ACCURACY, claim, bound)


def case(
    name: str,
    title: str,
    path: str,
    note: str,
    *results: Result,
    draw: Callable[[Path], object] | None = None,
    is_slow: bool = False,
) -> Case:
    """Return a case of this source."""
    picture = "png" if draw is not None else ""
    return Case(
        name, title, SOURCE, path, results, note, picture=picture, draw=draw, is_slow=is_slow
    )


def vector(name: str) -> list[str]:
    """Return the columns of a vector."""
    return [f"{name}[{k}]" for k in (1, 2, 3)]


def turned(axis: int, angles: Array) -> Array:
    """Return the rotations about an axis, (m, 3, 3)."""
    rotations = np.tile(np.eye(3), (len(angles), 1, 1))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    rotations[:, j, j] = rotations[:, k, k] = np.cos(angles)
    rotations[:, k, j] = np.sin(angles)
    rotations[:, j, k] = -np.sin(angles)
    return rotations


def coordinates_of(run: cf.Run, names: Iterable[str]) -> Array:
    """Return some coordinates of a motion, (times, names)."""
    return run.q[:, [run.mechanism.coordinates.index(name) for name in names]]


def rates_of(run: cf.Run, names: Iterable[str]) -> Array:
    """Return the rates of some joints of one coordinate, (times, names)."""
    return run.qd[:, [run.mechanism.rates.index(name) for name in names]]


def hinges(
    file: str,
    run: Callable[[], cf.Run],
    joints: Mapping[str, str],
    bounds: tuple[float, float],
    slide: bool = False,
    claim: str = CLAIM,
) -> tuple[Result, Result]:
    """Return the comparison of coordinates and of rates; `joints` are theirs by our names.

    Joints are hinges, or slides with `slide`.
    """
    units = ("positions, m", "speeds, m/s") if slide else ("angles, rad", "rates, rad/s")
    places, rates = ("s", "v") if slide else ("phi", "w")
    first = [f"{name}.{places}" for name in joints.values()]
    second = [f"{name}.{rates}" for name in joints.values()]
    return (
        result(units[0], file, first, lambda: coordinates_of(run(), joints), bounds[0], claim),
        result(units[1], file, second, lambda: rates_of(run(), joints), bounds[1], claim),
    )


def times_of(file: str) -> Array:
    """Return the times of a file, s."""
    return series(f"modelica/{file}.csv", "t")()[:, 0]


def curves(
    run: Callable[[], cf.Run], file: str, columns: Mapping[str, str]
) -> Callable[[Path], object]:
    """Return what draws coordinates over time as curves, with the published numbers as points.

    `columns` are those of the file by the names of our coordinates, which have one unit.
    """

    def draw(path: Path) -> None:
        found = run()
        times = np.linspace(0, found.t[-1], 601)
        fine = moved(found.mechanism, file, t_eval=times, q0=found.q[0], qd0=found.qd[0])
        figure = fine.plot([*columns], width=7, height=2)
        numbers = series(f"modelica/{file}.csv", *columns.values())()
        figure.axes[0].plot(found.t, numbers, "o", markersize=3, color="black")
        figure.savefig(path, dpi=100)

    return draw


def moved(mechanism: cf.Mechanism, file: str, **options: Any) -> cf.Run:
    """Return a motion at the times of a file, integrated finer than the published one."""
    times = times_of(file)
    options = {"t_eval": times, "rtol": 1e-10, "atol": 1e-12, **options}
    return cf.simulate(mechanism, t=times[-1], **options)


def box(
    r: Vector, width: float, height: float = 0, towards: Vector = (0, 1, 0), at: Vector = (0, 0, 0)
) -> Fields:
    """Return mass, mass centre and inertia of a steel box along r - at, which begins at `at`."""
    shape, length, axes = _along(r, at, towards)
    b, h = width, height or width
    mass = STEEL * length * b * h
    moments = np.diag([b * b + h * h, length**2 + h * h, length**2 + b * b]) * mass / 12
    return {"mass": mass, "com": list(shape), "inertia": (axes.T @ moments @ axes).tolist()}


def cylinder(r: Vector, diameter: float, length: float = 0, at: Vector = (0, 0, 0)) -> Fields:
    """Return mass, mass centre and inertia of a steel cylinder along r - at, beginning at `at`."""
    _, usual, axes = _along(r, at, (0, 1, 0))
    length = length or usual
    mass, radius = STEEL * np.pi * length * diameter**2 / 4, diameter / 2
    across = (length**2 + 3 * radius**2) / 12
    moments = np.diag([radius**2 / 2, across, across]) * mass
    com = np.asarray(at) + axes[0] * length / 2
    return {"mass": mass, "com": com.tolist(), "inertia": (axes.T @ moments @ axes).tolist()}


def _along(r: Vector, at: Vector, towards: Vector) -> tuple[Array, float, Array]:
    """Return the middle of a body, its length, and its axes: along it, across, and their normal.

    Where it lies along `towards` any direction across will do, as its section is round or square.
    """
    line = np.asarray(r, float) - np.asarray(at, float)
    length = float(np.linalg.norm(line))
    x = line / length
    y = np.asarray(towards, float) - (x @ np.asarray(towards, float)) * x
    if np.linalg.norm(y) < 1e-6:
        y = np.eye(3)[int(np.argmin(np.abs(x)))]
        y = y - (x @ y) * x
    y = y / np.linalg.norm(y)
    return np.asarray(at, float) + line / 2, length, np.array([x, y, np.cross(x, y)])
