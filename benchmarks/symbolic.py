"""Inverse dynamics with every parameter symbolic: `python benchmarks/symbolic.py`.

PUMA 560, Stanford arm and RX90 by modified Denavit-Hartenberg numbers, ten inertial parameters a
body; beside the counts of OpenSYMORO. And the cost and time of long chains.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import chainform as cf

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "agreement")]

from test_linear_cost import chain  # noqa: E402
from test_symbolic_counts import PUBLISHED, inertial_combinations  # noqa: E402

from modified_dh import arm  # noqa: E402


def arms() -> None:
    """Print the table of the three arms."""
    print(
        "| arm | seconds | chainform | base parameters | OpenSYMORO, all | with base parameters |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    for name, (everything, base, _) in PUBLISHED.items():
        mechanism = arm(name)
        start = perf_counter()
        model = cf.derive(mechanism, ["inverse_dynamics"], parameters="symbolic")
        seconds, count = perf_counter() - start, model.count()
        print(
            f"| {name} | {seconds:.2f} | {count.multiplications}/{count.additions} "
            f"| {len(inertial_combinations(model.graph))} | {everything[0]}/{everything[1]} "
            f"| {base[0]}/{base[1]} |"
        )


def chains() -> None:
    """Print the table of chains."""
    print("\n| joints | output | seconds | operations per joint |\n|---:|---|---:|---:|")
    for joints in (10, 30, 100):
        for output in ("inverse_dynamics", "forward_dynamics"):
            mechanism = chain(joints)
            start = perf_counter()
            count = cf.derive(mechanism, [output]).count()
            total = count.multiplications + count.additions
            seconds = perf_counter() - start
            print(f"| {joints} | {output} | {seconds:.2f} | {total / joints:.1f} |")


if __name__ == "__main__":
    arms()
    chains()
