"""Vectors and rotations in space, over any scalar with + - *."""

from chainform.spatial.rotations import product, rodrigues, transpose
from chainform.spatial.vectors import (
    Matrix,
    Vector,
    add,
    apply,
    apply_transposed,
    cross,
    dot,
    scale,
    subtract,
)

__all__ = [
    "Matrix",
    "Vector",
    "add",
    "apply",
    "apply_transposed",
    "cross",
    "dot",
    "product",
    "rodrigues",
    "scale",
    "subtract",
    "transpose",
]
