"""Element models: frames and masses, springs, dampers and forces, written one by one."""

from chainform.mechanism.element_records import (
    WORLD,
    Definition,
    DissipativeElement,
    EffortElement,
    ElasticElement,
    Element,
    Fixed,
    ForceElement,
    InertiaElement,
    InertialElement,
    MomentElement,
    Place,
    Shift,
    Step,
    Turn,
)

__all__ = [
    "WORLD",
    "Definition",
    "DissipativeElement",
    "EffortElement",
    "ElasticElement",
    "Element",
    "Fixed",
    "ForceElement",
    "InertiaElement",
    "InertialElement",
    "MomentElement",
    "Place",
    "Shift",
    "Step",
    "Turn",
]
