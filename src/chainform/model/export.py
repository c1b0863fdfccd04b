"""A model in another language: its outputs as functions, with names, units and cases to test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from textwrap import wrap
from typing import Any, Protocol, TypedDict

import numpy as np

from chainform.emitters import (
    ALL,
    EMITTERS,
    LANGUAGES,
    ROWS,
    Case,
    Function,
    Package,
    identifier,
    latex_document,
    parameters_of,
    signature_of,
)
from chainform.errors import RunError
from chainform.files import check_folder, write_folder
from chainform.given import argument
from chainform.graph import FLOAT, Graph, cost_of, is_plain, parts_of
from chainform.mechanism import (
    Mechanism,
    coordinate_units,
    effort_unit,
    motion_units,
    with_unit_quaternions,
)
from chainform.model.catalogue import CATALOGUE, OutputEntry
from chainform.model.export_notes import (
    followers,
    is_nonzeros,
    parameter_meaning,
    reading_notes,
    row_patterns,
)
from chainform.model.formulas import notation_of
from chainform.model.names import letter_of
from chainform.model.states import entry_names, evaluate_states, group_length
from chainform.model.summary import Origin
from chainform.runtime import BINARIES
from chainform.version import VERSION

CASES = 3
"""States at which an exported test compares results."""
TRIES = 200
"""States that are drawn to find so many at which all results are finite."""
PRECISIONS = ("float64", "float32")
SINES = ("own", "libm")
NATIVE = "native"
"""The processor of this machine."""
OWN_FILES = ("example", "makefile", "test")
"""Files of every folder, apart from the source."""
AXES = "Axes are those of the world unless an output says otherwise."
UNITS = {
    "u_": "u_i is m where rate i slides, else rad",
    "v_": "v_i is m in rows 1 to 3, rad in rows 4 to 6",
    "p_": "p_k is 1 in columns 1 to 3, m in column 4",
}
"""What units of the catalogue depend on."""
OF_QUATERNIONS = (
    "Rates of joints with quaternions (x y z w), their accelerations and efforts: axes of the body."
)


class ExportedModel(Protocol):
    """A model as its export sees it: `chainform.Model`."""

    @property
    def mechanism(self) -> Mechanism: ...

    @property
    def title(self) -> str: ...

    @property
    def origin(self) -> Origin | None: ...

    @property
    def wrenches(self) -> tuple[str, ...]: ...


class ExportOptions(TypedDict, total=False):
    """The name of what is exported, the precision of its numbers, the sine, and the processor."""

    name: str | None
    precision: str
    sine: str
    target: str


def source_text(model: ExportedModel, graph: Graph, language: str) -> str:
    """Return the outputs of a graph as one text in a language; of a folder, its source."""
    argument("language", language).choice([*EMITTERS, *LANGUAGES])
    if language == "latex":
        return latex_document(graph, list(graph.outputs), notation_of(model.mechanism))
    if language in EMITTERS:
        return EMITTERS[language](graph, list(graph.outputs))
    package = package_for(model, graph, {}, cases=0)
    return next(iter(LANGUAGES[language](package).values()))


def write_sources(
    model: ExportedModel,
    graph: Graph,
    language: str,
    folder: str | PathLike[str],
    options: ExportOptions,
) -> Path:
    """Write a folder of sources in a language, with an example and a test."""
    argument("language", language).choice([*LANGUAGES, *BINARIES])
    check_folder(folder)
    if "target" in options and language != "object":
        remedy = "leave it out, or export an object"
        raise RunError(f"{language} has no target", element="target", remedy=remedy)
    package = package_for(model, graph, options, CASES)
    if language in LANGUAGES:
        return write_folder(folder, LANGUAGES[language](package))
    return write_folder(folder, BINARIES[language](package, options.get("target", NATIVE)))


def package_for(model: ExportedModel, graph: Graph, options: ExportOptions, cases: int) -> Package:
    """Return the outputs of a graph of a model as functions, one each and one for all."""
    argument("options", dict(options)).table(ExportOptions.__annotations__)
    precision = argument("precision", options.get("precision", PRECISIONS[0])).choice(PRECISIONS)
    sine = argument("sine", options.get("sine", SINES[0])).choice(SINES)
    wanted = options.get("name")
    name = identifier(model.mechanism.name) if wanted is None else argument("name", wanted).text()
    if identifier(name) != name:
        message = f"{name[:60]!r} cannot be a name in other languages"
        raise RunError(message, element="name", remedy=f"write {identifier(name)[:60]!r}")
    if name.lower() in OWN_FILES:
        message = f"{name!r} is the name of another file in the folder"
        raise RunError(
            message, element="name", remedy="give another one: name='arm', or --name arm"
        )
    outputs = list(graph.outputs)
    groups = {given.group for given in graph.inputs.values()} - {"parameter"}
    lengths = {g: group_length(model.mechanism, graph, g) for g in groups}
    names = _unique(map(function_name, outputs))
    functions = [
        _function(graph, n, [output], lengths) for n, output in zip(names, outputs, strict=True)
    ]
    if len(outputs) > 1:
        functions.append(_function(graph, _unique([*names, ALL])[-1], outputs, lengths))
    patterns = dict(row_patterns(model.mechanism, graph, names))
    places = {n for n, output in zip(names, outputs, strict=True) if is_nonzeros(output)}
    found = tuple(
        _with_places(f, [n for n in names if n in places & {*patterns}]) for f in functions
    )
    arguments = {a.group: a.length for f in found for a in f.signature.arguments}
    return Package(
        name,
        graph,
        found,
        _about(model, graph),
        {group: _lines(model, graph, group, length) for group, length in arguments.items()},
        tuple(_cases(model, graph, arguments, cases)),
        dict(_entries(model, graph, arguments)),
        patterns,
        tuple(_values(graph)) if "parameter" in arguments else (),
        _sizes(model.mechanism, arguments),
        precision,
        sine,
    )


# --- names ----------------------------------------------------------------------------------------


def function_name(output: str) -> str:
    """Return the name of the function for an output: inverse_dynamics_by_q."""
    parts = parts_of(output)
    if is_nonzeros(output):
        return f"{function_name(parts.arguments[0])}_{parts.name}"
    if parts.name != "derivative" or parts.inside is None:
        return identifier(output)
    base, *by = parts.arguments
    return "_".join([function_name(base), "by", *map(identifier, by)])


def _result_name(output: str) -> str:
    """Return the name of a result: its letter, dtau_dq for a derivative."""
    parts = parts_of(output)
    if is_nonzeros(output):
        return f"{_result_name(parts.arguments[0])}_{parts.name}"
    if parts.name == "derivative" and parts.inside is not None:
        base, *by = parts.arguments
        return "_".join([f"d{_result_name(base)}", *(f"d{identifier(each)}" for each in by)])
    letter = letter_of(parts.name) if is_plain(parts.name) else None
    return identifier(letter) if letter else function_name(output)


def _unique(names: Any) -> list[str]:
    """Return names, each different from those before it."""
    found: list[str] = []
    for name in names:
        number, new = 1, name
        while new in found:
            number += 1
            new = f"{name}_{number}"
        found.append(new)
    return found


def _function(
    graph: Graph, name: str, outputs: Sequence[str], lengths: Mapping[str, int]
) -> Function:
    signature = signature_of(graph, outputs, lengths)
    given = {a.group for a in signature.arguments} | {"parameters"}
    wanted = ["result" if n == name else n for n in map(_result_name, outputs)]
    results = _unique(f"{n}_out" if n in given else n for n in wanted)
    about = [
        line
        for n, output in zip(results, outputs, strict=True)
        for line in _meaning(graph, n, output)
    ]
    about.append(f"Operations: {_operations(graph, outputs)}.")
    return Function(name, signature, tuple(results), tuple(about))


def _with_places(function: Function, listed: Sequence[str]) -> Function:
    """Return a function with a line about the tables that belong to its `nonzeros`."""
    own = [n for n in listed if n == function.name or len(function.results) > 1]
    line = f"Rows and columns of the entries: the tables of {', '.join(own)}."
    return replace(function, about=(*function.about, line)) if own else function


def _operations(graph: Graph, outputs: Sequence[str]) -> str:
    wanted = graph.output_variables(outputs)
    return str(cost_of(graph, graph.cone(wanted), wanted))


# --- texts ----------------------------------------------------------------------------------------


def _about(model: ExportedModel, graph: Graph) -> tuple[str, ...]:
    revision = f", revision {model.origin}" if model.origin is not None else ""
    has_quaternions = model.mechanism.nq > model.mechanism.nv
    units = [entry.unit for entry, _ in map(_entry, graph.outputs) if entry is not None]
    letters = [text for letter, text in UNITS.items() if any(letter in unit for unit in units)]
    return (
        f"{model.title}{revision}; written by chainform {VERSION}.",
        f"Operations of all outputs: {_operations(graph, list(graph.outputs))}.",
        f"{'; '.join(['Units are m, kg, s, N and rad', *letters])}.",
        AXES,
        *((OF_QUATERNIONS,) if has_quaternions else ()),
        ROWS,
        *followers(model.mechanism),
        *(line for note in reading_notes(model.mechanism) for line in wrap(note, 96)),
    )


def _meaning(graph: Graph, name: str, output: str) -> Iterator[str]:
    shape = " x ".join(map(str, graph.block(output).shape)) or "1"
    entry, by = _entry(output)
    unit = f", {entry.unit}" if entry is not None and entry.unit else ""
    unit += "".join(f" per unit of {each}" for each in by) if unit else ""
    yield f"{name} ({shape}{unit}): {output}"
    if entry is not None:
        yield f"    {'derivative of ' if by else ''}{entry.meaning}: {entry.equation}"
    if is_nonzeros(output):
        yield "    of these the entries that are not always zero, by rows"


def _entry(output: str) -> tuple[OutputEntry | None, list[str]]:
    """Return what the catalogue has about an output, and by what that is differentiated."""
    parts = parts_of(output)
    if is_nonzeros(output):
        return _entry(parts.arguments[0])
    if parts.name != "derivative" or parts.inside is None:
        return CATALOGUE.get(parts.name), []
    base, *by = parts.arguments
    entry, before = _entry(base)
    return entry, [*before, *by]


def _entries(
    model: ExportedModel, graph: Graph, arguments: Mapping[str, int]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names of the entries of groups of inputs; qdd and tau have those of qd."""
    for group, length in arguments.items():
        names = () if group in ("qdd", "tau", "t") else entry_names(model.mechanism, group)
        if group == "parameter":
            names = tuple(graph.inputs[v].name for v in parameters_of(graph))
        if names and len(names) == length:
            yield group, names


