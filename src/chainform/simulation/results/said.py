"""Plain data from a file, read with care: what is not as it should be is named and refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError
from chainform.mechanism.tables import kind_of
from chainform.simulation.results.plain import REMEDY

Array = NDArray[np.float64]

LONGEST = 1000
"""The most characters of a name; those of events have names of joints in them."""


@dataclass(frozen=True)
class Said:
    """A table of plain data, and where it stands."""

    data: Mapping[str, Any]
    where: str = ""

    def error(self, message: str, key: str = "") -> ReadError:
        """Return the error for an entry."""
        return ReadError(message, element=self._place(key) or None, remedy=REMEDY)

    def _place(self, key: str) -> str:
        return ", ".join(part for part in (self.where, key[:60]) if part)

    def entry(self, key: str) -> Any:
        """Return an entry that must be there."""
        if key not in self.data:
            raise self.error("it is missing", key)
        return self.data[key]

    def table(self, key: str) -> Said:
        """Return a table."""
        value = self.entry(key)
        if not isinstance(value, Mapping):
            raise self.error(f"expected a table, got {kind_of(value)}", key)
        return Said(cast("Mapping[str, Any]", value), self._place(key))

    def entries(self, key: str) -> list[Any]:
        """Return a list."""
        value = self.entry(key)
        if not isinstance(value, list):
            raise self.error(f"expected a list, got {kind_of(value)}", key)
        return cast("list[Any]", value)

    def tables(self, key: str) -> list[Said]:
        """Return the tables in a list."""
        listed = Said(
            {f"{key}[{k}]": one for k, one in enumerate(self.entries(key), 1)}, self.where
        )
        return [listed.table(one) for one in listed.data]

    def number(self, key: str) -> float:
        """Return a finite number."""
        value = self.entry(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"expected a number, got {kind_of(value)}", key)
        if not isfinite(_double(value)):
            raise self.error("the number is not finite", key)
        return _double(value)

    def whole(self, key: str) -> int:
        """Return a whole number from zero on."""
        number = self.number(key)
        if not number.is_integer() or not 0 <= number < 2**53:
            raise self.error("expected a whole number from 0 on", key)
        return int(number)

    def text(self, key: str) -> str:
        """Return a text."""
        value = self.entry(key)
        if not isinstance(value, str):
            raise self.error(f"expected a text, got {kind_of(value)}", key)
        return value

    def name(self, key: str) -> str:
        """Return a text that can be shown."""
        text = self.text(key)
        if not text.isprintable() or not 0 < len(text) <= LONGEST:
            raise self.error(f"{text[:40]!r} is no name", key)
        return text

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts in a list."""
        listed = Said(
            {f"{key}[{k}]": one for k, one in enumerate(self.entries(key), 1)}, self.where
        )
        return tuple(listed.text(one) for one in listed.data)

    def numbers(self, key: str, count: int | None = None) -> Array:
        """Return the numbers in a list, as `plain_numbers` wrote them, perhaps so many."""
        listed = self.entries(key)
        if count is not None and len(listed) != count:
            raise self.error(f"expected {count} numbers, got {len(listed)}", key)
        for value in listed:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number and value not in ("nan", "inf", "-inf"):
                raise self.error(f"expected numbers, got {kind_of(value)}", key)
        return np.array([_double(value) for value in listed], dtype=np.float64)

    def finite(self, key: str, count: int | None = None) -> Array:
        """Return finite numbers, perhaps so many."""
        found = self.numbers(key, count)
        if not np.all(np.isfinite(found)):
            raise self.error("the numbers are not finite", key)
        return found


def _double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")
