"""Scenario files: what they say is what `simulate` is told, and what is wrong is named."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chainform as cf
from chainform.errors import ReadError, RunError
from chainform.readers import read_text
from chainform.simulation import MotionError, Scenario, is_mechanism_file, simulate_batch
from chainform.simulation.equations.times import OutputTimes, even_times
from chainform.simulation.interface import in_toml

pytestmark = pytest.mark.any_processor

MECHANISM = """
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

SCENARIO = """
mechanism = "arm.toml"
time = [0, "1/2"]
values = { k = "m/8" }
without = ["friction"]

[initial]
q = { shoulder = "pi/3", q2 = -0.25 }
qd = [1, 0]

[output]
every = 0.125
outputs = ["pose(lower)", "energy"]

[forces]
hold = 0.25
shoulder = "-k*der(shoulder)"
elbow = [{ until = 0.25, law = "3*t" }, { law = 0 }]

[[events]]
name = "straight"
law = "elbow"
direction = "rising"

[solver]
method = "dopri853"
rtol = 1e-7
largest = 0.1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a mechanism in it."""
    (tmp_path / "arm.toml").write_text(MECHANISM)
    return tmp_path


@pytest.fixture
def scenario(folder: Path) -> Callable[..., Path]:
    """A function that writes a scenario beside the mechanism."""

    def write(text: str, name: str = "scenario.toml") -> Path:
        path = folder / name
        path.write_text(text)
        return path

    return write


def test_everything_is_told(scenario: Callable[..., Path]) -> None:
    read = Scenario.read(scenario(SCENARIO))
    told = dict(read.arguments)
    assert read.mechanism.name == "arm"
    assert read.outputs == ("pose(lower)", "energy")
    assert read.text == SCENARIO
    assert told["t"] == (0.0, 0.5)
    assert told["values"] == {"k": 0.25}
    assert told["without"] == ("friction",)
    assert told["q0"] == {"shoulder": math.pi / 3, "q2": -0.25}
    assert told["qd0"] == [1.0, 0.0]
    assert told["t_eval"].tolist() == [0, 0.125, 0.25, 0.375, 0.5]
    assert told["hold"] == 0.25
    assert told["forces"].keys() == {"shoulder", "elbow"}
    assert told["events"]["straight"] == {"law": "elbow", "direction": "rising"}
    assert (told["method"], told["rtol"], told["largest"]) == ("dopri853", 1e-7, 0.1)


def test_a_file_is_the_same_as_a_call(scenario: Callable[..., Path], folder: Path) -> None:
    from_file = cf.simulate(scenario(SCENARIO))
    called = cf.simulate(
        folder / "arm.toml",
        q0=[math.pi / 3, -0.25],
        qd0=[1, 0],
        t=(0, 0.5),
        t_eval=np.arange(5) / 8,
        values={"k": 0.25},
        forces={
            "shoulder": "-k*der(shoulder)",
            "elbow": [{"until": 0.25, "law": "3*t"}, {"law": 0}],
        },
        hold=0.25,
        events={"straight": {"law": "elbow", "direction": "rising"}},
        method="dopri853",
        rtol=1e-7,
        largest=0.1,
    )
    assert np.array_equal(from_file.q, called.q)
    assert np.array_equal(from_file.tau, called.tau)
    assert from_file.tau[-1, 0] != 0
    assert from_file.about.scenario == SCENARIO
    # An argument beside the file comes before what the file says.
    assert cf.simulate(scenario(SCENARIO), method="rk4", step=1e-3).method == "rk4"


def test_values_are_those_of_the_equations(folder: Path) -> None:
    fixed = read_text(MECHANISM.replace("k = {}", "k = 0.25"), "toml")
    bound = cf.simulate(fixed, q0=[1, 1], t=0.5)
    free = cf.simulate(folder / "arm.toml", q0=[1, 1], t=0.5, values={"k": 0.25})
    assert np.allclose(free.q, bound.q, rtol=0, atol=1e-12)
    assert np.allclose(free.qdd, bound.qdd, rtol=0, atol=1e-9)
    assert np.allclose(free.energy, bound.energy, rtol=0, atol=1e-12)
    moon = cf.simulate(fixed, q0=[1, 1], t=0.5, values={"g": 1.62, "l": 0.5})
    low = cf.simulate(
        read_text("gravity = [0, 0, -1.62]\n" + MECHANISM, "toml"),
        q0=[1, 1],
        t=0.5,
        values={"k": 0.25},
    )
    assert np.allclose(moon.q, low.q, rtol=0, atol=1e-12)
    assert np.allclose(moon.energy, low.energy, rtol=0, atol=1e-12)


