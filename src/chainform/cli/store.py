"""The store on the command line: which one is meant, `--save`, and documents of revisions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from chainform.cli.printing import Document, Page
from chainform.errors import Error, ReadError, StoreError
from chainform.model import Model, default_url, open_store
from chainform.readers import EXPRESSIONS, FILE_TYPES

if TYPE_CHECKING:
    from chainform.model import Store
    from chainform.store import Revision


def add_db(parser: ArgumentParser) -> None:
    """Add `--db`, which every command has."""
    parser.add_argument(
        "--db",
        metavar="URL",
        help="the store of models: a file, or postgresql://... (default: CHAINFORM_DB, else "
        "models.db in the user's data folder)",
    )


def chosen_store(args: Namespace, *, make: bool = False, read_only: bool = False) -> Store:
    """Open the store that the options or the environment name; only `make` makes a new one."""
    if args.db is not None and (args.db in ("", ":memory:") or args.db.rstrip("/") == "sqlite:"):
        raise StoreError(
            "a store in memory would be gone with the command", file=args.db, remedy="name a file"
        )
    file = store_file(args)
    with store_errors(args.db or default_url()):
        if file is not None:
            check_regular(file)
        if file is not None and not make and not file.exists():
            raise StoreError(
                "there is no store of models",
                file=str(file),
                remedy="chainform derive FILE --save NAME makes it; --db names another one",
            )
        return open_store(args.db, read_only=read_only)


def store_file(args: Namespace) -> Path | None:
    """Return the file of the store, None where it is on a server."""
    url: str = args.db or default_url()
    scheme, mark, rest = url.partition(":///")
    if mark and scheme.partition("+")[0] == "sqlite":
        return Path(rest.partition("?")[0])
    return None if "://" in url else Path(url)


def check_regular(path: Path, error: type[Error] = StoreError) -> None:
    """Refuse pipes and devices, whose end may never come."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise error("this is not a regular file", file=str(path), remedy="name another file")


def exists(path: Path) -> bool:
    """Tell whether there is something of this name; what cannot be a name does not exist."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


@contextmanager
def store_errors(place: str) -> Generator[None]:
    """Turn what the system or a driver says of a place into an error of the store."""
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise StoreError(
            f"it cannot be opened: {reason}",
            file=_without_password(place),
            remedy="look at the name, and at the rights to the file and its folder",
        ) from problem
    except (ValueError, OverflowError) as problem:
        raise StoreError(
            f"it cannot be the address of a store: {problem}",
            file=_without_password(place),
            remedy="write a path, or postgresql://user@host:port/database",
        ) from None


def _without_password(place: str) -> str:
    """Return the address up to 200 characters, a password in it replaced by ***."""
    scheme, mark, rest = place.partition("://")
    user, at, host = rest.rpartition("@")
    if not mark or not at or ":" not in user:
        return place[:200]
    return f"{scheme}://{user.partition(':')[0]}:***@{host}"[:200]


# --- models that a command saves --------------------------------------------------------------


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


def add_origin(parser: ArgumentParser) -> None:
    """Add the note and the author of a revision that a command makes."""
    parser.add_argument("--note", metavar="TEXT", default="", help="a remark on the revision")
    parser.add_argument("--author", metavar="NAME", help="who makes it (default: the user)")


def check_name(name: str, option: str = "--save") -> None:
    """Refuse names by which a saved model could not be found again: FILE would be a file."""
    if looks_like_file(name) or "/" in name or "\\" in name or not name.isprintable():
        raise ReadError(
            "this looks like a file, and the model could not be found by it",
            element=f"{option} {name[:60]}",
            remedy=f"leave out folders and endings such as {', '.join(FILE_TYPES)}",
        )


def looks_like_file(text: str) -> bool:
    """Tell whether a name has the ending of a mechanism file, or is empty."""
    return Path(text).suffix.lower() in (*FILE_TYPES, EXPRESSIONS) or not text.strip()


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
    tried = revision.options.get("tried", ())
    if revision.parent is not None and revision.parent < revision.number - 1 - len(tried):
        came = f"made from {revision.name}@{revision.parent}"
        page.text(f"it was {came}, and is the last revision of {revision.name} now")
    for line in moved:
        page.text(line)


# --- documents --------------------------------------------------------------------------------


def revision_document(revision: Revision) -> Document:
    """Return what is known of a revision."""
    return {
        "name": revision.name,
        "revision": revision.number,
        "mechanism": revision.mechanism,
        "formulation": revision.formulation,
        "step": revision.step,
        "options": dict(revision.options),
        "parent": revision.parent,
        "author": revision.author,
        "note": revision.note,
        "tags": list(revision.tags),
        "created": revision.created.astimezone(UTC).isoformat(timespec="seconds"),
        "seconds": revision.seconds,
        "outputs": list(revision.outputs),
        "variables": revision.variables,
        "terms": revision.terms,
        "factors": revision.factors,
        "operations": revision.cost.as_dict(),
        "once": revision.once.as_dict(),
        "content": revision.content,
    }


def reduced_text(revision: Revision, load: Callable[[str], Revision]) -> str:
    """Return by which effort the model of a revision is reduced, "no" if it is as derived."""
    while "reduce" not in revision.options and revision.parent is not None:
        revision = load(f"{revision.name}@{revision.parent}")
    effort = str(revision.options.get("reduce", "none"))
    return "no" if effort == "none" else effort


def date_text(revision: Revision) -> str:
    """Return when a revision was made, for people."""
    return revision.created.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


CERTIFICATE = "verification"
"""The kind of certificates among the runs of a revision."""


def certificate_documents(store: Store, revision: Revision) -> list[Document]:
    """Return what the certificates of a revision say; one of other formulas is none of it."""
    found: list[Document] = []
    for entry in store.runs(revision.reference):
        if entry.kind != CERTIFICATE:
            continue
        about = store.run(revision.reference, entry.name).about
        if about["content"] == revision.content:
            names = ("created", "holds", "verdict", "deviation", "versions")
            own = {"revision": revision.number, "run": entry.name}
            found.append(own | {name: about[name] for name in names})
    return found


def verified_text(certificates: Sequence[Document]) -> str:
    """Return what the last certificate says, and how many came before it."""
    if not certificates:
        return ""
    last = certificates[-1]
    words = f"{last['verdict']}, "
    deviation = last["deviation"]
    words += f"off by {deviation:.1e} at most, " if deviation else ""
    words += f"{last['created'][:16].replace('T', ' ')}, chainform {last['versions']['chainform']}"
    return words + (f"; {len(certificates) - 1} before" if len(certificates) > 1 else "")
