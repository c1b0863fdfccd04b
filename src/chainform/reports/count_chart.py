"""A picture of what each stage of a reduction saved: one bar for each graph on the way, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from chainform.graph import Cost

WIDTH, ROW, LABEL, RIGHT = 760, 34, 210, 120
COLOURS = ("#3b6ea5", "#8fb3d9")
"""Multiplications and additions."""


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
        f'<rect x="{LABEL}" y="{y}" width="{first:.1f}" height="20" fill="{COLOURS[0]}"/>',
        f'<rect x="{middle:.1f}" y="{y}" width="{second:.1f}" height="20" fill="{COLOURS[1]}"/>',
        f'<text x="{LABEL + first + second + 6:.1f}" y="{y + 15}">{text}</text>',
    ]


def _legend() -> list[str]:
    words = ("multiplications", "additions")
    return [
        part
        for place, (word, colour) in enumerate(zip(words, COLOURS, strict=True))
        for part in (
            f'<rect x="{530 + 120 * place}" y="12" width="10" height="10" fill="{colour}"/>',
            f'<text x="{545 + 120 * place}" y="22" font-size="12">{word}</text>',
        )
    ]