def test_a_value_that_only_a_law_names(folder: Path) -> None:
    text = MECHANISM.replace("k = {}", "k = 0.25, d = 3, e = 5")
    mechanism = read_text(text, "toml")
    damped = cf.simulate(mechanism, q0=[1, 1], forces={"elbow": "-d*der(elbow)"})
    other = cf.simulate(mechanism, q0=[1, 1], forces={"elbow": "-2*der(elbow)"})
    given = {"d": 2, "m": 2}
    same = cf.simulate(mechanism, q0=[1, 1], forces={"elbow": "-d*der(elbow)"}, values=given)
    assert np.allclose(same.q, other.q, rtol=0, atol=1e-12)
    assert not np.allclose(same.q, damped.q)
    assert np.allclose(same.tau, other.tau, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("output", "times"),
    [
        ("every = 0.3", [0, 0.3, 0.6, 0.9]),
        ("every = 0.1", [k / 10 for k in range(11)]),
        ("points = 3", [0, 0.5, 1]),
        ("times = [0.25, 1]", [0.25, 1]),
    ],
)
def test_times_of_output(scenario: Callable[..., Path], output: str, times: list[float]) -> None:
    text = f'mechanism = "arm.toml"\ntime = 1\n[output]\n{output}'
    assert Scenario.read(scenario(text)).arguments["t_eval"].tolist() == times


def test_json_and_a_mechanism_inside(folder: Path) -> None:
    path = folder / "scenario.json"
    segments = [{"name": "bob", "joint": "prismatic", "axis": "z", "mass": 1}]
    mechanism = {"name": "drop", "segments": segments}
    path.write_text(json.dumps({"mechanism": mechanism, "time": 1, "initial": {"q": [2]}}))
    run = cf.simulate(path)
    assert run.mechanism.name == "drop"
    assert run.q[-1, 0] == pytest.approx(2 - 9.81 / 2)


def test_a_mechanism_file_with_other_data_is_no_scenario(folder: Path) -> None:
    path = folder / "case.json"
    segments = [{"name": "bob", "joint": "prismatic", "axis": "z", "mass": 1}]
    path.write_text(json.dumps({"mechanism": {"segments": segments}, "evaluations": []}))
    assert cf.simulate(path, t=0.1).mechanism.nq == 1


def test_a_stored_mechanism_with_values_bound(scenario: Callable[..., Path], folder: Path) -> None:
    with cf.open_store(folder / "models.db") as store:
        store.save(cf.derive(folder / "arm.toml", ["gravity"]), "arm")
        store.bind("arm", {"k": "1/4"})
    text = 'mechanism = "arm"\nstore = "models.db"\ntime = 0.2\ninitial = { q = [1, 1] }'
    stored = cf.simulate(scenario(text))
    called = cf.simulate(folder / "arm.toml", q0=[1, 1], t=0.2, values={"k": 0.25})
    assert np.array_equal(stored.q, called.q)


# --- what drives it ---------------------------------------------------------------------------

BEGIN = 'mechanism = "arm.toml"\ntime = 1\nvalues = { k = 0 }\n[forces]\n'


def test_tables_in_the_file_and_beside_it(scenario: Callable[..., Path], folder: Path) -> None:
    (folder / "torque.csv").write_text("# measured\nt, elbow\n0, 0\n0.5, 2.5\n1, -1e0\n")
    beside = cf.simulate(scenario(BEGIN + 'elbow = { file = "torque.csv" }'))
    inside = cf.simulate(
        scenario(BEGIN + "elbow = { t = [0, 0.5, 1], values = [0, 2.5, -1] }", "other.toml")
    )
    assert np.array_equal(beside.q, inside.q)
    assert np.allclose(beside.tau[:, 1], np.interp(beside.t, [0, 0.5, 1], [0, 2.5, -1]))


