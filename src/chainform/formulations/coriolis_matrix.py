"""The Coriolis matrix: c = Cm qd, with dH/dt - 2 Cm skew.

With J_k(r) the velocity of a point r per unit rate of freedom k, entry (i, k) is the integral of
J_i . dJ_k/dt over the mass. Its sum over k gives c, and dH/dt = Cm + Cm^T. For joints of one
freedom these are the Christoffel symbols, summed over one index.

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

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from chainform.formulations.axes import Axes
from chainform.formulations.composite_work import CompositeWork
from chainform.formulations.outputs import Key, add_to
from chainform.formulations.skeleton import Column
from chainform.formulations.tensors import outer, plus, times_cross, trace, turned_matrix
from chainform.graph import Scalar
from chainform.mechanism import GROUND
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
from chainform.spatial import matrix as matrix_of


@dataclass(frozen=True, slots=True)
class Relative:
    """P and Z of the motion beyond a joint, relative to the limb it carries."""

    P: Vector
    Z: Matrix


class _Rates:
    """Angular velocities and relative motions of all limbs."""

    def __init__(self, work: CompositeWork) -> None:
        self.work = work
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
        before = self.work.none if parent == GROUND else self.axes.outward(k, self.W[parent])
        slide = self.axes.returned(k, self.own(k, turning=False))
        rate = add(cross(before, self.axes.reach(k)), slide)
        self.reach_rate.append(self.axes.kept(rate))
        self.W.append(self.axes.kept(add(self.axes.through(k, before), self.own(k, turning=True))))

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
        return self._kept(inner)

    def _beyond(self, c: int) -> Relative:
        """Return P and Z about joint c of everything beyond it, relative to the limb before."""
        body, inner = self.work.bodies[c], self.relative[c]
        w, s = self.own(c, turning=True), self.own(c, turning=False)
        Z = plus(plus(inner.Z, times_cross(w, body.second)), outer(body.moment, s))
        P = add(add(inner.P, cross(w, body.moment)), scale(body.mass, s))
        return self._kept(Relative(P, Z))

    def _joined(self, whole: Relative, part: Relative, d: Vector) -> Relative:
        return Relative(add(whole.P, part.P), plus(whole.Z, plus(part.Z, outer(d, part.P))))

    def _kept(self, part: Relative) -> Relative:
        keep = self.work.builder.keep
        return Relative(self.axes.kept(part.P), matrix_of(lambda i, k: keep(part.Z[i][k])))


@dataclass(frozen=True, slots=True)
class _Carried:
    """What a freedom hands to the joints before it."""

    f: Vector
    n: Vector
    z: Vector
    F: Vector
    N: Vector

    def mapped(self, change: Callable[[Vector], Vector]) -> _Carried:
        return _Carried(*(change(v) for v in (self.f, self.n, self.z, self.F, self.N)))


def coriolis_matrix(work: CompositeWork) -> dict[Key, Scalar]:
    """Return the entries of Cm that are not zero by structure."""
    rates = _Rates(work)
    entries: dict[Key, Scalar] = {}
    for k, limb in enumerate(work.limbs):
        for column in limb.columns:
            carried = _own(work, rates, k, column)
            for other in limb.columns:
                part = (carried.N if other.turning else carried.F)[other.axis] * other.ratio
                add_to(entries, (other.rate, column.rate), part)
            _pass_inward(work, rates, k, column, carried, entries)
    return entries


def _own(work: CompositeWork, rates: _Rates, k: int, column: Column) -> _Carried:
    body, inner, W, kept = work.bodies[k], rates.relative[k], rates.W[k], work.axes.kept
    f, n = body.momentum(column)
    e = unit(column.axis, work.builder.number(column.ratio), work.zero)
    swing = kept(cross(W, e))
    P = kept(add(cross(W, body.moment), inner.P))
    if not column.turning:
        return _Carried(
            f, n, kept(cross(P, e)), kept(scale(body.mass, swing)), kept(cross(body.moment, swing))
        )
    S = body.second
    swung = kept(apply(S, swing))
    spread = scale(work.builder.keep(trace(inner.Z)), e)
    F = add(cross(swing, body.moment), cross(e, P))
    turned = subtract(scale(work.builder.keep(trace(S)), swing), swung)
    gyroscopic = add(cross(W, kept(apply(S, e))), apply_transposed(inner.Z, e))
    N = subtract(add(turned, spread), gyroscopic)
    z = subtract(add(spread, swung), apply(inner.Z, e))
    return _Carried(f, n, kept(z), kept(F), kept(N))


def _pass_inward(
    work: CompositeWork,
    rates: _Rates,
    k: int,
    column: Column,
    carried: _Carried,
    entries: dict[Key, Scalar],
) -> None:
    axes = work.axes
    while work.limbs[k].parent != GROUND:
        at = k
        carried = carried.mapped(partial(axes.returned, at))
        d, rate = axes.reach(k), rates.reach_rate[k]
        carried = _Carried(
            carried.f,
            axes.kept(add(carried.n, cross(d, carried.f))),
            axes.kept(add(carried.z, cross(rate, carried.f))),
            carried.F,
            axes.kept(add(carried.N, cross(d, carried.F))),
        )
        carried = carried.mapped(partial(axes.inward, at))
        k = work.limbs[k].parent
        for other in work.limbs[k].columns:
            e = unit(other.axis, work.builder.number(other.ratio), work.zero)
            swing = axes.kept(cross(rates.W[k], e))
            if other.turning:
                before = dot(e, carried.N)
                behind = dot(swing, carried.n) + dot(e, carried.z)
            else:
                before, behind = dot(e, carried.F), dot(swing, carried.f)
            add_to(entries, (other.rate, column.rate), before)
            add_to(entries, (column.rate, other.rate), behind)
