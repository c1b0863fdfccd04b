"""Derivatives of studies by parameters, against differences of the tasks themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis.optimisation.design_parameters import DesignParameters, differences
from chainform.analysis.optimisation.row_expressions import Varied, criterion
from chainform.analysis.optimisation.study import EquilibriumRows, Study
from chainform.readers import read_text

EXAMPLES = Path(__file__).parents[3] / "examples"
T = np.linspace(0, 1, 5)


def example(name: str) -> cf.Mechanism:
    return cf.read(EXAMPLES / f"{name}.toml")


def rail() -> cf.Mechanism:
    """A body on a curved rail, a holonomic constraint."""
    x = {"name": "x", "parent": "ground", "joint": "prismatic", "axis": "x", "mass": 1}
    z = {"name": "z", "parent": "x", "joint": "prismatic", "axis": "z", "mass": 2}
    law = {"name": "rail", "kind": "holonomic", "law": "z - h*x^2 - l*sin(x)"}
    table = {"name": "rail", "gravity": [0, 0, -9.81], "parameters": {"l": 1.0, "h": 0.3}}
    return read_text(json.dumps({**table, "segments": [x, z], "constraints": [law]}), "json")


def two_links() -> cf.Mechanism:
    arm = cf.Mechanism.builder("arm").parameter("l1", value=1).parameter("l2", value=0.8)
    arm.segment("u", axis="z", mass=1, com=[0.5, 0, 0])
    arm.segment("v", parent="u", axis="z", position=["l1", 0, 0], mass=1, com=["l2/2", 0, 0])
    return arm.frame("tip", "v", ["l2", 0, 0]).build()


FOUR = {"a": [0.15, 0.25], "b": [0.45, 0.55], "crank_mass": [0.2, 1], "g": [9, 10]}
CRANK = {"motion": {"crank": "3*t + a*sin(t)"}, "t": T, "start": [0, 0.5, 1.2]}
PEN = {"pen": {"segment": "coupler", "point": ["b/2", 0.1, 0]}}
Made = Callable[[], cf.Mechanism]
CASES: dict[str, tuple[Made, dict[str, Any], dict[str, Any], list[str]]] = {
    "loads of a linkage": (
        lambda: example("four_bar"),
        FOUR,
        {"task": "inverse_dynamics", **CRANK, "outputs": ["pose(coupler)"]},
        ["q", "qd", "qdd", "tau", "power", "work", "energy", "pose(coupler)"],
    ),
    "frames of a linkage": (
        lambda: example("four_bar"),
        FOUR,
        {"task": "kinematics", **CRANK, "frames": PEN},
        ["position(pen)", "rotation(pen)", "velocity(pen)", "acceleration(pen)"],
    ),
    "a linkage at rest": (
        lambda: example("four_bar"),
        FOUR,
        {"task": "statics", "q": {"crank": [0.2, 0.6]}, "forces": {"rocker": "a*rocker"}},
        ["q", "tau"],
    ),
    "an unknown force of elements": (
        lambda: example("portal_crane"),
        {"AB": [7.2, 8.8], "EL": [12.6, 15.4], "m_load": [9000, 11000]},
        {"task": "inverse_dynamics", "motion": {"s": "4 + 0.3*sin(t)"}, "t": T},
        ["q", "S", "energy"],
    ),
    "a wrench that holds an arm": (
        lambda: example("six_axis_arm"),
        {"g": [9, 10]},
        {"task": "statics", "q": np.linspace(0, 1, 12).reshape(2, 6), "wrenches": ["gripper"]},
        ["wrench"],
    ),
    "drives with actuators": (
        lambda: example("driven_arm"),
        {"g": [9, 10], "m_2": [0.5, 5]},
        {
            "task": "inverse_dynamics",
            "motion": {"waist": "t^2", "shoulder": "sin(t)", "elbow": "t/2"},
            "t": T,
        },
        ["tau", "power", "energy"],
    ),
    "a constraint": (
        rail,
        {"l": [0.5, 1.5], "h": [0.1, 0.5]},
        {"task": "inverse_dynamics", "motion": {"x": "t + h*t^2"}, "t": T},
        ["q", "qd", "qdd", "tau", "multipliers", "work"],
    ),
    "equilibria": (
        rail,
        {"l": [0.5, 1.5], "h": [0.1, 0.5]},
        {"task": "equilibria", "starts": 20, "ranges": {"x": [-3, 3]}},
        ["q", "multipliers", "potential_energy"],
    ),
    "an equilibrium that is held": (
        rail,
        {"l": [0.5, 1.5], "h": [0.1, 0.5]},
        {"task": "equilibria", "starts": 5, "held": {"x": 0.4}},
        ["q", "tau"],
    ),
    "targets": (
        two_links,
        {"l1": [0.8, 1.2], "l2": [0.7, 1.1]},
        {
            "task": "inverse_kinematics",
            "targets": {"tip": [[1.2, 0.5, 0], [0.9, 0.9, 0]]},
            "q0": [0.1, 0.5],
        },
        ["q"],
    ),
    "targets along a path": (
        two_links,
        {"l1": [0.8, 1.2], "l2": [0.7, 1.1]},
        {
            "task": "inverse_kinematics",
            "targets": {"tip": {"x": "1.2 - t/4", "y": "0.5 + t/5"}},
            "t": T,
            "q0": [0.1, 0.5],
        },
        ["q"],
    ),
    "a motion of a linkage": (
        lambda: example("four_bar"),
        {"a": [0.15, 0.25], "crank_mass": [0.2, 1]},
        {
            "simulate": {
                "t": 0.3,
                "q0": {"crank": 0.5},
                "forces": {"crank": "2"},
                "t_eval": [0, 0.3],
            },
            "outputs": ["energy"],
        },
        ["q", "qd", "energy"],
    ),
    "a controller with a state": (
        two_links,
        {"l1": [0.8, 1.2], "l2": [0.7, 1.1]},
        {
            "simulate": {
                "t": 0.5,
                "t_eval": [0, 0.25, 0.5],
                "controllers": {
                    "u": {"type": "pid", "kp": 40, "ki": "20*l2", "kd": 9, "target": 1}
                },
            }
        },
        ["q", "qd", "x"],
    ),
    "a target of a turn in a loop": (
        lambda: example("four_bar"),
        {"a": [0.15, 0.25], "b": [0.4, 0.6]},
        {
            "task": "inverse_kinematics",
            "targets": {"rocker": {"rotation": [0, 0, 1.9]}},
            "q0": [0, 0.5, 1.2],
        },
        ["q"],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_derivatives_are_those_of_differences(case: str) -> None:
    make, bounds, table, wanted = CASES[case]
    parameters = DesignParameters.of(make(), bounds)
    study = Study.of(parameters, table, True)
    start = parameters.start
    result = study.find(start)
    names = list(result.columns(wanted))
    known = study.known(result, start, names)
    found = differences(
        lambda values: np.stack(list(study.find(values).columns(wanted).values())),
        start,
        parameters,
    )
    largest = 0.0
    for name, other in zip(names, found, strict=True):
        exact, values = known[name].slopes * parameters.range, known[name].values
        size = max(float(np.abs(other * parameters.range).max()), float(np.abs(values).max()), 1e-6)
        assert np.abs(exact - other * parameters.range).max() < 1e-7 * size, name
        largest = max(largest, float(np.abs(exact).max()))
    assert largest > 1e-3


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ({"task": "inverse_dynamics", **CRANK, "driven": ["crank", "rocker"]}, "tau.crank"),
        ({"task": "inverse_dynamics", **CRANK}, "sigma[3]"),
        ({"task": "inverse_dynamics", **CRANK}, "residual[1]"),
        ({"task": "kinematics", **CRANK, "frames": PEN}, "singular_values(pen)[1]"),
        ({"task": "inverse_kinematics", "targets": {"pen": {"z": 0}}}, "q.crank"),
        ({"task": "kinematics", **CRANK, "frames": PEN, "relative_to": "crank"}, "q.crank"),
    ],
)
def test_what_is_not_determined_has_no_derivative(table: dict[str, Any], column: str) -> None:
    linkage = example("four_bar").with_frame("pen", "coupler", (0.1, 0.1, 0))
    if "frames" in table:
        linkage = example("four_bar")
    parameters = DesignParameters.of(linkage, {"a": [0.15, 0.25]})
    study = Study.of(parameters, table, True)
    result = study.find(parameters.start)
    with pytest.raises(cf.Error, match="no exact derivative"):
        study.known(result, parameters.start, [column])


def test_equilibria_keep_their_rows() -> None:
    # Rods hang or stand, whatever gravity is; angles of pi and -pi are the same.
    parameters = DesignParameters.of(example("sliding_links"), {"g": [5, 15]})
    study = Study.of(parameters, {"task": "equilibria", "starts": 20}, True)
    first = study.find(np.array([10.0]))
    for g in (9.0, 9.9, 10.1, 11.0):
        found = study.find(np.array([g]))
        assert np.allclose(found["q"], first["q"], atol=1e-6)
        energies = found["potential_energy"] / g
        assert np.allclose(energies, first["potential_energy"] / 10, atol=1e-6)
    rows = EquilibriumRows({})
    rows.ordered(first)
    fewer = replace(first, arrays={name: array[1:] for name, array in first.arrays.items()})
    with pytest.raises(cf.Error, match="5 equilibria, and 6 at the first start"):
        rows.ordered(fewer)


# --- expressions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "mean(x[1]^2) + rms(x[1]*x[2]) - p*first(x[2])",
        "last(x[1])/sum(x[2])^2 + sqrt(p) - 1/p",
        "integral(sin(x[1])*t) + exp(p*mean(cos(x[2])))",
        "log(sum(x[1]^2)) + atan2(last(x[1]), p) + p^1.5 + tan(p/9)",
        "asin(p/7) + acos(p/7) + atan(mean(x[1])) + 2^mean(x[2]) - mean(3*rms(x[1]) + x[2])",
        "max(x[1], 2*x[2], abs(x[1] - p))",
        "x[1]*p - x[2]",
    ],
)
def test_expressions_have_the_derivatives_of_differences(text: str) -> None:
    t = np.linspace(0, 1, 6)
    rng = np.random.default_rng(1)
    base, slopes = rng.uniform(0.5, 1, (2, 6)), rng.uniform(-1, 1, (2, 6, 2))

    def at(values: Any) -> Varied:
        columns = base + slopes @ (values - 1.5)
        known = {f"x[{k + 1}]": Varied(columns[k], slopes[k]) for k in range(2)}
        known |= {"t": Varied(t, np.zeros((6, 2)))}
        known |= {"p": Varied(np.asarray(values[0]), np.array([1.0, 0.0]))}
        return criterion(text).at(known, 6)

    point, step = np.array([1.5, 1.5]), 1e-5
    sides = [[at(point + side * step * np.eye(2)[k]).values for side in (1, -1)] for k in range(2)]
    other = np.stack([(up - down) / (2 * step) for up, down in sides], axis=-1)
    assert np.allclose(at(point).slopes, other, atol=1e-8, rtol=1e-8)


def test_columns_of_frames_and_reductions_inside_others() -> None:
    found = criterion("max( position(pen)[1] , abs(mean(q.arm) - der_x) )")
    assert found.names == {"position(pen)[1]", "q.arm", "der_x"}
    assert (found.extreme, found.absolute) == ("max", (False, True))
    for text in ("max(x) + 1", "mean(max(x))", "abs(x)", "mean(step(x))", "min(abs(x))", "mean(x"):
        with pytest.raises(cf.Error) as caught:
            criterion(text)
        assert caught.value.remedy
