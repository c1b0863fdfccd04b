"""Elements, unknown forces, definitions and constraints laid over a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from chainform.mechanism.constraints import constraints_from, quasi_from
from chainform.mechanism.elements.names import definitions_from, unknowns_from
from chainform.mechanism.elements.reading import ElementReader
from chainform.mechanism.elements.references import check_references
from chainform.mechanism.intake import Intake
from chainform.mechanism.laws import LawIntake

if TYPE_CHECKING:
    from chainform.mechanism.mechanism import Mechanism


@dataclass(slots=True)
class ElementSpecification:
    """What was said about an element model, unchecked."""

    coordinates: list[object] = field(default_factory=list[object])
    unknowns: list[object] = field(default_factory=list[object])
    definitions: dict[str, object] = field(default_factory=dict[str, object])
    elements: list[object] = field(default_factory=list[object])
    constraints: list[object] = field(default_factory=list[object])
    quasi: list[object] = field(default_factory=list[object])

    def define(self, said: Mapping[str, object]) -> None:
        """Add definitions; a later one of the same name takes the place of an earlier one."""
        self.definitions.update(said)


def with_elements(mechanism: Mechanism, said: ElementSpecification, intake: Intake) -> Mechanism:
    """Return the mechanism with everything that was said, checked."""
    plain = LawIntake(intake, mechanism.coordinates, mechanism.rates)
    unknowns = unknowns_from(said.unknowns, plain)
    definitions = definitions_from(said.definitions, plain, unknowns)
    names = tuple(definition.name for definition in definitions)
    laws = LawIntake(intake, mechanism.coordinates, mechanism.rates, names)
    reader = ElementReader(laws, unknowns)
    elements = tuple(reader.element(one, k) for k, one in enumerate(said.elements, 1))
    check_references(elements, mechanism, intake)
    constraints = constraints_from(said.constraints, laws)
    return replace(
        mechanism,
        unknowns=unknowns,
        definitions=definitions,
        elements=elements,
        constraints=constraints,
        quasi=quasi_from(said.quasi, laws, constraints),
    )