def test_efforts_of_one_run_drive_another(scenario: Callable[..., Path], folder: Path) -> None:
    first = cf.simulate(
        folder / "arm.toml", t=1, values={"k": 0}, forces={"elbow": "2*t"}, t_eval=[0, 0.5, 1]
    )
    first.save(folder / "first.csv")
    again = cf.simulate(scenario(BEGIN + 'elbow = { file = "first.csv" }'))
    assert np.allclose(again.tau[:, 1], 2 * again.t)
    assert np.allclose(again.q[-1], first.q[-1], rtol=0, atol=1e-8)


def test_python_is_run_only_if_allowed(scenario: Callable[..., Path], folder: Path) -> None:
    code = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n"
    code += "def torque(t, q, qd):\n    return [0.0, -3.0 * qd[1]]\n"
    code += "def single(t, q, qd):\n    return -3.0 * qd[1]\n"
    (folder / "control.py").write_text(code)
    for line in ('function = "control.py:torque"', 'elbow = { function = "control.py:single" }'):
        path = scenario(BEGIN + line)
        with pytest.raises(ReadError, match="may do anything") as caught:
            cf.simulate(path)
        assert not (folder / "ran").exists()
        assert "allow_python=True" in str(caught.value)
    law = cf.simulate(folder / "arm.toml", values={"k": 0}, forces={"elbow": "-3*der(elbow)"})
    for line in ('function = "control.py:torque"', 'elbow = { function = "control.py:single" }'):
        allowed = Scenario.read(scenario(BEGIN + line), allow_python=True)
        assert np.allclose(cf.simulate(allowed).q, law.q, rtol=0, atol=1e-9)
    assert (folder / "ran").exists()


# --- another time ------------------------------------------------------------------------------


def test_another_time_has_the_times_of_output_of_the_file(scenario: Callable[..., Path]) -> None:
    def times(output: str, t: Any) -> list[float]:
        path = scenario(GOOD + f"[output]\n{output}")
        single = cf.simulate(path, t=t)
        batch = simulate_batch(path, t=t)
        assert np.array_equal(batch.t, single.t)
        return single.t.tolist()

    assert times("every = 0.1", 0.25) == [0, 0.1, 0.2]
    assert times("every = 0.1", (0.5, 2)) == [0.5 + k / 10 for k in range(16)]
    assert times("points = 3", (1, 3)) == [1, 2, 3]
    assert times("times = [0, 0.125, 0.5, 1]", 0.5) == [0, 0.125, 0.5]
    assert len(times('outputs = ["energy"]', 0.5)) == 201
    path = scenario(GOOD + "[output]\nevery = 0.1")
    assert cf.simulate(path, t=0.25, t_eval=[0.03]).t.tolist() == [0.03]
    assert len(cf.simulate(path).t) == 11
    longer = cf.simulate(path, t=1.3, resume=cf.simulate(path))
    assert longer.t.tolist() == [k / 10 for k in range(14)]


def test_what_the_call_says_is_no_error_of_the_file(scenario: Callable[..., Path]) -> None:
    path = scenario(GOOD + "[output]\nevery = 1e-6")
    cases: list[dict[str, Any]] = [{"t": "x"}, {"rtol": -1}, {"method": "rk45"}]
    for wrong in cases:
        with pytest.raises(RunError) as caught:
            cf.simulate(path, **wrong)
        assert caught.value.file is None
        assert caught.value.element in wrong
    with pytest.raises(ReadError, match=r"output, every: there would be \d+ times") as told:
        cf.simulate(path, t=1000)
    assert told.value.file == str(path)


@given(
    first=st.fractions(-10, 10, max_denominator=10**6),
    every=st.fractions(Fraction(1, 10**6), 5, max_denominator=10**12),
    count=st.integers(1, 60),
)
def test_even_times_are_the_nearest_doubles(first: Fraction, every: Fraction, count: int) -> None:
    exact = np.array([float(first + k * every) for k in range(count)])
    times = even_times(first, every, count)
    assert np.allclose(times, exact, rtol=1e-15, atol=1e-15)
    assert (times[0], times[-1]) == (exact[0], exact[-1])
    assert np.all(np.diff(times) >= 0)
    tenths = even_times(round(10 * first) * Fraction(1, 10), Fraction(1, 10), count)
    assert tenths.tolist() == [(round(10 * first) + k) / 10 for k in range(count)]


