"""How large a model is, as `derive` and `bind` tell it."""

from __future__ import annotations

import numpy as np

from chainform.cli.options import method_document, once_document
from chainform.cli.printing import Document, Page, shape_text
from chainform.model import Model


def size_document(model: Model) -> Document:
    """Return outputs, free parameters, variables and operations of a model."""
    return {
        "mechanism": model.mechanism.name,
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
