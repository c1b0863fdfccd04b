"""What a program waits for before its first result: rooms that are not needed are not imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import chainform as cf
from zoo import reference

HEAVY = ("flint", "sqlalchemy", "numpy.ma", "http.client", "chainform.algebra")
EXAMPLES = Path(__file__).parents[3] / "examples"
DERIVING = ("chainform.formulations", "chainform.search.reduction", "chainform.passes")


def imported(text: str, *names: str) -> str:
    """Return which modules a program has imported when it ends."""
    question = f"\nimport sys\nprint(*[name for name in {names!r} if name in sys.modules])"
    command = [sys.executable, "-c", text + question]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_model_waits_for_nothing_that_it_may_not_need() -> None:
    assert imported("import chainform; chainform.Model", *HEAVY, *DERIVING) == ""


@pytest.mark.slow
def test_a_stored_model_is_run_without_what_derived_it(tmp_path: Path) -> None:
    file = str(tmp_path / "models.db")
    model = cf.derive(reference("rackovic_2_1"), ["gravity"], reduce="none")
    with cf.open_store(file) as store:
        store.save(model, "arm")
    text = f"""
import chainform
import numpy as np
with chainform.open_store({file!r}) as store:
    store.load("arm").compile().gravity(np.zeros({model.mechanism.nq}))
"""
    heavy = [name for name in HEAVY if name != "sqlalchemy"]
    others = ("sqlalchemy.dialects.postgresql", *heavy, *DERIVING)
    assert imported(text, *others) == ""


def test_a_fast_reduction_waits_for_no_other() -> None:
    text = "import chainform; chainform.derive"
    others = ("chainform.passes", "chainform.search.deep", "chainform.search.thesis")
    assert imported(text, *others) == ""


@pytest.mark.slow
def test_the_database_waits_for_a_store(tmp_path: Path) -> None:
    database = ("sqlite3", "sqlalchemy", "psycopg", "chainform.store", "chainform.model.store")
    text = f"""
import sys
import chainform as cf
def loaded():
    return [name for name in {database!r} if name in sys.modules]
arm = cf.read({str(EXAMPLES / "four_bar.toml")!r})
cf.derive(arm, ["gravity"]).evaluate(q=[1.0, -0.8, 1.9])
cf.simulate(arm, t=0.01)
assert not loaded(), loaded()
cf.open_store({str(tmp_path / "models.db")!r})
"""
    opened = imported(text, *database)
    assert opened.split() == [name for name in database if name != "psycopg"]
