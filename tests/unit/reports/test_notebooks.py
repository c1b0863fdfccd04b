"""The notebooks in `examples` run, and their cells show what they are about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

FOLDER = Path(__file__).parents[3] / "examples" / "notebooks"


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.ipynb")), ids=lambda file: file.stem)
def test_notebook_runs(file: Path) -> None:
    notebook: Any = nbformat.read(file, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "saved with outputs"
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
    shown = [
        set(output["data"])
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "data" in output
    ]
    assert all(kinds & {"text/html", "text/latex", "image/png", "text/plain"} for kinds in shown)
    assert any(kinds & {"text/html", "text/latex"} for kinds in shown)


def test_there_are_notebooks() -> None:
    assert len(list(FOLDER.glob("*.ipynb"))) >= 3
