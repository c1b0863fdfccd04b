"""A model that consists of expressions: a file of them, or a mapping from names.

It has a mechanism without segments, whose inputs are parameters and, where the expressions name
q1, qd1, qdd1 or tau1, as many coordinates as are named.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from time import perf_counter
from typing import Any

from chainform.errors import Error, ReadError
from chainform.expressions import FUNCTIONS, RATE, ExpressionFile, read_statements
from chainform.given import near
from chainform.graph import Builder
from chainform.mechanism import Mechanism, MechanismBuilder
from chainform.model.definitions import (
    OutputDefinition,
    ScalarArray,
    Scope,
    check_name,
    declare,
    definitions_in,
    error_context,
    labels_of,
    ordered,
    own_name,
)
from chainform.model.model import Model
from chainform.model.own_outputs import group_entry
from chainform.readers import Source, bytes_of, text_of
from chainform.search import stage_of

FORMULATION = "expressions"
"""What stands for the method of a model that was not derived from a mechanism."""
MOST_COORDINATES = 1000
"""The greatest number of a coordinate that expressions may name."""
GROUPS = ("q", "qd", "qdd", "tau")
NUMBER = re.compile(r"\s*[1-9][0-9]{0,5}\s*")


def read_expressions(
    source: str | PathLike[str] | Mapping[str, Any], outputs: Iterable[str] | None = None
) -> Model:
    """Return the model of a file of expressions, or of a mapping from names to expressions.

    A line `Y = a*b + sin(q1)^2` defines a quantity, from others and from inputs, in any order;
    `[a, b]` is a vector. Names that nothing defines are parameters, but for q1, qd1, qdd1, tau1
    and the time t. What no other line needs is an output; `outputs`, here or as a line of the file,
    says otherwise. Every other name is an intermediate quantity.
    """
    if isinstance(source, Mapping):
        return _model(definitions_in(source), ExpressionFile(), outputs, Source(None))
    file = Source(str(source), bytes_of(source))
    with _file_errors(file):
        return model_of_text(text_of(file.data or b"", file), outputs, file)


def model_of_text(
    text: str, outputs: Iterable[str] | None = None, source: Source | None = None
) -> Model:
    """Return the model of the text of such a file."""
    statements = read_statements(text)
    given = [
        OutputDefinition(s.name, s.value, f"line {s.line}, {s.name}")
        for s in statements.definitions
    ]
    return _model(given, statements, outputs, source or Source(None))


@contextmanager
def _file_errors(source: Source) -> Generator[None]:
    """Say of every error in which file it is."""
    try:
        yield
    except Error as problem:
        if problem.file is not None:
            raise
        raise source.error(problem.message, problem.remedy or "", problem.element) from None


def _model(
    definitions: Sequence[OutputDefinition],
    statements: ExpressionFile,
    outputs: Iterable[str] | None,
    source: Source,
) -> Model:
    began = perf_counter()
    names = {definition.name: definition for definition in definitions}
    for definition in definitions:
        check_name(definition.name, definition.where)
        _check_label(definition, names)
    builder = Builder()
    meaning = InputMeaning(builder, statements.parameters)
    for name, value in (statements.parameters or {}).items():
        _check_parameter(name, names)
        builder.parameter(name, value)
    in_order = ordered(definitions)
    for definition in definitions:
        # Inputs are numbered as the file names them, not as they are needed.
        with error_context(definition.where):
            for text in sorted(definition.symbols):
                if own_name(text, names) is None:
                    meaning(text)
    scope = Scope(builder, meaning, {})
    for definition in in_order:
        scope.add(definition)
    chosen = _outputs(definitions, outputs, statements.outputs)
    for name, array in scope.own.items():
        if name not in chosen:
            labels = labels_of(name, array.shape)
            entries = list(zip(labels.flat, array.entries.flat, strict=True))
            builder.quantity(name, array.shape, entries)
    declare(builder, {name: scope.own[name] for name in chosen})
    graph = builder.finish()
    mechanism = _mechanism(builder, meaning.count, source)
    model = Model(mechanism, graph, FORMULATION, "symbolic", "none")
    return replace(model, stages=(stage_of(FORMULATION, graph, perf_counter() - began),))


def _check_label(definition: OutputDefinition, names: Mapping[str, object]) -> None:
    """Refuse a name that an entry of another definition could have: p_1 next to p."""
    others = {name: None for name in names if name != definition.name}
    other = own_name(definition.name, others)
    if other is not None and isinstance(getattr(names[other], "value", None), tuple):
        message = f"{definition.name} is the name of an entry of {other}"
        raise ReadError(message, element=definition.where, remedy="choose another name")


def _check_parameter(name: str, names: Mapping[str, object]) -> None:
    check_name(name, f"parameters, {name}")
    if name in names:
        message = f"{name} is a parameter, and is defined as well"
        raise ReadError(message, element=f"parameters, {name}", remedy="keep one of the two")


def _outputs(
    definitions: Sequence[OutputDefinition], outputs: Iterable[str] | None, own: list[str] | None
) -> list[str]:
    """Return the names of the outputs: those given, or what no other definition needs."""
    names = {definition.name: definition for definition in definitions}
    given = own if outputs is None else [outputs] if isinstance(outputs, str) else list(outputs)
    if given is not None:
        for name in given:
            if name not in names:
                remedy = near(name, names) or f"defined are {', '.join(list(names)[:20])}"
                raise ReadError(
                    f"{str(name)[:60]} is not defined", element="outputs", remedy=remedy
                )
        return list(dict.fromkeys(given))
    used = {own_name(text, names) for definition in definitions for text in definition.symbols}
    return [name for name in names if name not in used]


def _mechanism(builder: Builder, count: int, source: Source) -> Mechanism:
    """Return a mechanism without segments: parameters, and coordinates where some are named."""
    name = source.name if source.file else FORMULATION
    made = MechanismBuilder(name, (0, 0, 0), file=source.file, source=source.data)
    for given in builder.inputs.values():
        if given.group == "parameter":
            made.parameter(given.name, given.default)
    made.coordinates(*(f"q{k + 1}" for k in range(count)))
    # That no part of the mechanism has these parameters is no news: the expressions have them.
    return replace(made.build(), notes=())


@dataclass(slots=True)
class InputMeaning:
    """What names mean that expressions do not define: inputs, each declared at its first use."""

    builder: Builder
    parameters: Mapping[str, Fraction | None] | None
    count: int = 0
    """How many coordinates are named so far."""

    def __call__(self, text: str) -> ScalarArray:
        """Return the input of a name; RunError where there can be none."""
        name = text.strip()
        rate = re.fullmatch(rf"{RATE}\(q([1-9][0-9]*)\)", name)
        entry = ("qd", rate[1]) if rate is not None else group_entry(name)
        if entry is not None:
            return self._entry(name, *entry)
        if name == "t":
            return ScalarArray(self.builder.input("t", "t", 0))
        if "(" in name:
            word = name.partition("(")[0].strip()
            remedy = f"{near(word, FUNCTIONS)}the functions are {', '.join(FUNCTIONS)}"
            raise ReadError(f"there is no function named {word[:40]!r}", remedy=remedy)
        if "[" in name or "." in name:
            message = f"{name[:40]} is an entry of something that is not defined"
            raise ReadError(message, remedy="define it, as in p = [a, b]")
        if self.parameters is not None and name not in self.parameters:
            remedy = f"{near(name, self.parameters)}define it, or list it among the parameters"
            raise ReadError(f"{name[:60]} is not defined", remedy=remedy)
        check_name(name, name)
        return ScalarArray(self.builder.parameter(name))

    def _entry(self, name: str, group: str, number: str) -> ScalarArray:
        if group not in GROUPS or NUMBER.fullmatch(number) is None:
            message = f"{name[:40]} is not an input of expressions"
            raise ReadError(message, remedy="name entries one by one, as in q1, qd1, qdd1 or tau1")
        index = int(number)
        if index > MOST_COORDINATES:
            message = f"{name[:40]} would be one of {index} coordinates"
            raise ReadError(message, remedy=f"at most {MOST_COORDINATES} are possible")
        self.count = max(self.count, index)
        return ScalarArray(self.builder.input(f"{group}{index}", group, index - 1))
