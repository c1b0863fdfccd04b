"""Lagrange's equations with Christoffel symbols (Obradović and Marković 1991).

symbol     meaning                                                        there
a_ij       metric tensor of the configuration space: the mass matrix H    Table 1
da_ij/dq_k its derivatives                                                Table 2
[j,k;i]    Christoffel symbols of the first kind, C_i_j_k here            (1)
Pi         potential of gravity and springs                               (3)
Q_i        generalised forces that have no potential                      (1)

    a_ij qdd_j + [j,k;i] qd_j qd_k = - dPi/dq_i + Q_i                     covariant form (1)
    qdd = a^-1 (- [j,k;i] qd_j qd_k - dPi/dq_i + Q_i)                     normal form (2)
    [j,k;i] = (da_ij/dq_k + da_ik/dq_j - da_jk/dq_i) / 2

Drives are part of Q: inverse dynamics solves the covariant form for them, forward dynamics is the
normal form. Springs enter with the other forces (forces.py), so that gravity stays gravity
alone. Inertia of rotors is constant: it enters a_ii and no derivative. The sums of the tables
over the bodies are taken once, for everything beyond a joint, in the axes of its limb; Table 2
is written out here.

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
from functools import cache

from chainform.formulations.shared.axes import in_cheapest_axes
from chainform.formulations.shared.composites import CompositeWork, Twist
from chainform.formulations.shared.forces import outer_forces, rotor_inertias
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.options import Options
from chainform.formulations.shared.outputs import (
    Key,
    SymmetricSums,
    add_all,
    add_to,
    declare_equation,
    label,
    solve,
)
from chainform.formulations.shared.scope import refuse_quaternions
from chainform.formulations.shared.tree import Skeleton
from chainform.graph import Builder, Scalar, is_zero
from chainform.mechanism import Mechanism
from chainform.spatial import Vector, add, apply, cross, dot

# --- Table 2 --------------------------------------------------------------------------------------


def metric_derivatives(work: CompositeWork, twists: list[list[Twist]]) -> dict[Key, Scalar]:
    """Return da_ij/dq_k by (i, j, k), for joints of one freedom each.

    `twists` are the motions of all freedoms before each limb, at its joint (e_a and t_a).
    """
    sums = SymmetricSums()
    for b in range(len(work.limbs)):
        _Beyond(work, b, twists[b]).add_to(sums)
    return {(i, j, k): value for (k, i, j), value in sums.mirrored().items()}


class _Beyond:
    """What the bodies beyond joint b give to derivatives in which b is the outermost joint."""

    def __init__(self, work: CompositeWork, b: int, before: Sequence[Twist]) -> None:
        self.builder = work.builder
        self.keep = work.builder.keep_vector
        self.path = [*before, *work.own_twists(b)]
        self.areas = [self._area(work, b, twist) for twist in before]

    def _area(self, work: CompositeWork, b: int, a: Twist) -> Vector:
        """Return A_a_b, by the column of the kinds of joints a and b."""
        body, own = work.bodies[b], self.path[-1]
        force, _ = body.momentum(own.column)
        value = cross(a.t, force)
        if a.column.turning and own.column.turning:
            across = self.keep(cross(a.w, own.w))
            value = add(value, apply(body.second, across))
        elif a.column.turning:
            swing = self.keep(cross(a.w, body.moment))
            value = add(value, cross(swing, own.t))
        return self.keep(value)

    def add_to(self, sums: SymmetricSums) -> None:
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

    def _add(self, sums: SymmetricSums, joints: tuple[int, int, int], value: Scalar) -> None:
        if not is_zero(value):
            k, i, j = (self.path[place].column.rate for place in joints)
            sums.add((k, i, j), value, same_joint=joints[1] == joints[2])


# --- the method -----------------------------------------------------------------------------------


def _build(
    builder: Builder,
    mechanism: Mechanism,
    outputs: Sequence[str],
    shared: frozenset[int],
    options: Options,
) -> None:
    refuse_quaternions(mechanism, "Lagrange's method", 'formulation="auto"')
    equations = _Equations(builder, mechanism, shared, options)
    equations.needs_twists = any(output not in ("mass_matrix", "gravity") for output in outputs)
    makers = {
        "mass_matrix": equations.tensor,
        "metric_derivative": equations.derivatives,
        "coriolis": equations.symbols,
        "coriolis_matrix": equations.symbols_times_rates,
        "gravity": equations.gravity,
        "bias": equations.bias,
        "inverse_dynamics": equations.drives,
        "forward_dynamics": equations.accelerations,
    }
    for output in outputs:
        declare_equation(builder, mechanism, output, makers[output]())


lagrange = in_cheapest_axes("lagrange", _build, runs_only=True)
"""Build Lagrange's equations, in the cheapest choice of axes; quaternions are refused."""


