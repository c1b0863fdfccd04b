"""A scenario: a mechanism and all that `simulate` takes, read from one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard, cast

from chainform.display import Displayed
from chainform.errors import ReadError
from chainform.given import Given
from chainform.mechanism import Mechanism, Reader, number_of
from chainform.readers import FILE_TYPES, Source, Table, bytes_of, table_from_text, text_of
from chainform.simulation.equations.times import OutputTimes, span_of
from chainform.simulation.files.mechanism_source import (
    MechanismSource,
    check_is_scenario,
    is_mechanism,
    names_of,
    not_a_scenario,
    origin_of,
    without_notes,
    without_texts,
)
from chainform.simulation.files.sections import BatchSection, DriveSection

SYNTAXES = {".toml": "toml", ".json": "json"}


PASSED_ON = ("stops", "contacts", "friction", "controllers")
"""Sections that the parts of `simulate` of these names read themselves."""
FIELDS = frozenset(
    {
        "name",
        "mechanism",
        "store",
        "time",
        "values",
        "without",
        "initial",
        "output",
        "energy_balance",
    }
    | {"batch", "forces", "motion", "signals", "unknowns", "events", "solver", *PASSED_ON}
)
INITIAL_FIELDS = frozenset({"q", "qd", "x", "fixed"})
OUTPUT_FIELDS = frozenset({"every", "times", "points", "outputs"})
SOLVER_NUMBERS = ("rtol", "atol", "step", "largest")
SOLVER_FIELDS = frozenset({"method", "stabilise", "reduce", *SOLVER_NUMBERS})
EVENT_FIELDS = frozenset({"name", "law", "direction", "stop"})


@dataclass(frozen=True, repr=False)
class Scenario(Displayed):
    """What a file asks for: a mechanism, and arguments of `simulate` by name.

    `outputs` are to be written with the states; `text` is the file as it was read. Where it asks
    for many motions, `batch` has the arguments of `simulate_batch` that differ from motion to
    motion, in place of those of the same name. `times` tells the times of output also for another
    start and end.
    """

    mechanism: Mechanism
    arguments: Mapping[str, Any]
    outputs: tuple[str, ...] = ()
    file: str | None = None
    text: str = ""
    batch: Mapping[str, Any] | None = None
    name: str = ""
    times: OutputTimes = field(default_factory=OutputTimes)

    @staticmethod
    def read(
        path: str | PathLike[str], *, store: str | None = None, allow_python: bool = False
    ) -> Scenario:
        """Return the scenario in a TOML or JSON file; ReadError tells what is wrong with it.

        `store` is the store of models, whatever the file says. Functions of Python that a file
        names are run only with `allow_python`: they may do anything.
        """
        source, table = _table(path)
        folder = Path(path).parent
        return _scenario(table, source, folder, store=store, allow_python=allow_python)

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a problem; those that are `given` come before its own.

        Another time has the times of output that the scenario asks for.
        """
        options = {**self.arguments, **(self.batch or {}), **given}
        options.pop("threads", None)
        if given.get("t") is not None and given.get("t_eval") is None:
            bounds = span_of(given["t"], None)[0]
            first, last = (cast("Fraction", number_of(bound)) for bound in bounds)
            options["t_eval"] = self.times.within(first, last)
        return options


def is_mechanism_file(path: str | PathLike[str]) -> bool:
    """Whether a file has a mechanism alone, and no scenario; ReadError where it cannot be read."""
    ending = Path(path).suffix.lower()
    return is_mechanism(_table(path)[1]) if ending in SYNTAXES else ending in FILE_TYPES


def scenario_of(given: object) -> Scenario | None:
    """Return the scenario that is given, or the one in a file; None for a mechanism."""
    if isinstance(given, Scenario):
        return given
    if _is_path(given) and Path(given).suffix.lower() in SYNTAXES:
        data = bytes_of(given)
        if b"mechanism" in data and _is_scenario(_table(given)[1]):
            return Scenario.read(given)
    return None


def _is_path(given: object) -> TypeGuard[str | PathLike[str]]:
    return isinstance(given, str | PathLike)


def _is_scenario(table: Table) -> bool:
    """Tell a scenario from a mechanism that stands in a table among other data."""
    return "mechanism" in table and ("time" in table or isinstance(table["mechanism"], str))


