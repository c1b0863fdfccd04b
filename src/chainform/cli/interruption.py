"""Ctrl-C: one line and an exit code, whenever it comes."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

INTERRUPTED = 130
"""The exit code that shells give to a program stopped by Ctrl-C."""


class Interruption:
    """Whether Ctrl-C came while a command ran.

    Between the signal and the place that handles it a KeyboardInterrupt may be turned into another
    error, by a database that calls back or a module half imported; so it is also remembered here.
    """

    def __init__(self, *, until_the_end: bool) -> None:
        self.until_the_end = until_the_end
        """Whether the process ends with the command: then there is nothing to put back."""
        self.came = False
        self._is_reported = False
        self._watching = False
        self._unraisable = sys.unraisablehook

    def watch(self) -> None:
        """Take note of Ctrl-C from now on, unless somebody else does or it is ignored."""
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return
        with suppress(ValueError):  # signals come to the main thread only
            signal.signal(signal.SIGINT, self._note)
            sys.unraisablehook = self._pass_over
            self._watching = True

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.came = True
        if not self._is_reported:
            raise KeyboardInterrupt

    def _pass_over(self, problem: Any) -> None:
        """Stay quiet about a KeyboardInterrupt that hit where none can be raised."""
        if not issubclass(problem.exc_type, KeyboardInterrupt):
            self._unraisable(problem)

    def tell(self, problem: BaseException) -> None:
        """Say that the command was interrupted; what was not printed yet is left out.

        A KeyboardInterrupt of a command may say what is done.
        """
        is_own = type(problem) is KeyboardInterrupt and problem.args
        text = f": {problem}" if is_own else ""
        self.came = self._is_reported = True
        if sys.stderr is not None:
            with suppress(OSError, ValueError):
                print(f"chainform: interrupted{text}", file=sys.stderr, flush=True)
        if self.until_the_end:
            drop_stdout()

    def leave(self) -> None:
        """Put back what was there before; a process that ends is not to be disturbed."""
        if not self._watching:
            return
        if self.until_the_end:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        else:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.unraisablehook = self._unraisable


def drop_stdout() -> None:
    """Lead stdout nowhere, so that Python does not try and fail to flush it when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
