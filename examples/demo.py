"""The main job in one page: derive the six-axis arm, look at a formula, compute, count."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

import chainform as cf

OUTPUTS = ["mass_matrix", "coriolis", "gravity"]


def main() -> None:
    """Run the demo on the arm of Example 2.1 of Racković 1996."""
    console = Console(highlight=False)
    mechanism = cf.read(Path(__file__).parent / "six_axis_arm.toml")
    console.print(f"[bold]{mechanism.name}[/]: coordinates {', '.join(mechanism.coordinates)}")

    start = perf_counter()
    model = cf.derive(mechanism, outputs=OUTPUTS)
    console.print(f"\nH, C and hG derived in {perf_counter() - start:.3f} s: {model.graph!r}")

    entry = model["mass_matrix"][0, 0]
    console.print(f"\n[bold]H\\[1,1][/] in {len(entry.expand())} terms:\n{entry.expand()}")
    console.print(f"\n[bold]dH\\[1,1]/dq2[/] needs {entry.diff('q2').count()}")

    q = [-1.5708, -0.5236, -2.09439, -0.5236, 0.0, 0.0]
    values = model.evaluate(q=q)
    with np.printoptions(precision=6, suppress=True, floatmode="fixed"):
        console.print(
            f"\n[bold]at q = {q}[/]\nhG = {values['gravity']}\nH =\n{values['mass_matrix']}"
        )

    table = Table(title="operations", title_justify="left")
    columns = list(model.count().as_dict())
    table.add_column("outputs")
    for column in columns:
        table.add_column(column.replace("_", " "), justify="right")
    for name in OUTPUTS:
        table.add_row(name, *map(str, model.count([name]).as_dict().values()))
    table.add_row("all together", *map(str, model.count().as_dict().values()), style="bold")
    model = model.reduce("fast")
    table.add_row("after model.reduce()", *map(str, model.count().as_dict().values()), style="bold")
    console.print("", table)


if __name__ == "__main__":
    main()
