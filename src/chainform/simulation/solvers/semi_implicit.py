"""Semi-implicit Euler with a fixed step, the usual method of physics engines."""

from __future__ import annotations

from collections.abc import Sequence

from chainform.graph import Scalar
from chainform.simulation.equations import EquationBuilder, Equations
from chainform.simulation.loops.loop import Loop
from chainform.simulation.loops.semi_implicit import ROWS, semi_implicit_step
from chainform.simulation.loops.tableaus import EULER
from chainform.simulation.machines.integrator import Integrator
from chainform.simulation.solver import FIXED, Solver


def declare_moved(builder: EquationBuilder, _tau: Sequence[Scalar]) -> None:
    """Declare dq/dt, unless constraints did it already."""
    if not builder.rows:
        builder.declare("moved", builder.coordinate_rates())


def _rows(_equations: Equations) -> int:
    return ROWS


SEMI_IMPLICIT = Solver(
    "semi_implicit",
    1,
    Integrator,
    (FIXED,),
    Loop(step=semi_implicit_step, kernels=("moved",)),
    EULER,
    declare=declare_moved,
    rows=_rows,
    in_lanes=True,
    switches=True,
)
