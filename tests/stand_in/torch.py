"""What exported functions use of PyTorch, on NumPy: a stand-in where PyTorch is not installed.

PyTorch for Linux comes with several GB of libraries, so the tests do without it. This module
shows that exported text computes what it should; it says nothing about derivatives and devices.
As in PyTorch, the sign of NaN is 0, and kinds of numbers are promoted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import broadcast_shapes as broadcast_shapes
from numpy import float32 as float32
from numpy import float64 as float64
from numpy import promote_types as promote_types


class Tensor(np.ndarray):
    """An array with the methods of a tensor."""

    def is_floating_point(self) -> bool:
        """Return whether the numbers are floating-point."""
        return np.issubdtype(self.dtype, np.floating)

    def to(self, kind: Any) -> Tensor:
        """Return the same numbers of another kind."""
        return as_tensor(self.astype(kind))

    def expand(self, shape: tuple[int, ...]) -> Tensor:
        """Return a tensor of another shape, broadcast."""
        return as_tensor(np.broadcast_to(self, shape))

    def new_zeros(self, shape: tuple[int, ...]) -> Tensor:
        """Return zeros of the same kind."""
        return as_tensor(np.zeros(shape, dtype=self.dtype))


def tensor(values: Any, dtype: Any) -> Tensor:
    """Return a tensor of numbers."""
    return np.array(values, dtype=dtype).view(Tensor)


_default: list[Any] = [float32]


def set_default_dtype(kind: Any) -> None:
    """Set the kind of numbers that nothing says."""
    _default[0] = kind


def get_default_dtype() -> Any:
    """Return the kind of numbers that nothing says."""
    return _default[0]


def as_tensor(values: Any) -> Tensor:
    """Return an array as a tensor."""
    return np.asarray(values).view(Tensor)


def zeros(shape: tuple[int, ...], dtype: Any, device: Any) -> Tensor:
    """Return zeros."""
    assert device in ("cpu", None)
    return as_tensor(np.zeros(shape, dtype=dtype))


def full_like(like: Tensor, value: float) -> Tensor:
    """Return a tensor of one number."""
    return as_tensor(np.full(like.shape, value, dtype=like.dtype))


def stack(tensors: list[Tensor], dim: int) -> Tensor:
    """Return tensors of one shape side by side, in a new dimension."""
    assert len({each.shape for each in tensors}) == 1
    return as_tensor(np.stack(tensors, dim))


def _of_tensors(function: Any) -> Any:
    def applied(*given: Any) -> Tensor:
        assert all(isinstance(each, Tensor) for each in given), "numbers are no tensors"
        return as_tensor(function(*given))

    return applied


abs = _of_tensors(np.abs)  # noqa: A001, the name in PyTorch
acos = _of_tensors(np.arccos)
asin = _of_tensors(np.arcsin)
atan = _of_tensors(np.arctan)
cos = _of_tensors(np.cos)
exp = _of_tensors(np.exp)
isnan = _of_tensors(np.isnan)
log = _of_tensors(np.log)
sign = _of_tensors(lambda x: np.nan_to_num(np.sign(x)))
sin = _of_tensors(np.sin)
sqrt = _of_tensors(np.sqrt)
tan = _of_tensors(np.tan)
where = _of_tensors(np.where)
