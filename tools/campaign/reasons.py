"""Why the product refuses: reasons without names and numbers, and those that are in order."""

from __future__ import annotations

import re
from typing import Any

LEGITIMATE: tuple[str, ...] = ()


def product_error() -> Any:
    """Return the class of the product's own errors."""
    import chainform as cf

    return cf.Error


def reason_of(error: BaseException) -> str:
    """Return the message of an error without what differs from case to case."""
    text = str(getattr(error, "message", None) or error).splitlines()[0] if str(error) else ""
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", text)
    text = re.sub(r"\b[bj]\d+(_\w+)?\b", "…", text)
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "N", text)


def is_legitimate(reason: str) -> bool:
    """Whether a refusal is one that the documentation gives."""
    return any(re.search(pattern, reason) for pattern in LEGITIMATE)
