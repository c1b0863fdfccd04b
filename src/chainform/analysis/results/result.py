"""The result of a task: named arrays with a row for each state, and a report in words.

Rows are times, points of a path, equilibria, values of a parameter: `rows` names the array that
orders them. Results are written to files and stores as runs are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.results.displacement import mode_motion
from chainform.display import Displayed
from chainform.errors import ReadError, RunError
from chainform.given import argument, counted
from chainform.mechanism import Mechanism
from chainform.model import StoredRun
from chainform.pipeline import names_in
from chainform.readers import native_text, read_text
from chainform.simulation import (
    About,
    ResultRecord,
    Run,
    columns_of,
    form_of,
    made_of_file,
    simulate,
    write_record,
)
from chainform.version import VERSION

Array = NDArray[np.float64]
SCHEMA = "chainform-result/1"
SHOWN = 25
"""The most rows of a table that is printed."""
AMPLITUDE = 0.2
"""The amplitude of modes in pictures, rad or m."""
WIDEST = 12
"""The most columns of such a table."""


@dataclass(frozen=True, eq=False, repr=False)
class Result(Displayed):
    """What a task found.

    `result["q"]` is an array (m, ...) with a row for each state, `report` says in words what was
    found and what was not, `facts` has single numbers and texts by name. `rows` names the array
    that orders the rows, such as "t". `table()` is text, `save("found.csv")` writes a file,
    `plot()` draws arrays over the rows, and `picture()` and `animate()` the mechanism in its poses.
    `store.save_run(result, "arm", "reach")` puts it into a store.
    """

    task: str
    mechanism: Mechanism
    rows: str
    arrays: Mapping[str, Array]
    report: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    units: Mapping[str, str] = field(default_factory=dict[str, str])
    """Units of arrays that have one for all entries and are no quantities of a run."""

    def __getitem__(self, name: str) -> Array:
        """Return an array by name, (m, ...)."""
        given = argument(str(name), name)
        return self.arrays[given.choice(tuple(self.arrays), f"array of the {self.task}")]

    def __len__(self) -> int:
        return len(self.arrays[self.rows])

    def __repr__(self) -> str:
        size = f"{counted(len(self), 'row')} of {', '.join(self.arrays)}"
        return f"<Result of {self.task}, {self.mechanism.name}: {size}>"

    def __str__(self) -> str:
        return "\n".join([*self.report, "", self.table()])

    def columns(self, names: Sequence[str] | None = None) -> dict[str, Array]:
        """Return columns of numbers by name: those of all arrays, of some, or single ones.

        `q` are all coordinates, `q.elbow` is one, `position(pen)[1]` an entry.
        """
        every = columns_of(ResultRecord(self.arrays, (), {}), self.mechanism)
        found: dict[str, Array] = {}
        for name in self.arrays if names is None else names:
            if name in every:
                found[name] = every[name]
            else:
                array = ResultRecord({name: self[name]}, (), {})
                found |= columns_of(array, self.mechanism)
        return found

    def table(self, names: Sequence[str] | None = None) -> str:
        """Return a table as text: some columns, or those that are named.

        Of many rows some are shown, evenly from first to last, and a line below tells how many.
        """
        columns = self.columns(names)
        if names is None:
            columns = dict(list(columns.items())[:WIDEST])
        chosen = np.unique(np.linspace(0, max(len(self) - 1, 0), SHOWN).round().astype(int))
        picked = chosen[chosen < len(self)]
        texts = [[name, *(f"{column[k]:.6g}" for k in picked)] for name, column in columns.items()]
        widths = [max(map(len, column)) for column in texts]
        lines = [
            "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))
            for line in zip(*texts, strict=True)
        ]
        if len(picked) < len(self):
            lines.append(f"{len(picked)} of {len(self)} rows")
        return "\n".join(lines)

    # --- files and stores -------------------------------------------------------------------

    def record(self, outputs: Sequence[str] | None = None) -> ResultRecord:
        """Return the result as plain data; a result has no further outputs."""
        if outputs:
            remedy = f"its arrays are {', '.join(self.arrays)}"
            raise RunError("a result has its own arrays only", element="outputs", remedy=remedy)
        about = {
            "schema": SCHEMA,
            "version": VERSION,
            "task": self.task,
            "name": self.mechanism.name,
            "mechanism": native_text(self.mechanism),
            "rows": self.rows,
            "report": list(self.report),
            "facts": dict(self.facts),
            "units": dict(self.units),
        }
        return ResultRecord(dict(self.arrays), (), about)

    @staticmethod
    def from_record(arrays: Mapping[str, Array], about: Mapping[str, Any]) -> Result:
        """Return the result of plain data; ReadError where they are not those of one."""
        if about.get("schema") != SCHEMA:
            remedy = "a motion is read with chainform.Run.load"
            raise ReadError(f"there is no result of the form {SCHEMA}", remedy=remedy)
        table = argument("result", about).table()
        mechanism = read_text(table["mechanism"].text(), "json")
        rows = table["rows"].choice(tuple(arrays), "array")
        lengths = {name: len(array) for name, array in arrays.items()}
        uneven = [name for name, length in lengths.items() if length != lengths[rows]]
        if uneven:
            remedy = "take an undamaged copy, or compute it anew"
            raise ReadError("arrays have different lengths", element=uneven[0], remedy=remedy)
        return Result(
            table["task"].text(),
            mechanism,
            rows,
            dict(arrays),
            tuple(entry.text() for entry in table["report"].entries()),
            dict(table["facts"].table().value),
            {name: unit.text() for name, unit in table["units"].table().items()},
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result to a file, whose ending tells the form: .parquet, .csv or .npz."""
        write_record(form_of(path), self.record(), self.mechanism, path)

    @staticmethod
    def load(source: str | PathLike[str] | StoredRun) -> Result:
        """Return the result in a file that `save` wrote, or one of a store: `store.run(...)`."""
        if isinstance(source, StoredRun):
            return Result.from_record(source.arrays, source.about)
        return made_of_file(source, lambda record: Result.from_record(record.arrays, record.about))

    # --- motions ----------------------------------------------------------------------------

    def simulate(self, **options: Any) -> Run:
        """Return the motion that the forces of the result bring about, from its first state on.

        It is the direct problem after the inverse one, at the same times; `options` are those of
        `simulate`. Forces between two times come from the quintic through six neighbours; those
        that a model leaves unknown are taken from it at 2000 times, and are linear in between.
        """
        unknown = [name for name in self.mechanism.unknowns if name in self.arrays]
        if self.rows != "t" or len(self) < 2 or not (unknown or "tau" in self.arrays):
            remedy = "take the result of inverse_dynamics along a motion"
            message = "the result has no forces along a motion"
            raise RunError(message, element=self.task, remedy=remedy)
        t = self["t"]
        acting: dict[str, Any] = {"without": self._without}
        if "tau" in self.arrays:
            acting["forces"] = between(t, self["tau"])
        if unknown:
            acting["unknowns"] = _refined(t, {name: self[name] for name in unknown})
        acting |= {"q0": self["q"][0], "qd0": self["qd"][0], "t": (t[0], t[-1]), "t_eval": t}
        return simulate(self.mechanism, **{**acting, **options})

    # --- pictures ---------------------------------------------------------------------------

    @property
    def run(self) -> Run:
        """The states as a motion, for pictures and for quantities along it.

        The rows are its times where they are times, and else they follow each other by seconds.
        Poses without rates are at rest.
        """
        rest = np.zeros((len(self), self.mechanism.nv))
        t = self["t"] if self.rows == "t" else np.arange(float(len(self)))
        qd, tau = (self.arrays.get(name, rest) for name in ("qd", "tau"))
        known = {n: a for n, a in self.arrays.items() if n not in ("t", "q", "qd", "tau")}
        known |= self._forces_by_name
        if "qd" not in self.arrays:
            known = {"qdd": rest, **known}
        states = (self.mechanism, t, self["q"], qd, tau)
        about = About(without=self._without)
        return Run(*states, method=self.task, about=about, computed=known)

    @property
    def _without(self) -> tuple[str, ...]:
        """What the mechanism has and the task left out."""
        return names_in("without", self.facts.get("without", ()))

    @property
    def _forces_by_name(self) -> dict[str, Array]:
        """The unknown forces and wrenches of statics, by the names that they have in a run."""
        forces, wrench = (self.arrays.get(name, self["q"][:, :0]) for name in ("forces", "wrench"))
        frames = names_in("wrenches", self.facts.get("wrenches", ()))
        wrenches = np.split(wrench, range(6, wrench.shape[1], 6), axis=1)
        return {
            **dict(zip(self.mechanism.unknowns, forces.T, strict=False)),
            **{f"contact_wrench({n})": w for n, w in zip(frames, wrenches, strict=False)},
        }

    @property
    def plotted(self) -> Result:
        """The arrays that `plot` draws."""
        return self

    def plot(
        self,
        what: str | Sequence[str] | None = None,
        file: str | PathLike[str] | None = None,
        **options: Any,
    ) -> Any:
        """Return a figure of arrays over the rows, and write it to a file (.svg, .png, .pdf)."""
        from chainform.pictures import plot_arrays

        names = [what] if isinstance(what, str) else what
        return plot_arrays(self, names, file, **options)

    def animate(
        self,
        file: str | PathLike[str] | None = None,
        *,
        mode: int | None = None,
        amplitude: float = AMPLITUDE,
        **options: Any,
    ) -> Any:
        """Return or write a moving picture of the poses: a page (.html) or a film.

        Of modes it shows one, the first by default, with an amplitude in rad or m of what moves
        most; whatever its frequency is, a cycle takes two seconds.
        """
        return self._shown(mode, amplitude).animate(file, **options)

    def picture(
        self,
        file: str | PathLike[str] | None = None,
        *,
        mode: int | None = None,
        amplitude: float = AMPLITUDE,
        **options: Any,
    ) -> Any:
        """Return a picture of the mechanism in its poses, and write it to a file (.png).

        `mode` and `amplitude` are as in `animate`.
        """
        return self._shown(mode, amplitude).picture(file, **options)

    def _shown(self, mode: int | None, amplitude: float) -> Run:
        """Return what pictures show: the poses, or the swing of a mode."""
        if "shape_real" in self.arrays:
            chosen = 1 if mode is None else mode
            return mode_motion(self.mechanism, self.arrays, chosen, amplitude)
        if mode is not None:
            remedy = "leave mode out, or take the result of modes"
            raise RunError(f"{self.task} has no modes", element="mode", remedy=remedy)
        return self.run


