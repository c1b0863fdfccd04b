"""Files of results and pictures are written whole or not at all."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.files import check_target, replacing, write_folder, write_whole
from chainform.readers import read_text
from chainform.simulation import EventRecord

ROD = '[[segments]]\nname = "rod"\njoint = "revolute"\naxis = "y"\nmass = 2\ncom = [0, 0, -0.25]'
SIZE = (96, 72)


@pytest.fixture(scope="module")
def run() -> cf.Run:
    return cf.simulate(read_text(ROD, "toml"), q0=[1], t=0.3)


Write = Callable[[cf.Run, Path], object]
WRITERS: dict[str, Write] = {
    "a.npz": lambda run, path: run.save(path),
    "a.csv": lambda run, path: run.save(path),
    "a.parquet": lambda run, path: run.save(path),
    "a.svg": lambda run, path: run.plot(file=path),
    "a.PNG": lambda run, path: run.plot(file=path),
    "a.pdf": lambda run, path: run.plot(file=path),
    "still.png": lambda run, path: run.picture(path, size=SIZE),
    "a.html": lambda run, path: run.animate(path),
    "a.gif": lambda run, path: run.animate(path, size=SIZE),
    "a.mp4": lambda run, path: run.animate(path, size=SIZE),
}
"""All that writes a file, by the names of files."""


@contextmanager
def little_room(size: int) -> Generator[None]:
    """Let no file grow beyond so many bytes, as on a disk that is full.

    Python 3.11 does not see that bytecode was cut off, and the next process would find it damaged.
    """
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        sys.dont_write_bytecode = before


@pytest.mark.parametrize("name", WRITERS)
def test_without_room_the_old_file_stays(run: cf.Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("old")
    with little_room(500), pytest.raises(RunError) as caught:
        WRITERS[name](run, path)
    assert caught.value.file == str(path)
    assert caught.value.element
    assert "room on the disk" in (caught.value.remedy or "")
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", WRITERS)
def test_a_link_leads_to_the_file_that_is_replaced(run: cf.Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "data").mkdir()
    target, link = tmp_path / "data" / f"real{Path(name).suffix}", tmp_path / name
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(Path("data") / target.name)
    WRITERS[name](run, link)
    assert link.is_symlink()
    assert target.stat().st_size > 500
    assert target.stat().st_mode & 0o777 == 0o640
    assert len(list((tmp_path / "data").iterdir())) == 1


@pytest.mark.parametrize("name", WRITERS)
def test_names_may_be_as_long_as_the_system_lets_them(
    run: cf.Run, tmp_path: Path, name: str
) -> None:
    ending = Path(name).suffix
    path = tmp_path / ("n" * (os.pathconf(tmp_path, "PC_NAME_MAX") - len(ending)) + ending)
    WRITERS[name](run, path)
    assert path.is_file()


@pytest.mark.parametrize("name", WRITERS)
def test_a_folder_is_not_replaced(run: cf.Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(RunError, match="this is a folder") as caught:
        WRITERS[name](run, tmp_path / name)
    assert caught.value.file == str(tmp_path / name)
    assert caught.value.remedy == "name a file in it"
    assert [found.name for found in tmp_path.iterdir()] == [name]


def test_a_new_file_has_the_usual_rights(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_whole(tmp_path / "made", b"1")
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_what_goes_wrong_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with replacing(tmp_path / "a.csv") as part:
            part.write_text("half")
            assert part.suffix == ".csv"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["missing/a.svg", "a\0.svg", "loop.svg", "pipe.svg", "n" * 300])
def test_places_where_no_file_can_be(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop.svg").symlink_to("loop.svg")
    os.mkfifo(tmp_path / "pipe.svg")
    for use in (check_target, lambda path: write_whole(path, b"1")):
        with pytest.raises(RunError, match="it cannot be written") as caught:
            use(tmp_path / name)
        assert caught.value.file == str(tmp_path / name)
        assert caught.value.remedy


def test_numbers_that_are_none_are_not_blamed_on_the_disk(run: cf.Run, tmp_path: Path) -> None:
    event = EventRecord("odd", 0.1, np.array([np.nan]), np.array([0.0]))
    odd = replace(run, events=(event,))
    for ending in (".npz", ".csv", ".parquet"):
        with pytest.raises(RunError, match="not finite") as caught:
            odd.save(tmp_path / f"a{ending}")
        assert caught.value.element == "events[1], q[1]"
        assert caught.value.file == str(tmp_path / f"a{ending}")
        assert "disk" not in str(caught.value)
    assert not list(tmp_path.iterdir())


# --- folders --------------------------------------------------------------------------------------

SOURCES = {"arm.c": "int arm;\n", "src/arm.f90": b"end\n", "long": "x" * 2000}


@pytest.fixture(params=["new", "empty"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return where a folder is to be written: nothing is there, or an empty folder."""
    if request.param == "empty":
        (tmp_path / "made").mkdir()
    return tmp_path / "made"


def test_a_folder_is_written_whole(folder: Path) -> None:
    assert write_folder(folder, SOURCES) == folder
    found = {str(f.relative_to(folder)): f for f in folder.rglob("*") if f.is_file()}
    assert found.keys() == SOURCES.keys()
    assert found["src/arm.f90"].read_bytes() == b"end\n"
    assert [f.name for f in folder.parent.iterdir()] == ["made"]
    with pytest.raises(RunError, match="the folder is not empty"):
        write_folder(folder, SOURCES)


def test_an_empty_folder_remains_the_one_that_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be the current folder of a shell."""
    before = tmp_path.stat().st_ino
    monkeypatch.chdir(tmp_path)
    write_folder(".", SOURCES)
    assert tmp_path.stat().st_ino == before
    assert (tmp_path / "arm.c").is_file()


def left_by(folder: Path, there: bool) -> bool:
    """Whether nothing was written: the folder is as empty, or as little there, as before."""
    return folder.exists() == there and not [f for f in folder.parent.rglob("*") if f != folder]


def test_without_room_no_folder_is_written(folder: Path) -> None:
    there = folder.exists()
    with little_room(500), pytest.raises(RunError, match="cannot be written") as caught:
        write_folder(folder, SOURCES)
    assert "room on the disk" in (caught.value.remedy or "")
    assert left_by(folder, there)


@pytest.mark.parametrize("step", range(1, 4))
def test_an_interrupted_folder_leaves_nothing(
    folder: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C comes at one of the steps: while files are written, and while they are moved."""
    there, steps, rename = folder.exists(), iter(range(1, 100)), Path.rename

    def moved(file: Path, target: Path) -> Path:
        if next(steps) == (step if there else 1):
            raise KeyboardInterrupt
        return rename(file, target)

    monkeypatch.setattr(Path, "rename", moved)
    with pytest.raises(KeyboardInterrupt):
        write_folder(folder, SOURCES)
    assert left_by(folder, there)


@pytest.mark.parametrize("name", ["", "missing/new", "a\0b", "n" * 300, "file", "link"])
def test_places_where_no_folder_can_be(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    with pytest.raises(RunError, match="it cannot be written") as caught:
        write_folder(name, SOURCES)
    assert caught.value.remedy
    assert not list((tmp_path / "empty").iterdir())
