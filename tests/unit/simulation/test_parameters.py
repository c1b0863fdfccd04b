"""Values of a motion: the run is that of a file with these numbers, in every quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from chainform.errors import Error, RunError
from chainform.readers import read_text
from chainform.simulation import Run, simulate, simulate_batch

pytestmark = pytest.mark.any_processor

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scene:
    """A file with places for numbers: what they are there, and the values of the motion.

    Among the names are parameters of the file, numbers of the mechanism by their automatic names,
    and parameters that only laws of the motion name.
    """

    text: str
    numbers: Mapping[str, float]
    values: Mapping[str, float]
    options: Mapping[str, Any]
    outputs: tuple[str, ...] = ("H", "inverse_dynamics")
    skipped: tuple[str, ...] = ()

    def mechanism(self, values: Mapping[str, float] | None = None) -> cf.Mechanism:
        """Return the mechanism of the file, or of one with other numbers."""
        return read_text(self.text.format(**{**self.numbers, **(values or {})}), "toml")


FOUR_BAR = """
name = "four bar"
gravity = [0, -{g}, 0]
[parameters]
e = {e}
a = {a}
d = 0.6
[[segments]]
name = "crank"
joint = {{ name = "crank", type = "revolute", axis = "z" }}
mass = 0.4
com = ["a/2", 0, 0]
inertia = [0, 0.01, 0.01]
friction = {{ viscous = "e/20" }}
[[segments]]
name = "coupler"
parent = "crank"
joint = {{ name = "coupler", type = "revolute", axis = "z" }}
position = ["a", 0, 0]
mass = {m_2}
com = [0.25, 0, 0]
inertia = [0, 0.02, 0.02]
[[segments]]
name = "rocker"
parent = "ground"
joint = {{ name = "rocker", type = "revolute", axis = "z" }}
position = ["d", 0, 0]
mass = 0.8
com = [0.2, 0, 0]
inertia = [0, 0.02, 0.02]
[[loops]]
name = "linkage"
kind = "point"
closing = {{ segment = "coupler", point = [0.5, 0, 0] }}
target = {{ segment = "rocker", point = [0.4, 0, 0] }}
"""

ARM = """
name = "arm"
gravity = [0, 0, -{g}]
[parameters]
k = {k}
w = {w}
gain = {gain}
[[segments]]
name = "upper"
joint = {{ name = "shoulder", type = "revolute", axis = "y" }}
mass = {m_1}
com = [0.2, 0, 0]
inertia = [0.01, 0.03, 0.03]
[[segments]]
name = "lower"
parent = "upper"
joint = {{ name = "elbow", type = "revolute", axis = "y" }}
position = [{d_2_x}, 0, 0]
mass = 1.0
com = [0.2, 0, 0]
inertia = [0.01, 0.02, 0.02]
[[springs]]
joint = "elbow"
stiffness = "k"
damping = "k/50"
[[forces]]
joint = "shoulder"
law = "w*cos(3*t)"
"""

BLOCK = """
name = "block"
gravity = [0, 0, -{g}]
[parameters]
f = {f}
end = {end}
push = {push}
[[segments]]
name = "sledge"
joint = {{ name = "slide", type = "prismatic", axis = "x", limits = {{ lower = -1, upper = 2 }} }}
friction = {{ coulomb = "f" }}
mass = {m_1}
[[segments]]
name = "ball"
parent = "sledge"
joint = {{ name = "height", type = "prismatic", axis = "z" }}
mass = 1.0
[[frames]]
name = "foot"
segment = "ball"
"""

DRIVEN = """
name = "driven"
gravity = [0, 0, -{g}]
[parameters]
volt = {volt}
R = {R}
kt = 0.03
[[segments]]
name = "column"
joint = {{ name = "waist", type = "revolute", axis = "y" }}
mass = {m_1}
com = [0.1, 0, 0.15]
inertia = [0.06, 0.06, 0.02]
[[actuators]]
name = "motor"
joint = "waist"
type = "dc_motor"
resistance = "R"
inductance = 0.001
torque_constant = "kt"
rotor_inertia = 1e-5
gear_ratio = 80
"""

WEIGHT = """
name = "weight"
gravity = [0, -{g}, 0]
coordinates = [{{ name = "x", unit = "m" }}, {{ name = "y", unit = "m" }}]
elements = ["p: S(x, y, 0); {m_1}"]
[parameters]
r = {r}
w = {w}
[[constraints]]
name = "rod"
kind = "holonomic"
law = "x^2 + y^2 - r^2"
"""

SWING = """
name = "swing"
gravity = [0, 0, -{g}]
[parameters]
w = {w}
A = {A}
[base]
position = ["A*sin(w*t)", 0, 0]
[[segments]]
name = "rod"
joint = {{ name = "hinge", type = "revolute", axis = "y" }}
mass = {m_1}
com = [0, 0, -0.5]
inertia = [0.1, 0.1, 0]
"""

SCENES = {
    "loop": Scene(
        FOUR_BAR,
        {"g": 9.81, "a": 0.2, "e": 0.3, "m_2": 1.0},
        {"m_2": 1.3, "a": 0.25, "g": 1.62, "e": 0.7},
        {
            "q0": {"crank": 1.0},
            "qd0": {"crank": 3.0},
            "forces": {"rocker": "e*cos(t) - a"},
            "events": {"turn": "crank - 6*a"},
        },
        ("H", "closure_jacobian"),
    ),
    "laws": Scene(
        ARM,
        {"g": 9.81, "k": 5.0, "w": 2.0, "gain": 40.0, "m_1": 2.0, "d_2_x": 0.4},
        {"gain": 25.0, "m_1": 3.0, "k": 8.0, "g": 3.7, "d_2_x": 0.5, "w": 0.5},
        {
            "q0": [0.3, -0.2],
            "forces": {"elbow": "w*sin(t)"},
            "controllers": {
                "shoulder": {"type": "pd", "kp": "gain", "kd": "gain/10", "target": "w*t"}
            },
            "events": {"level": "shoulder - w/5"},
        },
    ),
    "computed torque": Scene(
        ARM,
        {"g": 9.81, "k": 5.0, "w": 2.0, "gain": 40.0, "m_1": 2.0, "d_2_x": 0.4},
        {"w": 0.5, "m_1": 3.0, "gain": 25.0, "g": 3.7, "k": 8.0, "d_2_x": 0.5},
        {
            "q0": [0.3, -0.2],
            "controllers": {
                "all": {
                    "type": "computed_torque",
                    "kp": "gain",
                    "kd": 5,
                    "targets": {"shoulder": "w*t", "elbow": "sin(w*t)"},
                    "values": {"m_2": 1.2},
                }
            },
        },
    ),
    "stops, contacts, dry friction": Scene(
        BLOCK,
        {"g": 9.81, "f": 3.0, "end": 0.5, "push": 30.0, "m_1": 2.0},
        {"m_1": 1.5, "end": 0.3, "push": 22.0, "g": 5.0, "f": 2.0},
        {
            "q0": [0.0, 0.2],
            "qd0": [0.1, 0.0],
            "forces": {"slide": [{"until": "push/100", "law": "push"}, {"law": "-push/4"}]},
            "stops": {"slide": {"restitution": 0.4, "upper": "end"}},
            "contacts": {"foot": {"friction": 0.2, "restitution": 0.3}},
        },
    ),
    "actuator": Scene(
        DRIVEN,
        {"g": 9.81, "volt": 12.0, "R": 0.3, "m_1": 6.0},
        {"m_1": 4.0, "volt": 9.0, "g": 1.62, "R": 0.5},
        {"signals": {"motor": "volt*cos(5*t)"}},
        skipped=("work", "losses", "balance"),
    ),
    "element model with a constraint": Scene(
        WEIGHT,
        {"g": 9.81, "r": 1.0, "w": 2.0, "m_1": 2.0},
        {"w": 3.0, "m_1": 2.5, "r": 1.25, "g": 4.0},
        {"q0": [0.6, -0.8], "fixed": ["x"], "forces": {"x": "w*cos(t)"}},
        ("H",),
        skipped=("work", "losses", "balance", "reactions"),
    ),
    "moving base": Scene(
        SWING,
        {"g": 9.81, "w": 2.0, "A": 0.2, "m_1": 2.0},
        {"A": 0.3, "m_1": 2.5, "w": 3.0, "g": 4.0},
        {"q0": [0.2], "forces": {"hinge": "A"}},
        ("H",),
        skipped=("work", "losses", "balance"),
    ),
}

OF_ALL = (
    *("t", "q", "qd", "qdd", "tau", "drives", "x", "u", "multipliers", "sigma", "reactions"),
    *("kinetic_energy", "potential_energy", "energy", "work", "losses", "balance"),
)
SPAN: dict[str, Any] = {"t": 0.5, "t_eval": np.linspace(0, 0.5, 11)}
CLOSE = 1e-7
"""The runs differ by rounding, and where steps are taken by it, by little more than rtol."""


def quantities(run: Run, scene: Scene) -> dict[str, Array]:
    """Return all that a run can be asked for."""
    found = {n: run.output(n) for n in (*OF_ALL, *scene.outputs) if n not in scene.skipped}
    for name in ("contact_forces", "contact_loads", "friction_forces"):
        found |= {f"{name} {key}": value for key, value in getattr(run, name).items()}
    found["events"] = np.array([[event.t, *event.q] for event in run.events])
    return found


def assert_same(a: Mapping[str, Array], b: Mapping[str, Array]) -> None:
    """Compare all quantities, each on the scale of its own numbers."""
    assert a.keys() == b.keys()
    for name, expected in b.items():
        assert a[name].shape == expected.shape, name
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        assert np.max(np.abs(a[name] - expected), initial=0.0) < CLOSE * scale, name


@pytest.fixture(params=SCENES)
def scene(request: pytest.FixtureRequest) -> Scene:
    return SCENES[request.param]


EXPECTED: dict[str, Run] = {}
"""Runs of files with the numbers of the scenes, by text and numbers."""


def expected_run(scene: Scene, values: Mapping[str, float] | None = None) -> Run:
    own = {**scene.values} if values is None else values
    key = repr((scene.text, sorted(own.items()), scene.options))
    if key not in EXPECTED:
        EXPECTED[key] = simulate(scene.mechanism(own), **scene.options, **SPAN)
    return EXPECTED[key]


@pytest.mark.slow
def test_a_run_with_values_is_that_of_a_file_with_these_numbers(scene: Scene) -> None:
    run = simulate(scene.mechanism(), values=scene.values, **scene.options, **SPAN)
    unlike = simulate(scene.mechanism(), **scene.options, **SPAN)
    expected = expected_run(scene)
    assert_same(quantities(run, scene), quantities(expected, scene))
    assert np.abs(run.q - unlike.q).max() > 1e-3


@pytest.mark.slow
def test_every_single_value_counts(scene: Scene) -> None:
    """A parameter of the file and a number of the mechanism, each alone."""
    for name, value in list(scene.values.items())[:2]:
        given = {name: value}
        run = simulate(scene.mechanism(), values=given, **scene.options, **SPAN)
        expected = expected_run(scene, given)
        assert_same(
            {"q": run.q, "energy": run.energy}, {"q": expected.q, "energy": expected.energy}
        )


def test_the_model_of_a_run_has_its_values(scene: Scene) -> None:
    run = simulate(scene.mechanism(), values=scene.values, **scene.options, **SPAN)
    found, expected = run.model, expected_run(scene).model
    ones = np.ones(found.mechanism.nv)
    outputs = [name for name in ("mass_matrix", "forward_dynamics") if name in found.outputs]
    given: dict[str, Any] = {"q": run.q[-1], "qd": ones, "t": 0.3, "outputs": outputs}
    given |= {"tau": ones} if "forward_dynamics" in outputs else {}
    assert_same(found.evaluate(**given), expected.evaluate(**given))


def test_a_resumed_run_has_the_values(scene: Scene, tmp_path: Path) -> None:
    mechanism = scene.mechanism()
    options: dict[str, Any] = {**scene.options, "values": scene.values}
    first = simulate(mechanism, **options, t=0.2, t_eval=SPAN["t_eval"][:5])
    for ending in ("npz", "parquet"):
        first.save(tmp_path / f"run.{ending}")
        before = Run.load(tmp_path / f"run.{ending}")
        run = simulate(mechanism, **options, **SPAN, resume=before)
        expected = expected_run(scene)
        assert_same({"q": run.q, "qd": run.qd}, {"q": expected.q, "qd": expected.qd})


@pytest.mark.slow
def test_motions_of_a_batch_have_their_own_values(scene: Scene) -> None:
    """The second of three has the values of the scene."""
    shares = np.array([0.0, 1.0, 0.0])
    values = {
        name: scene.numbers[name] + shares * (value - scene.numbers[name])
        for name, value in scene.values.items()
    }
    batch = simulate_batch(scene.mechanism(), values=values, **scene.options, **SPAN, threads=1)
    for motion in range(3):
        expected = expected_run(scene, {name: float(x[motion]) for name, x in values.items()})
        found = {"q": batch.q[motion], "qd": batch.qd[motion]}
        assert_same(found, {"q": expected.q, "qd": expected.qd})
        assert_same({"energy": batch.output("energy")[motion]}, {"energy": expected.energy})


def test_runs_of_a_batch_have_all_quantities_of_their_values(scene: Scene) -> None:
    values = {name: [scene.numbers[name], value] for name, value in scene.values.items()}
    options: dict[str, Any] = {**scene.options, **SPAN, "values": values}
    batch = simulate_batch(scene.mechanism(), **options, runs=True, threads=1)
    assert_same(quantities(batch.runs[1], scene), quantities(expected_run(scene), scene))


def test_values_of_a_scenario_count(tmp_path: Path) -> None:
    scene = SCENES["loop"]
    (tmp_path / "four_bar.toml").write_text(scene.text.format(**scene.numbers))
    lines = "\n".join(f"{name} = {value}" for name, value in scene.values.items())
    (tmp_path / "fall.toml").write_text(
        f"""
