"""Tasks along a motion: kinematics, workspace, inverse dynamics; files, results and the store."""

from __future__ import annotations

import json
from math import atan2, cos, hypot, pi, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis import TASKS, Result, Task, arguments_of
from chainform.analysis.motions.motion_loads import integral
from chainform.readers import native_text
from unit.simulation.linkages import slider_crank
from zoo import random_tree

ROOT = Path(__file__).parents[3]
FOUR_BAR = ROOT / "examples" / "four_bar.toml"
T = np.linspace(0, 2, 41)
START = [0, 0.5, 1.2]


def two_links() -> cf.Mechanism:
    builder = cf.Mechanism.builder("arm", gravity=(0, "-9.81", 0))
    builder.segment("upper", axis="z", mass=1, com=[0.5, 0, 0])
    builder.segment("lower", parent="upper", axis="z", position=[1, 0, 0], mass=2, com=[0.5, 0, 0])
    return builder.build().with_frame("tip", "lower", (1, 0, 0))


def coupler_point(angle: float) -> tuple[float, float]:
    """Return a point of the coupler of the four-bar (0.2, 0.5, 0.4, 0.6), by geometry."""
    x, y = 0.2 * cos(angle), 0.2 * sin(angle)
    dx, dy = 0.6 - x, -y
    length = hypot(dx, dy)
    opening = np.arccos((0.5**2 + length**2 - 0.4**2) / (2 * 0.5 * length))
    direction = atan2(dy, dx) + opening
    c, s = cos(direction), sin(direction)
    return x + 0.1 * c - 0.1 * s, y + 0.1 * s + 0.1 * c


def test_a_point_of_a_linkage_is_where_geometry_puts_it() -> None:
    pen = {"pen": {"segment": "coupler", "point": [0.1, 0.1, 0]}}
    found = cf.kinematics(cf.read(FOUR_BAR), {"crank": "3*t"}, T, pen, start=START)
    expected = np.array([coupler_point(3 * t) for t in T])
    np.testing.assert_allclose(found["position(pen)"][:, :2], expected, atol=1e-10)
    h = 1e-4
    for name, order in (("velocity(pen)", 1), ("acceleration(pen)", 2)):
        steps = {1: {-1: -0.5, 1: 0.5}, 2: {-1: 1, 0: -2, 1: 1}}[order]
        slope = sum(
            w * np.array([coupler_point(3 * (t + k * h)) for t in T]) for k, w in steps.items()
        )
        np.testing.assert_allclose(found[name][:, :2], slope / h**order, atol=1e-5)
    assert found["freedoms"].tolist() == [1.0] * 41


@pytest.mark.parametrize("seed", range(3))
def test_motion_seen_from_another_frame(seed: int) -> None:
    """Its rates are the derivatives of positions and rotations there."""
    tree = random_tree(seed) if seed else two_links()
    h, t = 1e-4, 0.7
    times = t + h * np.arange(-1.0, 2.0)
    laws = {name: f"sin({k + 1}*t/2)" for k, name in enumerate(tree.coordinates)}
    last, base = tree.segments[-1].name, tree.segments[0].name
    found = cf.kinematics(tree, laws, times, [last], relative_to=base)
    p, R = found[f"position({last})"], found[f"rotation({last})"]
    np.testing.assert_allclose(found[f"velocity({last})"][1], (p[2] - p[0]) / (2 * h), atol=1e-6)
    a = (p[2] - 2 * p[1] + p[0]) / h**2
    np.testing.assert_allclose(found[f"acceleration({last})"][1], a, atol=1e-5)
    turn = (R[2] - R[0]) / (2 * h) @ R[1].T
    w = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
    np.testing.assert_allclose(found[f"angular_velocity({last})"][1], w, atol=1e-6)
    w = found[f"angular_velocity({last})"]
    e = (w[2] - w[0]) / (2 * h)
    np.testing.assert_allclose(found[f"angular_acceleration({last})"][1], e, atol=1e-5)


def test_singular_positions_are_reported_with_their_time() -> None:
    found = cf.kinematics(two_links(), {"upper": "t", "lower": "1 - t"}, T, ["tip"])
    assert found.report[1].startswith("tip is near a singular position at t = 1 s")
    sizes = found["singular_values(tip)"]
    # The product of the singular values of a plane arm is the sine of its elbow.
    np.testing.assert_allclose(sizes.prod(axis=1), np.abs(np.sin(1 - T)), atol=1e-12)


