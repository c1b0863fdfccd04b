"""Many motions in files and in pictures."""

from __future__ import annotations

import csv
import warnings
import xml.etree.ElementTree as ET
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chainform as cf
from chainform.errors import ReadError, RunError
from chainform.simulation import BatchRun, simulate_batch
from chainform.simulation.files.formats import FORMS
from unit.simulation.small_machines import BALL, machine
from unit.simulation.swings import rods, spinning_top

pytestmark = pytest.mark.any_processor

LOW = {"low": {"law": "rod1", "stop": True}}


@pytest.fixture(scope="module")
def batch() -> BatchRun:
    """Four motions of two rods, one of which ends by an event."""
    q0 = [[0.2, 0.0], [3.0, 0.1], [3.1, -0.1], [2.9, 0.0]]
    values = {"m_2": [1, 2, 1 / 3, 4]}
    return simulate_batch(rods(2), q0=q0, values=values, t=0.9, t_eval=[0, 0.3, 0.9], events=LOW)


@pytest.fixture(scope="module")
def failing() -> BatchRun:
    """A motion that fails, beside one that does not."""
    stops = {"height": {"lower": 0}}
    return simulate_batch(machine(BALL), q0={"height": [1, -1]}, t=0.2, stops=stops)


def same(loaded: BatchRun, batch: BatchRun) -> None:
    for name in ("t", "q", "qd", "ends", "events", "interrupted", "energy"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(batch, name))
    assert loaded.events.dtype == batch.events.dtype
    assert loaded.endings == batch.endings
    assert loaded.problems == batch.problems
    assert loaded.statistics == batch.statistics
    assert (loaded.method, loaded.about) == (batch.method, batch.about)
    assert loaded.values.keys() == batch.values.keys()
    for name, value in batch.values.items():
        np.testing.assert_array_equal(loaded.values[name], value)


