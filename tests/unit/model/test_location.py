"""The store that is used when none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import chainform as cf
from chainform.files import data_folder
from chainform.model.location import default_url

HOME = Path.home()


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, HOME / ".local" / "share"),
        ("linux", {"XDG_DATA_HOME": "/data"}, Path("/data")),
        ("linux", {"XDG_DATA_HOME": "relative"}, HOME / ".local" / "share"),
        ("freebsd14", {"XDG_DATA_HOME": ""}, HOME / ".local" / "share"),
        ("darwin", {"XDG_DATA_HOME": "/data"}, HOME / "Library" / "Application Support"),
        ("win32", {}, HOME / "AppData" / "Local"),
        ("win32", {"LOCALAPPDATA": "/local"}, Path("/local")),
    ],
)
def test_folder(platform: str, environment: dict[str, str], folder: Path) -> None:
    assert data_folder(platform, environment) == folder / "chainform"


def test_the_environment_names_the_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHAINFORM_DB", "postgresql://host/models")
    assert default_url() == "postgresql://host/models"
    monkeypatch.delenv("CHAINFORM_DB")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_url() == str(tmp_path / "chainform" / "models.db")
    with cf.open_store() as store:
        assert store.models() == []
        assert not (tmp_path / "chainform" / "models.db").exists()
        store.gc()
    assert (tmp_path / "chainform" / "models.db").is_file()