def test_more_freedoms_where_a_parallelogram_is_flat() -> None:
    builder = cf.Mechanism.builder("parallelogram", gravity=(0, 0, 0))
    builder.segment("a", axis="z", mass=1, com=[0.2, 0, 0])
    builder.segment("b", parent="a", axis="z", position=[0.4, 0, 0], mass=1, com=[0.5, 0, 0])
    builder.segment("c", parent="ground", axis="z", position=[1, 0, 0], mass=1, com=[0.2, 0, 0])
    ends = {"segment": "b", "point": [1, 0, 0]}, {"segment": "c", "point": [0.4, 0, 0]}
    frame = builder.loop("pin", "point", *ends).build()
    found = cf.kinematics(frame, {"a": "t", "b": "-t", "c": "t"}, [-0.5, 0, 0.5])
    assert found["freedoms"].tolist() == [1, 2, 1]
    assert "1 to 2 freedoms" in found.report[0]


def test_a_dead_centre_between_two_times_is_reported() -> None:
    """The piston stands still twice a turn; the bend of a smooth motion is no such place."""
    crank = slider_crank()
    found = cf.kinematics(crank, {"crank": "pi*t + 0.1"}, np.linspace(0, 2, 50), ["slider"])
    lines = [line for line in found.report if "singular position" in line]
    assert [float(line.split("t = ")[1].split(" s")[0]) for line in lines] == pytest.approx(
        [1 - 0.1 / pi, 2 - 0.1 / pi], abs=1e-3
    )
    bent = {"upper": "0", "lower": "0.3 + (t - 1)^2"}
    smooth = cf.kinematics(two_links(), bent, np.linspace(0, 2, 50), ["tip"])
    assert smooth.report == ("2 freedoms all the time",)


# --- inverse dynamics -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_power_of_drives_is_the_rate_of_energy(seed: int) -> None:
    tree = random_tree(seed)
    laws = {name: f"sin({k + 1}*t/2)" for k, name in enumerate(tree.coordinates)}
    t = np.linspace(0, 1, 201)
    found = cf.inverse_dynamics(tree, laws, t, without=["friction"])
    gained = found["energy"] - found["energy"][0]
    np.testing.assert_allclose(found["work"], gained, atol=1e-6 * np.abs(gained).max())
    model = cf.derive(tree, ["tau"], without=["friction"])
    (tau,) = model.evaluate(q=found["q"], qd=found["qd"], qdd=found["qdd"]).values()
    np.testing.assert_allclose(found["tau"], tau, rtol=1e-12, atol=1e-12)


def test_the_integral_is_exact_for_cubics() -> None:
    t = np.cumsum(np.random.default_rng(1).uniform(0.25, 1, 9))
    exact = (t**4 - t[0] ** 4) / 4
    np.testing.assert_allclose(integral(t, t**3), exact, rtol=1e-12, atol=1e-12)
    assert integral(t[:1], t[:1]).tolist() == [0.0]
    np.testing.assert_allclose(integral(t[:3], t[:3]), (t[:3] ** 2 - t[0] ** 2) / 2, rtol=1e-12)


@pytest.mark.parametrize("count", [6, 3, 1])
def test_the_root_of_the_mean_square_is_that_of_the_force_at_any_times(count: int) -> None:
    slide = cf.Mechanism.builder("slide", gravity=(0, 0, 0))
    slide = slide.segment("x", joint="prismatic", axis="x", mass=1).build()
    t = np.array([0, 0.4, 1.9, 2.4, 3, 4])[:count]
    found = cf.inverse_dynamics(slide, {"x": "t^5/20"}, t)
    exact = np.sqrt(4.0**6 / 7) if count == 6 else 0.0
    if count == 3:  # straight lines between three times
        a, b = t[1] ** 3, t[2] ** 3
        exact = np.sqrt((t[1] * a * a + (t[2] - t[1]) * (a * a + a * b + b * b)) / 3 / t[2])
    assert found.facts["loads"]["x"]["rms"] == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("t", [[0, 1, 3, 3.01, 6, 7], [0, 3, 3.01, 3.02, 6, 7]])
