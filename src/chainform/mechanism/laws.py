"""Laws: expressions of coordinates, rates, time and parameters, for forces and constraints.

| in a law            | means                                                        |
|---------------------|--------------------------------------------------------------|
| `phi`, `q3`         | a coordinate, by its name or its index                       |
| `der(phi)`, `qd3`   | its rate; rates with names of their own go by these as well  |
| `x(tip)`            | the coordinate x (y, z) of a frame or segment, world axes, m |
| `der(x(tip))`       | its rate, m/s                                                |
| `t`                 | time, s                                                      |
| any other name      | a parameter                                                  |

A name that could mean two things is refused where a law uses it: `q2` where the joint of that name
is not the second one, `pi` where a joint is called so, a parameter that is called like a joint.

Some laws must be linear in some of their names: unknown forces, rates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from chainform.expressions import (
    CONSTANTS,
    FUNCTIONS,
    POSITIONS,
    RATE,
    Apply,
    Binary,
    Constant,
    Expression,
    Identifier,
    Negate,
    constants_of,
    format_expression,
    parse,
    substitute,
    symbols_of,
)
from chainform.expressions import Number as NumberExpression
from chainform.given import Given, near
from chainform.mechanism.numbers import number_of
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import Number

TIME = "t"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name in a law stands for: the group of the input and its index, from 0."""

    group: str
    index: int


@dataclass(frozen=True, slots=True)
class FrameCoordinate:
    """A component of the position of a frame in world axes (m), or of its velocity (m/s)."""

    frame: str
    axis: int
    is_rate: bool


def frame_coordinate_of(name: str) -> FrameCoordinate | None:
    """Return the frame coordinate that `x(tip)` or `der(x(tip))` means; None for another name."""
    match = re.fullmatch(rf"({RATE}\()?([{''.join(POSITIONS)}])\((\w+)\)(?(1)\))", name)
    if match is None:
        return None
    return FrameCoordinate(match[3], POSITIONS.index(match[2]), match[1] is not None)


def frames_in(symbols: Iterable[str]) -> frozenset[str]:
    """Return the frames whose coordinates are among the symbols of laws."""
    found = map(frame_coordinate_of, symbols)
    return frozenset(one.frame for one in found if one is not None)


def group_of(name: str, coordinates: Sequence[str], rates: Sequence[str]) -> str | None:
    """Return what a name in a law changes with, "q", "qd" or "t"; None for a parameter.

    The position of a frame changes with coordinates, its velocity with rates.
    """
    frame = frame_coordinate_of(name)
    if frame is not None:
        return "qd" if frame.is_rate else "q"
    meaning = meaning_of(name, coordinates, rates)
    return None if meaning is None else meaning.group


def meaning_of(name: str, coordinates: Sequence[str], rates: Sequence[str]) -> Meaning | None:
    """Return what a name means in a law; None for a parameter, and where it could mean two things.

    A law that was read names nothing of the second kind. A frame coordinate has no such meaning.
    """
    meanings = meanings_of(name, coordinates, rates)
    return meanings[0] if len(meanings) == 1 else None


def meanings_of(name: str, coordinates: Sequence[str], rates: Sequence[str]) -> tuple[Meaning, ...]:
    """Return all that a name could mean in a law, each once; nothing for a parameter."""
    if frame_coordinate_of(name) is not None:
        return ()
    rate = re.fullmatch(rf"{RATE}\((\w+)\)", name)
    if rate is not None:
        return tuple(dict.fromkeys(_rates_of(rate[1], coordinates, rates)))
    meanings: list[Meaning] = []
    if name in coordinates:
        meanings.append(Meaning("q", coordinates.index(name)))
    elif name in rates:
        meanings.append(Meaning("qd", rates.index(name)))
    if name == TIME:
        meanings.append(Meaning("t", 0))
    indexed = re.fullmatch(r"(qd?)([1-9][0-9]{0,6})", name)
    if indexed is not None:
        group, index = indexed[1], int(indexed[2]) - 1
        if index < len(coordinates if group == "q" else rates):
            meanings.append(Meaning(group, index))
        if group == "qd" and f"q{indexed[2]}" in coordinates:
            # Where a coordinate has the name q2, qd2 is read as its rate.
            meanings += _rates_of(f"q{indexed[2]}", coordinates, rates)
    return tuple(dict.fromkeys(meanings))


def _rates_of(name: str, coordinates: Sequence[str], rates: Sequence[str]) -> list[Meaning]:
    """Return the rates that a coordinate of this name could have; quaternions have none."""
    has_own_rates = len(coordinates) == len(rates)
    meanings: list[Meaning] = []
    if has_own_rates and name in coordinates:
        meanings.append(Meaning("qd", coordinates.index(name)))
    elif name in rates:
        meanings.append(Meaning("qd", rates.index(name)))
    indexed = re.fullmatch(r"q([1-9][0-9]{0,6})", name)
    if indexed is not None and has_own_rates and int(indexed[1]) <= len(rates):
        meanings.append(Meaning("qd", int(indexed[1]) - 1))
    return meanings


