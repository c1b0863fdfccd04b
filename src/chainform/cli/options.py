"""Options that several commands share, and what they mean to the pipeline."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from chainform.cli.files import OF_REDUCTION, check_free, option_name, with_outputs
from chainform.cli.model_report import LeftOut
from chainform.cli.printing import tell
from chainform.cli.progress import search_progress
from chainform.cli.selection import (
    bad_input,
    chosen_requests,
    definitions,
    has_intermediates,
    output_with,
    own_names,
    split_list,
    split_names,
    wanted_texts,
    with_entries,
)
from chainform.errors import DeriveError, ReadError
from chainform.formulations import COMMON, FORMULATIONS, PARTS, REGRESSORS, WHOLE_BODIES
from chainform.graph import OF_OUTPUT, base_outputs
from chainform.mechanism import Mechanism, in_base
from chainform.model import (
    CATALOGUE,
    FRAME_LETTERS,
    LETTERS,
    Model,
    output_of,
)
from chainform.pipeline import CLOSURES, OUTPUTS, SOLVED, available_outputs, derive
from chainform.search import EFFORTS, effort_of

USUAL = f"{' '.join(OUTPUTS)}, as far as there are"
"""What `usual_outputs` returns, for the help."""
SEARCH_OPTIONS = OF_REDUCTION[1:]


def add_list(group: Any, name: str, metavar: str, text: str) -> None:
    """Add an option with several arguments, which may be given several times."""
    group.add_argument(name, metavar=metavar, nargs="+", action="extend", help=text)


def add_outputs(parser: ArgumentParser, default: str) -> None:
    """Add `--outputs`: names with commas or spaces between them, once or several times."""
    letters = ", ".join(f"{letter} {name}" for letter, name in LETTERS.items())
    without = ", ".join(e.name for e in CATALOGUE.values() if e.letter is None)
    of_frame = ", ".join(f"{letter}(F) {name}(F)" for letter, name in FRAME_LETTERS.items())
    of_output = ", ".join(f"{letter}(Y)" for letter in OF_OUTPUT.values())
    add_list(
        parser,
        "--outputs",
        "NAME",
        f"outputs, by name or letter, where no model is saved with indices from 1 as in "
        f"H[1,2]: {letters}; {without}; and, in "
        f"quotes, of a frame or segment F: {of_frame}, or (F,local), (F,mixed) for other axes; "
        f"of an output Y: {of_output}, derivative(Y,q) "
        f"(default: {default})",
    )


def add_method(parser: ArgumentParser, *, search: bool = True) -> None:
    """Add the options of `derive`. Those that are not given are left to the pipeline."""
    group = parser.add_argument_group("how the equations are derived")
    group.add_argument("--formulation", metavar="NAME", help=_choices(FORMULATIONS))
    group.add_argument(
        "--parameters",
        metavar="CHOICE",
        help="numeric, symbolic, base (the base parameters are free), or the names to keep free, "
        "such as 'm_*,g'",
    )
    group.add_argument(
        "--closure",
        metavar="KIND",
        help=f"how the reactions of loops enter inverse dynamics: {_choices(CLOSURES)}",
    )
    add_list(
        group,
        "--wrenches",
        "FRAME",
        "frames or segments on which an outer force and moment act in inverse and forward "
        "dynamics: inputs wrench1 ... wrench6 for the first, and so on",
    )
    add_without(group)
    group.add_argument(
        "--define",
        metavar="NAME=EXPRESSION",
        action="append",
        help="a further output: 'power = tau1*qd1', 'v = [q1, H[1,2]^2]'; it may name inputs, "
        "outputs, their entries and other such outputs; may be repeated",
    )
    add_reduction(parser, search=search)


def add_without(group: Any) -> None:
    """Add `--without`."""
    text = f"what the mechanism has and the equations shall not have: {', '.join(PARTS)}"
    add_list(group, "--without", "PART", text)


def _choices(names: Iterable[str]) -> str:
    return " or ".join(names)


def add_reduction(parser: ArgumentParser, *, search: bool = True, default: str = "none") -> None:
    """Add `--reduce` and, unless the command has no use for a search, what goes with it."""
    group = parser.add_argument_group("how many operations they are reduced to")
    group.add_argument(
        "--reduce",
        metavar="EFFORT",
        help=f"{', '.join(EFFORTS)}: nothing, as in Racković 1996, about a second, or a search for "
        "as long as --budget or --steps says (Ctrl-C ends it and keeps the best); or passes by "
        "name with their options, as chainform passes lists them: "
        f"'thesis(by_parts=false),extract_monomials' (default: {default})",
    )
    if not search:
        parser.set_defaults(**dict.fromkeys(SEARCH_OPTIONS))
        return
    group.add_argument(
        "--budget",
        metavar="TIME",
        help="how long a deep search takes: 90s, 5m, 1h30m (default: 60s)",
    )
    group.add_argument(
        "--steps",
        dest="steps_made",
        metavar="N",
        help="how many steps a deep search makes, in place of a time",
    )
    group.add_argument(
        "--seed",
        metavar="N",
        help="of the search; the same seed and steps give the same model, another seed looks "
        "elsewhere",
    )
    group.add_argument("--cores", metavar="N", help="processes of a deep search (default: all)")
    group.add_argument(
        "--sine-cost",
        metavar="N",
        help="what a sine or cosine is worth, in multiplications (default: 12)",
    )


# --- lists and numbers ------------------------------------------------------------------------


def parameter_choice(text: str | None) -> str | list[str] | None:
    """Return numeric, symbolic or base as it is, anything else as a list of patterns."""
    if text is None or text in ("numeric", "symbolic", "base"):
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


def _number(text: str | None, option: str, kind: Callable[[str], Any]) -> Any:
    if text is None:
        return None
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise ReadError(
            f"{text[:40]!r} is not {what}", element=option, remedy=f"give {what}, such as 12"
        ) from None


# --- outputs and models -----------------------------------------------------------------------


def chosen_outputs(args: Namespace, default: Sequence[str]) -> list[str]:
    """Return the outputs of `--outputs` by their full names, the default without it."""
    if args.outputs is None:
        return list(default)
    with bad_input():
        return list(dict.fromkeys(output_of(t, own_names(args)) for t in wanted_texts(args)))


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
    texts = wanted_texts(args)
    requests = chosen_requests(args, texts)
    known = all_outputs(mechanism, args)
    outputs = [output_with(request.name, known, mechanism) for request in requests]
    if not args.stored and args.formulation and has_intermediates(outputs, known, mechanism):
        # They come with the outputs of the method; a frame's have to be named.
        more = [name for name in outputs if not has_intermediates([name], known, mechanism)]
        return with_entries(derive_all(mechanism, args, parameters, more)[0], texts)
    model = derive_chosen(mechanism, args, list(dict.fromkeys(outputs)), parameters)
    if [(request.name, request.indices) for request in requests] == [(o, ()) for o in outputs]:
        return model
    return with_entries(model, texts)


def usual_outputs(mechanism: Mechanism, args: Namespace) -> list[str]:
    """Return what is derived without `--outputs`.

    A formulation that has none of it gives all that it has.
    """
    own = list(definitions(args))
    if args.stored is not None:
        return [*args.stored.outputs, *own]
    outputs = [name for name in all_outputs(mechanism, args) if name not in COMMON]
    return [*(name for name in OUTPUTS if name in outputs), *own] or outputs


def all_outputs(mechanism: Mechanism, args: Namespace) -> tuple[str, ...]:
    """Return every output that the chosen formulation gives for the mechanism."""
    own = tuple(definitions(args))
    if args.stored is not None:
        return (*args.stored.outputs, *own)
    return (*available_outputs(mechanism, **_given(formulation=args.formulation)), *own)


def chosen_wrenches(mechanism: Mechanism, args: Namespace) -> list[str]:
    """Return the frames on which wrenches act, each once; refuse names that are not frames."""
    if args.stored is not None:
        return list(args.stored.wrenches)
    names = list(dict.fromkeys(split_names(args.wrenches or ())))
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

    A stored model is derived already; it keeps these outputs. Those of `--define` are added, over
    the others named or, where there are none, over the usual ones.
    """
    own = definitions(args)
    names = [name for name in outputs if not any(base in own for base in base_outputs(name))]
    if own and not names:
        names = [name for name in usual_outputs(mechanism, args) if name not in own]
    effort = reduction_options(args)
    model = _plain(mechanism, args, names, parameters)
    if own:
        with bad_input("--define"):
            model = model.with_outputs(own)
        model = with_outputs(model, outputs)
    for note in model.notes:
        tell(note)
    if effort["effort"] == "none":
        return model
    with search_progress(args) as progress:
        return model.reduce(**effort, progress=progress)


