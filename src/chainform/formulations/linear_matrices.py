"""Matrices of small motions about a state, as formulas: z' = A z + B w, y = C z + D w.

symbol   meaning
z        displacements of the independent coordinates, changes of the independent rates, and of
         those states of actuators that are not q and qd
w        signals of actuators and unknown forces, or tau; and outer wrenches
A, B     state_matrix and input_matrix
C, D     output_matrix(y) and feedthrough_matrix(y): a row for each entry of the output y

    dy = (dy/dq) xi + (dy/dqd) dqd + (dy/dqdd) dqdd + ...    each factor from small_motions.py

Accelerations, drives and forces in loops are those of the motion: they are eliminated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol

from chainform.errors import DeriveError
from chainform.formulations.shared.options import GraphOf, OutputRequest
from chainform.formulations.small_motions import Changes, Column, Matrix, SmallMotions, add, product
from chainform.graph import (
    FACTORS,
    OF_OUTPUT,
    Block,
    Builder,
    Input,
    canonical,
    chosen_entries,
    include,
    is_zero,
    parts_of,
)
from chainform.mechanism import Mechanism

LINEAR = {"state_matrix": "Az", "input_matrix": "Bz", **OF_OUTPUT}
"""The matrices of small motions, and their letters; the last two have an output in brackets."""
ACCELERATIONS = ("forward_dynamics", "constrained_dynamics", "complete_acceleration")
"""What stands for the accelerations of the motion, under all loops, constraints and actuators."""
OF_MOTION = ("q", "qd", "x", "drives", *ACCELERATIONS)
"""What changes with a motion in any case, and need not be derived."""


class LinearMatrices:
    """Declares matrices of small motions of one mechanism."""

    def __init__(self, builder: Builder, mechanism: Mechanism, graph_of: GraphOf) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.graph_of = graph_of

    @cached_property
    def motions(self) -> SmallMotions:
        """The motion, and how it changes."""
        return SmallMotions(self.builder, self.mechanism, self.graph_of)

    def declare(self, request: OutputRequest) -> None:
        """Declare one of the matrices."""
        motions, letter = self.motions, LINEAR[request.name]
        is_of_states = request.name in ("state_matrix", "output_matrix")
        columns = motions.states if is_of_states else motions.inputs
        if request.name in ("state_matrix", "input_matrix"):
            count = len(motions.states)
            labels, found = [str(i + 1) for i in range(count)], [self._rates(c) for c in columns]
        else:
            output = self._output(request)
            labels, found = output.labels, [output.change(c) for c in columns]
        zero = self.builder.number(0)
        entries = [
            (f"{letter}_{label}_{k + 1}", column.get(i, zero))
            for i, label in enumerate(labels)
            for k, column in enumerate(found)
        ]
        self.builder.output(request.text, (len(labels), len(found)), entries)

    def _rates(self, changes: Changes) -> Column:
        """Return the changes of z'."""
        motions = self.motions
        shifts, qdd, x = motions.shifts(changes), changes["qdd"], motions.change("x", changes)
        zero = self.builder.number(0)
        listed = [shifts.get(k, zero) for k in motions.free.positions]
        listed += [qdd.get(k, zero) for k in motions.free.rates]
        listed += [x.get(k, zero) for k in range(len(motions.places))]
        return {i: value for i, value in enumerate(listed) if not is_zero(value)}

    # --- outputs ------------------------------------------------------------------------

    def _output(self, request: OutputRequest) -> _Output:
        """Return the output that a matrix is of."""
        text = request.frame
        if text is None:
            raise DeriveError(
                f"{request.name} is that of an output, and none is named",
                element=request.name,
                remedy=f"write it in brackets: {request.name}(pose(tool)), {request.name}(q)",
            )
        parts = parts_of(text)
        known = self._known(parts.whole)
        if known is None:
            return _Derived(self.motions, text, request.name)
        block = Block(text, (len(known),), tuple(range(len(known))), known)
        chosen = chosen_entries(block, parts.indices, text) if parts.indices else block
        return _Known(self.motions, parts.whole, chosen)

    def _known(self, name: str) -> tuple[str, ...] | None:
        """Return the labels of what changes in any case, if a name means that."""
        rates, states = range(1, self.mechanism.nv + 1), len(self.mechanism.states)
        letters = {"q": "q", "qd": "qd", "drives": "drive_", **dict.fromkeys(ACCELERATIONS, "qdd_")}
        if name == "x":
            return tuple(f"x{k + 1}" for k in range(states))
        return tuple(f"{letters[name]}{k}" for k in rates) if name in letters else None


