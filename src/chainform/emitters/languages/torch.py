"""PyTorch: functions of tensors with any leading dimensions, differentiable."""

from __future__ import annotations

from chainform.emitters.languages.python_module import ArrayLibrary, array_files
from chainform.emitters.package import Package

HELPERS = '''
from collections import namedtuple

import torch


def _arguments(**given):
    """Return zeros for a state or a batch of states, and the arguments as tensors of one kind."""
    tensors = [torch.as_tensor(values) for values, _ in given.values()]
    for (name, (_, length)), tensor in zip(given.items(), tensors):
        if tensor.ndim == 0 or tensor.shape[-1] != length:
            raise ValueError(f"{name} has the shape (..., {length}), not {tuple(tensor.shape)}")
        if not tensor.is_floating_point():
            raise TypeError(f"{name} is a tensor of floating-point numbers, not {tensor.dtype}")
    kind = tensors[0].dtype if tensors else torch.get_default_dtype()
    for tensor in tensors:
        kind = torch.promote_types(kind, tensor.dtype)
    shape = torch.broadcast_shapes(*(tensor.shape[:-1] for tensor in tensors))
    zeros = torch.zeros(shape, dtype=kind, device=tensors[0].device if tensors else None)
    return zeros, *(tensor.to(kind) for tensor in tensors)


def _sign(x):
    """Return the sign of numbers, NaN for NaN."""
    return torch.where(torch.isnan(x), x, torch.sign(x))


def _result(shape, batch, entries):
    """Return entries, by rows, as a tensor of a shape, for each state of a batch."""
    if not entries:
        return batch.new_zeros((*batch.shape, *shape))
    parts = [
        entry.expand(batch.shape) if isinstance(entry, torch.Tensor)
        else torch.full_like(batch, entry)
        for entry in entries
    ]
    return torch.stack(parts, -1).reshape((*batch.shape, *shape))
'''
WAYS = """
def computed(function, *arguments):
    \"""Return the entries of each result: for one state, or for rows of states.\"""
    found = function(*(torch.tensor(a, dtype=torch.$real) for a in arguments))
    return [r.reshape(-1).tolist() for r in (found if isinstance(found, tuple) else (found,))]


WAYS = (one_by_one, computed)
"""
LIBRARY = ArrayLibrary(
    "torch",
    (
        "The functions take tensors of one kind of numbers and return the same kind. Arguments",
        "have any leading dimensions, which broadcast: q (..., n) gives results (..., shape).",
        "They are differentiable. The function of all outputs returns a named tuple.",
    ),
    HELPERS,
    "import torch\n",
    "torch.tensor({0}, dtype=torch.$real)",
    WAYS,
    start="\ntorch.set_default_dtype(torch.$real)\n",
    calls=(
        ("sign", "_sign({0})"),
        ("asin", "torch.asin({0})"),
        ("acos", "torch.acos({0})"),
        ("atan", "torch.atan({0})"),
    ),
)


def emit(package: Package) -> dict[str, str]:
    """Return the files of a folder, the source first."""
    return array_files(package, LIBRARY)
