"""Robots from URDF files, compared with Pinocchio quantity by quantity."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import chainform as cf
from pinocchio_oracle import pin

Array = NDArray[np.float64]

OUTPUTS = (
    "mass_matrix",
    "bias",
    "coriolis_matrix",
    "inverse_dynamics",
    "passive",
    "kinetic_energy",
    "potential_energy",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "centroidal_momentum_matrix_rate",
)


@cache
def robot_files(distribution: str) -> dict[str, Path]:
    """Return the URDF files that an installed package brings, by their path in the package."""
    files = importlib.metadata.files(distribution) or []
    paths = {str(f): Path(str(f.locate())) for f in files if f.suffix == ".urdf"}
    return {name: path.resolve() for name, path in sorted(paths.items())}


def example_robot(name: str) -> Path:
    """Return a file of example-robot-data by the end of its path."""
    found = [p for p in robot_files("example-robot-data").values() if str(p).endswith(name)]
    assert found, name
    return found[0]


@dataclass
class Comparison:
    """The largest relative deviation of each quantity, over all states tried."""

    deviations: dict[str, float] = field(default_factory=dict[str, float])
    singular: bool = False

    def note(self, quantity: str, got: Any, expected: Any) -> None:
        """Keep the deviation, relative to the largest entry (at least one)."""
        scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
        found = float(np.abs(np.asarray(got) - expected).max(initial=0.0)) / scale
        self.deviations[quantity] = max(found, self.deviations.get(quantity, 0.0))

    @property
    def worst(self) -> float:
        """The largest of all deviations."""
        return max(self.deviations.values(), default=0.0)


class UrdfOracle:
    """Pinocchio's own reading of a URDF file, with states translated by joint names."""

    def __init__(self, path: Path, base: str) -> None:
        free = [pin.JointModelFreeFlyer()] if base == "floating" else []
        self.model: Any = pin.buildModelFromUrdf(str(path), *free)
        self.data: Any = self.model.createData()

    def match(self, mechanism: cf.Mechanism) -> None:
        """Find the place of each of our joints in Pinocchio's vectors."""
        self.mechanism = mechanism
        self.v_order = np.zeros(mechanism.nv, dtype=int)
        self.joints: list[tuple[Any, Any]] = []
        for segment in mechanism.segments:
            if segment.rate is None:
                continue
            joint = self.model.joints[self.model.getJointId(segment.joint.name)]
            self.joints.append((segment, joint))
            span = np.arange(joint.nv)
            self.v_order[segment.rate + span] = joint.idx_v + span
        assert sorted(self.v_order) == list(range(self.model.nv))

    def state(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return a random q in our order and in Pinocchio's; it splits continuous joints."""
        ours, theirs = self.mechanism.neutral(), np.array(pin.neutral(self.model))
        for segment, joint in self.joints:
            value = rng.uniform(-1, 1, segment.joint.kind.coordinates)
            if len(value) >= 4:
                value[-4:] /= np.linalg.norm(value[-4:])
            ours[segment.coordinate : segment.coordinate + len(value)] = value
            split = joint.nq == 2 and joint.nv == 1
            given = [np.cos(value[0]), np.sin(value[0])] if split else value
            theirs[joint.idx_q : joint.idx_q + joint.nq] = given
        return ours, theirs

    def v(self, ours: Array) -> Array:
        """Return rates in Pinocchio's order."""
        theirs = np.zeros(self.model.nv)
        theirs[self.v_order] = ours
        return theirs

    def passive(self, qd: Array) -> Array:
        """Return the joint friction, which rnea leaves out, from what Pinocchio read of it."""
        damping = np.array(self.model.damping)[self.v_order]
        friction = np.array(self.model.friction)[self.v_order]
        return damping * qd + friction * np.sign(qd)

    def rnea(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return inverse dynamics in our order, from q in theirs."""
        return np.array(pin.rnea(self.model, self.data, q, self.v(qd), self.v(qdd)))[self.v_order]


def tip_of(mechanism: cf.Mechanism) -> str:
    """Return the segment with the longest path from the base."""
    return max(enumerate(mechanism.segments), key=lambda s: len(mechanism.path_to(s[0])))[1].name


def compare(mechanism: cf.Mechanism, oracle: UrdfOracle, states: int = 3) -> Comparison:
    """Compare all quantities at random states."""
    oracle.match(mechanism)
    result = Comparison()
    tip = tip_of(mechanism)
    jacobian = f"jacobian({tip})"
    massless = all(segment.body.mass == 0 for segment in mechanism.segments)
    outputs = [o for o in OUTPUTS if not (massless and o.startswith("centroidal_momentum"))]
    model = cf.derive(mechanism, [*outputs, jacobian])
    forward: cf.Model | None = None
    try:
        forward = cf.derive(mechanism, ["forward_dynamics"])
    except cf.Error:
        result.singular = True
    rng = np.random.default_rng(0)
    n = mechanism.nv
    for _ in range(states):
        q, theirs = oracle.state(rng)
        qd, qdd, tau = rng.uniform(-1, 1, (3, n))
        got = model.evaluate(q=q, qd=qd, qdd=qdd)
        _compare_dynamics(result, oracle, got, theirs, qd, qdd)
        _compare_others(result, oracle, got, theirs, qd, jacobian, tip)
        if forward is not None and np.linalg.cond(got["mass_matrix"]) < 1e14:
            found = forward.evaluate(q=q, qd=qd, tau=tau)["forward_dynamics"]
            left = got["mass_matrix"] @ found + got["bias"] + got["passive"]
            scale = np.abs(got["mass_matrix"]) @ np.abs(found) + np.abs(got["bias"]) + np.abs(tau)
            result.note("forward_dynamics", left / scale.max(), tau / scale.max())
        elif forward is not None:
            result.singular = True
    return result


def _compare_dynamics(
    result: Comparison, oracle: UrdfOracle, got: dict[str, Array], q: Array, qd: Array, qdd: Array
) -> None:
    n = len(qd)
    zero = np.zeros(n)
    rest = oracle.rnea(q, zero, zero)
    mass = np.array([oracle.rnea(q, zero, unit) - rest for unit in np.eye(n)]).T.reshape(n, n)
    result.note("mass_matrix", got["mass_matrix"], mass)
    result.note("bias", got["bias"], oracle.rnea(q, qd, zero))
    passive = oracle.passive(qd)
    result.note("passive", got["passive"], passive)
    result.note("inverse_dynamics", got["inverse_dynamics"], oracle.rnea(q, qd, qdd) + passive)
    coriolis = pin.computeCoriolisMatrix(oracle.model, oracle.data, q, oracle.v(qd))
    theirs = np.array(coriolis).reshape(n, n)[np.ix_(oracle.v_order, oracle.v_order)]
    result.note("coriolis_matrix", got["coriolis_matrix"], theirs)


def _compare_others(
    result: Comparison,
    oracle: UrdfOracle,
    got: dict[str, Array],
    q: Array,
    qd: Array,
    jacobian: str,
    tip: str,
) -> None:
    args = (oracle.model, oracle.data, q)
    v = oracle.v(qd)
    result.note("kinetic_energy", got["kinetic_energy"], pin.computeKineticEnergy(*args, v))
    result.note("potential_energy", got["potential_energy"], pin.computePotentialEnergy(*args))
    if "centroidal_momentum" in got:
        momentum = pin.computeCentroidalMomentum(*args, v)
        six = np.concatenate([momentum.linear, momentum.angular])
        result.note("centroidal_momentum", got["centroidal_momentum"], six)
        pin.dccrba(*args, v)
        for output, theirs in (("matrix", oracle.data.Ag), ("matrix_rate", oracle.data.dAg)):
            name = f"centroidal_momentum_{output}"
            columns = np.array(theirs).reshape(6, -1)[:, oracle.v_order]
            result.note(name, got[name], columns)
    frame = oracle.model.getFrameId(tip)
    if frame < len(oracle.model.frames):
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        columns = np.array(pin.computeFrameJacobian(*args, frame, axes)).reshape(6, -1)
        result.note("jacobian", got[jacobian], columns[:, oracle.v_order])
