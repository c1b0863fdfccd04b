"""A save is all or nothing, whenever the process ends and however many save at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "store_processes.py"


def run(*arguments: object) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_kill_loop_sqlite(tmp_path: Path) -> None:
    found = run("kill", tmp_path / "store.db", 80, 1)
    assert found["within"] > 40


def test_kill_loop_postgres(postgres_url: str) -> None:
    found = run("kill", postgres_url, 25, 3)
    assert found["within"] > 12


@pytest.mark.slow
def test_writers_at_once(url: str) -> None:
    found = run("write", url, 4, 40)
    assert found == {"revisions": 160, "graphs": 20 + 4 * 20}
