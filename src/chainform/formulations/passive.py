"""What joints and springs do by themselves: friction, spring forces, the inertia of rotors.

    tau = H qdd + c + hG + P,    H with the rotors' inertia on its diagonal

symbol   meaning                                                                     unit
x, x'    motion of a joint, ratio q + offset, and its rate, ratio qd                 rad, m
b, f     viscous and Coulomb friction of the joint                                   N m s, N m
k, k0, d stiffness, rest position and damping of a spring                            N/m, m, N s/m
r        from one end of a spring to the other, world axes; s its length             m
J_i      velocity of the far end seen from the near one per unit rate of i           world
I, N     inertia of a rotor, and its turns per turn of the joint                     kg m^2

    P_i = ratio (b x' + f sign(x'))                         friction in a joint
    P_i = ratio (k (x - k0) + d x')                         a spring in a joint
    P_i = (k (1 - k0 / s) + d (r . r') / s^2) r . J_i       a spring between two points
    H_ii gains (ratio N)^2 I                                a rotor

Joints that share a coordinate add their parts, each with its own ratio. Of the last spring only
k0 needs the length, and only damping the square of it: a spring of rest length zero without
damping has no length in its force, so that it may shrink to nothing; any other must not.
"""

from __future__ import annotations

from fractions import Fraction

from chainform.formulations.kinematics import Kinematics
from chainform.formulations.motion import is_zero
from chainform.formulations.options import PLAIN, Options
from chainform.formulations.points import WorldColumns
from chainform.formulations.refusals import blamed
from chainform.graph import Builder, Scalar
from chainform.mechanism import Attachment, Friction, Mechanism, Segment, Spring
from chainform.spatial import Vector, dot, scale, subtract

HALF = Fraction(1, 2)


def has_passive(mechanism: Mechanism) -> bool:
    """Whether a mechanism has friction or springs."""
    frictions = (segment.joint.friction for segment in mechanism.segments)
    return bool(mechanism.springs) or any(f is not None and f != Friction() for f in frictions)


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
            with blamed(mechanism, f"spring {spring.name!r}"):
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
        with blamed(mechanism, f"spring {spring.name!r}"):
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
            _add(totals, segment.rate, gear * gear * number(joint.rotor_inertia))
    return {rate: builder.keep(value) for rate, value in sorted(totals.items())}


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


def _add(totals: dict[int, Scalar], rate: int, value: Scalar) -> None:
    totals[rate] = totals[rate] + value if rate in totals else value


def _add_friction(totals: dict[int, Scalar], kinematics: Kinematics) -> None:
    """Add friction; ratio sign(ratio qd) is |ratio| sign(qd)."""
    for segment in kinematics.mechanism.segments:
        friction = segment.joint.friction
        if friction is None or segment.rate is None:
            continue
        qd = kinematics.q(segment.rate, "qd")
        if friction.viscous != 0:
            slope = segment.ratio**2 * kinematics.number(friction.viscous)
            _add(totals, segment.rate, slope * qd)
        if friction.coulomb != 0:
            size = abs(segment.ratio) * kinematics.number(friction.coulomb)
            _add(totals, segment.rate, size * kinematics.builder.call("sign", qd))


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
            _add(totals, segment.rate, self._joint_force(spring, segment))
            return
        if self._is_rigid(spring.ends):
            return
        slopes = self._slopes(spring.ends)
        if not slopes:
            return
        force = self._force_per_length(spring, spring.ends, slopes)
        for rate, slope in slopes.items():
            _add(totals, rate, force * slope)

    def pulls(self, spring: Spring) -> list[tuple[Attachment, Vector]]:
        """Return what a spring between two bodies exerts on both; one in a joint has no ends."""
        if spring.ends is None or spring.ends[0].segment == spring.ends[1].segment:
            return []
        near, far = spring.ends
        force = self._force_per_length(spring, spring.ends, self._slopes(spring.ends))
        pull = self.columns.world.axes.kept(scale(force, self._between(spring.ends)))
        return [(near, pull), (far, scale(-1, pull))]

    def energy(self, spring: Spring) -> Scalar:
        """Return k (x - k0)^2 / 2, of a joint or of the distance of two points."""
        number = self.kinematics.number
        if spring.ends is None:
            stretch = self.kinematics.displacement(self._segment(spring)) - number(spring.rest)
            return HALF * number(spring.stiffness) * self.builder.keep(stretch) ** 2
        r = self._between(spring.ends)
        square = self.builder.keep(dot(r, r))
        if spring.rest == 0:
            return HALF * number(spring.stiffness) * square
        stretch = self.builder.keep(self.builder.call("sqrt", square) - number(spring.rest))
        return HALF * number(spring.stiffness) * stretch**2

    def _is_rigid(self, ends: tuple[Attachment, Attachment]) -> bool:
        """Whether both ends sit on one body, so that their distance never changes."""
        places = self.columns.world.skeleton.places
        return places[ends[0].segment].limb == places[ends[1].segment].limb

    def _segment(self, spring: Spring) -> Segment:
        assert spring.segment is not None
        return self.mechanism.segments[spring.segment]

    def _joint_force(self, spring: Spring, segment: Segment) -> Scalar:
        kinematics, ratio = self.kinematics, segment.ratio
        number = kinematics.number
        stretch = kinematics.displacement(segment) - number(spring.rest)
        force = ratio * (number(spring.stiffness) * self.builder.keep(stretch))
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
        if spring.damping != 0:
            rate = builder.number(0)
            for i, slope in slopes.items():
                rate = rate + slope * self.kinematics.q(i, "qd")
            force = force + number(spring.damping) * rate * builder.call("reciprocal", square)
        return builder.keep(force)

    def _between(self, ends: tuple[Attachment, Attachment]) -> Vector:
        near, far = (self.columns.place_of(end) for end in ends)
        return self.columns.world.axes.kept(subtract(far, near))

    def _slopes(self, ends: tuple[Attachment, Attachment]) -> dict[int, Scalar]:
        """Return r . J_i: half the derivative of the squared length, by rate."""
        r, slopes = self._between(ends), dict[int, Scalar]()
        for end, sign in zip(ends, (-1, 1), strict=True):
            for rate, (linear, _) in self.columns.of_attachment("spring", end).items():
                _add(slopes, rate, sign * dot(r, linear))
        return {i: self.builder.keep(v) for i, v in sorted(slopes.items()) if not is_zero(v)}
