"""Where a user's models are kept when nothing else is said."""

from __future__ import annotations

import os
import sys

from chainform.places import data_folder

VARIABLE = "CHAINFORM_DB"
"""The environment variable that names the store."""


def default_url() -> str:
    """Return the store that the environment names, else a file in the user's data folder."""
    return os.environ.get(VARIABLE) or str(data_folder(sys.platform, os.environ) / "models.db")
