"""The dynamic parameters of a mechanism: numbers in which its inverse dynamics is linear.

Each body with inertia has ten, about the origin of the frame of its segment and in its axes:

    m   mx my mz   Ixx Ixy Iyy Ixz Iyz Izz        h = m c,  I = I_c + m (c.c - c c^T)

with the mass m, the mass centre c and the inertia I_c about it. The order is Pinocchio's. Behind
them stand those of friction, rotors and springs that the mechanism has:

    viscous_2 coulomb_2 rotor_2       of the joint of segment 2; the rotor before its gear
    stiffness_1 preload_1 damping_1   of the first spring; preload: stiffness times rest length

Segments and springs are numbered from 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from chainform.display import Displayed
from chainform.errors import DeriveError, RunError
from chainform.given import Given
from chainform.mechanism.data import MechanismData
from chainform.mechanism.numbers import difference, product_of, sum_of
from chainform.mechanism.records import ONE, ZERO, ZERO_MATRIX, ZERO_VECTOR, Body, Number
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    dot,
    matrix,
    product,
    scale,
    transpose,
    unit,
)

INERTIAL = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""The parameters of a body in their order."""
PAIRS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""Rows and columns of the inertia in this order."""

_UNITS = {
    "m": "kg",
    **dict.fromkeys(("mx", "my", "mz"), "kg m"),
    "viscous": "N m s",
    "coulomb": "N m",
    "stiffness": "N/m",
    "preload": "N",
    "damping": "N s/m",
}


@dataclass(frozen=True, slots=True, repr=False)
class DynamicParameter(Displayed):
    """One parameter: what it is (`m`, `Ixy`, `viscous`, ...), and of which segment or spring."""

    kind: str
    place: int
    """The index of the segment or spring, from 0."""
    value: Number

    @property
    def name(self) -> str:
        """Its name: Ixy_2 of the second segment."""
        return f"{self.kind}_{self.place + 1}"

    @property
    def unit(self) -> str:
        """Its unit; that of a turning joint where joints of both kinds have it."""
        return _UNITS.get(self.kind, "kg m^2")

    @property
    def is_inertial(self) -> bool:
        """Whether it belongs to a body."""
        return self.kind in INERTIAL

    @property
    def is_passive(self) -> bool:
        """Whether it is one of friction or of a spring; rotors are in the mass matrix."""
        return not self.is_inertial and self.kind != "rotor"

    def __float__(self) -> float:
        if isinstance(self.value, Fraction):
            return float(self.value)
        raise RunError(
            f"{self.name} is an expression of parameters",
            element=self.name,
            remedy='give the parameters numbers: parametrise(mechanism, "numeric")',
        )


def dynamic_parameters_of(
    mechanism: MechanismData, without: Collection[str] = ()
) -> tuple[DynamicParameter, ...]:
    """Return the parameters in the order of the columns of the regressor.

    `without` leaves out "friction", "rotors" or "springs"; "forces" are in no parameter.
    """
    for part in without:
        Given(part, "without", raises=DeriveError).choice(
            ("friction", "springs", "rotors", "forces"), "part"
        )
    if mechanism.elements or not mechanism.segments:
        raise DeriveError(
            "dynamic parameters are those of segments and joints, and the mechanism has elements",
            file=mechanism.file,
            element="elements",
            remedy="describe the bodies as segments with joints",
        )
    bodies = tuple(_of_bodies(mechanism))
    if not bodies:
        raise DeriveError(
            "no body has a mass or inertia, so there are no dynamic parameters",
            file=mechanism.file,
            element="segments",
            remedy="give the bodies that may have inertia a mass: a number, or a free parameter",
        )
    return (*bodies, *_of_joints(mechanism, without), *_of_springs(mechanism, without))


def _of_bodies(mechanism: MechanismData) -> Iterator[DynamicParameter]:
    for j, segment in enumerate(mechanism.segments):
        if not segment.body.is_massless:
            for kind, value in zip(INERTIAL, about_origin(segment.body), strict=True):
                yield DynamicParameter(kind, j, value)


def _of_joints(mechanism: MechanismData, without: Collection[str]) -> Iterator[DynamicParameter]:
    for j, segment in enumerate(mechanism.segments):
        friction = segment.joint.friction
        if friction is not None and segment.rate is not None and "friction" not in without:
            for kind, value in (("viscous", friction.viscous), ("coulomb", friction.coulomb)):
                if value != ZERO:
                    yield DynamicParameter(kind, j, value)
    for j, segment in enumerate(mechanism.segments):
        rotor = segment.joint.rotor_inertia
        if rotor != ZERO and segment.rate is not None and "rotors" not in without:
            yield DynamicParameter("rotor", j, rotor)


def _of_springs(mechanism: MechanismData, without: Collection[str]) -> Iterator[DynamicParameter]:
    for j, spring in enumerate(mechanism.springs if "springs" not in without else ()):
        preload = ZERO if spring.rest == ZERO else product_of(spring.stiffness, spring.rest)
        preload = sum_of(preload, spring.preload)
        values = (spring.stiffness, preload, spring.damping)
        for kind, value in zip(("stiffness", "preload", "damping"), values, strict=True):
            if value != ZERO:
                yield DynamicParameter(kind, j, value)


def about_origin(body: Body) -> tuple[Number, ...]:
    """Return the ten parameters of a body."""
    mass, c = body.mass, body.com
    moment = tuple(sum_of(product_of(mass, c[i]), body.moment[i]) for i in range(3))
    across = tuple(product_of(mass, product_of(c[i], c[k])) for i, k in PAIRS)
    xx, xy, yy, xz, yz, zz = across
    shift = (sum_of(yy, zz), xy, sum_of(xx, zz), xz, yz, sum_of(xx, yy))
    signs = (sum_of, difference, sum_of, difference, difference, sum_of)
    inertia = tuple(
        sign(body.inertia[i][k], moved)
        for (i, k), sign, moved in zip(PAIRS, signs, shift, strict=True)
    )
    return (mass, *moment, *inertia)


def body_of(values: tuple[Number, ...]) -> Body:
    """Return the body with these ten parameters; its first moment is given as it is."""
    mass, x, y, z, xx, xy, yy, xz, yz, zz = values
    inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    return Body(mass, ZERO_VECTOR, inertia, (x, y, z))


# --- in other frames ------------------------------------------------------------------------------


def unit_inertia(kind: str) -> tuple[Fraction, Vector, Matrix]:
    """Return mass, first moment and inertia of a body whose only parameter is one of these."""
    index = INERTIAL.index(kind)
    if index == 0:
        return ONE, ZERO_VECTOR, ZERO_MATRIX
    if index <= len(ZERO_VECTOR):
        return ZERO, unit(index - 1, ONE, ZERO), ZERO_MATRIX
    pair = set(PAIRS[index - 4])
    return ZERO, ZERO_VECTOR, matrix(lambda i, k: ONE if {i, k} == pair else ZERO)


def moved_inertia(
    mass: Any, moment: Vector, inertia: Matrix, rotation: Matrix, position: Vector
) -> tuple[Any, Vector, Matrix]:
    """Return mass, first moment and inertia about the origin of a frame outside, in its axes.

    The frame of the body stands there at `position`, and `rotation` turns its axes into those.
    """
    h, p = apply(rotation, moment), position
    turned = product(product(rotation, inertia), transpose(rotation))
    size = 2 * dot(h, p) + mass * dot(p, p)

    def entry(i: int, k: int) -> Any:
        shift = h[i] * p[k] + p[i] * h[k] + mass * (p[i] * p[k])
        return turned[i][k] + (size if i == k else 0) - shift

    return mass, add(h, scale(mass, p)), matrix(entry)
