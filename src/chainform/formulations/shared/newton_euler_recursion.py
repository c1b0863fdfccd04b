"""The two sweeps of the recursive equations: motion outward, forces inward.

symbol   meaning                                                                     frame
w        angular velocity of a limb                                                  limb's
U        [alpha x] + [w x][w x]: U r is the acceleration of a point r against the     limb's
         origin of the frame
a        acceleration of the frame origin, less gravity                              limb's
f, n     force and moment that the joint passes on, the moment about its origin      limb's

Inward, with first moment h and second moments S of a limb,

    f = M a + U h,      n_z = S_xx U_yx - S_yy U_xy + S_xy (U_yy - U_xx)
                              + S_xz U_yz - S_yz U_xz + h_x a_y - h_y a_x

and cyclically. The ground is the base body, which moves as it is prescribed. A limb named in
`shared` is described in the axes at the root of its run of parallel joints instead of its own,
turned by the sum of the angles.

The regressor Y is inverse dynamics per unit of each dynamic parameter: tau = Y theta, with
theta = mechanism.dynamic_parameters(), holds for what the bodies, friction, rotors and springs
need; forces given by laws, wrenches and the reactions of loops are not in it. With the angular
acceleration alpha of a body, a unit of mass, of first moment along e_i and of inertia I needs

    f = a                  n = 0
    f = U e_i              n = e_i x a
    f = 0                  n = I alpha + w x I w

about the origin. Each is carried inward to the joints before; what is fixed to a limb is described
in the axes of the limb, and its columns are put together from those of the limb.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from chainform.formulations.shared.axes import is_parallel
from chainform.formulations.shared.forces import passive_column
from chainform.formulations.shared.outputs import add_to
from chainform.formulations.shared.tree import Column, Limb, Skeleton
from chainform.formulations.shared.turns import AxisTurn, FrameMotion, FrameTurn, MatrixTurn, others
from chainform.graph import Scalar, is_zero
from chainform.mechanism import (
    GROUND,
    INERTIAL,
    PAIRS,
    DynamicParameter,
    JointKind,
    moved_inertia,
    unit_inertia,
)
from chainform.spatial import Vector, add, cross, scale, unit


class NewtonEulerRecursion:
    """One sweep outward and one inward; `rates` names the motions that are not taken as zero."""

    def __init__(self, skeleton: Skeleton, shared: frozenset[int], rates: Sequence[str]) -> None:
        self.skeleton = skeleton
        self.kinematics = skeleton.kinematics
        self.builder = skeleton.builder
        self.limbs = skeleton.limbs
        self.shared = shared
        self.rates = rates
        self.motion: list[FrameMotion] = []
        self.acceleration: list[Vector] = []
        self.angle: list[Scalar | None] = []
        """The angle a limb is still turned by against the axes it is described in."""
        self.path: list[list[FrameTurn]] = []
        self.before: list[tuple[FrameMotion, Vector]] = []
        """Motion of the limb before and acceleration of its point at the joint, in axes before
        the joint turns."""
        self.wrenches: dict[int, tuple[Vector, Vector]] = {}
        """Force and moment that each joint passes on, in the axes of its limb."""

    def _rate(self, column: Column, group: str) -> Scalar:
        if group not in self.rates:
            return self.builder.number(0)
        return self.kinematics.q(column.rate, group) * column.ratio

    def _triple(self, columns: Sequence[Column], group: str) -> Vector:
        x, y, z = (self._rate(column, group) for column in columns)
        return (x, y, z)

    def _named(self, label: str, limb: Limb, v: Vector) -> Vector:
        names = (f"{label}_{limb.segment + 1}_{axis}" for axis in "xyz")
        x, y, z = (self.builder.name(name, part) for name, part in zip(names, v, strict=True))
        return (x, y, z)

    def outward(self) -> None:
        """Find the motion of every limb."""
        for k, limb in enumerate(self.limbs):
            self._outward(k, limb)

    # --- outward: velocity and acceleration ---------------------------------------------

    def _outward(self, k: int, limb: Limb) -> None:
        motion, origin, turns, angle = self._joint_frame(limb)
        self.before.append((motion, origin))
        if limb.is_revolute:
            (column,) = limb.columns
            rate, acceleration = self._rate(column, "qd"), self._rate(column, "qdd")
            motion = motion.with_rate(limb.axis, rate, acceleration)
            own = self.skeleton.displacement(limb)
            angle = own if angle is None else self.builder.keep(angle + own)
            if k not in self.shared:
                turn = self._turn(limb.axis, angle)
                motion, origin, angle = motion.turned(turn), turn.into(origin), None
                turns.append(turn)
        elif limb.kind == JointKind.PRISMATIC:
            origin = self._slide(limb, motion, origin)
        else:
            motion, origin = self._with_quaternion(limb, motion, origin)
        self.motion.append(motion)
        self.acceleration.append(self._named("a", limb, origin))
        self.angle.append(angle)
        self.path.append(turns)

    def _joint_frame(
        self, limb: Limb
    ) -> tuple[FrameMotion, Vector, list[FrameTurn], Scalar | None]:
        """Return the motion of the limb before at the joint, in axes that suit the joint.

        With it come the turns that lead to these axes, and the angle about the joint axis
        that is left over from a run of parallel axes.
        """
        turns: list[FrameTurn] = []
        if limb.parent == GROUND:
            motion, angle = self._base_motion(), None
            origin = self.builder.keep_vector(
                add(self._lift(), motion.apply(self.skeleton.reach(limb)))
            )
        else:
            parent = self.limbs[limb.parent]
            motion, angle = self.motion[limb.parent], self.angle[limb.parent]
            reach = self.in_axes(limb.parent, self.skeleton.reach(limb))
            origin = self.builder.keep_vector(
                add(self.acceleration[limb.parent], motion.apply(reach))
            )
            if angle is not None and not is_parallel(parent, limb):
                turn = self._turn(parent.axis, angle)
                motion, origin, angle = motion.turned(turn), turn.into(origin), None
                turns.append(turn)
        for turn in self.skeleton.turns(limb):
            assert isinstance(turn, MatrixTurn)
            motion, origin = motion.turned_by_matrix(turn, limb.axis), turn.into(origin)
            turns.append(turn)
        return motion, origin, turns, angle

    def _with_quaternion(
        self, limb: Limb, motion: FrameMotion, origin: Vector
    ) -> tuple[FrameMotion, Vector]:
        """Add the relative motion of a spherical or free joint, given in the limb's axes."""
        before = motion.w
        w, alpha = self._triple(limb.columns[-3:], "qd"), self._triple(limb.columns[-3:], "qdd")
        carried: Vector = (motion.alpha(0), motion.alpha(1), motion.alpha(2))
        alpha = self.builder.keep_vector(add(add(carried, alpha), cross(before, w)))
        total = self.builder.keep_vector(add(before, w))
        if limb.kind == JointKind.FREE:
            v = self._triple(limb.columns[:3], "qd")
            twice = add(total, before)
            origin = add(origin, add(self._triple(limb.columns[:3], "qdd"), cross(twice, v)))
        return FrameMotion.of(total, alpha), self.builder.keep_vector(origin)

    def _base_motion(self) -> FrameMotion:
        """Return the turning of the base, in its own axes."""
        if "base" not in self.rates or not self.skeleton.mechanism.base.is_turning:
            return FrameMotion.at_rest(self.builder)
        base = self.kinematics.base
        turn = MatrixTurn(self.builder, base.rotation)
        return FrameMotion.of(
            turn.into(base.angular_velocity), turn.into(base.angular_acceleration)
        )

    def _lift(self) -> Vector:
        """Return the acceleration of the base, less gravity, in its own axes."""
        base = self.kinematics.base
        felt = scale(-1, self.kinematics.vector(self.skeleton.mechanism.gravity))
        if "base" in self.rates:
            felt = add(felt, base.acceleration)
        return MatrixTurn(self.builder, base.rotation).into(self.builder.keep_vector(felt))

    def _slide(self, limb: Limb, motion: FrameMotion, origin: Vector) -> Vector:
        """Add what a sliding joint does: qdd along its axis, and 2 w x qd."""
        (column,) = limb.columns
        rate, acceleration = self._rate(column, "qd"), self._rate(column, "qdd")
        x, y = others(limb.axis)
        moved = list(origin)
        moved[limb.axis] = moved[limb.axis] + acceleration
        moved[x] = moved[x] + 2 * (motion.w[y] * rate)
        moved[y] = moved[y] - 2 * (motion.w[x] * rate)
        return (moved[0], moved[1], moved[2])

    def _turn(self, axis: int, angle: Scalar) -> AxisTurn:
        call = self.builder.call
        return AxisTurn(axis, call("cos", angle), call("sin", angle))

    def in_axes(self, k: int, v: Vector) -> Vector:
        """Return a vector given in limb axes in the axes the limb is described in."""
        angle = self.angle[k]
        return v if angle is None else self._turn(self.limbs[k].axis, angle).back(v)

    # --- inward: forces and moments -----------------------------------------------------

    def inward(self) -> dict[int, Scalar]:
        """Return the generalised forces by coordinate."""
        zero = self.builder.number(0)
        none: Vector = (zero, zero, zero)
        forces: list[Vector] = [none] * len(self.limbs)
        moments: list[Vector] = [none] * len(self.limbs)
        torques: dict[int, Scalar] = {}
        for k in reversed(range(len(self.limbs))):
            limb = self.limbs[k]
            force, moment = self.inertia_forces(k, limb)
            force, moment = add(force, forces[k]), add(moment, moments[k])
            force, moment = self._named("f", limb, force), self._named("n", limb, moment)
            self.wrenches[k] = force, moment
            for column in limb.columns:
                drive = (moment if column.turning else force)[column.axis] * column.ratio
                before = torques.get(column.rate)
                torques[column.rate] = drive if before is None else before + drive
            if limb.parent == GROUND:
                continue
            for turn in reversed(self.path[k]):
                force, moment = turn.back(force), turn.back(moment)
            reach = self.in_axes(limb.parent, self.skeleton.reach(limb))
            forces[limb.parent] = add(forces[limb.parent], force)
            arm = add(moment, cross(reach, force))
            moments[limb.parent] = add(moments[limb.parent], arm)
        return torques

    def wrench_before(self, k: int) -> tuple[Vector, Vector]:
        """Return what joint k passes on, in the axes before it turns."""
        force, moment = self.wrenches[k]
        if not self.limbs[k].is_revolute or k in self.shared:
            return force, moment
        turn = self.path[k][-1]
        return turn.back(force), turn.back(moment)

    def inertia_forces(self, k: int, limb: Limb) -> tuple[Vector, Vector]:
        """Return what moves a body on limb k and carries it, about the origin of the limb.

        `limb` holds the inertia. The ground is the base body.
        """
        if k == GROUND:
            motion, a = self._base_motion(), self._lift()
            return self._own_axes(limb, motion, a, scale(limb.mass, a))
        motion, a = self.motion[k], self.acceleration[k]
        force = scale(limb.mass, a)
        if self.angle[k] is None:
            return self._own_axes(limb, motion, a, force)
        return self._shared_axes(k, limb, motion, a, force)

    def _own_axes(
        self, limb: Limb, motion: FrameMotion, a: Vector, force: Vector
    ) -> tuple[Vector, Vector]:
        h, s, u = limb.moment, limb.second, motion.u
        moment: list[Scalar] = []
        for z in range(3):
            x, y = others(z)
            moment.append(
                s[x][x] * u(y, x)
                - s[y][y] * u(x, y)
                + s[x][y] * (u(y, y) - u(x, x))
                + s[x][z] * u(y, z)
                - s[y][z] * u(x, z)
                + h[x] * a[y]
                - h[y] * a[x]
            )
        return add(force, motion.apply(h)), (moment[0], moment[1], moment[2])

    def _shared_axes(
        self, k: int, limb: Limb, motion: FrameMotion, a: Vector, force: Vector
    ) -> tuple[Vector, Vector]:
        """Return force and moment of a limb that is described in the axes of a run's root.

        The part of S that is alike in all directions across the axis is not turned at all;
        the rest is taken along the limb's own axes e_i: n = sum e_i x (S_ik U e_k + h_i a).
        """
        zero = self.builder.number(0)
        z = limb.axis
        x, y = others(z)
        s = [list(row) for row in limb.second]
        alike = s[y][y] if is_zero(limb.moment[y]) else s[x][x]
        s[x][x], s[y][y] = s[x][x] - alike, s[y][y] - alike
        moment: list[Scalar] = [zero] * 3
        moment[x], moment[y] = alike * motion.u(z, y), -(alike * motion.u(z, x))
        moment[z] = 2 * (alike * motion.alpha(z))
        total: Vector = (moment[0], moment[1], moment[2])
        for i in range(3):
            arm = self._column(k, motion, i)
            force = add(force, scale(limb.moment[i], arm))
            inner = scale(limb.moment[i], a)
            for l in range(3):
                inner = add(inner, scale(s[i][l], self._column(k, motion, l)))
            total = add(total, cross(self._direction(k, i), self.builder.keep_vector(inner)))
        return force, total

    def _direction(self, k: int, i: int) -> Vector:
        """Return axis i of a limb in the axes it is described in."""
        return self.in_axes(k, unit(i, self.builder.number(1), self.builder.number(0)))

    def _column(self, k: int, motion: FrameMotion, i: int) -> Vector:
        """Return U e_i, e_i an axis of the limb."""
        return motion.apply(self._direction(k, i))


