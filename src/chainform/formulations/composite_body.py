"""Composite bodies: mass matrix, Coriolis terms and gravity; forward dynamics by factorising H."""

from __future__ import annotations

from collections.abc import Sequence

from chainform.formulations.applied import outer_forces
from chainform.formulations.composite_work import CompositeWork
from chainform.formulations.coriolis_matrix import coriolis_matrix
from chainform.formulations.factorisation import solve
from chainform.formulations.kinematics import Kinematics
from chainform.formulations.options import AxisChoices, Options
from chainform.formulations.outputs import Key, Sums, declare
from chainform.formulations.passive import rotor_inertias
from chainform.formulations.price import build_in_axes
from chainform.formulations.refusals import refuse_quaternions
from chainform.formulations.skeleton import Skeleton
from chainform.formulations.sweep import Sweep
from chainform.graph import Builder, Scalar
from chainform.mechanism import Mechanism


def composite_body(
    builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> AxisChoices:
    """Build H, C and hG, in the cheapest choice of axes."""
    return build_in_axes(
        builder,
        mechanism,
        ("composite_body", *outputs),
        options,
        lambda trial, shared, given: _build(trial, mechanism, outputs, shared, given),
        runs_only=True,
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
    if "coriolis" in outputs:
        refuse_quaternions(mechanism, "the three-index coriolis", "the output coriolis_matrix")
    work = CompositeWork(skeleton, shared)
    n = mechanism.nv
    twists = work.twists() if "coriolis" in outputs else []
    for output in outputs:
        if output == "mass_matrix":
            half = work.mass_matrix_from_twists(twists) if twists else work.mass_matrix()
            declare(builder, output, "H", (n, n), _with_rotors(half, skeleton, options))
        elif output == "coriolis":
            declare(builder, output, "C", (n, n, n), work.coriolis(twists).mirrored())
        elif output == "coriolis_matrix":
            declare(builder, output, "Cm", (n, n), coriolis_matrix(work))
        elif output == "forward_dynamics":
            declare(builder, output, "qdd", (n,), _accelerations(skeleton, work, shared, options))
        else:
            declare(builder, output, "hG", (n,), work.gravity())


def _accelerations(
    skeleton: Skeleton, work: CompositeWork, shared: frozenset[int], options: Options
) -> dict[Key, Scalar]:
    """Return qdd from H qdd = tau - bias."""
    sweep = Sweep(skeleton, shared, ("base", "qd"))
    sweep.outward()
    q = skeleton.kinematics.q
    rest = {i: q(i, "tau") - bias for i, bias in sweep.inward().items()}
    for i, value in outer_forces(skeleton.builder, skeleton.mechanism, options).items():
        rest[i] = rest[i] - value
    matrix = _with_rotors(work.mass_matrix(), skeleton, options)
    return {(i,): value for i, value in solve(matrix, rest).items()}


def _with_rotors(half: Sums, skeleton: Skeleton, options: Options) -> dict[Key, Scalar]:
    """Return all entries of H, given those of the bodies on one side of the diagonal."""
    rotors = rotor_inertias(skeleton.builder, skeleton.mechanism, options)
    for i, rotor in rotors.items():
        half.add((i, i), rotor, same_joint=True)
    return half.mirrored()
