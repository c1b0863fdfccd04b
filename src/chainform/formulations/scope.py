"""Which outputs a mechanism has: elements, unknown forces and constraints decide."""

from __future__ import annotations

from collections.abc import Sequence

from chainform.errors import DeriveError
from chainform.formulations.constraint_outputs import CONSTRAINED, QUASI, UNILATERAL
from chainform.formulations.elements import UNKNOWN
from chainform.formulations.passive import has_passive
from chainform.mechanism import InertialElement, Mechanism

TAKE_ELEMENTS = ("auto", "elements")
"""The formulations that take a mechanism with elements."""

OF_JOINTS = ("closure", "closure_jacobian", "reaction", "reactions")
"""What is said about joints or loops, which an element model does not have."""


def uses_elements(mechanism: Mechanism) -> bool:
    """Whether the equations of a mechanism need the formulation by elements."""
    return bool(mechanism.elements) or not mechanism.segments


def refuse_elements(mechanism: Mechanism, who: str) -> None:
    """Refuse a mechanism with elements where a formulation knows segments only."""
    if uses_elements(mechanism) and who not in TAKE_ELEMENTS:
        raise DeriveError(
            f"{who} knows segments and joints, and the mechanism has elements",
            file=mechanism.file,
            element="elements",
            remedy='use formulation="elements" or "auto"',
        )


def check_frame(mechanism: Mechanism, name: str) -> None:
    """Raise an error where no frame, segment or element has this name."""
    own = [e.name for e in mechanism.elements if isinstance(e, InertialElement)]
    if name not in own:
        mechanism.frame(name)


def outputs_in_scope(mechanism: Mechanism, who: str, outputs: Sequence[str]) -> tuple[str, ...]:
    """Return the outputs that a formulation can give for a mechanism, as far as this decides it."""
    if uses_elements(mechanism) and who not in TAKE_ELEMENTS:
        return ()
    kinds = {constraint.kind for constraint in mechanism.constraints}
    missing: set[str] = set()
    if uses_elements(mechanism):
        missing.update(OF_JOINTS)
    elif not has_passive(mechanism):
        missing.add("passive")
    if not mechanism.unknowns:
        missing.update(UNKNOWN)
    if not kinds - {"unilateral"}:
        missing.update(CONSTRAINED)
    if "unilateral" not in kinds:
        missing.update(UNILATERAL)
    if not mechanism.quasi:
        missing.update(QUASI)
    return tuple(output for output in outputs if output not in missing)
