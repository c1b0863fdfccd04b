"""Forces besides H qdd + c + hG, for all methods alike: loops, wrenches, passive forces, laws.

    tau = H qdd + c + hG + B sigma - J^T wrench + P - Q,    H with the rotors' inertia

B sigma are the reactions of closed loops (closure_jacobian.py). A wrench is a force and a moment
about the origin of its frame, world axes, acting on the body that carries the frame; virtual work
gives its share of the equations.

P are friction and springs:

symbol   meaning                                                                     unit
x, x'    motion of a joint, ratio q + offset, and its rate, ratio qd                 rad, m
b, f     viscous and Coulomb friction of the joint                                   N m s, N m
k, k0, d stiffness, rest position and damping of a spring                            N/m, m, N s/m
f0       preload of a spring, its force against the stretch                          N
r        from one end of a spring to the other, world axes; s its length             m
J_i      velocity of the far end seen from the near one per unit rate of i           world
I, N     inertia of a rotor, and its turns per turn of the joint                     kg m^2

    P_i = ratio (b x' + f sign(x'))                         friction in a joint
    P_i = ratio (k (x - k0) - f0 + d x')                    a spring in a joint
    P_i = (k (1 - k0 / s) - f0 / s + d (r . r') / s^2) r . J_i    a spring between two points
    H_ii gains (ratio N)^2 I                                a rotor

Joints that share a coordinate add their parts, each with its own ratio. Of the last spring only
k0 and f0 need the length, and only damping the square of it: a spring of rest length zero without
both has no length in its force, so that it may shrink to nothing; any other must not.

Q are the laws of [[forces]], Q(q, qd, t). A piece of a force holds for start <= t < until. With
step(x) = 1 from x = 0 on, its share is

    Q_i = law step(t - start) (1 - step(t - until))

where a missing start stands for 1 in place of the first step, a missing end for 0 in place of the
second. Parameters may put the end before the start; such a piece never holds. All laws are computed
at all times, so each must have a finite value at any time.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from chainform.formulations.shared.closure_jacobian import Closure
from chainform.formulations.shared.kinematics import (
    BuilderArithmetic,
    Kinematics,
    wrench_inputs,
)
from chainform.formulations.shared.laws import Laws
from chainform.formulations.shared.options import PLAIN, Options
from chainform.formulations.shared.outputs import add_all, add_to
from chainform.formulations.shared.scope import error_context
from chainform.formulations.shared.world import WorldColumns
from chainform.graph import Builder, Scalar, is_zero
from chainform.mechanism import (
    ONE,
    ZERO,
    Attachment,
    DynamicParameter,
    Force,
    ForcePiece,
    Mechanism,
    Number,
    Segment,
    Spring,
)
from chainform.spatial import Vector, dot, scale, subtract

HALF = Fraction(1, 2)


# --- friction, springs, rotors --------------------------------------------------------------------


def passive_forces(
    builder: Builder, mechanism: Mechanism, options: Options = PLAIN
) -> dict[int, Scalar]:
    """Return P by rate: what friction and springs add to inverse dynamics."""
    totals: dict[int, Scalar] = {}
    if "friction" not in options.without:
        _add_friction(totals, Kinematics(mechanism, builder))
    if "springs" not in options.without and mechanism.springs:
        work = _Springs(builder, mechanism)
        for spring in mechanism.springs:
            with error_context(mechanism, f"spring {spring.name!r}"):
                work.add_force(totals, spring)
    return {rate: value for rate, value in sorted(totals.items()) if not is_zero(value)}


def spring_pulls(
    builder: Builder, mechanism: Mechanism, options: Options = PLAIN
) -> list[tuple[Attachment, Vector]]:
    """Return the ends of springs between two points, each with the pull on it in world axes."""
    if "springs" in options.without or not mechanism.springs:
        return []
    work, pulls = _Springs(builder, mechanism), list[tuple[Attachment, Vector]]()
    for spring in mechanism.springs:
        with error_context(mechanism, f"spring {spring.name!r}"):
            pulls += work.pulls(spring)
    return pulls


def rotor_inertias(
    builder: Builder, mechanism: Mechanism, options: Options = PLAIN
) -> dict[int, Scalar]:
    """Return what rotors add to the diagonal of H, by rate."""
    totals: dict[int, Scalar] = {}
    if "rotors" in options.without:
        return totals
    number = Kinematics(mechanism, builder).number
    for segment in mechanism.segments:
        joint = segment.joint
        if segment.rate is not None and joint.rotor_inertia != 0:
            gear = segment.ratio * number(joint.gear_ratio)
            add_to(totals, segment.rate, gear * gear * number(joint.rotor_inertia))
    return {rate: builder.keep(value) for rate, value in sorted(totals.items())}


def passive_column(
    builder: Builder, mechanism: Mechanism, parameter: DynamicParameter
) -> dict[int, Scalar]:
    """Return what a unit of friction, of a rotor or of a spring adds to inverse dynamics."""
    kinematics, totals = Kinematics(mechanism, builder), dict[int, Scalar]()
    if parameter.kind in ("stiffness", "preload", "damping"):
        work, spring = _Springs(builder, mechanism), mechanism.springs[parameter.place]
        slack = replace(spring, stiffness=ZERO, rest=ZERO, damping=ZERO, preload=ZERO)
        work.add_force(totals, replace(slack, **{parameter.kind: ONE}))
        return totals
    segment = mechanism.segments[parameter.place]
    assert segment.rate is not None
    qd, ratio = kinematics.q(segment.rate, "qd"), builder.number(abs(segment.ratio))
    match parameter.kind:
        case "viscous":
            totals[segment.rate] = ratio * ratio * qd
        case "coulomb":
            totals[segment.rate] = ratio * builder.call("sign", qd)
        case _:
            gear = ratio * kinematics.number(segment.joint.gear_ratio)
            totals[segment.rate] = gear * gear * kinematics.q(segment.rate, "qdd")
    return totals


def spring_energy(builder: Builder, mechanism: Mechanism, options: Options = PLAIN) -> Scalar:
    """Return the energy stored in the springs, zero at their rest lengths."""
    total = builder.number(0)
    if "springs" not in options.without and mechanism.springs:
        work = _Springs(builder, mechanism)
        for spring in mechanism.springs:
            total = total + work.energy(spring)
    return total


def rotor_energy(builder: Builder, mechanism: Mechanism, options: Options = PLAIN) -> Scalar:
    """Return the kinetic energy of the rotors' turning against the bodies that carry them."""
    total, kinematics = builder.number(0), Kinematics(mechanism, builder)
    for rate, inertia in rotor_inertias(builder, mechanism, options).items():
        total = total + HALF * inertia * kinematics.q(rate, "qd") ** 2
    return total


