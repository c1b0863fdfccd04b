"""Kinematics along a prescribed motion.

symbol       meaning                                                              axes
p, v, a      position, velocity and acceleration of the origin of a frame          world
w, e         its angular velocity and acceleration                                 world
g            the frame from which the motion is seen; r = p - p_g                  world

    v' = v - v_g - w_g x r,    a' = a - a_g - e_g x r - w_g x (w_g x r) - 2 w_g x v'
    w' = w - w_g,              e' = e - e_g - w_g x w'

and all of these are turned into the axes of g. Freedoms are nv less the rank of the rows J of loops
and constraints; the directions in which a frame can move are the columns of J_F N, where N spans
the rates with J N = 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.constraint_values import ClosureRows
from chainform.analysis.motions.known_states import one_row
from chainform.analysis.motions.motion import (
    MotionOptions,
    MotionSource,
    motion_of,
    with_values,
)
from chainform.analysis.motions.supplementary import PrescribedMotion, refuse_infinite
from chainform.analysis.results.interruption import Progress, Watch
from chainform.analysis.results.result import Result
from chainform.formulations import check_frame, is_bound
from chainform.given import Given, argument, counted
from chainform.mechanism import Mechanism
from chainform.simulation import About, Run

Array = NDArray[np.float64]
RANK = 1e-9
"""Singular values below this share of the largest count as zero."""
NEAR = 1e-4
"""A frame is near a singular position below this share."""
BEND = 0.2
"""A value that changes its sign bends less than its amount does, by this share at most."""
FRAME = ("segment", "point", "rotation")


def kinematics(
    mechanism: Mechanism | str | PathLike[str],
    motion: MotionSource,
    t: Any = None,
    frames: Sequence[str] | Mapping[str, object] = (),
    *,
    relative_to: str | None = None,
    progress: Progress | None = None,
    **options: Unpack[MotionOptions],
) -> Result:
    """Return positions, velocities and accelerations along a prescribed motion.

    `motion`, `t`, `start` and `smoothing` are those of `motion_of`, `values` those of parameters.
    `frames` are names, or points: {"pen": {"segment": "coupler", "point": [0.1, 0.2, 0]}}. Of each
    there are `position(F)`, `velocity(F)`, `acceleration(F)` (m, 3), `angular_velocity(F)`,
    `angular_acceleration(F)` and `rotation(F)` (m, 3, 3) in world axes, or seen from the frame
    `relative_to`, in its axes. `freedoms` (m,) are what loops and constraints leave free, and
    `singular_values(F)` (m, k) tell how well the frame moves: where the last is zero the position
    is singular. Where loops are closed on the way, `progress` is called with the number of times
    that are done, and of all; Ctrl-C then raises TaskInterrupted, with the motion up to there.
    """
    watch = Watch(progress)
    settled = with_values(mechanism, options.pop("values", None))
    moving, names = with_points(settled, frames)
    found = one_row(motion_of(moving, motion, t, watch=watch, **options))
    run = run_of(moving, found)
    arrays: dict[str, Array] = {"t": found.t}
    units: dict[str, str] = {"t": "s"}
    with np.errstate(over="ignore", invalid="ignore"):  # What is not finite is refused.
        free = _tangents(moving, found)
        base = None if relative_to is None else _frame_motion(run, relative_to)
        for name in names:
            for part, (array, unit) in _seen_from(base, _frame_motion(run, name)).items():
                arrays[f"{part}({name})"], units[f"{part}({name})"] = array, unit
    arrays |= {"q": found.q, "qd": found.qd, "qdd": found.qdd}
    refuse_infinite(found.t, arrays)
    arrays["freedoms"] = np.array([float(N.shape[1]) for N in free])
    remarks: list[str] = []
    for name in names:
        sizes = _singular_values(run, name, free)
        arrays[f"singular_values({name})"] = sizes
        remarks += _singular_stretches(name, found.t, sizes)
    report = (_freedoms(arrays["freedoms"]), *remarks, *found.notes, *watch.lines)
    return watch.finished(Result("kinematics", moving, "t", arrays, report, units=units))


def run_of(mechanism: Mechanism, motion: PrescribedMotion, without: tuple[str, ...] = ()) -> Run:
    """Return a prescribed motion as a run, for quantities along it that no effort changes."""
    states = (mechanism, motion.t, motion.q, motion.qd, np.zeros_like(motion.qd))
    about = About(without=without)
    return Run(*states, method="prescribed", about=about, computed={"qdd": motion.qdd})


def with_points(
    mechanism: Mechanism, frames: Sequence[str] | Mapping[str, object]
) -> tuple[Mechanism, tuple[str, ...]]:
    """Return the mechanism with points given by a table as frames, and the names of frames."""
    given = argument("frames", frames)
    if not given.is_table:
        names = given.texts('write ["tip"]') if frames else ()
    else:
        for name, entry in given.table().items():
            mechanism = _with_point(mechanism, name, entry)
        names = tuple(cast("Mapping[str, object]", frames))
    for name in names:
        check_frame(mechanism, name)
    return mechanism, names


def _with_point(mechanism: Mechanism, name: str, entry: Given) -> Mechanism:
    table = entry.table(FRAME, 'write {"segment": "coupler", "point": [0.1, 0, 0]}')
    segment = table.required("segment", "name the body that carries it").text()
    point = table["point"].value if table.has("point") else (0, 0, 0)
    with entry.translate_errors():
        return mechanism.with_frame(name, segment, cast("Any", point), table["rotation"].value)


# --- frames ---------------------------------------------------------------------------------------


def _frame_motion(run: Run, name: str) -> dict[str, Array]:
    """Return the motion of a frame in world axes."""
    pose, v, a = (run.output(f"{what}({name})") for what in ("pose", "velocity", "acceleration"))
    return {
        "position": pose[:, :3, 3],
        "rotation": pose[:, :3, :3],
        "velocity": v[:, :3],
        "angular_velocity": v[:, 3:],
        "acceleration": a[:, :3],
        "angular_acceleration": a[:, 3:],
    }


UNITS = {
    "position": "m",
    "velocity": "m/s",
    "acceleration": "m/s²",
    "rotation": "",
    "angular_velocity": "rad/s",
    "angular_acceleration": "rad/s²",
}


def _seen_from(
    base: Mapping[str, Array] | None, frame: Mapping[str, Array]
) -> dict[str, tuple[Array, str]]:
    """Return the motion of a frame with units, seen from another one, or from the world."""
    if base is None:
        return {part: (frame[part], unit) for part, unit in UNITS.items()}
    difference = {part: frame[part] - base[part] for part in UNITS if part != "rotation"}
    r, w, e = difference["position"], base["angular_velocity"], base["angular_acceleration"]
    v = difference["velocity"] - np.cross(w, r)
    centrifugal = np.cross(w, np.cross(w, r))
    a = difference["acceleration"] - np.cross(e, r) - centrifugal - 2 * np.cross(w, v)
    turning = difference["angular_velocity"]
    angular = difference["angular_acceleration"] - np.cross(w, turning)
    vectors = {"position": r, "velocity": v, "acceleration": a}
    vectors |= {"angular_velocity": turning, "angular_acceleration": angular}
    back = np.swapaxes(base["rotation"], 1, 2)
    found = {name: np.einsum("mij,mj->mi", back, vector) for name, vector in vectors.items()}
    found["rotation"] = back @ frame["rotation"]
    return {part: (found[part], unit) for part, unit in UNITS.items()}


# --- freedoms and singular positions --------------------------------------------------------------


def _tangents(mechanism: Mechanism, motion: PrescribedMotion) -> list[Array]:
    """Return N (nv, freedoms) at each time, orthonormal columns with J N = 0.

    A motion that opens loops or violates constraints is refused.
    """
    free = [np.eye(mechanism.nv)] * len(motion.t)
    has_barriers = any(c.kind == "unilateral" for c in mechanism.constraints)
    if not is_bound(mechanism) and not has_barriers:
        return free
    rows = ClosureRows(mechanism)
    at = rows.at(motion.t, motion.q, motion.qd)
    rows.check(at, motion.t, motion.qd, motion.qdd, may_touch=True)
    return [null_space(J) for J in at.J] if is_bound(mechanism) else free


def null_space(J: Array) -> Array:
    """Return orthonormal columns N (nv, freedoms) with J N = 0."""
    lengths = np.linalg.norm(J, axis=1, keepdims=True)
    even = np.divide(
        J, lengths, out=np.zeros_like(J), where=lengths > RANK * lengths.max(initial=1)
    )
    _, sizes, vh = np.linalg.svd(even)
    rank = int(np.sum(sizes > RANK * max(1.0, sizes.max(initial=0.0))))
    return vh[rank:].T


def _singular_values(run: Run, name: str, free: Sequence[Array]) -> Array:
    """Return the singular values of the velocity of a frame, by rates that are free, (m, k)."""
    J = run.output(f"jacobian({name})")[:, :3]
    count = min([3, *(N.shape[1] for N in free)])
    found = [
        np.linalg.svd(rows @ N, compute_uv=False)[:count] for rows, N in zip(J, free, strict=True)
    ]
    return np.array(found, dtype=np.float64).reshape(len(free), count)


def _singular_stretches(name: str, t: Array, sizes: Array) -> Iterator[str]:
    """Yield where a frame is at or near a singular position."""
    if not sizes.size:
        return
    # A frame with one direction is measured by the largest value along the motion.
    largest = sizes[:, 0] if sizes.shape[1] > 1 else sizes.max()
    share = sizes[:, -1] / np.maximum(largest, np.finfo(float).tiny)
    if np.all(share < RANK):
        yield f"{name} moves along fewer directions than there are freedoms, all the time"
        return
    is_near = share < NEAR
    for first, last in stretches(is_near):
        place = first + int(np.argmin(share[first : last + 1]))
        when = (
            f"t = {t[first]:.6g} s" if first == last else f"t = {t[first]:.6g} to {t[last]:.6g} s"
        )
        yield (
            f"{name} is near a singular position at {when}: the least singular value is "
            f"{share[place]:.2g} of the largest at {t[place]:.6g} s"
        )
    for first, when in _crossings(t, sizes[:, -1] / sizes.max()):
        if not is_near[first : first + 2].any():
            yield (
                f"{name} passes a singular position near t = {when:.6g} s: the least singular "
                "value goes through zero"
            )


def _crossings(t: Array, share: Array) -> Iterator[tuple[int, float]]:
    """Yield the index of the time before each zero between two times, and the time of the zero.

    Singular values are amounts. Where one goes through zero, its neighbours lie on a smooth curve
    if those on one side have the other sign, and on a sharp bend otherwise.
    """
    for k in range(len(share) - 1):
        first = max(k - 1, 0)
        around, steps = share[first : k + 3], np.diff(t[first : k + 3])
        before = k - first + 1
        sides = np.delete(around, [before - 1, before])
        if not len(sides) or share[k : k + 2].max() > sides.min():
            continue
        signs = np.where(np.arange(len(around)) < before, 1.0, -1.0)
        sharp, smooth = (
            np.abs(np.diff(np.diff(values) / steps)).max() for values in (around, signs * around)
        )
        if smooth < BEND * sharp:
            yield k, float(t[k] + (t[k + 1] - t[k]) * share[k] / share[k : k + 2].sum())


def stretches(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and last index of each stretch in which a flag is set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _freedoms(freedoms: Array) -> str:
    least, most = int(freedoms.min(initial=np.inf)), int(freedoms.max(initial=0))
    if least == most:
        return f"{counted(least, 'freedom')} all the time"
    return f"{least} to {most} freedoms: where there are more, the position is singular"
