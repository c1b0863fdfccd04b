"""Derivatives of inverse dynamics by q, qd and qdd, from composite bodies.

Everything beyond a joint is displaced as one rigid body when its coordinate changes, and the field
of displacements moves with the limb before the joint. With the symbols of composite_body.py, and

symbol   meaning, in axes before the joint turns
e        direction of a freedom j, times its ratio
e', e*'  its rate on the limb that the joint carries, and on the limb before: w x e
e*''     the second rate on the limb before: U e
a        acceleration of the point of the limb before at the joint, less gravity
f, n     force and moment that the joint passes on
D        integral of r r'^T, r' the velocity of a point against the joint
s        velocity of the joint of a free body that slides, against the limb before

points beyond a turning freedom j change their accelerations by

    e*'' x r + 2 e*' x r' + e x (r'' - a)     per unit of q_j
    e' x r + e*' x r + 2 e x r'               per unit of qd_j

With G x = tr D x - D^T x and b = a x e, the changes of force and moment at the joint, the moment
with that of its arms, are

    by q    F = e*'' x h + 2 e*' x P + e x f + M b
            N = (tr S - S) e*'' + 2 G e*' + e x n + h x b
    by qd   F = (e' + e*') x h + 2 e x P,     N = (tr S - S) (e' + e*') + 2 G e

For a free body P grows by M s and D by h s^T with respect to the limb before. A sliding freedom
has F = M e*'', N = h x e*'' + e x f by q, and F = M (e' + e*'), N = h x (e' + e*') by qd. Passed
inward they give the rows i of earlier freedoms. A freedom k beyond j has, with its momentum f, n
and z = integral of r' x J_k at joint j,

    d tau_k / d q_j  = e*'' . n + 2 e*' . (z + s x f) + b . f           j turning
    d tau_k / d qd_j = (e' + e*') . n + e . (2 z + s x f)
    d tau_k / d q_j  = e*'' . f,   d tau_k / d qd_j = (e' + e*') . f    j sliding

Where a free body is the root, b and the rates of its sliding directions accelerate everything
alike: they add H Y to the derivatives, Y with rows for its sliding freedoms only. On request Y is
an output of its own and left out of the derivatives; accelerations then change by - Y, and no
system of equations is solved for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from chainform.formulations.composite_body import CompositeRates
from chainform.formulations.shared.axes import in_cheapest_axes
from chainform.formulations.shared.composites import CompositeWork
from chainform.formulations.shared.directions import InputGroups
from chainform.formulations.shared.forces import outer_and_rotor_forces
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.newton_euler_recursion import NewtonEulerRecursion
from chainform.formulations.shared.options import Options
from chainform.formulations.shared.outputs import Key, add_to
from chainform.formulations.shared.tree import Column, Skeleton
from chainform.formulations.shared.turns import MatrixTurn, trace
from chainform.graph import Builder, Scalar, jacobian, parts_of
from chainform.mechanism import GROUND, Mechanism
from chainform.spatial import (
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

GROUPS = ("q", "qd", "qdd")
COMMON = {"q": "common_acceleration(q)", "qd": "common_acceleration(qd)"}
"""Y by group, an output between the files of this room."""


@dataclass(frozen=True, slots=True)
class _Freedom:
    """One freedom of a joint: how its direction changes, and with it its field of velocities."""

    column: Column
    e: Vector
    swings: Vector
    """e' + e*'."""
    swing: Vector
    """e*'."""
    bend: Vector
    """e*''."""
    fall: Vector
    """b, zero for a sliding freedom."""
    slide: Vector
    """s."""


@dataclass(frozen=True, slots=True)
class _Carried:
    """What a freedom hands to the joints before it: momentum, 2 z, and changes by qd and by q."""

    f: Vector
    n: Vector
    z: Vector
    F_qd: Vector
    N_qd: Vector
    F_q: Vector
    N_q: Vector

    def mapped(self, change: Callable[[Vector], Vector]) -> _Carried:
        return _Carried(
            change(self.f),
            change(self.n),
            change(self.z),
            change(self.F_qd),
            change(self.N_qd),
            change(self.F_q),
            change(self.N_q),
        )


