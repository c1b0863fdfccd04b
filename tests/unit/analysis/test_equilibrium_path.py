"""Paths of equilibria: folds and branch points in closed form, contacts, loops; refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from chainform.analysis import Result, TaskInterrupted
from unit.analysis.spring_linkage import FourBar, wrapped

Array = NDArray[np.float64]
EXAMPLES = Path(__file__).parents[3] / "examples"


def column(rest: Any = 0) -> cf.Mechanism:
    """An upright rod with a spring: k (phi - rest) = m g l sin(phi) with k = 8 and g l = 5."""
    builder = cf.Mechanism.builder("column", gravity=(0, 0, -10)).parameter("m", 1)
    builder.segment("lean", axis="y", mass="m", com=[0, 0, "0.5"])
    return builder.spring(joint="lean", stiffness=8, rest=rest).build()


def truss() -> cf.Mechanism:
    """Half of the truss of von Mises: a spring of 100 N/m from (1, 0) to a slider at height 0.5."""
    builder = cf.Mechanism.builder("truss", gravity=(0, 0, 0))
    builder.segment("y", joint="prismatic", axis="z", mass=1)
    ends = [{"segment": "y"}, {"segment": "ground", "point": [1, 0, 0]}]
    return builder.spring(ends=ends, stiffness=100, rest="sqrt(5)/2").build()


def snap() -> float:
    """The load at which the truss snaps through: P = k y (L0/L - 1) is largest where L^3 = L0."""
    rest = np.sqrt(1.25)
    length = rest ** (1 / 3)
    return float(100 * np.sqrt(length**2 - 1) * (rest / length - 1))


def zero_of(function: Any, low: float, high: float) -> float:
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if function(low) * function(middle) <= 0 else (middle, high)
    return low


# --- branch points -------------------------------------------------------------------------------


def test_a_column_buckles_at_its_critical_mass_and_both_branches_are_followed() -> None:
    path = cf.equilibrium_path(column(), "m", (0.5, 3), branches=True)
    assert path.facts["branch_points"] == pytest.approx([8 / 5], abs=1e-10)
    assert path.facts["folds"] == []
    m, phi, branch = path["parameter"], path["q"][:, 0], path["branch"]
    straight = branch == 0
    assert np.abs(phi[straight]).max() < 1e-9
    bent = ~straight
    assert set(branch[bent]) == {1, 2}
    assert np.allclose(8 * phi[bent], 5 * m[bent] * np.sin(phi[bent]), atol=1e-9)
    assert phi[branch == 1].min() * phi[branch == 2].max() < 0
    away = path["kind"] == 0
    assert np.array_equal(path["stable"][away & straight] == 1, m[away & straight] < 1.6)
    assert np.all(path["stable"][bent & away] == 1)
    assert np.allclose(path["stiffness"], 8 - 5 * m * np.cos(phi), atol=1e-8)


def test_the_determinant_changes_its_sign_at_a_branch_point_and_not_at_a_fold() -> None:
    straight = cf.equilibrium_path(column(), "m", (0.5, 3))
    signs = straight["determinant"][straight["kind"] == 0]
    assert (signs[0], signs[-1]) == (-signs[-1], -signs[0])
    folded = cf.equilibrium_path(truss(), "P", (-3, 3), q0=[1], forces={"y": "-P"})
    assert len(set(folded["determinant"])) == 1


# --- folds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["point", "revolute", "cylindrical", "frame"])
def test_redundant_rows_of_loops_make_no_branch_points(kind: str) -> None:
    """A pin closes a linkage by a ball, a pin or a pin that slides; a weld needs one more hinge."""
    bar = cf.Mechanism.builder("bar", gravity=(0, "-9.81", 0)).parameter("k", 400)
    bar.segment("crank", axis="z", mass=1, com=["0.1", 0, 0])
    bar.segment("coupler", parent="crank", axis="z", position=["0.2", 0, 0], mass=1)
    at: dict[str, Any] = {"axis": "z", "position": ["0.6", 0, 0]}
    bar.segment("rocker", parent="ground", mass=1, com=["0.2", 0, 0], **at)
    if kind == "frame":
        bar.segment("eye", parent="rocker", axis="z", position=["0.4", 0, 0])
    tip = {"segment": "coupler", "point": ["0.5", 0, 0]}
    end = {"segment": "eye"} if kind == "frame" else {"segment": "rocker", "point": ["0.4", 0, 0]}
    axis = {"axis": "z"} if kind in ("revolute", "cylindrical") else {}
    bar.loop("pin", kind, tip | axis, end | axis)
    point = {"segment": "coupler", "point": ["0.3", "0.2", 0]}
    ground = {"segment": "ground", "point": ["0.3", "0.5", 0]}
    linkage = bar.spring(ends=[point, ground], stiffness="k", rest="0.1").build()
    start = {"crank": -1.4, "coupler": 1.0, "rocker": -1.8}
    path = cf.equilibrium_path(linkage, "k", (10, 200), q0=start)
    assert path.facts["branch_points"] == path.facts["folds"] == []
    assert np.ptp(path["determinant"]) == 0
    assert len(path) > 40


def test_an_imperfect_column_has_its_fold_on_the_other_branch() -> None:
    rest = 0.05
    # The fold: 8 = 5 m cos(phi) and 8 (phi - rest) = 5 m sin(phi), so that tan(phi) = phi - rest.
    phi = zero_of(lambda x: np.tan(x) - x + rest, -1.4, -0.01)
    path = cf.equilibrium_path(column("0.05"), "m", (3, 1), q0=[-1.7])
    assert path.facts["folds"] == pytest.approx([8 / (5 * np.cos(phi))], abs=1e-8)
    assert path["parameter"][-1] == pytest.approx(3)
    natural = cf.equilibrium_path(column("0.05"), "m", (0.5, 3))
    assert natural.facts["folds"] == natural.facts["branch_points"] == []
    assert np.all(natural["stable"] == 1)


def test_a_truss_snaps_through_at_both_of_its_folds() -> None:
    path = cf.equilibrium_path(truss(), "P", (-3, 3), q0=[1], forces={"y": "-P"})
    assert path.facts["folds"] == pytest.approx([snap(), -snap()], abs=1e-8)
    y, rest = path["q"][:, 0], np.sqrt(1.25)
    lengths = np.hypot(1, y)
    assert np.allclose(path["parameter"], 100 * y * (rest / lengths - 1), atol=1e-8)
    assert path["parameter"][-1] == pytest.approx(3, abs=1e-12)
    assert y[-1] < -0.5
    at = path["kind"] == 1
    assert np.all(path["stable"][at] == -1)
    assert set(path["stable"][~at]) == {0, 1}
    fine = cf.equilibrium_path(truss(), "P", (-3, 3), q0=[1], forces={"y": "-P"}, step=0.01)
    assert len(fine) > 2 * len(path)
    assert fine.facts["folds"] == pytest.approx(path.facts["folds"], abs=1e-10)


def test_a_path_ends_where_it_leaves_the_span_again() -> None:
    # sin(turn) = P for a rod that hangs: from P = 0 to the fold at P = 1, and back.
    builder = cf.Mechanism.builder("rod", gravity=(0, 0, -1))
    rod = builder.segment("turn", axis="y", mass=1, com=[1, 0, 0]).build()
    path = cf.equilibrium_path(rod, "P", (0, 2), q0=[np.pi / 2], forces={"turn": "P"})
    assert path.facts["folds"] == pytest.approx([1], abs=1e-10)
    assert path["parameter"][-1] == pytest.approx(0, abs=1e-12), "it leaves the span again"


# --- loops, contacts, signals --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["coupler_mass", "b", "g"])
def test_the_path_of_a_linkage_ends_in_an_equilibrium_of_the_changed_linkage(name: str) -> None:
    linkage = cf.read(EXAMPLES / "four_bar.toml")
    first = {"coupler_mass": 1.0, "b": 0.5, "g": 9.81}[name]
    q0 = cf.equilibria(linkage, starts=30)["q"][0]
    path = cf.equilibrium_path(linkage, name, (first, 1.1 * first), q0=q0)
    wanted = cf.equilibria(linkage, values={name: 1.1 * first}, starts=60)
    gaps = np.abs(np.mod(wanted["q"] - path["q"][-1] + np.pi, 2 * np.pi) - np.pi).max(axis=1)
    place = int(np.argmin(gaps))
    assert gaps[place] < 1e-8
    assert np.allclose(path["multipliers"][-1], wanted["multipliers"][place], atol=1e-7)
    assert path["stable"][-1] == wanted["stable"][place]
    assert path["residual"].max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 7])
def test_paths_join_all_roots_of_a_linkage_at_two_stiffnesses_in_pairs(seed: int) -> None:
    # Each equilibrium at one end of the span belongs to one path, which ends at another one.
    bar, span = FourBar(seed), (20.0, 2000.0)
    roots: list[Array] = []
    for bar.stiffness in span:
        roots.append(bar.equilibria())
    linkage, partner = bar.mechanism(), dict[tuple[int, int], tuple[int, int]]()
    folds = 0
    for k, start in enumerate(cf.equilibria(linkage, values={"k": span[0]})["q"]):
        path = cf.equilibrium_path(linkage, "k", span, q0=start)
        side = int(path["parameter"][-1] > span[0] + 1)
        absolute = path["q"][[0, -1], :2] @ np.array([[1, 1], [0, 1]])
        first, last = (
            np.abs(wrapped(roots[at] - pose)).max(axis=1)
            for at, pose in zip((0, side), absolute, strict=True)
        )
        assert max(first.min(), last.min()) < 1e-8, k
        partner[0, int(np.argmin(first))] = side, int(np.argmin(last))
        folds += len(path.facts["folds"])
    assert len(partner) == len(set(partner.values())) == len(roots[0])
    back = {one: other for one, other in partner.items() if other[0] == 0}
    assert all(back[other] == one for one, other in back.items())
    assert folds >= len(back) > 0


def test_the_pose_of_a_push_changes_where_the_contact_opens() -> None:
    # A slider on its stop, drawn up by P: it leaves where P is its weight, then y = (P - m g)/k.
    builder = cf.Mechanism.builder("slider", gravity=(0, 0, -10))
    builder.segment("y", joint="prismatic", axis="z", mass=2)
    slider = builder.spring(joint="y", stiffness=50).build()
    rest: dict[str, Any] = {"stops": {"y": {"lower": 0}}, "forces": {"y": "P"}}
    path = cf.equilibrium_path(slider, "P", (0, 40), **rest)
    P, y, push = path["parameter"], path["q"][:, 0], path["contact_force(y lower)"]
    assert P[path["kind"] == 3] == pytest.approx([20], abs=1e-9)
    assert np.allclose(y, np.maximum(P - 20, 0) / 50, atol=1e-10)
    assert np.allclose(push, np.maximum(20 - P, 0), atol=1e-8)
    back = cf.equilibrium_path(slider, "P", (40, 0), **rest)
    assert back["parameter"][back["kind"] == 3] == pytest.approx([20], abs=1e-9)
    assert back["contact_force(y lower)"][-1] == pytest.approx(20)


def test_a_truss_that_falls_on_a_stop_turns_back_its_load_there() -> None:
    # On the unstable way down the load falls; the stop at 0.1 carries what is more from there on.
    stops = {"y": {"lower": "0.1"}}
    path = cf.equilibrium_path(truss(), "P", (0, 3), q0=[0.5], forces={"y": "-P"}, stops=stops)
    at_stop = 100 * 0.1 * (np.sqrt(1.25) / np.hypot(1, 0.1) - 1)
    assert path.facts["folds"] == pytest.approx([snap(), at_stop], abs=1e-8)
    assert path["parameter"][-1] == pytest.approx(3)
    assert path["contact_force(y lower)"][-1] == pytest.approx(3 - at_stop)
    assert path["stable"][-1] == 1


@pytest.mark.parametrize(("lean", "span"), [(0.11, (1.602, 3)), (0.3, (2, 1.602))])
def test_where_a_column_meets_a_wall_no_path_branches(
    lean: float, span: tuple[float, float]
) -> None:
    """A buckled column comes to a wall at 0.3 rad where 8 phi = m g l sin(phi), and stays there."""
    stops = {"lean": {"upper": "0.3"}}
    path = cf.equilibrium_path(column(), "m", span, q0=[lean], stops=stops, branches=True)
    assert path["parameter"][path["kind"] == 3] == pytest.approx([2.4 / (5 * np.sin(0.3))])
    assert path.facts["branch_points"] == []
    assert np.all(path["branch"] == 0)


def test_a_path_begins_at_the_unstable_equilibrium_that_is_given() -> None:
    """A body on a ball, whose slide a rod holds: without its force at first descent went away."""
    builder = cf.Mechanism.builder("held ball", gravity=(0, 0, "-9.81"))
    joint = {"name": "ball", "type": "spherical", "euler": "zyx"}
    turned = [0.57, 0.0, -0.52, 0.5]
    builder.segment("body", joint=joint, quaternion=turned, mass=1.43, com=[0, -0.12, 0.29])
    place = [-0.45, -0.01, 0.21]
    builder.segment("slide", parent="body", joint="prismatic", axis="x", position=place)
    ends: Any = {"closing": {"segment": "slide", "point": [-0.01, 0, 0]}}
    ends["target"] = {"segment": "ground", "point": [-0.7795, 0.5978, 0.2873]}
    held = builder.loop(name="rod", kind="distance", length=0.65, **ends).build()
    rest = cf.equilibria(held, starts=8, seed=1)
    alone = np.flatnonzero((rest["family"] == 0) & (rest["stable"] == 0))
    assert len(alone)
    for q in rest["q"][alone]:
        path = cf.equilibrium_path(held, "P", (0, 0.1), q0=q, forces={"slide": "P"}, points=5)
        assert path["q"][0] == pytest.approx(q, abs=1e-8)


def test_a_signal_may_be_the_parameter() -> None:
    builder = cf.Mechanism.builder("driven", gravity=(0, 0, -10))
    builder.segment("swing", axis="y", mass=1, com=[0, 0, "-0.5"], inertia=["0.1", "0.1", "0.1"])
    builder.actuator(
        "motor",
        "swing",
        type="dc_motor",
        resistance=2,
        torque_constant="0.5",
        rotor_inertia="0.001",
        gear_ratio=5,
    )
    path = cf.equilibrium_path(builder.build(), "motor", (0, 5))
    # The torque is 1.25 times the voltage, the weight takes 5 sin: a fold at 4 V.
    assert path.facts["folds"] == pytest.approx([4], abs=1e-9)
    assert np.allclose(5 * np.sin(path["q"][:, 0]), 1.25 * path["parameter"], atol=1e-9)


def test_two_bars_under_a_load_buckle_at_both_of_their_critical_loads() -> None:
    # Two rods with springs c = 1 in their joints under a dead load P: (3 -+ sqrt 5) / 2.
    builder = cf.Mechanism.builder("rods", gravity=(0, 0, 0))
    builder.segment("a", axis="y", mass=1, com=[0, 0, "0.5"])
    builder.segment("b", parent="a", axis="y", position=[0, 0, 1], mass=1, com=[0, 0, "0.5"])
    rods = builder.spring(joint="a", stiffness=1).spring(joint="b", stiffness=1).build()
    load = {"a": "P*(sin(a) + sin(a + b))", "b": "P*sin(a + b)"}
    path = cf.equilibrium_path(rods, "P", (0.1, 3), forces=load, branches=True, step=0.2)
    wanted = [(3 - np.sqrt(5)) / 2, (3 + np.sqrt(5)) / 2]
    assert path.facts["branch_points"][:2] == pytest.approx(wanted, abs=1e-9)
    assert len(set(path["branch"])) >= 5
    a, b, P = *path["q"].T, path["parameter"]
    assert np.abs(a - P * (np.sin(a) + np.sin(a + b))).max() < 1e-8
    assert np.abs(b - P * np.sin(a + b)).max() < 1e-8


def test_the_result_is_written_drawn_and_knows_no_single_value(tmp_path: Path) -> None:
    path = cf.equilibrium_path(column(), "m", (0.5, 2))
    path.save(tmp_path / "path.npz")
    back = Result.load(tmp_path / "path.npz")
    assert np.array_equal(back["parameter"], path["parameter"])
    assert back.facts["branch_points"] == path.facts["branch_points"]
    path.plot("q", tmp_path / "path.svg", over="parameter")
    assert (tmp_path / "path.svg").stat().st_size > 1000
    assert path.run.output("pose(lean)").shape == (len(path), 4, 4)
    with pytest.raises(cf.Error, match="m"):
        path.run.output("momentum")


# --- progress, interruption, refusals ------------------------------------------------------------


def test_progress_is_told_and_an_interruption_leaves_what_there_is() -> None:
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(TaskInterrupted) as caught:
        cf.equilibrium_path(column(), "m", (0.5, 3), progress=progress)
    part = caught.value.result
    assert len(part) == 7
    assert seen == [(count, 2000) for count in range(1, 8)]
    whole = cf.equilibrium_path(column(), "m", (0.5, 3))
    assert np.array_equal(part["parameter"], whole["parameter"][:7])
    assert part.facts["endings"] == ["interrupted: 7 of 2000 are done"]
    assert str(caught.value) == "7 of 2000 are done"


def test_the_number_of_points_is_bounded() -> None:
    path = cf.equilibrium_path(column(), "m", (0.5, 3), points=6)
    assert len(path) <= 6 + 2
    assert any("as many points as are allowed" in line for line in path.report)


def tilted() -> cf.Mechanism:
    builder = cf.Mechanism.builder("tilted").parameter("s", "0.6")
    return builder.segment("a", axis=["s", 0, "0.8"], mass=1, com=[0, 1, 0]).build()


def turntable() -> cf.Mechanism:
    builder = cf.Mechanism.builder("turntable", gravity=(0, 0, -10)).parameter("m", 1)
    builder.segment("table", axis="z", mass=1, inertia=[1, 1, 1])
    builder.segment("swing", parent="table", axis="y", mass="m", com=[0, 0, "-0.5"])
    return builder.build()


REFUSED = [
    (column, "mm", (0, 1), {}, "there is no parameter 'mm'"),
    (column, "m", (1, 1), {}, "the span is empty"),
    (column, "m", (1, 2, 3), {}, "expected 2 entries"),
    (column, "m", (1, -2), {}, "negative"),
    (column, "m", (0.5, 3), {"values": {"m": 2}}, "is given a value"),
    (column, "m", (0.5, 3), {"q0": [1, 2]}, "shape"),
    (column, "m", (0.5, 3), {"step": 0}, "number"),
    (column, "m", (0.5, 3), {"points": 1}, "whole number"),
    (column, "m", (0.5, 3), {"branches": 1}, "true or false"),
    (column, "m", (0.5, 3), {"force": {}}, "unknown field 'force'"),
    (column, "P", (9, 10), {"forces": {"lean": "100*P + 8*lean"}}, "no equilibrium was found near"),
    (tilted, "s", (0.6, 0.7), {}, "became a number when the file was read"),
    (turntable, "m", (1, 2), {}, "moves freely along table"),
    (lambda: cf.read(EXAMPLES / "knife_edge.toml"), "g", (1, 2), {}, "nonholonomic"),
]


@pytest.mark.parametrize(("make", "name", "span", "given", "message"), REFUSED)
def test_wrong_arguments_are_refused_with_a_remedy(
    make: Any, name: str, span: Any, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(cf.Error) as caught:
        cf.equilibrium_path(make(), name, span, **given)
    assert message in str(caught.value)
    assert caught.value.remedy
