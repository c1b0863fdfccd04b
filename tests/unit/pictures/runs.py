"""Motions for the tests of pictures: given, not integrated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

import chainform as cf
from chainform.errors import RunError

Array = NDArray[np.float64]
EXAMPLES = Path(__file__).parents[3] / "examples"


@dataclass(frozen=True)
class Mark:
    """An event."""

    name: str
    t: float


@dataclass
class Given:
    """A motion with all that a run has; what is not given is zero."""

    mechanism: cf.Mechanism
    t: Array
    q: Array
    qd: Array
    events: Sequence[Mark] = ()
    tau: Array = field(default_factory=lambda: np.zeros(0))
    asked: list[str] = field(default_factory=list[str])
    motion_forces: dict[str, Array] = field(default_factory=dict[str, Array])

    def __post_init__(self) -> None:
        if not self.tau.size:
            self.tau = np.zeros_like(self.qd)

    @property
    def qdd(self) -> Array:
        self.asked.append("qdd")
        return 3.0 * self.qd

    @property
    def kinetic_energy(self) -> Array:
        self.asked.append("energy")
        return 1.0 + np.cos(self.t) ** 2

    @property
    def potential_energy(self) -> Array:
        return np.sin(self.t) ** 2

    @property
    def energy(self) -> Array:
        return 2.0 + 0.0 * self.t

    @property
    def drives(self) -> Array:
        return 2.0 * self.tau + 1.0

    @property
    def x(self) -> Array:
        return self.t[:, None] + np.arange(len(self.mechanism.states))

    @property
    def u(self) -> Array | None:
        return self.t[:, None] + np.arange(len(self.mechanism.signals))

    def output(self, name: str) -> Array:
        sizes = {"pose(tool)": (4, 4), "momentum": (6,), "work": (), "mass_matrix": (2, 2)}
        if name == "coriolis":
            return np.zeros((len(self.t), 9, 9))
        if name not in sizes:
            raise RunError(f"there is no output {name!r}")
        values = np.arange(float(np.prod(sizes[name]))).reshape(sizes[name])
        return values + np.zeros((len(self.t), *sizes[name]))

    @property
    def reactions(self) -> Array:
        self.asked.append("reactions")
        shape = (len(self.t), len(self.mechanism.segments), 6)
        return np.broadcast_to(self.t[:, None, None] + np.arange(6.0), shape)


def given(
    mechanism: cf.Mechanism,
    q: Callable[[float], ArrayLike],
    end: float = 1.0,
    count: int = 41,
    events: Sequence[Mark] = (),
) -> Given:
    """Return the motion q(t) of a mechanism whose rates are those of its coordinates."""
    t = np.linspace(0.0, end, count)
    h = 1e-6
    rows = np.array([q(float(x)) for x in t])
    if mechanism.nq == mechanism.nv:
        qd = np.array([(np.array(q(x + h)) - np.array(q(x - h))) / (2 * h) for x in t])
    else:
        qd = np.zeros((count, mechanism.nv))
    return Given(mechanism, t, rows, qd, events)


def swinging(mechanism: cf.Mechanism, end: float = 1.0, count: int = 41) -> Given:
    """Return a motion in which every coordinate swings in its own way."""
    k = np.arange(mechanism.nq)
    neutral = mechanism.neutral()
    return given(mechanism, lambda t: neutral + 0.4 * np.sin((2 + 0.3 * k) * t + k), end, count)


def pendulum(name: str = "pendulum", rod: str = "rod", joint: str = "swing") -> cf.Mechanism:
    """Return a thin rod of half a metre that hangs on a pin along y."""
    builder = cf.Mechanism.builder(name)
    return builder.segment(
        rod,
        joint={"name": joint, "type": "revolute"},
        axis="y",
        mass=2,
        com=[0, 0, "-0.25"],
        inertia=["1/24", "1/24", 0],
    ).build()


def arm() -> cf.Mechanism:
    """Return the example of a six-axis arm with a tool."""
    mechanism = cf.read(EXAMPLES / "six_axis_arm.toml")
    return mechanism.with_frame("tool", mechanism.segments[-1].name, [0, 0, "0.1"])


def sliding() -> cf.Mechanism:
    """Return a cart on a rail with a pole, tied to a wall by a spring."""
    builder = cf.Mechanism.builder("cart")
    builder.segment("cart", joint="prismatic", axis="x", mass=3)
    builder.segment("pole", parent="cart", axis="y", mass=1, com=[0, 0, "0.5"])
    wall = {"segment": "ground", "point": [-1, 0, 0]}
    end = {"segment": "cart", "point": [0, 0, 0]}
    builder.spring_table({"name": "tie", "ends": [wall, end], "stiffness": 5, "rest": 1})
    return builder.build()


def brick() -> cf.Mechanism:
    """Return a free body without gravity."""
    builder = cf.Mechanism.builder("brick", gravity=(0, 0, 0))
    return builder.segment("brick", joint="free", mass=2, inertia=["0.02", "0.05", "0.06"]).build()
