"""The same equations by every formulation: do they agree, and what does each cost.

They are compared at random states in fractions, where equal means equal.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.algebra import is_same
from chainform.display import Displayed
from chainform.errors import DeriveError, RunError
from chainform.formulations import (
    FORMULATIONS,
    OF_FRAME,
    outputs_in_scope,
    parse_request,
    uses_elements,
)
from chainform.given import Given
from chainform.graph import (
    EXACT,
    Angle,
    Cost,
    Input,
    base_outputs,
    evaluate,
    rounding_bounds,
)
from chainform.mechanism import JointKind, Mechanism
from chainform.model import Model, output_of, select_outputs
from chainform.pipeline import available_outputs, derive, names_in
from chainform.readers import read

COMPARED = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis", "gravity", "bias")
"""What is compared by default: what several formulations give."""
LARGEST_EXACT = 30_000
"""The most variables of a graph that is evaluated in fractions, whose digits grow on the way."""
CLOSE = 1e-9
"""How near results must be, against the largest entry, where only doubles can tell."""
MARGIN = 4.0
"""So many bounds of rounding two ways to a value in doubles may be apart."""
TRIES = 8
"""How many states are tried where an entry has no finite value."""
Observer = Callable[[str, str], None]


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonRow(Displayed):
    """One output by one formulation.

    `agrees` tells whether it equals the same output of the first formulation in the list, and
    `how` by which arithmetic: "fractions", "residues" (a finite field) or "doubles". A formulation
    that refuses the mechanism has no cost, and says why in `refusal`.
    """

    output: str
    formulation: str
    cost: Cost | None = None
    seconds: float = 0.0
    agrees: bool | None = None
    how: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Displayed):
    """All formulations side by side."""

    mechanism: str
    rows: tuple[ComparisonRow, ...]

    @property
    def agree(self) -> bool:
        """Whether no two formulations differ."""
        return all(row.agrees is not False for row in self.rows)

    def __repr__(self) -> str:
        outputs = ", ".join(dict.fromkeys(row.output for row in self.rows))
        words = "all agree" if self.agree else "formulations DIFFER"
        return f"<Comparison of {self.mechanism}, {outputs}: {words}>"

    @property
    def alone(self) -> tuple[str, ...]:
        """The outputs that one formulation alone gives, so that nothing could be compared."""
        outputs = dict.fromkeys(row.output for row in self.rows)
        compared = {row.output for row in self.rows if row.agrees is not None}
        return tuple(output for output in outputs if output not in compared)


def compare(  # noqa: PLR0913, a front door
    mechanism: Mechanism | str | PathLike[str],
    outputs: Sequence[str] | None = None,
    *,
    formulations: Sequence[str] | None = None,
    parameters: str | Sequence[str] = "numeric",
    reduce: str = "none",
    without: Sequence[str] = (),
    seed: int = 0,
    observe: Observer | None = None,
) -> Comparison:
    """Derive each output with every formulation that has it, and compare the results exactly.

    All are evaluated at one random state whose angles have rational sines and cosines, so equal
    means equal, without a tolerance. Where a function has no rational value the graphs are
    compared in a finite field, and where that cannot tell, in double precision. Unless
    `formulations` says otherwise, all but auto are compared, and auto where one alone has the
    output. `observe` is called with output and formulation before each is derived.
    """
    source = mechanism if isinstance(mechanism, Mechanism) else read(mechanism)
    if type(seed) is not int:
        raise DeriveError("the seed is no whole number", element="seed", remedy="write seed=1")
    methods = _methods(formulations)
    rows: list[ComparisonRow] = []
    options: dict[str, Any] = {"parameters": parameters, "reduce": reduce, "without": without}
    for output in _outputs(source, outputs):
        first: Model | None = None
        able = [name for name in methods if _gives(name, source, output)]
        if formulations is None and len(able) == 1 and not uses_elements(source):
            able += ["auto"] if _gives("auto", source, output) else []
        for name in able:
            if observe is not None:
                observe(output, name)
            began = perf_counter()
            try:
                model = derive(source, [output], formulation=name, **options)
            except (DeriveError, RunError) as problem:
                if problem.element in options:
                    raise
                rows.append(ComparisonRow(output, name, refusal=problem.message))
                continue
            seconds = perf_counter() - began
            first = first or model
            agrees, how = (None, "") if model is first else agreement(first, model, seed)
            rows.append(ComparisonRow(output, name, model.count(), seconds, agrees, how))
    if not rows:
        raise DeriveError(
            f"{', '.join(methods)} cannot give what is compared for this mechanism",
            file=source.file,
            element="formulations",
            remedy=f"choices are {', '.join(FORMULATIONS)}; elements need elements or auto",
        )
    return Comparison(source.name, tuple(rows))


def _gives(method: str, mechanism: Mechanism, output: str) -> bool:
    """Whether a formulation has what an output is made of, for the mechanism or its frames."""
    known = available_outputs(mechanism, method)
    frames = outputs_in_scope(mechanism, method, list(OF_FRAME))
    bases = base_outputs(output)
    return all(base in known or parse_request(base).name in frames for base in bases)


def _outputs(mechanism: Mechanism, outputs: Sequence[str] | None) -> list[str]:
    """Return what is compared; an output that nothing gives is refused if it is named."""
    if outputs is None:
        return [name for name in COMPARED if name in available_outputs(mechanism)]
    chosen = [output_of(output) for output in names_in("outputs", outputs)]
    known = {name for method in FORMULATIONS for name in available_outputs(mechanism, method)}
    for output in chosen:
        if not any(_gives(method, mechanism, output) for method in FORMULATIONS):
            raise DeriveError(
                f"no formulation gives {output} for this mechanism",
                file=mechanism.file,
                element=output,
                remedy=f"outputs are {', '.join(sorted(known))}",
            )
    return _some("outputs", chosen)


def _methods(formulations: Sequence[str] | None) -> list[str]:
    names = [name for name in FORMULATIONS if name != "auto"]
    chosen = names if formulations is None else names_in("formulations", formulations)
    for name in chosen:
        Given(name, "formulations", raises=DeriveError).choice(tuple(FORMULATIONS), "formulation")
    return _some("formulations", chosen)


def _some(what: str, names: Iterable[str]) -> list[str]:
    """Return the names, each once; none at all are refused."""
    chosen = list(dict.fromkeys(names))
    if not chosen:
        remedy = f"name some, or leave {what} out for all of them"
        raise DeriveError(f"no {what} are named", element=what, remedy=remedy)
    return chosen


def agreement(first: Model, second: Model, seed: int = 0) -> tuple[bool, str]:
    """Tell whether two models of one output give equal values, and in which arithmetic."""
    if max(len(first.graph), len(second.graph)) <= LARGEST_EXACT:
        try:
            a, b = (_fractions(model, seed) for model in (first, second))
            return bool((a == b).all()), "fractions"
        except RunError:
            pass
    if is_same(first.graph, second.graph):
        return True, "residues"
    return _are_close(first, second, seed), "doubles"


def exact_values(model: Model, seed: int = 0) -> tuple[dict[str, NDArray[Any]], str]:
    """Return all outputs at a random state, in fractions, or else in doubles, and which it is."""
    inputs = list(model.graph.inputs.values())
    state = exact_state(model.mechanism, inputs, seed)
    try:
        if len(model.graph) <= LARGEST_EXACT:
            found = evaluate(model.graph, state, EXACT)
            return {name: np.asarray(value) for name, value in found.items()}, "fractions"
    except RunError:
        pass
    blocks = model.graph.outputs
    singles = {name: model.with_graph(select_outputs(model.graph, [name])) for name in blocks}
    return {
        n: _doubles(one, seed).reshape(blocks[n].shape) for n, one in singles.items()
    }, "doubles"


def _fractions(model: Model, seed: int) -> Any:
    state = exact_state(model.mechanism, model.graph.inputs.values(), seed)
    return np.asarray(evaluate(model.graph, state, EXACT)[model.outputs[0]])


def _are_close(first: Model, second: Model, seed: int) -> bool:
    """Whether two models are near each other, at the first state where both are finite."""
    a, b, other = np.zeros(0), np.zeros(0), seed
    for other in range(seed, seed + TRIES):
        a, b = _doubles(first, other), _doubles(second, other)
        if np.isfinite(a).all() and np.isfinite(b).all():
            break
    finite = np.isfinite(a)
    if (finite != np.isfinite(b)).any():
        return False
    scale = max(1.0, float(np.max(np.abs(a[finite]), initial=0)))
    # Small values are not compared with 1: what rounding may do is less.
    bound = MARGIN * sum(_values_and_bounds(model, other)[1] for model in (first, second))
    return bool((np.abs(a - b) <= np.minimum(bound, CLOSE * scale))[finite].all())


def rounding_at(model: Model, seed: int) -> dict[str, NDArray[np.float64]]:
    """Return how far all outputs, computed in doubles at a random state, may be off."""
    return {
        name: MARGIN * _values_and_bounds(model, seed, name)[1].reshape(block.shape)
        for name, block in model.graph.outputs.items()
    }


def _doubles(model: Model, seed: int) -> NDArray[np.float64]:
    """Return the entries of the output at a state; what has no value is not finite."""
    return _values_and_bounds(model, seed)[0]


def _values_and_bounds(model: Model, seed: int, output: str = "") -> NDArray[np.float64]:
    graph = model.graph
    state = exact_state(model.mechanism, graph.inputs.values(), seed)
    variables = np.asarray(graph.block(output or model.outputs[0]).variables, dtype=np.int32)
    wanted = np.unique(variables)
    values = {v: state[given.name] for v, given in graph.inputs.items()}
    numbers = {v: float(getattr(x, "value", x)) for v, x in values.items()}
    found = rounding_bounds(graph, wanted, numbers, 1)
    return np.array(found)[:, np.searchsorted(wanted, variables), 0]


# --- random states in fractions: angles with rational sines, quaternions of rational entries --


def exact_state(mechanism: Mechanism, inputs: Iterable[Input], seed: int = 0) -> dict[str, Any]:
    """Return a value for every input, by its name; a parameter keeps the value it has.

    The coordinate of a revolute joint is an Angle, so that its sine and cosine are fractions; all
    else is a short fraction. The four entries of a quaternion have the length 1 exactly.
    """
    # Each value depends on the name alone, so that two graphs of one mechanism are at one state.
    values: dict[str, Any] = {}
    for given in inputs:
        values[given.name] = _value(given, random.Random(f"{seed} {given.name}"))
    rng = random.Random(seed)
    turning = {
        segment.coordinate
        for segment in mechanism.segments
        if segment.joint.kind == JointKind.REVOLUTE
    }
    turning |= {k for k, c in enumerate(mechanism.coordinate_records) if c.unit == "rad"}
    for segment in mechanism.segments:
        if segment.joint.kind.has_quaternion and segment.coordinate is not None:
            first = segment.coordinate + segment.joint.kind.coordinates - 4
            for place, entry in enumerate(unit_quaternion(rng), first + 1):
                values[f"q{place}"] = entry
    for coordinate in sorted(turning - {None}, key=lambda c: c or 0):
        assert coordinate is not None
        half = Fraction(rng.randint(-9, 9), rng.randint(1, 9))
        values[f"q{coordinate + 1}"] = Angle.from_tangent(half)
    return values


def _value(given: Input, rng: random.Random) -> Fraction:
    if given.default is not None:
        return given.default
    return Fraction(rng.randint(-20, 20), 10)


def unit_quaternion(rng: random.Random) -> tuple[Fraction, ...]:
    """Return x y z w of length 1: the square of a quaternion of integers, over its own length.

    For p = (v, w) the square is (2 w v, w^2 - v.v), and its length is that of p squared.
    """
    x, y, z, w = (rng.randint(-4, 4) for _ in range(4))
    w = w or 1
    square = x * x + y * y + z * z
    length = square + w * w
    return tuple(Fraction(e, length) for e in (2 * w * x, 2 * w * y, 2 * w * z, w * w - square))