def load_result(source: str | PathLike[str] | StoredRun) -> Run | Result:
    """Return what a file or a store holds: a run, or the result of a task."""

    def made(arrays: Mapping[str, Array], outputs: Sequence[str], about: Mapping[str, Any]) -> Any:
        is_result = about.get("schema") == SCHEMA
        return (
            Result.from_record(arrays, about)
            if is_result
            else Run.from_record(arrays, outputs, about)
        )

    if isinstance(source, StoredRun):
        return made(source.arrays, source.outputs, source.about)
    return made_of_file(source, lambda record: made(record.arrays, record.outputs, record.about))


NEIGHBOURS = 6
ENTRIES = 2000
"""The most times of a table of forces that a simulation takes."""


def _refined(t: Array, forces: Mapping[str, Array]) -> dict[str, dict[str, Array]]:
    """Return tables of forces, with as many more times between those given as there may be."""
    parts = max(1, (ENTRIES - 1) // (len(t) - 1))
    steps = np.diff(t)[:, np.newaxis] * np.arange(parts) / parts
    times = np.append((t[:-1, np.newaxis] + steps).ravel(), t[-1])
    at, rest = between(t, np.stack(list(forces.values()), axis=1)), np.zeros(0)
    values = np.array([at(float(time), rest, rest) for time in times])
    return {name: {"t": times, "values": values[:, k]} for k, name in enumerate(forces)}


def between(t: Array, values: Array) -> Callable[[float, Array, Array], Array]:
    """Return a function of (t, q, qd): values at a time, by polynomials through neighbours."""
    count = min(NEIGHBOURS, len(t))

    def at(time: float, q: Array, qd: Array) -> Array:
        del q, qd
        place = int(np.searchsorted(t, time)) - count // 2
        first = min(max(place, 0), len(t) - count)
        x, rows = t[first : first + count], values[first : first + count]
        gaps = np.where(np.eye(count, dtype=bool), 1.0, x[:, None] - x[None, :])
        shares = np.where(np.eye(count, dtype=bool), 1.0, time - x[None, :])
        weights = np.prod(shares, axis=1) / np.prod(gaps, axis=1)
        return weights @ rows

    return at
