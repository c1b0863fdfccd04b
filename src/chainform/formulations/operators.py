"""Outputs of outputs: derivatives, their products with vectors, and entries that are not zero.

Operators with respect to q have one column for each rate, as Pinocchio's have: for a joint with
a quaternion the coordinates change as the rates in its own axes make them change. So in second
derivatives the order counts there: derivative(Y, q, q)[..., j, k] is the derivative in direction k
of the derivative in direction j.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from chainform.errors import DeriveError
from chainform.formulations.accelerations import SolvedAccelerations
from chainform.formulations.composite_derivatives import GROUPS
from chainform.formulations.shared.directions import Directions, InputGroups
from chainform.given import listed, near
from chainform.graph import (
    FACTORS,
    Adjoints,
    Block,
    Builder,
    Graph,
    Scalar,
    Tangents,
    along,
    builder_of,
    chosen_entries,
    is_zero,
    jacobian,
    labelled,
    parts_of,
    vector_name,
)
from chainform.mechanism import Mechanism

MOST_ENTRIES = 200_000
"""The largest array of derivatives; that of sixty joints, twice by their coordinates, is beyond."""


@dataclass(frozen=True, slots=True)
class _Array:
    """Values on their way to an output; `output` is the one that they are the entries of."""

    values: list[Scalar]
    labels: tuple[str, ...]
    shape: tuple[int, ...]
    output: str = ""


class Operators:
    """Builds outputs of the outputs of a builder.

    `accelerations` are those whose derivatives follow from the ones of inverse dynamics; where
    there is none, they are differentiated as they are computed.
    """

    def __init__(
        self,
        builder: Builder,
        mechanism: Mechanism,
        accelerations: SolvedAccelerations | None = None,
    ) -> None:
        self.builder = builder
        self.inputs = InputGroups(builder, mechanism)
        self.accelerations = accelerations
        self._together: dict[str, list[Directions]] = {}
        """By what the derivatives of an output are wanted, where it is by several groups."""
        self._known_rows: dict[tuple[str, str], list[list[Scalar]]] = {}

    def expect(self, texts: Sequence[str]) -> None:
        """Announce outputs: derivatives of one output by several groups share their sweeps.

        Products with vectors need no whole derivatives.
        """
        words: dict[str, dict[str, None]] = {}
        whole = [text for text in texts if parts_of(text).name != "product"]
        for _, output, by in derivatives_in(whole):
            if _text_of(output, by[:1]) not in self.builder.outputs:
                words.setdefault(output, {})[by[0]] = None
        if self.accelerations is not None:
            self.accelerations.expect(list(words.pop("forward_dynamics", {})))
        for output, found in words.items():
            by = [self.inputs.directions(word) for word in found]
            groups = [each for each in by if each.is_group]
            if len(groups) > 1:
                self._together[output] = groups

    def declare(self, text: str) -> Block:
        """Return the entries that a text in full means, after declaring the output."""
        parts = parts_of(text)
        if parts.is_operator and parts.whole not in self.builder.outputs:
            operator = {
                "derivative": self._derivative,
                "product": self._product,
                "nonzeros": self._nonzeros,
            }[parts.name]
            array = operator(parts.whole, parts.arguments)
            entries = list(zip(array.labels, array.values, strict=True))
            self.builder.output(parts.whole, array.shape, entries)
        block = self._known(parts.whole)
        return chosen_entries(block, parts.indices, text) if parts.indices else block

    def _known(self, name: str) -> Block:
        builder = self.builder
        known = {**builder.quantities, **builder.outputs}
        if name in known:
            return known[name]
        variable = labelled(known.values(), name)
        if variable is None:
            numbers = {own: v for v, own in enumerate(builder.names)}
            variable = {**numbers, **builder.aliases}.get(name)
        if variable is None:
            remedy = near(name, known, 3, cutoff=0.8) or f"there are {listed(known)}; "
            remedy += "others are to be derived with them"
            message = f"there is no quantity {name[:60]}"
            raise DeriveError(message, element=name[:60], remedy=remedy)
        return Block(name, (), (variable,), (name,))

    def _entries(self, output: str) -> _Array:
        block = self.declare(output)
        values = [self.builder.scalar(v) for v in block.variables]
        return _Array(values, block.labels, block.shape, output)

    # --- operators ----------------------------------------------------------------------

    def _derivative(self, text: str, arguments: Sequence[str]) -> _Array:
        output, *words = arguments
        if not words:
            raise DeriveError(
                f"{text[:60]} does not say by what the derivative is taken",
                element=text[:60],
                remedy=f"write derivative({output}, q), or by another of "
                f"{', '.join(self.inputs.groups)}",
            )
        done = self._first_words(output, words)
        array = self._entries(
            f"derivative({','.join([output, *words[:done]])})" if done else output
        )
        by = [self.inputs.directions(word) for word in words]
        is_vector = len(array.shape) - sum(each.is_group for each in by[:done]) == 1
        _check_size(text, array, by[done:], is_vector)
        for place, each in enumerate(by[done:], start=done):
            is_same = place > 0 and each.word == by[place - 1].word
            array = self._by(array, each, is_symmetric=is_same and each.commute)
        return array

    def _first_words(self, output: str, words: Sequence[str]) -> int:
        """Return by how many of the inputs the derivative is there already."""
        counts = range(len(words) - 1, 0, -1)
        known = self.builder.outputs
        return next((n for n in counts if _text_of(output, words[:n]) in known), 0)

    def _product(self, text: str, arguments: Sequence[str]) -> _Array:
        output, words, weighted, directed = _factors_of(text, arguments)
        array = self._entries(output)
        by = [self.inputs.directions(word) for word in words]
        _check_product(text, array, by, weighted, directed)
        if not weighted:
            return self._along(self._entries(_text_of(output, words[:-1])), by[-1])
        _check_size(text, _Array([], (), ()), by[: len(by) - directed], False)
        array = self._weighted(array, by[0])
        if directed and len(by) == 1:
            return self._dot(array, by[0])
        for place, each in enumerate(by[1:], start=1):
            if directed and place == len(by) - 1:
                array = self._along(array, each)
            else:
                is_same = place == 1 and each.word == by[0].word
                array = self._by(array, each, is_symmetric=is_same and each.commute)
        return array

    def _nonzeros(self, text: str, arguments: Sequence[str]) -> _Array:
        if len(arguments) != 1:
            message = f"{text[:60]} names {len(arguments)} outputs"
            raise DeriveError(message, element=text[:60], remedy="write nonzeros(OUTPUT)")
        array = self._entries(arguments[0])
        places = [i for i, value in enumerate(array.values) if not is_zero(value)]
        labels = tuple(array.labels[i] for i in places)
        return _Array([array.values[i] for i in places], labels, (len(places),))

    # --- steps --------------------------------------------------------------------------

    def _by(self, array: _Array, by: Directions, *, is_symmetric: bool) -> _Array:
        """Return the derivatives of an array, one more index for those by a group."""
        rows = self._rows(array, by, is_symmetric=is_symmetric and by.is_group)
        labels = tuple(f"{label}_by_{name}" for label in array.labels for name in by.each)
        shape = (*array.shape, len(by.each)) if by.is_group else array.shape
        return _Array([value for row in rows for value in row], labels, shape)

    def _rows(self, array: _Array, by: Directions, *, is_symmetric: bool) -> list[list[Scalar]]:
        variables = [self.builder.variable_of(value) for value in array.values]
        if self.accelerations is None:
            if by.word in [each.word for each in self._together.get(array.output, ())]:
                return self._shared_rows(array.output, variables, by)
            return jacobian(self.builder, variables, by.each, is_symmetric=is_symmetric)
        if array.output == "forward_dynamics":
            return self.accelerations.derivatives(by)
        # The derivatives of the accelerations need not be computed again.
        each = {name: self._changes(by, name) for name in by.each}
        return jacobian(self.builder, variables, each, mode="forward", is_symmetric=is_symmetric)

    def _shared_rows(
        self, output: str, variables: Sequence[int], by: Directions
    ) -> list[list[Scalar]]:
        """Return the derivatives by one of several groups, found with those by the others."""
        if (output, by.word) not in self._known_rows:
            groups = self._together[output]
            each = {name: d for group in groups for name, d in group.each.items()}
            rows, first = jacobian(self.builder, variables, each), 0
            for group in groups:
                last = first + len(group.each)
                self._known_rows[output, group.word] = [row[first:last] for row in rows]
                first = last
        return self._known_rows[output, by.word]

    def _changes(self, by: Directions, name: str) -> dict[int, Scalar]:
        """Return what changes in one direction, the accelerations too if they are solved for."""
        if self.accelerations is None:
            return dict(by.each[name])
        return {**self.accelerations.tangents(by, name), **by.each[name]}

    def _weighted(self, array: _Array, by: Directions) -> _Array:
        """Return the derivatives of the sum of the entries with weights, which are inputs."""
        weights = self._factor("weights", len(array.values))
        labels = tuple(f"weights_{vector_name(array.output, array.labels)}_by_{n}" for n in by.each)
        if self.accelerations is not None and array.output == "forward_dynamics":
            return _Array(self.accelerations.weighted(by, weights), labels, (len(labels),))
        adjoints = Adjoints(self.builder, {v for d in by.each.values() for v in d})
        total: dict[int, Scalar] = {}
        for value, weight in zip(array.values, weights, strict=True):
            v = self.builder.variable_of(value)
            total[v] = total[v] + weight if v in total else weight
        gradient = adjoints.of(total)
        values = [along(self.builder, gradient, direction) for direction in by.each.values()]
        return _Array(values, labels, (len(labels),))

    def _along(self, array: _Array, by: Directions) -> _Array:
        """Return the derivatives of an array in the direction whose components are inputs."""
        factors = self._factor("direction", len(by.each))
        labels = tuple(f"{label}_by_{by.word}_direction" for label in array.labels)
        if self.accelerations is not None and array.output == "forward_dynamics":
            return _Array(self.accelerations.along(by, factors), labels, array.shape)
        total: dict[int, Scalar] = {}
        for name, factor in zip(by.each, factors, strict=True):
            for v, change in self._changes(by, name).items():
                share = factor * change
                total[v] = total[v] + share if v in total else share
        direction = {v: self.builder.keep(change) for v, change in total.items()}
        sweep = Tangents(self.builder, direction, "_along")
        return _Array([sweep.of(value) for value in array.values], labels, array.shape)

    def _dot(self, array: _Array, by: Directions) -> _Array:
        total = self.builder.number(0)
        factors = self._factor("direction", len(array.values))
        for value, factor in zip(array.values, factors, strict=True):
            total = total + value * factor
        stem = array.labels[0].rpartition("_by_")[0]
        return _Array([total], (f"{stem}_by_{by.word}_direction",), ())

    def _factor(self, group: str, count: int) -> list[Scalar]:
        """Return the inputs that a derivative is multiplied by."""
        return [self.builder.input(f"{group}{k + 1}", group, k) for k in range(count)]


def _text_of(output: str, words: Sequence[str]) -> str:
    return f"derivative({','.join([output, *words])})" if words else output


def composite_slopes(outputs: Sequence[str]) -> list[str]:
    """Return the derivatives of inverse dynamics that composite bodies give, and outputs need.

    Products of first derivatives, and those with weights, take a sweep or two instead.
    """
    found: dict[str, None] = {}
    for text, output, words in derivatives_in(outputs):
        parts = parts_of(text)
        is_sweep = parts.name == "product" and ("weights" in parts.arguments or len(words) == 1)
        if output == "inverse_dynamics" and words[0] in GROUPS and not is_sweep:
            found[_text_of(output, words[:1])] = None
    return list(found)


def with_derivatives(graph: Graph, outputs: Sequence[str], mechanism: Mechanism) -> Graph:
    """Return a graph with further outputs, which are taken of its own."""
    work = Operators(builder_of(graph), mechanism)
    work.expect(outputs)
    for output in outputs:
        work.declare(output)
    return work.builder.finish()


def derivatives_in(outputs: Sequence[str]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the derivatives that outputs are or contain: the text, of what, by what."""
    for text in outputs:
        parts = parts_of(text)
        if parts.is_operator and parts.name == "derivative" and len(parts.arguments) > 1:
            yield text, parts.arguments[0], parts.arguments[1:]
        elif parts.is_operator:
            inner = [argument for argument in parts.arguments if argument not in FACTORS]
            yield from ((text, output, words) for _, output, words in derivatives_in(inner))


