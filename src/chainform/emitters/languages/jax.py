"""JAX: pure functions of arrays, for jit, vmap and grad."""

from __future__ import annotations

from chainform.emitters.languages.python_module import ArrayLibrary, array_files
from chainform.emitters.package import Package

NOTES = (
    "The functions are pure, for jax.jit, jax.vmap and jax.grad. Arguments have any leading",
    "dimensions, which broadcast: q (..., n) gives results (..., shape). The function of all",
    "outputs returns a named tuple.",
)
DOUBLE = (
    "They compute in double precision, which a program has to ask for before it makes any array:",
    '    jax.config.update("jax_enable_x64", True)',
)
CHECK = """
    if not jax.config.jax_enable_x64:
        raise RuntimeError('first say jax.config.update("jax_enable_x64", True)')"""
HELPERS = '''
from collections import namedtuple

import jax
import jax.numpy as jnp


def _arguments(**given):
    """Return the leading dimensions of all arguments together, and the arguments as arrays."""CHECK
    arrays = []
    for name, (values, length) in given.items():
        array = jnp.asarray(values)
        if array.ndim == 0 or array.shape[-1] != length:
            raise ValueError(f"{name} has the shape (..., {length}), not {array.shape}")
        if jnp.iscomplexobj(array):
            raise TypeError(f"{name} is real, not {array.dtype}")
        arrays.append(array.astype(jnp.$real))
    return jnp.broadcast_shapes(*(array.shape[:-1] for array in arrays)), *arrays


def _result(shape, batch, entries):
    """Return entries, by rows, as an array of a shape, for each state of a batch."""
    if not entries:
        return jnp.zeros((*batch, *shape), dtype=jnp.$real)
    # Equal entries are taken once: XLA compiles faster.
    places = {key: place for place, key in enumerate(dict.fromkeys(map(id, entries)))}
    different = {id(entry): jnp.asarray(entry, dtype=jnp.$real) for entry in entries}
    stack = jnp.stack([jnp.broadcast_to(different[key], batch) for key in places], axis=-1)
    index = jnp.array([places[id(entry)] for entry in entries])
    return jnp.take(stack, index, axis=-1, mode="clip").reshape((*batch, *shape))
'''
WAYS = """
def computed(function, *arguments):
    \"""Return the entries of each result: for one state, or for rows of states.\"""
    found = function(*(jnp.array(a, dtype=jnp.$real) for a in arguments))
    return [jnp.ravel(r).tolist() for r in (found if isinstance(found, tuple) else (found,))]


def compiled(function, *arguments):
    \"""Return the results of all states from a compiled function, one after the other.\"""
    return one_by_one(jax.jit(function), *arguments)


def mapped(function, *arguments):
    \"""Return the results of all states from a function of one state.\"""
    return computed(jax.vmap(function), *arguments)


WAYS = (compiled, computed, mapped)
"""


def emit(package: Package) -> dict[str, str]:
    """Return the files of a folder, the source first."""
    is_double = not package.is_single
    switch = '\njax.config.update("jax_enable_x64", True)\n' if is_double else ""
    library = ArrayLibrary(
        "jnp",
        (*NOTES, *DOUBLE) if is_double else NOTES,
        HELPERS.replace("CHECK", CHECK if is_double else ""),
        "import jax\nimport jax.numpy as jnp\n",
        "jnp.array({0}, dtype=jnp.$real)",
        WAYS,
        start=switch,
    )
    return array_files(package, library)
