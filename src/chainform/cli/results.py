"""Where the results of a run go: files, files of a motion on its way, and the store."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from chainform.analysis import Result
from chainform.cli.files import target_of
from chainform.cli.motion_options import option_errors
from chainform.cli.options import add_list
from chainform.cli.store import check_name, chosen_store, exists, store_file
from chainform.errors import Error, ReadError, StoreError
from chainform.mechanism import Mechanism
from chainform.model import Model, Recorded
from chainform.pipeline import derive
from chainform.readers import native_text
from chainform.simulation import BatchRun, Run, Scenario, form_of, write_record

PLOTS = (".svg", ".png", ".pdf")
FILMS = (".html", ".mp4", ".gif")


# --- files ------------------------------------------------------------------------------------


def add_results(group: Any, what: str) -> None:
    """Add the options for files of results and pictures."""
    add_list(group, "--out", "FILE", f"write {what} to files: .parquet, .csv or .npz")
    group.add_argument("--plot", metavar="FILE.svg", help="plot over time (.svg, .png or .pdf)")
    group.add_argument(
        "--animate", metavar="FILE.html", help="a moving picture (.html, .mp4 or .gif)"
    )
    group.add_argument("--force", action="store_true", help="overwrite files")


def draw_pictures(args: Namespace, run: Run | BatchRun | Result, **plot: Any) -> list[str]:
    """Write the pictures of a run; return their files. `plot` says what the plot shows."""
    if args.plot is not None:
        run.plot(file=args.plot, **plot)
    if args.animate is not None and isinstance(run, Result):
        with option_errors({"mode": args.mode}):
            run.animate(args.animate, mode=_mode(args.mode))
    elif args.animate is not None and not isinstance(run, BatchRun):
        run.animate(args.animate)
    return [file for file in (args.plot, args.animate) if file is not None]


def _mode(text: str | None) -> int | None:
    """Return the mode that is to be shown."""
    if text is None or text.isdecimal():
        return None if text is None else int(text)
    remedy = "write its number: --mode 2"
    raise ReadError(f"{text[:40]!r} is no number of a mode", element="--mode", remedy=remedy)


def result_files(args: Namespace) -> list[str]:
    """Return the files that results go to, checked before anything is computed.

    A run that goes on returns to its own file unless another one is named.
    """
    names: list[str] = list(dict.fromkeys(args.out or ()))
    for name in names:
        form_of(name).check()
        if not is_resumed(args, name):
            _target(name, args, "--out")
    if not names and args.resume is not None:
        return [args.resume]
    return names


def check_pictures(args: Namespace) -> None:
    """Refuse names of pictures that tell no form, and files that are there."""
    for option, name, endings in (("--plot", args.plot, PLOTS), ("--animate", args.animate, FILMS)):
        if name is None:
            continue
        if Path(name).suffix.lower() not in endings:
            raise ReadError(
                f"the ending of {name[-60:]!r} tells no form of picture",
                element=option,
                remedy=f"name it with one of these endings: {', '.join(endings)}",
            )
        _target(name, args, option)


def _target(name: str, args: Namespace, option: str) -> None:
    target = target_of(name, args.file, force=args.force, option=option)
    if target is None:
        raise ReadError("results need a file", element=option, remedy="name one")
    store = store_file(args)
    with suppress(OSError, ValueError):
        if store is not None and target.samefile(store):
            raise ReadError(
                "this is the store of models",
                file=str(target),
                element=option,
                remedy="name another",
            )
    _try(target, option)


def _try(target: Path, option: str) -> None:
    """Refuse a folder in which nothing can be written before anything is computed."""
    try:
        with TemporaryFile(dir=target.parent):
            return
    except OSError as problem:
        raise ReadError(
            f"nothing can be written there: {problem.strerror or problem}",
            file=str(target),
            element=option,
            remedy="look at the folder, the rights to it, and the room on the disk",
        ) from None


def is_resumed(args: Namespace, name: str) -> bool:
    """Tell whether a file is the one whose run goes on."""
    with suppress(OSError, ValueError):
        return args.resume is not None and Path(name).samefile(args.resume)
    return False


# --- a motion on its way ----------------------------------------------------------------------


@dataclass
class Checkpoint:
    """Writes a run or result that is not at its end; a complete one that was there stays.

    `earlier` are files that were there at the start, of other runs: what is not complete goes
    next to them.
    """

    files: Sequence[str]
    outputs: Sequence[str]
    earlier: Sequence[str] = ()
    written: list[str] = field(default_factory=list[str])
    """Where it was written the last time."""

    def __call__(self, part: Run | Result) -> None:
        """Write a part of it to all files; without its outputs, where these are the trouble.

        Raises the first error, after everything has been tried.
        """
        self.written, troubles = [], list[Error]()
        for file in map(self._place, self.files):
            try:
                self._write(part, file)
                self.written.append(file)
            except Error as problem:
                troubles.append(problem)
        if troubles:
            raise troubles[0]

    def _write(self, part: Run | Result, file: str) -> None:
        try:
            write_record(form_of(file), part.record(self.outputs), part.mechanism, file)
        except Error:
            if not self.outputs:
                raise
            part.save(file)

    def _place(self, file: str) -> str:
        if file not in self.earlier:
            return file
        path = Path(file)
        return str(path.with_name(f"{path.stem}.part{path.suffix}"))

    def finished(self) -> None:
        """Remove parts that were written next to files that are whole now."""
        for file in self.earlier:
            with suppress(OSError):
                Path(self._place(file)).unlink(missing_ok=True)


# --- the store --------------------------------------------------------------------------------


def check_store(args: Namespace, mechanism: Mechanism) -> None:
    """Refuse, before anything is computed, what could not be saved."""
    if args.save is None:
        if args.run is not None:
            raise ReadError(
                "--run goes with --save NAME, and nothing is saved here",
                element="options",
                remedy="add --save NAME, or leave out --run",
            )
        return
    name, _, revision = args.save.partition("@")
    check_name(name)
    # The database is imported only where a store is opened.
    from chainform.store import check_run_name

    check_run_name(run_name(args))
    file = store_file(args)
    is_new = file is not None and not exists(file)
    if not is_new:
        with chosen_store(args, read_only=True) as store:
            is_new = name not in [entry.name for entry in store.models()]
            if not is_new:
                stored = store.mechanism_file(args.save)
                if stored is None or stored.text != native_text(mechanism):
                    raise ReadError(
                        f"{args.save} is a model of another mechanism",
                        element="--save",
                        remedy="choose another NAME; a new one is made for this mechanism",
                    )
                if run_name(args) in [run.name for run in store.runs(args.save)]:
                    raise ReadError(
                        f"{args.save} has a run {run_name(args)} already",
                        element="--run",
                        remedy="choose another name for it: --run NAME",
                    )
    if is_new and revision:
        raise StoreError(
            "there is no model of this name", element=args.save, remedy="leave out the revision"
        )


def run_name(args: Namespace) -> str:
    """Return the name of a run in the store: as chosen, or that of the scenario's file."""
    return args.run or Path(args.file).stem


def save_into_store(
    args: Namespace, run: Recorded, model: Callable[[], Model], outputs: Sequence[str] = ()
) -> str:
    """Keep a run with its model, which is saved first where there is none; return the revision."""
    with chosen_store(args, make=True) as store:
        if args.save not in [entry.name for entry in store.models()] and "@" not in args.save:
            store.save(model(), args.save)
        return store.save_run(run, args.save, run_name(args), outputs).revision


def model_of_run(scenario: Scenario, run: Run) -> Model:
    """Return the model of a run as the store keeps it, with the mechanism of the scenario."""
    model, mechanism = run.model, scenario.mechanism
    if model.mechanism == mechanism:
        return model
    free = model.parameters
    return derive(mechanism, model.outputs, parameters=free, without=model.without)
