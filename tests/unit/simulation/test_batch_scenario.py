"""The section [batch] of a scenario: what it says is what `simulate_batch` is told."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import chainform as cf
from chainform.errors import ReadError
from chainform.simulation import BatchRun, Scenario, simulate_batch

pytestmark = pytest.mark.any_processor

ARM = """
name = "arm"
parameters = { l = 0.5, m = 2, k = {} }

[[segments]]
name = "upper"
parent = "ground"
joint = { name = "shoulder", type = "revolute", axis = "y" }
mass = "m + k"
com = [0, 0, "-l/2"]
inertia = [0.1, 0.1, 0.01]

[[segments]]
name = "lower"
parent = "upper"
joint = { name = "elbow", type = "revolute", axis = "y" }
position = [0, 0, "-l"]
mass = 1
com = [0, 0, "-l/2"]
inertia = [0.1, 0.1, 0.01]
"""

GOOD = 'mechanism = "arm.toml"\ntime = 0.2\nvalues = { k = 0.25 }\n'
START = GOOD + "[initial]\nq = { shoulder = 1, elbow = 2 }\nqd = [0.5, 0]\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a scenario beside the mechanism."""
    (tmp_path / "arm.toml").write_text(ARM)

    def written(text: str, name: str = "scenario.toml") -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return written


def told(path: Path) -> dict[str, Any]:
    batch = Scenario.read(path).batch
    assert batch is not None
    return dict(batch)


def test_everything_is_told(write: Callable[..., Path]) -> None:
    section = '[batch]\nq = { q1 = ["pi/3", 2] }\nqd = [[1, 2], [3, "l"]]\n'
    section += "values = { m = [1, 2], l = 0.75 }\nthreads = 2\n"
    found = told(write(START + section))
    assert found["q0"] == {"elbow": 2.0, "q1": [math.pi / 3, 2.0]}
    assert found["qd0"] == [[1.0, 2.0], [3.0, 0.5]]
    assert found["values"] == {"k": 0.25, "m": [1.0, 2.0], "l": 0.75}
    assert found["threads"] == 2
    found = told(write(START + "[batch]\nqd = { elbow = { from = 0, to = 1, count = 3 } }\n"))
    assert np.asarray(found["qd0"]).tolist() == [[0.5, 0.0], [0.5, 0.5], [0.5, 1.0]]
    assert "q0" not in found


def test_a_file_is_the_same_as_a_call(write: Callable[..., Path]) -> None:
    section = "[batch]\nq = { elbow = [0, 1, 2] }\nvalues = { m = [1, 2, 3] }\n"
    path = write(START + section + "[output]\nevery = 0.1\n")
    batch = simulate_batch(path)
    called = simulate_batch(
        path.parent / "arm.toml",
        q0={"shoulder": 1, "elbow": [0, 1, 2]},
        qd0=[0.5, 0],
        values={"k": 0.25, "m": [1, 2, 3]},
        t=0.2,
        t_eval=[0, 0.1, 0.2],
    )
    np.testing.assert_array_equal(batch.q, called.q)
    assert batch.about.scenario == START + section + "[output]\nevery = 0.1\n"
    # An argument beside the file comes before what the file says.
    assert simulate_batch(path, method="rk4", step=0.01).method == "rk4"
    assert simulate_batch(path, q0=[1, 1]).q[:, 0].tolist() == [[1, 1]] * 3


def test_a_file_of_cases(write: Callable[..., Path]) -> None:
    write("# measured\nq.elbow, values.m, qd.shoulder\n0,1,0.5\n1, 2e0,-1\n2,3,0\n", "cases.csv")
    found = told(write(START + '[batch]\nfile = "cases.csv"\n'))
    assert found["q0"] == {"shoulder": 1.0, "elbow": [0.0, 1.0, 2.0]}
    assert found["values"] == {"k": 0.25, "m": [1.0, 2.0, 3.0]}
    assert found["qd0"][:, 0].tolist() == [0.5, -1, 0]


def test_one_motion_without_the_section(write: Callable[..., Path]) -> None:
    path = write(START)
    batch = simulate_batch(path)
    alone = cf.simulate(path)
    assert batch.q.shape == (1, 201, 2)
    np.testing.assert_array_equal(batch.q[0], alone.q)
    assert simulate_batch(Scenario.read(path), t=0.1).t[-1] == 0.1


