"""The laws that every motion obeys by itself: energy, loops, quaternions, rates as derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error
from chainform.mechanism import JointKind, Mechanism
from chainform.simulation import (
    CLOSED,
    ConstraintResiduals,
    Problem,
    Run,
    digests_of,
    stabilise_of,
)
from chainform.spatial import quaternion_product, rotation_of_quaternion
from chainform.verification.certificate import Check
from chainform.verification.deviation import largest_of
from chainform.verification.motion.motion_variants import Variants

Array = NDArray[np.float64]

ENERGY = "energy changes by work and losses only"
CLOSURE = "loops and constraints hold along the motion"
LENGTH = "quaternions have the length 1"
RATES = "coordinates change by their rates, and rates by accelerations"

PER_TOLERANCE = 1000.0
"""How many times the tolerance the energy may be off, relative to the largest exchange of it."""
DRIFT = 1e-6
"""How far loops may be open that nothing but accelerations, or Baumgarte's method, holds (m)."""
UNIT = 1e-9
"""How far the length of a quaternion may be from 1."""
INSTANTS = 24
"""At so many times the motion is differentiated."""
SPACING = 1e-2
"""The distance of the points of a difference, as a share of the time in which rates change."""
SMOOTH = 1e-7
"""Differences with half the distance must agree so well, relative to the largest rate."""
ALLOWED = 1e-5
"""The largest deviation of a rate, relative to the largest one."""


def check_laws_of_motion(
    run: Run, problem: Problem | None, accurate: Run | None = None
) -> Iterator[Check]:
    """Yield what can be seen in a run alone.

    Steps of fixed length promise nothing about the energy: that of an accurate motion is checked.
    """
    if not len(run.t):
        return
    try:
        yield _energy(run if accurate is None else accurate, problem)
    except Error as reason:
        yield Check(ENERGY, "nothing", reason.message, None)
    if not run.mechanism.elements or run.mechanism.constraints or run.mechanism.loops:
        yield from _closed(run)
    if run.mechanism.quaternions:
        yield _quaternions(run)


def _energy(run: Run, problem: Problem | None) -> Check:
    """Check that energy, losses and work add up."""
    compared = "kinetic and potential energy, losses and work at all times of output"
    events = () if problem is None else problem.conditions(problem.options["values"]).events
    if any(event.change is not None for event in events):
        reason = "events change the state, and put energy in"
        return Check(ENERGY, "nothing", reason, None)
    gap = np.abs(run.balance - run.balance[0])
    exchanged = [run.potential_energy, run.work, run.losses]
    scale = max([float(run.kinetic_energy.max()), *(float(np.ptp(part)) for part in exchanged)])
    if scale == 0.0:
        return Check(ENERGY, compared, "no energy is exchanged", None)
    rtol, step = (run.about.settings.get(name) for name in ("rtol", "step"))
    compared += f", {run.method} with tolerance {rtol:.0e}"
    allowed = PER_TOLERANCE * (rtol or 0.0)
    k = int(np.argmax(gap)) if np.isfinite(gap).all() else int(np.argmin(np.isfinite(gap)))
    share = float(gap[k]) / scale
    figure = f"drift {gap[k]:.1e} J at t = {run.t[k]:.6g} s, {share:.1e} of {scale:.3g} J"
    if step is not None:
        return Check(ENERGY, compared, f"{figure}; steps of fixed length promise nothing", None)
    figure += f"; {allowed:.1e} is allowed"
    return Check(ENERGY, compared, figure, share <= allowed, len(run.t), share, allowed)


def stabilised(run: Run) -> str:
    """Return how a run was held to its loops, by the digest that it has of that."""
    digest = run.about.given.get("stabilise")
    for word in ("projection", "baumgarte", "none"):
        if digest in (None, digests_of({"stabilise": repr(stabilise_of(word))})["stabilise"]):
            return word
    return "other numbers"


def _closed(run: Run) -> Iterator[Check]:
    """Check that loops and constraints hold; those that close by contact are none."""
    opened = run.about.opened
    loops = tuple(loop for loop in run.mechanism.loops if loop.name not in opened)
    gaps = ConstraintResiduals(replace(run.mechanism, loops=loops))
    if not gaps.has_rows:
        return
    open_by, slip = np.zeros(len(run.t)), np.zeros(len(run.t))
    for k, (t, q, qd) in enumerate(zip(run.t, run.q, run.qd, strict=True)):
        gaps.t = float(t)
        open_by[k] = np.abs(gaps.at(q)).max(initial=0.0)
        slip[k] = np.abs(gaps.slopes(q) @ qd + gaps.drift(q)).max(initial=0.0)
    word = stabilised(run)
    # A law of rates has the size of the rates that it binds.
    fastest = max(1.0, float(np.abs(run.qd).max(initial=0.0)))
    shares = np.maximum(open_by / max(1.0, gaps.size), slip / fastest)
    shares[np.isnan(shares)] = np.inf
    k, allowed = int(np.argmax(shares)), CLOSED if word == "projection" else DRIFT
    figure = f"open by {open_by[k]:.1e}, rate {slip[k]:.1e} at t = {run.t[k]:.6g} s"
    compared = "gaps of all loops and constraints, and their rates, at all times of output"
    holds: bool | None = bool(shares[k] <= allowed)
    if word == "none":
        holds, figure = None, f"{figure}; nothing was to hold them"
    yield Check(CLOSURE, compared, figure, holds, len(run.t), float(shares[k]), allowed)


