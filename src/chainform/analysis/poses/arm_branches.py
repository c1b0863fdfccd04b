"""The closed form of an arm: all poses of a target at once, from the geometry of its axes.

An arm is known by its axes in the zero pose: directions that are parallel, lines that meet.

pose, six joints        the last or first three axes meet in a point (spherical wrist, Pieper 1968),
                        or axes 2, 3, 4 (3, 4, 5) are parallel and 5, 6 (1, 2) meet
pose, three joints      parallel turning axes, in their plane
position, three joints  any turning or sliding joints
position, two joints    turning joints
rotation, three joints  turning joints

The product of the motions of all joints is G = T T0^-1, T the target and T0 the pose at zero. A
candidate counts as a branch only if the arm itself confirms it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.poses.arm_geometry import (
    ArmAxis,
    common_point,
    is_parallel,
    points_reached,
)
from chainform.analysis.poses.axis_angles import (
    angle_between,
    angles_to_plane,
    dot,
    planar_turns,
    three_turns,
)
from chainform.analysis.poses.pose_equations import PoseEquations
from chainform.analysis.poses.pose_search import NEAR_STEPS, PoseSearch
from chainform.analysis.poses.pose_targets import PoseGoals
from chainform.analysis.results.rotation_values import rotations_about
from chainform.errors import RunError
from chainform.given import counted

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Solve = Callable[[Array], Array]
"""From motions G (n, 4, 4) to candidates (k, n, joints)."""

ROUGH = 1e-3
"""Candidates that miss their target by more (rad, parts of the size) are none."""
POLISH = 4
TRIALS = 8
OFFSET = 2e-4
"""How far aside goals are tried, in rad and parts of the size: nearer than ROUGH."""
POSITION, ROTATION = (0, 1, 2), (3, 4, 5)


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """The closed form of an arm: its kind in words, and the solution for the motions G."""

    equations: PoseEquations
    kind: str
    solve: Solve
    home: Array
    pose: Array
    """The zero pose q (nq,), with what is held, and the frame (4, 4) in it."""

    def candidates(self, goals: PoseGoals) -> Array:
        """Return coordinates (k, n, nq), nan where there is no branch."""
        frame = np.zeros((len(goals), 4, 4))
        frame[:, 3, 3] = 1
        rows = _bound_rows(self.equations)
        frame[:, :3, :3] = goals.rotation[:, 0] if 3 in rows else self.pose[:3, :3]
        frame[:, :3, 3] = goals.position[:, 0] if 0 in rows else self.pose[:3, 3]
        G = frame @ _undone(self.pose)
        with np.errstate(invalid="ignore"):
            found = self.solve(G)
        q = np.tile(self.home, (*found.shape[:2], 1))
        q[..., _joints(self.equations)] = found
        return q

    def branches(self, search: PoseSearch, goals: PoseGoals) -> tuple[Array, Mask]:
        """Return poses (n, k, nq), and which of them are branches: confirmed, within limits.

        Where a joint may have any angle, the one that is taken may leave the others without a
        solution. Of a target without branches those next to it are tried, and lead to one.
        """
        q, found = self._confirmed(search, goals, goals, POLISH)
        random = np.random.default_rng(0)
        for _ in range(TRIALS):
            lost = np.flatnonzero(~found.any(axis=1))
            if not len(lost):
                break
            some = goals.take(lost)
            near, good = self._confirmed(
                search, _around(some, self.equations.size, random), some, NEAR_STEPS
            )
            rows = np.flatnonzero(good.any(axis=1))
            q[lost[rows], 0] = near[rows, np.argmax(good[rows], axis=1)]
            found[lost[rows], 0] = True
        return q, found

    def _confirmed(
        self, search: PoseSearch, near: PoseGoals, goals: PoseGoals, steps: int
    ) -> tuple[Array, Mask]:
        """Return the candidates of goals near others, and which of them lead to these."""
        q = np.swapaxes(self.candidates(near), 0, 1)
        count, kinds, nq = q.shape
        which = np.repeat(np.arange(count, dtype=np.intp), kinds)
        flat, known = q.reshape(-1, nq), np.isfinite(q).all(axis=2).ravel()
        free, found = search.without_limits(), np.zeros(len(flat), dtype=bool)
        places = np.flatnonzero(known)
        is_near = self.equations.at(flat[places], goals.take(which[places])).size < ROUGH
        places = places[is_near]
        polished, good = free.newton(flat[places], goals.take(which[places]), steps)
        flat[places], found[places] = polished, good
        if search.limits:
            flat[places] = search.unwound(polished, polished)
            within = np.all(self.equations.clipped(flat) == flat, axis=1)
            found &= within
        return flat.reshape(q.shape), found.reshape(count, kinds)


def _around(goals: PoseGoals, size: float, random: np.random.Generator) -> PoseGoals:
    """Return goals a little aside, in random directions."""
    shift, turn = random.uniform(-OFFSET, OFFSET, (2, *goals.position.shape))
    angle = np.linalg.norm(turn, axis=-1)[..., np.newaxis, np.newaxis]
    cross = np.cross(np.eye(3), turn[..., np.newaxis, :] / angle[..., 0])
    rotation = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross)
    position = goals.position + size * shift
    return replace(goals, position=position, rotation=rotation @ goals.rotation)


def closed_form(equations: PoseEquations, goals: PoseGoals) -> ClosedForm:
    """Return the closed form of a mechanism for its targets; RunError where there is none.

    Coordinates that are held count as fixed, if they are the same for all goals.
    """
    _refuse_others(equations, goals)
    home = equations.mechanism.neutral()
    home[equations.held_places] = goals.held[0, 0]
    pose, J = (x[0] for x in equations.frame_jacobian(home[np.newaxis], np.zeros(1)))
    axes = [_axis(J[:, k], pose[:3, 3]) for k in _rates(equations)]
    rows = _bound_rows(equations)
    kind, solve = _solution(axes, rows, equations.size, pose[:3, 3], equations)
    form = ClosedForm(equations, kind, solve, home, pose)
    _try(form)
    return form


def _rates(equations: PoseEquations) -> list[int]:
    """Return the rates of the joints of the arm, from the base."""
    return [k for k in equations.chain if k not in equations.held]


def _joints(equations: PoseEquations) -> list[int]:
    """Return the places in q of the joints of the arm, from the base."""
    place = dict(zip(equations.single.tolist(), equations.places.tolist(), strict=True))
    return [place[k] for k in _rates(equations)]


def _axis(column: Array, tip: Array) -> ArmAxis:
    """Return the axis of a joint from a column of the Jacobian of the tip."""
    linear, turn = column[:3], column[3:]
    if np.linalg.norm(turn) > 0.5:
        return ArmAxis(turn, tip + np.cross(turn, linear), True)
    return ArmAxis(linear / np.linalg.norm(linear), tip, False)


def _refuse_others(equations: PoseEquations, goals: PoseGoals) -> None:
    """Refuse what is no arm: several frames, loops, shared coordinates, quaternions."""
    mechanism, reason = equations.mechanism, ""
    shared = {k for k in _rates(equations) if equations.turns[k]} - {
        *equations.whole_turns.tolist()
    }
    if len(equations.rows) > 1:
        reason = f"there are targets for {len(equations.rows)} frames"
    elif _bound_rows(equations) not in (POSITION, ROTATION, POSITION + ROTATION):
        reason = "some components of the position are free"
    elif equations.closure.count:
        reason = "the mechanism has loops or constraints"
    elif not {*_rates(equations)} <= {*equations.single.tolist()}:
        reason = "a joint has a quaternion"
    elif (
        shared
        or len({*equations.chain}) < len(equations.chain)
        or mechanism.base.is_moving
        or not mechanism.segments
    ):
        reason = "joints share a coordinate, or the base moves"
    elif np.any(goals.held != goals.held[:1] * [[1], [0], [0]]):
        reason = "held coordinates move"
    if reason:
        raise _none(equations, reason)


def _bound_rows(equations: PoseEquations) -> tuple[int, ...]:
    """Return the rows of the first frame that are bound."""
    return next(rows for _, rows in equations.rows)


def _none(equations: PoseEquations, reason: str) -> RunError:
    return RunError(
        f"there is no closed form: {reason}",
        file=equations.mechanism.file,
        element="method",
        remedy='choose method="newton"; with branches="all" it looks for all of them',
    )


def _try(form: ClosedForm) -> None:
    """Refuse a form that does not give back poses of the arm: its joints are degenerate."""
    equations, random = form.equations, np.random.default_rng(0)
    search = PoseSearch(equations, False, 1, 1e-9, random)
    q = search.random_poses(np.tile(form.home, (TRIALS, 1)))
    q[:, equations.held_places] = form.home[equations.held_places]
    found, good = form.branches(search, equations.goals_at(q))
    again = [
        np.any(search.distance(found[k][good[k]], np.tile(q[k], (int(good[k].sum()), 1))) < 1e-4)
        for k in range(TRIALS)
    ]
    if not all(again):
        raise _none(equations, f"the joints of this {form.kind} do not move independently")


# --- kinds of arms ----------------------------------------------------------------------------


def _solution(
    axes: list[ArmAxis], rows: tuple[int, ...], size: float, tip: Array, equations: PoseEquations
) -> tuple[str, Solve]:
    """Return the kind of an arm, and its solution."""
    turning, count = all(axis.turns for axis in axes), len(axes)
    if rows == POSITION and count == 3:
        return "arm of three joints", lambda G: points_reached(axes, tip, _applied(G, tip))
    if rows == POSITION and count == 2 and turning:
        return "arm of two joints", lambda G: _two_turns(axes, tip, _applied(G, tip))
    if rows == ROTATION and count == 3 and turning:
        directions = np.array([axis.h for axis in axes])
        return "wrist", lambda G: three_turns(directions, G[:, :3, :3])
    is_plane = turning and all(is_parallel(axes[0], axis) for axis in axes)
    if rows == POSITION + ROTATION and count == 3 and is_plane:
        return "planar arm", lambda G: _planar(axes, G)
    if rows == POSITION + ROTATION and count == 6:
        return _six_joints(axes, size, equations)
    wanted = "six joints for a pose, three for a position or a rotation"
    raise _none(
        equations, f"the arm has {counted(count, 'joint')} for {len(rows)} rows, not {wanted}"
    )


def _six_joints(axes: list[ArmAxis], size: float, equations: PoseEquations) -> tuple[str, Solve]:
    """Return the solution of an arm of six joints, from its tip or from its base."""
    back = [axis.reversed() for axis in reversed(axes)]
    for joints, place in ((axes, "wrist"), (back, "shoulder")):
        solve = _spherical(joints, size) or _parallel(joints, size)
        if solve is None:
            continue
        kind = (
            f"arm with a spherical {place}"
            if _spherical(joints, size)
            else "arm with parallel axes"
        )
        if joints is axes:
            return kind, solve
        return kind, lambda G, solve=solve: solve(_undone(G))[..., ::-1]
    raise _none(
        equations,
        "neither three neighbouring axes at an end meet, nor are three in the middle parallel",
    )


def _undone(G: Array) -> Array:
    return np.asarray(np.linalg.inv(G), dtype=np.float64)


def _applied(G: Array, point: Array) -> Array:
    return G[:, :3, :3] @ point + G[:, :3, 3]


def _two_turns(axes: Sequence[ArmAxis], point: Array, target: Array) -> Array:
    """Return angles (2, n, 2) of two joints that bring a point to targets."""
    first, second = axes
    arm, fore = second.o - first.o, np.broadcast_to(point - second.o, target.shape)
    goal = target - first.o
    way, reach = arm, (dot(goal, goal) - arm @ arm - dot(fore, fore)) / 2
    if not is_parallel(first, second):
        # Axes that meet leave all distances alone, so that the height along the first one counts.
        way, reach = first.h, dot(goal - arm, first.h)
    found = list[Array]()
    for q2 in angles_to_plane(second.h, fore, way, reach):
        x = second.moved(q2, np.broadcast_to(point, target.shape)) - first.o
        found.append(np.stack([angle_between(first.h, x, goal), q2], axis=1))
    return np.stack(found)


def _planar(axes: Sequence[ArmAxis], G: Array) -> Array:
    return planar_turns(np.array([axis.h for axis in axes]), np.array([axis.o for axis in axes]), G)


def _spherical(axes: list[ArmAxis], size: float) -> Solve | None:
    """Return the solution where the last three axes meet in a point, which three joints move."""
    wrist = axes[3:]
    centre = common_point(wrist, size) if all(axis.turns for axis in wrist) else None
    if centre is None:
        return None
    directions = np.array([axis.h for axis in wrist])

    def solve(G: Array) -> Array:
        shoulder = points_reached(axes[:3], centre, _applied(G, centre))
        kinds, count = shoulder.shape[:2]
        flat = shoulder.reshape(-1, 3)
        rest = np.tile(G[:, :3, :3], (kinds, 1, 1))
        for k, axis in enumerate(axes[:3]):
            if axis.turns:
                rest = rotations_about(axis.h, -flat[:, k]) @ rest
        turns = three_turns(directions, rest)
        both = [np.concatenate([flat, angles], axis=1) for angles in turns]
        return np.stack(both).reshape(-1, count, 6)

    return solve


def _parallel(axes: list[ArmAxis], size: float) -> Solve | None:
    """Return the solution where axes 2, 3, 4 are parallel, and 5 and 6 meet in a point.

    Joints 2 to 4 do not change heights along their axes, nor the direction of these.
    """
    turning = all(axis.turns for axis in axes)
    inner, h = axes[1:4], axes[1].h
    if not turning or not all(is_parallel(axis, inner[0]) for axis in inner):
        return None
    centre = common_point(axes[4:], size)
    if centre is None or is_parallel(axes[0], inner[0]):
        return None
    one, five, six = axes[0], axes[4], axes[5]

    def solve(G: Array) -> Array:
        found, n = list[Array](), len(G)
        along = np.broadcast_to(h, (n, 3))
        height = np.full(n, h @ (centre - one.o))
        for q1 in angles_to_plane(one.h, along, _applied(G, centre) - one.o, height):
            rest = _inverse(one, q1) @ G
            g = np.swapaxes(rest[:, :3, :3], 1, 2) @ h
            for q6 in angles_to_plane(six.h, g, five.h, np.full(n, five.h @ h)):
                q5 = angle_between(five.h, _times(rotations_about(six.h, q6), g), along)
                plane = rest @ _inverse(six, q6) @ _inverse(five, q5)
                for turns in _planar(inner, plane):
                    found.append(np.column_stack([q1, turns, q5, q6]))
        return np.stack(found)

    return solve


def _times(matrices: Array, vectors: Array) -> Array:
    return (matrices @ vectors[..., np.newaxis])[..., 0]


def _inverse(axis: ArmAxis, angle: Array) -> Array:
    """Return the motions (n, 4, 4) that undo turns about an axis."""
    motion = np.zeros((len(angle), 4, 4))
    motion[:, :3, :3] = rotations_about(axis.h, -angle)
    motion[:, :3, 3] = axis.o - motion[:, :3, :3] @ axis.o
    motion[:, 3, 3] = 1
    return motion