def _table(path: str | PathLike[str]) -> tuple[Source, Table]:
    file = str(path)
    syntax = SYNTAXES.get(Path(file).suffix.lower())
    source = Source(file, bytes_of(path))
    if syntax is None and Path(file).suffix.lower() in FILE_TYPES:
        raise not_a_scenario(source)
    if syntax is None:
        raise source.error("a scenario is a TOML or JSON file", "name it with .toml or .json")
    text = text_of(source.data or b"", source)
    return source, table_from_text(text, syntax, source)


def _scenario(
    table: Table, source: Source, folder: Path, *, store: str | None, allow_python: bool
) -> Scenario:
    """Return the scenario in a table."""
    check_is_scenario(table, source)
    given = source.given(table, "scenario").table(FIELDS).at("")
    origin = origin_of(given, source, folder, store)
    reader = _Reader(given, origin)
    times = reader.output_times()
    arguments: dict[str, Any] = {**reader.times(times), **reader.initial(), **reader.solver()}
    arguments |= reader.drives(DriveSection(source, folder, allow_python, reader.names))
    if given.has("events"):
        arguments["events"] = reader.events(given["events"])
    arguments |= {**reader.passed_on(), **reader.rest()}
    batch = None
    if given.has("batch"):
        section = BatchSection(folder, origin.mechanism, reader.number)
        batch = section.read(given["batch"], arguments)
    name = given["name"].name() if given.has("name") else ""
    text = (source.data or b"").decode()
    outputs = reader.outputs()
    return Scenario(origin.mechanism, arguments, outputs, source.file, text, batch, name, times)


