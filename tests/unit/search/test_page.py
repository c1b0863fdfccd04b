"""docs/reduction.md: its Python runs, and its table of passes is up to date."""

from __future__ import annotations

import pytest

from chainform.search import pass_entries
from docs import DOCS, run_page


@pytest.mark.slow
def test_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS.parent)
    assert run_page(DOCS / "reduction.md")


def test_the_table_of_passes_is_the_one_of_the_code() -> None:
    rows = ["| pass | option | type | default | meaning |", "|---|---|---|---|---|"]
    for entry in pass_entries():
        rows.append(f"| `{entry.name}` | | | | {entry.summary} |")
        rows += [
            f"| | `{o.name}` | {o.type} | `{o.default}` | {o.meaning} |" for o in entry.options
        ]
    table = "\n".join(rows)
    assert table in (DOCS / "reduction.md").read_text(encoding="utf-8"), f"write this:\n{table}"
