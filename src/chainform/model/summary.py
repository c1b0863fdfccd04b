"""A model in one line, and on a page; the revision that it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from chainform.display import Displayed
from chainform.given import counted
from chainform.graph import Cost, Graph
from chainform.mechanism import Mechanism, freedom_text

MOST_NAMES, MOST_OUTPUTS = 12, 4
"""More free parameters, and more outputs in one line, than these are counted, not listed."""


@dataclass(frozen=True, slots=True, repr=False)
class Origin(Displayed):
    """The revision that a model was loaded from: its model and number, and a hash of its graph."""

    name: str
    number: int
    content: str

    def __str__(self) -> str:
        return f"{self.name}@{self.number}"


class SummarisedModel(Protocol):
    """A model as its summary sees it: `chainform.Model`."""

    @property
    def mechanism(self) -> Mechanism: ...

    @property
    def graph(self) -> Graph: ...

    @property
    def title(self) -> str: ...

    @property
    def has_bodies(self) -> bool: ...

    @property
    def outputs(self) -> tuple[str, ...]: ...

    @property
    def quantities(self) -> tuple[str, ...]: ...

    def count(self) -> Cost: ...

    def __getitem__(self, name: str) -> Any: ...


def model_line(model: SummarisedModel) -> str:
    """Return a model in one line: what it is, its outputs, its operations."""
    more = len(model.outputs) - MOST_OUTPUTS
    outputs = ", ".join(model.outputs[:MOST_OUTPUTS]) + (f" and {more} more" if more > 0 else "")
    count, inputs = model.count(), counted(len(model.graph.inputs), "input")
    freedoms = counted(model.mechanism.nv, "freedom") if model.has_bodies else inputs
    operations = f"{count.multiplications} multiplications, {count.additions} additions"
    return f"<Model {model.title}, {freedoms}: {outputs}; {operations}>"


def model_summary(
    model: SummarisedModel, parameters: Mapping[str, object], notes: Sequence[str]
) -> str:
    """Return not the equations, which may fill a book, but what there is and where."""
    shapes = {name: model[name].shape for name in model.outputs}
    width, inputs = max(map(len, shapes), default=0), counted(len(model.graph.inputs), "input")
    lines = [
        model.title,
        freedom_text(model.mechanism) if model.has_bodies else f"expressions of {inputs}",
        *(f"  {n.ljust(width)}  {' × '.join(map(str, s)) or '1'}" for n, s in shapes.items()),
    ]
    if model.quantities:
        lines.append(f"intermediate quantities: {len(model.quantities)}, in model.quantities")
    free = list(parameters)
    if free:
        more = f" and {len(free) - MOST_NAMES} more" if len(free) > MOST_NAMES else ""
        lines.append(f"free parameters: {', '.join(free[:MOST_NAMES])}{more}")
    lines.append(f"{counted(len(model.graph), 'variable')}; {model.count()}")
    lines += notes
    first, shape = next(iter(shapes.items()), (None, ()))
    entry = f"[{', '.join('0' for _ in shape)}]" if shape else ""
    example = "model[name]" if first is None else f'model["{first}"]{entry}'
    return "\n".join([*lines, f'formulas: {example}, all of them: model.emit("text")'])