def test_millions_of_times_are_made_at_once() -> None:
    began = process_time()
    times = OutputTimes(every=Fraction(5, 10**7)).between(Fraction(0), Fraction(10))
    assert times is not None
    assert process_time() - began < 8
    assert (len(times), times[3], times[-1]) == (20_000_001, 1.5e-6, 10.0)


# --- what is not read --------------------------------------------------------------------------

NOTED = """
name = "A kick"
mechanism = "arm.toml"
time = 0.5
note = "made up"
values = { k = 0.25, note = "of the weight" }
stops = { elbow = { lower = -3, upper = 3, note = "wide" }, comment = "soft" }
contacts = { lower = { point = [0, 0, -9], note = "far below" }, note = "never met" }
friction = { note = "none" }

[initial]
q = { shoulder = 1, source = "measured" }
qd = { elbow = 1, note = "a kick" }
note = "at rest otherwise"

[output]
every = 0.1
note = "few"

[forces]
note = "weak"
shoulder = { t = [0, 1], values = [0, 1], note = "a ramp" }
elbow = [{ until = 0.2, law = "3*t", note = "up" }, { law = 0 }]

[events]
note = "the first one counts"
straight = { law = "elbow", note = "x" }

[solver]
rtol = 1e-7
description = "rough"

[controllers.elbow]
type = "pd"
kp = 1
kd = 2
target = "sin(t)"
note = "by hand"
"""


@pytest.mark.slow
def test_notes_are_not_read(scenario: Callable[..., Path]) -> None:
    noted = Scenario.read(scenario(NOTED))
    bare = re.sub(r',? ?(?:note|source|comment|description) = "[^"]*"(?=[\n }])', "", "\n" + NOTED)
    assert "note" not in bare
    plain = Scenario.read(scenario(bare, "plain.toml"))
    assert noted.name == plain.name == "A kick"
    for name, value in plain.arguments.items():
        told = noted.arguments[name]
        assert np.array_equal(told, value) if name == "t_eval" else told == value, name
    run = cf.simulate(noted)
    assert np.array_equal(run.q, cf.simulate(plain).q)
    assert run.about.title == "A kick"


def test_notes_among_many_motions(scenario: Callable[..., Path]) -> None:
    text = GOOD.replace("values", "note = 'n'\nvalues")
    text += "[batch]\nnote = 'n'\nq = { elbow = [0.1, 0.2], note = 'n' }\n"
    read = Scenario.read(scenario(text + "values = { m = [1, 2], source = 'scales' }"))
    assert read.batch is not None
    assert read.batch["q0"] == {"elbow": [0.1, 0.2]}
    assert read.batch["values"] == {"k": 0.0, "m": [1.0, 2.0]}


def test_a_joint_may_be_called_so(scenario: Callable[..., Path], folder: Path) -> None:
    (folder / "arm.toml").write_text(MECHANISM.replace('"elbow"', '"note"'))
    text = GOOD + "friction = {}\nstops = { note = { lower = -1, note = 'x' } }\n"
    text += "[initial]\nq = { note = 0.5, comment = 'c' }\n[forces]\nnote = 2\ncomment = 'c'\n"
    read = Scenario.read(scenario(text))
    assert read.arguments["q0"] == {"note": 0.5}
    assert read.arguments["forces"] == {"note": 2}
    assert read.arguments["stops"] == {"note": {"lower": -1.0}}
    assert cf.simulate(read).tau[0].tolist() == [0, 2]


# --- what is wrong ----------------------------------------------------------------------------

GOOD = 'mechanism = "arm.toml"\ntime = 1\nvalues = { k = 0 }\n'

