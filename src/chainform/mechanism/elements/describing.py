"""Elements and constraints as plain text, for reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chainform.mechanism.constraints import Constraint, QuasiVelocity
from chainform.mechanism.elements.chain import chain_text
from chainform.mechanism.elements.types import (
    WORLD,
    DissipativeElement,
    EffortElement,
    ElasticElement,
    Element,
    ForceElement,
    InertiaElement,
    InertialElement,
    MomentElement,
    Place,
)
from chainform.mechanism.types import ZERO, ZERO_MATRIX, ZERO_VECTOR, Matrix3, Number

Text = Callable[[Number], str]


@dataclass(frozen=True, slots=True)
class ElementRow:
    """One element: where it is, and what it has or does."""

    name: str
    kind: str
    place: str
    content: str


@dataclass(frozen=True, slots=True)
class LawRow:
    """A name, what kind of law it has, and the law."""

    name: str
    kind: str
    law: str


def constraint_rows(constraints: Iterable[Constraint], text: Text) -> tuple[LawRow, ...]:
    """Return constraints as rows: the condition that each makes."""
    relation = {"unilateral": " >= 0"}
    return tuple(
        LawRow(c.name, c.kind, text(c.law) + relation.get(c.kind, " = 0")) for c in constraints
    )


def quasi_rows(quasi: Iterable[QuasiVelocity], text: Text) -> tuple[LawRow, ...]:
    """Return quasi-velocities as rows."""
    return tuple(LawRow(q.name, "quasi-velocity", text(q.law)) for q in quasi)


def element_row(element: Element, text: Text) -> ElementRow:
    """Return one element as a row."""
    match element:
        case InertialElement():
            chain = chain_text(element.chain, text) or "at its origin"
            return ElementRow(
                element.name, element.kind, f"on {element.on}: {chain}", _mass(element, text)
            )
        case InertiaElement():
            place = f"along {text(element.along)}"
            return ElementRow(element.name, "inertia", place, text(element.inertia))
        case ElasticElement():
            content = f"stiffness {text(element.stiffness)}, rest {text(element.rest)}"
            return ElementRow(element.name, "elastic", _measure(element, text), content)
        case DissipativeElement():
            content = f"damping {text(element.damping)}"
            if element.coulomb != ZERO:
                content += f", Coulomb {text(element.coulomb)}"
            return ElementRow(element.name, "dissipative", _measure(element, text), content)
        case ForceElement():
            to = "" if element.to is None else f", opposite at {_place(element.to, text)}"
            place = f"at {_place(element.at, text)}{to}"
            return ElementRow(element.name, "force", place, _load(element.force, element, text))
        case MomentElement():
            to = "" if element.to is None else f", opposite on {element.to}"
            load = _load(element.moment, element, text)
            return ElementRow(element.name, "moment", f"on {element.on}{to}", load)
        case EffortElement():
            place = f"along {text(element.along)}"
            return ElementRow(element.name, element.kind, place, text(element.effort))


def _mass(element: InertialElement, text: Text) -> str:
    parts = [f"mass {text(element.mass)}"] if element.mass != ZERO else []
    if element.com != ZERO_VECTOR:
        parts.append(f"com {_vector(element.com, text)}")
    if element.inertia != ZERO_MATRIX:
        parts.append(f"J {_moments(element.inertia, text)}")
    return ", ".join(parts)


def _moments(inertia: Matrix3, text: Text) -> str:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    own = ", ".join(text(moment) for moment in (xx, yy, zz))
    if (xy, xz, yz) == ZERO_VECTOR:
        return f"({own})"
    return f"({own}; {', '.join(text(product) for product in (xy, xz, yz))})"


def _measure(element: ElasticElement | DissipativeElement, text: Text) -> str:
    if element.ends is not None:
        near, far = (_place(end, text) for end in element.ends)
        return f"between {near} and {far}"
    if isinstance(element, DissipativeElement) and element.rate is not None:
        return f"rate {text(element.rate)}"
    return f"deformation {text(element.deformation or ZERO)}"


def _load(components: Iterable[Number], element: ForceElement | MomentElement, text: Text) -> str:
    axes = "" if element.axes == WORLD else f", axes of {element.axes}"
    return f"{_vector(components, text)}{axes}"


def _place(place: Place, text: Text) -> str:
    return place.on if place.point == ZERO_VECTOR else f"{place.on} {_vector(place.point, text)}"


def _vector(vector: Iterable[Number], text: Text) -> str:
    return f"({', '.join(text(entry) for entry in vector)})"
