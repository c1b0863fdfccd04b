"""Bodies: mass, mass centre and inertia, given or from a distribution of mass along lines.

A piece of a line through the origin of the body, along the unit vector e, has the density mu(s) and
the rotary inertia per length J(s), the same about all axes, between s = a and s = b (Korayem and
Shafei: mu(eta) and J(eta) of a link). With mu = sum c_k s^k

    M_n = integral of mu s^n ds = sum c_k (b^(n+k+1) - a^(n+k+1)) / (n+k+1)
    mass m = sum M_0,     m com = sum M_1 e,     P = sum M_2 e e^T
    inertia about com = sum of the integrals of J + tr(P) 1 - P - m (com . com 1 - com com^T)

All of it is exact, for numbers and for expressions of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np

from chainform.given import Given
from chainform.mechanism.numbers import difference, product_of, quotient_of, sum_of
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import IDENTITY, ZERO, ZERO_MATRIX, Axis, Body, Matrix3, Number
from chainform.mechanism.tables import BODY_FIELDS, DISTRIBUTION_FIELDS, INERTIA_FIELDS

SYMMETRY = Fraction(1, 10**9)
"""The greatest difference between mirrored entries of an inertia, relative to its greatest."""


def body_from(table: Given, reader: Reader) -> Body:
    """Return the body with the mass, mass centre and inertia of a table; its inertia is symmetric.

    A note warns of an inertia that no body can have. In place of the three a table may have the
    distribution of mass along lines.
    """
    if table.has("distribution"):
        if any(table.has(field) for field in BODY_FIELDS - {"distribution"}):
            message = "mass, com and inertia follow from the distribution"
            raise table["distribution"].error(message, "keep the distribution or the other fields")
        return _body_of_pieces(_pieces_from(table["distribution"], reader), table, reader)
    mass = reader.number(table["mass"], ZERO, least=0)
    tensor = _inertia_from(table["inertia"], reader)
    if table.has("moment"):
        # Base parameters are sums and differences of moments, which no single body has.
        return Body(mass, reader.vector(table["com"]), tensor, reader.vector(table["moment"]))
    _warn_of_moments(tensor, reader.known(mass, table) != 0, table["inertia"], reader)
    return Body(mass, reader.vector(table["com"]), tensor)


def _inertia_from(given: Given, reader: Reader) -> Matrix3:
    """Read a 3x3 matrix, three principal moments, or a table of xx, xy, xz, yy, yz, zz."""
    if not given.is_given:
        return ZERO_MATRIX
    if given.is_table:
        table = given.table(INERTIA_FIELDS)
        xx, xy, xz, yy, yz, zz = (reader.number(table[field], ZERO) for field in INERTIA_FIELDS)
        return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    if any(row.is_list for row in given.entries()):
        return _symmetric(reader.matrix(given), given, reader)
    a, b, c = reader.vector(given)
    return ((a, ZERO, ZERO), (ZERO, b, ZERO), (ZERO, ZERO, c))


def _symmetric(matrix: Matrix3, given: Given, reader: Reader) -> Matrix3:
    """Return the matrix with equal mirrored entries; refuse one that is plainly not symmetric."""
    values = [reader.known(entry, given) for row in matrix for entry in row]
    size = max((abs(value) for value in values if value is not None), default=ZERO)
    xy, xz, yz = (
        _mirrored(matrix, indices, size, given, reader) for indices in ((0, 1), (0, 2), (1, 2))
    )
    return ((matrix[0][0], xy, xz), (xy, matrix[1][1], yz), (xz, yz, matrix[2][2]))


def _mirrored(
    matrix: Matrix3, indices: tuple[int, int], size: Fraction, given: Given, reader: Reader
) -> Number:
    i, k = indices
    upper, lower = matrix[i][k], matrix[k][i]
    if upper == lower:
        return upper
    values = reader.known(upper, given), reader.known(lower, given)
    if values[0] is None or values[1] is None or abs(values[0] - values[1]) > SYMMETRY * size:
        raise given.error(
            f"the matrix is not symmetric: entries {i + 1},{k + 1} and {k + 1},{i + 1} differ",
            "write the same entry in both places, or a table {xx=, xy=, xz=, yy=, yz=, zz=}",
        )
    reader.note(given.element, f"entries {i + 1},{k + 1} and {k + 1},{i + 1} were made equal")
    if isinstance(upper, Fraction) and isinstance(lower, Fraction):
        return (upper + lower) / 2
    return upper


def _warn_of_moments(matrix: Matrix3, has_mass: bool, given: Given, reader: Reader) -> None:
    """Warn when the principal moments are negative or one exceeds the sum of the others.

    A massless body with inertia stands for a rotor or a gear and may have a single moment.
    """
    values = [[reader.known(entry, given) for entry in row] for row in matrix]
    numbers = [value for row in values for value in row if value is not None]
    if len(numbers) < 9 or not any(numbers):
        return
    size = max(abs(number) for number in numbers)
    scaled = np.array([float(number / size) for number in numbers]).reshape(3, 3)
    moments = np.linalg.eigvalsh(scaled)
    shown = ", ".join(f"{moment * float(size):.6g}" for moment in moments)
    if moments[0] < -1e-9:
        reader.note(given.element, f"the principal moments {shown} are not all positive", "warning")
    elif has_mass and moments[2] > (moments[0] + moments[1]) * (1 + 1e-9) + 1e-12:
        text = f"the principal moments {shown} cannot belong to a body: one exceeds the sum"
        reader.note(given.element, text + " of the others", "warning")


# --- distributions --------------------------------------------------------------------------------

MOST_COEFFICIENTS = 12
"""The most coefficients of a density, which is a polynomial of the distance along the line."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a line: direction, ends, and coefficients of density and rotary inertia."""

    axis: Axis
    start: Number
    end: Number
    density: tuple[Number, ...]
    inertia: tuple[Number, ...]

    def moment(self, power: int, coefficients: Sequence[Number] | None = None) -> Number:
        """Return M_n, or the same integral of another polynomial."""
        total: Number = ZERO
        for k, c in enumerate(self.density if coefficients is None else coefficients):
            n = power + k + 1
            span = difference(_power(self.end, n), _power(self.start, n))
            total = sum_of(total, product_of(c, product_of(span, Fraction(1, n))))
        return total


