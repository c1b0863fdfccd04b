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

from chainform.analysis import (
    OF_MOTIONS,
    TASKS,
    Result,
    Task,
    TaskInterrupted,
    arguments_of,
)
from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen
from chainform.cli.motion_options import json_of, option_errors
from chainform.cli.options import add_list, parameter_values
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
from chainform.cli.selection import split_names
from chainform.cli.states import read_json
from chainform.cli.store import exists
from chainform.errors import Error, ReadError
from chainform.given import Given
from chainform.graph import divided
from chainform.mechanism import Reader
from chainform.pipeline import derive
from chainform.simulation import scenario_of

HELP = {
    "motion": "crank=6*t, or a table of laws, pieces, numbers; a CSV file, that of a run or result",
    "times": "START:END:COUNT, or times with commas between them, s",
    "targets": 'by frames: {"tool": [0.4, 0.1, 0.3]}, a pose, laws of t, points of a spline',
    "start": "a pose near the first one: how loops close; crank=0.4, or a list",
    "frames": 'frames by name, or points: {"pen": {"segment": "rod", "point": [0.1, 0, 0]}}',
    "of": 'a frame by name; of stability-limit: \'{"task": "periodic_motion", ...}\'',
    "relative_to": "the frame from which motions are seen",
    "smoothing": "standard deviation of numbers without rates; 0 for exact ones",
    "driven": "joints with drives: crank,rocker",
    "q": "poses: crank=0.4, a list; of statics also a list of lists",
    "qd": "rates: crank=2, or a list",
    "x": "states of actuators and controllers: 'integral(crank)=0.1'",
    "u": "signals of actuators in the state",
    "tau": "efforts of joints in the state",
    "wrench": "forces and moments on the frames of --wrenches",
    "state": 'all of it: {"q": [...], "qd": [...]}, or a file of equilibria',
    "inputs": "what swings: crank,rocker, or amplitudes: crank=2.5",
    "frequencies": 'Hz: 1,2,5, or {"from": 0.1, "to": 100, "count": 401}',
    "row": "which of several equilibria in --state",
    "search": "true: the equilibrium or steady motion near the state is found first",
    "independent": "coordinates that shall be independent",
    "wrenches": "frames on which a force and a moment act, or are to be found",
    "without": "what is left out: friction, springs, rotors, forces",
    "algorithm": "how equations of unknown forces are made: sorting (default), differentiation",
    "outputs": "quantities by name: reactions,pose(tip)",
    "branches": "how many poses of each target, or all; whether paths branch",
    "limits": "false: joints may leave their limits",
    "redundancy": 'least_motion (default), middle_range, any, or held coordinates: {"elbow": 0.3}',
    "tolerance": "how far frames may be from their targets, rad and parts of the size; how well "
    "limits of stability are located, a share of the span",
    "starts": "how many starts a search has",
    "held": "coordinates that are held: names, or crank=0.4",
    "forces": "known forces by joints: crank=2*sin(t)",
    "signals": "signals of actuators by name",
    "stops": "true, a restitution, or a table by joints",
    "contacts": "frames that stay above the ground",
    "time": "when laws of time are taken, s",
    "parameter": "a parameter, a signal, or a name in a law, a gain or the state",
    "span": "from where to where: 0,60",
    "step": "the longest step along the path",
    "points": "the most points of the path",
    "count": "how many poses are drawn, or values of the parameter",
    "ranges": 'where joints may be: {"slide": [0, 1]}',
    "values": "numbers of parameters: m=250,c=1/3",
    "q0": "a pose to begin with",
    "qd0": "rates to begin with",
    "x0": "states of actuators to begin with",
    "t": "how long a motion is, or its start and end, s: 20, or 0,20",
    "period": "that of laws of time, or a first guess: 1.2, or 2*pi/w",
    "section": "a law whose zero ends a period, or the name of an event: crank-pi/2",
    "returns": "how many returns to the section make a period",
    "change": "what changes at the section, by laws: 'der(x)=-0.8*der(x)'",
    "shift": "what coordinates advance in a period: crank=2*pi",
    "relative": "coordinates that advance by any amount: x",
    "settle": "how long a motion goes on before it counts, s",
    "blocks": "into how many parts the motion is divided",
    "controllers": 'by name: {"crank": {"type": "pd", "kp": 10}}; pid, computed_torque ...',
    "events": "laws by names",
    "friction": "bounds of sticking by joints",
    "rtol": "relative tolerance of the motion",
    "method": "newton (default), closed_form or dynamic",
    "periodic_motion method": "the solver of the motion: verner65 (default), dopri853",
    "periodic_motion held": "entries of the start that stay: rod,der(rod), or period",
    "periodic_motion tolerance": "what may be left over of the period, in parts of the motion",
    "periodic_motion forces": "efforts by joints: crank=2*sin(t)",
    "lyapunov_exponents method": "the solver of the motion: verner65 (default), dopri853",
    "lyapunov_exponents forces": "efforts by joints: crank=2*sin(t)",
    "stability_limit of": 'what is to be stable: {"task": "periodic_motion", "period": 2}',
    "stability_limit tolerance": "how far the limit may be away",
    "modes t": "the time of the state, s",
    "frequency_response t": "the time of the state, s",
    "root_locus t": "the time of the state, s",
    "seed": "of random numbers",
    "parameters": "names or patterns: m_2,g,k_*",
    "initial": "values of the start: q0.crank,qd0.crank, or q0,qd0 (default: all, or independent)",
    "objective": 'a law at the end: x^2; or {"integral": "der(x)^2"}',
    "mode": "forward or adjoint (default with an objective and no outputs)",
    "t_eval": "times of output, s",
    "sensitivities method": "the solver of the motion: verner65 (default), dopri853",
    "sensitivities tolerance": "the error of the derivatives, against the largest of their kind",
    "sensitivities q0": "the pose at the start: crank=0.4, or a list",
    "sensitivities forces": "efforts by joints: crank=2*sin(t)",
    "design parameters": 'bounds by name: {"l": [0.2, 0.6]}',
    "study": 'a task or a motion: {"task": "statics", "q": {"arm": [0, 1]}}',
    "minimise": "an expression of one number: 'max(abs(tau.arm))'",
    "goals": 'values of expressions: {"last(q.arm)": 0.5}',
    "constraints": 'bounds of expressions: {"l1 + l2": [0.5, null]}',
    "derivatives": "exact (default) or differences",
}
"""What options are for that several tasks have."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of `analyse`."""
    parser.add_argument("file", metavar="TASK", help="a TOML or JSON file")
    _add_results(parser, has_modes=True)


