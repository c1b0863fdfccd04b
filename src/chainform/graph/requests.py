"""The text of an output: a name, what it is taken of, and indices.

    mass_matrix    jacobian(tool,local)    mass_matrix[1,:]    derivative(mass_matrix[1,1],m_6)

Operators make outputs of outputs: `derivative(OUTPUT, BY, ...)`, `product(weights, DERIVATIVE,
direction)` with one of the two factors or both, `nonzeros(OUTPUT)`. Shorter: d(OUTPUT)/d(BY),
weights*DERIVATIVE*direction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from chainform.errors import RunError
from chainform.graph.types import Block

OPERATORS = ("derivative", "product", "nonzeros")
"""What is taken of outputs, not of a frame."""
OF_OUTPUT = {"output_matrix": "Cz", "feedthrough_matrix": "Dz"}
"""What is taken of an output by the mechanism, not by its formula alone; and the letters of it."""
FACTORS = ("weights", "direction")
"""What a derivative is multiplied by, from the left and from the right: groups of inputs."""
DEEPEST = 8
"""How many operators may stand within each other."""

_WORD = re.compile(r"[^\s\[\](),*]+")
_INDEX = re.compile(r"\s*(?:([0-9]{1,6})|([0-9]{1,6})?\s*:\s*([0-9]{1,6})?)\s*")

Index: TypeAlias = int | slice | None
"""An index from 1; None stands for `:`, and a slice for `2:4`, both ends included."""


@dataclass(frozen=True, slots=True)
class OutputText:
    """The parts of the text of an output; indices count from 1, None stands for `:`."""

    name: str
    inside: str | None = None
    indices: tuple[Index, ...] = ()

    @property
    def is_operator(self) -> bool:
        """Whether it is taken of other outputs."""
        return self.name in OPERATORS and self.inside is not None

    @property
    def arguments(self) -> tuple[str, ...]:
        """What stands between the brackets, divided at the commas outside of inner brackets."""
        return tuple(divided(self.inside or "", ","))

    @property
    def whole(self) -> str:
        """The text without indices."""
        return self.name if self.inside is None else f"{self.name}({self.inside})"


def parts_of(text: str) -> OutputText:
    """Return the parts of a text; RunError where it has none."""
    rest, indices = text.strip(), ()
    if rest.endswith("]") and "[" in rest:
        rest, _, inner = rest[:-1].rpartition("[")
        indices = indices_of(inner, text)
        rest = rest.rstrip()
    name, bracket, inside = rest.partition("(")
    if bracket and not (inside.endswith(")") and is_balanced(inside[:-1])):
        raise _no_output(text)
    if not _WORD.fullmatch(name.strip()):
        raise _no_output(text)
    return OutputText(name.strip(), inside[:-1].strip() if bracket else None, indices)


def is_plain(text: str) -> bool:
    """Whether a text is a name, perhaps with a bracket and indices: no operator in short form."""
    try:
        parts_of(text)
    except RunError:
        return False
    return True


def _no_output(text: str) -> RunError:
    return RunError(
        f"{text[:60]!r} is not a quantity",
        element="QUANTITY",
        remedy="write a name, or a name with indices: mass_matrix, H[1,2], H_1_2, "
        "jacobian(tool)[1,2], e_2_x, derivative(tau, q), derivative(tau, q, q), d(tau)/d(q)",
    )


def _index(part: str, text: str) -> Index:
    match = _INDEX.fullmatch(part)
    if match is None:
        raise RunError(
            f"{part.strip()[:20]!r} is not an index",
            element=text[:60],
            remedy="write numbers from 1 with commas between them, 2:4 for a range, or : for all, "
            "as in H[1,:]",
        )
    number, first, last = match.groups()
    if number is not None:
        return int(number)
    if first is None and last is None:
        return None
    return slice(int(first) if first else None, int(last) if last else None)


def indices_of(inner: str, text: str) -> tuple[Index, ...]:
    """Return the indices that stand in the square brackets of a text."""
    return tuple(_index(part, text) for part in inner.split(","))


def is_balanced(text: str) -> bool:
    """Whether every bracket that opens closes."""
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def divided(text: str, sign: str) -> Iterator[str]:
    """Yield the parts of a text between signs that stand in no brackets, without blanks."""
    depth, start = 0, 0
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == sign and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def chosen_entries(block: Block, indices: tuple[Index, ...], text: str) -> Block:
    """Return the entries of an array at indices, as an array; a single one has the shape ()."""
    if not fits(indices, block.shape):
        is_number = not block.shape
        raise RunError(
            f"{block.name} is one number"
            if is_number
            else f"{block.name} has the shape {block.shape}; there is no such entry",
            element=text[:60],
            remedy="write it without indices"
            if is_number
            else "indices within a text count from 1, as in H[1,2]",
        )
    places = np.arange(len(block.variables)).reshape(block.shape)[numpy_indices(indices)]
    labels = tuple(block.labels[i] for i in places.flat)
    name = labels[0] if not places.ndim else f"{block.name}[{indices_text(indices)}]"
    return Block(name, places.shape, tuple(block.variables[i] for i in places.flat), labels)


def fits(indices: tuple[Index, ...], shape: tuple[int, ...]) -> bool:
    """Whether an array of this shape has such entries; a range has at least one."""
    pairs = zip(indices, shape, strict=False)
    return len(indices) <= len(shape) and all(_inside(i, length) for i, length in pairs)


def _inside(index: Index, length: int) -> bool:
    if isinstance(index, slice):
        first, last = index.start or 1, length if index.stop is None else index.stop
        return index.start != 0 and 1 <= first <= last <= length
    return index is None or 1 <= index <= length


def numpy_indices(indices: tuple[Index, ...]) -> tuple[int | slice, ...]:
    """Return indices from 1 as numpy takes them."""
    return tuple(_from_zero(index) for index in indices)


def _from_zero(index: Index) -> int | slice:
    if isinstance(index, slice):
        return slice((index.start or 1) - 1, index.stop)
    return slice(None) if index is None else index - 1


def indices_text(indices: tuple[Index, ...]) -> str:
    """Return indices as they are written: 1,:."""
    return ",".join(_index_text(index) for index in indices)


def _index_text(index: Index) -> str:
    if isinstance(index, slice):
        return ":".join("" if end is None else str(end) for end in (index.start, index.stop))
    return ":" if index is None else str(index)


# --- entries by their labels ------------------------------------------------------------------


def labelled(blocks: Iterable[Block], label: str) -> int | None:
    """Return the variable behind an entry; refused where entries of several outputs have the label.

    The same entry may stand in several outputs: those of one output, such as `nonzeros` of it.
    """
    found = [block for block in blocks if label in block.labels]
    first = next(iter(found), None)
    for other in found[1:]:
        texts = [_entry_text(block, block.labels.index(label)) for block in (found[0], other)]
        is_same = len({_variable(block, label) for block in (found[0], other)}) == 1
        if not is_same and _origin(found[0].name) != _origin(other.name):
            raise RunError(
                f"{label} may mean {' or '.join(texts)}",
                element=label,
                remedy=f"write {texts[0]}",
            )
    return None if first is None else _variable(first, label)


def _origin(text: str) -> tuple[str, ...]:
    """Return the outputs that a text is made of, those within matrices of outputs, too."""
    parts = [parts_of(base) for base in base_outputs(text)]
    return tuple(
        found
        for part in parts
        for found in (_origin(part.inside or "") if part.name in OF_OUTPUT else (part.whole,))
    )


def _variable(block: Block, label: str) -> int:
    return block.variables[block.labels.index(label)]


def entry_names(
    blocks: Iterable[Block], taken: Mapping[str, int] | None = None
) -> Iterator[tuple[str, int]]:
    """Yield name and variable of each entry: its label, or its place where the label is another's.

    `taken` has names that belong to a variable already.
    """
    known = dict(taken or {})
    seen: set[str] = set()
    for block in blocks:
        for place, (label, v) in enumerate(zip(block.labels, block.variables, strict=True)):
            is_free = label not in seen and known.get(label, v) == v
            seen.add(label)
            yield label if is_free else _entry_text(block, place), v


def vector_name(text: str, labels: Sequence[str]) -> str:
    """Return a name for a vector: what its labels begin with; that of a part tells which part.

    It begins with the letter of the labels: tau, v_tool, or H_mass_matrix_1_to for a row.
    """
    parts = parts_of(text)
    letter = labels[0].partition("_")[0] if labels else ""
    if letter and not parts.indices and not parts.is_operator:
        return labels[0].rpartition("_")[0] or letter
    return re.sub(r"[^A-Za-z0-9]+", "_", f"{letter}_{text.replace(':', ' to ')}").strip("_")


def _entry_text(block: Block, place: int) -> str:
    """Return an entry as its output with indices: inverse_dynamics[4]."""
    index = np.unravel_index(place, block.shape) if block.shape else ()
    indices = ",".join(str(int(i) + 1) for i in index)
    return f"{block.name}[{indices}]" if indices else block.name


# --- one way to write an output ---------------------------------------------------------------


def canonical(text: str, name: Callable[[str], str], depth: int = 0) -> str:
    """Return the text of an output in full: operators in words, `name` of every other output."""
    if depth > DEEPEST:
        raise RunError(
            f"more than {DEEPEST} operators stand within each other",
            element=text[:60],
            remedy="take the derivative of a model that has the inner ones as outputs",
        )
    factors = list(divided(text, "*"))
    if len(factors) > 1:
        _check_factors(text, factors)
        return canonical(f"product({','.join(factors)})", name, depth)
    quotient = re.fullmatch(r"\s*d\s*\((.*)\)\s*/\s*d\s*\((.*)\)\s*((?:\[[^\[\]]*\])?)\s*", text)
    if quotient and is_balanced(quotient[1]) and is_balanced(quotient[2]):
        inner, by, indices = quotient.groups()
        return canonical(f"derivative({inner},{by}){indices}", name, depth)
    parts = parts_of(text)
    if parts.name == "d" and parts.inside is not None:
        message = f"{parts.whole[:60]} does not say by what the derivative is taken"
        raise RunError(message, element="QUANTITY", remedy=f"write {parts.whole[:60]}/d(q)")
    if parts.inside is not None and (whole := _of_output(parts)):
        inner = canonical(parts.inside, name, depth + 1)
        return _joined(replace(parts, name=whole), [inner])
    if not parts.is_operator:
        return name(text)
    given = list(parts.arguments)
    for place in range(1 if parts.name == "derivative" else len(given)):
        if given[place] not in FACTORS:
            given[place] = canonical(given[place], name, depth + 1)
    return _joined(parts, given)


def _check_factors(text: str, factors: list[str]) -> None:
    """Refuse a product that has other vectors than those that are inputs."""
    others = [factor for factor in factors if factor not in FACTORS]
    if len(others) > 1:
        raise RunError(
            f"{text[:60]!r} is not a product of a derivative with a vector",
            element="QUANTITY",
            remedy="the vectors are inputs, weights and direction: weights*d(tau)/d(q)*direction",
        )


def _of_output(parts: OutputText) -> str | None:
    """Return the name of what is taken of an output, which a letter may stand for."""
    letters = {letter: name for name, letter in OF_OUTPUT.items()}
    name = letters.get(parts.name, parts.name)
    if name not in OF_OUTPUT:
        return None
    if len(parts.arguments) != 1:
        message = f"{parts.whole[:60]} names {len(parts.arguments)} outputs"
        raise RunError(message, element=parts.whole[:60], remedy=f"write {name}(OUTPUT)")
    return name


def _joined(parts: OutputText, given: list[str]) -> str:
    """Return an operator with its arguments; the derivative of a derivative is one of both."""
    if parts.name == "derivative":
        inner = parts_of(given[0])
        if inner.name == "derivative" and inner.is_operator and not inner.indices:
            given = [*inner.arguments, *given[1:]]
    indices = f"[{indices_text(parts.indices)}]" if parts.indices else ""
    return f"{parts.name}({','.join(given)}){indices}"


def base_outputs(text: str) -> tuple[str, ...]:
    """Return the outputs, in full, that a text is made of: those that no operator gives."""
    parts = parts_of(text)
    if not parts.is_operator:
        return (parts.whole,)
    inner = parts.arguments[:1] if parts.name == "derivative" else parts.arguments
    return tuple(o for each in inner if each not in FACTORS for o in base_outputs(each))