def test_one_motion_is_not_many(write: Callable[..., Path]) -> None:
    path = write(START + "[batch]\nq = { elbow = [0, 1] }\n")
    with pytest.raises(ReadError, match="asks for many motions") as caught:
        cf.simulate(path)
    assert str(path) in str(caught.value)
    assert "simulate_batch" in str(caught.value)


WRONG = {
    "[batch]": ["batch: there are no motions", "give q, qd, x or values"],
    "[batch]\nthreads = 3": ["there are no motions"],
    "[batch]\nq = {}": ["there are no motions"],
    "[batch]\nq = []": ["batch, q: there are no motions"],
    "[batch]\nq = { elbow = [] }": ["batch, q, elbow: there are no motions"],
    "[batch]\nq = 3": ["batch, q: expected a table, got a number"],
    "[batch]\nq = [1, 2]": ["batch, q[1]: expected a row for each motion, got a number"],
    "[batch]\nq = [[1, 2], [1]]": ["batch, q[2]: expected 2 entries, got 1", "shoulder, elbow"],
    "[batch]\nq = [[1, 'a']]": ["batch, q[1][2]", "'a' is not a parameter"],
    "[batch]\nq = { elbo = [1] }": ["batch, q", "did you mean 'elbow'?"],
    "[batch]\nqd = { elbow = [1, true] }": ["batch, qd, elbow[2]", "expected a number, got true"],
    "[batch]\nqd = { elbow = [[1]] }": ["batch, qd, elbow[1]"],
    "[batch]\nx = { current = [1, 2] }": ["batch, x, current: there is no state 'current'"],
    "[batch]\nx = [[1], [2]]": ["batch, x[1]: expected 0 entries, got 1"],
    "[batch]\nvalues = [1]": ["batch, values: expected a table"],
    "[batch]\nvalues = { mm = [1, 2] }": ["values: there is no parameter 'mm'", "did you mean 'm'"],
    "[batch]\nq = { elbow = [1, 2] }\nvalues = { m = [1, 2, 3] }": [
        "batch, q, elbow: here are 2, and elsewhere 3 motions",
    ],
    "[batch]\nq = { elbow = [1, 2] }\nqd = [[1, 2]]": ["batch, qd: here are 1", "elsewhere 2"],
    "[batch]\nq = { elbow = { from = 0, to = 1 } }": ["batch, q, elbow, count: 'count' is missing"],
    "[batch]\nq = { elbow = { from = 0, to = 1, count = 2.5 } }": ["a whole number from 1 to"],
    "[batch]\nq = { elbow = { from = 0, to = 1, count = 0 } }": ["batch, q, elbow, count"],
    "[batch]\nq = { elbow = { from = 0, to = 1, count = 1e12 } }": ["from 1 to 10000000"],
    "[batch]\nq = { elbow = { from = 0, till = 1, count = 2 } }": ["unknown field 'till'"],
    "[batch]\nthreads = 0\nq = { elbow = [1] }": ["batch, threads: expected a whole number"],
    "[batch]\nqq = [1]": ["batch: unknown field 'qq'"],
    "[batch]\nfile = 3": ["batch, file: expected a text, got a number"],
    "[batch]\nfile = 'none.csv'": ["none.csv", "there is no such file"],
    "[batch]\nfile = 'cases.csv'\nq = { elbow = [1] }": [
        "batch, file: the motions are given twice"
    ],
    "batch = 3": ["batch: expected a table"],
}


@pytest.mark.parametrize("text", WRONG, ids=[words[-1][:40] for words in WRONG.values()])
def test_what_is_wrong_is_named(write: Callable[..., Path], text: str) -> None:
    write("q.elbow\n1\n", "cases.csv")
    path = write(GOOD + text)
    with pytest.raises(ReadError) as caught:
        simulate_batch(Scenario.read(path))
    for words in WRONG[text]:
        assert words in str(caught.value)
    assert str(path) in str(caught.value) or "none.csv" in str(caught.value)


FILES = {
    "": "no columns",
    "q.elbow\n": "there are no motions",
    "q.elbow, t\n1, 2\n": "there is a column 't'",
    "elbow\n1\n": "there is a column 'elbow'",
    "tau.elbow\n1\n": "columns are q.NAME, qd.NAME, x.NAME and values.NAME",
    "q.elbo\n1\n": "did you mean 'elbow'?",
    "q.elbow,q.elbow\n1,2\n": "two columns 'q.elbow'",
    "q.elbow\n1\nmany\n": "q.elbow is no number in the row of motion 2",
    "q.elbow\n1\nnan\n": "q.elbow is no number in the row of motion 2",
    "q.elbow\n1\n1e999\n": "q.elbow is no number in the row of motion 2",
    "q.elbow,values.m\n1,2\n3\n": "row 2 has 1 entries, and there are 2 columns",
    "values.mm\n1\n": "there is no parameter 'mm'",
}


