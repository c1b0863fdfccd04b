"""Composite bodies: mass matrix, Coriolis terms and gravity; forward dynamics by factorising H.

The Coriolis matrix has c = Cm qd, with dH/dt - 2 Cm skew. With J_k(r) the velocity of a point r per
unit rate of freedom k, entry (i, k) is the integral of J_i . dJ_k/dt over the mass. Its sum over k
gives c, and dH/dt = Cm + Cm^T. For joints of one freedom these are the Christoffel symbols, summed
over one index.

For the composite body beyond joint k, about that joint, with h and S its moments, W the angular
velocity of the limb, and for motion relative to that limb P = integral of u, Z = integral of
r u^T (u the relative velocity), a turning freedom e with rate of direction e' = W x e has

    F = e' x h + e x (W x h + P)                       the integral of dJ/dt
    N = tr S e' - S e' + tr Z e - W x (S e) - Z^T e    its moment about the joint
    z = tr Z e + S e' - Z e

and a sliding one F = M e', N = h x e', z = (W x h + P) x e. Passed inward with the momentum f, n
of the freedom (n grows by d x f, N by d x F, z by d' x f, d the vector between joints), they give
at an earlier freedom i

    Cm_ik = e_i . N,  Cm_ki = e_i' . n + e_i . z      i turning
    Cm_ik = e_i . F,  Cm_ki = e_i' . f                i sliding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from chainform.formulations.shared.axes import Axes, in_cheapest_axes
from chainform.formulations.shared.composites import CompositeWork
from chainform.formulations.shared.forces import outer_forces, rotor_inertias
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.newton_euler_recursion import NewtonEulerRecursion
from chainform.formulations.shared.options import Options
from chainform.formulations.shared.outputs import (
    Key,
    SymmetricSums,
    add_all,
    add_to,
    declare_equation,
    solve,
)
from chainform.formulations.shared.scope import refuse_quaternions
from chainform.formulations.shared.tree import Column, Skeleton
from chainform.formulations.shared.turns import outer, plus, times_cross, trace, turned_matrix
from chainform.graph import Builder, Scalar
from chainform.mechanism import GROUND, Mechanism
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    apply_transposed,
    cross,
    dot,
    scale,
    subtract,
    unit,
)

# --- the Coriolis matrix --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Relative:
    """P and Z of the motion beyond a joint, relative to the limb it carries."""

    P: Vector
    Z: Matrix


class CompositeRates:
    """Angular velocities and relative motions of all limbs.

    `ground` is the angular velocity of the base in its own axes; the Coriolis matrix has none.
    """

    def __init__(self, work: CompositeWork, ground: Vector | None = None) -> None:
        self.work = work
        self.ground = work.none if ground is None else ground
        self.axes: Axes = work.axes
        self.limbs = work.limbs
        self.q = work.skeleton.kinematics.q
        self.W: list[Vector] = []
        self.reach_rate: list[Vector] = []
        for k in range(len(self.limbs)):
            self._outward(k)
        self.relative: dict[int, Relative] = {}
        for k in reversed(range(len(self.limbs))):
            self.relative[k] = self._inward(k)

    def own(self, k: int, *, turning: bool) -> Vector:
        """Return the rate of the joint of limb k, of its turning or sliding freedoms."""
        total = self.work.none
        for column in self.limbs[k].columns:
            if column.turning == turning:
                rate = self.q(column.rate, "qd") * column.ratio
                total = add(total, unit(column.axis, rate, self.work.zero))
        return total

    def _outward(self, k: int) -> None:
        parent = self.limbs[k].parent
        before = self.ground if parent == GROUND else self.axes.outward(k, self.W[parent])
        slide = self.axes.returned(k, self.own(k, turning=False))
        rate = add(cross(before, self.axes.reach(k)), slide)
        self.reach_rate.append(self.axes.builder.keep_vector(rate))
        self.W.append(
            self.axes.builder.keep_vector(
                add(self.axes.through(k, before), self.own(k, turning=True))
            )
        )

    def _inward(self, k: int) -> Relative:
        axes, none = self.axes, self.work.none
        children = self.work.skeleton.children(k)
        inner = Relative(none, (none, none, none))
        for c in (c for c in children if not axes.continues(c)):
            part = self._beyond(c)
            for turn in reversed(axes.joint_turns(c)):
                part = Relative(turn.back(part.P), turned_matrix(turn, part.Z))
            inner = self._joined(inner, part, axes.reach(c))
        turn = axes.own_turn(k)
        if turn is not None:
            inner = Relative(turn.back(inner.P), turned_matrix(turn, inner.Z))
        for c in (c for c in children if axes.continues(c)):
            inner = self._joined(inner, self._beyond(c), axes.reach(c))
        return self._as_variables(inner)

    def _beyond(self, c: int) -> Relative:
        """Return P and Z about joint c of everything beyond it, relative to the limb before."""
        body, inner = self.work.bodies[c], self.relative[c]
        w, s = self.own(c, turning=True), self.own(c, turning=False)
        Z = plus(plus(inner.Z, times_cross(w, body.second)), outer(body.moment, s))
        P = add(add(inner.P, cross(w, body.moment)), scale(body.mass, s))
        return self._as_variables(Relative(P, Z))

    def _joined(self, whole: Relative, part: Relative, d: Vector) -> Relative:
        return Relative(add(whole.P, part.P), plus(whole.Z, plus(part.Z, outer(d, part.P))))

    def _as_variables(self, part: Relative) -> Relative:
        builder = self.work.builder
        return Relative(builder.keep_vector(part.P), builder.keep_matrix(part.Z))


@dataclass(frozen=True, slots=True)
class Carried:
    """What a freedom hands to the joints before it."""

    f: Vector
    n: Vector
    z: Vector
    F: Vector
    N: Vector

    def mapped(self, change: Callable[[Vector], Vector]) -> Carried:
        return Carried(*(change(v) for v in (self.f, self.n, self.z, self.F, self.N)))


def coriolis_matrix(work: CompositeWork) -> dict[Key, Scalar]:
    """Return the entries of Cm that are not zero by structure."""
    rates = CompositeRates(work)
    entries: dict[Key, Scalar] = {}
    for k, limb in enumerate(work.limbs):
        for column in limb.columns:
            carried = momentum_rates(work, rates, k, column)
            for other in limb.columns:
                part = (carried.N if other.turning else carried.F)[other.axis] * other.ratio
                add_to(entries, (other.rate, column.rate), part)
            _pass_inward(work, rates, k, column, carried, entries)
    return entries


def momentum_rates(work: CompositeWork, rates: CompositeRates, k: int, column: Column) -> Carried:
    """Return f, n, z, F and N of a freedom at its own joint."""
    body, inner, W, keep = work.bodies[k], rates.relative[k], rates.W[k], work.builder.keep_vector
    f, n = body.momentum(column)
    e = unit(column.axis, work.builder.number(column.ratio), work.zero)
    swing = keep(cross(W, e))
    P = keep(add(cross(W, body.moment), inner.P))
    if not column.turning:
        return Carried(
            f, n, keep(cross(P, e)), keep(scale(body.mass, swing)), keep(cross(body.moment, swing))
        )
    S = body.second
    swung = keep(apply(S, swing))
    spread = scale(work.builder.keep(trace(inner.Z)), e)
    F = add(cross(swing, body.moment), cross(e, P))
    turned = subtract(scale(work.builder.keep(trace(S)), swing), swung)
    gyroscopic = add(cross(W, keep(apply(S, e))), apply_transposed(inner.Z, e))
    N = subtract(add(turned, spread), gyroscopic)
    z = subtract(add(spread, swung), apply(inner.Z, e))
    return Carried(f, n, keep(z), keep(F), keep(N))


def _pass_inward(
    work: CompositeWork,
    rates: CompositeRates,
    k: int,
    column: Column,
    carried: Carried,
    entries: dict[Key, Scalar],
) -> None:
    axes = work.axes
    while work.limbs[k].parent != GROUND:
        at = k
        carried = carried.mapped(partial(axes.returned, at))
        d, rate = axes.reach(k), rates.reach_rate[k]
        carried = Carried(
            carried.f,
            axes.builder.keep_vector(add(carried.n, cross(d, carried.f))),
            axes.builder.keep_vector(add(carried.z, cross(rate, carried.f))),
            carried.F,
            axes.builder.keep_vector(add(carried.N, cross(d, carried.F))),
        )
        carried = carried.mapped(partial(axes.inward, at))
        k = work.limbs[k].parent
        for other in work.limbs[k].columns:
            e = unit(other.axis, work.builder.number(other.ratio), work.zero)
            swing = axes.builder.keep_vector(cross(rates.W[k], e))
            if other.turning:
                before = dot(e, carried.N)
                behind = dot(swing, carried.n) + dot(e, carried.z)
            else:
                before, behind = dot(e, carried.F), dot(swing, carried.f)
            add_to(entries, (other.rate, column.rate), before)
            add_to(entries, (column.rate, other.rate), behind)


# --- the method -----------------------------------------------------------------------------------


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
    twists = work.twists() if "coriolis" in outputs else []
    for output in outputs:
        values: dict[Key, Scalar] | dict[int, Scalar]
        match output:
            case "mass_matrix":
                half = work.mass_matrix_from_twists(twists) if twists else work.mass_matrix()
                values = _with_rotors(half, skeleton, options)
            case "coriolis":
                values = work.coriolis(twists).mirrored()
            case "coriolis_matrix":
                values = coriolis_matrix(work)
            case "forward_dynamics":
                values = _accelerations(skeleton, work, shared, options)
            case _:
                values = work.gravity()
        declare_equation(builder, mechanism, output, values)


def _accelerations(
    skeleton: Skeleton, work: CompositeWork, shared: frozenset[int], options: Options
) -> dict[int, Scalar]:
    """Return qdd from H qdd = tau - bias."""
    sweep = NewtonEulerRecursion(skeleton, shared, ("base", "qd"))
    sweep.outward()
    q = skeleton.kinematics.q
    right = {i: q(i, "tau") - bias for i, bias in sweep.inward().items()}
    add_all(right, outer_forces(skeleton.builder, skeleton.mechanism, options), -1)
    return solve(_with_rotors(work.mass_matrix(), skeleton, options), right)


def _with_rotors(half: SymmetricSums, skeleton: Skeleton, options: Options) -> dict[Key, Scalar]:
    """Return all entries of H, given those of the bodies on one side of the diagonal."""
    half.add_diagonal(rotor_inertias(skeleton.builder, skeleton.mechanism, options))
    return half.mirrored()


composite_body = in_cheapest_axes("composite_body", _build, runs_only=True)
"""Build H, C and hG, in the cheapest choice of axes."""
