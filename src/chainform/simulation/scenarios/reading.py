"""From the table of a scenario to a mechanism and the arguments of `simulate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from chainform.errors import ReadError
from chainform.mechanism import Mechanism
from chainform.mechanism.intake import Intake, located
from chainform.mechanism.tables import check_fields, is_list, is_table, kind_of, list_of, table_of
from chainform.readers.source import Source, Table
from chainform.simulation.scenarios.batch_section import BatchSection
from chainform.simulation.scenarios.drives import Drives
from chainform.simulation.scenarios.notes import names_of, without_notes, without_texts
from chainform.simulation.scenarios.output_times import OutputTimes
from chainform.simulation.scenarios.source import Origin, check_is_scenario, origin_of

PASSED_ON = ("stops", "contacts", "friction", "controllers")
"""Sections that the parts of `simulate` of these names read themselves."""
FIELDS = frozenset(
    {"name", "mechanism", "store", "time", "values", "leave_out", "initial", "output", "books"}
    | {"batch", "forces", "signals", "unknowns", "events", "solver", *PASSED_ON}
)
INITIAL_FIELDS = frozenset({"q", "qd", "x", "fixed"})
OUTPUT_FIELDS = frozenset({"every", "times", "points", "outputs"})
SOLVER_FIELDS = frozenset({"method", "rtol", "atol", "step", "largest", "stabilise", "reduce"})
EVENT_FIELDS = frozenset({"name", "law", "direction", "stop"})


@dataclass(frozen=True)
class Told:
    """What a scenario says: see `Scenario`."""

    mechanism: Mechanism
    arguments: dict[str, Any]
    outputs: tuple[str, ...] = ()
    batch: dict[str, Any] | None = None
    name: str = ""
    times: OutputTimes = field(default_factory=OutputTimes)


def read_scenario(
    table: Table, source: Source, folder: Path, *, store: str | None, allow_python: bool
) -> Told:
    """Return what a table says, as arguments of `simulate` by name."""
    check_is_scenario(table, source)
    check_fields(table, FIELDS, source.file, "scenario")
    origin = origin_of(table, source, folder, store)
    reader = _Reader(source, origin)
    times = reader.output_times(table)
    arguments: dict[str, Any] = {**reader.times(table, times), **reader.initial(table)}
    arguments |= reader.solver(table)
    arguments |= reader.drives(table, Drives(source, folder, allow_python, reader.names))
    if table.get("events") is not None:
        arguments["events"] = reader.events(table["events"])
    arguments |= reader.passed_on(table)
    arguments |= reader.rest(table)
    batch = None
    if table.get("batch") is not None:
        section = BatchSection(source, folder, origin.mechanism, reader.number)
        batch = section.read(table["batch"], arguments)
    outputs = reader.outputs(table)
    return Told(origin.mechanism, arguments, outputs, batch, reader.name(table), times)


class _Reader:
    """Reads the sections of one scenario; errors name the file and the place in it."""

    def __init__(self, source: Source, origin: Origin) -> None:
        self.source = source
        self.origin = origin
        self.mechanism = origin.mechanism
        known = {parameter.name: parameter.value for parameter in origin.mechanism.parameters}
        self.intake = Intake(source.file, known)
        self.names = names_of(origin.mechanism)

    def name(self, table: Table) -> str:
        """Return what the scenario is called."""
        said = table.get("name")
        return "" if said is None else self.intake.text(said, "name")

    def number(self, value: object, where: str) -> float:
        """Return a number: a decimal, or an expression of parameters that have values."""
        return float(self.intake.fraction(value, where))

    def section(self, table: Table, name: str, fields: frozenset[str]) -> dict[str, object]:
        """Return a section; one that is not there is empty."""
        said = table.get(name)
        if said is None:
            return {}
        found = table_of(said, self.source.file, name)
        check_fields(found, fields, self.source.file, name)
        return {k: value for k, value in without_notes(found).items() if value is not None}

    # --- time and output --------------------------------------------------------------------

    def times(self, table: Table, output: OutputTimes) -> dict[str, Any]:
        """Return start and end, and the times of output."""
        said = table.get("time")
        if said is None:
            raise self.source.error("the time is missing", "write time = [0, 2], in s", "time")
        bounds = list_of(said, self.source.file, "time") if is_list(said) else [Fraction(0), said]
        if len(bounds) != 2:
            raise self.source.error("time is a start and an end", "write time = [0, 2]", "time")
        first, last = (self.intake.fraction(bound, "time") for bound in bounds)
        if last <= first:
            raise self.source.error("the end is not after the start", "correct it", "time")
        with located(self.source.file, "output"):
            times = output.between(first, last)
        return {"t": (float(first), float(last))} | ({} if times is None else {"t_eval": times})

    def output_times(self, table: Table) -> OutputTimes:
        """Return which times of output are asked for."""
        output = self.section(table, "output", OUTPUT_FIELDS)
        given = [name for name in ("every", "times", "points") if name in output]
        if len(given) > 1:
            remedy = "keep one of every, times and points"
            raise self.source.error("the times of output are given twice", remedy, "output")
        if "times" in output:
            listed = list_of(output["times"], self.source.file, "output, times")
            where = "output, times[{}]"
            numbers = (self.number(x, where.format(k)) for k, x in enumerate(listed, 1))
            return OutputTimes(times=tuple(numbers))
        if "points" in output:
            return OutputTimes(points=self.intake.integer(output["points"], "output, points"))
        if "every" in output:
            return OutputTimes(every=self.intake.fraction(output["every"], "output, every"))
        return OutputTimes()

    def outputs(self, table: Table) -> tuple[str, ...]:
        """Return the names of what is to be written beside the states."""
        said = self.section(table, "output", OUTPUT_FIELDS).get("outputs")
        return () if said is None else self._texts(said, "output, outputs")

    def _texts(self, said: object, where: str) -> tuple[str, ...]:
        listed = list_of(said, self.source.file, where)
        return tuple(self.intake.text(text, f"{where}[{k}]") for k, text in enumerate(listed, 1))

    # --- the state at the start -------------------------------------------------------------

    def initial(self, table: Table) -> dict[str, Any]:
        """Return q0, qd0, x0 and what of it stays when loops are closed, as far as given."""
        said = self.section(table, "initial", INITIAL_FIELDS)
        finders = {"q": self.mechanism.coordinate_index, "qd": self.mechanism.rate_index}
        names = {"q": self.mechanism.coordinates, "qd": self.mechanism.rates}
        names |= {"x": self.mechanism.states}
        found: dict[str, Any] = {
            f"{key}0": self._state(value, f"initial, {key}", names[key], finders.get(key))
            for key, value in said.items()
            if key != "fixed"
        }
        if "fixed" in said:
            found["fixed"] = self._texts(said["fixed"], "initial, fixed")
        return found

    def _state(
        self,
        said: object,
        where: str,
        names: tuple[str, ...],
        find: Callable[[str], int] | None,
    ) -> Any:
        if not is_table(said):
            listed = list_of(said, self.source.file, where)
            if len(listed) != len(names):
                remedy = "the order is " + (", ".join(names) or "empty: there are none")
                message = f"expected {len(names)} numbers, got {len(listed)}"
                raise self.source.error(message, remedy, where)
            return [self.number(x, f"{where}[{k}]") for k, x in enumerate(listed, 1)]
        state: dict[str, float] = {}
        table = without_notes(table_of(said, self.source.file, where), self.names)
        for name, value in table.items():
            try:
                if find is not None:
                    find(name)
            except ReadError as problem:
                raise self.source.error(problem.message, problem.remedy or "", where) from None
            state[name] = self.number(value, f"{where}, {name[:60]}")
        return state

    # --- the rest ---------------------------------------------------------------------------

    def solver(self, table: Table) -> dict[str, Any]:
        """Return method, tolerances and steps."""
        said = self.section(table, "solver", SOLVER_FIELDS)
        found: dict[str, Any] = {
            key: self.number(value, f"solver, {key}")
            for key, value in said.items()
            if key not in ("method", "stabilise", "reduce")
        }
        for key in ("method", "reduce"):
            if key in said:
                found[key] = self.intake.text(said[key], f"solver, {key}")
        if "stabilise" in said:
            found["stabilise"] = without_texts(said["stabilise"], ())
        return found

    def drives(self, table: Table, drives: Drives) -> dict[str, Any]:
        """Return forces, the time for which they are held, signals, and forces left unknown."""
        found: dict[str, Any] = {}
        if table.get("forces") is not None:
            forces = table_of(table["forces"], self.source.file, "forces")
            if forces.get("hold") is not None:
                found["hold"] = self.number(forces.pop("hold"), "forces, hold")
            if forces:
                found["forces"] = drives.read(forces, "forces", self.mechanism.rate_index)
        for name in ("signals", "unknowns"):
            if table.get(name) is not None:
                found[name] = drives.read(table[name], name, lambda _: 0)
        return found

    def passed_on(self, table: Table) -> dict[str, Any]:
        """Return the sections that others read, with doubles except for controllers."""
        found: dict[str, Any] = {}
        for name in PASSED_ON:
            if table.get(name) is not None:
                said = without_texts(table[name], self.names)
                found[name] = said if name == "controllers" else _floats(said, self.source, name)
        return found

    def events(self, said: object) -> dict[str, Any]:
        """Return events by name: [[events]] with names, or a table by names."""
        found: dict[str, Any] = {}
        if is_table(said):
            table = table_of(without_texts(said, ()), self.source.file, "events")
            for name, value in table.items():
                where = f"events, {self.intake.text(name, 'events')[:60]}"
                found[name] = self._event(value, where, EVENT_FIELDS - {"name"})
            return found
        for number, entry in enumerate(list_of(said, self.source.file, "events"), 1):
            event = self._event(entry, f"events[{number}]", EVENT_FIELDS)
            name = self.intake.text(event.pop("name", f"event{number}"), f"events[{number}], name")
            if name in found:
                message = f"two events are named {name!r}"
                raise self.source.error(message, "rename one", f"events[{number}], name")
            found[name] = event
        return found

    def _event(self, said: object, where: str, fields: frozenset[str]) -> dict[str, Any]:
        table = table_of(said, self.source.file, where) if is_table(said) else {"law": said}
        check_fields(table, fields, self.source.file, where)
        if table.get("law") is None:
            remedy = 'write law = "..." with coordinates, rates and t'
            raise self.source.error("the law is missing", remedy, where)
        if not isinstance(table.get("stop", False), bool):
            raise self.source.error("stop is true or false", "write it so", f"{where}, stop")
        return {key: value for key, value in table.items() if key in EVENT_FIELDS}

    def rest(self, table: Table) -> dict[str, Any]:
        """Return values of parameters, what is left out, and whether energy is booked."""
        found: dict[str, Any] = {}
        values = {
            name: float(self.intake.fraction(v, name)) for name, v in self.origin.values.items()
        }
        if table.get("values") is not None:
            said = table_of(table["values"], self.source.file, "values")
            said = without_notes(said, self.names)
            values |= {name: self.number(v, f"values, {name[:60]}") for name, v in said.items()}
        if values:
            found["values"] = values
        left_out = self.origin.leave_out
        if table.get("leave_out") is not None:
            left_out = self._texts(table["leave_out"], "leave_out")
        if left_out:
            found["leave_out"] = left_out
        books = table.get("books")
        if books is not None and not isinstance(books, bool):
            message = f"expected true or false, got {kind_of(books)}"
            raise self.source.error(message, "write books = false", "books")
        return found if books is None else {**found, "books": books}


def _floats(value: object, source: Source, where: str) -> Any:
    """Return plain data with doubles in place of exact decimals."""
    if isinstance(value, Fraction | int) and not isinstance(value, bool):
        return float(Intake(source.file).fraction(value, where))
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        return {k: _floats(v, source, f"{where}, {k}") for k, v in table.items()}
    if isinstance(value, list):
        entries = enumerate(cast("list[object]", value), 1)
        return [_floats(entry, source, f"{where}[{k}]") for k, entry in entries]
    return value
