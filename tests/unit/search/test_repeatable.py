"""The same seed and number of steps give the same graph, on any machine and in any process."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from decimal import Context, Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform
from chainform.search.deep import seed_of
from chainform.search.neighbourhood import portable_exp

TESTS = Path(__file__).parents[2]
EXACT = {"gcd", "lcm", "prod", "isqrt", "isfinite"}
"""What of Python's math gives the same everywhere."""


def digests(hash_seed: str, cores: int) -> str:
    """Return digests of reduced graphs, made in a process of its own."""
    folder = Path(chainform.__file__).parents[1]
    path = os.pathsep.join([str(folder), str(TESTS)])
    found = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("digests.py")), str(cores)],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout


@pytest.mark.slow
def test_no_decision_depends_on_hashes_or_cores() -> None:
    first = digests("1", cores=1)
    assert len(first.splitlines()) == 5
    assert first == digests("2", cores=2)


def test_no_decision_depends_on_the_library_of_c() -> None:
    """Exponentials and logarithms differ in the last digit between processors."""
    root = Path(chainform.__file__).parent
    files = [file for room in ("algebra", "passes", "search") for file in root.glob(f"{room}/*.py")]
    assert len(files) > 30
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "math":
                assert {alias.name for alias in node.names} <= EXACT, file
            assert not (isinstance(node, ast.Attribute) and ast.unparse(node.value) == "math"), file


@given(st.floats(-700, 10))
def test_exponentials_are_right_to_the_last_digit(x: float) -> None:
    exact = float(Context(prec=60).exp(Decimal(x)))
    assert abs(portable_exp(x) - exact) <= exact * 2**-52


def test_seeds_of_walks_are_fixed() -> None:
    assert seed_of(0, 0, 0) == 14680368682093457738
    assert len({seed_of(s, r, w) for s in range(3) for r in range(3) for w in range(8)}) == 72
