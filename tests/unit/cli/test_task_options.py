"""Options of the commands of tasks: NAME=VALUE, lists, files of JSON, columns of table and plot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf

ROOT = Path(__file__).parents[3]
BAR = str(ROOT / "examples" / "four_bar.toml")
TIMES = ("--times", "0:1:5")


def test_options_are_written_as_tables_or_as_names_with_values(call: Callable[..., Any]) -> None:
    start = ("--start", "0,0.5,1.2")
    short = call("kinematics", BAR, "--motion", "crank=3*t", *TIMES, *start, "--json")
    motion, listed = '{"crank": "3*t"}', "[0, 0.5, 1.2]"
    long = call("kinematics", BAR, "--motion", motion, *TIMES, "--start", listed, "--json")
    assert short.document == long.document
    statics = call("statics", BAR, "--q", "crank=pi/4", "--driven", "crank,rocker", "--json")
    held = cf.statics(BAR, {"crank": np.pi / 4}, ["crank", "rocker"])
    np.testing.assert_allclose(statics.document["arrays"]["tau"], held["tau"])
    alone = call("statics", ROOT / "examples" / "portal_crane.toml", "--q", "4", "--json")
    assert alone.document["arrays"]["q"] == [[4]]
    law = call("statics", BAR, "--q", "crank=1", "--forces", "rocker=max(1,2)", "--json")
    pushed = cf.statics(BAR, {"crank": 1}, forces={"rocker": "2"})
    np.testing.assert_allclose(law.document["arrays"]["tau"], pushed["tau"])


def test_a_table_may_stand_in_a_file(call: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "targets.json").write_text('{"coupler": {"x": 0.1}}')
    options = ("inverse-kinematics", BAR, "--q0", "1,-1,2", "--json", "--targets")
    from_file = call(*options, str(tmp_path / "targets.json")).document
    assert from_file["arrays"] == call(*options, '{"coupler": {"x": 0.1}}').document["arrays"]


@pytest.mark.parametrize(("x", "code"), [("0.2, 9", 0), ("8, 9", 1)])
def test_targets_of_which_none_is_reached_fail(call: Callable[..., Any], x: str, code: int) -> None:
    poses = ", ".join(f"[{one}, 0, 0]" for one in x.split(","))
    found = call("inverse-kinematics", BAR, "--targets", f'{{"coupler": [{poses}]}}', "--json")
    assert found.code == code
    assert found.document["arrays"]["reached"] == [1.0 - code, 0.0]


@pytest.mark.parametrize(("upper", "code"), [(20, 0), (0.001, 1)])
def test_a_design_that_cannot_be_fails(call: Callable[..., Any], upper: float, code: int) -> None:
    options = {
        "parameters": '{"crank_mass": [0.1, 1]}',
        "study": '{"task": "statics", "q": {"crank": 0.4}}',
        "minimise": "crank_mass",
        "constraints": f'{{"max(abs(tau.crank))": {{"upper": {upper}}}, "crank_mass": [0.2, 1]}}',
        "starts": "1",
    }
    words = [word for name, text in options.items() for word in (f"--{name}", text)]
    found = call("design", BAR, *words, "--json")
    assert found.code == code
    assert found.document["arrays"]["converged"] == [1.0 - code]
    drawn = call("design", BAR, *words, "--draw", "tau.leg", "--plot", "never.svg")
    assert drawn.code == 2
    assert "--draw" in drawn.err


def test_a_saved_result_is_a_motion(call: Callable[..., Any], tmp_path: Path) -> None:
    file = str(tmp_path / "path.csv")
    path = '{"coupler": {"x": "0.1 + 0.05*t"}}'
    found = call("inverse-kinematics", BAR, "--targets", path, *TIMES, "--out", file, "--json")
    drive = call("inverse-dynamics", BAR, "--motion", file, "--driven", "crank", "--json")
    assert drive.document["arrays"]["qdd"] == found.document["arrays"]["qdd"]


def test_table_and_plot_show_the_columns_that_are_named(
    call: Callable[..., Any], tmp_path: Path
) -> None:
    plot = tmp_path / "load.svg"
    drawn = ("--plot", plot, "--draw", "tau.crank", "--over", "q.crank")
    command = ("inverse-dynamics", BAR, "--motion", "crank=3*t", *TIMES, "--driven", "crank")
    result = call(*command, "--table", "t", "tau.crank", "power.crank", *drawn)
    lines = [line.split() for line in result.out.splitlines()]
    first = lines.index(["t", "tau.crank", "power.crank"])
    assert [float(row[2]) for row in lines[first + 1 : first + 6]] == pytest.approx(
        [3 * float(row[1]) for row in lines[first + 1 : first + 6]], rel=1e-4
    )
    assert "tau.crank" in plot.read_text()
    with_commas = call(*command, "--table", "t,tau.crank", "power.crank")
    assert with_commas.out.splitlines()[-5:] == result.out.splitlines()[first + 1 : first + 6]
    wrong = call(*command, "--table", "tau.cranc")
    assert wrong.code == 2
    assert "tau.cranc" in wrong.err


def test_remedies_are_those_of_the_command_line(call: Callable[..., Any]) -> None:
    result = call("kinematics", BAR, "--motion", "crank=3*t")
    assert result.code == 2
    assert "--times" in result.err
    assert "linspace" not in result.err
    broken = call("kinematics", BAR, "--motion", '{"crank": "3*t"', *TIMES)
    assert "not JSON" in broken.err


def test_sensitivities_of_a_scenario_and_of_a_mechanism(call: Callable[..., Any]) -> None:
    ball = str(ROOT / "examples" / "scenarios" / "bouncing_ball.toml")
    found = call("sensitivities", ball, "--parameters", "g", "--t", "0,1", "--json")
    other = cf.sensitivities(ball, ["g"], t=1)
    np.testing.assert_allclose(found.document["arrays"]["d(q)"], other["d(q)"])
    assert found.document["facts"]["by"] == ["q0.height", "qd0.height", "g"]
    options = ("--q0", "crank=0.4", "--t", "0.1", "--objective", "crank", "--initial", "q0.crank")
    found = call("sensitivities", BAR, "--parameters", "a,b", *options, "--json")
    given: dict[str, Any] = {"q0": {"crank": 0.4}, "t": 0.1, "objective": "crank"}
    other = cf.sensitivities(BAR, ["a", "b"], ["q0.crank"], **given)
    assert found.document["facts"]["gradient"] == other.facts["gradient"]
    assert call("sensitivities", BAR, "--parameters", "aa").code == 2


def test_several_names_are_held(call: Callable[..., Any]) -> None:
    twice = call("equilibria", BAR, "--starts", "1", "--held", "crank,crank")
    assert twice.code == 2
    assert "crank is given twice" in twice.err


def test_modes_of_a_file_of_equilibria(call: Callable[..., Any], tmp_path: Path) -> None:
    rest, page = tmp_path / "rest.npz", tmp_path / "mode.html"
    call("equilibria", BAR, "--starts", "20", "--out", rest)
    found = call("modes", BAR, "--state", rest, "--animate", page, "--mode", "2", "--json")
    own = cf.modes(BAR, cf.equilibria(BAR, starts=20))
    assert found.document["arrays"]["pole_real"] == pytest.approx(own["pole_real"])
    assert page.stat().st_size > 10_000
    wrong = call("modes", BAR, "--state", rest, "--animate", page, "--force", "--mode", "x")
    assert wrong.code == 2
    assert "--mode" in wrong.err
    beyond = call("modes", BAR, "--state", rest, "--animate", page, "--force", "--mode", "9")
    assert (beyond.code, "--mode" in beyond.err) == (2, True)
    inputs = ("--inputs", "crank", "--outputs", "rocker", "--frequencies", "0.5,3", "--json")
    several = call("frequency-response", BAR, "--state", rest, *inputs)
    assert (several.code, "--row: there are 4 equilibria" in several.err) == (2, True)
    third = call("frequency-response", BAR, "--state", rest, "--row", "3", *inputs)
    own = cf.frequency_response(BAR, ["crank"], ["rocker"], [0.5, 3], state=rest, row=3)
    assert np.ravel(third.document["arrays"]["real"]) == pytest.approx(own["real"].ravel())
    along = ("--parameter", "k", "--span", "0,1", "--count", "2", "--forces", "crank=-k*der(crank)")
    open_ = call("root-locus", BAR, "--state", rest, *along)
    assert (open_.code, "--row: there are 4 equilibria" in open_.err) == (2, True)
    locus = call("root-locus", BAR, "--state", rest, "--row", "3", *along, "--json")
    wanted = cf.root_locus(
        BAR, "k", (0, 1), count=2, state=rest, row=3, forces={"crank": "-k*der(crank)"}
    )
    assert locus.document["arrays"]["pole_real"] == pytest.approx(wanted["pole_real"])
    third_pose = cf.equilibria(BAR, starts=20)["q"][2]
    assert wanted["q"][0] == pytest.approx(third_pose, abs=1e-6)
    none = call("modes", BAR, "--q", "crank=0.4")
    assert none.code == 2
    assert "no equilibrium" in none.err


def test_states_and_inputs_of_oscillations(call: Callable[..., Any]) -> None:
    disc = str(ROOT / "examples" / "rolling_disc.toml")
    along = ("--parameter", "v", "--span", "0.5,1.5", "--count", "3", "--qd", "x=v,phi=v/0.3")
    found = call("root-locus", disc, *along, "--json").document
    assert found["facts"]["crossings"][0][0] == pytest.approx(np.sqrt(9.81 * 0.1), rel=1e-9)
    steady = ("--qd", "x=1.2,phi=4", "--outputs", "psi,theta", "--frequencies", "0.2,1", "--json")
    both = call("frequency-response", disc, "--inputs", "theta=0.01,phi=0", *steady).document
    each = call("frequency-response", disc, "--inputs", "theta,phi", *steady).document
    sizes = np.array(each["arrays"]["amplitude"])[:, :, 0] / 100
    np.testing.assert_allclose(both["arrays"]["amplitude"], sizes)
    unknown = call("root-locus", disc, "--parameter", "w", "--span", "0,1")
    assert unknown.code == 2
    assert "there is no parameter 'w'" in unknown.err