def _plain(
    mechanism: Mechanism,
    args: Namespace,
    outputs: Sequence[str],
    parameters: str | Sequence[str] | None,
) -> Model:
    """Derive outputs that the formulation has, or take them from the stored model."""
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
    return derive(mechanism, outputs, **options)


def derive_wanted(
    mechanism: Mechanism, args: Namespace, parameters: str | Sequence[str] | None = None
) -> tuple[Model, LeftOut]:
    """Derive what `--outputs` names, else every output there is; return also what was left out."""
    if args.outputs is None:
        return derive_all(mechanism, args, parameters)
    return derive_named(mechanism, args, (), parameters), {}


def derive_all(
    mechanism: Mechanism,
    args: Namespace,
    parameters: str | Sequence[str] | None = None,
    more: Sequence[str] = (),
) -> tuple[Model, LeftOut]:
    """Derive every output there is, and `more`; return also what was left out, and why.

    What needs the inverse of the mass matrix can fail for reasons that the other outputs do not
    mind: where no inertia resists a motion, its acceleration is anything. Regressors are longer
    than all others together, and base parameters do not suffice for every output: these have to be
    named.
    """
    chosen = parameter_choice(args.parameters) or "numeric"
    outside = (*REGRESSORS, *(WHOLE_BODIES if in_base(mechanism, chosen) else ()))
    named = usual_outputs if definitions(args) else all_outputs
    every = [name for name in named(mechanism, args) if name not in outside or args.stored]
    outputs = list(dict.fromkeys([*every, *more]))
    try:
        return derive_chosen(mechanism, args, outputs, parameters), {}
    except DeriveError as problem:
        solved = [name for name in outputs if name in SOLVED]
        rest = [name for name in outputs if name not in SOLVED]
        if not rest or set(solved).intersection(more):
            raise
        model = derive_chosen(mechanism, args, rest, parameters)
        return model, dict.fromkeys(solved, problem.message)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


