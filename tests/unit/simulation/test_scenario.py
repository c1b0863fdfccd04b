"""Scenario files: what they say is what `simulate` is told, and what is wrong is named."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chainform as cf
from chainform.errors import ReadError
from chainform.readers import read_text
from chainform.simulation import Scenario

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
leave_out = ["friction"]

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
    assert told["leave_out"] == ("friction",)
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


# --- what is wrong ----------------------------------------------------------------------------

GOOD = 'mechanism = "arm.toml"\ntime = 1\nvalues = { k = 0 }\n'

WRONG = {
    "": ["the file is empty"],
    "time = 1": ["the mechanism is missing"],
    'mechanism = "arm.toml"': ["time", "the time is missing"],
    'mechanism = "arm.tml"\ntime = 1': ["no file of a mechanism", "store = true"],
    'mechanism = "leg.toml"\ntime = 1': ["there is no file", "folder of the scenario"],
    "mechanism = 3\ntime = 1": ["mechanism", "expected a text, got a number"],
    'mechanism = "arm"\nstore = "none.db"\ntime = 1': ["mechanism 'arm'"],
    GOOD + "tiem = 2": ["unknown field 'tiem'", "did you mean 'time'?"],
    GOOD + "[initial]\nq = [1]": ["initial, q: expected 2 numbers, got 1", "shoulder, elbow"],
    GOOD + "[initial]\nq = { elbo = 1 }": ["initial, q", "did you mean 'elbow'?"],
    GOOD + '[initial]\nq = ["a", 1]': ["initial, q[1]", "'a' is not a parameter"],
    GOOD + "[initial]\nq = [1, true]": ["initial, q[2]", "expected a number, got true"],
    GOOD + "[initial]\nv = [1]": ["initial: unknown field 'v'"],
    GOOD.replace("time = 1", "time = [1, 0]"): ["time: the end is not after the start"],
    GOOD.replace("time = 1", "time = [1, 2, 3]"): ["time is a start and an end"],
    GOOD.replace("k = 0", "k = 0, mm = 1"): ["values: there is no parameter 'mm'", "mean 'm'"],
    GOOD.replace("values = { k = 0 }", ""): [
        "values: the parameter k has no value",
        "values = { k = ... }",
    ],
    GOOD + "[output]\nevery = 0": ["output, every: it must be positive"],
    GOOD + "[output]\nevery = 1e-12": ["output, every: there would be 1000000000001 times"],
    GOOD + "[output]\npoints = 1": ["output, points"],
    GOOD + "[output]\nevery = 1\npoints = 3": ["the times of output are given twice"],
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
    GOOD + "[forces]\nhold = -1": ["hold must be a positive number"],
    GOOD + "[[events]]\nlaw = 1\nstop = 1": ["events[1], stop: stop is true or false"],
    GOOD + "[[events]]\nname = 'a'": ["events[1]: the law is missing"],
    GOOD + "[[events]]\nlaw = 'elbow'\ndirection = 'up'": [
        "event 'event1'",
        "'up' is no direction",
    ],
    GOOD + "[solver]\nmethod = 'rk45'": ["solver, method: rk45 is not a method", "verner65"],
    GOOD + "[solver]\nrtol = 0": ["solver, rtol: rtol must be a positive number"],
    GOOD + "[solver]\nrtoll = 0": ["solver: unknown field 'rtoll'", "did you mean 'rtol'?"],
    GOOD + "[solver]\nmethod = 'rk4'": ["solver, step: rk4 has no step control"],
    GOOD + "[stops]\nknee = true": ["there is no coordinate named 'knee'"],
    GOOD + "[controllers]\nelbow = { type = 'pdd' }": ["'pdd' is no controller"],
    GOOD + "leave_out = ['gravity']": ["gravity is not a choice"],
    GOOD + "books = 1": ["books: expected true or false"],
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
    assert caught.value.remedy or caught.value.message


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
    "leave_out": ["friction"],
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
        patch.setattr("chainform.simulation.task.model_of", prepared)
        with pytest.raises((cf.Error, Prepared)) as caught:
            cf.simulate(Scenario.read(path))
    if isinstance(caught.value, cf.Error):
        assert "damaged.json" in str(caught.value) or "arm.toml" in str(caught.value)


def prepared(*_: Any, **__: Any) -> Any:
    raise Prepared


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
