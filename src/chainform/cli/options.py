"""Options that several commands share, and what they mean to the pipeline."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from chainform.cli.printing import Page
from chainform.cli.reducing import add_reduction, reduction_options, shown_progress
from chainform.cli.selection import output_with, parse_request, with_entries
from chainform.cli.stored import check_free, with_outputs
from chainform.errors import DeriveError, ReadError
from chainform.formulations import COMMON, FORMULATIONS, PARTS
from chainform.mechanism import Mechanism
from chainform.model import FRAME_LETTERS, LETTERS, Model, output_of
from chainform.pipeline import CLOSURES, OUTPUTS, available_outputs, derive

LeftOut: TypeAlias = dict[str, str]
"""Outputs that cannot be derived although the mechanism should have them, each with the reason."""

USUAL = f"{' '.join(OUTPUTS)}, as far as there are"
"""What `usual_outputs` returns, for the help."""

ITEM = re.compile(r"(?:[^\s,(\[]|\s*\([^)]*(?:\)|$)|\[[^\]]*(?:\]|$))+")
"""One item of a list: what stands in brackets belongs to it, as in jacobian(tool, local)[1, 2]."""


def add_outputs(parser: ArgumentParser, default: str) -> None:
    """Add `--outputs`: names with commas or spaces between them, once or several times."""
    letters = ", ".join(f"{letter} {name}" for letter, name in LETTERS.items())
    of_frame = ", ".join(f"{letter}(F) {name}(F)" for letter, name in FRAME_LETTERS.items())
    parser.add_argument(
        "--outputs",
        metavar="NAME",
        nargs="+",
        action="extend",
        help=f"outputs, by name or letter, where no model is saved with indices from 1 as in "
        f"H[1,2]: {letters}; com, momentum, centroidal_momentum; and, in "
        f"quotes, of a frame or segment F: {of_frame}, or (F,local), (F,mixed) for other axes "
        f"(default: {default})",
    )


def add_method(parser: ArgumentParser, *, search: bool = True) -> None:
    """Add the options of `derive`. Those that are not given are left to the pipeline."""
    group = parser.add_argument_group("how the equations are derived")
    group.add_argument("--formulation", metavar="NAME", help=_choices(FORMULATIONS))
    group.add_argument(
        "--parameters",
        metavar="CHOICE",
        help="numeric, symbolic, or the names to keep free, such as 'm_*,g'",
    )
    group.add_argument(
        "--closure",
        metavar="KIND",
        help=f"how the reactions of loops enter inverse dynamics: {_choices(CLOSURES)}",
    )
    group.add_argument(
        "--wrenches",
        metavar="FRAME",
        nargs="+",
        action="extend",
        help="frames or segments on which an outer force and moment act in inverse and forward "
        "dynamics: inputs wrench1 ... wrench6 for the first, and so on",
    )
    group.add_argument(
        "--without",
        metavar="PART",
        nargs="+",
        action="extend",
        help=f"what the mechanism has and the equations shall not have: {', '.join(PARTS)}",
    )
    add_reduction(parser, search=search)


def _choices(names: Iterable[str]) -> str:
    return " or ".join(names)


def chosen_outputs(args: Namespace, default: Sequence[str]) -> list[str]:
    """Return the outputs of `--outputs` by their full names, the default without it."""
    if args.outputs is None:
        return list(default)
    return list(dict.fromkeys(output_of(name) for name in split_list(args.outputs)))


def derive_named(
    mechanism: Mechanism,
    args: Namespace,
    default: Sequence[str],
    parameters: str | Sequence[str] | None = None,
) -> Model:
    """Derive what `--outputs` names, which may be entries of outputs, as in H[1,2]; else `default`.

    The outputs of the model are then those entries, and nothing else.
    """
    if args.outputs is None:
        return derive_chosen(mechanism, args, default, parameters)
    texts = split_list(args.outputs)
    requests = [parse_request(text) for text in texts]
    known = all_outputs(mechanism, args)
    outputs = [output_with(request.name, known, mechanism) for request in requests]
    model = derive_chosen(mechanism, args, list(dict.fromkeys(outputs)), parameters)
    if [(request.name, request.indices) for request in requests] == [(o, ()) for o in outputs]:
        return model
    return with_entries(model, texts)


def split_list(texts: Iterable[str]) -> list[str]:
    """Return the items of texts in which commas or spaces separate them, outside of brackets."""
    return ITEM.findall(" ".join(texts))


def parameter_choice(text: str | None) -> str | list[str] | None:
    """Return numeric or symbolic as it is, anything else as a list of patterns."""
    if text is None or text in ("numeric", "symbolic"):
        return text
    return split_list([text])


def parameter_values(texts: Iterable[str], element: str) -> dict[str, str]:
    """Return numbers of parameters, as they were written: PARAMETER=VALUE."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise ReadError(
                f"{text[:60]!r} is not PARAMETER=VALUE",
                element=element,
                remedy="write a parameter and a number, as in payload=2.5",
            )
        if name in values:
            raise ReadError(f"{name[:60]} is given twice", element=element, remedy="give it once")
        values[name] = value
    return values


