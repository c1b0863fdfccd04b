"""The words of an element, by kind."""

from __future__ import annotations

COMMON_FIELDS = frozenset({"kind", "name"})

FIELDS = {
    "frame": frozenset({"on", "chain", "text"}),
    "point": frozenset({"on", "position", "mass"}),
    "body": frozenset({"on", "chain", "mass", "com", "inertia", "text"}),
    "inertia": frozenset({"inertia", "along"}),
    "elastic": frozenset({"stiffness", "rest", "deformation", "ends"}),
    "dissipative": frozenset({"damping", "coulomb", "deformation", "rate", "ends"}),
    "force": frozenset({"force", "at", "axes", "to", "along"}),
    "moment": frozenset({"moment", "on", "axes", "to", "along"}),
}
"""What may be said about an element of each kind, beside kind and name."""

PLACE_FIELDS = frozenset({"on", "point"})
COORDINATE_FIELDS = frozenset({"name", "unit", "rate"})
