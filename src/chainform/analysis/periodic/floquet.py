"""Floquet multipliers of a periodic motion, and what they say about its stability.

symbol   meaning
M        transition of deviations over a period
mu       its eigenvalues, the multipliers; log(mu)/T are their exponents
V        deviations that come back as they are, M V = V: along the motion, along free coordinates

Multipliers 1 of V are known exactly. The others are the eigenvalues of M on what is perpendicular
to V, where those of a family are single and so accurate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.oscillations.eigenmodes import eigenvalues
from chainform.given import counted

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
PHASE = "phase"
ENERGY = "energy"
FAMILY = 1e-6
"""How near a multiplier of a family is to 1, if nothing larger follows from its error."""
LEAST = 1e-9
"""The least error of a multiplier that is assumed."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Multipliers by size, the known ones first: `names` says why these are 1, "" for others.

    `errors` are estimates. `stable` is 1 for an asymptotically stable motion (up to what the names
    say), 0 for an unstable one, -1 where multipliers on the unit circle leave it open.
    """

    values: Complex
    errors: Array
    names: tuple[str, ...]
    period: float

    @property
    def exponents(self) -> Complex:
        """log(mu)/T, 1/s; of multipliers that are zero, minus infinity is written as -1e300."""
        sizes = np.maximum(np.abs(self.values), 1e-300)
        return np.log(sizes) / self.period + 1j * np.angle(self.values) / self.period

    @property
    def others(self) -> Complex:
        """The multipliers that have no name."""
        return self.values[[not name for name in self.names]]

    @property
    def growth(self) -> float:
        """The largest real part of the exponents that have no name, 1/s; 0 where there are none."""
        sizes = np.abs(self.others)
        return float(np.log(max(np.max(sizes), 1e-300)) / self.period) if len(sizes) else 0.0

    @property
    def margin(self) -> float:
        """How far the largest multiplier without a name is outside of the unit circle."""
        sizes = np.abs(self.others)
        return float(np.max(sizes)) - 1.0 if len(sizes) else 0.0

    @property
    def error(self) -> float:
        """The largest estimate of an error."""
        return float(np.max(self.errors, initial=0.0))

    @property
    def stable(self) -> int:
        """1, 0, or -1 where it is open."""
        apart = np.abs(self.others) - 1.0
        errors = self.errors[[not name for name in self.names]]
        if np.any(apart > errors):
            return 0
        return 1 if np.all(apart < -errors) else -1

    def report(self) -> list[str]:
        """Return what the multipliers say, in words."""
        known = [name for name in self.names if name]
        reasons = (WHY.get(name, COORDINATE).format(name=name) for name in dict.fromkeys(known))
        lines = [f"multiplier 1: {reason}" for reason in reasons]
        inside, outside, on = self._counts()
        words = [(outside, "outside of"), (on, "on"), (inside, "inside")]
        parts = [f"{number} {word}" for number, word in words if number]
        rest = counted(len(self.others), "multiplier")
        if known:
            rest = rest.replace("multiplier", "other multiplier")
        if parts:
            lines.append(f"{rest}: {', '.join(parts)} the unit circle")
        return [*lines, self._verdict(bool(known))]

    def _counts(self) -> tuple[int, int, int]:
        apart = np.abs(self.others) - 1.0
        errors = self.errors[[not name for name in self.names]]
        outside, inside = int(np.sum(apart > errors)), int(np.sum(apart < -errors))
        return inside, outside, len(apart) - inside - outside

    def _verdict(self, has_known: bool) -> str:
        if self.stable == 0:
            return f"unstable: deviations grow by {self.growth:.6g} 1/s"
        if self.stable < 0:
            return (
                "open whether it is stable: of multipliers on the unit circle, within their "
                "errors, the linear equations do not decide"
            )
        if not len(self.values):
            return "stable: loops, constraints and contacts leave no deviations"
        if not has_known:
            return f"stable: deviations fade by {-self.growth:.6g} 1/s"
        if ENERGY in self.names:
            return "stable within its family: neighbours are periodic motions of other energies"
        if len(self.others) == 0:
            return "stable: neighbours follow the same motion"
        return f"orbitally stable: other deviations fade by {-self.growth:.6g} 1/s"


WHY = {
    PHASE: "the motion may begin sooner or later, as nothing names the time",
    ENERGY: "energy is conserved, and there is a periodic motion for each of its values near by",
}
COORDINATE = "nothing depends on where {name} is"


def multipliers_of(
    M: Array,
    period: float,
    known: Sequence[tuple[str, Array]],
    gradient: Array | None,
    accuracy: float,
) -> Multipliers:
    """Return the multipliers of a transition M of deviations that are free.

    `known` are deviations that come back, with their names; `gradient` is that of the energy where
    it is conserved; `accuracy` is the error of M against its largest entries.
    """
    n = len(M)
    V = np.array([vector for _, vector in known]).reshape(len(known), n).T
    frame = np.linalg.qr(V, mode="complete")[0] if len(known) else np.eye(n)
    rest = frame[:, len(known) :]
    reduced = rest.T @ M @ rest
    values, _, errors = eigenvalues(reduced, accuracy * float(np.linalg.norm(M, 2)))
    errors = np.maximum(errors, LEAST)
    names = [""] * len(values)
    if gradient is not None and _is_conserved(M, gradient, accuracy):
        near = int(np.argmin(np.abs(values - 1.0))) if len(values) else -1
        if near >= 0 and abs(values[near] - 1.0) < max(FAMILY, errors[near]):
            names[near], values[near], errors[near] = ENERGY, 1.0, 0.0
    unnamed = np.array([not name for name in names], dtype=np.float64)
    order: list[int] = np.lexsort(np.stack([values.imag, -np.abs(values), unnamed])).tolist()
    return Multipliers(
        np.append(np.ones(len(known), np.complex128), values[order]),
        np.append(np.zeros(len(known)), errors[order]),
        (*(name for name, _ in known), *(names[k] for k in order)),
        period,
    )


def _is_conserved(M: Array, gradient: Array, accuracy: float) -> bool:
    """Tell whether a linear function of deviations is the same after a period."""
    size = float(np.linalg.norm(gradient))
    left = float(np.linalg.norm(gradient @ M - gradient))
    return size > 0 and left < size * max(FAMILY, 1e3 * accuracy * float(np.linalg.norm(M, 2)))
