"""The store: one object through which models are saved, found, followed and evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.graph import Graph
from chainform.store.records import (
    Difference,
    MechanismFile,
    ModelEntry,
    Parameter,
    Record,
    Revision,
    Swept,
)


class Database:
    """Models in SQLite or PostgreSQL.

    A reference is `arm` (the last revision), `arm@3` or `arm@tag`. Every change is one
    transaction; StoreError says what is wrong, with the file or the address and a remedy.
    """

    @staticmethod
    def open(url: str, *, timeout: float = 30.0, read_only: bool = False) -> Database:
        """Open `sqlite:///path`, a plain path or `postgresql://...`; make the tables if new."""
        raise NotImplementedError

    def close(self) -> None: ...

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- saving and loading
    def save(self, graph: Graph, record: Record) -> Revision: ...
    def load(self, name: str, revision: int | None = None) -> tuple[Graph, Revision]: ...
    def revision(self, reference: str) -> Revision: ...
    def mechanism(self, reference: str) -> MechanismFile | None: ...
    def parameters(self, reference: str) -> tuple[Parameter, ...]: ...

    # --- finding
    def models(
        self,
        search: str | None = None,
        *,
        mechanism: str | None = None,
        author: str | None = None,
        quantity: str | None = None,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[ModelEntry]: ...
    def log(self, name: str) -> list[Revision]: ...
    def diff(self, before: str, after: str) -> Difference: ...

    # --- changing
    def tag(self, reference: str, *tags: str) -> Revision: ...
    def untag(self, reference: str, *tags: str) -> Revision: ...
    def rename(self, name: str, new_name: str) -> None: ...
    def revert(self, name: str, revision: int, *, author: str = "", note: str = "") -> Revision: ...
    def delete(self, name: str) -> int: ...
    def gc(self) -> Swept: ...
    def copy(self, name: str, target: Database, new_name: str | None = None) -> list[Revision]: ...
    def check(self) -> list[str]: ...

    # --- navigation, inside the database
    def evaluate(
        self,
        reference: str,
        inputs: Mapping[str, float],
        quantities: Sequence[str] | None = None,
    ) -> dict[str, NDArray[np.float64]]: ...
    def cone(self, reference: str, variable: str) -> list[str]: ...
    def uses(self, reference: str, variable: str, *, whole: bool = False) -> list[str]: ...
    def formula(self, reference: str, variable: str) -> str: ...
    def expand(
        self,
        reference: str,
        quantity: str,
        *,
        trig: bool = True,
        split_angles: bool = True,
    ) -> dict[str, str]: ...
    def query(self, sql: str, values: Mapping[str, Any] | None = None) -> Iterable[Any]: ...
