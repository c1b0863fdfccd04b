"""What is given in odd ways does no harm, and is told in words."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import Error, ReadError, RunError
from chainform.readers import read_text
from chainform.simulation import mobility, simulate_batch
from chainform.simulation.equations.initial import check_angles
from unit.simulation.linkages import slider_crank
from unit.simulation.small_machines import BALL, PENDULUM, machine

pytestmark = pytest.mark.any_processor


def test_a_function_may_write_into_what_it_gets() -> None:
    def meddling(_: float, q: Any, qd: Any) -> Any:
        push = -3 * q
        q[:], qd[:] = 7, 7
        return push

    pendulum = machine(PENDULUM)
    meddled = cf.simulate(pendulum, q0=[1.0], t=1, forces=meddling)
    clean = cf.simulate(pendulum, q0=[1.0], t=1, forces={"hinge": "-3*hinge"})
    assert np.abs(meddled.q - clean.q).max() < 1e-9
    assert np.abs(meddled.tau - clean.tau).max() < 1e-9


@pytest.mark.slow
def test_runs_travel_to_other_processes() -> None:
    run = cf.simulate(slider_crank(), q0={"crank": 0.5}, t=0.3)
    again: cf.Run = pickle.loads(pickle.dumps(run))  # noqa: S301, written just now
    assert np.array_equal(again.q, run.q)
    assert np.array_equal(again.sigma, run.sigma)
    assert again.reactions == pytest.approx(run.reactions)


@pytest.mark.parametrize("form", ["npz", "csv", "parquet"])
def test_an_output_does_not_replace_what_acted(form: str, tmp_path: Path) -> None:
    run = cf.simulate(machine(BALL), q0=[1.0], t=1, stops={"height": {"lower": 0}})
    run.save(tmp_path / f"ball.{form}", ["tau", "qd", "qdd", "H"])
    again = cf.Run.load(tmp_path / f"ball.{form}")
    assert np.array_equal(again.tau, run.tau)
    assert np.array_equal(again.output("tau"), run.tau)
    assert np.array_equal(again.qd, run.qd)


def test_a_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "swing.csv"
    cf.simulate(machine(PENDULUM), q0=[1.0]).save(path)
    whole = path.read_text()
    for cut in (whole[:-10], "".join(whole.splitlines(keepends=True)[:40])):
        path.write_text(cut)
        with pytest.raises(ReadError, match=r"cut off|were written"):
            cf.Run.load(path)


def test_an_element_model_goes_on_from_its_file(tmp_path: Path) -> None:
    cart = cf.Mechanism.builder("cart").coordinates("s").unknowns("F").element("cart: Sx(s); 3")
    model = cart.element(kind="force", force="F", along="s").build()
    half = cf.simulate(model, qd0=[1.0], t=1, t_eval=[0.5, 1], unknowns={"F": 0})
    half.save(tmp_path / "cart.npz")
    kept = cf.Run.load(tmp_path / "cart.npz")
    run = cf.simulate(model, t=2, t_eval=[0.5, 1, 2], resume=kept, unknowns={"F": 0})
    assert run.q[:, 0] == pytest.approx([0.5, 1, 2])


def test_devices_do_not_fill_the_memory() -> None:
    with pytest.raises(ReadError, match="64 MB"):
        cf.read("/dev/zero", format="urdf")


def spinning() -> cf.Mechanism:
    builder = cf.Mechanism.builder("top")
    joint = {"name": "ball", "type": "spherical"}
    return builder.segment("top", joint=joint, mass=1, inertia=[1, 2, 3]).build()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cf.simulate(spinning(), q0=[0, 0, 0, 0]), "the quaternion of ball is zero"),
        (lambda: cf.simulate(machine(PENDULUM), q0=["a"]), "not an array of real numbers"),
        (lambda: cf.simulate(machine(PENDULUM), q0=[1, 2]), "has the shape"),
        (lambda: cf.simulate(machine(PENDULUM), q0=[np.nan]), "not finite"),
        (lambda: cf.simulate(machine(PENDULUM), q0=[-1e10]), "the angle .* is 1e\\+10 rad"),
        (lambda: simulate_batch(machine(PENDULUM), q0=[[1], [2e9]]), "the angle .* is 2e\\+09"),
        (lambda: cf.simulate(machine(PENDULUM), t=np.inf), "cannot go from 0 to inf"),
        (lambda: mobility(slider_crank(), [1]), "has the shape"),
        (lambda: cf.simulate(machine(PENDULUM), fixed=["hing"]), "no coordinate named 'hing'"),
        (lambda: cf.simulate(machine(BALL), stops={"height": {"lower": 2, "upper": 1}}), "exceeds"),
        (
            lambda: cf.simulate(machine(BALL), events={"e": {"law": "t", "stop": "no"}}),
            "true or false",
        ),
        (lambda: cf.simulate(machine(PENDULUM)).output(3), "expected a text"),  # type: ignore[arg-type]
    ],
)
def test_faults_are_named(call: Any, message: str) -> None:
    with pytest.raises(Error, match=message) as caught:
        call()
    assert caught.value.element
    assert caught.value.remedy


def on_base(law: str) -> cf.Mechanism:
    text = """
    [base]
    position = ["{}", 0, 0]
    [[segments]]
    name = "rod"
    joint = {{ type = "revolute", axis = "y" }}
    mass = 1
    com = [0, 0, -1]
    """
    return read_text(text.format(law), "toml")


def held(law: str) -> cf.Mechanism:
    builder = cf.Mechanism.builder("held")
    builder.segment("a", joint={"name": "x", "type": "prismatic"}, axis="x", mass=1)
    return builder.constraint("holonomic", f"x - ({law})").build()


@pytest.mark.parametrize("made", [on_base, held])
def test_a_law_whose_rate_jumps_is_refused(made: Callable[[str], cf.Mechanism]) -> None:
    for law in ("abs(t - 0.5)", "max(0.5 - t, t - 0.5)", "step(t - 0.5)", "min(t, 0.7)"):
        with pytest.raises(RunError, match=r"rate jumps at t = 0\.[57] s"):
            cf.simulate(made(law), t=1)
    for law in (
        "step(t - 0.5)*(t - 0.5)^2",
        "abs(t + 1)",
        "abs(sin(9*t))^3",
        "min(t, 2)",
        "abs(t)",
    ):
        assert cf.simulate(made(law), t=1, t_eval=[1]).about.ending == "end"


def test_lengths_may_be_larger_than_angles() -> None:
    """Of a large angle few digits are left that are no turns; a length has no turns."""
    check_angles(machine(BALL), np.array([[1.0], [2e9]]))
    check_angles(machine(PENDULUM), np.array([[1.0], [-1e9]]))
    with pytest.raises(RunError, match="the angle hinge is 2e"):
        check_angles(machine(PENDULUM), np.array([[1.0], [-2e9]]))
