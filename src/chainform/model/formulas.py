"""Formulas of quantities for papers and pages: how a mechanism names things, and whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from chainform.emitters import (
    DERIVATIVE,
    TRIG_FORMS,
    WIDTH,
    ZERO,
    Equation,
    Formula,
    Letters,
    MatrixFormula,
    NameFormula,
    Notation,
    array_name,
    definition_formula,
    equations_latex,
    equations_mathml,
    expansion_formula,
    formula_latex,
    names_in_order,
    visible,
)
from chainform.expressions import Identifier, Symbol, is_short, parse_symbol, symbol_of_name
from chainform.given import argument
from chainform.graph import LIMIT, Expansion, Graph, digits_of, rounded
from chainform.mechanism import GROUND, InertialElement, JointKind, Mechanism
from chainform.model.names import letter_of


class FormulaOptions(TypedDict, total=False):
    """Options of formulas in LaTeX and MathML."""

    trig: str
    """`full` writes sin(q_2 + q_3), `short` s_{23} with a legend."""
    symbols: Mapping[str, str]
    """Symbols of coordinates and parameters, in LaTeX: {"crank": r"\\theta"}."""
    width: int | None
    """Characters of a line, about; None for one line."""
    environment: str
    """`aligned` stands inside mathematics; `align*` by itself, if long on several pages."""
    angles: str | None
    """How expanded formulas write sums of angles; None for the shortest."""
    digits: int | None
    """Significant digits to which numbers are rounded; None for exact ones."""


# --- names ------------------------------------------------------------------------------------


def notation_of(
    mechanism: Mechanism, symbols: Mapping[str, str] | None = None, names: Sequence[str] = ()
) -> Notation:
    """Return how the names of a mechanism are written.

    Coordinates bear their own names where these are a letter with indices, such as theta1 or x,
    and their rates those with dots; others are q_i. Parameters have the symbols of the file.
    `symbols` come before both; they may be of other `names` as well.
    """
    found: dict[str, Symbol] = {}
    rates, parameters = mechanism.rates, [p.name for p in mechanism.parameters]
    known = list(dict.fromkeys([*mechanism.coordinates, *rates, *parameters]))
    given: dict[str, Symbol] = {}
    owners: dict[tuple[str, ...], str] = {}
    for name, text in argument("symbols", symbols or {}).table().items():
        symbol = _parsed(name, text.value, known, {*known, *names})
        meant = _input_meant(mechanism, name)
        if meant in given:
            raise argument("symbols", name).error(f"{meant} has two symbols", "leave one out")
        if (other := owners.setdefault(symbol.look, str(name))) != name:
            problem = f"it looks like the symbol of {other}"
            raise argument("symbols", name).error(problem, "give each a symbol of its own")
        given[meant] = symbol
    for i, name in enumerate(mechanism.coordinates, start=1):
        found |= _coordinate(mechanism, i, name, given.get(f"q{i}"))
    for i, name in enumerate(rates, start=1):
        if name in mechanism.coordinates:
            continue
        own = given.get(f"qd{i}") or symbol_of_name(name)
        if is_short(own):
            found[f"qd{i}"] = own
            dotted = own.with_accent("dot")
            found |= {f"qdd{i}": dotted} if dotted else {}
    found |= {p.name: parse_symbol(p.symbol) for p in mechanism.parameters if p.symbol}
    inputs = [f"{g}{i + 1}" for g in ("q", "qd", "qdd", "tau") for i in range(mechanism.nv + 1)]
    inputs += ["q", "qd", "qdd", "tau", *parameters, *mechanism.coordinates, *rates]
    return Notation({**found, **given}, frozenset(_angles(mechanism)), frozenset(inputs))


def _input_meant(mechanism: Mechanism, name: str) -> str:
    """Return the input that a name stands for; RunError where it may be either of two."""
    names = [*mechanism.coordinates, *mechanism.rates]
    inputs = [f"q{i}" for i, _ in enumerate(mechanism.coordinates, start=1)]
    inputs += [f"qd{i}" for i, _ in enumerate(mechanism.rates, start=1)]
    own = inputs[names.index(name)] if name in names else name
    if name in inputs and name != own:
        problem = f"{name} may mean {' or '.join(sorted((name, own)))}"
        raise argument("symbols", name).error(problem, "rename the joint in the mechanism")
    return own


def _parsed(name: object, text: object, shown: list[str], known: Container[object]) -> Symbol:
    given = argument("symbols", name)
    if name not in known:
        raise given.unknown("coordinate or parameter", shown)
    given = argument(f"symbols, {name}", text)
    with given.translate_errors():
        return parse_symbol(given.text(r'write {"crank": r"\theta_1"}'))


def _coordinate(mechanism: Mechanism, i: int, name: str, given: Symbol | None) -> dict[str, Symbol]:
    """Return the symbols of a coordinate, its rate and its acceleration."""
    own = given or symbol_of_name(name)
    if not is_short(own):
        return {}
    found = {f"q{i}": own}
    # With a quaternion the rates have numbers of their own.
    if mechanism.nq == mechanism.nv and mechanism.rates[i - 1] == name:
        for rate, accent in ((f"qd{i}", "dot"), (f"qdd{i}", "ddot")):
            dotted = own.with_accent(accent)
            found |= {rate: dotted} if dotted else {}
    return found


def _angles(mechanism: Mechanism) -> list[str]:
    """Return the inputs that are angles."""
    segments = mechanism.segments
    return [
        f"q{i}"
        for i, record in enumerate(mechanism.coordinate_records, start=1)
        if (
            record.unit != "m"
            if record.segment == GROUND
            else segments[record.segment].joint.kind is JointKind.REVOLUTE
        )
    ]


def masses_of(mechanism: Mechanism) -> frozenset[str]:
    """Return the parameters that are the mass of a body, and so are not negative."""
    bodies = [segment.body.mass for segment in mechanism.segments]
    bodies += [e.mass for e in mechanism.elements if isinstance(e, InertialElement)]
    return frozenset(mass.name for mass in bodies if isinstance(mass, Identifier))


# --- quantities -------------------------------------------------------------------------------


@dataclass(frozen=True)
class FormulaArray:
    """A formula, or an array of them, with the symbols of one document."""

    name: str
    labels: NDArray[np.str_]
    variables: NDArray[np.int64]
    letters: Letters
    right: Callable[[int], Formula]
    """Returns what a variable is: its definition, or its expression of the inputs."""
    is_whole: bool = True
    """Whether these are all entries of what the name means, so that it may stand for them."""

    def equations(self, width: int | None) -> list[Equation]:
        """Return a matrix where it fits, else an equation for each entry.

        An array of three indices is a matrix for each value of the first.
        """
        if self.variables.shape:
            return self._matrices(width) or self._entries(width)
        left = self.letters.left(str(self.labels))
        return [Equation(left, self.right(int(self.variables)))]

    def _matrices(self, width: int | None) -> list[Equation]:
        """Return a vector or matrix, or one for each first index; nothing if one is too wide."""
        array = self.variables
        if array.ndim > 3 or not array.size or not self.is_whole:
            return []
        name = self.letters.left(self._own_name)
        parts = list(array) if array.ndim == 3 else [array]
        found: list[Equation] = []
        for number, part in enumerate(parts, start=1):
            rows = part.reshape(part.shape[0], -1).tolist()
            matrix = MatrixFormula(tuple(tuple(map(self.right, row)) for row in rows))
            if width is not None and _matrix_width(matrix) > width:
                return []
            left = name
            if array.ndim == 3:
                if not isinstance(name, NameFormula):
                    return []
                left = NameFormula(array_name(name.symbol, [number]))
            found.append(Equation(left, matrix))
        return found

    @property
    def _own_name(self) -> str:
        """The name without indices: of an output of a frame as its entries have it, T_gripper."""
        if whole := DERIVATIVE.fullmatch(self.name):
            return f"derivative({letter_of(whole[1]) or whole[1]},{whole[2]})"
        stem, *indices = str(self.labels.flat[0]).rsplit("_", self.labels.ndim)
        is_numbered = all(index == "1" for index in indices)
        return stem if "(" in self.name and is_numbered else letter_of(self.name) or self.name

    def _entries(self, width: int | None) -> list[Equation]:
        """Return each formula once, behind the names of all entries that have it; zeros last."""
        names: dict[int, list[Formula]] = {}
        for label, variable in zip(self.labels.flat, self.variables.flat, strict=True):
            names.setdefault(int(variable), []).append(self.letters.left(str(label)))
        rows = [(lefts, self.right(variable)) for variable, lefts in names.items()]
        zeros = [left for lefts, right in rows if right == ZERO for left in lefts]
        rows = [row for row in rows if row[1] != ZERO] + ([(zeros, ZERO)] if zeros else [])
        return [equation for lefts, right in rows for equation in _chained(lefts, right, width)]

    def latex(self, options: FormulaOptions) -> str:
        """Return it as LaTeX."""
        width, environment = options.get("width", WIDTH), options.get("environment", "aligned")
        if width is not None:
            argument("width", width).whole(10)
        argument("environment", environment).choice(("aligned", "align*"))
        equations = self.equations(width)
        return equations_latex(equations, width, environment, self.letters.legend(equations))

    def mathml(self) -> str:
        """Return it as MathML."""
        equations = self.equations(WIDTH)
        return equations_mathml(equations, self.letters.legend(equations))


def _chained(lefts: Sequence[Formula], right: Formula, width: int | None) -> Iterator[Equation]:
    """Yield a = b = ... = right, in several equations where the names do not fit into a line."""
    left, *others = lefts
    for other in others:
        longer = Equation(left, other)
        if width is not None and visible(formula_latex(longer)) > width // 4:
            yield Equation(left, right)
            # What stands behind the first line is what its entries are.
            right = right if right == ZERO else lefts[0]
            left = other
        else:
            left = longer
    yield Equation(left, right)


def _matrix_width(matrix: MatrixFormula) -> int:
    """Return about how many characters wide a matrix is."""
    columns = zip(*matrix.rows, strict=True)
    widths = (max(visible(formula_latex(cell)) for cell in column) for column in columns)
    return 4 + sum(width + 2 for width in widths)


def formula_array(
    quantity: DefinedArray, options: FormulaOptions, *, expanded: bool = False
) -> FormulaArray:
    """Return the definitions of a quantity, or the expressions of its variables by the inputs."""
    graph, variables, labels = quantity.graph, quantity.variables, quantity.labels
    numbers = variables.ravel().tolist()
    letters = letters_of(quantity, options, expanded=expanded)
    digits = digits_of(options.get("digits"))
    if expanded:
        wanted = list(dict.fromkeys(numbers))
        written = expressions(graph, wanted, options.get("angles"))
        found = dict(zip(wanted, written, strict=True))
        right = _written(found, letters, digits)
    else:
        right = partial(definition_formula, graph, lettering=letters, angles=letters.is_short)
        right = partial(right, digits=digits)
    return FormulaArray(quantity.name, labels, variables, letters, right, is_whole(quantity))


def is_whole(quantity: DefinedArray) -> bool:
    """Whether a quantity has all entries of its name, in their order."""
    graph, name, labels = quantity.graph, quantity.name, quantity.labels
    block = {**graph.quantities, **graph.outputs}.get(name)
    if block is not None:
        return labels.shape == block.shape and tuple(map(str, labels.ravel())) == block.labels
    return _is_numbered(name, labels)


def _is_numbered(name: str, labels: NDArray[np.str_]) -> bool:
    """Whether entries bear the name, or its letter, and their indices."""
    at = list(np.ndindex(*labels.shape))
    texts = list(map(str, labels.ravel()))
    names = {name, letter_of(name) or name}
    return any(texts == ["_".join([n, *(str(i + 1) for i in k)]) for k in at] for n in names)


def letters_of(
    quantity: DefinedArray, options: FormulaOptions, *, expanded: bool = False
) -> Letters:
    """Return the symbols of a quantity, and of its inputs or of all that it is computed from."""
    graph = quantity.graph
    needed = np.flatnonzero(graph.cone(quantity.variables.ravel())).tolist()
    labels = list(map(str, quantity.labels.ravel()))
    notation = notation_of(quantity.model.mechanism, options.get("symbols"), graph.names)
    if expanded:
        return _letters(
            notation,
            names_in_order(graph, [v for v in needed if v in graph.inputs], labels),
            options,
        )
    letters = _letters(notation, names_in_order(graph, needed, labels), options)
    return letters.of_graph(graph, needed)


def _of_accelerations(notation: Notation) -> Notation:
    """Give the entries of the forward dynamics the symbols of the accelerations that they are."""
    symbols = {
        f"qdd_{name[3:]}" if name.startswith("qdd") else name: symbol
        for name, symbol in notation.symbols.items()
    }
    return Notation(symbols, notation.angles, notation.inputs)


def _letters(notation: Notation, names: Sequence[str], options: FormulaOptions) -> Letters:
    known = list(FormulaOptions.__annotations__)
    for name in options:
        if name not in known:
            raise argument("formula", name).unknown("option", known)
    trig = argument("trig", options.get("trig", "full")).choice(TRIG_FORMS)
    return letters_in_order(notation, names, trig)


def letters_in_order(notation: Notation, names: Sequence[str], trig: str = "full") -> Letters:
    """Return the symbols of names in this order; accelerations that come out are those of rates."""
    accelerations = [name for name in names if name.startswith("qdd")]
    if accelerations and all(name.startswith("qdd_") for name in accelerations):
        notation = _of_accelerations(notation)
    return Letters(notation, names, trig=trig)


def expressions(
    graph: Graph, variables: Sequence[int], angles: str | None = None, limit: int | None = LIMIT
) -> list[Expansion]:
    """Return variables as expressions over the inputs."""
    # Exact polynomials take long to import; a model is derived and run without them.
    from chainform.algebra import formulas

    return formulas(graph, variables, angles=angles, limit=limit)


def expanded_formulas(
    name: str,
    labels: NDArray[np.str_],
    expansions: NDArray[Any],
    notation: Notation,
    options: FormulaOptions,
) -> FormulaArray:
    """Return expressions with their names; equal ones are the same variable."""
    letters = _letters(notation, [*map(str, labels.flat)], options)
    flat: list[Expansion] = list(expansions.flat)
    number: dict[Expansion, int] = {}
    variables = [number.setdefault(expansion, len(number)) for expansion in flat]
    array = np.array(variables, dtype=np.int64).reshape(expansions.shape)
    right = _written(dict(enumerate(number)), letters, digits_of(options.get("digits")))
    return FormulaArray(name, labels, array, letters, right, _is_numbered(name, labels))


def _written(
    expansions: Mapping[int, Expansion], letters: Letters, digits: int | None
) -> Callable[[int], Formula]:
    def right(variable: int) -> Formula:
        exact = expansions[variable]
        shown = exact if digits is None else rounded(exact, digits)
        return expansion_formula(shown, letters, letters.turn)

    return right


class MechanismModel(Protocol):
    """What formulas ask a model for."""

    @property
    def mechanism(self) -> Mechanism: ...


class DefinedArray(Protocol):
    """A quantity as its formulas see it."""

    @property
    def name(self) -> str: ...

    @property
    def graph(self) -> Graph: ...

    @property
    def variables(self) -> NDArray[np.int64]: ...

    @property
    def labels(self) -> NDArray[np.str_]: ...

    @property
    def model(self) -> MechanismModel: ...