WRONG = {
    "": ["the file is empty"],
    "time = 1": ["'mechanism' is missing"],
    'mechanism = "arm.toml"': ["time", "'time' is missing"],
    'mechanism = "arm.tml"\ntime = 1': ["no file of a mechanism", "store = true"],
    'mechanism = "leg.toml"\ntime = 1': ["there is no file", "folder of the scenario"],
    "mechanism = 3\ntime = 1": ["mechanism", "expected a text, got a number"],
    'mechanism = "arm"\nstore = "none.db"\ntime = 1': ["mechanism 'arm'"],
    GOOD + "tiem = 2": ["unknown field 'tiem'", "did you mean 'time'?"],
    GOOD + "[initial]\nq = [1]": ["initial, q: expected 2 entries, got 1", "shoulder, elbow"],
    GOOD + "[initial]\nq = { elbo = 1 }": ["initial, q", "did you mean 'elbow'?"],
    GOOD + '[initial]\nq = ["a", 1]': ["initial, q[1]", "'a' is not a parameter"],
    GOOD + "[initial]\nq = [1, true]": ["initial, q[2]", "expected a number, got true"],
    GOOD + "[initial]\nv = [1]": ["initial: unknown field 'v'"],
    GOOD.replace("time = 1", "time = [1, 0]"): ["time: the end is not after the start"],
    GOOD.replace("time = 1", "time = [1, 2, 3]"): ["time: expected 2 entries, got 3"],
    GOOD.replace("k = 0", "k = 0, mm = 1"): ["values: there is no parameter 'mm'", "mean 'm'"],
    GOOD.replace("values = { k = 0 }", ""): [
        "values: the parameter k has no value",
        "values = { k = ... }",
    ],
    GOOD + "[output]\nevery = 0": ["output, every: it must be positive"],
    GOOD + "[output]\nevery = 1e-12": ["output, every: there would be 1000000000001 times"],
    GOOD + "[output]\npoints = 1": ["output, points"],
    GOOD + "[output]\nevery = 1\npoints = 3": ["found every and points"],
    GOOD + "[output]\ntimes = [2]": ["output, times: the times of output must grow"],
    GOOD + "[forces]\nelbo = 1": ["forces, elbo", "did you mean 'elbow'?"],
    GOOD + '[forces]\nelbow = "2*x"': ["'x' is not known here"],
    GOOD + "[forces]\nelbow = { t = [0, 1], values = [1] }": ["equally many numbers"],
    GOOD + '[forces]\nelbow = { fiel = "a.csv" }': [
        "forces, elbow: unknown field 'fiel'",
        "'file'",
    ],
    GOOD + '[forces]\nelbow = { file = "a.csv" }': ["a.csv", "there is no such file"],
    GOOD + '[forces]\nfunction = "rm -rf"': ["forces, function: a function is named by its file"],
    GOOD + "[forces]\nhold = -1": ["forces, hold: the number is not positive"],
    GOOD + "[[events]]\nlaw = 1\nstop = 1": ["events[1], stop: expected true or false"],
    GOOD + "[[events]]\nname = 'a'": ["events[1], law: 'law' is missing"],
    GOOD + "[[events]]\nlaw = 'elbow'\ndirection = 'up'": [
        "event 'event1'",
        "there is no direction 'up'",
    ],
    GOOD + '[events]\n"a\\u0001" = "elbow"': ["events: 'a\\x01' cannot be a name"],
    GOOD + "[events]\n'' = 'elbow'": ["events: '' cannot be a name"],
    GOOD + "[events]\nend = 'elbow'": ["event 'end'", "is no name for an event"],
    GOOD + "[[events]]\nname = 'failed'\nlaw = 'elbow'": ["'failed' is no name for an event"],
    GOOD + "[initial]\nq = [1, nan]": ["initial, q[2]: 'nan' is not a finite number"],
    GOOD + "[solver]\nrtol = 1e99999": ["solver, rtol: the number 1e99999", "exponent"],
    GOOD + f"[forces]\nelbow = {'9' * 5000}": ["forces, elbow: the number", "400 digits"],
    GOOD + "[[events]]\nlaw = inf": ["events[1], law: 'inf' is not a finite number"],
    GOOD + "stops = { elbow = { lower = -inf } }": ["stops, elbow, lower: '-inf' is not"],
    GOOD + "stops = { elbow = { lower = 0, restitution = 2 } }": [
        "restitution lies between 0 and 1",
        "such as 0.5",
    ],
    GOOD + "friction = 3": ["friction: expected a table", "friction = { slide = 12 }"],
    GOOD + "[solver]\nmethod = 'rk4'\nstep = -1": [
        "solver, step: the number is not positive",
        "give step = 0.001",
    ],
    GOOD + "[forces]\nelbow = { t = [1, 0], values = [0, 1] }": [
        "forces, elbow: the times of a table must grow",
        "sort them",
    ],
    GOOD + "[controllers]\na = { type = 'state_feedback', K = [[1, 2], [1]] }": [
        "the rows of a matrix are equally long, not 2, 1",
        "as many numbers in each row",
    ],
    GOOD + "name = 3": ["name: expected a text, got a number"],
    MECHANISM: ["this is a mechanism; a scenario names one", 'mechanism = "scenario.toml"'],
    GOOD + "[solver]\nmethod = 'rk45'": ["solver, method: rk45 is not a method", "verner65"],
    GOOD + "[solver]\nrtol = 0": ["solver, rtol: the number is not positive"],
    GOOD + "[solver]\nrtoll = 0": ["solver: unknown field 'rtoll'", "did you mean 'rtol'?"],
    GOOD + "[solver]\nmethod = 'rk4'": ["solver, step: rk4 has no step control"],
    GOOD + "[stops]\nknee = true": ["there is no coordinate named 'knee'"],
    GOOD + "[controllers]\nelbow = { type = 'pdd' }": ["there is no controller 'pdd'"],
    GOOD + "without = ['gravity']": ["there is no part 'gravity'"],
    GOOD + "energy_balance = 1": ["energy_balance: expected true or false"],
}


