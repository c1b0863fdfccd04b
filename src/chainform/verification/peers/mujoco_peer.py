"""A tree of segments as a model of MuJoCo.

MuJoCo has free joints at the root only, so a free joint becomes three slides and a ball. Its
compiler refuses bodies without mass and turns tensors into principal axes on its own terms; so it
gets bodies of mass 1, and then the model gets their numbers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import GROUND, JointKind
from chainform.verification.peers.peer_tree import Peer, PeerState, TreeNumbers

Array = NDArray[np.float64]

GENERIC = {
    "mass": 1.0,
    "ipos": [0.11, 0.23, 0.37],
    "inertia": [1.0, 1.1, 1.3],
    "iquat": [0.5, -0.1, 0.3, 0.8],
    "explicitinertial": True,
}
"""A body for which MuJoCo takes no short cuts, which would not be right for other numbers."""
WORLD = 0
"""The number of the body that stands still."""


class MujocoPeer(Peer):
    """A tree in MuJoCo: quaternions have w first, and free joints move along axes of the parent."""

    title = "MuJoCo"
    turns_rates = True

    def __init__(self, numbers: TreeNumbers) -> None:
        super().__init__(numbers)
        self.mujoco: Any = import_module("mujoco")
        spec = self.mujoco.MjSpec()
        spec.option.gravity = numbers.gravity
        self.bodies: dict[int, Any] = {}
        self.base = spec.worldbody.add_body(
            name="base",
            pos=numbers.base_position,
            quat=self._quaternion(numbers.base_rotation),
            **GENERIC,
        )
        for i in numbers.depth_first():
            self._add(i)
        self.model: Any = spec.compile()
        self.nq, self.nv = int(self.model.nq), int(self.model.nv)
        self.ids = {i: int(self.model.body(f"body {i}").id) for i in self.bodies}
        self.ids[GROUND] = int(self.model.body("base").id)
        self._set_numbers()
        self.data: Any = self.mujoco.MjData(self.model)

    def _quaternion(self, rotation: Array) -> Array:
        result = np.zeros(4)
        self.mujoco.mju_mat2Quat(result, rotation.ravel())
        return result

    def _add(self, i: int) -> None:
        tree, kinds = self.numbers.tree, self.mujoco.mjtJoint
        parent = self.base if tree.parents[i] == GROUND else self.bodies[tree.parents[i]]
        quaternion = self._quaternion(tree.rotations[i])
        body = parent.add_body(name=f"body {i}", pos=tree.positions[i], quat=quaternion, **GENERIC)
        self.bodies[i] = body
        match tree.kinds[i]:
            case JointKind.REVOLUTE:
                body.add_joint(name=f"joint {i}", type=kinds.mjJNT_HINGE, axis=tree.axes[i])
            case JointKind.PRISMATIC:
                body.add_joint(name=f"joint {i}", type=kinds.mjJNT_SLIDE, axis=tree.axes[i])
            case JointKind.SPHERICAL:
                body.add_joint(name=f"joint {i}", type=kinds.mjJNT_BALL)
            case JointKind.FREE:
                for k, axis in enumerate(np.eye(3)):
                    name = f"joint {i}" if k == 0 else f"slide {i} {k}"
                    body.add_joint(name=name, type=kinds.mjJNT_SLIDE, axis=axis)
                body.add_joint(name=f"ball {i}", type=kinds.mjJNT_BALL)
            case JointKind.FIXED:
                pass

    def _set_numbers(self) -> None:
        """Give the bodies their mass, mass centre and principal axes, and the joints their rotors.

        What MuJoCo computes from masses itself is set as well, as far as it is used here.
        """
        model, numbers = self.model, self.numbers
        model.body_mass[:] = 0.0
        model.body_inertia[:] = 0.0
        for i in self.bodies:
            body = self.ids[i]
            if model.body_weldid[body] == WORLD:
                continue  # What never moves is no part of a model, and of Pinocchio neither.
            moments, axes = np.linalg.eigh(numbers.inertias[i])
            axes[:, 2] *= np.linalg.det(axes)
            model.body_mass[body] = numbers.masses[i]
            model.body_ipos[body] = numbers.centres[i]
            model.body_inertia[body] = moments
            model.body_iquat[body] = self._quaternion(axes)
        model.body_subtreemass[:] = model.body_mass
        for body in range(model.nbody - 1, WORLD, -1):
            model.body_subtreemass[model.body_parentid[body]] += model.body_subtreemass[body]
        for i in self.numbers.depth_first():
            if numbers.tree.kinds[i] is JointKind.FIXED:
                continue
            joint = model.joint(f"joint {i}")
            self.joints[i] = (int(joint.qposadr[0]), int(joint.dofadr[0]))
            model.dof_armature[self.joints[i][1]] = numbers.rotors[i]

    def ordered(self, given: Array) -> Array:
        """Return the coordinates of a joint with w of its quaternion first."""
        if len(given) < 4:
            return given
        return np.concatenate([given[:-4], given[-1:], given[-4:-1]])

    def move_to(self, state: PeerState) -> None:
        """Take a state, and compute what the quantities need."""
        mujoco, model, data = self.mujoco, self.model, self.data
        data.qpos[:], data.qvel[:], data.qacc[:] = state.q, state.v, 0.0
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_comVel(model, data)

    def mass_matrix(self) -> Array:
        """Return M, from the algorithm of composite bodies."""
        matrix = np.zeros((self.nv, self.nv))
        self.mujoco.mj_fullM(self.model, self.data, matrix)
        return matrix

    def efforts(self, v: Array, a: Array) -> Array:
        """Return inverse dynamics by the recursion of Newton and Euler, and rotors."""
        data, found = self.data, np.zeros(self.nv)
        before = data.qvel.copy()
        data.qvel[:], data.qacc[:] = v, a
        self.mujoco.mj_comVel(self.model, data)
        self.mujoco.mj_rne(self.model, data, 1, found)
        data.qvel[:] = before
        self.mujoco.mj_comVel(self.model, data)
        return found + np.array(self.model.dof_armature) * a

    def energies(self) -> tuple[float, float]:
        """Return kinetic and potential energy."""
        self.mujoco.mj_energyPos(self.model, self.data)
        self.mujoco.mj_energyVel(self.model, self.data)
        potential, kinetic = (float(energy) for energy in self.data.energy)
        return kinetic, potential

    def centre(self) -> tuple[Array, Array]:
        """Return the mass centre and its Jacobian."""
        columns = np.zeros((3, self.nv))
        self.mujoco.mj_jacSubtreeCom(self.model, self.data, columns, WORLD)
        return np.array(self.data.subtree_com[WORLD]), columns

    def momentum_matrix(self) -> Array:
        """Return mass times the Jacobian of the mass centre, and the matrix of the moment."""
        moment = np.zeros((3, self.nv))
        self.mujoco.mj_angmomMat(self.model, self.data, moment, WORLD)
        mass = float(self.model.body_subtreemass[WORLD])
        return np.concatenate([mass * self.centre()[1], moment])

    def frame(self, segment: int, point: Array) -> tuple[Array, Array, Array, Array]:
        """Return rotation, point, Jacobian and its derivative."""
        body = self.ids[segment]
        turn = np.array(self.data.xmat[body]).reshape(3, 3)
        place = np.array(self.data.xpos[body]) + turn @ point
        found = np.zeros((2, 2, 3, self.nv))
        args = (self.model, self.data)
        self.mujoco.mj_jac(*args, found[0, 0], found[0, 1], place, body)
        self.mujoco.mj_jacDot(*args, found[1, 0], found[1, 1], place, body)
        columns, slopes = found.reshape(2, 6, self.nv)
        return turn, place, columns, slopes
