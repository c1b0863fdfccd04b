"""How a mechanism is held: plates at the joints on the ground, and columns down to the floor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import GROUND, JointKind, Mechanism
from chainform.mechanism.elements import InertialElement
from chainform.mechanism.numbering import GROUND_NAME
from chainform.mechanism.pose import numeric_tree
from chainform.pictures import colours
from chainform.pictures.anatomy import Measures
from chainform.pictures.frames import Frames, Track
from chainform.pictures.scene import Scene
from chainform.pictures.stage import Stage

Array = NDArray[np.float64]

HELD = (JointKind.REVOLUTE, JointKind.SPHERICAL)


def add_mounts(frames: Frames, track: Track, scene: Scene, scale: Measures, stage: Stage) -> None:
    """Add a plate for each turning or ball joint on the ground, and a column down to the floor.

    The plate stands behind the joint, as seen by the eye; under it, if its axis is upright.
    """
    rotation, origin = track.rotations[0, 0], track.positions[0, 0]
    for point, axis in held_joints(frames, track):
        is_upright = axis is None or abs(axis @ stage.up) > 0.7
        along = stage.up if axis is None else axis
        back = -along if along @ (stage.up if is_upright else stage.direction) > 0 else along
        local = rotation.T @ back
        place = point + 1.85 * scale.rod * local
        scene.drum(0, place, local, (2.3 * scale.rod, 0.25 * scale.rod), colours.GROUND, "ground")
        height = float((origin + rotation @ place) @ stage.up) - stage.floor
        has_floor = np.array_equal(stage.normal, stage.up)
        if is_upright and has_floor and height > 0.8 * scale.rod:
            ends = (place, place - height * rotation.T @ stage.up)
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
