"""Studies: the tasks that find something for given values of parameters, and their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.equilibrium_continuation import equilibrium_path
from chainform.analysis.equilibrium.equilibrium_search import equilibria
from chainform.analysis.equilibrium.static_forces import statics
from chainform.analysis.motions.motion_kinematics import kinematics
from chainform.analysis.motions.motion_loads import inverse_dynamics
from chainform.analysis.oscillations.frequency_response import frequency_response
from chainform.analysis.oscillations.root_locus import root_locus
from chainform.analysis.oscillations.vibration_modes import modes
from chainform.analysis.periodic.lyapunov import lyapunov_exponents
from chainform.analysis.periodic.periodic_motion import periodic_motion
from chainform.analysis.poses.inverse_poses import inverse_kinematics
from chainform.analysis.poses.workspace_points import workspace
from chainform.analysis.results.result import Result
from chainform.given import Given

Array = NDArray[np.float64]
STUDIES: Mapping[str, Callable[..., Result]] = {
    "kinematics": kinematics,
    "workspace": workspace,
    "inverse_dynamics": inverse_dynamics,
    "inverse_kinematics": inverse_kinematics,
    "statics": statics,
    "equilibria": equilibria,
    "equilibrium_path": equilibrium_path,
    "modes": modes,
    "frequency_response": frequency_response,
    "root_locus": root_locus,
    "periodic_motion": periodic_motion,
    "lyapunov_exponents": lyapunov_exponents,
}
"""The function of each study."""
MOST = 10_000_000
"""Times of a motion."""


def words_of(function: Callable[..., Result]) -> tuple[str, ...]:
    """Return the words of a task: the arguments of its function, `times` in place of t."""
    names: list[str] = []
    for name, parameter in list(signature(function).parameters.items())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            (options,) = get_args(get_type_hints(function)[name])
            names += options.__annotations__
        elif name != "progress":
            names.append("times" if name == "t" else name)
    return tuple(names)


def arguments_in(
    task: str, function: Callable[..., Result], table: Given, folder: Path
) -> dict[str, Any]:
    """Return the arguments of a task that a table gives; one that is needed and missing is refused.

    Files that it names lie in the folder.
    """
    words = words_of(function)
    values = {k: _argument(k, entry, folder) for k, entry in table.items() if k in words}
    for key, parameter in list(signature(function).parameters.items())[1:]:
        is_one = parameter.kind is not parameter.VAR_KEYWORD
        if is_one and parameter.default is parameter.empty and key not in values:
            raise table.at(key).error(f"the task {task} needs it", f"give {key}")
    if "times" in values:
        values["t"] = values.pop("times")
    return values


def _argument(key: str, entry: Given, folder: Path) -> Any:
    """Return what a file gives for an argument."""
    if key == "times":
        return times_of(entry)
    if key in ("motion", "state") and isinstance(entry.value, str):
        return folder / entry.value
    if key == "study" and entry.is_table:
        motion = entry.table()["motion"].value
        own = {"motion": folder / motion} if isinstance(motion, str) else {}
        return {**entry.value, **own}
    return entry.value


def times_of(given: Given) -> Array:
    """Return times: a list of numbers, or from, to and count."""
    if given.is_list:
        return np.array([entry.number() for entry in given.entries()])
    table = given.table(("from", "to", "count"), "write times = { from = 0, to = 2, count = 201 }")
    first = table["from"].number() if table.has("from") else 0.0
    last = table.required("to", "write when the motion ends, s").number()
    count = table["count"].whole(1, MOST) if table.has("count") else 201
    return np.linspace(first, last, count)
