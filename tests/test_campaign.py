"""The campaign: its reference against hand and Pinocchio, a short round, and planted defects."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.formulations import Formulation
from chainform.formulations.shared import forces
from chainform.model import Model
from chainform.readers import read_text
from chainform.runtime import Program
from chainform.simulation import run as runs
from chainform.verification.reference.drives import by_drives
from chainform.verification.reference.dynamics import BodyState, UnsureError, solved
from chainform.verification.reference.expressions import Jet, law
from chainform.verification.reference.kinematics import BodySystem
from chainform.verification.reference.motions import Mover
from chainform.verification.reference.quantities import StateAnswer
from derivation import Derivation
from pinocchio_oracle import Oracle
from tools.campaign.command import main
from tools.campaign.compare import Finding, agree, outcome_of
from tools.campaign.crew import rounds
from tools.campaign.edits import whole
from tools.campaign.events import events_of
from tools.campaign.paths import (
    PATHS,
    applies,
    bound,
    derivatives,
    further,
    inverse,
    linear,
    motions,
    poses,
    prescribed,
    rest,
    statics,
    tasks,
    texts,
)
from tools.campaign.paths import Path as CasePath
from tools.campaign.report import script_of
from tools.campaign.rounds import round_of
from tools.campaign.shrink import shrunk, size, with_numbers
from tools.campaign.tasks import case_of

ROOT = Path(__file__).parents[1]
SEED = 3
CASES = 5


def rod(name: str, parent: str, place: list[float], axis: str = "y") -> dict[str, Any]:
    """A body on a hinge, its mass centre below."""
    joint = {"name": f"j{name}", "type": "revolute", "axis": axis}
    body = {"mass": 2.0, "com": [0, 0, -0.4], "inertia": [0.1, 0.2, 0.3]}
    return {"name": name, "parent": parent, "joint": joint, "position": place, **body}


DOUBLE = {
    "name": "double",
    "gravity": [0, 0, -9.81],
    "segments": [rod("a", "ground", [0, 0, 0]), rod("b", "a", [0, 0, -0.8])],
}


def case(table: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A case with a simple state."""
    system = BodySystem.of(table)
    n = system.nv
    state = {name: [0.3 + 0.1 * i for i in range(n)] for name in ("q", "qd", "qdd", "tau")}
    given = {
        "seed": 0,
        "case": 0,
        "mechanism": table,
        **state,
        "t": 0.0,
        "numbers": [],
        "wrong": {},
    }
    given |= {"batch": [dict(state) for _ in range(5)], "motion": {"times": [0.0, 0.1]}}
    return whole({**given, **more})


# --- the reference --------------------------------------------------------------------------


def test_reference_has_the_double_pendulum_of_the_textbook() -> None:
    q, qd = np.array([0.4, 0.7]), np.array([1.1, -0.6])
    answer = StateAnswer(DOUBLE, {"q": q, "qd": qd})
    m, c, l, I = 2.0, 0.4, 0.8, 0.2
    bend = m * l * c * np.cos(q[1])
    H = np.array(
        [
            [2 * I + 2 * m * c**2 + m * l**2 + 2 * bend, I + m * c**2 + bend],
            [I + m * c**2 + bend, I + m * c**2],
        ]
    )
    pull = m * l * c * np.sin(q[1])
    centrifugal = np.array([-pull * qd[1] * (2 * qd[0] + qd[1]), pull * qd[0] ** 2])
    second = m * 9.81 * c * np.sin(q[0] + q[1])
    weight = np.array([m * 9.81 * (c + l) * np.sin(q[0]) + second, second])
    assert np.allclose(answer.value("mass_matrix"), H, rtol=0, atol=1e-14)
    assert np.allclose(answer.value("gravity"), weight, rtol=0, atol=1e-13)
    assert np.allclose(answer.value("bias"), weight + centrifugal, rtol=0, atol=1e-13)
    assert np.isclose(answer.value("kinetic_energy"), qd @ H @ qd / 2)


