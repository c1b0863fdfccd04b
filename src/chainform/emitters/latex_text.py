"""Plain texts in LaTeX documents."""

from __future__ import annotations

import re
import unicodedata

from chainform.expressions import GREEK

MARKS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_\allowbreak{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "-": "{-}",
    "\n": " ",
    "\t": " ",
    "×": r"\ensuremath{\times}",
    "−": r"\ensuremath{-}",
    "·": r"\ensuremath{\cdot}",
    "²": r"\ensuremath{^2}",
    "³": r"\ensuremath{^3}",
    "°": r"\ensuremath{^\circ}",
    "±": r"\ensuremath{\pm}",
    "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
}
"""Characters that mean something to LaTeX, or that its fonts have in mathematics only."""
GREEK_NAME = re.compile(r"GREEK (SMALL|CAPITAL) LETTER ([A-Z]+)")
LAST_LATIN = "\u017f"
"""The last character of Latin Extended-A, all of which the fonts have."""
NOT_IN_FONTS = frozenset("\u0126\u0127\u0138\u0149\u013f\u0140\u0166\u0167\u017f\u00ad")


def tex_text(text: str) -> str:
    """Return a text that LaTeX prints as it is; characters without a glyph become U+4E2D."""
    return "".join(_character(c) for c in text)


def _character(c: str) -> str:
    if c in MARKS:
        return MARKS[c]
    if " " <= c <= "~" or ("\u00a0" <= c <= LAST_LATIN and c not in NOT_IN_FONTS):
        return c
    greek = GREEK_NAME.fullmatch(unicodedata.name(c, ""))
    if greek:
        word = "lambda" if greek[2] == "LAMDA" else greek[2].lower()
        word = word if greek[1] == "SMALL" else word.capitalize()
        if word in GREEK:
            return f"\\ensuremath{{\\{word}}}"
    return f"\\texttt{{U+{ord(c):04X}}}"