# --- reductions -------------------------------------------------------------------------------


def reduction_options(args: Namespace, default: str = "none") -> dict[str, Any]:
    """Return the effort and the options that were given, as `Model.reduce` takes them."""
    effort: str = args.reduce or default
    _check_search_options(args, effort)
    options = {
        "budget": args.budget,
        "steps": _number(args.steps_made, "--steps", int),
        "seed": _number(args.seed, "--seed", int),
        "cores": _number(args.cores, "--cores", int),
        "sine_cost": _number(args.sine_cost, "--sine-cost", float),
    }
    given = {name: value for name, value in options.items() if value is not None}
    # What is wrong is refused before anything is derived.
    effort_of(effort, **given)
    return {"effort": effort, **given}


def _check_search_options(args: Namespace, effort: str) -> None:
    """Refuse options of a reduction where there is none, and bounds of a search where it is not."""
    bounds = ("budget", "steps_made")
    refused = {"none": SEARCH_OPTIONS, "thesis": bounds, "fast": bounds}.get(effort, ())
    for name in refused:
        if getattr(args, name) is None:
            continue
        option, fitting = option_name(name), "deep" if name in bounds else "fast"
        raise ReadError(
            f"{option} goes with --reduce {fitting}",
            element="options",
            remedy=f"add --reduce {fitting}, or leave out {option}",
        )
