"""Errors of a motion in the words of the file that asked for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chainform.errors import Error

PYTHON_PAIR = re.compile(
    r"\b([a-z_]\w*)=('[^']*'|\"[^\"]*\"|\[[^\]]*\]|True|False|[-+.\w]+|(?=\{))"
)
"""An argument as a remedy writes it: method='cvode', energy_balance=True, values={...}."""

ENTRY = re.compile(r"[\"']([A-Za-z_][\w-]*)[\"']: ")
"""The beginning of an entry of a table of Python: "slide": 12."""

ARGUMENTS = {
    "t": "time",
    "t_eval": "output, times",
    "simulate": "motion",
    "hold": "forces, hold",
    **{name: f"solver, {name}" for name in ("method", "rtol", "atol", "step", "largest")},
    "stabilise": "solver, stabilise",
    "fixed": "initial, fixed",
    "threads": "batch, threads",
    **{f"{name}0": f"initial, {name}" for name in ("q", "qd", "x")},
}
"""Where a scenario says what an argument says."""


def in_toml(text: str) -> str:
    """Return a remedy with arguments and tables as TOML writes them."""

    def pair(found: re.Match[str]) -> str:
        name, value = found.groups()
        value = value.lower() if value in ("True", "False") else value.replace("'", '"')
        return f"{name} = {value}"

    text = ENTRY.sub(r"\1 = ", PYTHON_PAIR.sub(pair, text))
    return re.sub(r"(?<=[^\s{])\}", " }", re.sub(r"\{(?=[^\s}])", "{ ", text))


def place_in_file(element: str | None, batch: Mapping[str, Any] | None) -> str | None:
    """Return which part of a file an error is about; `batch` is what differs between motions."""
    head, comma, rest = (element or "").partition(", ")
    place = ARGUMENTS.get(head, head)
    if batch is not None and head in batch:
        place = place.replace("initial, ", "batch, ")
    return place + comma + rest or None


def tell_in_file(
    problem: Error, file: str | None, batch: Mapping[str, Any] | None = None
) -> tuple[str | None, str | None]:
    """Return element and remedy of an error in the words of a file."""
    remedy = problem.remedy
    if remedy is not None and not (file or "").lower().endswith(".json"):
        remedy = in_toml(remedy)
    return place_in_file(problem.element, batch), remedy
