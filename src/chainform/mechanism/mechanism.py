"""The mechanism with the ways to build and to change it: the top of the room."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from chainform.display import Displayed, Records
from chainform.given import counted
from chainform.mechanism.additions import with_forces, with_frame, with_payload
from chainform.mechanism.builder import BuilderMethods
from chainform.mechanism.data import MechanismData
from chainform.mechanism.description import describe
from chainform.mechanism.dynamic_parameters import DynamicParameter, dynamic_parameters_of
from chainform.mechanism.element_conversion import as_elements
from chainform.mechanism.numbers import NumberLike
from chainform.mechanism.parametrisation import Choice, parametrise
from chainform.mechanism.subtree import subtree

if TYPE_CHECKING:
    from chainform.mechanism.base_parameters import BaseParameters


@dataclass(frozen=True, slots=True, repr=False)
class Mechanism(MechanismData):
    """A checked mechanism. Whoever receives one need not check it again."""

    @staticmethod
    def builder(
        name: str = "mechanism", gravity: Sequence[object] = (0, 0, "-9.81")
    ) -> MechanismBuilder:
        """Return an empty builder whose methods speak the vocabulary of the native file."""
        return MechanismBuilder(name, gravity)

    @classmethod
    def of(cls, data: MechanismData) -> Mechanism:
        """Return checked data as a mechanism."""
        if isinstance(data, Mechanism):
            return data
        return cls(**{field.name: getattr(data, field.name) for field in fields(data)})

    def with_frame(
        self,
        name: str,
        segment: str,
        point: Sequence[NumberLike] = (0, 0, 0),
        rotation: Sequence[Sequence[NumberLike]] | None = None,
    ) -> Mechanism:
        """Return the mechanism with one more named frame on a segment or on `ground`.

        `point` (m) and `rotation` place it in the axes of that body; numbers may be expressions of
        the mechanism's parameters, those of the rotation of bound ones only.
        """
        return Mechanism.of(with_frame(self, name, segment, point, rotation))

    def with_payload(
        self,
        segment: str,
        mass: NumberLike,
        com: Sequence[NumberLike] = (0, 0, 0),
        inertia: Sequence[object] | Mapping[str, NumberLike] | None = None,
        name: str = "payload",
    ) -> Mechanism:
        """Return the mechanism with one more body, fixed to a segment in the frame of that segment.

        `com` (m) and `inertia` (about the mass centre, kg m^2) are in the axes of the segment.
        """
        return Mechanism.of(with_payload(self, segment, (mass, com, inertia), name))

    def with_forces(self, forces: Mapping[str, object]) -> Mechanism:
        """Return the mechanism with more generalised forces, each on the coordinate it is given by.

        A force is a law, as in {"elbow": "2*t - 3*der(elbow)"}, a list of pieces {until, law} in
        the order of time, or a table of a native file. They act on the mechanism like a drive.
        """
        return Mechanism.of(with_forces(self, forces))

    def as_elements(self) -> Mechanism:
        """Return the same mechanism written as elements, without segments.

        Every segment becomes a body on a frame chain; springs, friction and rotors become elements,
        too. Joints with a quaternion are refused; loops are left out, and a note says so.
        """
        return Mechanism.of(as_elements(self))

    def subtree(self, root: str | None = None, tips: Sequence[str] | None = None) -> Mechanism:
        """Return the part between a segment `root`, which becomes the ground, and `tips`.

        Without a root the part begins at the ground, without tips it goes on to all ends. The root
        stands in the world as it does in the zero pose; its own mass is left out, since nothing
        moves it. Loops and frames stay when they lie on the part.
        """
        return Mechanism.of(subtree(self, root, tips))

    def dynamic_parameters(self, without: Collection[str] = ()) -> tuple[DynamicParameter, ...]:
        """Return the parameters in which inverse dynamics is linear, with names and exact values.

        Their order is that of the columns of the output `regressor`: ten for each body with
        inertia (m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of its frame), then
        friction, rotors and springs, which `without` leaves out ("friction", "rotors", "springs").
        """
        return Records(dynamic_parameters_of(self, without))

    def base_parameters(
        self, parameters: Choice = "numeric", without: Collection[str] = ()
    ) -> BaseParameters:
        """Return the fewest combinations of dynamic parameters that inverse dynamics depends on.

        The result has names, formulas, exact values, and the parameters without effect. They are
        the columns of the output `base_regressor`. `parameters` says which lengths and which
        other numbers are symbols in the formulas, as in `derive`.
        """
        # Exact fields need a library that nothing else here waits for.
        from chainform.mechanism.base_parameters import base_parameters_of

        return base_parameters_of(parametrise(self, parameters), without)

    def describe(self, *, short: bool = False) -> dict[str, Any]:
        """Return the mechanism as plain data: `chainform check --json` prints them.

        `mechanism` has the table of a native file; all else is computed: indices and units of
        coordinates and rates, the total mass, notes. Numbers are ints and floats where these are
        exact, else texts, and `values` has the doubles of those. With `short` all numbers are
        texts for people, of 15 digits at most.
        """
        return describe(self, short=short)


class MechanismBuilder(BuilderMethods, Displayed):
    """Collects the parts of a mechanism and checks all of it in `build`.

    Numbers are int, float (meaning its shortest decimal), Fraction, Decimal or a text: a decimal or
    an expression of parameters. Lengths are in m, masses in kg, angles in rad. Every method returns
    the builder, so calls can be chained.
    """

    def __repr__(self) -> str:
        return f"<MechanismBuilder {self._name}: {counted(len(self._segments), 'segment')}>"

    def build(self) -> Mechanism:
        """Return the checked mechanism, its segments numbered parents first."""
        return Mechanism.of(self.data())
