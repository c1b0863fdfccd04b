"""Closed loops: the closure Jacobian J, and the matrix B of Racković 1996.

The closing body is held to another body, or to the ground, as by a joint: see loop_rows.py.
sigma are the forces and moments that act on the closing body, along the directions of the rows; the
opposite acts on the other body. For points and frames they are force, and moment, in world axes.
Column i of J is the velocity of the closing point along these directions, and below it the angular
velocity of the closing body about them, per unit rate of coordinate i, each relative to the other
body. Virtual work then gives tau = ... - J^T sigma, so B = -J^T.

Racković 1996 splits the joints of a closed row into a basic and a supplementary set and gives B
the rows of the basic ones only, (1.31); the moment rows have the sign of algorithm 1.3.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from chainform.errors import DeriveError
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.loop_rows import LoopGeometry
from chainform.formulations.shared.outputs import Key, add_to, declare
from chainform.formulations.shared.tree import Skeleton
from chainform.formulations.shared.world import Columns, World
from chainform.graph import Builder, Scalar
from chainform.mechanism import GROUND, Attachment, Loop, Mechanism
from chainform.spatial import dot

SUPPLEMENTARY = 5
"""How many joints at the end of a closed row are supplementary at most, unless the file says which.

The paper closes a row by one more, fictitious joint and takes six joints away; a loop of fewer
equations takes as many joints as it has."""


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
        self.sizes = [loop.equations for loop in mechanism.loops]
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
                wrenches = LoopGeometry(self._world, loop).wrenches()
                closing = self.columns_of(f"closing{number}", loop.closing)
                target = self.columns_of(f"target{number}", loop.target)
                for r, wrench in enumerate(wrenches, start=row):
                    for i, (linear, angular) in closing.items():
                        power = dot(wrench.force, linear) + dot(wrench.moment, angular)
                        add_to(found, (r, i), power)
                    for i, (linear, angular) in target.items():
                        power = dot(wrench.force, linear) + dot(wrench.back, angular)
                        add_to(found, (r, i), -power)
                row += size
            name = self.builder.name
            self._entries = {
                (r, i): name(f"J_{r + 1}_{i + 1}", value) for (r, i), value in sorted(found.items())
            }
        return self._entries

    @cached_property
    def _world(self) -> World:
        """Positions and directions of the ends, whatever the method."""
        return World(Skeleton(Kinematics(self.mechanism, self.builder)))


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
    return tuple(rates[: max(0, len(rates) - min(SUPPLEMENTARY, loop.equations))])


def _moving(mechanism: Mechanism, end: Attachment) -> list[int]:
    path = () if end.segment == GROUND else mechanism.path_to(end.segment)
    return [i for i in path if mechanism.segments[i].rate is not None]
