"""Questions on a terminal, or lines of a pipe that answer them.

On a terminal the question comes again after a wrong answer, with the reason; `?` gives help, `back`
returns to the question before. Questions go to stderr. In a pipe each line is an answer, and the
first that is wrong ends it.

A conversation is a function that calls `ask`. To go back, the last answer is dropped and the
function is called again: it gets the answers that are left without asking.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from chainform.cli.printing import printable
from chainform.errors import Error, ReadError
from chainform.given import Given

T = TypeVar("T")
HELP, BACK = "?", "back"
LONGEST = 10_000
"""The most characters of an answer."""
PIPE = "standard input"
VECTOR = "three numbers, with commas or spaces between them; expressions of parameters, as l/2"


@dataclass(frozen=True, slots=True)
class Question:
    """What it says, what an empty answer means, and what `?` says."""

    text: str
    default: str | None = None
    help: str = ""

    @property
    def prompt(self) -> str:
        """The line that a terminal shows."""
        shown = "" if self.default is None else f" [{self.default}]"
        return f"{self.text}{shown}: "


def at_terminal() -> bool:
    """Whether somebody sits at a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


class EndOfAnswersError(Exception):
    """The answers ended: Ctrl-D on a terminal."""


class _StepBackError(Exception):
    """The last answer is taken back."""


class Dialogue:
    """Asks questions, and has the answers so far."""

    def __init__(self) -> None:
        self.is_terminal = at_terminal()
        self._answers: list[str] = []
        self._next = 0
        self._line = 0

    def run(self, conversation: Callable[[], T]) -> T:
        """Return what a conversation gives, which calls `ask` for all that it needs."""
        while True:
            self._next = 0
            try:
                return conversation()
            except _StepBackError:
                continue

    def ask(self, question: Question, check: Callable[[str], T]) -> T:
        """Return the checked answer; `check` raises an Error where it is wrong."""
        if self._next < len(self._answers):
            self._next += 1
            return check(self._answers[self._next - 1])
        while True:
            answer = self._read(question)
            try:
                value = check(answer)
            except Error as problem:
                self._refuse(problem)
                continue
            self._answers.append(answer)
            self._next += 1
            return value

    def check_end(self) -> None:
        """Refuse lines of a pipe that no question needs."""
        rest = "" if self.is_terminal or sys.stdin is None else sys.stdin.readline(LONGEST).strip()
        if rest:
            raise ReadError(
                f"all questions are answered, and {rest[:40]!r} is left over",
                file=PIPE,
                element=f"line {self._line + 1}",
                remedy="leave it out, or look whether an empty line before it ended a list",
            )

    def say(self, text: str) -> None:
        """Tell something between questions, on a terminal."""
        if self.is_terminal and self._next == len(self._answers):
            print(printable(text), file=sys.stderr, flush=True)

    def _read(self, question: Question) -> str:
        """Return an answer, the default for an empty one, after help and steps back."""
        while True:
            if self.is_terminal:
                print(printable(question.prompt), end="", file=sys.stderr, flush=True)
            text = self._line_of(question).strip()
            if self.is_terminal and text == HELP:
                self.say(question.help or "there is no more to say")
            elif self.is_terminal and text == BACK:
                self._step_back()
            elif not text and question.default is not None:
                return question.default
            else:
                return text

    def _line_of(self, question: Question) -> str:
        if sys.stdin is None:
            raise ReadError("it is closed", file=PIPE, remedy="call chainform new on a terminal")
        try:
            text = sys.stdin.readline(LONGEST)
        except UnicodeDecodeError:
            remedy = "write the answers in UTF-8"
            raise ReadError("the text is not UTF-8", file=PIPE, remedy=remedy) from None
        if text:
            self._line += 1
            return text
        if self.is_terminal:
            raise EndOfAnswersError
        raise ReadError(
            f"the answers end after line {self._line}, and the next question is: {question.text}",
            file=PIPE,
            remedy="give an answer on each line; an empty line stands for the default",
        )

    def _step_back(self) -> None:
        if not self._answers:
            self.say("this is the first question")
            return
        self._answers.pop()
        raise _StepBackError

    def _refuse(self, problem: Error) -> None:
        """Give the reason on a terminal; in a pipe a wrong answer ends the dialogue."""
        if not self.is_terminal:
            element = ", ".join(filter(None, (f"line {self._line}", problem.element)))
            raise ReadError(
                problem.message, file=PIPE, element=element, remedy=problem.remedy
            ) from problem
        self.say(f"  {problem.message}")
        if problem.remedy:
            self.say(f"  {problem.remedy}")


# --- answers ------------------------------------------------------------------------------------


def chosen(text: str, choices: Sequence[str], what: str) -> str:
    """Return one of the choices, which `what` names in an error."""
    return Given(text, "").choice(tuple(choices), what)


def parts(text: str) -> list[str]:
    """Return what stands between commas, or between spaces where there are none."""
    return [part.strip() for part in text.split(",")] if "," in text else text.split()


def vector(text: str) -> list[str]:
    """Return three numbers as they were written."""
    found = parts(text)
    if len(found) != 3:
        raise ReadError(f"{text[:60]!r} is not three numbers", remedy="write 0 0 0.5")
    return found


def direction(text: str) -> str | list[str]:
    """Return an axis as it was written: x, -z, or three numbers."""
    found = parts(text)
    if len(found) not in (1, 3):
        raise ReadError(f"{text[:60]!r} is not an axis", remedy="write z, -x or three numbers")
    return found[0] if len(found) == 1 else found


def directions(text: str) -> list[str]:
    """Return the two axes of a joint as they were written."""
    found = parts(text)
    if len(found) != 2:
        raise ReadError(f"{text[:60]!r} is not two axes", remedy="write x y")
    return found


def inertia(text: str) -> dict[str, str]:
    """Return moments of inertia by the names of their axes."""
    found, names = parts(text), ("xx", "yy", "zz", "xy", "xz", "yz")
    if len(found) not in (3, 6):
        message = f"{text[:60]!r} is not three or six numbers"
        raise ReadError(message, remedy="write xx yy zz, or xx yy zz xy xz yz")
    return dict(zip(names, found, strict=False))
