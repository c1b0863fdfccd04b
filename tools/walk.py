"""Files and functions that the main job enters: `python tools/walk.py [FILE] [--list]`.

The job is that of a user: read a mechanism, derive and reduce its equations, compile them, simulate
a motion, save model and run in a store, and load both again. The fewer places it goes through, the
sooner somebody new has read them.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import CO_OPTIMIZED
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "chainform"
ARM = ROOT / "examples" / "six_axis_arm.toml"


@dataclass
class Walk:
    """The functions of the product that were entered, by stages: (file, first line, name)."""

    stages: dict[str, set[tuple[str, int, str]]] = field(default_factory=dict[str, Any])

    def step(self, name: str, work: Callable[[], Any]) -> Any:
        """Do some work, and note what it enters."""
        entered: set[tuple[str, int, str]] = set()

        def note(frame: FrameType, event: str, _: Any) -> None:
            code = frame.f_code
            if event == "call" and code.co_filename.startswith(str(SOURCE)):
                # Bodies of modules and classes run when they are imported.
                is_function = code.co_flags & CO_OPTIMIZED
                if is_function and not code.co_qualname.endswith(("<lambda>", "comp>", "expr>")):
                    entered.add((code.co_filename, code.co_firstlineno, code.co_qualname))

        sys.setprofile(note)
        try:
            return work()
        finally:
            sys.setprofile(None)
            self.stages[name] = entered

    def text(self) -> str:
        """Return a table: files and functions of each stage, and of all."""
        lines = [f"{'stage':10} {'files':>6} {'functions':>10}"]
        every = set[tuple[str, int, str]]().union(*self.stages.values())
        for name, entered in (*self.stages.items(), ("all", every)):
            files = {file for file, _, _ in entered}
            lines.append(f"{name:10} {len(files):6} {len(entered):10}")
        return "\n".join(lines)

    def places(self) -> str:
        """Return the functions by files, with the stages that enter them."""
        found: dict[str, dict[str, list[str]]] = {}
        for stage, entered in self.stages.items():
            for file, _, name in entered:
                own = found.setdefault(str(Path(file).relative_to(SOURCE)), {})
                own.setdefault(name, []).append(stage)
        return "\n".join(
            f"{file}\n" + "\n".join(f"    {name}: {', '.join(own[name])}" for name in sorted(own))
            for file, own in sorted(found.items())
        )


def walked(path: Path, folder: Path) -> Walk:
    """Do the main job on a mechanism file, with a store in a folder."""
    import chainform as cf

    walk = Walk()
    outputs = ["inverse_dynamics", "mass_matrix"]
    mechanism = walk.step("read", lambda: cf.read(path))
    model = walk.step("derive", lambda: cf.derive(mechanism, outputs))
    model = walk.step("reduce", model.reduce)
    walk.step("compile", model.compile)
    run = walk.step("simulate", lambda: cf.simulate(mechanism, t=0.1))

    def save() -> None:
        with cf.open_store(folder / "walk.db") as store:
            store.save(model, "arm")
            store.save_run(run, "arm", "swing")

    def load() -> None:
        with cf.open_store(folder / "walk.db") as store:
            store.load("arm")
            store.run("arm", "swing")

    walk.step("save", save)
    walk.step("load", load)
    return walk


def main(texts: list[str] | None = None) -> int:
    """Print the table."""
    parser = ArgumentParser(prog="walk.py", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=ARM)
    parser.add_argument("--list", action="store_true", help="print all functions by files, too")
    given = parser.parse_args(texts)
    with TemporaryDirectory() as folder:
        walk = walked(given.file, Path(folder))
    print(walk.text())
    if given.list:
        print(f"\n{walk.places()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
