"""Compile peers once, into a folder that git ignores.

Everything built is kept under a name with a digest of what it was built from, so a changed source,
flag or model is built again and nothing else is.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from casadi_graphs.count import DEFINES

HERE = Path(__file__).parent
DEFAULT_CACHE = HERE.parent / ".cache"
CASADI = "casadi==3.8.2"
FAST = ("-O3", "-march=native")


@dataclass(frozen=True)
class Workshop:
    """Where peers are built."""

    folder: Path

    def make(self, name: str, sources: Sequence[str], build: Callable[[Path], None]) -> Path:
        """Return the file or folder `name`, which `build` makes unless it was made before.

        `sources` are texts that decide over the result. The seconds that it took are kept.
        """
        digest = hashlib.sha256("\0".join(sources).encode()).hexdigest()[:12]
        stem, dot, ending = name.partition(".")
        result = self.folder / f"{stem}-{digest}{dot}{ending}"
        if result.exists():
            return result
        self._start()
        print(f"building {result.name} ...", file=sys.stderr, flush=True)
        unfinished = result.with_name(f"unfinished-{result.name}")
        start = perf_counter()
        build(unfinished)
        self._note(result, perf_counter() - start)
        return unfinished.rename(result)

    def seconds(self, result: Path) -> float:
        """Return how long a result took to build."""
        return float(json.loads(self._notes.read_text())[result.name])

    def compile(self, name: str, source: Path, command: Sequence[str], *texts: str) -> Path:
        """Return a compiled source; `texts` are what it includes."""
        sources = [source.read_text(), *texts, *command]

        def build(result: Path) -> None:
            subprocess.run([*command, "-o", str(result), str(source)], check=True)

        return self.make(name, sources, build)

    def _start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / ".gitignore").write_text("*\n")

    def _note(self, result: Path, seconds: float) -> None:
        known: dict[str, float] = (
            json.loads(self._notes.read_text()) if self._notes.exists() else {}
        )
        self._notes.write_text(json.dumps(known | {result.name: seconds}, indent=1))

    @property
    def _notes(self) -> Path:
        return self.folder / "seconds.json"


def shared_library(workshop: Workshop, name: str, source: Path, version: str, *flags: str) -> Path:
    """Return a C source compiled for this machine; `version` tells what it includes."""
    command = ["gcc", *FAST, "-fPIC", "-shared", *flags, "-Wl,--no-as-needed", "-lm"]
    return workshop.compile(f"{name}.so", source, command, version)


def casadi_folder(workshop: Workshop) -> Path:
    """Return the installed package casadi; where there is none, it goes into the cache."""
    try:
        return Path(str(importlib.metadata.distribution("casadi").locate_file("casadi")))
    except importlib.metadata.PackageNotFoundError:
        return workshop.make("packages", [CASADI], _install_casadi) / "casadi"


def _install_casadi(target: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--target", str(target), CASADI], check=True)


def pinocchio_flags(workshop: Workshop) -> list[str]:
    """Return what a C++ source needs to see Pinocchio, Eigen and Boost.

    Eigen's headers come with casadi; the wheel of Pinocchio has none.
    """
    casadi = casadi_folder(workshop)
    prefix = pinocchio_prefix()
    headers = [prefix / "include", casadi / "include", casadi / "include" / "eigen3"]
    return ["-std=c++17", *DEFINES, *(f"-I{path}" for path in headers)]


def pinocchio_prefix() -> Path:
    """Return the folder in which the wheel of Pinocchio keeps `include` and `lib`."""
    wheel = importlib.metadata.distribution("libpinocchio")
    return Path(str(wheel.locate_file("cmeel.prefix")))


def linked(folder: Path, *libraries: str) -> list[str]:
    """Return the flags that link libraries of a folder, found there again at run time."""
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", *(f"-l{library}" for library in libraries)]
