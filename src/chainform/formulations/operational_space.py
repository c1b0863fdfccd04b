"""The mass matrix seen from outside: its inverse, and inertia and manipulability of a frame.

symbol   meaning, for a frame with the acceleration J qdd + a0                         source
J        rows of the Jacobian: all six, or the linear or angular three
a0       acceleration of the frame at qdd = 0: J' qd and the motion of the base
Lambda   inertia that a force and moment on the frame feel, (J H^-1 J^T)^-1            Khatib 1987
mu + p   Lambda (J H^-1 h - a0), so that Lambda a + mu + p = F where tau = J^T F       Khatib 1987
w        product of the singular values of J that are not zero everywhere             Yoshikawa 1985

J H^-1 J^T is built from half the elimination of H: with H = L^T D L and Y = L^-T J^T it is
Y^T D^-1 Y. It exists for any J; Lambda only where no row of J follows from others.

w is sqrt(det(J J^T)) for rows that are independent, and sqrt(det(J^T J)) for fewer rates than rows.
In between, as for a planar arm with three joints, the rank r of J is smaller than both: w^2 is the
sum of the squares of all minors of r rows, which does not depend on the axes. Minors need no
division, so that w is 0 where J is singular. Where they are many, w^2 is the sum of the principal
minors of J J^T.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from itertools import combinations
from math import comb
from typing import TypeAlias

from chainform.errors import DeriveError
from chainform.formulations.auto import auto
from chainform.formulations.shared.constraints import dependent_rows
from chainform.formulations.shared.kinematics import AXES
from chainform.formulations.shared.options import (
    PART_CHOICES,
    PLAIN,
    AxisChoices,
    Options,
    OutputRequest,
    parse_request,
)
from chainform.formulations.shared.outputs import (
    Factorisation,
    Key,
    declare,
    declare_equation,
    solve,
)
from chainform.given import counted
from chainform.graph import Builder, Scalar, include, is_zero
from chainform.mechanism import Mechanism
from chainform.spatial import Vector

Rows: TypeAlias = Sequence[Mapping[int, Scalar]]
"""The rows of a Jacobian, each by rate, without zeros."""

MOST_MINORS = 64
"""How many minors are added as squares; J J^T takes the place of more."""


class OperationalSpace:
    """Outputs of one mechanism that need its mass matrix, or the rank of a Jacobian.

    `rows_in` gives the rows of a request in a builder, so that they can be built for a trial.
    """

    def __init__(
        self,
        builder: Builder,
        mechanism: Mechanism,
        options: Options,
        rows_in: Callable[[Builder, OutputRequest], Rows],
    ) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.options = options
        self.rows_in = rows_in
        self.choices: AxisChoices = {}
        self._equation = cache(self._included)

    def _included(self, output: str) -> tuple[Scalar, ...]:
        """Return mass matrix or bias, each by the cheapest method."""
        trial = Builder()
        choices = auto(trial, self.mechanism, [output], self.options)
        self.choices = {**self.choices, **choices}
        graph = trial.finish()
        return tuple(include(self.builder, graph, {}, [output])[output])

    @cached_property
    def H(self) -> dict[Key, Scalar]:
        """The entries of the mass matrix that are not zero."""
        n, values = self.mechanism.nv, self._equation("mass_matrix")
        entries = {(i, k): values[n * i + k] for i in range(n) for k in range(n)}
        return {key: value for key, value in entries.items() if not is_zero(value)}

    # --- outputs ------------------------------------------------------------------------

    def inverse_mass_matrix(self) -> None:
        """Declare H^-1."""
        values = Factorisation(self.H, range(self.mechanism.nv)).inverted()
        declare_equation(self.builder, self.mechanism, "inverse_mass_matrix", values)

    def inverse_inertia(self, request: OutputRequest) -> None:
        """Declare J H^-1 J^T."""
        rows = self.rows_in(self.builder, request)
        values, _ = self._mobility(rows)
        self._declare(request, "Lambdai", (len(rows), len(rows)), values)

    def inertia(self, request: OutputRequest) -> None:
        """Declare Lambda."""
        self._refuse_dependent(request)
        rows = self.rows_in(self.builder, request)
        values, _ = self._mobility(rows)
        inverse = Factorisation(values, range(len(rows))).inverted()
        self._declare(request, "Lambda", (len(rows),) * 2, inverse)

    def bias(self, request: OutputRequest, drift: Sequence[Scalar]) -> None:
        """Declare mu + p; `drift` are the six components of a0."""
        self._refuse_dependent(request)
        rows = self.rows_in(self.builder, request)
        mobility, response = self._mobility(rows, self._equation("bias"))
        keep = self.builder.keep
        right = {r: keep(response[r] - drift[row]) for r, row in enumerate(request.rows)}
        self._declare(request, "mup", (len(rows),), solve(mobility, right))

    def manipulability(self, request: OutputRequest) -> None:
        """Declare w."""
        rank = len(request.rows) - len(self._dependent(request))
        value = volume(self.builder, self.rows_in(self.builder, request), rank)
        self.builder.output(request.text, (), [(request.label("w"), value)])

    def _declare(
        self,
        request: OutputRequest,
        letter: str,
        shape: tuple[int, ...],
        values: Mapping[Key, Scalar] | Mapping[int, Scalar],
    ) -> None:
        declare(self.builder, request.text, request.label(letter), shape, values)

    # --- inertia ------------------------------------------------------------------------

    def _mobility(
        self, rows: Rows, force: Sequence[Scalar] = ()
    ) -> tuple[dict[Key, Scalar], list[Scalar]]:
        """Return J H^-1 J^T, its entries that are not zero, and J H^-1 h where h is given."""
        columns = [*rows, dict(enumerate(force))] if force else rows
        done = Factorisation(self.H, range(self.mechanism.nv))
        left = [done.eliminated(column) for column in columns]
        entries: dict[Key, Scalar] = {}
        for i in range(len(rows)):
            for k in range(i + 1):
                entries[i, k] = entries[k, i] = done.product(left[i], left[k])
        response = [done.product(left[r], left[-1]) for r in range(len(rows))] if force else []
        return {key: value for key, value in entries.items() if not is_zero(value)}, response

    def _dependent(self, request: OutputRequest) -> list[int]:
        """Return the rows of the Jacobian that follow from those before them, at every state."""
        trial = Builder()
        rows = self.rows_in(trial, request)
        entries = {(i, k): value for i, row in enumerate(rows) for k, value in row.items()}
        declare(trial, "rows", "rows", (len(rows), self.mechanism.nv), entries)
        return dependent_rows(trial.finish(), "rows")

    def _refuse_dependent(self, request: OutputRequest) -> None:
        dependent, count = self._dependent(request), len(request.rows)
        if not dependent:
            return
        texts = (f"{request.text[:-1]},{part})" for part in PART_CHOICES)
        others = [] if request.part else [parse_request(text) for text in texts]
        able = [other.text for other in others if not self._dependent(other)]
        frame = request.text.partition("(")[2]
        able.append(f"inverse_operational_inertia({frame}, which exists in any case")
        raise DeriveError(
            f"the frame {request.frame} cannot move in {counted(count, 'direction')}: its Jacobian "
            f"has the rank {count - len(dependent)} at every state, and {request.name} would be "
            "infinite",
            file=self.mechanism.file,
            element=request.text,
            remedy=f"take {' or '.join(able)}",
        )


# --- volumes --------------------------------------------------------------------------------------


def volume(builder: Builder, rows: Rows, rank: int) -> Scalar:
    """Return the product of so many singular values of a matrix, the largest at every state."""
    rates = sorted({k for row in rows for k in row})
    if not rank:
        return builder.number(0)
    if comb(len(rows), rank) * comb(len(rates), rank) > MOST_MINORS:
        square = builder.number(0)
        gram = [dict(enumerate(line)) for line in _gram(builder, rows, rates)]
        for chosen in combinations(range(len(rows)), rank):
            square = square + _minors(builder, [gram[i] for i in chosen], [chosen])[chosen]
        # It is never negative; rounding might make it so.
        return builder.call("sqrt", builder.call("abs", builder.keep(square)))
    columns = list(combinations(rates, rank))
    found = [
        minor
        for chosen in combinations(rows, rank)
        for minor in _minors(builder, chosen, columns).values()
        if not is_zero(minor)
    ]
    if len(found) == 1:
        return builder.call("abs", found[0])
    square = builder.number(0)
    for minor in found:
        square = square + minor * minor
    return builder.call("sqrt", builder.keep(square))


def _gram(builder: Builder, rows: Rows, rates: Sequence[int]) -> list[list[Scalar]]:
    """Return J J^T."""
    zero, gram = builder.number(0), [[builder.number(0)] * len(rows) for _ in rows]
    for i, first in enumerate(rows):
        for k, second in enumerate(rows[: i + 1]):
            total = zero
            for rate in rates:
                total = total + first.get(rate, zero) * second.get(rate, zero)
            gram[i][k] = gram[k][i] = builder.keep(total)
    return gram


def _minors(
    builder: Builder, rows: Rows, columns: Sequence[tuple[int, ...]]
) -> dict[tuple[int, ...], Scalar]:
    """Return the determinants of some columns, by expansion along the last row.

    A minor of the first rows serves all that contain it.
    """
    zero = builder.number(0)

    @cache
    def minor(chosen: tuple[int, ...]) -> Scalar:
        count = len(chosen)
        if not count:
            return builder.number(1)
        row, total = rows[count - 1], zero
        for index, k in enumerate(chosen):
            if k in row:
                part = row[k] * minor(chosen[:index] + chosen[index + 1 :])
                total = total + part if (count - 1 - index) % 2 == 0 else total - part
        return builder.keep(total)

    return {chosen: minor(chosen) for chosen in columns}


class QuantityBuilder(ABC):
    """What builds quantities of a mechanism, those of the operational space among them."""

    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options = PLAIN) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.options = options

    @abstractmethod
    def rows(self, request: OutputRequest) -> Rows:
        """Return the rows of the Jacobian that a request is about."""

    @abstractmethod
    def build(self, request: OutputRequest) -> None:
        """Declare one output."""

    @property
    def choices(self) -> AxisChoices:
        """The choices of axes that were ranked."""
        return self.space.choices

    @cached_property
    def space(self) -> OperationalSpace:
        """What needs the mass matrix."""
        return OperationalSpace(self.builder, self.mechanism, self.options, self._rows_in)

    def point(self, request: OutputRequest, values: Vector) -> None:
        """Declare a vector in world axes."""
        entries = [(f"{request.name}_{AXES[i]}", values[i]) for i in range(3)]
        self.builder.output(request.text, (3,), entries)

    def _rows_in(self, builder: Builder, request: OutputRequest) -> Rows:
        """Return rows of the Jacobian of a request, built in this or another builder."""
        own = self if builder is self.builder else type(self)(builder, self.mechanism)
        return own.rows(request)
