"""Pinocchio's own derivatives, in two builds of pinocchio.cpp; the faster one counts."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

from speed_peers import pinocchio_cpp
from speed_peers.build import Workshop
from speed_peers.cases import Case
from speed_peers.measure import Competitor

from derivative_peers.quantities import BlockOrder

TITLE = pinocchio_cpp.TITLE
BUILDS = tuple(pinocchio_cpp.BUILDS)
SOURCE = Path(__file__).parent / "pinocchio.cpp"


def competitors(
    workshop: Workshop, case: Case, function: str, builds: Sequence[str]
) -> list[Competitor]:
    """Return the function of one state, of each build."""
    order = BlockOrder(case.order.q, case.order.v, by_columns=True)
    found: list[Competitor] = []
    for build in builds:
        library = pinocchio_cpp.library(workshop, build, "pinocchio_derivatives", SOURCE)
        loaded = pinocchio_cpp.choose(workshop, case, library)
        address = ctypes.cast(getattr(loaded, function), ctypes.c_void_p).value
        assert address
        found.append(Competitor(TITLE, build, address, order, keep=loaded))
    return found