def _values(graph: Graph) -> list[float]:
    """Return the values that parameters have by default, none where one has no value."""
    given = [graph.inputs[v].default for v in parameters_of(graph)]
    found = [FLOAT.number(value) for value in given if value is not None]
    return found if len(found) == len(given) else []


def _sizes(mechanism: Mechanism, arguments: Mapping[str, int]) -> dict[str, int]:
    """Return the lengths of arguments: nq, nv (of qd, qdd and tau), nparameters, nwrench, ..."""
    usual = {"nq": mechanism.nq, "nv": mechanism.nv}
    words = {"q": "nq", "qd": "nv", "qdd": "nv", "tau": "nv", "parameter": "nparameters"}
    sizes = usual | {words.get(group, f"n{group}"): n for group, n in arguments.items()}
    return {word: size for word, size in sizes.items() if size and word != "nt"}


def _loop_lines(mechanism: Mechanism) -> Iterator[str]:
    """Yield a line about the forces of each loop, along the directions of its rows."""
    first = 0
    for loop in mechanism.loops:
        parts = [f"force {' '.join(loop.rows.linear)} (N)"]
        if loop.rows.angular:
            parts.append(f"moment {' '.join(loop.rows.angular)} (N m)")
        last = first + loop.equations - 1
        yield f"[{first}..{last}] {loop.name}: {', '.join(parts)}, on the closing body"
        first = last + 1


