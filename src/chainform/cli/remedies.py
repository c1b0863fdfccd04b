"""Remedies in the words of the shell: the library says them in those of Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

Words: TypeAlias = str | Callable[[re.Match[str]], str]


def _names(match: re.Match[str]) -> str:
    """Return a list of Python as the shell takes it; what the shell would read is in quotes."""
    names = ",".join(re.findall(r"[\"']([^\"']+)[\"']", match["value"]))
    return f"'{names}'" if re.search(r"[^\w,.-]", names) else names


VALUE = r"(?P<value>\[[^\]]*\]|'[^']*'|\"[^\"]*\")"

_TABLE: tuple[tuple[str, Words], ...] = (
    (rf"\bparameters={VALUE}", lambda match: f"--parameters {_names(match)}"),
    (rf"\boutputs={VALUE}", lambda match: f"--outputs {_names(match)}"),
    (r"\bvalues=\{'([^']+)': \.\.\.\}", r'in the state, "values": {"\1": ...}'),
    (r"\b(q|qd|qdd|tau|sigma|wrench|x|u|force|t)=\[\.\.\.\]", r'in the state, "\1": [...]'),
    (r"\bforce=True\b", "--force"),
    (r"\ballow_python=True\b", "--allow-python"),
    (r"\bcheck\(repair=True\)", "chainform check-db --repair"),
    (r"; trust_rows=True [^;]*", ""),
    (r"under another name, \{'([^']+)': 'other_name'\}", r"by import-db FILE \1 --as OTHER"),
    (r", or rename yours", ", or rename yours by chainform rename"),
    (r"give it another one: with_payload\(.*\)", "rename that in the file"),
    (r"load the graph alone with chainform\.store", "derive the model from a mechanism"),
    (r"`(models|log)`", r"chainform \1"),
    (r"`check` tells where", "chainform check-db tells where"),
    (r"; a `with` block closes it", ""),
)

SHELL = tuple((re.compile(pattern), words) for pattern, words in _TABLE)
"""What stands for an option or a call of Python, and what to type instead."""


def in_shell_words(text: str) -> str:
    """Return a message with the remedies that the shell has."""
    for pattern, words in SHELL:
        text = pattern.sub(words, text)
    return text
