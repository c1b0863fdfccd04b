"""The data of a mechanism: a tree of segments, numbered parents first, with loops laid over it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import Error
from chainform.given import Given
from chainform.mechanism.components import (
    Actuator,
    Constraint,
    Definition,
    Element,
    InertialElement,
    QuasiVelocity,
)
from chainform.mechanism.records import (
    GROUND,
    ZERO,
    BaseMotion,
    Coordinate,
    Force,
    Frame,
    Loop,
    Note,
    Parameter,
    Segment,
    Spring,
    Vector3,
)

DEFAULT_GRAVITY: tuple[Fraction, Fraction, Fraction] = (ZERO, ZERO, Fraction("-9.81"))
"""Gravity in world axes by default, m/s^2: z points up."""

RATE_LETTERS = ("qd", "qdd", "tau")
"""What a number is put after to mean a rate: qd3, qdd3, tau3."""

AT_REST = BaseMotion()
"""A base that stands still in the world frame."""


@dataclass(frozen=True, slots=True)
class MechanismData(Displayed):
    """What a mechanism consists of, and what can be read off it; `Mechanism` adds the changes.

    `gravity` is the acceleration of free fall in world axes (m/s^2), so (0, 0, -9.81) when z points
    up. `coordinate_records` stand in the order of q, `rate_records` in that of qd; they differ if a
    joint has a quaternion. `frames` are named frames besides those of the segments, `forces`
    generalised forces given by laws of coordinates, rates and time; `actuators` stand in the order
    of their states in x and their signals in u. `elements` stand next to the
    segments or instead of them, `unknowns` are the forces in them that are to be found, and
    `definitions` names for laws; `constraints` bind coordinates and rates, and `quasi` are the
    quasi-velocities chosen for what they leave free. `notes` were
    collected while the mechanism was built. `file` and `source` are the file it was read from and
    its bytes, None for a built one; `source` is None for a changed one, too.
    """

    name: str
    segments: tuple[Segment, ...]
    coordinate_records: tuple[Coordinate, ...] = ()
    rate_records: tuple[Coordinate, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    gravity: Vector3 = DEFAULT_GRAVITY
    base: BaseMotion = AT_REST
    loops: tuple[Loop, ...] = ()
    frames: tuple[Frame, ...] = ()
    springs: tuple[Spring, ...] = ()
    forces: tuple[Force, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    elements: tuple[Element, ...] = ()
    unknowns: tuple[str, ...] = ()
    definitions: tuple[Definition, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    quasi: tuple[QuasiVelocity, ...] = ()
    notes: tuple[Note, ...] = ()
    file: str | None = None
    source: bytes | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        counts = {"freedom": self.nv, "segment": len(self.segments), "loop": len(self.loops)}
        counts |= {"element": len(self.elements), "actuator": len(self.actuators)}
        words = [f"{n} {word}{'s' if n > 1 else ''}" for word, n in counts.items() if n]
        return f"<Mechanism {self.name}: {', '.join(words)}>"

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates in the order of q."""
        return tuple(record.name for record in self.coordinate_records)

    @property
    def rates(self) -> tuple[str, ...]:
        """The names of the rates in the order of qd, qdd and tau."""
        return tuple(record.name for record in self.rate_records)

    @property
    def nq(self) -> int:
        """The length of q."""
        return len(self.coordinate_records)

    @property
    def nv(self) -> int:
        """The length of qd, qdd and tau; less than `nq` where a joint has a quaternion."""
        return len(self.rate_records)

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states of all actuators in the order of x: shoulder.current."""
        return tuple(name for actuator in self.actuators for name in actuator.state_names)

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of the signals of the actuators in the order of u: shoulder.voltage."""
        return tuple(f"{actuator.name}.{actuator.signal}" for actuator in self.actuators)

    @property
    def quaternions(self) -> tuple[slice, ...]:
        """Where the quaternions stand in q, in the order of the segments."""
        ends = (
            s.coordinate + s.joint.kind.coordinates
            for s in self.segments
            if s.coordinate is not None and s.joint.kind.has_quaternion
        )
        return tuple(slice(end - 4, end) for end in ends)

    @property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each segment the indices of the segments it carries, in growing order."""
        rows: list[list[int]] = [[] for _ in self.segments]
        for index, segment in enumerate(self.segments):
            if segment.parent != GROUND:
                rows[segment.parent].append(index)
        return tuple(tuple(row) for row in rows)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The names of all frames: of the file, of segments, of elements, and the ground."""
        elements = (e.name for e in self.elements if isinstance(e, InertialElement))
        named = (*self.frames, *self.segments)
        return (*(one.name for one in named), *elements, "ground")

    @property
    def body_names(self) -> tuple[str, ...]:
        """The names of the segments, then of bodies and points among the elements."""
        elements = (e for e in self.elements if isinstance(e, InertialElement))
        own = (e.name for e in elements if e.kind != "frame")
        return (*(segment.name for segment in self.segments), *own)

    def frame(self, name: str) -> Frame:
        """Return a named frame; the name of a segment stands for the frame of its body."""
        for frame in self.frames:
            if frame.name == name:
                return frame
        for index, segment in enumerate(self.segments):
            if segment.name == name:
                return Frame(name, index)
        if name == "ground":
            return Frame(name, GROUND)
        known = [frame.name for frame in self.frames] + [segment.name for segment in self.segments]
        raise self._given(name).unknown("frame or segment named", known)

    def path_to(self, segment: int) -> tuple[int, ...]:
        """Return the segments from the base to `segment`, both ends included; () for the ground."""
        path: list[int] = []
        while segment != GROUND:
            path.append(segment)
            segment = self.segments[segment].parent
        return tuple(reversed(path))

    def coordinate_index(self, name: str) -> int:
        """Return the index into q of a coordinate given by its name or as `q1` ... `qn`.

        A coordinate that bears such a name itself comes first.
        """
        index = _index_of(name, self.coordinates, ("q",))
        if index is None:
            raise self._given(name).unknown("coordinate named", self.coordinates)
        return index

    def rate_index(self, name: str) -> int:
        """Return the index into qd, qdd and tau of a rate given by its name.

        `qd3`, `qdd3` and `tau3` mean the third, and so does `q3` while q and qd have one order.
        """
        letters = (*RATE_LETTERS, "q") if self.nq == self.nv else RATE_LETTERS
        index = _index_of(name, self.rates, letters)
        if index is None:
            raise self._given(name).unknown("rate named", self.rates)
        return index

    def permutation(self, names: Sequence[str]) -> NDArray[np.intp]:
        """Return the index array p with `other = q[p]`, for a tool whose order is `names`.

        With our order (a, b, c) and names = ["c", "a", "b"] the result is [2, 0, 1]: the tool's
        vector of q = [1, 2, 3] is q[p] = [3, 1, 2]. The way back is `q = other[np.argsort(p)]`.

        Names of rates give the array for qd, qdd and tau, and for rows and columns of a matrix:
        H[np.ix_(p, p)]. Joints without a quaternion have the same names in q and in qd, so where
        all joints are such one array serves for both.
        """
        for known, letters in ((self.coordinates, ("q",)), (self.rates, RATE_LETTERS)):
            indices = [_index_of(name, known, letters) for name in names]
            if set(indices) == set(range(len(known))) and len(indices) == len(known):
                return np.array(indices, dtype=np.intp)
        raise self._no_order(names)

    def neutral(self) -> NDArray[np.float64]:
        """Return q of the zero pose: zeros, and 0 0 0 1 for every quaternion."""
        q = np.zeros(self.nq)
        for quaternion in self.quaternions:
            q[quaternion.stop - 1] = 1.0
        return q

    def _no_order(self, names: Sequence[str]) -> Error:
        """Return the error for names that are an order neither of q nor of qd."""
        is_rates = any(
            _index_of(name, self.coordinates, ("q",)) is None
            and _index_of(name, self.rates, RATE_LETTERS) is not None
            for name in names
        )
        kind, known = ("rate", self.rates) if is_rates else ("coordinate", self.coordinates)
        letters = RATE_LETTERS if is_rates else ("q",)
        for name in names:
            if _index_of(name, known, letters) is None:
                return self._given(name).unknown(f"{kind} named", known)
        message = f"{len(names)} names are not an order of the {len(known)} {kind}s"
        remedy = "give each of these names once: " + ", ".join(known)
        return self._given(names).error(message, remedy)

    def _given(self, value: object) -> Given:
        return Given(value, self.name, self.file)


def _index_of(name: object, names: Sequence[str], letters: Sequence[str]) -> int | None:
    """Return the index of a name; a letter and a number from 1 stand for an index as well."""
    if not isinstance(name, str):
        return None
    if name in names:
        return names.index(name)
    match = re.fullmatch(r"([a-z]+)([1-9][0-9]{0,6})", name)
    if match and match[1] in letters and int(match[2]) <= len(names):
        return int(match[2]) - 1
    return None
