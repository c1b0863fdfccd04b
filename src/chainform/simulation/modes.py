"""How many rows of constraints of each sort there are, in the order in which they stand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sorts:
    """Numbers of rows that always hold, of gaps, of contacts with friction, of joints with it.

    The `gripping` contacts are the first gaps; each has two rows more, of its plane. `stiff`
    contacts have no rows, but a gap that is watched.
    """

    always: int = 0
    touching: int = 0
    gripping: int = 0
    sticking: int = 0
    stiff: int = 0

    @property
    def beside(self) -> int:
        """The number of rows in planes of contact."""
        return 2 * self.gripping

    @property
    def rows(self) -> int:
        """The number of all rows."""
        return self.always + self.touching + self.beside + self.sticking

    @property
    def watched(self) -> int:
        """How many functions end the present state of affairs when they fall through zero."""
        return self.touching + self.beside + self.sticking + self.stiff

    @property
    def first_beside(self) -> int:
        """The first row in a plane of contact."""
        return self.always + self.touching

    @property
    def first_sticking(self) -> int:
        """The first row of a joint that may stick."""
        return self.always + self.touching + self.beside

    @property
    def given(self) -> int:
        """How many numbers of the present state of affairs enter the equations.

        They are the directions of sliding joints, where contacts are held in their planes, and
        three numbers for each of these that tell its axes (contact/planes.py).
        """
        return self.sticking + self.beside + 3 * self.gripping