class _Output(Protocol):
    """An output, and how it changes."""

    @property
    def labels(self) -> Sequence[str]: ...

    def change(self, changes: Changes) -> Column:
        """Return how its entries change with one entry of z or w."""
        ...


class _Known:
    """Coordinates, rates, accelerations, states of actuators or drives, or some of them."""

    def __init__(self, motions: SmallMotions, name: str, chosen: Block) -> None:
        self.motions = motions
        self.group = "qdd" if name in ACCELERATIONS else name
        self.places = chosen.variables
        self.labels = chosen.labels

    def change(self, changes: Changes) -> Column:
        found = self.motions.change_of(self.group, changes)
        return {i: found[k] for i, k in enumerate(self.places) if k in found}


class _Derived:
    """An output that is derived; its derivatives are taken along the motion."""

    def __init__(self, motions: SmallMotions, text: str, matrix: str) -> None:
        self.motions = motions
        graph = motions.graph_of([text])
        block = graph.block(text)
        self.labels = block.labels
        cone = graph.cone(block.variables)
        inputs = [item for v, item in graph.inputs.items() if cone[v]]
        self._refuse(text, matrix, inputs)
        groups = sorted({item.group for item in inputs} - {"t", "parameter"})
        self.slopes = self._slopes({g: _derivative(text, g) for g in groups})

    def _slopes(self, texts: Mapping[str, str]) -> dict[str, Matrix]:
        """Return the derivatives by groups of inputs."""
        motions, slopes = self.motions, dict[str, Matrix]()
        if not texts:
            return slopes
        graph = motions.graph_of(list(texts.values()))
        found = include(motions.builder, graph, motions.along, list(texts.values()))
        for group, text in texts.items():
            places = list(range(motions.mechanism.nv))
            if group not in ("q", "qd", "qdd", "tau"):
                items = (item for item in graph.inputs.values() if item.group == group)
                places = sorted(item.index for item in items)
            entries, count = found[text], len(places)
            rows = [entries[i : i + count] for i in range(0, len(entries), count)]
            slopes[group] = [
                {k: v for k, v in zip(places, row, strict=True) if not is_zero(v)} for row in rows
            ]
        return slopes

    def change(self, changes: Changes) -> Column:
        total: Column = {}
        for group, slope in self.slopes.items():
            change = self.motions.change_of("drives" if group == "tau" else group, changes)
            total = add(self.motions.builder, total, product(self.motions.builder, slope, change))
        return total

    def _refuse(self, text: str, matrix: str, inputs: Sequence[Input]) -> None:
        """Refuse what depends on inputs that no state has, or that are not determined."""
        for item in inputs:
            if item.group in FACTORS:
                raise DeriveError(
                    f"{text[:60]} is multiplied by {item.group}, which no state has",
                    element=text[:60],
                    remedy="take the derivative itself, and multiply its rows",
                )
            if item.group == "sigma" and item.index in self.motions.free.undetermined:
                raise DeriveError(
                    f"{text[:60]} depends on forces of loops that are not determined, since some "
                    "equations of loops follow from others",
                    element=f"{matrix}({text[:60]})",
                    remedy="describe the loop by fewer equations, as a point in place of a frame; "
                    "or call chainform.linearise",
                )


def _derivative(text: str, group: str) -> str:
    return canonical(f"derivative({text},{group})", lambda inner: inner)
