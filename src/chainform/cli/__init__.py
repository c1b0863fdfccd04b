"""The command line: arguments in, printed text out; no algorithm lives here."""

from chainform.cli.entry import main

__all__ = ["main"]
