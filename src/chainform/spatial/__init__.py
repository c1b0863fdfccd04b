"""Vectors, matrices, rotations and quaternions in space, over any scalar with + - *."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.spatial.rotations import (
        Quaternion,
        quaternion_of,
        quaternion_product,
        rodrigues,
        roll_pitch_yaw,
        rotation_of_quaternion,
    )
    from chainform.spatial.vectors import (
        Matrix,
        Vector,
        add,
        add_matrices,
        apply,
        apply_transposed,
        column,
        cross,
        determinant,
        dot,
        matrix,
        product,
        replaced,
        scale,
        scale_matrix,
        skew,
        subtract,
        symmetric,
        transpose,
        unit,
    )

__all__ = [
    "Matrix",
    "Quaternion",
    "Vector",
    "add",
    "add_matrices",
    "apply",
    "apply_transposed",
    "column",
    "cross",
    "determinant",
    "dot",
    "matrix",
    "product",
    "quaternion_of",
    "quaternion_product",
    "replaced",
    "rodrigues",
    "roll_pitch_yaw",
    "rotation_of_quaternion",
    "scale",
    "scale_matrix",
    "skew",
    "subtract",
    "symmetric",
    "transpose",
    "unit",
]

lazy.door(__name__)
