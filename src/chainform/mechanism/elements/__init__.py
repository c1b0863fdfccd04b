"""Element models: frames and masses, springs, dampers and forces, written one by one."""

from chainform.mechanism.components import (
    WORLD,
    Definition,
    DissipativeElement,
    EffortElement,
    ElasticElement,
    Element,
    ElementPoint,
    FixedStep,
    ForceElement,
    InertiaElement,
    InertialElement,
    MomentElement,
    ShiftStep,
    Step,
    TurnStep,
)

__all__ = [
    "WORLD",
    "Definition",
    "DissipativeElement",
    "EffortElement",
    "ElasticElement",
    "Element",
    "ElementPoint",
    "FixedStep",
    "ForceElement",
    "InertiaElement",
    "InertialElement",
    "MomentElement",
    "ShiftStep",
    "Step",
    "TurnStep",
]
