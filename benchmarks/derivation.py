"""Time and size of unreduced models: `python benchmarks/derivation.py`.

Prints one row for each mechanism, formulation and way of treating parameters: seconds to
derive H, C and hG (best of five), variables of the graph, multiplications and additions. For
the examples of Racković 1996 two more columns: the count if each vector product inside H, C and
hG were formed anew wherever it is used, as the paper's algorithm is written, and the initial
count printed there.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np

import chainform as cf
from chainform.graph import Graph, term_costs

DATA = Path(__file__).parents[1] / "tests" / "data" / "reference"
OUTPUTS = ["mass_matrix", "coriolis", "gravity"]
PRINTED = {"rackovic_2_1": (10268, 6166), "rackovic_4_1": (95219, 58951)}
TITLES = {
    "rackovic_2_1": "six-axis arm (Example 2.1)",
    "rackovic_4_1": "biped, 14 joints (Example 4.1)",
    "puma560": "PUMA 560",
    "seven_axis": "seven-axis arm",
    "humanoid_30": "humanoid, 30 joints",
}


INSIDE = ("v_", "p_", "a_", "n_", "u_", "w_", "x_")
"""Names of the vectors that exist only inside the sums of H, C and hG."""


def formed_anew(graph: Graph) -> tuple[int, int]:
    """Return multiplications and additions if the inner vectors were computed at every use."""
    products, doublings = term_costs(graph)
    total = np.zeros((len(graph), 2), dtype=np.int64)
    inside = [name.startswith(INSIDE) for name in graph.names]
    for v in range(len(graph)):
        first, last = graph.term_start[v], graph.term_start[v + 1]
        total[v, 1] = max(0, last - first - 1)
        for t in range(first, last):
            total[v] += (products[t], doublings[t])
            for f in range(graph.factor_start[t], graph.factor_start[t + 1]):
                if inside[graph.factor[f]]:
                    total[v] += graph.power[f] * total[graph.factor[f]]
    needed = graph.cone(graph.output_variables())
    outputs = np.isin(np.arange(len(graph)), graph.output_variables())
    multiplications, additions = total[needed & (~np.array(inside) | outputs)].sum(axis=0)
    return int(multiplications), int(additions)


def best_time(mechanism: cf.Mechanism, parameters: str) -> tuple[float, cf.Model]:
    """Return the shortest of five derivations, and the model."""
    times: list[float] = []
    for _ in range(5):
        start = perf_counter()
        model = cf.derive(mechanism, OUTPUTS, formulation="closed_form", parameters=parameters)
        times.append(perf_counter() - start)
    return min(times), model


def main() -> None:
    """Print the table."""
    print("| mechanism | parameters | seconds | variables | count | formed anew | printed |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name, title in TITLES.items():
        mechanism = cf.read(DATA / f"{name}.json")
        for parameters in ("numeric", "symbolic"):
            seconds, model = best_time(mechanism, parameters)
            count = model.count()
            anew = printed = ""
            if name in PRINTED:
                anew = "{}/{}".format(*formed_anew(model.graph))
                printed = "{}/{}".format(*PRINTED[name])
            print(
                f"| {title} | {parameters} | {seconds:.3f} | {len(model.graph)} "
                f"| {count.multiplications}/{count.additions} | {anew} | {printed} |"
            )


if __name__ == "__main__":
    main()
