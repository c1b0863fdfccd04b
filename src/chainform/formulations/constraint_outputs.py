"""The outputs of constraints, and what each needs of a mechanism."""

from __future__ import annotations

CONSTRAINED = (
    "constraint",
    "constraint_rate",
    "constraint_jacobian",
    "constraint_right",
    "constrained_dynamics",
    "multipliers",
)
"""The outputs of a mechanism with bilateral constraints."""

UNILATERAL = ("unilateral", "unilateral_jacobian")
"""The outputs of a mechanism with unilateral constraints: g(q, t) and its derivatives."""

QUASI = (
    "quasi_velocities",
    "quasi_matrix",
    "quasi_mass_matrix",
    "quasi_bias",
    "quasi_dynamics",
)
"""The outputs of a mechanism with quasi-velocities."""
