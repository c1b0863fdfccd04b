"""What the figures were measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

from speed_peers.build import CASADI, FAST, HERE

PACKAGES = ("pin", "numpy", "llvmlite")


def lines(more: Sequence[str] = ()) -> list[str]:
    """Return machine, compiler, versions (of `more` packages, too) and commit as a list."""
    compiler = _output("gcc", "--version").splitlines()[0]
    versions = [f"{package} {_version(package)}" for package in (*PACKAGES, *more)]
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return [
        f"- {_processor()}, {os.cpu_count()} cores; load before: {load}",
        f"- {platform.platform()}, Python {platform.python_version()}",
        f"- {compiler}, {' '.join(FAST)}",
        f"- {', '.join([*versions, CASADI.replace('==', ' ')])}",
        f"- chainform {_version('chainform')}, commit {_commit()}",
    ]


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    names = information.read_text().splitlines() if information.exists() else []
    found = [line.split(":", 1)[1].strip() for line in names if line.startswith("model name")]
    return found[0] if found else platform.processor()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    commit = _output("git", "rev-parse", "--short", "HEAD").strip()
    changed = _output("git", "status", "--porcelain", "--", "../../src").strip()
    return f"{commit} with changes" if changed else commit


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=HERE).stdout
