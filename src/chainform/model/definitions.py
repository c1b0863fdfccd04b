"""Outputs of one's own: expressions over the inputs and quantities of a model, with names.

A definition is a name with an expression, with nested lists of them (a vector, a matrix), or with a
quantity that was computed from those of the model. What an expression names is, in this order,
another definition, an input, or a quantity of the model; a name with two meanings is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeAlias, cast

import numpy as np

from chainform.errors import Error, RunError
from chainform.expressions import (
    CONSTANTS,
    FUNCTIONS,
    RATE,
    Apply,
    Binary,
    Constant,
    Expression,
    Identifier,
    Negate,
    Number,
    evaluate_expression,
    format_expression,
    parse_value,
    symbols_of,
)
from chainform.given import Given
from chainform.graph import Builder, Scalar, fits, indices_of, numpy_indices
from chainform.mechanism import number_of
from chainform.model.quantity import Quantity

Nested: TypeAlias = "Expression | Quantity | tuple[Nested, ...]"
Meaning: TypeAlias = "Callable[[str], ScalarArray]"
"""What a name stands for that no definition has."""

MOST_ENTRIES = 100_000
"""The most entries of one definition: a few lines must not be able to fill the memory."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OWN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\[([^\[\]]*)\])?\s*")
INPUT = re.compile(r"\s*input\s*\(\s*(.*?)\s*\)\s*")
INDEXED = re.compile(r"(q|qd|qdd|tau|sigma|wrench)([1-9][0-9]{0,5})")
INPUTS = ("q", "qd", "qdd", "tau", "sigma", "wrench", "t")
"""Groups of inputs, by whose names expressions call them."""
EXPRESSIONS = (Number, Constant, Identifier, Negate, Binary, Apply)


@dataclass(frozen=True, slots=True)
class OutputDefinition:
    """A name, what it stands for, and where that is written."""

    name: str
    value: Nested
    where: str

    @property
    def symbols(self) -> frozenset[str]:
        """What its expressions name."""
        return frozenset[str]().union(*(symbols_of(one) for one in _expressions(self.value)))

    @property
    def text(self) -> str:
        """Its value, as it may be written."""
        return nested_text(self.value)


def _expressions(value: Nested) -> Iterator[Expression]:
    if isinstance(value, tuple):
        for entry in value:
            yield from _expressions(entry)
    elif not isinstance(value, Quantity):
        yield value


def nested_text(value: Nested) -> str:
    """Return what a definition stands for as text."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(nested_text, value))}]"
    return value.text if isinstance(value, Quantity) else format_expression(value)


# --- arrays of scalars ----------------------------------------------------------------------


class ScalarArray:
    """An array of scalars in an expression: sums of arrays of one shape, and multiples of them.

    A product of two arrays is refused, as it may be meant entry by entry or as that of matrices.
    """

    __slots__ = ("entries",)

    def __init__(self, entries: Any) -> None:
        self.entries = np.asarray(entries, dtype=object)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the array; () for a single scalar."""
        return self.entries.shape

    def __neg__(self) -> ScalarArray:
        return ScalarArray(-self.entries)

    def __add__(self, other: ScalarArray) -> ScalarArray:
        _check_shapes(self, other)
        return ScalarArray(self.entries + other.entries)

    def __sub__(self, other: ScalarArray) -> ScalarArray:
        _check_shapes(self, other)
        return ScalarArray(self.entries - other.entries)

    def __mul__(self, other: ScalarArray) -> ScalarArray:
        _check_single(self, other)
        return ScalarArray(self.entries * other.entries)


def _check_shapes(*arrays: ScalarArray) -> None:
    shapes = {array.shape for array in arrays if array.shape}
    if len(shapes) > 1:
        raise RunError(
            f"arrays of the shapes {' and '.join(map(str, sorted(shapes)))} do not fit together",
            remedy="name entries, as in H[1,2]",
        )


def _check_single(*arrays: ScalarArray) -> None:
    if sum(bool(array.shape) for array in arrays) > 1:
        raise RunError(
            "a product of two arrays may mean that of their entries, or of matrices",
            remedy='name entries, as in H[1,2]*qd2, or compute with quantities: model["H"] @ '
            'model["qd"]',
        )


class ArrayArithmetic:
    """Expressions whose values are arrays of scalars."""

    def __init__(self, builder: Builder) -> None:
        # A stored model is loaded, and run, without any method of mechanics.
        from chainform.formulations import BuilderArithmetic

        self.scalars = BuilderArithmetic(builder)

    def number(self, value: Fraction) -> ScalarArray:
        """Return an exact number."""
        return ScalarArray(self.scalars.number(value))

    def call(self, function: str, arguments: Sequence[ScalarArray]) -> ScalarArray:
        """Return a function of each entry; where there are several arguments, of single ones."""
        if len(arguments) > 1:
            _check_single(*arguments)

        def entry(*scalars: Scalar) -> Scalar:
            return self.scalars.call(function, scalars)

        return ScalarArray(np.frompyfunc(entry, len(arguments), 1)(*(a.entries for a in arguments)))


# --- definitions from what is given ---------------------------------------------------------


def definitions_in(outputs: object) -> list[OutputDefinition]:
    """Return the definitions of a mapping from names to expressions, lists or quantities."""
    remedy = 'write {"power": "tau1*qd1"}'
    table = Given(outputs, "outputs", raises=RunError).table(remedy=remedy).value
    if not table:
        raise RunError("no outputs are given", element="outputs", remedy=remedy)
    return [OutputDefinition(name, _nested(value, name), name) for name, value in table.items()]