@dataclass(frozen=True, slots=True)
class LawReader:
    """Reads laws: knows the coordinates, the rates and, through `reader`, the parameters.

    `further` are names that only the caller understands, such as those of unknown forces; `hint`
    is added to the error for an unknown name. `frames` are the frames that have coordinates.
    """

    reader: Reader
    coordinates: Sequence[str]
    rates: Sequence[str]
    further: Collection[str] = ()
    hint: str = ""
    frames: Collection[str] = ()

    def law(self, given: Given, groups: Collection[str] = ("q", "qd", "t")) -> Number:
        """Return a number or an expression; names of inputs outside `groups` are refused."""
        value = given.value
        if callable(value):
            remedy = "write a text; a function of t, q and qd may be given as tau of evaluate"
            raise given.error("a law cannot be a function of Python", remedy)
        with given.translate_errors():
            written = parse(value) if isinstance(value, str) else value
            law = number_of(written)
        self._check_constants(given.holding(written))
        if isinstance(law, Fraction):
            return law
        for name in sorted(symbols_of(law)):
            self._check(name, given, groups)
        return law

    def _check_constants(self, written: Given) -> None:
        """Refuse `pi` where something of the mechanism has that name."""
        if not isinstance(written.value, Expression):
            return
        own = {*self.coordinates, *self.rates, *self.reader.values, *self.further}
        for name in sorted(constants_of(written.value) & own):
            message = f"{name!r} may be the constant or what the mechanism calls so"
            raise written.error(message, "rename the joint or coordinate")

    def _check(self, name: str, given: Given, groups: Collection[str]) -> None:
        frame = frame_coordinate_of(name)
        if frame is not None:
            self._check_frame(name, frame, given, groups)
            return
        meanings = meanings_of(name, self.coordinates, self.rates)
        known = name in self.reader.values or name in self.further
        if len(meanings) > 1:
            listed = " or ".join(self._described(meaning) for meaning in meanings)
            message = f"{name!r} may be {listed.removesuffix(',')}"
            raise given.error(message, self._clear_names(meanings))
        meaning = meanings[0] if meanings else None
        if meaning is not None and known:
            message = f"{name!r} may be {_WORDS[meaning.group]} or a parameter"
            raise given.error(message, "rename the parameter")
        if meaning is not None and meaning.group not in groups:
            message = f"{name!r} is {_WORDS[meaning.group]} and cannot stand here"
            raise given.error(message, f"allowed are {self._allowed(groups)}")
        if meaning is None and not known:
            raise given.error(f"{name!r} is not known here", self._remedy(name, groups))

    def _check_frame(
        self, name: str, frame: FrameCoordinate, given: Given, groups: Collection[str]
    ) -> None:
        if ("qd" if frame.is_rate else "q") not in groups:
            what = "velocity" if frame.is_rate else "position"
            message = f"{name!r} is the {what} of a frame and cannot stand here"
            raise given.error(message, f"allowed are {self._allowed(groups)}")
        if frame.frame not in self.frames:
            unknown = given.holding(frame.frame).unknown("frame or segment named", self.frames)
            raise given.error(f"{name!r}: {unknown.message}", unknown.remedy)

    def _described(self, meaning: Meaning) -> str:
        if meaning.group == "t":
            return "time"
        names = self.coordinates if meaning.group == "q" else self.rates
        word = _WORDS[meaning.group].removeprefix("a ")
        return f"{word} number {meaning.index + 1}, {names[meaning.index]},"

    def _clear_names(self, meanings: Sequence[Meaning]) -> str:
        """Return what to write instead: other names of the same things, where there are any."""
        order = Order(self.coordinates, self.rates)
        others = [symbol_of(meaning, order) for meaning in meanings if meaning.group != "t"]
        texts = [symbol.name for symbol in others if symbol is not None]
        instead = f", or write {' or '.join(texts)}" if texts else ""
        return f"rename the joint or coordinate{instead}"

    def _remedy(self, name: str, groups: Collection[str]) -> str:
        known = [*self.coordinates, *self.rates, *self.reader.values, *self.further]
        inner = name.removeprefix(f"{RATE}(").removesuffix(")")
        return f"{near(inner, known)}allowed are {self._allowed(groups)}{self.hint}"

    def _allowed(self, groups: Collection[str]) -> str:
        """Return what may stand in a law, in words."""
        shown = [word for group, word in _SEVERAL.items() if group in groups]
        if self.frames and "q" in groups:
            shown.append("positions as x(tip)")
        if not self.coordinates:
            shown = [word for word in shown if word == TIME]
        return ", ".join([*shown, *list(self.further)[:SHOWN], "parameters, functions and numbers"])


