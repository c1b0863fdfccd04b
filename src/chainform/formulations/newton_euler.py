"""Recursive Newton-Euler equations: inverse dynamics at a cost linear in the joints.

Outward, U is turned without ever forming the angular acceleration alpha as a vector: when a
frame turns about its axis z, the column U_xz, U_yz turns like a vector, U_zz stays, and the
row follows from U_zx = 2 w_z w_x - U_xz. Of alpha only the component along the joint axis
is needed, U_yx - w_x w_y. Where consecutive axes are parallel a limb may be described in the axes of
the limb at the root of the run instead of its own, turned by the sum of the angles; which
limbs are is chosen by counting the operations of both.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainform.formulations.axes import run_members
from chainform.formulations.kinematics import Kinematics
from chainform.formulations.skeleton import Skeleton
from chainform.formulations.sweep import Sweep
from chainform.graph import Builder, Graph, cost
from chainform.mechanism import Mechanism

SWEEPS = {"inverse_dynamics": ("tau", "qd", "qdd"), "bias": ("h", "qd"), "gravity": ("hG",)}
"""The outputs: the letter of each, and the rates that are not taken as zero."""


def newton_euler(mechanism: Mechanism, outputs: Sequence[str], closure: str) -> Graph:
    """Return the graph of the recursive equations, in the cheapest choice of frames."""
    del closure
    shared: frozenset[int] = frozenset()
    graph, candidates = _build(mechanism, outputs, shared)
    best, improved = _price(graph), True
    while improved:
        improved = False
        for limb in candidates:
            trial, _ = _build(mechanism, outputs, shared ^ {limb})
            if _price(trial) < best:
                graph, shared, best, improved = trial, shared ^ {limb}, _price(trial), True
    return graph


def _price(graph: Graph) -> int:
    count = cost(graph)
    return count.multiplications + count.additions


def _build(
    mechanism: Mechanism, outputs: Sequence[str], shared: frozenset[int]
) -> tuple[Graph, list[int]]:
    """Return the graph with some limbs in shared axes, and the limbs that may be."""
    builder = Builder()
    skeleton = Skeleton(Kinematics(mechanism, builder))
    skeleton.regroup()
    for output in outputs:
        letter, *rates = SWEEPS[output]
        sweep = Sweep(skeleton, shared, rates)
        sweep.outward()
        torques = sweep.inward()
        entries = [(f"{letter}_{i + 1}", torques[i]) for i in range(mechanism.nv)]
        builder.output(output, (mechanism.nv,), entries)
    return builder.finish(), run_members(skeleton)
