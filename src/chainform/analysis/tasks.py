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
from typing import Any

from chainform.analysis.optimisation.design import design
from chainform.analysis.optimisation.studies import STUDIES, arguments_in, words_of
from chainform.analysis.periodic.stability_limit import stability_limit
from chainform.analysis.results.interruption import Progress
from chainform.analysis.results.result import Result
from chainform.analysis.variations.sensitivities import sensitivities
from chainform.display import Displayed
from chainform.errors import Error
from chainform.given import FREE_TEXT, Given
from chainform.mechanism import Mechanism
from chainform.readers import Source, bytes_of, table_from_text, text_of
from chainform.simulation import origin_of, scenario_of

TASKS: Mapping[str, Callable[..., Result]] = {
    **STUDIES,
    "stability_limit": stability_limit,
    "sensitivities": sensitivities,
    "design": design,
}
"""The function of each task."""
OF_MOTIONS = ("sensitivities",)
"""Tasks that take all that `simulate` does; the mechanism of one may be a scenario."""
WATCHED = tuple(name for name, task in TASKS.items() if "progress" in signature(task).parameters)
"""Tasks that tell how far they have come."""
SYNTAXES = {".toml": "toml", ".json": "json"}
COMMON = ("task", "mechanism", "store", "name", *FREE_TEXT)


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
        TaskInterrupted where a part is done.
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
    values = arguments_in(name, TASKS[name], given, folder)
    if scenario is not None:
        values = scenario.options(values)
    return Task(name, found, values, source.file)


def arguments_of(task: str) -> tuple[str, ...]:
    """Return the words of a task: the arguments of its function, `times` in place of t."""
    return words_of(TASKS[task])
