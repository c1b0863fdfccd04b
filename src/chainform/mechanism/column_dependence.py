"""Which columns of a regressor are combinations of columns before them, exactly.

Elimination modulo a prime at random states finds them; the coefficients are then solved for in
rational numbers, or in polynomials of the parameters, and compared with those of the elimination.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from flint import nmod_mat

from chainform.errors import DeriveError
from chainform.mechanism.data import MechanismData
from chainform.mechanism.dynamic_parameters import (
    DynamicParameter,
)
from chainform.mechanism.exact_fields import PRIME, Polynomials, Residues, reduced
from chainform.mechanism.exact_regressor import ExactRegressor
from chainform.mechanism.numbers import quotient_of
from chainform.mechanism.records import (
    ONE,
)

STATES, MORE_STATES = 8, 4
"""States at which columns are computed first, and then again until the rank does not grow."""
LARGEST_SHARE = 10**10
"""With larger ones the drives would be differences of numbers that are nearly equal."""
ATTEMPTS = 40
"""States that are tried for the coefficients of one column."""


class ColumnDependence:
    """Which columns are combinations of those before them, found modulo a prime."""

    def __init__(
        self, mechanism: MechanismData, columns: Sequence[DynamicParameter], field: Polynomials
    ) -> None:
        self.mechanism = mechanism
        self.columns = columns
        self.field = field
        self.leaders, self.residues = self._eliminate()
        self.shares = {j: self._shares(j) for j in range(len(columns)) if j not in self.leaders}

    def followers(self, leader: int) -> Iterator[tuple[int, tuple[Any, Any]]]:
        """Yield the columns that have a share in a leader, with the share as a fraction."""
        for column, shares in self.shares.items():
            if leader in shares:
                yield column, shares[leader]

    def _rows(self, states: range) -> list[list[int]]:
        rows: list[list[int]] = []
        for state in states:
            exact = ExactRegressor(self.mechanism, Residues(state))
            columns = [exact.column(parameter) for parameter in self.columns]
            rows += [[int(column[i]) for column in columns] for i in range(self.mechanism.nv)]
        return rows

    def _eliminate(self) -> tuple[list[int], dict[int, dict[int, int]]]:
        """Return the columns that are no combinations, and the shares of these in all others."""
        rows, states, rank = self._rows(range(STATES)), STATES, -1
        while True:
            flat = [entry for row in rows for entry in row]
            reduced, found = nmod_mat(len(rows), len(self.columns), flat, PRIME).rref()
            if found == rank:
                break
            rank = found
            rows += self._rows(range(states, states + MORE_STATES))
            states += MORE_STATES
        table = [[int(reduced[i, k]) for k in range(len(self.columns))] for i in range(rank)]
        leaders = [next(k for k, entry in enumerate(row) if entry) for row in table]
        others = [k for k in range(len(self.columns)) if k not in leaders]
        shares = {
            k: {leader: row[k] for leader, row in zip(leaders, table, strict=True) if row[k]}
            for k in others
        }
        return leaders, shares

    def _shares(self, column: int) -> dict[int, tuple[Any, Any]]:
        """Solve for the shares of leaders in a column, and compare them with the residues."""
        support = list(self.residues[column])
        if not support:
            return {}
        found = self._solve(column, support)
        for leader, (n, d) in zip(support, found, strict=True):
            value = self.field.residue(n) * pow(self.field.residue(d), -1, PRIME) % PRIME
            if value != self.residues[column][leader]:
                raise self._unsolved(column)
            share = quotient_of(self.field.expression(n), self.field.expression(d))
            if isinstance(share, Fraction) and abs(share) > LARGEST_SHARE:
                raise self._rounded(column, leader, share)
        return dict(zip(support, found, strict=True))

    def _solve(self, column: int, support: list[int]) -> list[tuple[Any, Any]]:
        """Return the coefficients by elimination without fractions."""
        rows: list[list[Any]] = []
        size, last, seed = len(support), self.field.number(ONE), 0
        names = [self.columns[k] for k in (*support, column)]
        for step in range(size):
            while not any(row[step] != 0 for row in rows[step:]):
                if seed >= ATTEMPTS + size:
                    raise self._unsolved(column)
                rows += self._exact_rows(names, seed, rows[:step])
                seed += 1
            first = next(i for i in range(step, len(rows)) if rows[i][step] != 0)
            rows[step], rows[first] = rows[first], rows[step]
            pivot = rows[step]
            for i, row in enumerate(rows):
                if i != step:
                    rows[i] = [
                        (pivot[step] * a - row[step] * b) / last
                        for a, b in zip(row, pivot, strict=True)
                    ]
            last = pivot[step]
        return [reduced(rows[i][-1], rows[i][i]) for i in range(size)]

    def _exact_rows(
        self, names: Sequence[DynamicParameter], seed: int, done: Sequence[Sequence[Any]]
    ) -> list[list[Any]]:
        """Return the columns at another state, after the steps of elimination that are done."""
        self.field.seed = seed
        exact = ExactRegressor(self.mechanism, self.field)
        columns = [exact.column(parameter) for parameter in names]
        rows = [[column[i] for column in columns] for i in range(self.mechanism.nv)]
        if not done:
            return rows
        # All rows that are done have the same pivot by now.
        pivot = done[0][0]
        return [
            [
                pivot * entry - sum((row[i] * done[i][k] for i in range(len(done))), entry * 0)
                for k, entry in enumerate(row)
            ]
            for row in rows
        ]

    def _rounded(self, column: int, leader: int, share: Fraction) -> DeriveError:
        return DeriveError(
            f"{self.columns[column].name} has the share {float(share):.2g} in "
            f"{self.columns[leader].name}: directions are parallel or at right angles but for "
            "the rounding of angles",
            file=self.mechanism.file,
            element=self.columns[column].name,
            remedy="give orientations as axes, rotation matrices of short numbers or multiples of "
            "pi/2, so that they are exact; the output regressor takes any",
        )

    def _unsolved(self, column: int) -> DeriveError:
        return DeriveError(
            f"the share of {self.columns[column].name} in other parameters has no exact form",
            file=self.mechanism.file,
            element=self.columns[column].name,
            remedy='give the lengths numbers: base_parameters() with parameters="numeric"',
        )
