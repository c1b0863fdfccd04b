r"""Formulas in MathML, which browsers draw without a script, from the LaTeX that models write.

The LaTeX of emitters is a small part of the language: letters, numbers, indices and powers,
fractions, roots, accents, brackets and functions. What is not in it is shown as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?(?:e[+-]?\d+)?|[^\s]")
FUNCTIONS = frozenset(
    ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "exp", "log", "sinh", "cosh", "tanh")
)
GREEK = {
    name: chr(code)
    for code, name in [
        *enumerate(("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"), 0x3B1),
        *enumerate(("iota", "kappa", "lambda", "mu", "nu", "xi", "omicron", "pi", "rho"), 0x3B9),
        *enumerate(("sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"), 0x3C3),
        *((0x393, "Gamma"), (0x394, "Delta"), (0x398, "Theta"), (0x39B, "Lambda"), (0x39E, "Xi")),
        *((0x3A0, "Pi"), (0x3A3, "Sigma"), (0x3A6, "Phi"), (0x3A8, "Psi"), (0x3A9, "Omega")),
    ]
}
ACCENTS = {"dot": "˙", "ddot": "¨", "bar": "¯", "hat": "^", "tilde": "~", "vec": "→"}
WORDS = frozenset(("mathrm", "operatorname", "text", "mathbf"))
SIGNS = {"-": "−", "*": "∗", "'": "′"}
THIN = '<mspace width="0.17em"></mspace>'


class UnreadableFormulaError(Exception):
    """The LaTeX has something that is not in the part of the language that models write."""


def mathml(latex: str) -> str:
    """Return a formula as a `math` element; as plain text where it cannot be read.

    A sign with a space behind it continues a sum that begins in another element.
    """
    try:
        sign, rest = (latex[0], latex[1:]) if latex[:2] in ("+ ", "- ") else ("", latex)
        inside = f'<mo form="infix">{SIGNS.get(sign, sign)}</mo>' if sign else ""
        inside += "".join(_Reader(rest).row(""))
    except (UnreadableFormulaError, IndexError):
        return f"<code>{escape(latex)}</code>"
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{inside}</mrow></math>'


def terms_of(latex: str) -> list[str]:
    """Return the terms of a sum, each with its sign; what stands in brackets is not divided."""
    terms: list[str] = []
    depth = start = 0
    for found in re.finditer(r"\\left|\\right|\\[{}]|[{}]| [+-] ", latex):
        text = found[0]
        depth += text in ("{", r"\left")
        depth -= text in ("}", r"\right")
        if text in (" + ", " - ") and depth == 0:
            terms.append(latex[start : found.start()])
            start = found.start() + 1
    return [*terms, latex[start:]]


class _Reader:
    """Reads LaTeX from left to right and writes the elements of MathML."""

    def __init__(self, latex: str) -> None:
        self.tokens: list[str] = TOKEN.findall(latex)
        self.at = 0

    def row(self, end: str) -> Iterator[str]:
        """Yield elements up to a token, which is taken as well."""
        while self.at < len(self.tokens):
            if self.tokens[self.at] == end:
                self.at += 1
                return
            yield self._scripted(self._atom())
        if end:
            raise UnreadableFormulaError(end)

    def _next(self) -> str:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def _group(self) -> str:
        """Return what stands in braces, or the next token alone, as one element."""
        if self.tokens[self.at] != "{":
            return self._atom()
        self.at += 1
        return f"<mrow>{''.join(self.row('}'))}</mrow>"

    def _word(self) -> str:
        """Return the letters in braces as they are."""
        if self._next() != "{":
            raise UnreadableFormulaError("{")
        letters: list[str] = []
        while (token := self._next()) != "}":
            letters.append(token.removeprefix("\\"))
        return escape("".join(letters))

    def _scripted(self, base: str) -> str:
        """Return an element with the indices, powers and primes behind it."""
        below, above = "", ""
        while self.at < len(self.tokens) and self.tokens[self.at] in ("_", "^", "'"):
            sign = self._next()
            if sign == "_":
                below = self._group()
            else:
                above += "<mo>′</mo>" if sign == "'" else self._group()
        if below and above:
            return f"<msubsup>{base}{below}<mrow>{above}</mrow></msubsup>"
        if below:
            return f"<msub>{base}{below}</msub>"
        return f"<msup>{base}<mrow>{above}</mrow></msup>" if above else base

    def _atom(self) -> str:
        token = self._next()
        if token == "{":
            return f"<mrow>{''.join(self.row('}'))}</mrow>"
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{escape(token)}</mi>"
        if token in "}_^'&":
            raise UnreadableFormulaError(token)
        return f"<mo>{SIGNS.get(token, escape(token))}</mo>"

    def _command(self, name: str) -> str:
        if name in GREEK:
            return f"<mi>{GREEK[name]}</mi>"
        if name in WORDS:
            return f'<mi mathvariant="normal">{self._word()}</mi>'
        if name in FUNCTIONS:
            return self._function(name)
        if name in ACCENTS:
            return f'<mover accent="true">{self._group()}<mo>{ACCENTS[name]}</mo></mover>'
        if name in ("frac", "tfrac", "dfrac"):
            above, below = self._group(), self._group()
            return f"<mfrac>{above}{below}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self._group()}</msqrt>"
        if name == "left":
            return self._bracket()
        if name in (",", ";", " ", "quad", "!"):
            return THIN
        if name in ("%", "#", "&", "_", "$", "{", "}"):
            return f"<mo>{escape(name)}</mo>"
        raise UnreadableFormulaError(name)

    def _function(self, name: str) -> str:
        """Return the name of a function, with the power that may stand behind it."""
        if self.at == len(self.tokens) or self.tokens[self.at] != "^":
            return f"<mrow><mi>{name}</mi>{THIN}</mrow>"
        self.at += 1
        return f"<mrow><msup><mi>{name}</mi>{self._group()}</msup>{THIN}</mrow>"

    def _bracket(self) -> str:
        left = escape(self._next())
        inside = "".join(self.row("\\right"))
        right = escape(self._next())
        return f"<mrow><mo>{left}</mo>{inside}<mo>{right}</mo></mrow>"
