"""docs/programs.md: what it says about other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from docs import DOCS, blocks_of, run_page

pytestmark = pytest.mark.any_processor

PAGE = DOCS / "programs.md"


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the page's own blocks leave behind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(Path(__file__).parents[3])
        return run_page(PAGE)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["numba", "scipy"])
def test_other_libraries(library: str, names: dict[str, Any]) -> None:
    found = [block for block in blocks_of(PAGE) if block.fence == f'```py title="{library}"']
    assert len(found) == 1
    exec(compile(found[0].text, str(PAGE), "exec"), dict(names))  # noqa: S102, the page is ours
