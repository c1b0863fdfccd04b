"""Bodies of a mechanism, drawn from what its equations know: joints, points and masses.

A segment is a rod from its joint to the joints it carries and to the points that frames, loops and
springs name on it. One that carries nothing shows the even solid of its mass and inertia. A turning
joint is a drum about its axis, a sliding one a sleeve or a rail; a mass centre is a small ball in
black and white.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import GROUND, JointKind, Mechanism
from chainform.mechanism.pose import float_vector, known_values, numeric_tree
from chainform.pictures import colours
from chainform.pictures.anatomy import Anatomy, Measures, anatomies, measures
from chainform.pictures.element_bodies import add_elements
from chainform.pictures.frames import Frames, Track
from chainform.pictures.lone_bodies import add_lone_body
from chainform.pictures.scene import Point, Scene, Span
from chainform.pictures.shapes import along, placed

Array = NDArray[np.float64]


def scene_of(frames: Frames, q: Array, track: Track) -> tuple[Scene, Measures]:
    """Return what is drawn of a motion q (m, nq), and how large it is at the first time."""
    bodies = anatomies(frames)
    scale = measures(bodies, track.rotations[0], track.positions[0])
    scene = Scene()
    painter = _Bodies(frames, scene, bodies, scale)
    painter.add_segments(q)
    add_elements(frames, scene, bodies, scale)
    painter.add_springs()
    painter.add_points()
    return scene, scale


class _Bodies:
    """Adds the segments of one mechanism to a scene."""

    def __init__(
        self, frames: Frames, scene: Scene, bodies: list[Anatomy], scale: Measures
    ) -> None:
        self.frames = frames
        self.mechanism: Mechanism = frames.mechanism
        self.scene = scene
        self.bodies = bodies
        self.scale = scale
        self.tree = numeric_tree(self.mechanism)
        self.colours = segment_colours(self.mechanism)
        self.deepest = max((body.depth for body in bodies), default=1)

    def radius(self, body: Anatomy) -> float:
        """Return how thick a body is: thinner from the ground to the tips."""
        return self.scale.rod * (1.0 - 0.4 * max(body.depth - 1, 0) / max(self.deepest - 1, 1))

    def add_segments(self, q: Array) -> None:
        for i in range(len(self.mechanism.segments)):
            body, colour = self.bodies[i + 1], self.colours[i]
            radius = self.radius(body)
            self._add_rods(body, radius, colour)
            self._add_joint(i, q, radius, colour)
            self._add_mass(body, radius, colour)
            self.scene.triad(body.frame, placed(np.zeros(3)), 3.2 * radius, "axes")

    # --- bodies -----------------------------------------------------------------------------

    def _add_rods(self, body: Anatomy, radius: float, colour: str) -> None:
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

    def _add_mass(self, body: Anatomy, radius: float, colour: str) -> None:
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
        """Add a carriage on a rail where the ground carries it, else a rod through a sleeve."""
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
        ends = (-high * axis, -low * axis)
        self.scene.rod(i + 1, ends, (0.7 * radius, 0.7 * radius), colour)

    # --- springs, loops, points ---------------------------------------------------------------

    def add_springs(self) -> None:
        """Add the springs between points, the closing points of loops and the named frames."""
        known, rod = known_values(self.mechanism), self.scale.rod
        for spring in self.mechanism.springs:
            if spring.ends is not None:
                first, last = (
                    Point(end.segment + 1, float_vector(end.point, known)) for end in spring.ends
                )
                span = Span("spring", first, last, 1.5 * rod, colours.JOINT)
                self.scene.spans.append(span)
                for end in (first, last):
                    colour = colours.JOINT if end.frame else colours.GROUND
                    self.scene.ball(end.frame, end.local, 0.5 * rod, colour, "joint")
        for loop in self.mechanism.loops:
            end = loop.closing
            point = float_vector(end.point, known)
            self.scene.ball(end.segment + 1, point, 1.05 * rod, colours.JOINT, "joint")
        for frame in self.mechanism.frames:
            number, point, axes = self.frames.place(frame.name)
            self.scene.triad(number, placed(point, axes), 3.2 * rod, "frame")

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
