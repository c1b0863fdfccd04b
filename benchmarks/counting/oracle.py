"""Pinocchio's model of a mechanism with joints numbered branch by branch.

Some of its algorithms (crba, computeCoriolisMatrix) assume that numbering; a mechanism keeps the
order of its file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import chainform as cf
from pinocchio_oracle import Oracle, pin


def depth_first_oracle(mechanism: cf.Mechanism) -> Oracle:
    """Return the oracle of a mechanism, its joints numbered branch by branch."""
    oracle = Oracle(mechanism)
    oracle.model = _depth_first(oracle.model)
    oracle.data = oracle.model.createData()
    for segment in mechanism.segments:
        if segment.coordinate is None or segment.rate is None:
            continue
        joint = oracle.model.joints[oracle.model.getJointId(segment.name)]
        q, v = segment.coordinate, segment.rate
        oracle.q_order[q : q + joint.nq] = joint.idx_q + np.arange(joint.nq)
        oracle.v_order[v : v + joint.nv] = joint.idx_v + np.arange(joint.nv)
    return oracle


def _depth_first(model: Any) -> Any:
    result = pin.Model()
    result.gravity = model.gravity
    children: dict[int, list[int]] = {}
    for joint in range(model.njoints - 1, 0, -1):
        children.setdefault(model.parents[joint], []).append(joint)
    place, todo = {0: 0}, children.get(0, [])
    while todo:
        joint = todo.pop()
        parent = place[model.parents[joint]]
        placement, name = model.jointPlacements[joint], model.names[joint]
        place[joint] = result.addJoint(parent, model.joints[joint], placement, name)
        result.appendBodyToJoint(place[joint], model.inertias[joint], pin.SE3.Identity())
        todo += children.get(joint, [])
    return result
