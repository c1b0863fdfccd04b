"""Choose which numbers of a mechanism stay symbols: numeric, symbolic or a list of names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar, cast

from chainform.errors import DeriveError
from chainform.expressions import Expression, Identifier, substitute, symbols_of, value_of
from chainform.given import Given, near
from chainform.mechanism.base import mapped_base
from chainform.mechanism.checks import constant_parts, names_in
from chainform.mechanism.components import Element, InertialElement
from chainform.mechanism.data import MechanismData
from chainform.mechanism.exact import square_root
from chainform.mechanism.numbers import product_of_ratio, with_numbers
from chainform.mechanism.records import (
    ZERO,
    Attachment,
    Body,
    Force,
    ForcePiece,
    Joint,
    Matrix3,
    Number,
    Parameter,
    Segment,
    Spring,
    Vector3,
)

Choice: TypeAlias = str | Sequence[str]
"""`numeric`, `symbolic`, `base`, or a list of glob patterns such as ["m_*", "g"]."""

Described = TypeVar("Described", bound=MechanismData)

BASE = "base"
"""The choice, and the entry of a list, that stands for the base parameters."""

GRAVITY = "g"
"""The automatic parameter for the size of gravity (m/s^2)."""

_UNITS = {"m": "kg", "com": "m", "d": "m", "I": "kg m^2", GRAVITY: "m/s^2"}


def parametrise(mechanism: Described, parameters: Choice) -> Described:
    """Return the mechanism with the chosen numbers as parameters and all others as numbers.

    `numeric`: expressions with known values become numbers; parameters without a value stay.
    `symbolic`: every non-zero mass, mass-centre, inertia and position component and the size of
    gravity becomes a parameter that keeps its value: m_2, com_2_x, I_2_xy, d_2_z, g, numbered by
    segment from 1; inertial elements, numbered after the segments, have m, com and I. Expressions
    keep their own names; zeros, axes, rotations, the offsets of coupled joints and the points of
    loops and frames stay numbers. A list of patterns keeps the names that match and makes the rest
    numeric. A parameter that became a number in an axis, a rotation or a ratio when the file was
    read does not stay: another value would count elsewhere only. Listed by its name it is refused.

    `base`, alone or in a list, makes the base parameters of the mechanism free, with its own values
    of them: bodies, friction, rotors and springs are then written in them (base_parameters.py).
    Lengths and gravity stay numbers unless the list names them: ["base", "d_*", "g"].

    The result lists exactly the parameters that occur in it.
    """
    patterns = _patterns_of(parameters)
    if in_base(mechanism, patterns):
        # Exact fields need a library that other choices do not wait for.
        from chainform.mechanism.base_parameters import in_base_parameters

        patterns = tuple(pattern for pattern in patterns if pattern != BASE)
        result = in_base_parameters(parametrise(mechanism, patterns))
        _check_grouped(patterns, result)
        return result
    automatic = automatic_parameters(mechanism)
    if patterns:
        _check_clash(mechanism, automatic, patterns)
    if not isinstance(parameters, str):
        _check_patterns(patterns, mechanism, automatic)
        _check_fixed(patterns, mechanism)
    return _Rewriting(mechanism, patterns, automatic).result()


def in_base(mechanism: MechanismData, parameters: Choice) -> bool:
    """Tell whether a choice of parameters means the base parameters of a mechanism.

    A parameter of its own that is called `base` is meant where there is one.
    """
    names = [parameters] if isinstance(parameters, str) else parameters
    return BASE in names and BASE not in names_in(mechanism)


def _patterns_of(parameters: object) -> tuple[str, ...]:
    """Return the patterns of names that stay: all, none, or those that are listed."""
    given = Given(parameters, "parameters", raises=DeriveError)
    if isinstance(parameters, str):
        remedy = "use 'numeric', 'symbolic', 'base' or a list of patterns such as ['m_*', 'g']"
        choice = given.choice(("numeric", "symbolic", BASE), "choice of parameters", remedy)
        return {"symbolic": ("*",), BASE: (BASE,)}.get(choice, ())
    if isinstance(parameters, Collection):
        given = given.holding(list(cast("Collection[object]", parameters)))
    return tuple(entry.text("write ['m_*', 'g']") for entry in given.entries())


def with_named_numbers(mechanism: Described, names: Sequence[str]) -> Described:
    """Return the mechanism with some of its numbers as parameters, by their automatic names.

    Its own parameters stay as they are, in their order and before these, even where no number
    names them: a law that comes later may.
    """
    automatic = automatic_parameters(mechanism)
    _check_clash(mechanism, automatic, names)
    named = _Rewriting(replace(mechanism, parameters=()), tuple(names), automatic).result()
    return replace(named, parameters=(*mechanism.parameters, *named.parameters))


def automatic_parameters(mechanism: MechanismData) -> dict[str, Fraction]:
    """Return the names that `symbolic` gives to the non-zero numbers, with their values."""
    values: dict[str, Fraction] = {}

    def collect(name: str, value: Number) -> Number:
        if isinstance(value, Fraction) and value != 0:
            values.setdefault(name, value)
        return value

    for index, segment in enumerate(mechanism.segments, 1):
        _rewritten_segment(segment, index, collect, lambda value: value)
    _rewritten_elements(mechanism, collect, lambda value: value)
    size = _size_of_gravity(mechanism)
    if size:
        values[GRAVITY] = size
    return values


def _size_of_gravity(mechanism: MechanismData) -> Fraction:
    """Return the norm of the known components of gravity: exact, else the nearest double."""
    known = [component for component in mechanism.gravity if isinstance(component, Fraction)]
    square = sum((component**2 for component in known), ZERO)
    root = square_root(square) if square else ZERO
    return root if root**2 == square else Fraction(float(root))


def _check_clash(
    mechanism: MechanismData, automatic: Mapping[str, Fraction], patterns: Sequence[str]
) -> None:
    """Refuse a name that would be given to a number and means something else already."""
    taken = {p.name: "parameter" for p in mechanism.parameters if p.name in names_in(mechanism)}
    if mechanism.elements:
        # Here numbers and laws stand side by side, so that a name can mean one thing only.
        taken |= dict.fromkeys((*mechanism.coordinates, *mechanism.rates), "coordinate")
        taken |= dict.fromkeys(mechanism.unknowns, "unknown force")
        taken |= {definition.name: "definition" for definition in mechanism.definitions}
    for name, kind in taken.items():
        if name in automatic and any(fnmatchcase(name, pattern) for pattern in patterns):
            raise DeriveError(
                f"the {kind} {name!r} has the name that is given to a number",
                file=mechanism.file,
                element=f"{kind} {name!r}",
                remedy=f"rename the {kind} in the file, or derive with parameters='numeric'",
            )


def _check_patterns(
    patterns: Iterable[str], mechanism: MechanismData, automatic: Mapping[str, Fraction]
) -> None:
    used = names_in(mechanism)
    names = [p.name for p in mechanism.parameters if p.name in used] + list(automatic)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise DeriveError(
                f"no parameter matches {pattern!r}",
                file=mechanism.file,
                element="parameters",
                remedy=near(pattern, names, 3) + "the names are " + (", ".join(names) or "none"),
            )


def _check_grouped(patterns: Iterable[str], mechanism: MechanismData) -> None:
    """Refuse names of what the base parameters stand for."""
    for pattern in patterns:
        if not any(fnmatchcase(p.name, pattern) for p in mechanism.parameters):
            raise DeriveError(
                f"what matches {pattern!r} is part of the base parameters",
                file=mechanism.file,
                element="parameters",
                remedy="leave it out: masses, inertia, friction and springs are written in these",
            )


def _check_fixed(patterns: Iterable[str], mechanism: MechanismData) -> None:
    known = {parameter.name: parameter for parameter in mechanism.parameters}
    for pattern in patterns:
        if pattern in known and known[pattern].fixed_in:
            raise DeriveError(
                f"{pattern} became a number when the file was read, in {known[pattern].fixed_in}",
                file=mechanism.file,
                element="parameters",
                remedy="change its value in the file: axes, rotations and ratios stay numbers",
            )


_Named: TypeAlias = Callable[[str, Number], Number]
_Plain: TypeAlias = Callable[[Number], Number]


class _Rewriting(Generic[Described]):
    """Rewrites every number of one mechanism; `patterns` say which names stay free."""

    def __init__(
        self,
        mechanism: Described,
        patterns: tuple[str, ...],
        automatic: Mapping[str, Fraction],
    ) -> None:
        self.mechanism = mechanism
        self.patterns = patterns
        self.automatic = automatic
        self.fixed = {
            parameter.name: parameter.value
            for parameter in mechanism.parameters
            if parameter.value is not None
            and (parameter.fixed_in or not self.is_free(parameter.name))
        }

    def is_free(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.patterns)

    def plain(self, value: Number) -> Number:
        """Put numbers for the parameters that do not stay; fold what has no names any more."""
        if isinstance(value, Fraction):
            return value
        reduced: Expression = substitute(value, self.fixed)
        return reduced if symbols_of(reduced) else value_of(reduced)

    def named(self, name: str, value: Number) -> Number:
        """Put the symbol `name` for a non-zero number when that name stays free."""
        if isinstance(value, Fraction) and value != 0 and self.is_free(name):
            return Identifier(name)
        return self.plain(value)

    def gravity(self) -> Vector3:
        """Write the known components as g times their direction, exactly."""
        x, y, z = self.mechanism.gravity
        size = self.automatic.get(GRAVITY)
        if size is None or not self.is_free(GRAVITY):
            return (self.plain(x), self.plain(y), self.plain(z))

        def component(value: Number) -> Number:
            if isinstance(value, Fraction):
                return product_of_ratio(Identifier(GRAVITY), value / size)
            return self.plain(value)

        return (component(x), component(y), component(z))

    def result(self) -> Described:
        mechanism, plain = self.mechanism, self.plain
        for part in constant_parts(mechanism, self.fixed):
            part.check(self.fixed, mechanism.file)
        changed = replace(
            mechanism,
            segments=tuple(
                _rewritten_segment(segment, index, self.named, plain)
                for index, segment in enumerate(mechanism.segments, 1)
            ),
            gravity=self.gravity(),
            base=mapped_base(mechanism.base, plain),
            loops=tuple(
                replace(
                    loop,
                    closing=_end(loop.closing, plain),
                    target=_end(loop.target, plain),
                    length=None if loop.length is None else plain(loop.length),
                )
                for loop in mechanism.loops
            ),
            frames=tuple(
                replace(frame, point=_mapped(frame.point, plain)) for frame in mechanism.frames
            ),
            springs=tuple(_rewritten_spring(spring, plain) for spring in mechanism.springs),
            forces=tuple(_rewritten_force(force, plain) for force in mechanism.forces),
            actuators=tuple(actuator.mapped(plain) for actuator in mechanism.actuators),
            elements=_rewritten_elements(mechanism, self.named, plain),
            definitions=with_numbers(mechanism.definitions, plain),
            constraints=with_numbers(mechanism.constraints, plain),
            quasi=with_numbers(mechanism.quasi, plain),
        )
        used = names_in(changed)
        declared = (parameter for parameter in mechanism.parameters if parameter.name in used)
        made = (
            Parameter(name, value, _UNITS[name.split("_")[0]])
            for name, value in self.automatic.items()
            if name in used
        )
        return replace(changed, parameters=(*declared, *made))


def _mapped(vector: Vector3, change: _Plain) -> Vector3:
    return (change(vector[0]), change(vector[1]), change(vector[2]))


def _end(attachment: Attachment, change: _Plain) -> Attachment:
    return replace(attachment, point=_mapped(attachment.point, change))


def _rewritten_spring(spring: Spring, plain: _Plain) -> Spring:
    ends = spring.ends
    return replace(
        spring,
        stiffness=plain(spring.stiffness),
        rest=plain(spring.rest),
        damping=plain(spring.damping),
        preload=plain(spring.preload),
        ends=None if ends is None else (_end(ends[0], plain), _end(ends[1], plain)),
    )


def _rewritten_force(force: Force, plain: _Plain) -> Force:
    pieces = (
        ForcePiece(
            plain(piece.law),
            None if piece.start is None else plain(piece.start),
            None if piece.until is None else plain(piece.until),
        )
        for piece in force.pieces
    )
    return replace(force, pieces=tuple(pieces))


def _rewritten_elements(
    mechanism: MechanismData, named: _Named, plain: _Plain
) -> tuple[Element, ...]:
    """Return the elements with every number changed; their numbers follow those of segments."""
    first = len(mechanism.segments) + 1
    return tuple(
        _rewritten_element(element, number, named, plain)
        for number, element in enumerate(mechanism.elements, first)
    )


def _rewritten_element(element: Element, number: int, named: _Named, plain: _Plain) -> Element:
    changed = with_numbers(element, plain)
    if not isinstance(element, InertialElement) or not isinstance(changed, InertialElement):
        return changed
    return replace(
        changed,
        mass=named(f"m_{number}", element.mass),
        com=_named_vector(element.com, f"com_{number}", named),
        inertia=_named_inertia(element.inertia, f"I_{number}", named),
    )


def _rewritten_segment(segment: Segment, number: int, named: _Named, plain: _Plain) -> Segment:
    """Return the segment with every number changed; `number` is 1-based and stands in the names."""
    body = segment.body
    return replace(
        segment,
        joint=_rewritten_joint(segment.joint, plain),
        position=_named_vector(segment.position, f"d_{number}", named),
        offset=plain(segment.offset),
        body=Body(
            named(f"m_{number}", body.mass),
            _named_vector(body.com, f"com_{number}", named),
            _named_inertia(body.inertia, f"I_{number}", named),
            _mapped(body.moment, plain),
        ),
    )


def _named_vector(vector: Vector3, name: str, named: _Named) -> Vector3:
    x, y, z = (named(f"{name}_{axis}", value) for axis, value in zip("xyz", vector, strict=True))
    return (x, y, z)


def _named_inertia(inertia: Matrix3, name: str, named: _Named) -> Matrix3:
    """Rewrite the upper triangle; the lower one shares its symbols."""
    (a, b, c), (_, d, e), (_, _, f) = inertia
    xx, xy, xz = named(f"{name}_xx", a), named(f"{name}_xy", b), named(f"{name}_xz", c)
    yy, yz, zz = named(f"{name}_yy", d), named(f"{name}_yz", e), named(f"{name}_zz", f)
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def _rewritten_joint(joint: Joint, plain: _Plain) -> Joint:
    friction = joint.friction
    if friction is not None:
        friction = replace(
            friction, viscous=plain(friction.viscous), coulomb=plain(friction.coulomb)
        )
    return replace(
        joint,
        friction=friction,
        rotor_inertia=plain(joint.rotor_inertia),
        gear_ratio=plain(joint.gear_ratio),
    )
