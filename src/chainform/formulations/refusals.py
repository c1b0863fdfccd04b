"""What a method cannot take, said so that the user knows what to do instead."""

from __future__ import annotations

from chainform.errors import DeriveError
from chainform.mechanism import JointKind, Mechanism


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


def refuse_coupled(mechanism: Mechanism, who: str, instead: str) -> None:
    """Refuse joints that share a coordinate."""
    seen: set[int] = set()
    for segment in mechanism.segments:
        if segment.coordinate is None:
            continue
        if segment.coordinate in seen:
            raise DeriveError(
                f"{who} cannot take joints that share a coordinate",
                file=mechanism.file,
                element=segment.name,
                remedy=f"use {instead}",
            )
        seen.add(segment.coordinate)