_WORDS: Mapping[str, str] = {"q": "a coordinate", "qd": "a rate", "t": "time"}
_SEVERAL: Mapping[str, str] = {"q": "coordinates", "qd": "rates as der(phi)", "t": TIME}
SHOWN = 12
"""How many names of definitions and unknown forces a remedy lists at most."""


def parameters_in(law: Number, coordinates: Sequence[str], rates: Sequence[str]) -> frozenset[str]:
    """Return the names in a law that are no coordinates of joints or frames, no rates, nor time."""
    if isinstance(law, Fraction):
        return frozenset()
    names = symbols_of(law)
    return frozenset(name for name in names if group_of(name, coordinates, rates) is None)


@dataclass(frozen=True, slots=True)
class Order:
    """The names of coordinates and rates in the order of q and qd, and those of frames."""

    coordinates: Sequence[str]
    rates: Sequence[str]
    frames: Collection[str] = ()


def symbol_of(meaning: Meaning, order: Order) -> Identifier | None:
    """Return what stands for a coordinate or rate in laws of an order: its name, or else its index.

    None where neither can: where one coordinate is called q2 and the second one `left-arm`.
    """
    names = order.coordinates if meaning.group == "q" else order.rates
    name, texts = names[meaning.index], [f"{meaning.group}{meaning.index + 1}"]
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name not in {*FUNCTIONS, *CONSTANTS, TIME}:
        texts = [name if meaning.group == "q" else f"{RATE}({name})", *texts]
    for text in texts:
        if meaning_of(text, order.coordinates, order.rates) == meaning:
            return Identifier(text)
    return None


def moved_law(law: Number, old: Order, new: Order) -> Number | None:
    """Return a law of one order for another; None where a coordinate or a frame is missing.

    None also where a name could mean two things in either order and has no clear substitute.

    Names stay, and indices such as q3 or qd3 become those of the same name in the new order.
    """
    if isinstance(law, Fraction):
        return law
    if not frames_in(symbols_of(law)) <= set(new.frames):
        return None
    replacements: dict[str, Identifier] = {}
    for symbol in symbols_of(law):
        meanings = meanings_of(symbol, old.coordinates, old.rates)
        if len(meanings) > 1:
            return None
        if not meanings or meanings[0].group == "t":
            continue
        meaning = meanings[0]
        before, after = (
            (old.coordinates, new.coordinates) if meaning.group == "q" else (old.rates, new.rates)
        )
        name = before[meaning.index]
        if name not in after:
            return None
        there = Meaning(meaning.group, after.index(name))
        if meaning_of(symbol, new.coordinates, new.rates) == there:
            continue
        same = Identifier(f"{there.group}{there.index + 1}")
        is_right = meaning_of(same.name, new.coordinates, new.rates) == there
        replacement = same if is_right else symbol_of(there, new)
        if replacement is None:
            return None
        replacements[symbol] = replacement
    return substitute(law, replacements)


# --- linearity ------------------------------------------------------------------------------


IsCounted: TypeAlias = Callable[[str], bool]
"""Tells whether a name is one of those in which a law shall be linear."""


def nonlinear_part(law: Number, is_counted: IsCounted) -> str | None:
    """Return the part of a law that is not linear in the names counted; None where all of it is.

    The form decides: a sum of products in each of which at most one factor has such names, never
    below a fraction bar, in a power or inside a function. A constant part may be there.
    """
    if isinstance(law, Fraction):
        return None
    try:
        _degree(law, is_counted)
    except _NotLinearError as error:
        return format_expression(error.part)
    return None


class _NotLinearError(Exception):
    """Carries the part of an expression that is not linear."""

    def __init__(self, part: Expression) -> None:
        super().__init__()
        self.part = part


def _degree(law: Expression, is_counted: IsCounted) -> int:
    """Return 1 for a linear expression and 0 for one without such names, or raise."""
    match law:
        case NumberExpression() | Constant():
            return 0
        case Identifier(name):
            return int(is_counted(name))
        case Negate(operand):
            return _degree(operand, is_counted)
        case Binary("+" | "-", left, right):
            return max(_degree(left, is_counted), _degree(right, is_counted))
        case Binary("*", left, right):
            degree = _degree(left, is_counted) + _degree(right, is_counted)
        case Binary("/", left, right):
            degree = _degree(left, is_counted) + 2 * _has(right, is_counted)
        case Binary() | Apply():
            degree = 2 * _has(law, is_counted)
    if degree > 1:
        raise _NotLinearError(law)
    return degree


def _has(law: Expression, is_counted: IsCounted) -> bool:
    return any(is_counted(name) for name in symbols_of(law))