def _lines(model: ExportedModel, graph: Graph, group: str, length: int) -> tuple[str, ...]:
    """Return lines about the entries of a group of inputs."""
    mechanism = model.mechanism
    if group == "parameter":
        given = [graph.inputs[v] for v in parameters_of(graph)]
        values = ["" if p.default is None else f" = {FLOAT.number(p.default)!r}" for p in given]
        pairs = zip(given, values, strict=True)
        meanings = {p.name: parameter_meaning(mechanism, p.name) for p in given}
        return tuple(
            f"[{k}] {p.name}{f' ({unit})' if unit else ''}{value}{f', {what}' if what else ''}"
            for k, (p, value) in enumerate(pairs)
            for unit, what in [meanings[p.name]]
        )
    if group == "wrench":
        parts = "force x y z (N), moment x y z (N m), at the frame, world axes"
        return tuple(f"[{6 * k}..{6 * k + 5}] {n}: {parts}" for k, n in enumerate(model.wrenches))
    if group == "sigma":
        return tuple(_loop_lines(mechanism))
    if group == "t":
        return ("[0] time (s)",)
    names, units = entry_names(mechanism, group), _units(mechanism, group)
    if len(names) < length or not names:
        return (f"[0..{length - 1}]",) if length else ()
    return tuple(
        f"[{k}] {name}{f' ({unit})' if unit else ''}"
        for k, (name, unit) in enumerate(zip(names, units or [""] * len(names), strict=True))
    )


