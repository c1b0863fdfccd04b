r"""Symbols as they are typeset: a letter with an accent, indices, a superscript and primes.

A file gives a parameter a symbol in a small part of LaTeX, `m_{crank}` or `\dot{\theta}_{1,2}`. It
is read into marks, and formulas are written from these alone: no other command gets through.

    symbol = letter { "_" marks | "^" marks } { "'" }
    letter = mark | accent mark | accent "{" mark "}"
    marks  = mark | "{" mark { mark | "," | "+" | "-" } "}"
    mark   = a-z | A-Z | 0-9 | greek | "\mathrm{" letters or digits "}"
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

from chainform.errors import ReadError

_LOWER = ("alpha", "beta", "gamma", "delta", "varepsilon", "zeta", "eta", "theta", "iota", "kappa")
_MIDDLE = ("lambda", "mu", "nu", "xi", "omicron", "pi", "rho", "varsigma", "sigma", "tau")
_LAST = ("upsilon", "varphi", "chi", "psi", "omega")
GREEK: dict[str, str] = {
    **{name: chr(0x3B1 + k) for k, name in enumerate((*_LOWER, *_MIDDLE, *_LAST))},
    "epsilon": "\u03f5",
    "phi": "\u03d5",
    "vartheta": "\u03d1",
    "varrho": "\u03f1",
    "Gamma": "\u0393",
    "Delta": "\u0394",
    "Theta": "\u0398",
    "Lambda": "\u039b",
    "Xi": "\u039e",
    "Pi": "\u03a0",
    "Sigma": "\u03a3",
    "Upsilon": "\u03a5",
    "Phi": "\u03a6",
    "Psi": "\u03a8",
    "Omega": "\u03a9",
    "ell": "\u2113",
}
"""The letters that have a command, by its name."""
del GREEK["omicron"]
VARIANTS = {"\u03f5": "\u03b5", "\u03d5": "\u03c6", "\u03d1": "\u03b8", "\u03f1": "\u03c1"}
"""Forms of a letter that a reader takes for the same."""
ACCENTS = ("dot", "ddot", "hat", "bar", "tilde", "vec")
LONGEST_SYMBOL = 100
"""The most characters of a symbol."""
_TOKEN = re.compile(r"\\mathrm\s*\{([A-Za-z0-9]+)\}|\\([A-Za-z]+)|([A-Za-z0-9{}_^',+-])|\s+")
_REMEDY = (
    r"write a letter with indices, as m_{crank}, \theta_1, \dot{x}_{1,2}, l' or J_{\mathrm{a}}"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A letter, digits or a word; `upright` tells a word from a product of letters."""

    text: str
    upright: bool = False


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name as it is typeset; punctuation in indices is a mark of its own."""

    base: Mark
    accent: str = ""
    below: tuple[Mark, ...] = ()
    above: tuple[Mark, ...] = ()
    primes: int = 0

    @property
    def look(self) -> tuple[str, ...]:
        """What a reader sees: symbols of the same look are one symbol to them."""
        parts = ("".join(mark.text for mark in marks) for marks in (self.below, self.above))
        base = VARIANTS.get(self.base.text, self.base.text)
        below, above = ("".join(VARIANTS.get(c, c) for c in part) for part in parts)
        return base, self.accent, below, above + "'" * self.primes

    def with_accent(self, accent: str) -> Symbol | None:
        """Return the symbol with an accent; None where it has one."""
        return None if self.accent else replace(self, accent=accent)


_LATIN = {letter: name.removeprefix("var") for name, letter in GREEK.items()}


def latin_name(name: str) -> str:
    """Return a name in letters and digits of programs: theta1 for θ₁; other letters as u0436."""
    if name.isascii():
        return name
    plain = unicodedata.normalize("NFKC", name)
    ascii_letters = {c: c for c in plain if c.isascii() and (c.isalnum() or c == "_")}
    return "".join(ascii_letters.get(c) or _LATIN.get(c) or f"u{ord(c):04x}" for c in plain)


# --- from LaTeX -------------------------------------------------------------------------------


def parse_symbol(text: str) -> Symbol:
    """Return the symbol that a text in LaTeX means; ReadError where it is more than that."""
    return _SymbolReader(text).symbol()


class _SymbolReader:
    """Reads one symbol from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.tokens: list[Mark | str] = []
        if len(text) > LONGEST_SYMBOL:
            raise ReadError(
                f"a symbol has at most {LONGEST_SYMBOL} characters, this one has {len(text)}",
                remedy=_REMEDY,
            )
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self.error(text[position])
            position = match.end()
            self.tokens += self._token(match)

    def error(self, what: str) -> ReadError:
        message = f"{self.text[:60]!r} is not a symbol: {what!r} has no meaning there"
        return ReadError(message, remedy=_REMEDY)

    def _token(self, match: re.Match[str]) -> list[Mark | str]:
        word, command, character = match.groups()
        if word is not None:
            return [Mark(word, upright=len(word) > 1 or not word.isdigit())]
        if command is not None:
            if command in GREEK:
                return [Mark(GREEK[command])]
            if command in ACCENTS:
                return [f"\\{command}"]
            raise self.error(f"\\{command}")
        if character is None:
            return []
        return [Mark(character) if character.isalnum() else character]

    def next(self) -> Mark | str:
        if self.at == len(self.tokens):
            raise self.error("the end")
        self.at += 1
        return self.tokens[self.at - 1]

    def symbol(self) -> Symbol:
        accent, base = "", self.next()
        if isinstance(base, str) and base.startswith("\\"):
            accent, base = base[1:], self.next()
            if base == "{":
                base = self.next()
                closing = self.next()
                if closing != "}":
                    raise self.error(_shown(closing))
        if not isinstance(base, Mark) or base.text.isdigit():
            raise self.error(_shown(base))
        scripts: dict[str, tuple[Mark, ...]] = {}
        primes = 0
        while self.at < len(self.tokens):
            token = self.next()
            if token == "'" and "^" not in scripts:
                primes += 1
            elif token in ("_", "^") and token not in scripts and not (token == "^" and primes):
                scripts[str(token)] = marks = self.marks()
                if not any(m.text.isalpha() if token == "^" else m.text.isalnum() for m in marks):
                    # x^2 would be a power.
                    raise self.error("".join(m.text for m in marks) or "{}")
            else:
                raise self.error(_shown(token))
        return Symbol(base, accent, scripts.get("_", ()), scripts.get("^", ()), primes)

    def marks(self) -> tuple[Mark, ...]:
        """Return what stands behind _ or ^: one mark, or several in braces."""
        first = self.next()
        if isinstance(first, Mark):
            return (first,)
        if first != "{":
            raise self.error(first)
        marks: list[Mark] = []
        while (token := self.next()) != "}":
            if isinstance(token, str) and token not in (",", "+", "-"):
                raise self.error(token)
            marks.append(token if isinstance(token, Mark) else Mark(token))
        return tuple(marks)


