"""Doors of rooms: a package that imports a module when one of its names is first used.

A room lists its names once, as imports for type checkers, and becomes lazy in its last line:

    if TYPE_CHECKING:
        from chainform.graph.builder import Builder

    __all__ = ["Builder"]

    lazy.door(__name__)

So the command line answers before numpy is loaded, and a room may import another through its door
without loading what it does not use. The source of the package is read for the list; it belongs to
every installation.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module
from pkgutil import get_data
from types import ModuleType
from typing import Any

_BLOCK = re.compile(r"^if TYPE_CHECKING:\n((?:    .*\n|\n)+)", re.MULTILINE)
_IMPORT = re.compile(r"^    from ([\w.]+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


class Door(ModuleType):
    """A package whose names are imported when they are first used."""

    def __getattr__(self, name: str) -> Any:
        """Import a name."""
        modules = listed_modules(self.__name__)
        if name.startswith("__") or name not in modules:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name]), name)
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *listed_modules(self.__name__)})


@cache
def listed_modules(package: str) -> dict[str, str]:
    """Return the module of each name of a package, as the imports for type checkers have it."""
    source = get_data(package, "__init__.py") or b""
    block = _BLOCK.search(source.decode())
    return {
        name.strip(): found[1]
        for found in _IMPORT.finditer(block[1] if block else "")
        for name in (found[2] or found[3]).split(",")
        if name.strip()
    }


def door(package: str) -> None:
    """Make a package lazy."""
    sys.modules[package].__class__ = Door
