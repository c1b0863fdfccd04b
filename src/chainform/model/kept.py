"""Compiled code in the store, beside the model it belongs to."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from chainform.errors import StoreError
from chainform.store.objects import Objects


@dataclass(frozen=True)
class Kept:
    """Keeps machine code with a revision of a model; where that fails, it is made again."""

    objects: Objects
    reference: str

    def get(self, key: str) -> bytes | None:
        """Return what is kept under a key."""
        with suppress(StoreError):
            return self.objects.get(key)
        return None

    def put(self, key: str, data: bytes) -> None:
        """Keep bytes under a key, as long as the model is there."""
        with suppress(StoreError):
            self.objects.put(key, data, self.reference)
