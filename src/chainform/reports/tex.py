"""Blocks of a report as a LaTeX document, for pdflatex with amsmath, booktabs and longtable."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import singledispatch

from chainform.reports.blocks import (
    DataTable,
    DrawingBlock,
    EquationLine,
    EquationList,
    Paragraph,
    PictureBlock,
    ReportBlock,
    Title,
    Verbatim,
)
from chainform.reports.mathml import terms_of

PREAMBLE = r"""\documentclass[10pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern}
\usepackage[margin=25mm]{geometry}
\usepackage{amsmath}
\usepackage{array}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage{graphicx}
\usepackage{textcomp}
\setlength{\LTpre}{2pt}
\setlength{\LTpost}{8pt}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\emergencystretch=3em
"""
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
    '"': r"\textquotedbl{}",
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
GREEK_WORDS = frozenset(
    (
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
        *("lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"),
        *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
    )
)
LAST_LATIN = "\u017f"
"""The last character of Latin Extended-A, all of which the fonts have."""
NOT_IN_FONTS = frozenset("\u0126\u0127\u0138\u0149\u013f\u0140\u0166\u0167\u017f\u00ad")
RAGGED = r">{\raggedright\arraybackslash}"
"""What stands before a column of long texts."""
SIDE = 80
"""How many characters of a formula stand on one line, commands not counted."""


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
        if word in GREEK_WORDS:
            return f"\\ensuremath{{\\{word}}}"
    return f"\\texttt{{U+{ord(c):04X}}}"


def document_tex(title: str, blocks: Iterable[ReportBlock], pictures: str) -> str:
    """Return a whole document; `pictures` begins the names of the files with its pictures."""
    body = "\n\n".join(block_tex(block, pictures) for block in blocks)
    return (
        f"{PREAMBLE}\\title{{{tex_text(title)}}}\n\\date{{}}\n\\begin{{document}}\n"
        f"\\maketitle\n\n{body}\n\n\\end{{document}}\n"
    )


@singledispatch
def block_tex(block: object, pictures: str) -> str:
    """Return one block; names of its pictures begin with `pictures`."""
    del pictures
    raise TypeError(f"{type(block).__name__} is no block of a report")


@block_tex.register
def _(block: Title, pictures: str) -> str:
    del pictures
    command = "section" if block.level <= 1 else "subsection"
    return f"\\{command}*{{{tex_text(block.text)}}}"


@block_tex.register
def _(block: Paragraph, pictures: str) -> str:
    del pictures
    return tex_text(block.text)


@block_tex.register
def _(block: Verbatim, pictures: str) -> str:
    del pictures
    lines = (tex_text(line).replace("  ", "~~") for line in block.text.splitlines())
    return "{\\ttfamily\\small\\raggedright\n" + "\\\\\n".join(lines) + "\\par}"


@block_tex.register
def _(block: DrawingBlock, pictures: str) -> str:
    del block, pictures
    return ""


@block_tex.register
def _(block: PictureBlock, pictures: str) -> str:
    file = f"{pictures}-{block.name}.png"
    return (
        "\\begin{center}\n"
        f"\\includegraphics[width=0.68\\linewidth]{{\\detokenize{{{file}}}}}\\\\\n"
        f"{{\\small {tex_text(block.caption)}}}\n\\end{{center}}"
    )


@block_tex.register
def _(block: DataTable, pictures: str) -> str:
    del pictures
    columns = "".join(_columns(block))
    head = " & ".join(tex_text(title) for title in block.titles)
    rows = "\n".join(" & ".join(map(tex_text, row)) + r" \\" for row in block.rows)
    above = f"{{\\small {tex_text(block.caption)}\\par\\nobreak}}\n" if block.caption else ""
    lines = f"\\toprule\n{head} \\\\\n\\midrule\n\\endhead\n{rows}\n\\bottomrule\n"
    table = f"\\begin{{longtable}}[l]{{@{{}}{columns}@{{}}}}\n{lines}\\end{{longtable}}"
    return f"{above}{{\\small\n{table}}}"


def _columns(block: DataTable) -> list[str]:
    """Return how columns are set: numbers to the right, long texts in as much room as is left."""
    widths = [
        max(len(title), *(len(row[k]) for row in block.rows)) if block.rows else len(title)
        for k, title in enumerate(block.titles)
    ]
    room, total = 92 - 3 * len(widths), sum(widths)
    if total <= room:
        return ["r" if title in block.numbers else "l" for title in block.titles]
    # Narrow columns keep their width; the others share what is left.
    fair = room / len(widths)
    numbers = {k for k, title in enumerate(block.titles) if title in block.numbers}
    narrow = {k for k, width in enumerate(widths) if width <= fair} | numbers
    left = room - sum(widths[k] for k in narrow)
    wide = sum(width for k, width in enumerate(widths) if k not in narrow) or 1
    found: list[str] = []
    for k, title in enumerate(block.titles):
        if k in narrow:
            found.append("r" if title in block.numbers else "l")
        else:
            share = left * widths[k] / wide / 100
            found.append(f"{RAGGED}p{{{max(share, 0.08):.3f}\\linewidth}}")
    return found


@block_tex.register
def _(block: EquationList, pictures: str) -> str:
    del pictures
    lines = " \\\\\n".join(_equation(line) for line in block.lines)
    return f"\\begin{{align*}}\n{lines}\n\\end{{align*}}" if lines else ""


def _equation(line: EquationLine) -> str:
    """Return an equation, its right side in lines that fit on a page."""
    pieces = lines_of(terms_of(line.right))
    joint = " \\\\\n&\\quad "
    return f"{_math(line.left)} &= {joint.join(map(_math, pieces))}"


def lines_of(terms: Sequence[str], width: int = SIDE) -> list[str]:
    """Return terms in lines of about a width."""
    lines, length = [terms[0]], visible(terms[0])
    for term in terms[1:]:
        size = visible(term)
        if length + size > width:
            lines.append(term)
            length = size
        else:
            lines[-1] += f" {term}"
            length += size
    return lines


def visible(latex: str) -> int:
    """Return about how many characters of a formula are seen."""
    bare = re.sub(r"\\(mathrm|left|right|operatorname|,|ddot|dot|tfrac|frac|sqrt)", "", latex)
    return len(re.sub(r"\\[A-Za-z]+", "xx", bare).translate(str.maketrans("", "", "{}_^ ")))


def _math(latex: str) -> str:
    """Return a formula; characters that no font of mathematics has are set as text."""
    return re.sub(r"[^\x00-\x7f]", lambda found: f"\\text{{{_character(found[0])}}}", latex)
