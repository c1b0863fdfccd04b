"""Sequences of passes as text, as the command line and the store hold them.

    drop_neutral,reduce_part(names=[Q_*,e_*],passes=[expand(trig=true),merge_equal]),drop_unused

A pass is its name, with options in brackets where they differ from the default. A value is a
number, true, false, none, a word (in double quotes if it has other characters than a name with
wildcards), or a list in square brackets; a list may hold passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import Field, dataclass, fields
from typing import Any, cast, get_type_hints

from chainform.display import Displayed
from chainform.errors import DeriveError, Error
from chainform.given import Given, listed
from chainform.passes import PASSES, Pass
from chainform.search.stages import LARGEST
from chainform.search.thesis import Thesis

STEPS: dict[str, type[Pass]] = {**PASSES, Thesis.name: Thesis}
"""Every step that a sequence may name: the passes, and the stages of the thesis as one step."""

_TOKEN = re.compile(
    r'\s*(?:(-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)|([A-Za-z_*?][A-Za-z0-9_.*?]*)|("[^"]*")|([()\[\]=,]))'
)
_WORD = re.compile(r"[A-Za-z_*?][A-Za-z0-9_.*?]*")
_CONSTANTS = {"true": True, "false": False, "none": None}
_DEEPEST = 10


def names_passes(text: str) -> bool:
    """Whether the first word of a text is the name of a pass."""
    first = re.match(r"\s*([a-z_]+)", text) if type(text) is str else None
    return first is not None and first[1] in STEPS


def sequence_text(passes: Sequence[Pass]) -> str:
    """Return passes as text that `parse_sequence` reads back."""
    return ",".join(map(_pass_text, passes))


def _pass_text(step: Pass) -> str:
    options = [
        f"{field.name}={_value_text(getattr(step, field.name))}"
        for field in _options(type(step)).values()
        if getattr(step, field.name) != field.default
    ]
    return f"{step.name}({','.join(options)})" if options else step.name


def _value_text(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{','.join(map(_value_text, cast(tuple[object, ...], value)))}]"
    if isinstance(value, Pass):
        return _pass_text(value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, str):
        is_plain = _WORD.fullmatch(value) and value not in _CONSTANTS and value not in STEPS
        return value if is_plain else f'"{value}"'
    return str(value)


def parse_sequence(text: str) -> tuple[Pass, ...]:
    """Return the passes that a text names; DeriveError where it is not one."""
    reader = _Reader(text)
    steps = reader.steps() if text.strip() else []
    reader.expect_end()
    return tuple(steps)


def _options(kind: type[Pass]) -> dict[str, Field[Any]]:
    return {field.name: field for field in fields(cast(Any, kind))}


class _Reader:
    """One text, token by token."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0

    def _fail(self, message: str) -> DeriveError:
        return DeriveError(message, element=self.text[:60])

    def _peek(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        return match[0].strip() if match else ""

    def _next(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            rest = self.text[self.position :].strip()[:20]
            raise self._fail(f"{rest or 'the end'} was not expected in a list of passes")
        self.position = match.end()
        return match[0].strip()

    def _expect(self, token: str) -> None:
        given = self._next()
        if given != token:
            raise self._fail(f"{token} was expected in a list of passes, not {given}")

    def expect_end(self) -> None:
        """Fail unless everything has been read."""
        rest = self.text[self.position :].strip()
        if rest:
            raise self._fail(f"{rest[:20]} was not expected in a list of passes")

    def steps(self) -> list[Pass]:
        """Read passes, separated by commas."""
        passes = [self._step(self._next())]
        while self._peek() == ",":
            self._next()
            passes.append(self._step(self._next()))
        return passes

    def _step(self, name: str) -> Pass:
        if name not in STEPS:
            raise _unknown("pass", name, STEPS)
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._fail(f"passes are nested more than {_DEEPEST} deep")
        given: dict[str, Any] = {}
        if self._peek() == "(":
            self._next()
            while self._peek() != ")":
                self._option(name, given)
                if self._peek() != ")":
                    self._expect(",")
            self._next()
        self.depth -= 1
        return STEPS[name](**given)

    def _option(self, name: str, given: dict[str, Any]) -> None:
        option = self._next()
        known = _options(STEPS[name])
        if option not in known:
            raise _unknown(f"option of {name}", option, known)
        if option in given:
            raise self._fail(f"{option} of {name} is given twice")
        self._expect("=")
        given[option] = _fitting(name, option, self._value())

    def _value(self) -> object:
        token = self._next()
        if token == "[":
            return self._list()
        if token in _CONSTANTS:
            return _CONSTANTS[token]
        if re.fullmatch("-?[0-9]{1,18}", token):
            return int(token)
        if re.fullmatch(r"-?[0-9]{1,18}(\.[0-9]{1,18})?(e[+-]?[0-9]{1,3})?", token):
            return float(token)
        if token.startswith('"'):
            return token[1:-1]
        if token in STEPS:
            return self._step(token)
        if not _WORD.fullmatch(token):
            raise self._fail(f"{token} was not expected as a value")
        return token

    def _list(self) -> tuple[object, ...]:
        values: list[object] = []
        while self._peek() != "]":
            values.append(self._value())
            if self._peek() != "]":
                self._expect(",")
        self._next()
        return tuple(values)


def _fitting(name: str, option: str, value: object) -> object:
    """Return a value if it is of the kind and size that an option takes."""
    hint = str(get_type_hints(STEPS[name])[option])
    if not _fits(hint, value):
        raise DeriveError(f"{_value_text(value)} is not a value for {option}", element=name)
    limits = _options(STEPS[name])[option].metadata
    if isinstance(value, int | float) and not isinstance(value, bool):
        least, most = limits.get("least", 0), limits.get("most", LARGEST)
        Given(value, f"{name}, {option}", raises=DeriveError).number(least, most)
    return value


def _fits(hint: str, value: object) -> bool:
    if "tuple" in hint:
        kind = str if "str" in hint else Pass
        entries = cast(tuple[object, ...], value) if isinstance(value, tuple) else (None,)
        return all(isinstance(entry, kind) for entry in entries)
    if isinstance(value, bool) or "bool" in hint:
        return isinstance(value, bool) and "bool" in hint
    if isinstance(value, int | float):
        kinds = ("float",) if isinstance(value, float) else ("int", "float")
        return any(kind in hint for kind in kinds)
    if value is None:
        return "None" in hint
    return isinstance(value, str) and "str" in hint


def _unknown(what: str, value: str, choices: Iterable[str]) -> Error:
    remedy = f"choices are {listed(choices)}" if choices else "it takes none"
    return Given(value, value, raises=DeriveError).unknown(what, choices, remedy)


# --- what there is to name ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class PassOption(Displayed):
    """An option of a pass: its type and default as a sequence writes them, and what it means."""

    name: str
    type: str
    default: str
    meaning: str


@dataclass(frozen=True, slots=True, repr=False)
class PassEntry(Displayed):
    """A pass that a sequence may name."""

    name: str
    summary: str
    may_cost_more: bool
    options: tuple[PassOption, ...]


def pass_entries() -> tuple[PassEntry, ...]:
    """Return every pass and its options, from the fields of their classes."""
    return tuple(
        PassEntry(
            name,
            (kind.__doc__ or "").partition("\n")[0].rstrip("."),
            kind.may_cost_more,
            tuple(_entry(field) for field in _options(kind).values()),
        )
        for name, kind in STEPS.items()
    )


def _entry(field: Field[Any]) -> PassOption:
    given = field.metadata
    words = _TYPES[str(field.type)]
    if "choices" in given:
        words = " or ".join(given["choices"])
    bounds = [f"{text} {given[key]}" for key, text in _BOUNDS.items() if key in given]
    words = ", ".join([words, *bounds])
    return PassOption(field.name, words, _value_text(field.default), given["meaning"])


_TYPES = {
    "bool": "true or false",
    "int": "whole number",
    "int | None": "whole number, or none",
    "float": "number",
    "str": "word",
    "tuple[str, ...]": "list of names",
    "tuple[GraphPass, ...]": "list of passes",
}
_BOUNDS = {"least": "at least", "most": "at most"}