@pytest.mark.parametrize("number", range(8))
def test_reference_agrees_with_pinocchio(number: int) -> None:
    given = case_of(11, number)
    table = given["mechanism"]
    if "parameters" in table:
        with_numbers(table)
    for name in ("base", "springs", "loops", "actuators", "constraints", "forces", "parameters"):
        table.pop(name, None)
    for segment in table["segments"]:
        joint: dict[str, Any] = segment["joint"]
        for name in ("mimic", "friction", "rotor_inertia", "gear_ratio"):
            joint.pop(name, None)
    oracle = Oracle(read_text(json.dumps(table), "json"))
    q = oracle.random_q(number)
    v, a = np.random.default_rng(number).normal(size=(2, BodySystem.of(table).nv))
    answer = StateAnswer(table, {"q": q, "qd": v, "qdd": a})
    assert np.allclose(answer.value("mass_matrix"), oracle.mass_matrix(q), atol=1e-12)
    assert np.allclose(
        answer.value("inverse_dynamics"), oracle.inverse_dynamics(q, v, a), atol=1e-11
    )


def test_laws_have_two_derivatives() -> None:
    found = law("sin(2*x)^2/x - exp(-x)*sqrt(x)", {"x": Jet(0.7, 1.0)})
    h = 1e-4
    values = [law("sin(2*x)^2/x - exp(-x)*sqrt(x)", {"x": Jet(0.7 + d)}).value for d in (-h, 0, h)]
    assert np.isclose(found.first, (values[2] - values[0]) / (2 * h), rtol=1e-6)
    assert np.isclose(found.second, (values[2] - 2 * values[1] + values[0]) / h**2, rtol=1e-5)


def test_rows_of_rounding_errors_are_zero() -> None:
    J = np.array([[1e-16, -3e-16], [2e-16, 0]])
    found = solved(np.diag([1.0, 2.0]), J, np.array([3.0, 4.0]), np.array([1e-16, 1e-16]))
    assert np.allclose(found.qdd, [3, 2])
    assert not found.is_unique


def test_accelerations_are_those_of_the_null_space() -> None:
    # The middle of three slides on one loop has no mass: all fall alike.
    H, J = np.diag([1.0, 0.0, 1.0]), np.array([[1.0, -1, 0], [0, 1, -1], [1, 0, -1]])
    found = solved(H, J, np.array([-10.0, 0, -10]), np.zeros(3))
    assert np.allclose(found.qdd, -10)
    assert not found.is_unique
    with pytest.raises(UnsureError):
        solved(H, J[:0], np.array([-10.0, 0, -10]), np.zeros(0))


def test_a_ball_of_the_reference_bounces() -> None:
    joint = {"name": "z", "type": "prismatic", "axis": "z"}
    table = {"gravity": [0, 0, -10], "segments": [{"name": "ball", "joint": joint, "mass": 2.0}]}
    stops = {"z": {"lower": 0.0, "restitution": 0.5}}
    task = {"q0": [0.2], "qd0": [0.0], "times": [0.0, 0.1, 0.35], "stops": stops}
    path = Mover(BodySystem.of(table), task).run()
    fall = np.sqrt(0.04)
    assert np.allclose([impact.t for impact in path.impacts], [fall])
    assert np.allclose(path.impacts[0].qd_after, 5 * fall)
    late = 0.35 - fall
    assert np.allclose(path.q[:, 0], [0.2, 0.15, 5 * fall * late - 5 * late**2])


def slide(**motion: Any) -> Any:
    """The motion of a mass of 2 kg on a slide without weight, by the reference."""
    joint = {"name": "x", "type": "prismatic", "axis": "x"}
    table = {"gravity": [0, 0, 0], "segments": [{"name": "b", "joint": joint, "mass": 2.0}]}
    start = {"q0": [0.0], "qd0": [0.0], "times": [0.0, 0.25]}
    return BodySystem.of(table), Mover(BodySystem.of(table), {**start, **motion}).run()


def test_a_short_touch_of_the_reference_is_not_missed() -> None:
    """A ball that is thrown up against a ceiling would be back before the first step ends."""
    ball = {"name": "b", "joint": {"name": "j", "type": "prismatic", "axis": "z"}, "mass": 1}
    given = {"name": "ball", "gravity": [0, 0, -10], "segments": [ball]}
    stop = {"upper": 0.19, "restitution": 1.0}
    task = {"q0": [0.0], "qd0": [2.0], "times": [0.4], "stops": {"j": stop}}
    path = Mover(BodySystem.of(given), task).run()
    rate = np.sqrt(4 - 20 * 0.19)
    t = (2 - rate) / 10
    assert [impact.t for impact in path.impacts] == pytest.approx([t], abs=1e-9)
    rest = 0.4 - t
    assert path.q[-1, 0] == pytest.approx(0.19 - rate * rest - 5 * rest**2, abs=1e-8)


