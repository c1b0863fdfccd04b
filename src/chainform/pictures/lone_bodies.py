"""Bodies of which only the mass is known: rods, discs, boxes, balls, points."""

from __future__ import annotations

import numpy as np

from chainform.pictures.anatomy import Anatomy
from chainform.pictures.scene import Scene


def add_lone_body(scene: Scene, body: Anatomy, radius: float, colour: str) -> None:
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