mechanism = "four_bar.toml"
time = [0, 0.5]
[initial]
q = {{ crank = 1.0 }}
qd = {{ crank = 3.0 }}
[output]
every = 0.05
[values]
{lines}
[forces]
rocker = "e*cos(t) - a"
[events]
turn = "crank - 6*a"
"""
    )
    run = simulate(tmp_path / "fall.toml")
    assert_same(quantities(run, scene), quantities(expected_run(scene), scene))


def test_a_force_law_gets_its_own_parameter() -> None:
    """x = (e + w) t^2 / (2 m), with values for two of the three names."""
    b = cf.Mechanism.builder("m", gravity=(0, 0, 0)).parameter("e", 2).parameter("w", 0.5)
    b.segment("x", parent="ground", joint="prismatic", axis=[1, 0, 0], mass=1)
    b.force("x", "w")
    run = simulate(b.build(), t=1, t_eval=[1], values={"m_1": 1.25, "w": 0.8}, forces={"x": "e"})
    assert run.q[0, 0] == pytest.approx((2 + 0.8) / 1.25 / 2, rel=1e-12)


def test_a_name_that_means_two_things_is_refused() -> None:
    text = SWING.format(**SCENES["moving base"].numbers).replace("A =", "g = 5\nA =")
    mechanism = read_text(text.replace('"A*sin(w*t)"', '"g*sin(w*t)"'), "toml")
    with pytest.raises(Error, match="has the name that is given to a number"):
        simulate(mechanism, values={"g": 2.0}, t=0.1)
    both = simulate(mechanism, values={"m_1": 2.5}, t=0.1)
    assert both.q.shape[0] == 201


def test_a_model_without_values_is_no_controller() -> None:
    """A parameter of another file is not one of this mechanism that has the same name."""
    scene = SCENES["computed torque"]
    text = scene.text.format(**scene.numbers).replace("k = 5.0", "k = {}")
    table = {**scene.options["controllers"]["all"], "model": read_text(text, "toml")}
    with pytest.raises(RunError, match="the parameter k of the model has no value"):
        simulate(scene.mechanism(), q0=[0.3, -0.2], controllers={"all": table}, t=0.1)


@pytest.mark.slow
def test_another_value_for_what_is_a_number_by_now_is_refused() -> None:
    """Limits, axes and rotations take the values of parameters when the file is read."""
    scene = SCENES["stops, contacts, dry friction"]
    mechanism = read_text(
        scene.text.format(**scene.numbers).replace("upper = 2", 'upper = "end"'), "toml"
    )
    options: dict[str, Any] = {"stops": True, "t": 0.1}
    with pytest.raises(RunError, match=r"end became a number .* in .*upper"):
        simulate(mechanism, values={"end": 0.3}, **options)
    with pytest.raises(RunError, match="end became a number"):
        simulate_batch(mechanism, values={"end": [0.5, 0.3]}, **options)
    assert simulate(mechanism, values={"end": 0.5, "m_1": 3.0}, **options).t[-1] == 0.1
    named: dict[str, Any] = {"stops": {"slide": {"upper": "end"}}}
    assert simulate(scene.mechanism(), values={"end": 0.3}, t=0.1, **named).t[-1] == 0.1


AMOUNTS = """
parameters = { m = 2, d = 0.1, k = 3, c = 0.2 }
[[segments]]
name = "a"
joint = { name = "a", type = "prismatic", axis = "x", friction = { viscous = "d" } }
mass = "m - 1"
[[springs]]
joint = "a"
stiffness = "k"
damping = "c"
"""


@pytest.mark.parametrize("value", [{"m": 0.5}, {"d": -0.1}, {"k": -1}, {"c": -1}, {"m": 0}])
def test_a_value_that_no_file_may_have_is_refused(value: dict[str, float]) -> None:
    mechanism = read_text(AMOUNTS, "toml")
    with pytest.raises(RunError, match="is negative with"):
        simulate(mechanism, q0=[1.0], values=value)
    (name, number) = next(iter(value.items()))
    with pytest.raises(RunError, match="is negative with"):
        simulate_batch(mechanism, q0=[1.0], values={name: [3.0, number, 2.0]})
    assert simulate(mechanism, q0=[1.0], values={**value, name: 3.0}).about.ending == "end"


def test_a_negative_mass_by_its_automatic_name_is_refused() -> None:
    mechanism = read_text(AMOUNTS.replace('"m - 1"', "1"), "toml")
    with pytest.raises(RunError, match="mass is negative"):
        simulate(mechanism, values={"m_1": -1.0})


def test_negative_moments_of_inertia_are_refused() -> None:
    """A file only warns of them; a motion would have negative kinetic energy."""

    def wheel(moment: str) -> cf.Mechanism:
        text = AMOUNTS.replace('mass = "m - 1"', f'mass = 1\ninertia = [1, "{moment}", 1]')
        return read_text(text.replace("prismatic", "revolute").replace('"x"', '"y"'), "toml")

    with pytest.raises(RunError, match="it is negative"):
        simulate(wheel("-5"), t=0.1)
    with pytest.raises(RunError, match="principal moment of inertia is negative with"):
        simulate(wheel("m"), t=0.1, values={"m": -5})
    with pytest.raises(RunError, match="principal moment of inertia is negative with"):
        simulate_batch(wheel("2*m"), t=0.1, values={"m": [1.0, -1e-3]})
    assert simulate(wheel("m"), t=0.1, values={"m": 0.5}).q.shape == (201, 1)