def test_efforts_that_are_held_by_hand() -> None:
    _, path = slide(forces={"x": "40*t"}, hold=0.1)
    # 0, 4 and 8 N, each for 0.1 s.
    assert np.allclose(path.qd[-1], (4 * 0.1 + 8 * 0.05) / 2)
    assert np.allclose(path.q[-1], 2 * 0.1**2 / 2 + 0.2 * 0.05 + 4 * 0.05**2 / 2)


def test_feedback_makes_a_spring() -> None:
    control = {"type": "state_feedback", "K": [[18.0, 0.0]], "joints": ["x"], "u_ref": [0]}
    _, path = slide(controllers={"feedback": {**control, "q_ref": {"x": 1}}})
    assert np.allclose(path.q[-1], 1 - np.cos(3 * 0.25))


def test_events_by_hand() -> None:
    system, path = slide(qd0=[2.0])
    times = [t for t, _, _ in events_of(system, path, {"law": "x - 0.3", "direction": "rising"})]
    assert np.allclose(times, [0.15], rtol=0, atol=1e-12)
    assert not list(events_of(system, path, {"law": "x - 0.3", "direction": "falling"}))
    with pytest.raises(UnsureError):
        list(events_of(system, path, {"law": "(x - 0.3)^2"}))


def test_drives_of_a_closed_chain_by_hand() -> None:
    # Two slides that a tie holds together: each of two drives has half of the force.
    joints = [{"name": n, "type": "prismatic", "axis": "x"} for n in "ab"]
    bodies = [{"name": f"b{j['name']}", "joint": j, "mass": 1.0} for j in joints]
    tie = {"name": "tie", "kind": "holonomic", "law": "a - b"}
    table = {"gravity": [0, 0, 0], "segments": bodies, "constraints": [tie]}
    state = BodyState.of(BodySystem.of(table), np.zeros(2), np.zeros(2))
    tau, multipliers = by_drives(state, np.array([3.0, 3.0]), 1)
    assert np.allclose(tau, [3, 3])
    assert np.allclose(multipliers, [0])
    tau, multipliers = by_drives(state, np.array([3.0, 3.0]), 2)
    assert np.allclose(tau, [6, 0])
    assert np.allclose(multipliers, [-3])


def test_the_ground_is_normal_to_z_without_gravity() -> None:
    joint = {"name": "z", "type": "prismatic", "axis": "z"}
    table = {"gravity": [0, 0, 0], "segments": [{"name": "ball", "joint": joint, "mass": 2.0}]}
    table["frames"] = [{"name": "tip", "segment": "ball"}]
    contacts = {"tip": {"restitution": 0.5, "friction": 0}}
    task = {"q0": [0.2], "qd0": [-2.0], "times": [0.0, 0.2], "contacts": contacts}
    path = Mover(BodySystem.of(table), task).run()
    assert np.allclose([impact.t for impact in path.impacts], [0.1])
    assert np.allclose(path.q[:, 0], [0.2, 0.1])


def test_a_moving_constraint_keeps_its_rate_in_an_impact() -> None:
    joints = [{"name": n, "type": "prismatic", "axis": n} for n in "xy"]
    bodies = [{"name": f"b{j['name']}", "joint": j, "mass": 1.0} for j in joints]
    law_of_y = {"name": "tie", "kind": "holonomic", "law": "y - 2*t"}
    table = {"gravity": [0, 0, 0], "segments": bodies, "constraints": [law_of_y]}
    stops = {"x": {"upper": 0.1, "restitution": 1.0}}
    task = {"q0": [0.0, 0.0], "qd0": [1.0, 2.0], "times": [0.0, 0.2], "stops": stops}
    path = Mover(BodySystem.of(table), task).run()
    assert np.allclose(path.qd[-1], [-1.0, 2.0])
    assert np.allclose(path.q[-1], [0.0, 0.4])


