"""Files of results whose metadata or numbers are damaged: each is refused, or does no harm."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chainform as cf
from bombs import LONG, MUCH, peak_of
from chainform.errors import ReadError, RunError
from chainform.mechanism import Mechanism
from chainform.readers import read_text
from chainform.simulation.files.formats import FORMS
from chainform.simulation.files.record import REMEDY, column_names

pytestmark = pytest.mark.any_processor

BALL = '[[segments]]\nname = "ball"\njoint = "prismatic"\naxis = "z"\nmass = 2'
OPTIONS: dict[str, Any] = {
    "t": 0.6,
    "t_eval": np.linspace(0, 0.6, 7),
    "stops": {"ball": {"lower": 0, "restitution": 0.5}},
    "events": {"half way": "ball - 0.5"},
    "forces": {"ball": "sin(t)"},
    "hold": 0.05,
}


def ball() -> Mechanism:
    return read_text(BALL, "toml")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is known of a run with an impact and an event, and its arrays."""
    path = tmp_path_factory.mktemp("whole") / "run.npz"
    cf.simulate(ball(), q0=[1], **OPTIONS).save(path, ["pose(ball)"])
    with np.load(path) as found:
        arrays = {name: found[name] for name in found.files}
    return json.loads(bytes(arrays.pop("about"))), arrays


# --- files with any content -------------------------------------------------------------------


def write_npz(path: Path, about: str, arrays: dict[str, Any]) -> None:
    np.savez(path, about=np.frombuffer(about.encode(), dtype=np.uint8), **arrays)


def columns(arrays: dict[str, Any]) -> dict[str, Any]:
    flat = {name: np.reshape(array, (len(array), -1)) for name, array in arrays.items()}
    labels = {n: column_names(ball(), n, np.shape(array)[1:]) for n, array in arrays.items()}
    return {label: flat[n][:, k] for n in arrays for k, label in enumerate(labels[n])}