def _power(value: Number, n: int) -> Number:
    return reduce(product_of, [value] * n)


def _pieces_from(given: Given, reader: Reader) -> list[_Piece]:
    """Read one piece or a list of pieces; pieces along one line may not overlap."""
    entries = given.entries() if given.is_list else [given]
    found: list[tuple[_Piece, Given]] = []
    for number, entry in enumerate(entries, 1):
        here = entry.at(f"{given.element} {number}") if given.is_list else given
        table = here.table(DISTRIBUTION_FIELDS)
        pieces = _between(table, reader) if table.has("at") else [_polynomial(table, reader)]
        for piece in pieces:
            _check_piece(piece, table, reader)
            for other, _ in found:
                _refuse_overlap(piece, other, table, reader)
        found += [(piece, table) for piece in pieces]
    return [piece for piece, _ in found]


def _polynomial(table: Given, reader: Reader) -> _Piece:
    """Read a piece from one end to the other, with coefficients of powers of the distance."""
    axis = reader.axis(table["axis"]) if table.has("axis") else IDENTITY[0]
    start, end = (reader.number(table.required(key)) for key in ("from", "to"))
    density = _coefficients(table.required("density", "give it in kg/m"), reader)
    return _Piece(axis, start, end, density, _coefficients(table["inertia"], reader))


def _coefficients(given: Given, reader: Reader) -> tuple[Number, ...]:
    if not given.is_given:
        return ()
    numbers = given.entries() if given.is_list else [given]
    if not 0 < len(numbers) <= MOST_COEFFICIENTS:
        remedy = f"write 1 to {MOST_COEFFICIENTS}: c0, c1, ... of powers of the distance"
        raise given.error(f"there are {len(numbers)} coefficients", remedy)
    return tuple(reader.number(number) for number in numbers)


def _between(table: Given, reader: Reader) -> list[_Piece]:
    """Read a table of places and the values there, between which density and inertia are linear."""
    for key in ("from", "to"):
        if table.has(key):
            raise table[key].error("'at' says where the pieces begin and end", f"leave out {key!r}")
    axis = reader.axis(table["axis"]) if table.has("axis") else IDENTITY[0]
    places = [reader.number(entry) for entry in table["at"].entries()]
    if len(places) < 2:
        raise table["at"].error("a table needs two places at least", "write at = [a, b, ...]")
    table.required("density", "give a value for each place")
    columns: list[list[Number]] = []
    for given in (table["density"], table["inertia"]):
        values = given.entries(len(places)) if given.is_given else []
        columns.append([reader.number(value) for value in values])
    pieces: list[_Piece] = []
    for i in range(len(places) - 1):
        lines = [_line(places, column, i) if column else () for column in columns]
        pieces.append(_Piece(axis, places[i], places[i + 1], lines[0], lines[1]))
    return pieces


