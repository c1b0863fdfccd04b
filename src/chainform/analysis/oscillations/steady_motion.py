"""Equilibria and steady motions: states about which small motions have constant equations.

In a steady motion coordinates change at constant rates, and the equations of small motions do not
depend on them, as on the turn of a wheel or the place of a bicycle. Whether that is so is tried:
the equations are taken at some other instants of the motion, and must be the same there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.implicit_equations import ImplicitEquations
from chainform.analysis.linear.linear_variables import operating_point
from chainform.analysis.linear.small_motion import SmallMotion
from chainform.analysis.results.displacement import displaced
from chainform.errors import RunError

Array = NDArray[np.float64]
AHEAD = (0.37, -1.23, 2.9)
"""How far along a motion its equations are taken again: rad, or parts of the fastest rate."""
SAME = 1e-8
"""Entries that differ by less, against the largest, are the same."""


def steady_motion(
    equations: ImplicitEquations,
    state: Mapping[str, Any],
    inputs: Sequence[str] | None = None,
    independent: Sequence[str] | None = None,
    outputs: Sequence[str] = (),
) -> SmallMotion:
    """Return the small motion about a state; RunError where that is no steady one.

    With inputs and outputs it must be steady for these as well.
    """
    point = operating_point(equations, state)
    motion = SmallMotion(equations, point, inputs, independent)
    check_steady(motion, outputs, with_inputs=inputs is not None)
    return motion


def check_steady(
    motion: SmallMotion, outputs: Sequence[str] = (), *, with_inputs: bool = False
) -> None:
    """Refuse a state that is neither an equilibrium nor part of a steady motion."""
    count, mechanism = len(motion.independent.places), motion.mechanism
    if not motion.states:
        raise RunError(
            "the mechanism cannot move: loops and constraints leave no freedom",
            file=mechanism.file,
            element="state",
            remedy="check its loops and constraints: chainform.simulation.mobility shows the ranks",
        )
    left = np.abs(motion.drift[count:])
    worst = int(np.argmax(left)) if left.size else 0
    if left.size and not left[worst] <= motion.tolerance:
        name = motion.states[count + worst]
        raise RunError(
            f"the state is no equilibrium and no steady motion: d({name})/dt is "
            f"{motion.drift[count + worst]:.6g}",
            file=mechanism.file,
            element="state",
            remedy="cf.equilibria finds equilibria; tau from inverse dynamics holds a pose",
        )
    if not np.any(np.abs(motion.point["qd"]) > 0) and not motion.depends_on_time:
        return
    for ahead in AHEAD:
        _check_same(motion, ahead, outputs if with_inputs else None)


def _measured(motion: SmallMotion, outputs: Sequence[str] | None) -> Array:
    """Return all that must stay the same: the drift, A, and with outputs B, C and D, too."""
    if outputs is None:
        return np.column_stack([motion.drift, motion.rates[:, : len(motion.states)]])
    rows = motion.outputs(outputs).rows
    still = np.concatenate([motion.drift, np.zeros(len(rows))])
    return np.column_stack([still, np.concatenate([motion.rates, rows])])


def _check_same(motion: SmallMotion, ahead: float, outputs: Sequence[str] | None) -> None:
    """Refuse a motion whose equations are others further along it."""
    point, mechanism = motion.point, motion.mechanism
    fastest = float(np.max(np.abs(point["qd"]), initial=0.0))
    time = ahead / (fastest or 1.0)
    q = displaced(mechanism, point["q"][None], time * point["qd"][None])[0]
    further = {**point, "q": q, "t": point["t"] + time}
    try:
        other = SmallMotion(motion.equations, further, motion.wanted, motion.named)
    except RunError:
        is_same = False
    else:
        own, there = (_measured(each, outputs) for each in (motion, other))
        limit = SAME * (1e-3 + np.max(np.abs(own), initial=0.0))
        is_same = motion.states == other.states and bool(np.all(np.abs(own - there) <= limit))
    if not is_same:
        on_time = motion.depends_on_time and fastest == 0.0
        moving = [n for n, v in zip(mechanism.rates, point["qd"], strict=True) if v]
        what = "laws of time" if on_time else f"the rates of {', '.join(moving[:4])}"
        raise RunError(
            f"the state is no steady motion: with {what} the equations of small motions change",
            file=mechanism.file,
            element="state",
            remedy="take coordinates on which they do not depend, or an equilibrium",
        )
