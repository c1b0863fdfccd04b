"""Bodies of a mechanism, drawn from what its equations know: joints, points and masses.

A segment is a rod from its joint to the joints it carries and to the points that frames, loops and
springs name on it. One that carries nothing shows the even solid of its mass and inertia. A turning
joint is a drum about its axis, a sliding one a sleeve or a rail; a mass centre is a small ball in
black and white. A loop that keeps a distance is a strut. Elements are solids at the ends of frame
chains, with joints where a chain turns. Joints on the ground have plates, and columns down to the
floor.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import (
    GROUND,
    GROUND_NAME,
    Attachment,
    DissipativeElement,
    ElasticElement,
    InertialElement,
    JointKind,
    Mechanism,
    float_vector,
    numeric_tree,
)
from chainform.pictures import colours
from chainform.pictures.frames import Frames, Track
from chainform.pictures.scene import Point, Scene, Span
from chainform.pictures.shapes import BodyGeometry, Measures, along, geometries, measures, placed
from chainform.pictures.view import View

Array = NDArray[np.float64]

HELD = (JointKind.REVOLUTE, JointKind.SPHERICAL)
"""Joints that have a plate where they are on the ground."""


def scene_of(frames: Frames, q: Array, track: Track) -> tuple[Scene, Measures]:
    """Return what is drawn of a motion q (m, nq), and how large it is at the first time."""
    bodies = geometries(frames)
    scale = measures(bodies, track.rotations[0], track.positions[0])
    scene = Scene()
    segments = _Segments(frames, scene, bodies, scale)
    segments.add_all(q)
    add_elements(frames, scene, bodies, scale)
    segments.add_springs()
    segments.add_points()
    return scene, scale


class _Segments:
    """Adds the segments of one mechanism to a scene."""

    def __init__(
        self, frames: Frames, scene: Scene, bodies: list[BodyGeometry], scale: Measures
    ) -> None:
        self.frames = frames
        self.mechanism: Mechanism = frames.mechanism
        self.scene = scene
        self.bodies = bodies
        self.scale = scale
        self.tree = numeric_tree(self.mechanism)
        self.colours = segment_colours(self.mechanism)
        self.deepest = max((body.depth for body in bodies), default=1)

    def radius(self, body: BodyGeometry) -> float:
        """Return how thick a body is: thinner from the ground to the tips."""
        return self.scale.rod * (1.0 - 0.4 * max(body.depth - 1, 0) / max(self.deepest - 1, 1))

    def add_all(self, q: Array) -> None:
        for i in range(len(self.mechanism.segments)):
            body, colour = self.bodies[i + 1], self.colours[i]
            radius = self.radius(body)
            self._add_rods(body, radius, colour)
            self._add_joint(i, q, radius, colour)
            self._add_mass(body, radius, colour)
            self.scene.triad(body.frame, placed(np.zeros(3)), 3.2 * radius, "axes")

    # --- bodies -----------------------------------------------------------------------------

    def _add_rods(self, body: BodyGeometry, radius: float, colour: str) -> None:
        origin = np.zeros(3)
        for joint in body.joints:
            if np.linalg.norm(joint) > 0.2 * radius:
                self.scene.rod(body.frame, (origin, joint), (radius, 0.85 * radius), colour)
        for mark in body.marks:
            ends = (origin, mark)
            self.scene.rod(body.frame, ends, (0.8 * radius, 0.6 * radius), colour)
        far = min((_distance(body.com, arm) for arm in body.arms), default=0.0)
        if body.arms and body.mass > 0 and far > 2.5 * radius:
            self.scene.rod(body.frame, (origin, body.com), (0.5 * radius, 0.4 * radius), colour)

    def _add_mass(self, body: BodyGeometry, radius: float, colour: str) -> None:
        """Add the mass centre; the whole body, where nothing else is known of its shape."""
        if body.mass <= 0:
            return
        if body.solid is not None:
            shade = colours.mixed(colour, "#ffffff", 0.3)
            self.scene.solid(body.frame, body.com, body.solid, 0.3 * radius, shade, "inertia")
        if not body.arms:
            add_lone_body(self.scene, body, radius, colour)
        elif not body.is_point or np.linalg.norm(body.com) > 0.3 * radius:
            self.scene.centre(body.frame, body.com, 1.2 * radius)

    # --- joints -----------------------------------------------------------------------------

    def _add_joint(self, i: int, q: Array, radius: float, colour: str) -> None:
        segment = self.mechanism.segments[i]
        origin, axis = np.zeros(3), self.tree.axes[i]
        match segment.joint.kind:
            case JointKind.REVOLUTE:
                self.scene.drum(i + 1, origin, axis, (1.35 * radius, 1.45 * radius), colours.JOINT)
                self.scene.drum(i + 1, origin, axis, (0.8 * radius, 1.75 * radius), colour)
            case JointKind.SPHERICAL:
                self.scene.ball(i + 1, origin, 1.5 * radius, colours.JOINT, "joint")
            case JointKind.PRISMATIC:
                self._add_slide(i, q, radius, colour)
            case _:
                pass
        if segment.parent == GROUND and segment.joint.kind is JointKind.REVOLUTE:
            place = self.tree.rotations[i] @ axis
            self.scene.drum(
                0, self.tree.positions[i], place, (1.0 * radius, 2.1 * radius), colours.GROUND
            )

    def _add_slide(self, i: int, q: Array, radius: float, colour: str) -> None:
        """Add a carriage on a rail where the ground carries it, else a rod through a sleeve.

        A body that stays on one side of the sleeve, as a load on a rope, has a strut to it instead.
        """
        axis, parent = self.tree.axes[i], self.tree.parents[i]
        first = self.tree.coordinates[i]
        amounts = self.tree.ratios[i] * q[:, first or 0] + self.tree.offsets[i]
        low, high = min(float(amounts.min()), 0.0), max(float(amounts.max()), 0.0)
        outer = self.tree.rotations[i] @ axis
        home = self.tree.positions[i]
        if parent == GROUND:
            ends = (home + (low - 4 * radius) * outer, home + (high + 4 * radius) * outer)
            self.scene.rod(0, ends, (0.5 * radius, 0.5 * radius), colours.GROUND, "ground")
            block = np.array([1.5, 1.5, 2.4]) * radius
            self.scene.block(i + 1, placed(np.zeros(3), along(axis)), block, colour, "joint")
            return
        block = np.array([1.4, 1.4, 2.2]) * radius
        place = placed(home, self.tree.rotations[i] @ along(axis))
        self.scene.block(parent + 1, place, block, colours.JOINT, "joint")
        if max(float(amounts.min()), -float(amounts.max())) > 2 * radius:
            ends = (Point(parent + 1, home), Point(i + 1, np.zeros(3)))
            self.scene.spans.append(Span("strut", *ends, 0.5 * radius, colour))
            return
        ends = (-high * axis, -low * axis)
        self.scene.rod(i + 1, ends, (0.7 * radius, 0.7 * radius), colour)

    # --- springs, loops, points ---------------------------------------------------------------

    def add_springs(self) -> None:
        """Add the springs between points, the closing points of loops and the named frames."""
        known, rod = self.frames.known, self.scale.rod
        for spring in self.mechanism.springs:
            if spring.ends is not None:
                self._add_span("spring", spring.ends, 1.5 * rod)
        for loop in self.mechanism.loops:
            if loop.length is not None:
                self._add_span("strut", (loop.closing, loop.target), 0.3 * rod)
                continue
            end = loop.closing
            point = float_vector(end.point, known)
            self.scene.ball(end.segment + 1, point, 1.05 * rod, colours.JOINT, "joint")
        for frame in self.mechanism.frames:
            number, point, axes = self.frames.place(frame.name)
            self.scene.triad(number, placed(point, axes), 3.2 * rod, "frame")

    def _add_span(
        self, kind: Literal["strut", "spring"], ends: tuple[Attachment, Attachment], radius: float
    ) -> None:
        known, scene = self.frames.known, self.scene
        first, last = (Point(end.segment + 1, float_vector(end.point, known)) for end in ends)
        scene.spans.append(Span(kind, first, last, radius, colours.JOINT))
        for end in (first, last):
            colour = colours.JOINT if end.frame else colours.GROUND
            scene.ball(end.frame, end.local, 0.5 * self.scale.rod, colour, "joint")

    def add_points(self) -> None:
        """Add what may be traced: bodies, the tip of the last chain, then the named frames."""
        bodies = [body for body in self.bodies if body.frame]
        bodies.sort(key=lambda body: body.depth)
        for body in bodies:
            self.scene.points.append(Point(body.frame, body.tip, body.name))
        for frame in self.mechanism.frames:
            number, point, _ = self.frames.place(frame.name)
            if number:
                self.scene.points.append(Point(number, point, frame.name))


def segment_colours(mechanism: Mechanism) -> list[str]:
    """Return the colour of each segment: that of its coordinate, or that of the body before it."""
    series = colours.series(mechanism.nq)
    result: list[str] = []
    for segment in mechanism.segments:
        if segment.coordinate is not None:
            result.append(series[segment.coordinate])
        else:
            result.append(result[segment.parent] if segment.parent != GROUND else colours.GROUND)
    return result


def _distance(point: Array, arm: Array) -> float:
    """Return the distance of a point from the rod between the origin and the end of an arm."""
    share = np.clip((point @ arm) / (arm @ arm), 0.0, 1.0)
    return float(np.linalg.norm(point - share * arm))


# --- bodies of which only the mass is known -------------------------------------------------------


def add_lone_body(scene: Scene, body: BodyGeometry, radius: float, colour: str) -> None:
    """Add a body of which only mass and inertia are known, and how it hangs on its joint."""
    origin, solid = np.zeros(3), body.solid
    if solid is not None and solid.is_rod:
        reach = solid.axes[:, 2] * solid.half[2]
        ends = (body.com - reach, body.com + reach)
        scene.rod(body.frame, ends, (0.85 * radius, 0.85 * radius), colour)
        share = np.clip(-(body.com @ reach) / max(float(reach @ reach), 1e-30), -1.0, 1.0)
        near = body.com + share * reach
        if np.linalg.norm(near) > 0.5 * radius:
            scene.rod(body.frame, (origin, near), (0.7 * radius, 0.7 * radius), colour)
        scene.centre(body.frame, body.com, 1.2 * radius)
        return
    if np.linalg.norm(body.com) > 0.5 * radius:
        scene.rod(body.frame, (origin, body.com), (0.7 * radius, 0.6 * radius), colour)
    if solid is not None and solid.half.max() > 1.2 * radius:
        scene.solid(body.frame, body.com, solid, 0.45 * radius, colour, "body")
    else:
        scene.centre(body.frame, body.com, 1.7 * radius)


# --- elements -------------------------------------------------------------------------------------


def add_elements(frames: Frames, scene: Scene, bodies: list[BodyGeometry], scale: Measures) -> None:
    """Add all elements that have a place: frames, points and bodies; springs and dampers."""
    by_name = {body.name: body for body in bodies}
    inertial = [e for e in frames.mechanism.elements if isinstance(e, InertialElement)]
    for k, (element, colour) in enumerate(
        zip(inertial, colours.series(len(inertial)), strict=True)
    ):
        body = by_name[element.name]
        # Ends of bodies that meet in a point would hide one another by turns if they were equal.
        thick = scale.rod * (1 - 0.02 * (k % 5))
        _add_chain(frames, scene, element, scale.rod, colour)
        if body.mass > 0:
            add_lone_body(scene, body, thick, colour)
        else:
            scene.triad(body.frame, placed(np.zeros(3)), 3.2 * scale.rod, "frame")
        scene.triad(body.frame, placed(np.zeros(3)), 3.2 * scale.rod, "axes")
    for element in frames.mechanism.elements:
        if isinstance(element, ElasticElement | DissipativeElement) and element.ends is not None:
            _add_span(frames, scene, element, scale.rod)


def _add_chain(
    frames: Frames, scene: Scene, element: InertialElement, rod: float, colour: str
) -> None:
    """Add struts between the turning points of a chain, and from the last one to the body.

    Nothing is drawn from the ground to the first of them, which may be anywhere.
    """
    joints = frames.turns[element.name]
    for frame, axis in zip(joints.frames, joints.axes, strict=True):
        scene.drum(frame, np.zeros(3), axis, (1.25 * rod, 1.4 * rod), colours.JOINT)
    start = frames.place(element.on)
    stops = [Point(start[0], start[1])] if start[0] else []
    stops += [Point(frame, np.zeros(3)) for frame in joints.frames]
    stops.append(Point(frames.names.index(element.name), np.zeros(3)))
    for first, last in pairwise(stops):
        scene.spans.append(Span("strut", first, last, 0.6 * rod, colour))


def _add_span(
    frames: Frames, scene: Scene, element: ElasticElement | DissipativeElement, rod: float
) -> None:
    first, last = (Point(*end) for end in frames.ends[element.name])
    kind = "spring" if isinstance(element, ElasticElement) else "strut"
    radius = 1.5 * rod if kind == "spring" else 0.3 * rod
    scene.spans.append(Span(kind, first, last, radius, colours.JOINT))


# --- the ground -----------------------------------------------------------------------------------


def add_mounts(frames: Frames, track: Track, scene: Scene, scale: Measures, view: View) -> None:
    """Add a plate for each turning or ball joint on the ground, and a column down to the floor.

    The plate stands behind the joint, as seen by the eye; under it, if its axis is upright.
    """
    rotation, origin = track.rotations[0, 0], track.positions[0, 0]
    for point, axis in held_joints(frames, track):
        is_upright = axis is None or abs(axis @ view.up) > 0.7
        back = view.up if axis is None else axis
        if back @ (view.up if is_upright else view.direction) > 0:
            back = -back
        local = rotation.T @ back
        place = point + 1.85 * scale.rod * local
        scene.drum(0, place, local, (2.3 * scale.rod, 0.25 * scale.rod), colours.GROUND, "ground")
        height = float((origin + rotation @ place) @ view.up) - view.floor
        has_floor = np.array_equal(view.normal, view.up)
        if is_upright and has_floor and height > 0.8 * scale.rod:
            ends = (place, place - height * rotation.T @ view.up)
            scene.rod(0, ends, (1.2 * scale.rod, 1.2 * scale.rod), colours.GROUND, "ground")


def held_joints(frames: Frames, track: Track) -> Iterator[tuple[Array, Array | None]]:
    """Yield joints on the ground that turn: where they are there, and their axes in the world.

    A ball has no axis.
    """
    mechanism = frames.mechanism
    rotation, origin = track.rotations[0, 0], track.positions[0, 0]
    tree = numeric_tree(mechanism)
    for i in first_segments(mechanism):
        kind = mechanism.segments[i].joint.kind
        if kind in HELD:
            axis = track.rotations[0, i + 1] @ tree.axes[i]
            point = rotation.T @ (track.positions[0, i + 1] - origin)
            yield point, None if kind is JointKind.SPHERICAL else axis
    for element in mechanism.elements:
        if not isinstance(element, InertialElement) or element.on != GROUND_NAME:
            continue
        turns = frames.turns[element.name]
        # Where a chain slides first, its turns are not held by the ground.
        if turns.frames and np.ptp(track.positions[:, turns.frames[0]], axis=0).max() < 1e-9:
            first = turns.frames[0]
            axis = track.rotations[0, first] @ turns.axes[0]
            yield rotation.T @ (track.positions[0, first] - origin), axis


def first_segments(mechanism: Mechanism) -> list[int]:
    """Return the segments that move and are joined to the ground, or to what is fixed to it."""
    fixed, found = {GROUND}, list[int]()
    for i, segment in enumerate(mechanism.segments):
        if segment.parent in fixed and segment.joint.kind is JointKind.FIXED:
            fixed.add(i)
        elif segment.parent in fixed:
            found.append(i)
    return found