def test_work_and_mean_square_stay_within_the_samples_at_uneven_times(t: list[float]) -> None:
    slide = cf.Mechanism.builder("slide", gravity=(0, 0, 0))
    slide = slide.segment("x", joint="prismatic", axis="x", mass=1).build()
    motion = {"t": t, "values": t, "rates": [1] * 6, "accelerations": [0, 0, 10, 0, 0, 0]}
    found = cf.inverse_dynamics(slide, {"x": motion}, t)
    assert np.all(np.diff(found["work"]) >= 0)
    assert found["work"][-1] <= 10 * t[-1]
    assert 0 < found.facts["loads"]["x"]["rms"] <= 10


def test_inverse_then_direct_gives_the_motion_back() -> None:
    linkage = cf.read(FOUR_BAR)
    t = np.linspace(0, 1, 101)
    found = cf.inverse_dynamics(linkage, {"crank": "1 + sin(2*t)"}, t, ["crank"], start=START)
    again = found.simulate()
    np.testing.assert_allclose(again.q, found["q"], atol=1e-8)
    np.testing.assert_allclose(found.run.reactions, again.reactions, atol=1e-5)
    with pytest.raises(cf.Error, match="no forces along a motion"):
        cf.kinematics(linkage, {"crank": "t"}, t, start=START).simulate()
    crane = cf.read(ROOT / "examples" / "portal_crane.toml")
    rack = cf.inverse_dynamics(crane, {"s": "4 + 0.3*sin(t)"}, np.linspace(0, 1, 401))
    np.testing.assert_allclose(rack.simulate().q, rack["q"], atol=1e-4)


@pytest.mark.parametrize("left_out", [(), ("springs",)])
def test_what_is_left_out_stays_so_in_all_that_follows(left_out: tuple[str, ...]) -> None:
    """The direct problem, reactions and energies have the springs if the drives have them."""
    ends = {"segment": "lower", "point": [1, 0, 0]}, {"segment": "ground", "point": [0, 1, 0]}
    builder = cf.Mechanism.builder("arm").segment("upper", axis="z", mass=1)
    builder.segment("lower", parent="upper", axis="z", position=[1, 0, 0], mass=2, com=[0.5, 0, 0])
    arm = builder.spring(ends=list(ends), stiffness=20, rest="0.3").build()
    motion = {"upper": "0.3*sin(2*t)", "lower": "0.5*cos(t)"}
    found = cf.inverse_dynamics(arm, motion, np.linspace(0, 1, 101), without=left_out)
    np.testing.assert_allclose(found.run.reactions[:, 0, 5], found["tau"][:, 0], atol=1e-9)
    np.testing.assert_allclose(found["work"], found["energy"] - found["energy"][0], atol=1e-5)
    np.testing.assert_allclose(found.simulate().q, found["q"], atol=1e-4)
    pose = cf.statics(arm, [0.3, 0.4], without=left_out)
    assert pose.run.reactions[0, 0, 5] == pytest.approx(pose["tau"][0, 0], abs=1e-9)


def test_further_outputs_along_the_motion() -> None:
    motion = {"theta1": "sin(t)", "theta2": "-0.4", "d32": "0.35"}
    arm, wanted = ROOT / "examples" / "stanford_elements.toml", ["reactions", "reaction(P,world)"]
    found = cf.inverse_dynamics(arm, motion, np.linspace(0, 1, 5), outputs=wanted)
    assert (found["reactions"] == found.run.reactions).all()
    assert found["reaction(P,world)"].shape == (5, 6)
    crane = ROOT / "examples" / "portal_crane.toml"
    with pytest.raises(cf.Error, match="no body is named there"):
        cf.inverse_dynamics(crane, {"s": "4"}, np.linspace(0, 1, 5), outputs=["reactions"])
    with pytest.raises(cf.Error, match="no output"):
        cf.inverse_dynamics(crane, {"s": "4"}, np.linspace(0, 1, 5), outputs=["reactio"])


@pytest.mark.parametrize("name", ["portal_crane", "stanford_elements"])
def test_both_algorithms_give_the_same_forces(name: str) -> None:
    mechanism = cf.read(ROOT / "examples" / f"{name}.toml")
    laws = {q: f"0.{k + 1}*sin(t + {k})" for k, q in enumerate(mechanism.coordinates)}
    laws |= {"s": "4 + 0.3*sin(t)"} if "s" in laws else {}
    found = [
        cf.inverse_dynamics(mechanism, laws, T, algorithm=how)
        for how in ("sorting", "differentiation")
    ]
    for unknown in mechanism.unknowns:
        np.testing.assert_allclose(found[0][unknown], found[1][unknown], rtol=1e-11)


