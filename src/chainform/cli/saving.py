"""Models that a command makes go into the store: `--save` and what goes with it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chainform.cli.printing import Page
from chainform.cli.store_place import chosen_store
from chainform.cli.stored import add_origin, check_name
from chainform.errors import ReadError, StoreError
from chainform.model import Model

if TYPE_CHECKING:
    from chainform.model import Store
    from chainform.store import Revision


def add_save(parser: ArgumentParser) -> None:
    """Add `--save` with the name, tags and origin of the revision."""
    parser.add_argument("--save", metavar="NAME", help="save the model as a revision of NAME")
    parser.add_argument(
        "--tag",
        metavar="TAG",
        action="append",
        help="a tag of the revision, taken from the one that had it; may be repeated",
    )
    add_origin(parser)


def check_saving(args: Namespace) -> None:
    """Refuse what belongs to a revision when none is made, and names that cannot be used."""
    given = {"--tag": args.tag, "--note": args.note, "--author": args.author}
    for option, value in given.items():
        if value and args.save is None:
            raise ReadError(
                f"{option} goes with --save NAME, and nothing is saved here",
                element="options",
                remedy=f"add --save NAME, or leave out {option}",
            )
    if args.save is not None:
        check_name(args.save)


def save_model(
    args: Namespace, model: Model, seconds: float | None = None, name: str | None = None
) -> tuple[Revision, list[str]]:
    """Save a model as the options say, or as `name`; return its revision, and what moved to it."""
    goal: str = name or args.save
    with chosen_store(args, make=True) as store:
        tags: list[str] = args.tag or []
        before = tagged(store, goal) if tags else {}
        revision = store.save(model, goal, tags, args.note, args.author, seconds=seconds)
    return revision, moved_lines(tags, before, revision)


def moved_lines(tags: Sequence[str], before: Mapping[str, str], revision: Revision) -> list[str]:
    """Return which tags another revision had before."""
    goal = revision.reference
    moved = [tag for tag in dict.fromkeys(tags) if before.get(tag, goal) != goal]
    return [f"tag {tag} moved from {before[tag]} to {goal}" for tag in moved]


def tagged(store: Store, name: str) -> dict[str, str]:
    """Return the revision that each tag of a model belongs to, nothing for a new model."""
    try:
        revisions = store.log(name)
    except StoreError:
        return {}
    return {tag: revision.reference for revision in revisions for tag in revision.tags}


def show_saved(page: Page, revision: Revision, moved: list[str]) -> None:
    """Print under which name a model was saved."""
    page.text(f"saved as {revision.reference}")
    if revision.parent is not None and revision.parent < revision.number - 1:
        came = f"made from {revision.name}@{revision.parent}"
        page.text(f"it was {came}, and is the last revision of {revision.name} now")
    for line in moved:
        page.text(line)
