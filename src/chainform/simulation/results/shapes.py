"""The arrays of a run from a file: whether they fit together, and to the mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError
from chainform.mechanism import Mechanism
from chainform.simulation.drives.actuator_states import rest_names
from chainform.simulation.results.plain import REMEDY

Array = NDArray[np.float64]

PUSHES = {"contact_force": (), "contact_load": (3,), "contact_wrench": (6,), "friction_force": ()}
"""The shapes of what pushes, by the beginning of a name: contact_load(toe)."""


@dataclass(frozen=True)
class Shapes:
    """What arrays of a mechanism look like that have a row for each of so many times."""

    mechanism: Mechanism
    rows: int

    def check(self, arrays: Mapping[str, Array], outputs: Sequence[str]) -> None:
        """Raise ReadError where an array is missing, or is not what it should be."""
        for name in ("t", "q", "qd", "tau", *outputs):
            if name not in arrays:
                raise _damaged("there are no such numbers", name)
        for name, array in arrays.items():
            if array.shape[:1] != (self.rows,):
                count = array.shape[0] if array.shape else 0
                raise _damaged(f"there are {count} rows, and {self.rows} were written", name)
            wanted = self._shape(name)
            if wanted is not None and array.shape[1:] != wanted:
                raise _damaged(f"it has the shape {array.shape[1:]} in place of {wanted}", name)
        self._check_others(arrays)
        t = arrays["t"]
        if not np.all(np.isfinite(t)) or np.any(np.diff(t) < 0):
            raise _damaged("the times do not grow", "t")

    def _shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of a row; None where it may have any."""
        mechanism = self.mechanism
        nq, nv, nx, nu = mechanism.nq, mechanism.nv, len(mechanism.states), len(mechanism.signals)
        shapes = {"t": (), "energy": (), "q": (nq,), "x": (nx,), "u": (nu,)}
        shapes |= dict.fromkeys(("qd", "qdd", "tau", "drives"), (nv,))
        shapes |= {"reactions": (len(mechanism.segments), 6)}
        return PUSHES.get(name.partition("(")[0], shapes.get(name))

    def _check_others(self, arrays: Mapping[str, Array]) -> None:
        """Check arrays whose length depends on more than the mechanism."""
        least = len(rest_names(self.mechanism))
        for name, fits in (("energy_balance", (0, 2)), ("further", None), ("sigma", None)):
            shape = arrays[name].shape[1:] if name in arrays else None
            if shape is None:
                continue
            is_right = len(shape) == 1 and (fits is None or shape[0] in fits)
            if not is_right or (name == "further" and shape[0] < least):
                raise _damaged(f"it has the shape {shape}", name)


def _damaged(message: str, name: str) -> ReadError:
    return ReadError(message, element=name[:60], remedy=REMEDY)