def _add_friction(totals: dict[int, Scalar], kinematics: Kinematics) -> None:
    """Add friction; ratio sign(ratio qd) is |ratio| sign(qd)."""
    for segment in kinematics.mechanism.segments:
        friction = segment.joint.friction
        if friction is None or segment.rate is None:
            continue
        qd = kinematics.q(segment.rate, "qd")
        if friction.viscous != 0:
            slope = segment.ratio**2 * kinematics.number(friction.viscous)
            add_to(totals, segment.rate, slope * qd)
        if friction.coulomb != 0:
            size = abs(segment.ratio) * kinematics.number(friction.coulomb)
            add_to(totals, segment.rate, size * kinematics.builder.call("sign", qd))


class _Springs:
    """The forces and energies of the springs of one mechanism."""

    def __init__(self, builder: Builder, mechanism: Mechanism) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.columns = WorldColumns(builder, mechanism)
        self.kinematics = self.columns.world.skeleton.kinematics

    def add_force(self, totals: dict[int, Scalar], spring: Spring) -> None:
        """Add the generalised forces of one spring and damper."""
        if spring.ends is None:
            segment = self._segment(spring)
            assert segment.rate is not None
            add_to(totals, segment.rate, self._joint_force(spring, segment))
            return
        if self._is_rigid(spring.ends):
            return
        slopes = self._slopes(spring.ends)
        if not slopes:
            return
        force = self._force_per_length(spring, spring.ends, slopes)
        for rate, slope in slopes.items():
            add_to(totals, rate, force * slope)

    def pulls(self, spring: Spring) -> list[tuple[Attachment, Vector]]:
        """Return what a spring between two bodies exerts on both; one in a joint has no ends."""
        if spring.ends is None or spring.ends[0].segment == spring.ends[1].segment:
            return []
        near, far = spring.ends
        force = self._force_per_length(spring, spring.ends, self._slopes(spring.ends))
        pull = self.builder.keep_vector(scale(force, self._between(spring.ends)))
        return [(near, pull), (far, scale(-1, pull))]

    def energy(self, spring: Spring) -> Scalar:
        """Return k (x - k0)^2 / 2 - f0 x, of a joint or of the distance of two points."""
        number, half = self.kinematics.number, HALF * self.kinematics.number(spring.stiffness)
        if spring.ends is None:
            x = self.kinematics.displacement(self._segment(spring))
            stored = half * self.builder.keep(x - number(spring.rest)) ** 2
            return stored - number(spring.preload) * x
        r = self._between(spring.ends)
        square = self.builder.keep(dot(r, r))
        if spring.rest == 0 and spring.preload == 0:
            return half * square
        x = self.builder.call("sqrt", square)
        stored = half * self.builder.keep(x - number(spring.rest)) ** 2
        return stored - number(spring.preload) * x

    def _is_rigid(self, ends: tuple[Attachment, Attachment]) -> bool:
        """Whether both ends sit on one body, so that their distance never changes."""
        poses = self.columns.world.skeleton.poses
        return poses[ends[0].segment].limb == poses[ends[1].segment].limb

    def _segment(self, spring: Spring) -> Segment:
        assert spring.segment is not None
        return self.mechanism.segments[spring.segment]

    def _joint_force(self, spring: Spring, segment: Segment) -> Scalar:
        kinematics, ratio = self.kinematics, segment.ratio
        number = kinematics.number
        stretch = kinematics.displacement(segment) - number(spring.rest)
        force = ratio * (number(spring.stiffness) * self.builder.keep(stretch))
        if spring.preload != 0:
            force = force - ratio * number(spring.preload)
        if spring.damping != 0 and segment.rate is not None:
            force = force + ratio**2 * number(spring.damping) * kinematics.q(segment.rate, "qd")
        return force

    def _force_per_length(
        self, spring: Spring, ends: tuple[Attachment, Attachment], slopes: dict[int, Scalar]
    ) -> Scalar:
        """Return the force along a spring over its length."""
        number, builder = self.kinematics.number, self.builder
        r = self._between(ends)
        square, force = builder.keep(dot(r, r)), number(spring.stiffness)
        if spring.rest != 0:
            share = number(spring.rest) * builder.call("reciprocal", builder.call("sqrt", square))
            force = force * (1 - share)
        if spring.preload != 0:
            length = builder.call("sqrt", square)
            force = force - number(spring.preload) * builder.call("reciprocal", length)
        if spring.damping != 0:
            rate = builder.number(0)
            for i, slope in slopes.items():
                rate = rate + slope * self.kinematics.q(i, "qd")
            force = force + number(spring.damping) * rate * builder.call("reciprocal", square)
        return builder.keep(force)

    def _between(self, ends: tuple[Attachment, Attachment]) -> Vector:
        near, far = (self.columns.place_of(end) for end in ends)
        return self.builder.keep_vector(subtract(far, near))

    def _slopes(self, ends: tuple[Attachment, Attachment]) -> dict[int, Scalar]:
        """Return r . J_i: half the derivative of the squared length, by rate."""
        r, slopes = self._between(ends), dict[int, Scalar]()
        for end, sign in zip(ends, (-1, 1), strict=True):
            for rate, (linear, _) in self.columns.of_attachment("spring", end).items():
                add_to(slopes, rate, sign * dot(r, linear))
        return {i: self.builder.keep(v) for i, v in sorted(slopes.items()) if not is_zero(v)}


