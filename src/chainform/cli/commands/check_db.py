"""`chainform check-db`: whether the store is whole."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from chainform.cli.commands.command import Command
from chainform.cli.printing import Page, Report, counted
from chainform.cli.store_place import chosen_store

REPAIRED = " (repaired)"
"""How the store marks what it mended."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--repair", action="store_true", help="write anew what follows from other rows"
    )


def run(args: Namespace) -> Report:
    """Compare every cell that a model depends on with what was saved."""
    with chosen_store(args, read_only=not args.repair) as store:
        found = store.check(repair=args.repair)
    left = [problem for problem in found if not problem.endswith(REPAIRED)]
    document = {
        "is_whole": not left,
        "problems": [
            {"text": problem.removesuffix(REPAIRED), "repaired": problem.endswith(REPAIRED)}
            for problem in found
        ],
    }

    def show(page: Page) -> None:
        for problem in found:
            page.text(problem)
        page.text(_verdict(len(found), len(left), repair=args.repair))

    return Report(document, show, has_failed=bool(left))


def _verdict(found: int, left: int, *, repair: bool) -> str:
    if not found:
        return "the store is whole"
    if not left:
        return f"{counted(found, 'problem')} repaired; the store is whole"
    if not repair:
        return f"{counted(found, 'problem')}; check-db --repair mends what can be mended"
    return f"{counted(left, 'problem')} cannot be repaired; take the store from a backup"


COMMAND = Command(
    usage="",
    description="Compare every cell that a stored model depends on with what was saved, and name\n"
    "those that differ. The exit code is 1 where something is wrong. With --repair rows, counts\n"
    "and caches are written anew from whatever is whole.",
    add_options=add_options,
    run=run,
)
