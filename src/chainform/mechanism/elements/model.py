"""Elements, unknown forces, definitions and constraints laid over a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from chainform.mechanism.constraints import constraints_from, quasi_from
from chainform.mechanism.elements.names import definitions_from, unknowns_from
from chainform.mechanism.elements.reading import ElementReader
from chainform.mechanism.elements.references import check_references
from chainform.mechanism.laws import LawReader
from chainform.mechanism.reader import Reader

if TYPE_CHECKING:
    from chainform.mechanism.mechanism import Mechanism


@dataclass(slots=True)
class ElementSpecification:
    """The content of an element model, unchecked."""

    coordinates: list[object] = field(default_factory=list[object])
    unknowns: list[object] = field(default_factory=list[object])
    definitions: dict[str, object] = field(default_factory=dict[str, object])
    elements: list[object] = field(default_factory=list[object])
    constraints: list[object] = field(default_factory=list[object])
    quasi: list[object] = field(default_factory=list[object])

    def define(self, model: Mapping[str, object]) -> None:
        """Add definitions; a later one of the same name takes the place of an earlier one."""
        self.definitions.update(model)


def with_elements(mechanism: Mechanism, model: ElementSpecification, reader: Reader) -> Mechanism:
    """Return the mechanism with an element model, checked."""
    plain = LawReader(reader, mechanism.coordinates, mechanism.rates)
    unknowns = unknowns_from(model.unknowns, plain)
    definitions = definitions_from(model.definitions, plain, unknowns)
    names = tuple(definition.name for definition in definitions)
    laws = LawReader(reader, mechanism.coordinates, mechanism.rates, names)
    inner = ElementReader(laws, unknowns)
    elements = tuple(inner.element(one, k) for k, one in enumerate(model.elements, 1))
    check_references(elements, mechanism, reader)
    constraints = constraints_from(model.constraints, laws)
    return replace(
        mechanism,
        unknowns=unknowns,
        definitions=definitions,
        elements=elements,
        constraints=constraints,
        quasi=quasi_from(model.quasi, laws, constraints),
    )
