"""Closed loops: the closure Jacobian J, and the matrix B of Racković 1996.

The closing body is held to another body, or to the ground, at a point or by a whole frame.
sigma is the force (and, for a frame, the moment) that acts on the closing body there, in
world axes; the opposite acts on the other body. Column i of J is the velocity of the closing
point, and below it the angular velocity of the closing body, per unit rate of coordinate i,
each relative to the other body. Virtual work then gives tau = ... - J^T sigma, so B = -J^T.

Racković 1996 splits the joints of a closed row into a basic and a supplementary set and gives B
the rows of the basic ones only, (1.31); the moment rows have the sign of algorithm 1.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from chainform.errors import DeriveError
from chainform.formulations.shared.outputs import Key, add_to, declare
from chainform.graph import Builder, Scalar
from chainform.mechanism import GROUND, Attachment, Loop, Mechanism
from chainform.spatial import Vector

Columns: TypeAlias = dict[int, tuple[Vector, Vector]]
"""Linear and angular velocity of a point, world axes, for unit rate of each freedom."""

SUPPLEMENTARY = {"frame": 5, "point": 3}
"""How many joints at the end of a closed row are supplementary unless the file says which.

The paper closes a row by one more, fictitious joint and takes six joints away; a point
takes three."""


class Closure:
    """The closure equations of a mechanism's loops.

    `columns_of` gives the velocities of an attachment, by the vectors of some method.
    """

    def __init__(
        self,
        builder: Builder,
        mechanism: Mechanism,
        columns_of: Callable[[str, Attachment], Columns],
    ) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.columns_of = columns_of
        self.sizes = [6 if loop.kind == "frame" else 3 for loop in mechanism.loops]
        self.size = sum(self.sizes)
        self._entries: dict[Key, Scalar] | None = None

    # --- outputs ------------------------------------------------------------------------

    def declare(self, output: str) -> None:
        """Declare the complete closure Jacobian, (rows of all loops, nv), or B, (nv, rows).

        B has the rows of the basic joints.
        """
        self._require_loops(output)
        n = self.mechanism.nv
        if output == "closure":
            declare(self.builder, output, "B", (n, self.size), self._matrix("basic"))
        else:
            declare(self.builder, output, "J", (self.size, n), self._jacobian())

    def forces(self, kind: str) -> dict[int, Scalar]:
        """Return the entries of B sigma by rate; `kind` is "complete" or "basic"."""
        totals: dict[int, Scalar] = {}
        for (i, row), value in sorted(self._matrix(kind).items()):
            sigma = self.builder.input(f"sigma{row + 1}", "sigma", row)
            add_to(totals, i, value * sigma)
        return totals

    def _require_loops(self, output: str) -> None:
        if not self.size:
            raise DeriveError(
                f"{output} needs a closed loop, and the mechanism has none",
                file=self.mechanism.file,
                element=output,
                remedy="describe a loop in [[loops]], or leave this output out",
            )

    # --- entries ------------------------------------------------------------------------

    def _matrix(self, kind: str) -> dict[Key, Scalar]:
        allowed = self._basic_rows() if kind == "basic" else None
        return {
            (i, row): -value
            for (row, i), value in self._jacobian().items()
            if allowed is None or (i, row) in allowed
        }

    def _basic_rows(self) -> set[Key]:
        rows: set[Key] = set()
        start = 0
        for loop, size in zip(self.mechanism.loops, self.sizes, strict=True):
            basic = basic_rates(self.mechanism, loop)
            if not basic:
                raise self._no_basic(loop)
            rows |= {(i, row) for i in basic for row in range(start, start + size)}
            start += size
        return rows

    def _no_basic(self, loop: Loop) -> DeriveError:
        """Return the error for a loop whose reactions would enter no equation at all."""
        return DeriveError(
            "the loop has no basic joints, so no row of the closure matrix",
            file=self.mechanism.file,
            element=f"loop {loop.name!r}",
            remedy='name them in the loop, basic = ["joint"]; or take closure_jacobian and '
            'closure="complete", which need none',
        )

    def _jacobian(self) -> dict[Key, Scalar]:
        """Return the entries of J by row and rate."""
        if self._entries is None:
            found: dict[Key, Scalar] = {}
            row = 0
            loops = zip(self.mechanism.loops, self.sizes, strict=True)
            for number, (loop, size) in enumerate(loops, start=1):
                self._add_end(found, f"closing{number}", loop.closing, row, size, sign=1)
                self._add_end(found, f"target{number}", loop.target, row, size, sign=-1)
                row += size
            name = self.builder.name
            self._entries = {
                (r, i): name(f"J_{r + 1}_{i + 1}", value) for (r, i), value in sorted(found.items())
            }
        return self._entries

    def _add_end(
        self,
        found: dict[Key, Scalar],
        name: str,
        end: Attachment,
        row: int,
        size: int,
        *,
        sign: int,
    ) -> None:
        for i, (linear, angular) in self.columns_of(name, end).items():
            components = linear if size == 3 else (*linear, *angular)
            for index, component in enumerate(components):
                add_to(found, (row + index, i), sign * component)


def has_basic_joints(mechanism: Mechanism) -> bool:
    """Whether every loop has basic joints, without which there is no closure matrix B."""
    return all(basic_rates(mechanism, loop) for loop in mechanism.loops)


def basic_rates(mechanism: Mechanism, loop: Loop) -> tuple[int, ...]:
    """Return the basic freedoms of a loop: those given, else all but the last few of the row."""
    if loop.basic is not None:
        places = {segment.coordinate: segment.rate for segment in mechanism.segments}
        return tuple(rate for i in loop.basic if (rate := places[i]) is not None)
    closing, target = _moving(mechanism, loop.closing), _moving(mechanism, loop.target)
    shared = set(closing) & set(target)
    row = [i for i in (*closing, *reversed(target)) if i not in shared]
    rates: list[int] = []
    for i in row:
        segment = mechanism.segments[i]
        first = segment.rate or 0
        rates += [first + k for k in range(segment.joint.kind.rates)]
    return tuple(rates[: max(0, len(rates) - SUPPLEMENTARY[loop.kind])])


def _moving(mechanism: Mechanism, end: Attachment) -> list[int]:
    path = () if end.segment == GROUND else mechanism.path_to(end.segment)
    return [i for i in path if mechanism.segments[i].rate is not None]
