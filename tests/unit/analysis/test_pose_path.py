"""Paths of poses: references, branches, and stretches that are out of reach or singular."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

import chainform as cf
import zoo
from chainform.analysis import TaskInterrupted, motion_of
from chainform.analysis.poses import inverse_poses
from chainform.readers import read_text
from chainform.simulation import ConstraintResiduals
from unit.analysis.arms import differences, planar, poses
from unit.simulation.linkages import slider_crank

METHODS = ("newton", "closed_form", "dynamic")
TIMES = np.linspace(0, 2, 41)


@cache
def stanford(sign: int) -> cf.Mechanism:
    """Return the Stanford arm of Andrieiev and Dziuba, perhaps with its lateral shift reversed."""
    data = zoo.reference_data("stanford_arm")["mechanism"]
    shift = [0.5 * sign, 0, 0]
    bodies = [
        body | {"joint": body["joint"] | {"position_in_parent": shift}}
        if body["name"] == "L"
        else body
        for body in data["bodies"]
    ]
    return read_text(json.dumps({"mechanism": data | {"bodies": bodies}}), "json")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("place", [0, 1])
def test_the_stanford_arm_follows_the_astroid_as_the_reference_does(
    place: int, method: str
) -> None:
    path = zoo.reference_data("stanford_arm")["trajectories"][place]
    laws = [path["tip_path"][axis] for axis in "xyz"]
    q, qd, qdd = (np.array(path[name]) for name in ("q", "qd", "qdd"))
    found = cf.inverse_kinematics(
        stanford(path["d22_sign"]), {"C": laws}, path["t"], q0=q[0] + 0.05, method=method
    )
    assert np.abs(found["q"] - q).max() < 1e-9
    assert np.abs(found["qd"] - qd).max() < 1e-9
    assert np.abs(found["qdd"] - qdd).max() < 1e-9
    tip = poses(stanford(path["d22_sign"]), "C", q)[:, :3, 3]
    assert np.abs(tip - path["tip"]).max() < 1e-9


EPICYCLOID = ["0.4", "-0.2*cos(pi*t) - 0.3*cos(2*pi*t)", "0.2*sin(pi*t) - 0.3*sin(2*pi*t)"]
"""The path of Andrieiev and Dziuba 2023, (9), as seen from a shoulder that is 1 m high."""


def test_the_epicycloid_is_that_of_the_reference() -> None:
    path = zoo.reference_data("stanford_arm")["epicycloid_path"]
    t = np.array(path["t"])
    assert np.allclose(path["y"], -0.2 * np.cos(np.pi * t) - 0.3 * np.cos(2 * np.pi * t))
    assert np.allclose(path["z"], 1 + 0.2 * np.sin(np.pi * t) - 0.3 * np.sin(2 * np.pi * t))


@pytest.mark.slow
def test_an_epicycloid_by_all_eight_branches_of_a_puma() -> None:
    arm, t = zoo.reference("puma560"), np.linspace(0, 2, 201)
    targets = {"body6": {"position": EPICYCLOID, "rotation": {"rpy": [-1.6, 0.6, "0.2*sin(t)"]}}}
    found = cf.inverse_kinematics(arm, targets, t, method="closed_form", branches="all")
    assert found.facts["branches"] == 8
    assert found["reached"].all()
    q, qd, qdd = (found[name].reshape(8, 201, 6) for name in ("q", "qd", "qdd"))
    T = poses(arm, "body6", q)
    assert np.abs(T - T[0]).max() < 1e-9, "all branches are at the same path"
    place = np.stack([eval_law(law, t) for law in EPICYCLOID], axis=1)
    assert np.abs(T[0, :, :3, 3] - place).max() < 1e-9
    apart = np.abs(np.angle(np.exp(1j * (q[:, None] - q[None])))).max(axis=3)
    for a, b in zip(*np.triu_indices(8, 1), strict=True):
        assert apart[a, b].min() > 1e-2, "branches stay different"
    assert np.abs(np.diff(q, axis=1)).max() < 0.6, "no branch jumps"
    for branch in range(8):
        assert np.abs(differences(q[branch], 0.01) - qd[branch, 3:-3]).max() < 1e-4
        assert np.abs(differences(qd[branch], 0.01) - qdd[branch, 3:-3]).max() < 1e-2
    search = cf.inverse_kinematics(arm, targets, t[:1], branches="all", starts=300)
    assert search.facts["branches"] == 8


def eval_law(law: str, t: np.ndarray) -> np.ndarray:
    graph = motion_of(planar(2), {"j1": law, "j2": "0"}, t)
    return graph.q[:, 0]


@pytest.mark.parametrize("method", METHODS)
def test_a_path_that_leaves_the_reach_is_reported_with_its_place(method: str) -> None:
    targets = {"tip": ["1.2 + sin(pi*t/2)", 0.3, 0]}
    found = cf.inverse_kinematics(
        planar(2), targets, TIMES, q0=[0.6, -1.6], method=method, starts=9
    )
    (stretch,) = found.facts["stretches"]
    start = 2 / np.pi * np.arcsin(np.sqrt(1.8**2 - 0.3**2) - 1.2)
    assert stretch["kind"] == "unreachable"
    assert stretch["start"] == pytest.approx(start, abs=1e-7)
    assert stretch["end"] == pytest.approx(2 - start, abs=1e-7)
    assert stretch["amount"] == pytest.approx(np.hypot(2.2, 0.3) - 1.8, abs=1e-7)
    outside = (start < TIMES) & (2 - start > TIMES)
    assert np.array_equal(found["reached"] == 0, outside)
    assert np.isnan(found["qd"][outside]).all()
    assert np.isfinite(found["qd"][~outside]).all()
    assert any("out of reach" in line for line in found.report)


def test_the_branch_is_the_same_after_a_stretch_out_of_reach() -> None:
    targets = {"tip": {"x": "1.2 + sin(pi*t/2)", "y": 0.3}}
    for elbow in (-1.6, 1.6):
        found = cf.inverse_kinematics(planar(2), targets, TIMES, q0=[0.6, elbow], starts=9)
        ends = found["q"][[0, -1], 1]
        assert np.all(np.sign(ends) == np.sign(elbow))


def test_a_stretched_arm_is_singular_and_the_direction_is_named() -> None:
    targets = {"tip": {"x": "1.5 + 0.3*sin(pi*t/2)", "y": 0}}
    for t in (TIMES, TIMES[::2] + 0.01):
        found = cf.inverse_kinematics(planar(2), targets, t, q0=[0.3, -1.0])
        singular = [s for s in found.facts["stretches"] if s["kind"] == "singular"]
        assert len(singular) == 1
        assert singular[0]["start"] == pytest.approx(1, abs=2e-3)
        assert "1.00 tip x" in singular[0]["text"]


def test_poses_are_not_lost_where_ctrl_c_ends_the_search_for_reasons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(inverse_poses, "stretches_of", interrupted)
    with pytest.raises(TaskInterrupted) as caught:
        cf.inverse_kinematics(planar(2), {"tip": {"x": "1.2 + t", "y": 0}}, TIMES, q0=[0.3, -1.0])
    found = caught.value.result
    assert len(found) == len(TIMES)
    assert "places out of reach and singular ones were not looked for" in found.report
    assert found.facts["stretches"] == []


def test_limits_end_a_branch_and_are_named() -> None:
    narrow = planar(2, "-1.5", "1.5")
    targets = {"tip": {"x": "1.7 - 0.4*t", "y": 0}}
    found = cf.inverse_kinematics(narrow, targets, TIMES, q0=[0.3, -0.5], starts=9)
    (stretch,) = found.facts["stretches"]
    shortest = np.sqrt(1 + 0.64 + 1.6 * np.cos(1.5))
    assert stretch["start"] == pytest.approx((1.7 - shortest) / 0.4, abs=1e-7)
    assert stretch["end"] == 2
    assert "within the limits (j2 at its limit)" in stretch["text"]
    assert np.abs(found["q"]).max() <= 1.5


def test_a_stretch_is_divided_where_its_reason_changes() -> None:
    """A tip goes inwards along a line: within the limits, past them, past the reach, and back."""
    limited = planar(2, "-2", "2")
    t = np.linspace(0, 3, 61)
    targets = {"tip": {"x": "1.5*cos(t) + 1/2", "y": 0}}
    found = cf.inverse_kinematics(limited, targets, t, q0=[0.1, -0.3])
    shortest = np.sqrt(1 + 0.64 + 1.6 * np.cos(2))
    places = [np.arccos((x - 0.5) / 1.5) for x in (1.8, shortest, 0.2, -0.2)]
    borders = [(0, places[0]), (places[1], places[2]), (places[2], places[3]), (places[3], 3)]
    stretches = found.facts["stretches"]
    assert [(s["start"], s["end"]) for s in stretches] == [
        pytest.approx(pair, abs=1e-7) for pair in borders
    ]
    within = "out of reach within the limits (j2 at its limit);"
    for stretch, reason in zip(stretches, ("reach;", within, "reach;", within), strict=True):
        assert reason in stretch["text"]
        inside = (stretch["start"] <= t) & (t <= stretch["end"])
        assert found["position_error"][inside].max() == pytest.approx(stretch["amount"])


@pytest.mark.slow
def test_where_a_branch_ends_before_the_reach_does() -> None:
    """The way back is the way out, so the reach ends at the same distance."""
    arm, t = cf.read("examples/six_axis_arm.toml"), np.linspace(0, 2, 41)
    path = {"position": ["0.5 + 2.2*sin(pi*t/2)", 0.1, 0.6], "rotation": [3, 0, 0]}
    found = cf.inverse_kinematics(arm, {"gripper": path}, t, q0=[0, 0.5, -1.5, 0, 0.3, 0])
    early, beyond = found.facts["stretches"]
    assert "the branch ends here, and another one reaches the target" in early["text"]
    assert ": out of reach;" in beyond["text"]
    assert early["end"] == beyond["start"] == pytest.approx(2 - beyond["end"], abs=1e-7)
    middle = [(early["start"] + early["end"]) / 2]
    assert cf.inverse_kinematics(arm, {"gripper": path}, middle)["reached"].all()


def test_a_branch_that_ends_is_told_from_a_target_out_of_reach() -> None:
    limited = planar(2, "-0.9", "2.2")
    targets = {"tip": {"x": "1.2*cos(t)", "y": "1.2*sin(t)"}}
    t = np.linspace(0, 2.6, 27)
    found = cf.inverse_kinematics(limited, targets, t, q0=[-0.7, 1.7])
    assert found["reached"].all()
    elbow = cf.inverse_kinematics(planar(2), targets, t, branches="all")
    assert elbow.facts["branches"] == 2
    assert elbow.rows == "branch"
    assert np.allclose(elbow["q"][:27, 1], -elbow["q"][27:, 1])


@pytest.mark.slow
def test_all_branches_of_a_path_by_search_and_by_closed_form_are_the_same() -> None:
    arm, t = zoo.reference("puma560"), np.linspace(0, 0.5, 11)
    targets: dict[str, Any] = {"body6": {"position": EPICYCLOID, "rotation": [0.4, 0.9, 0.1]}}
    form, search = (
        cf.inverse_kinematics(arm, targets, t, method=m, branches="all", starts=200)
        for m in ("closed_form", "newton")
    )
    assert form.facts["branches"] == search.facts["branches"] == 8
    assert np.abs(form["q"] - search["q"]).max() < 1e-8
    assert np.abs(form["qdd"] - search["qdd"]).max() < 1e-4


def test_a_spring_comes_in_from_a_rough_start() -> None:
    found = cf.inverse_kinematics(
        planar(2), {"tip": {"x": "1 + 0.2*t", "y": 0.4}}, TIMES, q0=[-2.5, 0.05], method="dynamic"
    )
    assert found["reached"].all()
    assert found.facts["steps"] > 100
    h = TIMES[1]
    assert np.abs(differences(found["q"], h) - found["qd"][3:-3]).max() < 1e-6
    free = cf.inverse_kinematics(
        planar(3),
        {"tip": {"x": "1 + 0.2*t", "y": 0.4}},
        TIMES,
        method="dynamic",
        q0=[0.2, 0.9, 0.4],
    )
    assert free["reached"].all()
    assert "qd" not in free.arrays, "what the spring does with the rest has no exact rate"
    assert any("left out" in line for line in free.report)


def test_a_spring_that_lags_behind_leaves_the_path_on_one_branch() -> None:
    """Newton steps from poses far behind led now to one branch, now to another."""
    arm, t = cf.read("examples/six_axis_arm.toml"), np.linspace(0, 1, 21)
    laws = {"position": ["0.5 + 0.1*cos(2*t)", "0.1*sin(2*t)", "0.6"], "rotation": [3, 0, 0]}
    found = cf.inverse_kinematics(
        arm, {"gripper": laws}, t, q0=[0, 0.5, -1.5, 0, 0.3, 0], method="dynamic"
    )
    assert found["reached"].all()
    steps = (found["qd"][1:] + found["qd"][:-1]) / 2 * np.diff(t)[:, None]
    assert np.abs(np.diff(found["q"], axis=0) - steps).max() < 0.01


def test_texts_without_time_are_constant() -> None:
    arm, t = zoo.reference("puma560"), np.linspace(0, 1, 5)
    place = ["0.5", "0.1 + 0.01*t", "1/5"]
    found = cf.inverse_kinematics(arm, {"body6": {"position": place, "rotation": ["pi", 0, 0]}}, t)
    same = {"position": place, "rotation": [np.pi, 0, 0]}
    np.testing.assert_allclose(found["q"], cf.inverse_kinematics(arm, {"body6": same}, t)["q"])
    still = cf.inverse_kinematics(arm, {"body6": ["1/2", "0", "1/5"]})
    assert still.rows == "target"
    np.testing.assert_allclose(poses(arm, "body6", still["q"])[0, :3, 3], [0.5, 0, 0.2], atol=1e-10)


def test_the_nearest_pose_of_a_linkage_is_closed() -> None:
    """The tip of a slider comes no further than crank and rod are long, and no nearer."""
    crank, t = slider_crank(), np.linspace(0, 6, 61)
    path = cf.inverse_kinematics(
        crank, {"slider": {"x": "0.8 + 0.5*sin(t)"}}, t, q0=[1.5, -1.9, 0.74]
    )
    off = path["reached"] == 0
    wanted = 0.8 + 0.5 * np.sin(t)
    np.testing.assert_allclose(path["q"][:, 2], np.clip(wanted, 0.5, 1.1), atol=1e-7)
    np.testing.assert_allclose(
        path["position_error"][off], (abs(wanted - 0.8) - 0.3)[off], atol=1e-7
    )
    gaps = ConstraintResiduals(crank)
    assert max(np.abs(gaps.at(q)).max() for q in path["q"]) < 1e-9
    # Accelerations are there where the path is reached, and nowhere else.
    assert np.array_equal(np.isfinite(path["qdd"]).all(axis=1), ~off)
    far = cf.inverse_kinematics(crank, {"slider": {"x": 5}})
    assert far["position_error"] == pytest.approx(3.9, abs=1e-7)


def test_least_motions_of_a_free_body_belong_to_their_rates() -> None:
    """Rates in axes that turn with the body are no differences of coordinates."""
    builder = cf.Mechanism.builder("kite")
    builder.segment("body", joint="free", mass=1, inertia=[1, 1, 1])
    builder.frame("tip", "body", [0.3, -0.1, 0.2])
    h, q0 = 2e-3, [0.1, 0.2, 0.3, 0.4, -0.2, 0.1, np.sqrt(0.79)]
    start = cf.derive(builder.build(), ["pose(tip)"]).evaluate(q=q0)["pose(tip)"][:3, 3]
    curve = [
        f"{float(x)!r} + {a}*sin({w}*t)"
        for x, a, w in zip(start, (2, -1, 1), (1, 2, 3), strict=True)
    ]
    found = cf.inverse_kinematics(
        builder.build(), {"tip": curve}, h * np.arange(9), q0=q0, redundancy="least_motion"
    )
    assert np.abs(differences(found["qd"], h) - found["qdd"][3:-3]).max() < 1e-6
