"""What enters inverse dynamics besides H qdd + c + hG, for all methods alike.

    tau = H qdd + c + hG + B sigma - J^T wrench + P - Q

B sigma are the reactions of closed loops (closure.py), P friction and springs (passive.py), Q
forces given by laws (generalised.py).

A wrench is a force and a moment about the origin of its frame, world axes, acting on the body that
carries the frame. Virtual work gives its share of the equations, - J^T wrench.
"""

from __future__ import annotations

from chainform.formulations.closure import Closure
from chainform.formulations.generalised import generalised_forces
from chainform.formulations.options import Options
from chainform.formulations.passive import passive_forces, rotor_inertias
from chainform.formulations.points import WorldColumns
from chainform.graph import Builder, Scalar
from chainform.mechanism import Mechanism
from chainform.spatial import dot


def world_closure(builder: Builder, mechanism: Mechanism) -> Closure:
    """Return the closure equations from positions in world axes."""
    columns = WorldColumns(builder, mechanism)
    return Closure(builder, mechanism, columns.of_attachment)


def outer_forces(
    builder: Builder, mechanism: Mechanism, options: Options, closure: Closure | None = None
) -> dict[int, Scalar]:
    """Return what enters inverse dynamics besides H qdd + c + hG, by rate.

    These are reactions of loops, wrenches, friction, springs and forces given by laws.
    """
    totals: dict[int, Scalar] = {}
    if mechanism.loops:
        loops = closure or world_closure(builder, mechanism)
        totals = loops.forces(options.closure)
    if options.wrenches:
        columns = WorldColumns(builder, mechanism)
        for place, name in enumerate(options.wrenches):
            frame = mechanism.frame(name)
            force, moment = _wrench(builder, 6 * place), _wrench(builder, 6 * place + 3)
            for rate, (linear, angular) in columns.of_frame(frame).items():
                share = dot(linear, force) + dot(angular, moment)
                totals[rate] = totals.get(rate, builder.number(0)) - share
    for rate, value in passive_forces(builder, mechanism, options).items():
        totals[rate] = totals.get(rate, builder.number(0)) + value
    for rate, value in generalised_forces(builder, mechanism, options).items():
        totals[rate] = totals.get(rate, builder.number(0)) - value
    return totals


def forces_beside_bodies(
    builder: Builder, mechanism: Mechanism, options: Options
) -> dict[int, Scalar]:
    """Return the outer forces and what rotors take of H qdd, by rate.

    For a method that sums inertia forces of bodies without forming H.
    """
    totals = outer_forces(builder, mechanism, options)
    for rate, inertia in rotor_inertias(builder, mechanism, options).items():
        share = inertia * builder.input(f"qdd{rate + 1}", "qdd", rate)
        totals[rate] = totals.get(rate, builder.number(0)) + share
    return totals


def _wrench(builder: Builder, first: int) -> tuple[Scalar, Scalar, Scalar]:
    x, y, z = (builder.input(f"wrench{first + k + 1}", "wrench", first + k) for k in range(3))
    return (x, y, z)
