"""What somebody gave, checked in one way wherever it comes in: files, arguments, command lines.

table = Given(table, "segment 'arm'", file).table({"mass", "com"})    no other fields
mass = table["mass"].number(least=0)                  an error is about "segment 'arm', mass"
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, isinf
from typing import TYPE_CHECKING, Any, TypeVar, cast

from chainform.errors import Error, ReadError, RunError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

Real = TypeVar("Real", float, Fraction)

FREE_TEXT = frozenset({"note", "description", "frame_rule", "source", "comment"})
"""Fields that may stand in any table of a file and are not read."""

LONGEST_NAME, SHOWN = 200, 40
"""The longest name, and how many names a remedy lists at most."""

NUMBERS = "fiu"
"""The kinds of numpy's types that are real numbers; truth values, texts and dates are none."""


def near(name: object, known: Iterable[str], count: int = 1, cutoff: float = 0.6) -> str:
    """Return `did you mean 'arm'? `, with which a remedy begins; nothing where none is near.

    `cutoff` is how near, 1 for equal: the more, the less another name of the kind is taken for it.
    """
    from difflib import get_close_matches

    close = get_close_matches(str(name)[:LONGEST_NAME], list(known), n=count, cutoff=cutoff)
    return f"did you mean {' or '.join(map(repr, close))}? " if close else ""


def listed(names: Iterable[str]) -> str:
    """Return names for a message, the first of many."""
    every = list(names)
    return (", ".join(every[:SHOWN]) + (", ..." if len(every) > SHOWN else "")) or "none"


def counted(count: int, word: str) -> str:
    """Return a number with its noun: 1 graph, 2 graphs."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def shown(value: object) -> str:
    """Return a value for a message: short, and in one line."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write whole numbers of thousands of digits
        text = "a number of many digits"
    return text if len(text) <= 60 else f"{text[:57]}..."


