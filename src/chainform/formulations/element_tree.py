"""The tree of an element model: what stands on what, step by step, and where reactions are.

A frame is reached from the ground by the steps of its chain, after those of the frame it stands on.
Frames that are reached by the same steps are one. Every step that moves, by a coordinate or by
time, is a joint. A body or point whose own chain does not move is fixed to what it stands on, and
the place where it is fixed is a joint as well; a frame without mass is a place on what carries it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from graphlib import TopologicalSorter

from chainform.formulations.element_frames import ElementFrames, Moved
from chainform.graph import is_zero
from chainform.mechanism import GROUND_NAME, ElementPoint, InertialElement, ShiftStep
from chainform.spatial import Vector, add, cross, subtract

ROOT = 0


@dataclass(frozen=True, slots=True)
class Place:
    """A frame of the tree: what it stands on, the step that leads to it, and whether it moves."""

    parent: int
    moved: Moved
    is_joint: bool
    rates: frozenset[int] = frozenset()
    """The rates that move it against the frame before it."""
    is_geared: bool = True
    """Whether they do so in constant ratios."""

    def back(self, force: Vector, moment: Vector) -> tuple[Vector, Vector]:
        """Return a force, and a moment about the origin of this frame, for the frame before it."""
        if self.moved.shift is not None:
            return force, add(moment, cross(self.moved.shift, force))
        if self.moved.turn is not None:
            return self.moved.turn.back(force), self.moved.turn.back(moment)
        return force, moment

    def into(self, force: Vector, moment: Vector) -> tuple[Vector, Vector]:
        """Return a force, and a moment about the origin of the frame before it, for this frame."""
        if self.moved.shift is not None:
            return force, subtract(moment, cross(self.moved.shift, force))
        if self.moved.turn is not None:
            return self.moved.turn.into(force), self.moved.turn.into(moment)
        return force, moment


class ElementTree:
    """The frames of one element model as a tree; places are numbered parents first."""

    def __init__(self, frames: ElementFrames) -> None:
        self.frames = frames
        self.places = [Place(ROOT, Moved(), is_joint=False)]
        self._known: dict[tuple[int, Hashable], int] = {}
        self.of_frame = {GROUND_NAME: ROOT}
        stand_on = {element.name: [element.on] for element in frames.elements.values()}
        for name in TopologicalSorter(stand_on).static_order():
            if name in frames.elements:
                self.of_frame[name] = self._place_of(frames.elements[name])
        self.beyond = cache(self._beyond)

    def _place_of(self, element: InertialElement) -> int:
        place = self.of_frame[element.on]
        is_fixed = True
        for step, moved in zip(element.chain, self.frames.steps(element.name), strict=True):
            place = self._after(place, step, moved)
            is_fixed = is_fixed and not self.places[place].is_joint
        if is_fixed and element.kind != "frame":
            place = self._new(place, element.name, Place(place, Moved(), is_joint=True))
        return place

    def _after(self, place: int, step: Hashable, moved: Moved) -> int:
        """Return the frame that a step leads to."""
        if (place, step) in self._known:
            return self._known[place, step]
        is_joint = moved.rate is not None and not all(map(is_zero, moved.rate))
        rates, is_geared = self._motion(moved.rate if is_joint else None)
        return self._new(place, step, Place(place, moved, is_joint, rates, is_geared))

    def _new(self, place: int, key: Hashable, made: Place) -> int:
        self._known[place, key] = len(self.places)
        self.places.append(made)
        return self._known[place, key]

    def _motion(self, rate: Vector | None) -> tuple[frozenset[int], bool]:
        """Return the rates on which the rate of a step depends, and whether by constant ratios."""
        if rate is None:
            return frozenset(), True
        derivatives, moving, is_geared = self.frames.derivatives, set[int](), True
        for k in range(self.frames.mechanism.nv):
            slopes = derivatives.vector(derivatives.by_rate(k), rate)
            if not all(map(is_zero, slopes)):
                moving.add(k)
                changes = derivatives.vector(derivatives.by_time, slopes)
                is_geared = is_geared and all(map(is_zero, changes))
        return frozenset(moving), is_geared

    @cached_property
    def children(self) -> list[list[int]]:
        """For each frame those that stand on it."""
        rows: list[list[int]] = [[] for _ in self.places]
        for index, place in enumerate(self.places[1:], 1):
            rows[place.parent].append(index)
        return rows

    def _beyond(self, place: int) -> tuple[int, ...]:
        """Return a frame and all that stand on it, each after the one that carries it."""
        waiting = [place]
        for index in waiting:
            waiting += self.children[index]
        return tuple(waiting)

    def joint_of(self, name: str) -> int | None:
        """Return the joint that carries a frame; None for one that is fixed to the ground."""
        return self.joint_at(self.of_frame[name])

    def joint_at(self, place: int) -> int | None:
        """Return the joint that carries a place; None for one that is fixed to the ground."""
        while place != ROOT and not self.places[place].is_joint:
            place = self.places[place].parent
        return place if place != ROOT else None

    def path(self, joint: int, name: str) -> Sequence[int]:
        """Return the frames from a joint, which is left out, to a frame that is fixed to it."""
        found, place = list[int](), self.of_frame[name]
        while place != joint:
            found.append(place)
            place = self.places[place].parent
        return found[::-1]

    def joints_moved_by(self, rates: frozenset[int]) -> list[int]:
        """Return the joints that some rates move."""
        return [k for k, place in enumerate(self.places) if place.rates & rates]

    def point(self, point: ElementPoint) -> tuple[int, Vector] | None:
        """Return the frame that a point is fixed to, and where it is there.

        A point that moves against the frame it is given in is fixed to a frame that is reached by
        the same laws, if there is one.
        """
        place, arm = self.of_frame[point.on], self.frames.vector(point.point)
        derivatives = self.frames.derivatives
        rate = derivatives.vector(derivatives.by_time, arm)
        if not self._motion(rate)[0]:
            return place, arm
        moved = self._known.get((place, ShiftStep(point.point)))
        return None if moved is None else (moved, self.frames.none)
