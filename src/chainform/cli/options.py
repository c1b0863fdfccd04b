"""Options that several commands share, and what they mean to the pipeline."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from typing import Any

from chainform.cli.selection import output_of
from chainform.formulations import FORMULATIONS
from chainform.mechanism import Mechanism
from chainform.model import Model
from chainform.pipeline import CLOSURES, EFFORTS, OUTPUTS, available_outputs, derive


def add_outputs(parser: ArgumentParser, default: str) -> None:
    """Add `--outputs`: names with commas or spaces between them, once or several times."""
    parser.add_argument(
        "--outputs",
        metavar="NAME",
        nargs="+",
        action="extend",
        help="outputs, by name or letter: H mass_matrix, C coriolis, hG gravity, B closure, "
        f"J closure_jacobian, tau inverse_dynamics (default: {default})",
    )


def add_method(parser: ArgumentParser) -> None:
    """Add the options of `derive`. Those that are not given are left to the pipeline."""
    group = parser.add_argument_group("how the equations are derived")
    group.add_argument("--formulation", metavar="NAME", help=_choices(FORMULATIONS))
    group.add_argument(
        "--parameters",
        metavar="CHOICE",
        help="numeric, symbolic, or the names to keep free, such as 'm_*,g'",
    )
    group.add_argument("--reduce", metavar="EFFORT", help=_choices(EFFORTS))
    group.add_argument(
        "--closure",
        metavar="KIND",
        help=f"how the reactions of loops enter inverse dynamics: {_choices(CLOSURES)}",
    )


def _choices(names: Iterable[str]) -> str:
    return " or ".join(names)


def chosen_outputs(args: Namespace, default: Sequence[str]) -> list[str]:
    """Return the outputs asked for by their full names, the default when none are."""
    if args.outputs is None:
        return list(default)
    return [output_of(name) for name in split_list(args.outputs)]


def split_list(texts: Iterable[str]) -> list[str]:
    """Return the items of texts in which commas or spaces separate them."""
    return [item for text in texts for item in text.replace(",", " ").split()]


def parameter_choice(text: str | None) -> str | list[str] | None:
    """Return numeric or symbolic as it is, anything else as a list of patterns."""
    if text is None or text in ("numeric", "symbolic"):
        return text
    return split_list([text])


def usual_outputs(mechanism: Mechanism, args: Namespace) -> list[str]:
    """Return what is derived when nothing is asked for, or all if a formulation has none of it."""
    outputs = all_outputs(mechanism, args)
    return [name for name in outputs if name in OUTPUTS] or list(outputs)


def all_outputs(mechanism: Mechanism, args: Namespace) -> tuple[str, ...]:
    """Return every output that the chosen formulation gives for the mechanism."""
    return available_outputs(mechanism, **_given(formulation=args.formulation))


def derive_chosen(
    mechanism: Mechanism,
    args: Namespace,
    outputs: Sequence[str],
    parameters: str | Sequence[str] | None = None,
) -> Model:
    """Derive a model as the options say; `parameters` speaks where they are silent."""
    chosen = parameter_choice(args.parameters)
    options = _given(
        formulation=args.formulation,
        parameters=parameters if chosen is None else chosen,
        reduce=args.reduce,
        closure=args.closure,
    )
    return derive(mechanism, outputs, **options)


def method_document(model: Model) -> dict[str, Any]:
    """Return how a model was derived, as the documents of all commands tell it."""
    free = model.parameters if isinstance(model.parameters, str) else list(model.parameters)
    return {
        "formulation": model.formulation,
        "parameters": free,
        "reduce": model.reduce,
        "closure": model.closure,
    }


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
