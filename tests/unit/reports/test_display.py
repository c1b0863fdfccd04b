"""Every object that the public functions and methods give has a short line and a display."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest

import chainform as cf
from chainform.analysis import Task, complete, drives, motion_of, unknown_forces
from chainform.display import Displayed, Records
from chainform.mechanism import BaseParameters
from chainform.model import Store
from chainform.pictures import HtmlPage
from chainform.reports import bundle_of
from chainform.search import comparison
from chainform.simulation import BatchRun, Contact, Stop, mobility

INSIDE = (
    "chainform.emitters.notation",
    "chainform.errors",
    "chainform.expressions",
    "chainform.given",
    "chainform.mechanism.reader",
    "chainform.reports.blocks",
    "chainform.runtime.cache",
    "chainform.runtime.engine",
    "chainform.runtime.kernel",
    "chainform.simulation.equations",
    "chainform.simulation.files",
    "chainform.simulation.machine",
    "chainform.simulation.quantities",
)
"""Rooms and files whose classes people do not meet: errors, parsers, letters, machine code."""
PARTS = {
    "Conditions",
    "ExpansionSymbol",
    "Kind",
    "JointKind",
    "LoopRows",
    "QuantityModel",
    "Scalar",
}
"""Parts of other objects: enumerations, protocols, what equations are made of."""
NAMES: dict[str, Any] = {"Store": Store, "BaseParameters": BaseParameters, "ExportOptions": dict}
"""Classes that are imported late, for annotations."""
FUNCTIONS = (comparison, complete, drives, mobility, motion_of, unknown_forces)
"""Documented functions that are not at the front door."""


def classes_in(kind: Any) -> Iterator[type]:
    if isinstance(kind, type) and kind.__module__.startswith("chainform"):
        yield kind
    for part in typing.get_args(kind):
        yield from classes_in(part)


def returned(function: Any) -> Iterator[type]:
    yield from classes_in(typing.get_type_hints(function, localns=NAMES).get("return"))


def given_by(kind: type) -> Iterator[type]:
    """Yield the classes of fields, properties and results of methods."""
    for name, member in inspect.getmembers_static(kind):
        if name.startswith("_") and name != "__getitem__":
            continue
        member = getattr(member, "__func__", member)
        member = member.fget if isinstance(member, property) else member
        member = member.func if isinstance(member, functools.cached_property) else member
        if inspect.isfunction(member):
            yield from returned(member)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, localns=NAMES)
        for field in dataclasses.fields(kind):
            yield from classes_in(hints[field.name])


def public_classes() -> set[type]:
    found: set[type] = set()
    todo = deque[type]([HtmlPage, Task, BatchRun, Contact, Stop])
    for thing in (*(getattr(cf, name) for name in cf.__all__), *FUNCTIONS):
        todo += [thing] if isinstance(thing, type) else returned(thing)
    while todo:
        kind = todo.popleft()
        if kind not in found and not kind.__module__.startswith(INSIDE):
            found.add(kind)
            todo += given_by(kind)
    return {kind for kind in found if kind.__name__ not in PARTS}


def test_every_public_class_has_a_display() -> None:
    found = public_classes()
    assert {cf.Model, cf.Mechanism, cf.Run, Store, HtmlPage} <= found
    assert sorted(kind.__name__ for kind in found if not issubclass(kind, Displayed)) == []


def test_no_public_class_is_printed_field_by_field() -> None:
    """A dataclass makes a line of all its fields unless it is told not to."""
    made = [
        kind.__name__
        for kind in public_classes()
        if "__repr__" in vars(kind) and "__create_fn__" in vars(kind)["__repr__"].__qualname__
    ]
    assert made == []


@pytest.fixture(scope="module")
def model() -> cf.Model:
    return cf.derive("examples/slider_crank.toml", ["H", "hG"])


def test_lines_are_short(model: cf.Model) -> None:
    mechanism = model.mechanism
    things = [mechanism, *mechanism.segments, *mechanism.loops, model, model["H"], model.count()]
    things += [model["H"][0, 0], model["H"][0, 0].expand(), model.graph, cf.quantities()]
    for thing in things:
        assert len(repr(thing)) < 250
        assert "\n" not in repr(thing)


def test_a_model_shows_its_outputs_and_counts(model: cf.Model) -> None:
    html = bundle_of(model)["text/html"]
    for word in ("mass_matrix", "gravity", "multiplications", str(model.count().multiplications)):
        assert word in html


def test_formulas_are_latex(model: cf.Model) -> None:
    assert bundle_of(model["H"])["text/latex"].startswith("$\\displaystyle H = \\begin{bmatrix}")
    assert "H_{1,1} =" in bundle_of(model["H"][0, 0])["text/latex"]


def test_a_mechanism_shows_its_picture_and_parameters(model: cf.Model) -> None:
    html = bundle_of(model.mechanism)["text/html"]
    assert "data:image/png;base64," in html
    assert "length of the crank" in html


def test_names_from_files_are_escaped() -> None:
    builder = cf.Mechanism.builder("<script>alert(1)</script>")
    builder.segment("<img src=x>", joint="revolute", axis="z", mass=1, com=[1, 0, 0])
    mechanism = builder.build()
    html = bundle_of(mechanism)["text/html"] + bundle_of(mechanism.segments[0])["text/html"]
    assert "<script" not in html
    assert "<img src=x" not in html
    assert "&lt;script&gt;" in html


def test_records_are_a_table() -> None:
    found = cf.quantities("examples/four_bar.toml")
    assert isinstance(found, Records)
    assert bundle_of(found)["text/html"].count("<tr>") == len(found) + 1


def test_stages_are_a_table_with_what_came_of_each() -> None:
    reduced = cf.derive("examples/slider_crank.toml", ["H"]).reduce("thesis")
    assert repr(reduced.stages).startswith(f"<{len(reduced.stages)} of Stage: formulation")
    page = bundle_of(reduced.stages)["text/html"]
    assert page.count("<tr>") == len(reduced.stages) + 1
    for text in ("multiplications", "fate", "taken", "left: "):
        assert text in page


def test_events_are_a_table() -> None:
    builder = cf.Mechanism.builder("ball", gravity=(0, 0, -10))
    builder.segment("z", joint="prismatic", axis="z", mass=1)
    run = cf.simulate(builder.build(), q0=[1], t=0.5, stops={"z": {"lower": 0.5}})
    assert repr(run.events).startswith("<")
    assert "loss" in bundle_of(run.events)["text/html"]
