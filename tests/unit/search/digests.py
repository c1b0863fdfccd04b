"""Prints digests of reduced graphs, for a process with a hash seed of its own."""

from __future__ import annotations

import sys
from hashlib import sha256
from typing import Any

import chainform as cf
from chainform.graph import graph_text
from zoo import reference

SEQUENCE = (
    "drop_neutral,expand(limit=2000,beyond=stop,trig=true),trig_identities,merge_equal(scale=true),"
    "reduce_part(names=[Q_*],passes=[trig_identities,extract_monomials]),extract_monomials,"
    "factor_products,extract_divisors,drop_unused"
)
CASES = (
    ("manipulator_5dof", "auto", ["mass_matrix", "gravity"], "numeric", "fast"),
    ("manipulator_5dof", "closed_form", ["mass_matrix"], "numeric", SEQUENCE),
    ("rackovic_2_1", "closed_form", ["mass_matrix", "coriolis"], "symbolic", "thesis"),
    ("puma560", "newton_euler", ["inverse_dynamics"], "symbolic", "fast"),
    ("rackovic_2_1", "auto", ["inverse_dynamics"], "symbolic", "deep"),
)


def main(cores: int) -> None:
    """Print a line for each case."""
    for name, formulation, outputs, parameters, reduce in CASES:
        more: dict[str, Any] = {"steps": 16, "seed": 3, "cores": cores} if reduce == "deep" else {}
        model = cf.derive(
            reference(name), outputs, formulation=formulation, parameters=parameters
        ).reduce(reduce, **more)
        digest = sha256(graph_text(model.graph).encode()).hexdigest()
        sys.stdout.write(f"{name} {reduce} {digest}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
