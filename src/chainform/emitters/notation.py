"""How names are written in formulas: symbols that were given, short sines, no two names alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from chainform.emitters.formula import (
    CallFormula,
    Equation,
    Formula,
    NameFormula,
    QuotientFormula,
    angle_formula,
    angle_of,
    power_formula,
    product_formula,
    symbols_in,
)
from chainform.expressions import Mark, Symbol, plain_symbol, symbol_of_name
from chainform.graph import CALLS, Graph

PARTIAL = NameFormula(Symbol(Mark("\u2202")))
"""The sign of partial derivatives."""
DERIVATIVE = re.compile(r"derivative\((.+),(\w+)\)")
"""The name of an output that is the derivative of another one."""
TRIG_FORMS = ("full", "short")
"""How sines and cosines are written: sin(q_2 + q_3), or s_{23} with a legend."""


@dataclass(frozen=True)
class Notation:
    """What is known of the names of a model.

    `symbols` are given for names of inputs. `angles` are the inputs that are angles: only they
    have short sines. `inputs` are what derivatives may be by. Names without a symbol are written
    by their letters and digits.
    """

    symbols: Mapping[str, Symbol] = field(default_factory=dict[str, Symbol])
    angles: frozenset[str] = frozenset()
    inputs: frozenset[str] = frozenset()

    @property
    def indices(self) -> dict[str, str]:
        """The numbers by which angles are named in short sines; none where two have the same."""
        found = {
            name: _index(self.symbols.get(name) or symbol_of_name(name)) for name in self.angles
        }
        used = [index for index in found.values() if index]
        return {name: index for name, index in found.items() if index and used.count(index) == 1}


def _index(symbol: Symbol) -> str:
    texts = [mark.text for mark in symbol.below]
    is_number = len(texts) > 0 and all(text.isascii() and text.isdigit() for text in texts)
    return "".join(texts) if is_number else ""


def names_in_order(graph: Graph, needed: Sequence[int], labels: Iterable[str]) -> list[str]:
    """Return names in the order in which they choose their symbols: inputs, outputs, the others."""
    inputs = [graph.names[v] for v in needed if v in graph.inputs]
    return list(dict.fromkeys([*inputs, *labels, *(graph.names[v] for v in needed)]))


class Letters:
    """The symbols of one document: each name has one, and no two look alike.

    Names are taken in the order in which they come; those known beforehand come first. A symbol
    that would look like one before it gives way to the name letter for letter.
    """

    def __init__(
        self, notation: Notation | None = None, names: Iterable[str] = (), *, trig: str = "full"
    ) -> None:
        self.notation = notation or Notation()
        self.symbols: dict[str, Symbol] = {}
        self.taken: set[tuple[str, ...]] = set()
        self.indices = self.notation.indices if trig == "short" else {}
        self.has_commas = any(len(index) > 1 for index in self.indices.values())
        self.turns: dict[Symbol, CallFormula] = {}
        """The short sines and cosines, with what each stands for."""
        for name in (*self.notation.symbols, *names):
            self(name)

    def __call__(self, name: str) -> Symbol:
        """Return the symbol of a name."""
        if name not in self.symbols:
            symbol = self.notation.symbols.get(name) or symbol_of_name(name)
            self.symbols[name] = self._distinct(symbol, name)
        return self.symbols[name]

    def left(self, name: str) -> Formula:
        """Return how a name stands left of its formula: H_1_1_by_q2 as a partial derivative."""
        whole = DERIVATIVE.fullmatch(name)
        base, *by = whole.groups() if whole else name.split("_by_")
        if not by or not self.notation.inputs.issuperset(by):
            return NameFormula(self(name))
        above = [power_formula(PARTIAL, len(by)), NameFormula(self(base))]
        below = [formula for source in by for formula in (PARTIAL, NameFormula(self(source)))]
        one = Fraction(1)
        return QuotientFormula(product_formula(one, above), product_formula(one, below))

    def _distinct(self, symbol: Symbol, name: str) -> Symbol:
        if "[" in name or symbol.look in self.taken:
            symbol = plain_symbol(name)
        while symbol.look in self.taken:
            symbol = replace(symbol, above=(*symbol.above, Mark("*")))
        self.taken.add(symbol.look)
        return symbol

    @property
    def is_short(self) -> bool:
        """Whether sines have short forms here."""
        return bool(self.indices)

    # --- short sines ------------------------------------------------------------------------

    def of_graph(self, graph: Graph, variables: Iterable[int]) -> Letters:
        """Name the variables that are sines and cosines of angles by their short forms."""
        for v in variables if self.indices else ():
            function = CALLS[int(graph.call[v])] if graph.call[v] else ""
            angle = angle_of(graph, int(graph.argument[v])) if function in ("sin", "cos") else None
            short = None if angle is None else self.turn(function, angle)
            # Two variables may be the same sine; the second keeps its name.
            if short is not None and short not in self.symbols.values():
                self.symbols[graph.names[v]] = short
        return self

    def turn(self, function: str, angle: Mapping[str, Fraction]) -> Symbol | None:
        """Return the sine or cosine of a sum of angles as s_{23}; None where that is not clear."""
        if not all(name in self.indices and abs(k) == 1 for name, k in angle.items()):
            return None
        parts = sorted(angle.items(), key=lambda part: (-part[1], int(self.indices[part[0]])))
        if not parts or parts[0][1] < 0:
            return None
        below: list[Mark] = []
        for name, k in parts:
            joint = "-" if k < 0 else "," if self.has_commas else ""
            below += [Mark(joint)] if below and joint else []
            below.append(Mark(self.indices[name]))
        symbol = Symbol(Mark(function[0]), below=tuple(below))
        if symbol not in self.turns:
            if symbol.look in self.taken:
                return None
            self.taken.add(symbol.look)
            self.turns[symbol] = CallFormula(function, angle_formula(dict(parts), self))
        return symbol

    def legend(self, equations: Sequence[Equation]) -> list[Equation]:
        """Return what the short sines in some equations stand for, unless these say so."""
        defined = {e.left.symbol for e in equations if isinstance(e.left, NameFormula)}
        found = {s for e in equations for s in symbols_in(e.right) if s in self.turns}
        left = sorted(
            found - defined,
            key=lambda s: (
                [int(mark.text) if mark.text.isdigit() else 0 for mark in s.below],
                "sc".index(s.base.text),
            ),
        )
        return [Equation(NameFormula(symbol), self.turns[symbol]) for symbol in left]