def write_csv(path: Path, about: str, arrays: dict[str, Any]) -> None:
    named = columns(arrays)
    count = max((len(column) for column in named.values()), default=0)
    rows = [[str(c[k]) for c in named.values() if k < len(c)] for k in range(count)]
    names = ",".join(f'"{name}"' for name in named)
    lines = [f"# chainform {about}", names, *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogatepass")


def write_parquet(path: Path, about: str, arrays: dict[str, Any]) -> None:
    arrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    table = arrow.table({name: list(column) for name, column in columns(arrays).items()})
    parquet.write_table(table.replace_schema_metadata({b"chainform": about.encode()}), str(path))


WRITERS = {".npz": write_npz, ".csv": write_csv, ".parquet": write_parquet}


@pytest.mark.parametrize("ending", FORMS)
def test_without_damage_it_is_the_run(parts: Any, tmp_path: Path, ending: str) -> None:
    about, arrays = parts
    path = tmp_path / f"run{ending}"
    WRITERS[ending](path, json.dumps(about), arrays)
    run = cf.Run.load(path)
    assert [event.name for event in run.events] == ["half way", "ball lower: impact"]
    used(path)


def test_columns_go_by_their_names(parts: Any, tmp_path: Path) -> None:
    """They may have been moved in a spreadsheet; what has another name is not what was written."""
    about, arrays = parts
    path = tmp_path / "run.csv"
    write_csv(path, json.dumps(about), arrays)
    head, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    moved = ["{2},{0},{1}\n".format(*line.rstrip("\n").split(",", 2)) for line in lines]
    path.write_text("".join([head, *moved]), encoding="utf-8")
    run = cf.Run.load(path)
    assert np.array_equal(run.t, arrays["t"])
    assert np.array_equal(run.q, arrays["q"])
    path.write_text(head + "".join(lines).replace("q.ball", "q.bell", 1), encoding="utf-8")
    with pytest.raises(ReadError, match="the names of columns"):
        cf.Run.load(path)


def used(path: Path) -> None:
    """Load a run, draw it and go on with it, as if it were whole; Errors go through."""
    run = cf.Run.load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.plot("q").draw_without_rendering()
        run.animate()
        longer: dict[str, Any] = {**OPTIONS, "t": 0.62}
        assert cf.simulate(ball(), resume=run, **longer).t[0] == run.t[0]


def test_a_run_that_stands_nowhere_is_not_resumed() -> None:
    run = cf.simulate(ball(), q0=[1], **OPTIONS)
    bookmark = run.about.bookmark
    assert bookmark is not None
    lost = replace(bookmark, y=np.where(np.arange(len(bookmark.y)) == 1, np.nan, bookmark.y))
    run = replace(run, about=replace(run.about, bookmark=lost))
    longer: dict[str, Any] = {**OPTIONS, "t": 0.62}
    with pytest.raises(RunError, match="the state in which the run stands is not finite"):
        cf.simulate(ball(), resume=run, **longer)


# --- damage -----------------------------------------------------------------------------------

NUMBERS = (None, True, -1, 0, 1, 2.5, 1e300, 10**400, float("nan"), float("inf"))
TEXTS = ("", "x", "nan", "\ud800", "a\x00b", "end")
TABLES: tuple[Any, ...] = ([], {}, [1], ["x"], [[1], [2, 3]], {"a": 1})
LEAVES = st.sampled_from((*NUMBERS, *TEXTS, *TABLES))


def places(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where values stand in nested tables and lists."""
    found = [before] if before else []
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            found += places(value[key], (*before, key))
    return found


def damaged(about: dict[str, Any], data: st.DataObject) -> dict[str, Any]:
    """Return metadata with an entry changed, gone, or under another name."""
    table = json.loads(json.dumps(about))
    place = data.draw(st.sampled_from(places(table)))
    inner = table
    for key in place[:-1]:
        inner = inner[key]
    how = data.draw(st.sampled_from(["put", "put", "drop", "rename"]))
    if how == "put":
        inner[place[-1]] = data.draw(LEAVES)
    else:
        value = inner.pop(place[-1])
        if how == "rename" and isinstance(inner, dict):
            inner[f"{place[-1]}s"] = value
    return table


ARRAYS: dict[str, Callable[[Any], Any]] = {
    "texts": lambda a: a.astype("U5"),
    "complex": lambda a: a.astype(complex),
    "not finite": lambda a: a * np.nan,
    "huge": lambda a: a * 1e300,
    "reversed": lambda a: a[::-1],
    "short": lambda a: a[:-1],
    "none": lambda a: a[:0],
    "more columns": lambda a: np.stack([a, a], axis=-1),
    "no columns": lambda a: a.reshape(len(a), -1)[:, :0],
    "truth": lambda a: a > 0,
}

QUICK = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.parametrize("ending", FORMS)
@given(data=st.data())
@QUICK
def test_damaged_metadata(parts: Any, tmp_path: Path, ending: str, data: st.DataObject) -> None:
    about, arrays = parts
    path = tmp_path / f"damaged{ending}"
    WRITERS[ending](path, json.dumps(damaged(about, data)), arrays)
    no_foreign_error(path)


@pytest.mark.slow
@pytest.mark.parametrize("ending", FORMS)
@given(data=st.data())
@QUICK
def test_damaged_numbers(parts: Any, tmp_path: Path, ending: str, data: st.DataObject) -> None:
    about, arrays = parts
    name = data.draw(st.sampled_from(sorted(arrays)))
    change = ARRAYS[data.draw(st.sampled_from(sorted(ARRAYS)))]
    path = tmp_path / f"damaged{ending}"
    with np.errstate(all="ignore"):
        changed = {**arrays, name: change(arrays[name])}
    try:
        WRITERS[ending](path, json.dumps(about), changed)
    except Exception:  # noqa: BLE001
        # Not all damage can be written in all forms: columns of other lengths, complex numbers.
        return
    no_foreign_error(path)


def no_foreign_error(path: Path) -> None:
    """Check that a file can be used, or that an error says what to do about it."""
    error: cf.Error | None = None
    try:
        used(path)
    except cf.Error as problem:
        error = problem
    if error is not None:
        assert error.remedy
        assert error.file == str(path) or not isinstance(error, ReadError)


@pytest.mark.parametrize(
    ("change", "element"),
    [
        ({"outputs": None}, "outputs"),
        ({"arrays": {"q": [-1]}}, "arrays"),
        ({"mechanism": 5}, "mechanism"),
        ({"events": [{"kind": "event", "name": "a", "t": "b"}]}, "events[1], t"),
        ({"span": [0, 1, 2]}, "span"),
        ({"statistics": {"steps": -1}}, "statistics, steps"),
        ({"without": ["nothing"]}, "without"),
        ({"bookmark": {"t": 1, "y": [1], "parts": [], "memory": {}}}, "bookmark, parts"),
        ({"title": "a\x1b[31m"}, "title"),
    ],
)
def test_what_is_damaged_is_named(
    parts: Any, tmp_path: Path, change: dict[str, Any], element: str
) -> None:
    about, arrays = parts
    path = tmp_path / "damaged.npz"
    write_npz(path, json.dumps({**about, **change}), arrays)
    with pytest.raises(ReadError) as caught:
        cf.Run.load(path)
    assert caught.value.element == element
    assert caught.value.file == str(path)
    assert caught.value.remedy == REMEDY


@pytest.mark.parametrize("ending", FORMS)
def test_a_folder_is_no_run(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"a{ending}").mkdir()
    with pytest.raises(ReadError, match="this is a folder") as caught:
        cf.Run.load(tmp_path / f"a{ending}")
    assert caught.value.remedy


# --- files that would become very long ----------------------------------------------------------


def refused(path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        cf.Run.load(path)
    assert caught.value.remedy


@pytest.mark.slow
def test_a_packed_archive_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("about.npy", "w", force_zip64=True) as stream,
    ):
        header = {"descr": "|u1", "fortran_order": False, "shape": (LONG,)}
        np.lib.format.write_array_header_2_0(stream, header)
        for _ in range(LONG // 2**22):
            stream.write(bytes(2**22))
    assert peak_of(lambda: refused(path)) < MUCH


def test_an_array_is_not_longer_than_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    with zipfile.ZipFile(path, "w") as archive, archive.open("about.npy", "w") as stream:
        header = {"descr": "<f8", "fortran_order": False, "shape": (LONG,)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.write(bytes(64))
    assert peak_of(lambda: refused(path)) < MUCH


@pytest.mark.slow
def test_a_short_table_does_not_fill_the_memory(tmp_path: Path) -> None:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    path = tmp_path / "run.parquet"
    piece = arrow.table({"t": np.zeros(2**22)})
    with parquet.ParquetWriter(str(path), piece.schema, compression="zstd") as writer:
        for _ in range(40):
            writer.write_table(piece)
    assert path.stat().st_size < 2**20
    refused(path)