# --- what is refused ------------------------------------------------------------------------------


def _factors_of(text: str, arguments: Sequence[str]) -> tuple[str, list[str], bool, bool]:
    """Return output and inputs of the derivative in a product, and by what it is multiplied."""
    inner = [argument for argument in arguments if argument not in FACTORS]
    weighted, directed = (factor in arguments for factor in FACTORS)
    parts = parts_of(inner[0]) if len(inner) == 1 else None
    ordered = [*["weights"] * weighted, *inner, *["direction"] * directed]
    is_product = (weighted or directed) and list(arguments) == ordered
    if parts is None or parts.name != "derivative" or parts.indices or not is_product:
        raise DeriveError(
            f"{text[:60]} is not a product of a derivative with a vector",
            element=text[:60],
            remedy="write product(derivative(tau, q), direction), "
            "product(weights, derivative(tau, q)), or both factors",
        )
    output, *words = parts.arguments
    return output, words, weighted, directed


def _check_product(
    text: str, array: _Array, by: Sequence[Directions], weighted: bool, directed: bool
) -> None:
    if weighted and len(array.shape) != 1:
        row = f"take a row: {array.output}[{'1,' * (len(array.shape) - 1)}:]"
        raise DeriveError(
            f"weights multiply a vector, and {array.output} has the shape {array.shape}",
            element=text[:60],
            remedy=row if array.shape else "take the derivative itself: a number has one row",
        )
    needed = [*by[: int(weighted)], *by[len(by) - directed :]]
    single = [each.word for each in needed if not each.is_group]
    if single or not by:
        raise DeriveError(
            f"the derivative by {', '.join(single) or 'nothing'} has no columns to multiply",
            element=text[:60],
            remedy="take it by a group of inputs, such as q",
        )


def _check_size(text: str, array: _Array, by: Sequence[Directions], is_vector: bool) -> None:
    entries = max(1, len(array.values)) * prod(len(each.each) for each in by)
    if entries > MOST_ENTRIES:
        raise DeriveError(
            f"{text[:60]} has {entries:,} entries, more than {MOST_ENTRIES:,}",
            element=text[:60],
            remedy=f"multiply by a vector: product({text[:60]}, direction)"
            + (f" or product(weights, {text[:60]})" if is_vector else ""),
        )
