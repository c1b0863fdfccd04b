"""Runs in files and in the store, and runs that go on."""

from __future__ import annotations

import builtins
import json
import pickle
import re
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chainform as cf
from chainform.errors import ReadError, RunError
from chainform.mechanism import Mechanism
from chainform.readers import read_text
from chainform.simulation import Interrupted, MotionError, execution
from chainform.simulation.files.formats import FORMS
from chainform.simulation.machine.pauses import InterruptFlag
from chainform.simulation.solvers import integrator
from unit.simulation.small_machines import PENDULUM, machine

pytestmark = pytest.mark.any_processor

ROOT = Path(__file__).parents[3]
ARRAYS = ("t", "q", "qd", "tau", "qdd", "energy", "work", "losses")

SLED = """
name = "sled"
gravity = [0, 0, -9.81]
parameters = { m = 2 }

[[segments]]
name = "body, \\"fast\\""
joint = { type = "free" }
mass = "m"
inertia = [0.1, 0.2, 0.3]

[[segments]]
name = "arm"
parent = 'body, "fast"'
joint = { name = "swing", type = "revolute", axis = "y" }
mass = 1
com = [0, 0, -0.3]

[[frames]]
name = "tip"
segment = "arm"
point = [0, 0, -0.6]
"""


SLEDGING: dict[str, Any] = {
    "forces": {"swing": "-sin(t)"},
    "events": {"down": "swing"},
    "values": {"m": 1 / 3},
}


@pytest.fixture(scope="module")
def sled() -> cf.Run:
    """A motion with a quaternion, awkward names, efforts and events."""
    return cf.simulate(
        read_text(SLED, "toml"),
        q0={"swing": 1},
        qd0={"swing": 2},
        t=(0.5, 1.5),
        t_eval=np.linspace(0.5, 1.5, 41),
        **SLEDGING,
    )


@pytest.fixture(scope="module")
def four_bar() -> cf.Run:
    """A closed loop, whose forces are not found from the states alone."""
    return cf.simulate(ROOT / "examples" / "four_bar.toml", q0={"q1": 0.6}, t=0.3)


