"""Copies of the package, and tests that run in them: in a process that is forked for each run.

The parent has imported the large libraries, so that a run begins with the package itself. A copy
has bytecode of the sources as they are; a changed file has another time, so Python compiles it, and
nothing writes bytecode. Machine code is stored under the text that it was compiled from (see
`tests/machine_code.py`), so all runs share it: a change that alters machine code alters the text.
"""

from __future__ import annotations

import compileall
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic
from typing import Any, Generic, TypeVar

from tools.mutants.draw import PACKAGE, ROOT

LIBRARIES = (
    *("numpy", "scipy.linalg", "scipy.optimize", "scipy.sparse.linalg", "flint", "sympy"),
    *("llvmlite.binding", "sqlalchemy", "rich.progress", "rich.table", "hypothesis", "pytest"),
)
PATIENCE = 12.0
"""By how much longer than its time of the processor a run may take: others compute, too."""

Task = TypeVar("Task")


@dataclass
class Sandbox:
    """A folder with a copy of the package and all that tests write."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Sandbox:
        """Return a new one."""
        shutil.copytree(PACKAGE, folder / "src" / "chainform")
        compileall.compile_dir(folder / "src", quiet=2)
        return cls(folder)

    @property
    def source(self) -> Path:
        return self.folder / "src"

    @property
    def answer(self) -> Path:
        return self.folder / "answer.json"

    def write(self, file: str, text: str) -> None:
        """Change a file of the copy, with a time of which there is no bytecode."""
        path = self.source / "chainform" / file
        path.write_text(text, encoding="utf-8")
        os.utime(path, (1, 1))

    def restore(self, file: str) -> None:
        """Bring back a file as it is in the checkout."""
        shutil.copy2(PACKAGE / file, self.source / "chainform" / file)

    def enter(self) -> None:
        """Let this process import the copy, and write into this folder only."""
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        os.environ.update(
            PYTHONPATH=str(self.source),
            PYTHONDONTWRITEBYTECODE="1",
            HYPOTHESIS_STORAGE_DIRECTORY=str(self.folder / "hypothesis"),
            TMPDIR=str(temporary),
        )
        tempfile.tempdir = None
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(self.source))
        os.chdir(ROOT)
        found = find_spec("chainform")
        if found is None or not str(found.origin).startswith(str(self.source)):
            raise RuntimeError(f"the package would come from {found and found.origin}")


def pytest_options(cache: Path, sandbox: Sandbox) -> list[str]:
    """Return the options of every run of tests."""
    return [
        "-q",
        "--no-header",
        "--tb=line",
        "--hypothesis-seed=0",
        "-Wignore::pytest.PytestAssertRewriteWarning",
        f"--override-ini=cache_dir={cache}",
        f"--basetemp={sandbox.folder / 'tmp' / 'pytest'}",
    ]


@dataclass(frozen=True)
class Ended:
    """A process that came to no answer."""

    is_late: bool
    log: str


@dataclass
class Run(Generic[Task]):
    """A task in a process of its own."""

    task: Task
    sandbox: Sandbox
    process: BaseProcess
    latest: float
    """When its patience ends."""
    began: float = field(default_factory=monotonic)

    def answer(self) -> Any:
        """Return what the process wrote, or how it ended."""
        is_late = self.process.is_alive()
        self.end()
        with suppress(OSError, ValueError):
            answer = json.loads(self.sandbox.answer.read_text(encoding="utf-8"))
            if "broken" in answer:
                raise RuntimeError(answer["broken"])
            return answer["done"]
        is_late |= self.process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
        if is_late:
            return Ended(True, "it took too long")
        log = (self.sandbox.folder / "log.txt").read_text(encoding="utf-8", errors="replace")
        return Ended(False, log[-1000:])

    def end(self) -> None:
        """End the process and those that it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid or 0, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        shutil.rmtree(self.sandbox.folder / "tmp", ignore_errors=True)


def _child(work: Callable[[Any, Sandbox], Any], task: Any, sandbox: Sandbox, limit: float) -> None:
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    seconds = int(limit) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    log = os.open(sandbox.folder / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        sandbox.enter()
        answer = {"done": work(task, sandbox)}
    except Exception:  # noqa: BLE001, what tests raise ends in pytest: this is an error of ours
        answer = {"broken": traceback.format_exc()}
    draft = sandbox.answer.with_suffix(".draft")
    draft.write_text(json.dumps(answer), encoding="utf-8")
    draft.replace(sandbox.answer)
    os._exit(0)


def in_sandboxes(
    work: Callable[[Task, Sandbox], Any],
    tasks: Iterable[tuple[Task, float]],
    processes: int,
    prepare: Callable[[Task, Sandbox], None] = lambda *_: None,
    finish: Callable[[Task, Sandbox], None] = lambda *_: None,
) -> Iterator[tuple[Task, Any]]:
    """Yield tasks with what `work` returns of them, or how they ended without that.

    A task comes with its limit: seconds of the processor. `prepare` and `finish` run in this
    process, before and after.
    """
    for name in LIBRARIES:
        import_module(name)
    if "chainform" in sys.modules:
        raise RuntimeError("this process has imported the package: copies would not be imported")
    context = get_context("fork")
    queue = iter(tasks)
    runs: list[Run[Task]] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as name, ExitStack() as stack:
        stack.callback(lambda: [run.end() for run in runs])
        free = [Sandbox.made(Path(name) / str(k)) for k in range(processes)]
        while True:
            while free and (following := next(queue, None)) is not None:
                task, limit = following
                sandbox = free.pop()
                sandbox.answer.unlink(missing_ok=True)
                prepare(task, sandbox)
                process = context.Process(target=_child, args=(work, task, sandbox, limit))
                process.start()
                runs.append(Run(task, sandbox, process, monotonic() + PATIENCE * limit))
            if not runs:
                return
            wait([run.process.sentinel for run in runs], timeout=5.0)
            for run in list(runs):
                if run.process.is_alive() and monotonic() < run.latest:
                    continue
                runs.remove(run)
                answer = run.answer()
                finish(run.task, run.sandbox)
                free.append(run.sandbox)
                yield run.task, answer