def add_task_options(task: str, parser: ArgumentParser) -> None:
    """Add the options of one task."""
    add_file(parser)
    group = parser.add_argument_group("arguments of the task", "each is JSON, or plain text")
    for name in options_of(task):
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, dest=f"task_{name}", metavar="VALUE", help=_help(task, name))
    _add_results(parser, has_modes=task == "modes")


def _help(task: str, name: str) -> str | None:
    return HELP.get(f"{task} {name}", HELP.get(name))


def options_of(task: str) -> list[str]:
    """Return the arguments of a task that are options; --force is another thing, --state has it."""
    return [name for name in arguments_of(task) if name != "force"]


def _add_results(parser: ArgumentParser, *, has_modes: bool) -> None:
    parser.set_defaults(resume=None, mode=None)
    group = parser.add_argument_group("results")
    add_results(group, "the arrays")
    add_list(group, "--table", "COLUMN", "print these: tau,q.crank 'position(pen)[1]'")
    add_list(group, "--draw", "COLUMN", "what --plot shows, the same names (default: all)")
    group.add_argument("--over", metavar="COLUMN", help="what --plot draws it over: q.crank")
    if has_modes:
        words = "which mode --animate shows (default: 1)"
        group.add_argument("--mode", metavar="NUMBER", help=words)
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
    values = {name: getattr(args, f"task_{name}") for name in options_of(task)}
    texts = {name: text for name, text in values.items() if text is not None}
    given = {name: _value(name, text, task) for name, text in texts.items()}
    mechanism = args.file if task in OF_MOTIONS and _is_scenario(args.file) else read_chosen(args)
    with option_errors(values, {"t": "times"} if "times" in values else {}):
        if values.get("times", "") is None and isinstance(given.get("motion"), dict):
            _refuse_no_times(given["motion"])
        return _reported(args, Task.of({"task": task, "mechanism": mechanism, **given}))