# --- files, results, store ------------------------------------------------------------------------


def test_every_example_runs() -> None:
    files = sorted((ROOT / "examples" / "tasks").glob("*.toml"))
    assert files
    for file in files:
        result = cf.analyse(file)
        assert result.task == Task.read(file).name
        assert len(result)
        assert result.report


def test_a_task_is_the_same_as_a_table(tmp_path: Path) -> None:
    table = {"task": "kinematics", "times": [0, 0.5, 1], "frames": ["tip"]}
    table |= {"motion": {"upper": "t", "lower": "2*t"}}
    expected = cf.analyse({**table, "mechanism": two_links()})
    (tmp_path / "arm.json").write_text(native_text(two_links()))
    (tmp_path / "task.json").write_text(json.dumps({**table, "mechanism": "arm.json"}))
    found = cf.analyse(tmp_path / "task.json")
    for name, array in expected.arrays.items():
        assert np.array_equal(found[name], array), name


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "task"),
    ({"task": "kinematic"}, "did you mean 'kinematics'|kinematics"),
    ({"task": "kinematics"}, "needs it"),
    ({"task": "kinematics", "motion": {"upper": "t"}}, "times"),
    ({"task": "kinematics", "motion": {"upper": "t"}, "times": [0]}, "lower"),
    ({"task": "kinematics", "motion": {}, "times": {"to": 1, "count": 0}}, "count"),
    ({"task": "kinematics", "motion": {}, "times": {"count": 3}}, "when the motion ends"),
    ({"task": "kinematics", "motion": {}, "tims": [0]}, "tims"),
    ({"task": "workspace", "of": "tp"}, "tp"),
    ({"task": "workspace", "of": "tip", "count": 10**9}, "count"),
    ({"task": "workspace", "of": "tip", "ranges": {"lowr": [0, 1]}}, "lowr"),
    ({"task": "inverse_dynamics", "motion": 3, "times": [0]}, "motion"),
    (
        {"task": "inverse_dynamics", "motion": {}, "times": [0], "algorithm": "magic"},
        "sorting",
    ),
]


@pytest.mark.parametrize(("table", "words"), BAD)
def test_bad_tasks_are_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(cf.Error) as caught:
        cf.analyse({"mechanism": two_links(), **table})
    assert any(word in str(caught.value) for word in words.split("|"))
    assert caught.value.remedy


def test_errors_name_the_file_of_the_task(tmp_path: Path) -> None:
    file = tmp_path / "task.toml"
    for text in ('task = "kinematics"', "task = ", 'task = "kinematics"\nmechanism = "none.toml"'):
        file.write_text(text)
        with pytest.raises(cf.Error) as caught:
            cf.analyse(file)
        assert caught.value.file == str(file)
    with pytest.raises(cf.Error, match="TOML or JSON"):
        cf.analyse(__file__)


def test_unknown_forces_and_drives_are_not_mixed() -> None:
    crane = cf.read(ROOT / "examples" / "portal_crane.toml")
    with pytest.raises(cf.Error, match="unknown already"):
        cf.inverse_dynamics(crane, {"s": "4"}, T, ["s"])
    with pytest.raises(cf.Error, match="algorithm"):
        cf.inverse_dynamics(crane, {"s": "4"}, T, algorithm="guess")
    with pytest.raises(cf.Error, match="all that acts counts"):
        cf.inverse_dynamics(crane, {"s": "4"}, T, without=["forces"])


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_results_come_back_from_files(ending: str, tmp_path: Path) -> None:
    found = cf.inverse_dynamics(two_links(), {"upper": "t", "lower": "0"}, T)
    found.save(tmp_path / f"a.{ending}")
    again = Result.load(tmp_path / f"a.{ending}")
    assert (again.report, again.task, again.rows) == (found.report, found.task, "t")
    assert again.facts == found.facts
    for name, array in found.arrays.items():
        assert np.array_equal(again[name], array)
    with pytest.raises(cf.Error, match="no run of the form"):
        cf.Run.load(tmp_path / f"a.{ending}")


def test_results_come_back_from_a_store(tmp_path: Path) -> None:
    arm = two_links()
    found = cf.kinematics(arm, {"upper": "t", "lower": "0"}, T)
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(cf.derive(arm, ["tau"]), "arm")
        assert store.save_run(found, "arm", "swing").kind == "kinematics"
        again = Result.load(store.run("arm", "swing"))
    assert np.array_equal(again["q"], found["q"])
    assert native_text(again.mechanism) == native_text(arm)


