"""Machine code against the interpreter of graphs: single states, and lanes of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from chainform.errors import RunError
from chainform.model import Model
from chainform.runtime import Program
from chainform.verification.certificate import Check, reason_of
from chainform.verification.deviation import Array, check_of, deviations_of
from chainform.verification.state_samples import Sample, sample_of

LAW = "machine code computes the model"
LANES_LAW = "lanes of a batch compute the model"
SIZE = 60_000
"""Variables of the largest graph that is compiled for it."""


def check_program(model: Model, seed: int = 0, states: int = 5) -> Iterator[Check]:
    """Compile all outputs and call them at random states: one by one, then as one batch."""
    if len(model.graph) > SIZE:
        figure = f"{len(model.graph)} variables, and up to {SIZE} are compiled for it"
        yield Check(LAW, "nothing", figure, None, 0)
        return
    try:
        program = model.compile()
    except (RunError, ImportError) as problem:
        words = reason_of(problem) if isinstance(problem, RunError) else str(problem)
        yield Check(LAW, "nothing", words, None, 0)
        return
    sample = sample_of(model, states, seed)
    single = [
        {n: v for o in model.outputs for n, v in _called(program, sample, [o], k)}
        for k in range(len(sample))
    ]
    whole = {name: np.array([found[name] for found in single]) for name in model.outputs}
    words = f"each output and model.evaluate, for {program.target.cpu}"
    yield check_of(LAW, words, deviations_of(sample, whole))
    # Whole registers and a rest, each state in several lanes.
    rows = np.arange(3 * program.lanes + 1) % len(sample)
    many = sample.chosen(rows)
    found = dict(_called(program, many, list(model.outputs), None))
    words = f"all outputs in {program.lanes} lanes and model.evaluate"
    yield check_of(LANES_LAW, words, deviations_of(many, found))


def _called(
    program: Program, sample: Sample, outputs: list[str], k: int | None
) -> Iterator[tuple[str, Array]]:
    """Yield outputs of one call with their names: at one state, or at all of them."""
    given = sample.arguments(k)
    values = given.pop("values")
    taken = [argument.group for argument in program.signature(*outputs).arguments]
    states: dict[str, Any] = {group: given[group] for group in taken if group != "parameter"}
    own = {"values": values} if "parameter" in taken else {}
    results = program.function(*outputs)(**states, **own)
    for name, result in zip(outputs, [results] if len(outputs) == 1 else results, strict=True):
        # An output without inputs is the same at all states.
        lead = () if k is not None else (len(sample),)
        yield name, np.broadcast_to(result, (*lead, *sample.model.graph.block(name).shape))
