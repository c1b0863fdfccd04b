"""Further outputs of a model: what their definitions name, and the graph with them.

A name is an input (q1, elbow, a parameter, t) or a quantity of the model; one that may be both is
refused, with what to write for each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np

from chainform.errors import RunError
from chainform.expressions import FUNCTIONS
from chainform.given import near
from chainform.graph import (
    OF_OUTPUT,
    OPERATORS,
    Builder,
    Graph,
    base_outputs,
    builder_of,
    fits,
    indices_of,
    numpy_indices,
)
from chainform.mechanism import meanings_of, parametrise
from chainform.model.catalogue import FRAME_LETTERS, LETTERS
from chainform.model.definitions import (
    INDEXED,
    OWN,
    Nested,
    OutputDefinition,
    ScalarArray,
    Scope,
    check_name,
    declare,
    definitions_in,
    ordered,
    own_name,
)
from chainform.model.names import (
    find_block,
    has_name,
    output_of,
    resolve,
)
from chainform.model.quantity import Quantity, QuantityModel
from chainform.search import Stage, stage_of


class ExtensibleModel(QuantityModel, Protocol):
    """A model as far as further outputs need it."""

    @property
    def graph(self) -> Graph: ...

    @property
    def derived(self) -> Graph: ...

    @property
    def stages(self) -> tuple[Stage, ...]: ...

    @property
    def defined(self) -> Mapping[str, str]: ...

    @property
    def reduction(self) -> str: ...

    @property
    def is_reduced(self) -> bool: ...

    @property
    def has_bodies(self) -> bool: ...

    @property
    def parameters(self) -> str | tuple[str, ...]: ...


INPUT = re.compile(r"\s*input\s*\(\s*(.*?)\s*\)\s*")
"""An input that may be mistaken for an output: input(tau1)."""


def definitions_for(model: ExtensibleModel, outputs: object) -> list[OutputDefinition]:
    """Return further outputs of a model; refuse names that it has, and quantities of others."""
    definitions = definitions_in(outputs)
    for definition in definitions:
        _check_free(definition, model)
        for quantity in _quantities(definition.value):
            quantity.check_model(model)
    return definitions


def _check_free(definition: OutputDefinition, model: ExtensibleModel) -> None:
    """Refuse the names that a model has already, and those of its outputs and letters."""
    name, where = definition.name, definition.where
    check_name(name, where)
    mechanism, remedy = model.mechanism, "choose another name"
    known = {*LETTERS, *_outputs_of_methods()} if model.has_bodies else set[str]()
    inputs = {*mechanism.coordinates, *mechanism.rates, *(p.name for p in mechanism.parameters)}
    if name in known - inputs:
        meant = f", short for {LETTERS[name]}" if name in LETTERS else ""
        raise RunError(f"{name} is the name of an output{meant}", element=where, remedy=remedy)
    if name in inputs or has_name(model.graph, name) or has_name(model.derived, name):
        raise RunError(f"the model has a quantity {name}", element=where, remedy=remedy)


def _outputs_of_methods() -> set[str]:
    """Return the outputs that some method gives for some mechanism."""
    from chainform.formulations import COMMON, FORMULATIONS, OF_FRAME

    return {*COMMON, *OF_FRAME, *(o for method in FORMULATIONS.values() for o in method.outputs)}


def _quantities(value: Nested) -> Iterator[Quantity]:
    if isinstance(value, tuple):
        for entry in value:
            yield from _quantities(entry)
    elif isinstance(value, Quantity):
        yield value


def quantities_named(model: ExtensibleModel, definitions: Sequence[OutputDefinition]) -> list[str]:
    """Return the texts in definitions that mean quantities of a model, and no input of it."""
    names = {definition.name: definition for definition in definitions}
    meaning = ModelMeaning(model, model.graph, builder_of(model.graph))
    texts = dict.fromkeys(text for d in definitions for text in sorted(d.symbols))
    for text in texts:
        _refuse_of_own(text, names)
    own = (text for text in texts if own_name(text, names) is None)
    return [text for text in own if group_entry(text) is None and not meaning.is_input(text)]


def _refuse_of_own(text: str, names: Mapping[str, OutputDefinition]) -> None:
    """Refuse the derivative of an output that is defined at the same time."""
    if not text.lstrip().startswith(("d(", "d (", *OPERATORS)):
        return
    for base in base_outputs(output_of(text, lambda name: name in names)):
        if base in names:
            raise RunError(
                f"{text[:60]} is taken of {base}, which is defined along with it",
                element=text[:60],
                remedy=f"define {base} before: model.with_outputs(...).with_outputs(...)",
            )


def fields_with(
    model: ExtensibleModel, graph: Graph, definitions: Sequence[OutputDefinition]
) -> dict[str, Any]:
    """Return the fields of a model that has definitions as outputs, over a graph."""
    made = extended(model, graph, definitions)
    is_reduced = model.is_reduced and graph.names[: len(model.graph)] == model.graph.names
    stages = (stage_of(model.stages[0].name, made),) if model.stages else ()
    if is_reduced and model.stages:
        with suppress(RunError):
            first = extended(model, model.derived, definitions)
            stages = (stage_of(model.stages[0].name, first),)
        stages = (*stages, stage_of(model.stages[-1].name, made))
    return {
        "graph": made,
        "stages": stages,
        "reduction": model.reduction if is_reduced else "none",
        "defined": {**model.defined, **{d.name: d.text for d in definitions}},
    }


def extended(
    model: ExtensibleModel, graph: Graph, definitions: Sequence[OutputDefinition]
) -> Graph:
    """Return a graph of a model with definitions as further outputs."""
    builder = builder_of(graph)
    scope = Scope(builder, ModelMeaning(model, graph, builder), {})
    for definition in ordered(definitions):
        scope.add(definition)
    declare(builder, {definition.name: scope.own[definition.name] for definition in definitions})
    return builder.finish()


def extension(model: ExtensibleModel) -> Callable[[Graph], Graph] | None:
    """Return what adds the own outputs of a model to a graph in other axes.

    None where they name more than inputs and outputs: an intermediate quantity is another there.
    And where their texts do not say all: a quantity may come from another model of the mechanism.
    """
    from chainform.algebra import is_same

    if not model.defined:
        return lambda graph: graph
    plain = {name: b for name, b in model.graph.outputs.items() if name not in model.defined}
    known = {name for block in plain.values() for name in (block.name, *block.labels)}

    def with_own(graph: Graph) -> Graph:
        made = extended(model, graph, definitions)
        return replace(made, outputs={name: made.outputs[name] for name in model.graph.outputs})

    try:
        definitions = definitions_in(model.defined)
        texts = quantities_named(model, definitions)
        if any(resolve(model.graph, text).name not in known for text in texts):
            return None
        again = with_own(replace(model.graph, outputs=plain))
    except RunError:
        return None
    return with_own if is_same(model.graph, again) else None


def inputs_of(model: ExtensibleModel, group: str) -> Quantity:
    """Return the inputs of a group as a quantity: q, qd, qdd or tau, as expressions name them."""
    builder = builder_of(model.graph)
    found = ModelMeaning(model, model.graph, builder)(group)
    variables = [builder.variable_of(scalar) for scalar in found.entries.flat]
    graph = builder.finish()
    numbers = np.asarray(variables, dtype=np.int64).reshape(found.shape)
    labels = np.asarray([graph.names[v] for v in variables]).reshape(found.shape)
    return Quantity(group, graph, numbers, labels, model)


def group_entry(text: str) -> tuple[str, str] | None:
    """Return the group of inputs that a text names, and indices in it: qd, qd1, qd[1]; or None."""
    match = OWN.fullmatch(text)
    indexed = INDEXED.fullmatch(text.strip())
    if indexed is not None:
        return indexed[1], indexed[2]
    if match is not None and match[1] in ("q", "qd", "qdd", "tau"):
        return match[1], match[2] or ""
    return None


@dataclass(frozen=True, slots=True)
class ModelMeaning:
    """What names mean in a model: an input, or a quantity of its graph."""

    model: ExtensibleModel
    graph: Graph
    builder: Builder

    def __call__(self, text: str) -> ScalarArray:
        """Return what a text means; RunError where that is nothing, or two things."""
        only = INPUT.fullmatch(text)
        if only is not None:
            return self._required_input(only[1], text)
        entry = group_entry(text)
        if entry is not None and entry[0] in ("qdd", "tau"):
            return self._effort(text, *entry)
        found = self._input(text)
        block = self._quantity(text)
        if found is not None and block is not None and not _is_same(found, block):
            raise RunError(
                f"{text} may mean an input or {self._output(text)}",
                element=text,
                remedy=f"write input({text}) or {self._output(text)}",
            )
        if found is not None:
            return found
        if block is None and "(" in text:
            self._refuse_function(text)
        return self._array(text) if block is None else block

    def _refuse_function(self, text: str) -> None:
        """Refuse what can only be a function that there is not."""
        word = text.partition("(")[0].strip()
        known = (*OPERATORS, *OF_OUTPUT, *OF_OUTPUT.values(), *FRAME_LETTERS)
        if word not in (*known, *FRAME_LETTERS.values()):
            remedy = f"{near(word, FUNCTIONS)}the functions are {', '.join(FUNCTIONS)}"
            raise RunError(f"there is no function {word[:40]}", element=text[:60], remedy=remedy)

    def is_input(self, text: str) -> bool:
        """Whether a text means an input, by itself or in input(...)."""
        return INPUT.fullmatch(text) is not None or self._input(text) is not None

    def _required_input(self, name: str, text: str) -> ScalarArray:
        found = self._input(name) or self.group(name)
        if found is None:
            known = [given.name for given in self.graph.inputs.values()]
            message = f"{name[:40]} is not an input of the model"
            raise RunError(message, element=text[:60], remedy=near(name, known, 3) or "name one")
        return found

    def _input(self, text: str) -> ScalarArray | None:
        """Return a coordinate, a rate, the time, a parameter or another input by its name."""
        model, name = self.model, text.strip()
        mechanism = model.mechanism
        meanings = meanings_of(name, mechanism.coordinates, mechanism.rates)
        names = [_input_name(meaning.group, meaning.index) for meaning in meanings]
        if len(names) > 1:
            message = f"{name} may mean {' or '.join(names)}"
            raise RunError(message, element=name, remedy="rename the joint in the mechanism")
        if names:
            (meaning,) = meanings
            return ScalarArray(self.builder.input(names[0], meaning.group, meaning.index))
        variable = self.graph.numbers.get(model.input_name(name), -1)
        if variable in self.graph.inputs:
            return ScalarArray(self.builder.scalar(variable))
        entry = group_entry(name)
        if entry is not None:
            return None if entry[0] in ("qdd", "tau") else self.group(name)
        return self._parameter(name)

    def _parameter(self, name: str) -> ScalarArray | None:
        """Return a parameter that the outputs do not need: free, or the number that it is."""
        model = self.model
        free = {p.name: p.value for p in parametrise(model.mechanism, model.parameters).parameters}
        if name in free:
            return ScalarArray(self.builder.parameter(name, free[name]))
        values = {p.name: p.value for p in model.mechanism.parameters}
        value = values.get(name)
        return None if value is None else ScalarArray(self.builder.number(value))

    def group(self, text: str) -> ScalarArray | None:
        """Return the inputs of a group, or those at some indices."""
        entry = group_entry(text)
        if entry is None or entry[0] not in ("q", "qd", "qdd", "tau"):
            return None
        group, numbers = entry
        count = self.model.mechanism.nq if group == "q" else self.model.mechanism.nv
        indices = indices_of(numbers, text) if numbers else ()
        if not fits(indices, (count,)):
            message = f"{group} has {count} entries; there is no {text.strip()[:40]}"
            raise RunError(message, element=text[:60], remedy="indices count from 1")
        inputs = [self.builder.input(_input_name(group, k), group, k) for k in range(count)]
        return ScalarArray(np.asarray(inputs, dtype=object)[numpy_indices(indices)])

    def _effort(self, text: str, group: str, numbers: str) -> ScalarArray:
        """Return forces or accelerations: inputs of some outputs, and an output themselves."""
        output = LETTERS[group]
        is_output = output in self.graph.outputs
        is_input = self._needs(group) or (group == "qdd" and not is_output)
        meant = f"{output}[{numbers}]" if numbers else output
        if is_output and is_input:
            raise RunError(
                f"{text} may mean an input of the model, or {meant}, which it has as well",
                element=text,
                remedy=f"write {meant}, or input({text.strip()})",
            )
        if is_output:
            return self._array(meant)
        if not is_input:
            raise RunError(
                f"{text} is neither an input of the model nor an entry of {output}",
                element=text,
                remedy="derive inverse_dynamics as well, whose entry it then is, or "
                "forward_dynamics, whose input it then is",
            )
        return cast("ScalarArray", self.group(text))

    def _needs(self, group: str) -> bool:
        """Whether an output depends on inputs of a group."""
        cone = self.graph.cone(self.graph.output_variables())
        return any(given.group == group and cone[v] for v, given in self.graph.inputs.items())

    def _quantity(self, text: str) -> ScalarArray | None:
        try:
            return self._array(text)
        except RunError:
            return None

    def _array(self, text: str) -> ScalarArray:
        block = find_block(self.graph, text)
        scalars = [self.builder.scalar(v) for v in block.variables]
        array = np.empty(len(scalars), dtype=object)
        array[:] = scalars
        return ScalarArray(array.reshape(block.shape))

    def _output(self, text: str) -> str:
        return LETTERS.get(text.strip(), text)


def _input_name(group: str, index: int) -> str:
    return "t" if group == "t" else f"{group}{index + 1}"


def _is_same(one: ScalarArray, other: ScalarArray) -> bool:
    pairs = zip(one.entries.flat, other.entries.flat, strict=False)
    return one.shape == other.shape and all(a.terms == b.terms for a, b in pairs)