def _line(places: Sequence[Number], values: Sequence[Number], i: int) -> tuple[Number, Number]:
    """Return the coefficients of the line through two neighbours of a table."""
    width = difference(places[i + 1], places[i])
    if width == ZERO:
        # `_check_piece` refuses it, and says where.
        return values[i], ZERO
    slope = quotient_of(difference(values[i + 1], values[i]), width)
    return difference(values[i], product_of(slope, places[i])), slope


def _check_piece(piece: _Piece, table: Given, reader: Reader) -> None:
    """Refuse a piece that ends before it begins, and a density or an inertia below zero."""
    start, end = (reader.known(value, table) for value in (piece.start, piece.end))
    if start is None or end is None:
        return
    if start >= end:
        remedy = "write the lower end first"
        raise table.error(f"the piece ends at {float(end):g}, not after {float(start):g}", remedy)
    for word, coefficients in (("density", piece.density), ("inertia", piece.inertia)):
        known = [reader.known(c, table) for c in coefficients]
        numbers = [c for c in known if c is not None]
        if len(numbers) == len(known) and _lowest(numbers, start, end) < 0:
            raise table[word].error(f"the {word} is negative somewhere", "correct it")


def _lowest(coefficients: Sequence[Fraction], start: Fraction, end: Fraction) -> Fraction:
    """Return the least value of a polynomial in an interval, 0 for what is only rounding."""
    slopes = [float(k * c) for k, c in enumerate(coefficients)][1:]
    roots = np.roots(slopes[::-1]) if len(slopes) > 1 else np.zeros(0)
    turns = [Fraction(float(r.real)) for r in roots if abs(r.imag) < 1e-6 * (1 + abs(r.real))]
    places = [start, end, *(place for place in turns if start < place < end)]
    values = [sum((c * x**k for k, c in enumerate(coefficients)), ZERO) for x in places]
    least = min(values)
    return least if least < -max(map(abs, values)) / 10**9 else ZERO


def _refuse_overlap(piece: _Piece, other: _Piece, table: Given, reader: Reader) -> None:
    ends = [reader.known(v, table) for p in (piece, other) for v in (p.start, p.end)]
    known = [end for end in ends if end is not None]
    if piece.axis != other.axis or len(known) < len(ends):
        return
    if known[0] < known[3] and known[2] < known[1]:
        raise table.error("the piece overlaps another one", "let pieces follow each other")


def _body_of_pieces(pieces: Sequence[_Piece], table: Given, reader: Reader) -> Body:
    """Return mass, mass centre and inertia of all pieces."""
    mass = reduce(sum_of, [piece.moment(0) for piece in pieces], ZERO)
    spin = reduce(sum_of, [piece.moment(0, piece.inertia) for piece in pieces], ZERO)
    if reader.known(mass, table) == 0:
        raise table["distribution"].error("there is no mass", "give a density above zero")
    if len(pieces) == 1 and len(pieces[0].density) == 1:
        # A uniform rod: nothing is divided by the mass, which may be an expression.
        (rod,) = pieces
        length = difference(rod.end, rod.start)
        half = product_of(sum_of(rod.start, rod.end), Fraction(1, 2))
        square = product_of(mass, product_of(_power(length, 2), Fraction(1, 12)))
        com = [product_of(half, part) for part in rod.axis]
        second = [[product_of(square, a * b) for b in rod.axis] for a in rod.axis]
    else:
        first = [_sum(pieces, 1, lambda e, i=i: e[i]) for i in range(3)]
        com = [quotient_of(part, mass) for part in first]
        second = [
            [
                difference(
                    _sum(pieces, 2, lambda e, i=i, k=k: e[i] * e[k]), product_of(first[i], com[k])
                )
                for k in range(3)
            ]
            for i in range(3)
        ]
    return Body(mass, (com[0], com[1], com[2]), _inertia_of(second, spin))


def _sum(pieces: Sequence[_Piece], power: int, share: Callable[[Axis], Fraction]) -> Number:
    """Return the sum of M_n of pieces, each times a number of its direction."""
    parts = [product_of(piece.moment(power), share(piece.axis)) for piece in pieces]
    return reduce(sum_of, parts, ZERO)


def _inertia_of(second: Sequence[Sequence[Number]], spin: Number) -> Matrix3:
    """Return tr(P) 1 - P + J 1, P being the second moments about the mass centre."""

    def entry(i: int, k: int) -> Number:
        if i != k:
            return product_of(second[min(i, k)][max(i, k)], Fraction(-1))
        x, y = (j for j in range(3) if j != i)
        return sum_of(sum_of(second[x][x], second[y][y]), spin)

    rows = [(entry(i, 0), entry(i, 1), entry(i, 2)) for i in range(3)]
    return (rows[0], rows[1], rows[2])