class RegressorColumns:
    """The columns of one mechanism; `sweep` has the motion of all limbs, each in its own axes."""

    def __init__(self, sweep: NewtonEulerRecursion) -> None:
        self.sweep = sweep
        self.skeleton = sweep.skeleton
        self.builder = sweep.builder
        self.of_limb = cache(self._of_limb)

    def of(self, parameter: DynamicParameter) -> dict[int, Scalar]:
        """Return a column by rate; entries that are not there are zero."""
        if not parameter.is_inertial:
            return passive_column(self.builder, self.skeleton.mechanism, parameter)
        pose, total = self.skeleton.poses[parameter.place], dict[int, Scalar]()
        if pose.limb == GROUND:
            return total
        mass, moment, inertia = moved_inertia(
            *unit_inertia(parameter.kind), pose.rotation, pose.position
        )
        shares: Sequence[Scalar] = (mass, *moment, *(inertia[i][k] for i, k in PAIRS))
        for kind, share in zip(INERTIAL, shares, strict=True):
            known = share + self.builder.number(0)
            if not is_zero(known):
                for rate, value in self.of_limb(pose.limb, kind).items():
                    add_to(total, rate, self.builder.keep(known) * value)
        return total

    def _of_limb(self, limb: int, kind: str) -> dict[int, Scalar]:
        """Return the column of a parameter about the origin of a limb, in its axes."""
        force, moment = self._wrench(limb, kind)
        column: dict[int, Scalar] = {}
        keep, k = self.builder.keep_vector, limb
        while k != GROUND:
            body = self.skeleton.limbs[k]
            for freedom in body.columns:
                part = (moment if freedom.turning else force)[freedom.axis]
                if not is_zero(part):
                    add_to(column, freedom.rate, part * freedom.ratio)
            for turn in reversed(self.sweep.path[k]):
                force, moment = turn.back(force), turn.back(moment)
            moment = keep(add(moment, cross(self.skeleton.reach(body), force)))
            k = body.parent
        return {rate: self.builder.keep(value) for rate, value in column.items()}

    def _wrench(self, limb: int, kind: str) -> tuple[Vector, Vector]:
        """Return force and moment that a unit of a parameter needs."""
        motion, a = self.sweep.motion[limb], self.sweep.acceleration[limb]
        one, zero = self.builder.number(1), self.builder.number(0)
        none, keep, index = (zero, zero, zero), self.builder.keep_vector, INERTIAL.index(kind)
        if index == 0:
            return a, none
        if index <= len(a):
            axis = unit(index - 1, one, zero)
            return motion.along(index - 1), keep(cross(axis, a))
        i, k = PAIRS[index - len(a) - 1]
        moment = self._turning(limb, i, k)
        return none, keep(moment if i == k else add(moment, self._turning(limb, k, i)))

    def _turning(self, limb: int, i: int, k: int) -> Vector:
        """Return e_i alpha_k + w x e_i w_k."""
        motion = self.sweep.motion[limb]
        before, after = (i + 2) % 3, (i + 1) % 3
        entries = {i: motion.alpha(k), after: motion.product(before, k)}
        entries[before] = -motion.product(after, k)
        return (entries[0], entries[1], entries[2])
