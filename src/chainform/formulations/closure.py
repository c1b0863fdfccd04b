"""Closed loops: the closure Jacobian J, and the matrix B of paper 000.

The closing body is held to another body, or to the ground, at a point or by a whole frame.
sigma is the force (and, for a frame, the moment) that acts on the closing body there, in
world axes; the opposite acts on the other body. Column i of J is the velocity of the closing
point, and below it the angular velocity of the closing body, per unit rate of coordinate i,
each relative to the other body. Virtual work then gives tau = ... - J^T sigma, so B = -J^T.

Paper 000 splits the joints of a closed row into a basic and a supplementary set and gives B
the rows of the basic ones only, (1.31); the moment rows have the sign of algorithm 1.3.
"""

from __future__ import annotations

from chainform.errors import DeriveError
from chainform.formulations.kinematics import Kinematics
from chainform.graph import Scalar
from chainform.mechanism import GROUND, Attachment, Loop
from chainform.spatial import Vector, cross

SUPPLEMENTARY = {"frame": 5, "point": 3}
"""How many joints at the end of a closed row are supplementary unless the file says which.

The paper closes a row by one more, fictitious joint and takes six joints away; a point
takes three."""


class Closure:
    """The closure equations of a mechanism's loops; `kind` is "complete" or "basic"."""

    def __init__(self, kinematics: Kinematics, kind: str) -> None:
        self.kinematics = kinematics
        self.builder = kinematics.builder
        self.kind = kind
        self.columns: dict[tuple[int, int], Scalar] | None = None
        loops = kinematics.mechanism.loops
        self.sizes = [6 if loop.kind == "frame" else 3 for loop in loops]
        self.size = sum(self.sizes)

    # --- outputs ------------------------------------------------------------------------

    def build_jacobian(self) -> None:
        """Make the complete closure Jacobian, (rows of all loops, n)."""
        self._require_loops("closure_jacobian")
        entries = self._jacobian()
        n, zero = self.kinematics.mechanism.nv, self.builder.number(0)
        self.builder.output(
            "closure_jacobian",
            (self.size, n),
            [
                (f"J_{row + 1}_{i + 1}", entries.get((row, i), zero))
                for row in range(self.size)
                for i in range(n)
            ],
        )

    def build_matrix(self) -> None:
        """Make B, (n, rows of all loops), with the rows of the basic joints."""
        self._require_loops("closure")
        entries = self._matrix("basic")
        n, zero = self.kinematics.mechanism.nv, self.builder.number(0)
        self.builder.output(
            "closure",
            (n, self.size),
            [
                (f"B_{i + 1}_{row + 1}", entries.get((i, row), zero))
                for i in range(n)
                for row in range(self.size)
            ],
        )

    def forces(self) -> dict[int, Scalar]:
        """Return the entries of B sigma by coordinate; none without loops."""
        totals: dict[int, Scalar] = {}
        if not self.size:
            return totals
        for (i, row), value in sorted(self._matrix(self.kind).items()):
            sigma = self.builder.input(f"sigma{row + 1}", "sigma", row)
            totals[i] = totals[i] + value * sigma if i in totals else value * sigma
        return totals

    def _require_loops(self, output: str) -> None:
        if not self.size:
            raise DeriveError(
                f"{output} was asked for, but the mechanism has no closed loop",
                file=self.kinematics.mechanism.file,
                element=output,
                remedy="describe a loop in [[loops]], or leave this output out",
            )

    # --- entries ------------------------------------------------------------------------

    def _matrix(self, kind: str) -> dict[tuple[int, int], Scalar]:
        allowed = self._basic_rows() if kind == "basic" else None
        return {
            (i, row): -value
            for (row, i), value in self._jacobian().items()
            if allowed is None or (i, row) in allowed
        }

    def _basic_rows(self) -> set[tuple[int, int]]:
        rows: set[tuple[int, int]] = set()
        start = 0
        for loop, size in zip(self.kinematics.mechanism.loops, self.sizes, strict=True):
            basic = self.basic_coordinates(loop)
            rows |= {(i, row) for i in basic for row in range(start, start + size)}
            start += size
        return rows

    def basic_coordinates(self, loop: Loop) -> tuple[int, ...]:
        """Return the basic coordinates of a loop: those given, else all but the last few."""
        if loop.basic is not None:
            return loop.basic
        chain = [*self._chain(loop.closing), *reversed(self._chain(loop.target))]
        shared = set(self._chain(loop.closing)) & set(self._chain(loop.target))
        own = [i for i in chain if i not in shared]
        coordinates = [self._coordinate(i) for i in own]
        return tuple(coordinates[: max(0, len(own) - SUPPLEMENTARY[loop.kind])])

    def _chain(self, end: Attachment) -> tuple[int, ...]:
        return () if end.segment == GROUND else self.kinematics.moving_path(end.segment)

    def _coordinate(self, i: int) -> int:
        coordinate = self.kinematics.segment(i).coordinate
        assert coordinate is not None
        return coordinate

    def _jacobian(self) -> dict[tuple[int, int], Scalar]:
        """Return the entries of J by row and coordinate."""
        if self.columns is None:
            self.columns = {}
            row = 0
            loops = self.kinematics.mechanism.loops
            for number, (loop, size) in enumerate(zip(loops, self.sizes, strict=True), start=1):
                self._add_end(f"closing{number}", loop.closing, row, size, sign=1)
                self._add_end(f"target{number}", loop.target, row, size, sign=-1)
                row += size
            named = sorted(self.columns.items())
            self.columns = {
                (r, i): self.builder.name(f"J_{r + 1}_{i + 1}", value) for (r, i), value in named
            }
        return self.columns

    def _add_end(self, name: str, end: Attachment, row: int, size: int, *, sign: int) -> None:
        assert self.columns is not None
        for i in self._chain(end):
            linear, angular = self._column(name, end, i)
            components = linear if size == 3 else (*linear, *angular)
            for place, component in enumerate(components):
                key = (row + place, self._coordinate(i))
                before = self.columns.get(key, self.builder.number(0))
                self.columns[key] = before + sign * self.kinematics.segment(i).ratio * component

    def _column(self, name: str, end: Attachment, i: int) -> tuple[Vector, Vector]:
        axis = self.kinematics.axis(i)
        if not self.kinematics.is_revolute(i):
            zero = self.builder.number(0)
            return axis, (zero, zero, zero)
        point = self.kinematics.vector(end.point)
        offset = self.kinematics.offset_of_point(name, end.segment, point, i)
        return cross(axis, offset), axis
