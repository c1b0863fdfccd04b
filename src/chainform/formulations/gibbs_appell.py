"""Recursive Gibbs-Appell equations, each body in its own axes (Korayem and Shafei).

    dS/dqdd = tau,      S the acceleration energy, half the integral of a . a dm

The bodies are steps of a recursion (steps.py): links that turn and slide through their joint at
once, as in the paper, and any other joint. The derivatives of S are swept outward and inward
(chi and phi), at a cost linear in the steps, with the accelerations of the coordinates or without
them; the inertia matrix comes from its own recursions (steps.py; sigma, psi, U, gamma, xi and
lambda). The rates of spherical and free joints are quasi-velocities,
and S is differentiated by their derivatives.

The paper's equations hold with these corrections:

(7), (9), (12), (16), (17)   the integrals begin at -(L_i - l_i)
(38), printed as (48)        the last factor of sigma is iR_k
(41)                         the first rotation of gamma is jR_i
(45)                         the second sum runs to n
(49)                         the second term of chi is the vector product of r with phi_j
missing                      Re_eta_j = F_j - x_j . (phi_j + S_j), where S_j holds r_v of O_j
                             with the acceleration of the ground that stands for gravity

Beyond the paper, a body need not be a rod along x: where its mass centre is off that line B3 x and
x . B3 w' do not vanish, and where B8 is not a multiple of unity [w] B7 w becomes [w] (B7 + B8) w.

symbol   meaning, for step i with origin O_i                                frame    eq.
w, w'    angular velocity and acceleration                                  step i   (27)
U        [w'] + [w][w]: U r is the acceleration of r against O_i            step i
r''      acceleration of O_i; gravity is an acceleration of the ground      step i   (26)
b        r'' + l'' x + 2 l' w x x: acceleration of the point of the body    step i   (4)
         that is at O_i
dSdr     derivative of S by r'', the paper's S_i                            step i   (46)
dSdw     derivative of S by w', the paper's T_i                             step i   (47)
phi      sum of dSdr of everything beyond step i                            step i   (50)
chi      moment about O_i of all derivatives at and beyond step i           step i   (49)

With mass m, first moment h and second moments P about O_i at the present extension (steps.py),

    S    = sum (m b . b / 2 + b . U h + tr(U P U^T) / 2)                             (7), (8)
    dSdr = m b + U h,      dSdw = h x b + the integral of r x U r dm
    r''_c = b + U reach_c,                         for the origin of a step c after i  (28), (29)
    phi  = sum_c R_c (dSdr_c + phi_c),                                                 (50)
    chi  = dSdw + sum_c (reach_c x R_c (dSdr_c + phi_c) + R_c chi_c),                  (49)
    tau of a turn about z = z . chi,    force of a slide along x = x . (dSdr + phi)    (21), (22)

Those of a step are quantities of the graph, by the number of its body: omega (w), b, dSdr, dSdw,
phi and chi of a sweep, S and T of one without qdd (the bias), B0, B3 and B78 (B7 + B8), sigma, psi,
U, gamma, xi and lambda with the mass matrix.

S is the whole integral of a . a dm / 2. The paper leaves out what has no accelerations in it; with
it S does not depend on the choice of origins. The components of dSdw are the paper's
B3 r'' + 2 B6 w + (B7 + B8) w' + [w] (B7 + B8) w, written with few products.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from chainform.formulations.shared.forces import (
    outer_and_rotor_forces,
    outer_forces,
    rotor_inertias,
)
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.options import AxisChoices, Options
from chainform.formulations.shared.outputs import Key, add_all, declare_equation, solve
from chainform.formulations.shared.steps import AppellInertia, AppellStep, StepFreedom, steps_of
from chainform.formulations.shared.tree import Skeleton
from chainform.formulations.shared.turns import FrameMotion, MatrixTurn, others
from chainform.graph import Builder, Scalar
from chainform.mechanism import GROUND, JointKind, Mechanism
from chainform.spatial import Vector, add, cross, dot, scale

HALF = Fraction(1, 2)


class AppellSweep:
    """The motion of all steps, and what follows from it.

    `causes` names what is not taken as zero: "gravity", the prescribed motion of the "base", the
    rates "qd" and their derivatives "qdd".
    """

    def __init__(
        self, kinematics: Kinematics, steps: Sequence[AppellStep], causes: Sequence[str]
    ) -> None:
        self.kinematics = kinematics
        self.builder = kinematics.builder
        self.steps = steps
        self.causes = causes
        zero = self.builder.number(0)
        self.none: Vector = (zero, zero, zero)
        self.ground = self._ground()
        self.motion: list[FrameMotion] = []
        self.carried: list[Vector] = []
        """b of every step."""
        for step in steps:
            self._outward(step)

    def _ground(self) -> tuple[FrameMotion, Vector]:
        """Return the motion of the ground and its acceleration less gravity, in its own axes."""
        base, mechanism = self.kinematics.base, self.kinematics.mechanism
        turn = MatrixTurn(self.builder, base.rotation)
        motion, felt = FrameMotion.at_rest(self.builder), self.none
        if "gravity" in self.causes:
            felt = scale(-1, self.kinematics.vector(mechanism.gravity))
        if "base" in self.causes:
            felt = add(felt, base.acceleration)
            if mechanism.base.is_turning:
                w, alpha = base.angular_velocity, base.angular_acceleration
                motion = FrameMotion.of(turn.into(w), turn.into(alpha))
        return motion, turn.into(self.builder.keep_vector(felt))

    def _named(self, label: str, step: AppellStep, v: Vector) -> Vector:
        return self.kinematics.named_vector(f"{label}_{step.segment + 1}", v)

    # --- outward: motion ----------------------------------------------------------------

    def _rate(self, freedom: StepFreedom, group: str) -> Scalar:
        if group not in self.causes:
            return self.builder.number(0)
        return self.kinematics.q(freedom.rate, group) * freedom.ratio

    def _sum(self, freedoms: Sequence[StepFreedom], group: str) -> Vector:
        """Return the relative velocity ("qd") or acceleration ("qdd") that freedoms give."""
        total = self.none
        for freedom in freedoms:
            total = add(total, scale(self._rate(freedom, group), freedom.direction))
        return total

    def _outward(self, step: AppellStep) -> None:
        motion, origin = self._at_joint(step)
        before = motion.w
        if step.turn is not None:
            (freedom,) = step.turning
            rate, acceleration = self._rate(freedom, "qd"), self._rate(freedom, "qdd")
            motion = motion.with_rate(step.axis, rate, acceleration).turned(step.turn)
            origin = step.turn.into(origin)
        elif step.turning:
            motion = self._with_quasi_velocities(step, motion)
        if step.sliding:
            origin = self._slid(step, origin, before, motion.w)
        if "qd" in self.causes:
            self._named("omega", step, motion.w)
        self.motion.append(motion)
        self.carried.append(self._named("b", step, origin))

    def _at_joint(self, step: AppellStep) -> tuple[FrameMotion, Vector]:
        """Return the motion of the step before and r'', in the axes before the joint's own turn."""
        motion, before = self.ground
        if step.parent != GROUND:
            motion, before = self.motion[step.parent], self.carried[step.parent]
        origin = self.builder.keep_vector(add(before, motion.apply(step.reach)))
        for turn in step.leans:
            motion, origin = motion.turned_by_matrix(turn, step.axis), turn.into(origin)
        return motion, origin

    def _slid(self, step: AppellStep, origin: Vector, before: Vector, w: Vector) -> Vector:
        """Add what the slides of a joint do, w being its angular velocity.

        What slides in axes that turn with w has 2 w x its velocity. The velocity of a free joint is
        given in axes that turn with the joint itself, which replaces one w by that before it.
        """
        spin = self.builder.keep_vector(add(w, before if step.kind == JointKind.FREE else w))
        drift = cross(spin, self._sum(step.sliding, "qd"))
        return self.builder.keep_vector(add(origin, add(self._sum(step.sliding, "qdd"), drift)))

    def _with_quasi_velocities(self, step: AppellStep, motion: FrameMotion) -> FrameMotion:
        """Add a relative angular velocity that is given in the axes of the step."""
        w, alpha = self._sum(step.turning, "qd"), self._sum(step.turning, "qdd")
        carried: Vector = (motion.alpha(0), motion.alpha(1), motion.alpha(2))
        total = add(add(carried, alpha), cross(motion.w, w))
        return FrameMotion.of(
            self.builder.keep_vector(add(motion.w, w)), self.builder.keep_vector(total)
        )

    # --- derivatives and energy of one body ----------------------------------------------

    def _derivatives(self, k: int) -> tuple[Vector, Vector]:
        """Return dSdr and dSdw of a step."""
        body, b, u = self.steps[k].body, self.carried[k], self.motion[k].u
        p = body.second
        moment: list[Scalar] = []
        for z in range(3):
            x, y = others(z)
            moment.append(
                p[x][x] * u(y, x)
                - p[y][y] * u(x, y)
                + p[x][y] * (u(y, y) - u(x, x))
                + p[x][z] * u(y, z)
                - p[y][z] * u(x, z)
            )
        by_origin = add(scale(body.mass, b), self.motion[k].apply(body.moment))
        by_turning = add((moment[0], moment[1], moment[2]), cross(body.moment, b))
        step = self.steps[k]
        found = self._named("dSdr", step, by_origin), self._named("dSdw", step, by_turning)
        if "qd" in self.causes and "qdd" not in self.causes:
            self._named("S", step, found[0])
            self._named("T", step, found[1])
        return found

    def energy(self) -> Scalar:
        """Return the acceleration energy of all bodies."""
        total = self.builder.number(0)
        for k, step in enumerate(self.steps):
            body, b, u = step.body, self.carried[k], self.motion[k].u
            turned = self.motion[k].apply(body.moment)
            double = add(scale(body.mass, b), scale(2, turned))
            total = total + dot(b, self.builder.keep_vector(double))
            for i in range(3):
                row: Vector = (u(i, 0), u(i, 1), u(i, 2))
                for l in range(3):
                    total = total + self.builder.keep(dot(row, body.second[l])) * row[l]
        return self.builder.keep(total) * HALF

    # --- inward: chi and phi --------------------------------------------------------------

    def efforts(self) -> dict[int, Scalar]:
        """Return the derivatives of S by the accelerations of the coordinates, by rate."""
        phi, chi = [self.none] * len(self.steps), [self.none] * len(self.steps)
        totals: dict[int, Scalar] = {}
        for k in reversed(range(len(self.steps))):
            step = self.steps[k]
            force, moment = self._derivatives(k)
            force = self.builder.keep_vector(add(force, self._named("phi", step, phi[k])))
            moment = self._named("chi", step, add(moment, chi[k]))
            for freedom in step.freedoms:
                part = moment if freedom.is_turn else force
                share = dot(freedom.direction, part) * freedom.ratio
                before = totals.get(freedom.rate)
                totals[freedom.rate] = share if before is None else before + share
            if step.parent != GROUND:
                force, moment = step.back(force), step.back(moment)
                phi[step.parent] = add(phi[step.parent], force)
                arm = add(moment, cross(step.reach, force))
                chi[step.parent] = add(chi[step.parent], arm)
        return totals


