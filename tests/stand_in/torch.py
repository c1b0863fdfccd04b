"""What exported functions and the page on PyTorch use of it, on NumPy: a stand-in without PyTorch.

PyTorch for Linux comes with several GB of libraries, so the tests do without it where it is not
installed. Derivatives are those of a tape: each tensor knows what it was made of. As in PyTorch,
the sign of NaN is 0, and kinds of numbers are promoted. There are no devices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

import numpy as np
from numpy import broadcast_shapes as broadcast_shapes
from numpy import float32 as float32
from numpy import float64 as float64
from numpy import promote_types as promote_types

Pull = Callable[[Any], Any]
"""From the gradient by a result to that by an argument."""
_serial = count()


class Tensor:
    """An array, and the tensors that it was made of, each with the way of gradients to it."""

    def __init__(self, values: Any, parents: Iterable[tuple[Tensor, Pull]] = ()) -> None:
        self.array: Any = np.asarray(values)
        self.parents = [pair for pair in parents if pair[0].is_followed]
        self.serial = next(_serial)
        self.requires_grad = False
        self.grad: Any = None
        self.device = "cpu"

    @property
    def is_followed(self) -> bool:
        """Whether gradients go through it."""
        return self.requires_grad or bool(self.parents)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its lengths."""
        return self.array.shape

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return self.array.ndim

    @property
    def dtype(self) -> Any:
        """The kind of its numbers."""
        return self.array.dtype

    def tolist(self) -> Any:
        """Return lists of numbers."""
        return self.array.tolist()

    def is_floating_point(self) -> bool:
        """Return whether the numbers are floating-point."""
        return np.issubdtype(self.dtype, np.floating)

    def to(self, kind: Any) -> Tensor:
        """Return the same numbers of another kind."""
        return Tensor(self.array.astype(kind), [(self, lambda g: g.astype(self.dtype))])

    def clone(self) -> Tensor:
        """Return a copy."""
        return Tensor(self.array.copy(), [(self, lambda g: g)])

    def requires_grad_(self) -> Tensor:
        """Follow derivatives from here on."""
        self.requires_grad = True
        return self

    def expand(self, shape: tuple[int, ...]) -> Tensor:
        """Return a tensor of another shape, broadcast."""
        whole = np.broadcast_to(self.array, shape)
        return Tensor(whole, [(self, lambda g: _summed(g, self.shape))])

    def reshape(self, *shape: Any) -> Tensor:
        """Return the same numbers in another shape."""
        return Tensor(self.array.reshape(*shape), [(self, lambda g: g.reshape(self.shape))])

    def new_zeros(self, shape: tuple[int, ...]) -> Tensor:
        """Return zeros of the same kind."""
        return Tensor(np.zeros(shape, dtype=self.dtype))

    def mean(self) -> Tensor:
        """Return the mean of all numbers."""
        size = self.array.size
        return Tensor(self.array.mean(), [(self, lambda g: np.full(self.shape, g / size))])

    def __getitem__(self, index: Any) -> Tensor:
        def back(g: Any) -> Any:
            whole = np.zeros_like(self.array)
            whole[index] = g
            return whole

        return Tensor(self.array[index], [(self, back)])

    def __iter__(self) -> Iterator[Tensor]:
        return (self[k] for k in range(len(self.array)))

    def __add__(self, other: Any) -> Tensor:
        return _applied(np.add, self, other)

    def __radd__(self, other: Any) -> Tensor:
        return _applied(np.add, other, self)

    def __sub__(self, other: Any) -> Tensor:
        return _applied(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return _applied(np.subtract, other, self)

    def __mul__(self, other: Any) -> Tensor:
        return _applied(np.multiply, self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return _applied(np.multiply, other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return _applied(np.divide, self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return _applied(np.divide, other, self)

    def __neg__(self) -> Tensor:
        return _applied(np.negative, self)

    def __pow__(self, power: float) -> Tensor:
        return _applied(np.power, self, power)

    def backward(self, gradient: Any = 1.0) -> None:
        """Add the derivatives of this tensor, times the gradient, where they are followed to."""
        found: dict[int, Tensor] = {self.serial: self}
        waiting: list[Tensor] = [self]
        while waiting:
            for parent, _ in waiting.pop().parents:
                if parent.serial not in found:
                    found[parent.serial] = parent
                    waiting.append(parent)
        gradients: dict[int, Any] = {self.serial: np.asarray(gradient)}
        for serial in sorted(found, reverse=True):
            each, g = found[serial], gradients.pop(serial)
            for parent, back in each.parents:
                gradients[parent.serial] = gradients.get(parent.serial, 0) + back(g)
            if each.requires_grad:
                each.grad = Tensor(g if each.grad is None else each.grad.array + g)


def _summed(g: Any, shape: tuple[int, ...]) -> Any:
    """Return the gradient by what was broadcast: the sum over copies."""
    g = np.asarray(g)
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(k for k, n in enumerate(shape) if n != g.shape[k]), keepdims=True)


SLOPES: dict[Any, Callable[..., tuple[Any, ...]]] = {
    np.add: lambda _x, _y: (1, 1),
    np.subtract: lambda _x, _y: (1, -1),
    np.multiply: lambda x, y: (y, x),
    np.divide: lambda x, y: (1 / y, -x / y**2),
    np.power: lambda x, n: (n * x ** (n - 1), None),
    np.negative: lambda _x: (-1,),
    np.sin: lambda x: (np.cos(x),),
    np.cos: lambda x: (-np.sin(x),),
}
"""Derivatives of functions by their arguments; others are not differentiated."""


def _applied(function: Any, *given: Any) -> Tensor:
    """Return a function of numbers and tensors, entry by entry."""
    # A number takes the kind of the tensor.
    arrays = [x.array if isinstance(x, Tensor) else x for x in given]
    if not any(isinstance(x, Tensor) and x.is_followed for x in given):
        return Tensor(function(*arrays))
    slopes = SLOPES[function](*arrays)

    def pull(slope: Any, shape: tuple[int, ...]) -> Pull:
        return lambda g: _summed(g * slope, shape)

    pairs = zip(given, slopes, strict=True)
    parents = [(x, pull(slope, x.shape)) for x, slope in pairs if isinstance(x, Tensor)]
    return Tensor(function(*arrays), parents)


# --- functions of the module ----------------------------------------------------------------------


def tensor(values: Any, dtype: Any) -> Tensor:
    """Return a tensor of numbers."""
    return Tensor(np.array(values, dtype=dtype))


_default: list[Any] = [float32]
_random = [np.random.default_rng(0)]


def set_default_dtype(kind: Any) -> None:
    """Set the kind of numbers that nothing says."""
    _default[0] = kind


def get_default_dtype() -> Any:
    """Return the kind of numbers that nothing says."""
    return _default[0]


def manual_seed(seed: int) -> None:
    """Start random numbers anew."""
    _random[0] = np.random.default_rng(seed)


def rand(*shape: int, dtype: Any) -> Tensor:
    """Return random numbers from 0 to 1."""
    return Tensor(_random[0].random(shape, dtype=dtype))


def as_tensor(values: Any) -> Tensor:
    """Return an array as a tensor."""
    return values if isinstance(values, Tensor) else Tensor(values)


def zeros(shape: Any, dtype: Any, device: Any = None) -> Tensor:
    """Return zeros."""
    assert device in ("cpu", None)
    return Tensor(np.zeros(shape, dtype=dtype))


def full_like(like: Tensor, value: float) -> Tensor:
    """Return a tensor of one number."""
    return Tensor(np.full(like.shape, value, dtype=like.dtype))


def stack(tensors: list[Tensor], dim: int) -> Tensor:
    """Return tensors of one shape side by side, in a new dimension."""
    assert len({each.shape for each in tensors}) == 1

    def part(k: int) -> Pull:
        return lambda g: np.take(g, k, axis=dim)

    parents = [(each, part(k)) for k, each in enumerate(tensors)]
    return Tensor(np.stack([each.array for each in tensors], dim), parents)


def _of_tensors(function: Any) -> Callable[..., Tensor]:
    def applied(*given: Any) -> Tensor:
        assert all(isinstance(each, Tensor) for each in given), "numbers are no tensors"
        return _applied(function, *given)

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


# --- training -------------------------------------------------------------------------------------


class nn:  # noqa: N801, the name in PyTorch
    """Layers and their parameters."""

    class Parameter(Tensor):
        """A tensor that is learnt."""

        def __init__(self, values: Tensor) -> None:
            super().__init__(values.array)
            self.requires_grad = True

    class Module:
        """A layer."""

        def parameters(self) -> list[Tensor]:
            """Return what is learnt."""
            return [each for each in vars(self).values() if isinstance(each, nn.Parameter)]

        def __call__(self, *given: Any) -> Any:
            forward: Any = vars(type(self))["forward"]
            return forward(self, *given)


class optim:  # noqa: N801, the name in PyTorch
    """Methods of descent."""

    class Adam:
        """Steps by means of gradients and of their squares (Kingma and Ba 2015)."""

        def __init__(self, parameters: Iterable[Tensor], lr: float) -> None:
            self.parameters, self.lr, self.steps = list(parameters), lr, 0
            self.means = [np.zeros((2, *each.shape)) for each in self.parameters]

        def zero_grad(self) -> None:
            """Forget gradients."""
            for each in self.parameters:
                each.grad = None

        def step(self) -> None:
            """Change all parameters."""
            self.steps += 1
            keep = np.array([0.9, 0.999])
            for each, mean in zip(self.parameters, self.means, strict=True):
                g = each.grad.array
                mean *= keep.reshape(2, *([1] * g.ndim))
                mean += np.stack([0.1 * g, 0.001 * g**2])
                first, second = (m / (1 - k**self.steps) for m, k in zip(mean, keep, strict=True))
                each.array = each.array - self.lr * first / (np.sqrt(second) + 1e-8)


class autograd:  # noqa: N801, the name in PyTorch
    """Derivatives."""

    @staticmethod
    def gradcheck(function: Callable[..., Tensor], given: tuple[Tensor, ...]) -> bool:
        """Compare the derivatives of a random combination of results with differences."""
        found = function(*given)
        weights = np.random.default_rng(1).normal(size=found.shape)
        for each in given:
            each.grad = None
        found.backward(weights)
        for each in given:
            values = each.array
            for index in np.ndindex(values.shape):
                ends: list[float] = []
                for size in (1e-6, -1e-6):
                    each.array = values.copy()
                    each.array[index] += size
                    ends.append(float((weights * function(*given).array).sum()))
                each.array = values
                difference = (ends[0] - ends[1]) / 2e-6
                assert np.isclose(each.grad.array[index], difference, rtol=1e-3, atol=1e-5)
        return True
