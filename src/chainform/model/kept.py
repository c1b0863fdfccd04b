"""Compiled code in the store, beside the model it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from chainform.store.objects import Objects


@dataclass(frozen=True)
class Kept:
    """Keeps machine code with a revision of a model."""

    objects: Objects
    reference: str

    def get(self, key: str) -> bytes | None:
        """Return what is kept under a key."""
        return self.objects.get(key)

    def put(self, key: str, data: bytes) -> None:
        """Keep bytes under a key, as long as the model is there."""
        self.objects.put(key, data, self.reference)
