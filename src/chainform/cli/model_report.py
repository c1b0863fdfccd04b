"""Reports on a model, for programs and people: method, size, stages of its reduction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from chainform.cli.printing import Document, Page, shape_text
from chainform.graph import Cost
from chainform.model import Model
from chainform.search import Stage

LeftOut: TypeAlias = dict[str, str]
"""Outputs that cannot be derived although the mechanism should have them, each with the reason."""
COLUMNS = ("multiplications", "additions", "sin", "cos", "angle sums", "other calls")


def method_document(model: Model) -> dict[str, Any]:
    """Return of what and how a model was derived, as the documents of all commands have it."""
    free = model.parameters if isinstance(model.parameters, str) else list(model.parameters)
    return {
        "mechanism": model.mechanism.name,
        "formulation": model.formulation,
        "parameters": free,
        "reduce": model.reduction,
        "closure": model.closure,
        "wrenches": list(model.wrenches),
        **({"without": list(model.without)} if model.without else {}),
    }


def once_document(model: Model) -> dict[str, Any]:
    """Return what is computed from the parameters alone as the entry `once`, if there is any."""
    once = model.count(once=True).as_dict()
    return {"once": once} if any(once.values()) else {}


def size_document(model: Model) -> Document:
    """Return outputs, free parameters, variables and operations of a model."""
    return {
        **method_document(model),
        "outputs": {name: {"shape": list(model[name].shape)} for name in model.outputs},
        "free_parameters": list(model.free_parameters),
        "variables": _needed(model),
        "operations": model.count().as_dict(),
        **once_document(model),
    }


def _needed(model: Model) -> dict[str, int]:
    """Return how many inputs and computed variables the outputs need."""
    graph = model.graph
    needed = np.flatnonzero(graph.cone(graph.output_variables()))
    inputs = sum(int(v) in graph.inputs for v in needed)
    return {"inputs": inputs, "computed": len(needed) - inputs}


def show_size(page: Page, model: Model) -> None:
    """Print the same for people; the number of all variables is the one that `log` shows."""
    page.text(model.title, style="bold")
    shapes = {name: shape_text(model[name].shape) for name in model.outputs}
    page.table(("output", "shape"), list(shapes.items()))
    if model.free_parameters:
        page.text(f"free parameters: {', '.join(model.free_parameters)}")
    needed = _needed(model)
    page.text(
        f"variables: {len(model.graph)}; the outputs need {needed['computed']} computed from "
        f"{needed['inputs']} inputs"
    )
    page.text(f"operations: {model.count()}")
    once = model.count(once=True)
    if any(once.as_dict().values()):
        page.text(f"once, from the parameters alone: {once}")


def show_left_out(page: Page, left_out: LeftOut) -> None:
    """Print the outputs that were left out, each with the reason."""
    if left_out:
        page.heading("left out")
    for name, reason in left_out.items():
        page.text(f"  {name}: {reason}")


def left_out_document(left_out: LeftOut) -> dict[str, Any]:
    """Return the outputs that were left out as documents tell it."""
    return {"left_out": [{"name": name, "reason": why} for name, why in left_out.items()]}


# --- the stages of a reduction ----------------------------------------------------------------


def stage_documents(stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """Return the stages of a reduction as documents tell them."""
    return [{**step_document(stage), "seconds": stage.seconds} for stage in stages]


def step_document(step: Step | Stage) -> dict[str, Any]:
    """Return a step and what it left; where several ways were tried, which, and its fate."""
    ways = {"branch": step.branch, "fate": step.fate}
    way = {name: text for name, text in ways.items() if text}
    return {"name": step.name, **way, "operations": step.cost.as_dict()}


@dataclass(frozen=True)
class Step:
    """A step as tables show it: a stage of a reduction, or a stored revision."""

    name: str
    cost: Cost
    branch: str = ""
    fate: str = ""
    is_on_path: bool = True


def show_stages(page: Page, stages: Sequence[Stage]) -> None:
    """Print what each step of a reduction left."""
    show_steps(page, stages, {"seconds": [f"{stage.seconds:.2f}" for stage in stages]})


def show_steps(
    page: Page, steps: Sequence[Step] | Sequence[Stage], more: Mapping[str, Sequence[str]]
) -> None:
    """Print what each step left, with more columns of numbers."""
    columns = {"after": [step.name for step in steps], "branch": [step.branch for step in steps]}
    figures_of = zip(*(figures(step.cost) for step in steps), strict=True)
    columns |= {name: list(column) for name, column in zip(COLUMNS, figures_of, strict=True)}
    columns |= {name: list(column) for name, column in more.items()}
    columns["fate"] = [step.fate for step in steps]
    filled = {n: c for n, c in columns.items() if n not in ("branch", "fate") or any(c)}
    page.table(list(filled), list(zip(*filled.values(), strict=True)), (*COLUMNS, *more))


def figures(count: Cost) -> list[str]:
    """Return the columns of a count as text."""
    return [str(number) for number in count.as_dict().values()]
