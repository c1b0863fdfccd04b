"""Where a user's models are kept when nothing else is said."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "CHAINFORM_DB"
"""The environment variable that names the store."""


def default_url() -> str:
    """Return the store that the environment names, else a file in the user's data folder."""
    return os.environ.get(VARIABLE) or str(data_folder(sys.platform, os.environ) / "models.db")


def data_folder(platform: str, environment: Mapping[str, str]) -> Path:
    """Return the folder for our data, as each platform has it; it need not exist."""
    home = Path.home()
    if platform == "win32":
        place = _absolute(environment.get("LOCALAPPDATA")) or home / "AppData" / "Local"
    elif platform == "darwin":
        place = home / "Library" / "Application Support"
    else:
        place = _absolute(environment.get("XDG_DATA_HOME")) or home / ".local" / "share"
    return place / "chainform"


def _absolute(text: str | None) -> Path | None:
    """Return a folder that the environment names; a relative one is to be ignored."""
    return Path(text) if text and Path(text).is_absolute() else None
