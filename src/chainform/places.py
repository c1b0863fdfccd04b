"""The folders for a user's data and for a cache, as each platform has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def data_folder(platform: str, environment: Mapping[str, str]) -> Path:
    """Return the folder for our data, as each platform has it; it need not exist."""
    home = Path.home()
    if platform == "win32":
        folder = _absolute(environment.get("LOCALAPPDATA")) or home / "AppData" / "Local"
    elif platform == "darwin":
        folder = home / "Library" / "Application Support"
    else:
        folder = _absolute(environment.get("XDG_DATA_HOME")) or home / ".local" / "share"
    return folder / "chainform"


def cache_folder(platform: str, environment: Mapping[str, str]) -> Path:
    """Return the folder for what can be made again, as each platform has it; it need not exist."""
    home = Path.home()
    if platform == "win32":
        folder = _absolute(environment.get("LOCALAPPDATA")) or home / "AppData" / "Local"
        return folder / "chainform" / "Cache"
    if platform == "darwin":
        return home / "Library" / "Caches" / "chainform"
    return (_absolute(environment.get("XDG_CACHE_HOME")) or home / ".cache") / "chainform"


def _absolute(text: str | None) -> Path | None:
    """Return a folder that the environment names; a relative one is to be ignored."""
    return Path(text) if text and Path(text).is_absolute() else None