# --- the round ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(CASES))
def test_round_without_disagreement(number: int) -> None:
    counts = round_of(SEED, number, seconds=10)
    assert not counts.disagreements, "\n".join(counts.scripts.values())
    assert sum(counts.comparisons.values()) > 10


@pytest.mark.parametrize(
    ("name", "number", "count"),
    [
        ("first_derivatives", 24, 9),
        ("second_derivatives", 33, 6),
        ("regressors", 15, 2),
        ("small_motions", 2, 4),
        ("small_motions", 33, 4),
        ("own_outputs", 4, 3),
    ],
)
def test_derivatives_of_random_mechanisms(name: str, number: int, count: int) -> None:
    """A ball joint, laws of forces, springs; a loop with actuators, constraints; two hinges."""
    path, given = path_of(name), case_of(21, number)
    outcome = outcome_of(path, given)
    assert not outcome.findings, [script_of(path, given, finding) for finding in outcome.findings]
    assert outcome.comparisons == count


@pytest.mark.parametrize(
    ("name", "seed", "number"),
    [
        ("modes", 9, 96),
        ("modes", 5, 39),
        ("equilibrium_path", 9, 72),
        ("equilibrium_path", 771, 118),
    ],
)
def test_cases_that_were_wrong_once(name: str, seed: int, number: int) -> None:
    """Stiffness by rounding, rods twice at a dead point, a start that was left."""
    path, given = path_of(name), case_of(seed, number)
    outcome = outcome_of(path, given)
    assert not outcome.findings, [script_of(path, given, finding) for finding in outcome.findings]


def test_a_case_is_the_same_every_time() -> None:
    assert case_of(5, 17) == case_of(5, 17)
    assert json.loads(json.dumps(case_of(5, 17))) == case_of(5, 17)
    assert case_of(5, 17) != case_of(5, 18)


def test_every_path_is_in_the_table() -> None:
    listed = {path.run.__name__ for path in PATHS}
    for module, helpers in (
        (bound, {"with_wrong_values"}),
        (further, {"_is_taken", "hinged", "turned", "ways"}),
        (derivatives, {"all_move", "unit_rows"}),
        (inverse, {"with_unknowns"}),
        (linear, {"at_rest", "chosen", "of_rest"}),
        (poses, {"arm_of", "directions"}),
        (prescribed, {"followed"}),
        (rest, {"acting", "held"}),
        (tasks, {"free_names", "laws_of", "moment", "named", "poses_of"}),
        (texts, {"model_of", "shapes", "stepped", "written"}),
        (
            motions,
            {
                "reactions_of",
                "arguments_of",
                "states",
                "laws",
                "impacts_of",
                "starts_of",
                "of_lanes",
            },
        ),
        (
            statics,
            {"mechanism_of", "wanted", "of_frames", "state_of", "evaluated", "called"}
            | {"by_laws", "through", "of_urdf"},
        ),
    ):
        own = {
            n for n, f in vars(module).items() if getattr(f, "__module__", "") == module.__name__
        }
        assert own - listed - helpers - {"by_formulation"} == set()


def test_nothing_is_compared_beyond_the_horizon() -> None:
    assert agree([[1.0, 2.0]], np.zeros(0), 1e-9, has_horizon=True)
    assert agree([1.0, 5.0], [1.0], 1e-9, has_horizon=True)
    assert not agree([1.0], [1.0, 5.0], 1e-9, has_horizon=True)
    assert not agree([1.0, 5.0], [1.0], 1e-9)
    assert not agree([np.nan], [1.0], 1e-9)


# --- planted defects ------------------------------------------------------------------------


def path_of(name: str) -> CasePath:
    """A path by the name of its function."""
    return next(path for path in PATHS if path.run.__name__ == name)


def shown(path: CasePath, given: dict[str, Any], finding: Finding) -> tuple[dict[str, Any], str]:
    """Make a case smaller; return it, and its script."""
    smaller, same = shrunk(path, given, finding, seconds=8)
    assert same.label == finding.label
    assert size(smaller) < size(given)
    return smaller, script_of(path, smaller, same)


