"""The options of a reduction, its progress, and its table."""

from __future__ import annotations

import sys
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from chainform.cli.printing import Page
from chainform.errors import ReadError
from chainform.graph import Cost, Graph, cost
from chainform.search import EFFORTS, Progress, Stage, comparison, effort_of, seconds_of
from chainform.search.efforts import DEFAULT_SECONDS

PAPER_CASES = {"rackovic_2_1": "example_2_1", "rackovic_4_1": "example_4_1"}
"""The mechanisms whose reduction Racković 1996 publishes, by name."""

SEARCH_OPTIONS = ("budget", "steps_made", "seed", "cores", "sine_cost")

COLUMNS = ("multiplications", "additions", "sin", "cos", "angle sums", "other calls")


def add_reduction(parser: ArgumentParser, *, search: bool = True, default: str = "none") -> None:
    """Add `--reduce` and, unless the command has no use for a search, what goes with it."""
    group = parser.add_argument_group("how many operations they are reduced to")
    group.add_argument(
        "--reduce",
        metavar="EFFORT",
        help=f"{', '.join(EFFORTS)}: nothing, as in Racković 1996, about a second, or a search for "
        "as long as --budget or --steps says (Ctrl-C ends it and keeps the best); or passes by "
        f"name, such as expand,extract_monomials (default: {default})",
    )
    if not search:
        parser.set_defaults(**dict.fromkeys(SEARCH_OPTIONS))
        return
    group.add_argument(
        "--budget",
        metavar="TIME",
        help="how long a deep search takes: 90s, 5m, 1h30m (default: 60s)",
    )
    group.add_argument(
        "--steps",
        dest="steps_made",
        metavar="N",
        help="how many steps a deep search makes, in place of a time",
    )
    group.add_argument(
        "--seed",
        metavar="N",
        help="of the search; the same seed and steps give the same model, another seed looks "
        "elsewhere",
    )
    group.add_argument("--cores", metavar="N", help="processes of a deep search (default: all)")
    group.add_argument(
        "--sine-cost",
        metavar="N",
        help="what a sine or cosine is worth, in multiplications (default: 12)",
    )


def reduction_options(args: Namespace, default: str = "none") -> dict[str, Any]:
    """Return the effort and the options that were given, as `Model.reduce` takes them."""
    effort: str = args.reduce or default
    _check_search_options(args, effort)
    options = {
        "budget": args.budget,
        "steps": _number(args.steps_made, "--steps", int),
        "seed": _number(args.seed, "--seed", int),
        "cores": _number(args.cores, "--cores", int),
        "sine_cost": _number(args.sine_cost, "--sine-cost", float),
    }
    given = {name: value for name, value in options.items() if value is not None}
    # What is wrong is refused before anything is derived.
    effort_of(effort, **given)
    return {"effort": effort, **given}


def _check_search_options(args: Namespace, effort: str) -> None:
    """Refuse options of a reduction where there is none, and bounds of a search where it is not."""
    bounds = ("budget", "steps_made")
    refused = {"none": SEARCH_OPTIONS, "thesis": bounds, "fast": bounds}.get(effort, ())
    for name in refused:
        if getattr(args, name) is None:
            continue
        option = "--steps" if name == "steps_made" else f"--{name.replace('_', '-')}"
        fitting = "deep" if name in bounds else "fast"
        raise ReadError(
            f"{option} goes with --reduce {fitting}",
            element="options",
            remedy=f"add --reduce {fitting}, or leave out {option}",
        )


def _number(text: str | None, option: str, kind: Callable[[str], Any]) -> Any:
    if text is None:
        return None
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise ReadError(
            f"{text[:40]!r} is not {what}", element=option, remedy=f"give {what}, such as 12"
        ) from None


class Status:
    """The line that tells how far a search has got; the time in it goes on by itself."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        """How long the search may take, if that is bounded."""
        self.began: float | None = None
        self.found = "deriving the model"

    def progress(self, steps: int, _: float, graph: Graph) -> None:
        """Take note of what a search has found."""
        if self.began is None:
            self.began = monotonic()
        best = cost(graph)
        made = f"{steps} steps" if steps else "a first look"
        self.found = f"{made}, best {best.multiplications} multiplications and {best.additions} "
        self.found += "additions; Ctrl-C keeps it"

    def __rich__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Return the line as it is now."""
        if self.began is None:
            return self.found
        elapsed = monotonic() - self.began
        if self.seconds is None:
            return f"{_clock(elapsed)}: {self.found}"
        left = max(0.0, self.seconds - elapsed)
        return f"{_clock(elapsed)}, {_clock(left)} left: {self.found}"


def _clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _bound(args: Namespace) -> float | None:
    """Return the seconds a search may take; None where its steps are counted alone."""
    if args.budget is not None:
        return seconds_of(args.budget)
    return None if args.steps_made is not None else DEFAULT_SECONDS


@contextmanager
def shown_progress(args: Namespace) -> Generator[Progress | None, None, None]:
    """Show how far a deep search has got, on a terminal; yield what it has to be told.

    A search that had to end early says so in a line on stderr.
    """
    if getattr(args, "reduce", None) != "deep":
        yield None
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        with _shown_status(args) as progress:
            yield progress
    for warning in caught:
        print(f"chainform: note: {warning.message}", file=sys.stderr)


@contextmanager
def _shown_status(args: Namespace) -> Generator[Progress | None, None, None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    status = Status(_bound(args))
    console = Console(stderr=True, markup=False, highlight=False)
    with console.status(status):
        yield status.progress


def stage_documents(stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """Return the stages of a reduction as documents tell them."""
    return [
        {"name": stage.name, "operations": stage.cost.as_dict(), "seconds": stage.seconds}
        for stage in stages
    ]


def show_stages(page: Page, stages: Sequence[Stage], mechanism: str) -> None:
    """Print what each step of a reduction left, beside what Racković 1996 has where it has."""
    case = PAPER_CASES.get(mechanism)
    published: dict[str, str] = {}
    if case is not None:
        rows = comparison(case, stages)
        known = ((row.stage, row.published) for row in rows)
        published = {name: f"{pair[0]}/{pair[1]}" for name, pair in known if pair is not None}
    titles = ["after", *COLUMNS, *(["published"] if published else []), "seconds"]
    table: list[list[str]] = []
    for stage in stages:
        paper = [published.get(stage.name, "")] if published else []
        table.append([stage.name, *figures(stage.cost), *paper, f"{stage.seconds:.2f}"])
    page.table(titles, table, numbers=titles[1:])


def figures(count: Cost) -> list[str]:
    """Return the columns of a count as text."""
    return [str(number) for number in count.as_dict().values()]