def test_pictures_of_results(tmp_path: Path) -> None:
    found = cf.kinematics(two_links(), {"upper": "t", "lower": "2*t"}, T, ["tip"])
    found.plot(file=tmp_path / "a.svg")
    found.plot("position(tip)[2]", tmp_path / "b.png", over="position(tip)[1]")
    found.picture(tmp_path / "c.png")
    found.animate(tmp_path / "d.html")
    assert all(
        (tmp_path / name).stat().st_size > 1000 for name in ("a.svg", "b.png", "c.png", "d.html")
    )
    with pytest.raises(cf.Error, match="position"):
        found.plot("positon(tip)")
    with pytest.raises(cf.Error, match="array"):
        found["tau"]


def test_a_metre_of_a_path_is_as_long_on_both_axes_and_columns_have_units() -> None:
    found = cf.kinematics(two_links(), {"upper": "t", "lower": "2*t"}, T, ["tip"])
    figure = found.plot("position(tip)[2]", over="position(tip)[1]")
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == (
        "position(tip)[1] (m)",
        "position(tip)[2] (m)",
    )
    assert axes.get_aspect() == 1
    assert np.array_equal(axes.lines[0].get_ydata(), found["position(tip)"][:, 1])
    (axes,) = found.plot("qd.lower", over="q.upper").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("q.upper (rad)", "qd.lower (rad/s)")
    assert axes.get_aspect() == "auto"
    (axes,) = found.plot("singular_values(tip)[1]", over="position(tip)[1]").axes
    assert axes.get_aspect() == "auto"


def test_rows_without_an_order_are_dots_and_branches_are_lines_of_their_own() -> None:
    reach = cf.workspace(two_links(), "tip", count=30)
    (axes,) = reach.plot("position[2]", over="position[1]").axes
    assert axes.lines[0].get_linestyle() == "None"
    assert len(axes.lines[0].get_xdata()) == 30
    path = {"tip": {"x": "1.2 + 0.2*t", "y": 0.3}}
    both = cf.inverse_kinematics(two_links(), path, T, q0=[-0.4, 1.2], branches="all")
    (axes,) = both.plot("q.lower").axes
    drawn = [line for line in axes.lines if len(line.get_xdata()) == len(T)]
    assert len(drawn) == 2
    for line, branch in zip(drawn, (1, 2), strict=True):
        rows = both["branch"] == branch
        assert np.array_equal(line.get_xdata(), both["t"][rows])
        assert np.array_equal(line.get_ydata(), both["q"][rows, 1])
    one = cf.inverse_kinematics(two_links(), {"tip": {"x": 1.2, "y": 0.3}}, branches="all")
    (axes,) = one.plot("q.lower").axes
    assert axes.lines[0].get_linestyle() == "None"


def test_arguments_are_those_of_the_functions() -> None:
    for task in TASKS:
        assert "mechanism" not in arguments_of(task)
    assert "times" in arguments_of("kinematics")


