"""Errors, with what the user can do about them."""

from __future__ import annotations


class Error(Exception):
    """A mistake in something the user supplied, or a task that cannot be done.

    `file` is the file it was found in, `element` the part of it (a segment, a field, a
    coordinate), `remedy` what to do about it. Each may be None when it does not apply. `is_input`
    tells whether something that was given is no such thing: a wrong name, type or number.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        element: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.element = element
        self.remedy = remedy
        self.is_input = False

    def __str__(self) -> str:
        where = ": ".join(part for part in (self.file, self.element) if part)
        text = f"{where}: {self.message}" if where else self.message
        return f"{text}\n  remedy: {self.remedy}" if self.remedy else text


class ReadError(Error):
    """A file or a mechanism description that cannot be understood."""


class DeriveError(Error):
    """A model that cannot be derived from a mechanism in the way wanted."""


class StoreError(Error):
    """A model that cannot be saved, found or loaded."""


class RunError(Error):
    """A model that cannot be evaluated, emitted or run in the way wanted."""
