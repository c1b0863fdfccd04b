"""What a model says of itself: not the equations, which may fill a book, but where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainform.mechanism import Mechanism
    from chainform.model.model import Model

MOST_NAMES = 12
"""More free parameters than this are counted, not listed."""
MOST_OUTPUTS = 4
"""More outputs than this are counted in one line, not listed."""


def title(model: Model) -> str:
    """Return name and method, and whether the model is reduced: arm, auto, reduced (fast)."""
    state = f"reduced ({model.reduction})" if model.is_reduced else "not reduced"
    return f"{model.mechanism.name}, {model.formulation}, {state}"


def one_line(model: Model) -> str:
    """Return the title, freedoms, outputs and counts of a model."""
    more = len(model.outputs) - MOST_OUTPUTS
    outputs = ", ".join(model.outputs[:MOST_OUTPUTS]) + (f" and {more} more" if more > 0 else "")
    count, freedoms = model.count(), _counted(model.mechanism.nv, "freedom")
    operations = f"{count.multiplications} multiplications, {count.additions} additions"
    return f"<Model {title(model)}, {freedoms}: {outputs}; {operations}>"


def summary(model: Model) -> str:
    """Return name and method, joints, outputs with their shapes, sizes, and the way to formulas."""
    mechanism = model.mechanism
    moving = sum(segment.joint.kind.coordinates > 0 for segment in mechanism.segments)
    loops = f", {_counted(len(mechanism.loops), 'loop')}" if mechanism.loops else ""
    freedom = _counted(mechanism.nv, "degree")
    lines = [
        title(model),
        f"{_parts(mechanism, moving)} with {freedom} of freedom{loops}",
        *_outputs(model),
    ]
    if model.quantities:
        lines.append(f"intermediate quantities: {len(model.quantities)}, in model.quantities")
    free = list(model.free_parameters)
    if free:
        more = f" and {len(free) - MOST_NAMES} more" if len(free) > MOST_NAMES else ""
        lines.append(f"free parameters: {', '.join(free[:MOST_NAMES])}{more}")
    lines.append(f"{_counted(len(model.graph), 'variable')}; {model.count()}")
    lines.append(f'formulas: {_example(model)}, all of them: model.emit("text")')
    return "\n".join(lines)


def _parts(mechanism: Mechanism, moving: int) -> str:
    """Return what a mechanism consists of: joints, elements, or both."""
    joints = [_counted(moving, "joint")] if mechanism.segments else []
    count = len(mechanism.elements)
    return ", ".join([*joints, _counted(count, "element")] if count else joints)


def _outputs(model: Model) -> list[str]:
    width = max(map(len, model.outputs), default=0)
    shapes = {name: " × ".join(map(str, model[name].shape)) or "1" for name in model.outputs}
    return [f"  {name.ljust(width)}  {shape}" for name, shape in shapes.items()]


def _example(model: Model) -> str:
    if not model.outputs:
        return "model[name]"
    name = model.outputs[0]
    shape = model[name].shape
    return f'model["{name}"]' + (f"[{', '.join('0' for _ in shape)}]" if shape else "")


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
