"""Which store is meant: addresses, files of the wrong kind, names that mean nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chainform.cli.store import store_errors
from chainform.errors import StoreError

Call = Callable[..., Any]
ROOT = Path(__file__).parents[3]

pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")


@pytest.fixture
def linkage(
    call: Call,
    filled_once: Call,
    four_bar: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A store with one model, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHAINFORM_DB", str(tmp_path / "models.db"))

    def fill() -> None:
        result = call("derive", four_bar, "--outputs", "hG", "--save", "linkage", "--tag", "drawn")
        assert result.code == 0, result.err

    filled_once(str(tmp_path / "models.db"), "store place", fill)
    return tmp_path


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user@host:abc/x",
        "postgresql://user:secret@host:abc/x",
        "postgresql://[::1/x",
        "://",
        "x" * 5000,
        f"sqlite:///{'x' * 5000}",
        "no_folder/models.db",
    ],
)
def test_bad_addresses(call: Call, refused: Call, arm: Path, url: str) -> None:
    message = refused(call("models", "--db", url))
    assert "secret" not in message
    assert "Errno" not in message
    message = refused(call("derive", arm, "--outputs", "hG", "--save", "x", "--db", url))
    assert "remedy" in message


def test_what_the_system_says_of_a_place() -> None:
    with pytest.raises(StoreError) as caught, store_errors("/a/models.db"):
        raise PermissionError(13, "Permission denied", "/a")
    assert str(caught.value).startswith("/a/models.db: it cannot be opened: Permission denied\n")
    with pytest.raises(StoreError) as caught, store_errors("postgresql://user:secret@host:x/y"):
        raise ValueError("invalid port")
    assert str(caught.value).startswith("postgresql://user:***@host:x/y: it cannot be the address")


WITH_A_PIPE = (
    ("models", "--db", "PIPE"),
    ("models", "--db", "sqlite:///PIPE"),
    ("show", "nothing", "--db", "PIPE"),
    ("derive", "examples/four_bar.toml", "--save", "x", "--db", "PIPE"),
    ("gc", "--db", "PIPE"),
    ("import-db", "PIPE"),
    ("export-db", "PIPE", "--force"),
    ("check", "PIPE"),
    ("derive", "PIPE"),
)
ONE_BY_ONE = """
import json, sys
from chainform.cli import main
for arguments in json.load(sys.stdin):
    print(arguments[0], main(arguments), flush=True)
    print("end", file=sys.stderr, flush=True)
