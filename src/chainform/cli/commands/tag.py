"""`chainform tag`: tags of a revision."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from chainform.cli.commands.command import Command
from chainform.cli.printing import Page, Report
from chainform.cli.saving import moved_lines, tagged
from chainform.cli.store_place import chosen_store


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("reference", metavar="REV", help="a revision: arm@1, or arm for the last")
    parser.add_argument("tags", metavar="TAG", nargs="+", help="a tag: a letter, then others")
    parser.add_argument("--delete", action="store_true", help="take the tags away")


def run(args: Namespace) -> Report:
    """Give a revision tags, or take them away."""
    with chosen_store(args) as store:
        revision = store.revision(args.reference)
        before = tagged(store, revision.name)
        if args.delete:
            store.untag(args.reference, *args.tags)
        else:
            store.tag(args.reference, *args.tags)
        after = tagged(store, revision.name)
    document = {"name": revision.name, "tags": dict(sorted(after.items()))}
    tags = list(dict.fromkeys(args.tags))
    if args.delete:
        lines = [f"tag {tag} taken from {before[tag]}" for tag in tags]
    else:
        moved = moved_lines(tags, before, revision)
        lines = [f"tagged {revision.reference}: {', '.join(tags)}", *moved]

    def show(page: Page) -> None:
        for line in lines:
            page.text(line)

    return Report(document, show)


COMMAND = Command(
    usage="REV TAG ...",
    description="Give a revision tags, by which it can be named: arm@TAG. A tag belongs to one\n"
    "revision of a model at a time, and moves. With --delete tags are taken away, from the\n"
    "revision or, where only the model is named, from whichever has them.",
    add_options=add_options,
    run=run,
)
