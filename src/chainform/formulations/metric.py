"""Derivatives da_ij/dq_k of the metric tensor of a tree (Obradović and Marković 1991, Table 2).

The paper sums its tables over the bodies: l_i,alpha = e_i x f_i,alpha is the velocity of the mass
centre of body alpha for unit rate of a turning joint i, e_i that of a sliding one; call either
v_i. A derivative is a sum of triple products, which can be turned so that the sum over the
bodies stands in one vector for each pair of joints:

    (e_i x v_k) . v_j = e_i . (v_k x v_j),    A_a_b = sum m v_a x v_b over the bodies beyond both

With i at or before j, and [i] = 1 for a turning joint i and 0 for a sliding one, Table 2 reads

    da_ij/dq_k = [i] e_i . A_k_j - [k] e_k . A_i_j        i before k, k at or before j
    da_ij/dq_k = -[i] e_i . A_j_k - [j] e_j . A_i_k       j before k
    da_ij/dq_k = 0                                        k at or before i, or on another branch

Its columns, one for each pair of joint kinds, are the four forms of A, a being before b:

    a, b           A_a_b
    turn, turn     t_a x f_b + S_b (e_a x e_b)             f_b = e_b x h_b
    turn, slide    t_a x f_b + (e_a x h_b) x e_b           f_b = M_b e_b
    slide, turn    t_a x f_b                               f_b = e_b x h_b
    slide, slide   t_a x f_b                               f_b = M_b e_b

t_a is the velocity of joint b for unit rate of joint a, that is e_a x (from joint a to joint b),
or e_a of a sliding joint. M_b, h_b and S_b are mass, first and second moments about joint b of
everything beyond it, the sums over the bodies (composites.py). The second moments of a body
about its own mass centre, W = tr(Theta)/2 - Theta, are part of S_b; they make the terms of the
tables with Theta, since

    e_i . W (e_k x e_j) + e_k . W (e_j x e_i) = - (e_k x e_i) . Theta e_j.

All vectors with an index b are in the axes of limb b. Joints have their ratio in e.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainform.formulations.composite_work import CompositeWork, Twist
from chainform.formulations.motion import is_zero
from chainform.formulations.outputs import Key, Sums
from chainform.graph import Scalar
from chainform.spatial import Vector, add, apply, cross, dot


def metric_derivatives(work: CompositeWork, twists: list[list[Twist]]) -> dict[Key, Scalar]:
    """Return da_ij/dq_k by (i, j, k), for joints of one freedom each.

    `twists` are the motions of all freedoms before each limb, at its joint (e_a and t_a).
    """
    sums = Sums()
    for b in range(len(work.limbs)):
        _Beyond(work, b, twists[b]).add_to(sums)
    return {(i, j, k): value for (k, i, j), value in sums.mirrored().items()}


class _Beyond:
    """What the bodies beyond joint b give to derivatives in which b is the outermost joint."""

    def __init__(self, work: CompositeWork, b: int, before: Sequence[Twist]) -> None:
        self.builder = work.builder
        self.kept = work.axes.kept
        self.path = [*before, *work.own_twists(b)]
        self.areas = [self._area(work, b, twist) for twist in before]

    def _area(self, work: CompositeWork, b: int, a: Twist) -> Vector:
        """Return A_a_b, by the column of the kinds of joints a and b."""
        body, own = work.bodies[b], self.path[-1]
        force, _ = body.momentum(own.column)
        value = cross(a.t, force)
        if a.column.turning and own.column.turning:
            across = self.kept(cross(a.w, own.w))
            value = add(value, apply(body.second, across))
        elif a.column.turning:
            swing = self.kept(cross(a.w, body.moment))
            value = add(value, cross(swing, own.t))
        return self.kept(value)

    def add_to(self, sums: Sums) -> None:
        """Add all derivatives by (k, i, j), symmetric in i and j."""
        b = len(self.path) - 1
        for i in range(b):
            for k in range(i + 1, b + 1):
                self._add(sums, (k, i, b), self._between(i, k))
            for j in range(i, b):
                self._add(sums, (b, i, j), self._beyond(i, j))

    def _between(self, i: int, k: int) -> Scalar:
        """Return da_ib/dq_k for i before k and k at or before b."""
        first = self._triple(i, k) if k < len(self.areas) else self.builder.number(0)
        return first - self._triple(k, i)

    def _beyond(self, i: int, j: int) -> Scalar:
        """Return da_ij/dq_b for i at or before j and j before b."""
        return -self._triple(i, j) - self._triple(j, i)

    def _triple(self, x: int, a: int) -> Scalar:
        """Return [x] e_x . A_a_b."""
        if not self.path[x].column.turning:
            return self.builder.number(0)
        return self.builder.keep(dot(self.path[x].w, self.areas[a]))

    def _add(self, sums: Sums, joints: tuple[int, int, int], value: Scalar) -> None:
        if not is_zero(value):
            k, i, j = (self.path[place].column.rate for place in joints)
            sums.add((k, i, j), value, same_joint=joints[1] == joints[2])
