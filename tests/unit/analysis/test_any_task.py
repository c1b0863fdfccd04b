"""Any task is carried out or refused: drawn changes of good tasks end in a Result or an Error."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import chainform as cf
from chainform.analysis import Result, arguments_of
from strategies import examples

ROOT = Path(__file__).parents[3]
NAN, INFINITE = float("nan"), float("inf")


def arm() -> cf.Mechanism:
    builder = cf.Mechanism.builder("arm", gravity=(0, "-9.81", 0)).parameter("l", 1)
    builder.segment("upper", axis="z", mass=1, com=[0.5, 0, 0])
    builder.segment(
        "lower", parent="upper", axis="z", position=["l", 0, 0], mass=2, com=[0.5, 0, 0]
    )
    builder.frame("tip", "lower", point=[1, 0, 0])
    return builder.spring(joint="upper", stiffness=30).build()


MECHANISMS = {
    "arm": arm(),
    "four_bar": cf.read(ROOT / "examples" / "four_bar.toml"),
    "crane": cf.read(ROOT / "examples" / "portal_crane.toml"),
}
TIMES = {"from": 0, "to": 1, "count": 5}
NUMBERS = {"t": [0, 1, 2, 3, 4, 5], "values": [0, 1, 2, 3, 4, 5], "smoothing": 0.1}
POINTS = {"points": [[1, 0, 0], [1, 0.1, 0], [1, 0.2, 0], [1, 0.3, 0]], "times": [0, 1, 2, 3]}
HANGING, HOLD = [-1.5707963267948966, 0], "-30*pi/2"
"""An arm that hangs down, against its spring."""
GOOD: list[dict[str, Any]] = [
    {
        "task": "kinematics",
        "mechanism": "arm",
        "times": [0, 0.5, 1],
        "motion": {"upper": NUMBERS, "lower": [{"until": 0.5, "law": "t"}, {"law": "t"}]},
        "frames": {"pen": {"segment": "lower", "point": [0.1, 0, 0]}},
        "relative_to": "upper",
        "values": {"l": 2},
    },
    {
        "task": "inverse_dynamics",
        "mechanism": "four_bar",
        "times": TIMES,
        "motion": {"crank": "3*t"},
        "driven": ["crank"],
        "start": [0, 0.5, 1.2],
    },
    {"task": "inverse_dynamics", "mechanism": "crane", "times": TIMES, "motion": {"s": "4 + t"}},
    {"task": "workspace", "mechanism": "arm", "of": "tip", "count": 9, "ranges": {"upper": [0, 1]}},
    {
        "task": "inverse_kinematics",
        "mechanism": "arm",
        "targets": {"tip": {"x": "1.2 + 0.1*t", "y": 0.3}},
        "times": TIMES,
        "q0": [0.5, -1],
        "branches": "all",
    },
    {"task": "inverse_kinematics", "mechanism": "arm", "targets": {"tip": POINTS}, "times": TIMES},
    {
        "task": "inverse_kinematics",
        "mechanism": "arm",
        "targets": {"tip": {"x": 1, "y": 0}},
        "method": "dynamic",
    },
    {"task": "statics", "mechanism": "arm", "q": [[0, 0], [1, 1]], "driven": ["upper", "lower"]},
    {"task": "equilibria", "mechanism": "arm", "starts": 3, "forces": {"lower": "1"}},
    {
        "task": "equilibrium_path",
        "mechanism": "arm",
        "parameter": "l",
        "span": [1, 1.2],
        "points": 8,
    },
    {
        "task": "periodic_motion",
        "mechanism": "arm",
        "period": "2*pi/3",
        "forces": {"upper": "sin(3*t) - 9*der(upper)", "lower": "-9*der(lower)"},
        "q0": [-1.2, -0.2],
        "points": 5,
    },
    {"task": "lyapunov_exponents", "mechanism": "arm", "t": 0.5, "blocks": 4},
    {
        "task": "sensitivities",
        "mechanism": "arm",
        "parameters": ["l"],
        "initial": ["q0.upper"],
        "outputs": ["com"],
        "q0": [0.1, 0.2],
        "t": 0.1,
    },
    {
        "task": "modes",
        "mechanism": "arm",
        "state": {"q": HANGING},
        "forces": {"upper": HOLD, "lower": "-3*der(lower)"},
        "controllers": {"lower": {"type": "pid", "kp": 3, "ki": 1, "target": HANGING[1]}},
        "x": {"integral(lower)": 0},
    },
    {
        "task": "frequency_response",
        "mechanism": "arm",
        "inputs": {"lower": [2, 0.5]},
        "outputs": ["upper"],
        "frequencies": {"from": 0.1, "to": 2, "count": 5},
        "q": HANGING,
        "forces": {"upper": HOLD},
        "values": {"l": 1},
    },
    {
        "task": "root_locus",
        "mechanism": "arm",
        "parameter": "k",
        "span": [0, 1],
        "count": 3,
        "q": HANGING,
        "forces": {"upper": HOLD, "lower": "-k*der(lower)"},
    },
]
ODD: list[Any] = [
    *(None, True, "", "x", 0, -1, 1, 2.5, 1e308, -1e308, 1e-320, NAN, INFINITE, 10**400, 10**9),
    *("nan", "1/0", "t", "tip", "upper", "é☃", "a\x00b", "x(tip)", "sqrt(-t)", "t^t", "1e999"),
    *([], {}, [[]], [0], [None], [[1, 2], [3]], [1, 2, 3], ["upper", "upper"], {"a": 1}),
    *({"from": 0, "to": 1, "count": 10**9}, {"from": 0, "to": INFINITE}, {"upper": "t"}),
    *({"tip": [1, 0, 0]}, {"tip": [NAN, 0, 0]}, {"upper": [1, 0]}, {"upper": [0, INFINITE]}),
]


def entries(table: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to everything that a table has."""
    if not isinstance(table, dict | list):
        return []
    inner: Any = table.items() if isinstance(table, dict) else enumerate(table)
    return [found for key, part in inner for found in ((*path, key), *entries(part, (*path, key)))]


