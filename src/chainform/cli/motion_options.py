"""What `simulate` computes: a scenario, or a mechanism, and options that stand before what it says.

--q0 crank=0.4,rocker=1        numbers by name; or all: 0.4,0,1; or a JSON list or table
--q0 turning.csv               the first state of a run or result
--motion crank=6*t             laws by name; or a JSON table, in a file or as it is: '{...}'
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from shlex import quote
from typing import Any, cast

from chainform.analysis import Result, is_run_file, load_result, table_of_file
from chainform.cli.files import OF_MECHANISM, add_reading, option_name, read_chosen
from chainform.cli.options import add_list, parameter_values
from chainform.cli.states import name_of, read_json
from chainform.errors import Error, ReadError
from chainform.expressions import fraction_of_decimal
from chainform.given import Given
from chainform.mechanism import Mechanism, Reader, number_of, reader_of
from chainform.readers import Source
from chainform.simulation import (
    DriveSection,
    MotionError,
    OutputTimes,
    Run,
    Scenario,
    is_mechanism_file,
)

STATES = ("q0", "qd0")
LAWS = ("motion", "forces")
RESULTS = (".csv", ".npz", ".parquet")
REPEATED = ("time", "every", "method", "rtol", "step", "values", *LAWS)
"""Options that a command to go on has to name again."""
NAMES = {"t": "time", "t_eval": "every", "output": "every"}
"""The options of arguments that have another name."""


def add_source(parser: ArgumentParser) -> None:
    """Add the file, and the options of the reader of mechanisms."""
    text = "the scenario (.toml or .json), or a mechanism (.toml, .json or .urdf)"
    parser.add_argument("file", metavar="FILE", help=text)
    parser.set_defaults(takes_stored=False, takes_expressions=False, stored=None)
    add_reading(parser)


def add_overrides(parser: ArgumentParser) -> None:
    """Add options that stand before what the file says."""
    group = parser.add_argument_group("before what the file says")
    group.add_argument("--time", metavar="[START:]END", help="start and end, s (mechanism: 1)")
    group.add_argument("--every", metavar="SECONDS", help="the time between outputs, s")
    text = "at the start: NAME=NUMBER, 0.4,0,1, a JSON list or table, a file of one or of a result"
    for name, what in (("--q0", "coordinates"), ("--qd0", "rates")):
        add_list(group, name, "STATE", f"{what} {text}")
    for name, what in (("--motion", "coordinates follow laws of t"), ("--forces", "efforts")):
        add_list(group, name, "LAWS", f"{what}: NAME=LAW, a JSON table, or a file of it")
    group.add_argument("--method", metavar="NAME", help="the method of integration")
    group.add_argument("--rtol", metavar="NUMBER", help="the relative tolerance")
    group.add_argument("--step", metavar="NUMBER", help="the length of fixed steps, s")
    add_list(group, "--values", "NAME=NUMBER", "values of parameters")


def chosen_scenario(args: Namespace) -> Scenario:
    """Return the scenario of a file; for a mechanism, a motion of one second from the zero pose."""
    if is_mechanism_file(args.file):
        return Scenario(read_chosen(args), {"t": (0.0, 1.0)}, file=args.file)
    for option in OF_MECHANISM:
        if getattr(args, option, None) is not None:
            message = f"{option_name(option)} goes with a mechanism, and this is a scenario"
            raise ReadError(message, element=args.file[-60:], remedy="leave it out")
    return Scenario.read(args.file, store=args.db, allow_python=args.allow_python)


def overrides_of(args: Namespace, scenario: Scenario) -> dict[str, Any]:
    """Return arguments of `simulate` that stand before those of the scenario."""
    found: dict[str, Any] = {}
    if args.time is not None:
        first, mark, last = args.time.rpartition(":")
        found["t"] = (_number(first, "--time") if mark else 0.0, _number(last, "--time"))
    if args.every is not None:
        found["t_eval"] = _times(args.every, found.get("t", scenario.arguments["t"]))
    if args.method is not None:
        found["method"] = args.method
    for name in ("rtol", "step"):
        if getattr(args, name) is not None:
            found[name] = _number(getattr(args, name), f"--{name}")
    if args.values:
        given = parameter_values(args.values, "--values")
        values = {name: _number(text, f"--values {name[:60]}") for name, text in given.items()}
        found["values"] = {**scenario.arguments.get("values", {}), **values}
    reader = reader_of(scenario.mechanism)
    for name in (*STATES, *LAWS):
        texts: list[str] = getattr(args, name) or []
        if texts:
            option = f"--{name}"
            if name in STATES and _is_results(texts):
                run = _run_of(texts[0], option, scenario.mechanism)
                found[name] = (run.q if name == "q0" else run.qd)[0]
            elif name in STATES:
                found[name] = _state(texts, option, reader)
            else:
                found[name] = _laws(texts, option, scenario.mechanism, args)
    return found


def _times(text: str, span: tuple[float, float]) -> Any:
    every = Reader().fraction(Given(text, "--every"))
    first, last = (cast("Fraction", number_of(end)) for end in span)
    try:
        return OutputTimes(every=every).between(first, last)
    except ReadError as problem:
        remedy = "write --every 0.01; there are at most 50 million times"
        raise ReadError(problem.message, element="--every", remedy=remedy) from None


def _state(texts: Sequence[str], option: str, reader: Reader) -> Any:
    """Return numbers by name, or a list of all."""
    if _is_json(texts):
        if texts[0] == "-" or texts[0].endswith(".json") or texts[0].lstrip()[:1] in ("{", "["):
            return json_of(texts[0], option)
        return [float(reader.fraction(Given(part, option))) for part in texts[0].split(",")]
    pairs = parameter_values([part for text in texts for part in text.split(",")], option)
    return {
        name: float(reader.fraction(Given(text, f"{option}, {name[:60]}")))
        for name, text in pairs.items()
    }


def _laws(texts: Sequence[str], option: str, mechanism: Mechanism, args: Namespace) -> Any:
    """Return laws by name, or whatever a JSON table or a file of results has."""
    if _is_results(texts):
        return _from_results(texts[0], option, mechanism)
    if not _is_json(texts):
        return dict(parameter_values(texts, option))
    given = Given(json_of(texts[0], option), option).table(remedy='write {"crank": "6*t"}')
    if not any(entry.is_table and entry.has("file") for _, entry in given.items()):
        return given.value
    is_motion = option == "--motion"
    section = DriveSection(
        Source(None), Path(), args.allow_python, group="q" if is_motion else "tau"
    )
    return section.read(given, mechanism.coordinate_index if is_motion else mechanism.rate_index)


def _is_results(texts: Sequence[str]) -> bool:
    return len(texts) == 1 and Path(texts[0]).suffix.lower() in RESULTS


def _from_results(file: str, option: str, mechanism: Mechanism) -> dict[str, Any]:
    """Return the motions or efforts of a run or result, or those of columns t, crank."""
    try:
        run = _run_of(file, option, mechanism)
    except ReadError:
        if option != "--motion" or not file.lower().endswith(".csv") or is_run_file(Path(file)):
            raise
        return dict(table_of_file(file))
    if option == "--forces":
        return {
            name: {"t": run.t, "values": run.tau[:, k]}
            for k, name in enumerate(mechanism.rates)
            if run.tau[:, k].any()
        }
    return dict.fromkeys(mechanism.coordinates, run)


def _run_of(file: str, option: str, mechanism: Mechanism) -> Run:
    """Return the run or result of a file, which has the coordinates of the mechanism."""
    found = load_result(file)
    run = found.run if isinstance(found, Result) else found
    if run.mechanism.coordinates != mechanism.coordinates or mechanism.nq != mechanism.nv:
        message = "it has other coordinates, or quaternions, and not those of the mechanism"
        remedy = 'name the columns: \'{"crank": {"file": "run.csv", "smoothing": 0}}\''
        if option.lstrip("-") in STATES:
            remedy = f"write the numbers: {option} crank=0.4"
        raise ReadError(message, file=file, element=option, remedy=remedy)
    if not len(run.t):
        raise ReadError("it has no states", file=file, element=option, remedy="take another one")
    return run


def _is_json(texts: Sequence[str]) -> bool:
    return len(texts) == 1 and (texts[0].lstrip()[:1] in ("{", "[") or "=" not in texts[0])


def json_of(text: str, option: str) -> Any:
    """Return the JSON table or list behind an option, or that of a file."""
    if not text.lstrip().startswith("["):
        return read_json(text)
    try:
        return read_json(f'{{"list": {text}}}')["list"]
    except ReadError as problem:
        file = None if problem.file == name_of("{") else problem.file
        message, remedy = problem.message, "write [0.4, 0, 1]"
        raise ReadError(message, file=file, element=option, remedy=remedy) from None


@contextmanager
def option_errors(given: Mapping[str, Any], names: Mapping[str, str] = NAMES) -> Generator[None]:
    """Turn errors about what the command line gave into errors of its options.

    `names` are options of arguments that have another name.
    """
    try:
        yield
    except MotionError:
        raise
    except Error as problem:
        head, comma, rest = (problem.element or "").partition(", ")
        if names.get(head, head) not in given and head not in given:
            raise
        option = f"--{names.get(head, head).replace('_', '-')}{comma}{rest}"
        raise ReadError(problem.message, element=option, remedy=problem.remedy) from problem


def options_again(args: Namespace) -> str:
    """Return the options that the command had, for one that goes on."""
    text = ""
    for name in REPEATED:
        given: str | list[str] | None = getattr(args, name)
        if given:
            values = [given] if isinstance(given, str) else given
            text += f" --{name} " + " ".join(map(quote, values))
    return text


def _number(text: str, element: str) -> float:
    try:
        return float(fraction_of_decimal(text))
    except (ReadError, ValueError, OverflowError):
        raise ReadError(
            f"{text[:40]!r} is not a number", element=element, remedy="write 0.5, or 1e-6"
        ) from None
