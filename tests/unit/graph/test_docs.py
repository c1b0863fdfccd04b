"""The page about the graph runs, and so does the helper that runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs import DOCS, blocks_of, run_page

PAGE = """\
Text.

```python
x = 20
print(x + 1)
```

```text title="prints"
21
```

- in a list

    ```python
    y = x + 2
    ```

```sh
not python
```
"""


def test_the_page_about_the_graph_runs() -> None:
    assert run_page(DOCS / "graph.md")


def page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_blocks_run_in_one_namespace(tmp_path: Path) -> None:
    assert run_page(page(tmp_path, PAGE))["y"] == 22
    assert [block.line for block in blocks_of(tmp_path / "page.md")] == [4, 9, 15, 19]


def test_another_output_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"page\.md:9"):
        run_page(page(tmp_path, PAGE.replace("\n21\n", "\n22\n")))


def test_a_mistake_is_found_at_its_line(tmp_path: Path) -> None:
    with pytest.raises(NameError) as mistake:
        run_page(page(tmp_path, PAGE.replace("y = x + 2", "y = z + 2")))
    assert mistake.traceback[-1].lineno + 1 == 15


def test_an_open_block_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="not closed"):
        run_page(page(tmp_path, "```python\nx = 1\n"))
