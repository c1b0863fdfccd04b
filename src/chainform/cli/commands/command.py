"""What a command is."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass

from chainform.cli.printing import Report


@dataclass(frozen=True, slots=True)
class Command:
    """One command: how it is called and explained, its options, and the function behind it."""

    usage: str
    description: str
    add_options: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], Report]
