"""Periodic motions: Mathieu's chart, and figures against closed forms and publications.

    python benchmarks/periodic.py            # the table
    python benchmarks/periodic.py --draw     # docs/pictures/mathieu.png as well

The chart is that of a pendulum whose pivot is shaken, in the coordinates of Mathieu's equation,
x'' + (a - 2 q cos 2 t) sin x = 0; the lines are those of scipy.special.mathieu_a and mathieu_b.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ellipk, mathieu_a, mathieu_b

import chainform as cf
from chainform.analysis import Result

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "mathieu.png"
WALKER = ROOT / "examples" / "scenarios" / "walker.toml"
Array = NDArray[np.float64]
EDGES = ((mathieu_a, 0), (mathieu_b, 1), (mathieu_a, 1), (mathieu_b, 2), (mathieu_a, 2))


def shaken() -> cf.Mechanism:
    """Return the shaken pendulum in the coordinates of Mathieu's equation."""
    builder = cf.Mechanism.builder("mathieu", gravity=(0, 0, 0)).parameter("a", 1)
    builder.parameter("depth", "0.1").segment("x", axis="z", mass=0, inertia=[0, 0, 1])
    return builder.force("x", "-(a - 2*depth*cos(2*t))*sin(x)").build()


def at(pendulum: cf.Mechanism, a: float, q: float) -> Result:
    """Return the pendulum at rest in a point of the chart."""
    return cf.periodic_motion(pendulum, period="pi", values={"a": a, "depth": q}, points=3)


def edge(pendulum: cf.Mechanism, q: float, a: float) -> float:
    """Return a boundary of the chart near a value of a."""
    rest = {"task": "periodic_motion", "period": "pi", "values": {"depth": q}, "points": 3}
    step = 0.01 + 0.1 * q * q
    found = cf.stability_limit(pendulum, "a", (a - step, a + step), of=rest, tolerance=1e-7)
    return float(found.facts["limit"])


def draw(pendulum: cf.Mechanism) -> None:
    """Draw growth over the chart, with the boundaries of Mathieu's functions."""
    import matplotlib as mpl

    mpl.use("agg")
    plot: Any = import_module("matplotlib.pyplot")
    a, q = np.linspace(-0.6, 5, 57), np.linspace(0, 2, 25)
    growth = np.array([[at(pendulum, x, y).facts["growth"] for x in a] for y in q])
    figure, axes = plot.subplots(figsize=(8, 4.2), layout="constrained")
    shades = axes.pcolormesh(a, q, np.maximum(growth, 0), cmap="Oranges", shading="gouraud")
    for function, order in EDGES:
        line = np.array([float(function(order, x)) for x in q])
        axes.plot(line, q, color="black", linewidth=1)
    axes.set(xlim=(a[0], a[-1]), ylim=(0, 2), xlabel="a = 4 g / (l w²)", ylabel="q = 2 A / l")
    axes.text(0.35, 0.12, "stable")
    axes.text(2.4, 0.3, "stable")
    arrow = {"arrowstyle": "->"}
    axes.annotate("upside down, stable", (-0.2, 0.8), (2.4, 0.8), arrowprops=arrow, va="center")
    figure.colorbar(shades, label="growth of deviations")
    figure.savefig(PICTURE, dpi=110)
    print(PICTURE.relative_to(ROOT))


def timed(function: Any, *arguments: Any, **options: Any) -> tuple[Any, float]:
    """Return a result and how long it took, s."""
    began = perf_counter()
    found = function(*arguments, **options)
    return found, perf_counter() - began


def row(what: str, error: float, seconds: float) -> None:
    """Print a row of the table."""
    print(f"| {what} | {error:.1e} | {seconds:.2f} |")


def main() -> None:
    """Print the table, and draw the chart if it is asked for."""
    print("| | largest error | s |\n|---|---:|---:|")
    pendulum = shaken()
    at(pendulum, 1.0, 0.1)
    for q in (0.2, 1.0):
        for function, order in EDGES:
            exact = float(function(order, q))
            found, seconds = timed(edge, pendulum, q, exact)
            name = f"{function.__name__}({order}, {q:g}) by stability_limit"
            row(name, abs(found - exact), seconds)
    builder = cf.Mechanism.builder("pendulum", gravity=(0, "-9.81", 0))
    free = builder.segment("rod", axis="z", mass=1, com=[0, -1, 0]).build()
    held = ["rod", "der(rod)"]
    found, seconds = timed(cf.periodic_motion, free, period=2, q0=[1.0], held=held)
    exact = 4 / np.sqrt(9.81) * ellipk(np.sin(0.5) ** 2)
    row("period of a pendulum, 1 rad", abs(found.facts["period"] - exact) / exact, seconds)
    found, seconds = timed(cf.periodic_motion, WALKER, period=0.95, settle=0.2, relative=["x"])
    largest = max(found.facts["multipliers_real"])
    print(f"| walker.toml, largest multiplier {largest:.6f} | | {seconds:.2f} |")
    if "--draw" in sys.argv[1:]:
        draw(pendulum)


if __name__ == "__main__":
    main()
