"""The C that CasADi generates for derivatives: casadi_graphs/derivatives.cpp makes the graphs.

Two variants, of which the faster one counts: Pinocchio's own algorithms for derivatives on CasADi's
symbols, and CasADi's Jacobian of its algorithms for values. gcc needs hours for large programs at
-O3: they are compiled at -O1, and only the variant with fewer operations.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from casadi_graphs.count import by_house_rule
from speed_peers import casadi_c
from speed_peers.build import Workshop
from speed_peers.cases import Case
from speed_peers.measure import Competitor

from derivative_peers.quantities import BlockOrder

TITLE = casadi_c.TITLE
SIZES = "sizes.jsonl"
LARGE = 40_000
"""So many operations make a large program."""


@dataclass(frozen=True)
class Peer:
    """A compiled program of CasADi."""

    competitor: Competitor = field(repr=False)
    operations: str
    seconds: tuple[float, float]
    """To make the graph, and to compile its C."""


def peers(workshop: Workshop, case: Case, quantity: str) -> dict[str, Peer]:
    """Return the programs of a quantity, by variant."""
    folder = programs(workshop, case)
    lines = map(json.loads, (folder / SIZES).read_text().splitlines())
    graphs = sorted((line for line in lines if line["quantity"] == quantity), key=_operations)
    is_large = _operations(graphs[0]) > LARGE
    if is_large:
        del graphs[1:]
    found: dict[str, Peer] = {}
    for graph in graphs:
        source = folder / f"{quantity}_{graph['variant']}.c"
        if source.exists():
            peer = _peer(workshop, case, source, graph, ["-O1"] if is_large else [])
            found[peer.competitor.variant] = peer
    return found


def _peer(
    workshop: Workshop, case: Case, source: Path, graph: dict[str, Any], flags: list[str]
) -> Peer:
    library = casadi_c.compiled(workshop, case, source, *flags)
    order = BlockOrder(case.order.q, case.order.v)
    count = by_house_rule({**graph, "convention": ""})
    return Peer(
        casadi_c.competitor(library, ", ".join([graph["variant"], *flags]), order),
        f"{count['multiplications']} / {count['additions']}",
        (graph["seconds"], workshop.seconds(library)),
    )


def _operations(graph: dict[str, Any]) -> int:
    return sum(graph["instructions"].values())


def programs(workshop: Workshop, case: Case) -> Path:
    """Return the folder with the C programs of a robot, and the sizes of their graphs."""
    program = casadi_c.generator(workshop, "derivatives")
    model = casadi_c.model_file(workshop, case)

    def build(folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        made = subprocess.run([program, model, folder], check=True, capture_output=True, text=True)
        (folder / SIZES).write_text(made.stdout)
        casadi_c.add_plain_functions(folder)

    return workshop.make(f"{case.name}_casadi_derivatives", [program.name, model.name], build)
