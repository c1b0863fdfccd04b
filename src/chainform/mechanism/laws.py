"""Laws: expressions of coordinates, rates, time and parameters, for forces and constraints.

| in a law            | means                                                        |
|---------------------|--------------------------------------------------------------|
| `phi`, `q3`         | a coordinate, by its name or its place                       |
| `der(phi)`, `qd3`   | its rate; rates with names of their own go by these as well  |
| `t`                 | time, s                                                      |
| any other name      | a parameter                                                  |
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction

from chainform.expressions import CONSTANTS, FUNCTIONS, RATE, Symbol, substitute, symbols_of
from chainform.mechanism.intake import Intake, located
from chainform.mechanism.numbers import number_of
from chainform.mechanism.types import Number

TIME = "t"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name in a law stands for: the group of the input and its place, from 0."""

    group: str
    index: int


def meaning_of(name: str, coordinates: Sequence[str], rates: Sequence[str]) -> Meaning | None:
    """Return what a name means in a law; None for one that must be a parameter."""
    if name in coordinates:
        return Meaning("q", coordinates.index(name))
    rate = re.fullmatch(rf"{RATE}\((\w+)\)", name)
    if rate is not None:
        return _rate_of(rate[1], coordinates, rates)
    if name in rates:
        return Meaning("qd", rates.index(name))
    place = re.fullmatch(r"(qd?)([1-9][0-9]{0,6})", name)
    if place is not None:
        count = len(coordinates if place[1] == "q" else rates)
        return Meaning(place[1], int(place[2]) - 1) if int(place[2]) <= count else None
    return Meaning("t", 0) if name == TIME else None


def _rate_of(name: str, coordinates: Sequence[str], rates: Sequence[str]) -> Meaning | None:
    """Return the rate of a coordinate; one of a quaternion has none of its own."""
    has_own_rates = len(coordinates) == len(rates)
    if has_own_rates and name in coordinates:
        return Meaning("qd", coordinates.index(name))
    if name in rates:
        return Meaning("qd", rates.index(name))
    place = re.fullmatch(r"q([1-9][0-9]{0,6})", name)
    if place is not None and has_own_rates and int(place[1]) <= len(rates):
        return Meaning("qd", int(place[1]) - 1)
    return None


@dataclass(frozen=True, slots=True)
class LawIntake:
    """Reads laws: knows the coordinates, the rates and, through the intake, the parameters.

    `further` are names that only the caller understands, such as those of unknown forces; `hint`
    is added to what is said about a name that nobody knows.
    """

    intake: Intake
    coordinates: Sequence[str]
    rates: Sequence[str]
    further: Collection[str] = ()
    hint: str = ""

    def law(self, value: object, where: str, groups: Collection[str] = ("q", "qd", "t")) -> Number:
        """Return a number or an expression; names of inputs outside `groups` are refused."""
        if callable(value):
            remedy = "write a text; a function of t, q and qd may be given as tau of evaluate"
            raise self.intake.error("a law cannot be a function of Python", where, remedy)
        with located(self.intake.file, where):
            law = number_of(value)
        if isinstance(law, Fraction):
            return law
        for name in sorted(symbols_of(law)):
            self._check(name, where, groups)
        return law

    def _check(self, name: str, where: str, groups: Collection[str]) -> None:
        intake = self.intake
        meaning = meaning_of(name, self.coordinates, self.rates)
        known = name in intake.values or name in self.further
        if name == TIME and meaning is not None and meaning.group != "t":
            remedy = f"rename the joint or coordinate, or write {meaning.group}{meaning.index + 1}"
            raise intake.error(f"{TIME!r} may be time or a coordinate", where, remedy)
        if meaning is not None and known:
            message = f"{name!r} may be {_WORDS[meaning.group]} or a parameter"
            raise intake.error(message, where, "rename the parameter")
        if meaning is not None and meaning.group not in groups:
            message = f"{name!r} is {_WORDS[meaning.group]} and cannot stand here"
            raise intake.error(message, where, f"allowed are {self._allowed(groups)}")
        if meaning is None and not known:
            raise intake.error(f"{name!r} is not known here", where, self._remedy(name, groups))

    def _remedy(self, name: str, groups: Collection[str]) -> str:
        known = [*self.coordinates, *self.rates, *self.intake.values, *self.further]
        inner = name.removeprefix(f"{RATE}(").removesuffix(")")
        close = get_close_matches(inner, known, n=1)
        start = f"did you mean {close[0]!r}? " if close else ""
        return f"{start}allowed are {self._allowed(groups)}{self.hint}"

    def _allowed(self, groups: Collection[str]) -> str:
        """Return what may stand in a law, in words."""
        shown = [word for group, word in _SEVERAL.items() if group in groups]
        if not self.coordinates:
            shown = [word for word in shown if word == TIME]
        return ", ".join([*shown, *list(self.further)[:SHOWN], "parameters, functions and numbers"])


_WORDS: Mapping[str, str] = {"q": "a coordinate", "qd": "a rate", "t": "time"}
_SEVERAL: Mapping[str, str] = {"q": "coordinates", "qd": "rates as der(phi)", "t": TIME}
SHOWN = 12
"""How many names of definitions and unknown forces a remedy lists at most."""


def parameters_in(law: Number, coordinates: Sequence[str], rates: Sequence[str]) -> frozenset[str]:
    """Return the names in a law that are neither coordinates nor rates nor time."""
    if isinstance(law, Fraction):
        return frozenset()
    names = symbols_of(law)
    return frozenset(name for name in names if meaning_of(name, coordinates, rates) is None)


@dataclass(frozen=True, slots=True)
class Order:
    """The names of coordinates and rates in the order of q and qd."""

    coordinates: Sequence[str]
    rates: Sequence[str]


def symbol_of(meaning: Meaning, order: Order) -> Symbol | None:
    """Return what stands for a coordinate or rate in laws of an order: its name, or else its place.

    None where neither can: where one coordinate is called q2 and the second one `left-arm`.
    """
    names = order.coordinates if meaning.group == "q" else order.rates
    name, texts = names[meaning.index], [f"{meaning.group}{meaning.index + 1}"]
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name not in {*FUNCTIONS, *CONSTANTS, TIME}:
        texts = [name if meaning.group == "q" else f"{RATE}({name})", *texts]
    for text in texts:
        if meaning_of(text, order.coordinates, order.rates) == meaning:
            return Symbol(text)
    return None


def moved_law(law: Number, old: Order, new: Order) -> Number | None:
    """Return a law of one order of coordinates for another; None where one of them is missing.

    Names stay, and places such as q3 or qd3 become those of the same name in the new order.
    """
    if isinstance(law, Fraction):
        return law
    moved: dict[str, Symbol] = {}
    for symbol in symbols_of(law):
        meaning = meaning_of(symbol, old.coordinates, old.rates)
        if meaning is None or meaning.group == "t":
            continue
        before, after = (
            (old.coordinates, new.coordinates) if meaning.group == "q" else (old.rates, new.rates)
        )
        name = before[meaning.index]
        if name not in after:
            return None
        there = Meaning(meaning.group, after.index(name))
        if meaning_of(symbol, new.coordinates, new.rates) == there:
            continue
        place = Symbol(f"{there.group}{there.index + 1}")
        is_right = meaning_of(place.name, new.coordinates, new.rates) == there
        replacement = place if is_right else symbol_of(there, new)
        if replacement is None:
            return None
        moved[symbol] = replacement
    return substitute(law, moved)
