"""How a mechanism is held: plates behind or under the joints on the ground."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import GROUND, JointKind, Mechanism
from chainform.mechanism.pose import numeric_tree
from chainform.simulation.pictures import colours
from chainform.simulation.pictures.anatomy import Measures
from chainform.simulation.pictures.frames import Track
from chainform.simulation.pictures.scene import Scene
from chainform.simulation.pictures.stage import Stage

Array = NDArray[np.float64]


def add_mounts(
    mechanism: Mechanism, scene: Scene, scale: Measures, stage: Stage, track: Track
) -> None:
    """Add a plate for each turning or ball joint on the ground, and a column down to the floor.

    The plate stands behind the joint, as seen by the eye; under it, if its axis is upright.
    """
    tree, rotation, origin = numeric_tree(mechanism), track.rotations[0, 0], track.positions[0, 0]
    for i, segment in enumerate(mechanism.segments):
        if segment.parent != GROUND or segment.joint.kind not in HELD:
            continue
        axis = rotation @ tree.rotations[i] @ tree.axes[i]
        is_ball = segment.joint.kind is JointKind.SPHERICAL
        away = stage.up if is_ball or abs(axis @ stage.up) > 0.7 else stage.direction
        axis = stage.up if is_ball else axis
        back = -axis if axis @ away > 0 else axis
        local = rotation.T @ back
        place = tree.positions[i] + 1.85 * scale.rod * local
        scene.drum(0, place, local, (2.3 * scale.rod, 0.25 * scale.rod), colours.GROUND, "ground")
        height = float((origin + rotation @ place) @ stage.up) - stage.floor
        is_under = abs(back @ stage.up) > 0.7 and np.array_equal(stage.normal, stage.up)
        if is_under and 0.8 * scale.rod < height < scale.size:
            ends = (place, place - height * rotation.T @ stage.up)
            scene.rod(0, ends, (1.2 * scale.rod, 1.2 * scale.rod), colours.GROUND, "ground")


HELD = (JointKind.REVOLUTE, JointKind.SPHERICAL)
