"""NumPy: functions of arrays with any leading dimensions."""

from __future__ import annotations

from chainform.emitters.languages.python_module import ArrayLibrary, array_files
from chainform.emitters.package import Package

HELPERS = '''
from collections import namedtuple

import numpy as np


def _arguments(**given):
    """Return the leading dimensions of all arguments together, and the arguments as arrays."""
    arrays = []
    for name, (values, length) in given.items():
        array = np.asarray(values)
        if array.ndim == 0 or array.shape[-1] != length:
            raise ValueError(f"{name} has the shape (..., {length}), not {array.shape}")
        arrays.append(array.astype(np.$real, casting="same_kind", copy=False))
    return np.broadcast_shapes(*(array.shape[:-1] for array in arrays)), *arrays


def _result(shape, batch, entries):
    """Return entries, by rows, as an array of a shape, for each state of a batch."""
    result = np.empty((*batch, len(entries)), dtype=np.$real)
    for index, entry in enumerate(entries):
        result[..., index] = entry
    return result.reshape((*batch, *shape))
'''
WAYS = """
def computed(function, *arguments):
    \"""Return the entries of each result: for one state, or for rows of states.\"""
    found = function(*(np.array(a, dtype=np.$real) for a in arguments))
    return [np.ravel(r).tolist() for r in (found if isinstance(found, tuple) else (found,))]


WAYS = (one_by_one, computed)
"""
LIBRARY = ArrayLibrary(
    "np",
    (
        "The functions need NumPy only. Arguments have any leading dimensions, which broadcast:",
        "q (..., n) gives results (..., shape). The function of all outputs returns a named tuple.",
    ),
    HELPERS,
    "import numpy as np\n",
    "np.array({0}, dtype=np.$real)",
    WAYS,
)


def emit(package: Package) -> dict[str, str]:
    """Return the files of a folder, the source first."""
    return array_files(package, LIBRARY)
