"""chainform's side: what is derived, reduced and compiled, and how long each of it takes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import prod
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from speed_peers.cases import Case
from speed_peers.measure import Competitor

import chainform as cf
from derivative_peers.quantities import QUANTITIES, BlockOrder

TITLE = "chainform"
INDICES = re.compile(r"_(\d+)_by_[a-z]+(\d+)_by_[a-z]+(\d+)$")
"""In the label of a second derivative: tau_2_by_q1_by_qd3."""


@dataclass(frozen=True)
class Ours:
    """The compiled function of one quantity, and what it took to make it."""

    competitor: Competitor = field(repr=False)
    size: int
    """How many numbers it returns."""
    operations: str
    seconds: tuple[float, float, float]
    """To derive, to reduce, to compile."""
    code: int
    """Bytes of machine code."""


def ours(case: Case, quantity: str) -> Ours:
    """Return the function of a quantity, derived and reduced alone."""
    outputs = QUANTITIES[quantity].outputs
    times = [perf_counter()]
    model = cf.derive(case.mechanism, list(outputs), without=("friction",))
    times.append(perf_counter())
    model = model.reduce("fast")
    times.append(perf_counter())
    program = model.compile(threads=1)
    address = program.address(list(outputs))
    times.append(perf_counter())
    signature = program.signature(*outputs)
    results = tuple(prod(result.shape) for result in signature.results)
    competitor = Competitor(
        TITLE,
        "",
        address,
        _order(case, quantity, model),
        arguments=tuple(argument.group for argument in signature.arguments),
        results=results,
        keep=program,
    )
    count = model.count()
    derived, reduced, compiled = np.diff(times)
    return Ours(
        competitor,
        sum(results),
        f"{count.multiplications} / {count.additions}",
        (float(derived), float(reduced), float(compiled)),
        sum(map(len, program.codes().values())),
    )


def _order(case: Case, quantity: str, model: cf.Model) -> BlockOrder:
    own, wanted = case.own_order, QUANTITIES[quantity]
    if wanted.rank == 2:
        return BlockOrder(own.q, own.v)
    nv = case.mechanism.nv
    labels = [model.graph.outputs[output].labels for output in wanted.outputs]
    places = tuple(np.array([_place(label, nv) for label in each], np.intp) for each in labels)
    return BlockOrder(own.q, own.v, places=places)


def _place(label: str, nv: int) -> int:
    """Return where an entry lies in the array of second derivatives."""
    found = INDICES.search(label)
    assert found, label
    indices: NDArray[np.intp] = np.array(found.groups(), np.intp) - 1
    return int(np.ravel_multi_index(tuple(indices), (nv, nv, nv)))
