"""Mechanisms: segments, joints, bodies, coordinates, parameters, loops, and the rules they obey."""

from chainform.mechanism.actuators import Actuator
from chainform.mechanism.additions import law_reader, reader_of
from chainform.mechanism.builder import MechanismBuilder
from chainform.mechanism.checks import lacks_inertia, names_in
from chainform.mechanism.closing import closed_pose
from chainform.mechanism.describe import Description
from chainform.mechanism.elements.types import Definition
from chainform.mechanism.forces import Force, Piece
from chainform.mechanism.mechanism import AT_REST, DEFAULT_GRAVITY, Mechanism
from chainform.mechanism.numbers import NumberLike, number_of
from chainform.mechanism.parametrise import automatic_parameters, parametrise, with_named_numbers
from chainform.mechanism.pose import Poses, poses_of
from chainform.mechanism.types import (
    GROUND,
    IDENTITY,
    ONE,
    ZERO,
    ZERO_MATRIX,
    ZERO_VECTOR,
    Attachment,
    Axis,
    BaseMotion,
    Body,
    Coordinate,
    Frame,
    Friction,
    Joint,
    JointKind,
    Limits,
    Loop,
    Matrix3,
    Note,
    Number,
    Parameter,
    Rotation,
    Segment,
    Spring,
    Vector3,
)

__all__ = [
    "AT_REST",
    "DEFAULT_GRAVITY",
    "GROUND",
    "IDENTITY",
    "ONE",
    "ZERO",
    "ZERO_MATRIX",
    "ZERO_VECTOR",
    "Actuator",
    "Attachment",
    "Axis",
    "BaseMotion",
    "Body",
    "Coordinate",
    "Definition",
    "Description",
    "Force",
    "Frame",
    "Friction",
    "Joint",
    "JointKind",
    "Limits",
    "Loop",
    "Matrix3",
    "Mechanism",
    "MechanismBuilder",
    "Note",
    "Number",
    "NumberLike",
    "Parameter",
    "Piece",
    "Poses",
    "Rotation",
    "Segment",
    "Spring",
    "Vector3",
    "automatic_parameters",
    "closed_pose",
    "reader_of",
    "lacks_inertia",
    "law_reader",
    "names_in",
    "number_of",
    "parametrise",
    "poses_of",
    "with_named_numbers",
]
