"""Bodies of an element model: solids at the ends of frame chains, joints where a chain turns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from chainform.mechanism.elements import DissipativeElement, ElasticElement, InertialElement
from chainform.pictures import colours
from chainform.pictures.anatomy import Anatomy, Measures
from chainform.pictures.frames import Frames
from chainform.pictures.lone_bodies import add_lone_body
from chainform.pictures.scene import Point, Scene, Span
from chainform.pictures.shapes import placed


def add_elements(frames: Frames, scene: Scene, bodies: list[Anatomy], scale: Measures) -> None:
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
