"""What verification returns: checks, each with its figure, and the certificate of all of them."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import Error, ReadError, RunError
from chainform.files import check_target, write_whole
from chainform.given import argument, counted
from chainform.mechanism import Mechanism
from chainform.model import StoredRun
from chainform.readers import native_text
from chainform.simulation import ResultRecord
from chainform.version import VERSION

SCHEMA = "chainform-certificate/1"
TASK = "verification"
"""The kind of a certificate among the runs of a revision."""
FORMS = (".json", ".txt", ".html")
DISTRIBUTIONS = (
    "numpy",
    "python-flint",
    "sqlalchemy",
    "llvmlite",
    "scipy",
    "pin",
    "mujoco",
    "scikit-sundae",
)
"""Packages that may have taken part; the certificate names those that are installed."""


@dataclass(frozen=True, slots=True, repr=False)
class Check(Displayed):
    """A law, what was compared, the figure, and whether it holds; None if it was not checked."""

    law: str
    compared: str
    figure: str
    holds: bool | None
    states: int = 1
    """At how many states, or times of a motion, it was compared."""
    deviation: float | None = None
    """The largest deviation, relative to the largest entry where that exceeds 1; 0 is exact."""
    allowed: float | None = None
    """The deviation from which on the check fails."""
    kind: str = ""
    """Which of the kinds of checks it is; `cf.verify(..., only=...)` names them."""

    @property
    def verdict(self) -> str:
        """The result in a word."""
        return {True: "holds", False: "FAILS", None: "not checked"}[self.holds]


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Displayed):
    """What was compared, at how many states, how far it was off, and with which versions.

    `holds` says whether something was compared, nothing was off, and the work was not broken off.
    `print` shows a table, `save("arm.html")` writes a file, `document` is plain data.
    """

    subject: str
    """What was verified: a model, a stored revision, a motion."""
    mechanism: Mechanism
    checks: tuple[Check, ...]
    created: datetime
    seconds: float
    seed: int = 0
    content: str = ""
    """The hash of the formulas of the stored revision that was verified."""
    left: str = ""
    """What was not done, where the work was broken off."""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def holds(self) -> bool:
        """Whether something was compared, nothing was off, and nothing was left."""
        return bool(self.compared) and not self.failed and not self.left

    @property
    def compared(self) -> tuple[Check, ...]:
        """The checks in which something was compared."""
        return tuple(check for check in self.checks if check.holds is not None)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that fail."""
        return tuple(check for check in self.checks if check.holds is False)

    @property
    def deviation(self) -> float | None:
        """The largest deviation of all checks; None where none has a number."""
        found = [check.deviation for check in self.compared if check.deviation is not None]
        return max(found, default=None)

    @property
    def verdict(self) -> str:
        """The result in one line."""
        left = len(self.checks) - len(self.compared)
        if not self.compared:
            words = "nothing was compared"
        elif self.failed:
            words = f"{len(self.failed)} of {counted(len(self.compared), 'check')} FAIL"
            words += "S" if len(self.failed) == 1 else ""
        else:
            words = f"{counted(len(self.compared), 'check')} hold"
            words += "s" if len(self.compared) == 1 else ""
        words += f", {left} could not be made" if left else ""
        return f"{words}; broken off before {self.left}" if self.left else words

    def __repr__(self) -> str:
        return f"<Certificate of {self.subject}: {self.verdict}>"

    def __str__(self) -> str:
        return "\n".join([f"Certificate of {self.subject}", *self.lines()])

    def lines(self) -> list[str]:
        """Return the checks with what was compared, then verdict, time and versions."""
        lines: list[str] = []
        for check in self.checks:
            lines += [f"{check.verdict:12}{check.law}", f"{'':12}{check.compared}: {check.figure}"]
        made = f"{self.created:%Y-%m-%d %H:%M} UTC, {self.seconds:.1f} s, seed {self.seed}"
        names = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return [*lines, self.verdict, made, names]

    @property
    def document(self) -> dict[str, Any]:
        """The certificate as plain data."""
        return {
            "schema": SCHEMA,
            "subject": self.subject,
            "mechanism": self.mechanism.name,
            "holds": self.holds,
            "verdict": self.verdict,
            "deviation": _plain(self.deviation),
            "checks": [
                {f.name: _plain(getattr(check, f.name)) for f in fields(Check)}
                for check in self.checks
            ],
            "created": self.created.isoformat(timespec="seconds"),
            "seconds": self.seconds,
            "seed": self.seed,
            "content": self.content,
            "left": self.left,
            "versions": dict(self.versions),
        }

    def save(self, file: str | PathLike[str]) -> Path:
        """Write the certificate; the ending of the file tells the form: .json, .txt or .html."""
        path = Path(file)
        form = path.suffix.lower()
        if form not in FORMS:
            remedy = f"let the name end in {', '.join(FORMS)}"
            raise RunError(
                "this is no name of a certificate", file=str(path), element="file", remedy=remedy
            )
        check_target(path)
        if form == ".html":
            text: str = import_module("chainform.reports").page_of(self)
        else:
            data = json.dumps(self.document, indent=2, ensure_ascii=False, allow_nan=False)
            text = f"{data if form == '.json' else self}\n"
        return write_whole(path, text.encode("utf-8"))

    # --- in a store -------------------------------------------------------------------------

    def record(self, outputs: Iterable[str] | None = None) -> ResultRecord:
        """Return the certificate as a store has it: among the runs of the revision it is about."""
        del outputs
        columns: dict[str, NDArray[np.float64]] = {
            name: np.array([_number(getattr(check, name)) for check in self.checks])
            for name in ("states", "deviation", "allowed")
        }
        about = {**self.document, "task": TASK, "mechanism": native_text(self.mechanism)}
        return ResultRecord(columns, (), about)

    @staticmethod
    def load(source: StoredRun) -> Certificate:
        """Return the certificate that a store has: `Certificate.load(store.run("arm@2", name))`."""
        from chainform.readers import read_text

        about = source.about
        if about.get("schema") != SCHEMA:
            raise ReadError(f"there is no certificate of the form {SCHEMA}", element=source.name)
        table = argument("certificate", dict(about)).table()
        known = {f.name for f in fields(Check)}
        return Certificate(
            table["subject"].text(),
            read_text(table["mechanism"].text(), "json"),
            tuple(Check(**{n: c[n] for n in known if n in c}) for c in about["checks"]),
            datetime.fromisoformat(table["created"].text()),
            float(about["seconds"]),
            int(about["seed"]),
            str(about["content"]),
            str(about["left"]),
            {str(name): str(number) for name, number in dict(about["versions"]).items()},
        )


def reason_of(problem: Error) -> str:
    """Return why a check could not be made, with what helps, as its figure."""
    return f"{problem.message}; {problem.remedy}" if problem.remedy else problem.message


def _plain(value: Any) -> Any:
    """Return a value as JSON has it, which knows no infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def versions_here() -> dict[str, str]:
    """Return the versions of what may take part, by name."""
    found = {"chainform": VERSION, "Python": platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def now() -> datetime:
    """Return the time, UTC, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)