@st.composite
def changed(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a task with one or two entries that are other, missing, renamed or new."""
    task = deepcopy(draw(st.sampled_from(GOOD)))
    for _ in range(draw(st.integers(1, 2))):
        paths = [path for path in entries(task) if path[0] not in ("task", "mechanism")]
        how = draw(st.sampled_from(("other", "other", "missing", "renamed", "new")))
        if how == "new" or not paths:
            name = draw(st.sampled_from(arguments_of(task["task"])))
            task[name] = deepcopy(draw(st.sampled_from(ODD)))
            continue
        *way, last = draw(st.sampled_from(paths))
        table: Any = task
        for key in way:
            table = table[key]
        value = table.pop(last) if how != "other" else None
        if how == "other":
            table[last] = deepcopy(draw(st.sampled_from(ODD)))
        elif how == "renamed" and isinstance(table, dict):
            table[draw(st.sampled_from(("é", "upper", "t", "", 'a"b')))] = value
    return task


def outcome(task: dict[str, Any]) -> Result | cf.Error:
    try:
        return cf.analyse({**task, "mechanism": MECHANISMS[task["mechanism"]]})
    except cf.Error as problem:
        return problem


@pytest.mark.parametrize("task", GOOD, ids=lambda task: f"{task['task']} {task['mechanism']}")
def test_the_tasks_are_good(task: dict[str, Any]) -> None:
    assert isinstance(outcome(task), Result)


def far(**more: Any) -> dict[str, Any]:
    return {"task": "inverse_kinematics", "mechanism": "arm", **more}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@example(task=far(targets={"tip": {"x": 1e308, "y": 0}}, method="dynamic"))
@example(task=far(targets={"upper": {"x": 1, "y": 0}}, method="dynamic"))
@example(task=far(targets={"tip": {"x": "1.2 + t", "y": 0}}, times={"to": 1e308, "count": 3}))
@example(task={**GOOD[5], "targets": {"tip": {**POINTS, "points": [[1, 0, 1e308]] * 4}}})
@given(task=changed())
@examples(150)
def test_any_task_is_carried_out_or_refused(task: dict[str, Any]) -> None:
    """A result has finite numbers, but for rates where there are none."""
    found = outcome(task)
    if isinstance(found, cf.Error):
        assert found.message
        return
    for name, array in found.arrays.items():
        assert name in ("qd", "qdd") or np.isfinite(array).all(), name
    assert found.table()


@pytest.mark.parametrize("ending", ["toml", "json"])
@pytest.mark.parametrize("text", ["", "task", "task = nan", '{"task": []}', "{}", "\x00", "é☃"])
def test_any_text_is_read_or_refused(tmp_path: Path, ending: str, text: str) -> None:
    path = tmp_path / f"any.{ending}"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(cf.Error) as caught:
        cf.analyse(path)
    assert f"any.{ending}" in str(caught.value)


def test_a_file_is_the_same_as_a_table(tmp_path: Path) -> None:
    path, (task, *_) = tmp_path / "task.json", [one for one in GOOD if one["mechanism"] == "crane"]
    path.write_text(json.dumps({**task, "mechanism": str(ROOT / "examples/portal_crane.toml")}))
    found = outcome(task)
    assert isinstance(found, Result)
    assert np.array_equal(cf.analyse(path)["S"], found["S"])
