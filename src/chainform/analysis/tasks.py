"""Tasks: a question about a mechanism, written in a file, or as a table of the same words.

    task = "inverse_dynamics"
    mechanism = "four_bar.toml"
    times = { from = 0, to = 2, count = 201 }
    driven = ["crank"]

    [motion]
    crank = "3*t"

Each task is a function of the same name, and all other entries are its arguments. Files that a task
names lie in its folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.equilibrium_continuation import equilibrium_path
from chainform.analysis.equilibrium.equilibrium_search import equilibria
from chainform.analysis.equilibrium.static_forces import statics
from chainform.analysis.motions.motion_kinematics import kinematics
from chainform.analysis.motions.motion_loads import inverse_dynamics
from chainform.analysis.periodic.lyapunov import lyapunov_exponents
from chainform.analysis.periodic.periodic_motion import periodic_motion
from chainform.analysis.periodic.stability_limit import stability_limit
from chainform.analysis.poses.inverse_poses import inverse_kinematics
from chainform.analysis.poses.workspace_points import workspace
from chainform.analysis.results.interruption import Progress
from chainform.analysis.results.result import Result
from chainform.analysis.variations.sensitivities import sensitivities
from chainform.display import Displayed
from chainform.errors import Error
from chainform.given import FREE_TEXT, Given
from chainform.mechanism import Mechanism
from chainform.readers import Source, bytes_of, table_from_text, text_of
from chainform.simulation import origin_of, scenario_of

Array = NDArray[np.float64]
TASKS: Mapping[str, Callable[..., Result]] = {
    "kinematics": kinematics,
    "workspace": workspace,
    "inverse_dynamics": inverse_dynamics,
    "inverse_kinematics": inverse_kinematics,
    "statics": statics,
    "equilibria": equilibria,
    "equilibrium_path": equilibrium_path,
    "periodic_motion": periodic_motion,
    "stability_limit": stability_limit,
    "lyapunov_exponents": lyapunov_exponents,
    "sensitivities": sensitivities,
}
"""The function of each task."""
OF_MOTIONS = ("sensitivities",)
"""Tasks that take all that `simulate` does; the mechanism of one may be a scenario."""
WATCHED = tuple(name for name, task in TASKS.items() if "progress" in signature(task).parameters)
"""Tasks that tell how far they have come."""
SYNTAXES = {".toml": "toml", ".json": "json"}
COMMON = ("task", "mechanism", "store", "name", *FREE_TEXT)
MOST = 10_000_000
"""Times of a motion."""


@dataclass(frozen=True, eq=False, repr=False)
class Task(Displayed):
    """A question about a mechanism: its name, the mechanism, and arguments of its function."""

    name: str
    mechanism: Mechanism
    arguments: Mapping[str, Any]
    file: str | None = None

    @staticmethod
    def read(path: str | PathLike[str]) -> Task:
        """Return the task in a TOML or JSON file; ReadError tells what is wrong with it."""
        place = Path(path)
        source = Source(str(place), bytes_of(place))
        syntax = SYNTAXES.get(place.suffix.lower())
        if syntax is None:
            raise source.error("a task is a TOML or JSON file", "name it with .toml or .json")
        table = table_from_text(text_of(source.data or b"", source), syntax, source)
        return _task(source.given(table, "task").table().at(""), place.parent, source)

    @staticmethod
    def of(table: Mapping[str, object]) -> Task:
        """Return the task of a table of the same words; `mechanism` may be one."""
        return _task(Given(table, "task").table().at(""), Path(), Source(None))

    def run(self, progress: Progress | None = None) -> Result:
        """Return what the task finds.

        `progress` is called with how much is done and how much there is. Ctrl-C raises
        TaskInterrupted where a part is done; statics has no parts.
        """
        more = {"progress": progress} if self.name in WATCHED else {}
        try:
            return TASKS[self.name](self.mechanism, **self.arguments, **more)
        except Error as problem:
            problem.file = problem.file or self.file
            raise


def analyse(
    task: str | PathLike[str] | Mapping[str, object], *, progress: Progress | None = None
) -> Result:
    """Return the result of a task, which is a TOML or JSON file, or a table of the same words."""
    chosen = Task.read(task) if isinstance(task, str | PathLike) else Task.of(task)
    return chosen.run(progress)


def _task(table: Given, folder: Path, source: Source) -> Task:
    remedy = f"write one of {', '.join(TASKS)}"
    name = table.required("task", remedy).choice(tuple(TASKS), "task", remedy)
    words = arguments_of(name)
    given = table.table((*COMMON, *words))
    found, scenario = table["mechanism"].value, None
    if name in OF_MOTIONS and isinstance(found, str) and (folder / found).is_file():
        scenario = scenario_of(folder / found)
    if scenario is not None:
        found = scenario.mechanism
    elif not isinstance(found, Mechanism):
        found = origin_of(table, source, folder, None).mechanism
    entries = {key: entry for key, entry in given.items() if key in words}
    values = {key: _argument(key, entry, folder) for key, entry in entries.items()}
    for key, parameter in list(signature(TASKS[name]).parameters.items())[1:]:
        is_one = parameter.kind is not parameter.VAR_KEYWORD
        if is_one and parameter.default is parameter.empty and key not in values:
            raise table.at(key).error(f"the task {name} needs it", f"give {key}")
    if "times" in values:
        values["t"] = values.pop("times")
    if scenario is not None:
        values = scenario.options(values)
    return Task(name, found, values, source.file)


def arguments_of(task: str) -> tuple[str, ...]:
    """Return the words of a task: the arguments of its function, `times` in place of t."""
    function = TASKS[task]
    names: list[str] = []
    for name, parameter in list(signature(function).parameters.items())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            (options,) = get_args(get_type_hints(function)[name])
            names += options.__annotations__
        elif name != "progress":
            names.append("times" if name == "t" else name)
    return tuple(names)


def _argument(key: str, entry: Given, folder: Path) -> Any:
    """Return what a file gives for an argument."""
    if key == "times":
        return times_of(entry)
    if key == "motion" and isinstance(entry.value, str):
        return folder / entry.value
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