def usual_outputs(mechanism: Mechanism, args: Namespace) -> list[str]:
    """Return what is derived without `--outputs`.

    A formulation that has none of it gives all that it has.
    """
    if args.stored is not None:
        return list(args.stored.outputs)
    outputs = [name for name in all_outputs(mechanism, args) if name not in COMMON]
    return [name for name in OUTPUTS if name in outputs] or outputs


def all_outputs(mechanism: Mechanism, args: Namespace) -> tuple[str, ...]:
    """Return every output that the chosen formulation gives for the mechanism."""
    if args.stored is not None:
        return args.stored.outputs
    return available_outputs(mechanism, **_given(formulation=args.formulation))


def chosen_wrenches(mechanism: Mechanism, args: Namespace) -> list[str]:
    """Return the frames on which wrenches act, each once; refuse names that are not frames."""
    if args.stored is not None:
        return list(args.stored.wrenches)
    # Names may hold spaces, so only commas and separate arguments divide them.
    texts: Sequence[str] = args.wrenches or ()
    given = [name.strip() for text in texts for name in text.split(",")]
    names = list(dict.fromkeys(name for name in given if name))
    for name in names:
        mechanism.frame(name)
    return names


def derive_chosen(
    mechanism: Mechanism,
    args: Namespace,
    outputs: Sequence[str],
    parameters: str | Sequence[str] | None = None,
) -> Model:
    """Derive a model, and reduce it, as the options say; `parameters` speaks where they are silent.

    A stored model is derived already; it keeps the outputs asked for.
    """
    if args.stored is not None:
        check_free(args.stored, parameters)
        return with_outputs(args.stored, outputs)
    chosen = parameter_choice(args.parameters)
    options = _given(
        formulation=args.formulation,
        parameters=parameters if chosen is None else chosen,
        closure=args.closure,
        wrenches=chosen_wrenches(mechanism, args),
        without=split_list(args.without or ()),
    )
    effort = reduction_options(args)
    with shown_progress(args) as progress:
        return derive(mechanism, outputs, **options).reduce(**effort, progress=progress)


def derive_all(
    mechanism: Mechanism,
    args: Namespace,
    parameters: str | Sequence[str] | None = None,
    more: Sequence[str] = (),
) -> tuple[Model, LeftOut]:
    """Derive every output there is, and `more`; return also what was left out, and why.

    Forward dynamics alone can fail for reasons that the other outputs do not mind: where no
    inertia resists a motion, its acceleration is anything.
    """
    outputs = list(dict.fromkeys([*all_outputs(mechanism, args), *more]))
    try:
        return derive_chosen(mechanism, args, outputs, parameters), {}
    except DeriveError as problem:
        rest = [name for name in outputs if name != "forward_dynamics"]
        if not rest or "forward_dynamics" in more:
            raise
        model = derive_chosen(mechanism, args, rest, parameters)
        return model, {"forward_dynamics": problem.message}


def show_left_out(page: Page, left_out: LeftOut) -> None:
    """Print the outputs that were left out, each with the reason."""
    if left_out:
        page.heading("left out")
    for name, reason in left_out.items():
        page.text(f"  {name}: {reason}")


def left_out_document(left_out: LeftOut) -> dict[str, Any]:
    """Return the outputs that were left out as documents tell it."""
    return {"left_out": [{"name": name, "reason": why} for name, why in left_out.items()]}


def method_document(model: Model) -> dict[str, Any]:
    """Return how a model was derived, as the documents of all commands tell it."""
    free = model.parameters if isinstance(model.parameters, str) else list(model.parameters)
    return {
        "formulation": model.formulation,
        "parameters": free,
        "reduce": model.reduction,
        "closure": model.closure,
        "wrenches": list(model.wrenches),
        **({"without": list(model.without)} if model.without else {}),
    }


def once_document(model: Model) -> dict[str, Any]:
    """Return what is computed from the parameters alone as the entry `once`, if there is any."""
    once = model.count(once=True).as_dict()
    return {"once": once} if any(once.values()) else {}


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
