"""The corridor: from a mechanism to its model, every step in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from time import perf_counter

import numpy as np

from chainform.display import Records
from chainform.errors import DeriveError, RunError
from chainform.formulations import (
    COMMON,
    COMPLETE,
    CONSTRAINTS,
    FORMULATIONS,
    LINEAR,
    OF_FRAME,
    OF_MOTION,
    PARTS,
    UNMOVED,
    Formulation,
    Options,
    OutputRequest,
    check_frame,
    has_basic_joints,
    has_quaternions,
    has_reactions,
    is_bound,
    of_base_bodies,
    outputs_in_scope,
    parse_request,
    refusal,
    refuse_base_bodies,
    refuse_base_without_laws,
    refuse_elements,
    refuse_in_base,
    refuse_massless,
    refuse_moving_base,
    uses_elements,
)
from chainform.given import Given, near
from chainform.graph import FLOAT, OF_OUTPUT, Graph, base_outputs, evaluate, parts_of
from chainform.mechanism import (
    Mechanism,
    has_base_bodies,
    in_base,
    lacks_inertia,
    parametrise,
    refuse_moments,
    with_unit_quaternions,
)
from chainform.model import CATALOGUE, LETTERS, Model, OutputEntry, output_of
from chainform.readers import read
from chainform.search import effort_of, stage_of

OUTPUTS = ("mass_matrix", "coriolis", "gravity", "inverse_dynamics")
"""What is derived by default."""

SOLVED = (
    "forward_dynamics",
    "inverse_mass_matrix",
    "inverse_operational_inertia",
    "operational_inertia",
    "operational_bias",
)
"""The outputs that need a mass matrix that is not singular."""
MASS_CENTRES = ("closed_form", "kinetostatic")
"""The formulations that describe bodies by their mass centres."""

POSES = 2
"""The poses in which it is seen whether a mass matrix is singular everywhere."""
ROUNDING = 1e-14
"""The share of a mass matrix, its diagonal made 1, that rounding may leave of nothing."""

CLOSURES = ("complete", "basic")


def derive(  # noqa: PLR0913, a front door
    mechanism: Mechanism | str | PathLike[str],
    outputs: Sequence[str] | None = None,
    *,
    formulation: str = "auto",
    parameters: str | Sequence[str] = "numeric",
    reduce: str = "none",
    closure: str = "complete",
    wrenches: Sequence[str] = (),
    without: Sequence[str] = (),
    forces: Mapping[str, object] | None = None,
) -> Model:
    """Return the model of a mechanism (or of the file that describes it), as it is derived.

    `outputs` names the quantities wanted, by name or letter: ["H", "inverse_dynamics"] (by default
    mass matrix, Coriolis terms, gravity and inverse dynamics, as far as there are such),
    `formulation` the method. `parameters` is "numeric", "symbolic", "base" (the base parameters of
    the mechanism are free) or a list of name patterns to keep free, which may have "base" in it.
    `closure` says how the reactions of closed loops enter inverse dynamics: "complete" by virtual
    work on every joint of the loop, "basic" on the basic joints only, as in Racković 1996.
    `wrenches` names the frames on which external forces and moments act; they are inputs of
    inverse and forward dynamics. `without` names what the mechanism has and the equations shall
    not have: "friction", "springs", "rotors" or "forces". `forces` are laws of coordinates, rates
    and time that act with those of the mechanism, by joint: {"joint2": "673*t - 508"}.

    Nothing is reduced unless `reduce` names an effort: `derive(m, reduce="fast")` is short for
    `derive(m).reduce("fast")`, where the options of a reduction are.
    """
    source = mechanism if isinstance(mechanism, Mechanism) else read(mechanism)
    _check_freedom(source)
    source = source if forces is None else source.with_forces(forces)
    method = _formulation(formulation)
    refuse_elements(source, method.name)
    texts = _outputs(_defaults(source, method) if outputs is None else outputs)
    wanted = _requests(method, texts)
    effort_of(reduce)
    _choice("closure", closure, CLOSURES, "kind of closure")
    _check_base(source, method, wanted)
    free = parameters if isinstance(parameters, str) else names_in("parameters", parameters)
    settled = parametrise(source, free)
    acting = names_in("wrenches", wrenches)
    for frame in acting:
        check_frame(source, frame)
    left_out = tuple(dict.fromkeys(names_in("without", without)))
    for part in left_out:
        _choice("without", part, PARTS, "part")
    names = [request.name for request in wanted]
    if in_base(source, free):
        refuse_in_base(source, names, left_out, [n for n in _patterns(free) if n != "base"])
    elif has_base_bodies(source):
        refuse_base_bodies(source, names)
    if method.name in MASS_CENTRES:
        refuse_moments(settled, method.name, 'use formulation="auto"')
    options = Options(closure, acting, frozenset(left_out))
    began = perf_counter()
    graph, choices = method.graph(settled, texts, options)
    _check_masses(settled, method, wanted, options)
    stage = stage_of("formulation", graph, perf_counter() - began)
    model = Model(source, graph, method.name, free, "none", closure, acting, left_out)
    return replace(model, axis_choices=choices, stages=(stage,)).reduce(reduce)


def _patterns(free: str | Sequence[str]) -> Sequence[str]:
    """Return the patterns of names that stay free."""
    return () if isinstance(free, str) else free


def _check_freedom(mechanism: Mechanism) -> None:
    """Refuse a mechanism without segments and coordinates: that of a file of expressions."""
    if not (mechanism.segments or mechanism.coordinates):
        remedy = "describe segments; the model of a file of expressions is what was read from it"
        message = "the mechanism has nothing that moves"
        raise DeriveError(message, element="mechanism", remedy=remedy)


def _defaults(mechanism: Mechanism, method: Formulation) -> list[str]:
    available = available_outputs(mechanism, method.name)
    usual = [output for output in OUTPUTS if output in available]
    return usual or [output for output in method.outputs if output in available]


def available_outputs(mechanism: Mechanism, formulation: str = "auto") -> tuple[str, ...]:
    """Return every output that a formulation can give for a mechanism.

    Those of frames and those made of derivatives are left out.
    """
    method = _formulation(formulation)
    common = [output for output in COMMON if output not in (*OF_FRAME, *method.outputs)]
    outputs = (*(output for output in method.outputs if output not in LINEAR), *common)
    outputs = outputs_in_scope(mechanism, method.name, outputs)
    if not mechanism.loops:
        outputs = tuple(o for o in outputs if not o.startswith("closure"))
    if not has_basic_joints(mechanism):
        outputs = tuple(o for o in outputs if o != "closure")
    if not mechanism.actuators:
        outputs = tuple(o for o in outputs if o not in COMPLETE)
    if not _takes_base(mechanism, method):
        outputs = tuple(o for o in outputs if o in _unmoved(mechanism))
    if has_base_bodies(mechanism):
        outputs = tuple(o for o in outputs if of_base_bodies(o))
    if "reactions" in outputs and not has_reactions(mechanism):
        outputs = tuple(o for o in outputs if o != "reactions")
    return tuple(o for o in outputs if o != "coriolis" or not has_quaternions(mechanism))


def quantities(
    mechanism: Mechanism | str | PathLike[str] | None = None, formulation: str | None = None
) -> tuple[OutputEntry, ...]:
    """Return what can be derived: name, letter, shape, unit, meaning and equation of each output.

    For a mechanism (or the file that describes it) these are the outputs that it has, and shapes
    are numbers; else all there are, and shapes have letters such as nv. `formulation` limits them
    to those of one method; without it, any method will do.
    """
    methods = FORMULATIONS.values() if formulation is None else [_formulation(formulation)]
    if mechanism is None:
        known = {name for method in methods for name in (*method.outputs, *COMMON)}
        return Records(entry for entry in CATALOGUE.values() if entry.name in known)
    source = mechanism if isinstance(mechanism, Mechanism) else read(mechanism)
    able = [method.name for method in methods if refusal(source, method.name) is None]
    names = {name for who in able for name in available_outputs(source, who)}
    if names and _takes_base(source, FORMULATIONS["auto"]):
        names.update(outputs_in_scope(source, "auto", list(OF_FRAME)))
    if has_base_bodies(source):
        names = {name for name in names if of_base_bodies(name)}
    return Records(
        replace(entry, shape=entry.shape_for(source))
        for entry in CATALOGUE.values()
        if entry.name in names
    )


def _check_base(mechanism: Mechanism, method: Formulation, wanted: Sequence[OutputRequest]) -> None:
    """Refuse a base that moves as prescribed where the method has no place for it."""
    if _takes_base(mechanism, method):
        return
    for output in (request.name for request in wanted):
        if output not in _unmoved(mechanism):
            if uses_elements(mechanism):
                refuse_base_without_laws(mechanism, output)
            others = [f for f in FORMULATIONS.values() if f.moving_base and output in f.outputs]
            refuse_moving_base(mechanism, output, method.name, [f.name for f in others])


def _check_masses(
    mechanism: Mechanism, method: Formulation, wanted: Sequence[OutputRequest], options: Options
) -> None:
    """Refuse what needs the inverse of a mass matrix that is singular in every pose.

    A pivot that is zero as a number may be a sum of terms that only cancel, and rounding would
    stand for it. So the matrix is computed in poses taken at random.
    """
    names = {request.name for request in wanted}
    # Constraints may hold what has no mass, but not where forward dynamics comes first.
    first = "inverse_dynamics" not in method.outputs
    linear = () if is_bound(mechanism) else LINEAR
    solved = (*SOLVED, *linear, *(CONSTRAINTS if first else ()))
    if not names.intersection(solved) or uses_elements(mechanism):
        return
    if not lacks_inertia(mechanism):
        return
    graph, _ = FORMULATIONS["auto"].graph(mechanism, ["mass_matrix"], options)
    random = np.random.default_rng(0)
    loose = {_loose_rate(mechanism, graph, random) for _ in range(POSES)}
    if None not in loose:
        raise refuse_massless(min(rate for rate in loose if rate is not None))


def _loose_rate(mechanism: Mechanism, graph: Graph, random: np.random.Generator) -> int | None:
    """Return the rate that the mass matrix resists least in a pose, if only by rounding."""
    q = with_unit_quaternions(mechanism, random.uniform(-1.0, 1.0, mechanism.nq))
    values = {item.name: random.uniform(0.5, 1.5) for item in graph.inputs.values()}
    values |= {
        item.name: float(q[item.index]) for item in graph.inputs.values() if item.group == "q"
    }
    H = evaluate(graph, values, FLOAT)["mass_matrix"].astype(np.float64)
    # Parameters taken at random may make a mass negative, which is no singularity.
    sizes = np.sqrt(np.abs(np.diag(H)))
    if not np.all(sizes > 0.0):
        return int(np.argmin(sizes))
    shares, directions = np.linalg.eigh(H / np.outer(sizes, sizes))
    least = int(np.argmin(np.abs(shares)))
    return None if abs(shares[least]) > ROUNDING else int(np.argmax(np.abs(directions[:, least])))


def _takes_base(mechanism: Mechanism, method: Formulation) -> bool:
    """Whether a method has a place for what the base of a mechanism does."""
    base = mechanism.base
    if method.name == "elements" or uses_elements(mechanism):
        return base.follows_its_place
    return method.moving_base or not base.is_moving


def _unmoved(mechanism: Mechanism) -> tuple[str, ...]:
    """Return what is right although a method has no place for the motion of the base."""
    return UNMOVED if uses_elements(mechanism) else (*COMMON, *UNMOVED)


def _formulation(name: str) -> Formulation:
    return FORMULATIONS[_choice("formulation", name, tuple(FORMULATIONS))]


def _outputs(outputs: Sequence[str]) -> list[str]:
    """Return the outputs that are named, each once and in full."""
    try:
        return list(dict.fromkeys(map(output_of, names_in("outputs", outputs))))
    except RunError as problem:
        remedy = problem.remedy
        raise DeriveError(problem.message, element="outputs", remedy=remedy) from None


def _requests(method: Formulation, texts: Sequence[str]) -> list[OutputRequest]:
    """Return the outputs of the method that texts are made of."""
    choices = (*method.outputs, *COMMON)
    bases = dict.fromkeys(base for text in texts for base in _bases(text))
    requests = [parse_request(base) for base in bases]
    for request in requests:
        name = LETTERS.get(request.name, request.name)
        if name not in choices:
            raise _no_output(name, method)
        if request.frame is not None and request.name not in (*OF_FRAME, *OF_OUTPUT):
            remedy = f"write {name} alone"
            message = f"{name} is not a quantity of a frame"
            raise DeriveError(message, element=request.text, remedy=remedy)
    if not requests:
        remedy = f"choose from {', '.join(choices)}"
        raise DeriveError("no outputs are named", element="outputs", remedy=remedy)
    return requests


def _no_output(name: str, method: Formulation) -> DeriveError:
    """Return the error about an output that a method does not give, with what may be meant."""
    able = [other.name for other in FORMULATIONS.values() if name in other.outputs]
    if able:
        message, remedy = f"{method.name} does not give {name}", f"take {' or '.join(able)}"
        return DeriveError(message, element="formulation", remedy=remedy)
    choices = (*method.outputs, *COMMON)
    remedy = near(name, [*choices, *LETTERS], 3) + f"choices are {', '.join(choices)}"
    return DeriveError(f"there is no output {name[:60]!r}", element="output", remedy=remedy)


def _bases(text: str) -> Iterator[str]:
    """Yield the outputs that a text is made of, those of which matrices are taken with them."""
    for base in base_outputs(text):
        yield base
        parts = parts_of(base)
        inside = parts.inside if parts.name in OF_OUTPUT else None
        if inside is not None and parts_of(inside).whole not in OF_MOTION:
            yield from _bases(inside)


def names_in(what: str, value: object) -> tuple[str, ...]:
    """Return one name, or a list of names, as a tuple."""
    return Given(value, what, raises=DeriveError).texts(f'write {what}=["..."]')


def _choice(element: str, value: object, choices: Sequence[str], what: str = "") -> str:
    return Given(value, element, raises=DeriveError).choice(choices, what)
