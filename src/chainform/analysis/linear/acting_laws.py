"""What acts on a mechanism by laws: forces, signals of actuators, controllers that close the loop.

They are given as to `simulate`. The states of controllers, such as the integral of a `pid`, are
states of small motions like those of actuators: `integral(NAME)`, with the name of the controller.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.simulation import (
    Controller,
    Efforts,
    SampledController,
    controllers_of,
    efforts_of,
    with_signals,
)


@dataclass(frozen=True)
class ActingLaws:
    """Checked laws of forces and signals, and controllers by name."""

    efforts: Efforts = field(default_factory=Efforts)
    controllers: Mapping[str, Controller] = field(default_factory=dict[str, Controller])

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What tells them from others; TypeError where something cannot be compared by it."""
        signals = None if self.efforts.signals is None else self.efforts.signals.laws
        key = (self.efforts.laws, signals, tuple(self.controllers.items()))
        hash(key)
        return key

    @property
    def give_signals(self) -> bool:
        """Whether a law or a controller may give signals of actuators."""
        return self.efforts.signals is not None or bool(self.controllers)

    def state_names(self, owners: Sequence[int]) -> tuple[str, ...]:
        """Return the names of states of controllers, given the place of the controller of each."""
        names, found = list(self.controllers), list[str]()
        for k, owner in enumerate(owners):
            number = owners[:k].count(owner) + 1
            more = f" {number}" if owners.count(owner) > 1 else ""
            found.append(f"integral({names[owner]}{more})")
        return tuple(found)


def acting_laws(mechanism: Mechanism, forces: Any, signals: Any, controllers: Any) -> ActingLaws:
    """Return laws with all names checked; functions of Python have no exact derivatives."""
    efforts = with_signals(mechanism, efforts_of(mechanism, forces), signals)
    for name, own in (("forces", efforts), ("signals", efforts.signals)):
        if own is not None and own.has_functions:
            raise RunError(
                "a function of Python has no exact derivatives",
                element=name,
                remedy=f'write laws: {name}={{"crank": "-2*der(crank)"}}',
            )
        if own is not None and own.has_tables:
            raise RunError(
                "a long table is looked up by simulations only",
                element=name,
                remedy=f"give its value at the time, or add it to {'u' if own.signals else 'tau'}",
            )
    made = controllers_of(mechanism, controllers)
    if any(isinstance(controller, SampledController) for controller in made):
        raise RunError(
            "a controller that is sampled has no linear equations in continuous time",
            element="controllers",
            remedy="leave sample out: the controller then follows the state all the time",
        )
    return ActingLaws(efforts, dict(zip(controllers or {}, made, strict=True)))