"""


@pipes
def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    """Whoever waits at a pipe waits for ever: the commands run in another process."""
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    commands = [[a.replace("PIPE", str(pipe)) for a in arguments] for arguments in WITH_A_PIPE]
    done = subprocess.run(
        [sys.executable, "-c", ONE_BY_ONE],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.splitlines() == [f"{command[0]} 2" for command in commands]
    *messages, rest = done.stderr.split("end\n")
    assert len(messages) == len(commands)
    assert all("this is not a regular file" in message for message in messages)
    assert rest == ""


def test_an_address_is_no_file_to_export_to(call: Call, refused: Call, linkage: Path) -> None:
    message = refused(call("export-db", "postgresql://host/x"))
    assert "this is an address" in message
    assert {path.name for path in linkage.iterdir()} <= {
        *("models.db", "models.db-wal", "models.db-shm"),
    }


@pytest.mark.parametrize("target", ["no_folder/x.py", "models.db/x.py"])
def test_a_missing_folder_is_bad_input(
    call: Call, refused: Call, linkage: Path, target: str
) -> None:
    refused(call("export", "linkage", "--to", "python", "-o", target))
    assert "Errno" not in refused(call("export-db", target))
    refused(call("derive", "x.toml", "--save", "x", "--db", target))


# --- names ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.toml", "x.JSON", "robot.urdf", "a/b", "a\\b", "./x"])
def test_names_that_look_like_files(call: Call, refused: Call, linkage: Path, name: str) -> None:
    message = refused(call("derive", "nothing.toml", "--save", name))
    assert "this looks like a file" in message
    assert "remedy: leave out folders and endings" in message


@pytest.mark.parametrize("name", ["arm.v2", "my arm", "a-b_c"])
def test_other_names_can_be_loaded(call: Call, arm: Path, linkage: Path, name: str) -> None:
    assert call("derive", arm, "--outputs", "hG", "--save", name).code == 0
    assert call("show", name, "hG_2").out.startswith("hG_2 = ")


def test_near_names(call: Call, refused: Call, linkage: Path, four_bar: Path) -> None:
    assert "did you mean 'linkage'? " in refused(call("show", "linkge"))
    assert "did you mean 'linkage'? " in refused(call("count", "linkge@1"))
    (linkage / "gripper.toml").write_bytes(four_bar.read_bytes())
    assert "did you mean 'gripper.toml'? " in refused(call("show", "griper"))
    assert "did you mean" not in refused(call("show", "xyzzy"))


@pytest.mark.parametrize("command", ["check", "derive"])
def test_a_stored_model_where_a_file_is_meant(
    call: Call, refused: Call, linkage: Path, command: str
) -> None:
    for name in ("linkage", "linkage@1"):
        message = refused(call(command, name))
        assert f"this is a stored model, and {command} takes a file" in message
    assert "stored model" not in refused(call(command, "other"))
    (linkage / "models.db").write_text("not a database " * 1000, "utf-8")
    assert "stored model" not in refused(call(command, "linkage"))


# --- tags, quantities, dates ----------------------------------------------------------------


def test_a_tag_that_moves_is_told(call: Call, linkage: Path, four_bar: Path) -> None:
    arguments = ("derive", four_bar, "--outputs", "hG", "--save", "linkage")
    assert "moved" not in call(*arguments, "--tag", "new").out
    out = call(*arguments, "--tag", "drawn", "--tag", "newer").out
    assert out.endswith("saved as linkage@3\ntag drawn moved from linkage@1 to linkage@3\n")
    assert "moved" not in call(*arguments[:-1], "other", "--tag", "drawn").out


def test_unknown_quantities(call: Call, linkage: Path, four_bar: Path) -> None:
    """What no method gives, and no model has; own outputs and derivatives may be there."""
    for name, remedy in (("gravty", "did you mean 'gravity'?"), ("xyz", "the models have gravity")):
        result = call("models", "--quantity", name)
        assert result.code == 2
        assert f"--quantity: no model has the quantity {name}" in result.err
        assert remedy in result.err
    assert call("models", "--quantity", "xyz", "--json").code == 2
    for known in ("H", "d(tau)/d(q)", "Cz(T(coupler))"):
        assert call("models", "--quantity", known).out == "no models\n"
    assert call("models", "--quantity", "gravity", "--author", "nobody").out == "no models\n"
    own = ("--define", "xyz = 2*hG[1]", "--save", "own")
    assert call("derive", four_bar, "--outputs", "hG,xyz", *own).code == 0
    assert "own" in call("models", "--quantity", "xyz").out


@pytest.mark.parametrize("option", ["--since", "--until"])
@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "0001-01-01T00:00+14:00"])
def test_the_ends_of_the_calendar(call: Call, linkage: Path, option: str, day: str) -> None:
    result = call("models", option, day)
    assert result.code in (0, 2)
    assert "unexpected" not in result.err


def test_the_number_of_variables_is_that_of_the_log(
    call: Call, linkage: Path, four_bar: Path
) -> None:
    out = call("derive", four_bar, "--outputs", "H", "--save", "linkage").out
    last = call("log", "linkage", "--json").document["revisions"][-1]
    assert f"variables: {last['variables']}; the outputs need " in out


# --- differences ----------------------------------------------------------------------------


def test_large_differences_are_folded(call: Call, linkage: Path, four_bar: Path) -> None:
    for formulation in ("closed_form", "newton_euler"):
        method = ("--formulation", formulation, "--reduce", "none")
        options = ("--outputs", "hG,tau", *method, "--save", "arm")
        assert call("derive", four_bar, *options).code == 0
    document = call("diff", "arm@1", "arm@2", "--json").document
    names = {row["name"] for rows in document["formulas"].values() for row in rows}
    entries = {row["name"] for row in document["entries"]}
    assert {"hG_3", "tau_3"} <= entries
    assert entries.isdisjoint(names)
    short = call("diff", "arm@1", "arm@2").out.splitlines()
    assert "same values, other formulas: gravity, inverse_dynamics" in short
    assert not [line for line in short if line.startswith(("- ", "+ ", "~ "))]
    assert short[-1] == f"{len(names)} further internal variables changed; --all shows them"
    whole = call("diff", "arm@1", "arm@2", "--all").out.splitlines()
    formulas = [line for line in whole if line.startswith(("- ", "+ ", "~ "))]
    assert {line.split()[1] for line in formulas} == names | entries
    assert formulas[0].split()[1] in entries
    assert "further internal" not in whole[-1]
