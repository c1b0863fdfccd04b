"""What an adjoint is taken of: a law at the end of a motion, an integral along it, or their sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chainform.display import Displayed
from chainform.given import argument
from chainform.mechanism import Mechanism, Number, law_reader

REMEDY = 'write objective="(x - 1)^2", a law at the end, or {"integral": "der(x)^2"}'


@dataclass(frozen=True)
class Objective(Displayed):
    """J = end(q, qd, t) at the end + the integral of a law from the start to the end.

    Laws name coordinates, their rates, the time, parameters and coordinates of frames.
    """

    end: Number | None = None
    integral: Number | None = None


NO_OBJECTIVE = Objective()


def objective_of(mechanism: Mechanism, given: Any) -> Objective:
    """Return a checked objective: a law at the end, or a table with `end` and `integral`."""
    if given is None:
        return NO_OBJECTIVE
    entry, laws = argument("objective", given), law_reader(mechanism)
    if not entry.is_table:
        return Objective(end=laws.law(entry))
    table = entry.table(("end", "integral"), REMEDY)
    if not any(one.is_given for one in (table["end"], table["integral"])):
        raise entry.error("it names no law", REMEDY)
    found = {n: laws.law(table[n]) for n in ("end", "integral") if table[n].is_given}
    return Objective(**found)
