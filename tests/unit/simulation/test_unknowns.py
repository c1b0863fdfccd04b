"""Forces that a model leaves unknown must be given in a motion; found ones give the motion back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from chainform.analysis import complete, unknown_forces
from chainform.errors import Error, ReadError, RunError
from chainform.readers import read_text
from chainform.simulation import Run, simulate, simulate_batch

pytestmark = pytest.mark.any_processor

Array = NDArray[np.float64]

WEIGHT = """
name = "weight"
gravity = [0, -9.81, 0]
coordinates = [{ name = "x", unit = "m" }, { name = "y", unit = "m" }]
elements = ["p: S(x, y, 0); 2", { kind = "force", force = ["F", 0, 0], at = "p" }]
unknowns = ["F"]
[parameters]
w = 3
[[constraints]]
name = "rod"
kind = "holonomic"
law = "x^2 + y^2 - 1"
"""

LIFTED = """
name = "lifted"
gravity = [0, -9.81, 0]
coordinates = [{ name = "x", unit = "m" }, { name = "y", unit = "m" }]
elements = ["p: S(x, y, 0); 2", { kind = "force", force = ["F", 0, 0], at = "p" }]
unknowns = ["F"]
[[constraints]]
name = "lift"
kind = "holonomic"
law = "y - x^2 - sin(t)/5"
[[constraints]]
name = "lift again"
kind = "holonomic"
law = "2*y - 2*x^2 - 2*sin(t)/5"
"""

SKATE = """
name = "skate"
gravity = [0, 0, 0]
coordinates = [{ name = "x", unit = "m" }, { name = "y", unit = "m" }, "phi"]
elements = ["p: S(x, y, 0), Rz(phi); 2, 0.1, 0.1, 0.1",
  { kind = "force", force = ["F", 0, 0], at = "p", axes = "p" },
  { kind = "moment", moment = [0, 0, "M"], on = "p" }]