@pytest.mark.parametrize("ending", FORMS)
def test_what_is_written_is_read(
    batch: BatchRun, failing: BatchRun, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"all{ending}"
    for written in (failing, batch):
        written.save(path)
        same(BatchRun.load(path), written)
    batch.save(path, ["pose(rod2)", "com"])
    loaded = BatchRun.load(path)
    np.testing.assert_array_equal(loaded.output("pose(rod2)"), batch.output("pose(rod2)"))
    assert loaded.output("com").shape == (4, 3, 3)
    assert "momentum" not in loaded.computed
    assert np.isfinite(loaded.output("momentum")[1:]).all()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_tables_have_a_row_for_each_time_of_each_motion(batch: BatchRun, tmp_path: Path) -> None:
    batch.save(tmp_path / "all.csv")
    with (tmp_path / "all.csv").open() as stream:
        assert stream.readline().startswith("# chainform {")
        head, *rows = csv.reader(stream)
    states = ["q.rod1", "q.rod2", "qd.rod1", "qd.rod2"]
    assert head == ["motion", "t", *states, "values.m_2", "energy"]
    assert [row[0] for row in rows] == list("111222333444")
    assert [row[1] for row in rows[:3]] == ["0.0", "0.3", "0.9"]
    assert float(rows[7][2]) == batch.q[2, 1, 0]
    assert {row[6] for row in rows[6:9]} == {repr(1 / 3)}
    assert rows[2][2] == "nan"
    arrow: Any = import_module("pyarrow.parquet")
    batch.save(tmp_path / "all.parquet")
    table = arrow.read_table(tmp_path / "all.parquet")
    assert table.column_names == head
    assert str(table.schema.field("motion").type) == "int64"


def test_arrays_have_their_shapes(batch: BatchRun, tmp_path: Path) -> None:
    batch.save(tmp_path / "all.npz")
    with np.load(tmp_path / "all.npz") as found:
        shapes = {name: found[name].shape for name in found if name != "about"}
    assert shapes == {
        "t": (3,),
        "q": (4, 3, 2),
        "qd": (4, 3, 2),
        "values.m_2": (4,),
        "ends": (4,),
        "events": (4,),
        "energy": (4, 3),
    }


def test_no_times_and_single_ones(tmp_path: Path) -> None:
    for ending in FORMS:
        for times in ([], [0.1]):
            batch = simulate_batch(rods(1), q0=[[0.1], [0.2]], t=0.1, t_eval=times)
            batch.save(tmp_path / f"a{ending}", ["mass_matrix"])
            loaded = BatchRun.load(tmp_path / f"a{ending}")
            same(loaded, batch)
            assert loaded.output("mass_matrix").shape == (2, len(times), 1, 1)


def test_files_of_one_kind_are_not_of_the_other(batch: BatchRun, tmp_path: Path) -> None:
    batch.save(tmp_path / "all.npz")
    with pytest.raises(ReadError) as caught:
        cf.Run.load(tmp_path / "all.npz")
    assert "BatchRun.load" in (caught.value.remedy or "")
    cf.simulate(rods(1), t=0.1).save(tmp_path / "one.csv")
    with pytest.raises(ReadError) as caught:
        BatchRun.load(tmp_path / "one.csv")
    assert "Run.load" in (caught.value.remedy or "")
    with pytest.raises(ReadError, match="no such file"):
        BatchRun.load(tmp_path / "none.csv")
    with pytest.raises(ReadError, match="tells no form"):
        batch.save(tmp_path / "all.xlsx")
    with pytest.raises(RunError, match="cannot be written"):
        batch.save(tmp_path / "none" / "all.csv")
    with pytest.raises(cf.Error, match="posse"):
        batch.save(tmp_path / "new.csv", ["posse"])
    assert not (tmp_path / "new.csv").exists()


@pytest.fixture(scope="module")
def files(batch: BatchRun, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The bytes of a batch in each form."""
    folder = tmp_path_factory.mktemp("files")
    for ending in FORMS:
        batch.save(folder / f"all{ending}")
    return {ending: (folder / f"all{ending}").read_bytes() for ending in FORMS}


@pytest.mark.parametrize("ending", FORMS)
@given(data=st.data())
@settings(
    deadline=None,
    max_examples=40,
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
            BatchRun.load(path)
        except cf.Error as problem:
            error = problem
        else:
            return
    assert f"damaged{ending}" in str(error)


# --- pictures ---------------------------------------------------------------------------------


def labels(figure: Any) -> list[str]:
    return [ax.get_ylabel() for ax in figure.axes]


def test_a_thin_line_for_each_motion(batch: BatchRun, tmp_path: Path) -> None:
    figure = batch.plot(file=tmp_path / "all.svg")
    assert labels(figure) == ["rod1 (rad)", "rod2 (rad)"]
    lines = figure.axes[1].collections[0]
    assert len(lines.get_segments()) == len(batch)
    np.testing.assert_array_equal(lines.get_segments()[2][:, 1], batch.q[2, :, 1])
    assert len({tuple(colour) for colour in lines.get_colors()}) == len(batch)
    low, high = figure.axes[0].get_ylim()
    assert low < np.nanmin(batch.q[..., 0]) < np.nanmax(batch.q[..., 0]) < high
    assert ET.parse(tmp_path / "all.svg").getroot().tag.endswith("svg")
    again = (tmp_path / "all.svg").read_bytes()
    batch.plot(file=tmp_path / "all.svg")
    assert (tmp_path / "all.svg").read_bytes() == again


def test_what_is_plotted(batch: BatchRun, failing: BatchRun) -> None:
    shown = batch.plot(["rod2", "qd", "energy"], title="two rods")
    assert labels(shown) == ["rod2 (rad)", "der(rod1) (rad/s)", "der(rod2) (rad/s)", "energy (J)"]
    assert shown.texts[0].get_text() == "two rods"
    assert labels(failing.plot()) == ["height (m)"]
    top = simulate_batch(spinning_top(), qd0=[[1, 2, 9], [0, 0, 9]], t=0.1, t_eval=[0, 0.1])
    assert len(labels(top.plot("q"))) == 4
    with pytest.raises(RunError, match="rod3"):
        batch.plot("rod3")
    with pytest.raises(RunError, match="nothing to plot"):
        simulate_batch(rods(1), t=0.1, t_eval=[]).plot()
    with pytest.raises(RunError, match="cannot be written as"):
        batch.plot(file="all.doc")


def test_many_lines_are_painted(monkeypatch: pytest.MonkeyPatch, batch: BatchRun) -> None:
    assert not batch.plot().axes[0].collections[0].get_rasterized()
    monkeypatch.setattr("chainform.pictures.plots.MOST_POINTS", 3)
    assert batch.plot().axes[0].collections[0].get_rasterized()
