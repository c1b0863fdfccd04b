"""Blocks of a report as HTML: one page that needs no network, or a piece for a notebook.

The chart of operations is a picture in SVG.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape

from chainform.emitters import (
    Formula,
    NameFormula,
    formula_mathml,
    is_negative,
    terms_of,
    without_sign,
)
from chainform.graph import Cost
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

WIDTH, ROW, LABEL, RIGHT = 760, 34, 210, 120
BARS = ("#3b6ea5", "#8fb3d9")
"""Multiplications and additions."""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""What a page may load: nothing but the pictures in it."""

STYLE = """
:root { color-scheme: light; }
body { max-width: 56rem; margin: 2.5rem auto; padding: 0 1.5rem; color: #1f2933; background: #fff;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .3rem; }
h2 { font-size: 1.35rem; margin: 2.4rem 0 .6rem; border-bottom: 1px solid #dfe4ea; }
h3 { font-size: 1.08rem; margin: 1.6rem 0 .4rem; }
table.data { border-collapse: collapse; margin: .8rem 0; font-size: .92rem; }
table.data th { border-bottom: 2px solid #aab4bf; font-weight: 600; vertical-align: bottom; }
table.data td { border-bottom: 1px solid #e8ecf0; vertical-align: top; }
table.data th, table.data td { padding: .25rem .8rem .25rem 0; overflow-wrap: break-word; }
table.data td { max-width: 22rem; }
table.data caption { caption-side: top; text-align: left; color: #5c6875; padding-bottom: .2rem; }
table.equations { border-collapse: collapse; margin: .5rem 0; }
table.equations td { padding: .2rem .25rem; vertical-align: baseline; }
table.equations td.left { text-align: right; white-space: nowrap; }
figure { margin: 1rem 0; } figure img { max-width: 100%; border: 1px solid #dfe4ea; }
figcaption { color: #5c6875; font-size: .92rem; }
math { font-size: 1.06em; }
@media print { body { max-width: none; margin: 0; font-size: 10.5pt; } h2 { break-after: avoid; } }
"""


def page_html(title: str, blocks: Iterable[ReportBlock]) -> str:
    """Return a whole page."""
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<meta charset="utf-8">{policy}{view}<title>{escape(title)}</title>'
    head += f"<style>{STYLE}</style>"
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n<body>\n'
        f"{fragment(blocks)}\n</body>\n</html>\n"
    )


def fragment(blocks: Iterable[ReportBlock]) -> str:
    """Return blocks as a piece of HTML, for a page or for a notebook."""
    return "\n".join(block_html(block) for block in blocks)


@singledispatch
def block_html(block: object) -> str:
    """Return one block."""
    raise TypeError(f"{type(block).__name__} is no block of a report")


@block_html.register
def _(block: Title) -> str:
    tag = f"h{block.level + 1}"
    return f"<{tag}>{escape(block.text)}</{tag}>"


@block_html.register
def _(block: Paragraph) -> str:
    return f"<p>{_cell(block.text)}</p>"


@block_html.register
def _(block: DataTable) -> str:
    sides = ["right" if title in block.numbers else "left" for title in block.titles]

    def row(cells: Iterable[TableCell], tag: str) -> str:
        inside = "".join(
            f'<{tag} style="text-align: {side}">{_cell(cell)}</{tag}>'
            for cell, side in zip(cells, sides, strict=True)
        )
        return f"<tr>{inside}</tr>"

    caption = (
        f'<caption style="text-align: left; white-space: nowrap">{_cell(block.caption)}</caption>'
        if block.caption
        else ""
    )
    head = f"<thead>{row(block.titles, 'th')}</thead>"
    body = "\n".join(row(cells, "td") for cells in block.rows)
    return f'<table class="data">{caption}{head}<tbody>\n{body}\n</tbody></table>'


def _cell(cell: TableCell) -> str:
    if isinstance(cell, tuple):
        return "".join(map(_cell, cell))
    return escape(cell) if isinstance(cell, str) else formula_mathml(NameFormula(cell))


@block_html.register
def _(block: EquationList) -> str:
    rows = [_equation(formula_mathml(e.left), "=", _wrapped(e.right)) for e in block.equations]
    if block.legend:
        rows.append(_equation("", "", ", ".join(map(formula_mathml, block.legend))))
    return '<table class="equations"><tbody>\n' + "\n".join(rows) + "\n</tbody></table>"


def _equation(left: str, sign: str, right: str) -> str:
    return f'<tr><td class="left">{left}</td><td>{sign}</td><td>{right}</td></tr>'


def _wrapped(right: Formula) -> str:
    """Return a sum as one formula for each term, between which a browser may break the line."""
    first, *others = terms_of(right)
    signs = ("-" if is_negative(term) else "+" for term in others)
    parts = [formula_mathml(without_sign(t), sign=s) for t, s in zip(others, signs, strict=True)]
    return " ".join([formula_mathml(first), *parts])


@block_html.register
def _(block: Verbatim) -> str:
    return f'<pre style="white-space: pre-wrap">{escape(block.text)}</pre>'


@block_html.register
def _(block: PictureBlock) -> str:
    data = b64encode(block.png).decode("ascii")
    image = f'<img src="data:image/png;base64,{data}" alt="{escape(block.caption, quote=True)}">'
    return f"<figure>{image}<figcaption>{escape(block.caption)}</figcaption></figure>"


@block_html.register
def _(block: DrawingBlock) -> str:
    return f"<figure>{block.svg}</figure>"


def waterfall(title: str, counts: Sequence[tuple[str, Cost]]) -> str:
    """Return a picture with one row for each stage; the length of a bar is its operations."""
    most = max((c.multiplications + c.additions for _, c in counts), default=0) or 1
    height = ROW * (len(counts) + 2)
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="10" y="22" font-weight="bold">{escape(title)}</text>',
        *_legend(),
    ]
    before: int | None = None
    for place, (name, count) in enumerate(counts):
        total = count.multiplications + count.additions
        saved = "" if before is None or total >= before else f" (-{before - total})"
        lines += _row(ROW * (place + 1) + 14, name, count, most, saved)
        before = total
    return "\n".join([*lines, "</svg>"]) + "\n"


def _row(y: int, name: str, count: Cost, most: int, saved: str) -> list[str]:
    scale = (WIDTH - LABEL - RIGHT) / most
    first = count.multiplications * scale
    second = count.additions * scale
    middle = LABEL + first
    text = f"{count.multiplications}/{count.additions}{saved}"
    return [
        f'<text x="{LABEL - 10}" y="{y + 15}" text-anchor="end">{escape(name)}</text>',
        f'<rect x="{LABEL}" y="{y}" width="{first:.1f}" height="20" fill="{BARS[0]}"/>',
        f'<rect x="{middle:.1f}" y="{y}" width="{second:.1f}" height="20" fill="{BARS[1]}"/>',
        f'<text x="{LABEL + first + second + 6:.1f}" y="{y + 15}">{text}</text>',
    ]


def _legend() -> list[str]:
    words = ("multiplications", "additions")
    return [
        part
        for place, (word, colour) in enumerate(zip(words, BARS, strict=True))
        for part in (
            f'<rect x="{530 + 120 * place}" y="12" width="10" height="10" fill="{colour}"/>',
            f'<text x="{545 + 120 * place}" y="22" font-size="12">{word}</text>',
        )
    ]
