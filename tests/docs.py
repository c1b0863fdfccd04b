"""Pages that run: the Python blocks of a documentation page, executed in order.

All blocks of a page share one namespace, as if they were typed one after another. A block of text
with the title `prints`, right after a Python block, says what that block prints:

    ```python
    print(1 + 1)
    ```

    ```text title="prints"
    2
    ```
"""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
PYTHON = "```python"
PRINTS = '```text title="prints"'


@dataclass(frozen=True)
class Block:
    """The inside of a fenced block, its opening line, and the number of its first line."""

    fence: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    blocks: list[Block] = []
    fence: str | None = None
    inside: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        stripped = line.strip()
        if fence is None and stripped.startswith("```"):
            fence, inside = stripped, []
        elif fence is not None and stripped == "```":
            text = dedent("\n".join(inside)) + "\n"
            blocks.append(Block(fence, text, number - len(inside)))
            fence = None
        elif fence is not None:
            assert not stripped.startswith("```"), f"{page.name}:{number}: {fence} is not closed"
            inside.append(line)
    assert fence is None, f"{page.name}: the block {fence} is not closed"
    return blocks


def run_page(page: Path, namespace: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run the Python blocks of a page and return the namespace they leave behind.

    What a block prints is compared where the page says what it should be. Tracebacks show the
    page and its line numbers.
    """
    names: dict[str, Any] = {"__name__": "page"} if namespace is None else namespace
    printed: str | None = None
    for block in blocks_of(page):
        if block.fence == PYTHON:
            printed = _run(page, block, names)
        elif block.fence == PRINTS:
            assert printed is not None, f"{page.name}:{block.line}: no Python block comes before"
            assert printed.strip() == block.text.strip(), f"{page.name}:{block.line}"
    return names


def _run(page: Path, block: Block, names: dict[str, Any]) -> str:
    source = "\n" * (block.line - 1) + block.text
    output = io.StringIO()
    with redirect_stdout(output):
        exec(compile(source, str(page), "exec"), names)  # noqa: S102 - pages are our own
    return output.getvalue()