# --- forces given by laws -------------------------------------------------------------------------


def generalised_forces(
    builder: Builder, mechanism: Mechanism, options: Options = PLAIN
) -> dict[int, Scalar]:
    """Return Q by rate: forces that act on the mechanism like drives."""
    totals: dict[int, Scalar] = {}
    if "forces" in options.without or not mechanism.forces:
        return totals
    laws = Laws(Kinematics(mechanism, builder))
    for force in mechanism.forces:
        with error_context(mechanism, f"force {force.name!r}"):
            value = _force(laws, force)
        add_to(totals, force.rate, value)
    return {rate: value for rate, value in sorted(totals.items()) if not is_zero(value)}


def _force(laws: Laws, force: Force) -> Scalar:
    total = laws.builder.number(0)
    for piece in force.pieces:
        total = total + laws.scalar(piece.law) * _window(laws, piece)
    return total


def _window(laws: Laws, piece: ForcePiece) -> Scalar:
    """Return 1 while the piece holds and 0 at all other times."""
    one, zero = laws.builder.number(1), laws.builder.number(0)
    started = one if piece.start is None else _step(laws, piece.start)
    over = zero if piece.until is None else _step(laws, piece.until)
    return laws.builder.keep(started * laws.builder.keep(one - over))


def _step(laws: Laws, time: Number) -> Scalar:
    since = laws.builder.keep(laws.time() - laws.scalar(time))
    return laws.builder.keep(BuilderArithmetic(laws.builder).call("step", [since]))


# --- all together ---------------------------------------------------------------------------------


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
        for index, name in enumerate(options.wrenches):
            frame = mechanism.frame(name)
            force, moment = wrench_inputs(builder, index)
            for rate, (linear, angular) in columns.of_frame(frame).items():
                add_to(totals, rate, -(dot(linear, force) + dot(angular, moment)))
    add_all(totals, passive_forces(builder, mechanism, options))
    add_all(totals, generalised_forces(builder, mechanism, options), -1)
    return totals


def outer_and_rotor_forces(
    builder: Builder, mechanism: Mechanism, options: Options
) -> dict[int, Scalar]:
    """Return the outer forces and what rotors take of H qdd, by rate.

    For a method that sums inertia forces of bodies without forming H.
    """
    totals = outer_forces(builder, mechanism, options)
    for rate, inertia in rotor_inertias(builder, mechanism, options).items():
        add_to(totals, rate, inertia * builder.input(f"qdd{rate + 1}", "qdd", rate))
    return totals