def _nested(value: Any, name: str, depth: int = 0) -> Nested:
    if isinstance(value, (Quantity, *EXPRESSIONS)):
        return cast("Nested", value)
    if isinstance(value, np.ndarray):
        value = cast("Any", value).tolist()
    if isinstance(value, list | tuple):
        entries = cast("Sequence[Any]", value)
        if not entries or depth > 8:
            what = "lists are nested too deep" if entries else "a list is empty"
            raise RunError(what, element=name, remedy="write [a, b] or [[a, b], [c, d]]")
        return tuple(_nested(entry, name, depth + 1) for entry in entries)
    with Given(value, name, raises=RunError).translate_errors():
        if isinstance(value, str):
            return parse_value(value)
        number = number_of(value)
    return Number(number) if isinstance(number, Fraction) else number


def check_name(name: str, where: str) -> None:
    """Refuse what cannot be the name of an output."""
    message = ""
    if NAME.fullmatch(name) is None or len(name) > 200:
        message = f"{name[:40]!r} is not a name: it has letters, digits and underscores"
    elif name in FUNCTIONS or name in CONSTANTS or name in (RATE, "input", "d"):
        message = f"{name} is a word of expressions"
    elif INDEXED.fullmatch(name) is not None or name in INPUTS:
        message = f"{name} is the name of an input"
    if message:
        raise RunError(message, element=where[:60], remedy="choose another name")


# --- values in a graph ----------------------------------------------------------------------


def ordered(definitions: Iterable[OutputDefinition]) -> list[OutputDefinition]:
    """Return definitions in an order in which each needs only those before it."""
    by_name = {definition.name: definition for definition in definitions}
    needs = {name: _own_needs(d, by_name) for name, d in by_name.items()}
    try:
        return [by_name[name] for name in TopologicalSorter(needs).static_order()]
    except CycleError as error:
        circle = cast("list[str]", error.args[1])
        raise RunError(
            f"the definitions go round in a circle: {' -> '.join(circle[::-1][:8])}",
            element=by_name[circle[0]].where,
            remedy="define one of them without the others",
        ) from None


def _own_needs(definition: OutputDefinition, names: Mapping[str, object]) -> list[str]:
    heads = (own_name(text, names) for text in sorted(definition.symbols))
    return [name for name in heads if name is not None]


def own_name(text: str, names: Mapping[str, object]) -> str | None:
    """Return the definition that a text names, or names an entry of: p, p[2], p_2; or None."""
    match = OWN.fullmatch(text)
    if match is None:
        return None
    head = match[1]
    while head not in names:
        head, mark, number = head.rpartition("_")
        if not mark or not number.isdigit() or match[2] is not None:
            return None
    return head


@dataclass(frozen=True, slots=True)
class Scope:
    """A graph under construction, the definitions built into it, and what other names mean."""

    builder: Builder
    meaning: Meaning
    own: dict[str, ScalarArray]

    def add(self, definition: OutputDefinition) -> None:
        """Build a definition; its entries become variables with names."""
        with error_context(definition.where):
            value = self._value(definition.value)
        if value.entries.size > MOST_ENTRIES:
            raise RunError(
                f"{definition.name} has {value.entries.size} entries",
                element=definition.where,
                remedy=f"at most {MOST_ENTRIES} are possible",
            )
        labels = labels_of(definition.name, value.shape)
        name = np.frompyfunc(self.builder.name, 2, 1)
        with error_context(definition.where):
            self.own[definition.name] = ScalarArray(name(labels, value.entries))

    def _value(self, value: Nested) -> ScalarArray:
        if isinstance(value, tuple):
            entries = [self._value(entry) for entry in value]
            if len({entry.shape for entry in entries}) > 1:
                message = "the entries of a list have different shapes"
                raise RunError(message, remedy="write lists of one length: [[a, b], [c, d]]")
            return ScalarArray(np.stack([entry.entries for entry in entries]))
        if isinstance(value, Quantity):
            return ScalarArray(value.scalars_in(self.builder))
        symbols = {text: self._symbol(text) for text in sorted(symbols_of(value))}
        return evaluate_expression(value, symbols, ArrayArithmetic(self.builder))

    def _symbol(self, text: str) -> ScalarArray:
        name = own_name(text, self.own)
        if name is None:
            return self.meaning(text)
        array, match = self.own[name], OWN.fullmatch(text)
        assert match is not None
        numbers = match[1].removeprefix(name).strip("_").replace("_", ",") or match[2]
        if numbers is None:
            return array
        indices = indices_of(numbers, text)
        if not fits(indices, array.shape) or (match[2] is None and len(indices) < len(array.shape)):
            message = f"{name} has the shape {array.shape}; there is no entry {text.strip()[:40]}"
            raise RunError(message, remedy="indices count from 1")
        return ScalarArray(array.entries[numpy_indices(indices)])


def labels_of(name: str, shape: tuple[int, ...]) -> Any:
    """Return the names of the entries of an array: K_1_2."""
    labels = np.empty(shape, dtype=object)
    for index in np.ndindex(*shape):
        labels[index] = "_".join([name, *(str(i + 1) for i in index)])
    return labels


@contextmanager
def error_context(where: str) -> Generator[None]:
    """Say of an error in an expression where that is written."""
    try:
        yield
    except Error as problem:
        inner = problem.element
        element = where if inner in (None, where) else f"{where}: {inner}"
        raise RunError(problem.message, element=element[:200], remedy=problem.remedy) from None


def declare(builder: Builder, arrays: Mapping[str, ScalarArray]) -> None:
    """Make arrays outputs of a graph."""
    for name, array in arrays.items():
        labels = labels_of(name, array.shape)
        builder.output(name, array.shape, list(zip(labels.flat, array.entries.flat, strict=True)))
