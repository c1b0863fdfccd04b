"""Doors of rooms: every name they promise is there, and nothing is loaded before its time."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest

import chainform
from chainform.lazy import Door, listed_modules

HOME = Path(chainform.__file__).parent
ROOMS = ["chainform", *sorted(f"chainform.{p.parent.name}" for p in HOME.glob("*/__init__.py"))]


@pytest.mark.parametrize("name", ROOMS)
def test_every_name_of_a_room_is_there(name: str) -> None:
    room = import_module(name)
    for promised in getattr(room, "__all__", ()):
        assert getattr(room, promised) is not None
    if isinstance(room, Door):
        assert set(listed_modules(name)) == set(room.__all__)
        assert set(room.__all__) <= set(dir(room))


@pytest.mark.parametrize("name", sorted(chainform.__all__))
def test_annotations_can_be_read(name: str) -> None:
    """Tools for documentation, and for forms, take the types from there."""
    found = getattr(chainform, name)
    if isinstance(found, type):
        assert isinstance(get_type_hints(found), dict)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'chainform' has no attribute 'nothing'"):
        getattr(chainform, "nothing")  # noqa: B009
    assert not hasattr(chainform, "__wrapped__")


def test_rooms_are_loaded_when_they_are_entered() -> None:
    """Neither numpy, nor the database, nor the compiler is there before it is used."""
    code = "import sys, chainform, chainform.cli; print([m for m in {names} if m in sys.modules])"
    names = ("numpy", "sqlalchemy", "llvmlite", "rich", "chainform.graph")
    found = subprocess.run(
        [sys.executable, "-c", code.replace("{names}", repr(names))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "[]"
