"""Reactions in an element model: what carries a frame exerts on all that stands on it.

symbol   meaning                                                                frame
f, n     force and moment, the moment about the origin of the frame              own axes
m, J     mass, and inertia about the mass centre c                               own axes
F, M     loads that have a place r on a body, given in the axes of their frame    own axes

    f = sum of m (a_C - g) - F
    n = sum of J eps + w x J w + c x m (a_C - g) - M - r x F        over all that lies beyond

The sums go from the tips to the joint, step by step of the chains. Loads with a place are weights,
forces and moments on frames, springs and dampers between two points, wrenches and the reactions of
loops, each end of them where it acts. Efforts, springs, dampers, rotors and constraints along laws
of coordinates have no place: they act in the joints, and are part of what these transmit. A law of
several joints that are no gear would act through something that the model does not have, such as
the other bars of a linkage, and so would one of the position of a frame. Then the reaction is
refused, unless all of that lies beyond the joint, where it is internal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from chainform.errors import DeriveError
from chainform.formulations.element_forces import ElementForces
from chainform.formulations.element_inertia import ElementInertia
from chainform.formulations.element_tree import ROOT, ElementTree
from chainform.formulations.shared.constraints import ConstraintLaws
from chainform.formulations.shared.kinematics import Kinematics, wrench_inputs
from chainform.formulations.shared.options import Options
from chainform.formulations.shared.reactions import loop_loads
from chainform.formulations.shared.tree import Skeleton
from chainform.formulations.shared.world import World
from chainform.graph import Scalar
from chainform.mechanism import (
    GROUND,
    GROUND_NAME,
    WORLD,
    DissipativeElement,
    EffortElement,
    ElasticElement,
    Element,
    ElementPoint,
    ForceElement,
    InertiaElement,
    Mechanism,
    MomentElement,
    Number,
    frames_in,
    names_behind,
    symbols_in,
)
from chainform.spatial import Vector, add, apply, cross, scale, subtract


@dataclass(frozen=True, slots=True)
class _Bond:
    """What acts on several bodies at once without a place on each: joints, frames, a remedy."""

    element: str
    message: str
    remedy: str
    joints: tuple[int, ...]
    frames: tuple[int, ...] = ()


class ElementReactions:
    """The reactions of one element model; loops are those of the mechanism before conversion."""

    def __init__(
        self, inertia: ElementInertia, forces: ElementForces, mechanism: Mechanism, options: Options
    ) -> None:
        self.inertia = inertia
        self.forces = forces
        self.frames = inertia.frames
        self.builder = inertia.builder
        self.mechanism = mechanism
        self.options = options
        self._holds = cache(self._held_beyond)
        self._carried: dict[int, tuple[Vector, Vector]] = {}

    @cached_property
    def tree(self) -> ElementTree:
        """What stands on what."""
        return ElementTree(self.frames)

    def of(self, name: str, axes: str) -> list[Scalar]:
        """Return the reaction in the joint that carries a frame: force, moment about its origin.

        `axes`: "local" for those of the frame, "world", or "mixed" for the force in world axes.
        """
        joint = self.tree.joint_of(name)
        if joint is None:
            raise DeriveError(
                f"{name!r} is fixed to the ground, which no joint carries",
                file=self.mechanism.file,
                element=f"reaction({name})",
                remedy="name a body, a point, or a frame that moves",
            )
        self._refuse_bonds(name, joint)
        force, moment = self.carried(joint)
        for place in self.tree.path(joint, name):
            force, moment = self._stored(self.tree.places[place].into(force, moment))
        rotation = self.frames.rotation(name)
        if axes != "local":
            force = self.builder.keep_vector(apply(rotation, force))
        if axes == "world":
            moment = self.builder.keep_vector(apply(rotation, moment))
        return [*force, *moment]

    def _stored(self, wrench: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
        return self.builder.keep_vector(wrench[0]), self.builder.keep_vector(wrench[1])

    def carried(self, place: int) -> tuple[Vector, Vector]:
        """Return f and n of a frame of the tree and of all that stands on it."""
        for index in reversed(self.tree.beyond(place)):
            if index not in self._carried:
                force, moment = self._own.get(index, (self.frames.none, self.frames.none))
                for child in self.tree.children[index]:
                    outer = self._stored(self.tree.places[child].back(*self._carried[child]))
                    force, moment = add(force, outer[0]), add(moment, outer[1])
                self._carried[index] = self._stored((force, moment))
        return self._carried[place]

    # --- inertia and loads of each frame ------------------------------------------------

    @cached_property
    def _own(self) -> dict[int, tuple[Vector, Vector]]:
        """What the bodies at each frame need, less the loads that act there, in its axes."""
        totals: dict[int, tuple[Vector, Vector]] = {}
        for place, force, moment in (*self._bodies(), *self._loads()):
            before = totals.get(place, (self.frames.none, self.frames.none))
            totals[place] = self._stored((add(before[0], force), add(before[1], moment)))
        return totals

    def _bodies(self) -> Iterator[tuple[int, Vector, Vector]]:
        clock, keep = self.frames.derivatives.by_time, self.builder.keep_vector
        for element in self.inertia.loaded:
            felt = subtract(
                self.inertia.acceleration(element, clock), self.frames.field(element.name)
            )
            force = keep(scale(self.inertia.mass(element), keep(felt)))
            moment = add(
                self.inertia.moment(element, clock), cross(self.frames.vector(element.com), force)
            )
            yield self.tree.of_frame[element.name], force, moment

    def _loads(self) -> Iterator[tuple[int, Vector, Vector]]:
        """Yield the loads as what the joints have to hold, each with the sign turned."""
        none = self.frames.none
        for element in self.frames.mechanism.elements:
            with self.frames.error_context(element):
                for point, axes, force, moment in self._acting(element):
                    place, arm = self._point(element, point)
                    if place != ROOT:
                        yield self._load(place, point.on, axes, force, moment, arm)
        for index, name in enumerate(self.options.wrenches):
            if name != GROUND_NAME:
                wrench = wrench_inputs(self.builder, index)
                yield self._load(self.tree.of_frame[name], name, WORLD, *wrench, none)
        if self.mechanism.loops:
            world = World(Skeleton(Kinematics(self.mechanism, self.builder)))
            for load in loop_loads(world):
                if load.frame.segment != GROUND:
                    name = self.mechanism.segments[load.frame.segment].name
                    arm = self.frames.vector(load.frame.point)
                    wrench = load.force, load.moment
                    yield self._load(self.tree.of_frame[name], name, WORLD, *wrench, arm)

    def _load(
        self, place: int, frame: str, axes: str, force: Vector, moment: Vector, arm: Vector
    ) -> tuple[int, Vector, Vector]:
        force = self.frames.into(frame, axes, self.builder.keep_vector(force))
        moment = self.frames.into(frame, axes, self.builder.keep_vector(moment))
        return place, scale(-1, force), scale(-1, add(moment, cross(arm, force)))

    def _acting(self, element: Element) -> Iterator[tuple[ElementPoint, str, Vector, Vector]]:
        """Yield where an element acts, and axes, force and moment there."""
        whole, none = self.frames.laws.whole, self.frames.none
        if isinstance(element, ForceElement):
            x, y, z = whole(element.force)
            yield element.at, element.axes, (x, y, z), none
            if element.to is not None:
                yield element.to, element.axes, scale(-1, (x, y, z)), none
        elif isinstance(element, MomentElement):
            x, y, z = whole(element.moment)
            yield ElementPoint(element.on), element.axes, none, (x, y, z)
            if element.to is not None:
                yield ElementPoint(element.to), element.axes, none, scale(-1, (x, y, z))
        elif isinstance(element, ElasticElement | DissipativeElement) and element.ends is not None:
            places = [self._point(element, end)[0] for end in element.ends]
            if self.tree.joint_at(places[0]) != self.tree.joint_at(places[1]):
                near, far = element.ends
                pull = self.forces.pull(element)
                yield near, WORLD, pull, none
                yield far, WORLD, scale(-1, pull), none

    def _point(self, element: Element, point: ElementPoint) -> tuple[int, Vector]:
        found = self.tree.point(point)
        if found is None:
            raise DeriveError(
                f"it acts at a place that moves against {point.on!r}, and no body is named there",
                file=self.mechanism.file,
                element=f"element {element.name!r}",
                remedy='name the body: at = "boom", or { on = "boom", point = [a, b, c] } with '
                "constant a, b, c",
            )
        return found

    # --- what has no place --------------------------------------------------------------

    @cached_property
    def _holding(self) -> frozenset[int]:
        """The frames at which a body is or a load acts."""
        of_frame = self.tree.of_frame
        places = {of_frame[element.name] for element in self.inertia.loaded}
        places |= {of_frame[name] for name in self.options.wrenches}
        for element in self.frames.mechanism.elements:
            with self.frames.error_context(element):
                places |= {self._point(element, point)[0] for point in _points_of(element)}
        ends = (end for loop in self.mechanism.loops for end in (loop.closing, loop.target))
        moving = (end.segment for end in ends if end.segment != GROUND)
        return frozenset(places) | {of_frame[self.mechanism.segments[j].name] for j in moving}

    def _held_beyond(self, place: int) -> frozenset[int]:
        """Return those of them at or beyond a frame."""
        return self._holding.intersection(self.tree.beyond(place))

    def check(self, names: Sequence[str]) -> None:
        """Refuse frames whose reaction does not follow from what the model says."""
        for name in names:
            joint = self.tree.joint_of(name)
            if joint is not None:
                self._refuse_bonds(name, joint)

    def _refuse_bonds(self, name: str, joint: int) -> None:
        """Refuse a joint past which something acts that has no place."""
        inside, held = set(self.tree.beyond(joint)), self._holds(joint)
        for bond in self._bonds:
            within = [j for j in bond.joints if j in inside]
            cut = [j for j in within if self._holds(j) == held]
            cut += [
                j for j in bond.joints if joint in self.tree.beyond(j) and self._holds(j) == held
            ]
            passes = cut or (within and len(within) < len(bond.joints))
            if passes or inside.intersection(bond.frames):
                raise DeriveError(
                    f"the reaction at {name!r} does not follow: {bond.message}",
                    file=self.mechanism.file,
                    element=bond.element,
                    remedy=bond.remedy,
                )

    @cached_property
    def _bonds(self) -> list[_Bond]:
        found = [*self._linkages(), *self._bonds_of_elements(), *self._bonds_of_constraints()]
        return [bond for bond in found if bond is not None]

    def _linkages(self) -> Iterator[_Bond | None]:
        """Yield the coordinates that move several joints, and not as gears do."""
        for k, name in enumerate(self.frames.mechanism.coordinates):
            joints = self.tree.joints_moved_by(frozenset({k}))
            if all(self.tree.places[j].is_geared for j in joints):
                continue
            yield self._bond(
                f"coordinate {name!r}",
                f"{name} moves several joints as in a linkage, whose bars and pins are not given",
                "describe the linkage by segments and [[loops]], whose reactions are known",
                joints,
            )

    def _bonds_of_elements(self) -> Iterator[_Bond | None]:
        for element in self.frames.mechanism.elements:
            law, rates = self._law_of(element)
            if law is not None:
                where = f"element {element.name!r}"
                yield self._bond_of_law(where, law, rates, are_constant=False)

    def _law_of(self, element: Element) -> tuple[Number | None, Iterable[int]]:
        """Return the law along which an element acts, and the rates on which it works."""
        match element:
            case EffortElement():
                return element.along, self.forces.slopes(element.along)
            case InertiaElement():
                return element.along, self.inertia.rotor_columns(element)
            case ElasticElement() if element.deformation is not None:
                return element.deformation, self.forces.slopes(element.deformation)
            case DissipativeElement() if element.ends is None:
                law = element.deformation if element.rate is None else element.rate
                return law, self.forces.rate(element)[1]
            case _:
                return None, ()

    def _bonds_of_constraints(self) -> Iterator[_Bond | None]:
        mechanism = self.frames.mechanism
        if not mechanism.constraints:
            return
        laws = ConstraintLaws(self.builder, mechanism)
        rows = {True: iter(laws.unilateral), False: iter(laws.bilateral)}
        for constraint in mechanism.constraints:
            row = next(rows[constraint.kind == "unilateral"])
            is_gear = constraint.kind != "nonholonomic" and laws.is_gear(row)
            where = f"constraint {constraint.name!r}"
            yield self._bond_of_law(where, constraint.law, row.J, are_constant=is_gear)

    def _bond_of_law(
        self, where: str, law: Number, rates: Iterable[int], *, are_constant: bool
    ) -> _Bond | None:
        """Return a law of frames, or of several joints that are no gear, as a bond."""
        mechanism, moved = self.frames.mechanism, frozenset(rates)
        joints = self.tree.joints_moved_by(moved)
        names = names_behind(mechanism, mechanism.elements, symbols_in(law))
        named = frames_in(names) - {GROUND_NAME}
        if named:
            first = min(named)
            places = [self.tree.of_frame[name] for name in named]
            return _Bond(
                where,
                f"a law of the position of {first!r} acts on it, and not through the joints",
                f'write it as a force with a place: kind = "force", at = "{first}", with unknowns '
                'where it is to be found, or as a spring with "ends"',
                (),
                (*places, *joints),
            )
        if len(moved) < 2 or are_constant:
            return None
        return self._bond(
            where,
            "a law of several joints acts on them, and nothing says at which places",
            'give it places, "at", "on" or "ends", or write it along single coordinates',
            joints,
        )

    def _bond(self, element: str, message: str, remedy: str, joints: Iterable[int]) -> _Bond | None:
        """Return a bond; joints with nothing in between are one, through which it may act."""
        held = {j: self._holds(j) for j in joints}
        loaded = tuple(j for j, places in held.items() if places)
        if len({held[j] for j in loaded}) < 2:
            return None
        return _Bond(element, message, remedy, loaded)


def _points_of(element: Element) -> Iterator[ElementPoint]:
    """Yield the places at which an element acts."""
    match element:
        case ForceElement():
            yield from (element.at, *([element.to] if element.to is not None else []))
        case MomentElement():
            yield from (ElementPoint(on) for on in (element.on, element.to) if on is not None)
        case ElasticElement() | DissipativeElement():
            yield from element.ends or ()
        case _:
            return