class _Equations:
    """The equations of one mechanism, entry by entry in the order of its rates."""

    def __init__(
        self, builder: Builder, mechanism: Mechanism, shared: frozenset[int], options: Options
    ) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.options = options
        skeleton = Skeleton(Kinematics(mechanism, builder))
        skeleton.regroup()
        self.work = CompositeWork(skeleton, shared)
        self.q = skeleton.kinematics.q
        self.needs_twists = True
        self.twists = cache(self.work.twists)
        self.tensor = cache(self._tensor)
        self.derivatives = cache(self._derivatives)
        self.symbols = cache(self._symbols)
        self.gravity = cache(self._gravity)

    def _tensor(self) -> dict[Key, Scalar]:
        """Return a_ij: Table 1, summed over the bodies."""
        work = self.work
        sums = (
            work.mass_matrix_from_twists(self.twists()) if self.needs_twists else work.mass_matrix()
        )
        sums.add_diagonal(rotor_inertias(self.builder, self.mechanism, self.options))
        return sums.named(self.builder, "H")

    def _derivatives(self) -> dict[Key, Scalar]:
        """Return da_ij/dq_k by (i, j, k): Table 2, summed over the bodies."""
        return metric_derivatives(self.work, self.twists())

    def _symbols(self) -> dict[Key, Scalar]:
        """Return [j,k;i] by (i, j, k)."""
        known, zero = self.derivatives(), self.builder.number(0)
        symbols: dict[Key, Scalar] = {}
        # A derivative with indices i, j, k enters symbols with the same indices only.
        for i, j, k in sorted({(p, *sorted(rest)) for key in known for p, *rest in _turns(key)}):
            twice = (
                known.get((i, j, k), zero) + known.get((i, k, j), zero) - known.get((j, k, i), zero)
            )
            if not is_zero(twice):
                name = label("C", (i, k, j))
                symbols[i, j, k] = symbols[i, k, j] = self.builder.name(name, _half(twice))
        return symbols

    def symbols_times_rates(self) -> dict[Key, Scalar]:
        """Return [j,k;i] qd_k by (i, j)."""
        entries: dict[Key, Scalar] = {}
        for (i, j, k), value in sorted(self.symbols().items()):
            add_to(entries, (i, j), value * self.q(k, "qd"))
        return entries

    def _velocity_terms(self) -> dict[Key, Scalar]:
        """Return [j,k;i] qd_j qd_k by (i): for each j the terms k = j, and twice those k < j."""
        before: dict[Key, Scalar] = {}
        own: dict[Key, Scalar] = {}
        for (i, j, k), value in sorted(self.symbols().items()):
            if k <= j:
                add_to(own if k == j else before, (i, j), value * self.q(k, "qd"))
        found: dict[Key, Scalar] = {}
        zero = self.builder.number(0)
        for i, j in sorted({*before, *own}):
            inner = own.get((i, j), zero) + 2 * before.get((i, j), zero)
            add_to(found, (i,), self.builder.keep(inner) * self.q(j, "qd"))
        return found

    def _gravity(self) -> dict[Key, Scalar]:
        """Return dPi/dq_i of gravity."""
        slopes = self.work.gravity()
        return {key: self.builder.name(label("hG", key), slopes[key]) for key in sorted(slopes)}

    def bias(self) -> dict[Key, Scalar]:
        """Return [j,k;i] qd_j qd_k + dPi/dq_i."""
        rows = dict(self.gravity())
        add_all(rows, self._velocity_terms())
        return rows

    def drives(self) -> dict[Key, Scalar]:
        """Return tau, the covariant form solved for the drives."""
        rows = self.bias()
        for (i, j), value in sorted(self.tensor().items()):
            add_to(rows, (i,), value * self.q(j, "qdd"))
        add_all(rows, self._outer())
        return rows

    def accelerations(self) -> dict[int, Scalar]:
        """Return qdd, the normal form."""
        right = {(i,): self.q(i, "tau") for i in range(self.mechanism.nv)}
        add_all(right, self.bias(), -1)
        add_all(right, self._outer(), -1)
        return solve(self.tensor(), {i: value for (i,), value in right.items()})

    def _outer(self) -> dict[Key, Scalar]:
        outer = outer_forces(self.builder, self.mechanism, self.options)
        return {(i,): value for i, value in outer.items()}


def _turns(key: Key) -> list[Key]:
    """Return three indices turned round, so that each stands first once."""
    i, j, k = key
    return [(i, j, k), (j, k, i), (k, i, j)]


def _half(value: Scalar) -> Scalar:
    """Return half a sum, halved term by term where every coefficient is even."""
    if all(coefficient % 2 == 0 for coefficient in value.terms.values()):
        return Scalar(value.builder, {m: c // 2 for m, c in value.terms.items()})
    return value / 2
