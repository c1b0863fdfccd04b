"""Blocks of a report as a LaTeX document with amsmath, booktabs and longtable, and as PDF."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from functools import singledispatch
from pathlib import Path

from chainform.emitters import WIDTH, NameFormula, equations_latex, formula_latex, tex_text, visible
from chainform.errors import RunError
from chainform.reports.blocks import (
    DataTable,
    DrawingBlock,
    EquationList,
    Paragraph,
    PictureBlock,
    ReportBlock,
    TableCell,
    Title,
    Verbatim,
)

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
% \room{6} begins a new page where fewer lines than that are left on this one.
\newcommand{\room}[1]{\par\ifdim\dimexpr\pagegoal-\pagetotal\relax<#1\baselineskip\newpage\fi}
"""
RAGGED = r">{\raggedright\arraybackslash}"
"""What stands before a column of long texts."""
SECONDS = 120
"""How long one run of pdflatex may take."""
REMEDY = (
    "install a TeX system (Debian: apt install texlive-latex-recommended lmodern), or write the "
    "report as .tex or .html"
)


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
    command, lines = ("section", 12) if block.level <= 1 else ("subsection", 6)
    return f"\\room{{{lines}}}\\{command}*{{{tex_text(block.text)}}}"


@block_tex.register
def _(block: Paragraph, pictures: str) -> str:
    del pictures
    return _cell(block.text)


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
    rows = "\n".join(" & ".join(map(_cell, row)) + r" \\" for row in block.rows)
    above = (
        f"\\room{{6}}{{\\small {_cell(block.caption)}\\par\\nobreak}}\n" if block.caption else ""
    )
    lines = f"\\toprule\n{head} \\\\\n\\midrule\n\\endhead\n{rows}\n\\bottomrule\n"
    table = f"\\begin{{longtable}}[l]{{@{{}}{columns}@{{}}}}\n{lines}\\end{{longtable}}"
    return f"{above}{{\\small\n{table}}}"


def _cell(cell: TableCell) -> str:
    if isinstance(cell, tuple):
        return "".join(map(_cell, cell))
    return tex_text(cell) if isinstance(cell, str) else f"${formula_latex(NameFormula(cell))}$"


def _cell_width(cell: TableCell) -> int:
    if isinstance(cell, tuple):
        return sum(map(_cell_width, cell))
    return len(cell) if isinstance(cell, str) else visible(_cell(cell))


def _columns(block: DataTable) -> list[str]:
    """Return how columns are set: numbers to the right, long texts in as much room as is left."""
    widths = [
        max(len(title), *(_cell_width(row[k]) for row in block.rows)) if block.rows else len(title)
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
    wide = sum(width**0.5 for k, width in enumerate(widths) if k not in narrow) or 1
    found: list[str] = []
    for k, title in enumerate(block.titles):
        if k in narrow:
            found.append("r" if title in block.numbers else "l")
        else:
            share = left * widths[k] ** 0.5 / wide / 96
            found.append(f"{RAGGED}p{{{max(share, 0.08):.3f}\\linewidth}}")
    return found


@block_tex.register
def _(block: EquationList, pictures: str) -> str:
    del pictures
    if not block.equations:
        return ""
    return equations_latex(block.equations, WIDTH, "align*", block.legend)


# --- pdflatex ------------------------------------------------------------------------------------


def compiled(text: str, files: Mapping[str, bytes]) -> bytes:
    """Return a document as PDF; RunError where pdflatex is missing or fails.

    It runs in a folder of its own, may write there only, and starts no other program.
    """
    program = shutil.which("pdflatex")
    if program is None:
        raise RunError("a PDF file needs pdflatex", element="pdf", remedy=REMEDY)
    with tempfile.TemporaryDirectory(prefix="chainform-") as folder:
        place = Path(folder)
        (place / "report.tex").write_text(text, encoding="utf-8")
        for name, data in files.items():
            (place / name).write_bytes(data)
        for _ in range(2):  # Tables over several pages settle their columns in the second run.
            _run(program, place)
        return (place / "report.pdf").read_bytes()


def _run(program: str, place: Path) -> None:
    command = [program, "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error"]
    careful = {"openin_any": "p", "openout_any": "p", "SOURCE_DATE_EPOCH": "0", "HOME": str(place)}
    try:
        done = subprocess.run(
            [*command, "report.tex"],
            cwd=place,
            env={**os.environ, **careful},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        message = f"pdflatex took longer than {SECONDS} s"
        raise RunError(message, element="pdf", remedy="write the report as .tex or .html") from None
    if done.returncode != 0:
        log = done.stdout.decode("utf-8", errors="replace").splitlines()
        reason = next((line for line in log if line.startswith("!")), "no message")
        raise RunError(f"pdflatex has failed: {reason[:200]}", element="pdf", remedy=REMEDY)
