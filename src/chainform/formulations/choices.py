"""Several ways to build the same equations, the cheapest first.

What is cheapest as it stands need not be cheapest once common parts are taken out. So the ways that
were priced are remembered, and the next best ones can be built as well. What is remembered depends
on nothing but the mechanism, the method and its outputs, and these three are the key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chainform.mechanism import Mechanism

Axes = frozenset[int]
"""The limbs that are described in the axes before their joint turns."""


class Choices:
    """The choices of axes of mechanisms, for each method and its outputs, the cheapest first."""

    def __init__(self) -> None:
        self._ranked: dict[tuple[Mechanism, tuple[str, ...]], Sequence[Axes]] = {}

    def count(self, mechanism: Mechanism) -> int:
        """Return how many ways there are for a mechanism, as far as was seen."""
        own = (ranked for (other, _), ranked in self._ranked.items() if other == mechanism)
        return max(map(len, own), default=1)

    def ranked(
        self, mechanism: Mechanism, part: tuple[str, ...], rank: Callable[[], Sequence[Axes]]
    ) -> Sequence[Axes]:
        """Return the axes for a method and outputs, `part`; the first time, they are ranked."""
        key = (mechanism, part)
        if key not in self._ranked:
            self._ranked[key] = rank()
        return self._ranked[key]