unknowns = ["F", "M"]
[[constraints]]
name = "blade"
kind = "nonholonomic"
law = "der(y)*cos(phi) - der(x)*sin(phi)"
"""


def four_bar() -> cf.Mechanism:
    text = Path("examples/four_bar.toml").read_text()
    moment = '{ kind = "moment", moment = [0, 0, "M"], on = "crank" }'
    head = f'unknowns = ["M"]\nelements = [{moment}]\n[parameters]'
    return read_text(text.replace("[parameters]", head), "toml")


def box() -> cf.Mechanism:
    """Two rods hold a third one by frames, in space: redundant loops of six rows."""
    b = cf.Mechanism.builder("box").unknowns("M")
    for name, y in (("left", 0), ("right", 1)):
        b.segment(
            name,
            joint={"name": name, "type": "revolute"},
            axis="y",
            position=[0, y, 0],
            parent="ground",
            mass=1,
            com=[0, 0, 0.5],
            inertia=[0.1, 0.1, 0.02],
        )
    b.segment(
        "beam",
        parent="left",
        joint="revolute",
        axis="y",
        position=[0, 0, 1],
        mass=2,
        com=[0, 0.5, 0],
        inertia=[0.2, 0.02, 0.2],
    )
    b.loop(
        "joint",
        "frame",
        {"segment": "beam", "point": [0, 1, 0]},
        {"segment": "right", "point": [0, 0, 1]},
    )
    b.element(kind="moment", moment=[0, "M", 0], on="left")
    return b.build()


def arm() -> cf.Mechanism:
    return cf.read("examples/stanford_elements.toml")


@dataclass(frozen=True)
class Case:
    """A mechanism, laws for its unknown forces, and where it begins."""

    mechanism: cf.Mechanism
    laws: Mapping[str, str]
    start: Mapping[str, Any]

    def expected(self, t: Array) -> Array:
        """Return the laws at times."""
        names = {"t": t, "sin": np.sin, "cos": np.cos}
        given = [eval(law, {"__builtins__": {}}, names) for law in self.laws.values()]  # noqa: S307
        return np.stack([np.broadcast_to(x, t.shape) for x in given], axis=-1)


CASES = {
    "rod": lambda: Case(read_text(WEIGHT, "toml"), {"F": "3*sin(4*t)"}, {"q0": [0.6, -0.8]}),
    "moving rows": lambda: Case(
        read_text(LIFTED, "toml"), {"F": "2 - 5*t"}, {"q0": {"x": 0.3}, "qd0": {"x": 0.1}}
    ),
    "blade": lambda: Case(
        read_text(SKATE, "toml"), {"F": "1 + t", "M": "cos(3*t)"}, {"qd0": {"x": 1.0, "phi": 0.5}}
    ),
    "loop": lambda: Case(four_bar(), {"M": "2 + sin(5*t)"}, {"q0": {"crank": 1.0}}),
    "frames": lambda: Case(box(), {"M": "20*cos(2*t)"}, {"q0": {"left": 0.3}}),
    "tree": lambda: Case(
        arm(), {"M1": "sin(t)", "M2": "15 + t", "F32": "-4*cos(t)"}, {"q0": [0.1, -0.2, 0.6]}
    ),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]()


T = np.linspace(0, 0.4, 21)


def test_forces_of_a_motion_are_found_again(case: Case) -> None:
    """Direct, then inverse: unknown forces and the forces of all rows."""
    run = simulate(case.mechanism, **case.start, t=0.4, t_eval=T, unknowns=case.laws)
    found = unknown_forces(case.mechanism, run.t, run.q, run.qd, run.qdd)
    assert found.kind == "exact"
    assert found.values == pytest.approx(case.expected(T), rel=1e-6, abs=1e-6)
    whole = unknown_forces(case.mechanism, run.t, run.q, run.qd, run.qdd)
    scale = 1 + np.abs(run.multipliers).max(initial=0.0)
    if whole.row_rank.min() == len(whole.rows):
        assert np.abs(whole.multipliers - run.multipliers).max(initial=0.0) < 1e-6 * scale


@pytest.mark.slow
def test_found_forces_give_the_motion_back(case: Case) -> None:
    """Inverse, then direct: a table with half the distances leaves a quarter of the error."""
    errors: list[float] = []
    for count in (41, 81):
        times = np.linspace(0, 0.4, count)
        run = simulate(case.mechanism, **case.start, t=0.4, t_eval=times, unknowns=case.laws)
        found = unknown_forces(case.mechanism, run.t, run.q, run.qd, run.qdd)
        start = {"q0": run.q[0], "qd0": run.qd[0]}
        again = simulate(case.mechanism, **start, t=0.4, t_eval=times, unknowns=found)
        errors.append(float(np.abs(again.q - run.q).max()))
    assert errors[0] < 1e-3
    assert errors[1] < 0.4 * errors[0] + 1e-8


@pytest.mark.slow
def test_a_crank_turns_as_it_was_prescribed() -> None:
    """The motion is prescribed by a law, the moment found, and simulated again."""
    linkage, t = four_bar(), np.linspace(0, 0.5, 401)
    motion = complete(linkage, {"crank": "1 + 2*t + sin(3*t)/4"}, t=t, start={"crank": 1.0})
    found = unknown_forces(linkage, t, motion.q, motion.qd, motion.qdd)
    start = {"q0": motion.q[0], "qd0": motion.qd[0]}
    run = simulate(linkage, **start, t=0.5, t_eval=t, unknowns=found)
    assert np.abs(run.q - motion.q).max() < 1e-5
    assert run.multipliers == pytest.approx(found.multipliers, abs=1e-3)


def test_every_unknown_force_must_be_given() -> None:
    mechanism = read_text(SKATE, "toml")
    with pytest.raises(RunError, match="the mechanism leaves F, M unknown") as caught:
        simulate(mechanism, t=0.1)
    assert 'unknowns={"F": "3*sin(t)"}' in str(caught.value.remedy)
    with pytest.raises(RunError, match="the mechanism leaves M unknown"):
        simulate_batch(mechanism, t=0.1, unknowns={"F": 0})
    rest = simulate(mechanism, t=0.1, unknowns={"F": 0, "M": 0})
    assert rest.q[-1] == pytest.approx([0, 0, 0])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"F": 0, "G": 1}, "no unknown force 'G'"),
        ({"F": "3*z"}, "'z' is not known"),
        ({"F": lambda t: t}, "cannot be a function of Python"),
        ({"F": {"t": [0, 0], "values": [1, 2]}}, "must grow"),
        ({"F": {"t": [0, 1], "values": [1]}}, "equally many"),
        ({"F": {"t": range(3000), "values": range(3000)}}, "3000 entries is too long"),
        (3, "expected a table, got a number"),
    ],
)
def test_wrong_unknowns_are_refused(given: Any, words: str) -> None:
    with pytest.raises(Error, match=words):
        simulate(read_text(WEIGHT, "toml"), q0=[0.6, -0.8], t=0.1, unknowns=given)


def test_forces_without_times_are_no_law() -> None:
    mechanism = read_text(WEIGHT, "toml")
    rest = np.array([[0.6, -0.8]]), np.zeros((1, 2)), np.zeros((1, 2))
    found = unknown_forces(mechanism, None, *rest)
    with pytest.raises(RunError, match="times one after the other"):
        simulate(mechanism, q0=[0.6, -0.8], unknowns=found)


def test_laws_name_parameters_rates_and_definitions() -> None:
    """A law is a law of the elements: with values of parameters, and dampers."""
    mechanism = read_text(WEIGHT, "toml")
    options: dict[str, Any] = {"q0": [0.6, -0.8], "t": 0.3}
    run = simulate(mechanism, **options, unknowns={"F": "w*t - der(x)"}, values={"w": 5.0})
    same = simulate(mechanism, **options, unknowns={"F": "5*t - qd1"})
    assert np.abs(run.q - same.q).max() < 1e-9
    batch = simulate_batch(
        mechanism, **options, unknowns={"F": "w*t - der(x)"}, values={"w": [3, 5]}
    )
    assert np.abs(batch.q[1, -1] - same.q[-1]).max() < 1e-9


def test_a_table_is_linear_in_between_and_constant_beyond() -> None:
    b = cf.Mechanism.builder("cart", gravity=(0, 0, 0)).coordinates("s").unknowns("F")
    cart = b.element("cart: Sx(s); 1").element(kind="force", force="F", along="s").build()
    table = {"F": {"t": [0.5, 1.0, 2.0], "values": [2.0, -1.0, 4.0]}}
    t = np.linspace(0, 3, 31)
    run = simulate(cart, t=3, t_eval=t, unknowns=table)
    assert run.qdd[:, 0] == pytest.approx(np.interp(t, table["F"]["t"], table["F"]["values"]))


def test_a_run_from_its_file_goes_on_with_a_table(tmp_path: Path) -> None:
    """A long table is written as definitions, which are read again."""
    mechanism, t = read_text(WEIGHT, "toml"), np.linspace(0, 0.4, 201)
    table = {"F": {"t": t.tolist(), "values": np.sin(9 * t).tolist()}}
    options: dict[str, Any] = {"unknowns": table, "q0": [0.6, -0.8]}
    whole = simulate(mechanism, **options, t=0.4, t_eval=T)
    simulate(mechanism, **options, t=0.2, t_eval=T[:11]).save(tmp_path / "half.npz")
    run = simulate(mechanism, **options, t=0.4, t_eval=T, resume=Run.load(tmp_path / "half.npz"))
    assert np.abs(run.q - whole.q).max() < 1e-9


SCENARIO = """
mechanism = "weight.toml"
time = [0, 0.4]
[initial]
q = { x = 0.6, y = -0.8 }
[output]
every = 0.02
"""


@pytest.mark.slow
def test_a_scenario_gives_unknown_forces(tmp_path: Path) -> None:
    (tmp_path / "weight.toml").write_text(WEIGHT)
    scenario, table = tmp_path / "swing.toml", tmp_path / "forces.csv"
    scenario.write_text(SCENARIO + '[unknowns]\nF = "w*sin(4*t)"\n')
    by_law = simulate(scenario)
    t = np.linspace(0, 0.4, 401)
    rows = [f"{a},{3 * np.sin(4 * a)}" for a in t]
    table.write_text("\n".join(["t,F", *rows]) + "\n")
    scenario.write_text(SCENARIO + '[unknowns]\nF = { file = "forces.csv" }\n')
    assert np.abs(simulate(scenario).q - by_law.q).max() < 1e-5
    scenario.write_text(SCENARIO)
    with pytest.raises(ReadError, match="leaves F unknown") as caught:
        simulate(scenario)
    assert 'unknowns = { F = "3*sin(t)" }' in str(caught.value.remedy)