@pytest.mark.parametrize("text", FILES, ids=list(FILES.values()))
def test_what_is_wrong_in_a_file_of_cases(write: Callable[..., Path], text: str) -> None:
    write(text, "cases.csv")
    path = write(GOOD + '[batch]\nfile = "cases.csv"\n')
    with pytest.raises(ReadError) as caught:
        simulate_batch(Scenario.read(path))
    assert FILES[text] in str(caught.value)


# --- any section ------------------------------------------------------------------------------

NUMBERS = st.one_of(
    st.integers(-5, 5), st.floats(-5, 5, width=16), st.sampled_from(["l", "pi/3", "1/2"])
)
ODD = st.sampled_from([None, True, "", "x", "1/0", 10**400, [], {}, [[]], [1, [2]], {"a": 1}])
SWEEPS = st.fixed_dictionaries({}, optional=dict.fromkeys(("from", "to", "count"), NUMBERS | ODD))
COLUMNS = st.one_of(NUMBERS, st.lists(NUMBERS, max_size=4), ODD, SWEEPS)
ROWS = st.lists(st.lists(NUMBERS | ODD, min_size=1, max_size=3), max_size=4)
NAMES = st.sampled_from(["elbow", "shoulder", "q1", "m", "k", "l", "x", "", "a\x00b"])
GROUPS = st.dictionaries(NAMES, COLUMNS, max_size=3) | ROWS | ODD
SECTIONS = st.fixed_dictionaries(
    {}, optional={**dict.fromkeys(("q", "qd", "x", "values"), GROUPS), "threads": NUMBERS | ODD}
)


@pytest.mark.slow
@example(section={"q": {}, "qd": {"elbow": [0, 0]}}, shared={"q": [1, 2]})
@given(section=SECTIONS | ODD, shared=st.sampled_from([{}, {"q": [1, 2]}, {"q": {"q1": 1}}]))
@settings(
    deadline=None,
    max_examples=200,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_section_is_read_or_refused(
    write: Callable[..., Path], section: Any, shared: Any
) -> None:
    """Where it is read, all that differs has one length, and the state of each motion is whole."""
    table = {"mechanism": "arm.toml", "time": 1, "values": {"k": 0}, "initial": shared}
    path = write(json.dumps({**table, "batch": section}), "any.json")
    refused, scenario = "", None
    try:
        scenario = Scenario.read(path)
    except ReadError as problem:
        refused = str(problem)
    if scenario is None:
        assert "any.json" in refused
        return
    if scenario.batch is None:
        assert section is None
        return
    found = dict(scenario.batch)
    assert found.pop("threads", 1) >= 1
    lengths: set[int] = set()
    for group in found.values():
        columns = list(group.values()) if isinstance(group, dict) else [group]
        lengths |= {len(column) for column in columns if np.ndim(column)}
    assert len(lengths - {1}) <= 1  # One state stands for all motions.
    assert 0 not in lengths
    for name in ("q0", "qd0"):
        if name in found and not isinstance(found[name], dict):
            assert np.asarray(found[name], dtype=float).shape[1] == 2


def test_what_is_read_runs(write: Callable[..., Path]) -> None:
    """A sweep of a table over two lists and single numbers."""
    section = "[batch]\nq = { shoulder = 1, q2 = [0, 1] }\n"
    section += "qd = { elbow = { from = 1, to = 2, count = 2 } }"
    batch: BatchRun = simulate_batch(write(GOOD + section + "\n[output]\ntimes = [0]"))
    assert batch.q[:, 0].tolist() == [[1, 0], [1, 1]]
    assert batch.qd[:, 0].tolist() == [[0, 1], [0, 2]]


def test_one_state_of_the_scenario_is_that_of_all_motions(write: Callable[..., Path]) -> None:
    table = {"mechanism": "arm.toml", "time": 0.1, "values": {"k": 0}, "initial": {"q": [1, 2]}}
    section = {"q": {}, "qd": {"elbow": [0, 3]}}
    path = write(json.dumps({**table, "batch": section, "output": {"times": [0]}}), "any.json")
    batch: BatchRun = simulate_batch(path)
    assert batch.q[:, 0].tolist() == [[1, 2], [1, 2]]
    assert batch.qd[:, 0].tolist() == [[0, 0], [0, 3]]
