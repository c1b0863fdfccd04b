"""Numbers for free parameters: in the graph and in the mechanism, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from chainform.errors import DeriveError, Error, ReadError
from chainform.graph import set_defaults, substitute
from chainform.mechanism import Mechanism, number_of
from chainform.readers import native_text, read_text
from chainform.search import stage_of

if TYPE_CHECKING:
    from chainform.model.model import Model


def bound_model(model: Model, values: Mapping[str, Any], *, keep_free: bool = False) -> Model:
    """Return the model with numbers for free parameters, in its graph and in its mechanism.

    The parameters become numbers or, with `keep_free`, get them as default values. Deriving from
    the new mechanism, with the names that are still free, gives the same equations.
    """
    free = model.free_parameters
    for name in values:
        if name not in free:
            raise _not_free(name, free)
    numbers = {name: _number(name, value) for name, value in values.items()}
    mechanism = _with_values(model, numbers)
    _check_possible(mechanism)
    fixed = {} if keep_free else numbers
    left = tuple(p.name for p in mechanism.parameters if p.name in free and p.name not in fixed)
    bind = set_defaults if keep_free else substitute
    stages = tuple(stage_of(stage.name, bind(stage.graph, numbers)) for stage in model.stages)
    return replace(
        model,
        mechanism=mechanism,
        graph=bind(model.graph, numbers),
        stages=stages,
        axis_choices=None,
        parameters=left or "numeric",
        bound={**model.bound, **numbers},
    )


def _with_values(model: Model, numbers: Mapping[str, Fraction]) -> Mechanism:
    """Return the mechanism with the chosen parameters in it, and those that it declares."""
    settled = model.settled
    named = {p.name: p for p in (*model.mechanism.parameters, *settled.parameters)}
    defaults = {name: value for name, value in model.free_parameters.items() if value is not None}
    values = {**defaults, **numbers}
    parameters = tuple(replace(p, value=values.get(p.name, p.value)) for p in named.values())
    return replace(settled, parameters=parameters)


def _not_free(name: str, free: Mapping[str, Any]) -> DeriveError:
    listed = f"free are {', '.join(free)}; " if free else "every parameter is a number already; "
    return DeriveError(
        f"{name} is not a free parameter",
        element=name,
        remedy=f"{listed}derive it with parameters=[{name!r}] to keep it free",
    )


def _check_possible(mechanism: Mechanism) -> None:
    """Refuse values with which the mechanism is none: it is stored as text and must read back."""
    try:
        read_text(native_text(mechanism), "json")
    except ReadError as problem:
        where = f"{problem.element}: " if problem.element else ""
        raise DeriveError(
            f"with these values the mechanism is not possible: {where}{problem.message}",
            element="bind",
            remedy=problem.remedy,
        ) from None


def _number(name: str, value: Any) -> Fraction:
    try:
        number = number_of(value)
    except Error as problem:
        raise DeriveError(problem.message, element=name, remedy=problem.remedy) from None
    if isinstance(number, Fraction):
        return number
    raise DeriveError("a value may not name parameters", element=name, remedy="give a number")