@pytest.mark.parametrize("text", WRONG, ids=[words[-1][:40] for words in WRONG.values()])
def test_what_is_wrong_is_named(scenario: Callable[..., Path], text: str) -> None:
    path = scenario(text)
    with pytest.raises(ReadError) as caught:
        cf.simulate(Scenario.read(path))
    message = str(caught.value)
    for words in WRONG[text]:
        assert words in message
    assert str(path) in message or "a.csv" in message
    assert caught.value.remedy


def test_a_motion_that_fails_is_told_in_the_words_of_the_file(
    scenario: Callable[..., Path],
) -> None:
    path = scenario(GOOD + "[forces]\nelbow = '1/(0.5 - t)^3'\n[output]\nevery = 0.1")
    with pytest.raises(MotionError) as caught:
        cf.simulate(path)
    assert caught.value.file == str(path)
    assert caught.value.remedy
    assert "method='" not in str(caught.value)
    assert caught.value.run.about.scenario == path.read_text()
    assert 0 < len(caught.value.run.t) <= 6


@pytest.mark.parametrize(
    ("python", "toml"),
    [
        ("use method='cvode', a larger rtol", 'use method = "cvode", a larger rtol'),
        ("values={'k': ...}, or", "values = { k = ... }, or"),
        ('write ["toe"], or {"toe": {"restitution": 0.2}}', None),
        ('without=["friction"]', 'without = ["friction"]'),
        ("take energy_balance=True", "take energy_balance = true"),
        ("did you mean 'elbow'?", "did you mean 'elbow'?"),
        ('write euler = "zyx" in the file', 'write euler = "zyx" in the file'),
    ],
)
def test_words_of_files(python: str, toml: str | None) -> None:
    assert in_toml(python) == (toml or 'write ["toe"], or { toe = { restitution = 0.2 } }')


def test_a_mechanism_in_another_form_is_no_scenario(folder: Path) -> None:
    (folder / "arm.urdf").write_text("<robot/>")
    with pytest.raises(ReadError, match="this is a mechanism; a scenario names one"):
        Scenario.read(folder / "arm.urdf")


def test_names_of_events_in_python(folder: Path) -> None:
    for name in ("end", "interrupted", "failed", "", " a", "a\x1b[31m", "x" * 300):
        with pytest.raises(cf.Error) as caught:
            cf.simulate(folder / "arm.toml", values={"k": 0}, events={name: "elbow"})
        assert caught.value.remedy