def same(a: cf.Run, b: cf.Run) -> None:
    """Check that two runs are the same to the last bit."""
    for name in ("t", "q", "qd", "tau", "energy"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert a.about.as_dict() == b.about.as_dict()
    assert a.statistics == b.statistics
    assert [(e.name, e.t) for e in a.events] == [(e.name, e.t) for e in b.events]
    for mine, other in zip(a.events, b.events, strict=True):
        assert np.array_equal(mine.q, other.q)
        assert np.array_equal(mine.qd, other.qd)
    assert a.method == b.method
    assert a.report == b.report


@pytest.mark.parametrize("ending", FORMS)
def test_round_trip(sled: cf.Run, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out{ending}"
    sled.save(path, ["pose(tip)", "momentum", "kinetic_energy"])
    loaded = cf.Run.load(path)
    same(loaded, sled)
    for name in ("pose(tip)", "momentum", "kinetic_energy"):
        assert np.array_equal(loaded.computed[name], sled.output(name)), name
    assert np.allclose(loaded.qdd, sled.qdd, rtol=1e-12, atol=1e-12)
    assert np.allclose(loaded.output("com"), sled.output("com"), rtol=0, atol=1e-14)
    assert loaded.mechanism.coordinates == sled.mechanism.coordinates
    assert [path.name for path in tmp_path.iterdir()] == [f"out{ending}"]


@pytest.mark.slow
@pytest.mark.parametrize("ending", FORMS)
def test_forces_of_loops_come_along(four_bar: cf.Run, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out{ending}"
    four_bar.save(path)
    loaded = cf.Run.load(path)
    same(loaded, four_bar)
    assert four_bar.sigma.shape[1] == 3
    for name in ("qdd", "sigma", "multipliers"):
        assert np.array_equal(getattr(loaded, name), getattr(four_bar, name)), name


def test_what_a_file_brought_goes_into_the_next(four_bar: cf.Run, tmp_path: Path) -> None:
    """States alone do not tell the forces of loops: a copy without them could not find them."""
    four_bar.save(tmp_path / "first.npz", ["velocity(coupler)"])
    first = cf.Run.load(tmp_path / "first.npz")
    first.save(tmp_path / "next.csv")
    with cf.open_store(":memory:") as store:
        store.save(cf.derive(four_bar.mechanism, ["gravity"]), "linkage")
        store.save_run(first, "linkage", "swing")
        stored = cf.Run.load(store.run("linkage", "swing"))
    pickled: cf.Run = pickle.loads(pickle.dumps(first))  # noqa: S301, written just now
    for copy in (cf.Run.load(tmp_path / "next.csv"), pickled, stored):
        assert {"sigma", "qdd", "velocity(coupler)"} <= set(copy.computed) == set(first.computed)
        for name, column in first.computed.items():
            np.testing.assert_array_equal(copy.output(name), column)


@pytest.mark.parametrize("ending", FORMS)
def test_impacts_actuators_and_nothing_at_all(tmp_path: Path, ending: str) -> None:
    ball = read_text(
        '[[segments]]\nname = "ball"\njoint = "prismatic"\naxis = "z"\nmass = 2', "toml"
    )
    stops = {"ball": {"lower": 0, "restitution": 0.5}}
    bouncing = cf.simulate(ball, q0=[1], t=2, stops=stops)
    driven = cf.simulate(ROOT / "examples" / "driven_arm.toml", t=0.05)
    empty = cf.simulate(ball, t=0.1, t_eval=[])
    for number, run in enumerate((bouncing, driven, empty)):
        path = tmp_path / f"{number}{ending}"
        run.save(path)
        loaded = cf.Run.load(path)
        same(loaded, run)
        assert np.array_equal(loaded.drives, run.drives)
        assert np.array_equal(loaded.x, run.x)
        assert loaded.contact_forces.keys() == run.contact_forces.keys()
        for name, force in run.contact_forces.items():
            assert np.array_equal(loaded.contact_forces[name], force)
    impacts = [e for e in cf.Run.load(tmp_path / f"0{ending}").events if hasattr(e, "loss")]
    assert impacts
    assert impacts[0].t == pytest.approx((2 / 9.81) ** 0.5)


def test_tables_are_for_reading(sled: cf.Run, tmp_path: Path) -> None:
    sled.save(tmp_path / "out.csv", ["pose(tip)"])
    first, names, row, *_ = (tmp_path / "out.csv").read_text().splitlines()
    about = json.loads(first.removeprefix("# chainform "))
    assert about["schema"] == "chainform-run/1"
    assert about["version"] == cf.__version__
    assert (about["method"], about["settings"]["rtol"]) == ("verner65", 1e-9)
    assert about["name"] == "sled"
    assert about["values"] == {"m": 1 / 3}
    assert names.startswith('t,"q.body, ""fast""_x"')
    assert "tau.swing" in names
    assert '"pose(tip)[1,4]"' in names
    assert len(row.split(",")) > 30
    with np.load(_saved(sled, tmp_path / "out.npz"), allow_pickle=False) as arrays:
        assert arrays["pose(tip)"].shape == (41, 4, 4)
        assert np.array_equal(arrays["q"], sled.q)
    pyarrow: Any = import_module("pyarrow.parquet")
    table = pyarrow.read_table(_saved(sled, tmp_path / "out.parquet"))
    assert np.array_equal(table["qd.swing"].to_numpy(), sled.qd[:, 6])
    assert json.loads(table.schema.metadata[b"chainform"])["mechanism"]


def _saved(run: cf.Run, path: Path) -> Path:
    run.save(path, ["pose(tip)"])
    return path


# --- outputs ----------------------------------------------------------------------------------


def test_outputs_are_those_of_the_equations(sled: cf.Run) -> None:
    model = cf.derive(sled.mechanism, ["mass_matrix", "velocity(tip)", "inverse_dynamics"])
    values = model.evaluate(q=sled.q, qd=sled.qd, qdd=sled.qdd)
    for name in ("mass_matrix", "velocity(tip)"):
        assert np.allclose(sled.output(name), values[name], rtol=1e-12, atol=1e-12)
    assert np.array_equal(sled.output("H"), sled.output("mass_matrix"))
    assert np.allclose(sled.output("inverse_dynamics"), sled.tau, rtol=0, atol=1e-9)
    assert sled.output("energy") is sled.energy
    assert sled.output("pose(ground)").shape == (41, 4, 4)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("enrgy", "did you mean 'energy'?"),
        ("pose(tipp)", "did you mean 'tip'?"),
        ("closure", "closure"),
    ],
)
def test_outputs_that_there_are_not(sled: cf.Run, tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(cf.Error, match=re.escape(name)) as caught:
        sled.save(tmp_path / "out.csv", [name])
    assert words in str(caught.value)
    assert not list(tmp_path.iterdir())


# --- what is wrong with files -----------------------------------------------------------------


def test_names_of_files(sled: cf.Run, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="tells no form") as caught:
        sled.save(tmp_path / "out.xlsx")
    assert ".parquet, .csv, .npz" in str(caught.value)
    with pytest.raises(ReadError, match="no such file"):
        cf.Run.load(tmp_path / "none.npz")
    with pytest.raises(RunError, match="cannot be written"):
        sled.save(tmp_path / "none" / "out.npz")
    with pytest.raises(cf.Error):
        cf.Run.load(tmp_path / "a\0b.csv")


def test_parquet_without_its_package(
    sled: cf.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__
    path = tmp_path / "out.parquet"

    def missing(name: str, *_: Any) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("chainform.simulation.files.formats.import_module", missing)
    assert builtins.__import__ is real
    with pytest.raises(RunError, match="pyarrow") as caught:
        sled.save(path)
    assert "chainform[parquet]" in str(caught.value)
    assert not path.exists()


@pytest.fixture(scope="module")
def files(sled: cf.Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The bytes of a small run in each form."""
    folder = tmp_path_factory.mktemp("files")
    short = cf.simulate(read_text(SLED, "toml"), t=0.1, t_eval=[0, 0.1], values={"m": 2})
    for ending in FORMS:
        short.save(folder / f"out{ending}")
    return {ending: (folder / f"out{ending}").read_bytes() for ending in FORMS}


@pytest.mark.parametrize("ending", FORMS)
@given(data=st.data())
@settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_damaged_files_give_no_foreign_error(
    files: dict[str, bytes], tmp_path: Path, ending: str, data: st.DataObject
) -> None:
    whole = files[ending]
    place = data.draw(st.integers(0, len(whole) - 1))
    length = data.draw(st.integers(0, 40))
    put = data.draw(st.binary(max_size=20))
    path = tmp_path / f"damaged{ending}"
    path.write_bytes(whole[:place] + put + whole[place + length :])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cf.Run.load(path)
        except cf.Error as problem:
            error = problem
        else:
            return
    assert f"damaged{ending}" in str(error)


def test_an_array_of_objects_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "evil.npz"
    np.savez(path, about=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ReadError, match="not an NPZ file of a run"):
        cf.Run.load(path)


# --- the store --------------------------------------------------------------------------------


def test_the_store_keeps_runs(four_bar: cf.Run, sled: cf.Run, tmp_path: Path) -> None:
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(cf.derive(four_bar.mechanism, ["mass_matrix"]), "four_bar")
        kept = store.save_run(four_bar, "four_bar", "fall", ["com"])
        assert [run.name for run in store.runs("four_bar")] == ["fall"]
        assert kept.seconds == four_bar.about.seconds
        loaded = cf.Run.load(store.run(kept.revision, "fall"))
        same(loaded, four_bar)
        assert np.array_equal(loaded.sigma, four_bar.sigma)
        assert np.array_equal(loaded.computed["com"], four_bar.output("com"))
        with pytest.raises(cf.Error, match="a run of this name already"):
            store.save_run(four_bar, "four_bar", "fall")
        with pytest.raises(cf.Error, match="model of another mechanism"):
            store.save_run(sled, "four_bar", "sled")
        store.delete_run("four_bar", "fall")
        assert store.runs("four_bar") == []


def test_the_store_keeps_values_of_a_free_mechanism(sled: cf.Run, tmp_path: Path) -> None:
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(cf.derive(read_text(SLED, "toml"), ["mass_matrix"]), "sled")
        store.save_run(sled, "sled", "light")
        same(cf.Run.load(store.run("sled", "light")), sled)


# --- going on ---------------------------------------------------------------------------------


def interrupted(
    monkeypatch: pytest.MonkeyPatch, pauses: int, simulated: Callable[[], cf.Run]
) -> cf.Run:
    """Return what there is of a motion after so many pauses, when Ctrl-C comes."""

    class Deaf(InterruptFlag):
        def check(self) -> None:
            nonlocal pauses
            pauses -= 1
            self.came = pauses <= 0
            super().check()

    @contextmanager
    def interrupt_flag() -> Generator[InterruptFlag]:
        yield Deaf()

    with monkeypatch.context() as patch:
        patch.setattr(execution, "interrupt_flag", interrupt_flag)
        patch.setattr(integrator, "FIRST_PAUSE", 7)
        patch.setattr(integrator, "SHORT", 0.0)
        with pytest.raises(Interrupted) as caught:
            simulated()
    assert not caught.value.run.about.is_complete
    return caught.value.run


def mechanism_of(name: str) -> Mechanism:
    return cf.read(ROOT / "examples" / name)


CASES: dict[str, dict[str, Any]] = {
    "controlled steps, events": {
        "mechanism": "six_axis_arm.toml",
        "q0": [0.3] * 6,
        "t": 1.0,
        "events": {"e": "q1 - 0.31", "f": "q2 - 0.5"},
        "forces": {"q1": [{"until": 0.5, "law": "3*t"}, {"law": 0}]},
    },
    "held efforts": {
        "mechanism": "six_axis_arm.toml",
        "q0": [0.3] * 6,
        "t": 1.0,
        "forces": {"q2": "-10*der(q2)"},
        "hold": 0.03,
        "method": "dopri853",
    },
    "fixed steps": {"mechanism": "six_axis_arm.toml", "t": 0.3, "method": "rk4", "step": 1e-3},
    "symplectic": {
        "mechanism": "six_axis_arm.toml",
        "q0": [0.3] * 6,
        "t": 0.3,
        "method": "gauss4",
        "step": 1e-3,
    },
    "closed loops": {"mechanism": "four_bar.toml", "q0": {"q1": 0.6}, "t": 2.0},
    "stops": {
        "mechanism": "sliding_links.toml",
        "q0": {"q3": 1.5},
        "t": 1.0,
        "stops": {"l*": 0.5},
    },
    "functions of Python": {
        "mechanism": "four_bar.toml",
        "q0": {"q1": 0.6},
        "t": 0.5,
        "forces": {"q1": lambda _t, _q, qd: -0.5 * qd[0]},
        "rtol": 1e-6,
    },
    "actuators and controllers": {
        "mechanism": "driven_arm.toml",
        "t": 0.2,
        "rtol": 1e-7,
    },
}


@pytest.mark.parametrize("case", CASES)
def test_resuming_is_as_if_nothing_had_happened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, case: str
) -> None:
    """From a run in memory, and from its file."""
    options = dict(CASES[case])
    mechanism = mechanism_of(options.pop("mechanism"))
    whole = cf.simulate(mechanism, **options)
    part = interrupted(monkeypatch, 3, lambda: cf.simulate(mechanism, **options))
    assert 0 < len(part.t) < len(whole.t)
    assert np.array_equal(part.q, whole.q[: len(part.t)])
    part.save(tmp_path / "part.npz")
    for start in (part, cf.Run.load(tmp_path / "part.npz")):
        done = cf.simulate(mechanism, resume=start, **options)
        assert np.array_equal(done.t, whole.t)
        assert np.array_equal(done.q, whole.q)
        assert np.allclose(done.qdd, whole.qdd, rtol=1e-9, atol=1e-9)
        assert np.array_equal(done.tau, whole.tau)
        assert done.statistics == whole.statistics
        assert [(e.name, e.t) for e in done.events] == [(e.name, e.t) for e in whole.events]
        assert np.array_equal(done.sigma, whole.sigma)


@pytest.mark.parametrize("ending", FORMS)
def test_an_empty_energy_balance_stays_empty(tmp_path: Path, ending: str) -> None:
    """Nothing drives the arm and nothing is lost: its balance is its energy, from a file, too."""
    mechanism = mechanism_of("six_axis_arm.toml")
    given: dict[str, Any] = {"q0": [0.3] * 6, "without": ["friction"]}
    half = cf.simulate(mechanism, t=0.2, **given)
    half.save(tmp_path / f"half{ending}")
    loaded = cf.Run.load(tmp_path / f"half{ending}")
    assert np.array_equal(loaded.balance, half.balance)
    assert np.ptp(loaded.balance) < 1e-7
    done = cf.simulate(mechanism, t=0.4, resume=loaded, **given)
    assert done.losses.shape == done.work.shape == done.t.shape
    assert np.ptp(done.balance) < 1e-7
    without = cf.simulate(mechanism, t=0.1, energy_balance=False, **given)
    without.save(tmp_path / f"without{ending}")
    with pytest.raises(RunError, match="not added up"):
        _ = cf.Run.load(tmp_path / f"without{ending}").balance


def test_a_motion_says_why_it_has_no_energy_balance() -> None:
    run = cf.simulate(mechanism_of("driven_arm.toml"), t=0.01)
    with pytest.raises(RunError, match="of actuators work and losses are not known"):
        _ = run.balance


def test_going_on_from_what_is_no_run() -> None:
    for wrong in (3, "part.npz", {"t": 1}):
        given: Any = wrong
        with pytest.raises(RunError, match="this is no run") as caught:
            cf.simulate(mechanism_of("six_axis_arm.toml"), t=1, resume=given)
        assert caught.value.element == "resume"
        assert "Run.load" in str(caught.value.remedy)


def test_going_on_with_cvode(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = mechanism_of("six_axis_arm.toml")
    options: dict[str, Any] = {"q0": [0.3] * 6, "t": 0.5, "method": "cvode", "rtol": 1e-10}
    options |= {"forces": {"q1": "sin(9*t)"}, "hold": 0.07}
    whole = cf.simulate(mechanism, **options)
    part = interrupted(monkeypatch, 60, lambda: cf.simulate(mechanism, **options))
    done = cf.simulate(mechanism, resume=part, **options)
    assert np.array_equal(done.t, whole.t)
    # It begins anew with small steps, so it is the same only within its tolerance.
    assert np.max(np.abs(done.q - whole.q)) <= 1e-7
    assert np.allclose(done.tau, whole.tau, rtol=0, atol=1e-12)


def test_beyond_the_end(sled: cf.Run) -> None:
    mechanism, options = read_text(SLED, "toml"), SLEDGING
    times = np.linspace(0.5, 2.5, 81)
    longer = cf.simulate(mechanism, t=(0.5, 2.5), t_eval=times, resume=sled, **options)
    start = {"q0": {"swing": 1}, "qd0": {"swing": 2}}
    whole = cf.simulate(mechanism, t=(0.5, 2.5), t_eval=times, **start, **options)
    assert longer.about.span == (0.5, 2.5)
    assert np.allclose(longer.q, whole.q, rtol=0, atol=1e-6)
    again = cf.simulate(mechanism, t=(0.5, 1.5), t_eval=sled.t, resume=sled, **options)
    assert np.array_equal(again.q, sled.q)


def test_an_event_that_ended_it_ends_it_still() -> None:
    mechanism = mechanism_of("six_axis_arm.toml")
    events = {"far": {"law": "q2 - 0.5", "stop": True}}
    run = cf.simulate(mechanism, q0=[0.3] * 6, t=2, events=events)
    assert run.about.ending == "far"
    again = cf.simulate(mechanism, t=2, events=events, resume=run)
    assert again.about.ending == "far"
    assert np.array_equal(again.q, run.q)
    with pytest.raises(RunError, match="started with other events"):
        cf.simulate(mechanism, t=2, resume=run)
    beyond = cf.simulate(mechanism, q0=run.q[-1], qd0=run.qd[-1], t=(run.t[-1], 2))
    assert beyond.t[-1] == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"values": {"m": 2}}, "another mechanism, or of other values"),
        ({"t": (0.5, 1.0)}, "not between 0.5 and 1"),
        ({"t": (0.0, 3.0)}, "begins at t = 0.5 s, not at 0 s"),
        ({"energy_balance": False}, "started with other energy_balance"),
        ({"forces": {"swing": "-sin(2*t)"}}, "started with other forces"),
        ({"forces": None}, "started with other forces"),
        ({"forces": None, "events": {"down": "swing - 1"}}, "started with other forces, events"),
        ({"events": {"down": {"law": "swing", "stop": True}}}, "started with other events"),
        ({"stops": {"swing": {"upper": 3}}}, "started with other stops"),
        ({"stops": {"swing": {"upper": 2}}}, "started with other stops"),
        ({"contacts": ["tip"]}, "started with other contacts"),
        (
            {"controllers": {"swing": {"type": "pd", "kp": 1, "kd": 1}}},
            "started with other controllers",
        ),
        ({"method": "dopri853"}, "started with other method"),
        ({"rtol": 1e-6, "largest": 0.1}, "started with other rtol, atol, largest"),
        ({"hold": 0.1}, "started with other hold"),
        ({"without": ["springs"]}, "started with other without"),
        ({"stabilise": "none"}, "started with other stabilise"),
        ({"q0": {"swing": 1.1}}, "started with other q0"),
        ({"qd0": {"swing": 2.1}}, "started with other qd0"),
    ],
)
@pytest.mark.parametrize("ending", ["", ".npz", ".parquet"])
def test_what_cannot_go_on(
    sled: cf.Run, change: dict[str, Any], words: str, ending: str, tmp_path: Path
) -> None:
    before = sled
    if ending:
        sled.save(tmp_path / f"sled{ending}")
        before = cf.Run.load(tmp_path / f"sled{ending}")
    options: dict[str, Any] = {"t": (0.5, 3.0), **SLEDGING, **change}
    with pytest.raises(RunError, match=words) as caught:
        cf.simulate(read_text(SLED, "toml"), resume=before, **options)
    assert caught.value.element == "resume"
    assert caught.value.remedy


def test_the_same_in_other_words_goes_on(sled: cf.Run) -> None:
    """Numbers and laws are compared as they are read, states as they are meant."""
    options: dict[str, Any] = {**SLEDGING, "forces": {"swing": "-1*sin(t)"}}
    with pytest.raises(RunError, match="other forces"):
        cf.simulate(read_text(SLED, "toml"), resume=sled, t=(0.5, 2), **options)
    state: dict[str, Any] = {
        "q0": sled.q[0],
        "qd0": sled.qd[0],
        "contacts": [],
        "stops": {},
        "reduce": "none",
    }
    done = cf.simulate(read_text(SLED, "toml"), resume=sled, t=(0.5, 2), **SLEDGING, **state)
    assert done.about.given == sled.about.given
    again = cf.simulate(read_text(SLED, "toml"), resume=done, t=(0.5, 2.5), **SLEDGING)
    assert again.t[-1] == 2.5


def test_a_run_of_a_store_does_not_go_on_otherwise(sled: cf.Run, tmp_path: Path) -> None:
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(cf.derive(read_text(SLED, "toml"), ["mass_matrix"]), "sled")
        store.save_run(sled, "sled", "first")
        before = cf.Run.load(store.run("sled", "first"))
    with pytest.raises(RunError, match="other method"):
        cf.simulate(
            read_text(SLED, "toml"), resume=before, t=(0.5, 2), method="dopri853", **SLEDGING
        )
    done = cf.simulate(read_text(SLED, "toml"), resume=before, t=(0.5, 2), **SLEDGING)
    assert done.t[-1] == 2


def test_a_run_that_says_nothing_of_its_forces_does_not_go_on(sled: cf.Run) -> None:
    old = replace(sled, about=replace(sled.about, given={}))
    with pytest.raises(RunError, match="has no record of what it was started with"):
        cf.simulate(read_text(SLED, "toml"), resume=old, t=(0.5, 2), **SLEDGING)


def test_functions_are_compared_by_name_and_code(tmp_path: Path) -> None:
    mechanism, times = mechanism_of("six_axis_arm.toml"), [0, 0.1, 0.2]

    def push(t: float, q: Any, qd: Any) -> float:
        return float(np.sin(t))

    def pull(t: float, q: Any, qd: Any) -> float:
        return -float(np.sin(t))

    half = cf.simulate(mechanism, t=0.1, t_eval=times[:2], forces={"q1": push})
    half.save(tmp_path / "half.npz")
    loaded = cf.Run.load(tmp_path / "half.npz")
    options: dict[str, Any] = {"t": 0.2, "t_eval": times, "resume": loaded}
    with pytest.raises(RunError, match="other forces"):
        cf.simulate(mechanism, forces={"q1": pull}, **options)
    done = cf.simulate(mechanism, forces={"q1": push}, **options)
    assert done.report == (
        "of functions of Python only name and code were compared when the run went on",
    )
    assert np.allclose(done.t, times)


@pytest.mark.parametrize("ending", ["", ".npz", ".parquet"])
def test_the_rest_of_the_requested_times_is_put_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    """Without being told again; and beyond the end as it was, in even distances."""
    mechanism, times = mechanism_of("six_axis_arm.toml"), np.linspace(0, 1, 41) ** 2 * 0.5
    options: dict[str, Any] = {"q0": [0.3] * 6, "t": 0.5}
    part = interrupted(monkeypatch, 3, lambda: cf.simulate(mechanism, **options, t_eval=times))
    assert len(part.about.left) == 41 - len(part.t) > 5
    if ending:
        part.save(tmp_path / f"part{ending}")
        part = cf.Run.load(tmp_path / f"part{ending}")
    done = cf.simulate(mechanism, resume=part, **options)
    assert np.array_equal(done.t, times)
    assert done.about.left == ()
    longer = cf.simulate(mechanism, resume=part, q0=options["q0"], t=1.0)
    assert np.array_equal(longer.t[:41], times)
    assert np.allclose(longer.t[41:], np.linspace(0, 1, 201)[101:])
    few = cf.simulate(mechanism, resume=part, **options, t_eval=[part.t[2], 0.5])
    assert np.array_equal(few.t, times)


def test_a_time_that_has_passed_is_not_dropped_without_a_word() -> None:
    mechanism = mechanism_of("six_axis_arm.toml")
    half = cf.simulate(mechanism, t=0.2, t_eval=[0.05, 0.1])
    with pytest.raises(RunError, match=r"output at t = 0.15 s is requested, .* stands at 0.2 s"):
        cf.simulate(mechanism, t=0.4, t_eval=[0.05, 0.1, 0.15, 0.4], resume=half)
    done = cf.simulate(mechanism, t=0.4, t_eval=[0.1, 0.3, 0.4], resume=half)
    assert done.t.tolist() == [0.05, 0.1, 0.3, 0.4]


def test_a_motion_that_fails_leaves_what_there_was() -> None:
    mechanism = mechanism_of("six_axis_arm.toml")
    with pytest.raises(MotionError) as caught:
        cf.simulate(mechanism, t=2, forces={"q1": "1/(1 - t)"}, t_eval=np.linspace(0, 2, 21))
    run = caught.value.run
    assert run.about.ending == "failed"
    assert 0.8 < run.t[-1] <= 1
    assert len(run.t) in (10, 11)
    assert isinstance(caught.value, RunError)

    def broken(t: float, q: Any, qd: Any) -> float:
        return 1 / 0 if t > 0.5 else 0.0

    with pytest.raises(ZeroDivisionError):
        cf.simulate(mechanism, t=1, forces={"q1": broken})


def test_checkpoints(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(execution, "EVERY", 0.0)
    monkeypatch.setattr(execution, "SHARE", 0.0)
    monkeypatch.setattr(integrator, "FIRST_PAUSE", 20)
    monkeypatch.setattr(integrator, "SHORT", 0.0)
    kept: list[cf.Run] = []
    told: list[float] = []
    mechanism = mechanism_of("six_axis_arm.toml")
    options: dict[str, Any] = {"q0": [0.3] * 6, "t": 1.0, "events": {"e": "q1 - 0.31"}}
    run = cf.simulate(mechanism, checkpoint=kept.append, progress=told.append, **options)
    assert len(kept) == len(told) > 3
    assert told == sorted(told)
    lengths = [len(part.t) for part in kept]
    assert lengths == sorted(lengths)
    part = kept[len(kept) // 2]
    assert part.about.ending == "interrupted"
    assert np.array_equal(part.q, run.q[: len(part.t)])
    assert np.array_equal(cf.simulate(mechanism, resume=part, **options).q, run.q)


def test_a_run_in_earlier_words_is_read() -> None:
    """Files of before have `leave_out` and `books`."""
    run = cf.simulate(machine(PENDULUM), q0=[0.3], t=0.2, without=["springs"])
    record = run.record()
    known = {{"without": "leave_out"}.get(name, name): x for name, x in record.about.items()}
    arrays = {{"energy_balance": "books"}.get(name, name): x for name, x in record.arrays.items()}
    assert {"leave_out", "books"} <= {*known, *arrays}
    read = cf.Run.from_record(arrays, record.outputs, known)
    assert read.about.without == ("springs",)
    np.testing.assert_array_equal(read.work, run.work)


def test_the_energy_is_written_with_the_states() -> None:
    run = cf.simulate(machine(PENDULUM), q0=[0.3], t=0.2)
    np.testing.assert_array_equal(run.record().arrays["energy"], run.energy)