LAWS = ("motion", "forces", "signals", "change", "events")
STATE = ("q", "qd", "x", "u", "tau", "force", "wrench")
STARTS = ("q0", "qd0", "x0", "start")
NUMBERS = (
    *(*STATE, *STARTS, "t", "t_eval", "held", "values", "span"),
    *("shift", "frequencies", "inputs"),
)
NAMES = (
    *("frames", "driven", "outputs", "wrenches", "without", "held", "contacts", "stops"),
    *("parameters", "initial", "relative", "fixed", "inputs", "independent"),
)
"""Options that take laws or numbers by name, lists of numbers, and names with commas."""


def _is_scenario(file: str) -> bool:
    return Path(file).is_file() and scenario_of(file) is not None


def _value(name: str, text: str, task: str = "") -> Any:
    """Return what stands behind an option: JSON, a JSON file, NAME=VALUE, a list, a text.

    A state along a parameter may have expressions of it.
    """
    option = f"--{name.replace('_', '-')}"
    if name == "times" and not text.startswith(("[", "{")):
        return _times(text)
    if text == "-" or text.lower().endswith(".json"):
        return read_json(text)
    try:
        found = json.loads(text)
        is_alone = name in (*STATE, *STARTS) and isinstance(found, int | float)
        return [found] if is_alone else found
    except ValueError:
        if text.lstrip().startswith(("{", "[")):
            return json_of(text, option)
    parts = list(divided(text, ","))
    if name == "values" or ("=" in text and name in (*LAWS, *NUMBERS)):
        pairs = parameter_values(parts, option)
        if name in LAWS or (name in STATE and task == "root_locus"):
            return pairs
        return {key: _number(x, f"{option}, {key[:60]}") for key, x in pairs.items()}
    if name in NUMBERS and name not in NAMES:
        return [_number(part, option) for part in parts]
    return [part.strip() for part in parts] if name in NAMES and len(parts) > 1 else text


def _number(text: str, element: str) -> float:
    """Return the value of an expression of numbers, such as 1/3 or pi/2."""
    return float(Reader().fraction(Given(text, element)))


def _times(text: str) -> dict[str, Any] | list[float]:
    try:
        if ":" in text:
            first, last, count = text.split(":")
            return {"from": float(first), "to": float(last), "count": int(count)}
        return [float(entry) for entry in text.split(",")]
    except ValueError:
        remedy = "write START:END:COUNT, as in 0:2:101, or times with commas between them"
        raise ReadError(f"{text[:60]!r} tells no times", element="--times", remedy=remedy) from None


def _refuse_no_times(motion: dict[str, Any]) -> None:
    if not any(isinstance(source, dict) and "t" in source for source in motion.values()):
        raise ReadError("a motion by laws needs times", element="t", remedy="give --times 0:1:101")


def _reported(args: Namespace, task: Task) -> Report:
    files = result_files(args)
    check_pictures(args)
    check_store(args, task.mechanism)
    table, draw = (None if each is None else split_names(each) for each in (args.table, args.draw))
    result = _computed(task, files)
    _check_columns(result, "--table", table or [])
    _check_columns(result.plotted, "--draw", draw or [])
    _check_columns(result.plotted, "--over", [args.over] if args.over else [])
    for file in files:
        result.save(file)
    written = [*files, *draw_pictures(args, result, what=draw, over=args.over)]
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
        show_result(page, result, table)
        show_written(page, written)
        if revision is not None:
            page.text(f"stored with {revision}")

    return Report(document, show, has_failed=_reaches_nothing(result))


def _reaches_nothing(result: Result) -> bool:
    """Tell whether there are targets and none is reached, or starts and none converged."""
    aims = [name for name in ("reached", "converged") if name in result.arrays]
    return any(not result[name].any() for name in aims)


def _check_columns(result: Result, option: str, names: Sequence[str]) -> None:
    """Refuse columns that a result does not have, before anything is written."""
    try:
        result.columns(names)
    except Error as problem:
        raise ReadError(problem.message, element=option, remedy=problem.remedy) from problem


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
        description="Carry out a task of a file: kinematics, statics, oscillations ... Ctrl-C\n"
        "ends it early: what is done is written to the files of --out, and the exit code is 130.\n"
        "It is 1 where no target of inverse kinematics is reached, and where no start of a design\n"
        "converged.",
        add_options=add_options,
        run=run,
    ),
    **{name.replace("_", "-"): _task_command(name) for name in TASKS},
}
