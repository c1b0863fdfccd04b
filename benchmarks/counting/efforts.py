"""Derive with each effort of reduction, take the time, verify, and count the emitted program."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import chainform as cf
from chainform.emitters.python_operation_count import count_python
from chainform.graph import Cost
from counting.verification import verify

OF_REDUCTION = frozenset(inspect.signature(cf.Model.reduce).parameters)
"""The options of a reduction; all others are those of derive."""


@dataclass(frozen=True)
class Counted:
    """A verified model and what its program costs."""

    model: cf.Model
    cost: Cost
    seconds: float

    @property
    def short(self) -> str:
        """Multiplications and additions."""
        return f"{self.cost.multiplications}/{self.cost.additions}"

    @property
    def text(self) -> str:
        """All columns, and the time to derive."""
        c = self.cost
        others = f"{c.sin} sin {c.cos} cos"
        others += f" {c.angle_sums} angle sums" if c.angle_sums else ""
        others += f" {c.calls} calls" if c.calls else ""
        return f"{self.short}, {others}, {self.seconds:.2f} s"


def count(
    mechanism: cf.Mechanism, outputs: Sequence[str], effort: str, **options: Any
) -> Counted | None:
    """Return the count of the program that an effort gives, None where there is no such effort.

    Options that are None are left out. So is friction, which the peers do not count.
    """
    given = {k: v for k, v in options.items() if v is not None}
    reducing = {k: given.pop(k) for k in OF_REDUCTION & given.keys()}
    given.setdefault("without", ("friction",))
    start = perf_counter()
    try:
        model = cf.derive(mechanism, list(outputs), **given).reduce(effort, **reducing)
    except cf.Error as refusal:
        if refusal.element != "reduce":
            raise
        return None
    seconds = perf_counter() - start
    verify(model)
    return Counted(model, count_python(model.emit("python")).each, seconds)


def text_of(counted: Counted | None) -> str:
    """Return the cell of a table."""
    return "-" if counted is None else counted.text