EVERY_TASK: dict[str, dict[str, Any]] = {
    "kinematics": {"motion": {"crank": "3*t"}, "times": [0, 0.1, 0.2], "start": [0, 0.5, 1.2]},
    "workspace": {"of": "gripper", "count": 20},
    "inverse_dynamics": {"motion": {"crank": "t"}, "times": [0, 0.1, 0.2], "start": [0, 0.5, 1.2]},
    "inverse_kinematics": {"targets": {"gripper": [0.9, 0.3, 0.8]}},
    "statics": {"q": {"crank": 0.4}},
    "equilibria": {"starts": 20},
    "equilibrium_path": {"parameter": "g", "span": [9.8, 9.9], "q0": [-1.33, 0.93, -1.8]},
    "modes": {},
    "frequency_response": {
        "inputs": ["crank"],
        "outputs": ["rocker"],
        "frequencies": [0.5, 1, 2],
    },
    "root_locus": {"parameter": "g", "span": [9.8, 9.9], "count": 3},
    "periodic_motion": {
        "period": "2*pi/3",
        "motion": {"crank": "3*t"},
        "shift": {"crank": "2*pi", "coupler": "-2*pi"},
        "q0": [0, 0.5, 1.2],
    },
    "stability_limit": {
        "parameter": "coupler_mass",
        "span": [1, 1.2],
        "tolerance": 0.05,
        "of": {
            "task": "periodic_motion",
            "period": 1,
            "held": ["period"],
            "q0": [-1.33, 0.93, -1.8],
            "forces": {"crank": "(coupler_mass - 1.1)*der(crank)"},
        },
    },
    "lyapunov_exponents": {"t": 1, "blocks": 4, "q0": [0, 0.5, 1.2]},
    "sensitivities": {"parameters": ["g"], "q0": {"crank": 0.4}, "t": 0.1},
    "design": {
        "parameters": {"a": [0.15, 0.25]},
        "study": {"task": "statics", "q": {"crank": 0.4}},
        "goals": {"tau.crank": 1.5},
        "starts": 2,
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_arrays_table_plot_report_and_a_place_in_the_store(
    task: str, tmp_path: Path
) -> None:
    file = "six_axis_arm" if task in ("workspace", "inverse_kinematics") else "four_bar"
    mechanism = cf.read(ROOT / "examples" / f"{file}.toml")
    options = dict(EVERY_TASK[task])
    if task in ("modes", "frequency_response", "root_locus"):
        options["q"] = cf.equilibria(mechanism, starts=20)["q"][0].tolist()
    found = cf.analyse({"task": task, "mechanism": mechanism, **options})
    assert found.task == task
    assert found["q"].shape == (len(found), mechanism.nq)
    lines = found.table().splitlines()
    assert len(lines) == (len(found) + 1 if len(found) <= 25 else 27)
    assert (lines[-1] == f"25 of {len(found)} rows") == (len(found) > 25)
    assert found.report
    found.plot(file=tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size > 1000
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(cf.derive(mechanism, ["tau"]), "model")
        store.save_run(found, "model", "result")
        again = Result.load(store.run("model", "result"))
    assert (again.task, again.report, again.rows) == (task, found.report, found.rows)
    for name, array in found.arrays.items():
        np.testing.assert_array_equal(again[name], array)


# --- wrong input, and what must not change an answer ----------------------------------------------


def test_values_of_parameters_hold_for_the_geometry() -> None:
    builder = cf.Mechanism.builder("arm").parameter("l", 1)
    builder.segment("upper", axis="z", mass=1)
    builder.segment("lower", parent="upper", axis="z", position=["l", 0, 0], mass=1)
    arm = builder.build()
    still: dict[str, object] = {"upper": "0", "lower": "0"}
    found = cf.kinematics(arm, still, [0.0], ["lower"], values={"l": 3})
    assert found["position(lower)"].tolist() == [[3, 0, 0]]
    with pytest.raises(cf.Error, match="no parameter"):
        cf.kinematics(arm, still, [0.0], ["lower"], values={"length": 3})


def test_a_motion_that_opens_a_loop_has_no_kinematics() -> None:
    with pytest.raises(cf.Error, match="do not fit"):
        cf.kinematics(cf.read(FOUR_BAR), {"crank": "t", "coupler": "t", "rocker": "t"}, T)


def test_a_motion_may_touch_a_barrier_but_not_pass_it() -> None:
    builder = cf.Mechanism.builder("block").segment("x", joint="prismatic", axis="x", mass=1)
    block = builder.constraint("unilateral", "1 - x", name="wall").build()
    assert cf.kinematics(block, {"x": "t"}, [0.0, 1.0])["q"].tolist() == [[0], [1]]
    with pytest.raises(cf.Error, match="'wall' is passed"):
        cf.kinematics(block, {"x": "t"}, [0.0, 1.1])


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_a_linkage_stays_assembled_the_same_way_at_few_times(count: int) -> None:
    found = cf.kinematics(
        cf.read(FOUR_BAR), {"crank": "3*t"}, np.linspace(0, 2, count), ["coupler"], start=START
    )
    pose = found["position(coupler)"] + found["rotation(coupler)"] @ [0.1, 0.1, 0]
    expected = np.array([coupler_point(angle) for angle in found["q"][:, 0]])
    np.testing.assert_allclose(pose[:, :2], expected, atol=1e-10)


@pytest.mark.parametrize("times", [[0, 0, 0, 0, 1], [1, 0.5, 0], [0, 1, 0.5, 2, 3]])
def test_work_needs_times_that_grow(times: list[float]) -> None:
    with pytest.raises(cf.Error, match="do not grow"):
        cf.inverse_dynamics(two_links(), {"upper": "t", "lower": "0"}, times)


def test_a_motion_has_times() -> None:
    for task in (cf.kinematics, cf.inverse_dynamics):
        with pytest.raises(cf.Error, match="no times"):
            task(two_links(), {"upper": "t", "lower": "0"}, [])


@pytest.mark.parametrize("smoothing", [-1, float("nan"), "much", True])
def test_smoothing_is_a_number_of_at_least_zero(smoothing: Any) -> None:
    numbers: dict[str, object] = {"upper": list(range(8)), "lower": list(range(8))}
    with pytest.raises(cf.Error, match="smoothing"):
        cf.kinematics(two_links(), numbers, np.arange(8.0), smoothing=smoothing)


def test_times_of_numbers_that_no_spline_can_follow() -> None:
    crowded = {"t": [0, 1e-320, 2, 3, 4, 5], "values": [0, 1, 2, 3, 4, 5], "smoothing": 0.1}
    with pytest.raises(cf.Error, match="no spline"):
        cf.kinematics(two_links(), {"upper": crowded, "lower": "0"}, [0, 1])


def test_a_table_of_motions_may_have_a_mark_and_remarks(tmp_path: Path) -> None:
    rows = "".join(f"{k},{k * k},0\n" for k in range(8))
    path = tmp_path / "motion.csv"
    path.write_text(f"\ufeff# measured\nt,upper,lower\n{rows}", encoding="utf-8")
    found = cf.kinematics(two_links(), path, smoothing=0)
    np.testing.assert_allclose(found["qd"][:, 0], 2 * np.arange(8.0), atol=1e-9)


def test_where_no_joint_is_basic_the_motion_names_the_drives() -> None:
    """The torque is that of a simulation whose crank moves as prescribed."""
    crank, t = slider_crank(), np.linspace(0, 1, 41)
    found = cf.inverse_dynamics(crank, {"crank": "0.5 + 6*t"}, t, start=[0.5, -0.7, 1])
    assert found.report[0] == "1 drive for 1 freedom: the drives are determined"
    moved = cf.simulate(crank, t=1, t_eval=t, q0=found["q"][0], motion={"crank": "0.5 + 6*t"})
    np.testing.assert_allclose(found["tau"][:, 0], moved.motion_forces["crank"], atol=1e-8)


def test_single_columns_have_names() -> None:
    crank = slider_crank()
    found = cf.inverse_dynamics(crank, {"crank": "3*t"}, T, ["crank"], start=[0, 0.1, 1])
    columns = found.columns(["t", "power.crank", "qd"])
    assert list(columns) == ["t", "power.crank", "qd.crank", "qd.rod", "qd.slider"]
    np.testing.assert_array_equal(columns["power.crank"], found["tau"][:, 0] * 3)
    assert found.table(["tau.crank"]).splitlines()[0].split() == ["tau.crank"]
    with pytest.raises(cf.Error, match=r"tau\.cranc"):
        found.columns(["tau.cranc"])


def test_a_result_and_its_file_are_motions(tmp_path: Path) -> None:
    arm, t = two_links(), np.linspace(0, 1, 21)
    path = {"tip": ["1.2 + 0.2*t", "0.3", 0]}
    found = cf.inverse_kinematics(arm, path, t, q0=[-0.4, 1.2])
    found.save(tmp_path / "path.csv")
    for source in (found, tmp_path / "path.csv"):
        needed = cf.inverse_dynamics(arm, source)
        np.testing.assert_array_equal(needed["qdd"], found["qdd"])
    away = {"tip": ["1.2 + t", "0.3", 0]}
    short = cf.inverse_kinematics(arm, away, t, q0=[-0.4, 1.2])
    with pytest.raises(cf.Error, match=r"no rates or accelerations at t = 0\.8"):
        cf.inverse_dynamics(arm, short)
    good = short["reached"] == 1
    for times in (t[good], np.linspace(0, t[good][-1], good.sum())):
        needed = cf.inverse_dynamics(arm, short, times)
        np.testing.assert_array_equal(needed["q"], short["q"][good])
        np.testing.assert_array_equal(needed["t"], t[good])
    both = cf.inverse_kinematics(arm, path, t, branches="all")
    with pytest.raises(cf.Error, match="several motions"):
        cf.inverse_dynamics(arm, both)