def kind_of(value: object) -> str:
    """Return what a value is in the words of a file: a list, a text, nothing."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "a text" if value.strip() else "an empty text"
    if isinstance(value, list | tuple | Mapping):
        return "a table" if isinstance(value, Mapping) else "a list"
    is_number = isinstance(value, int | float | Fraction)
    return "a number" if is_number else f"a {type(value).__name__}"


def plain(value: Any) -> Any:
    """Return arrays and numbers of numpy as lists and numbers of Python, ranges as lists."""
    convert = getattr(value, "tolist", None)
    if isinstance(value, range):
        return list(value)
    return convert() if callable(convert) else value


@dataclass(frozen=True, slots=True)
class Given:
    """A value that somebody gave, and where it stands.

    `element` names the part of the file, and `file` the file if there is one. What is wrong is an
    error of the class `raises`. In a table an entry that is not there counts as one that is None.
    """

    value: Any
    element: str = ""
    file: str | None = None
    raises: type[Error] = ReadError
    remedy: str | None = None
    """What helps whatever is wrong, in place of the usual remedies."""

    def error(self, message: str, remedy: str | None = None) -> Error:
        """Return the error for this value."""
        return self.raises(
            message, file=self.file, element=self.element or None, remedy=self.remedy or remedy
        )

    def expected(self, what: str, remedy: str | None = None) -> Error:
        """Return the error for a value of another kind."""
        return self.error(f"expected {what}, got {kind_of(self.value)}", remedy)

    def unknown(self, what: str, known: Iterable[str], remedy: str = "") -> Error:
        """Return the error for a name that means nothing, with the closest of those that do."""
        names = list(known)
        text = self.value[:80] if isinstance(self.value, str) else self.value
        question = near(text, names)
        remedy = question + remedy if remedy else question.strip() or f"there are {listed(names)}"
        return self.error(f"there is no {what} {shown(text)}", remedy)

    @contextmanager
    def translate_errors(self) -> Generator[None]:
        """Let errors be about this value: their messages and remedies stay."""
        try:
            yield
        except Error as error:
            raise self.error(error.message, error.remedy) from error

    def at(self, element: str) -> Given:
        """Return the same value under another name."""
        return self.part(self.value, element)

    def holding(self, value: object) -> Given:
        """Return another value under the same name."""
        return self.part(value, self.element)

    def part(self, value: object, element: str) -> Given:
        """Return another value of the same file under another name."""
        return Given(value, element, self.file, self.raises, self.remedy)

    @property
    def is_given(self) -> bool:
        """Whether there is anything."""
        return self.value is not None

    @property
    def is_table(self) -> bool:
        """Whether it is a table."""
        return isinstance(self.value, Mapping)

    @property
    def is_list(self) -> bool:
        """Whether it is a list or an array."""
        return isinstance(plain(self.value), list | tuple)

    # --- tables and lists -------------------------------------------------------------------

    def __getitem__(self, key: str) -> Given:
        element = f"{self.element}, {key[:60]}" if self.element else key[:60]
        return self.part(self.value.get(key), element)

    def has(self, *keys: str) -> bool:
        """Tell whether one of some entries of a table is there."""
        return any(self.value.get(key) is not None for key in keys)

    def table(self, allowed: Collection[str] | None = None, remedy: str | None = None) -> Given:
        """Return a table whose keys are texts; where some are allowed, these alone and no notes."""
        value: object = self.value
        if not isinstance(value, Mapping):
            raise self.expected("a table", remedy or "write name = value pairs")
        table = {str(key): entry for key, entry in cast("Mapping[object, Any]", value).items()}
        if allowed is None:
            return self.holding(table)
        for field in table:
            if field not in allowed and field not in FREE_TEXT:
                known = f"known fields: {', '.join(sorted(set(allowed)))}"
                raise self.error(f"unknown field {field[:60]!r}", near(field, allowed) + known)
        return self.holding({key: entry for key, entry in table.items() if key in allowed})

    def required(self, key: str, remedy: str = "give it") -> Given:
        """Return an entry of a table that must be there."""
        if not self.has(key):
            raise self[key].error(f"{key!r} is missing", remedy)
        return self[key]

    def one_of(self, *keys: str, remedy: str | None = None) -> str:
        """Return which of some entries of a table is there: exactly one must be."""
        given = [key for key in keys if self.has(key)]
        if len(given) != 1:
            message = f"one of {', '.join(keys)} is needed, found {' and '.join(given) or 'none'}"
            raise self.error(message, remedy or f"give one of {', '.join(keys)}")
        return given[0]

    def items(self) -> list[tuple[str, Given]]:
        """Return the entries of a table."""
        table = self.table()
        return [(key, table[key]) for key in table.value]

    def entries(self, count: int | None = None, remedy: str | None = None) -> list[Given]:
        """Return the entries of a list or an array, perhaps so many."""
        value = plain(self.value)
        if not isinstance(value, list | tuple):
            raise self.expected("a list", remedy or "write it in square brackets")
        entries = list(cast("list[Any]", value))
        if count is not None and len(entries) != count:
            message = f"expected {count} entries, got {len(entries)}"
            raise self.error(message, remedy or f"write {count} entries in square brackets")
        return [self.part(x, f"{self.element}[{k}]") for k, x in enumerate(entries, 1)]

    # --- texts ------------------------------------------------------------------------------

    def text(self, remedy: str | None = None) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            raise self.expected("a text", remedy or 'write it in quotation marks, as in "arm"')
        return self.value

    def texts(self, remedy: str | None = None) -> tuple[str, ...]:
        """Return one text, or several, as a tuple."""
        value: object = self.value
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
            return (self.text(remedy),)
        return tuple(self.holding(x).text(remedy) for x in cast("Iterable[object]", value))

    def name(self, longest: int = LONGEST_NAME) -> str:
        """Return a printable text that is neither empty nor surrounded by spaces."""
        text = self.text()
        if not text or text != text.strip() or len(text) > longest or not text.isprintable():
            remedy = f"use 1 to {longest} printable characters without spaces around them"
            raise self.error(f"{text[:40]!r} cannot be a name", remedy)
        return text

    def choice(self, choices: Sequence[str], what: str = "", remedy: str = "") -> str:
        """Return one of some words; `what` they are is the name of the value if not given."""
        remedy = remedy or f"choices are {', '.join(choices) or 'none'}"
        if self.text(remedy) in choices:
            return self.text()
        raise self.unknown(what or self.element.rpartition(", ")[2], choices, remedy)

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.expected("true or false", "write true or false")
        return self.value

    # --- numbers ----------------------------------------------------------------------------

    def number(
        self, least: float = -inf, most: float = inf, *, above: float = -inf, remedy: str = ""
    ) -> float:
        """Return a finite real number of any type as a double; `above` is a bound not reached."""
        number = double_of(self.value)
        if number is None:
            raise self.expected("a number", remedy or "write one number, as 0.5")
        if not isfinite(number):
            raise self.error("the number is not finite", remedy or "give a finite number")
        return self.within(number, least, most, above=above, remedy=remedy)

    def within(
        self,
        number: Real,
        least: float = -inf,
        most: float = inf,
        *,
        above: float = -inf,
        remedy: str = "",
    ) -> Real:
        """Return a number within bounds, `above` being one that is not reached."""
        if least <= number <= most and number > above:
            return number
        fault = f"above {most:g}"
        if number <= above:
            fault = "not positive" if above == 0 else f"not above {above:g}"
        elif number < least:
            fault = "negative" if least == 0 else f"below {least:g}"
        bounds = {"above": above, "of at least": least, "of at most": most}
        allowed = " and ".join(f"{word} {b:g}" for word, b in bounds.items() if isfinite(b))
        raise self.error(f"the number is {fault}", remedy or f"give one {allowed}")

    def whole(self, least: int = 0, most: int = 2**53, remedy: str = "") -> int:
        """Return a whole number; 3.0 counts as one."""
        number = double_of(self.value)
        if number is None or not number.is_integer() or not least <= number <= most:
            bounds = f"from {least} on" if most == 2**53 else f"from {least} to {most}"
            got = kind_of(self.value) if number is None else shown(self.value)
            message = f"expected a whole number {bounds}, got {got}"
            raise self.error(message, remedy or "correct it, or leave it out")
        return self.value if isinstance(self.value, int) else int(number)


def argument(element: str, value: Any) -> Given:
    """Return an argument of a function of Python; what is wrong with it is a RunError."""
    return Given(value, element, raises=RunError)


def double_of(value: Any) -> float | None:
    """Return one real number of any type as a double, infinite where it is too large, or None.

    Truth values, complex numbers, texts, and masked entries are none.
    """
    if isinstance(value, bool):
        return None
    kind = getattr(getattr(value, "dtype", None), "kind", "f")
    convert = cast("Callable[[], float] | None", getattr(value, "__float__", None))
    if kind not in NUMBERS or getattr(value, "ndim", 0) or hasattr(value, "mask") or not convert:
        return None
    try:
        return float(convert())
    except OverflowError:
        return -inf if value < 0 else inf
    except (TypeError, ValueError):
        return None


# --- arrays ------------------------------------------------------------------------------------


def real_array(name: str, value: Any, dtype: DTypeLike = float) -> NDArray[Any]:
    """Return real numbers as an array of a type; RunError for anything that is not real numbers.

    Whole numbers, fractions, decimals and other exact numbers of Python are taken. Complex numbers,
    texts, truth values, dates, missing and masked entries are refused, within lists too. Infinite
    numbers and nan are numbers here.
    """
    import numpy as np

    wrong = _wrong_part(value)
    if wrong is not None:
        raise _no_numbers(name, wrong)
    try:
        array: NDArray[Any] = np.asarray(value)
    except (ValueError, TypeError):
        raise _no_numbers(name, "lists of different lengths") from None
    if array.dtype.kind == "O":
        array = _from_objects(array)
    if array.dtype.kind not in NUMBERS:
        raise _no_numbers(name, str(array.dtype))
    try:
        with np.errstate(over="raise"):
            return array.astype(dtype, copy=False)
    except FloatingPointError:
        raise _no_numbers(name, f"numbers beyond the range of {np.dtype(dtype)}") from None


def _no_numbers(name: str, wrong: str) -> RunError:
    usual = "give a number, or a list or an array of numbers"
    remedy = "fill masked entries, or leave their states out" if "masked" in wrong else usual
    message = f"{name} is not an array of real numbers but of {wrong}"
    return RunError(message, element=name, remedy=remedy)


def finite_array(name: str, value: Any) -> NDArray[np.float64]:
    """Return finite real numbers as an array of doubles of its own; RunError for anything else."""
    import numpy as np

    array = np.array(real_array(name, value))
    finite = np.isfinite(array)
    if not finite.all():
        first = np.argwhere(~finite)[0].tolist()
        where = f"; the first is number {first[0] + 1}" if first else ""
        message, remedy = f"{name} has entries that are not finite", f"give finite numbers{where}"
        raise RunError(message, element=name, remedy=remedy)
    return array


def _wrong_part(value: Any) -> str | None:
    """Return what makes a value no numbers although numpy would take it as numbers, or None."""
    if type(value) in (float, int):
        return None
    if isinstance(value, list | tuple):
        parts = map(_wrong_part, cast("list[Any]", value))
        return next((part for part in parts if part is not None), None)
    if isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b":
        return "bool"
    if hasattr(value, "mask"):
        import numpy as np

        return "masked numbers" if np.ma.is_masked(value) else None
    return None


def _from_objects(array: NDArray[Any]) -> NDArray[Any]:
    """Return exact numbers of Python as doubles; anything else as it is."""
    import numpy as np

    items: list[Any] = array.ravel().tolist()
    numbers = [double_of(item) for item in items]
    for number, item in zip(numbers, items, strict=True):
        if number is None or (isinf(number) and item != number):
            return array
    return np.array(numbers, np.float64).reshape(array.shape)
