"""A model against every other formulation that has its outputs: equal in fractions, or not.

Equal means equal at random states whose angles have rational sines; where a function has no
rational value, in a finite field, or else in doubles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

from chainform.analysis import agreement
from chainform.errors import Error
from chainform.formulations import FORMULATIONS
from chainform.given import counted
from chainform.graph import parts_of
from chainform.model import CATALOGUE, Model, select_outputs
from chainform.pipeline import available_outputs, derive
from chainform.verification.certificate import Check
from chainform.verification.laws import ARITHMETIC, LARGEST

SECONDS = 60.0
"""After this time no further formulation is derived for comparison."""

OF_DERIVATIVES = 2
"""So many other formulations give a derivative for comparison."""


def check_formulations(model: Model, seed: int = 0, states: int = 1) -> Iterator[Check]:
    """Derive each output by all other formulations that have it, and compare."""
    if not model.has_bodies or not model.mechanism.nv:
        return
    if len(model.graph) > LARGEST:
        figure = f"{len(model.graph)} variables, the limit is {LARGEST}"
        yield Check("other formulations give the same", "nothing", figure, None, 0)
        return
    mechanism, began = model.mechanism, perf_counter()
    known = {m: available_outputs(mechanism, m) for m in FORMULATIONS if m != "auto"}
    options: dict[str, Any] = {"parameters": model.parameters, "without": model.without}
    options |= {"closure": model.closure, "wrenches": model.wrenches}
    derivable = [n for n in model.outputs if n not in model.defined and _base(n) in CATALOGUE]
    for output in derivable:
        own = model.with_graph(select_outputs(model.graph, [output]))
        able = [m for m, given in known.items() if _base(output) in given]
        able = [m for m in able if m != model.formulation]
        # Derivatives take long by some of them.
        able = able if output in CATALOGUE else able[:OF_DERIVATIVES]
        equal: dict[str, list[str]] = {}
        differs, late = list[str](), list[str]()
        for name in able:
            if perf_counter() - began > SECONDS:
                late.append(name)
                continue
            try:
                other = derive(mechanism, [output], formulation=name, **options)
            except Error:
                continue
            agrees, how = _agreement(own, other, range(seed, seed + states))
            if agrees:
                equal.setdefault(how, []).append(name)
            else:
                differs.append(name)
        yield _check(output, equal, (differs, late), states)
    strange = ", ".join(name for name in model.outputs if name not in derivable)
    if strange:
        figure = f"they do not derive {strange}"
        yield Check("other formulations give the same", "nothing", figure, None, 0)


def _base(output: str) -> str:
    """Return the quantity of which an output is the derivative, or else the output."""
    parts = parts_of(output)
    return parts.arguments[0] if parts.name == "derivative" and parts.arguments else output


def _agreement(own: Model, other: Model, seeds: Sequence[int]) -> tuple[bool, str]:
    """Tell whether two models agree at all states, and in which arithmetic at the last one."""
    how = ""
    for seed in seeds:
        agrees, how = agreement(own, other, seed)
        if not agrees or how == "residues":
            return agrees, how
    return True, how


def _check(
    output: str, equal: dict[str, list[str]], others: tuple[list[str], list[str]], states: int
) -> Check:
    law = f"other formulations give the same {output}"
    differs, late = others
    words = [f"equal {ARITHMETIC[how]}: {', '.join(names)}" for how, names in equal.items()]
    words += [f"DIFFERENT: {', '.join(differs)}"] if differs else []
    words += [f"left out after {SECONDS:g} s: {', '.join(late)}"] if late else []
    if not equal and not differs:
        return Check(law, "nothing", "; ".join([*words, "no other gives it"][:1]), None, 0)
    exact = 0.0 if not differs and {*equal} <= {"fractions", "residues"} else None
    compared = f"all entries, {counted(states, 'random state')}"
    return Check(law, compared, "; ".join(words), not differs, states, exact, exact)