@pytest.mark.slow
def test_a_wrong_sign_in_a_formulation_is_found(
    monkeypatch: pytest.MonkeyPatch, derived_graphs: Derivation
) -> None:
    monkeypatch.setattr(Formulation, "graph", derived_graphs)
    table = json.loads(json.dumps(DOUBLE))
    table["springs"] = [{"joint": "jb", "stiffness": 20, "rest": 0.1}]
    given = case(table)
    path = path_of("newton_euler")
    assert not outcome_of(path, given).findings
    right = forces._Springs._joint_force
    monkeypatch.setattr(forces._Springs, "_joint_force", lambda *a: -1 * right(*a))
    findings = outcome_of(path, given).findings
    assert {finding.key for finding in findings} == {"inverse_dynamics", "passive"}
    smaller, script = shown(path, given, findings[0])
    assert len(smaller["mechanism"]["segments"]) == 1
    assert "expected = np.array" in script


def test_values_that_are_ignored_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    table = json.loads(json.dumps(DOUBLE))
    table["segments"][1]["mass"] = "p0"
    given = case({**table, "parameters": {"p0": 2.0}}, wrong={"p0": 3.0})
    path = path_of("at_evaluate")
    assert not outcome_of(path, given).findings
    right = Model.evaluate

    def ignoring(self: Model, *args: Any, values: Any = None, **more: Any) -> Any:
        return right(self, *args, **more)

    monkeypatch.setattr(Model, "evaluate", ignoring)
    findings = outcome_of(path, given).findings
    assert "mass_matrix" in {finding.key for finding in findings}
    smaller, _ = shown(path, given, findings[0])
    assert len(smaller["mechanism"]["segments"]) == 1


def test_a_coriolis_matrix_that_is_transposed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    given, path = case(DOUBLE), path_of("auto")
    assert not outcome_of(path, given).findings
    right = Model.evaluate

    def transposed(self: Model, *args: Any, **more: Any) -> Any:
        found = right(self, *args, **more)
        return {n: v.T if n == "coriolis_matrix" else v for n, v in found.items()}

    monkeypatch.setattr(Model, "evaluate", transposed)
    assert {finding.key for finding in outcome_of(path, given).findings} == {"Cm qd"}


def test_a_derivative_that_lacks_friction_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    table = json.loads(json.dumps(DOUBLE))
    table["segments"][1]["joint"]["friction"] = {"viscous": 0.7}
    given, path = case(table), path_of("first_derivatives")
    assert not outcome_of(path, given).findings
    right = Model.evaluate

    def frictionless(self: Model, *args: Any, **more: Any) -> Any:
        found = right(self, *args, **more)
        text = "derivative(inverse_dynamics,qd)"
        return {n: v - np.diag([0, 0.7]) if n == text else v for n, v in found.items()}

    monkeypatch.setattr(Model, "evaluate", frictionless)
    keys = {finding.key for finding in outcome_of(path, given).findings}
    assert keys == {"inverse_dynamics by qd", "same weights by qd", "same direction by qd"}


PLANTED = {
    "kinematics": ("kinematics", "acceleration(b)", "acceleration in motion, b"),
    "completed": ("kinematics", "qdd", "completed qdd"),
    "loads": ("inverse_dynamics", "power", "power of loads"),
    "held": ("statics", "tau", "tau that holds"),
    "held_by_wrench": ("statics", "wrench", "wrench on a frame"),
    "workspace": ("workspace", "position", "reached, b"),
    "equilibria": ("equilibria", "stable", "stable at rest"),
    "targets": ("inverse_kinematics", "q", "place at the target, b"),
    "target_path": ("inverse_kinematics", "qdd", "acceleration of a curve, b"),
    "modes": ("modes", "pole_imag", "powers of poles"),
    "frequency_response": ("frequency_response", "real", "real parts of the response"),
    "sensitivities": ("sensitivities", "d(q)", "change of a motion"),
}
"""By path: the task and the array of its result that is falsified, and where that is seen."""


@pytest.mark.parametrize("name", PLANTED)
def test_falsified_results_of_tasks_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given, path = case(DOUBLE, case=1), path_of(name)
    assert not outcome_of(path, given).findings
    task, array, key = PLANTED[name]
    right: Any = getattr(cf, task)

    def falsified(*args: Any, **more: Any) -> Any:
        found = right(*args, **more)
        return replace(found, arrays={**found.arrays, array: found[array] + 1e-3})

    monkeypatch.setattr(cf, task, falsified)
    findings = {finding.key: finding for finding in outcome_of(path, given).findings}
    assert f"def {name}(" in script_of(path, given, findings[key])


