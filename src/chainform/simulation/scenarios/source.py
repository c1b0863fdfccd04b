"""The mechanism of a scenario: in the same file, in another one, or in a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chainform.errors import ReadError, StoreError
from chainform.mechanism import Mechanism
from chainform.mechanism.tables import kind_of
from chainform.model import open_store
from chainform.readers import FILE_TYPES, read, read_text
from chainform.readers.source import Source, Table, text_of

SYNTAXES = {".toml": "toml", ".json": "json"}


@dataclass(frozen=True)
class Origin:
    """A mechanism, and what a stored model adds to it: numbers that were bound, what it lacks."""

    mechanism: Mechanism
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    leave_out: tuple[str, ...] = ()


MECHANISM_FIELDS = ("segments", "bodies", "coordinates", "elements", "L")
"""What tells the table of a mechanism from that of a scenario."""


def check_is_scenario(table: Table, source: Source) -> None:
    """Refuse the table of a mechanism, which somebody may take for one of its motion."""
    if "mechanism" not in table and any(field in table for field in MECHANISM_FIELDS):
        raise not_a_scenario(source)


def not_a_scenario(source: Source) -> ReadError:
    """Return the error for a file of a mechanism."""
    name = Path(source.file or "arm.toml").name[:60]
    remedy = f'write a scenario that names it: mechanism = "{name}", time = [0, 2]'
    return source.error("this is a mechanism; a scenario names one", remedy)


def origin_of(table: Table, source: Source, folder: Path, store: str | None) -> Origin:
    """Return the mechanism that a scenario names or holds."""
    said = table.get("mechanism")
    if isinstance(said, Mapping):
        text = text_of(source.data or b"", source)
        syntax = SYNTAXES[Path(source.file or "").suffix.lower()]
        return Origin(read_text(text, syntax, source.file))
    if not isinstance(said, str) or not said.strip():
        message = (
            "the mechanism is missing" if said is None else f"expected a text, got {_kind(said)}"
        )
        remedy = 'write mechanism = "arm.toml", or describe it under [mechanism]'
        raise source.error(message, remedy, "mechanism")
    is_file = Path(said).suffix.lower() in FILE_TYPES
    if table.get("store") is not None or (store is not None and not is_file):
        return _stored(said, table.get("store"), store, source, folder)
    return Origin(_from_file(said, source, folder))


def _from_file(name: str, source: Source, folder: Path) -> Mechanism:
    path = folder / name
    if Path(name).suffix.lower() not in FILE_TYPES:
        endings = ", ".join(FILE_TYPES)
        remedy = f"name a file ({endings}), or add store = true for a stored model"
        raise source.error(f"{name[:60]!r} is no file of a mechanism", remedy, "mechanism")
    try:
        is_there = path.exists()
    except (OSError, ValueError):
        is_there = False
    if not is_there:
        remedy = "paths begin at the folder of the scenario"
        raise source.error(f"there is no file {str(path)[:200]}", remedy, "mechanism")
    return read(path)


def _stored(
    reference: str, said: object, chosen: str | None, source: Source, folder: Path
) -> Origin:
    """Return the mechanism of a stored model, with the values that were bound on the way to it."""
    url = chosen if chosen is not None else _url(said, source, folder)
    try:
        with open_store(url, read_only=True) as store:
            model = store.load(reference)
            steps = store.lineage(reference)
    except StoreError as problem:
        raise ReadError(
            problem.message,
            file=source.file,
            element=f"mechanism {reference[:60]!r}",
            remedy=problem.remedy or "chainform models lists what is stored",
        ) from problem
    values: dict[str, Any] = {}
    for step in steps:
        values |= dict(step.options.get("values", {}))
    return Origin(model.mechanism, values, model.leave_out)


def _url(said: object, source: Source, folder: Path) -> str | None:
    """Return the address of a store; None stands for the user's own."""
    if said is True:
        return None
    if not isinstance(said, str) or not said.strip() or "\0" in said:
        remedy = 'write store = "models.db", or store = true for your own'
        raise source.error(f"expected the name of a store, got {_kind(said)}", remedy, "store")
    return said if "://" in said else str(folder / said)


def _kind(value: object) -> str:
    return "an empty text" if isinstance(value, str) else kind_of(value)
