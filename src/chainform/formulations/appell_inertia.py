"""The inertia matrix by the recursions of Gibbs-Appell (Korayem and Shafei, section 5.1).

The paper has, for each pair of links j and k, 3 x 3 matrices that sum over all links i beyond both,
written between the axes of j and of k. A matrix of a pair follows from that of k with itself by
the turn R between them and the vector r from O_j to O_k, as in psi_jk = R psi_k + [r] R xi_k. So
only those with j = k are built, at a cost linear in the steps; of the others only the columns are
needed that belong to the directions of the freedoms, which are passed inward as vectors.

symbol    meaning, for step k; r_i from O_k to O_i, sums over the steps i      frame    eq.
sigma     sum of B7 + B8, at and beyond k                                     step k   (38)
psi       sum of [r_i] B3, beyond k                                           step k   (39)
U         sum of (B0 [r_i] + B3) [r_i], beyond k                              step k   (40)
gamma     sum of B0 r_i, beyond k; the matrix is [gamma]                      step k   (41)
xi        sum of the first moments, at and beyond k; the matrix is [xi]       step k   (42)
lambda    sum of B0, beyond k; the matrix is lambda 1                                  (43)

With all that belongs to a step c after k, in the axes of k, m_c = lambda_c + B0_c and r the way to
its origin,

    sigma_k = B7 + B8 + sum_c sigma_c                xi_k     = h + sum_c xi_c
    gamma_k = sum_c (gamma_c + m_c r)                lambda_k = sum_c m_c
    psi_k   = sum_c (psi_c + [r] [xi_c])
    U_k     = sum_c (U_c + [gamma_c + xi_c + m_c r] [r] + [r] [gamma_c])

The columns of the equations for unit accelerations are, f by the paper's symmetry of H,

    turn about z    n = (sigma - psi - U) z,         f = z x (xi + gamma)             (I)
    slide along x   n = (xi + gamma) x x,            f = (lambda + B0) x              (I), (II)

and inward f_j = R f, n_j = R n + r x R f; H_jk is z_j . n_j for a turn, x_j . f_j for a slide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainform.formulations.kinematics import Kinematics
from chainform.formulations.outputs import Sums
from chainform.formulations.steps import Freedom, Step
from chainform.formulations.tensors import plus, turned_matrix, turned_symmetric
from chainform.graph import Scalar
from chainform.mechanism import GROUND
from chainform.spatial import Matrix, Vector, add, apply, cross, dot, matrix, scale, subtract


@dataclass(frozen=True, slots=True)
class Beyond:
    """The six sums of one step, in one set of axes."""

    sigma: Matrix
    psi: Matrix
    upsilon: Matrix
    gamma: Vector
    xi: Vector
    lambda_: Scalar


class AppellInertia:
    """sigma, psi, U, gamma, xi and lambda of every step, and H from them."""

    def __init__(self, kinematics: Kinematics, steps: Sequence[Step]) -> None:
        self.kinematics = kinematics
        self.builder = kinematics.builder
        self.steps = steps
        zero = self.builder.number(0)
        none: Vector = (zero, zero, zero)
        self.beyond = [_alone(step, none, zero) for step in steps]
        for k in reversed(range(len(steps))):
            self.beyond[k] = self._named(steps[k], self.beyond[k])
            if steps[k].parent != GROUND:
                self.beyond[steps[k].parent] = self._joined(self.beyond[steps[k].parent], k)

    def _joined(self, before: Beyond, k: int) -> Beyond:
        """Return the sums of the step before k with those of step k added."""
        step, own = self.steps[k], self.beyond[k]
        r, mass = step.reach, self._mass(k)
        gamma, xi = step.back(own.gamma), step.back(own.xi)
        sigma, psi, upsilon = own.sigma, own.psi, own.upsilon
        for turn in reversed(step.turns):
            sigma = turned_symmetric(turn, sigma)
            psi, upsilon = turned_matrix(turn, psi), turned_matrix(turn, upsilon)
        moved = self._kept(add(gamma, scale(mass, r)))
        swept = plus(_double_cross(self._kept(add(moved, xi)), r), _double_cross(r, gamma))
        return Beyond(
            sigma=plus(before.sigma, sigma),
            psi=plus(before.psi, plus(psi, _double_cross(r, xi))),
            upsilon=plus(before.upsilon, plus(upsilon, swept)),
            gamma=add(before.gamma, moved),
            xi=add(before.xi, xi),
            lambda_=before.lambda_ + mass,
        )

    def _mass(self, k: int) -> Scalar:
        """Return lambda + B0."""
        return self.builder.keep(self.beyond[k].lambda_ + self.steps[k].body.mass)

    def _kept(self, v: Vector) -> Vector:
        keep = self.builder.keep
        return (keep(v[0]), keep(v[1]), keep(v[2]))

    def _named(self, step: Step, sums: Beyond) -> Beyond:
        j, kinematics = step.segment + 1, self.kinematics
        return Beyond(
            sigma=kinematics.named_matrix(f"sigma_{j}", sums.sigma),
            psi=kinematics.named_matrix(f"psi_{j}", sums.psi),
            upsilon=kinematics.named_matrix(f"U_{j}", sums.upsilon),
            gamma=kinematics.named_vector(f"gamma_{j}", sums.gamma),
            xi=kinematics.named_vector(f"xi_{j}", sums.xi),
            lambda_=kinematics.named_scalar(f"lambda_{j}", sums.lambda_),
        )

    # --- H ------------------------------------------------------------------------------

    def mass_matrix(self) -> Sums:
        """Return H, each pair of coordinates once."""
        sums = Sums()
        for k, step in enumerate(self.steps):
            for place, freedom in enumerate(step.freedoms):
                force, moment = self._column(k, freedom)
                _collect(sums, freedom, step.freedoms[: place + 1], force, moment)
                self._pass_inward(sums, freedom, k, force, moment)
        return sums

    def _column(self, k: int, freedom: Freedom) -> tuple[Vector, Vector]:
        """Return f and n at step k for unit acceleration of one of its freedoms."""
        beyond, along = self.beyond[k], scale(freedom.ratio, freedom.direction)
        first = self._kept(add(beyond.xi, beyond.gamma))
        if not freedom.is_turn:
            return self._kept(scale(self._mass(k), along)), self._kept(cross(first, along))
        moment = apply(beyond.sigma, along)
        for less in (beyond.psi, beyond.upsilon):
            moment = subtract(moment, apply(less, along))
        return self._kept(cross(along, first)), self._kept(moment)

    def _pass_inward(
        self, sums: Sums, freedom: Freedom, k: int, force: Vector, moment: Vector
    ) -> None:
        while self.steps[k].parent != GROUND:
            step = self.steps[k]
            force, moment = step.back(force), step.back(moment)
            moment = self._kept(add(moment, cross(step.reach, force)))
            k = step.parent
            _collect(sums, freedom, self.steps[k].freedoms, force, moment)


def _alone(step: Step, none: Vector, zero: Scalar) -> Beyond:
    """Return the sums of a step with nothing beyond it."""
    nothing: Matrix = (none, none, none)
    return Beyond(step.inertia, nothing, nothing, none, step.body.moment, zero)


def _collect(
    sums: Sums, freedom: Freedom, earlier: Sequence[Freedom], force: Vector, moment: Vector
) -> None:
    """Add to H what f and n of a freedom are along the freedoms of one step."""
    for other in earlier:
        value = dot(other.direction, moment if other.is_turn else force) * other.ratio
        sums.add((other.rate, freedom.rate), value, same_joint=other is freedom)


def _double_cross(a: Vector, b: Vector) -> Matrix:
    """Return [a] [b] = b a^T - (a . b) 1."""
    along = dot(a, b)
    return matrix(lambda i, k: b[i] * a[k] - (along if i == k else 0))