def _quaternions(run: Run) -> Check:
    """Check the lengths of quaternions."""
    parts = [run.q[:, part] for part in run.mechanism.quaternions]
    gaps = np.array([np.abs(np.linalg.norm(part, axis=1) - 1.0) for part in parts]).max(axis=0)
    k = int(np.argmax(gaps))
    figure = f"deviation {gaps[k]:.1e} at t = {run.t[k]:.6g} s"
    compared = "all quaternions at all times of output"
    return Check(LENGTH, compared, figure, bool(gaps[k] <= UNIT), len(run.t), float(gaps[k]), UNIT)


# --- derivatives ------------------------------------------------------------------------------


def check_rates(variants: Variants, run: Run) -> Iterator[Check]:
    """Yield the check of derivatives, by differences of a motion that is computed accurately.

    Differences of order 4 are taken at instants away from events. Those are counted whose value
    with half the distance is the same: where a force has a corner there is no derivative.
    """
    spacing = _spacing(run)
    centres = _instants(run, spacing)
    compared = "differences of order 4 of coordinates and rates"
    if not len(centres):
        yield Check(RATES, compared, "events are too close to each other", None)
        return
    steps = spacing * np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
    times = (centres[:, None] + steps).ravel()
    problem = replace(variants.solved(variants.accurate), times=times)
    found = variants.run(problem, "differentiated")
    if len(found.run.t) < len(times):
        yield Check(RATES, compared, found.cut or "an event ends the motion", None)
        return
    shape = (len(centres), len(steps), -1)
    q, qd = (values.reshape(shape) for values in (found.run.q, found.run.qd))
    deviations: list[float] = []
    for states, rates in ((q, _coordinate_rates(run.mechanism, found.run)), (qd, found.run.qdd)):
        middle = rates.reshape(shape)[:, 3]
        # f' = (8 (f(h) - f(-h)) - (f(2 h) - f(-2 h))) / 12 h, with two distances
        wide = (8 * (states[:, 5] - states[:, 1]) - (states[:, 6] - states[:, 0])) / (12 * spacing)
        near = (8 * (states[:, 4] - states[:, 2]) - (states[:, 5] - states[:, 1])) / (6 * spacing)
        scale = float(np.abs(middle).max(initial=0.0)) or 1.0
        is_smooth = np.abs(wide - near).max(axis=1, initial=0.0) <= SMOOTH * scale
        gap = np.abs(near - middle).max(axis=1, initial=0.0) / scale
        deviations += gap[is_smooth].tolist()
    if not deviations:
        yield Check(RATES, compared, "the motion has corners everywhere", None)
        return
    worst = max(deviations)
    figure = f"deviation {worst:.1e} of the largest rate or acceleration"
    holds = bool(worst <= ALLOWED)
    yield Check(RATES, compared, figure, holds, len(deviations), worst, ALLOWED)


def _spacing(run: Run) -> float:
    """Return the distance of the points of a difference (s)."""
    span = run.about.span[1] - run.about.span[0]
    place, rate, change = (largest_of(values) for values in (run.q, run.qd, run.qdd))
    times = [a / b for a, b in ((place, rate), (rate, change)) if a > 0.0 and b > 0.0]
    return float(np.clip(SPACING * min(times, default=span), 1e-6 * span, 1e-3 * span))


def _instants(run: Run, spacing: float) -> Array:
    """Return times that are away from events and from the ends."""
    first, last = run.about.span[0], float(run.t[-1])
    random = np.random.default_rng(0)
    room = 4.0 * spacing
    if last - first <= 2.0 * room:
        return np.zeros(0)
    times = np.sort(random.uniform(first + room, last - room, INSTANTS))
    events = np.array([event.t for event in run.events])
    if len(events):
        times = times[np.abs(times[:, None] - events).min(axis=1) > room]
    return times[np.concatenate([[True], np.diff(times) > 2.0 * room])] if len(times) else times


def _coordinate_rates(mechanism: Mechanism, run: Run) -> Array:
    """Return q' from q and qd, written once more: of quaternions half their product with w."""
    result = np.zeros_like(run.q)
    quaternions = {part.start for part in mechanism.quaternions}
    if not quaternions:
        return run.qd.copy()
    for segment in mechanism.segments:
        first, rate, kind = segment.coordinate, segment.rate, segment.joint.kind
        if first is None or rate is None:
            continue
        if not kind.has_quaternion:
            result[:, first] = run.qd[:, rate]
            continue
        last, end = first + kind.coordinates, rate + kind.rates
        for k, (q, qd) in enumerate(zip(run.q, run.qd, strict=True)):
            x, y, z, w = (float(entry) for entry in q[last - 4 : last])
            a, b, c = (float(entry) / 2 for entry in qd[end - 3 : end])
            result[k, last - 4 : last] = quaternion_product((x, y, z, w), (a, b, c, 0.0))
            if kind is JointKind.FREE:
                turn = np.array(rotation_of_quaternion(x, y, z, w))
                result[k, first : first + 3] = turn @ qd[rate : rate + 3]
    return result
