"""The bodies as steps of a recursion: each turns, slides through its joint, or does both at once.

A massless piece that turns and carries nothing but a body that slides in it makes one step with
that body (Korayem and Shafei: a link that turns about z and slides along its own x). The origin O
of the step stays at the joint while the body slides, so the place of its mass centre and its
inertia about O depend on the extension l. With mass m and, at l = 0, first moment h and second
moments P about O (P the integral of r r^T dm), for a slide along the unit vector x

    h(l) = h + m l x,      P(l) = P + l (h x^T + x h(l)^T),

which holds for any body; the paper's integrals over a rod are made of them:

symbol     meaning                                             closed form             eq.
B0         mass                                                m                       (9)
B1         what l'' adds to the force                          m l'' x                 (10)
B2         what l' adds, to be multiplied by w                 m l' [x]                (11)
B3         first moment                                        [h(l)]                  (12)
B4         the square of l''                                   m l''^2                 (13)
B5, B6     first moment with l'' and with l'                   [h(l)] l'' [x]^T, l'    (14), (15)
B7 + B8    inertia about O                                     tr P(l) 1 - P(l)        (16), (17)

[v] is the matrix of the vector product with v. A prismatic joint alone is a step that does not
turn, any other joint one that does not slide through its joint. The origin of a free joint moves
with its body.

The inertia matrix comes from the recursions of section 5.1. The paper has, for each pair of links j
and k, 3 x 3 matrices that sum over all links i beyond both, written between the axes of j and of k.
A matrix of a pair follows from that of k with itself by the turn R between them and the vector r
from O_j to O_k, as in psi_jk = R psi_k + [r] R xi_k. So only those with j = k are built, at a cost
linear in the steps; of the others only the columns are needed that belong to the directions of the
freedoms, which are passed inward as vectors.

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
from fractions import Fraction

from chainform.formulations.shared.composites import Composite, joined, keep_composite, turned_back
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.outputs import SymmetricSums
from chainform.formulations.shared.tree import Column, Limb, Skeleton
from chainform.formulations.shared.turns import (
    AxisTurn,
    FrameTurn,
    MatrixTurn,
    others,
    plus,
    turned_matrix,
    turned_symmetric,
)
from chainform.graph import Scalar, is_zero
from chainform.mechanism import GROUND, JointKind
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    column,
    cross,
    dot,
    matrix,
    scale,
    subtract,
    unit,
)


@dataclass(frozen=True, slots=True)
class StepFreedom:
    """A turn about, or a slide along, a unit vector that is constant in the axes of its step.

    The step moves by `ratio` times the rate; for a quaternion the rate is a quasi-velocity.
    """

    rate: int
    is_turn: bool
    ratio: Fraction
    direction: Vector


@dataclass(frozen=True, slots=True)
class AppellStep:
    """One body with the freedoms of its joint, in its own axes; `segment` has the body.

    `reach` leads from the origin of the step before to the origin O, in the axes of the former,
    at its present extension. `leans` and then `turn` lead from those axes to the step's own;
    `turn` is that of a revolute joint. `body` holds the moments about O at the present extension,
    B0, B3 and P(l), and `inertia` is B7 + B8.
    """

    segment: int
    parent: int
    kind: JointKind
    reach: Vector
    leans: tuple[MatrixTurn, ...]
    turn: AxisTurn | None
    turning: tuple[StepFreedom, ...]
    sliding: tuple[StepFreedom, ...]
    body: Composite
    inertia: Matrix

    @property
    def freedoms(self) -> tuple[StepFreedom, ...]:
        """The freedoms of the joint, turns first."""
        return (*self.turning, *self.sliding)

    @property
    def turns(self) -> tuple[FrameTurn, ...]:
        """The turns from the axes of the step before to those of this one."""
        return self.leans if self.turn is None else (*self.leans, self.turn)

    @property
    def axis(self) -> int:
        """The axis of a revolute joint; z for any other."""
        return 2 if self.turn is None else self.turn.axis

    def back(self, v: Vector) -> Vector:
        """Return a vector in the axes of the step before."""
        for turn in reversed(self.turns):
            v = turn.back(v)
        return v


@dataclass(frozen=True, slots=True)
class _Seat:
    """Where a limb sits on its step: the way from O to its origin, and the turn of its axes."""

    step: int
    reach: Vector
    rotation: Matrix | None = None


def steps_of(skeleton: Skeleton) -> list[AppellStep]:
    """Return the steps of a mechanism, those before first."""
    return _Steps(skeleton).steps


class _Steps:
    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.builder = skeleton.builder
        zero = self.builder.number(0)
        self.none: Vector = (zero, zero, zero)
        self.nothing = Composite(zero, self.none, (self.none, self.none, self.none))
        self.seats = {GROUND: _Seat(GROUND, self.none)}
        self.steps: list[AppellStep] = []
        for k, limb in enumerate(skeleton.limbs):
            if k not in self.seats:
                self._append(k, limb)

    def _append(self, k: int, limb: Limb) -> None:
        """Add the step that begins with a limb."""
        slider = k if limb.kind == JointKind.PRISMATIC else self._slider(k, limb)
        self.seats[k] = _Seat(len(self.steps), self.none)
        if slider is not None:
            self.steps.append(self._with_slide(limb, slider, is_pair=slider != k))
            return
        body = Composite(limb.mass, limb.moment, limb.second)
        sliding = tuple(_freedom(c) for c in limb.columns if not c.turning)
        self.steps.append(self._step(limb, limb.segment, sliding, body))

    def _with_slide(self, limb: Limb, slider: int, *, is_pair: bool) -> AppellStep:
        """Return the step of a limb that slides, or in which the limb `slider` slides."""
        inner = self.skeleton.limbs[slider]
        start, rotation = (inner.position, inner.rotation) if is_pair else (self.none, None)
        along = unit(inner.axis, 1, 0) if rotation is None else column(rotation, inner.axis)
        slide = self.builder.keep_vector(scale(self.skeleton.displacement(inner), along))
        self.seats[slider] = _Seat(
            len(self.steps), self.builder.keep_vector(add(start, slide)), rotation
        )
        body = Composite(inner.mass, inner.moment, inner.second)
        if rotation is not None:
            body = turned_back(MatrixTurn(self.builder, rotation), body)
        body = self._moved(self._moved(body, start), slide)
        return self._step(limb, inner.segment, (_freedom(inner.columns[0], along),), body)

    def _moved(self, body: Composite, way: Vector) -> Composite:
        """Return the moments of a body that was moved, about the point that it left."""
        return joined(self.nothing, keep_composite(self.builder, body), way)

    def _slider(self, k: int, limb: Limb) -> int | None:
        """Return the limb that slides in limb k, where the two make one step."""
        children = self.skeleton.children(k)
        if not limb.is_revolute or len(children) != 1 or not _is_massless(limb):
            return None
        is_sliding = self.skeleton.limbs[children[0]].kind == JointKind.PRISMATIC
        return children[0] if is_sliding else None

    def _step(
        self, limb: Limb, segment: int, sliding: tuple[StepFreedom, ...], body: Composite
    ) -> AppellStep:
        seat = self.seats[limb.parent]
        place = self.skeleton.reach(limb) if limb.kind == JointKind.FREE else limb.position
        leans = [turn for turn in self.skeleton.turns(limb) if isinstance(turn, MatrixTurn)]
        if seat.rotation is not None:
            place = apply(seat.rotation, place)
            leans.insert(0, MatrixTurn(self.builder, seat.rotation))
        named = self._named(segment, body)
        return AppellStep(
            segment=segment,
            parent=seat.step,
            kind=limb.kind,
            reach=self.builder.keep_vector(add(seat.reach, place)),
            leans=tuple(leans),
            turn=self._turn(limb),
            turning=tuple(_freedom(c) for c in limb.columns if c.turning),
            sliding=sliding,
            body=named,
            inertia=self._inertia(segment, named.second),
        )

    def _turn(self, limb: Limb) -> AxisTurn | None:
        if not limb.is_revolute:
            return None
        angle, call = self.skeleton.displacement(limb), self.builder.call
        return AxisTurn(limb.axis, call("cos", angle), call("sin", angle))

    # --- names --------------------------------------------------------------------------

    def _named(self, j: int, body: Composite) -> Composite:
        kinematics = self.skeleton.kinematics
        return Composite(
            kinematics.named_scalar(f"B0_{j + 1}", body.mass),
            kinematics.named_vector(f"B3_{j + 1}", body.moment),
            keep_composite(self.builder, body).second,
        )

    def _inertia(self, j: int, p: Matrix) -> Matrix:
        """Return tr P 1 - P."""

        def entry(i: int, k: int) -> Scalar:
            x, y = others(i)
            return p[x][x] + p[y][y] if i == k else -p[i][k]

        return self.skeleton.kinematics.named_matrix(f"B78_{j + 1}", matrix(entry))


def _freedom(freedom: Column, direction: Vector | None = None) -> StepFreedom:
    along = unit(freedom.axis, 1, 0) if direction is None else direction
    return StepFreedom(freedom.rate, freedom.turning, freedom.ratio, along)


def _is_massless(limb: Limb) -> bool:
    entries: Sequence[Scalar] = (limb.mass, *limb.moment, *(x for row in limb.second for x in row))
    return all(is_zero(entry) for entry in entries)


# --- the inertia matrix ---------------------------------------------------------------------------


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

    def __init__(self, kinematics: Kinematics, steps: Sequence[AppellStep]) -> None:
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
        moved = self.builder.keep_vector(add(gamma, scale(mass, r)))
        swept = plus(
            _double_cross(self.builder.keep_vector(add(moved, xi)), r), _double_cross(r, gamma)
        )
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

    def _named(self, step: AppellStep, sums: Beyond) -> Beyond:
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

    def mass_matrix(self) -> SymmetricSums:
        """Return H, each pair of coordinates once."""
        sums = SymmetricSums()
        for k, step in enumerate(self.steps):
            for index, freedom in enumerate(step.freedoms):
                force, moment = self._column(k, freedom)
                _collect(sums, freedom, step.freedoms[: index + 1], force, moment)
                self._pass_inward(sums, freedom, k, force, moment)
        return sums

    def _column(self, k: int, freedom: StepFreedom) -> tuple[Vector, Vector]:
        """Return f and n at step k for unit acceleration of one of its freedoms."""
        beyond, along = self.beyond[k], scale(freedom.ratio, freedom.direction)
        first = self.builder.keep_vector(add(beyond.xi, beyond.gamma))
        if not freedom.is_turn:
            return self.builder.keep_vector(scale(self._mass(k), along)), self.builder.keep_vector(
                cross(first, along)
            )
        moment = apply(beyond.sigma, along)
        for less in (beyond.psi, beyond.upsilon):
            moment = subtract(moment, apply(less, along))
        return self.builder.keep_vector(cross(along, first)), self.builder.keep_vector(moment)

    def _pass_inward(
        self, sums: SymmetricSums, freedom: StepFreedom, k: int, force: Vector, moment: Vector
    ) -> None:
        while self.steps[k].parent != GROUND:
            step = self.steps[k]
            force, moment = step.back(force), step.back(moment)
            moment = self.builder.keep_vector(add(moment, cross(step.reach, force)))
            k = step.parent
            _collect(sums, freedom, self.steps[k].freedoms, force, moment)


def _alone(step: AppellStep, none: Vector, zero: Scalar) -> Beyond:
    """Return the sums of a step with nothing beyond it."""
    nothing: Matrix = (none, none, none)
    return Beyond(step.inertia, nothing, nothing, none, step.body.moment, zero)


def _collect(
    sums: SymmetricSums,
    freedom: StepFreedom,
    earlier: Sequence[StepFreedom],
    force: Vector,
    moment: Vector,
) -> None:
    """Add to H what f and n of a freedom are along the freedoms of one step."""
    for other in earlier:
        value = dot(other.direction, moment if other.is_turn else force) * other.ratio
        sums.add((other.rate, freedom.rate), value, same_joint=other is freedom)


def _double_cross(a: Vector, b: Vector) -> Matrix:
    """Return [a] [b] = b a^T - (a . b) 1."""
    along = dot(a, b)
    return matrix(lambda i, k: b[i] * a[k] - (along if i == k else 0))