class Prepared(Exception):  # noqa: N818
    """Raised where a scenario has passed all checks, and the work would begin."""


LEAVES = st.one_of(
    st.sampled_from([0, 1, -1, 10**400, 1.5, True, False, None]),
    st.sampled_from(["", "elbow", "der(elbow)", "1/0", "x", "q1", "a\x00b", "rk4", "c.py:f"]),
    st.sampled_from([[], {}, [1], [[1]], [1, 2], [None], ["elbow"], {"a": 1}, {"type": "pd"}]),
    st.sampled_from([{"file": "arm.toml"}, {"lower": "a"}, {"law": 1}, {"restitution": 3}]),
    st.sampled_from([{"t": [0], "values": "a"}, {"t": {}, "values": [1]}, {"type": []}]),
)

WHOLE: dict[str, Any] = {
    "mechanism": "arm.toml",
    "time": [0, 1],
    "values": {"k": 0},
    "without": ["friction"],
    "initial": {"q": {"elbow": 1}, "qd": [0, 1], "fixed": ["elbow"]},
    "output": {"every": 0.1, "outputs": ["energy"]},
    "forces": {"hold": 0.1, "elbow": [{"until": 1, "law": "t"}, {"law": 0}], "shoulder": "t"},
    "events": [{"name": "a", "law": "elbow", "direction": "rising", "stop": True}],
    "solver": {"method": "rk4", "step": 0.1, "stabilise": "projection"},
    "controllers": {"elbow": {"type": "pd", "kp": 1, "kd": 2, "target": "sin(t)"}},
    "stops": {"elbow": {"lower": -1, "upper": 1, "restitution": 0.5}},
    "contacts": {"lower": {"restitution": 0.2, "point": [0, 0, -9], "normal": [0, 0, 1]}},
    "friction": {},
}


def paths(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where values stand in nested tables and lists."""
    found = [before] if before else []
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            found += paths(value[key], (*before, key))
    return found


@pytest.mark.slow
@given(
    place=st.sampled_from(paths(WHOLE)),
    leaf=LEAVES,
    how=st.sampled_from(["put", "drop", "add", "rename"]),
)
@settings(
    deadline=None,
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_damaged_tables_give_no_foreign_error(
    folder: Path, place: tuple[Any, ...], leaf: Any, how: str
) -> None:
    table = json.loads(json.dumps(WHOLE))
    inner = table
    for key in place[:-1]:
        inner = inner[key]
    if how == "put":
        inner[place[-1]] = leaf
    elif how == "drop":
        del inner[place[-1]]
    elif isinstance(inner, dict):
        inner["a" if how == "add" else f"{place[-1]}s"] = leaf
        if how == "rename":
            del inner[place[-1]]
    path = folder / "damaged.json"
    path.write_text(json.dumps(table))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chainform.simulation.problem.model_of", prepared)
        with pytest.raises((cf.Error, Prepared)) as caught:
            cf.simulate(Scenario.read(path))
    if isinstance(caught.value, cf.Error):
        assert "damaged.json" in str(caught.value) or "arm.toml" in str(caught.value)


def prepared(*_: Any, **__: Any) -> Any:
    raise Prepared


@pytest.mark.slow
@given(text=st.text(max_size=60))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_after_a_good_beginning(folder: Path, text: str) -> None:
    path = folder / "text.toml"
    path.write_text(GOOD + text, encoding="utf-8", errors="replace")
    found = ""
    with suppress(ReadError):
        Scenario.read(path)
        found = "read"
    assert found in ("", "read")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("arm.toml", "[[segments]]\nname = 'a'", True),
        ("swing.toml", "mechanism = 'arm.toml'\ntime = 1", False),
        ("ARM.JSON", '{"segments": []}', True),
        ("arm.urdf", "<robot/>", True),
        ("notes.txt", "segments", False),
    ],
)
def test_files_of_mechanisms(tmp_path: Path, name: str, text: str, expected: bool) -> None:
    (tmp_path / name).write_text(text)
    assert is_mechanism_file(tmp_path / name) is expected
