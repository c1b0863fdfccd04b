"""docs/reduction.md: its Python runs."""

from __future__ import annotations

import pytest

from docs import DOCS, run_page


@pytest.mark.slow
def test_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS.parent)
    assert run_page(DOCS / "reduction.md")
