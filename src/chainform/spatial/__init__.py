"""Vectors, matrices and rotations in space, over any scalar with + - *."""

from chainform.spatial.matrices import column, matrix, replaced, symmetric, unit
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
    "column",
    "cross",
    "dot",
    "matrix",
    "product",
    "replaced",
    "rodrigues",
    "scale",
    "subtract",
    "symmetric",
    "transpose",
    "unit",
]