def test_models_in_postgres(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, given = path_of("stored_in_postgres"), case(DOUBLE)
    monkeypatch.setenv("CAMPAIGN_POSTGRES", postgres_url)
    outcome = outcome_of(path, given)
    assert not outcome.findings
    assert outcome.comparisons == 6
    assert applies(path, given)
    monkeypatch.delenv("CAMPAIGN_POSTGRES")
    assert not applies(path, given)


def test_a_lost_lane_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    given = case({**DOUBLE, "segments": DOUBLE["segments"][:1]})
    given["batch"] = [
        {n: [v + 0.1 * i for v in b[n]] for n in b} for i, b in enumerate(given["batch"])
    ]
    path = path_of("compiled_batch")
    assert not outcome_of(path, given).findings
    right = Program.function

    def losing(self: Program, *outputs: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            found = right(self, *outputs)(*args, **named)
            found[-1] = found[0]
            return found

        return call

    monkeypatch.setattr(Program, "function", losing)
    findings = outcome_of(path, given).findings
    assert findings
    smaller, _ = shown(path, given, findings[0])
    assert len(smaller["batch"]) == 2


def test_a_wrong_book_and_a_foreign_error_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    given = case(DOUBLE)
    path = path_of("simulated")
    assert not outcome_of(path, given).findings
    right = runs.Run.losses.fget
    assert right is not None
    monkeypatch.setattr(runs.Run, "losses", property(lambda run: right(run) + run.t))
    assert {f.key for f in outcome_of(path, given).findings} == {"drift of the balance"}
    monkeypatch.setattr(runs.Run, "losses", property(lambda run: 1 / len(run.t[:0])))
    found = outcome_of(path, given).findings
    assert [f.kind for f in found] == ["foreign"]


def test_a_refusal_without_a_reason_is_found() -> None:
    given = case(DOUBLE)
    given["mechanism"]["gravity"] = "down"
    outcome = outcome_of(path_of("auto"), given)
    assert [f.kind for f in outcome.findings] == ["refused"]
    assert outcome.refusals


# --- the command ----------------------------------------------------------------------------


def test_scripts_run_by_themselves(tmp_path: Path) -> None:
    given = case(DOUBLE)
    path = path_of("auto")
    wrong = Finding(path.name, "wrong", "gravity", np.zeros(2), np.zeros(2))
    file = tmp_path / "script.py"
    file.write_text(script_of(path, given, wrong))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, env=environment, check=True
    )
    assert "largest difference:" in done.stdout


@pytest.mark.slow
def test_one_case_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    assert main(["--seed", str(SEED), "--case", "0", "--json", str(counts)]) == 0
    assert "1 mechanisms" in capsys.readouterr().out
    assert json.loads(counts.read_text())["cases"] == 1


def processes_of(group: int) -> list[str]:
    """The processes of a group that run."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pgid=,stat=,args="], capture_output=True, text=True, check=True
    )
    lines = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [what[-1] for own, stat, *what in lines if int(own) == group and stat[0] != "Z"]


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_campaign(end: signal.Signals, tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    # A shell lets its background processes ignore SIGINT.
    command = f"trap '' INT; exec {sys.executable} tools/campaign.py --seed {SEED} --json {counts}"
    campaign = subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    until = monotonic() + 120
    while not counts.exists() and monotonic() < until:
        sleep(0.05)
    campaign.send_signal(end)
    printed, _ = campaign.communicate(timeout=60)
    while processes_of(campaign.pid) and monotonic() < until:
        sleep(0.05)
    assert not processes_of(campaign.pid)
    assert json.loads(counts.read_text())["cases"] >= 1
    assert ("mechanisms, " in printed) == (end == signal.SIGINT)


def test_a_case_that_hangs_is_reported() -> None:
    found = list(rounds([SEED], iter([0]), lambda: True, limit=0.0))
    assert len(found) == 1
    assert "hung" in next(iter(found[0].disagreements))