def _shown(token: Mark | str) -> str:
    return token.text if isinstance(token, Mark) else token


# --- from a name ------------------------------------------------------------------------------

MARKED = {
    "hG": Symbol(Mark("h"), above=(Mark("G"),)),
    "Hi": Symbol(Mark("H"), above=(Mark("-"), Mark("1"))),
    "Cm": Symbol(Mark("C"), below=(Mark("m"),)),
    "AG": Symbol(Mark("A"), below=(Mark("G"),)),
    "Jc": Symbol(Mark("J"), below=(Mark("c"),)),
    "Jcom": Symbol(Mark("J"), below=(Mark("com", upright=True),)),
    "Yb": Symbol(Mark("Y"), below=(Mark("b"),)),
}
"""Names that are a letter with marks: the weights h^G, the inverse H^{-1}, the matrix C_m."""
RATES = {"qd": "dot", "qdd": "ddot"}


def symbol_of_name(name: str) -> Symbol:
    r"""Return a name as a symbol: H_1_2 is H_{1,2}, qd3 \dot{q}_{3}, theta1 \theta_{1}, J2z J_{2z}.

    An underscore at the end, which tells a variable from another of the same name, is a prime.
    """
    bare = name.rstrip("_")
    if bare and bare != name:
        symbol = symbol_of_name(bare)
        return replace(symbol, primes=len(name) - len(bare))
    name = unicodedata.normalize("NFKC", name)
    match = re.fullmatch(r"([^\W\d_]+)([0-9]+)([a-z]?)|([IJ])()([xyz]{1,2})", name)
    if match:
        base, number, axes = match[1] or match[4], match[2] or "", match[3] or match[6] or ""
        return _with_indices(_lettered(base), [Mark(part) for part in (number, *axes) if part], "")
    head, *rest = [part for part in name.split("_") if part] or [name]
    if re.fullmatch(r"[\w.]+", name) is None:
        return plain_symbol(name)
    return _with_indices(_lettered(head), map(_index, rest), ",")


def _with_indices(symbol: Symbol, marks: Iterable[Mark], between: str) -> Symbol:
    """Return a symbol with further indices; what stands between them is a mark, too."""
    below = list(symbol.below)
    for number, mark in enumerate(marks):
        comma = between if number else ","
        below += [Mark(comma), mark] if below and comma else [mark]
    return replace(symbol, below=tuple(below))


def plain_symbol(name: str) -> Symbol:
    """Return a name as one upright word, letter for letter."""
    return Symbol(Mark(name, upright=True))


def is_short(symbol: Symbol) -> bool:
    """Whether a symbol begins with one letter, as those of textbooks do; a digit is a number."""
    return len(symbol.base.text) == 1 and symbol.base.text.isalpha() and not symbol.base.upright


def _lettered(word: str) -> Symbol:
    if word in RATES:
        return Symbol(Mark("q"), RATES[word])
    if word in MARKED:
        return MARKED[word]
    return Symbol(_index(word))


def _index(word: str) -> Mark:
    letter = GREEK.get(word, word)
    is_letter = letter in GREEK.values() or (len(letter) == 1 and letter.isascii())
    is_plain = (word.isascii() and word.isdigit()) or (is_letter and letter != "_")
    return Mark(letter) if is_plain else Mark(word, upright=True)
