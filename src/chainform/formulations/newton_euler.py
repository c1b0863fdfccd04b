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

from chainform.formulations.shared.axes import build_in_axes
from chainform.formulations.shared.forces import outer_and_rotor_forces
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.options import AxisChoices, Options
from chainform.formulations.shared.outputs import Key, add_to, declare
from chainform.formulations.shared.sweep import Sweep
from chainform.formulations.shared.tree import Skeleton
from chainform.graph import Builder, Scalar
from chainform.mechanism import Mechanism

SWEEPS = {
    "inverse_dynamics": ("tau", "base", "qd", "qdd"),
    "bias": ("h", "base", "qd"),
    "gravity": ("hG",),
}
"""The outputs: the letter of each, and the motions that are not taken as zero."""


def newton_euler(
    builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> AxisChoices:
    """Build the recursive equations, in the cheapest choice of axes."""
    return build_in_axes(
        builder,
        mechanism,
        ("newton_euler", *outputs),
        options,
        lambda trial, shared, given: _build(trial, mechanism, outputs, shared, given),
    )


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
        letter, *rates = SWEEPS[output]
        sweep = Sweep(skeleton, shared, rates)
        sweep.outward()
        torques: dict[Key, Scalar] = {(i,): torque for i, torque in sweep.inward().items()}
        if output == "inverse_dynamics":
            for i, value in outer_and_rotor_forces(builder, mechanism, options).items():
                add_to(torques, (i,), value)
        declare(builder, output, letter, (mechanism.nv,), torques)
