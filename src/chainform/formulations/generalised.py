"""Generalised forces given by laws, Q(q, qd, t): what [[forces]] of a file put on coordinates.

A piece of a force holds for start <= t < until. With step(x) = 1 from x = 0 on, its share is

    Q_i = law step(t - start) (1 - step(t - until))

where a missing start stands for 1 in place of the first step, a missing end for 0 in place of the
second. Parameters may put the end before the start; such a piece never holds. All laws are computed
at all times, so each must have a finite value at any time.
"""

from __future__ import annotations

from chainform.formulations.kinematics import BuilderArithmetic, Kinematics
from chainform.formulations.laws import Laws
from chainform.formulations.motion import is_zero
from chainform.formulations.options import PLAIN, Options
from chainform.formulations.refusals import blamed
from chainform.graph import Builder, Scalar
from chainform.mechanism import Force, ForcePiece, Mechanism, Number


def generalised_forces(
    builder: Builder, mechanism: Mechanism, options: Options = PLAIN
) -> dict[int, Scalar]:
    """Return Q by rate: forces that act on the mechanism like drives."""
    totals: dict[int, Scalar] = {}
    if "forces" in options.without or not mechanism.forces:
        return totals
    laws = Laws(Kinematics(mechanism, builder))
    for force in mechanism.forces:
        with blamed(mechanism, f"force {force.name!r}"):
            value = _force(laws, force)
        totals[force.rate] = totals.get(force.rate, builder.number(0)) + value
    return {rate: value for rate, value in sorted(totals.items()) if not is_zero(value)}


def _force(laws: Laws, force: Force) -> Scalar:
    total = laws.builder.number(0)
    for piece in force.pieces:
        total = total + laws.scalar(piece.law) * _window(laws, piece)
    return total


def _window(laws: Laws, piece: ForcePiece) -> Scalar:
    """Return 1 while the piece holds and 0 at all other times."""
    one, zero = laws.builder.number(1), laws.builder.number(0)
    begun = one if piece.start is None else _step(laws, piece.start)
    over = zero if piece.until is None else _step(laws, piece.until)
    return laws.builder.keep(begun * laws.builder.keep(one - over))


def _step(laws: Laws, time: Number) -> Scalar:
    since = laws.builder.keep(laws.time() - laws.scalar(time))
    return laws.builder.keep(BuilderArithmetic(laws.builder).call("step", [since]))
