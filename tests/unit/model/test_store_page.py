"""docs/store.md: its Python runs, its SQL gives what it says, its diagram has every table."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chainform.store import Database, schema
from docs import DOCS, Block, blocks_of, run_page

PAGE = DOCS / "store.md"
GIVES = '```text title="gives"'
VIEWS = ("quantities", "formulas", "operation_counts", "expressions", "uses")

Rows = Sequence[Sequence[Any]]


def queries() -> list[tuple[Block, Block]]:
    """Return each SQL block with the result that stands below it."""
    blocks = blocks_of(PAGE)
    pairs = [(a, b) for a, b in pairwise(blocks) if a.fence == "```sql"]
    assert all(answer.fence == GIVES for _, answer in pairs)
    return pairs


def check_queries(ask: Callable[[str], Rows]) -> None:
    for query, answer in queries():
        rows = [" | ".join(map(str, row)) for row in ask(query.text)]
        assert rows == [line.rstrip() for line in answer.text.splitlines()], f"line {query.line}"


def run() -> None:
    """Run the page, and close the store that it opens even if it stops on the way."""
    names: dict[str, Any] = {"__name__": "page"}
    try:
        run_page(PAGE, names)
    finally:
        if "store" in names:
            names["store"].close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run the page in, with the examples in it."""
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_on_sqlite(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "models.db"
    monkeypatch.setenv("CHAINFORM_DB", str(path))
    run()
    with closing(sqlite3.connect(path)) as connection:
        check_queries(lambda query: connection.execute(query).fetchall())


def test_the_page_on_postgresql(
    folder: Path, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    import psycopg

    monkeypatch.setenv("CHAINFORM_DB", postgres_url)
    run()
    with psycopg.connect(postgres_url) as connection:
        check_queries(lambda query: connection.execute(query.encode()).fetchall())


def test_there_are_six_queries_that_use_the_views() -> None:
    texts = [query.text for query, _ in queries()]
    assert len(texts) == 6
    for view in VIEWS:
        assert any(re.search(rf"\b{view}\b", text) for text in texts)


def test_every_table_is_in_the_diagram_and_in_the_list() -> None:
    (diagram,) = (block.text for block in blocks_of(PAGE) if block.fence == "```mermaid")
    page = PAGE.read_text(encoding="utf-8")
    for table in schema.metadata.tables:
        assert re.search(rf"\b{table}\b", diagram), table
        assert f"`{table}`" in page, table


def test_every_view_is_listed_with_its_columns(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    path = tmp_path / "models.db"
    Database.open(str(path)).close()
    with closing(sqlite3.connect(path)) as file:
        views = file.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall()
        assert len(views) == 7
        for (view,) in views:
            (row,) = re.findall(rf"^\| `{view}` \|.*$", page, re.MULTILINE)
            for _, column, *_ in file.execute(f"PRAGMA table_info({view})"):
                own = column.removeprefix("once_")
                assert f"`{own}`" in row or own in ("model", "revision", "graph"), (view, column)


def test_columns_in_the_diagram_exist() -> None:
    (diagram,) = (block.text for block in blocks_of(PAGE) if block.fence == "```mermaid")
    for name, body in re.findall(r"^ *(\w+) \{\n(.*?)^ *\}", diagram, re.MULTILINE | re.DOTALL):
        columns = {column.name for column in schema.metadata.tables[name].columns}
        assert {line.split()[1] for line in body.splitlines()} <= columns
