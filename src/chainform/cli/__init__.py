"""The command line: arguments in, printed text out; no algorithm lives here."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from chainform.cli.interruption import INTERRUPTED, Interruption


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without `argv` it is the work of the process."""
    interruption = Interruption(until_the_end=argv is None)
    try:
        interruption.watch()
        # Everything else is imported here, so that Ctrl-C is quiet during that too.
        from chainform.cli.entry import run

        return run(sys.argv[1:] if argv is None else argv, interruption)
    except BaseException as problem:
        if not interruption.came:
            raise
        interruption.tell(problem)
        return INTERRUPTED
    finally:
        interruption.leave()


__all__ = ["main"]
