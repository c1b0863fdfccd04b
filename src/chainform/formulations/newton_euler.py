"""Recursive Newton-Euler equations: inverse dynamics at a cost linear in the joints.

Outward, U is turned without ever forming the angular acceleration alpha as a vector: when a
frame turns about its axis z, the column U_xz, U_yz turns like a vector, U_zz stays, and the
row follows from U_zx = 2 w_z w_x - U_xz. Of alpha only the component along the joint axis
is needed, U_yx - w_x w_y.

Where consecutive axes are parallel a limb may be described in the axes at the root of the run
instead of its own, turned by the sum of the angles; which limbs are is chosen by counting the
operations.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainform.formulations.shared.axes import in_cheapest_axes
from chainform.formulations.shared.forces import outer_and_rotor_forces
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.newton_euler_recursion import NewtonEulerRecursion
from chainform.formulations.shared.options import Options
from chainform.formulations.shared.outputs import add_all, declare_equation
from chainform.formulations.shared.tree import Skeleton
from chainform.graph import Builder
from chainform.mechanism import Mechanism

SWEEPS = {
    "inverse_dynamics": ("base", "qd", "qdd"),
    "bias": ("base", "qd"),
    "gravity": (),
}
"""The outputs, and the motions that are not zero in each."""


def _build(
    builder: Builder,
    mechanism: Mechanism,
    outputs: Sequence[str],
    shared: frozenset[int],
    options: Options,
) -> None:
    skeleton = Skeleton(Kinematics(mechanism, builder))
    skeleton.regroup()
    for output in outputs:
        sweep = NewtonEulerRecursion(skeleton, shared, SWEEPS[output])
        sweep.outward()
        torques = sweep.inward()
        if output == "inverse_dynamics":
            add_all(torques, outer_and_rotor_forces(builder, mechanism, options))
        declare_equation(builder, mechanism, output, torques)


newton_euler = in_cheapest_axes("newton_euler", _build)
"""Build the recursive equations, in the cheapest choice of axes."""
