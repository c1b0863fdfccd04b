"""Mass, mass centre and inertia of a body, checked."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from chainform.mechanism.intake import Intake, plain
from chainform.mechanism.tables import INERTIA_FIELDS, check_fields, is_table, list_of, table_of
from chainform.mechanism.types import ZERO, ZERO_MATRIX, Body, Matrix3, Number

SYMMETRY = Fraction(1, 10**9)
"""The greatest difference between mirrored entries of an inertia, relative to its greatest."""


def body_from(mass: object, com: object, inertia: object, intake: Intake, where: str) -> Body:
    """Return the body, its inertia symmetric; warn of an inertia that no body can have."""
    checked_mass = intake.number(0 if mass is None else mass, f"{where}, mass")
    value = intake.known(checked_mass, where)
    if value is not None and value < 0:
        raise intake.error("the mass is negative", f"{where}, mass", "give a mass of at least zero")
    tensor = _inertia_from(inertia, intake, f"{where}, inertia")
    _warn_of_moments(tensor, value != 0, intake, f"{where}, inertia")
    return Body(checked_mass, intake.vector(com, f"{where}, com"), tensor)


def _inertia_from(value: object, intake: Intake, where: str) -> Matrix3:
    """Read a 3x3 matrix, three principal moments, or a table of xx, xy, xz, yy, yz, zz."""
    if value is None:
        return ZERO_MATRIX
    if is_table(value):
        table = table_of(value, intake.file, where)
        check_fields(table, INERTIA_FIELDS, intake.file, where)
        xx, xy, xz, yy, yz, zz = (
            intake.number(table.get(field, 0), f"{where} {field}") for field in INERTIA_FIELDS
        )
        return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    rows = list_of(plain(value), intake.file, where)
    if any(isinstance(plain(row), list | tuple) for row in rows):
        return _symmetric(intake.matrix(value, where), intake, where)
    a, b, c = intake.vector(value, where)
    return ((a, ZERO, ZERO), (ZERO, b, ZERO), (ZERO, ZERO, c))


def _symmetric(matrix: Matrix3, intake: Intake, where: str) -> Matrix3:
    """Return the matrix with equal mirrored entries; refuse one that is plainly not symmetric."""
    values = [intake.known(entry, where) for row in matrix for entry in row]
    size = max((abs(value) for value in values if value is not None), default=ZERO)
    xy = _mirrored(matrix, (0, 1), size, intake, where)
    xz = _mirrored(matrix, (0, 2), size, intake, where)
    yz = _mirrored(matrix, (1, 2), size, intake, where)
    return ((matrix[0][0], xy, xz), (xy, matrix[1][1], yz), (xz, yz, matrix[2][2]))


def _mirrored(
    matrix: Matrix3, place: tuple[int, int], size: Fraction, intake: Intake, where: str
) -> Number:
    i, k = place
    upper, lower = matrix[i][k], matrix[k][i]
    if upper == lower:
        return upper
    values = intake.known(upper, where), intake.known(lower, where)
    if values[0] is None or values[1] is None or abs(values[0] - values[1]) > SYMMETRY * size:
        raise intake.error(
            f"the matrix is not symmetric: entries {i + 1},{k + 1} and {k + 1},{i + 1} differ",
            where,
            "write the same entry in both places, or a table {xx=, xy=, xz=, yy=, yz=, zz=}",
        )
    intake.note(where, f"entries {i + 1},{k + 1} and {k + 1},{i + 1} were made equal")
    if isinstance(upper, Fraction) and isinstance(lower, Fraction):
        return (upper + lower) / 2
    return upper


def _warn_of_moments(matrix: Matrix3, has_mass: bool, intake: Intake, where: str) -> None:
    """Warn when the principal moments are negative or one exceeds the sum of the others.

    A massless body with inertia stands for a rotor or a gear and may have a single moment.
    """
    values = [[intake.known(entry, where) for entry in row] for row in matrix]
    numbers = [value for row in values for value in row if value is not None]
    if len(numbers) < 9 or not any(numbers):
        return
    size = max(abs(number) for number in numbers)
    scaled = np.array([float(number / size) for number in numbers]).reshape(3, 3)
    moments = np.linalg.eigvalsh(scaled)
    shown = ", ".join(f"{moment * float(size):.6g}" for moment in moments)
    if moments[0] < -1e-9:
        intake.note(where, f"the principal moments {shown} are not all positive", "warning")
    elif has_mass and moments[2] > (moments[0] + moments[1]) * (1 + 1e-9) + 1e-12:
        text = f"the principal moments {shown} cannot belong to a body: one exceeds the sum"
        intake.note(where, text + " of the others", "warning")