# --- the method -----------------------------------------------------------------------------------

SWEEPS = {
    "inverse_dynamics": ("gravity", "base", "qd", "qdd"),
    "bias": ("gravity", "base", "qd"),
    "gravity": ("gravity",),
}
"""The outputs of a sweep, and the causes of motion that each takes."""


def gibbs_appell(
    builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> AxisChoices:
    """Build the recursive equations of Gibbs and Appell."""
    work = _GibbsAppell(builder, mechanism, options)
    for output in outputs:
        match output:
            case "acceleration_energy":
                builder.output(output, (), [("S", work.acceleration_energy())])
            case "mass_matrix":
                declare_equation(builder, mechanism, output, work.mass_matrix())
            case "forward_dynamics":
                declare_equation(builder, mechanism, output, work.accelerations())
            case _:
                declare_equation(builder, mechanism, output, work.efforts(output))
    return {}


class _GibbsAppell:
    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.options = options
        self.kinematics = Kinematics(mechanism, builder)
        self.steps = steps_of(Skeleton(self.kinematics))

    def efforts(self, output: str) -> dict[int, Scalar]:
        """Return inverse dynamics, bias or gravity."""
        totals = AppellSweep(self.kinematics, self.steps, SWEEPS[output]).efforts()
        if output == "inverse_dynamics":
            add_all(totals, outer_and_rotor_forces(self.builder, self.mechanism, self.options))
        return totals

    def accelerations(self) -> dict[int, Scalar]:
        """Return qdd from H qdd = tau - bias."""
        bias = self.efforts("bias")
        right = {rate: self.kinematics.q(rate, "tau") - value for rate, value in bias.items()}
        add_all(right, outer_forces(self.builder, self.mechanism, self.options), -1)
        return solve(self.mass_matrix(), right)

    def acceleration_energy(self) -> Scalar:
        """Return S, that of rotors included; gravity is not in it."""
        total = AppellSweep(self.kinematics, self.steps, ("base", "qd", "qdd")).energy()
        for rate, inertia in self._rotors().items():
            total = total + HALF * inertia * self.kinematics.q(rate, "qdd") ** 2
        return total

    def mass_matrix(self) -> dict[Key, Scalar]:
        """Return H."""
        sums = AppellInertia(self.kinematics, self.steps).mass_matrix()
        sums.add_diagonal(self._rotors())
        return sums.mirrored()

    def _rotors(self) -> dict[int, Scalar]:
        return rotor_inertias(self.builder, self.mechanism, self.options)
