"""Accelerations as the solution of H qdd = tau - bias, and their derivatives.

They follow from inverse dynamics at these accelerations, by the factors of H that are there
anyway: with ID(q, qd, qdd, ...) = tau,

    H d qdd = d tau - d ID     at constant qdd

What accelerates a free root and all it carries alike, Y of composite_derivatives.py, needs no H.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainform.formulations.composite_derivatives import COMMON
from chainform.formulations.shared.directions import Directions
from chainform.formulations.shared.options import GraphOf
from chainform.formulations.shared.outputs import Factorisation, declare
from chainform.graph import Builder, Direction, Scalar, include, is_zero


class SolvedAccelerations:
    """The accelerations of a mechanism whose mass matrix is an output of the builder.

    `split_of` gives derivatives of inverse dynamics without common accelerations, and these.
    """

    def __init__(
        self, builder: Builder, nv: int, graph_of: GraphOf, split_of: GraphOf | None
    ) -> None:
        self.builder = builder
        self.graph_of = graph_of
        self.split_of = split_of
        self._known: dict[str, list[list[Scalar]]] = {}
        self._expected: list[str] = []
        self._entries: dict[str, tuple[Scalar, ...]] = {}
        entries = [builder.scalar(v) for v in builder.outputs["mass_matrix"].variables]
        matrix = {divmod(i, nv): value for i, value in enumerate(entries) if not is_zero(value)}
        self.factors = Factorisation(matrix, range(nv))
        self.qdd = [builder.number(0)] * nv
        bias = self._of_inverse_dynamics("inverse_dynamics")
        tau = [builder.input(f"tau{k + 1}", "tau", k) for k in range(nv)]
        found = self.factors.solve({k: tau[k] - bias[k] for k in range(nv)})
        declare(builder, "forward_dynamics", "qdd", (nv,), found)
        self.qdd = [found[k] for k in range(nv)]

    def _of_inverse_dynamics(
        self, output: str, weights: Sequence[Scalar] = ()
    ) -> tuple[Scalar, ...]:
        """Return the entries of an output of inverse dynamics at the accelerations."""
        given = {f"qdd{k + 1}": value for k, value in enumerate(self.qdd)}
        given |= {f"weights{k + 1}": value for k, value in enumerate(weights)}
        return include(self.builder, self.graph_of([output]), given, [output])[output]

    def _columns(self, by: Directions) -> list[list[Scalar]]:
        """Return d tau - d ID in each direction, and zeros in those of qdd, which is no input."""
        nv, number = len(self.qdd), self.builder.number
        group = _group_of(by)
        if group == "tau":
            places = [int(name.removeprefix("tau")) - 1 for name in by.each]
            return [[number(int(i == place)) for i in range(nv)] for place in places]
        if group == "qdd":
            return [[number(0)] * nv for _ in by.each]
        entries = self._slopes(by.word)
        count = len(by.each)
        return [[-entries[i * count + k] for i in range(nv)] for k in range(count)]

    def expect(self, words: Sequence[str]) -> None:
        """Announce by what derivatives are wanted: those of inverse dynamics share their sweeps."""
        plain = [word for word in words if word.rstrip("0123456789") not in ("tau", "qdd")]
        self._expected = plain

    def _slopes(self, word: str) -> tuple[Scalar, ...]:
        """Return the entries of a derivative of inverse dynamics at the accelerations."""
        text = f"derivative(inverse_dynamics,{word})"
        if text not in self._entries:
            words = [w for w in self._expected if self._is_split(w) == self._is_split(word)]
            words = list(dict.fromkeys([word, *words]))
            texts = [f"derivative(inverse_dynamics,{w})" for w in words]
            graph_of = self.graph_of
            if self.split_of is not None and self._is_split(word):
                graph_of = self.split_of
                texts += [COMMON[w] for w in words]
            given = {f"qdd{k + 1}": value for k, value in enumerate(self.qdd)}
            self._entries |= include(self.builder, graph_of(texts), given, texts)
        return self._entries[text]

    def derivatives(self, by: Directions) -> list[list[Scalar]]:
        """Return the derivatives of the accelerations, a row for each of them."""
        if by.word == "tau":
            x, each = self.factors.inverted(), range(len(self.qdd))
            self._known.setdefault(by.word, [[x[i, k] for k in each] for i in each])
        if by.word not in self._known:
            columns = [self._solved(column) for column in self._columns(by)]
            rows = [list(row) for row in zip(*columns, strict=True)]
            if self._is_split(by.word):
                common = iter(self._entries[COMMON[by.word]])
                rows = [[value - next(common) for value in row] for row in rows]
            self._known[by.word] = rows
        return self._known[by.word]

    def _is_split(self, word: str) -> bool:
        return self.split_of is not None and word in COMMON

    def tangents(self, by: Directions, name: str) -> Direction:
        """Return how the accelerations change in one direction."""
        place = list(by.each).index(name)
        rows = zip(self.qdd, self.derivatives(by), strict=True)
        return {self.builder.variable_of(qdd): row[place] for qdd, row in rows}

    def weighted(self, by: Directions, weights: Sequence[Scalar]) -> list[Scalar]:
        """Return the derivatives of the sum of the accelerations with weights."""
        shares, group = self._solved(weights), _group_of(by)
        if group in ("tau", "qdd"):
            columns = self._columns(by)
            return [_dot(self.builder, column, shares) for column in columns]
        text = f"product(weights,derivative(inverse_dynamics,{by.word}))"
        return [-value for value in self._of_inverse_dynamics(text, shares)]

    def along(self, by: Directions, direction: Sequence[Scalar]) -> list[Scalar]:
        """Return the derivatives of the accelerations in a direction."""
        if _group_of(by) in ("tau", "qdd"):
            rows = zip(*self._columns(by), strict=True)
            return self._solved([_dot(self.builder, row, direction) for row in rows])
        text = f"product(derivative(inverse_dynamics,{by.word}),direction)"
        return self._solved([-value for value in self._of_inverse_dynamics(text)])

    def _solved(self, right: Sequence[Scalar]) -> list[Scalar]:
        found = self.factors.solve({k: v for k, v in enumerate(right) if not is_zero(v)})
        return [found[k] for k in range(len(right))]


def _group_of(by: Directions) -> str:
    """Return the group of inputs that a derivative is taken by, or the input without its number."""
    return by.word if by.is_group else next(iter(by.each)).rstrip("0123456789")


def _dot(builder: Builder, left: Sequence[Scalar], right: Sequence[Scalar]) -> Scalar:
    total = builder.number(0)
    for a, b in zip(left, right, strict=True):
        total = total + a * b
    return builder.keep(total)
