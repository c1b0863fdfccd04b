"""Input that may be damaged: it is accepted, or refused in words that help."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from chainform.errors import Error


@contextmanager
def accepted_or_refused() -> Generator[None]:
    """Accept errors of ours only; each says what is wrong, and what to do about it."""
    refusal: Error | None = None
    try:
        yield
    except Error as problem:
        refusal = problem
    assert refusal is None or (refusal.message and refusal.remedy), refusal
