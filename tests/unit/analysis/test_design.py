"""Designs against closed forms and independent searches; derivatives; refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis import DesignResult, Result, Task, TaskInterrupted
from chainform.readers import read_text

EXAMPLES = Path(__file__).parents[3] / "examples"


def balanced_arm() -> cf.Mechanism:
    """An arm of 2 kg, its mass centre 0.4 m from the joint, and a counterweight behind it."""
    arm = cf.Mechanism.builder("arm").parameter("mc", value=1).parameter("r", value=0.3)
    arm.segment("arm", axis="y", mass=2, com=[0.4, 0, 0])
    arm.segment("weight", parent="arm", joint="fixed", position=["-r", 0, 0], mass="mc")
    return arm.build()


POSES = {"task": "statics", "q": {"arm": np.linspace(0.0, 3.0, 7).tolist()}}


def design(*args: Any, **options: Any) -> DesignResult:
    found = cf.design(*args, **{"starts": 2, **options})
    assert isinstance(found, DesignResult)
    return found


def test_a_counterweight_balances_an_arm_in_all_poses() -> None:
    # m 0.4 = mc r: the distance is 0.4 m with 2 kg, whatever the poses.
    for aim in ({"minimise": "max(abs(tau.arm))"}, {"minimise": "mean(tau.arm^2)"}):
        found = design(balanced_arm(), {"r": [0.1, 1.5]}, POSES, **aim)
        assert abs(found["r"][0] - 0.8) < 1e-6, aim
        assert found.facts["converged"]
        assert found.facts["derivative_deviation"] < 1e-8
        assert found.after is not None
        assert np.abs(found.after["tau"]).max() < 1e-5
        r = next(p for p in found.mechanism.parameters if p.name == "r")
        assert float(r.value or 0) == found["r"][0]


def test_the_lightest_counterweight_has_its_bounds_and_rates() -> None:
    # |2 0.4 - mc r| 9.81 <= 1.962 with r <= 0.5: mc = (0.8 - 0.2) / 0.5, and d mc / d bound.
    found = design(
        balanced_arm(),
        {"mc": [0.1, 3], "r": [0.1, 0.5]},
        POSES,
        minimise="mc",
        constraints={"max(abs(tau.arm))": [None, 1.962]},
    )
    assert np.allclose([found["mc"][0], found["r"][0]], [1.2, 0.5], atol=1e-6)
    rates = {(name, side): rate for name, side, rate in found.facts["multipliers"]}
    assert abs(rates["max(abs(tau.arm))", "upper"] + 1 / (9.81 * 0.5)) < 1e-6
    assert abs(rates["r", "upper"] + 1.2 / 0.5) < 1e-5
    assert any("r: 0.3 before, 0.5 after, its upper bound" in line for line in found.report)


@pytest.mark.slow
def test_what_cannot_be_reached_is_named() -> None:
    found = design(
        balanced_arm(),
        {"mc": [0.1, 1], "r": [0.1, 0.5]},
        POSES,
        minimise="mc",
        constraints={"max(abs(tau.arm))": [None, 1]},
    )
    assert not found["converged"].any()
    assert found["violation"][0] == pytest.approx((0.8 - 0.5) * 9.81 - 1, abs=1e-6)
    text = "\n".join(found.report)
    assert "NOT converged: infeasible: max(abs(tau.arm)) <= 1 is missed by 1.94" in text


def test_a_spring_balances_a_door() -> None:
    # A flap of weight m g c; the spring k between a point a above and one b along it, of no length
    # at rest, holds it in all poses where k a b = m g c.
    flap = cf.Mechanism.builder("flap").parameter("k", value=100)
    flap.segment("flap", axis="y", mass=3, com=[0.5, 0, 0])
    flap.spring(
        stiffness="k",
        rest=0,
        ends=(
            {"segment": "ground", "point": [0, 0, 0.4]},
            {"segment": "flap", "point": [0.3, 0, 0]},
        ),
    )
    poses = {"task": "statics", "q": {"flap": [-1.0, -0.5, 0.0, 0.6, 1.1]}}
    found = design(flap.build(), {"k": [10, 500]}, poses, goals={"tau.flap": 0})
    assert found["k"][0] == pytest.approx(3 * 9.81 * 0.5 / (0.4 * 0.3), rel=1e-9)


def test_the_largest_of_rows_is_least_where_two_are_equal() -> None:
    # With 0.1 m at rest the spring balances no two poses; the torque by hand, on a fine grid of k.
    task = Task.read(EXAMPLES / "tasks" / "balanced_flap.toml")
    q = np.array(task.arguments["study"]["q"]["flap"], dtype=np.float64)
    found = design(
        task.mechanism, {"k": [10, 500]}, task.arguments["study"], minimise="max(abs(tau.flap))"
    )
    length = np.sqrt(0.4**2 + 0.3**2 + 2 * 0.4 * 0.3 * np.sin(q))
    lift = 0.4 * 0.3 * np.cos(q) * (1 - 0.1 / length)
    k = np.linspace(140, 190, 50_001)
    worst = np.abs(k[:, None] * lift - 3 * 9.81 * 0.5 * np.cos(q)).max(axis=1)
    assert found["k"][0] == pytest.approx(k[np.argmin(worst)], abs=2e-3)
    assert found["objective"][0] == pytest.approx(worst.min(), abs=1e-4)
    assert found.after is not None
    torque = np.sort(np.abs(found.after["tau"][:, 0]))
    assert torque[-1] == pytest.approx(torque[-2], rel=1e-6)
    assert found.facts["converged"]


def path_linkage() -> cf.Mechanism:
    text = (EXAMPLES / "four_bar.toml").read_text(encoding="utf-8")
    return read_text(text.replace("[parameters]\n", "[parameters]\nu = 0.2\nv = 0.1\n"), "toml")


TRUE = {"a": 0.2, "b": 0.45, "c": 0.38, "u": 0.22, "v": 0.13}


def path_study(t: Any) -> dict[str, Any]:
    pen = {"segment": "coupler", "point": ["u", "v", 0]}
    motion = {"task": "kinematics", "motion": {"crank": "t"}, "t": t, "frames": {"pen": pen}}
    return {**motion, "start": [0, 0.5, 1.2]}


def coupler_points(t: Any, a: float, b: float, c: float, u: float, v: float) -> Any:
    """The path of a coupler point by circles that meet, in complex numbers; d = 0.6."""
    A = a * np.exp(1j * t)
    span = 0.6 - A
    length = np.abs(span)
    angle = np.angle(span) + np.arccos((length**2 + b**2 - c**2) / (2 * length * b))
    P = A + (u + 1j * v) * np.exp(1j * angle)
    return np.stack([P.real, P.imag], axis=1)


@pytest.mark.slow
def test_a_path_generator_goes_through_given_points() -> None:
    t = np.linspace(0, 2 * np.pi, 9)[:-1]
    wanted = coupler_points(t, **TRUE)
    found = design(
        path_linkage(),
        {"a": [0.1, 0.25], "b": [0.4, 0.6], "c": [0.3, 0.5], "u": [0, 0.4], "v": [0, 0.3]},
        path_study(t),
        goals={"position(pen)[1]": wanted[:, 0], "position(pen)[2]": wanted[:, 1].tolist()},
    )
    assert [found[name][0] for name in TRUE] == pytest.approx(list(TRUE.values()), abs=1e-7)
    assert found.facts["derivative_deviation"] < 1e-7


@pytest.mark.slow
def test_where_loops_do_not_close_the_search_goes_another_way() -> None:
    # With b = 0.5, c = 0.4, d = 0.6 the linkage opens at half a turn where a + d > b + c.
    t = np.linspace(np.pi - 1, np.pi, 3)
    found = design(
        path_linkage(),
        {"a": {"lower": 0.1, "upper": 0.6, "start": 0.15}},
        path_study(t),
        minimise="-a - first(position(pen)[1])/10",
        starts=1,
    )
    assert found["a"][0] == pytest.approx(0.3, abs=1e-3)
    assert not found["converged"][0]
    assert "the study fails beyond" in found.facts["status"][0]


def test_an_equilibrium_is_brought_to_a_place() -> None:
    # k (q - rest) = m g l cos(q) at q = 0.5, with the rest to be found.
    bar = cf.Mechanism.builder("bar").parameter("rest", value=0.2)
    bar.segment("bar", axis="y", mass=1, com=[0.5, 0, 0])
    bar.spring(joint="bar", stiffness=20, rest="rest")
    found = design(
        bar.build(),
        {"rest": [-1, 1]},
        {"task": "equilibria", "starts": 5},
        goals={"first(q.bar)": 0.5},
        starts=1,
    )
    assert found["rest"][0] == pytest.approx(0.5 - 9.81 * 0.5 * np.cos(0.5) / 20, abs=1e-8)


def test_drives_along_a_motion() -> None:
    # A drive that a spring takes over: tau = -m w^2 x + k x vanishes with k = m w^2.
    slide = cf.Mechanism.builder("slide", gravity=[0, 0, 0]).parameter("k", value=10)
    slide.segment("x", joint="prismatic", axis="x", mass=2)
    slide.spring(joint="x", stiffness="k", rest=0)
    t = np.linspace(0, 2, 41)
    study = {"task": "inverse_dynamics", "motion": {"x": "0.1*sin(3*t)"}, "t": t}
    for aim in (
        "rms(tau.x - 0.1)",
        "integral(tau.x^2)",
        "last(energy) + mean(power.x^2) - first(energy)",
    ):
        found = design(slide.build(), {"k": [1, 100]}, study, minimise=aim, starts=1)
        if aim.startswith("integral"):
            assert found["k"][0] == pytest.approx(18, abs=1e-4)
        assert found.facts["derivative_deviation"] < 1e-6, aim


def test_a_start_that_is_best_already_and_wide_bounds() -> None:
    arm = balanced_arm()
    for aim in ({"minimise": "mean(tau.arm^2)"}, {"goals": {"tau.arm": 0}}):
        best = {"r": {"lower": 0.1, "upper": 1.5, "start": 0.8}}
        assert design(arm, best, POSES, starts=1, **aim).facts["converged"], aim
        wide = {"mc": {"lower": 0.001, "upper": 1e5, "start": 10}}
        found = design(arm, wide, POSES, starts=1, **aim)
        assert found["mc"][0] == pytest.approx(0.8 / 0.3, rel=1e-4), aim
        assert found.facts["converged"], aim


def test_a_wide_range_hides_neither_the_minimum_nor_its_place() -> None:
    """The slopes at drawn starts are a millionfold those near the minimum."""
    found = design(
        balanced_arm(), {"r": [0, 1e7]}, POSES, starts=3, minimise="mean((tau.arm - 1)^2)"
    )
    assert np.allclose(found["r"], found["r"][0], rtol=1e-6)
    assert 0.8 < found["r"][0] < 1
    assert not any("bound" in line for line in found.report)


@pytest.mark.parametrize("bounds", [[0, 1e12], [-1e12, 1e12], [1e-3, 1e12], [0, 1e7]])
def test_a_range_that_tells_no_size_needs_a_start(bounds: list[float]) -> None:
    """The minimum at 0.8 was found at 0, or at 1.2, and called converged."""
    arm = cf.Mechanism.builder("arm").parameter("r")
    arm.segment("arm", axis="y", mass=2, com=[0.4, 0, 0])
    arm.segment("weight", parent="arm", joint="fixed", position=["-r", 0, 0], mass=1)
    with pytest.raises(cf.Error, match="do not tell the size") as refusal:
        design(arm.build(), {"r": bounds}, POSES, minimise="mean(tau.arm^2)")
    assert "give a start" in str(refusal.value.remedy)
    for fitting in ([0, 100], {"lower": 0, "upper": 1e7, "start": 1}):
        found = design(arm.build(), {"r": fitting}, POSES, minimise="mean(tau.arm^2)")
        assert found["r"] == pytest.approx(0.8, rel=1e-6)


def test_goals_that_leave_parameters_open_say_so() -> None:
    found = design(balanced_arm(), {"r": [0.1, 1.5], "mc": [0.5, 2]}, POSES, goals={"tau.arm": 0})
    assert found["r"][0] * found["mc"][0] == pytest.approx(0.8, abs=1e-9)
    assert any("leave 1 combination of the parameters open" in line for line in found.report)


# --- motions --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_gains_of_a_slide_are_those_of_the_regulator() -> None:
    # The cost x^2 + r F^2 is least with kp = 1/sqrt(r) and kd = sqrt(2 m kp).
    found = cf.analyse(EXAMPLES / "tasks" / "slide_gains.toml")
    assert [found["kp"][0], found["kd"][0]] == pytest.approx([100, 20], rel=1e-3)
    assert found.facts["after"] == pytest.approx(
        0.1**2 * np.sqrt(2 * 2 * 1e-4**0.5) / 1.0, rel=1e-4
    )
    assert found.facts["derivative_deviation"] < 1e-7


@pytest.mark.slow
def test_the_flap_and_the_path_of_the_examples() -> None:
    flap = cf.analyse(EXAMPLES / "tasks" / "balanced_flap.toml")
    assert flap["k"][0] == pytest.approx(3 * 9.81 * 0.5 / (0.4 * 0.3), rel=1e-9)
    assert flap["rest"][0] < 1e-9
    path = cf.analyse(EXAMPLES / "tasks" / "path_generator.toml")
    assert [path[name][0] for name in TRUE] == pytest.approx(list(TRUE.values()), abs=1e-4)


def stop_drive() -> cf.Mechanism:
    """A mass that falls on a stop with a restitution, pushed by a force k."""
    drive = cf.Mechanism.builder("drive", gravity=[0, 0, 0]).parameter("k", value=3)
    limits = {"lower": -1, "upper": 0.5}
    drive.segment(
        "x", joint={"name": "x", "type": "prismatic", "axis": "x", "limits": limits}, mass=1
    )
    return drive.force("x", "k").build()


def test_a_force_brings_a_mass_off_a_stop_to_a_place() -> None:
    # x = k t^2/2 up to 0.5 m, then back with half the speed: v = sqrt(k), t = 1/sqrt(k).
    motion = {"simulate": {"t": 1.0, "stops": 0.5, "t_eval": [0, 0.5, 1]}}
    found = design(stop_drive(), {"k": [2, 4]}, motion, goals={"last(q.x)": 0.42}, starts=1)
    k = found["k"][0]
    left = 1 - 1 / np.sqrt(k)
    assert 0.5 - 0.5 * np.sqrt(k) * left + k * left**2 / 2 == pytest.approx(0.42, abs=1e-7)
    assert found.facts["derivative_deviation"] < 1e-6


def test_quantities_of_a_motion_are_outputs() -> None:
    # A pendulum's tip after a swing: the length with which it is at x = 0.
    bar = cf.Mechanism.builder("bar").parameter("l", value=0.6)
    bar.segment("bar", axis="y", mass=1, com=[0, 0, "-l"], inertia=[0, 0.001, 0])
    swing = bar.frame("tip", segment="bar", point=[0, 0, "-l"]).build()
    study = {"simulate": {"t": 0.4, "q0": [0.2]}, "outputs": ["pose(tip)"]}
    found = design(swing, {"l": [0.4, 0.9]}, study, goals={"last(pose(tip)[1,4])": 0}, starts=1)
    assert found.facts["after"] < 1e-18
    assert found.facts["derivative_deviation"] < 1e-6
    message = refused(swing, {"l": [0.4, 0.9]}, study, minimise="last(tau.bar)")
    assert "tau of a motion is not differentiated" in message


# --- what is refused ------------------------------------------------------------------------------


def refused(*args: Any, **options: Any) -> str:
    with pytest.raises(cf.Error) as caught:
        cf.design(*args, **{"starts": 1, **options})
    assert caught.value.remedy
    return f"{caught.value.element}: {caught.value.message}"


@pytest.mark.parametrize(
    ("parameters", "options", "message"),
    [
        ({}, {"minimise": "r"}, "no parameter may change"),
        ({"rr": [0, 1]}, {"minimise": "r"}, "there is no parameter 'rr'"),
        ({"r": [0.3, 0.3]}, {"minimise": "r"}, "it has no freedom"),
        ({"r": [0.4, 0.3]}, {"minimise": "r"}, "no value lies between"),
        ({"r": {"lower": 0, "upper": 1, "start": 2}}, {"minimise": "r"}, "out of its bounds"),
        ({"r": [0.1, 1]}, {"minimise": "mean(tau.leg)"}, "no column or parameter 'tau.leg'"),
        ({"r": [0.1, 1]}, {"minimise": "mean(abs(tau.arm))"}, "abs has a corner"),
        ({"r": [0.1, 1]}, {"minimise": "min(tau.arm)"}, "no bound takes its place"),
        ({"r": [0.1, 1]}, {"minimise": "tau.arm"}, "it has a value for each of 7 rows"),
        ({"r": [0.1, 1]}, {"minimise": "mean(tau.arm"}, "a bracket is not closed"),
        ({"r": [0.1, 1]}, {"minimise": "mc"}, "mc depends on none of r"),
        ({"r": [0.1, 1]}, {"minimise": "r", "goals": {"r": 1}}, "either something to minimise"),
        ({"r": [0.1, 1]}, {}, "either something to minimise"),
        ({"r": [0.1, 1]}, {"goals": {"tau.arm": [0, 1]}}, "there are 2 values for 7 rows"),
        ({"r": [0.1, 1]}, {"goals": {"max(tau.arm)": 1}}, "has corners"),
        ({"r": [0.1, 1]}, {"minimise": "r", "constraints": {"r": [1, 0]}}, "nothing lies between"),
        ({"r": [0.1, 1]}, {"minimise": "r", "constraints": {"r": [None, None]}}, "has no bound"),
        (
            {"r": [0.1, 1]},
            {"minimise": "r", "constraints": {"max(tau.arm)": [0, 1]}},
            "takes the upper bound only",
        ),
        ({"r": [0.1, 1]}, {"minimise": "r", "derivatives": "some"}, "there is no derivatives"),
        ({"r": [0.1, 1]}, {"minimise": "rms(tau.arm - tau.arm)"}, "no finite derivative"),
        ({"r": [0.1, 1]}, {"minimise": "mean(" * 30 + "r" + ")" * 30}, "too many reductions"),
        ({"r": [0.1, 1]}, {"minimise": "log(0 - r)"}, "no finite value"),
        ({"r": [0.1, 1]}, {"goals": {"tau": [[0], [1, 2]]}}, "different lengths"),
        ({"r": [0.1, 1]}, {"goals": {"tau": [[0, 1]] * 7}}, "each row has 2 numbers"),
        ({"r": [-1e300, 1]}, {"minimise": "r"}, "the number is below"),
        ({"r": [0, 1e9]}, {"minimise": "r"}, "times as far apart as its start"),
        ({"r": "0.1"}, {"minimise": "r"}, "expected a table"),
    ],
)
def test_bad_input_is_named(parameters: Any, options: Any, message: str) -> None:
    assert message in refused(balanced_arm(), parameters, POSES, **options)


def test_options_of_a_motion_are_checked() -> None:
    for options, message in (({"tt": 2}, "unknown field 'tt'"), ({"values": {}}, "a design gives")):
        study = {"simulate": {"t": 1, **options}}
        assert message in refused(balanced_arm(), {"r": [0.1, 1]}, study, minimise="last(q.arm^2)")


def test_sampled_controllers_have_differences_alone() -> None:
    control = {"arm": {"type": "pd", "kp": "10*r", "kd": 2, "sample": 0.01}}
    study = {"simulate": {"t": 0.5, "q0": [0.3], "controllers": control}}
    aim = {"minimise": "last(q.arm^2)"}
    with pytest.raises(cf.Error, match="no variational equations") as caught:
        design(balanced_arm(), {"r": [0.1, 1]}, study, **aim)
    assert 'derivatives="differences"' in (caught.value.remedy or "")
    found = design(
        balanced_arm(), {"r": [0.1, 1]}, study, derivatives="differences", starts=1, **aim
    )
    assert found.facts["after"] < found.facts["before"]


def test_a_parameter_on_which_nothing_depends_is_refused() -> None:
    arm = balanced_arm()
    poses = {"task": "kinematics", "motion": {"arm": "t"}, "t": [0, 1], "frames": ["weight"]}
    aim = {"minimise": "mean(position(weight)[1]^2)"}
    message = refused(arm, {"r": [0.1, 1], "mc": [1, 2]}, poses, **aim)
    assert "nothing depends on mc" in message


def test_an_unknown_option_is_refused() -> None:
    message = refused(balanced_arm(), {"r": [0.1, 1]}, POSES, minimise="mean(tau.arm^2)", seeds=3)
    assert "unknown field 'seeds'" in message


def test_a_parameter_of_an_axis_is_refused() -> None:
    arm = cf.Mechanism.builder("arm").parameter("s", value=1)
    arm.segment("arm", axis=[0, "s", 1], mass=1, com=[0.4, 0, 0])
    assert "became a number" in refused(
        arm.build(), {"s": [0.5, 2]}, POSES, minimise="mean(tau.arm^2)"
    )


def test_a_study_that_fails_at_the_start_says_why() -> None:
    study = path_study(np.linspace(0, 6, 5))
    start = {"a": {"lower": 0.1, "upper": 0.6, "start": 0.55}}
    message = refused(path_linkage(), start, study, minimise="mean(position(pen)[1])")
    assert "the study fails at the start: the loops cannot be closed at t = 0 s" in message


def test_differences_are_taken_where_they_are_wanted_and_said() -> None:
    study = {"task": "workspace", "of": "weight", "count": 5, "seed": 1}
    aim = {"minimise": "mean((position[1]^2 + position[3]^2 - 0.25)^2)"}
    assert "workspace is not differentiated" in refused(
        balanced_arm(), {"r": [0.1, 1]}, study, **aim
    )
    found = design(
        balanced_arm(), {"r": [0.1, 1]}, study, derivatives="differences", starts=1, **aim
    )
    assert found["r"][0] == pytest.approx(0.5, abs=1e-4)
    assert "not exact" in found.report[-1]


@pytest.mark.slow
def test_frequencies_and_poles_by_differences() -> None:
    """A mass of 1 kg swings at 2 Hz; one of 2 kg with a damper fades by c/(2 m)."""
    slide = cf.Mechanism.builder("slide", gravity=[0, 0, 0])
    slide.parameter("k", value=20).parameter("c", value=0.1).parameter("m", value=1)
    slide.segment("x", joint="prismatic", axis="x", mass="m")
    slide.force("x", "-k*x - c*der(x)")
    options: dict[str, Any] = {"derivatives": "differences", "starts": 1}
    found = design(
        slide.build(), {"k": [10, 300]}, {"task": "modes"}, goals={"frequency": 2}, **options
    )
    assert found["k"][0] == pytest.approx((4 * np.pi) ** 2 + 0.05**2, rel=1e-6)
    locus = {"task": "root_locus", "parameter": "m", "span": [1, 2], "count": 3}
    found = design(slide.build(), {"c": [0.1, 2]}, locus, goals={"last(growth)": -0.2}, **options)
    assert found["c"][0] == pytest.approx(0.8, rel=1e-6)


def test_a_design_is_saved_drawn_and_interrupted(tmp_path: Path) -> None:
    found = design(balanced_arm(), {"r": [0.1, 1.5]}, POSES, minimise="mean(tau.arm^2)")
    found.save(tmp_path / "found.csv")
    again = Result.load(tmp_path / "found.csv")
    assert np.array_equal(again["r"], found["r"])
    assert again.report == found.report
    figure = found.plot(file=tmp_path / "found.svg")
    assert [len(ax.lines) for ax in figure.axes] in ([2], [3])
    calls: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        calls.append((done, total))
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(TaskInterrupted) as caught:
        design(balanced_arm(), {"r": [0.1, 1.5]}, POSES, minimise="mean(tau.arm^2)", progress=stop)
    assert len(caught.value.result) == 1
    assert calls[-1] == (1, 2)
