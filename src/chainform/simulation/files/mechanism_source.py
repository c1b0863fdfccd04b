"""The mechanism of a scenario: in the same file, in another one, or in a store.

Notes for people only (`note`, `description`, `comment`, `source`) may stand in any section. In a
table by names such an entry is read where the mechanism has something that is really called so.
Sections and tables by names alternate: [stops] goes by joints, [stops.elbow] has fields.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from chainform.errors import ReadError, StoreError
from chainform.given import FREE_TEXT, Given
from chainform.mechanism import Mechanism
from chainform.model import open_store
from chainform.readers import FILE_TYPES, Source, Table, read, read_text, text_of

SYNTAXES = {".toml": "toml", ".json": "json"}


@dataclass(frozen=True)
class MechanismSource:
    """A mechanism, and what a stored model adds to it: numbers that were bound, what it lacks."""

    mechanism: Mechanism
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    without: tuple[str, ...] = ()


MECHANISM_FIELDS = ("segments", "bodies", "coordinates", "elements", "L")
"""What tells the table of a mechanism from that of a scenario."""


def is_mechanism(table: Table) -> bool:
    """Tell the table of a mechanism from that of a scenario."""
    if "mechanism" not in table:
        return any(field in table for field in MECHANISM_FIELDS)
    return isinstance(table["mechanism"], Mapping) and len(table) == 1


def check_is_scenario(table: Table, source: Source) -> None:
    """Refuse the table of a mechanism, which somebody may take for one of its motion."""
    if "mechanism" not in table and is_mechanism(table):
        raise not_a_scenario(source)


def not_a_scenario(source: Source) -> ReadError:
    """Return the error for a file of a mechanism."""
    name = Path(source.file or "arm.toml").name[:60]
    remedy = f'write a scenario that names it: mechanism = "{name}", time = [0, 2]'
    return source.error("this is a mechanism; a scenario names one", remedy)


def origin_of(table: Given, source: Source, folder: Path, store: str | None) -> MechanismSource:
    """Return the mechanism that a scenario names or holds."""
    given = table["mechanism"]
    if given.is_table:
        text = text_of(source.data or b"", source)
        syntax = SYNTAXES[Path(source.file or "").suffix.lower()]
        return MechanismSource(read_text(text, syntax, source.file))
    remedy = 'write mechanism = "arm.toml", or describe it under [mechanism]'
    name = table.required("mechanism", remedy).text(remedy)
    if not name.strip():
        raise given.expected("a text", remedy)
    is_file = Path(name).suffix.lower() in FILE_TYPES
    if table.has("store") or (store is not None and not is_file):
        url = store if store is not None else _url(table["store"], folder)
        return _stored(given.at(f"mechanism {name[:60]!r}"), url)
    return MechanismSource(_from_file(given, folder))


def _from_file(given: Given, folder: Path) -> Mechanism:
    path = folder / given.value
    if Path(given.value).suffix.lower() not in FILE_TYPES:
        endings = ", ".join(FILE_TYPES)
        remedy = f"name a file ({endings}), or add store = true for a stored model"
        raise given.error(f"{given.value[:60]!r} is no file of a mechanism", remedy)
    try:
        is_there = path.exists()
    except (OSError, ValueError):
        is_there = False
    if not is_there:
        remedy = "paths begin at the folder of the scenario"
        raise given.error(f"there is no file {str(path)[:200]}", remedy)
    return read(path)


def _stored(given: Given, url: str | None) -> MechanismSource:
    """Return the mechanism of a stored model, with the values that were bound on the way to it."""
    try:
        with open_store(url, read_only=True) as store:
            model = store.load(given.value)
            steps = store.lineage(given.value)
    except StoreError as problem:
        remedy = problem.remedy or "chainform models lists what is stored"
        raise given.error(problem.message, remedy) from problem
    values: dict[str, Any] = {}
    for step in steps:
        values |= dict(step.options.get("values", {}))
    return MechanismSource(model.mechanism, values, model.without)


def _url(given: Given, folder: Path) -> str | None:
    """Return the address of a store; None stands for the user's own."""
    if given.value is True:
        return None
    remedy = 'write store = "models.db", or store = true for your own'
    url = given.text(remedy)
    if not url.strip() or "\0" in url:
        raise given.expected("the name of a store", remedy)
    return url if "://" in url else str(folder / url)


# --- notes ------------------------------------------------------------------------------------


def names_of(mechanism: Mechanism) -> frozenset[str]:
    """Return the names of all that a table of a scenario may go by."""
    named = (*mechanism.segments, *mechanism.frames, *mechanism.loops, *mechanism.constraints)
    names = {part.name for part in (*named, *mechanism.actuators, *mechanism.parameters)}
    names |= {*mechanism.coordinates, *mechanism.rates, *mechanism.states, *mechanism.signals}
    return frozenset(names | {segment.joint.name for segment in mechanism.segments})


def without_notes(table: Given, names: Collection[str] = frozenset()) -> Given:
    """Return a table with what is to be read, where `names` are what its entries may be called."""
    read = {k: value for k, value in table.value.items() if k not in FREE_TEXT or k in names}
    return table.holding(read)


def without_texts(value: object, names: Collection[str], *, is_by_names: bool = True) -> Any:
    """Return nested tables and lists without notes that are texts.

    Others stay: a controller, which is a table, may have any name.
    """
    if isinstance(value, list):
        entries = cast("list[object]", value)
        return [without_texts(entry, names, is_by_names=is_by_names) for entry in entries]
    if not isinstance(value, Mapping):
        return value
    left: dict[str, Any] = {}
    for key, entry in cast("Mapping[str, object]", value).items():
        is_name = is_by_names and key in names
        if is_name or key not in FREE_TEXT or not isinstance(entry, str):
            left[key] = without_texts(entry, names, is_by_names=not is_by_names)
    return left