def _units(mechanism: Mechanism, group: str) -> list[str]:
    if group == "q":
        return coordinate_units(mechanism)
    motions = motion_units(mechanism)
    match group:
        case "qd":
            return [f"{unit}/s" if unit else "" for unit in motions]
        case "qdd":
            return [f"{unit}/s^2" if unit else "" for unit in motions]
        case "tau":
            return [effort_unit(unit) for unit in motions]
        case _:
            return []


# --- cases ----------------------------------------------------------------------------------------


def _cases(
    model: ExportedModel, graph: Graph, arguments: Mapping[str, int], count: int
) -> Iterator[Case]:
    """Yield states taken at random at which all results are finite, with the results there."""
    random = np.random.default_rng(1)
    given = [graph.inputs[v] for v in parameters_of(graph)]
    free = [1.0 if p.default is None else FLOAT.number(p.default) for p in given]
    values = {p.name: value for p, value in zip(given, free, strict=True)}
    left = count
    for _ in range(TRIES if count else 0):
        state = {g: random.uniform(-1.0, 1.0, n) for g, n in arguments.items() if g != "parameter"}
        if "q" in state and len(state["q"]) == model.mechanism.nq:
            state["q"] = with_unit_quaternions(model.mechanism, state["q"])
        with np.errstate(all="ignore"):
            given_state: dict[str, Any] = {g: x[0] if g == "t" else x for g, x in state.items()}
            found = evaluate_states(graph, model.mechanism, given_state, values, None)
        if all(np.isfinite(value).all() for value in found.values()):
            inputs = {group: x.tolist() for group, x in state.items()}
            inputs |= {"parameter": free} if "parameter" in arguments else {}
            yield Case(inputs, {n: np.ravel(v).tolist() for n, v in found.items()})
            left -= 1
            if not left:
                return