class _Reader:
    """Reads the sections of one scenario; errors name the file and the place in it."""

    def __init__(self, table: Given, origin: MechanismSource) -> None:
        self.table = table
        self.origin = origin
        self.mechanism = origin.mechanism
        known = {parameter.name: parameter.value for parameter in origin.mechanism.parameters}
        self.reader = Reader(table.file, known)
        self.names = names_of(origin.mechanism)

    def number(self, given: Given) -> float:
        """Return a number: a decimal, or an expression of parameters that have values."""
        return float(self.reader.fraction(given))

    def section(self, name: str, fields: frozenset[str]) -> Given:
        """Return a section; one that is not there is empty."""
        given = self.table[name]
        return given.table(fields) if given.is_given else given.holding({})

    # --- time and output --------------------------------------------------------------------

    def times(self, output: OutputTimes) -> dict[str, Any]:
        """Return start and end, and the times of output."""
        given = self.table.required("time", "write time = [0, 2], in s")
        bounds = given.entries(2, "write time = [0, 2]") if given.is_list else [given]
        first = self.reader.fraction(bounds[0]) if given.is_list else Fraction(0)
        last = self.reader.fraction(bounds[-1])
        if last <= first:
            raise given.error("the end is not after the start", "correct it")
        try:
            times = output.between(first, last)
        except ReadError as problem:
            raise given.at(problem.element or "output").error(
                problem.message, problem.remedy
            ) from None
        return {"t": (float(first), float(last))} | ({} if times is None else {"t_eval": times})

    def output_times(self) -> OutputTimes:
        """Return which times of output the scenario wants."""
        output = self.section("output", OUTPUT_FIELDS)
        if not output.has("every", "times", "points"):
            return OutputTimes()
        form = output.one_of("every", "times", "points")
        given = output[form]
        if form == "times":
            return OutputTimes(times=tuple(map(self.number, given.entries())))
        if form == "points":
            return OutputTimes(points=self.reader.whole(given))
        return OutputTimes(every=self.reader.fraction(given))

    def outputs(self) -> tuple[str, ...]:
        """Return the names of what is to be written with the states."""
        return _names(self.section("output", OUTPUT_FIELDS)["outputs"])

    # --- the state at the start -------------------------------------------------------------

    def initial(self) -> dict[str, Any]:
        """Return q0, qd0, x0 and what of it stays when loops are closed, as far as given."""
        section, mechanism = self.section("initial", INITIAL_FIELDS), self.mechanism
        finders = {"q": mechanism.coordinate_index, "qd": mechanism.rate_index}
        names = {"q": mechanism.coordinates, "qd": mechanism.rates, "x": mechanism.states}
        states: dict[str, Any] = {
            f"{key}0": self._state(section[key], names[key], finders.get(key))
            for key in names
            if section.has(key)
        }
        if section.has("fixed"):
            states["fixed"] = _names(section["fixed"])
        return states

    def _state(
        self, given: Given, names: tuple[str, ...], find: Callable[[str], int] | None
    ) -> Any:
        if not given.is_table:
            remedy = "the order is " + (", ".join(names) or "empty: there are none")
            return [self.number(entry) for entry in given.entries(len(names), remedy)]
        state: dict[str, float] = {}
        for name, value in without_notes(given.table(), self.names).items():
            with given.translate_errors():
                if find is not None:
                    find(name)
            state[name] = self.number(value)
        return state

    # --- the rest ---------------------------------------------------------------------------

    def solver(self) -> dict[str, Any]:
        """Return method, tolerances and steps."""
        section = self.section("solver", SOLVER_FIELDS)
        settings: dict[str, Any] = {
            key: self.number(section[key]) for key in SOLVER_NUMBERS if section.has(key)
        }
        for key in ("method", "reduce"):
            if section.has(key):
                settings[key] = section[key].name()
        if section.has("stabilise"):
            settings["stabilise"] = without_texts(section["stabilise"].value, ())
        return settings

    def drives(self, drives: DriveSection) -> dict[str, Any]:
        """Return forces, how long they are held, motions, signals, and forces left unknown."""
        read: dict[str, Any] = {}
        if self.table.has("forces"):
            forces = self.table["forces"].table()
            if forces.has("hold"):
                read["hold"] = self.number(forces["hold"])
            own = {key: value for key, value in forces.value.items() if key != "hold"}
            if own:
                read["forces"] = drives.read(forces.holding(own), self.mechanism.rate_index)
        if self.table.has("motion"):
            motion = replace(drives, group="q")
            read["motion"] = motion.read(self.table["motion"], self.mechanism.coordinate_index)
        for name in ("signals", "unknowns"):
            if self.table.has(name):
                read[name] = drives.read(self.table[name], lambda _: 0)
        return read

    def passed_on(self) -> dict[str, Any]:
        """Return the sections that others read, with doubles except for controllers."""
        sections: dict[str, Any] = {}
        for name in PASSED_ON:
            if self.table.has(name):
                given = self.table[name]
                read = given.holding(without_texts(given.value, self.names))
                sections[name] = read.value if name == "controllers" else _floats(read)
        return sections

    def events(self, given: Given) -> dict[str, Any]:
        """Return events by name: [[events]] with names, or a table by names."""
        if given.is_table:
            table = given.holding(without_texts(given.value, ())).table()
            named = [(given.holding(name), event) for name, event in table.items()]
            return {name.name(): _event(event, EVENT_FIELDS - {"name"}) for name, event in named}
        events: dict[str, Any] = {}
        for number, entry in enumerate(given.entries(), 1):
            event = _event(entry, EVENT_FIELDS)
            name = entry.at(f"{entry.element}, name").holding(event.pop("name", f"event{number}"))
            if name.name() in events:
                raise name.error(f"two events are named {name.value!r}", "rename one")
            events[name.value] = event
        return events

    def rest(self) -> dict[str, Any]:
        """Return values of parameters, what is left out, and whether energy is booked."""
        read: dict[str, Any] = {}
        own = self.reader.given(self.origin.values, "")
        values = {name: self.number(value) for name, value in own.items()}
        if self.table.has("values"):
            table = without_notes(self.table["values"].table(), self.names)
            values |= {name: self.number(value) for name, value in table.items()}
        if values:
            read["values"] = values
        left_out = self.origin.without
        if self.table.has("without"):
            left_out = _names(self.table["without"])
        if left_out:
            read["without"] = left_out
        if self.table.has("energy_balance"):
            read["energy_balance"] = self.table["energy_balance"].flag()
        return read


def _names(given: Given) -> tuple[str, ...]:
    return tuple(entry.name() for entry in given.entries()) if given.is_given else ()


def _event(given: Given, fields: frozenset[str]) -> dict[str, Any]:
    table = (given if given.is_table else given.holding({"law": given.value})).table(fields)
    table.required("law", 'write law = "..." with coordinates, rates and t')
    if table.has("stop"):
        table["stop"].flag()
    return {key: value for key, value in table.value.items() if key in EVENT_FIELDS}


def _floats(given: Given) -> Any:
    """Return plain data with doubles in place of exact decimals."""
    if isinstance(given.value, Fraction | int) and not isinstance(given.value, bool):
        return float(Reader().fraction(given))
    if given.is_table:
        return {key: _floats(entry) for key, entry in given.table().items()}
    return [_floats(entry) for entry in given.entries()] if given.is_list else given.value
