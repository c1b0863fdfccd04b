"""What the command line says before the scenario file, and checks before a motion begins."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from chainform.cli.options import parameter_values
from chainform.errors import Error, ReadError
from chainform.expressions import fraction_of_decimal
from chainform.simulation import MotionError, Scenario, check_output


def add_overrides(parser: ArgumentParser) -> None:
    """Add options that stand before what the file says."""
    group = parser.add_argument_group("before what the file says")
    group.add_argument("--time", metavar="[START:]END", help="start and end, s")
    group.add_argument("--method", metavar="NAME", help="the method of integration")
    group.add_argument("--rtol", metavar="NUMBER", help="the relative tolerance")
    group.add_argument("--step", metavar="NUMBER", help="the length of fixed steps, s")
    group.add_argument(
        "--values", metavar="NAME=NUMBER", nargs="+", action="extend", help="values of parameters"
    )


def overrides_of(args: Namespace, scenario: Scenario) -> dict[str, Any]:
    """Return arguments of `simulate` that stand before those of the scenario."""
    found: dict[str, Any] = {}
    if args.time is not None:
        first, mark, last = args.time.rpartition(":")
        found["t"] = (_number(first, "--time") if mark else 0.0, _number(last, "--time"))
    if args.method is not None:
        found["method"] = args.method
    for name in ("rtol", "step"):
        if getattr(args, name) is not None:
            found[name] = _number(getattr(args, name), f"--{name}")
    if args.values:
        given = parameter_values(args.values, "--values")
        values = {name: _number(text, f"--values {name[:60]}") for name, text in given.items()}
        found["values"] = {**scenario.arguments.get("values", {}), **values}
    return found


@contextmanager
def blamed(given: Mapping[str, Any]) -> Generator[None]:
    """Turn errors about what the command line gave into errors of its options."""
    try:
        yield
    except MotionError:
        raise
    except Error as problem:
        if problem.element not in given:
            raise
        option = "--time" if problem.element == "t" else f"--{problem.element}"
        raise ReadError(problem.message, element=option, remedy=problem.remedy) from problem


def _number(text: str, element: str) -> float:
    try:
        return float(fraction_of_decimal(text))
    except (ReadError, ValueError, OverflowError):
        raise ReadError(
            f"{text[:40]!r} is not a number", element=element, remedy="write 0.5, or 1e-6"
        ) from None


def check_outputs(scenario: Scenario) -> None:
    """Refuse outputs that could not be written after the motion has been computed."""
    for name in scenario.outputs:
        try:
            check_output(scenario.mechanism, name)
        except Error as problem:
            raise ReadError(
                problem.message,
                file=scenario.file,
                element=f"output, outputs {name[:60]!r}",
                remedy=problem.remedy,
            ) from None
