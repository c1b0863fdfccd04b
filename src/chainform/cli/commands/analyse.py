"""`chainform analyse TASK.toml`, and the commands of single tasks: `chainform kinematics FILE ...`.

The options of a task are the arguments of its function; a value is JSON, or plain text.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from chainform.analysis import TASKS, Result, Task, TaskInterrupted, arguments_of
from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen
from chainform.cli.motion_options import option_errors
from chainform.cli.options import parameter_values
from chainform.cli.printing import Page, Report
from chainform.cli.progress import task_progress
from chainform.cli.results import (
    Checkpoint,
    add_results,
    check_pictures,
    check_store,
    draw_pictures,
    result_files,
    save_into_store,
)
from chainform.cli.run_report import result_document, show_result, show_written
from chainform.cli.states import read_json
from chainform.cli.store import exists
from chainform.errors import ReadError
from chainform.given import Given
from chainform.mechanism import Reader
from chainform.pipeline import derive

HELP = {
    "motion": "motion by coordinates: a law of t, pieces, numbers; or a CSV file, or that of a run",
    "times": "START:END:COUNT, or times with commas between them, s",
    "targets": 'by frames: {"tool": [0.4, 0.1, 0.3]}, a pose, laws of t, points of a spline',
    "start": "a pose near the first one: how loops close",
    "frames": 'frames by name, or points: {"pen": {"segment": "rod", "point": [0.1, 0, 0]}}',
    "of": "a frame by name",
    "relative_to": "the frame from which motions are seen",
    "smoothing": "standard deviation of numbers without rates; 0 for exact ones",
    "driven": "joints with drives",
    "values": "numbers of parameters: m=250,c=1/3",
    "q0": "a pose to begin with",
    "seed": "of random numbers",
}
"""What options are for that several tasks have."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of `analyse`."""
    parser.add_argument("file", metavar="TASK", help="a TOML or JSON file")
    _add_results(parser)


def add_task_options(task: str, parser: ArgumentParser) -> None:
    """Add the options of one task."""
    add_file(parser)
    group = parser.add_argument_group("arguments of the task", "each is JSON, or plain text")
    for name in arguments_of(task):
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, dest=f"task_{name}", metavar="VALUE", help=HELP.get(name))
    _add_results(parser)


def _add_results(parser: ArgumentParser) -> None:
    parser.set_defaults(resume=None)
    add_results(parser.add_argument_group("results"), "the arrays")
    parser.add_argument(
        "--save", metavar="MODEL", help="keep the result in the store, with a model"
    )
    parser.add_argument(
        "--run", metavar="NAME", help="the name of the result there (default: that of the file)"
    )


def run(args: Namespace) -> Report:
    """Carry out the task of a file."""
    return _reported(args, Task.read(args.file))


def run_task(task: str, args: Namespace) -> Report:
    """Carry out one task with the options of the command line."""
    values = {name: getattr(args, f"task_{name}") for name in arguments_of(task)}
    given = {name: _value(name, text) for name, text in values.items() if text is not None}
    mechanism = read_chosen(args)
    with option_errors(values):
        return _reported(args, Task.of({"task": task, "mechanism": mechanism, **given}))


def _value(name: str, text: str) -> Any:
    """Return what stands behind an option: JSON, or the text itself."""
    if name == "times" and not text.startswith(("[", "{")):
        return _times(text)
    if text == "-" or (name == "motion" and text.lower().endswith(".json")):
        return read_json(text)
    try:
        return json.loads(text)
    except ValueError:
        return _numbers(text) if name == "values" else text


def _numbers(text: str) -> dict[str, float]:
    """Return numbers of parameters, written m=250,c=1/3."""
    pairs = parameter_values(text.split(","), "--values")
    return {
        name: float(Reader().fraction(Given(number, f"--values, {name[:60]}")))
        for name, number in pairs.items()
    }


def _times(text: str) -> dict[str, Any] | list[float]:
    try:
        if ":" in text:
            first, last, count = text.split(":")
            return {"from": float(first), "to": float(last), "count": int(count)}
        return [float(entry) for entry in text.split(",")]
    except ValueError:
        remedy = "write START:END:COUNT, as in 0:2:101, or times with commas between them"
        raise ReadError(f"{text[:60]!r} tells no times", element="--times", remedy=remedy) from None


def _reported(args: Namespace, task: Task) -> Report:
    files = result_files(args)
    check_pictures(args)
    check_store(args, task.mechanism)
    result = _computed(task, files)
    for file in files:
        result.save(file)
    written = [*files, *draw_pictures(args, result)]
    revision = None
    if args.save is not None:
        revision = save_into_store(args, result, partial(derive, task.mechanism))
    document = {
        "file": args.file,
        **result_document(result),
        "written": written,
        "revision": revision,
    }

    def show(page: Page) -> None:
        show_result(page, result)
        show_written(page, written)
        if revision is not None:
            page.text(f"stored with {revision}")

    return Report(document, show)


def _computed(task: Task, files: Sequence[str]) -> Result:
    """Return what a task finds; where Ctrl-C ends it, what is done by then is written."""
    earlier = [file for file in files if exists(Path(file))]
    title = f"{task.mechanism.name}, {task.name.replace('_', ' ')}"
    try:
        with task_progress(title) as progress:
            return task.run(progress)
    except TaskInterrupted as stop:
        checkpoint = Checkpoint(files, (), earlier)
        checkpoint(stop.result)
        where = f", in {', '.join(checkpoint.written)}" if files else "; --out FILE.csv saves them"
        raise KeyboardInterrupt(f"{stop}{where}") from None


def _task_command(task: str) -> Command:
    words = (cast("str", TASKS[task].__doc__) or "").splitlines()[0]
    return Command(
        usage="FILE [--ARGUMENT VALUE ...] [--out FILE.csv] [--plot FILE.svg]",
        description=words.replace("Return", "Find"),
        add_options=partial(add_task_options, task),
        run=partial(run_task, task),
    )


COMMANDS = {
    "analyse": Command(
        usage="TASK.toml [--out FILE.csv] [--plot FILE.svg] [--save MODEL]",
        description="Carry out a task of a file: kinematics, inverse problems, statics. Ctrl-C\n"
        "ends it early: what is done is written to the files of --out, and the exit code is 130.",
        add_options=add_options,
        run=run,
    ),
    **{name.replace("_", "-"): _task_command(name) for name in TASKS},
}