class CompositeDerivatives:
    """Derivatives of the inertia forces of all bodies and of their weights.

    `is_split` leaves the common acceleration of a free root out of `entries`.
    """

    def __init__(self, skeleton: Skeleton, shared: frozenset[int], *, is_split: bool) -> None:
        self.work = CompositeWork(skeleton, shared)
        self.axes, self.limbs = self.work.axes, skeleton.limbs
        self.keep = skeleton.builder.keep_vector
        self.sweep = NewtonEulerRecursion(skeleton, shared, ("base", "qd", "qdd"))
        self.sweep.outward()
        self.sweep.inward()
        base = skeleton.kinematics.base
        ground = MatrixTurn(skeleton.builder, base.rotation).into(base.angular_velocity)
        self.rates = CompositeRates(self.work, ground)
        self.freedoms = cache(self._freedoms)
        self.is_split = is_split
        self.entries: dict[str, dict[Key, Scalar]] = {
            name: {} for name in (*GROUPS, *COMMON.values())
        }
        for k in range(len(self.limbs)):
            for freedom in self.freedoms(k):
                self._add_freedom(k, freedom)

    def _freedoms(self, k: int) -> list[_Freedom]:
        """Return the freedoms of the joint of a limb."""
        work, keep, columns = self.work, self.keep, self.limbs[k].columns
        motion, a = self.sweep.before[k]
        is_free = len({column.turning for column in columns}) > 1
        found: list[_Freedom] = []
        for column in columns:
            ratio = work.builder.number(column.ratio)
            e = unit(column.axis, ratio, work.zero)
            own, before = cross(self.rates.W[k], e), cross(motion.w, e)
            found.append(
                _Freedom(
                    column,
                    e,
                    keep(add(own, before)),
                    keep(before),
                    keep(scale(ratio, motion.along(column.axis))),
                    keep(cross(a, e)) if column.turning else work.none,
                    self.rates.own(k, turning=False) if is_free else work.none,
                )
            )
        if self.is_split and is_free and self.limbs[k].parent == GROUND:
            return [self._split(freedom, found) for freedom in found]
        return found

    def _split(self, own: _Freedom, root: Sequence[_Freedom]) -> _Freedom:
        """Return a freedom of the root without what it adds to the common acceleration."""
        sliding = [freedom.column for freedom in root if not freedom.column.turning]
        changes = {"q": own.fall} if own.column.turning else {"q": own.bend, "qd": own.swings}
        for group, change in changes.items():
            for row in sliding:
                self._add(COMMON[group], row, own.column, change[row.axis])
        none = self.work.none
        return (
            replace(own, fall=none) if own.column.turning else replace(own, swings=none, bend=none)
        )

    # --- at the joint of a freedom --------------------------------------------------------

    def _at_joint(self, k: int, own: _Freedom) -> _Carried:
        body, keep = self.work.bodies[k], self.keep
        M, h, S, Z = body.mass, body.moment, body.second, self.rates.relative[k].Z
        e, s = own.e, own.slide
        f, n = body.momentum(own.column)
        force, moment = self.sweep.wrench_before(k)
        P = keep(add(cross(self.rates.W[k], h), self.rates.relative[k].P))
        if not own.column.turning:
            z, F_qd, N_qd = scale(2, cross(P, e)), scale(M, own.swings), cross(h, own.swings)
            F_q, N_q = scale(M, own.bend), add(cross(h, own.bend), cross(e, force))
        else:
            spread, total = self.work.builder.keep(trace(Z)), self.work.builder.keep(trace(S))
            side, twice = keep(scale(2, cross(self.rates.W[k], e))), keep(scale(2, own.swing))
            z = add(apply(S, side), scale(2, subtract(scale(spread, e), apply(Z, e))))
            F_qd = add(cross(own.swings, h), cross(e, add(scale(2, P), scale(M, s))))
            arms = subtract(scale(total, own.swings), keep(apply(S, own.swings)))
            N_qd = add(arms, add(scale(2, self._turned(k, e)), self._of_slide(h, s, e)))
            F_q = add(cross(own.bend, h), cross(twice, add(P, scale(M, s))))
            F_q = add(F_q, add(cross(e, force), scale(M, own.fall)))
            arms = subtract(scale(total, own.bend), apply(S, own.bend))
            N_q = add(arms, add(self._turned(k, twice), self._of_slide(h, s, twice)))
            N_q = add(N_q, add(cross(e, moment), cross(h, own.fall)))
        return _Carried(f, n, z, F_qd, N_qd, F_q, N_q).mapped(keep)

    def _turned(self, k: int, v: Vector) -> Vector:
        """Return G v for the composite body of a limb, about its own joint."""
        S, Z, W = self.work.bodies[k].second, self.rates.relative[k].Z, self.rates.W[k]
        turned = add(cross(W, self.keep(apply(S, v))), apply_transposed(Z, v))
        return self.keep(subtract(scale(self.work.builder.keep(trace(Z)), v), turned))

    def _of_slide(self, h: Vector, s: Vector, v: Vector) -> Vector:
        """Return what h s^T in D adds to G v."""
        keep = self.work.builder.keep
        return subtract(scale(keep(dot(h, s)), v), scale(keep(dot(h, v)), s))

    # --- entries --------------------------------------------------------------------------

    def _add_freedom(self, k: int, own: _Freedom) -> None:
        """Add the entries of a freedom with those of its own joint and of all before it."""
        carried, column = self._at_joint(k, own), own.column
        for other in self.freedoms(k):
            row = other.column
            self._add("qdd", row, column, dot(other.e, carried.n if row.turning else carried.f))
            self._add_row(row, column, other.e, carried)
            self._add("q", row, column, self._of_turned_axes(k, own, other))
        at = k
        while self.limbs[at].parent != GROUND:
            carried = self._passed_inward(at, carried)
            at = self.limbs[at].parent
            for other in self.freedoms(at):
                self._add_row(other.column, column, other.e, carried)
                self._add_column(column, other, carried)

    def _add(self, group: str, row: Column, column: Column, value: Scalar) -> None:
        add_to(self.entries[group], (row.rate, column.rate), value)

    def _add_row(self, row: Column, column: Column, e: Vector, carried: _Carried) -> None:
        """Add the derivatives of the force of an earlier freedom."""
        self._add("q", row, column, dot(e, carried.N_q if row.turning else carried.F_q))
        self._add("qd", row, column, dot(e, carried.N_qd if row.turning else carried.F_qd))

    def _add_column(self, row: Column, by: _Freedom, carried: _Carried) -> None:
        """Add the derivatives by an earlier freedom, and the entries of H."""
        f, n = carried.f, carried.n
        if not by.column.turning:
            inertia, rate = dot(by.e, f), dot(by.swings, f)
            bend = dot(by.bend, f)
        else:
            inertia = dot(by.e, n)
            slid = self.keep(cross(by.slide, f))
            rate = dot(by.swings, n) + dot(by.e, add(carried.z, slid))
            swung = dot(by.swing, self.keep(add(carried.z, scale(2, slid))))
            bend = dot(by.bend, n) + swung + dot(by.fall, f)
        self._add("qdd", row, by.column, inertia)
        self._add("qdd", by.column, row, inertia)
        self._add("qd", row, by.column, rate)
        self._add("q", row, by.column, bend)

    def _of_turned_axes(self, k: int, own: _Freedom, other: _Freedom) -> Scalar:
        """Return what the turning of a joint's axes with its body adds: e_j x e_i . n or f."""
        if not own.column.turning and not other.column.turning:
            return self.work.zero
        force, moment = self.sweep.wrench_before(k)
        both = own.column.turning and other.column.turning
        return dot(cross(own.e, other.e), moment if both else force)

    def _passed_inward(self, k: int, carried: _Carried) -> _Carried:
        """Return what a freedom hands on at the joint before limb k."""
        axes, keep = self.axes, self.keep
        carried = carried.mapped(partial(axes.returned, k))
        d, rate = axes.reach(k), keep(scale(2, self.rates.reach_rate[k]))
        moved = _Carried(
            carried.f,
            add(carried.n, cross(d, carried.f)),
            add(carried.z, cross(rate, carried.f)),
            carried.F_qd,
            add(carried.N_qd, cross(d, carried.F_qd)),
            carried.F_q,
            add(carried.N_q, cross(d, carried.F_q)),
        )
        return moved.mapped(keep).mapped(partial(axes.inward, k))


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
    is_split = any(common in outputs for common in COMMON.values())
    work = CompositeDerivatives(skeleton, shared, is_split=is_split)
    forces = outer_and_rotor_forces(builder, mechanism, options)
    results = [builder.variable_of(value) for value in forces.values()]
    inputs, nv = InputGroups(builder, mechanism), mechanism.nv
    zero = builder.number(0)
    for output in outputs:
        group = output if output in COMMON.values() else parts_of(output).arguments[1]
        each = inputs.directions(parts_of(output).arguments[-1]).each
        entries = dict(work.entries[group])
        if group in GROUPS:
            for i, row in zip(forces, jacobian(builder, results, each), strict=True):
                for k, value in enumerate(row):
                    add_to(entries, (i, k), value)
        labelled = [
            (f"tau_{i + 1}_by_{name}", entries.get((i, k), zero))
            for i in range(nv)
            for k, name in enumerate(each)
        ]
        builder.output(output, (nv, nv), labelled)


composite_derivatives = in_cheapest_axes("composite_derivatives", _build, runs_only=True)
"""Build derivatives of inverse dynamics by q, qd and qdd, in the cheapest choice of axes."""
