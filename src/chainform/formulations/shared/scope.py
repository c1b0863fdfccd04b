"""Which outputs a mechanism has, and the refusals: which methods can give them, with a remedy."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from chainform.errors import DeriveError, Error
from chainform.mechanism import Friction, InertialElement, JointKind, Mechanism

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
UNKNOWN = ("force_matrix", "force_right")
"""The outputs that only a model with unknown forces has."""
TAKE_ELEMENTS = ("auto", "elements")
"""The formulations that take a mechanism with elements."""
REGRESSORS = ("regressor", "base_regressor")
"""The outputs that are linear in nothing but the dynamic parameters."""
OF_JOINTS = ("closure", "closure_jacobian", *REGRESSORS)
"""Outputs about joints or loops, which an element model does not have."""


# --- outputs --------------------------------------------------------------------------------------


def has_passive(mechanism: Mechanism) -> bool:
    """Whether a mechanism has friction or springs."""
    frictions = (segment.joint.friction for segment in mechanism.segments)
    return bool(mechanism.springs) or any(f is not None and f != Friction() for f in frictions)


def uses_elements(mechanism: Mechanism) -> bool:
    """Whether the equations of a mechanism need the formulation by elements."""
    return bool(mechanism.elements) or not mechanism.segments


def refuse_elements(mechanism: Mechanism, who: str) -> None:
    """Refuse a mechanism with elements where a formulation knows segments only."""
    if uses_elements(mechanism) and who not in TAKE_ELEMENTS:
        raise DeriveError(
            f"{who} knows segments and joints, and the mechanism has elements",
            file=mechanism.file,
            element="elements",
            remedy='use formulation="elements" or "auto"',
        )


def check_frame(mechanism: Mechanism, name: str) -> None:
    """Raise an error where no frame, segment or element has this name."""
    own = [e.name for e in mechanism.elements if isinstance(e, InertialElement)]
    if name not in own:
        mechanism.frame(name)


def refusal(mechanism: Mechanism, who: str) -> str | None:
    """Return why a formulation does not take a mechanism at all, or None."""
    if uses_elements(mechanism) and who not in TAKE_ELEMENTS:
        return "the mechanism has elements"
    if who == "articulated_body" and has_coupled(mechanism):
        return "joints share a coordinate"
    if who in ("closed_form", "lagrange", "elements") and has_quaternions(mechanism):
        return "a joint has a quaternion"
    return None


def outputs_in_scope(mechanism: Mechanism, who: str, outputs: Sequence[str]) -> tuple[str, ...]:
    """Return the outputs that a formulation can give for a mechanism, as far as this decides it."""
    if uses_elements(mechanism) and who not in TAKE_ELEMENTS:
        return ()
    kinds = {constraint.kind for constraint in mechanism.constraints}
    missing: set[str] = set()
    if uses_elements(mechanism):
        missing.update(OF_JOINTS)
    elif all(segment.body.is_massless for segment in mechanism.segments):
        missing.update(REGRESSORS)
    elif mechanism.base.has_laws:
        missing.add("base_regressor")
    if not uses_elements(mechanism) and not has_passive(mechanism):
        missing.add("passive")
    if not mechanism.unknowns:
        missing.update(UNKNOWN)
    if not kinds - {"unilateral"}:
        missing.update(CONSTRAINED)
    if "unilateral" not in kinds:
        missing.update(UNILATERAL)
    if not mechanism.quasi:
        missing.update(QUASI)
    return tuple(output for output in outputs if output not in missing)


# --- refusals -------------------------------------------------------------------------------------


@contextmanager
def error_context(mechanism: Mechanism, element: str) -> Generator[None]:
    """Say which element of the mechanism is wrong where the graph alone could not know it."""
    try:
        yield
    except Error as error:
        if isinstance(error, DeriveError) and error.element is not None:
            raise
        raise DeriveError(
            error.message,
            file=error.file or mechanism.file,
            element=element,
            remedy=error.remedy or "correct its law",
        ) from error


WHOLE_BODIES = (
    *("kinetic_energy", "potential_energy", "acceleration_energy"),
    *("com", "com_velocity", "com_acceleration", "com_jacobian", "momentum"),
    *("centroidal_momentum", "centroidal_momentum_rate"),
    *("centroidal_momentum_matrix", "centroidal_momentum_matrix_rate"),
    *("reaction", "reactions", "regressor"),
)
"""What base parameters do not suffice for: it depends on what has no effect on the drives, too."""


def of_base_bodies(output: str) -> bool:
    """Whether bodies written in base parameters give an output; potentials up to a constant."""
    known = ("kinetic_energy", "potential_energy", "acceleration_energy", "regressor")
    return output in known or output not in WHOLE_BODIES


def refuse_base_bodies(mechanism: Mechanism, outputs: Sequence[str]) -> None:
    """Refuse what bodies that are written in base parameters cannot tell."""
    for output in outputs:
        if not of_base_bodies(output):
            raise DeriveError(
                f"{output} does not follow from bodies that are written in base parameters",
                file=mechanism.file,
                element=output,
                remedy="take the mechanism whose bodies have their own masses and mass centres",
            )


SHARES = ("gravity", "bias", "passive", "operational_bias")
"""What base parameters do not suffice for where springs are grouped with bodies."""


def refuse_in_base(
    mechanism: Mechanism, outputs: Sequence[str], without: Sequence[str], patterns: Sequence[str]
) -> None:
    """Refuse what a model in base parameters cannot tell; `patterns` are other free parameters."""
    for output in outputs:
        if output in WHOLE_BODIES:
            others = "derive base_regressor, or " if output == "regressor" else ""
            raise DeriveError(
                f"{output} does not follow from the base parameters",
                file=mechanism.file,
                element=output,
                remedy=f"{others}derive with parameters='numeric'",
            )
    for part in without:
        if part != "forces":
            raise DeriveError(
                f"{part} cannot be left out: they are part of the base parameters",
                file=mechanism.file,
                element="without",
                remedy="take them out of the mechanism, or give their parameters the value 0",
            )
    shares = [output for output in outputs if output in SHARES]
    mixed = mechanism.base_parameters(patterns).mixed if shares and mechanism.springs else ()
    if mixed:
        raise DeriveError(
            f"{shares[0]} does not follow from the base parameters: a spring has the effect of a "
            f"weight, {mixed[0]}",
            file=mechanism.file,
            element=shares[0],
            remedy="derive inverse_dynamics, or derive with parameters='numeric'",
        )


def refuse_quaternions(mechanism: Mechanism, who: str, instead: str) -> None:
    """Refuse joints whose coordinates are not those whose rates are qd."""
    for segment in mechanism.segments:
        if segment.joint.kind in (JointKind.SPHERICAL, JointKind.FREE):
            raise DeriveError(
                f"{who} needs qd to be the rate of q, and the {segment.joint.kind.value} joint "
                f"{segment.joint.name} has a quaternion in q and an angular velocity in qd",
                file=mechanism.file,
                element=segment.name,
                remedy=f'use {instead}, or describe the joint by angles with euler = "zyx"',
            )


def has_quaternions(mechanism: Mechanism) -> bool:
    """Whether a joint has a quaternion among its coordinates."""
    kinds = (JointKind.SPHERICAL, JointKind.FREE)
    return any(segment.joint.kind in kinds for segment in mechanism.segments)


def has_coupled(mechanism: Mechanism) -> bool:
    """Whether joints share a coordinate."""
    used = [s.coordinate for s in mechanism.segments if s.coordinate is not None]
    return len(set(used)) < len(used)


def refuse_coupled(mechanism: Mechanism, who: str, instead: str) -> None:
    """Refuse joints that share a coordinate."""
    if has_coupled(mechanism):
        leaders = {record.segment for record in mechanism.coordinate_records}
        moving = [k for k, s in enumerate(mechanism.segments) if s.coordinate is not None]
        follower = next(k for k in moving if k not in leaders)
        raise DeriveError(
            f"{who} cannot take joints that share a coordinate",
            file=mechanism.file,
            element=mechanism.segments[follower].name,
            remedy=f"use {instead}",
        )


def refuse_massless(rate: int) -> DeriveError:
    """Return the error for a freedom that no inertia resists, so that its acceleration is free."""
    return DeriveError(
        f"nothing resists qd{rate + 1}: the mass matrix is singular",
        element=f"qd{rate + 1}",
        remedy="give what this coordinate moves mass or inertia, or take the coordinate away",
    )


UNMOVED = (
    "mass_matrix",
    "coriolis",
    "coriolis_matrix",
    "metric_derivative",
    "gravity",
    "closure",
    "closure_jacobian",
)
"""What a prescribed motion of the base does not change: functions of the coordinates and rates."""


def refuse_moving_base(mechanism: Mechanism, output: str, who: str, instead: Sequence[str]) -> None:
    """Refuse an output that a prescribed motion of the base would change; `instead` can take it."""
    if not mechanism.base.is_moving:
        return
    choices = " or ".join(f'formulation="{name}"' for name in instead)
    raise DeriveError(
        f"{who} has no place for a base that moves as prescribed in {output}",
        file=mechanism.file,
        element="base",
        remedy=f"{f'use {choices}, or ' if choices else ''}put joints between the ground and the "
        "first body, with the motion as q, qd and qdd",
    )


def refuse_base_without_laws(mechanism: Mechanism, output: str) -> None:
    """Refuse elements on a base whose motion does not follow from its place, a law of time."""
    raise DeriveError(
        f"elements cannot take a base with given velocities or accelerations in {output}",
        file=mechanism.file,
        element="base",
        remedy="give its position, and rpy or quaternion, as laws of t: the rest follows from them",
    )
