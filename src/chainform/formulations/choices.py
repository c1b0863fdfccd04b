"""Several ways to build the same equations, the cheapest first.

What is cheapest as it stands need not be cheapest once common parts are taken out. So the ways that
were priced are remembered, and the next best ones can be built as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Axes = frozenset[int]
"""The limbs that are described in the axes before their joint turns."""


class Choices:
    """The choices of axes for each part of a model; `rank` 0 is the cheapest of each."""

    def __init__(self) -> None:
        self.rank = 0
        self._ranked: dict[tuple[str, ...], Sequence[Axes]] = {}

    @property
    def count(self) -> int:
        """How many ways there are, as far as was seen."""
        return max((len(ranked) for ranked in self._ranked.values()), default=1)

    def pick(self, part: tuple[str, ...], ranked: Callable[[], Sequence[Axes]]) -> Axes:
        """Return the axes for a part; the first time, they are ranked."""
        if part not in self._ranked:
            self._ranked[part] = ranked()
        known = self._ranked[part]
        return known[min(self.rank, len(known) - 1)]
